//! A chunk of a JFR file (docs of the format: JDK-8043330 and `jdk.jfr.internal.consumer`): a header, and after it one event after
//! the other. Two kinds of events are about the others: metadata say what fields they have, checkpoints hold constants that they
//! refer to by number. Each chunk stands for itself.

use super::metadata::{Class, Field, Kind, Types};
use super::number::Numbers;
use crate::bytes::Bytes;
use std::collections::HashMap;

/// Bytes of a header.
pub(super) const HEADER: usize = 68;

/// Numbers of the two kinds of events that are about the others.
const METADATA: i64 = 0;
const CHECKPOINT: i64 = 1;

/// The most constants of a chunk, so that a damaged one takes no more memory than this. JVMs with 100,000 classes have a tenth.
const MOST_CONSTANTS: usize = 8 << 20;

/// The longest text that is taken, characters.
const LONGEST: usize = 1000;

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Bytes of the chunk with its header; 0 where it was not finished.
    pub(super) size: u64,
    /// When it began, Unix nanoseconds.
    start: i64,
    /// The same in ticks, and how many of these there are in a second.
    start_ticks: i64,
    frequency: i64,
}

impl Header {
    /// # Errors
    /// That it is none, or one of another version.
    pub(super) fn parse(bytes: &[u8]) -> Result<Header, String> {
        let rest = bytes.strip_prefix(b"FLR\0").ok_or("there is no header of a chunk where one should be")?;
        let mut rest = Bytes(rest);
        let cut = "the header of a chunk is cut off";
        let major = rest.take(2).and_then(|b| Some(u16::from_be_bytes(b.try_into().ok()?))).ok_or(cut)?;
        if !(1..=2).contains(&major) {
            return Err(format!(
                "version {major} of the format: only 1 and 2 can be read (JDK 9 and later, and 8u262)"
            ));
        }
        rest.take(2).ok_or(cut)?;
        let mut next = || rest.be64().map(|n| n as i64);
        let [size, _constants, _metadata, start, _duration, start_ticks, frequency] =
            [next(), next(), next(), next(), next(), next(), next()].map(|n| n.unwrap_or(0));
        let features = rest.take(4).and_then(|b| b.last().copied()).ok_or(cut)?;
        if features & 1 == 0 {
            return Err("its numbers are not compressed, which nobody writes but for tests".into());
        }
        // Damaged headers make times that are of no use, and no more.
        Ok(Header { size: size.max(0) as u64, start, start_ticks, frequency: frequency.max(1) })
    }

    /// Ticks as Unix nanoseconds.
    pub(super) fn time(&self, ticks: i64) -> i64 {
        self.start.saturating_add(self.length(ticks.saturating_sub(self.start_ticks)))
    }

    /// A number of ticks in nanoseconds.
    pub(super) fn length(&self, ticks: i64) -> i64 {
        let nanoseconds = i128::from(ticks) * 1_000_000_000 / i128::from(self.frequency);
        nanoseconds.clamp(i128::from(i64::MIN / 4), i128::from(i64::MAX / 4)) as i64
    }

    /// When it began, Unix nanoseconds.
    pub(super) fn start(&self) -> i64 {
        self.start
    }
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Missing,
    Number(i64),
    Real(f64),
    /// A text, from its encoding on.
    Text(&'a [u8]),
    /// A constant: its class, by place, and its number.
    Constant(usize, i64),
    /// The fields of a class, by place, one after the other.
    Struct(usize, &'a [u8]),
    /// So many values of a kind.
    List(Kind, usize, &'a [u8]),
}

/// A chunk in memory.
pub(super) struct Chunk<'a> {
    pub(super) header: Header,
    pub(super) types: Types,
    events: &'a [u8],
    /// By class, by number: where the constant lies among the events.
    constants: Vec<HashMap<i64, u32>>,
    text_class: Option<usize>,
}

/// An event: its class, and its fields one after the other.
pub(super) struct Event<'a> {
    pub(super) class: usize,
    pub(super) fields: &'a [u8],
}

/// The events of a chunk with the numbers of their types; stops where a size makes no sense, which is then `Err` once.
struct Raw<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Raw<'a> {
    type Item = Result<(i64, &'a [u8]), usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.all.get(self.at..).filter(|rest| !rest.is_empty())?;
        let whole = || {
            let mut head = Bytes(rest);
            let size = usize::try_from(head.number()?).ok()?;
            let kind = head.number()?;
            let begun = rest.len() - head.0.len();
            Some((kind, size, rest.get(begun..size)?))
        };
        match whole() {
            Some((kind, size, fields)) => {
                self.at += size;
                Some(Ok((kind, fields)))
            }
            None => {
                self.at = self.all.len();
                Some(Err(rest.len()))
            }
        }
    }
}

