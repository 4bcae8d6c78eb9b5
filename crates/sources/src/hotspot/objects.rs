//! What is in the fields of Java objects: references, numbers and texts. Objects move while they are read, so what is read of one is only kept where
//! it makes sense, and nothing is followed further than a few steps.

use super::Unknown;
use super::data::{Class, DataLayout};
use super::header::{self, Klass, Pointers};
use super::tables::Tables;
use crate::memory::{Memory, Trouble};
use std::collections::HashMap;

/// Characters of a text that are kept.
const LONGEST: usize = 200;
/// Classes whose fields are remembered.
const MOST_CLASSES: usize = 1024;

/// How to read objects of a JVM.
#[derive(Debug)]
pub(in crate::hotspot) struct Objects {
    layout: DataLayout,
    pointers: Pointers,
    /// Whether references are followed that may be out of date: for what hardly changes, and is looked at closely.
    stale: bool,
    /// Where references have 32 bits: what is added to them, and how far they are shifted.
    narrow: Option<(u64, u32)>,
    /// Fields by class and name: the offset, where there is one.
    fields: HashMap<(u64, &'static str), Option<u64>>,
}

impl Objects {
    pub fn new(memory: &impl Memory, tables: &Tables, stale: bool) -> Result<Self, Unknown> {
        let layout = DataLayout::new(memory, tables)?;
        let (_, pointers) = header::read(memory, tables)?;
        let narrow = match layout.reference {
            4 => Some(encoding(memory, tables)?),
            _ => None,
        };
        Ok(Objects { layout, pointers, stale, narrow, fields: HashMap::new() })
    }

    /// The objects that references at these places of the heap lead to; 0 for none.
    pub fn referred(&self, memory: &impl Memory, places: &[u64]) -> Result<Vec<u64>, Trouble> {
        let words = memory.words(places)?;
        let Some((base, shift)) = self.narrow else { return self.followed(memory, &words) };
        let of = |word: Option<u64>| match word.unwrap_or(0) & 0xffff_ffff {
            0 => 0,
            reference => base.wrapping_add(reference << shift),
        };
        Ok(words.into_iter().map(of).collect())
    }

    /// The object that a native handle holds (`OopHandle`), or a native field of the oldest versions; 0 for none.
    pub fn held(&self, memory: &impl Memory, words: &[Option<u64>], is_handle: bool) -> Result<Vec<u64>, Trouble> {
        let held = match is_handle {
            true => memory.words(&words.iter().map(|word| word.unwrap_or(0)).collect::<Vec<_>>())?,
            false => words.to_vec(),
        };
        self.followed(memory, &held)
    }

    fn followed(&self, memory: &impl Memory, held: &[Option<u64>]) -> Result<Vec<u64>, Trouble> {
        if self.stale { self.pointers.likely(memory, held) } else { self.pointers.plain(memory, held) }
    }

    /// The class of an object; 0 where that cannot be told.
    pub fn class(&self, memory: &impl Memory, object: u64) -> Result<u64, Trouble> {
        Ok(self.classes(memory, &[object])?.first().copied().unwrap_or(0))
    }

    /// The same of several.
    pub fn classes(&self, memory: &impl Memory, objects: &[u64]) -> Result<Vec<u64>, Trouble> {
        let klass = self.layout.klass;
        let places: Vec<u64> = objects.iter().map(|&o| if o == 0 { 0 } else { o.wrapping_add(klass.at()) }).collect();
        Ok(memory.words(&places)?.into_iter().map(|word| word.map_or(0, |word| klass.of(word))).collect())
    }

    /// Where in objects of a class a field lies that it, or one of its superclasses, declares.
    pub fn field(&mut self, memory: &impl Memory, class: u64, name: &'static str) -> Result<Option<u64>, Trouble> {
        if let Some(known) = self.fields.get(&(class, name)) {
            return Ok(*known);
        }
        let Some(found) = Class::at(memory, &self.layout, class)? else { return Ok(None) };
        let offset = found.field(memory, &self.layout, name)?;
        if self.fields.len() >= MOST_CLASSES {
            self.fields.clear();
        }
        self.fields.insert((class, name), offset);
        Ok(offset)
    }

    /// The text of an object of `java.lang.String`; `None` where it is none.
    pub fn text(&mut self, memory: &impl Memory, string: u64) -> Result<Option<String>, Trouble> {
        let class = self.class(memory, string)?;
        let Some(value) = self.field(memory, class, "value")? else { return Ok(None) };
        let array = self.referred(memory, &[string.wrapping_add(value)])?.first().copied().unwrap_or(0);
        if array == 0 {
            return Ok(None);
        }
        // Since 9 a text may have bytes of Latin-1.
        let is_latin = match self.field(memory, class, "coder")? {
            Some(coder) => memory
                .word(string.wrapping_add(coder) & !7)?
                .is_some_and(|word| word >> ((string.wrapping_add(coder) & 7) * 8) & 0xff == 0),
            None => false,
        };
        let of = self.class(memory, array)?;
        let Some(begin) = Class::at(memory, &self.layout, of)?.and_then(|class| class.elements()) else {
            return Ok(None);
        };
        let length = self.array_length(memory, array)?.min(LONGEST as u64 * 2) as usize;
        let mut bytes = vec![0; if self.field(memory, class, "coder")?.is_some() { length } else { length * 2 }];
        if memory.some(array.wrapping_add(begin), &mut bytes)? < bytes.len() {
            return Ok(None);
        }
        let text: String = match is_latin {
            true => bytes.iter().map(|&byte| char::from(byte)).take(LONGEST).collect(),
            false => {
                let (units, _) = bytes.as_chunks::<2>();
                let units = units.iter().map(|unit| u16::from_ne_bytes(*unit));
                char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).take(LONGEST).collect()
            }
        };
        Ok((!text.chars().any(char::is_control)).then_some(text))
    }

    /// How many elements an array has (`arrayOopDesc::length_offset_in_bytes`): the number is behind what says of which class it is.
    fn array_length(&self, memory: &impl Memory, array: u64) -> Result<u64, Trouble> {
        let at = match self.layout.klass {
            Klass::Whole(at) => at + 8,
            Klass::Compressed { at, .. } => at + 4,
            Klass::Compact { at, .. } => at + 8,
        };
        let place = array.wrapping_add(at);
        let word = memory.word(place & !7)?.unwrap_or(0);
        Ok(u64::from((word >> ((place & 4) * 8)) as u32))
    }
}

/// How references of 32 bits are made addresses.
fn encoding(memory: &impl Memory, tables: &Tables) -> Result<(u64, u32), Unknown> {
    const WHAT: Unknown = Unknown::Missing("how it compresses references");
    let of = |fields: [&'static str; 2]| -> Result<u64, Unknown> {
        let names: Vec<(&str, &str)> =
            ["CompressedOops", "Universe"].into_iter().flat_map(|owner| fields.map(|field| (owner, field))).collect();
        memory.word(tables.address(&names).ok_or(WHAT)?)?.ok_or(WHAT)
    };
    let (base, shift) = (of(["_narrow_oop._base", "_base"])?, of(["_narrow_oop._shift", "_shift"])? as u32);
    if shift > 16 { Err(WHAT) } else { Ok((base, shift)) }
}
