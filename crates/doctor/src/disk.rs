//! Disks: what a small write and a small read take in a folder, and how the devices are set.

use crate::calls as libc;
use crate::check::{Check, Finding, Kind, Theme, Verdict, Write};
use crate::measure::{Spread, quantile, refused};
use crate::{Context, machine};
use host::Host;
use model::{Unavailable, human};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) static CHECKS: &[Check] = &[
    Check {
        id: "fsync",
        theme: Theme::Disk,
        kind: Kind::Measurement,
        title: "time until a small write is safe",
        how: "4 KiB are written and fdatasync(2) waits for them, in a new file of the folder (--dir): over space that is written already, as a database's log, and at the end of the file, which changes its size too; up to 200 times or 1.5 s each",
        source: "fdatasync(2); the same as `fio --fdatasync=1`",
        run: fsync,
    },
    Check {
        id: "small-read",
        theme: Theme::Disk,
        kind: Kind::Measurement,
        title: "time of a small read that is not in memory",
        how: "4 KiB at random places of a new file of 64 MiB in the folder (--dir), past the page cache (O_DIRECT), one at a time; up to 500 times or 1.5 s; and the same from the page cache",
        source: "open(2) O_DIRECT; the same as `ioping -D`",
        run: read,
    },
    Check {
        id: "io-scheduler",
        theme: Theme::Disk,
        kind: Kind::Setting,
        title: "I/O scheduler and queues of each disk",
        how: "scheduler, rotational, nr_requests, read_ahead_kb, write_cache of /sys/block/*/queue, hardware queues in /sys/block/*/mq",
        source: "Documentation/block/switching-sched.rst, Documentation/ABI/stable/sysfs-block",
        run: scheduler,
    },
    Check {
        id: "mount-options",
        theme: Theme::Disk,
        kind: Kind::Setting,
        title: "file system of the folder, its options and space",
        how: "/proc/self/mountinfo, statvfs(3)",
        source: "mount(8), ext4(5), xfs(5)",
        run: mounted,
    },
    Check {
        id: "xen-persistent-grants",
        theme: Theme::Disk,
        kind: Kind::Setting,
        title: "persistent grants of Xen's block devices",
        how: "/sys/block/xvd*, parameters of the module xen_blkfront, kernel release",
        source: "Documentation/ABI/testing/sysfs-driver-xen-blkback, drivers/block/xen-blkfront.c; Xen blkif.h, feature-persistent",
        run: grants,
    },
];

/// A file that is removed when it is done with, however that comes.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    pub(crate) file: File,
}

