//! Methods: what they are called, and which line a place in their bytecode is of.

use super::layout::{Field, Layout};
use super::numbers::{line_of, lines};
use super::{Memory, Trouble};
use crate::hotspot::name;
use std::sync::Arc;

/// A table of lines is read in such stretches, up to so much.
const LINES: [usize; 3] = [256, 4096, 64 << 10];

/// A method.
#[derive(Clone, Debug)]
pub(super) struct Method {
    /// What never changes of it while it is there: another may come to lie in the same place.
    pub constant: u64,
    /// `com.example.Report.add`.
    pub name: Arc<str>,
    /// Its source file; empty where it has none.
    file: Arc<str>,
    /// The addresses of its bytecode.
    pub bytecode: std::ops::Range<u64>,
    lines: Vec<(u16, u16)>,
}

impl Method {
    /// The method at an address; `None` where there is none.
    pub fn read(memory: &impl Memory, layout: &Layout, address: u64) -> Result<Option<Self>, Trouble> {
        let fields = &layout.method;
        if !address.is_multiple_of(8) {
            return Ok(None);
        }
        let Some(constant) = memory.word(address.wrapping_add(fields.constant))?.filter(|at| at.is_multiple_of(8))
        else {
            return Ok(None);
        };
        let mut bytes = vec![0; fields.size as usize];
        if memory.some(constant, &mut bytes)? < bytes.len() {
            return Ok(None);
        }
        let of = |field: Field| field.of(&bytes);
        let (Some(pool), Some(name), Some(size)) = (of(fields.constants), of(fields.name), of(fields.code_size)) else {
            return Ok(None);
        };
        let name = symbol_of_pool(memory, layout, pool, name)?.and_then(|name| name::field(&name));
        let Some(name) = name else { return Ok(None) };
        let Some(class) = memory.word(pool.wrapping_add(fields.holder))? else { return Ok(None) };
        let class_name = match memory.word(class.wrapping_add(fields.class_name))? {
            Some(place) => symbol(memory, layout, place)?.and_then(|name| name::class(&name)),
            None => None,
        };
        let Some(class_name) = class_name else { return Ok(None) };
        let file = file(memory, layout, pool, class)?;
        let begin = constant.wrapping_add(fields.size);
        let end = begin.wrapping_add(size);
        let has_lines = fields.flags.and_then(of).is_some_and(|flags| flags & fields.has_lines != 0);
        let lines = if has_lines { read_lines(memory, layout, end)? } else { Vec::new() };
        let name = format!("{}.{name}", name::alike(&class_name)).into();
        Ok(Some(Method { constant, name, file: file.into(), bytecode: begin..end, lines }))
    }

    /// `Report.java:17`; without a line where that is not known.
    pub fn source(&self, bytecode: Option<u32>) -> Option<String> {
        if self.file.is_empty() {
            return None;
        }
        let line = bytecode.and_then(|at| line_of(&self.lines, at));
        Some(line.map_or_else(|| self.file.to_string(), |line| format!("{}:{line}", self.file)))
    }

    /// Where in its bytecode an address lies.
    pub fn place(&self, address: u64) -> Option<u32> {
        let at = self.bytecode.contains(&address).then(|| address - self.bytecode.start)?;
        u32::try_from(at).ok()
    }
}

fn read_lines(memory: &impl Memory, layout: &Layout, from: u64) -> Result<Vec<(u16, u16)>, Trouble> {
    for length in LINES {
        let mut bytes = vec![0; length];
        let read = memory.some(from, &mut bytes)?;
        if let Some(lines) = lines(bytes.get(..read).unwrap_or_default(), layout.excluded) {
            return Ok(lines);
        }
        if read < length {
            break;
        }
    }
    Ok(Vec::new())
}

/// The name of the source file of a class, as its compiler kept it.
fn file(memory: &impl Memory, layout: &Layout, pool: u64, class: u64) -> Result<String, Trouble> {
    let fields = &layout.method;
    let index = [(fields.file_of_pool, pool), (fields.file_of_class, class)];
    for (at, field, from) in index.into_iter().filter_map(|(field, from)| Some((field?.at, field?, from))) {
        let length = field.end().saturating_sub(at) as usize;
        let mut bytes = vec![0; length];
        if memory.some(from.wrapping_add(at), &mut bytes)? < length {
            continue;
        }
        let index = field.at_start().of(&bytes).unwrap_or(0);
        if index != 0
            && let Some(file) = symbol_of_pool(memory, layout, pool, index)?
            && let Some(file) = name::file(&file)
        {
            return Ok(file);
        }
    }
    Ok(String::new())
}

/// A name by its number in a pool of constants.
fn symbol_of_pool(memory: &impl Memory, layout: &Layout, pool: u64, index: u64) -> Result<Option<Vec<u8>>, Trouble> {
    let place = pool.wrapping_add(layout.method.pool_size).wrapping_add(index.wrapping_mul(8));
    // The lowest bit may be a mark.
    memory.word(place)?.map_or(Ok(None), |place| symbol(memory, layout, place & !1))
}

fn symbol(memory: &impl Memory, layout: &Layout, address: u64) -> Result<Option<Vec<u8>>, Trouble> {
    /// Most names are shorter.
    const SHORT: usize = 96;
    let fields = &layout.method;
    let head = (fields.symbol_body as usize).min(64);
    let mut bytes = vec![0; head + SHORT];
    if address < 4096 {
        return Ok(None);
    }
    let read = memory.some(address, &mut bytes)?;
    bytes.truncate(read);
    let Some(length) = fields.symbol_length.of(&bytes) else { return Ok(None) };
    let length = usize::from((length >> fields.symbol_shift) as u16);
    if bytes.len() < head + length {
        bytes.resize(head + length, 0);
        if memory.some(address, &mut bytes)? < bytes.len() {
            return Ok(None);
        }
    }
    Ok(bytes.get(head..head + length).map(<[u8]>::to_vec))
}
