//! Recordings of the JDK Flight Recorder: JDK 9 to 25, 8u262 and later, and those that async-profiler writes. A file is chunks one
//! after the other, each with a description of its events and the constants that these refer to. One chunk is in memory at a time.

mod chunk;
mod events;
mod kinds;
mod metadata;
mod names;
mod number;
mod pauses;

use crate::profile::Profile;
use chunk::{Chunk, HEADER, Header};
use events::Reading;
use std::io::Read;

/// The largest chunk that is read: the JVM begins another after 12 MB, async-profiler after 100.
const LARGEST: u64 = 2 << 30;

/// Whether a file begins so.
pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    bytes.starts_with(b"FLR\0")
}

/// Reads a recording.
///
/// # Errors
/// That it holds nothing that can be read. Damage after that is noted in the profile.
pub fn read(from: &mut dyn Read, profile: &mut Profile) -> Result<(), String> {
    let mut reading = Reading::new(profile);
    let mut chunks = 0;
    let result = loop {
        let mut head = Vec::with_capacity(HEADER);
        if let Err(e) = from.take(HEADER as u64).read_to_end(&mut head) {
            break Err(e.to_string());
        }
        if head.is_empty() {
            break Ok(());
        }
        let header = match Header::parse(&head) {
            Ok(header) => header,
            Err(why) => break Err(why),
        };
        // One that was not finished goes on to the end of the file.
        let size = if header.size == 0 { LARGEST } else { header.size };
        if size > LARGEST {
            break Err(format!("a chunk of {size} bytes"));
        }
        let Some(rest) = size.checked_sub(HEADER as u64) else { break Err("a chunk smaller than its header".into()) };
        let mut bytes = Vec::new();
        if let Err(e) = from.take(rest).read_to_end(&mut bytes) {
            break Err(e.to_string());
        }
        let mut notes: Vec<String> = Vec::new();
        if header.size == 0 || (bytes.len() as u64) < rest {
            notes.push("the last chunk was not finished, or is cut off: what is there of it was read".into());
        }
        match Chunk::read(header, &bytes, &mut |note| notes.push(note.to_owned())) {
            Ok(chunk) => {
                reading.chunk(&chunk);
                chunks += 1;
            }
            Err(why) => notes.push(format!("{why}: its events are left out")),
        }
        notes.into_iter().for_each(|note| reading.profile.note(note));
    };
    if let Err(why) = &result
        && chunks > 0
    {
        reading.profile.note(format!("{why}; what came before is kept"));
    }
    reading.end();
    if chunks > 0 { Ok(()) } else { result.and(Err("no chunk of it could be read".into())) }
}

#[cfg(test)]
mod tests;