impl Scratch {
    pub(crate) fn new(dir: &Path, flags: i32) -> Result<Self, Unavailable> {
        let path = dir.join(format!(".twinscope-doctor-{}", std::process::id()));
        #[expect(
            clippy::disallowed_methods,
            reason = "flags such as O_DIRECT are given when it is opened; O_EXCL follows no link"
        )]
        let opened = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(flags)
            .open(&path)
            .map_err(|e| refused(&format!("{}: a file could not be made", dir.display()), &e));
        opened
            .map(|file| Scratch { path, file })
            .map_err(|why| why.remedy("name a folder that you may write: --dir DIR"))
    }

    pub(crate) fn failed(&self, error: &io::Error) -> Unavailable {
        let dir = self.path.parent().unwrap_or(&self.path).display().to_string();
        match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT) => Unavailable::failed(format!("{dir}: the disk is full ({error})"))
                .remedy("free some space, or name another folder: --dir DIR"),
            _ => refused(&dir, error),
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed is left; it is empty or small, and named for what it is.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A mount, as `/proc/self/mountinfo` tells of it (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mount {
    point: String,
    kind: String,
    device: String,
    options: String,
}

/// The mount that `dir` lies in: the longest mount point above it, the last of equal ones.
fn mount_of(host: &Host, dir: &Path) -> Option<Mount> {
    let text = host.read_text("/proc/self/mountinfo").ok()?;
    let mut best: Option<Mount> = None;
    for line in text.lines() {
        let Some((head, tail)) = line.split_once(" - ") else { continue };
        let (head, tail): (Vec<&str>, Vec<&str>) = (head.split(' ').collect(), tail.split(' ').collect());
        let (Some(point), Some(options)) = (head.get(4), head.get(5)) else { continue };
        let point = point.replace("\\040", " ");
        if dir.starts_with(&point) && best.as_ref().is_none_or(|b| point.len() >= b.point.len()) {
            best = Some(Mount {
                point,
                kind: tail.first().copied().unwrap_or_default().into(),
                device: tail.get(1).copied().unwrap_or_default().into(),
                options: format!("{options},{}", tail.get(2).copied().unwrap_or_default()),
            });
        }
    }
    best
}

/// The folder as the kernel names it.
fn folder(context: &Context<'_>) -> PathBuf {
    std::fs::canonicalize(context.dir).unwrap_or_else(|_| context.dir.to_owned())
}

/// The name of the disk that `dir` lies on, such as "nvme0n1". None where it is no disk, or several.
fn disk_of(host: &Host, dir: &Path) -> Option<String> {
    let device = std::fs::metadata(dir).ok()?.dev();
    #[cfg(not(target_os = "linux"))]
    let device = device as libc::dev_t;
    let name = match (libc::major(device), libc::minor(device)) {
        // btrfs, overlayfs and others have no device of their own.
        (0, _) => mount_of(host, dir)?.device.strip_prefix("/dev/")?.to_owned(),
        (major, minor) => {
            let link = host.link(&format!("/sys/dev/block/{major}:{minor}")).ok()?;
            link.file_name()?.to_str()?.to_owned()
        }
    };
    if host.exists(&format!("/sys/block/{name}")) {
        return Some(name);
    }
    host.folders("/sys/block").into_iter().find(|disk| host.exists(&format!("/sys/block/{disk}/{name}")))
}

/// Where the folder lies, in words.
pub(crate) fn where_it_lies(context: &Context<'_>) -> (Mount, String) {
    let dir = folder(context);
    let mount = mount_of(context.host, &dir).unwrap_or_default();
    let disk = disk_of(context.host, &dir).unwrap_or_else(|| mount.device.clone());
    let text = format!("{} ({} on {disk})", dir.display(), mount.kind);
    (mount, text)
}

pub(crate) fn in_memory(mount: &Mount) -> Result<(), Unavailable> {
    match mount.kind.as_str() {
        "tmpfs" | "ramfs" => {
            Err(Unavailable::not_applicable(format!("{} is kept in memory: nothing reaches a disk", mount.point))
                .remedy("name a folder on a disk: --dir DIR"))
        }
        _ => Ok(()),
    }
}

pub(crate) const BLOCK: usize = 4096;

/// Writes blocks at the places that `at` gives, each made safe before the next; seconds of each.
fn writes(context: &Context<'_>, scratch: &Scratch, at: impl Fn(u64) -> u64) -> Result<Vec<f64>, Unavailable> {
    let block = [0x5au8; BLOCK];
    let end = crate::measure::deadline(if context.quick { 0.5 } else { 1.5 });
    let mut all = Vec::new();
    for n in 0..context.rounds(200) as u64 {
        context.go_on()?;
        let start = Instant::now();
        scratch
            .file
            .write_all_at(&block, at(n))
            .and_then(|()| scratch.file.sync_data())
            .map_err(|e| scratch.failed(&e))?;
        all.push(start.elapsed().as_secs_f64());
        if Instant::now() > end {
            break;
        }
    }
    Ok(all)
}

/// The value that `share` of them do not exceed.
fn worst(all: &[f64], share: f64) -> f64 {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, share).unwrap_or(0.0)
}

