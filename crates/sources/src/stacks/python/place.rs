//! Puts the Python functions of a thread where they belong among the frames of its machine code.
//!
//! A function runs in a call of the interpreter's loop, and a call has room of its own on the stack. So the frame of machine code to which an address in that
//! room belongs is the one that runs the function, whatever it is called: no symbols are needed, nor does it matter that one call of the loop runs several
//! functions which call one another.

use crate::stacks::trie::Place;

/// The functions that one call of the interpreter's loop runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::stacks) struct Call {
    /// Numbers of functions, innermost first.
    pub functions: Vec<u32>,
    /// Whether outer ones were left out.
    pub left_out: bool,
    /// An address in that part of the stack which belongs to the call.
    pub at: u64,
}

impl Call {
    fn put(&self, into: &mut Vec<Place>) {
        into.extend(self.functions.iter().map(|&function| Place::Python(function)));
        if self.left_out && !self.functions.is_empty() {
            into.push(Place::Truncated);
        }
    }
}

/// Puts the functions of `calls`, innermost first, among `places`, which are innermost first too: those from `from` on are the program's, and `tops`
/// has the stack pointer of each. Calls that lie nowhere on the stack say that it is not the stack of this moment: then nothing is put.
pub(in crate::stacks) fn insert(places: &mut Vec<Place>, from: usize, tops: &[u64], calls: &[Call]) {
    let known = places.len().saturating_sub(from).min(tops.len());
    if calls.is_empty() || known == 0 {
        return;
    }
    let is_cut = places.last() == Some(&Place::Truncated);
    // The frame that each call has; `known` where it lies beyond what was followed.
    let mut owners = Vec::with_capacity(calls.len());
    for call in calls {
        let first = owners.last().copied().unwrap_or(0);
        let is_owner = |&at: &usize| {
            let (Some(top), next) = (tops.get(at), tops.get(at + 1)) else { return false };
            // Of the outermost frame it is not known where it ends, if it is not where the thread begins.
            *top <= call.at && next.map_or(at + 1 < known || !is_cut, |next| call.at < *next)
        };
        let beyond = tops.get(known - 1).is_some_and(|last| is_cut && *last <= call.at);
        match (first..known).find(is_owner) {
            Some(owner) => owners.push(owner),
            None if beyond => owners.push(known),
            None => return,
        }
    }
    let mut with = Vec::with_capacity(places.len() + calls.iter().map(|call| call.functions.len() + 1).sum::<usize>());
    with.extend(places.iter().take(from));
    let mut calls = owners.into_iter().zip(calls).peekable();
    let mut before = false;
    for (at, &place) in places.iter().skip(from).enumerate() {
        let mut runs = false;
        while let Some((_, call)) = calls.next_if(|(owner, _)| *owner == at && at < known) {
            call.put(&mut with);
            runs = true;
        }
        // What lies in no file where the loop or its caller should is perf's trampoline (python -X perf), of which there is one for each function.
        if !((runs || before) && matches!(place, Place::Anonymous(..))) {
            with.push(place);
        }
        before = runs;
    }
    calls.for_each(|(_, call)| call.put(&mut with));
    *places = with;
}

#[cfg(test)]
mod tests {
    use super::*;
    use Place::{Anonymous, Kernel, Module, Python, Truncated};
    use proptest::prelude::*;

    fn call(functions: &[u32], at: u64) -> Call {
        Call { functions: functions.to_vec(), left_out: false, at }
    }

    /// From the inside: a system call, what calls it, the loop (whose room is from 0x110 to 0x200), C code, the loop (from 0x280 to 0x400), `main`.
    fn native() -> (Vec<Place>, Vec<u64>) {
        let places = vec![Kernel(1), Module(0, 10), Module(0, 20), Module(0, 30), Module(0, 20), Module(0, 40)];
        (places, vec![0x100, 0x110, 0x200, 0x280, 0x400])
    }

