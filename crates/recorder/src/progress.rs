//! The progress line on a terminal; silence elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;

/// The one line that is rewritten while a recording runs.
#[derive(Debug)]
pub(crate) struct Progress {
    shown: bool,
    /// Whether the line stands on the terminal now.
    drawn: Mutex<bool>,
}

/// Whether standard error is a terminal on which a line can be written anew.
pub fn can_rewrite() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

impl Progress {
    /// Shown where standard error is a terminal and nobody asked for quiet.
    pub(crate) fn new(quiet: bool) -> Self {
        Progress { shown: !quiet && can_rewrite(), drawn: Mutex::new(false) }
    }

    /// Whether it is shown at all.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown
    }

    /// Draws the line.
    pub(crate) fn draw(&self, text: &str) {
        if self.shown {
            let mut drawn = self.drawn.lock().unwrap_or_else(|e| e.into_inner());
            // A terminal that is gone is no reason to stop.
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{text}");
            *drawn = true;
        }
    }

    /// Runs `write` with the line out of the way.
    pub(crate) fn clear_for<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut drawn = self.drawn.lock().unwrap_or_else(|e| e.into_inner());
        if std::mem::replace(&mut *drawn, false) {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
        write()
    }
}

/// Bytes as people read them, in the units of `twinscope info`.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_024 => format!("{count} B"),
        1_024..1_048_576 => format!("{:.0} KiB", count as f64 / 1024.0),
        _ => format!("{:.1} MiB", count as f64 / 1_048_576.0),
    }
}
