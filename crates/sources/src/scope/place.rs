//! Where a control group lies: its folder, its id and the number of its hierarchy, by which the kernel knows it.

use crate::parse;
use host::Host;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders that one walk lists at most.
const MOST_LISTED: usize = 8192;

/// A control group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its folder.
    pub folder: PathBuf,
    /// The inode of the folder, which is the kernel's id of the group (`cgroup_id` of include/linux/cgroup.h).
    pub id: u64,
    /// Number of its hierarchy, as in the first field of proc_pid_cgroup(5); 0 is version 2.
    pub hierarchy: i32,
}

impl Place {
    /// Finds the group that people call `path`: a folder, a path below one of the mounted hierarchies, version 2 first, or `pod:` and the unique id of
    /// a Kubernetes pod.
    ///
    /// # Errors
    /// In words, where it is no control group.
    pub fn find(host: &Host, path: &Path) -> Result<Self, String> {
        let mounts = mounts(host)?;
        let text = path.to_string_lossy();
        if let Some(pod) = text.strip_prefix(POD) {
            return of_pod(host, &mounts, pod);
        }
        let below = |mount: &str| format!("{mount}/{}", text.trim_matches('/')).trim_end_matches('/').to_owned();
        let mut candidates = vec![(text.trim_end_matches('/').to_owned(), None)];
        candidates.extend(mounts.iter().map(|mount| (below(&mount.path), Some(mount))));
        for (folder, mount) in candidates {
            let is_in = |mount: &&Mount| Path::new(&folder).starts_with(&mount.path);
            // The innermost mount: /sys/fs/cgroup/unified lies in /sys/fs/cgroup.
            let Some(mount) = mount.or_else(|| mounts.iter().filter(is_in).max_by_key(|m| m.path.len())) else {
                continue;
            };
            let there = host.path(&folder);
            if there.join("cgroup.procs").exists()
                && let Ok(found) = std::fs::metadata(&there)
            {
                return Ok(Place { folder: there, id: found.ino(), hierarchy: mount.hierarchy });
            }
        }
        let tried = mounts.first().map_or("/sys/fs/cgroup", |mount| &mount.path);
        Err(format!("there is no control group {text}: name a folder such as {tried}/system.slice"))
    }

    /// The processes that are in it or below it now.
    pub fn processes(&self) -> Vec<u32> {
        let (mut found, mut left, mut listed) = (Vec::new(), vec![self.folder.clone()], 0);
        while let Some(folder) = left.pop() {
            listed += 1;
            // A group that has just gone has no processes.
            let members = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            found.extend(members.lines().filter_map(|line| line.trim().parse::<u32>().ok()));
            if listed >= MOST_LISTED {
                break;
            }
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            left.extend(entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()));
        }
        found
    }
}

/// What stands before the unique id of a pod.
const POD: &str = "pod:";

/// How deep below the root of a hierarchy the groups of pods are: `kubelet/kubepods/burstable/podUID` at most.
const DEEPEST: usize = 5;

/// The group of a pod: its name ends with `pod` and the id, with `_` for `-` and `.slice` after it where systemd makes the groups (Kubernetes, "cgroup
/// drivers").
fn of_pod(host: &Host, mounts: &[Mount], pod: &str) -> Result<Place, String> {
    let is_id = !pod.is_empty() && pod.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let names = [format!("pod{pod}"), format!("pod{}.slice", pod.replace('-', "_"))];
    for mount in mounts.iter().filter(|_| is_id) {
        let mut level = vec![host.path(&mount.path)];
        for _ in 0..DEEPEST {
            let entries = level.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            level = folders.map(|entry| entry.path()).collect();
            let is_pod = |folder: &&PathBuf| {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                names.iter().any(|end| name == *end || name.ends_with(&format!("-{end}")))
            };
            if let Some(folder) = level.iter().find(is_pod)
                && let Ok(found) = std::fs::metadata(folder)
            {
                return Ok(Place { folder: folder.clone(), id: found.ino(), hierarchy: mount.hierarchy });
            }
        }
    }
    Err(format!("no pod with the id {pod} is on this node"))
}

/// A mounted hierarchy.
struct Mount {
    path: String,
    hierarchy: i32,
}

/// The mounted hierarchies, version 2 first.
fn mounts(host: &Host) -> Result<Vec<Mount>, String> {
    let table = host.read("/proc/self/mountinfo").map_err(|e| e.to_string())?;
    // "4:memory:/path" for each hierarchy, "0::/path" for version 2.
    let own = host.read_text("/proc/self/cgroup").map_err(|e| e.to_string())?;
    let number = |controllers: &str| {
        own.lines().find_map(|line| {
            let (number, rest) = line.split_once(':')?;
            let (names, _) = rest.split_once(':')?;
            let all = |name: &str| names.split(',').any(|n| n == name);
            let same = if names.is_empty() { controllers.is_empty() } else { controllers.split(',').any(all) };
            if same { number.parse().ok() } else { None }
        })
    };
    let mut found: Vec<Mount> = parse::lines(&table)
        .filter_map(|line| {
            let path = String::from_utf8_lossy(parse::words(line).nth(4)?).trim_end_matches('/').to_owned();
            let mut words = parse::words(line).skip_while(|word| *word != b"-").skip(1);
            let kind = words.next()?;
            let options = String::from_utf8_lossy(words.nth(1).unwrap_or_default()).into_owned();
            let hierarchy = match kind {
                b"cgroup2" => 0,
                b"cgroup" => number(&options)?,
                _ => return None,
            };
            Some(Mount { path, hierarchy })
        })
        .collect();
    found.sort_by_key(|mount| mount.hierarchy);
    if found.is_empty() { Err("no control groups are mounted here".into()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host_of;

    #[test]
    fn a_group_is_found_by_folder_and_by_name() {
        let (dir, host) = host_of(&[
            (
                "/proc/self/mountinfo",
                "30 25 0:26 / /cg/memory rw - cgroup cgroup rw,memory\n31 25 0:27 / /cg/unified rw - cgroup2 cgroup2 rw\n",
            ),
            ("/proc/self/cgroup", "7:memory:/x\n1:name=systemd:/\n0::/y\n"),
            ("/cg/memory/a/cgroup.procs", "1\n"),
            ("/cg/unified/b/cgroup.procs", "2\n3\n"),
            ("/cg/unified/b/c/cgroup.procs", "4\n"),
            ("/cg/unified/plain/file", ""),
            (
                "/cg/unified/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice/cgroup.procs",
                "5\n",
            ),
            ("/cg/memory/kubepods/besteffort/pod3c-4d/cgroup.procs", "6\n"),
        ]);
        let find = |path: &str| Place::find(&host, Path::new(path));
        let (a, b) = (find("a").unwrap(), find("/cg/unified/b/").unwrap());
        assert_eq!((a.hierarchy, b.hierarchy), (7, 0));
        assert_eq!(find("/b").unwrap(), b);
        assert_eq!(b.id, std::fs::metadata(dir.path().join("cg/unified/b")).unwrap().ino());
        let mut processes = b.processes();
        processes.sort_unstable();
        assert_eq!(processes, [2, 3, 4]);
        assert_eq!(find("pod:1a-2b").unwrap().processes(), [5]);
        assert_eq!(find("pod:3c-4d").unwrap().processes(), [6]);
        assert!(find("pod:2b").is_err() && find("pod:").is_err() && find("pod:../x").is_err());
        assert!(find("plain").is_err() && find("../etc").is_err());
    }
}
