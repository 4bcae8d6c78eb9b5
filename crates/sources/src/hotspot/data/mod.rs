//! What the data at an address of a JVM is: an object with its class and fields, an array and its elements, the static fields of a class, or what the JVM
//! keeps of a class itself (metadata), among it the one word that remembers the last interface asked for (JDK-8180450).
//!
//! Asked is with the value of the register that an instruction reached the address by. That is nearly always where the object or the class begins; where it
//! is not, the start is looked for a little way back. Objects move: what is said is true of now.

mod class;
mod layout;
#[cfg(test)]
mod live;

use super::header::Klass;
use super::name;
use super::version::{Version, has_fix_of_8180450};
use super::{Unknown, Way};
use crate::memory::{Memory, Trouble};
pub(in crate::hotspot) use class::Class;
use class::{Block, Shape, name_of};
use layout::Layout;
pub(in crate::hotspot) use layout::Layout as DataLayout;
use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

/// So far back the start of a class, and of an object, is looked for.
const BACK_TO_CLASS: u64 = 1024;
const BACK_TO_OBJECT: u64 = 4096;
/// Of those found there so many are looked at closely.
const MOST_CLOSELY: usize = 64;
/// Longer lines there are none; of more not all members are named.
const LONGEST_LINE: u64 = 4096;
/// Objects are smaller.
const LARGEST: u64 = 1 << 40;
/// Reads of [`Data::flips`], and different values that it tells.
const MOST_READS: u32 = 10_000;
const MOST_VALUES: usize = 16;

/// What something in a JVM's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    /// The static fields of a class, which lie in its object of `java.lang.Class`.
    Statics,
    /// What the JVM keeps of a class.
    Metadata,
}

/// A part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// In bytes from its start.
    pub offset: u64,
    pub size: u64,
    /// `hits`; of a field of a superclass `Super.hits`; of an element `[3]`; of metadata `Klass::_secondary_super_cache`; `(header)`, `(length)`.
    pub name: String,
    /// Its type; empty where it has none.
    pub kind: String,
}

impl Member {
    /// Whether it has a byte in a line, being part of what begins at `start`.
    fn is_in(&self, start: u64, line: &Range<u64>) -> bool {
        let from = start.saturating_add(self.offset);
        from < line.end && from.saturating_add(self.size) > line.start
    }
}

/// What lies at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JavaData {
    pub kind: Kind,
    /// `com.example.Counter`, `long[]`; of metadata and static fields the class that they are of.
    pub class: String,
    /// Where it begins, and its bytes.
    pub start: u64,
    pub size: u64,
    /// What of it lies in the line that was asked for, in order.
    pub members: Vec<Member>,
    /// Of metadata.
    pub secondary: Option<SecondarySupers>,
}

/// How a class finds out whether it is of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecondarySupers {
    /// Its secondary supertypes: interfaces, and what is too deep in the tree of classes.
    pub interfaces: Vec<String>,
    /// The one that was asked for last.
    pub cache: Option<String>,
    /// Where both are, in bytes from the start of the class.
    pub cache_offset: u64,
    pub supers_offset: u64,
    /// Whether the line that was asked for holds the word that remembers, together with some of the superclasses (`Klass::_primary_supers`), which checks
    /// against classes read.
    pub display: bool,
}

/// How often the word of a class that remembers the last interface asked for was seen with another value than before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flips {
    pub reads: u32,
    pub changes: u32,
    /// The classes it was seen to hold, by how often, most first.
    pub values: Vec<(String, u32)>,
}

/// An object that was found.
struct Object {
    class: Class,
    start: u64,
    size: u64,
}

/// The names of classes of a JVM, by the addresses of what it keeps of them.
#[derive(Debug)]
pub(crate) struct Names(Layout);

impl Names {
    /// Finds in a JVM what is needed of it.
    pub fn new(memory: &impl Memory, way: &Way) -> Result<Self, Unknown> {
        Layout::new(memory, &way.tables).map(Names)
    }

