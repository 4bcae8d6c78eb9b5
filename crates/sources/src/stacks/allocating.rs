//! Stacks on which a JVM allocates an object.

use super::intern::cell;
use super::process::Processes;
use super::trie::Place;
use super::{Stacks, State, User};
use crate::hotspot::{JavaFrame, Run};
use std::sync::Arc;

impl Processes {
    /// Whether a place is code of a JVM itself.
    fn is_of_jvm(&self, place: Place) -> bool {
        match place {
            Place::Java(frame) => self.java_frames.get(frame).is_some_and(|frame| frame.run == Run::Stub),
            Place::Module(number, _) => {
                self.modules.get(number).is_some_and(|known| known.identity.path.ends_with("/libjvm.so"))
            }
            _ => false,
        }
    }

    /// Leaves out of a stack what the JVM calls in itself to allocate, if there is a method that it does that for.
    fn leave_out(&self, places: &mut Vec<Place>) {
        let inside = places.iter().take_while(|place| self.is_of_jvm(**place)).count();
        let is_method = |place: &Place| matches!(place, Place::Java(_)) && !self.is_of_jvm(*place);
        if places.iter().any(is_method) {
            places.drain(..inside);
        }
    }
}

impl Stacks {
    /// The cell of the number of a stack on which a JVM allocates an object. Its innermost frame is the class, where that is known; what the JVM calls in
    /// itself for that is left out.
    pub(crate) fn allocating(&self, pid: u32, user: User<'_>, class: Option<&str>) -> i64 {
        let mut state = self.placed(pid, &[], user);
        let State { trie, processes, places, .. } = &mut *state;
        processes.leave_out(places);
        if let Some(class) = class {
            let function = Some(Arc::from(class));
            let frame = JavaFrame { function, source: None, run: Run::Class, tier: None, spins: false };
            places.insert(0, Place::Java(processes.java_frames.number(frame)));
        }
        cell(trie.stack(places.iter().rev().copied()))
    }
}
