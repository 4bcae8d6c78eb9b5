//! What keeps a run from beginning. What goes wrong with single requests is counted instead: [`crate::Errors`].

use std::io;
use std::net::SocketAddr;

/// Why a run could not begin. What the system said is the source of an error, and not part of its words.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address that cannot be asked.
    #[error("{url}: {why}")]
    Url {
        /// As it was given.
        url: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// An option out of its range, or that does not go with another.
    #[error("{option}: {why}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What is wrong, and what is allowed.
        why: String,
    },
    /// The host has no address.
    #[error("{host}: no address was found")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// Not all connections could be opened at the start.
    #[error("{address}: {opened} of {asked} connections could be opened{hint}")]
    Connect {
        /// The server.
        address: SocketAddr,
        /// How many could.
        opened: usize,
        /// How many were asked for.
        asked: usize,
        /// What the first that failed said.
        source: io::Error,
        /// What to do; empty where the reason says it.
        hint: &'static str,
    },
    /// More connections than this process may have files.
    #[error(
        "{connections} connections need {needed} open files, and {limit} is the limit here: raise it (ulimit -n {needed}), or use fewer"
    )]
    Files {
        /// Connections asked for.
        connections: u32,
        /// Files needed.
        needed: u64,
        /// Files allowed.
        limit: u64,
    },
    /// A CPU that a thread may not run on.
    #[error("CPU {cpu}: no thread may run there")]
    Cpu {
        /// Its number.
        cpu: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// A system call that should not fail.
    #[error("{what} failed")]
    System {
        /// Which.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A thread of the client ended before its time.
    #[error("a thread of the client ended before its time")]
    Thread,
}

impl Error {
    /// Whether it is a mistake in what was asked for, rather than something about the machine or the server.
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Url { .. } | Error::Option { .. })
    }

    pub(crate) fn option(option: &'static str, why: impl Into<String>) -> Self {
        Error::Option { option, why: why.into() }
    }

    pub(crate) fn system(what: &'static str) -> impl Fn(rustix::io::Errno) -> Self {
        move |errno| Error::System { what, source: errno.into() }
    }
}
