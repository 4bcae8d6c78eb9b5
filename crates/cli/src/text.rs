//! How results are laid out on a terminal: plain columns, harmless names.

use comfy_table::{CellAlignment, Table, presets};
pub(crate) use model::clean;
use query::Run;
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A table without lines. `right` says which columns hold numbers.
pub(crate) fn table(header: &[&str], right: &[bool]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for (column, &right) in table.column_iter_mut().zip(right) {
        column.set_padding((0, 2));
        if right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A table without the blanks that fill the last column up to its longest cell: they would wrap every line of a narrow terminal.
pub(crate) fn trimmed(table: &Table) -> String {
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The beginning of a text that is longer than `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(std::iter::once('…')).collect()
}

/// The name of a file, as it may be shown.
pub(crate) fn path(path: &std::path::Path) -> String {
    clean(&path.display().to_string())
}

/// An error with what led to it. A name in it cannot begin a line that looks like one of this program's.
pub(crate) fn error(error: &anyhow::Error) -> String {
    model::clean_lines(&format!("{error:#}")).replace('\n', "\n  ")
}

/// Whether only results, errors and what is missing are printed (`--quiet`).
static QUIET: AtomicBool = AtomicBool::new(false);

/// Makes [`note`] and the progress of commands silent.
pub(crate) fn set_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Says something on standard error that is good to know, and no error.
pub(crate) fn note(what: &str) {
    if !is_quiet() {
        eprintln!("twinscope: {}", clean(what));
    }
}

/// When results have colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

static COLOUR: OnceLock<Colour> = OnceLock::new();

/// Decides when results have colours, for this process.
pub(crate) fn set_colour(colour: Colour) {
    // Set once, when the words of the command line are read.
    let _ = COLOUR.set(colour);
}

/// Whether what is printed on standard output has colours.
pub(crate) fn has_colour() -> bool {
    match COLOUR.get().copied().unwrap_or_default() {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => {
            std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
        }
    }
}

/// Says on standard error what of the recordings is damaged. Returns whether anything is.
pub(crate) fn say_damage(runs: &[Run]) -> bool {
    let mut damaged = false;
    for run in runs {
        for damage in run.recording.damage() {
            damaged = true;
            eprintln!("twinscope: {}: {}", path(run.recording.path()), clean(&damage.to_string()));
        }
    }
    damaged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lines_stay_short() {
        let mut out = table(&["name", "help"], &[false, false]);
        out.add_row(["a", "short"]).add_row(["b", &"long ".repeat(60)]);
        assert!(trimmed(&out).lines().nth(1).is_some_and(|l| l.ends_with("short") && l.len() < 20));
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!((cut("twelve", 6), cut("twelve", 5)), ("twelve".into(), "twel…".into()));
    }
}
