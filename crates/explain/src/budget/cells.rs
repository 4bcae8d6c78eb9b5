//! The cells of the budget: the time in each state divided by where it was spent, from samples, waits and locks. Samples and waits say how a
//! state's time divides; how much there was says the ledger.

use super::cell::{Cell, Seen, Sides};
use super::judged::{self, Judged};
use super::ledger::{group, is_own};
use super::request;
use super::state::{ALL, STATES, State};
use super::timed::TimedOut;
use super::waits::{Waiting, as_others, seen_closer};
use compare::{PerSide, Side};
use lexicon::wait::{JAVA_LOCK, Wait};
use lexicon::{Found, Nearness, Role, Roles, call, nearness};
use query::profile::{self, Frame, Levels, Part, Request, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Time between two samples, seconds, where the recording does not say: 99 Hz.
const PERIOD: f64 = 1.0 / 99.0;

/// Frames of a path that are kept, from the innermost on.
const DEPTH: usize = 96;

/// A name without the addresses in it, which differ from run to run: hidden classes of a JVM, code of eBPF programs.
fn steady(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once("0x") {
        let digits = after.bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(before);
        out.push_str(if digits >= 6 { "#" } else { "0x" });
        rest = if digits >= 6 { after.get(digits..).unwrap_or_default() } else { after };
    }
    out.push_str(rest);
    out
}

/// A cell of a node of a tree, without its time. `found` is what is known of each of the tree's frames.
fn cell(tree: &Tree, found: &[Found], node: u32, state: State) -> Cell {
    let mut frames: Vec<(&Frame, Found)> = Vec::new();
    let mut at = node;
    let mut cell = Cell { state: Some(state), ..Cell::default() };
    while let Some(frame) = tree.frame(at) {
        match &*frame.kind {
            "process" => cell.comm = frame.name.to_string(),
            "thread" => cell.thread = frame.name.to_string(),
            "waker" => cell.waker = frame.name.to_string(),
            "what" => cell.what = frame.name.to_string(),
            "lock" => cell.lock = frame.name.to_string(),
            "state" => cell.state = State::parse(&frame.name).or(cell.state),
            _ => frames.push((frame, found.get(tree.frame_index(at) as usize).copied().unwrap_or_default())),
        }
        at = tree.parent(at);
    }
    (_, cell.thread) = group("", &cell.thread);
    // Innermost first.
    if let Some((inner, found)) = frames.first().filter(|(f, _)| &*f.name != "[no stack]") {
        cell.function = steady(&inner.name);
        cell.module = inner.module.to_string();
        cell.kind = inner.kind.to_string();
        cell.own_roles = found.roles;
    }
    cell.roles = frames.iter().fold(lexicon::roles_of_thread(&cell.thread), |all, (_, found)| all.with(found.roles));
    let kernel = frames.iter().take_while(|(f, _)| &*f.kind == "kernel").count();
    cell.kernel = kernel.min(DEPTH);
    let (outside, user) = frames.split_at(kernel);
    cell.request = request::of(outside.iter().rev().map(|(frame, found)| (&*frame.name, found.roles)));
    // A wait of which the kernel's part is not known tells its system call.
    if cell.request.is_empty() && outside.is_empty() && !cell.what.is_empty() {
        cell.request = call::plain(&cell.what).to_owned();
    }
    cell.path.push(';');
    for (frame, _) in frames.iter().take(DEPTH).rev() {
        cell.path.push_str(&steady(&frame.name));
        cell.path.push(';');
    }
    let found = || user.iter().map(|(_, found)| *found);
    cell.waits = Waiting::of(&cell, found);
    cell.caller = caller(&cell, user);
    cell
}

/// The function to name for a cell, by its frames outside of the kernel, innermost first: of who waits for a lock, for a time or for work the
/// program's own, of others the innermost one that is no library of the system.
fn caller(cell: &Cell, user: &[(&Frame, Found)]) -> String {
    let frames = || user.iter().map(|(frame, found)| (found.roles, &*frame.kind));
    let waits = match cell.state {
        Some(State::Lock | State::Sleep | State::Idle) => lexicon::waiting(frames()),
        _ => None,
    };
    let name = |at: usize| user.get(at).map(|(frame, _)| steady(&frame.name));
    // Whose lock of java.util.concurrent it is, methods tell that have names, or nobody.
    if cell.waits.on == Wait::Lock(JAVA_LOCK) {
        let is_own = |at: &usize| frames().nth(*at).is_some_and(|(roles, kind)| nearness(roles, kind) == Nearness::Own);
        return lexicon::waiting(frames()).filter(is_own).and_then(name).unwrap_or_default();
    }
    waits.or_else(|| lexicon::running(frames())).and_then(name).unwrap_or_default()
}

/// The measures whose stacks divide the states of the ledger, by their words.
const CPU: &str = "cpu";
const BLOCKED: &str = "blocked";
const CONTENDED: &str = "contended";

/// The trees of one measure as cells, with the weights of each side.
fn of_measure(sides: &Sides<'_>, measure: &str, state: State) -> Vec<(Cell, [f64; 2])> {
    // A run without such rows has nothing to say of it; the others do.
    let there: Vec<usize> =
        (0..sides.runs.len()).filter(|&i| sides.runs.get(i).is_some_and(|run| profile::has(run, measure))).collect();
    let parts: Vec<Part<'_>> =
        there.iter().filter_map(|&i| Some(Part { run: sides.runs.get(i)?, window: sides.windows.get(i)? })).collect();
    let levels = Levels { process: true, thread: true, what: measure == BLOCKED };
    let request = Request { levels, spins: true, ..Request::new(measure) };
    let Ok(tree) = profile::load(&parts, &request) else { return Vec::new() };
    let found = known(&tree);
    let mut cells = Vec::new();
    for node in 1..u32::try_from(tree.len()).unwrap_or(u32::MAX) {
        let mut weights = [0.0; 2];
        for (column, &index) in there.iter().enumerate() {
            let weight = tree.own(column).get(node as usize).copied().unwrap_or(0.0);
            let side = sides.side.get(index).copied().unwrap_or(Side::Slow);
            if let Some(sum) = weights.get_mut(side as usize) {
                *sum += weight;
            }
        }
        if weights[0] > 0.0 || weights[1] > 0.0 {
            cells.push((cell(&tree, &found, node, state), weights));
        }
    }
    cells
}

/// What is known of each frame of a tree. Code in loops that wait, which their machine code tells, spins whatever it is called.
fn known(tree: &Tree) -> Vec<Found> {
    let of = |frame: &Frame| {
        let mut found = lexicon::find(&frame.name, &frame.module, &frame.kind);
        if &*frame.kind == "spin" {
            found.roles = found.roles.with(Roles::of(&[Role::Spin]));
        }
        found
    };
    tree.frames().iter().map(|frame| if frame.is_code() { of(frame) } else { Found::default() }).collect()
}

/// All cells, and the judged waits. For each state of each side the fractions of cells of working threads add up to 1.
pub(crate) fn load(sides: &Sides<'_>) -> (Vec<Cell>, Vec<Judged>) {
    let mut found: Vec<(Cell, [f64; 2])> = Vec::new();
    for (mut cell, weights) in of_measure(sides, CPU, State::User) {
        cell.state = Some(if cell.kind == "kernel" { State::Kernel } else { State::User });
        cell.samples = PerSide::of(|side| weights[side as usize] / PERIOD);
        found.push((cell, weights));
    }
    request::infer(&mut found);
    let locks = of_measure(sides, CONTENDED, State::Lock);
    let mut waits = of_measure(sides, BLOCKED, State::Other);
    waits.retain(|(cell, _)| sides.runs.iter().any(|run| is_own(run, sides.own, &cell.comm)));
    let names: BTreeSet<String> = waits.iter().map(|(c, _)| c.comm.clone()).collect();
    let closer = |cell: &Cell| seen_closer(cell, &|name| names.contains(name));
    let mut waits: Vec<Seen> =
        waits.into_iter().map(|(cell, weights)| Seen { to: closer(&cell), cell, weights }).collect();
    if let Some(timed) = TimedOut::load(sides) {
        waits = timed.divide(waits, &|group| sides.working.works(group));
    }
    let waits = as_others(waits);
    let judged = judged::table(&waits);
    let waits: Vec<(Cell, [f64; 2])> = waits
        .into_iter()
        .filter_map(|Seen { mut cell, weights, to }| {
            cell.state = Some(to.map_or(cell.state?, |(state, _)| state));
            Some((cell, weights))
        })
        .collect();
    // Locks have a table of their own, which knows their names; where it misses most of the time, the waits say more.
    let total = |of: &[(Cell, [f64; 2])], state: State| -> f64 {
        of.iter().filter(|(c, _)| c.state == Some(state)).map(|(_, w)| w.iter().sum::<f64>()).sum()
    };
    let named = total(&locks, State::Lock) >= 0.5 * total(&waits, State::Lock);
    found.extend(waits.into_iter().filter(|(c, _)| !(named && c.state == Some(State::Lock))));
    let mut locks = locks;
    locks.retain(|(cell, _)| seen_closer(cell, &|_| false).is_none());
    if named {
        found.extend(locks);
    }
    found.retain(|(cell, _)| sides.runs.iter().any(|run| is_own(run, sides.own, &cell.comm)));
    for (cell, _) in &mut found {
        // The table of locks does not say which thread waited.
        let unknown = cell.state == Some(State::Lock) && !cell.lock.is_empty();
        if unknown {
            cell.thread.clear();
        }
        cell.aside = !unknown && !sides.working.works(&group(&cell.comm, &cell.thread));
    }
    // What is alike becomes one.
    type Key = (usize, bool, bool, [String; 5]);
    let mut cells: BTreeMap<Key, (Cell, [f64; 2])> = BTreeMap::new();
    for (cell, weights) in found {
        let state = cell.state.map_or(0, |s| s as usize);
        let words = [&cell.comm, &cell.thread, &cell.what, &cell.lock, &cell.path].map(String::clone);
        let key = (state, cell.aside, cell.kind == "spin", words);
        let samples = cell.samples;
        let (known, sum) = cells.entry(key).or_insert_with(|| (Cell { samples: PerSide::default(), ..cell }, [0.0; 2]));
        for side in Side::BOTH {
            sum[side as usize] += weights[side as usize];
            known.samples[side] += samples[side];
        }
    }
    let mut whole = [[0.0f64; STATES]; 2];
    for (cell, weights) in cells.values().filter(|(c, _)| !c.aside) {
        for (whole, weight) in whole.iter_mut().zip(weights) {
            if let Some(sum) = whole.get_mut(cell.state.map_or(0, |s| s as usize)) {
                *sum += weight;
            }
        }
    }
    let mut cells: Vec<Cell> = cells
        .into_values()
        .map(|(mut cell, weights)| {
            let state = cell.state.map_or(0, |s| s as usize);
            for (side, weight) in Side::BOTH.into_iter().zip(weights) {
                let all = if cell.aside { 1.0 } else { whole[side as usize][state] };
                cell.fraction[side] = if all > 0.0 { weight / all } else { 0.0 };
            }
            cell
        })
        .collect();
    // A state of which nothing more is known is one cell.
    for state in ALL {
        let missing = PerSide::of(|side| whole[side as usize][state as usize] <= 0.0);
        if missing.slow || missing.baseline {
            let fraction = missing.map(|m| f64::from(u8::from(m)));
            cells.push(Cell { state: Some(state), path: ";".into(), fraction, ..Cell::default() });
        }
    }
    (cells, judged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_each_run() {
        assert_eq!(steady("Main$$Lambda$2/0x00007f2080001800.accept"), "Main$$Lambda$2/#.accept");
        assert_eq!(steady("f0x1.cold"), "f0x1.cold");
    }
}
