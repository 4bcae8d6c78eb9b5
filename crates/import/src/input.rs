//! What is read of a file that is imported: all of it in memory, unpacked where it is compressed, up to a limit.

use files::foreign::Limit;
use std::fs::File;
use std::io::{ErrorKind, Read, Result};
use std::path::Path;

/// What is taken into memory of one file where nobody says.
pub(crate) const USUAL: Limit = Limit { bytes: 1 << 30, option: "--size-limit" };

/// What gzip's files begin with (RFC 1952, 2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// So much of a file tells what it is.
pub(crate) const START: u64 = 64 << 10;

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
    if plain.is_empty() { bytes.to_vec() } else { plain }
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
        return Ok((content, None));
    }
    match limit.fill(flate2::read::MultiGzDecoder::new(all), &mut content) {
        Ok(()) => Ok((content, None)),
        Err(why) if content.is_empty() || why.kind() == ErrorKind::FileTooLarge => Err(why),
        Err(why) => Ok((content, Some(format!("the compressed data end early ({why}); what came before is kept")))),
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
}
