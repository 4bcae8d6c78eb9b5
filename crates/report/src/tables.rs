//! Tables whose values the page computes for the window that its reader chooses: one for each recorded table whose rows are about
//! something that has a name, such as processes, disks, interfaces or control groups.

use crate::Error;
use crate::block::Coding;
use crate::bundle::{self, PageTable, WindowTable};
use crate::charts::{PageData, window};
use crate::profile::at;
use crate::summed;
use crate::words::spelled;
use compare::Comparison;
use model::{Compare, Kind, Table, Type};
use query::series::Grid;
use query::{Metric, Run, metrics};
use std::collections::{BTreeMap, HashMap};
use store::{Frame, Select};

/// At most so many rows a run: those that use the most in the window, or at any moment of the recording.
const ROWS: usize = 60;

/// At most so many value columns.
const COLUMNS: usize = 12;

/// Entities told apart one by one up to this number; beyond, as the table is grouped for comparison.
const SINGLE: usize = 2000;

/// Ticks that a table is computed from.
const MOST_TICKS: usize = 600;

/// The column of command lines.
const COMMAND: &str = "command";

/// Adds the tables to the pages on which their charts are.
pub(crate) fn add(runs: &[Run], comparison: &Comparison, pages: &mut [PageData]) -> Result<(), Error> {
    let mut done: Vec<&'static str> = Vec::new();
    for run in runs {
        for (_, table) in run.recording.tables() {
            let is_named = table.groups.iter().any(|g| !g.is_empty())
                && !table.is_long()
                && !table.events
                && !summed::has_histogram(table)
                && table.states().next().is_none()
                // Ratios of counts are not added up over CPUs: the view of their page has them.
                && table.name != "pmu";
            if !is_named || done.contains(&table.name) {
                continue;
            }
            done.push(table.name);
            let Some(page) = pages.iter_mut().find(|p| p.drawn.iter().any(|(_, t, _)| *t == table.name)) else {
                continue;
            };
            if let Some(table) = build(runs, comparison, table, page)? {
                page.tables.push(PageTable::Window(table));
            }
        }
    }
    Ok(())
}

fn build(
    runs: &[Run],
    comparison: &Comparison,
    table: &'static Table,
    page: &mut PageData,
) -> Result<Option<WindowTable>, Error> {
    let wanted: Vec<Metric> = metrics(table).into_iter().filter(|m| m.compare != Compare::Never).collect();
    // Derived metrics say more than what they are made of.
    let mut wanted: Vec<Metric> = wanted
        .iter()
        .rev()
        .filter(|m| table.column(m.name).is_none())
        .rev()
        .chain(wanted.iter().filter(|m| table.column(m.name).is_some()))
        .cloned()
        .collect();
    wanted.truncate(COLUMNS);
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut rows: Vec<bundle::Row> = Vec::new();
    let mut by: Vec<&'static str> = Vec::new();
    let mut cut = 0;
    for (index, run) in runs.iter().enumerate() {
        let Some(frame) = run.recording.load(table.name, &Select { most_ticks: MOST_TICKS, ..Select::default() })
        else {
            continue;
        };
        if frame.ticks.is_empty() {
            continue;
        }
        if by.is_empty() {
            by = if frame.entities.len() <= SINGLE {
                table.labels().map(|c| c.name).collect()
            } else {
                table.groups.iter().max_by_key(|g| g.len()).map_or_else(Vec::new, |g| g.to_vec())
            };
        }
        cut += fill(&frame, &wanted, &by, index, run, comparison, page, &mut rows)?;
    }
    if rows.is_empty() {
        return Ok(None);
    }
    let column = |id: &str, unit: &str, help: &str, key: Option<bool>| bundle::Column {
        id: id.into(),
        title: spelled(id),
        unit: unit.into(),
        help: help.into(),
        text: true,
        key,
    };
    let mut columns: Vec<bundle::Column> = by
        .iter()
        .filter_map(|name| table.column(name))
        .map(|c| column(c.name, "", c.help, Some(table.groups.iter().any(|g| g.contains(&c.name)))))
        .collect();
    if rows.iter().any(|row| row.text.contains_key(COMMAND)) {
        columns.push(column(COMMAND, "", "command line; values that look like secrets are masked", None));
    }
    columns.extend(wanted.iter().map(|m| bundle::Column { text: false, ..column(m.name, m.unit, m.help, None) }));
    let labels: String = by.iter().map(|l| format!(", \"{l}\"")).collect();
    let values: Vec<String> = wanted.iter().map(|m| format!("avg(\"{0}\") as \"{0}\"", m.name)).collect();
    let help = if cut > 0 {
        format!("{}; the {ROWS} that use most are listed, {cut} are not", table.help)
    } else {
        table.help.to_owned()
    };
    Ok(Some(WindowTable {
        id: format!("{}-table", table.name),
        title: spelled(table.name),
        help,
        query: format!("select run{labels}, {} from {}_rate group by run{labels}", values.join(", "), table.name),
        columns,
        rows,
    }))
}

