//! What a JVM keeps of a class: its name, its fields, its supertypes.

use super::Member;
use super::layout::{Fields, Layout, Structure};
use crate::hotspot::name;
use crate::memory::{Memory, Trouble};
use std::ops::Range;

/// Of what is kept of a class so much is read at most.
const MOST_HEAD: u64 = 1024;
/// Superclasses, interfaces and bytes of a stream of fields that are looked at.
const MOST_PARENTS: usize = 128;
const MOST_SUPERS: u64 = 256;
const MOST_STREAM: usize = 64 << 10;
/// Fields of one class that lie in a line or begin in it: names that are read.
const MOST_NAMED: usize = 256;
/// `JVM_ACC_STATIC`.
const STATIC: u64 = 8;

/// Bytes that were read from an address on.
#[derive(Clone, Debug)]
pub(in crate::hotspot) struct Block {
    pub from: u64,
    bytes: Vec<u8>,
}

impl Block {
    pub fn read(memory: &impl Memory, from: u64, length: u64) -> Result<Self, Trouble> {
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let read = memory.some(from, &mut bytes)?;
        bytes.truncate(read);
        Ok(Block { from, bytes })
    }

    fn some<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let at = usize::try_from(address.checked_sub(self.from)?).ok()?;
        self.bytes.get(at..)?.first_chunk::<N>().copied()
    }

    pub fn word(&self, address: u64) -> Option<u64> {
        self.some(address).map(u64::from_ne_bytes)
    }

    pub fn half(&self, address: u64) -> Option<u32> {
        self.some(address).map(u32::from_ne_bytes)
    }

    fn short(&self, address: u64) -> Option<u64> {
        self.some(address).map(u16::from_ne_bytes).map(u64::from)
    }
}

/// What the objects of a class are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::hotspot) enum Shape {
    /// Objects of so many bytes.
    Instance(u64),
    /// Arrays, whose elements begin so far behind their start and have so many bytes.
    Array { header: u64, element: u64, of_objects: bool },
}

/// A class.
#[derive(Clone, Debug)]
pub(in crate::hotspot) struct Class {
    pub(super) address: u64,
    pub(super) name: String,
    pub(super) shape: Shape,
    head: Block,
}

/// A field as its class keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    offset: u64,
    is_static: bool,
    /// Numbers of the constant pool.
    name: u64,
    kind: u64,
}

impl Class {
    /// The class at an address, if there is one. That is made sure: a class lies in its own list of superclasses at the place that it says itself; to an
    /// interface, or a class of arrays of them, which do not, something else leads back.
    pub fn at(memory: &impl Memory, layout: &Layout, address: u64) -> Result<Option<Self>, Trouble> {
        if !address.is_multiple_of(8) || address < 4096 {
            return Ok(None);
        }
        let length = layout.instance.size.max(layout.objects.size).clamp(layout.display.end + 8, MOST_HEAD);
        let head = Block::read(memory, address, length)?;
        let at = |offset: u64| address.wrapping_add(offset);
        let Some(check) = head.half(at(layout.check)).map(u64::from) else { return Ok(None) };
        let is_own = layout.display.contains(&check) && head.word(at(check)) == Some(address);
        if !is_own && (check != layout.cache || !is_led_back_to(memory, layout, &head)?) {
            return Ok(None);
        }
        let Some(symbol) = head.word(at(layout.name)) else { return Ok(None) };
        let Some(name) = symbol_at(memory, layout, symbol)?.and_then(|bytes| name::class(&bytes)) else {
            return Ok(None);
        };
        let shape = head.half(at(layout.helper)).and_then(shape);
        Ok(shape.map(|shape| Class { address, name, shape, head }))
    }

    fn word(&self, offset: u64) -> Option<u64> {
        self.head.word(self.address.wrapping_add(offset))
    }

    fn half(&self, offset: u64) -> Option<u32> {
        self.head.half(self.address.wrapping_add(offset))
    }

