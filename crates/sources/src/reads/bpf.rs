//! Adds up what `reads.bpf.c` counted, and tells it which file is meant.

use super::ReadFrom;
use crate::counted::{Counted, Plan};
use crate::tally::{Fields, trimmed, whole};
use crate::{Reader, Scope};
use host::Host;
use host::bpf::{Asked, Need};
use model::{Out, Unavailable};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::os::fd::{AsRawFd, OwnedFd};

static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/reads.bpf.o"));

/// What system calls read: `READS_…` and `RECEIVES_…` of reads.bpf.c.
const CALL_CLASSES: [(u8, &[libc::c_long]); 4] = [
    (1, &[libc::SYS_read, libc::SYS_pread64]),
    (2, &[libc::SYS_readv, libc::SYS_preadv, libc::SYS_preadv2]),
    (3, &[libc::SYS_recvfrom]),
    (4, &[libc::SYS_recvmsg]),
];
/// `CALLS` of reads.bpf.c.
const CALLS: usize = 512;
/// Of so many files and processes at most is kept what was read before it is known which file is meant.
const MOST_EARLY: usize = 16384;

/// A file as the kernel knows it: address and number of its inode.
type Inode = (u64, u64);
/// Who read: process and its name.
type Who = (u32, [u8; 16]);
/// Reads, bytes, and reads that filled a block.
type Sums = [u64; 3];

/// Reads what was read from a file.
pub struct Reads {
    counted: Counted,
    file: Asked,
    from: ReadFrom,
    /// Holds the file, so that nothing else can have its inode, and what tells it from another of its name.
    held: Option<(OwnedFd, (u64, u64))>,
    /// All files that have been at the path.
    inodes: HashSet<Inode>,
    /// What was read from any while none was there.
    early: HashMap<(Inode, Who), Sums>,
    rows: BTreeMap<Who, Sums>,
}

fn add(to: &mut Sums, more: &Sums) {
    to.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
}

impl Reads {
    /// Loads and attaches the programs.
    pub fn open(host: &Host, scope: &Scope, from: &ReadFrom) -> Result<Self, Unavailable> {
        Need::all(host, &[Need::TASK_STORAGE, Need::TASK_REGISTERS])?;
        let mut classes = vec![0; CALLS];
        for (class, numbers) in CALL_CLASSES {
            for number in numbers {
                if let Some(place) = usize::try_from(*number).ok().and_then(|at| classes.get_mut(at)) {
                    *place = class;
                }
            }
        }
        let plan = Plan {
            name: "reads",
            object: OBJECT,
            attach: &["call_ends"],
            without: &[],
            constants: &[("call_class", &classes)],
            thinned: None,
        };
        let counted = Counted::open(host, scope, &plan)?;
        let mut reads = Reads {
            file: counted.asked("find_file", "wanted")?,
            counted,
            from: from.clone(),
            held: None,
            inodes: HashSet::new(),
            early: HashMap::new(),
            rows: BTreeMap::new(),
        };
        reads.find(host)?;
        Ok(reads)
    }

    /// Looks whether the file is there, or another one of its name.
    fn find(&mut self, host: &Host) -> Result<(), Unavailable> {
        // It may come later, and what was there and is gone is still read by those who have it open.
        let Ok(file) = host.hold(&self.from.path) else { return Ok(()) };
        let Ok(found) = rustix::fs::fstat(&file) else { return Ok(()) };
        let found = (found.st_dev, found.st_ino);
        if self.held.as_ref().is_some_and(|(_, held)| *held == found) {
            return Ok(());
        }
        let descriptor = u64::try_from(file.as_raw_fd()).unwrap_or(u64::MAX);
        let answer = self.file.ask(descriptor)?;
        let mut fields = Fields::of(&answer);
        let inode = (fields.u64(), fields.u64());
        if inode.0 == 0 {
            return Err(Unavailable::failed(format!("{}: the kernel does not tell which file it is", self.from.name)));
        }
        self.inodes.insert(inode);
        self.held = Some((file, found));
        for ((of, who), sums) in std::mem::take(&mut self.early) {
            if of == inode {
                add(self.rows.entry(who).or_default(), &sums);
            }
        }
        Ok(())
    }

    /// Adds what was counted since the read before.
    fn collect(&mut self, host: &Host) -> Result<(), Unavailable> {
        for (key, sums) in self.counted.take(host)? {
            let mut fields = Fields::of(&key);
            let pid = fields.u32();
            let (inode, who) = ((fields.u64(), fields.u64()), (pid, fields.name()));
            let Ok(sums) = Sums::try_from(sums.as_slice()) else { continue };
            if self.inodes.contains(&inode) {
                add(self.rows.entry(who).or_default(), &sums);
            } else if self.held.is_none() {
                let has_room = self.early.len() < MOST_EARLY || self.early.contains_key(&(inode, who));
                if has_room {
                    add(self.early.entry((inode, who)).or_default(), &sums);
                }
            }
        }
        Ok(())
    }

    fn is_there(host: &Host, who: &Who) -> bool {
        host.exists(&format!("/proc/{}", who.0))
    }
}

impl Reader for Reads {
    fn read(&mut self, host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        // Before they are read for the last time.
        let gone: Vec<Who> = self.rows.keys().filter(|who| !Self::is_there(host, who)).copied().collect();
        let found = self.find(host);
        self.collect(host)?;
        for ((pid, comm), sums) in &self.rows {
            let cells = [i64::from(*pid), out.bytes(trimmed(comm)), out.text(&self.from.name)];
            self.from.saw(sums.iter().any(|sum| *sum > 0));
            out.row(0, &[cells, sums.map(whole)].concat());
        }
        for who in &gone {
            self.rows.remove(who);
        }
        self.counted.report(out, 1);
        found
    }
}
