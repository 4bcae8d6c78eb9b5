//! From the rows of recordings to a tree. Rows are read as columns, segment by segment; equal (process, thread, stack) are added up by number before any
//! name is looked at.

use super::map::Map;
use super::tree::{ROOT, Tree, file_name};
use crate::{Error, Run};
use model::{NULL, Symbols, Window};
use store::Batch;

/// What is weighed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Time on a CPU, by samples.
    Cpu,
    /// Time blocked in one state of the ledger: lock, disk, network, pipe, sleep, idle …
    Wait(String),
    /// Time blocked, whatever for, each state a level of its own.
    Blocked,
    /// Time on a CPU and time blocked, each state a level of its own.
    All,
    /// Time waited for contended locks, each lock a level of its own.
    Contended,
    /// Time that goroutines of Go programs waited, what for being a level of its own.
    Goroutines,
    /// Page faults.
    Faults,
    /// CPUs interrupted by other CPUs.
    Interrupts,
}

impl Measure {
    /// Reads a word: `cpu`, `blocked`, `all`, `contended`, `goroutines`, `faults`, `ipis`, or a state.
    pub fn parse(word: &str) -> Self {
        match word {
            "cpu" => Measure::Cpu,
            "blocked" => Measure::Blocked,
            "all" => Measure::All,
            "contended" => Measure::Contended,
            "goroutines" => Measure::Goroutines,
            "faults" => Measure::Faults,
            "ipis" => Measure::Interrupts,
            state => Measure::Wait(state.to_owned()),
        }
    }

    /// The base unit of its weights.
    pub fn unit(&self) -> &'static str {
        match self {
            Measure::Faults | Measure::Interrupts => "1",
            _ => "s",
        }
    }

    /// In words.
    pub fn title(&self) -> String {
        match self {
            Measure::Cpu => "CPU time".into(),
            Measure::Wait(state) => format!("time in state {state}"),
            Measure::Blocked => "blocked time".into(),
            Measure::All => "time".into(),
            Measure::Contended => "time waited for locks".into(),
            Measure::Goroutines => "time that goroutines waited".into(),
            Measure::Faults => "page faults".into(),
            Measure::Interrupts => "CPUs interrupted by others".into(),
        }
    }

    fn parts(&self, others: bool) -> Vec<Rows> {
        let (stack, process) = if others { ("waker_stack", "waker") } else { ("stack", "comm") };
        let wait = Rows {
            table: "wait",
            weight: "time",
            by: 1e-9,
            stack,
            process,
            at: false,
            level: Some("state"),
            only: None,
        };
        let cpu = Rows {
            table: "sample",
            weight: "weight",
            by: 1e-9,
            stack: "stack",
            process: "comm",
            at: true,
            level: None,
            only: None,
        };
        match self {
            Measure::Cpu => vec![cpu],
            Measure::Wait(state) => vec![Rows { level: None, only: Some(("state", state.clone())), ..wait }],
            Measure::Blocked => vec![wait],
            Measure::All => vec![Rows { level: Some("cpu"), ..cpu }, wait],
            Measure::Contended => {
                let (stack, process) = if others { ("holder_stack", "holder") } else { ("stack", "comm") };
                vec![Rows { table: "lock", stack, process, level: Some("lock"), ..wait }]
            }
            Measure::Goroutines => {
                vec![Rows { table: "goroutine_wait", stack: "stack", process: "comm", level: Some("reason"), ..wait }]
            }
            Measure::Faults => vec![Rows {
                table: "page_fault",
                weight: "count",
                by: 1.0,
                stack: "stack",
                process: "comm",
                level: None,
                ..wait
            }],
            Measure::Interrupts => {
                vec![Rows {
                    table: "ipi",
                    weight: "targets",
                    by: 1.0,
                    stack: "stack",
                    process: "comm",
                    level: Some("kind"),
                    ..wait
                }]
            }
        }
    }
}

