//! Accesses to memory that the CPU sampled itself (PEBS, IBS, SPE): table `instruction_access`, put together by function and instruction.

use crate::Run;
use crate::assembly::{Dictionary, Function};
use model::{NULL, Symbols, Window};
use std::collections::BTreeMap;

/// How accesses of one instruction ended: where the data came from, and what other caches said.
pub type From = (String, String);

/// What one instruction did, of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// Its address: in the file, or in the process for code that it made.
    pub address: u64,
    /// load, store, atomic, load and store.
    pub kind: String,
    /// Samples.
    pub samples: u64,
    /// Of these, those of which the CPU told how long they took.
    pub timed: u64,
    /// Cycles that these took together.
    pub cycles: u64,
    /// Of that, cycles for the data, where the CPU tells them apart.
    pub memory: Option<u64>,
    /// Of that, cycles for the translation of addresses, where the CPU tells them apart.
    pub translation: Option<u64>,
    /// Samples by where the data came from.
    pub from: BTreeMap<From, u64>,
    /// Samples whose address was translated by a walk through the page tables; `None` where the CPU does not tell of any.
    pub walks: Option<u64>,
}

impl Sampled {
    /// Cycles of one.
    pub fn mean(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.cycles as f64 / self.timed as f64)
    }

    /// Where the data came from, in words, with the part of the samples, the most frequent first.
    pub fn origins(&self) -> Vec<(String, f64)> {
        let mut all: Vec<(&From, u64)> = self.from.iter().map(|(from, count)| (from, *count)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let words = |(level, snoop): &From| match snoop.as_str() {
            "modified" => format!("{level}, changed there"),
            "clean" => format!("{level}, unchanged there"),
            _ => level.clone(),
        };
        all.into_iter().map(|(from, count)| (words(from), count as f64 / self.samples.max(1) as f64)).collect()
    }
}

/// A function of which accesses were sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accessing {
    /// As its file or its maker calls it; `[unknown]` where nobody does.
    pub name: String,
    /// Path of its file; empty for code that a process made.
    pub module: String,
    /// Its instructions, by address, then kind.
    pub instructions: Vec<Sampled>,
}

impl Accessing {
    /// All samples.
    pub fn samples(&self) -> u64 {
        self.instructions.iter().map(|i| i.samples).sum()
    }

    /// Cycles that they took together, as far as the CPU told.
    pub fn cycles(&self) -> u64 {
        self.instructions.iter().map(|i| i.cycles).sum()
    }
}

/// What a recording has of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accesses {
    /// Functions, those whose accesses took most cycles first.
    pub functions: Vec<Accessing>,
}

impl Accesses {
    /// Reads it; `None` where the CPU has sampled none in the window.
    pub fn load(run: &Run, window: &Window) -> Option<Accesses> {
        run.recording.table("instruction_access")?;
        let dictionary = Dictionary::load(run);
        let columns = [
            "at",
            "stack",
            "address",
            "kind",
            "level",
            "snoop",
            "tlb",
            "samples",
            "timed",
            "latency",
            "memory",
            "translation",
        ];
        let between = Some((window.from, i64::MAX));
        let mut found: BTreeMap<(String, String), BTreeMap<(u64, String), Sampled>> = BTreeMap::new();
        run.recording.scan("instruction_access", &columns, between, &mut Symbols::default(), |batch| {
            for row in 0..batch.len() {
                let cell = |column: usize| batch.cell(column, row);
                let at = cell(0);
                if at == NULL || window.part(at, at) <= 0.0 || cell(2) == NULL {
                    continue;
                }
                let count = |column: usize| {
                    Some(cell(column)).filter(|cell| *cell != NULL).map(|n| u64::try_from(n).unwrap_or(0))
                };
                let text = |column: usize| batch.symbols.text(cell(column)).unwrap_or_default().to_owned();
                let frame =
                    dictionary.innermost(cell(1)).map(|(frame, _)| frame).or_else(|| dictionary.of_kernel(cell(1)));
                let name = frame.map_or("", |frame| frame.function.as_str());
                let name = if name.is_empty() { "[unknown]" } else { name };
                let key = (name.to_owned(), frame.map_or_else(String::new, |frame| frame.module.clone()));
                let (address, kind) = (cell(2) as u64, text(3));
                let of = found.entry(key).or_default().entry((address, kind.clone())).or_default();
                (of.address, of.kind) = (address, kind);
                let samples = count(7).unwrap_or(0);
                of.samples += samples;
                of.timed += count(8).unwrap_or(0);
                of.cycles += count(9).unwrap_or(0);
                for (sum, column) in [(&mut of.memory, 10), (&mut of.translation, 11)] {
                    if let Some(cycles) = count(column) {
                        *sum = Some(sum.unwrap_or(0) + cycles);
                    }
                }
                *of.from.entry((text(4), text(5))).or_default() += samples;
                let tlb = text(6);
                if tlb != "unknown" {
                    *of.walks.get_or_insert(0) += if tlb == "walk" { samples } else { 0 };
                }
            }
        });
        let mut functions: Vec<Accessing> = found
            .into_iter()
            .map(|((name, module), of)| Accessing { name, module, instructions: of.into_values().collect() })
            .collect();
        functions.sort_by_key(|function| std::cmp::Reverse((function.cycles(), function.samples())));
        (!functions.is_empty()).then_some(Accesses { functions })
    }

