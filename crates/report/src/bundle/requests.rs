//! Requests that servers answered and clients made: what the block `requests` holds.

use super::State;
use serde::Serialize;

/// What is in the block `requests`, and how it is read.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Requests {
    /// The block.
    pub block: String,
    /// Who answered or asked, those with the most requests first; rows of the block name theirs by its place here.
    pub services: Vec<Service>,
    /// How many more there were, with fewer requests, that are left out.
    pub left_out: usize,
    /// Ranges of time by which requests are counted, ascending, seconds: from and to. Those in which nothing ever was are left out; the first
    /// can begin at 0. Rows of the block name theirs by its place here.
    pub ranges: Vec<[f64; 2]>,
    /// The states in which followed requests spent their service time, columns of the table `turn_followed`; empty where none was followed.
    pub states: Vec<State>,
    /// SQL that gives what is shown.
    pub queries: RequestQueries,
    /// By run: what a reader must know: losses, and what was counted in part.
    pub notes: Vec<Vec<String>>,
}

/// One port that a process answered on, or one other side that it asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Service {
    /// Name of the process.
    pub process: String,
    /// `server` where it accepted the connections, `client` where it made them.
    pub role: String,
    /// `tcp`, `udp` or `unix`.
    pub protocol: String,
    /// By run: where; null where it did neither. A process with only one in each run is matched by its name, whatever the port.
    pub places: Vec<Option<Place>>,
}

/// Where requests arrived.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Place {
    /// Port of the server; 0 for a Unix socket.
    pub port: i64,
    /// Of a client: address of the other side; of a Unix socket: the end of its path; else empty.
    pub peer: String,
}

/// SQL behind the parts of the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestQueries {
    /// Requests, connections and times by service.
    pub services: String,
    /// How long they took: counts by range.
    pub times: String,
    /// Requests that were followed.
    pub followed: String,
}