fn fsync(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let (mount, place) = where_it_lies(context);
    in_memory(&mount)?;
    let scratch = Scratch::new(context.dir, 0)?;
    const ROOM: u64 = 1 << 20;
    scratch
        .file
        .write_all_at(&vec![0u8; ROOM as usize], 0)
        .and_then(|()| scratch.file.sync_all())
        .map_err(|e| scratch.failed(&e))?;
    let over = writes(context, &scratch, |n| n * BLOCK as u64 % ROOM)?;
    let append = writes(context, &scratch, |n| ROOM + n * BLOCK as u64)?;
    let spread = Spread::or_failed(&over, "writing")?;
    let grown = Spread::or_failed(&append, "writing")?;
    let verdict = match spread.median {
        s if s <= 2e-3 => Verdict::Good,
        s if s <= 12e-3 => Verdict::CouldBeBetter,
        _ => Verdict::Bad,
    };
    let mut says = format!(
        "{} a small write that must be safe, {} at the end of a file, in {place}: one thread commits {:.0} times a second at most",
        human(spread.median, "s"),
        human(grown.median, "s"),
        1.0 / spread.median
    );
    let fast = spread.median < 30e-6;
    if fast {
        says.push_str("; that is faster than any medium: the device or the hypervisor keeps it in memory, or the file system does not wait (check before you trust it with data)");
    }
    let mut finding = Finding::new(verdict, says)
        .expected("20 to 100 µs on NVMe disks with protected caches, 0.3 to 2 ms on disks over a network (EBS, persistent disks) and consumer NVMe, 5 to 20 ms on spinning disks.")
        .spread("write and fdatasync", spread, "s")
        .number("99th percentile", worst(&over, 0.99), "s")
        .spread("at the end of a file", grown, "s")
        .word("folder", place);
    if verdict != Verdict::Good {
        finding = finding.change(
            "commit several at once (group commit, batches), put logs on a faster disk, preallocate them; on a cloud: a disk type with more IOPS, or a local NVMe for what can be lost",
            "batches add latency; local disks are lost with the instance",
        );
    }
    Ok(finding)
}

/// Memory that O_DIRECT takes: aligned to a block.
#[repr(align(4096))]
struct Aligned([u8; BLOCK]);

fn read(context: &Context<'_>) -> Result<Finding, Unavailable> {
    context.live()?;
    let (mount, place) = where_it_lies(context);
    in_memory(&mount)?;
    let size: u64 = if context.quick { 16 << 20 } else { 64 << 20 };
    let scratch = Scratch::new(context.dir, 0)?;
    // Not zeroes: some layers keep no blocks for them.
    let mut chunk = vec![0u8; 1 << 20];
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for n in 0..size >> 20 {
        context.go_on()?;
        chunk.as_chunks_mut::<8>().0.iter_mut().for_each(|c| *c = random().to_le_bytes());
        scratch.file.write_all_at(&chunk, n << 20).map_err(|e| scratch.failed(&e))?;
    }
    scratch.file.sync_all().map_err(|e| scratch.failed(&e))?;
    let direct =
        std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&scratch.path).map_err(|e| {
            Unavailable::absent(format!(
                "{}: {} does not read past the page cache: {e}",
                context.dir.display(),
                mount.kind
            ))
        })?;
    let mut block = Box::new(Aligned([0; BLOCK]));
    let mut timed = |file: &File, most: usize| -> Result<Vec<f64>, Unavailable> {
        let end = crate::measure::deadline(if context.quick { 0.5 } else { 1.5 });
        let mut all = Vec::new();
        for _ in 0..context.rounds(most) {
            context.go_on()?;
            let at = random() % (size / BLOCK as u64) * BLOCK as u64;
            let start = Instant::now();
            file.read_exact_at(&mut block.0, at).map_err(|e| scratch.failed(&e))?;
            all.push(start.elapsed().as_secs_f64());
            if Instant::now() > end {
                break;
            }
        }
        Ok(all)
    };
    let cached = timed(&scratch.file, 500)?;
    let times = timed(&direct, 500)?;
    let (spread, cached) = (Spread::or_failed(&times, "reading")?, Spread::or_failed(&cached, "reading")?);
    let verdict = match spread.median {
        s if s <= 0.6e-3 => Verdict::Good,
        s if s <= 2e-3 => Verdict::CouldBeBetter,
        _ => Verdict::Bad,
    };
    let mut says = format!(
        "{} a read of 4 KiB from the disk, {} from the page cache, in {place}",
        human(spread.median, "s"),
        human(cached.median, "s")
    );
    if spread.median < 40e-6 {
        says.push_str("; faster than flash memory: the host or the device has it in memory");
    }
    let mut finding = Finding::new(verdict, says)
        .expected("60 to 120 µs on NVMe flash, 0.2 to 1 ms on disks over a network, 4 to 10 ms on spinning disks.")
        .spread("4 KiB past the page cache", spread, "s")
        .number("99th percentile", worst(&times, 0.99), "s")
        .spread("4 KiB from the page cache", cached, "s")
        .word("folder", place);
    if verdict != Verdict::Good {
        finding = finding.change(
            "keep what is read often in memory (page cache, buffer pool), read ahead or several at once (io_uring, threads); a faster disk type",
            "none",
        );
    }
    Ok(finding)
}

