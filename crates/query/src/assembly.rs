//! Machine code of a recording and what was sampled in it: table `code`, the samples with registers of `instruction_sample`, and those of `sample`, put
//! together by function.

mod calls;

pub use calls::Calls;

use crate::Run;
use instructions::{Code, Machine, Register, Sample, Skid, start_of};
use model::{NULL, Symbols, Window};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// A place in source code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The function, of those that were put into another.
    pub function: String,
    /// `file:line`.
    pub source: String,
}

/// A function, or a stretch of code that was kept around samples.
#[derive(Clone, Debug)]
pub struct Function {
    /// As its file or its maker calls it; in brackets where nobody does.
    pub name: String,
    /// Path of its file; empty for code that a process made.
    pub module: String,
    /// The process that made it.
    pub pid: Option<i64>,
    /// Whether it begins where the code does.
    pub whole: bool,
    /// Its instructions.
    pub code: Code,
    /// How many samples landed at each address.
    pub landed: BTreeMap<u64, u64>,
    /// Samples with registers: of each thread in each burst, in order.
    pub threads: Vec<Vec<Sample>>,
    /// CPU time, seconds, by samples of the whole window.
    pub seconds: f64,
    /// How many samples that is.
    pub samples: u64,
    /// Where instructions come from, innermost function first, of those that samples landed on.
    pub lines: HashMap<u64, Vec<Line>>,
    /// Other versions of the same function, as a JIT makes them, and the samples with registers in those.
    pub others: (usize, u64),
    /// How often it is called, where that was counted.
    pub calls: Option<Calls>,
}

impl Function {
    /// Samples with registers.
    pub fn with_registers(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Whether two recordings mean the same function: by its name, and whether a process made it.
    pub fn is_same(&self, other: &Function) -> bool {
        self.name == other.name && self.pid.is_some() == other.pid.is_some()
    }

    /// How many of its samples landed where a function ran: itself by this name, with or without arguments, or one that was put into it.
    pub fn landed_in(&self, name: &str) -> u64 {
        let plain = lexicon::plain(name);
        let is = |called: &str| called == name || lexicon::plain(called) == plain;
        if is(&self.name) {
            return self.all_landed();
        }
        let within = |address: &u64| self.lines.get(address).is_some_and(|l| l.iter().any(|l| is(&l.function)));
        self.landed.iter().filter(|(address, _)| within(address)).map(|(_, count)| count).sum()
    }

    /// All samples that landed in it.
    pub fn all_landed(&self) -> u64 {
        self.landed.values().sum()
    }
}

/// What a recording has of it.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Functions of which there is code, those with most time first.
    pub functions: Vec<Function>,
    /// CPU time of all traced threads in the window, seconds, by samples: also of code that was not kept.
    pub seconds: f64,
    /// Where samples land.
    pub skid: Skid,
    /// Cycles a second, measured at the bursts; `None` where it was not.
    pub frequency: Option<f64>,
}

/// A row of `frame`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) function: String,
    pub(crate) module: String,
    build_id: String,
    offset: i64,
    pub(crate) source: String,
    kind: String,
}

/// A row of `code`.
struct Kept {
    name: String,
    module: String,
    build_id: String,
    pid: i64,
    start: u64,
    whole: bool,
    machine: Machine,
    bytes: Vec<u8>,
}

impl Kept {
    fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.bytes.len() as u64)
    }

    /// Whether an address of a file lies in it.
    fn holds(&self, module: &str, build_id: &str, address: u64) -> bool {
        let same = if self.build_id.is_empty() || build_id.is_empty() {
            self.module == module
        } else {
            self.build_id == build_id
        };
        self.pid == NULL && same && self.range().contains(&address)
    }

    /// Whether it is the code of the function that begins at an address of a file, or of a stretch of it.
    fn begins_at(&self, module: &str, build_id: &str, address: u64, function: &str) -> bool {
        self.holds(module, build_id, address) || self.holds(module, build_id, self.start) && self.name == function
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    text.as_bytes().chunks(2).map(|pair| Some((digit(*pair.first()?)? * 16 + digit(*pair.get(1)?)?) as u8)).collect()
}

