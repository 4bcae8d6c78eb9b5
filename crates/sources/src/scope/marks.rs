//! The marks in the kernel (`scope.bpf.c`).

use super::{Place, Target};
use crate::Scope;
use host::Host;
use host::bpf::{Iterator as TaskIterator, Map, Need, Programs};
use model::Unavailable;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scope.bpf.o"));

/// `WAY_…` of scope.bpf.c.
const WAY_CHILDREN: u32 = 0;
const WAY_TREE: u32 = 1;
const WAY_CGROUP: u32 = 2;
/// So often the members of a group are listed until no more are found: processes may be starting others meanwhile.
const MOST_LISTINGS: usize = 5;

/// The marks of the threads in scope.
pub struct Marks {
    /// `None` where everything is in scope, and nothing needs a mark.
    kept: Option<Kept>,
    /// The recorder's own processes, as the programs have their numbers.
    own: Vec<[u8; 4]>,
}

struct Kept {
    marks: Map,
    members: TaskIterator,
    group: Option<Mutex<Group>>,
    /// Holds the programs attached.
    _programs: Programs,
}

/// A control group that is looked at.
struct Group {
    place: Place,
    existing: TaskIterator,
    chosen: Map,
    moves: Map,
    moved: Vec<u8>,
}

/// The marks of this recording; the first call opens them.
///
/// # Errors
/// Where eBPF cannot be had; each call says so.
pub fn shared(host: &Host, scope: &Scope) -> Result<Arc<Marks>, Unavailable> {
    let open = || Marks::open(host, &scope.target, &scope.own).map(Arc::new);
    scope.marks.marks.get_or_init(open).clone()
}

impl Marks {
    fn open(host: &Host, target: &Target, own: &[u32]) -> Result<Self, Unavailable> {
        let own = own.iter().map(|number| number.to_ne_bytes()).collect();
        Need::all(host, &[Need::TASK_STORAGE])?;
        let mut roots: &[u32] = &[];
        let (way, place) = match target {
            // Programs that count for the whole machine use no marks.
            Target::Everything | Target::Nobody => return Ok(Marks { kept: None, own }),
            Target::Children => (WAY_CHILDREN, None),
            Target::Trees(pids) => {
                roots = pids;
                (WAY_TREE, None)
            }
            Target::Cgroup(path) => (WAY_CGROUP, Some(Place::find(host, path).map_err(Unavailable::failed)?)),
        };
        let (id, hierarchy) = place.as_ref().map_or((0, 0), |p| (p.id, p.hierarchy));
        let without: &[&str] = if place.is_some() { &[] } else { &["scope_attach"] };
        let mut programs = Programs::load_with(
            host,
            "scope",
            OBJECT,
            without,
            &[],
            &[
                ("scope_way", &way.to_ne_bytes()),
                ("scope_recorder", &std::process::id().to_ne_bytes()),
                ("scope_cgroup", &id.to_ne_bytes()),
                ("scope_hierarchy", &hierarchy.to_ne_bytes()),
            ],
        )?;
        // New ones first: what starts while the others are looked through must not be missed.
        programs.attach("scope_fork")?;
        let marks = programs.map("scope_marks")?;
        let members = programs.iterator("scope_members")?;
        let group = match place {
            Some(place) => {
                programs.attach("scope_attach")?;
                let mut group = Group {
                    place,
                    existing: programs.iterator("scope_existing")?,
                    chosen: programs.map("scope_chosen")?,
                    moves: programs.map("scope_moves")?,
                    moved: Vec::new(),
                };
                group.refresh()?;
                Some(Mutex::new(group))
            }
            None => {
                if way == WAY_TREE {
                    let chosen = programs.map("scope_chosen")?;
                    for pid in roots {
                        chosen.set(&pid.to_ne_bytes(), &1u32.to_ne_bytes())?;
                    }
                    programs.iterator("scope_existing")?.read_into(&mut Vec::new())?;
                }
                None
            }
        };
        Ok(Marks { kept: Some(Kept { marks, members, group, _programs: programs }), own })
    }

    /// Loads an object whose programs include `bpf/scope.h`, so that `in_scope` of these programs asks these marks. The other arguments are
    /// those of [`Programs::load_with`].
    ///
    /// # Errors
    /// Those of [`Programs::load_with`].
    pub fn load(
        &self,
        host: &Host,
        name: &'static str,
        bytes: &[u8],
        without: &[&str],
        shared: &[&Map],
        constants: &[(&str, &[u8])],
    ) -> Result<Programs, Unavailable> {
        let mut shared = shared.to_vec();
        shared.extend(self.kept.as_ref().map(|kept| &kept.marks));
        let everything = [u8::from(self.is_everything())];
        let mut constants = constants.to_vec();
        constants.push(("scope_everything", &everything));
        let own = ["scope_own", "scope_holder"].into_iter().zip(&self.own);
        constants.extend(own.map(|(name, number)| (name, number.as_slice())));
        Programs::load_with(host, name, bytes, without, &shared, &constants)
    }

    /// Whether every thread is in scope, the kernel's own too.
    pub fn is_everything(&self) -> bool {
        self.kept.is_none()
    }

