//! What can go wrong with a question.

/// A question that could not be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A recording could not be opened.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A table has no such label.
    #[error("table {table} has no label {label}; its labels are: {labels}")]
    NoLabel {
        /// The table.
        table: String,
        /// What was asked for.
        label: String,
        /// What there is.
        labels: String,
    },
    /// A metric is of another table than the frame, or its columns were not decoded.
    #[error("metric {metric} cannot be computed from this frame of table {table}: {why}")]
    NotLoaded {
        /// Full name of the metric.
        metric: String,
        /// Table of the frame.
        table: String,
        /// What is missing.
        why: String,
    },
    /// A statement that SQLite did not take, or that failed while it ran.
    #[error("{why}{}{hint}", if hint.is_empty() { "" } else { "; " })]
    Sql {
        /// What was wrong.
        why: String,
        /// What may help; empty where nothing does.
        hint: String,
    },
    /// The recordings have no such table.
    #[error("no table {table} in these recordings; they have: {tables}")]
    NoTable {
        /// What was asked for.
        table: String,
        /// What there is.
        tables: String,
    },
    /// A recording holds none of the work that was asked for.
    #[error("{file}: no work by --work {wanted}{}{there}", if there.is_empty() { "; it counted no requests" } else { "; there is: " })]
    NoWork {
        /// Name of the recording's file.
        file: String,
        /// What was asked for.
        wanted: String,
        /// What could be asked for instead, with how much there is of it.
        there: String,
    },
    /// A recording holds nothing of what a profile was asked of.
    #[error("{run} holds no stacks for `{what}`; {known}")]
    NoProfile {
        /// The run.
        run: String,
        /// The word that was asked for.
        what: String,
        /// What it has.
        known: String,
    },
    /// A file could not be written.
    #[error("{}: {why}", path.display())]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said. Not called `source`: it is part of the message, which a chain of errors would repeat.
        why: std::io::Error,
    },
}