/// Numbers that dictionaries give out, at most: one far beyond is damage.
const MOST: i64 = 1 << 22;

/// Stacks by number: caller and frame.
pub(crate) struct Dictionary {
    frames: HashMap<i64, Frame>,
    stacks: HashMap<i64, (i64, i64)>,
}

impl Dictionary {
    pub(crate) fn load(run: &Run) -> Dictionary {
        let (mut frames, mut stacks) = (HashMap::new(), HashMap::new());
        let mut symbols = Symbols::default();
        let columns = ["number", "function", "module", "build_id", "offset", "source", "kind"];
        run.recording.scan("frame", &columns, None, &mut symbols, |batch| {
            for row in (0..batch.len()).filter(|&row| (0..MOST).contains(&batch.cell(0, row))) {
                let text = |column: usize| batch.symbols.text(batch.cell(column, row)).unwrap_or_default().to_owned();
                let frame = Frame {
                    function: text(1),
                    module: text(2),
                    build_id: text(3),
                    offset: batch.cell(4, row),
                    source: text(5),
                    kind: text(6),
                };
                frames.insert(batch.cell(0, row), frame);
            }
        });
        run.recording.scan("stack", &["number", "parent", "frame"], None, &mut symbols, |batch| {
            for row in (0..batch.len()).filter(|&row| (0..MOST).contains(&batch.cell(0, row))) {
                stacks.insert(batch.cell(0, row), (batch.cell(1, row), batch.cell(2, row)));
            }
        });
        Dictionary { frames, stacks }
    }

    /// The function of a stack that has one of the kernel alone.
    pub(crate) fn of_kernel(&self, stack: i64) -> Option<&Frame> {
        let (_, frame) = self.stacks.get(&stack)?;
        self.frames.get(frame).filter(|frame| frame.kind == "kernel")
    }

    /// The innermost function of a stack, and those that were put into it, innermost first. `None` where the kernel ran, or nothing is known.
    pub(crate) fn innermost(&self, stack: i64) -> Option<(&Frame, Vec<&Frame>)> {
        let (mut at, mut inlined) = (stack, Vec::new());
        // No compiler puts as many into each other.
        for _ in 0..64 {
            let &(parent, frame) = self.stacks.get(&at)?;
            let frame = self.frames.get(&frame)?;
            match frame.kind.as_str() {
                "inlined" => inlined.push(frame),
                "native" | "jit" => return Some((frame, inlined)),
                _ => return None,
            }
            at = parent;
        }
        None
    }
}

fn kept(run: &Run) -> BTreeMap<i64, Kept> {
    let mut kept = BTreeMap::new();
    let mut symbols = Symbols::default();
    let columns = ["number", "function", "module", "build_id", "pid", "start", "whole", "machine", "bytes"];
    run.recording.scan("code", &columns, None, &mut symbols, |batch| {
        for row in 0..batch.len() {
            let text = |column: usize| batch.symbols.text(batch.cell(column, row)).unwrap_or_default();
            let machine = match text(7) {
                "x86_64" => Machine::X86_64,
                "aarch64" => Machine::Aarch64,
                _ => continue,
            };
            let Some(bytes) = bytes(text(8)) else { continue };
            let [name, module, build_id] = [1, 2, 3].map(|column| text(column).to_owned());
            let (pid, start, whole) = (batch.cell(4, row), batch.cell(5, row) as u64, batch.cell(6, row) == 1);
            kept.insert(batch.cell(0, row), Kept { name, module, build_id, pid, start, whole, machine, bytes });
        }
    });
    kept
}

fn skid(run: &Run) -> Skid {
    let mut skid = Skid::Unknown;
    run.recording.scan("skid", &["skid"], None, &mut Symbols::default(), |batch| {
        for row in 0..batch.len() {
            skid = match batch.cell(0, row) {
                0 => Skid::None,
                1 => Skid::One,
                _ => Skid::Unknown,
            };
        }
    });
    skid
}

