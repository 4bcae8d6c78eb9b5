//! Where CPU time grew: the function below which it did. From the outermost function on, the way of the growth is followed as long as most of it goes
//! one way; where it parts, or where code begins that hardly ran on the fast side, is the place to name. The rest is looked at in the same way.

use super::cell::Cell;
use super::state::State;
use lexicon::Role;
use std::collections::{HashMap, HashSet};

/// The way goes on into a callee that has this share of the growth.
const MOST: f64 = 0.75;

/// What has this share of the slow side's time on the fast side, or less, is new: of its part of the CPU time, too.
const NEW: f64 = 0.1;

/// And if it had no more than this part of the CPU time there: what had more ran, and takes longer now.
const SELDOM: f64 = 0.01;

/// A callee that is new stands for others where so much of what its caller had is gone.
const REPLACED: f64 = 0.5;

/// Code of which more than this share ran elsewhere before was moved.
const MOVED: f64 = 0.5;

/// Code of which less than this share is the kernel's time calculates.
const CALCULATES: f64 = 0.05;

/// Growth that is a smaller share of all of it is not named.
const LEAST: f64 = 0.02;

/// Places that are named, at most.
const PLACES: usize = 32;

/// What stands for the outer functions of stacks that were too deep to be copied whole: such stacks begin anywhere.
const CUT_OFF: &str = "[cut off]";

/// What the recorder puts in place of functions that it could not find on a stack, which then begins anywhere too.
const TRUNCATED: &str = "[truncated]";

/// A stack that does not begin where threads do is cut off where it has so many frames.
const DEEP: usize = 40;

struct Node<'p> {
    name: &'p str,
    parent: usize,
    slow: f64,
    fast: f64,
    /// Of the slow time, the kernel's.
    kernel: f64,
    children: Vec<usize>,
    /// Whether to go on into its callees though it is new.
    is_entry: bool,
}

impl Node<'_> {
    fn growth(&self) -> f64 {
        self.slow - self.fast
    }

    /// Whether it hardly ran on the fast side, called from anywhere.
    fn is_new(&self, totals: &Totals<'_>) -> bool {
        totals.is_new([self.slow, self.fast]) && totals.of(self.name).is_none_or(|times| totals.is_new(times))
    }
}

/// Whether threads begin there: code that runs in another thread than before is not new for that.
fn begins(name: &str) -> bool {
    lexicon::roles(name, "", "").has(Role::Entry)
}

/// A cell in the tree.
struct Leaf<'p> {
    /// Its number.
    cell: usize,
    /// Its node.
    at: usize,
    /// Slow and fast time, and of the slow the kernel's.
    time: [f64; 3],
    function: &'p str,
    path: &'p str,
}

impl Leaf<'_> {
    fn growth(&self) -> f64 {
        self.time[0] - self.time[1]
    }
}

/// CPU times, slow and fast.
#[derive(Default)]
struct Totals<'p> {
    /// By function, with what it called; recursion counts once.
    by_function: HashMap<&'p str, [f64; 2]>,
    all: [f64; 2],
}

impl<'p> Totals<'p> {
    /// Adds times of a stack with these functions.
    fn add(&mut self, mut functions: Vec<&'p str>, [slow, fast]: [f64; 2]) {
        functions.sort_unstable();
        functions.dedup();
        for name in functions {
            let total = self.by_function.entry(name).or_insert([0.0; 2]);
            *total = [total[0] + slow, total[1] + fast];
        }
        self.all = [self.all[0] + slow, self.all[1] + fast];
    }

    fn of(&self, function: &str) -> Option<[f64; 2]> {
        self.by_function.get(function).copied()
    }

    /// Whether what took so long hardly ran on the fast side.
    fn is_new(&self, [slow, fast]: [f64; 2]) -> bool {
        let [all_slow, all_fast] = self.all;
        slow > 0.0 && fast <= NEW * slow && fast * all_slow <= NEW * slow * all_fast && fast <= SELDOM * all_fast
    }
}