    /// The name of a class that the JVM itself gave the address of: the same in another run. `None` where it was unloaded since.
    pub fn of(&self, memory: &impl Memory, class: u64) -> Result<Option<String>, Trouble> {
        let found = name_of(memory, &self.0, class)?;
        Ok(found.map(|found| name::alike(&found).to_owned()))
    }
}

/// A JVM whose data can be asked about.
#[derive(Debug)]
pub(crate) struct Data {
    layout: Layout,
    version: Option<Version>,
    fixed: Option<bool>,
    /// A word of its memory that never changes, for another program may have taken its place.
    witness: (u64, u64),
}

impl Data {
    /// Finds in a JVM what is needed of it.
    pub fn new(memory: &impl Memory, way: &Way) -> Result<Self, Unknown> {
        let layout = Layout::new(memory, &way.tables)?;
        let version = way.version().cloned();
        // All versions with the fix have the flag, as long as the old way is there to go back to.
        let [table, known] = way.tables.flags(memory, ["UseSecondarySupersTable", "UseCompressedOops"])?;
        let by_version = version.as_ref().and_then(has_fix_of_8180450);
        let fixed = table.or(if known.is_some() && by_version != Some(true) { Some(false) } else { by_version });
        Ok(Data { layout, version, fixed, witness: way.witness() })
    }

    /// Its version, where it tells.
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// Whether this JVM has the fix of JDK-8180450, and it is on: by its flag, which is there in all builds that have it, whatever their version is called.
    pub fn has_fix_of_8180450(&self) -> Option<bool> {
        self.fixed
    }

    /// What lies at an address. `pointer` is what the register held that the instruction reached it by; `line` are the addresses whose members are named.
    pub fn at(
        &self,
        memory: &impl Memory,
        pointer: u64,
        address: u64,
        line: &Range<u64>,
    ) -> Result<Option<JavaData>, Trouble> {
        self.is_still_there(memory)?;
        let line = line.start..line.end.min(line.start.saturating_add(LONGEST_LINE));
        let in_heap = self.layout.heap.as_ref().map(|heap| heap.contains(&address));
        if in_heap != Some(true)
            && let Some(class) = self.class_around(memory, pointer, address)?
        {
            return self.metadata(memory, &class, &line).map(Some);
        }
        if in_heap != Some(false)
            && let Some(object) = self.object_around(memory, pointer, address)?
        {
            return self.described(memory, &object, &line).map(Some);
        }
        Ok(None)
    }

    /// Reads the word of a class that remembers the last interface asked for so often, with pauses between. It is the class that [`JavaData::start`] of
    /// metadata gives. In a program that checks objects of the class against one interface only it does not change.
    pub fn flips(&self, memory: &impl Memory, class: u64, reads: u32, pause: Duration) -> Result<Flips, Trouble> {
        self.is_still_there(memory)?;
        let (mut flips, mut last, mut seen) = (Flips::default(), None, HashMap::<u64, u32>::new());
        for _ in 0..reads.min(MOST_READS) {
            let Some(now) = memory.word(class.wrapping_add(self.layout.cache))? else { break };
            flips.reads += 1;
            flips.changes += u32::from(last.is_some_and(|last| last != now));
            last = Some(now);
            if seen.len() < MOST_VALUES || seen.contains_key(&now) {
                *seen.entry(now).or_default() += 1;
            }
            std::thread::sleep(pause);
        }
        for (class, times) in seen {
            flips.values.extend(name_of(memory, &self.layout, class)?.map(|name| (name, times)));
        }
        flips.values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(flips)
    }

    fn is_still_there(&self, memory: &impl Memory) -> Result<(), Trouble> {
        let (place, value) = self.witness;
        if memory.word(place)? == Some(value) { Ok(()) } else { Err(Trouble::Gone) }
    }

