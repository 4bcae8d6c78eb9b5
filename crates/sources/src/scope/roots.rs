//! The processes that `--pid` names. When they and all that they started have ended, nothing is left to record.

use super::{Target, began};
use crate::Scope;
use host::Host;
use std::fmt;

/// The processes, each with when it began.
#[derive(Debug)]
pub struct Roots {
    roots: Vec<(u32, Option<i64>)>,
    /// Says which threads of theirs are left.
    #[cfg_attr(not(feature = "bpf"), expect(dead_code))]
    scope: Scope,
}

impl Roots {
    /// Those of a recording; none where it is not of processes.
    pub fn of(host: &Host, scope: &Scope) -> Self {
        let roots = match &scope.target {
            Target::Trees(pids) => pids.iter().map(|pid| (*pid, began(host, *pid))).collect(),
            _ => Vec::new(),
        };
        Roots { roots, scope: scope.clone() }
    }

    /// Whether they have, with what they started as far as that is known.
    pub fn have_ended(&self, host: &Host) -> bool {
        let is_there = |(pid, start): &(u32, Option<i64>)| start.is_some() && began(host, *pid) == *start;
        !self.roots.is_empty() && !self.roots.iter().any(is_there) && !self.has_descendants(host)
    }

    /// Whether a thread is left that descends from them: the kernel's marks stay where a parent has ended.
    #[cfg(feature = "bpf")]
    fn has_descendants(&self, host: &Host) -> bool {
        let marked = super::shared(host, &self.scope).and_then(|marks| marks.members());
        marked.map_or_else(
            |_| self.has_children(host),
            |threads| threads.into_iter().any(|thread| began(host, thread).is_some()),
        )
    }

    #[cfg(not(feature = "bpf"))]
    fn has_descendants(&self, host: &Host) -> bool {
        self.has_children(host)
    }

    /// The same by whose children processes are: those of a parent that has ended are another's.
    fn has_children(&self, host: &Host) -> bool {
        let pids: Vec<u32> = self.roots.iter().map(|(pid, _)| *pid).collect();
        let left = crate::stacks::descendants(host, &pids);
        left.into_iter().any(|pid| !pids.contains(&pid) && began(host, pid).is_some())
    }
}

impl fmt::Display for Roots {
    /// The subject of a sentence that ends in "ended".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.roots.iter().map(|(pid, _)| pid.to_string()).collect();
        match numbers.as_slice() {
            [one] => write!(f, "process {one}"),
            several => write!(f, "processes {}", several.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    fn of(children: &[&Child]) -> Roots {
        let target = Target::Trees(children.iter().map(|child| child.id()).collect());
        Roots::of(&Host::live(), &Scope { target, ..Scope::default() })
    }

    #[test]
    fn processes_have_ended_when_all_have() {
        let host = Host::live();
        let start = || Command::new("sleep").arg("100").stdin(Stdio::null()).spawn().unwrap();
        let (mut one, mut other) = (start(), start());
        let (both, first) = (of(&[&one, &other]), of(&[&one]));
        assert!(!both.have_ended(&host) && !first.have_ended(&host));
        assert_eq!(first.to_string(), format!("process {}", one.id()));
        one.kill().unwrap();
        one.wait().unwrap();
        assert!(first.have_ended(&host) && !both.have_ended(&host));
        let earlier = Roots { roots: vec![(other.id(), Some(1))], scope: Scope::default() };
        assert!(earlier.have_ended(&host), "the number is another process's now");
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(both.have_ended(&host));
    }
}