fn frequency(run: &Run) -> Option<f64> {
    let mut found = Vec::new();
    run.recording.scan("instruction_burst", &["frequency"], None, &mut Symbols::default(), |batch| {
        let cells = (0..batch.len()).map(|row| batch.cell(0, row)).filter(|&cell| cell != NULL);
        found.extend(cells.map(|cell| f64::from_bits(cell as u64)).filter(|hertz| hertz.is_finite() && *hertz > 0.0));
    });
    found.sort_by(f64::total_cmp);
    found.get(found.len() / 2).copied()
}

/// What is being put together of one function.
#[derive(Default)]
struct Growing {
    landed: BTreeMap<u64, u64>,
    threads: BTreeMap<(i64, i64, i64), Vec<Sample>>,
    seconds: f64,
    samples: u64,
    lines: HashMap<u64, Vec<Line>>,
    /// What frames call it, with how often.
    names: BTreeMap<String, u64>,
}

impl Growing {
    fn line(&mut self, address: u64, inner: &Frame, inlined: &[&Frame]) {
        if self.lines.contains_key(&address) {
            return;
        }
        let of = |frame: &&Frame| Line { function: frame.function.clone(), source: frame.source.clone() };
        let lines: Vec<Line> = inlined.iter().chain([&inner]).map(of).collect();
        if lines.iter().any(|line| !line.source.is_empty()) {
            self.lines.insert(address, lines);
        }
    }
}

impl Assembly {
    /// Reads it; `None` where the recording has no code.
    pub fn load(run: &Run, window: &Window) -> Option<Assembly> {
        run.recording.table("code")?;
        let kept = kept(run);
        let dictionary = Dictionary::load(run);
        let mut growing: BTreeMap<i64, Growing> = kept.keys().map(|&number| (number, Growing::default())).collect();
        with_registers(run, window, &kept, &dictionary, &mut growing);
        let names = names(&kept, &growing);
        let calls = calls::load(run, window, &kept, &names, &dictionary);
        let seconds = of_the_whole(run, window, &kept, &dictionary, &names, &mut growing);
        let mut functions: Vec<Function> = kept
            .into_iter()
            .zip(growing.into_values())
            .filter(|(_, grown)| !grown.threads.is_empty() || grown.samples > 0)
            .map(|((number, kept), grown)| {
                let name = names.get(&number).cloned().unwrap_or_default();
                Function { calls: calls.get(&number).copied(), ..function(kept, grown, name) }
            })
            .collect();
        versions(&mut functions);
        functions.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(b.with_registers().cmp(&a.with_registers())));
        Some(Assembly { functions, seconds, skid: skid(run), frequency: frequency(run) })
    }

    /// The functions that a word names: that are called so, or without arguments, or else whose name holds it.
    pub fn named(&self, word: &str) -> Vec<&Function> {
        let plain = |name: &str| lexicon::plain(name).to_string();
        let same: Vec<&Function> = self.functions.iter().filter(|f| f.name == word || plain(&f.name) == word).collect();
        if !same.is_empty() {
            return same;
        }
        self.functions.iter().filter(|f| f.name.contains(word)).collect()
    }
}

/// Why a recording has no machine code, and what would change that where it says so.
pub fn why_nothing(run: &Run) -> (String, Option<String>) {
    let of_source = |c: &model::Coverage| c.source == "instructions" && c.status != model::Status::Read;
    let said: Vec<model::Coverage> = run.recording.coverage().into_iter().filter(of_source).collect();
    match said.as_slice() {
        [] => {
            let why =
                "it has no machine code: it was recorded without bursts of samples with registers, or nothing was busy";
            (why.into(), None)
        }
        said => {
            let why: Vec<&str> = said.iter().map(|c| c.why.as_str()).collect();
            let why = format!("it has no machine code: {}", why.join("; "));
            (why, said.iter().find_map(|c| c.remedy.clone()))
        }
    }
}

