//! A result that a command writes: a file that appears when it is whole, or a stream that is there already.

use crate::aside::Aside;
use crate::name::{Rules, refused};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::FdFlags;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::path::Path;

/// Devices that take what is written to them, by name.
const SINKS: [&str; 3] = ["/dev/null", "/dev/full", "/dev/tty"];

/// A place that is written through, and never replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Descriptor(RawFd),
    Sink,
}

impl Stream {
    fn of(path: &Path) -> Option<Stream> {
        let text = path.to_str()?;
        let number = || text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/"))?.parse().ok();
        match text {
            "-" | "/dev/stdout" => Some(Stream::Descriptor(1)),
            "/dev/stderr" => Some(Stream::Descriptor(2)),
            _ if SINKS.contains(&text) => Some(Stream::Sink),
            _ => number().filter(|number| *number >= 0).map(Stream::Descriptor),
        }
    }

    fn open(self, path: &Path) -> io::Result<File> {
        match self {
            Stream::Descriptor(number) => {
                // SAFETY: only asked about and duplicated; a number that is not open is an error of the calls.
                let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
                // What this program opened itself is closed by exec; what a caller gave to it is not.
                if number > 2 && rustix::io::fcntl_getfd(descriptor)?.contains(FdFlags::CLOEXEC) {
                    return Err(rustix::io::Errno::BADF.into());
                }
                Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, 3)?.into())
            }
            Stream::Sink => {
                let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = rustix::fs::open(path, flags, Mode::empty())?;
                let mode = rustix::fs::fstat(&file)?.st_mode;
                if FileType::from_raw_mode(mode as _) != FileType::CharacterDevice {
                    return Err(refused("is not the device that its name stands for"));
                }
                Ok(file.into())
            }
        }
    }
}

/// Whether the name stands for a stream: `-`, `/dev/stdout`, `/dev/fd/N`, `/dev/null` and the like.
pub fn is_stream(path: &Path) -> bool {
    Stream::of(path).is_some()
}

/// Whether what is written there goes to the standard output, which then takes nothing else.
pub fn is_stdout(path: &Path) -> bool {
    Stream::of(path) == Some(Stream::Descriptor(1))
}

/// A result being written. Dropped before [`Output::finish`], it leaves what was in its place as it was.
#[derive(Debug)]
pub struct Output<'a> {
    to: BufWriter<File>,
    aside: Option<Aside>,
    rules: Rules<'a>,
}

impl<'a> Output<'a> {
    /// Begins to write.
    ///
    /// # Errors
    /// As [`crate::check`]; for a stream that is not open, what the system says.
    pub fn create(path: &Path, rules: Rules<'a>) -> io::Result<Self> {
        if let Some(stream) = Stream::of(path) {
            return Ok(Output { to: BufWriter::new(stream.open(path)?), aside: None, rules });
        }
        let mut aside = Aside::create(path, &rules)?;
        let to = BufWriter::new(aside.file().try_clone()?);
        Ok(Output { to, aside: Some(aside), rules })
    }

    /// Writes what is left, and puts the file in its place.
    ///
    /// # Errors
    /// A full disk, and as [`crate::check`].
    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()?;
        self.aside.map_or(Ok(()), |aside| aside.place(&self.rules).map(drop))
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Writes a result in one piece.
///
/// # Errors
/// As [`Output::create`] and [`Output::finish`].
pub fn write(path: &Path, bytes: &[u8], rules: Rules<'_>) -> io::Result<()> {
    let mut output = Output::create(path, rules)?;
    output.write_all(bytes)?;
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    const OVER: Rules<'static> = Rules { replace: true, recording: false, inputs: &[], result: false, durable: false };

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn names_of_streams() {
        let of = |name: &str| Stream::of(Path::new(name));
        assert_eq!([of("-"), of("/dev/stdout"), of("/dev/fd/1")], [Some(Stream::Descriptor(1)); 3]);
        assert_eq!([of("/dev/stderr"), of("/proc/self/fd/2")], [Some(Stream::Descriptor(2)); 2]);
        assert_eq!(of("/dev/null"), Some(Stream::Sink));
        for file in ["./-", "stdout", "/dev/fd/x", "/dev/fd/-1", "/dev/fd/99999999999", "/dev/sda", ""] {
            assert_eq!(of(file), None, "{file}");
        }
    }

    #[test]
    fn a_result_takes_the_place_of_nothing_that_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let [index, other] = ["fleet.json", "page.html"].map(|name| folder.path().join(name));
        fs::write(&index, "index").unwrap();
        fs::write(&other, "page").unwrap();
        crate::foreign::text(&index).unwrap();
        let result = Rules { result: true, ..OVER };
        assert!(write(&index, b"page", result).unwrap_err().to_string().contains("is read by the same command"));
        write(&other, b"new", result).unwrap();
        // What keeps state reads it and replaces it.
        write(&index, b"next", OVER).unwrap();
        assert_eq!([index, other].map(|path| fs::read_to_string(path).unwrap()), ["next", "new"]);
    }

