//! Memory of another process. Nothing in it is trusted: reads are bounded, and what cannot be read is `None`.

pub(crate) mod huge;

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
/// `UIO_MAXIOV`: so many stretches are read with one call.
const AT_ONCE: usize = 1024;
/// When so many addresses of one call were none, the others are not tried.
const MOST_WRONG: usize = 64;

/// A live process (process_vm_readv(2)).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process(pub u32);

impl Process {
    #[cfg(target_os = "linux")]
    fn read(self, local: &mut [u8], remote: &[libc::iovec]) -> Result<usize, Trouble> {
        let room = libc::iovec { iov_base: local.as_mut_ptr().cast(), iov_len: local.len() };
        // SAFETY: `room` is `local`, which is ours; the kernel checks the addresses of the other process.
        let read = unsafe {
            libc::process_vm_readv(self.0 as libc::pid_t, &room, 1, remote.as_ptr(), remote.len() as libc::c_ulong, 0)
        };
        match usize::try_from(read) {
            Ok(read) => Ok(read),
            Err(_) => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::ESRCH) => Err(Trouble::Gone),
                Some(libc::EPERM | libc::EACCES | libc::ENOSYS) => Err(Trouble::Denied),
                _ => Ok(0),
            },
        }
    }

    /// There is no such call.
    #[cfg(not(target_os = "linux"))]
    fn read(self, _local: &mut [u8], _remote: &[libc::iovec]) -> Result<usize, Trouble> {
        Err(Trouble::Denied)
    }
}

fn stretch(address: u64, length: usize) -> libc::iovec {
    libc::iovec { iov_base: std::ptr::without_provenance_mut(address as usize), iov_len: length }
}

impl Memory for Process {
    fn some(&self, address: u64, into: &mut [u8]) -> Result<usize, Trouble> {
        let length = into.len();
        if address < LOWEST {
            return Ok(0);
        }
        self.read(into, &[stretch(address, length)])
    }

    fn words(&self, addresses: &[u64]) -> Result<Vec<Option<u64>>, Trouble> {
        let mut found = vec![None; addresses.len()];
        let wanted: Vec<usize> = (0..).zip(addresses).filter(|(_, a)| **a >= LOWEST).map(|(at, _)| at).collect();
        let mut rest = wanted.as_slice();
        let (mut wrong, mut bytes) = (0, [0; AT_ONCE * 8]);
        while !rest.is_empty() && wrong < MOST_WRONG {
            let now = rest.get(..AT_ONCE).unwrap_or(rest);
            let remote: Vec<libc::iovec> =
                now.iter().filter_map(|&at| addresses.get(at)).map(|&address| stretch(address, 8)).collect();
            let read = self.read(bytes.get_mut(..now.len() * 8).unwrap_or_default(), &remote)? / 8;
            let (words, _) = bytes.as_chunks::<8>();
            for (&at, word) in now.iter().zip(words).take(read) {
                if let Some(place) = found.get_mut(at) {
                    *place = Some(u64::from_ne_bytes(*word));
                }
            }
            // The kernel stops at the first address that is none.
            let stopped = usize::from(read < now.len());
            wrong += stopped;
            rest = rest.get(read + stopped..).unwrap_or_default();
        }
        Ok(found)
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
}
