//! The recording file: one SQLite database `NAME.twin` whose catalogue is plain rows and whose bulk data are sealed, immutable
//! columnar segments. Rows of each tick are committed to an open tail; a seal turns the tail into one segment a table. A kill, a
//! power cut or a full disk loses the last commit at most, and a reader may open the file while it is written.
//!
//! The format is described in docs/recording-format.md.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod amend;
mod catalogue;
mod close;
mod coarsen;
mod declared;
mod dictionary;
mod door;
mod error;
mod extract;
mod frame;
mod in_place;
mod pack;
mod reader;
mod schema;
mod segment;
mod sum;
mod tail;
mod thin;
mod writer;

pub use amend::{Cells, amend};
pub use close::close;
pub use dictionary::check_dictionary;
pub use error::Error;
pub use extract::{Keep, extract};
pub use frame::{Entity, Frame, Select};
pub use reader::{Batch, Damage, Recording, stretch_from};
pub use schema::{APPLICATION_ID, FORMAT};
pub use writer::{TableId, Writer};

/// What zstd's frames begin with (RFC 8878, 3.1.1).
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The level of zstd at which recordings are compressed.
const LEVEL: i32 = 9;

/// The level at which zstd finds next to nothing, and leaves letters as they are.
const PLAIN: i32 = -100_000;

/// Compresses with zstd, with a checksum of the content: a byte that flips on a disk must not become another number.
fn pack(bytes: &[u8], level: i32) -> std::io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(level)?;
    compressor.include_checksum(true)?;
    compressor.compress(bytes)
}

/// What [`pack`] was given, if it is no more than `most` bytes.
fn unpack(bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
    // The header says how much it is; memory is not taken for what cannot be.
    let said = zstd::zstd_safe::get_frame_content_size(bytes).ok().flatten();
    let size = said.and_then(|size| usize::try_from(size).ok()).unwrap_or(most).min(most);
    zstd::bulk::decompress(bytes, size).map_err(|e| format!("zstd: {e}"))
}

/// Hooks for the fuzz targets: the decoders of foreign bytes, as the reader calls them, and the checksum that lets damage through to them.
pub mod fuzzing {
    pub use crate::segment::decode as segment;
    pub use crate::sum::add as sum;
    pub use crate::tail::{decode as tail, decode_ticks as ticks};
}