    /// The class whose metadata an address lies in.
    fn class_around(&self, memory: &impl Memory, pointer: u64, address: u64) -> Result<Option<Class>, Trouble> {
        let holds =
            |class: &Class| address.checked_sub(class.address).is_some_and(|offset| offset < class.size(&self.layout));
        if let Some(class) = Class::at(memory, &self.layout, pointer)?.filter(holds) {
            return Ok(Some(class));
        }
        let block = back(memory, address, BACK_TO_CLASS, self.layout.display.end)?;
        let mut closely = 0;
        for start in starts(&block, address) {
            let check = block.half(start.saturating_add(self.layout.check)).map_or(0, u64::from);
            let is_own = self.layout.display.contains(&check) && block.word(start.saturating_add(check)) == Some(start);
            if !is_own && check != self.layout.cache {
                continue;
            }
            closely += 1;
            if closely > MOST_CLOSELY {
                break;
            }
            if let Some(class) = Class::at(memory, &self.layout, start)?.filter(holds) {
                return Ok(Some(class));
            }
        }
        Ok(None)
    }

    /// The object that an address lies in.
    fn object_around(&self, memory: &impl Memory, pointer: u64, address: u64) -> Result<Option<Object>, Trouble> {
        let holds = |object: &Object| address.checked_sub(object.start).is_some_and(|offset| offset < object.size);
        let block = Block::read(memory, pointer, 24)?;
        if let Some(object) = self.object(memory, &block, pointer, &mut HashMap::new())?.filter(holds) {
            return Ok(Some(object));
        }
        let block = back(memory, address, BACK_TO_OBJECT, 24)?;
        let mut known = HashMap::new();
        for start in starts(&block, address) {
            if let Some(object) = self.object(memory, &block, start, &mut known)?.filter(holds) {
                return Ok(Some(object));
            }
        }
        Ok(None)
    }

    /// The object that begins at an address of `block`. `known` are classes that were looked at, and what are none.
    fn object(
        &self,
        memory: &impl Memory,
        block: &Block,
        start: u64,
        known: &mut HashMap<u64, Option<Class>>,
    ) -> Result<Option<Object>, Trouble> {
        let layout = &self.layout;
        let is_in_heap = layout.heap.as_ref().is_none_or(|heap| heap.contains(&start));
        if !start.is_multiple_of(8) || !is_in_heap || !block.word(start).is_some_and(|mark| self.is_mark(mark)) {
            return Ok(None);
        }
        let word = start.checked_add(layout.klass.at()).and_then(|place| match layout.klass {
            Klass::Compressed { .. } => block.half(place).map(u64::from),
            _ => block.word(place),
        });
        let address = word.map_or(0, |word| layout.klass.of(word));
        if address == 0 || !known.contains_key(&address) && known.len() >= MOST_CLOSELY {
            return Ok(None);
        }
        let class = match known.get(&address) {
            Some(known) => known.clone(),
            None => Class::at(memory, layout, address)?,
        };
        known.insert(address, class.clone());
        let Some(class) = class else { return Ok(None) };
        let size = match class.shape {
            Shape::Instance(size) => self.size_of_mirror(memory, &class, start)?.unwrap_or(size),
            Shape::Array { header, element, .. } => {
                let length = block.half(start.wrapping_add(self.length_at())).map_or(0, u64::from);
                (header + length * element).next_multiple_of(8)
            }
        };
        Ok((size <= LARGEST).then_some(Object { class, start, size }))
    }

    /// Whether a word may be the first of an object.
    fn is_mark(&self, mark: u64) -> bool {
        match self.layout.klass {
            // Its class is in the same word.
            Klass::Compact { .. } => mark & 3 != 3,
            // Not locked: what is above its hash is 0.
            _ if mark & 7 == 1 => mark & !self.layout.unlocked == 0,
            _ => mark & 3 != 3,
        }
    }

    /// Where an array has its length: right behind its class.
    fn length_at(&self) -> u64 {
        match self.layout.klass {
            Klass::Whole(at) | Klass::Compact { at, .. } => at + 8,
            Klass::Compressed { at, .. } => at + 4,
        }
    }

    /// Objects of `java.lang.Class` have their class's static fields behind their own, and say how large they are.
    fn size_of_mirror(&self, memory: &impl Memory, class: &Class, start: u64) -> Result<Option<u64>, Trouble> {
        let Some(words) = self.layout.words.filter(|_| class.name == "java.lang.Class") else { return Ok(None) };
        let words = memory.word(start.wrapping_add(words))?.map(|word| u64::from(word as u32));
        Ok(words.filter(|&words| words > 0).map(|words| words * 8))
    }

