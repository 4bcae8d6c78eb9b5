//! Shared lines as recordings hold them.

use super::{Access, Field, Line, Sharing, Watched};
use crate::Run;
use crate::assembly::Dictionary;
use model::{NULL, Symbols, Window};
use std::collections::BTreeMap;

fn number(cell: i64) -> Option<f64> {
    (cell != NULL).then(|| f64::from_bits(cell as u64)).filter(|n| n.is_finite())
}

fn count(cell: i64) -> u64 {
    if cell == NULL { 0 } else { u64::try_from(cell).unwrap_or(0) }
}

impl Sharing {
    /// Reads it; `None` where no samples were looked through, and the CPU has sampled no accesses itself.
    pub fn load(run: &Run, window: &Window) -> Option<Sharing> {
        let mut found = Sharing::default();
        let mut symbols = Symbols::default();
        let between = Some((window.from, i64::MAX));
        let inside = |at: i64| at != NULL && window.part(at, at) > 0.0;
        run.recording.scan("sharing_look", &["pid", "comm", "at", "time", "tid"], between, &mut symbols, |batch| {
            for row in (0..batch.len()).filter(|&row| inside(batch.cell(2, row))) {
                let seconds = count(batch.cell(3, row)) as f64 / 1e9;
                *found.looked.entry(batch.cell(0, row)).or_default() += seconds;
                *found.of_thread.entry(batch.cell(4, row)).or_default() += seconds;
                let comm = batch.symbols.text(batch.cell(1, row)).unwrap_or_default().to_owned();
                *found.of_comm.entry(comm).or_default() += seconds;
            }
        });
        let columns = ["pid", "at", "samples", "latency"];
        run.recording.scan("instruction_access", &columns, between, &mut symbols, |batch| {
            for row in (0..batch.len()).filter(|&row| inside(batch.cell(1, row))) {
                let of = found.sampled.entry(batch.cell(0, row)).or_default();
                of.samples += count(batch.cell(2, row));
                of.cycles += count(batch.cell(3, row));
            }
        });
        if found.looked.is_empty() && found.sampled.is_empty() {
            return None;
        }
        run.recording.scan("sharing_machine", &["transfer", "contended", "atomic"], None, &mut symbols, |batch| {
            for row in 0..batch.len() {
                [found.transfer, found.contended, found.atomic] =
                    [0, 1, 2].map(|column| number(batch.cell(column, row)));
            }
        });
        run.recording.scan("sharing_watch", &["set", "hits", "armed", "longest"], None, &mut symbols, |batch| {
            for row in 0..batch.len() {
                let [set, hits, armed, longest] = [0, 1, 2, 3].map(|column| batch.cell(column, row));
                let (armed, longest) = (count(armed) as f64 / 1e9, count(longest) as f64 / 1e9);
                found.watched = Some(Watched { set, hits, armed, longest });
            }
        });
        let mut lines = lines(run);
        accesses(run, window, &mut lines);
        found.lines = lines.into_values().filter(|line| !line.accesses.is_empty()).collect();
        found.judge();
        Some(found)
    }
}

fn lines(run: &Run) -> BTreeMap<i64, Line> {
    let mut lines: BTreeMap<i64, Line> = BTreeMap::new();
    let mut symbols = Symbols::default();
    let columns = ["number", "pid", "comm", "address", "memory", "name", "module", "source", "start", "size", "note"];
    run.recording.scan("sharing_line", &columns, None, &mut symbols, |batch| {
        for row in 0..batch.len() {
            let text = |column: usize| batch.symbols.text(batch.cell(column, row)).unwrap_or_default().to_owned();
            let cell = |column: usize| Some(batch.cell(column, row)).filter(|&cell| cell != NULL);
            let line = Line {
                number: batch.cell(0, row),
                pid: batch.cell(1, row),
                comm: text(2),
                address: batch.cell(3, row) as u64,
                memory: text(4),
                name: text(5),
                module: text(6),
                source: text(7),
                start: cell(8).map(|start| start as u64),
                size: cell(9),
                note: text(10),
                ..Line::default()
            };
            lines.insert(line.number, line);
        }
    });
    run.recording.scan("sharing_field", &["line", "first", "size", "name", "type"], None, &mut symbols, |batch| {
        for row in 0..batch.len() {
            let text = |column: usize| batch.symbols.text(batch.cell(column, row)).unwrap_or_default().to_owned();
            let [first, size] = [1, 2].map(|column| batch.cell(column, row));
            if let Some(line) = lines.get_mut(&batch.cell(0, row)).filter(|_| first != NULL && size != NULL) {
                line.fields.push(Field { first, size, name: text(3), of_type: text(4) });
            }
        }
    });
    for line in lines.values_mut() {
        line.fields.sort_by_key(|field| field.first);
    }
    lines
}

