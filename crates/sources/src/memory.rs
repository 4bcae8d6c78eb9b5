//! Memory of another process. Nothing in it is trusted: reads are bounded, and what cannot be read is `None`.

pub(crate) mod huge;

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Why nothing more can be read of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It has ended, or runs another program.
    Gone,
    /// The kernel does not let us.
    Denied,
}

/// What is read from a process, or from a test.
pub(crate) trait Memory {
    /// Fills `into` from an address on; gives how much of it could be read.
    fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble>;

    /// The 8 bytes at each address, those of the lowest page being none.
    fn words(&self, addresses: &[u64]) -> Result<Vec<Option<u64>>, Trouble> {
        let mut found = Vec::with_capacity(addresses.len());
        for &address in addresses {
            let mut word = [0; 8];
            let whole = address >= LOWEST && self.some(address, &mut word)? == word.len();
            found.push(whole.then(|| u64::from_ne_bytes(word)));
        }
        Ok(found)
    }

    /// The 8 bytes at an address.
    fn word(&self, address: u64) -> Result<Option<u64>, Trouble> {
        Ok(self.words(&[address])?.first().copied().flatten())
    }

    /// How many bytes of a stretch lie in huge pages; `None` where that is not told.
    fn huge(&self, _of: std::ops::Range<u64>) -> Option<u64> {
        None
    }

    /// Text that a zero ends, of at most `LONGEST_TEXT` bytes.
    fn text(&self, address: u64) -> Result<Option<String>, Trouble> {
        let mut bytes = [0; LONGEST_TEXT];
        // Most are short: what lies on the next page is read only if it must be.
        let page = (4096 - address % 4096).min(64) as usize;
        for length in [page, LONGEST_TEXT] {
            let read = self.some(address, bytes.get_mut(..length).unwrap_or_default())?;
            let read = bytes.get(..read).unwrap_or_default();
            if let Some(end) = memchr::memchr(0, read) {
                return Ok(read.get(..end).and_then(|text| std::str::from_utf8(text).ok()).map(str::to_owned));
            }
        }
        Ok(None)
    }
}

/// Nothing is mapped below.
const LOWEST: u64 = 4096;
/// Names of HotSpot's structures, fields and flags are shorter.
pub(crate) const LONGEST_TEXT: usize = 192;
/// When so many addresses of one call were none, the others are not tried.
const MOST_WRONG: usize = 64;

/// A live process (`/proc/PID/mem`).
///
/// Not process_vm_readv(2): that waits for whoever answers the page faults of a process (userfaultfd(2)), for ever where nobody does. A read of the
/// file fails there, since `access_remote_vm()` in mm/memory.c lets no fault be tried again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process(pub u32);

thread_local! {
    /// The memory that this thread read last. Who reads one word reads others.
    static LAST: RefCell<Option<(u32, File)>> = const { RefCell::new(None) };
}

impl Process {
    /// Does this with the process's memory.
    fn with<T>(self, read: impl FnOnce(&File) -> T) -> Result<T, Trouble> {
        LAST.with_borrow_mut(|last| {
            let of_this = last.take_if(|(pid, _)| *pid == self.0).map(|(_, file)| file);
            let file = match of_this {
                // A process that has ended, or runs another program, has no memory under this descriptor any more.
                Some(file) if has_memory(&file) => file,
                _ => self.open()?,
            };
            let (_, file) = last.insert((self.0, file));
            Ok(read(file))
        })
    }

    fn open(self) -> Result<File, Trouble> {
        File::open(format!("/proc/{}/mem", self.0)).map_err(|why| match why.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Trouble::Denied,
            _ => Trouble::Gone,
        })
    }
}

/// Whether there is still memory to be read: else each read is at its end, where an address that is not mapped is an error.
fn has_memory(file: &File) -> bool {
    !matches!(file.read_at(&mut [0], 0), Ok(0))
}

/// Reads up to the first address that is none.
fn read(file: &File, address: u64, into: &mut [u8]) -> usize {
    // Addresses of the kernel's half are none of a program's, and no offset of a file.
    if i64::try_from(address).is_err() {
        return 0;
    }
    let mut done = 0;
    while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, address.saturating_add(done as u64)) {
            Ok(0) | Err(_) => break,
            Ok(more) => done += more,
        }
    }
    done
}

impl Memory for Process {
    fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble> {
        if address < LOWEST {
            return Ok(0);
        }
        self.with(|file| read(file, address, into))
    }

    fn words(&self, addresses: &[u64]) -> Result<Vec<Option<u64>>, Trouble> {
        self.with(|file| {
            let mut wrong = 0;
            let word = |&address: &u64| {
                let mut word = [0; 8];
                if address < LOWEST || wrong >= MOST_WRONG {
                    return None;
                }
                let is_whole = read(file, address, &mut word) == word.len();
                wrong += usize::from(!is_whole);
                is_whole.then(|| u64::from_ne_bytes(word))
            };
            addresses.iter().map(word).collect()
        })
    }

    fn huge(&self, of: std::ops::Range<u64>) -> Option<u64> {
        huge::bytes(self.0, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_mapped_is_left_out() {
        let here = Process(std::process::id());
        let values = [7u64, 8];
        let at = |i: usize| (&raw const values[i]) as u64;
        let many: Vec<u64> = (0..3000).map(|i| if i % 500 == 3 { 0x10_0000_0000_0000 } else { at(i % 2) }).collect();
        let read = here.words(&many).unwrap();
        for (i, word) in read.iter().enumerate() {
            assert_eq!(*word, (i % 500 != 3).then(|| values[i % 2]), "{i}");
        }
        assert_eq!(here.words(&[0, 8, u64::MAX, at(1)]).unwrap(), [None, None, None, Some(8)]);
        // No more than so many wrong ones are tried.
        let wrong = vec![u64::MAX - 4096; MOST_WRONG + 1];
        assert_eq!(here.words(&[&wrong[..], &[at(0)]].concat()).unwrap().last(), Some(&None));
        let text = b"a name\0rest";
        assert_eq!(here.text(text.as_ptr() as u64).unwrap().as_deref(), Some("a name"));
        assert_eq!(here.text(3).unwrap(), None);
        assert_eq!(Process(0x3fff_ffff).word(at(0)), Err(Trouble::Gone));
    }

    /// A page that nobody ever gives: with process_vm_readv(2) this test would not end.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_page_that_waits_for_another_program_is_left_out() {
        // `UFFDIO_API`, `UFFDIO_REGISTER` and `UFFDIO_REGISTER_MODE_MISSING` of include/uapi/linux/userfaultfd.h.
        const API: (libc::Ioctl, u64) = (0xc018_aa3f_u32 as libc::Ioctl, 0xaa);
        const REGISTER: (libc::Ioctl, u64) = (0xc020_aa00_u32 as libc::Ioctl, 1);
        // SAFETY: the mapping is new and read by nobody but the kernel; both structures have the length that the kernel expects.
        let page = unsafe {
            let answers = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC) as i32;
            let mut api = [API.1, 0, 0];
            if answers < 0 || libc::ioctl(answers, API.0, &raw mut api) != 0 {
                eprintln!("SKIPPED: userfaultfd(2): {}", std::io::Error::last_os_error());
                return;
            }
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) as u64;
            let mut range = [page, 8192, REGISTER.1, 0];
            assert_eq!(libc::ioctl(answers, REGISTER.0, &raw mut range), 0);
            page
        };
        let here = Process(std::process::id());
        assert_eq!(here.some(page, &mut [0; 4096]), Ok(0));
        assert_eq!(here.words(&[page, page + 4096]), Ok(vec![None, None]));
    }
}
