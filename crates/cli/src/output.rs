//! Results: a report, a flame graph. They go to a file, or to a stream such as `-`.

use crate::text;
use anyhow::{Context, Result};
use files::{Output, Rules};
use std::io::Write;
use std::path::Path;

/// Writes a result as [`write_by`] does.
pub(crate) fn write(path: &Path, bytes: &[u8], what: &str) -> Result<()> {
    write_by(path, what, |file| Ok(file.write_all(bytes)?)).map(drop)
}

/// Has a result written. A file is there when it is whole: a disk that fills must not leave half of it where a whole one was. `what`
/// is what it holds, for the error. Also returns how many bytes there are.
pub(crate) fn write_by<T>(path: &Path, what: &str, by: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<(T, u64)> {
    let write = || -> Result<(T, u64)> {
        let rules = Rules { replace: true, result: true, ..Rules::default() };
        let mut counted = Counted { to: Output::create(path, rules)?, bytes: 0 };
        let written = by(&mut counted)?;
        counted.to.finish()?;
        Ok((written, counted.bytes))
    };
    write().with_context(|| format!("{}: the {what} could not be written", path.display()))
}

struct Counted<'a> {
    to: Output<'a>,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

/// Says something about a result: on the standard output, unless the result itself goes there.
pub(crate) fn tell(path: &Path, words: &str) {
    let words = text::clean(words);
    if files::is_stdout(path) {
        eprintln!("{words}");
    } else {
        println!("{words}");
    }
}

/// Says where a page is and how large, and opens it in the browser where that is asked for.
pub(crate) fn written(path: &Path, bytes: usize, open: bool) {
    tell(path, &format!("{} ({})", path.display(), query::human(bytes as f64, "B")));
    if open {
        let opened = std::process::Command::new("xdg-open").arg(path).status();
        if !opened.is_ok_and(|s| s.success()) {
            eprintln!("twinscope: no browser could be started with xdg-open; open the file yourself");
        }
    }
}

/// Refuses a stream as the place of a page that a browser is to open. `why` is the option that needs a file.
pub(crate) fn must_be_file(path: &Path, why: &str) -> Result<()> {
    if files::is_stream(path) {
        return Err(recorder::Usage(format!("{why} needs a file; name one with -o")).into());
    }
    Ok(())
}
