//! Folders of sysfs attributes: small files with one number each, read again and again.

use crate::parse;
use host::{HeldFile, Host, ReadError};
use model::NULL;

/// So many files a source may hold open: a process may have 1024 by default, and there are many sources. Above it, files are
/// opened at each read, which costs about 7 µs a file instead of 1.
const MOST_HELD: usize = 64;

/// One folder and some of its attributes, in the order in which they fill the cells of a row.
#[derive(Debug)]
pub(crate) struct Attributes {
    files: Vec<Option<Attribute>>,
}

#[derive(Debug)]
struct Attribute {
    path: String,
    held: Option<HeldFile>,
}

impl Attributes {
    /// The attributes `names` of `folder`; those that are not there stay nothing.
    pub(crate) fn find(host: &Host, folder: &str, names: &[&str]) -> Self {
        let file = |name: &&str| {
            let path = format!("{folder}/{name}");
            host.exists(&path).then_some(Attribute { path, held: None })
        };
        Attributes { files: names.iter().map(file).collect() }
    }

    /// Number of attributes that are there.
    pub(crate) fn len(&self) -> usize {
        self.files.iter().flatten().count()
    }

    /// Opens the files of all `folders` if they are few enough to be held open. Returns the seconds that should pass between
    /// reads, so that files that are not held open cost about a thousandth of a CPU.
    pub(crate) fn hold<'a>(host: &Host, folders: impl ExactSizeIterator<Item = &'a mut Attributes>) -> u64 {
        const OPENED_IN_A_SECOND: usize = 128;
        let folders: Vec<&mut Attributes> = folders.collect();
        let count = folders.iter().map(|folder| folder.len()).sum::<usize>();
        if count > MOST_HELD {
            return (count / OPENED_IN_A_SECOND) as u64;
        }
        for file in folders.into_iter().flat_map(|folder| folder.files.iter_mut().flatten()) {
            file.held = host.open(&file.path).ok();
        }
        0
    }

    /// Fills `cells` with the numbers that the files hold now, [`NULL`] where one is not there or holds no number. The error is
    /// that of the first file that could not be read. `buffer` is for the text of files that are not held open.
    pub(crate) fn read(&mut self, host: &Host, buffer: &mut Vec<u8>, cells: &mut [i64]) -> Option<ReadError> {
        let mut failed = None;
        cells.fill(NULL);
        for (file, cell) in self.files.iter_mut().zip(cells) {
            let Some(file) = file else { continue };
            let text = match &mut file.held {
                Some(held) => held.read_record(host),
                None => host.read_into(&file.path, buffer).map(|()| buffer.as_slice()),
            };
            match text {
                Ok(text) => *cell = parse::number(text.trim_ascii()),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed
    }
}

/// The CPUs or memory nodes that are online, from a file such as `/sys/devices/system/cpu/online`.
#[derive(Debug)]
pub(crate) struct Online {
    file: HeldFile,
    text: Vec<u8>,
}

impl Online {
    /// Those of the file at `path`.
    pub(crate) fn open(host: &Host, path: &str) -> Result<Self, ReadError> {
        Ok(Online { file: host.open(path)?, text: Vec::new() })
    }

    /// The numbers, when they changed since the last call; always at the first.
    pub(crate) fn changed(&mut self, host: &Host) -> Result<Option<Vec<i64>>, ReadError> {
        let text = self.file.read_record(host)?;
        if text == self.text {
            return Ok(None);
        }
        self.text = text.to_vec();
        Ok(Some(parse::list(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::host_of;

    #[test]
    fn attributes_held_or_not() {
        let (_dir, host) = host_of(&[("/sys/x/a", "7\n"), ("/sys/x/c", "-1"), ("/sys/x/d", "<unsupported>\n")]);
        let mut folder = Attributes::find(&host, "/sys/x", &["a", "b", "c", "d"]);
        assert_eq!(folder.len(), 3);
        let (mut cells, mut buffer) = ([0; 4], Vec::new());
        assert!(folder.read(&host, &mut buffer, &mut cells).is_none());
        assert_eq!(cells, [7, NULL, -1, NULL]);
        assert_eq!(Attributes::hold(&host, [&mut folder].into_iter()), 0);
        assert!(folder.read(&host, &mut buffer, &mut cells).is_none());
        assert_eq!(cells, [7, NULL, -1, NULL]);
    }

    #[test]
    fn many_files_are_not_held_and_are_read_seldom() {
        let (_dir, host) = host_of(&[("/sys/x/a", "7\n")]);
        let mut folders: Vec<Attributes> = (0..3840).map(|_| Attributes::find(&host, "/sys/x", &["a"])).collect();
        assert_eq!(Attributes::hold(&host, folders.iter_mut()), 30);
        assert!(folders.iter().flat_map(|folder| folder.files.iter().flatten()).all(|file| file.held.is_none()));
    }

    #[test]
    fn a_file_that_goes_is_told() {
        let (dir, host) = host_of(&[("/sys/x/a", "7\n"), ("/sys/x/b", "8")]);
        let mut folder = Attributes::find(&host, "/sys/x", &["a", "b"]);
        std::fs::remove_file(dir.path().join("sys/x/a")).unwrap();
        let mut cells = [0; 2];
        assert!(folder.read(&host, &mut Vec::new(), &mut cells).is_some_and(|error| error.is_absent()));
        assert_eq!(cells, [NULL, 8]);
    }

    #[test]
    fn a_cpu_that_comes_is_seen() {
        let (dir, host) = host_of(&[("/sys/online", "0-1\n")]);
        let mut online = Online::open(&host, "/sys/online").unwrap();
        assert_eq!(online.changed(&host).unwrap(), Some(vec![0, 1]));
        assert_eq!(online.changed(&host).unwrap(), None);
        std::fs::write(dir.path().join("sys/online"), "0-1,4\n").unwrap();
        assert_eq!(online.changed(&host).unwrap(), Some(vec![0, 1, 4]));
    }
}
