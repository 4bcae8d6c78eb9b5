//! One metric of one run over its window: its series, and the mean of each group.

use crate::MOST_TICKS;
use model::Window;
use query::series::{Grid, Series};
use query::{Run, metric};
use store::{Frame, Select};

/// What those of some metrics of a table that it has are computed from; `None` where nothing was recorded.
pub fn frame(run: &Run, table: &str, names: &[&str], window: &Window) -> Option<Frame> {
    let declared = run.recording.table(table)?;
    let columns: Vec<&str> = names.iter().filter_map(|name| metric(declared, name)).flat_map(|m| m.columns()).collect();
    let between = Some((window.from, window.to));
    let select = Select { columns: Some(&columns), between, most_ticks: MOST_TICKS, ..Select::default() };
    run.recording.load(table, &select).filter(|f| !f.ticks.is_empty())
}

/// A metric of a run, one series for each group of `by`; `None` where it was not recorded.
pub fn grid(run: &Run, table: &str, name: &str, by: &[&str], window: &Window) -> Option<Grid> {
    let found = metric(run.recording.table(table)?, name)?;
    Grid::new(&frame(run, table, &[name], window)?, &found, by, None).ok()
}

/// The CPU time of all recorders of a run ([`model::Manifest::recorders`]), one series; where no process was looked at, that of its own recorder.
pub fn of_recorders(run: &Run, window: &Window) -> Option<Grid> {
    let found = run.recording.table("process").and_then(|table| metric(table, "cpu_time"));
    let seen = found.and_then(|found| {
        let columns = found.columns();
        let between = Some((window.from, window.to));
        let select = Select { columns: Some(&columns), between, most_ticks: MOST_TICKS, recorders: true };
        let frame = run.recording.load("process", &select).filter(|f| !f.entities.is_empty())?;
        Grid::new(&frame, &found, &[], None).ok()
    });
    seen.or_else(|| grid(run, "recorder", "cpu", &[], window))
}

/// CPUs that they used, on average.
pub fn recorder_cpus(run: &Run, window: &Window) -> f64 {
    of_recorders(run, window).and_then(|grid| means_of(&grid, window).first().map(|mean| mean.1)).unwrap_or(0.0)
}

/// The mean of a metric over the window, for each group.
pub fn means(run: &Run, table: &str, name: &str, by: &[&str], window: &Window) -> Vec<(Vec<String>, f64)> {
    grid(run, table, name, by, window).map_or_else(Vec::new, |grid| means_of(&grid, window))
}

fn means_of(grid: &Grid, window: &Window) -> Vec<(Vec<String>, f64)> {
    let cut = grid.cut(window);
    let length = |i: usize| Some((*grid.to.get(i)? - *grid.from.get(i)?) * cut.part(i));
    let seconds: f64 = cut.range.clone().filter_map(length).filter(|s| *s > 0.0).sum();
    // Over the whole window: a process that was there for half of it used half as much on average.
    let mean = |s: &Series| match s.sums_in(&cut)? {
        (num, _) if grid.metric.is_rate() => (seconds > 0.0).then(|| num / seconds),
        (num, den) => (den > 0.0).then(|| num / den),
    };
    grid.series.iter().filter_map(|s| Some((s.labels.clone(), mean(s)?))).collect()
}