    #[test]
    fn a_file_appears_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page");
        fs::write(&path, "old").unwrap();
        let mut output = Output::create(&path, OVER).unwrap();
        output.write_all(b"new").unwrap();
        output.flush().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(output);
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path())), ("old", vec!["page".into()]));
        write(&path, b"new", OVER).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path())), ("new", vec!["page".into()]));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn only_a_regular_file_is_replaced_and_no_link_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("target"), "precious").unwrap();
        symlink("target", at("link")).unwrap();
        symlink("nothing", at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let before = names(folder.path());
        let kinds = |name: &str| fs::symlink_metadata(at(name)).unwrap().file_type();
        let types: Vec<_> = before.iter().map(|name| kinds(name)).collect();
        for (name, what) in [
            ("link", "a symbolic link"),
            ("dangling", "a symbolic link"),
            ("folder", "a folder"),
            ("folder/", "a folder"),
            ("fifo", "a named pipe"),
            ("socket", "a socket"),
        ] {
            let why = write(&at(name), b"x", OVER).unwrap_err();
            assert_eq!(why.kind(), ErrorKind::InvalidInput, "{name}: {why}");
            assert!(why.to_string().contains(what), "{name}: {why}");
        }
        assert_eq!(
            (names(folder.path()), fs::read_to_string(at("target")).unwrap().as_str()),
            (before.clone(), "precious")
        );
        assert_eq!(before.iter().map(|name| kinds(name)).collect::<Vec<_>>(), types);
    }

    #[test]
    fn what_appears_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let output = Output::create(&path, OVER).unwrap();
        symlink("b", &path).unwrap();
        assert_eq!(output.finish().unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(names(folder.path()), ["a"]);
        let other = folder.path().join("c");
        let output = Output::create(&other, Rules::default()).unwrap();
        fs::write(&other, "first").unwrap();
        assert_eq!(output.finish().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(
            (names(folder.path()), fs::read_to_string(&other).unwrap().as_str()),
            (vec!["a".into(), "c".into()], "first")
        );
    }

    #[test]
    fn inputs_and_recordings_stay() {
        let folder = tempfile::tempdir().unwrap();
        let [input, again, recording] = ["input", "again", "a.twin"].map(|name| folder.path().join(name));
        fs::write(&input, "samples").unwrap();
        fs::hard_link(&input, &again).unwrap();
        fs::write(&recording, b"SQLite format 3\0 and more").unwrap();
        let inputs: [PathBuf; 1] = [input];
        let why = write(&again, b"x", Rules { inputs: &inputs, ..OVER }).unwrap_err();
        assert!(why.to_string().contains("read by the same command"), "{why}");
        let why = write(&recording, b"x", OVER).unwrap_err();
        assert!(why.to_string().contains("is a recording"), "{why}");
        write(&recording, b"x", Rules { recording: true, ..OVER }).unwrap();
    }

    #[test]
    fn devices_are_written_through() {
        use std::os::unix::fs::MetadataExt;
        let before = fs::metadata("/dev/null").unwrap().rdev();
        write(Path::new("/dev/null"), b"x", OVER).unwrap();
        assert_eq!(fs::metadata("/dev/null").unwrap().rdev(), before);
        assert_eq!(write(Path::new("/dev/full"), b"x", OVER).unwrap_err().kind(), ErrorKind::StorageFull);
        let why = write(Path::new("/dev/zero"), b"x", OVER).unwrap_err();
        assert!(why.to_string().contains("a device"), "{why}");
    }

    #[test]
    fn a_descriptor_of_this_program_is_no_output() {
        use std::os::fd::AsRawFd;
        let own = tempfile::tempfile().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", own.as_raw_fd()));
        assert!(Output::create(&path, OVER).is_err());
        rustix::io::fcntl_setfd(&own, FdFlags::empty()).unwrap();
        write(&path, b"given", OVER).unwrap();
        assert_eq!(own.metadata().unwrap().len(), 5);
    }
}
