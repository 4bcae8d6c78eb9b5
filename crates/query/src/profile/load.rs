//! From the rows of recordings to a tree. Rows are read as columns, segment by segment; equal (process, thread, stack) are added up by number before any
//! name is looked at.

use super::map::Map;
use super::stage::of_tier;
use super::tree::{ROOT, Tree, file_name};
use super::word::{self, Level, Rows};
use crate::{Error, Run};
use model::{NULL, Symbols, Window};
use store::{Batch, Recording};

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
    /// A level for each further label of the rows, of kind `what` (of waits what they waited in, the kernel function or system call), and one for the
    /// other party's name, of kind `waker`.
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
    /// What is weighed: the word of a measure that a table declares (`cpu`, `blocked`, `contended`, `faults` …), a state of the ledger in which threads
    /// are blocked, or [`super::ALL`].
    pub measure: String,
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
    pub fn new(measure: &str) -> Self {
        Request {
            measure: measure.to_owned(),
            filter: Filter::default(),
            levels: Levels::default(),
            others: false,
            spins: false,
        }
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

/// The rows of each part as one tree, with a weight for each part: seconds, or counts.
///
/// # Errors
/// Where a recording has no such rows at all; a window without any is an empty tree.
pub fn load(parts: &[Part<'_>], request: &Request) -> Result<Tree, Error> {
    let mut tree = Tree::new(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let rows = word::rows(part.run, &request.measure);
        if rows.is_empty() {
            let known = word::words(part.run);
            return Err(Error::NoProfile {
                run: part.run.name.clone(),
                what: request.measure.clone(),
                known: if known.is_empty() { "it has none".into() } else { format!("it has: {}", known.join(", ")) },
            });
        }
        let mut dictionary = Dictionary::load(&part.run.recording, &mut tree, request.spins);
        for rows in rows {
            let by = rows.measure.unit(rows.table).factor();
            let sums = sums(part, &rows, request);
            sums.into_tree(&mut tree, index, &mut dictionary, by, request.levels);
        }
    }
    Ok(tree)
}

/// The frames and stacks of a recording by their numbers.
pub(super) struct Dictionary {
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
    pub(super) fn load(recording: &Recording, tree: &mut Tree, spins: bool) -> Self {
        let mut dictionary = Dictionary { frames: Vec::new(), stacks: Vec::new(), nodes: Map::default() };
        let sizes = recording.sizes();
        let most =
            |table: &str| room(sizes.iter().find(|(name, ..)| *name == table).map_or(0, |&(_, _, rows, _)| rows));
        let (most_frames, most_stacks) = (most("frame"), most("stack"));
        // A table's strings are good for as long as its batches: names are looked up while a batch is at hand.
        let mut symbols = Symbols::default();
        let mut rows: Vec<[i64; 7]> = Vec::new();
        let columns = ["number", "function", "module", "source", "kind", "spins", "tier"];
        recording.scan("frame", &columns, None, &mut symbols, |batch| {
            for row in 0..batch.len() {
                rows.push([0, 1, 2, 3, 4, 5, 6].map(|c| batch.cell(c, row)));
            }
        });
        for [number, function, module, source, kind, spinning, tier] in rows {
            let text = |cell: i64| symbols.text(cell).unwrap_or("");
            let kind = if spins && spinning == 1 { "spin" } else { of_tier(text(kind), tier) };
            let frame = match symbols.text(function) {
                Some(name) if !name.is_empty() => tree.intern(name, text(module), text(source), kind),
                _ => tree.intern(&unresolved(text(module)), text(module), "", kind),
            };
            put(&mut dictionary.frames, number, most_frames, NONE, frame);
        }
        recording.scan("stack", &["number", "parent", "frame"], None, &mut symbols, |batch| {
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

    /// The stack of the caller, and the index of the innermost frame.
    pub(super) fn frame(&self, stack: u32, unknown: u32) -> (u32, u32) {
        match self.stacks.get(stack as usize) {
            Some(&(parent, frame)) => {
                let frame = self.frames.get(frame as usize).copied().filter(|f| *f != NONE).unwrap_or(unknown);
                (parent, frame)
            }
            None => (0, unknown),
        }
    }

    /// The node of a stack below another node.
    pub(super) fn node(&mut self, tree: &mut Tree, below: u32, stack: u32, unknown: u32) -> u32 {
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

/// Weights by group (strings of the table) and stack, as stored.
struct Sums {
    symbols: Symbols,
    groups: Vec<Group>,
    weights: Map<(u32, u32), f64>,
    level: Level,
}

/// Labels beyond the level that rows are told apart by at most.
const FURTHER: usize = 3;

/// What rows are told apart by but for their stack: cells of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Group {
    level: i64,
    process: i64,
    thread: i64,
    what: [i64; FURTHER],
    waker: i64,
}

const NO_GROUP: Group = Group { level: NULL, process: NULL, thread: NULL, what: [NULL; FURTHER], waker: NULL };

/// Which texts pass a filter, found out once for each.
pub(super) struct Passes<'a> {
    wanted: Option<&'a str>,
    known: Map<i64, bool>,
}

impl<'a> Passes<'a> {
    pub(super) fn new(wanted: Option<&'a str>) -> Self {
        Passes { wanted, known: Map::default() }
    }

    pub(super) fn text(&mut self, cell: i64, symbols: &Symbols, number: i64) -> bool {
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

/// The labels of rows beyond their level: neither that of the other party, nor those that say which lock it is.
fn further(rows: &Rows) -> impl Iterator<Item = &'static str> + use<> {
    let measure = rows.measure;
    let locks = measure.locks.map_or([""; 3], |locks| [locks.name, locks.kind, locks.address]);
    let is_further = move |label: &&'static str| {
        *label != measure.level && measure.other.is_none_or(|other| other.name != *label) && !locks.contains(label)
    };
    measure.labels.iter().copied().filter(is_further).take(FURTHER)
}

fn sums(part: &Part<'_>, rows: &Rows, request: &Request) -> Sums {
    let (window, measure) = (part.window, rows.measure);
    let locks = match rows.level {
        Level::Lock(locks) => Some(locks),
        _ => None,
    };
    let level = match rows.level {
        Level::Column(column) => column,
        Level::Lock(locks) => locks.name,
        Level::None | Level::Word(_) => "",
    };
    let other = measure.other.filter(|_| request.others);
    let (stack, process) = other.map_or((measure.stack, "comm"), |other| (other.stack, other.name));
    let thread = if other.is_none() { "thread" } else { "" };
    // Columns that are not asked for are not decoded: an empty name is a column that no table has.
    let by_number = |wanted: &Option<String>, column: &'static str| match wanted {
        Some(w) if w.parse::<i64>().is_ok() => column,
        _ => "",
    };
    let of_lock = |column: fn(&model::Locks) -> &'static str| locks.as_ref().map_or("", column);
    let told = |column: &'static str| if request.levels.what { column } else { "" };
    let mut what = [""; FURTHER];
    what.iter_mut().zip(further(rows)).for_each(|(place, label)| *place = told(label));
    let names = [
        measure.weight,
        stack,
        process,
        if request.levels.thread || request.filter.thread.is_some() { thread } else { "" },
        level,
        if rows.only.is_some() { measure.level } else { "" },
        measure.at,
        by_number(&request.filter.process, "pid"),
        by_number(&request.filter.thread, "tid"),
        // A lock without a name is its kind and address.
        of_lock(|locks| locks.kind),
        of_lock(|locks| locks.address),
        told(measure.other.map_or("", |other| other.name)),
        what[0],
        what[1],
        what[2],
    ];
    // A row is put down at the read after it: that of the last ones comes after the window.
    let between = (window.from, i64::MAX);
    // A row without a time stands for the stretch since the read before, and counts by the part of it that lies in the window.
    let interval = part.run.recording.manifest().interval;
    let mut sums = Sums { symbols: Symbols::default(), groups: Vec::new(), weights: Map::default(), level: rows.level };
    let mut symbols = Symbols::default();
    let mut groups: Map<Group, u32> = Map::default();
    let mut last: (Group, u32) = (NO_GROUP, NONE);
    let (mut processes, mut threads) =
        (Passes::new(request.filter.process.as_deref()), Passes::new(request.filter.thread.as_deref()));
    let mut states = Passes::new(rows.only.as_deref());
    let mut unnamed: Vec<(i64, i64)> = Vec::new();
    part.run.recording.scan(rows.table.name, &names, Some(between), &mut symbols, |batch: Batch<'_>| {
        for row in 0..batch.len() {
            let weight = batch.cell(0, row);
            if weight == NULL || weight <= 0 {
                continue;
            }
            let part = if measure.at.is_empty() {
                batch.part(row, interval, window)
            } else {
                window.part(batch.cell(6, row), batch.cell(6, row))
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
            if locks.is_some() && level == NULL {
                let lock = (batch.cell(9, row), batch.cell(10, row));
                let at = unnamed.iter().position(|l| *l == lock).unwrap_or_else(|| {
                    unnamed.push(lock);
                    unnamed.len() - 1
                });
                level = -2 - at as i64;
            }
            let what = [12, 13, 14].map(|column| batch.cell(column, row));
            let group = Group { level, process, thread, what, waker: batch.cell(11, row) };
            if group != last.0 || last.1 == NONE {
                let next = groups.len() as u32;
                last = (group, *groups.entry(group).or_insert(next));
            }
            let stack = u32::try_from(batch.cell(1, row)).unwrap_or(0);
            *sums.weights.entry((last.1, stack)).or_insert(0.0) += weight as f64 * part;
        }
    });
    sums.groups = vec![NO_GROUP; groups.len()];
    for (mut group, at) in groups {
        let lock = usize::try_from(-2 - group.level).ok().filter(|_| group.level != NULL);
        if let Some(&(kind, address)) = lock.and_then(|at| unnamed.get(at)) {
            let kind = symbols.text(kind).unwrap_or("lock");
            let has_address = locks.is_some_and(|locks| !locks.address.is_empty());
            let name = match symbols.text(address) {
                Some(address) => format!("{kind} {address}"),
                None if has_address => format!("{kind} ?"),
                None => kind.to_owned(),
            };
            group.level = symbols.cell(&name);
        }
        if let Some(place) = sums.groups.get_mut(at as usize) {
            *place = group;
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
            .map(|group| {
                let mut node = ROOT;
                let mut step = |cell: i64, kind: &str, none: &str| {
                    let frame = tree.intern(self.symbols.text(cell).unwrap_or(none), "", "", kind);
                    node = tree.child(node, frame);
                };
                match self.level {
                    Level::Word(word) => step(NULL, "state", word),
                    Level::Lock(_) => step(group.level, "lock", "[unnamed lock]"),
                    Level::Column(_) => step(group.level, "state", "[unknown]"),
                    Level::None => {}
                }
                if levels.process {
                    step(group.process, "process", "[unknown process]");
                }
                if levels.thread {
                    step(group.thread, "thread", "[unknown thread]");
                }
                for what in group.what.into_iter().filter(|what| levels.what && *what != NULL) {
                    step(what, "what", "");
                }
                if levels.what && group.waker != NULL {
                    step(group.waker, "waker", "");
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
