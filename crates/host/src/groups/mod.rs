//! Control groups of both versions for what a program starts: with limits, told what was used, and gone with all that is in them.
//!
//! [`Groups::open`] makes one folder of this program's own in each hierarchy that is needed, named after its process, so that who
//! comes later knows whether that is gone ([`remove_left`]). It lies below the group that this program is in, so that the limits of
//! that one hold too; in version 2, where a group with processes cannot give limits to others, it lies in the nearest group above
//! that can, or this program moves aside if nobody else is in its group. What had to be switched on for that is switched off again.

mod group;
mod hierarchy;
mod left;
#[cfg(test)]
mod tests;

pub use group::Group;
pub use left::remove_left;

use crate::Host;
use hierarchy::{Hierarchy, hierarchies};

/// What can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Which CPUs.
    Cpuset,
    /// Memory.
    Memory,
    /// CPU time.
    Cpu,
}

impl Controller {
    const ALL: [Controller; 3] = [Controller::Cpuset, Controller::Memory, Controller::Cpu];

    /// The kernel's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Controller::Cpuset => "cpuset",
            Controller::Memory => "memory",
            Controller::Cpu => "cpu",
        }
    }

    /// Files of a group, and what they begin with where nobody has limited anything by them (Documentation/admin-guide/cgroup-v2.rst).
    fn defaults(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Controller::Cpuset => &[("cpuset.cpus", ""), ("cpuset.mems", "")],
            Controller::Memory => &[
                ("memory.max", "max"),
                ("memory.high", "max"),
                ("memory.low", "0"),
                ("memory.min", "0"),
                ("memory.swap.max", "max"),
            ],
            Controller::Cpu => &[("cpu.max", "max"), ("cpu.weight", "100"), ("cpu.idle", "0")],
        }
    }
}

/// What the processes of a group may use; all where it does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// CPUs, as a list: `0-1`.
    pub cpus: Option<String>,
    /// Bytes of memory. No swap is used beside it.
    pub memory: Option<u64>,
    /// CPU time: 1.5 is one and a half CPUs.
    pub quota: Option<f64>,
}

/// Where groups are made.
#[derive(Debug)]
pub struct Groups<'a> {
    host: &'a Host,
    /// That of version 2 first.
    trees: Vec<Tree>,
    refused: Vec<(Controller, String)>,
}

/// Our folder in one hierarchy, in which the groups are.
#[derive(Debug)]
struct Tree {
    /// The group that it is in.
    parent: String,
    folder: String,
    unified: bool,
    /// What can be limited by it.
    controllers: Vec<Controller>,
    /// What was switched on for it in the group that it is in.
    enabled: Vec<Controller>,
    /// Where this program's processes are that made room.
    aside: Option<String>,
}

