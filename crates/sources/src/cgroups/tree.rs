//! Where the hierarchies of control groups are mounted, and which groups there are.

use crate::parse;
use host::{Host, ReadError};
use std::collections::HashSet;

/// The most groups that are read. Beyond, the ones nearer to the root, and the ones that were there first, are kept.
pub(super) const MOST: usize = 256;
/// The most folders that one walk lists.
const MOST_LISTED: usize = 8192;

/// Mount points of the hierarchies, without a slash at the end. Below them, a group has the same path in each.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Hierarchies {
    /// Version 2; on a hybrid host it may have no controllers.
    pub v2: Option<String>,
    /// Of version 1, by controller.
    pub cpu: Option<String>,
    pub cpuacct: Option<String>,
    pub memory: Option<String>,
    pub blkio: Option<String>,
    pub pids: Option<String>,
}

impl Hierarchies {
    /// Finds the mounts in `/proc/self/mountinfo`: "… /mount options … - cgroup2 device superoptions".
    pub fn find(host: &Host) -> Result<Self, ReadError> {
        let mut all = Hierarchies::default();
        for line in parse::lines(&host.read("/proc/self/mountinfo")?) {
            let Some(path) = parse::words(line).nth(4) else { continue };
            let mut words = parse::words(line).skip_while(|word| *word != b"-").skip(1);
            let (Some(kind), Some(_device), options) = (words.next(), words.next(), words.next().unwrap_or_default())
            else {
                continue;
            };
            let path = String::from_utf8_lossy(path).trim_end_matches('/').to_owned();
            let set = |place: &mut Option<String>| {
                place.get_or_insert_with(|| path.clone());
            };
            match kind {
                b"cgroup2" => set(&mut all.v2),
                b"cgroup" => {
                    for option in options.split(|&b| b == b',') {
                        match option {
                            b"cpu" => set(&mut all.cpu),
                            b"cpuacct" => set(&mut all.cpuacct),
                            b"memory" => set(&mut all.memory),
                            b"blkio" => set(&mut all.blkio),
                            b"pids" => set(&mut all.pids),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(all)
    }

    /// The distinct mount points.
    pub fn roots(&self) -> Vec<&str> {
        let mut roots = Vec::new();
        for root in [&self.v2, &self.cpu, &self.cpuacct, &self.memory, &self.blkio, &self.pids].into_iter().flatten() {
            if !roots.contains(&root.as_str()) {
                roots.push(root.as_str());
            }
        }
        roots
    }
}

/// The groups that are read.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Their paths: "" for the root, else beginning with a slash; parents before their children.
    pub paths: Vec<String>,
    /// Groups that were found when there was no room. They stay out: their counters do not begin at zero any more.
    left_out: HashSet<String>,
}

impl Tree {
    /// Walks all hierarchies, level by level. Says how many groups are left out.
    pub fn walk(&mut self, host: &Host, hierarchies: &Hierarchies) -> usize {
        let roots = hierarchies.roots();
        let mut found: Vec<String> = vec![String::new()];
        let mut known: HashSet<String> = found.iter().cloned().collect();
        let mut next = 0;
        while let Some(parent) = found.get(next).cloned() {
            next += 1;
            if next > MOST_LISTED {
                break;
            }
            for root in &roots {
                for name in host.folders(&format!("{root}{parent}")) {
                    let path = format!("{parent}/{name}");
                    if known.insert(path.clone()) {
                        found.push(path);
                    }
                }
            }
        }
        self.left_out.retain(|path| known.contains(path));
        let before: HashSet<String> = std::mem::take(&mut self.paths).into_iter().collect();
        let mut room = MOST.saturating_sub(before.iter().filter(|path| known.contains(*path)).count());
        for path in found {
            if before.contains(&path) {
                self.paths.push(path);
            } else if room > 0 && !self.left_out.contains(&path) {
                room -= 1;
                self.paths.push(path);
            } else {
                self.left_out.insert(path);
            }
        }
        self.left_out.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{fixture, host_of};

    #[test]
    fn hybrid_hierarchies() {
        let found = Hierarchies::find(&fixture("vm-2cpu")).unwrap();
        assert_eq!(found.v2.as_deref(), Some("/sys/fs/cgroup/unified"));
        assert_eq!(found.cpu.as_deref(), Some("/sys/fs/cgroup/cpu"));
        assert_eq!(found.roots().len(), 6);
    }

    #[test]
    fn combined_controllers_are_walked_once() {
        let (_dir, host) = host_of(&[(
            "/proc/self/mountinfo",
            "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n31 25 0:27 / /c2/ rw shared:4 - cgroup2 none rw\nbad\n",
        )]);
        let found = Hierarchies::find(&host).unwrap();
        assert_eq!(found.roots(), ["/c2", "/sys/fs/cgroup/cpu,cpuacct"]);
        assert_eq!(found.memory, None);
    }

    #[test]
    fn there_is_a_bound_and_who_is_left_out_stays_out() {
        let (dir, host) = host_of(&[("/c/cpu.stat", "")]);
        let of = |n: usize| dir.path().join(format!("c/g{n}"));
        for n in 0..MOST + 4 {
            std::fs::create_dir(of(n)).unwrap();
        }
        std::fs::create_dir(of(0).join("inner")).unwrap();
        let hierarchies = Hierarchies { v2: Some("/c".to_owned()), ..Hierarchies::default() };
        let mut tree = Tree::default();
        assert_eq!(tree.walk(&host, &hierarchies), 6);
        assert_eq!(tree.paths.len(), MOST);
        assert_eq!(tree.paths.first().map(String::as_str), Some(""));
        std::fs::remove_dir(of(5)).unwrap();
        assert_eq!(tree.walk(&host, &hierarchies), 6);
        assert_eq!(tree.paths.len(), MOST - 1);
        std::fs::create_dir(of(999)).unwrap();
        tree.walk(&host, &hierarchies);
        assert!(tree.paths.contains(&"/g999".to_owned()), "a new one gets the room");
    }
}
