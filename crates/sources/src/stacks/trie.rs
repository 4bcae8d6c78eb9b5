//! The trie of frames: a stack is its innermost frame and the stack of its caller, so that stacks which begin alike share what they share.
//!
//! Stacks are numbered as they come, long before their frames have names. Until then a frame is told by its place in its file, so that a
//! recording that is cut off can be named later. A place in code may turn out to stand for several frames, where the compiler put one function
//! into another; its stack then becomes several rows, of which the innermost has the number that was given out. Of rows of one number, the last counts.

use super::name::Row;
use std::collections::HashMap;

/// A place in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// An address of the kernel.
    Kernel(u64),
    /// A module by its number, and an address in its file.
    Module(u32, u64),
    /// Memory of a process (by its number here, see `Processes`) that no file stands for: code that was made while the program ran.
    Anonymous(u32, u64),
    /// The virtual library that the kernel maps into each process, and an offset in it.
    Vdso(u64),
    /// A frame of a JVM's code by its number, see `hotspot::Frames`.
    Java(u32),
    /// A Python function by its number, see `python::Functions`.
    Python(u32),
    /// An address of which nothing is known.
    Unknown(u64),
    /// The end of a stack that could not be followed to the start of its thread.
    Truncated,
}

/// So many stacks are kept; more are not told apart. A stack takes some 24 bytes.
const MOST: usize = 1 << 20;

/// A stack whose frames have no names yet.
#[derive(Clone, Copy, Debug)]
struct Unsent {
    stack: u32,
    parent: u32,
    site: u32,
    /// The frame that its row has meanwhile; 0 where no row is out.
    meanwhile: u32,
}

/// All stacks of a recording.
#[derive(Debug, Default)]
pub(super) struct Trie {
    /// Places by number, and back.
    sites: HashMap<Place, u32>,
    places: Vec<Place>,
    /// For each site its frames, innermost first; empty until they are known.
    frames: Vec<Vec<u32>>,
    stacks: HashMap<(u32, u32), u32>,
    /// The last number given to a stack, and to a frame.
    last_stack: u32,
    last_frame: u32,
    unsent: Vec<Unsent>,
    /// Frames that are not out yet.
    rows: Vec<(u32, Row)>,
    /// Sites whose frame is out as a mere place.
    meanwhile: HashMap<u32, u32>,
    /// Inlined frames and such without an address, which many sites share.
    shared: HashMap<Row, u32>,
    /// Stacks that found no room.
    pub(super) refused: u64,
    /// Sites below this one were given out by [`Trie::new_sites`].
    given: usize,
}

/// Number of a stack, that of its caller's stack or 0, and that of its frame.
pub(super) type StackRow = (u32, u32, u32);

impl Trie {
    /// The number of the stack whose frames are `places`, outermost first. 0 where there are none, or no room.
    pub(super) fn stack(&mut self, places: impl Iterator<Item = Place>) -> u32 {
        self.beneath(0, places)
    }

    /// The number of the stack whose frames are those of `stack`, and inside them `places`, outermost first.
    pub(super) fn beneath(&mut self, mut stack: u32, places: impl Iterator<Item = Place>) -> u32 {
        for place in places {
            let next = self.places.len() as u32;
            let site = *self.sites.entry(place).or_insert(next);
            if site == next {
                self.places.push(place);
                self.frames.push(Vec::new());
            }
            stack = match self.stacks.get(&(stack, site)) {
                Some(&known) => known,
                None if self.stacks.len() >= MOST => {
                    self.refused += 1;
                    return 0;
                }
                None => {
                    self.last_stack += 1;
                    self.stacks.insert((stack, site), self.last_stack);
                    self.unsent.push(Unsent { stack: self.last_stack, parent: stack, site, meanwhile: 0 });
                    self.last_stack
                }
            };
        }
        stack
    }

    /// The sites that came up since the last call, with their places.
    pub(super) fn new_sites(&mut self) -> Vec<(u32, Place)> {
        let from = std::mem::replace(&mut self.given, self.places.len());
        (from as u32..).zip(self.places.iter().skip(from).copied()).collect()
    }

    /// Says what a site is: its frames, innermost first, of which the last is the function that the machine was in. The first word stands.
    pub(super) fn name(&mut self, site: u32, rows: Vec<Row>) {
        if self.frames.get(site as usize).is_none_or(|frames| !frames.is_empty()) {
            return;
        }
        let meanwhile = self.meanwhile.remove(&site);
        let named: Vec<u32> = rows.into_iter().map(|row| self.frame(row, meanwhile)).collect();
        if let Some(frames) = self.frames.get_mut(site as usize) {
            *frames = named;
        }
    }

    /// The number of a frame; `before` is the one that its place has already. What has an address is a place of its own.
    fn frame(&mut self, row: Row, before: Option<u32>) -> u32 {
        let is_place = row.offset.is_some();
        let known = if is_place { before } else { self.shared.get(&row).copied() };
        let frame = known.unwrap_or_else(|| {
            self.last_frame += 1;
            self.last_frame
        });
        if is_place || known.is_none() {
            if !is_place {
                self.shared.insert(row.clone(), frame);
            }
            self.rows.push((frame, row));
        }
        frame
    }

    /// How many sites have no name yet.
    #[cfg(test)]
    fn unnamed(&self) -> usize {
        self.frames.iter().filter(|frames| frames.is_empty()).count()
    }