    fn described(&self, memory: &impl Memory, object: &Object, line: &Range<u64>) -> Result<JavaData, Trouble> {
        let Object { class, start, size } = object;
        let (layout, start, size) = (&self.layout, *start, *size);
        let word = |name: &str, offset, size, kind: &str| {
            Some(Member { offset, size, name: name.to_owned(), kind: kind.to_owned() })
                .filter(|member| member.is_in(start, line))
        };
        let length_at = self.length_at();
        let mut members = Vec::from_iter(word("(header)", 0, length_at, ""));
        let (mut kind, mut of) = (Kind::Object, class.name.clone());
        match class.shape {
            Shape::Array { header, element, .. } => {
                kind = Kind::Array;
                members.extend(word("(length)", length_at, 4, "int"));
                let first = line.start.saturating_sub(start.saturating_add(header)) / element;
                let end = line.end.min(start.saturating_add(size)).saturating_sub(start.saturating_add(header));
                let name = class.name.strip_suffix("[]").unwrap_or_default();
                let last = end.div_ceil(element).min(first.saturating_add(LONGEST_LINE));
                members.extend((first..last).map(|i| {
                    let name = name.to_owned();
                    Member { offset: header + i * element, size: element, name: format!("[{i}]"), kind: name }
                }));
            }
            Shape::Instance(_) => {
                members.extend(class.fields(memory, layout, start, line)?);
                let mirrored = layout.mirrored.filter(|_| class.name == "java.lang.Class");
                let mirrored = mirrored.map_or(Ok(None), |at| memory.word(start.wrapping_add(at)))?;
                if let Some(mirrored) = mirrored.filter(|&mirrored| mirrored != 0)
                    && let Some(mirrored) = Class::at(memory, layout, mirrored)?
                {
                    (kind, of) = (Kind::Statics, mirrored.name.clone());
                    members.extend(mirrored.statics(memory, layout, start, line)?);
                }
            }
        }
        members.sort_by_key(|member| member.offset);
        Ok(JavaData { kind, class: of, start, size, members, secondary: None })
    }

    fn metadata(&self, memory: &impl Memory, class: &Class, line: &Range<u64>) -> Result<JavaData, Trouble> {
        let layout = &self.layout;
        let start = class.address;
        let in_line =
            |at: &Range<u64>| start.saturating_add(at.start) < line.end && start.saturating_add(at.end) > line.start;
        let remembered = class.remembered(layout);
        let secondary = SecondarySupers {
            interfaces: class.supers(memory, layout)?,
            cache: if remembered == 0 { None } else { name_of(memory, layout, remembered)? },
            cache_offset: layout.cache,
            supers_offset: layout.supers,
            display: in_line(&(layout.cache..layout.cache + 8)) && in_line(&layout.display),
        };
        Ok(JavaData {
            kind: Kind::Metadata,
            class: class.name.clone(),
            start,
            size: class.size(layout),
            members: class.parts(layout, line),
            secondary: Some(secondary),
        })
    }
}

/// Reads from so far before an address to so far behind it; less where not all of that is mapped.
fn back(memory: &impl Memory, address: u64, before: u64, behind: u64) -> Result<Block, Trouble> {
    let end = address.saturating_add(behind) & !7;
    let from = (address.saturating_sub(before) & !7).max(4096);
    for from in [from, address & !4095] {
        let block = Block::read(memory, from, end.saturating_sub(from).min(before + behind + 4096))?;
        if block.half(address).is_some() {
            return Ok(block);
        }
    }
    Block::read(memory, address, 0)
}

/// Where something that an address lies in may begin, the nearest first.
fn starts(block: &Block, address: u64) -> impl Iterator<Item = u64> {
    let last = address & !7;
    (0..).map(move |i: u64| last.wrapping_sub(i * 8)).take((last.saturating_sub(block.from) / 8 + 1).min(1024) as usize)
}
