//! The charts of each page: computed from the tables on the columns directly.

use crate::Error;
use crate::block::{Block, Coding};
use crate::bundle::{self, PageTable, SeriesRef, View};
use crate::words::{alone, capital};
use compare::{Comparison, Difference};
use model::{Chart, ChartKind, Page, Type, Window};
use query::series::Grid;
use query::{Metric, Run, metric};
use std::collections::{BTreeMap, HashMap};
use store::{Frame, Select};

/// At most so many ticks of a table are drawn; beyond, every n-th, which keeps counters exact.
const MOST_TICKS: usize = 7200;

/// So many differences without a chart of their own get one.
const EXTRA: usize = 40;

/// A page of the report.
pub(crate) struct PageData {
    pub(crate) page: Page,
    pub(crate) charts: Vec<bundle::Chart>,
    pub(crate) tables: Vec<PageTable>,
    pub(crate) block: Block,
    /// For each chart, what a difference finds it by.
    pub(crate) drawn: Vec<Link>,
    /// What the page draws above its charts, from a block of its own.
    pub(crate) view: Option<View>,
}

/// What a chart shows: its id, table and columns.
type Link = (String, &'static str, Vec<String>);

impl PageData {
    pub(crate) fn new(page: Page) -> Self {
        PageData {
            page,
            charts: Vec::new(),
            tables: Vec::new(),
            block: Block::default(),
            drawn: Vec::new(),
            view: None,
        }
    }

    /// Whether there is nothing to be seen on it.
    pub(crate) fn is_empty(&self) -> bool {
        self.charts.is_empty() && self.tables.is_empty() && self.view.is_none()
    }

    pub(crate) fn block_id(&self) -> String {
        format!("page-{}", self.page.id())
    }
}

/// Where a difference is drawn.
pub(crate) fn place_of<'a>(pages: &'a [PageData], d: &Difference) -> Option<(&'static str, Option<&'a str>)> {
    let exact = pages.iter().find_map(|page| {
        let chart =
            page.drawn.iter().find(|(_, table, columns)| *table == d.table && columns.iter().any(|c| c == d.column))?;
        Some((page.page.id(), Some(chart.0.as_str())))
    });
    exact.or_else(|| {
        pages.iter().find(|p| p.drawn.iter().any(|(_, table, _)| *table == d.table)).map(|p| (p.page.id(), None))
    })
}

/// Frames that several charts are drawn from.
struct Frames<'a> {
    runs: &'a [Run],
    loaded: HashMap<(usize, &'static str), Option<Frame>>,
}

impl Frames<'_> {
    fn get(&mut self, run: usize, table: &'static str) -> Option<&Frame> {
        let runs = self.runs;
        let load = || {
            let select = Select { most_ticks: MOST_TICKS, ..Select::default() };
            runs.get(run)?.recording.load(table, &select).filter(|f| !f.ticks.is_empty())
        };
        self.loaded.entry((run, table)).or_insert_with(load).as_ref()
    }
}

/// Computes all pages that hold data.
pub(crate) fn pages(runs: &[Run], comparison: &Comparison) -> Result<Vec<PageData>, Error> {
    let charts = all_charts(runs, comparison);
    let mut pages: BTreeMap<Page, PageData> = BTreeMap::new();
    // Table by table, so that only one table's rows are in memory at a time; then in the order in which they were declared.
    let mut by_table: BTreeMap<&'static str, Vec<(usize, Chart)>> = BTreeMap::new();
    for (order, chart) in charts.into_iter().enumerate() {
        by_table.entry(chart.table).or_default().push((order, chart));
    }
    let mut drawn: Vec<(usize, Page, bundle::Chart, Link)> = Vec::new();
    for charts in by_table.values() {
        let mut frames = Frames { runs, loaded: HashMap::new() };
        for (order, chart) in charts {
            let page = pages.entry(chart.page).or_insert_with(|| PageData::new(chart.page));
            if let Some(done) = draw(runs, comparison, chart, &mut frames, &mut page.block)? {
                let columns = chart.columns.iter().map(|&c| c.to_owned()).collect();
                drawn.push((*order, chart.page, done, (chart.id.to_owned(), chart.table, columns)));
            }
        }
    }
    drawn.sort_by_key(|(order, ..)| *order);
    for (_, page, chart, link) in drawn {
        if let Some(page) = pages.get_mut(&page) {
            page.charts.push(chart);
            page.drawn.push(link);
        }
    }
    Ok(pages.into_values().collect())
}

