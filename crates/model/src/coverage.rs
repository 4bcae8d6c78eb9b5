//! What could be read and what could not: coverage is data, stored with the recording.

use serde::{Deserialize, Serialize};

/// Whether something was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It was read.
    Read,
    /// This kernel, driver or machine does not have it.
    Absent,
    /// It is there, and reading it was refused.
    Denied,
    /// It makes no sense here (NFS where nothing is mounted), or the user left it out.
    NotApplicable,
    /// It is there and could not be understood, or the read failed.
    Failed,
    /// It was read in a part of the time and scaled up: an estimate.
    Estimated,
}

impl Status {
    /// The word shown to people.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Read => "read",
            Status::Absent => "absent",
            Status::Denied => "denied",
            Status::NotApplicable => "not applicable",
            Status::Failed => "failed",
            Status::Estimated => "estimated",
        }
    }

    /// The status that [`Status::as_str`] gave the word for.
    pub fn parse(word: &str) -> Option<Self> {
        use Status::{Absent, Denied, Estimated, Failed, NotApplicable, Read};
        [Read, Absent, Denied, NotApplicable, Failed, Estimated].into_iter().find(|s| s.as_str() == word)
    }
}

/// Why a thing cannot be read, or not exactly, and what would change that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unavailable {
    /// Which of the reasons it is; never [`Status::Read`].
    pub status: Status,
    /// One line that names the file or interface and what was wrong.
    pub why: String,
    /// The command, capability or kernel option that would give it, where there is one.
    pub remedy: Option<String>,
}

impl Unavailable {
    /// This kernel, driver or machine does not have it.
    pub fn absent(why: impl Into<String>) -> Self {
        Unavailable { status: Status::Absent, why: why.into(), remedy: None }
    }

    /// Reading it was refused.
    pub fn denied(why: impl Into<String>) -> Self {
        Unavailable { status: Status::Denied, why: why.into(), remedy: None }
    }

    /// It makes no sense here.
    pub fn not_applicable(why: impl Into<String>) -> Self {
        Unavailable { status: Status::NotApplicable, why: why.into(), remedy: None }
    }

    /// It could not be understood, or the read failed.
    pub fn failed(why: impl Into<String>) -> Self {
        Unavailable { status: Status::Failed, why: why.into(), remedy: None }
    }

    /// It was read in a part of the time and scaled up.
    pub fn estimated(why: impl Into<String>) -> Self {
        Unavailable { status: Status::Estimated, why: why.into(), remedy: None }
    }

    /// Adds what would change it.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.status.as_str(), self.why)?;
        if let Some(remedy) = &self.remedy {
            write!(f, " ({remedy})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Unavailable {}

/// What a recording says about one source, or one part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// The source.
    pub source: String,
    /// The part: "" for the source as a whole, else a table, `table.column`, or file.
    pub item: String,
    /// Whether it was read.
    pub status: Status,
    /// Why not; empty where it was read.
    pub why: String,
    /// What would change it.
    pub remedy: Option<String>,
}

impl Coverage {
    /// A source, or a part of it, that was read.
    pub fn read(source: &str, item: &str) -> Self {
        Coverage { source: source.into(), item: item.into(), status: Status::Read, why: String::new(), remedy: None }
    }

    /// A source, or a part of it, that was not.
    pub fn unavailable(source: &str, item: &str, why: Unavailable) -> Self {
        Coverage { source: source.into(), item: item.into(), status: why.status, why: why.why, remedy: why.remedy }
    }
}
