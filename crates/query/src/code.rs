//! The code of some stacks of a recording: their frames, by name.

use crate::Run;
use crate::profile::unresolved;
use lexicon::Roles;
use model::{NULL, Symbols};
use std::collections::{HashMap, HashSet};

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is called; where it has no name, after its file.
    pub name: String,
    /// The file it is in; `[kernel]`, `[jit]` …
    pub module: String,
    /// File and line, empty where they are not known.
    pub source: String,
    /// As in the table `frame`: native, inlined, jit, interpreted, kernel …
    pub kind: String,
    /// Of a JVM's method how it ran: 0 interpreted, 1 to 3 compiled by C1, 4 by C2.
    pub tier: Option<u8>,
}

/// The functions of some stacks.
pub(crate) struct Code {
    /// By stack: its caller's stack, and its frame.
    stacks: HashMap<i64, (i64, i64)>,
    /// By frame, with the roles of its name.
    frames: HashMap<i64, (Frame, Roles)>,
}

impl Code {
    pub(crate) fn load(run: &Run, wanted: impl Iterator<Item = i64>) -> Self {
        let (mut all, mut symbols) = (HashMap::new(), Symbols::default());
        run.recording.scan("stack", &["number", "parent", "frame"], None, &mut symbols, |batch| {
            for row in 0..batch.len() {
                let [number, parent, frame] = [0, 1, 2].map(|c| batch.cell(c, row));
                all.insert(number, (parent, frame));
            }
        });
        let mut stacks = HashMap::new();
        for mut at in wanted {
            // A circle, which a damaged table may have, ends where it was before.
            while let Some(&stack) = all.get(&at)
                && stacks.insert(at, stack).is_none()
            {
                at = stack.0;
            }
        }
        let used: HashSet<i64> = stacks.values().map(|&(_, frame)| frame).filter(|frame| *frame != NULL).collect();
        let (mut frames, mut symbols) = (HashMap::new(), Symbols::default());
        let columns = ["number", "function", "module", "source", "kind", "tier"];
        run.recording.scan("frame", &columns, None, &mut symbols, |batch| {
            for row in (0..batch.len()).filter(|&row| used.contains(&batch.cell(0, row))) {
                let text = |column| batch.symbols.text(batch.cell(column, row)).unwrap_or("");
                let frame = Frame {
                    name: if text(1).is_empty() { unresolved(text(2)) } else { text(1).to_owned() },
                    module: text(2).to_owned(),
                    source: text(3).to_owned(),
                    kind: text(4).to_owned(),
                    tier: u8::try_from(batch.cell(5, row)).ok(),
                };
                let roles = lexicon::roles(&frame.name, &frame.module, &frame.kind);
                frames.insert(batch.cell(0, row), (frame, roles));
            }
        });
        Code { stacks, frames }
    }

    /// The frames of a stack with their roles, innermost first.
    fn way(&self, stack: i64) -> Vec<&(Frame, Roles)> {
        let (mut at, mut way, mut steps) = (stack, Vec::new(), 0);
        while let Some(&(parent, frame)) = self.stacks.get(&at).filter(|_| steps <= self.stacks.len()) {
            way.extend(self.frames.get(&frame));
            at = parent;
            steps += 1;
        }
        way
    }

    /// The frames of a stack, innermost first.
    pub(crate) fn frames(&self, stack: i64) -> Vec<Frame> {
        self.way(stack).into_iter().map(|(frame, _)| frame.clone()).collect()
    }

    /// The function that runs in a stack: the innermost one that is no library of the system; in the kernel alone, the innermost.
    pub(crate) fn running(&self, stack: i64) -> Option<String> {
        let way = self.way(stack);
        let frame = lexicon::running(way.iter().map(|(frame, roles)| (*roles, frame.kind.as_str()))).unwrap_or(0);
        way.get(frame).map(|(frame, _)| frame.name.clone())
    }
}
