//! Where the workload's threads spent their time, by state and function.

use super::{Rows, Subject};
use crate::folder::Cell;
use query::profile::{ALL, Levels, Part, ROOT, Request, Tree, load};
use std::collections::HashMap;
use std::sync::Arc;

/// Functions with a smaller share than this are one row.
const LEAST: f64 = 1e-3;

/// The state of time on a CPU, by the word of its measure, which stands in where threads were not traced.
const CPU: &str = "cpu";

/// A function in a state: the state's frame and the function's.
type Place = (u32, u32);

/// Adds them. A recording without samples has none.
pub fn reduce(subject: &Subject<'_>, rows: &mut Rows) {
    let part = Part { run: subject.run, window: &subject.window };
    let levels = Levels { process: true, thread: false, what: false };
    let tree = [ALL, CPU].into_iter().find_map(|word| {
        let tree = load(&[part], &Request { levels, ..Request::new(word) }).ok()?;
        Some((tree, word == ALL))
    });
    let Some((tree, by_state)) = tree else { return };
    let seconds = own_time(&tree, by_state, subject);
    let name = |state: u32| tree.frames().get(state as usize).map_or_else(|| CPU.into(), |f| Arc::clone(&f.name));
    let mut states: Vec<(u32, f64)> = seconds.states.iter().map(|(state, sum)| (*state, *sum)).collect();
    states.sort_by_key(|(state, _)| *state);
    for (number, sum) in states.into_iter().filter(|(_, sum)| *sum > 0.0) {
        let state: Arc<str> = name(number);
        let mut rest = 0.0;
        let mut put = |function: Cell, module: Cell, own: f64, total: f64| {
            let (host, id) = (subject.host.clone(), subject.id.clone());
            let state = Cell::Text(Arc::clone(&state));
            rows.place.push(&[state, function, module, host, id, own.into(), total.into(), sum.into()]);
        };
        let mut functions: Vec<_> = seconds.places.iter().filter(|((of, _), _)| *of == number).collect();
        functions.sort_by_key(|((_, function), _)| *function);
        for ((_, function), (own, total)) in functions {
            let (own, total) = (own / sum, total / sum);
            let Some(frame) = tree.frames().get(*function as usize) else { continue };
            if own < LEAST && total < LEAST {
                rest += own;
                continue;
            }
            let module = frame.module.rsplit('/').next().unwrap_or_default();
            put(
                Cell::Text(Arc::clone(&frame.name)),
                (!module.is_empty()).then(|| Cell::from(module)).into(),
                own,
                total,
            );
        }
        if rest > 0.0 {
            put(Cell::Null, Cell::Null, rest, rest);
        }
    }
}

/// What a tree says of each state and of each function in it, seconds.
#[derive(Default)]
struct Times {
    /// By frame of the state; `u32::MAX` where there is one state only.
    states: HashMap<u32, f64>,
    /// The function's own time, and with what it called; recursion counts once.
    places: HashMap<Place, (f64, f64)>,
}

/// Adds up the nodes below the workload's own processes.
fn own_time(tree: &Tree, by_state: bool, subject: &Subject<'_>) -> Times {
    let totals = tree.totals(0);
    let mut times = Times::default();
    // By node: its state, and whether it is below a process of the workload.
    let mut of: Vec<(u32, bool)> = vec![(u32::MAX, false); tree.len()];
    let is_all = subject.owned.names.is_empty();
    for node in 1..tree.len() as u32 {
        let Some(frame) = tree.frame(node) else { continue };
        let parent = tree.parent(node);
        let (mut state, mut is_own) = of.get(parent as usize).copied().unwrap_or((u32::MAX, false));
        if by_state && parent == ROOT {
            state = tree.frame_index(node);
        } else if &*frame.kind == "process" {
            is_own = is_all || subject.owned.names.contains(&*frame.name);
            if is_own {
                *times.states.entry(state).or_default() += totals.get(node as usize).copied().unwrap_or(0.0);
            }
        }
        if let Some(slot) = of.get_mut(node as usize) {
            *slot = (state, is_own);
        }
        if !is_own || !frame.is_code() {
            continue;
        }
        let function = tree.frame_index(node);
        let mut up = parent;
        while up != ROOT && tree.frame_index(up) != function {
            up = tree.parent(up);
        }
        let (own, total) = times.places.entry((state, function)).or_default();
        *own += tree.own(0).get(node as usize).copied().unwrap_or(0.0);
        if up == ROOT {
            *total += totals.get(node as usize).copied().unwrap_or(0.0);
        }
    }
    times
}
