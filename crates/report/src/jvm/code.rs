//! What the compiled code of the JVMs of a run is: how full its heaps were, over how much memory its hot part was spread, and the methods that were on a
//! CPU.

use crate::bundle::{JvmCodeHeap, JvmMethod};
use model::{NULL, Symbols};
use query::Run;
use std::collections::BTreeMap;

/// Methods of a run that are shown.
const METHODS: usize = 100;

/// A heap by its process and name.
type Heaps = BTreeMap<(i64, String), JvmCodeHeap>;

/// The heaps of code of all JVMs of a run.
pub(super) fn heaps(run: &Run) -> Vec<JvmCodeHeap> {
    let mut found = Heaps::new();
    levels(run, &mut found);
    layout(run, &mut found);
    found.into_values().collect()
}

fn heap(pid: i64, comm: &str, name: &str) -> JvmCodeHeap {
    JvmCodeHeap {
        pid,
        comm: comm.to_owned(),
        heap: name.to_owned(),
        most: None,
        used: None,
        peak: None,
        methods: None,
        samples: None,
        hot_bytes: None,
        hot_pages: None,
        hot_huge_pages: None,
        huge: None,
    }
}

fn bytes(cell: i64) -> Option<f64> {
    (cell != NULL).then_some(cell as f64)
}

/// How full they were when they were last looked at.
fn levels(run: &Run, found: &mut Heaps) {
    let Some(frame) = run.recording.load("jvm_heap", &store::Select::default()) else { return };
    let place = |name: &str| frame.table.labels().position(|label| label.name == name);
    let (Some(pid_at), Some(comm_at), Some(pool_at)) = (place("pid"), place("comm"), place("pool")) else { return };
    for entity in &frame.entities {
        let label = |at: usize| entity.labels.get(at).copied().unwrap_or(NULL);
        let text = |at: usize| frame.symbols.text(label(at)).unwrap_or_default();
        let (pid, pool) = (label(pid_at), text(pool_at));
        let Some(last) = entity.rows.clone().next_back().filter(|_| pool.starts_with("code")) else { continue };
        let cell = |name: &str| bytes(frame.column(name).and_then(|cells| cells.get(last).copied()).unwrap_or(NULL));
        let key = (pid, pool.to_owned());
        let heap = found.entry(key).or_insert_with(|| heap(pid, text(comm_at), pool));
        (heap.used, heap.most, heap.peak) = (cell("used"), cell("most"), cell("peak"));
    }
}

/// What of them was hot.
fn layout(run: &Run, found: &mut Heaps) {
    const NAMES: [&str; 11] = [
        "pid",
        "comm",
        "heap",
        "reserved",
        "used",
        "methods",
        "samples",
        "hot_bytes",
        "hot_pages_4k",
        "hot_pages_2m",
        "huge",
    ];
    let mut symbols = Symbols::default();
    let mut rows: Vec<[i64; NAMES.len()]> = Vec::new();
    run.recording.scan("jvm_code_layout", &NAMES, None, &mut symbols, |batch| {
        rows.extend((0..batch.len()).map(|row| std::array::from_fn(|column| batch.cell(column, row))));
    });
    for [pid, comm, name, reserved, used, methods, samples, hot, pages, huge_pages, huge] in rows {
        let text = |cell: i64| symbols.text(cell).unwrap_or_default();
        let number = |cell: i64| (cell != NULL).then_some(cell);
        let heap = found.entry((pid, text(name).to_owned())).or_insert_with(|| heap(pid, text(comm), text(name)));
        heap.most = heap.most.or(bytes(reserved));
        heap.used = heap.used.or(bytes(used));
        (heap.methods, heap.samples) = (number(methods), number(samples));
        (heap.hot_bytes, heap.hot_pages, heap.hot_huge_pages) = (bytes(hot), number(pages), number(huge_pages));
        heap.huge = bytes(huge);
    }
}

/// The methods with most of the CPU time, of all JVMs of a run.
pub(super) fn methods(run: &Run) -> Vec<JvmMethod> {
    const NAMES: [&str; 8] = ["method", "tier", "time", "bytes", "bytecode", "compilations", "state", "why_not"];
    let mut symbols = Symbols::default();
    let mut rows: Vec<[i64; NAMES.len()]> = Vec::new();
    run.recording.scan("jvm_code", &NAMES, None, &mut symbols, |batch| {
        rows.extend((0..batch.len()).map(|row| std::array::from_fn(|column| batch.cell(column, row))));
    });
    rows.sort_by_key(|[_, _, time, ..]| std::cmp::Reverse(*time));
    rows.truncate(METHODS);
    let text = |cell: i64| symbols.text(cell).map(str::to_owned);
    let method = |[method, tier, time, size, bytecode, compilations, state, why_not]: [i64; NAMES.len()]| JvmMethod {
        method: text(method).unwrap_or_default(),
        tier,
        time: time as f64 / 1e9,
        bytes: bytes(size),
        bytecode: bytes(bytecode).unwrap_or(0.0),
        compilations: bytes(compilations).unwrap_or(0.0) as i64,
        state: text(state),
        why_not: text(why_not),
    };
    rows.into_iter().map(method).collect()
}