/// The default charts of all runs, and one for each of the first differences that none of them shows.
fn all_charts(runs: &[Run], comparison: &Comparison) -> Vec<Chart> {
    let mut all: Vec<Chart> = Vec::new();
    for chart in runs.iter().flat_map(|r| r.recording.charts()) {
        if !all.iter().any(|c| c.id == chart.id) {
            all.push(chart);
        }
    }
    let page_of = |table: &str| {
        let source = |name: &str| {
            runs.iter().find_map(|r| r.recording.tables().find(|(_, t)| t.name == name).map(|(source, _)| source))
        };
        let same_source = |c: &&Chart| source(c.table) == source(table);
        all.iter().find(|c| c.table == table).or_else(|| all.iter().find(same_source)).map_or(Page::Cpu, |c| c.page)
    };
    let mut extra: Vec<Chart> = Vec::new();
    for d in &comparison.differences {
        let shown = |c: &Chart| c.table == d.table && c.columns.contains(&d.column);
        if extra.len() >= EXTRA || all.iter().any(shown) || extra.iter().any(shown) {
            continue;
        }
        let keys: Vec<&'static str> = d.labels.keys().map(|k| model::intern(k)).collect();
        let title = model::intern(&difference_title(d.help));
        let id = model::intern(&format!("{}-{}", d.table, d.column));
        let columns: &'static [&'static str] = vec![d.column].leak();
        let chart = Chart::new(
            id,
            page_of(d.table),
            ChartKind::Line,
            title,
            "Shown because it differs between the recordings.",
            d.table,
            columns,
        );
        extra.push(chart.by(keys.leak(), 8));
    }
    all.extend(extra);
    all
}

/// What the chart of a metric is called that has none but because it differs.
fn difference_title(help: &str) -> String {
    crate::words::capital(crate::head::short(help))
}

/// Draws one chart of all runs; `None` where none has data for it.
fn draw(
    runs: &[Run],
    comparison: &Comparison,
    chart: &Chart,
    frames: &mut Frames<'_>,
    block: &mut Block,
) -> Result<Option<bundle::Chart>, Error> {
    // For each run and column: the grid.
    let mut grids: Vec<(usize, Metric, Grid)> = Vec::new();
    for run in 0..runs.len() {
        for &column in chart.columns {
            let Some(frame) = frames.get(run, chart.table) else { continue };
            let Some(metric) = metric(frame.table, column) else { continue };
            let by: Vec<&str> = chart.by.iter().copied().filter(|l| frame.table.column(l).is_some()).collect();
            let only = chart.only.filter(|(label, _)| frame.table.column(label).is_some());
            let grid = Grid::new(frame, &metric, &by, only)?;
            if !grid.series.is_empty() {
                grids.push((run, metric, grid));
            }
        }
    }
    let Some((_, first, _)) = grids.first() else { return Ok(None) };
    let (unit, table) = (first.unit, first.table);
    // Of many entities the same ones are drawn for all runs: those with the greatest means in any run's window.
    let mut groups: Vec<(&[String], f64)> = Vec::new();
    for (run, _, grid) in &grids {
        for series in &grid.series {
            let mean = window(comparison, *run, grid).and_then(|w| series.mean(w)).unwrap_or(0.0).abs();
            match groups.iter_mut().find(|(labels, _)| *labels == series.labels.as_slice()) {
                Some((_, most)) => *most = most.max(mean),
                None => groups.push((&series.labels, mean)),
            }
        }
    }
    let count = groups.len();
    let mut note = None;
    if chart.top > 0 && count > chart.top {
        groups.sort_by(|a, b| b.1.total_cmp(&a.1));
        groups.truncate(chart.top);
        note = Some(format!("The {} largest of {count} are drawn.", chart.top));
    }
    let coding = match chart.kind {
        ChartKind::Heat => Coding::Byte(scale(chart, &grids)),
        ChartKind::Line | ChartKind::Stack => Coding::Float,
    };
    let mut series = Vec::new();
    for (run, metric, grid) in &grids {
        for one in &grid.series {
            if !groups.iter().any(|(labels, _)| *labels == one.labels.as_slice()) {
                continue;
            }
            series.push(SeriesRef {
                run: *run,
                name: metric.name.into(),
                title: title(chart.kind, metric.name, metric.help).into(),
                labels: grid.by.iter().map(|&label| label.to_owned()).zip(one.labels.iter().cloned()).collect(),
                data: block.add(grid, one, coding),
            });
        }
    }
    let shown = chart.columns.iter().filter_map(|column| grids.iter().find(|(_, m, _)| m.name == *column));
    let shown: Vec<(&str, &str)> = shown.map(|(_, m, _)| (m.name, m.help)).collect();
    let help: Vec<String> = match shown.as_slice() {
        // The title says what one line is called.
        [(_, help)] => vec![capital(alone(help))],
        all => all.iter().map(|(name, help)| format!("{name}: {help}")).collect(),
    };
    // A chart of one column alone says where its values are found; the others' lines do.
    let extra = chart.title == difference_title(first.help);
    let kernel = extra.then(|| format!("{}.{}", table.name, first.name));
    let kind = match chart.kind {
        ChartKind::Line => bundle::ChartKind::Line,
        ChartKind::Stack => bundle::ChartKind::Stack,
        ChartKind::Heat => bundle::ChartKind::Heat,
    };
    Ok(Some(bundle::Chart {
        id: chart.id.into(),
        title: chart.title.into(),
        kernel,
        help: help.join("; "),
        read: chart.read.into(),
        kind,
        unit: unit.into(),
        max: (chart.max > 0.0).then_some(chart.max),
        query: sql(chart, table),
        note,
        series,
    }))
}

