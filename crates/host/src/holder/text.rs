//! Whether a breakpoint is in the code of a process: its memory compared with its file.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};

/// What the kernel's probes put into code (arch/x86/include/asm/uprobes.h, arch/arm64/include/asm/brk-imm.h).
#[cfg(target_arch = "x86_64")]
const BREAKPOINT: [u8; 1] = [0xcc];
#[cfg(target_arch = "aarch64")]
const BREAKPOINT: [u8; 4] = 0xd420_00a0_u32.to_le_bytes();

/// An instruction of a process.
#[derive(Debug)]
pub(super) struct Instruction {
    /// Holds on to the memory of that process, so that no other one can take its place.
    memory: File,
    addresses: BTreeSet<u64>,
    /// What the file has there.
    written: [u8; BREAKPOINT.len()],
}

impl Instruction {
    /// The instruction at `offset` of a file that a process runs. `None` where its memory cannot be read, or does not have the file.
    pub fn of(process: i32, code: &File, offset: u64) -> Option<Instruction> {
        let memory = File::open(format!("/proc/{process}/mem")).ok()?;
        let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
        let addresses = addresses(&maps, code.metadata().ok()?.ino(), offset);
        let mut written = [0; BREAKPOINT.len()];
        code.read_exact_at(&mut written, offset).ok()?;
        // What the file has there itself tells nothing.
        (!addresses.is_empty() && written != BREAKPOINT).then_some(Instruction { memory, addresses, written })
    }

    /// Whether a breakpoint is there. Not where the process has ended, or has something else there by now.
    pub fn has_breakpoint(&self) -> bool {
        let mut found = self.written;
        self.addresses.iter().any(|at| self.memory.read_exact_at(&mut found, *at).is_ok() && found == BREAKPOINT)
    }
}

/// A second handle of an open file, by which its bytes are read.
pub(super) fn again(file: impl AsFd) -> Option<File> {
    file.as_fd().try_clone_to_owned().ok().map(File::from)
}

/// Where a file with that inode is mapped as code, of the lines of /proc/PID/maps (proc_pid_maps(5)). The device is not compared: stacked file systems
/// tell another one there than stat(2) does.
fn addresses(maps: &str, inode: u64, offset: u64) -> BTreeSet<u64> {
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let of_line = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (range, rights, from, _device, of) =
            (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
        let (begin, end) = range.split_once('-')?;
        let at = number(begin)?.checked_add(offset.checked_sub(number(from)?)?)?;
        (of.parse() == Ok(inode) && rights.contains('x') && at < number(end)?).then_some(at)
    };
    maps.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_found_where_its_file_is_mapped() {
        let maps = "1000-3000 r-xp 00001000 fe:00 7 /lib/a.so\n\
                    3000-4000 rw-p 00003000 fe:00 7 /lib/a.so\n\
                    5000-7000 r-xp 00001000 00:2f 7 /lib/a.so\n\
                    8000-9000 r-xp 00001000 fe:00 8 /lib/b.so\n\
                    no line\n";
        assert_eq!(addresses(maps, 7, 0x1010), BTreeSet::from([0x1010, 0x5010]));
        assert!(addresses(maps, 7, 0x3010).is_empty(), "data are no code");
        assert!(addresses(maps, 7, 0x10).is_empty() && addresses(maps, 9, 0x1010).is_empty());
    }

    #[test]
    fn code_that_nobody_probes_has_no_breakpoint() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own = std::fs::read_link("/proc/self/exe").unwrap();
        let line = maps.lines().find(|line| line.contains("r-xp") && line.ends_with(&*own.to_string_lossy())).unwrap();
        let from = u64::from_str_radix(line.split_ascii_whitespace().nth(2).unwrap(), 16).unwrap();
        let code = File::open("/proc/self/exe").unwrap();
        let pid = std::process::id() as i32;
        let plain = (from..).find_map(|offset| Instruction::of(pid, &code, offset)).unwrap();
        assert!(!plain.has_breakpoint());
        assert!(Instruction::of(pid, &File::open("/dev/null").unwrap(), from).is_none());
    }
}
