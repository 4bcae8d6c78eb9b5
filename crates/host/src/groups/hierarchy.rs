//! The hierarchies of control groups that are mounted, and where this process is in each.

use crate::Host;

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// Where it is mounted.
    pub mount: String,
    /// The folder of the group that this process is in.
    pub own: String,
    /// Whether it is the one of version 2, which says itself which controllers it has.
    pub unified: bool,
    /// Of version 1: its controllers.
    pub controllers: Vec<String>,
}

impl Hierarchy {
    /// The group of this process, and those above it up to the mount.
    pub(super) fn upwards(&self) -> impl Iterator<Item = String> + '_ {
        let parent = |folder: &String| {
            let up = folder.rsplit_once('/')?.0;
            (folder.len() > self.mount.len()).then(|| up.to_owned())
        };
        std::iter::successors(Some(self.own.clone()), parent)
    }
}

/// The hierarchies that hold controllers, that of version 2 first.
///
/// # Errors
/// What could not be read, or that there are none.
pub(super) fn hierarchies(host: &Host) -> Result<Vec<Hierarchy>, String> {
    let mounts = host.read_text("/proc/self/mountinfo").map_err(|e| e.to_string())?;
    let own = host.read_text("/proc/self/cgroup").map_err(|e| e.to_string())?;
    // "4:memory:/path" for each of version 1, "0::/path" for version 2.
    let places: Vec<(&str, &str)> = own.lines().filter_map(|line| line.split_once(':')?.1.split_once(':')).collect();
    let mut found: Vec<Hierarchy> = Vec::new();
    for line in mounts.lines() {
        // 36 35 0:30 ROOT MOUNT OPTIONS … - TYPE SOURCE SUPER-OPTIONS (proc_pid_mountinfo(5))
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let mut words = before.split(' ').skip(3);
        let (Some(root), Some(mount)) = (words.next(), words.next()) else { continue };
        let mut after = after.split(' ');
        let unified = match after.next() {
            Some("cgroup2") => true,
            Some("cgroup") => false,
            _ => continue,
        };
        let options: Vec<&str> = after.nth(1).unwrap_or_default().split(',').collect();
        let is_here = |names: &str| match unified {
            true => names.is_empty(),
            false => !names.is_empty() && !names.contains('=') && names.split(',').all(|name| options.contains(&name)),
        };
        let Some((names, path)) = places.iter().find(|(names, _)| is_here(names)) else { continue };
        let mount = mount.trim_end_matches('/');
        // In a container a part of the hierarchy may be mounted; what lies outside of it is not to be seen.
        let below = if root == "/" { Some(*path) } else { path.strip_prefix(root) };
        let below = below.filter(|path| !path.split('/').any(|part| part == "..")).unwrap_or_default();
        let own = format!("{mount}{}", below.trim_end_matches('/'));
        let controllers = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        if !found.iter().any(|other| other.mount == mount) {
            found.push(Hierarchy { mount: mount.to_owned(), own, unified, controllers });
        }
    }
    found.sort_by_key(|h| !h.unified);
    if found.is_empty() { Err("no control groups are mounted".into()) } else { Ok(found) }
}