fn with_registers(
    run: &Run,
    window: &Window,
    kept: &BTreeMap<i64, Kept>,
    dictionary: &Dictionary,
    growing: &mut BTreeMap<i64, Growing>,
) {
    let registers: Vec<String> = (0..Register::GENERAL).map(|n| format!("r{n}")).collect();
    let mut columns = vec!["pid", "tid", "burst", "at", "task_clock", "stack", "code", "address"];
    let before = columns.len();
    columns.extend(registers.iter().map(String::as_str));
    // A row is put down at the read after it.
    let between = Some((window.from, i64::MAX));
    // Addresses of files by what they were found to be.
    let mut known: HashMap<(i64, i64), Option<i64>> = HashMap::new();
    run.recording.scan("instruction_sample", &columns, between, &mut Symbols::default(), |batch| {
        for row in 0..batch.len() {
            let [pid, tid, burst, at, task_clock, stack, code, address] =
                [0, 1, 2, 3, 4, 5, 6, 7].map(|column| batch.cell(column, row));
            if at == NULL || window.part(at, at) <= 0.0 {
                continue;
            }
            let inner = dictionary.innermost(stack);
            let number = match (code, &inner) {
                (NULL, Some((frame, _))) => *known.entry((stack, address)).or_insert_with(|| {
                    let holds = |kept: &&Kept| kept.holds(&frame.module, &frame.build_id, address as u64);
                    kept.iter().find(|(_, kept)| holds(kept)).map(|(number, _)| *number)
                }),
                (NULL, None) => None,
                (number, _) => Some(number),
            };
            let Some(grown) = number.and_then(|number| growing.get_mut(&number)) else { continue };
            let address = address as u64;
            *grown.landed.entry(address).or_default() += 1;
            if let Some((frame, inlined)) = inner {
                *grown.names.entry(frame.function.clone()).or_default() += 1;
                grown.line(address, frame, &inlined);
            }
            let registers = std::array::from_fn(|n| match batch.cell(before + n, row) {
                NULL => 0,
                cell => cell as u64,
            });
            let sample = Sample { address, task_clock: task_clock as u64, registers };
            grown.threads.entry((pid, tid, burst)).or_default().push(sample);
        }
    });
}

/// What each is called.
fn names(kept: &BTreeMap<i64, Kept>, growing: &BTreeMap<i64, Growing>) -> HashMap<i64, String> {
    let name = |number: &i64, kept: &Kept| {
        if !kept.name.is_empty() {
            return kept.name.clone();
        }
        let told = growing.get(number).map(|grown| &grown.names);
        let most =
            told.and_then(|names| names.iter().filter(|(name, _)| !name.is_empty()).max_by_key(|(_, count)| **count));
        most.map_or_else(|| "[unknown]".to_owned(), |(name, _)| name.clone())
    };
    kept.iter().map(|(number, kept)| (*number, name(number, kept))).collect()
}

/// CPU time by the samples of the whole window; of files, where they landed too. Returns that of all samples, seconds.
fn of_the_whole(
    run: &Run,
    window: &Window,
    kept: &BTreeMap<i64, Kept>,
    dictionary: &Dictionary,
    names: &HashMap<i64, String>,
    growing: &mut BTreeMap<i64, Growing>,
) -> f64 {
    // Time of code that was made goes by its name: to the version that has most samples with registers.
    let mut made: HashMap<&str, (usize, i64)> = HashMap::new();
    for (number, _) in kept.iter().filter(|(_, kept)| kept.pid != NULL) {
        let Some(name) = names.get(number) else { continue };
        let samples = growing.get(number).map_or(0, |grown| grown.threads.values().map(Vec::len).sum());
        let best = made.entry(name).or_insert((samples, *number));
        if samples > best.0 {
            *best = (samples, *number);
        }
    }
    let mut known: HashMap<i64, Option<i64>> = HashMap::new();
    let between = Some((window.from, i64::MAX));
    let mut all = 0.0;
    run.recording.scan("sample", &["at", "stack", "weight"], between, &mut Symbols::default(), |batch| {
        for row in 0..batch.len() {
            let [at, stack, weight] = [0, 1, 2].map(|column| batch.cell(column, row));
            if at == NULL || weight == NULL || window.part(at, at) <= 0.0 {
                continue;
            }
            all += weight as f64 / 1e9;
            let Some((frame, inlined)) = dictionary.innermost(stack) else { continue };
            let number = *known.entry(stack).or_insert_with(|| match frame.kind.as_str() {
                "jit" => made.get(frame.function.as_str()).map(|(_, number)| *number),
                _ if frame.offset == NULL => None,
                _ => {
                    let holds = |kept: &&Kept| kept.holds(&frame.module, &frame.build_id, frame.offset as u64);
                    kept.iter().find(|(_, kept)| holds(kept)).map(|(number, _)| *number)
                }
            });
            let Some(grown) = number.and_then(|number| growing.get_mut(&number)) else { continue };
            grown.seconds += weight as f64 / 1e9;
            grown.samples += 1;
            if frame.kind != "jit" {
                *grown.landed.entry(frame.offset as u64).or_default() += 1;
                grown.line(frame.offset as u64, frame, &inlined);
            }
        }
    });
    all
}