/// Which rows of which table make a measure.
#[derive(Clone, Debug)]
struct Rows {
    table: &'static str,
    weight: &'static str,
    /// From the stored unit to the base unit.
    by: f64,
    stack: &'static str,
    process: &'static str,
    /// Whether rows carry their own time (`at`); else they stand for the stretch up to their read.
    at: bool,
    /// The level above the processes: the column of that name, `lock` for what a lock is called, `cpu` for the word itself.
    level: Option<&'static str>,
    /// Only rows with this text in this column.
    only: Option<(&'static str, String)>,
}

/// Which rows count.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Name of a process (as the kernel keeps it, 15 bytes), or its number.
    pub process: Option<String>,
    /// Name of a thread, or its number.
    pub thread: Option<String>,
}

/// The levels between the root and the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// A level for each process name.
    pub process: bool,
    /// A level for each thread name.
    pub thread: bool,
    /// Of waits, a level for what they waited in, the kernel function or system call, and one for the process that ended them.
    pub what: bool,
}

impl Default for Levels {
    fn default() -> Self {
        Levels { process: true, thread: false, what: false }
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is weighed.
    pub measure: Measure,
    /// Which rows count.
    pub filter: Filter,
    /// Levels above the code.
    pub levels: Levels,
    /// The stacks of the others: of who ended a wait, of who held a lock.
    pub others: bool,
    /// Code in loops that wait is apart from the other code of its function: its kind is `spin`.
    pub spins: bool,
}

impl Request {
    /// All rows of a measure, by process.
    pub fn new(measure: Measure) -> Self {
        Request { measure, filter: Filter::default(), levels: Levels::default(), others: false, spins: false }
    }
}

/// One run and the stretch of it that counts.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The run.
    pub run: &'a Run,
    /// The stretch.
    pub window: &'a Window,
}

/// What can be asked of a recording, as words for [`Measure::parse`]: those for which it has rows.
pub fn measures(run: &Run) -> Vec<String> {
    let sizes = run.recording.sizes();
    let rows = |table: &str| sizes.iter().any(|(name, _, rows, _)| *name == table && *rows > 0);
    let mut found = Vec::new();
    if rows("sample") {
        found.push("cpu".to_owned());
    }
    if rows("wait") {
        found.push("blocked".into());
        let mut symbols = Symbols::default();
        let mut states: Vec<i64> = Vec::new();
        run.recording.scan("wait", &["state"], None, &mut symbols, |batch| {
            for &cell in batch.column(0) {
                if cell != NULL && !states.contains(&cell) {
                    states.push(cell);
                }
            }
        });
        let mut states: Vec<String> = states.iter().filter_map(|&s| symbols.text(s).map(str::to_owned)).collect();
        states.sort();
        found.extend(states);
    }
    if rows("sample") && rows("wait") {
        found.push("all".into());
    }
    for (table, word) in
        [("lock", "contended"), ("goroutine_wait", "goroutines"), ("page_fault", "faults"), ("ipi", "ipis")]
    {
        if rows(table) {
            found.push(word.into());
        }
    }
    found
}