    fn structure<'a>(&self, layout: &'a Layout) -> &'a Structure {
        match self.shape {
            Shape::Instance(_) => &layout.instance,
            Shape::Array { of_objects: true, .. } => &layout.objects,
            Shape::Array { of_objects: false, .. } => &layout.primitives,
        }
    }

    /// What lies behind the structure: name, offset, size.
    fn behind(&self, layout: &Layout) -> Vec<(&'static str, u64, u64)> {
        let (mut at, mut found) = (self.structure(layout).size, Vec::new());
        if matches!(self.shape, Shape::Instance(_)) {
            for &(name, words) in &layout.behind {
                let size = self.half(words).map_or(0, |words| u64::from(words.min(1 << 16)) * 8);
                found.push((name, at, size));
                at += size;
            }
        }
        found
    }

    /// Bytes that the JVM keeps of the class in one piece.
    pub fn size(&self, layout: &Layout) -> u64 {
        self.behind(layout).last().map_or(self.structure(layout).size, |(_, at, size)| at + size)
    }

    /// What of that lies in a line.
    pub fn parts(&self, layout: &Layout, line: &Range<u64>) -> Vec<Member> {
        let structure = self.structure(layout);
        let own = structure.parts.iter().filter(|part| part.offset < structure.size);
        let own = own.map(|p| Member { offset: p.offset, size: p.size, name: p.name.clone(), kind: p.kind.clone() });
        let behind = self.behind(layout).into_iter().filter(|(_, _, size)| *size > 0);
        let behind =
            behind.map(|(name, offset, size)| Member { offset, size, name: name.to_owned(), kind: String::new() });
        own.chain(behind).filter(|member| member.is_in(self.address, line)).collect()
    }

    /// The names of its secondary supertypes, most of them interfaces, in order.
    pub fn supers(&self, memory: &impl Memory, layout: &Layout) -> Result<Vec<String>, Trouble> {
        let Some(array) = self.word(layout.supers).filter(|&array| array != 0) else { return Ok(Vec::new()) };
        let (length, data) = layout.array;
        let length = memory.word(array.wrapping_add(length))?.map_or(0, |word| u64::from(word as u32)).min(MOST_SUPERS);
        let places: Vec<u64> = (0..length).map(|i| array.wrapping_add(data).wrapping_add(i * 8)).collect();
        let classes = memory.words(&places)?;
        let mut names = Vec::new();
        for class in classes.into_iter().flatten() {
            names.extend(name_of(memory, layout, class)?);
        }
        // With the fix of JDK-8180450 they lie as their hashes have it.
        names.sort();
        Ok(names)
    }

    /// The supertype that is remembered now: its address (0 for none).
    pub fn remembered(&self, layout: &Layout) -> u64 {
        self.word(layout.cache).unwrap_or(0)
    }

    /// The fields of its objects that lie in a line, which `start` the object begins at; of superclasses with their class before the name.
    pub fn fields(
        &self,
        memory: &impl Memory,
        layout: &Layout,
        start: u64,
        line: &Range<u64>,
    ) -> Result<Vec<Member>, Trouble> {
        let mut found = self.own(memory, layout, start, line, false, "")?;
        let mut parent = self.word(layout.parent).unwrap_or(0);
        for _ in 0..MOST_PARENTS {
            let Some(class) = Class::at(memory, layout, parent)? else { break };
            let simple = class.name.rsplit('.').next().unwrap_or_default();
            found.extend(class.own(memory, layout, start, line, false, &format!("{simple}."))?);
            parent = class.word(layout.parent).unwrap_or(0);
        }
        found.sort_by_key(|member| member.offset);
        Ok(found)
    }

    /// Where in its objects a field of this name lies: its own, or that of the nearest superclass that has one.
    pub fn field(&self, memory: &impl Memory, layout: &Layout, name: &str) -> Result<Option<u64>, Trouble> {
        let mut class = self.clone();
        for _ in 0..MOST_PARENTS {
            let pool = class.word(layout.constants).filter(|&pool| pool != 0).unwrap_or(0);
            for field in class.listed(memory, layout)?.into_iter().filter(|field| !field.is_static).take(MOST_NAMED) {
                let place = pool.wrapping_add(layout.pool).wrapping_add(field.name * 8);
                let symbol = memory.word(place)?.map_or(Ok(None), |symbol| symbol_at(memory, layout, symbol & !1))?;
                if symbol.as_deref() == Some(name.as_bytes()) {
                    return Ok(Some(field.offset));
                }
            }
            match Class::at(memory, layout, class.word(layout.parent).unwrap_or(0))? {
                Some(parent) => class = parent,
                None => break,
            }
        }
        Ok(None)
    }

    /// Of arrays: how far behind their start their elements begin.
    pub fn elements(&self) -> Option<u64> {
        match self.shape {
            Shape::Array { header, .. } => Some(header),
            Shape::Instance(_) => None,
        }
    }

    /// Its static fields that lie in a line; they are in its object of `java.lang.Class`, which begins at `start`.
    pub fn statics(
        &self,
        memory: &impl Memory,
        layout: &Layout,
        start: u64,
        line: &Range<u64>,
    ) -> Result<Vec<Member>, Trouble> {
        self.own(memory, layout, start, line, true, "")
    }

    /// Its own fields.
    fn own(
        &self,
        memory: &impl Memory,
        layout: &Layout,
        start: u64,
        line: &Range<u64>,
        statics: bool,
        before: &str,
    ) -> Result<Vec<Member>, Trouble> {
        let Some(pool) = self.word(layout.constants).filter(|&pool| pool != 0) else { return Ok(Vec::new()) };
        let symbol = |number: u64| -> Result<Option<Vec<u8>>, Trouble> {
            let place = pool.wrapping_add(layout.pool).wrapping_add(number * 8);
            // The lowest bit may say what else the entry is.
            memory.word(place)?.map_or(Ok(None), |symbol| symbol_at(memory, layout, symbol & !1))
        };
        let mut found = Vec::new();
        // The largest field has 8 bytes.
        let near = |field: &Field| {
            let at = start.wrapping_add(field.offset);
            field.is_static == statics && at < line.end && at.saturating_add(8) > line.start
        };
        for field in self.listed(memory, layout)?.into_iter().filter(near).take(MOST_NAMED) {
            let (Some(name), Some(kind)) = (symbol(field.name)?, symbol(field.kind)?) else { continue };
            let (Some(name), Some((kind, size))) = (name::field(&name), name::kind(&kind)) else { continue };
            let size = size.unwrap_or(layout.reference);
            let member = Member { offset: field.offset, size, name: format!("{before}{name}"), kind };
            if member.is_in(start, line) {
                found.push(member);
            }
        }
        Ok(found)
    }

    /// All fields that it declares.
    fn listed(&self, memory: &impl Memory, layout: &Layout) -> Result<Vec<Field>, Trouble> {
        match layout.fields {
            Fields::Stream { at, more } => {
                let Some(array) = self.word(at).filter(|&array| array != 0) else { return Ok(Vec::new()) };
                let length = memory.word(array)?.map_or(0, |word| word as u32 as usize).min(MOST_STREAM);
                let stream = Block::read(memory, array.wrapping_add(layout.byte_data), length as u64)?;
                Ok(streamed(&stream.bytes, more))
            }
            Fields::Shorts { at, count, slots, name, kind, flags, low, high, tag } => {
                let Some(array) = self.word(at).filter(|&array| array != 0) else { return Ok(Vec::new()) };
                let count = self.head.short(self.address.wrapping_add(count)).unwrap_or(0);
                let data = array.wrapping_add(layout.short_data);
                let block = Block::read(memory, data, count * slots * 2)?;
                let field = |i: u64| {
                    let slot = |slot: u64| block.short(data + (i * slots + slot) * 2);
                    let (low, high) = (slot(low)?, slot(high)?);
                    // The lowest bit says that the offset is settled.
                    let offset = (high << 16 | low) >> tag;
                    let field =
                        Field { offset, is_static: slot(flags)? & STATIC != 0, name: slot(name)?, kind: slot(kind)? };
                    (low & 1 != 0).then_some(field)
                };
                Ok((0..count).filter_map(field).collect())
            }
        }
    }
}

