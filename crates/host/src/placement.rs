//! Where a program runs that is started: which control groups it joins and which CPUs it may use, from its first instruction on.

use crate::cpus::{CpuSet, sched_setaffinity};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What a child does between fork and exec, with all files open before.
#[derive(Debug, Default)]
pub struct Placement {
    joins: Vec<File>,
    cpus: Option<CpuSet>,
}

impl Placement {
    /// To join the groups with these files `cgroup.procs`, and to use these CPUs only; all that there are where none is named.
    ///
    /// # Errors
    /// A file that cannot be opened, with its path.
    pub fn new(joins: &[impl AsRef<Path>], cpus: &[usize]) -> io::Result<Placement> {
        let open = |path: &Path| {
            let opened = OpenOptions::new().write(true).open(path);
            opened.map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))
        };
        let joins = joins.iter().map(|path| open(path.as_ref())).collect::<io::Result<_>>()?;
        Ok(Placement { joins, cpus: (!cpus.is_empty()).then(|| set(cpus)) })
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.joins.is_empty() && self.cpus.is_none()
    }

    /// Puts the calling process there. Makes system calls only, so that it may be called between fork and exec.
    ///
    /// # Errors
    /// What the kernel answers.
    pub fn enter(&self) -> io::Result<()> {
        for file in &self.joins {
            // 0 is whoever writes it.
            rustix::io::write(file, b"0")?;
        }
        if let Some(cpus) = &self.cpus {
            sched_setaffinity(None, cpus)?;
        }
        Ok(())
    }
}

fn set(cpus: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU) {
        set.set(*cpu);
    }
    set
}

/// A list of CPUs as the kernel writes and reads it: `0-1,4`. `None` where it is none.
pub fn cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (from.trim().parse::<usize>().ok()?, to.trim().parse::<usize>().ok()?);
        if from > to || to >= CpuSet::MAX_CPU {
            return None;
        }
        all.extend(from..=to);
    }
    Some(all)
}

/// The paths of the files that a process writes to in order to join.
pub(crate) fn procs(folders: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    folders.into_iter().map(|folder| folder.join("cgroup.procs")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpu_list("0-2,5\n"), Some(vec![0, 1, 2, 5]));
        for wrong in ["", "x", "2-1", "0-99999", "1,", "-1"] {
            assert_eq!(cpu_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_process_is_put_where_it_shall_run() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("cgroup.procs");
        assert!(Placement::new(&[&file], &[]).unwrap_err().to_string().contains("cgroup.procs"));
        std::fs::write(&file, "").unwrap();
        let placement = Placement::new(&[&file], &[]).unwrap();
        assert!(!placement.is_empty());
        placement.enter().unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"0");
        assert!(Placement::new(&[] as &[&Path], &[]).unwrap().is_empty());
    }
}
