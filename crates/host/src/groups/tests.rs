use super::*;
use crate::testing::host_of;
use std::path::Path;

const V2: &str = "31 25 0:27 / /cg rw shared:4 - cgroup2 cgroup2 rw\n";

fn read(host: &Host, path: &str) -> String {
    host.read_text(path).unwrap_or_else(|e| format!("({e})"))
}

fn limits() -> Limits {
    Limits { cpus: Some("1".into()), memory: Some(1 << 30), quota: Some(1.5) }
}

/// A machine of version 2: this process is in a group with another, whose parent gives memory to its children.
fn version_2() -> Vec<(&'static str, &'static str)> {
    vec![
        ("/proc/self/mountinfo", V2),
        ("/proc/self/cgroup", "0::/user/a\n"),
        ("/proc/1/stat", "1 (init) S 0 1\n"),
        ("/cg/cgroup.controllers", "cpuset cpu memory\n"),
        ("/cg/cgroup.subtree_control", "memory\n"),
        ("/cg/user/cgroup.type", "domain\n"),
        ("/cg/user/cgroup.controllers", "memory\n"),
        ("/cg/user/cgroup.subtree_control", "memory\n"),
        ("/cg/user/a/cgroup.type", "domain\n"),
        ("/cg/user/a/cgroup.controllers", "memory\n"),
        ("/cg/user/a/cgroup.subtree_control", ""),
        ("/cg/user/a/cgroup.procs", "1\n"),
    ]
}

#[test]
fn without_limits_groups_are_below_our_own() {
    let (_dir, host) = host_of(&version_2());
    let groups = Groups::named(&host, "t", &[]);
    assert!(groups.any() && !groups.has(Controller::Memory));
    let group = groups.group("w", &Limits::default()).unwrap();
    assert_eq!(group.joins(), [host.path("/cg/user/a/t/w/cgroup.procs")]);
    assert!(host.exists("/cg/user/a/t/w"));
    drop(group);
    assert!(host.exists("/cg/user/a/t") && !host.exists("/cg/user/a/t/w"));
    drop(groups);
    assert!(!host.exists("/cg/user/a/t"));
    assert_eq!(read(&host, "/cg/user/a/cgroup.subtree_control"), "");
}

#[test]
fn version_2_limits_in_the_nearest_group_that_can() {
    let mut files = version_2();
    files.extend([
        ("/cg/user/t/cgroup.subtree_control", ""),
        ("/cg/user/t/w/cgroup.procs", ""),
        ("/cg/user/t/w/memory.max", "max\n"),
        ("/cg/user/t/w/memory.swap.max", "max\n"),
        ("/cg/user/t/w/memory.peak", "4096\n"),
        ("/cg/user/t/w/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n"),
        ("/cg/user/t/w/cpu.stat", "usage_usec 2500000\nuser_usec 1\n"),
    ]);
    let (_dir, host) = host_of(&files);
    let groups = Groups::named(&host, "t", &[(Controller::Memory, true)]);
    assert_eq!(read(&host, "/cg/user/t/cgroup.subtree_control"), "+memory");
    assert_eq!(read(&host, "/cg/user/cgroup.subtree_control"), "memory", "it was on already");
    let memory = Limits { memory: Some(1 << 30), ..Limits::default() };
    let group = groups.group("w", &memory).unwrap();
    assert_eq!(read(&host, "/cg/user/t/w/memory.max"), "1073741824");
    assert_eq!(read(&host, "/cg/user/t/w/memory.swap.max"), "0");
    assert_eq!((group.peak(), group.cpu_seconds(), group.killed_for_memory()), (Some(4096.0), Some(2.5), 2));
    assert_eq!((group.throttled(), group.holds()), (None, Ok(())));
    host.write_setting("/cg/user/t/w/memory.max", "max").unwrap();
    assert!(group.holds().unwrap_err().contains("memory.max is max at its end, and was set to 1073741824"));
    assert!(groups.group("x", &limits()).unwrap_err().contains("/cg/user/t/x/memory.max"));
    drop(group);
    drop(groups);
    assert_eq!(read(&host, "/cg/user/cgroup.subtree_control"), "memory");
    assert!(!host.exists("/cg/user/t"));
}

