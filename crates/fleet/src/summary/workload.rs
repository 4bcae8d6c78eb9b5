//! The workload as a whole: its pace, its CPU time, and the states of its threads, with their courses over time. A fleet is asked of these first.

use super::metrics::{Declaration, declare, per_word};
use super::{Rows, SLICES, Subject, unix};
use compare::measured::Cut;
use compare::{Per, means};
use model::{Polarity, StateKind};
use query::series::Grid;
use query::stats::Comparer;
use query::{Run, metric};

/// The table of the thread ledger, and that of processes, which stands in for it where threads were not traced.
const THREADS: &str = "thread_time";
const PROCESSES: &str = "process";

/// The metric of the pace.
pub const DONE: &str = "work.done";

/// How the names of metrics begin that are of the workload as a whole.
pub const WORKLOAD: &str = "workload.";

/// The metric of CPU time.
pub const CPU: &str = "workload.cpu";

/// The columns of the states of the ledger that a fleet is asked of, besides CPU time: the run queue first.
pub const STATES: [&str; 10] =
    ["runnable", "stolen", "throttled", "lock", "disk", "network", "pipe", "fault", "sleep", "other"];

/// The metric of a state of the ledger, by the state's column.
pub fn of_state(column: &str) -> String {
    format!("{WORKLOAD}{column}")
}

/// Adds the pace, CPU time and states of the workload, with the courses of these and of the CPU use of the host.
pub fn reduce(subject: &Subject<'_>, comparer: &mut Comparer, rows: &mut Rows) {
    pace(subject, comparer, rows);
    let mut cpu: Option<Cut> = None;
    for (column, kind, polarity, help) in states(subject.run) {
        let Some(cut) = own(subject, THREADS, column) else { continue };
        if kind == StateKind::OnCpu {
            cpu = Some(cpu.map_or_else(|| cut.clone(), |sum| sum.plus(&cut)));
        }
        if kind != StateKind::Rest {
            add(subject, &of_state(column), polarity, help, &cut, comparer, rows);
        }
    }
    if let Some(cpu) = cpu.or_else(|| own(subject, PROCESSES, "cpu_time")) {
        let help = "CPU time of the workload's threads";
        add(subject, CPU, Polarity::Worse, help, &cpu, comparer, rows);
    }
    // The metric itself is in the list of all.
    if let Some(grid) = means::grid(subject.run, "cpu", "busy", &[], &subject.window) {
        let cut = Cut::sum(&grid, &subject.window, |_| true);
        course(subject, ("cpu.busy", Per::Second), &cut, rows);
    }
}

/// The states of the ledger that a recording has: column, kind, which way is better, what it is.
fn states(run: &Run) -> Vec<(&'static str, StateKind, Polarity, &'static str)> {
    let Some(table) = run.recording.table(THREADS) else { return Vec::new() };
    table.states().map(|(column, state)| (column.name, state.kind, column.polarity, column.help)).collect()
}

fn pace(subject: &Subject<'_>, comparer: &mut Comparer, rows: &mut Rows) {
    let Some((pace, unit)) = &subject.pace else { return };
    let cut = subject.progress.as_ref().map(|progress| Cut::of_work(progress, &subject.window));
    let cut = cut.filter(|cut| !cut.is_empty()).unwrap_or_else(|| Cut::of_pace(*pace, &subject.window));
    let help = format!("{unit} done");
    declare(&declaration(DONE, "1/s", None, Polarity::Better, &help), rows);
    let before = rows.metric.len();
    subject.row((DONE, "{}", Per::Second), &cut, comparer, rows);
    // How large it is, work and time of the whole window say; how it varied, its steady state.
    if rows.metric.len() > before {
        rows.metric.replace(before, "mean", pace.rate());
    }
    course(subject, (DONE, Per::Second), &cut, rows);
}

fn declaration<'a>(
    name: &str,
    unit: &'a str,
    per_operation: Option<&'a str>,
    polarity: Polarity,
    help: &'a str,
) -> Declaration<'a> {
    Declaration { name: name.to_owned(), unit, per_operation, polarity, is_rate: true, floor: 0.0, help }
}

/// A rate of the workload's own processes: of all, where nothing is known to belong to it.
fn own(subject: &Subject<'_>, table: &str, name: &str) -> Option<Cut> {
    let declared = subject.run.recording.table(table)?;
    let frame = means::frame(subject.run, table, &[name], &subject.window)?;
    let grid = Grid::new(&frame, &metric(declared, name)?, &["comm"], None).ok()?;
    let is_all = subject.owned.names.is_empty() || subject.owned.tables.contains(table);
    let is_own = |labels: &[String]| is_all || labels.first().is_some_and(|name| subject.owned.names.contains(name));
    Some(Cut::sum(&grid, &subject.window, is_own))
}

fn add(
    subject: &Subject<'_>,
    name: &str,
    polarity: Polarity,
    help: &str,
    cut: &Cut,
    comparer: &mut Comparer,
    rows: &mut Rows,
) {
    declare(&declaration(name, "s/s", Some("s"), polarity, help), rows);
    subject.row((name, "{}", Per::Second), cut, comparer, rows);
    if let Some(work) = &subject.progress {
        subject.row((name, "{}", Per::Operation), &cut.per_operation(work), comparer, rows);
        course(subject, (name, Per::Operation), cut, rows);
    } else {
        course(subject, (name, Per::Second), cut, rows);
    }
}

/// Adds the course of a rate: its mean over slices of equal length.
fn course(subject: &Subject<'_>, (name, per): (&str, Per), cut: &Cut, rows: &mut Rows) {
    let seconds = subject.window.seconds();
    let longest = cut.times().iter().map(|(from, to)| to - from).fold(0.0, f64::max);
    let slices = ((seconds / longest.max(1e-3)) as usize).clamp(1, SLICES);
    if cut.is_empty() || seconds <= 0.0 {
        return;
    }
    let from = subject.window.from as f64 / 1e9;
    let length = seconds / slices as f64;
    let mut sums = vec![(0.0, 0.0); slices];
    for ((num, den), &(begin, end)) in cut.num().iter().zip(cut.den()).zip(cut.times()) {
        if !num.is_finite() || end <= begin {
            continue;
        }
        let place = |t: f64| ((t - from) / length).clamp(0.0, slices as f64);
        for slice in place(begin) as usize..(place(end).ceil() as usize).min(slices) {
            let starts = from + slice as f64 * length;
            let part = (end.min(starts + length) - begin.max(starts)).max(0.0) / (end - begin);
            if let Some(sum) = sums.get_mut(slice) {
                *sum = (sum.0 + num * part, sum.1 + den * part);
            }
        }
    }
    for (slice, (num, den)) in sums.into_iter().enumerate() {
        let starts = from + slice as f64 * length;
        let done = |work: &compare::work::Progress| work.between(starts, starts + length);
        let den = match per {
            // Slices at an end of the window may be measured in a part.
            Per::Operation => subject.progress.as_ref().map_or(f64::NAN, done) * (den / length).min(1.0),
            Per::Second => den,
        };
        let mean = if den > 0.0 { num / den } else { f64::NAN };
        rows.slice.push(&[
            name.into(),
            "{}".into(),
            per_word(per).into(),
            subject.host.clone(),
            subject.id.clone(),
            (slice as i64).into(),
            unix(subject, starts).into(),
            unix(subject, starts + length).into(),
            mean.into(),
        ]);
    }
}
