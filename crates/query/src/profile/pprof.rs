//! pprof's profile.proto (github.com/google/pprof, proto/profile.proto) as bytes, uncompressed. Written by hand: of the format only eight messages are needed.

use super::tree::Tree;
use std::collections::HashMap;

/// A message of Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding).
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    fn number(&mut self, field: u64, n: u64) {
        if n != 0 {
            self.varint(field << 3);
            self.varint(n);
        }
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u64, build: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        build(&mut inner);
        self.bytes(field, &inner.0);
    }

    fn packed(&mut self, field: u64, numbers: impl Iterator<Item = u64>) {
        let mut inner = Message::default();
        numbers.for_each(|n| inner.varint(n));
        self.bytes(field, &inner.0);
    }
}

/// Strings of a profile by number; 0 is the empty one.
#[derive(Default)]
struct Strings {
    by_text: HashMap<String, u64>,
    texts: Vec<String>,
}

impl Strings {
    fn of(&mut self, text: &str) -> u64 {
        if text.is_empty() {
            return 0;
        }
        if let Some(&at) = self.by_text.get(text) {
            return at;
        }
        self.texts.push(text.to_owned());
        let at = self.texts.len() as u64;
        self.by_text.insert(text.to_owned(), at);
        at
    }
}

/// The tree as a profile with one value type for each run. `runs` are their names, `what` says what is weighed, `scale` turns weights into whole numbers of `unit`
/// ("nanoseconds", "count"). Levels above the code (processes, threads) are locations too, so that they show.
pub fn pprof(tree: &Tree, runs: &[String], what: &str, unit: &str, scale: f64) -> Vec<u8> {
    let mut strings = Strings::default();
    let mut out = Message::default();
    for run in runs {
        let kind = if runs.len() == 1 { what.to_owned() } else { format!("{what}: {run}") };
        let (kind, unit) = (strings.of(&kind), strings.of(unit));
        out.message(1, |m| {
            m.number(1, kind);
            m.number(2, unit);
        });
    }
    for node in 1..tree.len() as u32 {
        let values: Vec<i64> = (0..tree.runs())
            .map(|run| (tree.own(run).get(node as usize).copied().unwrap_or(0.0) * scale).round() as i64)
            .collect();
        if values.iter().all(|v| *v == 0) {
            continue;
        }
        let path = tree.path(node);
        out.message(2, |m| {
            m.packed(1, path.iter().rev().map(|&frame| u64::from(frame) + 1));
            m.packed(2, values.iter().map(|&v| v as u64));
        });
    }
    let mut mappings: HashMap<&str, u64> = HashMap::new();
    for frame in tree.frames().iter().filter(|f| !f.module.is_empty()) {
        let next = mappings.len() as u64 + 1;
        if let std::collections::hash_map::Entry::Vacant(entry) = mappings.entry(&frame.module) {
            entry.insert(next);
            let file = strings.of(&frame.module);
            out.message(3, |m| {
                m.number(1, next);
                m.number(5, file);
                m.number(7, 1);
            });
        }
    }
    for (index, frame) in (1..).zip(tree.frames()) {
        let (file, line) = match frame.source.rsplit_once(':') {
            Some((file, line)) => (file, line.parse().unwrap_or(0)),
            None => (&*frame.source, 0u64),
        };
        out.message(4, |m| {
            m.number(1, index);
            m.number(2, mappings.get(&*frame.module).copied().unwrap_or(0));
            m.message(4, |m| {
                m.number(1, index);
                m.number(2, line);
            });
        });
        let (name, file) = (strings.of(&frame.name), strings.of(file));
        out.message(5, |m| {
            m.number(1, index);
            m.number(2, name);
            m.number(3, name);
            m.number(4, file);
        });
    }
    out.bytes(6, b"");
    for text in &strings.texts {
        out.bytes(6, text.as_bytes());
    }
    out.0
}