    #[test]
    fn functions_lie_inside_the_loop_that_runs_them() {
        let (mut places, tops) = native();
        insert(&mut places, 1, &tops, &[call(&[1, 2], 0x1f8), call(&[3], 0x300)]);
        let expected = [
            Kernel(1),
            Module(0, 10),
            Python(1),
            Python(2),
            Module(0, 20),
            Module(0, 30),
            Python(3),
            Module(0, 20),
            Module(0, 40),
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn what_is_beyond_a_stack_that_was_cut_lies_outside() {
        let (mut places, mut tops) = native();
        places.truncate(4);
        places.push(Truncated);
        tops.truncate(3);
        insert(&mut places, 1, &tops, &[call(&[1], 0x1f8), call(&[3], 0x300)]);
        assert_eq!(places, [Kernel(1), Module(0, 10), Python(1), Module(0, 20), Module(0, 30), Truncated, Python(3)]);
    }

    #[test]
    fn a_call_that_is_not_on_the_stack_is_of_another_moment() {
        for at in [0, 0xff] {
            let (mut places, tops) = native();
            insert(&mut places, 1, &tops, &[call(&[1], at), call(&[3], 0x300)]);
            assert_eq!(places, native().0);
        }
        // Nor can the outer call lie inside of the inner one.
        let (mut places, tops) = native();
        insert(&mut places, 1, &tops, &[call(&[3], 0x300), call(&[1], 0x1f8)]);
        assert_eq!(places, native().0);
    }

    #[test]
    fn trampolines_of_perf_do_not_double_functions() {
        let (mut places, tops) = native();
        places[3] = Anonymous(0, 30);
        insert(&mut places, 1, &tops, &[call(&[1], 0x1f8), call(&[3], 0x300)]);
        let expected = [Kernel(1), Module(0, 10), Python(1), Module(0, 20), Python(3), Module(0, 20), Module(0, 40)];
        assert_eq!(places, expected);
        // Where the loop was passed over in unwinding, its trampoline has the room.
        let (mut places, tops) = native();
        places[4] = Anonymous(0, 30);
        insert(&mut places, 1, &tops, &[call(&[3], 0x300)]);
        assert_eq!(places[3..], [Module(0, 30), Python(3), Module(0, 40)]);
    }

    #[test]
    fn functions_that_were_left_out_are_marked() {
        let (mut places, tops) = native();
        insert(&mut places, 1, &tops, &[Call { left_out: true, ..call(&[1], 0x1f8) }]);
        assert_eq!(places[1..5], [Module(0, 10), Python(1), Truncated, Module(0, 20)]);
    }

    proptest! {
        /// Nothing of the machine code is lost or moved, and functions come in their order or not at all.
        #[test]
        fn machine_code_stays_as_it_was(
            tops in prop::collection::vec(0u64..64, 0..12),
            calls in prop::collection::vec((0u64..80, 0usize..4), 0..6),
            cut: bool,
            from in 0usize..3,
        ) {
            let mut places: Vec<Place> = (0..from as u64).map(Kernel).collect();
            places.extend((0..tops.len() as u64).map(|at| Module(0, at)));
            if cut {
                places.push(Truncated);
            }
            let before = places.clone();
            let mut number = 0;
            let calls: Vec<Call> = calls.into_iter().map(|(at, count)| {
                let functions = (0..count).map(|_| { number += 1; number }).collect();
                Call { functions, left_out: false, at }
            }).collect();
            insert(&mut places, from, &tops, &calls);
            let native: Vec<Place> = places.iter().copied().filter(|place| !matches!(place, Python(_))).collect();
            prop_assert_eq!(native, before);
            let functions: Vec<u32> = places.iter().filter_map(|place| if let Python(at) = place { Some(*at) } else { None }).collect();
            prop_assert!(functions.is_empty() || functions == (1..=number).collect::<Vec<_>>());
        }
    }
}