    /// Takes the rows that are ready: frames as (number, row), and stacks as (number, parent or 0, frame). A place without a name gets what `meanwhile` knows
    /// of it, if anything.
    pub(super) fn take(&mut self, meanwhile: impl Fn(Place) -> Option<Row>) -> (Vec<(u32, Row)>, Vec<StackRow>) {
        let mut stacks = Vec::new();
        let mut last = self.last_stack;
        let mut unsent = std::mem::take(&mut self.unsent);
        unsent.retain_mut(|unsent| {
            let frames = self.frames.get(unsent.site as usize).map_or(&[][..], Vec::as_slice);
            if frames.is_empty() {
                if unsent.meanwhile == 0 {
                    unsent.meanwhile = self.frame_meanwhile(unsent.site, &meanwhile);
                    if unsent.meanwhile != 0 {
                        stacks.push((unsent.stack, unsent.parent, unsent.meanwhile));
                    }
                }
                return true;
            }
            let mut stack = unsent.stack;
            for (at, &frame) in frames.iter().enumerate().filter(|_| frames != [unsent.meanwhile]) {
                let is_last = at + 1 == frames.len();
                if !is_last {
                    last += 1;
                }
                stacks.push((stack, if is_last { unsent.parent } else { last }, frame));
                stack = last;
            }
            false
        });
        (self.unsent, self.last_stack) = (unsent, last);
        (std::mem::take(&mut self.rows), stacks)
    }

    /// The frame of a site that has no name yet; 0 where nothing is known of it.
    fn frame_meanwhile(&mut self, site: u32, known: impl Fn(Place) -> Option<Row>) -> u32 {
        if let Some(&frame) = self.meanwhile.get(&site) {
            return frame;
        }
        let Some(row) = self.places.get(site as usize).and_then(|&place| known(place)) else { return 0 };
        let is_place = row.offset.is_some();
        let frame = self.frame(row, None);
        if is_place {
            self.meanwhile.insert(site, frame);
        }
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::name::{Kind, Maker};

    fn row(function: &str) -> Row {
        Row { function: Some(function.into()), ..Row::unresolved(None, Kind::Native) }
    }

    #[test]
    fn stacks_share_their_callers() {
        let mut trie = Trie::default();
        let place = Place::Unknown;
        let deep = trie.stack([1, 2, 3].map(place).into_iter());
        let other = trie.stack([1, 2, 4].map(place).into_iter());
        assert_eq!(trie.stack([1, 2, 3].map(place).into_iter()), deep);
        assert_eq!((trie.stack(std::iter::empty()), deep, other), (0, 3, 4));
        assert_eq!(trie.new_sites().len(), 4);
        assert_eq!(trie.new_sites(), []);
        trie.name(0, vec![row("main")]);
        // The second is two functions, one inside the other.
        trie.name(1, vec![row("inner"), row("outer")]);
        trie.name(1, vec![row("late")]);
        let (frames, stacks) = trie.take(|_| None);
        assert_eq!(
            frames.iter().map(|(n, r)| (*n, r.function.as_deref().unwrap())).collect::<Vec<_>>(),
            [(1, "main"), (2, "inner"), (3, "outer")]
        );
        assert_eq!(stacks, [(1, 0, 1), (2, 5, 2), (5, 1, 3)]);
        assert_eq!(trie.unnamed(), 2);
        trie.name(2, vec![row("leaf")]);
        trie.name(3, vec![row("inner")]);
        assert_eq!(trie.take(|_| None).1, [(3, 2, 4), (4, 2, 2)]);
        assert_eq!(trie.take(|_| None), (vec![], vec![]));
        assert_eq!(trie.stack([9].map(place).into_iter()), 6, "numbers are never given out twice");
    }

    #[test]
    fn a_place_is_told_before_it_has_a_name() {
        let at = |offset: u64, function: Option<&str>| Row {
            offset: Some(offset as i64),
            ..function.map_or(Row::unresolved(None, Kind::Native), row)
        };
        let known = |place| match place {
            Place::Module(_, offset) => Some(at(offset, None)),
            Place::Anonymous(..) => Some(Row::generated(Maker::Jvm)),
            _ => None,
        };
        let mut trie = Trie::default();
        let file = |offset| Place::Module(0, offset);
        trie.stack([file(16), file(32), Place::Anonymous(0, 48)].into_iter());
        trie.stack([Place::Kernel(64)].into_iter());
        let (frames, stacks) = trie.take(known);
        assert_eq!(frames, [(1, at(16, None)), (2, at(32, None)), (3, Row::generated(Maker::Jvm))]);
        assert_eq!(stacks, [(1, 0, 1), (2, 1, 2), (3, 2, 3)]);
        // The same place in another stack has the same frame.
        trie.stack([file(32)].into_iter());
        assert_eq!(trie.take(known), (vec![], vec![(5, 0, 2)]));

        // A name takes the place of the frame; where it turns out to be several, those of the stacks too.
        trie.name(0, vec![at(16, Some("main"))]);
        trie.name(1, vec![row("inner"), at(32, Some("outer"))]);
        trie.name(2, vec![row("method")]);
        let (frames, stacks) = trie.take(known);
        assert_eq!(
            frames,
            [(1, at(16, Some("main"))), (4, row("inner")), (2, at(32, Some("outer"))), (5, row("method"))]
        );
        assert_eq!(stacks, [(2, 6, 4), (6, 1, 2), (3, 2, 5), (5, 7, 4), (7, 0, 2)]);
        assert_eq!(trie.unnamed(), 1);
        assert_eq!(trie.take(known), (vec![], vec![]));
    }
}
