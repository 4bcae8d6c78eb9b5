//! Files that are read again and again: opened once, read from the start by `pread`, into a buffer that is kept.

use crate::{Host, ReadError};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A file that stays open between reads. procfs and sysfs make its content anew at each read from offset 0.
#[derive(Debug)]
pub struct HeldFile {
    path: String,
    file: File,
    /// Never shrinks; only the first `length` bytes of it are of the last read.
    buffer: Vec<u8>,
    length: usize,
}

impl HeldFile {
    pub(crate) fn open(host: &Host, path: &str) -> Result<Self, ReadError> {
        let file = File::open(host.path(path)).map_err(|e| ReadError::new(path, e))?;
        Ok(HeldFile { path: path.to_owned(), file, buffer: Vec::new(), length: 0 })
    }

    /// The path on the host.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the file holds now.
    pub fn read(&mut self, host: &Host) -> Result<&[u8], ReadError> {
        self.fill(host, false)
    }

    /// What the file holds now, for files that hold one record, which the kernel hands out in one piece (`/proc/PID/stat`, a
    /// sysfs attribute): saves the read that would find the end.
    pub fn read_record(&mut self, host: &Host) -> Result<&[u8], ReadError> {
        self.fill(host, true)
    }

    /// As [`HeldFile::read_record`], into a buffer that many files share. The buffer never shrinks; what was read is returned.
    pub fn read_record_into<'b>(&mut self, host: &Host, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], ReadError> {
        self.follow(host)?;
        let length = read_from_start(&self.file, buffer, true).map_err(|e| ReadError::new(&self.path, e))?;
        Ok(buffer.get(..length).unwrap_or_default())
    }

    fn fill(&mut self, host: &Host, one_record: bool) -> Result<&[u8], ReadError> {
        self.length = 0;
        self.follow(host)?;
        let read = read_from_start(&self.file, &mut self.buffer, one_record);
        self.length = read.map_err(|e| ReadError::new(&self.path, e))?;
        Ok(self.buffer.get(..self.length).unwrap_or_default())
    }

    /// In a fixture, another frame is another file.
    fn follow(&mut self, host: &Host) -> Result<(), ReadError> {
        if host.is_played() {
            self.file = File::open(host.path(&self.path)).map_err(|e| ReadError::new(&self.path, e))?;
        }
        Ok(())
    }
}

/// Reads `file` from its start into `buffer`, which grows as needed; returns the number of bytes.
fn read_from_start(file: &File, buffer: &mut Vec<u8>, one_record: bool) -> io::Result<usize> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize((buffer.len() * 2).max(1024), 0);
        }
        let rest = buffer.get_mut(length..).unwrap_or_default();
        let room = rest.len();
        match file.read_at(rest, length as u64) {
            Ok(0) => return Ok(length),
            Ok(n) => {
                length += n;
                if one_record && n < room {
                    return Ok(length);
                }
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Reads the whole of the file at `path` into `buffer`.
pub(crate) fn read_whole(path: &Path, buffer: &mut Vec<u8>) -> io::Result<()> {
    use std::io::Read;
    buffer.clear();
    File::open(path)?.read_to_end(buffer).map(drop)
}