/// Whether what may be a class is led back to: from the constants of a class that is none of arrays, and of arrays from the class of those with one
/// dimension less.
fn is_led_back_to(memory: &impl Memory, layout: &Layout, head: &Block) -> Result<bool, Trouble> {
    let leads = |at: u64, back: u64| -> Result<Option<bool>, Trouble> {
        let Some(other) = head.word(head.from.wrapping_add(at)).filter(|&other| other != 0) else { return Ok(None) };
        Ok(Some(memory.word(other.wrapping_add(back))? == Some(head.from)))
    };
    match head.half(head.from.wrapping_add(layout.helper)).and_then(shape) {
        Some(Shape::Instance(_)) => Ok(leads(layout.constants, layout.holder)? == Some(true)),
        Some(Shape::Array { of_objects: true, .. }) => {
            let lower = leads(layout.lower, layout.higher)?;
            Ok(lower.map_or_else(|| leads(layout.element, layout.arrays), |lower| Ok(Some(lower)))? == Some(true))
        }
        _ => Ok(false),
    }
}

/// The name of a class that is taken for one.
pub(super) fn name_of(memory: &impl Memory, layout: &Layout, class: u64) -> Result<Option<String>, Trouble> {
    let symbol = memory.word(class.wrapping_add(layout.name))?.filter(|&symbol| symbol != 0);
    Ok(symbol.map_or(Ok(None), |symbol| symbol_at(memory, layout, symbol))?.and_then(|bytes| name::class(&bytes)))
}