    /// The numbers of the threads that are marked now; none where everything is in scope.
    ///
    /// # Errors
    /// Where the kernel refuses to run the iterator.
    pub fn members(&self) -> Result<Vec<u32>, Unavailable> {
        let Some(kept) = &self.kept else { return Ok(Vec::new()) };
        let mut bytes = Vec::new();
        kept.members.read_into(&mut bytes)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|number| u32::from_ne_bytes(*number)).collect())
    }

    /// Looks again who is in the control group, if processes have moved since the last call: the kernel tells of their first thread only.
    /// Called once a tick by the source of threads.
    ///
    /// # Errors
    /// Where the kernel refuses what it allowed before.
    pub fn refresh(&self) -> Result<(), Unavailable> {
        let Some(group) = self.kept.as_ref().and_then(|kept| kept.group.as_ref()) else { return Ok(()) };
        let mut group = group.lock().unwrap_or_else(PoisonError::into_inner);
        let moves = group.moves.get(&0u32.to_ne_bytes())?.unwrap_or_default();
        if moves == group.moved {
            return Ok(());
        }
        group.moved = moves;
        group.refresh()
    }
}

impl Group {
    fn refresh(&mut self) -> Result<(), Unavailable> {
        let mut known = HashSet::new();
        for _ in 0..MOST_LISTINGS {
            let there: HashSet<u32> = self.place.processes().into_iter().collect();
            for gone in known.difference(&there) {
                self.chosen.delete(&u32::to_ne_bytes(*gone));
            }
            if known.is_empty() {
                for (key, _) in self.chosen.entries()? {
                    self.chosen.delete(&key);
                }
            }
            let new = there.difference(&known).count();
            for pid in &there {
                self.chosen.set(&pid.to_ne_bytes(), &1u32.to_ne_bytes())?;
            }
            self.existing.read_into(&mut Vec::new())?;
            known = there;
            if new == 0 {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    /// A shell that starts a process of its own and says its number.
    fn family() -> (Child, u32) {
        use std::io::{BufRead, BufReader};
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 100 & echo $!; read end; kill $!"]);
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (shell, line.trim().parse().unwrap())
    }

    fn end((mut shell, _): (Child, u32)) {
        drop(shell.stdin.take());
        shell.wait().unwrap();
    }

    fn open(target: Target) -> Option<Marks> {
        match Marks::open(&Host::live(), &target, &[]) {
            Ok(marks) => Some(marks),
            Err(why) => {
                eprintln!("SKIPPED: marks of {target}: {why}");
                None
            }
        }
    }

    #[test]
    fn children_are_marked_with_what_they_start_and_nothing_else() {
        let Some(marks) = open(Target::Children) else { return };
        let before = std::thread::spawn(|| ()).join();
        assert!(before.is_ok());
        let own = std::process::id();
        let family = family();
        let members = marks.members().unwrap();
        assert!(members.contains(&family.0.id()) && members.contains(&family.1), "{members:?}");
        assert!(!members.contains(&own) && !members.contains(&1), "{members:?}");
        end(family);
    }

    #[test]
    fn a_tree_that_is_there_is_marked() {
        let other = family();
        let family = family();
        let members_of = |roots: &[u32]| {
            let mut members = open(Target::Trees(roots.to_vec()))?.members().unwrap();
            members.sort_unstable();
            Some(members)
        };
        let sorted = |mut all: Vec<u32>| {
            all.sort_unstable();
            all
        };
        let Some(members) = members_of(&[family.0.id()]) else { return };
        assert_eq!(members, sorted(vec![family.0.id(), family.1]));
        let members = members_of(&[family.0.id(), other.1]);
        assert_eq!(members, Some(sorted(vec![family.0.id(), family.1, other.1])), "of several processes");
        end(family);
        end(other);
    }

    #[test]
    fn a_group_is_marked_and_who_moves_into_it() {
        let host = Host::live();
        let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"];
        let name = format!("twinscope-test-{}", std::process::id());
        // Where hierarchies of version 1 are mounted, their common folder takes folders that are no groups.
        let is_group = |folder: &std::path::PathBuf| {
            let is_group = std::fs::create_dir(folder).is_ok() && Place::find(&host, folder).is_ok();
            if !is_group {
                let _ = std::fs::remove_dir(folder);
            }
            is_group
        };
        let Some(folder) = roots.iter().map(|root| std::path::Path::new(root).join(&name)).find(is_group) else {
            eprintln!("SKIPPED: a control group: none could be made");
            return;
        };
        let (first, second) = (family(), family());
        let join = |pid: u32| std::fs::write(folder.join("cgroup.procs"), pid.to_string()).is_ok();
        let joined = join(first.0.id()) && join(first.1);
        if let (true, Some(marks)) = (joined, open(Target::Cgroup(folder.clone()))) {
            let members = || {
                marks.refresh().unwrap();
                let mut members = marks.members().unwrap();
                members.sort_unstable();
                members
            };
            let sorted = |mut all: Vec<u32>| {
                all.sort_unstable();
                all
            };
            assert_eq!(members(), sorted(vec![first.0.id(), first.1]));
            assert!(join(second.0.id()));
            assert_eq!(members(), sorted(vec![first.0.id(), first.1, second.0.id()]));
            let out = folder.parent().unwrap().join("cgroup.procs");
            std::fs::write(out, first.1.to_string()).unwrap();
            assert_eq!(members(), sorted(vec![first.0.id(), second.0.id()]));
        } else if !joined {
            eprintln!("SKIPPED: a control group: no process may be moved into it");
        }
        end(first);
        end(second);
        for _ in 0..100 {
            if std::fs::remove_dir(&folder).is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
