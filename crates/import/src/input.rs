//! What is read of a file that is imported: all of it in memory, unpacked where it is compressed, up to a limit.

use crate::Error;
use files::foreign::Limit;
use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

/// What is taken into memory of one file where nobody says.
pub(crate) const USUAL: Limit = Limit { bytes: 1 << 30, option: "--size-limit" };

/// What gzip's files begin with (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// So much of a file tells what it is.
pub(crate) const START: u64 = 64 << 10;

/// What is imported: a file by its name, or what came through a pipe that this process was given (`-`, `/dev/stdin`, `<(perf script)`) and can be read once.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    held: Option<Held>,
}

/// What came through a pipe, and why it ends early.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) content: Vec<u8>,
    pub(crate) early: Option<String>,
}

impl Input {
    /// The input that a path names; what is no file is read to its end.
    ///
    /// # Errors
    /// What the system says, and where there is more than the limit.
    pub fn of(path: &Path, limit: Limit) -> std::result::Result<Self, Error> {
        let of = || {
            let from = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
            if !files::foreign::is_own_descriptor(from) || std::fs::metadata(from)?.is_file() {
                return Ok(Input { path: from.to_owned(), held: None });
            }
            let (content, early) = plain(files::foreign::open(from)?, limit)?;
            Ok(Input { path: from.to_owned(), held: Some(Held { content, early }) })
        };
        of().map_err(|why| Error::Io { path: path.to_owned(), why })
    }

    /// Where it is read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name without what stands for its kind; `None` of what has none, as the standard input.
    pub fn stem(&self) -> Option<String> {
        if files::foreign::is_own_descriptor(&self.path) {
            return None;
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        (!stem.is_empty()).then(|| stem.to_owned())
    }

    /// What it is called in messages and in the recording.
    pub(crate) fn name(&self) -> String {
        if self.path == Path::new("/dev/stdin") { "standard input".into() } else { self.path.display().to_string() }
    }

    /// The error of what cannot be read.
    pub(crate) fn failed(&self, why: std::io::Error) -> Error {
        Error::Io { path: PathBuf::from(self.name()), why }
    }

    /// The error of what is none of the formats, or holds nothing.
    pub(crate) fn unreadable(&self, why: String) -> Error {
        Error::Unreadable { path: PathBuf::from(self.name()), why }
    }

    /// What was read of it, where that can be done only once.
    pub(crate) fn held(&self) -> Option<&Held> {
        self.held.as_ref()
    }

    /// The whole of it, unpacked where it is compressed, and why it ends early where that is damaged.
    pub(crate) fn whole(&self, limit: Limit) -> Result<(Cow<'_, [u8]>, Option<String>)> {
        match &self.held {
            Some(Held { content, early }) => Ok((Cow::Borrowed(content), early.clone())),
            None => whole(&self.path, limit).map(|(content, early)| (Cow::Owned(content), early)),
        }
    }
}

/// Opens a file that is read more than once: a regular one.
pub(crate) fn open(path: &Path) -> Result<File> {
    files::foreign::check_regular(path)?;
    files::foreign::open(path)
}

/// How a file begins, unpacked where it is compressed.
pub(crate) fn start(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    if bytes.starts_with(&GZIP) {
        // Of the start of a file the end is missing.
        let _ = flate2::read::MultiGzDecoder::new(bytes).take(START).read_to_end(&mut plain);
    }
    text(if plain.is_empty() { bytes.to_vec() } else { plain })
}

/// Text in UTF-16 as UTF-8: so Windows PowerShell writes what is redirected. A mark of its byte order is at its begin; that of UTF-8 is taken off.
fn text(mut content: Vec<u8>) -> Vec<u8> {
    let order: fn([u8; 2]) -> u16 = match content.get(..3) {
        Some([0xef, 0xbb, 0xbf]) => return content.split_off(3),
        Some([0xff, 0xfe, _]) => u16::from_le_bytes,
        Some([0xfe, 0xff, _]) => u16::from_be_bytes,
        _ => return content,
    };
    let (pairs, _) = content.get(2..).unwrap_or_default().as_chunks();
    let units = || pairs.iter().map(|pair| order(*pair));
    // Other files begin with these two bytes, too.
    let is_text = char::decode_utf16(units().take(64)).filter_map(std::result::Result::err).count() <= 1
        && units().take(64).all(|unit| unit >= 32 || matches!(unit, 9 | 10 | 13));
    if !is_text {
        return content;
    }
    let plain: String = char::decode_utf16(units()).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    plain.into_bytes()
}

/// The whole of a file, unpacked where it is compressed, and why it ends early where that is damaged.
pub(crate) fn whole(path: &Path, limit: Limit) -> Result<(Vec<u8>, Option<String>)> {
    let file = open(path)?;
    if file.metadata()?.len() > limit.bytes {
        return Err(limit.exceeded());
    }
    plain(file, limit)
}

/// The same of what is read from elsewhere.
pub(crate) fn plain(mut from: impl Read, limit: Limit) -> Result<(Vec<u8>, Option<String>)> {
    let mut start = Vec::new();
    from.by_ref().take(GZIP.len() as u64).read_to_end(&mut start)?;
    let is_packed = start == GZIP;
    let all = std::io::Read::chain(&*start, from);
    let mut content = Vec::new();
    if !is_packed {
        limit.fill(all, &mut content)?;
        return Ok((text(content), None));
    }
    match limit.fill(flate2::read::MultiGzDecoder::new(all), &mut content) {
        Ok(()) => Ok((text(content), None)),
        Err(why) if content.is_empty() || why.kind() == ErrorKind::FileTooLarge => Err(why),
        Err(why) => {
            Ok((text(content), Some(format!("the compressed data end early ({why}); what came before is kept"))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_a_compressed_file_grows_to_has_a_limit() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![b' '; 3 << 20]).unwrap();
        let packed = packed.finish().unwrap();
        assert!(packed.len() < 8 << 10);
        let limit = Limit { bytes: 2 << 20, option: "--size-limit" };
        let why = plain(&*packed, limit).unwrap_err().to_string();
        assert_eq!(why, "it holds more than 2 MiB; --size-limit raises the limit");
        assert_eq!(plain(&*packed, USUAL).unwrap().0.len(), 3 << 20);
        let (content, early) = plain(&packed[..packed.len() / 2], USUAL).unwrap();
        assert!(!content.is_empty() && early.unwrap().contains("end early"));
        assert!(plain(std::io::repeat(b'x'), limit).is_err());
    }

    #[test]
    fn text_of_powershell_is_text() {
        let lines = "main;größe 3\r\nmain;𝄞 4\r\n";
        let units = |to: fn(u16) -> [u8; 2]| -> Vec<u8> {
            std::iter::once(0xfeff).chain(lines.encode_utf16()).flat_map(to).collect()
        };
        for bytes in [units(u16::to_le_bytes), units(u16::to_be_bytes), ["\u{feff}", lines].concat().into_bytes()] {
            assert_eq!(plain(&*bytes, USUAL).unwrap().0, lines.as_bytes());
            assert_eq!(start(&bytes), lines.as_bytes());
        }
        let other = [0xff, 0xfe, 0, 0, 1, 2, 3];
        assert_eq!(plain(&other[..], USUAL).unwrap().0, other);
    }
}