/// The rows of each part as one tree, with a weight for each part: seconds, or counts.
///
/// # Errors
/// Where a recording has no such rows at all; a window without any is an empty tree.
pub fn load(parts: &[Part<'_>], request: &Request) -> Result<Tree, Error> {
    let mut tree = Tree::new(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let wanted = request.measure.parts(request.others);
        let there: Vec<&Rows> = wanted.iter().filter(|r| part.run.recording.table(r.table).is_some()).collect();
        if there.is_empty() {
            let known = measures(part.run);
            return Err(Error::NoProfile {
                run: part.run.name.clone(),
                what: request.measure.title(),
                known: if known.is_empty() { "it has none".into() } else { format!("it has: {}", known.join(", ")) },
            });
        }
        let mut dictionary = Dictionary::load(part.run, &mut tree, request.spins);
        for rows in there {
            let sums = sums(part, rows, request);
            sums.into_tree(&mut tree, index, &mut dictionary, rows.by, request.levels);
        }
    }
    Ok(tree)
}

/// The frames and stacks of a recording by their numbers.
struct Dictionary {
    /// Index into the tree's frames, by number of the frame; `u32::MAX` where there is none.
    frames: Vec<u32>,
    /// Caller and frame, by number of the stack.
    stacks: Vec<(u32, u32)>,
    /// Nodes found so far, by the node below which a stack hangs and its number.
    nodes: Map<(u32, u32), u32>,
}

const NONE: u32 = u32::MAX;

/// Room by number for so many rows. Numbers are given out one by one, so that one far beyond is damage and takes no memory.
fn room(rows: i64) -> usize {
    usize::try_from(rows.max(0)).unwrap_or(0).saturating_mul(8).saturating_add(1 << 16)
}

fn put<T: Clone>(list: &mut Vec<T>, at: i64, most: usize, empty: T, value: T) {
    let Ok(at) = usize::try_from(at) else { return };
    if at >= most {
        return;
    }
    if list.len() <= at {
        list.resize(at + 1, empty);
    }
    if let Some(cell) = list.get_mut(at) {
        *cell = value;
    }
}

impl Dictionary {
    fn load(run: &Run, tree: &mut Tree, spins: bool) -> Self {
        let mut dictionary = Dictionary { frames: Vec::new(), stacks: Vec::new(), nodes: Map::default() };
        let sizes = run.recording.sizes();
        let most =
            |table: &str| room(sizes.iter().find(|(name, ..)| *name == table).map_or(0, |&(_, _, rows, _)| rows));
        let (most_frames, most_stacks) = (most("frame"), most("stack"));
        // A table's strings are good for as long as its batches: names are looked up while a batch is at hand.
        let mut symbols = Symbols::default();
        let mut rows: Vec<[i64; 6]> = Vec::new();
        let columns = ["number", "function", "module", "source", "kind", "spins"];
        run.recording.scan("frame", &columns, None, &mut symbols, |batch| {
            for row in 0..batch.len() {
                rows.push([0, 1, 2, 3, 4, 5].map(|c| batch.cell(c, row)));
            }
        });
        for [number, function, module, source, kind, spinning] in rows {
            let text = |cell: i64| symbols.text(cell).unwrap_or("");
            let kind = if spins && spinning == 1 { "spin" } else { text(kind) };
            let frame = match symbols.text(function) {
                Some(name) if !name.is_empty() => tree.intern(name, text(module), text(source), kind),
                _ => tree.intern(&unresolved(text(module)), text(module), "", kind),
            };
            put(&mut dictionary.frames, number, most_frames, NONE, frame);
        }
        run.recording.scan("stack", &["number", "parent", "frame"], None, &mut symbols, |batch| {
            for row in 0..batch.len() {
                let [number, parent, frame] = [0, 1, 2].map(|c| batch.cell(c, row));
                let parent = u32::try_from(parent).unwrap_or(0);
                let frame = u32::try_from(frame).unwrap_or(NONE);
                put(&mut dictionary.stacks, number, most_stacks, (0, NONE), (parent, frame));
            }
        });
        cut_circles(&mut dictionary.stacks);
        dictionary
    }

    fn frame(&self, stack: u32, unknown: u32) -> (u32, u32) {
        match self.stacks.get(stack as usize) {
            Some(&(parent, frame)) => {
                let frame = self.frames.get(frame as usize).copied().filter(|f| *f != NONE).unwrap_or(unknown);
                (parent, frame)
            }
            None => (0, unknown),
        }
    }

    /// The node of a stack below another node.
    fn node(&mut self, tree: &mut Tree, below: u32, stack: u32, unknown: u32) -> u32 {
        let mut way = Vec::new();
        let mut at = stack;
        let mut node = loop {
            if at == 0 {
                break below;
            }
            if let Some(&known) = self.nodes.get(&(below, at)) {
                break known;
            }
            let (parent, frame) = self.frame(at, unknown);
            way.push((at, frame));
            at = parent;
        };
        for (stack, frame) in way.into_iter().rev() {
            node = tree.child(node, frame);
            self.nodes.insert((below, stack), node);
        }
        node
    }
}

/// Makes a stack the outermost one where its callers lead back to it, as they can in a damaged table. `stacks` are (parent, frame).
fn cut_circles(stacks: &mut [(u32, u32)]) {
    // 0: not looked at; else the number of the walk that came by.
    let mut seen = vec![0_u32; stacks.len()];
    for start in 1..stacks.len() {
        let (walk, mut at) = (start as u32, start);
        while let Some(mark) = seen.get_mut(at).filter(|_| at != 0) {
            if *mark == walk
                && let Some(stack) = stacks.get_mut(at)
            {
                stack.0 = 0;
            }
            if *mark != 0 {
                break;
            }
            *mark = walk;
            at = stacks.get(at).map_or(0, |stack| stack.0 as usize);
        }
    }
}

/// What code without a known function is called: its module.
pub(crate) fn unresolved(module: &str) -> String {
    match file_name(module) {
        "" => "[unknown]".into(),
        name if name.starts_with('[') => name.into(),
        name => format!("[{name}]"),
    }
}

/// Weights by group (level, process, thread, what, waker: strings of the table) and stack, as stored.
struct Sums {
    symbols: Symbols,
    groups: Vec<Group>,
    weights: Map<(u32, u32), f64>,
    level: Option<&'static str>,
}

/// Level, process, thread, what, waker: cells of the table.
type Group = (i64, i64, i64, i64, i64);

/// Which texts pass a filter, found out once for each.
struct Passes<'a> {
    wanted: Option<&'a str>,
    known: Map<i64, bool>,
}