/// Disks with requests of their own: no loops, memory disks, optical drives, and none that only passes on to others.
fn disks(host: &Host) -> Vec<String> {
    let passing = ["loop", "ram", "zram", "sr", "fd", "dm-", "md", "nbd", "bcache"];
    let mut names = host.list("/sys/block").unwrap_or_default();
    names.retain(|n| {
        !passing.iter().any(|p| n.starts_with(p)) && host.exists(&format!("/sys/block/{n}/queue/scheduler"))
    });
    names
}

fn scheduler(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let names = disks(host);
    if names.is_empty() {
        return Err(Unavailable::not_applicable("/sys/block: no disk with a queue of its own"));
    }
    let is_virtual = machine::Platform::of(host).is_virtual();
    let cpus = machine::online(host).len();
    let own = disk_of(host, &folder(context)).filter(|_| !host.is_fixture());
    let mut finding = Finding::good("");
    let (mut writes, mut says, mut slow) = (Vec::new(), Vec::new(), Vec::new());
    for name in &names {
        let queue = format!("/sys/block/{name}/queue");
        let read = |file: &str| host.read_text(&format!("{queue}/{file}")).unwrap_or_default();
        let text = read("scheduler");
        let (now, can) = (machine::chosen(&text).to_owned(), machine::choices(&text));
        let spins = read("rotational") == "1" && !is_virtual && !name.starts_with("nvme");
        let good: &[&str] = match () {
            () if spins => &["mq-deadline", "bfq", "deadline", "cfq"],
            () if name.starts_with("nvme") => &["none", "kyber", "noop"],
            () => &["none", "mq-deadline", "kyber", "noop", "deadline"],
        };
        let hardware = host.folders(&format!("/sys/block/{name}/mq")).len();
        let mut line = format!("{now}, {} requests", read("nr_requests"));
        if hardware > 0 {
            line.push_str(&format!(
                ", {hardware} hardware queue{} for {cpus} CPUs",
                if hardware == 1 { "" } else { "s" }
            ));
        }
        line.push_str(&format!(", read-ahead {} KiB, {}", read("read_ahead_kb"), read("write_cache")));
        if own.as_ref() == Some(name) {
            line.push_str(" (the folder's)");
        }
        finding = finding.word(name, line);
        says.push(format!("{name} {now}"));
        if !good.contains(&now.as_str())
            && let Some(better) = good.iter().find(|g| can.contains(g))
        {
            slow.push(match spins {
                true => format!("{name}: without a scheduler a spinning disk seeks more than it needs"),
                false => format!("{name}: {now} sorts requests for a disk that spins; this one does not, and it costs CPU time and a lock on each"),
            });
            writes.push(Write::new(format!("{queue}/scheduler"), *better));
        }
    }
    finding.says = if slow.is_empty() { says.join(", ") } else { slow.join("; ") };
    finding = finding.expected("none for NVMe; none or mq-deadline for virtual disks and SSDs; mq-deadline or bfq for disks that spin. A hardware queue for each CPU where the device has them (NVMe, virtio with num-queues).");
    if !writes.is_empty() {
        finding.verdict = Verdict::CouldBeBetter;
        finding = finding.writes(writes, "low: requests in flight are finished first; limits of ionice and io.weight work with bfq only. Lost at reboot (a udev rule keeps it)");
    }
    Ok(finding)
}