/// Longer ones are no titles.
const TITLE: usize = 44;

/// What a line is called: what its help begins with, where that is short; else, and where names are words that a stack is made of (user, idle …), the
/// kernel's own name.
fn title<'a>(kind: ChartKind, name: &'a str, help: &'a str) -> &'a str {
    let is_word = name.bytes().all(|b| b.is_ascii_lowercase());
    let first = crate::words::first(help);
    let fits = !first.is_empty() && first.chars().count() <= TITLE;
    if fits && !(is_word && kind == ChartKind::Stack) { first } else { name }
}

/// The greatest value that a heat map must show.
fn scale(chart: &Chart, grids: &[(usize, Metric, Grid)]) -> f64 {
    let values = grids
        .iter()
        .flat_map(|(_, _, g)| g.series.iter().flat_map(|s| g.all().map(|i| s.value(i))))
        .filter(|v| v.is_finite());
    let most = values.fold(0.0f64, f64::max);
    let most = if chart.max > 0.0 { chart.max } else { most };
    if most > 0.0 { most } else { 1.0 }
}

/// The intervals of a grid in the window of its run.
pub(crate) fn window(comparison: &Comparison, run: usize, grid: &Grid) -> Option<std::ops::Range<usize>> {
    let window: &Window = comparison.windows.get(run)?;
    let range = grid.within(window.from as f64 / 1e9 - 0.01, window.to as f64 / 1e9 + 0.01);
    Some(if range.is_empty() { grid.all() } else { range })
}

/// The SQL that gives what a chart shows.
fn sql(chart: &Chart, table: &model::Table) -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let by: String = chart.by.iter().map(|l| format!(", \"{l}\"")).collect();
    let mut conditions: Vec<String> = Vec::new();
    if let Some((label, values)) = chart.only {
        let text = table.column(label).is_none_or(|c| c.ty == Type::Text);
        let list: Vec<String> = values.iter().map(|v| if text { quote(v) } else { (*v).to_owned() }).collect();
        conditions.push(format!("\"{label}\" in ({})", list.join(", ")));
    }
    let (values, group) = if table.is_long() {
        let list: Vec<String> = chart.columns.iter().map(|c| quote(c)).collect();
        conditions.push(format!("field in ({})", list.join(", ")));
        ("field, sum(value) as value".to_owned(), ", field")
    } else {
        let list: Vec<String> = chart.columns.iter().map(|c| format!("sum(\"{c}\") as \"{c}\"")).collect();
        (list.join(", "), "")
    };
    let filter = if conditions.is_empty() { String::new() } else { format!(" where {}", conditions.join(" and ")) };
    format!("select run, t{by}, {values} from {}_rate{filter} group by run, t{by}{group}", chart.table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_titles_in_words() {
        let line = |name, help| title(ChartKind::Line, name, help);
        assert_eq!(line("ctxt", "context switches"), "context switches");
        assert_eq!(
            line("procs_running", "threads that run or want to run, at the moment"),
            "threads that run or want to run"
        );
        assert_eq!(line("errors", "of these, calls that failed; EAGAIN counts too"), "calls that failed");
        assert_eq!(line("x", &"long ".repeat(20)), "x");
        assert_eq!(title(ChartKind::Stack, "steal", "wanted to run, and the hypervisor ran something else"), "steal");
        assert_eq!(title(ChartKind::Stack, "AnonPages", "memory of programs: heaps"), "memory of programs");
    }
}