/// Adds the rows of one run; returns how many were left out.
#[expect(clippy::too_many_arguments, reason = "everything that a row is made of")]
fn fill(
    frame: &Frame,
    wanted: &[Metric],
    by: &[&'static str],
    index: usize,
    run: &Run,
    comparison: &Comparison,
    page: &mut PageData,
    rows: &mut Vec<bundle::Row>,
) -> Result<usize, Error> {
    let grids = wanted.iter().map(|m| Grid::new(frame, m, by, None)).collect::<Result<Vec<_>, _>>()?;
    // How much of everything an entity uses: its share of each metric, at its largest of the window and of any single interval.
    let mut scores: HashMap<&[String], f64> = HashMap::new();
    for grid in &grids {
        let range = window(comparison, index, grid).unwrap_or(grid.all());
        let total: f64 = grid.series.iter().filter_map(|s| s.mean(range.clone())).map(f64::abs).sum();
        let mut sums = vec![0.0; grid.len()];
        for series in &grid.series {
            for (i, ..) in series.measured(grid.all()) {
                if let Some(sum) = sums.get_mut(i) {
                    *sum += Some(series.value(i).abs()).filter(|v| v.is_finite()).unwrap_or(0.0);
                }
            }
        }
        for series in &grid.series {
            let share = series.mean(range.clone()).map_or(0.0, |m| m.abs() / total.max(f64::MIN_POSITIVE));
            let peak = series.measured(grid.all()).map(|(i, ..)| series.value(i).abs() / at(&sums, i));
            let peak = peak.filter(|v| v.is_finite()).fold(0.0, f64::max);
            *scores.entry(&series.labels).or_default() += share.max(peak / 4.0);
        }
    }
    let mut order: Vec<(&[String], f64)> = scores.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let left_out = order.len().saturating_sub(ROWS);
    order.truncate(ROWS);
    let commands = commands(run, by);
    let lengths: Vec<Vec<f64>> = grids.iter().map(lengths).collect();
    for (labels, _) in order {
        let mut text: BTreeMap<String, String> =
            by.iter().map(|l| (*l).to_owned()).zip(labels.iter().cloned()).collect();
        if let Some(command) = commands.get(labels.first().map_or("", String::as_str)) {
            text.insert(COMMAND.into(), command.clone());
        }
        let mut data = BTreeMap::new();
        for (grid, lengths) in grids.iter().zip(&lengths) {
            if let Some(series) = grid.series.iter().find(|s| s.labels == labels) {
                // One that was not there used nothing: it has no row while others of the same read have one. A level stays unmeasured.
                let series = if grid.metric.is_rate() { &series.or_zero(lengths) } else { series };
                data.insert(grid.metric.name.to_owned(), page.block.add(grid, series, Coding::Float));
            }
        }
        rows.push(bundle::Row { run: index, text, data });
    }
    Ok(left_out)
}

/// Lengths of the intervals in which something was measured, seconds; NaN for the others.
fn lengths(grid: &Grid) -> Vec<f64> {
    let mut lengths = vec![f64::NAN; grid.len()];
    for (i, ..) in grid.series.iter().flat_map(|series| series.measured(grid.all())) {
        if let Some(length) = lengths.get_mut(i) {
            *length = at(&grid.to, i) - at(&grid.from, i);
        }
    }
    lengths
}

/// Command lines by process, where rows are told apart by process: from the recording's table of process properties.
fn commands(run: &Run, by: &[&str]) -> HashMap<String, String> {
    if by.first() != Some(&"pid") {
        return HashMap::new();
    }
    let Some(frame) = run.recording.load("process_info", &Select::default()) else { return HashMap::new() };
    let command =
        frame.table.values().find(|c| c.kind == Kind::Fact && c.ty == Type::Text && c.name.starts_with("command"));
    let Some(cells) = command.and_then(|c| frame.column(c.name)) else { return HashMap::new() };
    let Some(pid) = frame.table.labels().position(|c| c.name == "pid") else { return HashMap::new() };
    let entity = |e: &store::Entity| {
        let text = frame.symbols.text(*cells.get(e.rows.end.checked_sub(1)?)?)?;
        Some((e.labels.get(pid)?.to_string(), text.to_owned()))
    };
    frame.entities.iter().filter_map(entity).collect()
}
