//! The block `sharing`: cache lines that threads fight over, as `twinscope sharing` computes them, of each run. It is made for the compared window, and
//! the page does not compute it anew for another one.

use crate::bundle::{
    NoCode, SharedAccess, SharedCells, SharedField, SharedFunction, SharedLine, SharedLines, SharedMoved, SharedOfRun,
    SharedThing, SharedThread,
};
use compare::Comparison;
use model::{Status, Window};
use query::Run;
use query::sharing::{Access, Line, Sharing, Thing};
use std::collections::BTreeSet;

/// The name of the block.
pub(crate) const BLOCK: &str = "sharing";

/// Findings of a run, lines of one, accesses of a line.
const THINGS: usize = 12;
const LINES: usize = 8;
const ACCESSES: usize = 24;

/// Lines of a run that the CPU says came from other cores.
const MOVED: usize = 12;

/// Functions that are named of a finding, as `twinscope sharing` does.
const FUNCTIONS: usize = 4;

/// What was found in the runs; `None` where no recording was ever looked for shared lines, nor says why it was not.
pub(crate) fn sharing(runs: &[Run], comparison: &Comparison) -> Option<SharedLines> {
    runs.iter().any(knows).then(|| SharedLines {
        runs: runs.iter().zip(&comparison.windows).map(|(run, window)| of_run(run, window)).collect(),
    })
}

fn reasons(run: &Run) -> Vec<model::Coverage> {
    run.recording.coverage().into_iter().filter(|c| c.source == "instructions" && c.status != Status::Read).collect()
}

/// Whether a recording was made by a recorder that looks for shared lines, or says why it did not.
fn knows(run: &Run) -> bool {
    ["sharing_look", "instruction_access"].iter().any(|table| run.recording.table(table).is_some())
        || !reasons(run).is_empty()
}

fn why_nothing(run: &Run) -> NoCode {
    let said = reasons(run);
    let why: Vec<&str> = said.iter().map(|c| c.why.as_str()).collect();
    let why = match why.as_slice() {
        [] => "no thread was busy while it was looked for shared lines, or it was not looked for them".to_owned(),
        why => format!("it was not looked for shared lines: {}", why.join("; ")),
    };
    NoCode { why, remedy: said.iter().find_map(|c| c.remedy.clone()) }
}

fn of_run(run: &Run, window: &Window) -> SharedOfRun {
    let Some(found) = Sharing::load(run, window) else {
        let missing = Some(why_nothing(run));
        return SharedOfRun {
            missing,
            things: Vec::new(),
            left_out: 0,
            transfer: None,
            atomic: None,
            hits: None,
            looked: false,
            sampled: None,
            moved: Vec::new(),
            moved_left_out: 0,
        };
    };
    SharedOfRun {
        missing: None,
        things: found.things.iter().take(THINGS).map(|t| thing(&found, t)).collect(),
        left_out: found.things.len().saturating_sub(THINGS),
        transfer: found.transfer,
        atomic: found.atomic,
        hits: found.watched.map(|w| w.hits),
        looked: !found.looked.is_empty(),
        sampled: (!found.sampled.is_empty()).then(|| found.sampled.values().map(|of| of.samples).sum()),
        moved: found.moved.iter().take(MOVED).filter_map(|&at| Some(moved(&found, found.lines.get(at)?))).collect(),
        moved_left_out: found.moved.len().saturating_sub(MOVED),
    }
}

fn moved(found: &Sharing, of: &Line) -> SharedMoved {
    SharedMoved {
        kind: of.moved.kind.map(|kind| kind.word().into()),
        name: of.thing(),
        memory: of.memory.clone(),
        pid: of.pid,
        comm: of.comm.clone(),
        sampled: of.moved.sampled,
        from_core: of.moved.from_core,
        modified: of.moved.modified,
        cycles: of.moved.mean(),
        part: found.part_of_cycles(of),
        advice: found.advice_of(of),
        line: line(of),
    }
}

fn thing(found: &Sharing, of: &Thing) -> SharedThing {
    let lines: Vec<&Line> = of.lines.iter().filter_map(|&at| found.lines.get(at)).collect();
    let three = |(value, low, high): (f64, f64, f64)| [value, low, high];
    let function = |(name, seconds): &(String, f64)| SharedFunction {
        name: name.clone(),
        part: seconds / of.excess.max(f64::MIN_POSITIVE),
    };
    SharedThing {
        kind: of.kind.word().into(),
        name: of.name.clone(),
        memory: lines.first().map_or_else(String::new, |l| l.memory.clone()),
        pid: of.pid,
        comm: of.comm.clone(),
        part: three(of.part),
        speedup: three(of.speedup),
        functions: of.functions.iter().take(FUNCTIONS).map(function).collect(),
        advice: found.advice(of),
        lines: lines.iter().take(LINES).map(|l| line(l)).collect(),
        left_out: lines.len().saturating_sub(LINES),
    }
}

fn line(of: &Line) -> SharedLine {
    let mut threads: Vec<SharedThread> = Vec::new();
    for access in of.accesses.iter().filter(|a| a.reads || a.writes) {
        match threads.iter_mut().find(|t| t.tid == access.tid) {
            Some(known) if known.name.is_empty() => known.name.clone_from(&access.thread),
            Some(_) => {}
            None => threads.push(SharedThread { tid: access.tid, name: access.thread.clone() }),
        }
    }
    let place = |tid: i64| threads.iter().position(|t| t.tid == tid);
    let shown: Vec<SharedAccess> =
        of.accesses.iter().filter(|a| a.reads || a.writes).filter_map(|a| Some(access(a, place(a.tid)?))).collect();
    SharedLine {
        address: of.address,
        watched: of.proven,
        source: of.source.clone(),
        fields: of
            .fields
            .iter()
            .map(|f| SharedField { first: f.first, size: f.size, name: f.name.clone(), of_type: f.of_type.clone() })
            .collect(),
        cells: cells(of, &place),
        left_out: shown.len().saturating_sub(ACCESSES),
        accesses: shown.into_iter().take(ACCESSES).collect(),
        threads,
    }
}

fn access(of: &Access, thread: usize) -> SharedAccess {
    SharedAccess {
        thread,
        first: of.first,
        size: of.size,
        does: of.deed().into(),
        function: of.function.clone(),
        // Where the instruction was not read, where it is.
        text: if of.text.is_empty() && of.code != 0 { format!("{:#x}", of.code) } else { of.text.clone() },
        source: of.source.clone(),
        waited: of.waited,
        hits: of.hits,
        sampled: of.sampled,
        from_core: of.from_core,
    }
}

/// Who uses which bytes; of all accesses, also those that are not listed.
fn cells(of: &Line, place: &dyn Fn(i64) -> Option<usize>) -> Vec<SharedCells> {
    let mut cells: Vec<SharedCells> = Vec::new();
    for byte in 0..64 {
        let uses = |writes: bool| {
            let does = |a: &&Access| a.bytes().contains(&byte) && if writes { a.writes } else { a.reads };
            of.accesses.iter().filter(does).filter_map(|a| place(a.tid)).collect::<BTreeSet<usize>>()
        };
        let writers = uses(true);
        let readers: Vec<usize> = uses(false).difference(&writers).copied().collect();
        let writers: Vec<usize> = writers.into_iter().collect();
        match cells.last_mut() {
            _ if writers.is_empty() && readers.is_empty() => {}
            Some(last) if last.first + last.size == byte && last.writers == writers && last.readers == readers => {
                last.size += 1;
            }
            _ => cells.push(SharedCells { first: byte, size: 1, writers, readers }),
        }
    }
    cells
}