/// Sets [`Cell::focus`] and [`Cell::fresh`]; `times` are those of the cells, slow and fast.
pub(super) fn find(cells: &mut [Cell], times: &[[f64; 2]]) {
    let mut named: Vec<Option<(String, bool)>> = vec![None; cells.len()];
    {
        let cells: &[Cell] = cells;
        let mut nodes = vec![Node {
            name: "",
            parent: 0,
            slow: 0.0,
            fast: 0.0,
            kernel: 0.0,
            children: Vec::new(),
            is_entry: false,
        }];
        let mut known: HashMap<(usize, &str), usize> = HashMap::new();
        let mut entries: HashMap<&str, bool> = HashMap::new();
        let mut leaves: Vec<Leaf<'_>> = Vec::new();
        let mut totals = Totals::default();
        for (index, (cell, [slow, fast])) in cells.iter().zip(times).enumerate() {
            if cell.aside || !matches!(cell.state, Some(State::User | State::Kernel)) || cell.function.is_empty() {
                continue;
            }
            let frames: Vec<&str> = cell.path.split(';').filter(|name| !name.is_empty()).collect();
            let user = frames.len().saturating_sub(cell.kernel);
            let way = if user > 0 { frames.get(..user) } else { Some(frames.as_slice()) }.unwrap_or_default();
            let deep = way.len() >= DEEP && way.first().is_some_and(|name| !begins(name));
            totals.add(way.to_vec(), [*slow, *fast]);
            let mut at = 0;
            for name in deep.then_some(&CUT_OFF).into_iter().chain(way) {
                let next = nodes.len();
                let child = *known.entry((at, name)).or_insert(next);
                if child == next {
                    let is_entry = *entries
                        .entry(name)
                        .or_insert_with(|| *name == CUT_OFF || name.starts_with('[') || begins(name));
                    nodes.push(Node {
                        name,
                        parent: at,
                        slow: 0.0,
                        fast: 0.0,
                        kernel: 0.0,
                        children: Vec::new(),
                        is_entry,
                    });
                    if let Some(node) = nodes.get_mut(at) {
                        node.children.push(child);
                    }
                }
                at = child;
            }
            let time = [*slow, *fast, if cell.state == Some(State::Kernel) { *slow } else { 0.0 }];
            leaves.push(Leaf { cell: index, at, time, function: &cell.function, path: &cell.path });
            add(&mut nodes, at, time);
        }
        let whole: f64 = nodes.first().map_or(0.0, Node::growth).abs().max(grown(&nodes));
        // What belongs to no place yet.
        let mut open: Vec<&Leaf<'_>> = leaves.iter().collect();
        for _ in 0..PLACES {
            let Some(place) = next(&nodes, &totals, LEAST * whole) else { break };
            let Some(node) = nodes.get(place) else { break };
            let fresh = node.is_new(&totals);
            // Neither is a function.
            let is_function = ![CUT_OFF, TRUNCATED].contains(&node.name);
            let name = if is_function { node.name } else { most_of(&nodes, place, &totals) }.to_owned();
            let all = [-node.slow, -node.fast, -node.kernel];
            let (below, mut elsewhere): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|leaf| is_below(&nodes, leaf.at, place));
            let moved = fresh && is_moved(&below, &elsewhere);
            // What it was on the fast side, or where others call it, goes with it.
            let with_it = if moved {
                gone(&below, &mut elsewhere)
            } else if fresh {
                Vec::new()
            } else {
                made_up(&mut elsewhere, &name)
            };
            for leaf in &with_it {
                add(&mut nodes, leaf.at, leaf.time.map(|time| -time));
            }
            for leaf in below.iter().chain(&with_it).filter(|_| !moved) {
                if let Some(slot) = named.get_mut(leaf.cell) {
                    *slot = Some((name.clone(), fresh));
                }
            }
            open = elsewhere;
            add(&mut nodes, place, all);
            if let Some(node) = nodes.get_mut(place) {
                node.children.clear();
            }
        }
        bring_home(&mut named, &nodes, &totals, &leaves);
    }
    for (cell, named) in cells.iter_mut().zip(named) {
        if let Some((name, fresh)) = named {
            (cell.focus, cell.fresh) = (name, fresh);
        }
    }
}