#[test]
fn what_was_switched_on_is_switched_off_again() {
    let all = [(Controller::Cpuset, true), (Controller::Memory, true), (Controller::Cpu, true)];
    let mut files = version_2();
    files.extend([
        ("/cg/t-sc/cgroup.subtree_control", ""),
        ("/cg/t-sc/w/cgroup.procs", ""),
        ("/cg/t-sc/w/memory.max", "max\n"),
        ("/cg/t-sc/w/cpu.max", "max 100000\n"),
        ("/cg/t-sc/w/cpu.stat", "usage_usec 1\nnr_throttled 4\nthrottled_usec 1500000\n"),
        ("/cg/t-sc/w/cpuset.cpus", "\n"),
        ("/cg/t-sc/w/cpuset.cpus.effective", "1\n"),
        ("/cg/other/cpu.max", "max 100000\n"),
        ("/cg/other/cpuset.cpus", "\n"),
    ]);
    let (_dir, host) = host_of(&files);
    let groups = Groups::named(&host, "t", &all);
    assert_eq!(read(&host, "/cg/cgroup.subtree_control"), "+cpu");
    let group = groups.group("w", &limits()).unwrap();
    assert_eq!((read(&host, "/cg/t-sc/w/cpu.max"), group.throttled()), ("150000 100000".into(), Some(1.5)));
    drop(group);
    drop(groups);
    assert_eq!(read(&host, "/cg/cgroup.subtree_control"), "-cpu");
    // Not what others use meanwhile, and only CPUs that there are.
    files.retain(|(path, _)| !path.starts_with("/cg/other/") && !path.ends_with("effective"));
    files.extend([("/cg/other/cpu.max", "5000 100000\n"), ("/cg/t-sc/w/cpuset.cpus.effective", "0-3\n")]);
    let (_dir, host) = host_of(&files);
    let groups = Groups::named(&host, "t", &all);
    assert!(groups.group("w", &limits()).unwrap_err().contains("CPUs 1: only 0-3 can be had here"));
    drop(groups);
    assert_eq!(read(&host, "/cg/cgroup.subtree_control"), "-cpuset", "it was the last that was written");
}

#[test]
fn who_is_alone_in_a_group_makes_room() {
    let own = format!("{}\n", std::process::id());
    let stat = format!("/proc/{}/stat", std::process::id());
    let mut files = version_2();
    files.retain(|(path, _)| *path != "/cg/user/a/cgroup.procs" && *path != "/cg/user/cgroup.subtree_control");
    files.extend([
        ("/cg/user/a/cgroup.procs", own.as_str()),
        (stat.as_str(), "1 (me) S 1 1\n"),
        ("/cg/user/a/t-m/cgroup.subtree_control", ""),
        ("/cg/user/a/t-m/session/cgroup.procs", ""),
    ]);
    let (_dir, host) = host_of(&files);
    let groups = Groups::named(&host, "t", &[(Controller::Memory, true)]);
    assert!(groups.has(Controller::Memory));
    assert_eq!(read(&host, "/cg/user/a/t-m/session/cgroup.procs"), own.trim());
    assert_eq!(read(&host, "/cg/user/a/cgroup.subtree_control"), "+memory");
    host.write_setting("/cg/user/a/cgroup.procs", "").unwrap();
    drop(groups);
    assert_eq!(read(&host, "/cg/user/a/cgroup.subtree_control"), "-memory");
    assert_eq!(read(&host, "/cg/user/a/cgroup.procs"), own.trim());
    assert!(!host.exists("/cg/user/a/t-m"));
}

#[test]
fn what_cannot_be_had_is_said() {
    let (_dir, host) = host_of(&version_2());
    let groups = Groups::named(&host, "t", &[(Controller::Memory, true), (Controller::Cpuset, false)]);
    assert!(groups.any(), "processes can still be kept together");
    let why = groups.why_not(Controller::Memory).unwrap();
    assert_eq!(why, "/cg/user/a/cgroup.subtree_control: other processes are in that group, too");
    assert!(groups.group("w", &limits()).unwrap_err().contains("no control group can limit memory: /cg/user/a/"));
    let (_dir, host) = host_of(&[("/proc/self/mountinfo", ""), ("/proc/self/cgroup", "")]);
    let groups = Groups::named(&host, "t", &[(Controller::Cpu, true)]);
    assert!(!groups.any());
    assert_eq!(groups.why_not(Controller::Cpu), Some("no control groups are mounted"));
}