fn symbol_at(memory: &impl Memory, layout: &Layout, symbol: u64) -> Result<Option<Vec<u8>>, Trouble> {
    let mut length = [0; 2];
    if memory.some(symbol.wrapping_add(layout.length), &mut length)? < length.len() {
        return Ok(None);
    }
    let mut body = vec![0; u16::from_ne_bytes(length).into()];
    let read = memory.some(symbol.wrapping_add(layout.body), &mut body)?;
    Ok((read == body.len()).then_some(body))
}

/// What `Klass::_layout_helper` says (`klass.hpp`): of instances their size, with a bit for how they are allocated; of arrays their header, kind and the
/// size of an element.
fn shape(helper: u32) -> Option<Shape> {
    let helper = helper as i32;
    if helper > 0 {
        return Some(Shape::Instance((helper as u64) & !7)).filter(|shape| *shape != Shape::Instance(0));
    }
    let byte = |from: u32| u64::from(helper as u32 >> from & 0xff);
    let (header, log) = (byte(16), byte(0) & 63);
    let of_objects = helper >> 30 == -2;
    (helper < 0 && log <= 3 && header >= 8).then_some(Shape::Array { header, element: 1 << log, of_objects })
}

/// The fields of a stream (`fieldInfo.hpp`): how many the class declares and how many the JVM adds, then of each its name, type, offset, access and flags,
/// and what its flags say.
fn streamed(bytes: &[u8], more: [u32; 3]) -> Vec<Field> {
    let mut rest = bytes;
    let mut found = Vec::new();
    let (Some(declared), Some(_)) = (number(&mut rest), number(&mut rest)) else { return found };
    for _ in 0..declared {
        let numbers: [Option<u64>; 5] = std::array::from_fn(|_| number(&mut rest));
        let [Some(name), Some(kind), Some(offset), Some(access), Some(flags)] = numbers else { break };
        if more.iter().any(|bit| flags >> bit & 1 != 0 && number(&mut rest).is_none()) {
            break;
        }
        found.push(Field { offset, is_static: access & STATIC != 0, name, kind });
    }
    found
}

/// A number of one to five bytes (`unsigned5.hpp`): none of them is 0, and one from 192 on says that another follows, which counts 64 times as much.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut sum = 0u64;
    for i in 0..5 {
        let (&byte, behind) = rest.split_first()?;
        *rest = behind;
        let byte = u64::from(byte.checked_sub(1)?);
        sum += byte << (6 * i);
        if byte < 191 {
            break;
        }
    }
    Some(sum & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_a_stream() {
        let of = |bytes: &[u8]| number(&mut &*bytes);
        assert_eq!((of(&[1]), of(&[191]), of(&[192, 1]), of(&[193, 3])), (Some(0), Some(190), Some(191), Some(320)));
        assert_eq!((of(&[]), of(&[0]), of(&[255])), (None, None, None));
        assert_eq!(of(&[255; 8]), Some((0..5).map(|i| 254u64 << (6 * i)).sum::<u64>() & 0xffff_ffff));
        // Two fields, of which the first has a constant value.
        let fields = streamed(&[3, 1, 4, 5, 13, 9, 2, 8, 6, 7, 17, 1, 1], [0, 2, 4]);
        let field = |offset, is_static, name, kind| Field { offset, is_static, name, kind };
        assert_eq!(fields, [field(12, true, 3, 4), field(16, false, 5, 6)]);
    }

    #[test]
    fn shapes() {
        assert_eq!(shape(24), Some(Shape::Instance(24)));
        assert_eq!(shape(25), Some(Shape::Instance(24)));
        // `long[]` and `Object[]` of JDK 17.
        assert_eq!(shape(0xc010_0b03), Some(Shape::Array { header: 16, element: 8, of_objects: false }));
        assert_eq!(shape(0x8010_0c02), Some(Shape::Array { header: 16, element: 4, of_objects: true }));
        assert_eq!((shape(0), shape(1), shape(0xffff_ffff), shape(0x8000_0000)), (None, None, None, None));
    }

    proptest! {
        #[test]
        fn foreign_streams_end(bytes: Vec<u8>, more in prop::array::uniform3(0u32..32)) {
            prop_assert!(streamed(&bytes, more).len() <= bytes.len());
        }
    }
}
