//! Which methods a place in compiled code is of: the compiler's notes of them (`pcDesc.hpp`, `scopeDesc.hpp`). Notes are kept for places where a frame can be
//! found by the JVM: calls and polls. Between them the next one is taken, which is the same method in most cases; the outermost is always right.

use super::cache::Header;
use super::layout::{Layout, Methods, Scopes};
use super::numbers::Numbers;
use super::{Memory, Trouble};

/// Places of one method, and methods at one place: more are not looked at.
const MOST_PLACES: u64 = 1 << 18;
const MOST_DEEP: usize = 64;
/// Of a scope so much is read; the rest of it, its values, is of no interest.
const SCOPE: usize = 32;

/// A method at a place, and where in its bytecode; `None` where the notes do not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scope {
    pub method: u64,
    pub bytecode: Option<u32>,
}

/// Where the notes of a method are.
struct Notes {
    places: u64,
    end: u64,
    texts: u64,
    methods: u64,
}

fn notes(layout: &Layout, header: &Header) -> Option<Notes> {
    let of = |field: super::layout::Field| field.of(&header.bytes);
    let inside = |offset: u64| header.start.wrapping_add(offset);
    Some(match &layout.compiled.scopes {
        Scopes::Inside { places, end, texts, texts_are_address, methods } => Notes {
            places: inside(of(*places)?),
            end: inside(of(*end)?),
            texts: if *texts_are_address { of(*texts)? } else { inside(of(*texts)?) },
            methods: inside(of(*methods)?),
        },
        Scopes::Outside { data, places, texts, methods } => {
            let data = of(*data)?;
            let texts = data.wrapping_add(of(*texts)?);
            let methods = match methods {
                Methods::Block { data, at } => inside(of(*data)?).wrapping_add(of(*at)?),
                Methods::Piece { data, before } => of(*data)?.wrapping_add(of(*before)?),
            };
            Notes { places: data.wrapping_add(of(*places)?), end: texts, texts, methods }
        }
    })
}

/// The methods at an address, innermost first; none where there are no notes. And whether the address is one that has notes of its own.
pub(super) fn at(
    memory: &impl Memory,
    layout: &Layout,
    header: &Header,
    address: u64,
) -> Result<(Vec<Scope>, bool), Trouble> {
    let Some(notes) = notes(layout, header) else { return Ok((Vec::new(), false)) };
    let Some((text, is_exact)) = place(memory, layout, &notes, address.wrapping_sub(header.code))? else {
        return Ok((Vec::new(), false));
    };
    let (mut found, mut text) = (Vec::new(), text);
    while found.len() < MOST_DEEP {
        let mut bytes = [0; SCOPE];
        let read = memory.some(notes.texts.wrapping_add(u64::from(text)), &mut bytes)?;
        let mut numbers = Numbers::new(bytes.get(..read).unwrap_or_default(), layout.excluded);
        let (Some(sender), Some(method), Some(bytecode)) = (numbers.unsigned(), numbers.unsigned(), numbers.unsigned())
        else {
            break;
        };
        let Some(number) = method.checked_sub(1) else { break };
        let Some(method) = memory.word(notes.methods.wrapping_add(u64::from(number) * 8))? else { break };
        // It is kept with one added; what comes before the first bytecode is -1.
        found.push(Scope { method, bytecode: Some(bytecode.saturating_sub(1)) });
        // A scope is written after the one around it.
        match sender {
            0 => return Ok((found, is_exact)),
            sender if sender < text => text = sender,
            _ => break,
        }
    }
    Ok((Vec::new(), is_exact))
}

/// The scope of the first place at or behind an offset of the code, and whether it is at.
fn place(memory: &impl Memory, layout: &Layout, notes: &Notes, offset: u64) -> Result<Option<(u32, bool)>, Trouble> {
    let Ok(offset) = i64::try_from(offset) else { return Ok(None) };
    let size = layout.place_size;
    let count = notes.end.saturating_sub(notes.places) / size;
    if count == 0 || count > MOST_PLACES {
        return Ok(None);
    }
    let mut bytes = vec![0; (count * size) as usize];
    let read = memory.some(notes.places, &mut bytes)?;
    let mut places: Vec<&[u8]> = Vec::with_capacity(count as usize);
    places.extend(bytes.get(..read).unwrap_or_default().chunks_exact(size as usize));
    let code = |place: &&[u8]| layout.place_code.of(place).map_or(i64::MAX, |code| code as i64);
    let first = places.partition_point(|place| code(place) < offset);
    let Some(place) = places.get(first) else { return Ok(None) };
    let scope = layout.place_scope.of(place).and_then(|scope| u32::try_from(scope).ok()).filter(|&scope| scope != 0);
    Ok(scope.map(|scope| (scope, code(place) == offset)))
}