impl<'a> Groups<'a> {
    /// Gets ready to make groups that can limit these; each with whether it is needed: what is not is left out where it would
    /// keep the others from being had.
    pub fn open(host: &'a Host, wanted: &[(Controller, bool)]) -> Groups<'a> {
        Groups::named(host, &left::name(host), wanted)
    }

    fn named(host: &'a Host, name: &str, wanted: &[(Controller, bool)]) -> Groups<'a> {
        let mut groups = Groups { host, trees: Vec::new(), refused: Vec::new() };
        let found = match hierarchies(host) {
            Ok(found) => found,
            Err(why) => {
                groups.refused = wanted.iter().map(|(c, _)| (*c, why.clone())).collect();
                return groups;
            }
        };
        let has = |h: &Hierarchy, c: Controller| h.controllers.iter().any(|name| name == c.name());
        for hierarchy in found.iter().filter(|h| !h.unified) {
            let here: Vec<Controller> = wanted.iter().map(|(c, _)| *c).filter(|c| has(hierarchy, *c)).collect();
            if !here.is_empty() {
                groups.take(Tree::of_version_1(host, hierarchy, name, &here), &here);
            }
        }
        let rest = wanted.iter().filter(|(c, _)| !found.iter().any(|h| has(h, *c)));
        let rest: Vec<(Controller, bool)> = rest.copied().collect();
        let all: Vec<Controller> = rest.iter().map(|(c, _)| *c).collect();
        let needed: Vec<Controller> = rest.iter().filter(|(_, needed)| *needed).map(|(c, _)| *c).collect();
        if let Some(unified) = found.iter().find(|h| h.unified) {
            let make = |controllers: &[Controller]| Tree::unified(host, unified, name, controllers);
            let made = make(&all).or_else(|why| if needed == all { Err(why) } else { make(&needed) });
            let failed = made.is_err();
            groups.take(made, &needed);
            if failed && !needed.is_empty() {
                // Without limits it still says which processes are in it.
                groups.take(make(&[]), &[]);
            }
            groups.trees.sort_by_key(|tree| !tree.unified);
        } else {
            let why = |c: &Controller| format!("no hierarchy of control groups has the controller {}", c.name());
            groups.refused.extend(all.iter().map(|c| (*c, why(c))));
        }
        if groups.trees.is_empty()
            && let Some(plain) =
                found.iter().find(|h| h.controllers.iter().any(|name| name == "pids" || name == "freezer"))
        {
            groups.take(Tree::of_version_1(host, plain, name, &[]), &[]);
        }
        groups
    }

    fn take(&mut self, made: Result<Tree, String>, wanted: &[Controller]) {
        match made {
            Ok(tree) => self.trees.push(tree),
            Err(why) => self.refused.extend(wanted.iter().map(|c| (*c, why.clone()))),
        }
    }

    /// Whether groups can be made at all, with limits or without.
    pub fn any(&self) -> bool {
        !self.trees.is_empty()
    }

    /// Whether this can be limited.
    pub fn has(&self, controller: Controller) -> bool {
        self.trees.iter().any(|tree| tree.controllers.contains(&controller))
    }

    /// Why this cannot be limited: which file could not be written, or what is missing.
    pub fn why_not(&self, controller: Controller) -> Option<&str> {
        self.refused.iter().find(|(c, _)| *c == controller).map(|(_, why)| why.as_str())
    }

    /// A group of this name, with these limits; CPUs are left to the caller where they cannot be limited by groups.
    ///
    /// # Errors
    /// Which limit could not be set, and why.
    pub fn group(&self, name: &str, limits: &Limits) -> Result<Group<'a>, String> {
        Group::make(self, name, limits)
    }
}

impl Drop for Groups<'_> {
    fn drop(&mut self) {
        for tree in self.trees.iter().rev() {
            tree.take_down(self.host);
        }
    }
}

