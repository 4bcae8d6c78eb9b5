//! Files of code are open once and read by several threads: who finds names at once, who finds lines, who looks for variables. A file has one position for
//! all of them, and two that seek and read in turns get each other's bytes. So each reads at a position of its own (pread(2)).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// A file with a position of its own.
pub(super) struct Positioned<'a> {
    file: &'a File,
    at: u64,
}

impl<'a> Positioned<'a> {
    /// From its beginning.
    pub(super) fn new(file: &'a File) -> Self {
        Positioned { file, at: 0 }
    }
}

impl Read for Positioned<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Positioned<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
        };
        self.at = at.ok_or(std::io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn two_who_read_one_file_do_not_disturb_each_other() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let (mut one, mut other) = (Positioned::new(&file), Positioned::new(&file));
        let (mut a, mut b) = ([0; 2], [0; 3]);
        one.seek(SeekFrom::Start(4)).unwrap();
        other.read_exact(&mut b).unwrap();
        one.read_exact(&mut a).unwrap();
        other.seek(SeekFrom::Current(1)).unwrap();
        assert_eq!((&a, &b, other.seek(SeekFrom::End(-1)).unwrap()), (b"45", b"012", 9));
        assert!(other.seek(SeekFrom::Current(-10)).is_err());
    }
}