/// Line, thread, instruction, first byte and size.
type Key = (i64, i64, i64, i64, i64);

fn accesses(run: &Run, window: &Window, lines: &mut BTreeMap<i64, Line>) {
    let dictionary = Dictionary::load(run);
    let columns = [
        "line",
        "tid",
        "thread",
        "at",
        "stack",
        "code",
        "text",
        "first",
        "size",
        "reads",
        "writes",
        "atomic",
        "waited",
        "wait",
        "seen",
        "period",
        "hits",
        "armed",
        "sampled",
        "from_core",
        "modified",
        "timed",
        "latency",
    ];
    let mut by_key: BTreeMap<Key, (Access, Vec<f64>)> = BTreeMap::new();
    let between = Some((window.from, i64::MAX));
    run.recording.scan("sharing_access", &columns, between, &mut Symbols::default(), |batch| {
        for row in 0..batch.len() {
            let cell = |column: usize| batch.cell(column, row);
            let at = cell(3);
            if at == NULL || window.part(at, at) <= 0.0 || [7, 8].map(cell).contains(&NULL) {
                continue;
            }
            let text = |column: usize| batch.symbols.text(cell(column)).unwrap_or_default().to_owned();
            let key = (cell(0), cell(1), cell(5), cell(7), cell(8));
            let (access, periods) = by_key.entry(key).or_insert_with(|| {
                let (mut function, mut within, mut source) = (String::new(), String::new(), String::new());
                if let Some((frame, inlined)) = dictionary.innermost(cell(4)) {
                    let inner = inlined.first().unwrap_or(&frame);
                    (function, source) = (inner.function.clone(), inner.source.clone());
                    within.clone_from(&frame.function);
                } else if let Some(frame) = dictionary.of_kernel(cell(4)) {
                    function.clone_from(&frame.function);
                }
                let access = Access {
                    tid: cell(1),
                    thread: text(2),
                    function,
                    within,
                    source,
                    code: cell(5) as u64,
                    text: text(6),
                    first: cell(7).clamp(0, 63),
                    size: cell(8).clamp(0, 64),
                    reads: cell(9) == 1,
                    writes: cell(10) == 1,
                    atomic: cell(11) == 1,
                    ..Access::default()
                };
                (access, Vec::new())
            });
            access.waited += count(cell(12));
            access.wait += count(cell(13)) as f64 / 1e9;
            access.seen += count(cell(14));
            periods.extend(number(cell(15)));
            access.hits += count(cell(16));
            access.armed += count(cell(17)) as f64;
            for (sum, column) in [
                (&mut access.sampled, 18),
                (&mut access.from_core, 19),
                (&mut access.modified, 20),
                (&mut access.timed, 21),
                (&mut access.cycles, 22),
            ] {
                *sum += count(cell(column));
            }
            if access.thread.is_empty() {
                access.thread = text(2);
            }
        }
    });
    for ((line, ..), (mut access, mut periods)) in by_key {
        periods.sort_by(f64::total_cmp);
        access.period = periods.get(periods.len() / 2).copied();
        if let Some(line) = lines.get_mut(&line) {
            line.accesses.push(access);
        }
    }
    for line in lines.values_mut() {
        line.accesses.sort_by(|a, b| {
            b.wait
                .total_cmp(&a.wait)
                .then((b.from_core, b.sampled).cmp(&(a.from_core, a.sampled)))
                .then(b.seen.cmp(&a.seen))
                .then((a.tid, a.first, a.code).cmp(&(b.tid, b.first, b.code)))
        });
    }
}