#[test]
fn version_1_has_a_folder_in_each_hierarchy() {
    let mounts = "30 25 0:26 / /cg/memory rw - cgroup cgroup rw,memory\n\
        32 25 0:28 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
        33 25 0:29 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n\
        34 25 0:29 / /cg/systemd rw - cgroup cgroup rw,name=systemd\n\
        31 25 0:27 /docker/x /cg/unified rw - cgroup2 cgroup2 rw\n";
    let files = [
        ("/proc/self/mountinfo", mounts),
        ("/proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/\n2:cpuset:/\n1:name=systemd:/\n0::/docker/x/y\n"),
        ("/cg/memory/m/t/w/memory.limit_in_bytes", "9223372036854771712\n"),
        ("/cg/memory/m/t/w/memory.memsw.limit_in_bytes", "9223372036854771712\n"),
        ("/cg/memory/m/t/w/memory.max_usage_in_bytes", "8192\n"),
        ("/cg/memory/m/t/w/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
        ("/cg/cpu,cpuacct/t/w/cpu.cfs_period_us", "100000\n"),
        ("/cg/cpu,cpuacct/t/w/cpu.cfs_quota_us", "-1\n"),
        ("/cg/cpu,cpuacct/t/w/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 250000000\n"),
        ("/cg/cpuset/cpuset.cpus", "0-3\n"),
        ("/cg/cpuset/cpuset.mems", "0\n"),
        ("/cg/cpuset/t/cpuset.cpus", "\n"),
        ("/cg/cpuset/t/cpuset.mems", "\n"),
        ("/cg/cpuset/t/w/cpuset.cpus", "\n"),
        ("/cg/cpuset/t/w/cpuset.mems", "\n"),
        ("/cg/unified/y/t/w/cpu.stat", "usage_usec 500000\n"),
    ];
    let (_dir, host) = host_of(&files);
    let all = [(Controller::Cpuset, false), (Controller::Memory, true), (Controller::Cpu, true)];
    let groups = Groups::named(&host, "t", &all);
    let mut group = groups.group("w", &limits()).unwrap();
    assert_eq!(group.folder(), Some(host.path("/cg/unified/y/t/w")));
    let joins: Vec<String> = group.joins().iter().map(|p| below(&host, p)).collect();
    assert_eq!(joins, ["unified/y/t/w", "memory/m/t/w", "cpu,cpuacct/t/w", "cpuset/t/w"]);
    for (file, value) in [
        ("/cg/memory/m/t/w/memory.limit_in_bytes", "1073741824"),
        ("/cg/memory/m/t/w/memory.memsw.limit_in_bytes", "1073741824"),
        ("/cg/cpu,cpuacct/t/w/cpu.cfs_quota_us", "150000"),
        ("/cg/cpuset/t/cpuset.cpus", "0-3"),
        ("/cg/cpuset/t/w/cpuset.mems", "0"),
        ("/cg/cpuset/t/w/cpuset.cpus", "1"),
    ] {
        assert_eq!(read(&host, file), value, "{file}");
    }
    assert_eq!((group.cpu_seconds(), group.throttled(), group.killed_for_memory()), (Some(0.5), Some(0.25), 1));
    assert_eq!((group.peak(), group.holds()), (Some(8192.0), Ok(())));
    group.reset_peak();
    assert_eq!(group.peak(), Some(0.0));
    drop(group);
    drop(groups);
    for folder in ["/cg/memory/m/t", "/cg/cpu,cpuacct/t", "/cg/cpuset/t", "/cg/unified/y/t"] {
        assert!(!host.exists(folder), "{folder}");
    }
}

/// The folder of a file `cgroup.procs`, below `/cg`.
fn below(host: &Host, procs: &Path) -> String {
    procs.parent().unwrap().strip_prefix(host.path("/cg")).unwrap().display().to_string()
}

#[test]
fn what_killed_sessions_have_left_is_removed() {
    let gone = "/cg/user/twinscope-tune-0-999-5-c";
    let (others, running) = ("/cg/twinscope-tune-7-999-5", "/cg/user/twinscope-tune-0-1000-77");
    let mut files = version_2();
    let made: Vec<String> = [gone, others, running, "/cg/user"].iter().map(|f| format!("{f}/cgroup.procs")).collect();
    files.extend(made.iter().map(|path| (path.as_str(), "")));
    let inner = format!("{gone}/workload-3/cgroup.procs");
    let line = format!("1000 (twin scope) S 1{} 77 0\n", " 0".repeat(17));
    files.extend([(inner.as_str(), "4194305\n"), ("/proc/1000/stat", line.as_str())]);
    let (_dir, host) = host_of(&files);
    assert_eq!(remove_left(&host), 1);
    assert_eq!([gone, others, running].map(|folder| host.exists(folder)), [false, true, true]);
    assert_eq!(read(&host, "/cg/user/cgroup.subtree_control"), "-cpu");
}

/// A process has one folder of groups, and so may tests have only one at a time.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// The machine that the tests run on, where it lets us.
#[test]
fn a_process_that_left_its_group_is_ended_with_its_control_group() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let host = Host::live();
    let groups = Groups::open(&host, &[(Controller::Memory, false)]);
    let Ok(mut group) = groups.group("w", &Limits::default()) else { return skip("no group can be made here") };
    if !groups.any() {
        return skip("no group can be made here");
    }
    let placement = crate::Placement::new(&group.joins(), &[]).unwrap();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "setsid sh -c 'echo $$; exec sleep 600'"]).stdout(std::process::Stdio::piped());
    // SAFETY: it makes system calls only.
    unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, move || placement.enter()) };
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return skip(&format!("no process may join: {error}")),
    };
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let pid = line.trim().to_owned();
    let folder = group.folder().unwrap();
    assert!(std::fs::read_to_string(folder.join("cgroup.procs")).unwrap().lines().any(|l| l == pid));
    group.reset_peak();
    assert!(group.cpu_seconds().is_none_or(|seconds| seconds < 60.0));
    assert!(group.peak().is_none_or(|bytes| bytes > 0.0));
    drop(group);
    child.wait().unwrap();
    assert!(!folder.exists());
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z ") || state.contains(") X "), "{state}");
    let ours = folder.parent().unwrap().to_owned();
    drop(groups);
    assert!(!ours.exists());
}