fn mounted(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let dir = if context.host.is_fixture() { context.dir.to_owned() } else { folder(context) };
    let mount = mount_of(context.host, &dir)
        .ok_or_else(|| Unavailable::absent(format!("/proc/self/mountinfo: no mount for {}", dir.display())))?;
    let has = |option: &str| mount.options.split(',').any(|o| o == option);
    let mut wrong = Vec::new();
    let remount = |option: &str| format!("mount -o remount,{option} {}, and in /etc/fstab", mount.point);
    let mut finding = Finding::good(format!("{} on {}, {}", mount.kind, mount.device, mount.options))
        .expected("relatime or noatime, no sync, barriers on, at least a tenth of the space free.")
        .word("mount point", &mount.point)
        .word("file system", &mount.kind)
        .word("options", &mount.options);
    if has("sync") || has("dirsync") {
        wrong.push("each write waits for the disk (sync)".to_owned());
        finding = finding.change(remount("async"), "what was not synced by the program is lost in a crash");
    }
    if !has("relatime")
        && !has("noatime")
        && !has("ro")
        && !matches!(mount.kind.as_str(), "tmpfs" | "overlay" | "nfs" | "nfs4")
    {
        wrong.push("each read writes the time of access (strictatime)".into());
        finding =
            finding.change(remount("noatime"), "programs that look at access times (some mail readers) miss them");
    }
    if has("nobarrier") || has("barrier=0") {
        wrong.push("barriers are off: fast, and data can be lost with the power".into());
        finding = finding.change(remount("barrier"), "fsync takes longer");
    }
    if let Ok(space) = context.host.space(&dir.to_string_lossy())
        && space.blocks > 0
    {
        let free = space.available as f64 / space.blocks as f64;
        finding = finding.number("free", free, "ratio").number("size", (space.blocks * space.block) as f64, "B");
        if free < 0.05 && !has("ro") {
            wrong.push(format!("only {:.0} % is free: file systems slow down and fragment", free * 100.0));
            finding = finding.change("free some space", "none");
        }
    }
    if !wrong.is_empty() {
        finding.verdict = Verdict::CouldBeBetter;
        finding.says = format!("{} ({}): {}", mount.point, mount.kind, wrong.join("; "));
    }
    Ok(finding)
}

