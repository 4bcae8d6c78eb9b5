//! What a shared line of a HotSpot JVM holds: fields of objects, elements of arrays, and what the JVM keeps of a class.

use super::data::{ASKED, Data, Field};
use super::lines::{Access, Key, LINE, Line};
use crate::hotspot;
use crate::memory::Process;
use crate::stacks::Stacks;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::time::Duration;

/// Looks at a word that may change, and the time between two.
const READS: u32 = 200;
const PAUSE: Duration = Duration::from_micros(100);

/// JVMs that were met and are understood.
#[derive(Debug, Default)]
pub(super) struct Jvms(HashMap<u32, hotspot::Data>);

impl Jvms {
    /// What a line of a JVM holds, if it is the JVM's.
    pub fn data(
        &mut self,
        stacks: &Stacks,
        line: &Line,
        range: &Range<u64>,
        accesses: &[(&Key, &Access)],
    ) -> Option<Data> {
        if !stacks.is_jvm(line.pid) {
            return None;
        }
        of_jvm(self.of(stacks, line.pid)?, line, range, accesses)
    }

    fn of(&mut self, stacks: &Stacks, pid: u32) -> Option<&mut hotspot::Data> {
        match self.0.entry(pid) {
            Entry::Occupied(known) => Some(known.into_mut()),
            // One that is still starting is asked again with the next line.
            Entry::Vacant(new) => {
                let opened = hotspot::Data::new(&Process(pid), &*stacks.hotspot(pid).ok()?).ok()?;
                Some(new.insert(opened))
            }
        }
    }
}

fn of_jvm(jvm: &mut hotspot::Data, line: &Line, range: &Range<u64>, accesses: &[(&Key, &Access)]) -> Option<Data> {
    let mut data = Data::default();
    for (key, access) in accesses.iter().take(ASKED).filter(|(_, access)| access.pid == line.pid) {
        let address = line.address + key.offset % LINE;
        let pointer = access.base.map_or(address, |(_, value)| value);
        let Ok(Some(found)) = jvm.at(&Process(line.pid), pointer, address, range) else { continue };
        if data.name.is_empty() {
            data.memory = Some(if found.kind == hotspot::Kind::Metadata { "metadata" } else { "java" });
            data.name.clone_from(&found.class);
            (data.start, data.size) = (Some(found.start), Some(found.size));
        }
        if let (None, Some(secondary)) = (&data.note, &found.secondary)
            && range.contains(&(found.start + secondary.cache_offset))
        {
            data.note = Some(supers(jvm, line.pid, found.start, &found.class, secondary));
        }
        for member in found.members {
            let first = found.start.wrapping_add(member.offset).wrapping_sub(line.address) as i64;
            let field = Field { first, size: member.size, name: member.name, of_type: member.kind };
            if !data.fields.contains(&field) {
                data.fields.push(field);
            }
        }
    }
    data.fields.sort_by_key(|field| (field.first, field.size));
    (!data.name.is_empty()).then_some(data)
}

/// What is known of the word of a class that remembers the interface that was asked for last.
fn supers(jvm: &hotspot::Data, pid: u32, start: u64, class: &str, secondary: &hotspot::SecondarySupers) -> String {
    // That it changes can be seen without a watchpoint.
    let flips = jvm.flips(&Process(pid), start, READS, PAUSE).unwrap_or_default();
    let seen = match flips.changes {
        0 => String::new(),
        changes => format!(" (it held another one in {changes} of {} looks)", flips.reads),
    };
    let version = jvm.version().map_or_else(|| "this JDK".to_owned(), |version| format!("JDK {}", version.feature));
    let fixed = match jvm.has_fix_of_8180450() {
        Some(true) => format!("{version} has the fix, and still writes it where the fix does not apply"),
        Some(false) => format!("{version} has not the fix: take JDK 23 or newer"),
        None => format!("whether {version} has the fix is not known: JDK 23 and newer have it"),
    };
    let interfaces = secondary.interfaces.iter().take(6).map(String::as_str).collect::<Vec<_>>().join(", ");
    format!(
        "JDK-8180450: each check of {class} against another interface ({interfaces}) writes the word that remembers the last one{seen}, beside what all checks read; {fixed}, or check against classes, or against the same interface in a row"
    )
}
