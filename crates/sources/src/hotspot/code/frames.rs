//! What is said of frames of a JVM's code, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

/// So many different frames are kept.
const MOST: usize = 1 << 20;

/// How a method is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Run {
    Interpreted,
    Compiled,
    /// As a part of the method that called it.
    Inlined,
    /// No method: code of the JVM itself, such as what copies arrays.
    Stub,
    /// No code: the class of which an object is allocated, inside the method that does.
    Class,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct JavaFrame {
    /// `com.example.Report.add`, or how the JVM calls its own code; `None` where that is not known.
    pub function: Option<Arc<str>>,
    /// `Report.java:17`.
    pub source: Option<Arc<str>>,
    pub run: Run,
    /// 0 interpreted, 1 to 3 C1, 4 C2; `None` for what has none.
    pub tier: Option<u8>,
    /// Whether it is in a loop that waits.
    pub spins: bool,
}

/// All of a recording, by number.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    known: HashMap<JavaFrame, u32>,
    frames: Vec<JavaFrame>,
}

impl Frames {
    /// The number of a frame; of those that find no room, that of the last.
    pub fn number(&mut self, frame: JavaFrame) -> u32 {
        let next = self.frames.len();
        if let Some(&known) = self.known.get(&frame) {
            return known;
        }
        if next >= MOST {
            return (MOST - 1) as u32;
        }
        self.frames.push(frame.clone());
        self.known.insert(frame, next as u32);
        next as u32
    }

    /// The frame of a number.
    pub fn get(&self, number: u32) -> Option<&JavaFrame> {
        self.frames.get(number as usize)
    }
}