    /// The functions that a word names: that are called so, or without arguments, or else whose name holds it.
    pub fn named(&self, word: &str) -> Vec<&Accessing> {
        let plain = |name: &str| lexicon::plain(name).to_string();
        let same: Vec<&Accessing> =
            self.functions.iter().filter(|f| f.name == word || plain(&f.name) == word).collect();
        if !same.is_empty() {
            return same;
        }
        self.functions.iter().filter(|f| f.name.contains(word)).collect()
    }

    /// Accesses of a function of which there is machine code: those whose instructions it has.
    pub fn of(&self, function: &Function) -> Vec<&Sampled> {
        let holds = |address: u64| function.code.instructions.iter().any(|i| i.address == address);
        // Code that a process made lies in no file, whatever it is called here.
        let same =
            |f: &&Accessing| if function.pid.is_some() { f.name == function.name } else { f.module == function.module };
        let all = self.functions.iter().filter(same).flat_map(|f| &f.instructions);
        let mut found: Vec<&Sampled> = all.filter(|of| holds(of.address)).collect();
        found.sort_by(|a, b| (a.address, &a.kind).cmp(&(b.address, &b.kind)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write;
    use model::Manifest;
    use sources::by_name;

    #[test]
    fn accesses_come_together_by_instruction() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.twin");
        let of =
            |table: &str| by_name("stacks").and_then(|s| s.tables.iter().copied().find(|t| t.name == table)).unwrap();
        let frames = "t number function module build_id offset source kind spins tier\n\
            0 1 chase /bin/a aa - - native - -\n0 2 - /bin/a aa 8192 - native - -\n0 3 copy [kernel] - - - kernel - -";
        let stacks = "t number parent frame\n0 1 - 1\n0 2 - 2\n0 3 - 3";
        let head =
            "t pid tid comm thread kind level snoop tlb at stack address samples timed latency memory translation";
        let row = |at: u64, kind: &str, from: &str, place: &str, sums: &str| {
            format!("\n1 7 7 a a {kind} {from} {at} {place} {sums}")
        };
        let rows = [
            row(500_000_000, "load", "L1 none hit", "1 4096", "8 8 40 - -"),
            row(600_000_000, "load", "\"other core\" modified walk", "1 4096", "2 2 400 300 50"),
            row(600_000_000, "store", "L1 unknown unknown", "1 4100", "3 0 0 - -"),
            row(700_000_000, "load", "memory unknown hit", "2 8192", "1 1 90 - -"),
            row(700_000_000, "load", "memory unknown hit", "3 -4096", "1 1 80 - -"),
            // After the window.
            row(5_000_000_000, "load", "L1 none hit", "1 4096", "100 100 100 - -"),
        ];
        let accesses = head.to_owned() + &rows.concat();
        let tables = [(of("frame"), frames), (of("stack"), stacks), (&access::tables::INSTRUCTION, accesses.as_str())];
        write(&path, &Manifest::default(), &tables);
        let run = Run { name: "run".into(), recording: store::Recording::open(&path).unwrap(), stretch: None };
        let window = Window { from: 0, to: 2_000_000_000, why: String::new() };
        let found = Accesses::load(&run, &window).unwrap();
        let names: Vec<_> = found.functions.iter().map(|f| (f.name.as_str(), f.samples(), f.cycles())).collect();
        assert_eq!(names, [("chase", 13, 440), ("[unknown]", 1, 90), ("copy", 1, 80)]);
        let [load, store] = found.named("chase")[0].instructions.as_slice() else { panic!("{found:?}") };
        assert_eq!((load.address, load.samples, load.mean(), load.memory), (4096, 10, Some(44.0), Some(300)));
        assert_eq!((load.translation, load.walks), (Some(50), Some(2)));
        assert_eq!(load.origins(), [("L1".to_owned(), 0.8), ("other core, changed there".to_owned(), 0.2)]);
        assert_eq!((store.kind.as_str(), store.mean(), store.walks), ("store", None, None));
        assert!(found.named("nothing").is_empty());
    }
}