impl<'a> Chunk<'a> {
    /// Reads what is about the events. `bytes` are those after the header; `note` is told what is damaged.
    ///
    /// # Errors
    /// That there are no metadata that can be read: then no event can.
    pub(super) fn read(header: Header, bytes: &'a [u8], note: &mut dyn FnMut(&str)) -> Result<Chunk<'a>, String> {
        let (mut metadata, mut checkpoints) = (None, Vec::new());
        for event in (Raw { all: bytes, at: 0 }) {
            match event {
                Ok((METADATA, fields)) => metadata = Some(fields),
                Ok((CHECKPOINT, fields)) => checkpoints.push(fields),
                Ok(_) => {}
                Err(left) => note(&format!("a chunk is damaged or cut off: its last {left} bytes are left out")),
            }
        }
        let types = Types::parse(metadata.ok_or("a chunk has no metadata")?)?;
        let text_class = types.position("java.lang.String");
        let constants = vec![HashMap::new(); types.classes.len()];
        let mut chunk = Chunk { header, types, events: bytes, constants, text_class };
        let mut left = MOST_CONSTANTS;
        let damaged = checkpoints.into_iter().filter(|fields| chunk.checkpoint(fields, &mut left).is_none()).count();
        if damaged > 0 {
            note("constants of a chunk are damaged: names of some threads, methods or classes are missing");
        }
        Ok(chunk)
    }

    /// Where a part of the events begins among them.
    fn offset(&self, part: &[u8]) -> Option<u32> {
        u32::try_from((part.as_ptr() as usize).checked_sub(self.events.as_ptr() as usize)?).ok()
    }

    /// Takes the constants of a checkpoint in. `None` where it cannot be read to its end.
    fn checkpoint(&mut self, fields: &'a [u8], left: &mut usize) -> Option<()> {
        let mut rest = Bytes(fields);
        // When, how long, where the one before is.
        for _ in 0..3 {
            rest.number()?;
        }
        rest.take(1)?;
        for _ in 0..rest.number()? {
            let class = self.types.by_id(rest.number()?)?;
            for _ in 0..rest.number()? {
                let number = rest.number()?;
                let at = self.offset(rest.0)?;
                *left = left.checked_sub(1)?;
                self.skip_constant(class, &mut rest)?;
                self.constants.get_mut(class)?.insert(number, at);
            }
        }
        Some(())
    }

    fn skip_constant(&self, class: usize, rest: &mut Bytes<'a>) -> Option<()> {
        if self.text_class == Some(class) {
            return skip_text(rest);
        }
        self.skip_class(class, rest)
    }

    fn skip_class(&self, class: usize, rest: &mut Bytes<'a>) -> Option<()> {
        let class = self.types.classes.get(class).filter(|class| class.sound)?;
        class.fields.iter().try_for_each(|field| self.value(field, rest).map(drop))
    }

    /// The value of a field; what follows is left in `rest`.
    fn value(&self, field: &Field, rest: &mut Bytes<'a>) -> Option<Value<'a>> {
        if !field.list {
            return self.one(field.kind, rest);
        }
        let count = usize::try_from(rest.number()?).ok()?;
        // Each takes a byte at least, or it is no list that anybody writes.
        if count > rest.0.len() {
            return None;
        }
        let before = rest.0;
        for _ in 0..count {
            let length = rest.0.len();
            self.one(field.kind, rest)?;
            (rest.0.len() < length).then_some(())?;
        }
        let bytes = before.get(..before.len() - rest.0.len())?;
        Some(Value::List(field.kind, count, bytes))
    }

    fn one(&self, kind: Kind, rest: &mut Bytes<'a>) -> Option<Value<'a>> {
        Some(match kind {
            Kind::Byte => Value::Number(i64::from(*rest.take(1)?.first()? as i8)),
            Kind::Char => Value::Number(i64::from(rest.number()? as u16)),
            Kind::Short => Value::Number(i64::from(rest.number()? as i16)),
            Kind::Int => Value::Number(i64::from(rest.number()? as i32)),
            Kind::Long => Value::Number(rest.number()?),
            Kind::Float => Value::Real(f64::from(f32::from_be_bytes(rest.take(4)?.try_into().ok()?))),
            Kind::Double => Value::Real(f64::from_be_bytes(rest.take(8)?.try_into().ok()?)),
            Kind::Text => {
                let before = rest.0;
                skip_text(rest)?;
                Value::Text(before.get(..before.len() - rest.0.len())?)
            }
            Kind::Constant(class) => Value::Constant(class, rest.number()?),
            Kind::Struct(class) => {
                let before = rest.0;
                self.skip_class(class, rest)?;
                Value::Struct(class, before.get(..before.len() - rest.0.len())?)
            }
            Kind::Unknown => return None,
        })
    }

    /// The events of classes that are known.
    pub(super) fn events(&self) -> impl Iterator<Item = Event<'a>> + '_ {
        let known = move |event: Result<(i64, &'a [u8]), usize>| {
            let (kind, fields) = event.ok()?;
            Some(Event { class: self.types.by_id(kind)?, fields })
        };
        Raw { all: self.events, at: 0 }.filter_map(known)
    }

    /// The class at a place.
    pub(super) fn class(&self, at: usize) -> Option<&Class> {
        self.types.classes.get(at)
    }

    /// Puts the values of those fields that `wanted` has a place for into `values`. `None` where the event is damaged.
    pub(super) fn fill(&self, event: &Event<'a>, wanted: &[Option<usize>], values: &mut [Value<'a>]) -> Option<()> {
        values.fill(Value::Missing);
        let class = self.types.classes.get(event.class).filter(|class| class.sound)?;
        let mut rest = Bytes(event.fields);
        for (field, place) in class.fields.iter().zip(wanted) {
            let value = self.value(field, &mut rest)?;
            if let Some(slot) = place.and_then(|at| values.get_mut(at)) {
                *slot = value;
            }
        }
        Some(())
    }

    /// A field of a constant or a struct, by its name.
    pub(super) fn field(&self, of: Value<'a>, name: &str) -> Value<'a> {
        self.find(of, |field| field.name == name).unwrap_or(Value::Missing)
    }

    fn find(&self, of: Value<'a>, is: impl Fn(&Field) -> bool) -> Option<Value<'a>> {
        let (class, bytes) = match of {
            Value::Struct(class, bytes) => (class, bytes),
            Value::Constant(class, number) => {
                let at = *self.constants.get(class)?.get(&number)?;
                (class, self.events.get(at as usize..)?)
            }
            _ => return None,
        };
        if self.text_class == Some(class) {
            return Some(Value::Text(bytes));
        }
        let mut rest = Bytes(bytes);
        for field in &self.types.classes.get(class).filter(|class| class.sound)?.fields {
            let value = self.value(field, &mut rest)?;
            if is(field) {
                return Some(value);
            }
        }
        None
    }

    /// What a value says in a word: the text itself, or that of the first field of a constant. Names of causes, states, symbols are so.
    pub(super) fn word(&self, value: Value<'a>) -> Option<String> {
        let mut value = value;
        // A symbol is a text; what is further off is none of these.
        for _ in 0..4 {
            match value {
                Value::Text(bytes) => return self.text(bytes),
                Value::Constant(..) | Value::Struct(..) => value = self.find(value, |_| true)?,
                _ => return None,
            }
        }
        None
    }

    fn text(&self, bytes: &'a [u8]) -> Option<String> {
        let mut rest = Bytes(bytes);
        match *rest.take(1)?.first()? {
            1 => Some(String::new()),
            2 => {
                let at = *self.constants.get(self.text_class?)?.get(&rest.number()?)?;
                let constant = self.events.get(at as usize..)?;
                // A constant that is a constant would go on for ever.
                (constant.first() != Some(&2)).then(|| self.text(constant))?
            }
            3 => {
                let length = usize::try_from(rest.number()?).ok()?;
                let bytes = rest.take(length)?;
                Some(String::from_utf8_lossy(bytes.get(..LONGEST).unwrap_or(bytes)).into_owned())
            }
            4 => {
                let length = usize::try_from(rest.number()?).ok()?;
                let mut chars = Vec::new();
                for _ in 0..length.min(LONGEST) {
                    chars.push(rest.number()? as u16);
                }
                Some(String::from_utf16_lossy(&chars))
            }
            5 => {
                let length = usize::try_from(rest.number()?).ok()?;
                Some(rest.take(length)?.iter().take(LONGEST).map(|b| char::from(*b)).collect())
            }
            _ => None,
        }
    }

    /// The first element of a list.
    pub(super) fn first(&self, list: Value<'a>) -> Option<Value<'a>> {
        let Value::List(kind, 1.., bytes) = list else { return None };
        self.one(kind, &mut Bytes(bytes))
    }

    /// The elements of a list.
    pub(super) fn elements(&self, list: Value<'a>) -> Vec<Value<'a>> {
        let Value::List(kind, count, bytes) = list else { return Vec::new() };
        let mut rest = Bytes(bytes);
        (0..count).map_while(|_| self.one(kind, &mut rest)).collect()
    }
}

/// Passes over a text: its encoding, and what follows it.
fn skip_text(rest: &mut Bytes) -> Option<()> {
    match *rest.take(1)?.first()? {
        0 | 1 => {}
        2 => drop(rest.number()?),
        3 | 5 => {
            let length = usize::try_from(rest.number()?).ok()?;
            rest.take(length)?;
        }
        4 => {
            for _ in 0..rest.number()? {
                rest.number()?;
            }
        }
        _ => return None,
    }
    Some(())
}