/// New code on stacks that miss frames, or that run on into others, belongs where it is called as a rule.
fn bring_home(named: &mut [Option<(String, bool)>], nodes: &[Node<'_>], totals: &Totals<'_>, leaves: &[Leaf<'_>]) {
    let function = |at: usize| nodes.get(at).map_or("", |node| node.name);
    let mut homes: HashMap<&str, String> = HashMap::new();
    for leaf in leaves {
        if let Some(Some((name, true))) = named.get(leaf.cell) {
            homes.entry(function(leaf.at)).or_insert_with(|| name.clone());
        }
    }
    for leaf in leaves {
        let strayed = named.get_mut(leaf.cell).and_then(Option::as_mut).filter(|(_, fresh)| !fresh);
        let is_new = totals.of(function(leaf.at)).is_some_and(|times| totals.is_new(times));
        if let Some((place, home)) = strayed.filter(|_| is_new).zip(homes.get(function(leaf.at))) {
            *place = (home.clone(), true);
        }
    }
}

/// Whether what runs below a place ran elsewhere on the fast side: in another thread, or called by others. Then it is not new, and did not grow.
fn is_moved(below: &[&Leaf<'_>], elsewhere: &[&Leaf<'_>]) -> bool {
    // By innermost function: slow time below the place, and growth elsewhere.
    let mut by: HashMap<&str, [f64; 2]> = HashMap::new();
    for leaf in below {
        by.entry(leaf.function).or_insert([0.0; 2])[0] += leaf.time[0];
    }
    for leaf in elsewhere {
        if let Some(sums) = by.get_mut(leaf.function) {
            sums[1] += leaf.growth();
        }
    }
    let all: f64 = by.values().map(|[slow, _]| slow).sum();
    let moved: f64 = by.values().map(|[slow, elsewhere]| slow.min((-elsewhere).max(0.0))).sum();
    moved > MOVED * all
}

/// Takes out of `elsewhere` what the code that was moved below a place took there on the fast side.
fn gone<'l, 'p>(below: &[&Leaf<'p>], elsewhere: &mut Vec<&'l Leaf<'p>>) -> Vec<&'l Leaf<'p>> {
    let functions: HashSet<&str> = below.iter().map(|leaf| leaf.function).collect();
    elsewhere.extract_if(.., |leaf| functions.contains(leaf.function) && leaf.growth() < 0.0).collect()
}

/// Where the function of a place takes less than before when others call it, takes out of `elsewhere` all that it takes there: it grew by what is left.
/// Above all so do functions without names, which are all called after their module.
fn made_up<'l, 'p>(elsewhere: &mut Vec<&'l Leaf<'p>>, function: &str) -> Vec<&'l Leaf<'p>> {
    let called = format!(";{function};");
    let is_called = |leaf: &&Leaf<'_>| leaf.path.contains(&called);
    let growth: f64 = elsewhere.iter().filter(|leaf| is_called(leaf)).map(|leaf| leaf.growth()).sum();
    if growth < 0.0 { elsewhere.extract_if(.., |leaf| is_called(&*leaf)).collect() } else { Vec::new() }
}

/// Of the functions below a place, that with most of the time, whoever called it.
fn most_of<'p>(nodes: &[Node<'p>], place: usize, totals: &Totals<'_>) -> &'p str {
    let below = nodes.iter().enumerate().filter(|(at, _)| *at != place && is_below(nodes, *at, place));
    let time = |name: &str| totals.of(name).map_or(0.0, |[slow, fast]| slow - fast);
    below.map(|(_, n)| n.name).max_by(|a, b| time(a).total_cmp(&time(b)).then_with(|| b.cmp(a))).unwrap_or(CUT_OFF)
}

/// Adds to a node and to all above it.
fn add(nodes: &mut [Node<'_>], mut at: usize, [slow, fast, kernel]: [f64; 3]) {
    while let Some(node) = nodes.get_mut(at) {
        node.slow += slow;
        node.fast += fast;
        node.kernel += kernel;
        if at == 0 {
            break;
        }
        at = node.parent;
    }
}

/// All growth of the outermost functions that grew.
fn grown(nodes: &[Node<'_>]) -> f64 {
    let children = nodes.first().map_or(&[][..], |root| root.children.as_slice());
    children.iter().filter_map(|c| nodes.get(*c)).map(|n| n.growth().max(0.0)).sum()
}

fn is_below(nodes: &[Node<'_>], mut at: usize, place: usize) -> bool {
    loop {
        if at == place {
            return true;
        }
        match nodes.get(at) {
            Some(node) if at != 0 => at = node.parent,
            _ => return false,
        }
    }
}

/// Whether a new callee stands where the fast side had another: the caller does the same in another way, and it is the one that got slower.
fn takes_the_place(nodes: &[Node<'_>], totals: &Totals<'_>, caller: &Node<'_>, child: usize) -> bool {
    if caller.is_entry || !nodes.get(child).is_some_and(|c| c.is_new(totals)) {
        return false;
    }
    let others = caller.children.iter().filter(|c| **c != child).filter_map(|c| nodes.get(*c));
    let gone: f64 = others.map(|n| (n.fast - n.slow).max(0.0)).sum();
    gone >= REPLACED * caller.fast && caller.fast > 0.0
}

/// The next place to name; `None` where what is left did not grow by as much as `least`.
fn next(nodes: &[Node<'_>], totals: &Totals<'_>, least: f64) -> Option<usize> {
    let mut at = 0;
    loop {
        let node = nodes.get(at)?;
        let child = |c: &usize| nodes.get(*c).map(|n| (*c, n.growth()));
        let best = node.children.iter().filter_map(child).max_by(|a, b| a.1.total_cmp(&b.1));
        let growth = node.growth();
        match best {
            // At the very top the largest part is taken, whatever the others do.
            Some((child, most)) if at == 0 && most > least => at = child,
            Some((child, most))
                if at != 0
                    && (!node.is_new(totals)
                        || node.is_entry
                        || nodes.get(child).is_some_and(|c| !c.is_new(totals)))
                    && most >= MOST * growth
                    && (MOST * most <= growth || node.is_entry)
                    && most > least
                    && !takes_the_place(nodes, totals, node, child) =>
            {
                at = child;
            }
            _ => break,
        }
    }
    (at != 0).then(|| added(nodes, totals, at, least).unwrap_or(at))
}

/// A callee that is new and only calculates, where most of what its caller grew by besides is the kernel's: that has another reason.
fn added(nodes: &[Node<'_>], totals: &Totals<'_>, place: usize, least: f64) -> Option<usize> {
    let caller = nodes.get(place).filter(|caller| !caller.is_new(totals) && !caller.is_entry)?;
    let is_one = |child: &Node<'_>| {
        let (besides, asked) = (caller.growth() - child.growth(), caller.kernel - child.kernel);
        child.is_new(totals)
            && child.growth() > least
            && child.kernel < CALCULATES * child.slow
            && besides > least
            && asked > MOST * besides
    };
    let children = caller.children.iter().filter_map(|&c| nodes.get(c).filter(|n| is_one(n)).map(|n| (c, n.growth())));
    children.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(child, _)| child)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(cells: &[(&str, f64, f64)]) -> Vec<(String, bool)> {
        let times: Vec<[f64; 2]> = cells.iter().map(|(_, slow, fast)| [*slow, *fast]).collect();
        let mut cells: Vec<Cell> = cells
            .iter()
            .map(|(path, ..)| Cell {
                state: Some(State::User),
                function: "f".into(),
                path: (*path).into(),
                ..Cell::default()
            })
            .collect();
        find(&mut cells, &times);
        cells.into_iter().map(|c| (c.focus, c.fresh)).collect()
    }

    #[test]
    fn growth_is_named_where_it_parts() {
        let places = found(&[
            (";main;work;sort;compare;", 4.0, 1.0),
            (";main;work;sort;swap;", 4.0, 1.0),
            (";main;work;read;", 1.0, 1.0),
        ]);
        assert_eq!(places[0], ("sort".into(), false));
        assert_eq!(places[1], ("sort".into(), false));
        assert_eq!(places[2], (String::new(), false));
    }

    #[test]
    fn what_stands_for_missing_frames_is_no_place() {
        let places = found(&[
            (";[truncated];allocate;apply;", 4.0, 1.0),
            (";[truncated];call;apply;", 4.0, 1.0),
            (";[truncated];decode;read;", 2.0, 1.0),
            (";main;write;", 1.0, 1.0),
        ]);
        assert_eq!(places[0], ("apply".into(), false));
        assert_eq!(places[1], ("apply".into(), false));
    }

    #[test]
    fn what_the_fast_side_did_most_of_its_time_is_not_new() {
        let places = found(&[(";main;work;match;", 190.0, 9.5), (";main;work;read;", 0.5, 0.5)]);
        assert_eq!(places[0], ("match".into(), false));
        let places = found(&[(";main;work;match;", 190.0, 0.05), (";main;work;read;", 9.95, 9.95)]);
        assert_eq!(places[0], ("match".into(), true));
    }

    #[test]
    fn new_code_is_named_where_it_begins() {
        let places = found(&[
            (";main;work;check;regex;match;", 5.0, 0.0),
            (";main;work;check;copy;", 1.0, 0.0),
            (";main;work;hash;", 2.0, 2.0),
        ]);
        assert_eq!(places[0], ("check".into(), true));
        assert_eq!(places[1], ("check".into(), true));
        assert_eq!(places[2].0, "");
    }

    #[test]
    fn another_way_to_do_the_same_is_the_callers() {
        let places = found(&[
            (";main;work;dedup;scan;", 9.0, 0.0),
            (";main;work;dedup;hash;", 0.0, 1.0),
            (";main;work;parse;", 1.0, 1.0),
        ]);
        assert_eq!(places[0], ("dedup".into(), false));
    }

    #[test]
    fn what_moved_between_callees_did_not_grow() {
        let places = found(&[
            (";main;work;run;inlined;", 6.0, 2.0),
            (";main;work;run;", 1.0, 4.0),
            (";main;work;run;same;", 1.0, 1.0),
        ]);
        assert_eq!(places[0], ("run".into(), false));
    }

    #[test]
    fn new_code_on_a_stack_that_misses_frames_is_where_it_is_called_else() {
        let places = found(&[
            (";main;work;check;match;", 9.0, 0.0),
            (";main;work;match;", 1.0, 0.0),
            (";main;work;parse;", 3.0, 2.0),
        ]);
        assert_eq!(places[1], ("check".into(), true));
        assert_eq!(places[2], ("work".into(), false));
    }

    #[test]
    fn deep_stacks_are_one_place() {
        let deep = |first: &str| format!(";{first};{}", "match_one;".repeat(50));
        let (a, b) = (deep("a"), deep("b"));
        let places = found(&[(&a, 4.0, 0.0), (&b, 4.0, 0.0), (";main;work;", 1.0, 1.0)]);
        assert_eq!(places[0], ("match_one".into(), true));
        assert_eq!(places[1], ("match_one".into(), true));
    }

    #[test]
    fn code_that_runs_in_another_thread_is_not_new() {
        let all = [(";pool;run;eval;", 5.0, 0.0), (";main;eval;", 0.0, 5.0), (";main;work;", 4.0, 1.0)];
        let mut cells: Vec<Cell> = all
            .iter()
            .map(|(path, ..)| Cell {
                state: Some(State::User),
                function: path.trim_end_matches(';').rsplit(';').next().unwrap().into(),
                path: (*path).into(),
                ..Cell::default()
            })
            .collect();
        find(&mut cells, &all.map(|(_, slow, fast)| [slow, fast]));
        assert_eq!((cells[0].focus.as_str(), cells[2].focus.as_str()), ("", "work"));
    }

    #[test]
    fn what_others_call_less_often_makes_up_for_what_one_calls_more_often() {
        // One thread against two for the same work: of a library without names, and of a function.
        let places = found(&[(";main;code;[lib];[lib];", 3.0, 0.0), (";clone3;start_thread;[lib];[lib];", 0.0, 4.0)]);
        assert_eq!(places, [("[lib]".into(), false), ("[lib]".into(), false)], "3 against 4 did not grow");
        let places = found(&[
            (";main;code;encode;a;", 9.0, 0.0),
            (";main;code;encode;b;", 9.0, 0.0),
            (";pool;encode;a;", 0.0, 4.0),
        ]);
        assert!(places.iter().all(|place| *place == ("encode".into(), false)), "{places:?}");
        let places = found(&[(";main;code;encode;", 9.0, 1.0), (";pool;show;encode;", 1.01, 1.0)]);
        assert_eq!([&places[0].0, &places[1].0], ["encode", ""], "there it takes what it took");
    }

    #[test]
    fn code_that_was_added_is_told_from_what_its_caller_asks_of_the_kernel() {
        let cell = |(path, state): (&str, State)| Cell {
            state: Some(state),
            function: "f".into(),
            path: path.into(),
            kernel: if state == State::Kernel { 1 } else { 0 },
            ..Cell::default()
        };
        let all = [(";main;handle;fill;fault;", State::Kernel), (";main;handle;check;", State::User)];
        let mut cells: Vec<Cell> = all.into_iter().chain([(";main;handle;", State::User)]).map(cell).collect();
        find(&mut cells, &[[7.0, 0.0], [2.0, 0.0], [1.5, 1.0]]);
        let found: Vec<(&str, bool)> = cells.iter().map(|c| (c.focus.as_str(), c.fresh)).collect();
        assert_eq!(found, [("fill", true), ("check", true), ("handle", false)]);
    }

    #[test]
    fn two_places_are_two() {
        let places = found(&[(";main;a;x;", 5.0, 1.0), (";main;b;y;", 5.0, 1.0)]);
        assert!(!places[0].0.is_empty());
        let places = found(&[(";run;a;", 9.0, 1.0), (";other;b;", 4.0, 1.0)]);
        assert_eq!((places[0].0.as_str(), places[1].0.as_str()), ("a", "b"));
    }
}