fn words(host: &Host, file: &str) -> Vec<String> {
    host.read_text(file).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

impl Tree {
    /// In a hierarchy of version 1: below the group that this program is in, processes in both or not.
    fn of_version_1(host: &Host, of: &Hierarchy, name: &str, controllers: &[Controller]) -> Result<Tree, String> {
        let folder = format!("{}/{name}", of.own);
        host.make_folder(&folder).map_err(|e| e.to_string())?;
        let tree = Tree {
            parent: of.own.clone(),
            folder,
            unified: false,
            controllers: controllers.to_vec(),
            enabled: Vec::new(),
            aside: None,
        };
        // A new group has no CPUs and no memory nodes, and takes no process before it has.
        if of.controllers.iter().any(|name| name == "cpuset")
            && let Err(why) = group::copy_cpuset(host, &tree.parent, &tree.folder)
        {
            tree.take_down(host);
            return Err(why);
        }
        Ok(tree)
    }

    /// In the hierarchy of version 2: in the nearest group, from this program's own upwards, that can give its children these
    /// controllers; without any, in its own.
    fn unified(host: &Host, of: &Hierarchy, name: &str, controllers: &[Controller]) -> Result<Tree, String> {
        let candidates = of.upwards().take(if controllers.is_empty() { 1 } else { usize::MAX });
        let mut refused = None;
        for parent in candidates {
            match Tree::unified_in(host, of, parent, name, controllers) {
                Ok(tree) => return Ok(tree),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        Err(refused.unwrap_or_default())
    }

    fn unified_in(
        host: &Host,
        of: &Hierarchy,
        parent: String,
        name: &str,
        controllers: &[Controller],
    ) -> Result<Tree, String> {
        let available = words(host, &format!("{parent}/cgroup.controllers"));
        if let Some(lacks) = controllers.iter().find(|c| !available.iter().any(|name| name == c.name())) {
            return Err(format!("{parent}/cgroup.controllers: {} is not among them", lacks.name()));
        }
        let control = format!("{parent}/cgroup.subtree_control");
        let there = words(host, &control);
        let missing = controllers.iter().filter(|c| !there.iter().any(|name| name == c.name()));
        let missing: Vec<Controller> = missing.copied().collect();
        let folder = format!("{parent}/{}", left::with(name, &missing));
        let failed = |e: crate::ReadError| e.to_string();
        // Where nothing may be changed, this says which file it is; a folder that could not be made would name none.
        if !missing.is_empty() {
            host.check_setting(&control).map_err(failed)?;
        }
        host.make_folder(&folder).map_err(failed)?;
        let mut tree =
            Tree { parent, folder, unified: true, controllers: controllers.to_vec(), enabled: Vec::new(), aside: None };
        let switched = tree.switch_on(host, of, &missing);
        if switched.is_err() {
            tree.take_down(host);
        }
        switched.map(|()| tree)
    }

    fn switch_on(&mut self, host: &Host, of: &Hierarchy, missing: &[Controller]) -> Result<(), String> {
        // The root of all groups is the only one that may have both processes and children with limits; it has no type.
        let is_root = !host.exists(&format!("{}/cgroup.type", self.parent));
        if !self.controllers.is_empty() && self.parent == of.own && !is_root {
            self.make_room(host)?;
        }
        let on = |folder: &str, c: Controller| {
            let file = format!("{folder}/cgroup.subtree_control");
            host.write_setting(&file, &format!("+{}", c.name())).map_err(|e| e.to_string())
        };
        for controller in missing {
            on(&self.parent, *controller)?;
            self.enabled.push(*controller);
        }
        self.controllers.iter().try_for_each(|controller| on(&self.folder, *controller))
    }

    /// Moves this program with its children out of its group, into one beside those that are to be made.
    fn make_room(&mut self, host: &Host) -> Result<(), String> {
        let inside = group::processes_of(host, &self.parent);
        if !inside.iter().all(|pid| left::is_own(host, *pid)) {
            let parent = &self.parent;
            return Err(format!("{parent}/cgroup.subtree_control: other processes are in that group, too"));
        }
        let aside = format!("{}/session", self.folder);
        host.make_folder(&aside).map_err(|e| e.to_string())?;
        self.aside = Some(aside.clone());
        inside.iter().try_for_each(|pid| group::join(host, &aside, *pid))
    }

    /// Removes it with all that is in it, and switches off what was switched on for it.
    fn take_down(&self, host: &Host) {
        let inside = host.folders(&self.folder).into_iter().map(|name| format!("{}/{name}", self.folder));
        let groups: Vec<String> = inside.filter(|folder| Some(folder) != self.aside.as_ref()).collect();
        group::end(host, &groups);
        if self.unified {
            switch_off(host, &self.folder, &self.controllers, None);
            switch_off(host, &self.parent, &self.enabled, Some(&self.folder));
        }
        if let Some(aside) = &self.aside {
            for pid in group::processes_of(host, aside) {
                // Where that is refused, it stays where it is: in a group without limits.
                let _ = group::join(host, &self.parent, pid);
            }
            let _ = host.remove_folder(aside);
        }
        // What cannot be removed now is found by its name.
        let _ = host.remove_folder(&self.folder);
    }
}

/// Switches controllers off for the children of a group, but for those by which a group beside ours has been limited meanwhile.
fn switch_off(host: &Host, parent: &str, controllers: &[Controller], ours: Option<&str>) {
    let beside: Vec<String> = (host.folders(parent).into_iter())
        .map(|name| format!("{parent}/{name}"))
        .filter(|folder| ours.is_some_and(|ours| folder != ours))
        .collect();
    for controller in controllers {
        let limited = |folder: &String| {
            let set = |(file, default): &(&str, &str)| {
                let value = host.read_text(&format!("{folder}/{file}"));
                value.is_ok_and(|now| now.split_whitespace().next().unwrap_or_default() != *default)
            };
            controller.defaults().iter().any(set)
        };
        if !beside.iter().any(limited) {
            // The kernel refuses it where a group below still gives it to others; then it is theirs.
            let _ = host.write_setting(&format!("{parent}/cgroup.subtree_control"), &format!("-{}", controller.name()));
        }
    }
}
