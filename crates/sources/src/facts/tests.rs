use super::*;
use crate::testing::{fixture, host_of, play, survives};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The facts that a host of these files has, by `category.name`.
fn facts_of(files: &[(String, String)]) -> BTreeMap<String, String> {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (_dir, host) = host_of(&files);
    told(&host)
}

fn told(host: &Host) -> BTreeMap<String, String> {
    let mut played = play(&SOURCE, host, 1).unwrap();
    let facts = played.remove(0).facts;
    let mut all = BTreeMap::new();
    for fact in facts {
        let name = format!("{}.{}", fact.category, fact.name);
        assert_eq!(all.insert(name.clone(), fact.value), None, "{name} is told twice");
    }
    all
}

fn files(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

#[track_caller]
fn check(facts: &BTreeMap<String, String>, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(facts.get(*name).map(String::as_str), Some(*value), "{name} of {facts:#?}");
    }
}

/// Two sockets with two cores of two threads each, the way a server numbers them: siblings are 4 apart. In the format of
/// Documentation/ABI/testing/sysfs-devices-system-cpu.
fn metal() -> Vec<(String, String)> {
    let mut all = files(&[
        (
            "/proc/cmdline",
            "BOOT_IMAGE=/vmlinuz root=/dev/sda1 mitigations=off isolcpus=3,7 intel-iommu=on api_token=x -- nosmt\n",
        ),
        ("/proc/meminfo", "MemTotal:       263921340 kB\nMemFree: 1 kB\n"),
        ("/sys/devices/system/cpu/online", "0-7\n"),
        ("/sys/devices/system/cpu/isolated", "3,7\n"),
        ("/sys/devices/system/cpu/nohz_full", "(null)\n"),
        ("/sys/devices/system/cpu/smt/control", "on\n"),
        ("/sys/devices/system/cpu/smt/active", "1\n"),
        ("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
        ("/sys/devices/system/cpu/intel_pstate/status", "active\n"),
        ("/sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
        ("/sys/devices/system/cpu/vulnerabilities/spectre_v2", "Vulnerable; IBPB: disabled\n"),
        ("/sys/devices/system/node/node0/cpulist", "0-1,4-5\n"),
        ("/sys/devices/system/node/node0/distance", "10 21\n"),
        ("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       131960670 kB\n"),
        ("/sys/devices/system/node/node1/cpulist", "2-3,6-7\n"),
        ("/sys/devices/system/node/node1/distance", "21 10\n"),
        ("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
        ("/sys/class/dmi/id/product_name", "PowerEdge R650\n"),
        ("/sys/kernel/irq/40/actions", "ahci[0000:00:17.0]\n"),
        ("/sys/kernel/irq/41/actions", "eth0-TxRx-0\n"),
        ("/sys/kernel/irq/42/actions", "eth0-TxRx-1\n"),
        ("/sys/kernel/irq/43/actions", "\n"),
        ("/proc/irq/40/smp_affinity_list", "0-7\n"),
        ("/proc/irq/41/smp_affinity_list", "0\n"),
        ("/proc/irq/42/smp_affinity_list", "4\n"),
        ("/proc/irq/43/smp_affinity_list", "0-7\n"),
        ("/proc/irq/41/effective_affinity_list", "0\n"),
        ("/proc/irq/42/effective_affinity_list", "4\n"),
        ("/proc/irq/default_smp_affinity", "ff\n"),
        ("/sys/block/sda/size", "1953525168\n"),
        ("/sys/block/sda/queue/scheduler", "none [mq-deadline] kyber\n"),
        ("/sys/block/sda/queue/rotational", "1\n"),
        ("/sys/block/sda/queue/read_ahead_kb", "128\n"),
        ("/sys/block/sda/device/queue_depth", "32\n"),
        ("/sys/block/loop0/size", "0\n"),
    ]);
    let mut cpuinfo = String::new();
    for cpu in 0..8 {
        let (socket, core) = ((cpu / 2) % 2, cpu % 2);
        let (first, second) = (cpu % 4, cpu % 4 + 4);
        let package = if socket == 0 { "0-1,4-5" } else { "2-3,6-7" };
        cpuinfo += &format!(
            "processor\t: {cpu}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\nmodel name\t: Intel(R) Xeon(R) Gold 6338 CPU @ \
             2.00GHz\nstepping\t: 6\nmicrocode\t: 0xd0003b9\ncpu MHz\t\t: {}.0\nflags\t\t: vme fpu tsc constant_tsc \
             nonstop_tsc\nbugs\t\t:\n\n",
            2000 + cpu
        );
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
        let mut add = |file: &str, text: String| all.push((format!("{folder}/{file}"), text + "\n"));
        add("topology/physical_package_id", socket.to_string());
        add("topology/die_id", "0".into());
        add("topology/core_id", core.to_string());
        add("topology/thread_siblings_list", format!("{first},{second}"));
        for (index, level, kind, size, ways, shared) in [
            (0, 1, "Data", "48K", "12", format!("{first},{second}")),
            (1, 1, "Instruction", "32K", "8", format!("{first},{second}")),
            (2, 2, "Unified", "1280K", "20", format!("{first},{second}")),
            (3, 3, "Unified", "49152K", "12", package.to_owned()),
        ] {
            add(&format!("cache/index{index}/level"), level.to_string());
            add(&format!("cache/index{index}/type"), kind.into());
            add(&format!("cache/index{index}/size"), size.into());
            add(&format!("cache/index{index}/ways_of_associativity"), ways.into());
            add(&format!("cache/index{index}/coherency_line_size"), "64".into());
            add(&format!("cache/index{index}/shared_cpu_list"), shared);
        }
        add("cpufreq/scaling_driver", "intel_pstate".into());
        add("cpufreq/scaling_governor", if cpu == 5 { "powersave" } else { "performance" }.into());
        add("cpufreq/scaling_max_freq", "3200000".into());
        add("cpufreq/scaling_cur_freq", (2_000_000 + cpu).to_string());
        add("cpuidle/state1/name", "C1".into());
        add("cpuidle/state1/latency", "1".into());
        add("cpuidle/state1/residency", "1".into());
        add("cpuidle/state1/disable", if cpu < 4 { "0" } else { "1" }.into());
        add("cpuidle/state1/usage", (cpu * 77).to_string());
    }
    all.push(("/proc/cpuinfo".into(), cpuinfo));
    all
}

#[test]
fn a_server_of_metal() {
    let facts = facts_of(&metal());
    check(
        &facts,
        &[
            (
                "kernel.command_line",
                "BOOT_IMAGE=/vmlinuz root=/dev/sda1 mitigations=off isolcpus=3,7 intel-iommu=on api_token=*** -- nosmt",
            ),
            ("kernel.boot.mitigations", "off"),
            ("kernel.boot.isolcpus", "3,7"),
            ("kernel.boot.intel_iommu", "on"),
            ("cpu.model", "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"),
            ("cpu.model_number", "106"),
            ("cpu.flags", "constant_tsc fpu nonstop_tsc tsc vme"),
            ("cpu.cpus", "8"),
            ("cpu.sockets", "2"),
            ("cpu.cores", "4"),
            ("cpu.threads_per_core", "2"),
            ("cpu.smt.siblings", "0,4 1,5 2,6 3,7"),
            ("cpu.isolated", "3,7"),
            ("cpu.cache.l1d", "48K, 12-way, 64-byte lines"),
            ("cpu.cache.l2.instances", "4"),
            ("cpu.cache.l3", "49152K, 12-way, 64-byte lines"),
            ("cpu.cache.l3.instances", "2"),
            ("cpu.cache.l3.shared_by", "0-1,4-5 2-3,6-7"),
            ("cpu.numa.nodes", "2"),
            ("cpu.numa.node1.cpus", "2-3,6-7"),
            ("cpu.numa.node1.distances", "21 10"),
            ("memory.node0.total", "125.8 GiB"),
            ("memory.total", "251.7 GiB"),
            ("cpu.governor", "performance on 0-4,6-7; powersave on 5"),
            ("cpu.frequency.most", "3200 MHz"),
            ("cpu.turbo", "on"),
            (
                "cpu.idle.state1",
                "C1, exit 1 µs, worth it from 1 µs on 0-3; C1, exit 1 µs, worth it from 1 µs, disabled on 4-7",
            ),
            ("cpu.mitigation.spectre_v2", "Vulnerable; IBPB: disabled"),
            ("clock.tsc", "tsc constant_tsc nonstop_tsc"),
            ("platform.product", "PowerEdge R650"),
            ("platform.hypervisor", "none"),
            ("irq.eth0-TxRx-*.affinity", "0: 0; 1: 4"),
            ("irq.eth0-TxRx-*.effective", "0: 0; 1: 4"),
            ("irq.default_affinity", "ff"),
            ("block.sda.size", "931.51 GiB"),
            ("block.sda.scheduler", "mq-deadline"),
            ("block.sda.read_ahead", "128 KiB"),
            ("block.sda.queue_depth", "32"),
        ],
    );
    assert!(!facts.contains_key("cpu.nohz_full"));
    assert!(!facts.contains_key("kernel.boot.nosmt"), "what follows -- is for init");
    assert!(!facts.keys().any(|name| name.contains("loop0")));
    let volatile = ["2000.0", "2000000", "539"];
    assert!(!facts.values().any(|value| volatile.contains(&value.as_str())), "a measurement among the facts");
}

#[test]
fn arm_tells_its_model_by_numbers() {
    let one = |cpu: u32, part: &str| {
        format!(
            "processor\t: {cpu}\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd evtstrm aes atomics sve\nCPU implementer\t: 0x41\nCPU architecture: \
             8\nCPU variant\t: 0x1\nCPU part\t: {part}\nCPU revision\t: 1\n\n"
        )
    };
    let facts = facts_of(&[("/proc/cpuinfo".into(), one(0, "0xd40") + &one(1, "0xd40"))]);
    check(
        &facts,
        &[
            ("cpu.model", "Arm Neoverse-V1"),
            ("cpu.stepping", "r1p1"),
            ("cpu.flags", "aes asimd atomics evtstrm fp sve"),
            ("cpu.family", "8"),
        ],
    );
    let facts = facts_of(&[("/proc/cpuinfo".into(), one(0, "0xd05") + &one(1, "0xd05") + &one(2, "0xfff"))]);
    check(&facts, &[("cpu.model", "Arm Cortex-A55 on 0-1; Arm implementer 0x41, part 0xfff on 2")]);
}

#[test]
fn an_instance_of_aws() {
    let facts = facts_of(&files(&[
        (
            "/proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)   Platinum 8488C\nflags\t\t: fpu hypervisor tsc\n",
        ),
        ("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
        ("/sys/class/dmi/id/product_name", "m7i.large\n"),
        ("/sys/class/dmi/id/bios_vendor", "Amazon EC2\n"),
        ("/sys/class/dmi/id/product_serial", "ec2-secret\n"),
        ("/sys/class/dmi/id/board_asset_tag", "i-0123456789abcdef0\n"),
    ]));
    check(
        &facts,
        &[
            ("cpu.model", "Intel(R) Xeon(R) Platinum 8488C"),
            ("platform.cloud", "AWS"),
            ("platform.instance_type", "m7i.large"),
            ("platform.hypervisor", "KVM"),
        ],
    );
    assert!(!facts.values().any(|value| value.contains("secret") || value.contains("i-0123")));
}

#[test]
fn the_tightest_quota_of_a_cpu() {
    let quota = |files: &[(&str, &str)]| crate::cpu_quota(&host::testing::host_of(files).1);
    let v2 = [
        ("/proc/self/cgroup", "0::/a/b\n"),
        ("/proc/self/mountinfo", "2 1 0:28 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n"),
        ("/sys/fs/cgroup/a/cpu.max", "5000 100000\n"),
        ("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
    ];
    assert_eq!(quota(&v2), Some(0.05));
    assert_eq!(quota(&v2[..2]), None);
    let v1 = [
        ("/proc/self/cgroup", "4:cpu,cpuacct:/a\n"),
        ("/proc/self/mountinfo", "2 1 0:28 / /cpu rw - cgroup cgroup rw,cpu,cpuacct\n"),
        ("/cpu/cpu.cfs_quota_us", "-1\n"),
        ("/cpu/cpu.cfs_period_us", "100000\n"),
        ("/cpu/a/cpu.cfs_quota_us", "20000\n"),
        ("/cpu/a/cpu.cfs_period_us", "100000\n"),
    ];
    assert_eq!(quota(&v1), Some(0.2));
    assert_eq!(quota(&[]), None);
}

#[test]
fn a_container_with_limits() {
    let facts = facts_of(&files(&[
        ("/proc/self/cgroup", "0::/kubepods.slice/pod1.slice/cri-abc.scope\n"),
        (
            "/proc/self/mountinfo",
            "1 0 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,workdir=/d\n\
             2 1 0:28 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n\
             3 1 8:1 /x /data rw,noatime - ext4 /dev/nvme0n1p1 rw,discard\n\
             4 1 0:51 / /mnt/share rw - cifs //user:pw@server/x rw,password=hunter2\n",
        ),
        ("/proc/filesystems", "nodev\tsysfs\n\text4\n\txfs\n"),
        ("/sys/fs/cgroup/kubepods.slice/cpu.max", "max 100000\n"),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/cpu.max", "150000 100000\n"),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/cri-abc.scope/cpu.max", "400000 100000\n"),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/cri-abc.scope/cpu.weight", "79\n"),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/cri-abc.scope/cpuset.cpus.effective", "0-3\n"),
        ("/sys/fs/cgroup/kubepods.slice/memory.max", "8589934592\n"),
        ("/sys/fs/cgroup/kubepods.slice/pod1.slice/cri-abc.scope/memory.max", "max\n"),
        ("/proc/self/status", "Name:\tx\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\nMems_allowed_list:\t0\n"),
        (
            "/proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max open files            1024                 524288               files     \n",
        ),
    ]));
    check(
        &facts,
        &[
            ("container.kind", "kubernetes"),
            ("container.cgroup_version", "v2"),
            ("container.cpu.quota", "1.50 CPUs (150000 µs each 100000 µs)"),
            ("container.cpu.weight", "79"),
            ("container.cpuset.cpus", "0-3"),
            ("container.memory.max", "8 GiB"),
            ("limit.cpus_allowed", "0-3"),
            ("limit.open_files", "1024, up to 524288"),
            ("mount./.type", "overlay"),
            ("mount./.options", "relatime,rw"),
            ("mount./data.device", "/dev/nvme0n1p1"),
            ("mount./data.options", "discard,noatime,rw"),
        ],
    );
    assert!(!facts.values().any(|value| value.contains("hunter2") || value.contains("abc")), "{facts:#?}");
}

#[test]
fn runtimes_and_java_machines() {
    use std::os::unix::fs::symlink;
    let java = "/usr/bin/../lib/jvm/java-17/bin/java";
    let (dir, host) = host_of(&[
        ("/proc/100/cmdline", "java\0-Xmx4g\0-XX:+UseG1GC\0-Ddb.password=hunter2\0org.example.Main\0--secret=x\0"),
        ("/proc/100/comm", "java\n"),
        ("/proc/100/environ", "JAVA_TOOL_OPTIONS=-Dtoken=hunter2\0A=hunter2\0"),
        ("/proc/101/cmdline", "java\0-Xmx4g\0-XX:+UseG1GC\0-Ddb.password=hunter2\0org.example.Main\0--other\0"),
        ("/proc/101/environ", "_JAVA_OPTIONS=x\0"),
        ("/proc/102/comm", "irqbalance\n"),
        ("/proc/103/comm", "python3\n"),
        ("/proc/103/cmdline", "python3\0x.py\0"),
        ("/proc/104/cmdline", "/opt/app/launcher\0-Xmx1g\0App\0"),
        ("/proc/104/maps", "7f00-7f01 r-xp 0 08:01 1  /usr/lib/jvm/java-17/lib/server/libjvm.so\n"),
        (
            "/usr/lib/jvm/java-17/release",
            "IMPLEMENTOR=\"Debian\"\nJAVA_VERSION=\"17.0.9\"\nJAVA_RUNTIME_VERSION=\"17.0.9+9-Debian\"\n",
        ),
    ]);
    let java = java.replace("/usr/bin/..", "/usr");
    for (pid, exe) in
        [("100", java.as_str()), ("101", &java), ("103", "/usr/bin/python3.11"), ("104", "/opt/app/launcher")]
    {
        symlink(exe, dir.path().join(format!("proc/{pid}/exe"))).unwrap();
    }
    let facts = told(&host);
    check(
        &facts,
        &[
            ("runtime.python", "3.11 (/usr/bin/python3.11)"),
            ("service.irqbalance", "running"),
            ("runtime.java.org.example.Main.home", "/usr/lib/jvm/java-17"),
            ("runtime.java.org.example.Main.version", "17.0.9+9-Debian"),
            ("runtime.java.org.example.Main.-Xmx", "4g"),
            ("runtime.java.org.example.Main.-XX:UseG1GC", "on"),
            ("runtime.java.org.example.Main.-Ddb.password", "***"),
            ("runtime.java.org.example.Main.JAVA_TOOL_OPTIONS", "set"),
            ("runtime.java.org.example.Main#2._JAVA_OPTIONS", "set"),
            ("runtime.java.App.version", "17.0.9+9-Debian"),
        ],
    );
    assert!(!facts.values().any(|value| value.contains("hunter2")), "{facts:#?}");
}

#[test]
fn this_host() {
    let host = fixture("vm-2cpu");
    let facts = told(&host);
    check(
        &facts,
        &[
            ("kernel.release", "6.18.44-fc-v657"),
            ("kernel.distribution", "Debian GNU/Linux 12 (bookworm)"),
            ("kernel.preemption", "PREEMPT_DYNAMIC"),
            ("cpu.model", "AMD EPYC"),
            ("cpu.cpus", "2"),
            ("clock.source", "tsc"),
            ("memory.total", "23.5 GiB"),
            ("network.eth0.driver", "virtio_net"),
            ("network.eth0.queues.rx", "1"),
            ("irq.virtio2-input.*.affinity", "0-1"),
            ("container.kind", "none"),
            ("mount./.type", "ext4"),
        ],
    );
    assert!(facts.contains_key("network.eth0.ring.rx"), "{facts:#?}");
    assert!(facts.contains_key("network.eth0.offload.tx-tcp-segmentation"), "{facts:#?}");
    host.set_frame(1, 1);
    assert_eq!(told(&host), facts, "a fact that changes by itself");
}

#[test]
fn how_a_disk_is_attached() {
    let (dir, host) =
        host_of(&[("/proc/uptime", "1 1\n"), ("/sys/block/vda/size", "100\n"), ("/sys/block/vda/device/x", "")]);
    std::os::unix::fs::symlink("../../../../bus/virtio", dir.path().join("sys/block/vda/device/subsystem")).unwrap();
    check(&told(&host), &[("block.vda.transport", "virtio")]);
}

#[test]
fn hostile_content() {
    for content in ["", "\0", "[", "1", ":", "processor : x\n:\n", "\u{ffff}]\u{1}[", &"é1-".repeat(9000)] {
        survives(&SOURCE, content);
    }
    assert!(play(&SOURCE, &host_of(&[("/etc/x", "")]).1, 1).is_err());
    assert!(play(&SOURCE, &host_of(&[("/proc/x", "")]).1, 1).unwrap()[0].error.is_some());
}

proptest! {
    #[test]
    fn chosen_words(text: String) {
        let _ = chosen(&text);
    }
}