impl<'a> Passes<'a> {
    fn new(wanted: Option<&'a str>) -> Self {
        Passes { wanted, known: Map::default() }
    }

    fn text(&mut self, cell: i64, symbols: &Symbols, number: i64) -> bool {
        let Some(wanted) = self.wanted else { return true };
        if number != NULL && wanted.parse() == Ok(number) {
            return true;
        }
        *self.known.entry(cell).or_insert_with(|| {
            let name = symbols.text(cell).unwrap_or("");
            name == wanted || (name.len() == 15 && wanted.len() > 15 && wanted.starts_with(name))
        })
    }
}

fn sums(part: &Part<'_>, rows: &Rows, request: &Request) -> Sums {
    let window = part.window;
    let level = match rows.level {
        Some("cpu") | None => "",
        Some("lock") => "name",
        Some(column) => column,
    };
    let only = rows.only.as_ref().map_or("", |(column, _)| column);
    let thread = if rows.process == "comm" { "thread" } else { "" };
    // Columns that are not asked for are not decoded: an empty name is a column that no table has.
    let by_number = |wanted: &Option<String>, column: &'static str| match wanted {
        Some(w) if w.parse::<i64>().is_ok() => column,
        _ => "",
    };
    let names = [
        rows.weight,
        rows.stack,
        rows.process,
        if request.levels.thread || request.filter.thread.is_some() { thread } else { "" },
        level,
        only,
        if rows.at { "at" } else { "" },
        by_number(&request.filter.process, "pid"),
        by_number(&request.filter.thread, "tid"),
        // A lock without a name is its kind and address.
        if rows.level == Some("lock") { "kind" } else { "" },
        if rows.level == Some("lock") { "address" } else { "" },
        if request.levels.what && rows.table == "wait" { "what" } else { "" },
        if request.levels.what && rows.table == "wait" { "waker" } else { "" },
    ];
    // A row is put down at the read after it: that of the last ones comes after the window.
    let between = (window.from, i64::MAX);
    // A row without a time stands for the stretch since the read before, and counts by the part of it that lies in the window.
    let interval = part.run.recording.manifest().interval;
    let mut sums = Sums { symbols: Symbols::default(), groups: Vec::new(), weights: Map::default(), level: rows.level };
    let mut symbols = Symbols::default();
    let mut groups: Map<Group, u32> = Map::default();
    let mut last: (Group, u32) = ((NULL, NULL, NULL, NULL, NULL), NONE);
    let (mut processes, mut threads) =
        (Passes::new(request.filter.process.as_deref()), Passes::new(request.filter.thread.as_deref()));
    let mut states = Passes::new(rows.only.as_ref().map(|(_, text)| text.as_str()));
    let mut locks: Vec<(i64, i64)> = Vec::new();
    part.run.recording.scan(rows.table, &names, Some(between), &mut symbols, |batch: Batch<'_>| {
        for row in 0..batch.len() {
            let weight = batch.cell(0, row);
            if weight == NULL || weight <= 0 {
                continue;
            }
            let part = if rows.at {
                window.part(batch.cell(6, row), batch.cell(6, row))
            } else {
                batch.part(row, interval, window)
            };
            if part <= 0.0 {
                continue;
            }
            let (process, thread) = (batch.cell(2, row), batch.cell(3, row));
            if !(states.text(batch.cell(5, row), batch.symbols, NULL)
                && processes.text(process, batch.symbols, batch.cell(7, row))
                && threads.text(thread, batch.symbols, batch.cell(8, row)))
            {
                continue;
            }
            let thread = if request.levels.thread { thread } else { NULL };
            let process = if request.levels.process { process } else { NULL };
            let mut level = batch.cell(4, row);
            if rows.level == Some("lock") && level == NULL {
                let lock = (batch.cell(9, row), batch.cell(10, row));
                let at = locks.iter().position(|l| *l == lock).unwrap_or_else(|| {
                    locks.push(lock);
                    locks.len() - 1
                });
                level = -2 - at as i64;
            }
            let group = (level, process, thread, batch.cell(11, row), batch.cell(12, row));
            if group != last.0 || last.1 == NONE {
                let next = groups.len() as u32;
                last = (group, *groups.entry(group).or_insert(next));
            }
            let stack = u32::try_from(batch.cell(1, row)).unwrap_or(0);
            *sums.weights.entry((last.1, stack)).or_insert(0.0) += weight as f64 * part;
        }
    });
    sums.groups = vec![(NULL, NULL, NULL, NULL, NULL); groups.len()];
    for ((level, process, thread, what, waker), at) in groups {
        let level = match usize::try_from(-2 - level).ok().filter(|_| level != NULL).and_then(|at| locks.get(at)) {
            Some(&(kind, address)) => {
                let name = format!("{} {}", symbols.text(kind).unwrap_or("lock"), symbols.text(address).unwrap_or("?"));
                symbols.cell(&name)
            }
            None => level,
        };
        if let Some(group) = sums.groups.get_mut(at as usize) {
            *group = (level, process, thread, what, waker);
        }
    }
    sums.symbols = symbols;
    sums
}

