//! Container or not, and the limits of the control group that the recorder, and so the command it starts, runs in. A limit of a group
//! holds for all below it, so the tightest on the way up counts (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/).

use super::{Facts, size};
use host::Host;
use model::Unavailable;

/// No limit is written as a number near the greatest in v1 (PAGE_COUNTER_MAX pages).
const UNLIMITED: i64 = i64::MAX / 2;

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    let cgroup = match facts.host.read_text("/proc/self/cgroup") {
        Ok(text) => text,
        Err(error) => return facts.missing("kind", error.into()),
    };
    let mounts = facts.host.read_text("/proc/self/mountinfo").unwrap_or_default();
    facts.set("kind", kind(facts, &cgroup, &mounts));
    let places = places(&cgroup, &mounts);
    let (v1, v2) = (places.iter().any(|p| !p.controllers.is_empty()), places.iter().any(|p| p.controllers.is_empty()));
    match (v1, v2) {
        (true, true) => facts.set("cgroup_version", "v1, with v2 for tracking"),
        (true, false) => facts.set("cgroup_version", "v1"),
        (false, true) => facts.set("cgroup_version", "v2"),
        (false, false) => {
            let why = "/proc/self/cgroup, /proc/self/mountinfo: no control group is mounted here";
            return facts.missing("cgroup_version", Unavailable::absent(why));
        }
    }
    for place in &places {
        // A controller that a v1 hierarchy has is not in v2.
        let in_v1 = |controller: &str| places.iter().any(|p| p.controllers.iter().any(|c| c == controller));
        let has = |controller: &str| match place.controllers.is_empty() {
            true => !in_v1(controller),
            false => place.controllers.iter().any(|c| c == controller),
        };
        if has("cpu") {
            cpu(facts, place);
        }
        if has("cpuset") {
            for name in ["cpus", "mems"] {
                let files = [format!("cpuset.{name}.effective"), format!("cpuset.effective_{name}")];
                if let Some(text) = files.iter().find_map(|file| place.own(facts, file)) {
                    facts.set(&format!("cpuset.{name}"), text);
                }
            }
            if let Some(text) = place.own(facts, "cpuset.cpus.partition").filter(|t| t != "member") {
                facts.set("cpuset.partition", text);
            }
        }
        if has("memory") {
            memory(facts, place);
        }
        if has("pids")
            && let Some(most) = place.least(facts, "pids.max")
        {
            facts.set("pids.max", most.to_string());
        }
        if (has("io") || has("blkio"))
            && let Some(text) = place.own(facts, "io.max")
        {
            facts.set("io.max", text.lines().collect::<Vec<_>>().join("; "));
        }
    }
}

/// What kind of container this is, from the marks that the engines leave.
fn kind(facts: &Facts<'_, '_>, cgroup: &str, mountinfo: &str) -> String {
    if let Ok(name) = facts.host.read_text("/run/systemd/container")
        && !name.is_empty()
    {
        return name;
    }
    if facts.host.exists("/run/.containerenv") {
        return "podman".into();
    }
    let known = [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("lxc", "lxc"),
        ("containerd", "containerd"),
        ("garden", "garden"),
        ("ecs", "ecs"),
    ];
    let in_path =
        |word: &str| cgroup.lines().any(|line| line.split(['/', '-', ':', '.']).any(|part| part.starts_with(word)));
    // The engine's own service lies in a group of that name too, but not within a namespace.
    if let Some((_, name)) = known.iter().find(|(word, _)| in_path(word))
        && !cgroup.contains(".service")
    {
        return (*name).into();
    }
    // A virtual machine made from an image keeps the mark, but has a whole disk as its root.
    if facts.host.exists("/.dockerenv") && !has_disk_as_root(mountinfo) {
        return "docker".into();
    }
    "none".into()
}

/// Whether `/` is the whole file system of a block device.
fn has_disk_as_root(mountinfo: &str) -> bool {
    mountinfo.lines().any(|line| {
        let Some((head, tail)) = line.split_once(" - ") else { return false };
        let (mut head, mut tail) = (head.split(' ').skip(3), tail.split(' '));
        let is_root = head.next() == Some("/") && head.next() == Some("/");
        is_root && tail.nth(1).is_some_and(|device| device.starts_with("/dev/") && !device.contains("docker"))
    })
}

/// Where the control group of this process lies in one hierarchy.
struct Place {
    /// Controllers of a v1 hierarchy; none for v2.
    controllers: Vec<String>,
    /// Where the hierarchy is mounted.
    mount: String,
    /// The group within it, without slashes at its ends.
    group: String,
}

/// The hierarchies that have controllers, from `/proc/self/cgroup` (`4:memory:/path`, `0::/path`) and the mounts.
fn places(cgroup: &str, mountinfo: &str) -> Vec<Place> {
    let mut places = Vec::new();
    for line in cgroup.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(names), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        if names.starts_with("name=") {
            continue;
        }
        let controllers: Vec<String> = names.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect();
        let mount = mountinfo.lines().find_map(|line| {
            let (head, tail) = line.split_once(" - ")?;
            let (root, point) = {
                let mut words = head.split(' ').skip(3);
                (words.next()?, words.next()?)
            };
            let mut words = tail.split(' ');
            let (kind, options) = (words.next()?, words.nth(1)?);
            let fits = match controllers.first() {
                None => kind == "cgroup2",
                Some(first) => kind == "cgroup" && options.split(',').any(|option| option == first),
            };
            fits.then(|| (point.to_owned(), root.to_owned()))
        });
        let Some((mount, root)) = mount else { continue };
        // Where only a part of the hierarchy is mounted, as Docker does with v1, paths count from that part.
        let group = path.strip_prefix(root.as_str()).filter(|_| root != "/").unwrap_or(path);
        // A process outside its namespace's root shows "/../..".
        let group = if group.contains("..") { "" } else { group.trim_matches('/') };
        places.push(Place { controllers, mount, group: group.to_owned() });
    }
    places
}

