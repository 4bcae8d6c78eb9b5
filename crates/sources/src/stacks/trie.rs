//! The trie of frames: a stack is its innermost frame and the stack of its caller, so that stacks which begin alike share what they share.
//!
//! Stacks are numbered as they come, long before their frames have names. Until then a frame is told by its place in its file, so that a
//! recording that is cut off can be named later. A place in code may turn out to stand for several frames, where the compiler put one function
//! into another; its stack then becomes several rows, of which the innermost has the number that was given out. Of rows of one number, the last counts.
//!
//! A recording of days meets more stacks than memory or its file can hold. A flight recorder therefore begins a new trie when one has grown
//! ([`Trie::renew`]): numbers go on, and what is still in use is numbered once more, so that the rows of the trie before can go with the
//! last rows that refer to them.

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

/// Where a trie may be renewed, it is when it has so many stacks.
const RENEWED: usize = 1 << 17;

/// Numbers that a trie before may still give out, to functions that were put into others, when the next has begun.
const RESERVED: u32 = 1 << 20;

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
    /// The number of its first site.
    first_site: u32,
    /// How often it was renewed, and the one before, whose names may still come.
    renewals: u32,
    before: Option<Box<Trie>>,
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
            let next = self.first_site.wrapping_add(self.places.len() as u32);
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
        let mut sites = self.before.as_mut().map_or_else(Vec::new, |before| before.new_sites());
        let from = std::mem::replace(&mut self.given, self.places.len());
        let numbers = (from as u32..).map(|at| self.first_site.wrapping_add(at));
        sites.extend(numbers.zip(self.places.iter().skip(from).copied()));
        sites
    }

    /// Whether it has grown so that it should be renewed where it may be.
    pub(super) fn is_grown(&self) -> bool {
        self.stacks.len() >= RENEWED
    }

    /// How often it was renewed.
    pub(super) fn renewals(&self) -> u32 {
        self.renewals
    }

    /// Begins anew: what comes from now on has other numbers than before. Names of what came before are still taken, until
    /// [`Trie::forget_before`].
    pub(super) fn renew(&mut self) {
        // Numbers begin again at 1 in time: nothing that a flight recorder still holds has one of those.
        let after = |last: u32| if last > u32::MAX / 2 { 0 } else { last + RESERVED };
        let next = Trie {
            last_stack: after(self.last_stack),
            last_frame: after(self.last_frame),
            first_site: self.first_site.wrapping_add(self.places.len() as u32),
            renewals: self.renewals.wrapping_add(1),
            refused: self.refused,
            ..Trie::default()
        };
        let mut before = std::mem::replace(self, next);
        before.before = None;
        self.before = Some(Box::new(before));
    }

    /// Lets go what there was before it was renewed.
    pub(super) fn forget_before(&mut self) {
        self.before = None;
    }

    /// The numbers that stacks of before it was renewed have now; 0 for what is not known any more.
    pub(super) fn renewed(&mut self, stacks: impl Iterator<Item = u32>) -> Vec<u32> {
        let Some(before) = self.before.take() else { return stacks.map(|_| 0).collect() };
        let nodes: HashMap<u32, (u32, u32)> = before.stacks.iter().map(|(node, number)| (*number, *node)).collect();
        let mut places = Vec::new();
        let renewed = stacks.map(|mut stack| {
            places.clear();
            while let Some(&(parent, site)) = nodes.get(&stack) {
                places.extend(before.places.get(site.wrapping_sub(before.first_site) as usize));
                stack = parent;
            }
            self.stack(places.iter().rev().copied())
        });
        let renewed = renewed.collect();
        self.before = Some(before);
        renewed
    }

    /// The frames of a site, innermost first; none as long as they are not known, or where it is another trie's.
    fn frames_of(&self, site: u32) -> Option<&Vec<u32>> {
        self.frames.get(site.wrapping_sub(self.first_site) as usize)
    }

    /// Says what a site is: its frames, innermost first, of which the last is the function that the machine was in. The first word stands.
    pub(super) fn name(&mut self, site: u32, rows: Vec<Row>) {
        if self.frames_of(site).is_none()
            && let Some(before) = &mut self.before
        {
            return before.name(site, rows);
        }
        if self.frames_of(site).is_none_or(|frames| !frames.is_empty()) {
            return;
        }
        let meanwhile = self.meanwhile.remove(&site);
        let named: Vec<u32> = rows.into_iter().map(|row| self.frame(row, meanwhile)).collect();
        if let Some(frames) = self.frames.get_mut(site.wrapping_sub(self.first_site) as usize) {
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
        let (mut rows, mut stacks) = (Vec::new(), Vec::new());
        if let Some(before) = &mut self.before {
            (rows, stacks) = before.take(&meanwhile as &dyn Fn(Place) -> Option<Row>);
        }
        let mut last = self.last_stack;
        let mut unsent = std::mem::take(&mut self.unsent);
        unsent.retain_mut(|unsent| {
            let frames = self.frames_of(unsent.site).map_or(&[][..], Vec::as_slice);
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
        rows.append(&mut self.rows);
        (rows, stacks)
    }

    /// The frame of a site that has no name yet; 0 where nothing is known of it.
    fn frame_meanwhile(&mut self, site: u32, known: impl Fn(Place) -> Option<Row>) -> u32 {
        if let Some(&frame) = self.meanwhile.get(&site) {
            return frame;
        }
        let Some(row) = self.places.get(site.wrapping_sub(self.first_site) as usize).and_then(|&place| known(place))
        else {
            return 0;
        };
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

    #[test]
    fn a_renewed_trie_numbers_again_what_is_in_use() {
        let mut trie = Trie::default();
        let place = Place::Unknown;
        let stack = trie.stack([1, 2, 3].map(place).into_iter());
        let (before, sites) = (trie.take(|_| None).1, trie.new_sites());
        assert_eq!((stack, before.len(), sites.len()), (3, 0, 3));
        trie.renew();
        // What comes later has another number, and so has what is held.
        let again = trie.stack([1, 2].map(place).into_iter());
        assert!(again > RESERVED);
        let held = trie.renewed([stack, 99].into_iter());
        assert_eq!((held[1], trie.stack([1, 2, 3].map(place).into_iter())), (0, held[0]));
        assert!(held[0] > RESERVED);
        // Names of places of before still go to the stacks of before, and those of now to those of now.
        trie.name(sites[0].0, vec![row("inner"), row("outer")]);
        let new = trie.new_sites();
        assert_eq!((new.len(), new[0].0), (3, 3));
        trie.name(new[0].0, vec![row("main")]);
        let (frames, stacks) = trie.take(|_| None);
        assert_eq!(
            frames.iter().map(|(_, r)| r.function.as_deref().unwrap()).collect::<Vec<_>>(),
            ["inner", "outer", "main"]
        );
        assert_eq!((stacks.len(), stacks[0].0, stacks[1].0), (3, 1, 4), "{stacks:?}");
        assert_eq!(stacks[2], (again - 1, 0, frames[2].0));
        trie.forget_before();
        trie.name(sites[1].0, vec![row("late")]);
        assert_eq!(trie.take(|_| None), (vec![], vec![]), "too late: its place in its file is known");
    }

    /// An hour of a machine on which 1,500 stacks a second come up that nobody has seen before, and ten that always do.
    #[test]
    fn an_hour_of_new_stacks_reaches_a_plateau() {
        let mut trie = Trie::default();
        let (mut most, mut renewals, mut always) = (Vec::new(), 0, Vec::new());
        for second in 0..3_600u64 {
            for stack in 0..1_500 {
                trie.stack([Place::Module(0, 1), Place::Module(1, second * 1_500 + stack)].into_iter());
            }
            if trie.renewals() != renewals {
                renewals = trie.renewals();
                always = trie.renewed(always.into_iter());
            } else if second == 0 {
                always = (0..10).map(|at| trie.stack([Place::Kernel(at)].into_iter())).collect();
            }
            assert!(always.iter().all(|&stack| stack != 0));
            for (site, _) in trie.new_sites() {
                trie.name(site, vec![row("f")]);
            }
            trie.take(|_| None);
            if trie.is_grown() {
                trie.renew();
            } else if second % 20 == 0 {
                trie.forget_before();
            }
            most.push(trie.stacks.len() + trie.before.as_ref().map_or(0, |before| before.stacks.len()));
        }
        assert!(renewals > 30 && trie.refused == 0, "{renewals}");
        assert!(most.iter().all(|&stacks| stacks <= 2 * (RENEWED + 1_511)), "{:?}", most.iter().max());
    }
}
