//! Files of the host. Those that are read again and again are opened once, and read from the start by `pread` into a buffer that is kept.
//! Below a root that somebody else made, and below `/proc/PID/root`, a name can lead anywhere: see [`files::foreign`].

use crate::{Host, ReadError};
use files::foreign::Limit;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;

/// Bytes of one file at most. The largest that are read whole are maps of memory: a process has a million mappings at most by most settings.
const LIMIT: Limit = Limit { bytes: 256 << 20, option: "" };

/// Bytes of one line of a file that is read line by line.
const LONGEST_LINE: u64 = 1 << 20;

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
        let file = open(host, path).map_err(|e| ReadError::new(path, e))?;
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
            self.file = open(host, &self.path).map_err(|e| ReadError::new(&self.path, e))?;
        }
        Ok(())
    }
}

/// Reads `file` from its start into `buffer`, which grows as needed; returns the number of bytes.
fn read_from_start(file: &File, buffer: &mut Vec<u8>, one_record: bool) -> io::Result<usize> {
    let mut length = 0;
    loop {
        if length == buffer.len() {
            if length as u64 > LIMIT.bytes {
                return Err(LIMIT.exceeded());
            }
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

/// Opens a file. What the kernel of this machine makes up is opened as it is; all else must be a regular file.
fn open(host: &Host, path: &str) -> io::Result<File> {
    let is_kernels = !host.is_fixture()
        && (path.starts_with("/proc/") || path.starts_with("/sys/"))
        && !["/root/", "/cwd/", "/fd/", "/map_files/", ".."].iter().any(|part| path.contains(part));
    let there = host.path(path);
    if is_kernels { File::open(there) } else { files::foreign::open(&there) }
}

/// Reads the whole of the file at `path` into `buffer`.
pub(crate) fn read_whole(host: &Host, path: &str, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    LIMIT.fill(open(host, path)?, buffer)
}

/// Hands each line of the file at `path` to `take`, without its line feed.
pub(crate) fn read_lines(host: &Host, path: &str, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = BufReader::with_capacity(64 << 10, open(host, path)?);
    let mut line = Vec::new();
    while (&mut file).take(LONGEST_LINE).read_until(b'\n', &mut line)? > 0 {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if text.len() as u64 == LONGEST_LINE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it has a line of more than 1 MiB"));
        }
        take(text);
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_not_waited_for_and_nothing_is_read_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let host = Host::at(folder.path());
        let [fifo, sparse, link] = ["fifo", "sparse", "link"].map(|name| folder.path().join(name));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for name in ["/fifo", "/link", "/sparse"] {
            assert!(host.read(name).is_err(), "{name}");
            assert!(host.open(name).and_then(|mut file| file.read(&host).map(drop)).is_err(), "{name}");
            assert!(host.read_lines(name, |_| {}).is_err(), "{name}");
        }
    }
}