fn function(kept: Kept, grown: Growing, name: String) -> Function {
    let mut start = kept.start;
    let mut code = kept.bytes.as_slice();
    if !kept.whole {
        // Where instructions begin is known by those that were sampled.
        let sampled: Vec<u64> = grown.landed.keys().copied().collect();
        let skip = start_of(kept.machine, code, start, &sampled);
        code = code.get(skip..).unwrap_or_default();
        start = start.saturating_add(skip as u64);
    }
    Function {
        name,
        pid: (kept.pid != NULL).then_some(kept.pid),
        whole: kept.whole,
        code: Code::new(kept.machine, code, start),
        module: kept.module,
        landed: grown.landed,
        threads: grown.threads.into_values().collect(),
        seconds: grown.seconds,
        samples: grown.samples,
        lines: grown.lines,
        others: (0, 0),
        calls: None,
    }
}

/// Counts for each function how many others there are of its name that a process made.
fn versions(functions: &mut [Function]) {
    let mut all: HashMap<String, (usize, u64)> = HashMap::new();
    for function in functions.iter().filter(|f| f.pid.is_some()) {
        let sum = all.entry(function.name.clone()).or_default();
        sum.0 += 1;
        sum.1 += function.with_registers() as u64;
    }
    for function in functions.iter_mut().filter(|f| f.pid.is_some()) {
        if let Some((count, samples)) = all.get(&function.name) {
            function.others = (count.saturating_sub(1), samples.saturating_sub(function.with_registers() as u64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::write;
    use model::Manifest;
    use sources::by_name;
    use std::path::Path;

    /// A chase of x86-64: mov rax,[rax]; dec rsi; jnz; ret.
    const CHASE: &str = "488b0048ffce75f8c3";

    fn recorded(path: &Path, code: &str, samples: &str) -> Assembly {
        let of = |source: &str, table: &str| {
            by_name(source).and_then(|s| s.tables.iter().copied().find(|t| t.name == table)).expect("a table")
        };
        let frames = "t number function module build_id offset source kind spins tier\n\
            0 1 chase /bin/a aa 4099 a.c:7 native - -\n0 2 inner /bin/a - - a.c:9 inlined - -\n\
            0 3 made [jit] - - - jit - 4";
        let stacks = "t number parent frame\n0 1 - 1\n0 2 1 2\n0 3 - 3";
        let of_whole = "t pid tid comm thread at cpu stack weight code address\n\
            1 7 7 a a 500000000 0 2 10000000 - -\n1 7 7 a a 600000000 0 3 20000000 - -\n1 7 7 a a 9000000000 0 1 10000000 - -";
        let tables = [
            (of("stacks", "frame"), frames),
            (of("stacks", "stack"), stacks),
            (of("stacks", "sample"), of_whole),
            (of("instructions", "code"), code),
            (of("instructions", "instruction_sample"), samples),
            (of("instructions", "skid"), "t samples on_load after_load skid\n0 50 0 50 1"),
            (of("instructions", "instruction_burst"), "t number at length threads frequency\n0 1 0 100 1 3e9"),
        ];
        write(path, &Manifest::default(), &tables);
        let run = Run { name: "run".into(), recording: store::Recording::open(path).unwrap(), stretch: None };
        let window = Window { from: 0, to: 2_000_000_000, why: String::new() };
        Assembly::load(&run, &window).unwrap()
    }

    fn sample(tid: u32, at: u64, stack: &str, code: &str, address: u64, rsi: u64) -> String {
        let registers: Vec<String> = (0..32).map(|n| if n == 6 { rsi.to_string() } else { "0".into() }).collect();
        format!("\n1 7 {tid} a a {at} 1 {at} {stack} {code} {address} {}", registers.join(" "))
    }

    const HEADER: &str = "t pid tid comm thread at burst task_clock stack code address r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 \
        r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31";

    #[test]
    fn samples_and_code_come_together() {
        let dir = tempfile::tempdir().unwrap();
        let code = format!(
            "t number function module build_id pid start whole machine bytes\n\
             0 1 chase /bin/a aa - 4096 1 x86_64 {CHASE}\n\
             0 2 - - - 7 65536 - x86_64 {CHASE}\n\
             0 3 never /bin/b bb - 0 1 x86_64 c3"
        );
        let samples = [
            sample(7, 1_000, "2", "-", 4099, 900),
            sample(7, 2_000, "2", "-", 4099, 800),
            sample(8, 1_500, "3", "2", 65_539, 5),
            // After the window, and in no code.
            sample(7, 3_000_000_000, "2", "-", 4099, 700),
            sample(7, 4_000, "2", "-", 9_999, 700),
        ];
        let found = recorded(&dir.path().join("a.twin"), &code, &(HEADER.to_owned() + &samples.concat()));
        assert_eq!((found.skid, found.frequency, found.functions.len()), (Skid::One, Some(3e9), 2));
        let chase = found.named("chase").first().copied().unwrap();
        assert_eq!((chase.module.as_str(), chase.with_registers(), chase.samples), ("/bin/a", 2, 1));
        assert!((chase.seconds - 0.01).abs() < 1e-9);
        // The one of the whole window landed there too.
        assert_eq!(chase.landed, BTreeMap::from([(4099, 3)]));
        assert_eq!(chase.threads[0].iter().map(|s| s.registers[6]).collect::<Vec<_>>(), [900, 800]);
        let lines = &chase.lines[&4099];
        assert_eq!(
            lines.iter().map(|l| (l.function.as_str(), l.source.as_str())).collect::<Vec<_>>(),
            [("inner", "a.c:9"), ("chase", "a.c:7")]
        );
        let made = found.named("mad").first().copied().unwrap();
        assert_eq!((made.name.as_str(), made.pid, made.with_registers()), ("made", Some(7), 1));
        assert!((made.seconds - 0.02).abs() < 1e-9, "by its name");
        assert!(found.named("nothing").is_empty());
        assert!((found.seconds - 0.03).abs() < 1e-9, "of all samples in the window");
        // By itself, and by what was put into it.
        assert_eq!((chase.landed_in("chase"), chase.landed_in("inner"), chase.landed_in("made")), (3, 3, 0));
        assert!(chase.is_same(chase) && !chase.is_same(made));
    }

    #[test]
    fn damage_is_no_code() {
        let dir = tempfile::tempdir().unwrap();
        let code = "t number function module build_id pid start whole machine bytes\n\
            0 1 chase /bin/a aa - 4096 1 x86_64 488\n0 2 chase /bin/a aa - 4096 1 mips 48\n0 3 chase /bin/a aa - 4096 1 x86_64 zz";
        let found =
            recorded(&dir.path().join("a.twin"), code, &(HEADER.to_owned() + &sample(7, 1_000, "2", "-", 4099, 9)));
        assert!(found.functions.is_empty());
    }
}