/// What a group above this process gives to its children.
fn switched_on(host: &Host) -> Vec<String> {
    let all = hierarchies(host).unwrap_or_default();
    let unified = all.iter().filter(|h| h.unified).flat_map(Hierarchy::upwards);
    unified.map(|folder| read(host, &format!("{folder}/cgroup.subtree_control"))).collect()
}

#[test]
fn limits_hold_on_this_machine() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let host = Host::live();
    let before = switched_on(&host);
    let wanted = [(Controller::Cpuset, false), (Controller::Memory, true), (Controller::Cpu, true)];
    let groups = Groups::open(&host, &wanted);
    if let Some(why) = [Controller::Memory, Controller::Cpu].iter().find_map(|c| groups.why_not(*c)) {
        return skip(why);
    }
    let run = |group: &Group, script: &str| {
        let placement = crate::Placement::new(&group.joins(), &[]).unwrap();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]).stderr(std::process::Stdio::null());
        // SAFETY: it makes system calls only.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, move || placement.enter()) };
        let out = command.output().unwrap();
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    };
    let memory = 24 << 20;
    let limits = Limits { cpus: Some("0".into()), memory: Some(memory), quota: Some(0.05) };
    let mut group = groups.group("w", &limits).unwrap();
    let loops = "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; grep Cpus_allowed_list /proc/self/status";
    let cpus = run(&group, loops);
    assert!(!groups.has(Controller::Cpuset) || cpus.ends_with("\t0"), "{cpus}");
    assert!(group.throttled().is_some_and(|seconds| seconds > 0.0), "{:?}", group.throttled());
    assert!(group.cpu_seconds().is_none_or(|seconds| seconds > 0.0));
    assert_eq!(group.killed_for_memory(), 0);
    group.reset_peak();
    let wide = Limits { quota: None, ..limits.clone() };
    drop(std::mem::replace(&mut group, groups.group("x", &wide).unwrap()));
    let said = run(&group, "x=$(head -c 128m /dev/zero | tr '\\0' x); echo ${#x}");
    assert_ne!(said, (128 << 20).to_string());
    assert!(group.killed_for_memory() > 0);
    assert!(group.peak().is_none_or(|peak| peak > 4096.0 && peak <= memory as f64), "{:?}", group.peak());
    group.holds().unwrap();
    drop(group);
    drop(groups);
    assert_eq!(switched_on(&host), before);
}

fn skip(why: &str) {
    eprintln!("SKIPPED: control groups: {why}");
}