fn grants(context: &Context<'_>) -> Result<Finding, Unavailable> {
    let host = context.host;
    let disks: Vec<String> =
        host.list("/sys/block").unwrap_or_default().into_iter().filter(|n| n.starts_with("xvd")).collect();
    if disks.is_empty() {
        return Err(Unavailable::not_applicable("no block device of Xen"));
    }
    let parameters = "/sys/module/xen_blkfront/parameters";
    let read = |name: &str| host.read_text(&format!("{parameters}/{name}"));
    let (persistent, queues) = (read("feature_persistent"), read("max_queues"));
    let release = machine::kernel(host).unwrap_or((0, 0));
    let off = persistent.as_ref().is_ok_and(|v| matches!(v.as_str(), "N" | "0"));
    let (verdict, says) = match () {
        () if release < (3, 8) => {
            (Verdict::Bad, "this kernel has no persistent grants: each I/O maps and unmaps its pages in the host".to_owned())
        }
        () if off => (
            Verdict::CouldBeBetter,
            "persistent grants are switched off for this guest: each I/O maps and unmaps its pages in the host".to_owned(),
        ),
        () => (
            Verdict::Good,
            "this guest offers persistent grants; whether the host takes them is in dmesg: \"persistent grants: enabled\"".to_owned(),
        ),
    };
    let mut finding = Finding::new(verdict, says)
        .expected("On: pages stay mapped in the host between I/Os, which saves a TLB flush on all its CPUs for each. Off can be faster for very large I/O, which is then copied once less.")
        .word("disks", disks.join(", "))
        .word("feature_persistent", persistent.unwrap_or_else(|_| "not told".into()))
        .word("max_queues", queues.unwrap_or_else(|_| "not told".into()));
    if release < (3, 8) {
        finding =
            finding.change("install a newer kernel, or take an instance type with NVMe", "drivers and defaults change");
    } else if off {
        finding = finding.change(
            "xen_blkfront.feature_persistent=1 on the kernel's command line",
            "the host keeps up to 1,056 pages a queue mapped",
        );
    }
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{host_of, live, on};

    #[test]
    fn schedulers_fit_the_disk() {
        let of = |name: &str, rotational: &str, scheduler: &str, cpuinfo: &str| {
            let file = |f: &str| format!("/sys/block/{name}/queue/{f}");
            let (_dir, host) = host_of(&[
                (&file("scheduler"), scheduler),
                (&file("rotational"), rotational),
                ("/proc/cpuinfo", cpuinfo),
            ]);
            let found = on(&host, super::scheduler).unwrap();
            (found.verdict, found.changes.first().and_then(|c| c.writes.first()).map(|w| w.value.clone()))
        };
        let (metal, guest) = ("flags : fpu\n", "flags : fpu hypervisor\n");
        assert_eq!(of("nvme0n1", "0", "none [mq-deadline] bfq", metal), (Verdict::CouldBeBetter, Some("none".into())));
        assert_eq!(of("nvme0n1", "0", "[none] mq-deadline", metal).0, Verdict::Good);
        assert_eq!(of("sda", "1", "[none] mq-deadline", metal), (Verdict::CouldBeBetter, Some("mq-deadline".into())));
        assert_eq!(of("vda", "1", "[none] mq-deadline", guest).0, Verdict::Good);
        assert_eq!(of("xvda", "0", "noop deadline [cfq]", guest), (Verdict::CouldBeBetter, Some("noop".into())));
        let (_dir, host) = host_of(&[("/sys/block/loop0/queue/scheduler", "none")]);
        assert!(on(&host, super::scheduler).is_err());
    }

    #[test]
    fn mounts_are_found() {
        let line = |point: &str, options: &str, kind: &str| {
            format!("30 1 8:1 / {point} {options} shared:1 - {kind} /dev/sda1 rw\n")
        };
        let text =
            line("/", "rw,relatime", "ext4") + &line("/data", "rw,sync", "xfs") + &line("/dat", "rw,relatime", "ext4");
        let (_dir, host) = host_of(&[("/proc/self/mountinfo", &text)]);
        assert_eq!(mount_of(&host, Path::new("/data/x")).unwrap().kind, "xfs");
        assert_eq!(mount_of(&host, Path::new("/database")).unwrap().point, "/");
        let stop = std::sync::atomic::AtomicBool::new(false);
        let mut context = crate::testing::context(&host, &stop);
        context.dir = Path::new("/data");
        let found = mounted(&context).unwrap();
        assert_eq!(found.verdict, Verdict::CouldBeBetter);
        assert!(found.says.contains("sync") && found.says.contains("strictatime"), "{}", found.says);
    }

    #[test]
    fn grants_of_xen() {
        let of = |release: &str, persistent: Option<&str>| {
            let mut files = vec![("/sys/block/xvda/dev", "202:0"), ("/proc/sys/kernel/osrelease", release)];
            files.extend(persistent.map(|p| ("/sys/module/xen_blkfront/parameters/feature_persistent", p)));
            let (_dir, host) = host_of(&files);
            on(&host, grants).unwrap().verdict
        };
        assert_eq!(of("3.2.0", None), Verdict::Bad);
        assert_eq!(of("5.10.0", Some("N")), Verdict::CouldBeBetter);
        assert_eq!(of("5.10.0", Some("Y")), Verdict::Good);
        assert_eq!(of("4.14.0", None), Verdict::Good);
        let (_dir, host) = host_of(&[]);
        assert!(on(&host, grants).is_err());
    }

    #[test]
    fn nothing_is_left_in_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let host = Host::live();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let context = Context { host: &host, dir: dir.path(), quick: true, stop: &stop };
        for run in [fsync, read] {
            match run(&context) {
                Ok(found) => assert!(found.values.iter().filter_map(|v| v.value).all(|v| v > 0.0), "{found:?}"),
                Err(why) => println!("SKIPPED: disk: {why}"),
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(fsync(&context).is_err() && read(&context).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let missing = dir.path().join("none");
        stop.store(false, std::sync::atomic::Ordering::Relaxed);
        let context = Context { dir: &missing, ..context };
        assert!(fsync(&context).unwrap_err().why.contains("none"));
        let _ = live(mounted);
    }
}