impl Place {
    /// What a file of the own group holds.
    fn own(&self, facts: &Facts<'_, '_>, file: &str) -> Option<String> {
        let group = if self.group.is_empty() { String::new() } else { format!("/{}", self.group) };
        facts.host.read_text(&format!("{}{group}/{file}", self.mount)).ok().filter(|t| !t.is_empty())
    }

    /// What a file holds in the own group and in those above, in that order.
    fn upwards(&self, host: &Host, file: &str) -> Vec<String> {
        let mut group = self.group.as_str();
        let mut found = Vec::new();
        loop {
            let slash = if group.is_empty() { "" } else { "/" };
            found.extend(host.read_text(&format!("{}{slash}{group}/{file}", self.mount)));
            if group.is_empty() {
                return found;
            }
            group = group.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }

    /// The least number in a file of the own group and those above; "max" is no limit.
    fn least(&self, facts: &Facts<'_, '_>, file: &str) -> Option<i64> {
        let numbers = self.upwards(facts.host, file).into_iter().filter_map(|text| text.parse::<i64>().ok());
        numbers.filter(|&n| n < UNLIMITED).min()
    }
}

/// The tightest quota of a hierarchy: so much time in each period, microseconds.
fn tightest(host: &Host, place: &Place) -> Option<(i64, i64)> {
    let pairs: Vec<(i64, i64)> = if place.controllers.is_empty() {
        let parse = |text: String| {
            let (quota, period) = text.split_once(' ')?;
            Some((quota.parse().ok()?, period.parse().ok()?))
        };
        place.upwards(host, "cpu.max").into_iter().filter_map(parse).collect()
    } else {
        let quotas = place.upwards(host, "cpu.cfs_quota_us");
        let periods = place.upwards(host, "cpu.cfs_period_us");
        quotas.iter().zip(&periods).filter_map(|(q, p)| Some((q.parse().ok()?, p.parse().ok()?))).collect()
    };
    // -1 is no quota.
    pairs.into_iter().filter(|(quota, period)| *quota > 0 && *period > 0).min_by(|a, b| {
        let share = |(quota, period): &(i64, i64)| *quota as f64 / *period as f64;
        share(a).total_cmp(&share(b))
    })
}

/// How many CPUs this process may use by the quotas of its control groups; `None` where there is none.
pub fn cpu_quota(host: &Host) -> Option<f64> {
    let cgroup = host.read_text("/proc/self/cgroup").ok()?;
    let places = places(&cgroup, &host.read_text("/proc/self/mountinfo").ok()?);
    let quotas = places.iter().filter_map(|place| tightest(host, place));
    quotas.map(|(quota, period)| quota as f64 / period as f64).min_by(f64::total_cmp)
}

/// Quota in CPUs, and weight.
fn cpu(facts: &mut Facts<'_, '_>, place: &Place) {
    match tightest(facts.host, place) {
        Some((quota, period)) => {
            let cpus = quota as f64 / period as f64;
            facts.set("cpu.quota", format!("{cpus:.2} CPUs ({quota} µs each {period} µs)"));
        }
        None => facts.set("cpu.quota", "none"),
    }
    if let Some(weight) = place.own(facts, "cpu.weight").or_else(|| place.own(facts, "cpu.shares")) {
        facts.set("cpu.weight", weight);
    }
}

fn memory(facts: &mut Facts<'_, '_>, place: &Place) {
    let files: &[(&str, &str)] = if place.controllers.is_empty() {
        &[("memory.max", "memory.max"), ("memory.high", "memory.high"), ("memory.swap_max", "memory.swap.max")]
    } else {
        &[("memory.max", "memory.limit_in_bytes"), ("memory.with_swap_max", "memory.memsw.limit_in_bytes")]
    };
    for (name, file) in files {
        match place.least(facts, file) {
            Some(bytes) => facts.set(name, size(bytes)),
            None if *name == "memory.max" => facts.set(name, "none"),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn roots() {
        assert!(has_disk_as_root("27 1 254:0 / / rw - ext4 /dev/vda rw\n"));
        assert!(!has_disk_as_root("27 1 0:50 / / rw - overlay overlay rw,lowerdir=/a\n"));
        assert!(!has_disk_as_root("27 1 0:50 /@docker/x / rw - btrfs /dev/sda2 rw\n"));
        assert!(!has_disk_as_root("27 1 254:0 / / rw - ext4 /dev/mapper/docker-8:1-x rw\n"));
    }

    #[test]
    fn hierarchies() {
        let mounts = "30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      31 20 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      32 20 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let found = places("4:memory:/a/b\n3:cpu,cpuacct:/docker/abc/x\n2:name=systemd:/\n0::/../c\n", mounts);
        let text: Vec<String> =
            found.iter().map(|p| format!("{} {} {}", p.controllers.join("+"), p.mount, p.group)).collect();
        assert_eq!(
            text,
            [
                "memory /sys/fs/cgroup/memory a/b",
                "cpu+cpuacct /sys/fs/cgroup/cpu,cpuacct x",
                " /sys/fs/cgroup/unified "
            ]
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(cgroup in "[0-9a-z:/.\n-]{0,80}", mounts in "[0-9a-z:/., \n-]{0,120}") {
            let _ = places(&cgroup, &mounts);
        }
    }
}
