//! What lies in a shared line: asked once, while the process is there.

use super::lines::{LINE, Line};
use super::space::Space;
use crate::stacks::Stacks;

/// A field or element within a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Field {
    /// In the line; negative where it begins before it.
    pub first: i64,
    pub size: u64,
    pub name: String,
    pub of_type: String,
}

/// What a line holds, of what its accesses go to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Data {
    /// The kind of memory, as the table says it.
    pub memory: Option<&'static str>,
    /// The variable, type or class; empty where nobody tells.
    pub name: String,
    pub module: Option<String>,
    pub source: Option<String>,
    pub start: Option<u64>,
    pub size: Option<u64>,
    pub note: Option<String>,
    pub fields: Vec<Field>,
}

/// What a line holds.
pub(super) fn of(stacks: &Stacks, line: &Line) -> Data {
    let mut accesses: Vec<_> = line.accesses.iter().collect();
    accesses.sort_by_key(|(key, access)| (std::cmp::Reverse((access.waited, access.hits, access.seen)), **key));
    let mut data =
        Data { memory: matches!(line.space, Space::Shared(..)).then_some("shared memory"), ..Data::default() };
    let addresses = accesses.iter().map(|(key, _)| line.address + key.offset % LINE);
    if let Some(name) = addresses.filter_map(|address| stacks.data_symbol(line.pid, address)).next() {
        data.memory = Some("global");
        data.name = name;
    }
    data
}