impl Sums {
    fn into_tree(self, tree: &mut Tree, run: usize, dictionary: &mut Dictionary, by: f64, levels: Levels) {
        let unknown = tree.intern("[unknown]", "", "", "other");
        let no_stack = tree.intern("[no stack]", "", "", "other");
        let bases: Vec<u32> = self
            .groups
            .iter()
            .map(|&(level, process, thread, what, waker)| {
                let mut node = ROOT;
                let mut step = |cell: i64, kind: &str, none: &str| {
                    let frame = tree.intern(self.symbols.text(cell).unwrap_or(none), "", "", kind);
                    node = tree.child(node, frame);
                };
                match self.level {
                    Some("cpu") => step(NULL, "state", "cpu"),
                    Some("lock") => step(level, "lock", "[unnamed lock]"),
                    Some(_) => step(level, "state", "[unknown]"),
                    None => {}
                }
                if levels.process {
                    step(process, "process", "[unknown process]");
                }
                if levels.thread {
                    step(thread, "thread", "[unknown thread]");
                }
                if levels.what && what != NULL {
                    step(what, "what", "");
                }
                if levels.what && waker != NULL {
                    step(waker, "waker", "");
                }
                node
            })
            .collect();
        // In the order of numbers, so that the same rows give the same tree.
        let mut weights: Vec<((u32, u32), f64)> = self.weights.into_iter().collect();
        weights.sort_unstable_by_key(|(place, _)| *place);
        for ((group, stack), weight) in weights {
            let below = bases.get(group as usize).copied().unwrap_or(ROOT);
            let node = match stack {
                0 => tree.child(below, no_stack),
                stack => dictionary.node(tree, below, stack, unknown),
            };
            tree.add(node, run, weight * by);
        }
    }
}
