//! Tables of other tools. In a *wide* one each row is of a time and has a column for each metric; in a *long* one each row is one value of one metric. Where
//! rows come from, CSV or Parquet, a [`Grid`] hides.

use super::fleet::{Field, Fleet, Sheet};
use super::preset::{Preset, TimeColumn};
use super::series::{self, Metric, Series};
use super::time::{self, Clock, Time};
use super::units;
use crate::monitoring::Asked;
use model::{Kind, Unit};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// A cell as it was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    None,
    Text(Cow<'a, str>),
    Integer(i64),
    Real(f64),
}

impl Cell<'_> {
    /// As a number: `None` where it is a text that is none; not a number where nothing stands.
    fn number(&self, comma: bool) -> Option<f64> {
        match self {
            Cell::None => Some(f64::NAN),
            Cell::Integer(number) => Some(*number as f64),
            Cell::Real(number) => Some(if number.is_finite() { *number } else { f64::NAN }),
            Cell::Text(text) => number(text, comma),
        }
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Cell::None => "".into(),
            Cell::Text(text) => Cow::from(text.trim()),
            Cell::Integer(number) => number.to_string().into(),
            Cell::Real(number) => number.to_string().into(),
        }
    }

    fn time(&self) -> Option<Time> {
        match self {
            Cell::None => None,
            Cell::Text(text) => time::of_text(text),
            Cell::Integer(number) => time::of_integer(*number),
            Cell::Real(number) => time::of_number(*number),
        }
    }
}

/// A number of a text; a comma is a point where commas do not part columns.
fn number(text: &str, comma: bool) -> Option<f64> {
    let text = text.trim();
    let text = text.strip_suffix('%').unwrap_or(text).trim_end();
    if text.is_empty() || ["-", "--", "NA", "N/A", "n/a", "null", "NULL", "None", "nan", "NaN"].contains(&text) {
        return Some(f64::NAN);
    }
    let parsed =
        text.parse::<f64>().ok().or_else(|| if comma { text.replacen(',', ".", 1).parse().ok() } else { None });
    parsed.map(|number| if number.is_finite() { number } else { f64::NAN })
}

/// What a column is, as its description says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Described {
    pub(crate) metric: String,
    pub(crate) kind: Option<Kind>,
    pub(crate) unit: String,
    pub(crate) labels: Vec<(String, String)>,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Head {
    pub(crate) name: String,
    /// Whether it holds numbers; none where that is only seen in its cells.
    pub(crate) numeric: Option<bool>,
    /// Whether its numbers are unsigned.
    pub(crate) unsigned: bool,
    /// Whether it holds times, as its type says.
    pub(crate) is_time: bool,
    pub(crate) described: Option<Described>,
}

/// Rows of cells below named columns.
pub(crate) trait Grid {
    fn heads(&self) -> &[Head];

    /// Hands on each row with its line, or its number; ends when `take` does not want more. Returns what ended it early.
    fn rows(&self, take: &mut dyn FnMut(usize, &[Cell<'_>]) -> bool) -> Result<(), String>;

    /// Whether a comma in a number is a point.
    fn comma(&self) -> bool {
        false
    }
}

/// What columns of times are called.
const TIMES: [&str; 7] = ["time", "timestamp", "ts", "datetime", "date", "date_time", "_time"];

/// Rows that are looked at to see which columns hold numbers.
const LOOKED_AT: usize = 500;

/// Most values of a file.
const MOST: u64 = 400_000_000;

/// Something that went wrong in several rows.
#[derive(Debug, Default)]
struct Often {
    count: u64,
    first: usize,
}

impl Often {
    fn at(&mut self, line: usize) {
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
    }

    fn say(&self, fleet: &mut Fleet, name: &str, one: &str, then: &str) {
        if self.count > 0 {
            let rows = if self.count == 1 { "1 row".into() } else { format!("{} rows", self.count) };
            let first = if self.count == 1 { "line" } else { "the first in line" };
            fleet.note(format!("{name}: {rows} {one} ({first} {}): {then}", self.first));
        }
    }
}

/// Which column is what.
#[derive(Debug, Default)]
struct Roles {
    time: Option<usize>,
    host: Option<usize>,
    labels: Vec<usize>,
    /// In a long table: the metric, and the value.
    long: Option<(usize, usize)>,
    values: Vec<usize>,
}

/// Reads a table into a fleet. `name` is what the file is called in messages, `stem` what the table and the only host are called.
///
/// # Errors
/// Where a column that was asked for is not there, or nothing can be made of it.
pub(crate) fn read(
    grid: &dyn Grid,
    (name, stem): (&str, &str),
    asked: &Asked,
    preset: &Preset,
    fleet: &mut Fleet,
) -> Result<(), String> {
    let roles = Roles::of(grid, asked, preset)?;
    let mut clock = Clock { midnight: asked.midnight, ..Clock::default() };
    let mut reader = Reader {
        heads: grid.heads(),
        fleet,
        asked,
        preset,
        stem,
        sheets: HashMap::new(),
        metrics: HashMap::new(),
        series: HashMap::new(),
        none: 0,
    };
    reader.none = reader.fleet.texts.number("");
    let (mut without_time, mut short, mut long, mut no_number) =
        (Often::default(), Often::default(), Often::default(), Often::default());
    let (mut number, mut values) = (0_i64, 0_u64);
    let width = grid.heads().len();
    let mut skip_first = preset.first_is_none;
    let ended = grid.rows(&mut |line, cells| {
        if std::mem::take(&mut skip_first) {
            return true;
        }
        match cells.len() {
            n if n < width => short.at(line),
            n if n > width => long.at(line),
            _ => {}
        }
        let at = match roles.time {
            None => Some(number.saturating_mul(asked.every)),
            Some(column) => cells.get(column).and_then(Cell::time).map(|time| clock.at(time)),
        };
        number += 1;
        let Some(at) = at else {
            without_time.at(line);
            return true;
        };
        let names = roles.host.iter().chain(&roles.labels).chain(roles.long.as_ref().map(|(metric, _)| metric));
        clock.follow(at, names.filter_map(|column| cells.get(*column)).map(Cell::text));
        let wrong = reader.row(&roles, grid.comma(), at, cells);
        if wrong {
            no_number.at(line);
        }
        values += roles.values.len().max(1) as u64;
        values < MOST
    });
    let Reader { fleet, .. } = reader;
    if let Err(why) = ended {
        fleet.note(format!("{name}: {why}; the {number} rows before it are kept"));
    } else if values >= MOST {
        fleet.note(format!("{name}: more than {MOST} values; what comes after line {number} is left out"));
    }
    if roles.time.is_none() {
        let every = asked.every as f64 / 1e9;
        fleet.note(format!("{name}: no column has times: rows are taken to be {every} s apart (--every)"));
    }
    clock.notes().into_iter().for_each(|note| fleet.note(format!("{name}: {note}")));
    short.say(fleet, name, "shorter than the header", "what is missing is taken as not read");
    long.say(fleet, name, "longer than the header", "what is beyond it is left out");
    without_time.say(fleet, name, "without a time that can be read", "left out");
    no_number.say(fleet, name, "with a text where numbers are", "taken as not read");
    Ok(())
}

impl Roles {
    fn of(grid: &dyn Grid, asked: &Asked, preset: &Preset) -> Result<Roles, String> {
        let heads = grid.heads();
        let find = |name: &str| {
            let exact = heads.iter().position(|head| head.name == name);
            exact.or_else(|| heads.iter().position(|head| head.name.eq_ignore_ascii_case(name)))
        };
        let wanted = |name: &str| {
            let names: Vec<&str> = heads.iter().map(|head| head.name.as_str()).take(40).collect();
            find(name).ok_or_else(|| format!("there is no column {name}: they are {}", names.join(", ")))
        };
        let mut sample: Vec<Vec<Cell<'static>>> = Vec::new();
        let _ = grid.rows(&mut |_, cells| {
            sample.push(cells.iter().map(owned).collect());
            sample.len() < LOOKED_AT
        });
        let time = match (&asked.time, &preset.time) {
            (Some(name), _) => Some(wanted(name)?),
            (None, TimeColumn::Named(name)) => Some(wanted(name)?),
            // Without an option that prints times, the first or last column is another.
            (None, TimeColumn::First) => Some(0).filter(|at| is_time(&sample, *at)),
            (None, TimeColumn::Last) => {
                heads.len().checked_sub(1).filter(|at| is_time(&sample, *at) && !is_number(&sample, *at, true))
            }
            (None, TimeColumn::Any) => TIMES
                .iter()
                .find_map(|name| find(name))
                .or_else(|| heads.iter().position(|head| head.is_time))
                .or_else(|| (0..heads.len()).find(|at| is_time(&sample, *at) && !is_number(&sample, *at, true)))
                .filter(|at| is_time(&sample, *at)),
        };
        let mut roles = Roles { time, ..Roles::default() };
        roles.host = match (&asked.host, &preset.host) {
            (Some(name), _) => Some(wanted(name)?),
            (None, Some(name)) => find(name),
            (None, None) => ["instance", "host", "hostname", "node"].iter().find_map(|name| find(name)),
        };
        let metric = asked.metric.as_ref().or(preset.metric.as_ref());
        if let Some(metric) = metric {
            let value = asked.value.as_ref().or(preset.value.as_ref()).map_or("value", |name| name);
            roles.long = Some((wanted(metric)?, wanted(value)?));
        } else if asked.value.is_some() {
            return Err("--value goes with --metric, the column of the names of metrics".into());
        }
        for name in &asked.labels {
            roles.labels.push(wanted(name)?);
        }
        if asked.labels.is_empty() {
            roles.labels.extend(preset.labels.iter().filter_map(|name| find(name)));
        }
        for (at, head) in heads.iter().enumerate() {
            let is_used = Some(at) == roles.time
                || Some(at) == roles.host
                || roles.labels.contains(&at)
                || roles.long.is_some_and(|(metric, value)| at == metric || at == value);
            if is_used || preset.drop.iter().any(|regex| regex.is_match(&head.name)) {
                continue;
            }
            let numeric = head.numeric.unwrap_or_else(|| is_number(&sample, at, grid.comma()));
            if roles.long.is_some() || !numeric {
                // What else stands beside a value tells it from others, unless it was said what does.
                if asked.labels.is_empty() && head.described.is_none() && head.numeric != Some(true) {
                    roles.labels.push(at);
                }
            } else {
                roles.values.push(at);
            }
        }
        if roles.long.is_none() && roles.values.is_empty() {
            return Err("no column holds numbers".into());
        }
        Ok(roles)
    }
}

fn owned(cell: &Cell<'_>) -> Cell<'static> {
    match cell {
        Cell::None => Cell::None,
        Cell::Text(text) => Cell::Text(Cow::Owned(text.clone().into_owned())),
        Cell::Integer(number) => Cell::Integer(*number),
        Cell::Real(number) => Cell::Real(*number),
    }
}

/// Whether half of what stands in a column is a number, or all of it is empty.
fn is_number(sample: &[Vec<Cell<'_>>], at: usize, comma: bool) -> bool {
    let cells = sample.iter().filter_map(|row| row.get(at));
    let filled: Vec<&Cell<'_>> = cells.filter(|cell| !matches!(cell, Cell::None) && !cell.text().is_empty()).collect();
    let numbers = filled.iter().filter(|cell| cell.number(comma).is_some()).count();
    numbers * 2 >= filled.len()
}

/// Whether half of what stands in a column is a time.
fn is_time(sample: &[Vec<Cell<'_>>], at: usize) -> bool {
    let cells: Vec<&Cell<'_>> = sample.iter().filter_map(|row| row.get(at)).collect();
    let times = cells.iter().filter(|cell| cell.time().is_some()).count();
    times > 0 && times * 2 >= cells.len()
}

struct Reader<'a> {
    heads: &'a [Head],
    fleet: &'a mut Fleet,
    asked: &'a Asked,
    preset: &'a Preset,
    stem: &'a str,
    /// By host: which of its sheets.
    sheets: HashMap<String, usize>,
    /// By name of a metric, or by column.
    metrics: HashMap<String, usize>,
    /// By metric, host and labels.
    series: HashMap<series::Key, usize>,
    none: u32,
}

impl Reader<'_> {
    /// Takes a row; whether a text stood where numbers are.
    fn row(&mut self, roles: &Roles, comma: bool, at: i64, cells: &[Cell<'_>]) -> bool {
        let host = match roles.host.and_then(|column| cells.get(column)) {
            Some(cell) if !cell.text().is_empty() => cell.text().into_owned(),
            _ => self.stem.to_owned(),
        };
        if let Some((metric, value)) = roles.long {
            let name = cells.get(metric).map(|cell| cell.text().into_owned()).unwrap_or_default();
            let value = cells.get(value).map_or(Some(f64::NAN), |cell| cell.number(comma));
            if name.is_empty() {
                return true;
            }
            let metric = self.metric(&name, None);
            let labels = self.labels(roles, cells);
            self.put(metric, host, labels, (at, value.unwrap_or(f64::NAN)));
            return value.is_none();
        }
        let mut wrong = false;
        if self.heads.iter().any(|head| head.described.is_some()) {
            for &column in &roles.values {
                let Some(head) = self.heads.get(column) else { continue };
                let value = cells.get(column).map_or(f64::NAN, |cell| cell.number(comma).unwrap_or(f64::NAN));
                if value.is_nan() {
                    continue;
                }
                let metric = self.metric(&head.name.clone(), Some(column));
                let mut labels = self.labels(roles, cells);
                for (name, value) in head.described.iter().flat_map(|described| &described.labels) {
                    labels.push((self.fleet.texts.number(name), self.fleet.texts.number(value)));
                }
                labels.sort_unstable();
                self.put(metric, host.clone(), labels, (at, value));
            }
            return false;
        }
        let labels: Vec<u32> = self.labels(roles, cells).into_iter().map(|(_, value)| value).collect();
        let place = self.sheet(roles, &host);
        let Some(sheet) = self.fleet.hosts.get_mut(&host).and_then(|host| host.sheets.get_mut(place)) else {
            return false;
        };
        sheet.at.push(at);
        sheet.names.extend(labels);
        for &column in &roles.values {
            let value = cells.get(column).map_or(Some(f64::NAN), |cell| cell.number(comma));
            wrong |= value.is_none();
            sheet.values.push(value.unwrap_or(f64::NAN));
        }
        wrong
    }

    fn labels(&mut self, roles: &Roles, cells: &[Cell<'_>]) -> Vec<(u32, u32)> {
        let mut labels = Vec::with_capacity(roles.labels.len());
        for &column in &roles.labels {
            let name = self.heads.get(column).map_or("", |head| &head.name);
            let value = cells.get(column).map_or(self.none, |cell| self.fleet.texts.number(&cell.text()));
            labels.push((self.fleet.texts.number(name), value));
        }
        labels
    }

    fn put(&mut self, metric: usize, host: String, labels: Vec<(u32, u32)>, value: (i64, f64)) {
        let next = self.fleet.series.len();
        let mut sorted = labels;
        sorted.sort_unstable();
        let place = *self.series.entry((metric, host.clone(), sorted.clone())).or_insert(next);
        if place == next {
            self.fleet.series.push(Series { metric, host, labels: sorted, values: Vec::new() });
        }
        if let Some(series) = self.fleet.series.get_mut(place) {
            series.values.push(value);
        }
    }

    /// The number of a metric, by its name or the description of a column.
    fn metric(&mut self, name: &str, column: Option<usize>) -> usize {
        let described = column.and_then(|column| self.heads.get(column)?.described.as_ref());
        let own = described.map_or(name, |described| &described.metric);
        if let Some(known) = self.metrics.get(own) {
            return *known;
        }
        let mut metric = Metric::named(own);
        let unsigned = column.and_then(|column| self.heads.get(column)).is_some_and(|head| head.unsigned);
        metric.kind = described.and_then(|described| described.kind);
        if self.counts(own) || (metric.kind.is_none() && unsigned && self.preset.unsigned_counts) {
            metric.kind = Some(Kind::Counter);
        }
        if let Some(described) = described.filter(|described| !described.unit.is_empty()) {
            metric.scale = units::of_word(&described.unit);
        }
        if let Some(unit) = self.unit(own) {
            metric.scale = units::Scale { unit, factor: 1.0 };
        }
        // Several files are one import: a metric may be known from another.
        let known = self.fleet.metrics.iter().position(|known| known.name == own);
        let place = known.unwrap_or(self.fleet.metrics.len());
        if known.is_none() {
            self.fleet.metrics.push(metric);
        }
        self.metrics.insert(own.to_owned(), place);
        place
    }

    fn counts(&self, name: &str) -> bool {
        series::asked(self.asked.counter.as_ref(), name) || self.preset.counter.iter().any(|regex| regex.is_match(name))
    }

    fn unit(&self, name: &str) -> Option<Unit> {
        self.preset.units.iter().find(|(regex, _)| regex.is_match(name)).map(|(_, unit)| *unit)
    }

    /// Which sheet of a host this table is.
    fn sheet(&mut self, roles: &Roles, host: &str) -> usize {
        if let Some(place) = self.sheets.get(host) {
            return *place;
        }
        let named = |at: &usize| self.heads.get(*at).map_or(String::new(), |head| head.name.clone());
        let field = |at: &usize| {
            let name = named(at);
            let unsigned = self.heads.get(*at).is_some_and(|head| head.unsigned) && self.preset.unsigned_counts;
            let kind = if self.counts(&name) || units::counts(&name) || unsigned { Kind::Counter } else { Kind::Gauge };
            let scale = units::of_name(&name);
            // Values are stored as they stand: a unit with a factor is left out.
            let own = if scale.factor == 1.0 { scale.unit } else { Unit::None };
            let unit = self.unit(&name).unwrap_or(if name.starts_with('%') { Unit::Percent } else { own });
            let adds = kind == Kind::Counter || matches!(unit, Unit::Bytes | Unit::Kibibytes);
            Field { help: format!("`{name}`"), kind, unit, adds, moment: false, name }
        };
        let table = if self.preset.table.is_empty() { self.stem } else { &self.preset.table };
        let sheet = Sheet {
            name: table.to_owned(),
            help: format!("a row of the table {table}"),
            labels: roles.labels.iter().map(named).collect(),
            fields: roles.values.iter().map(field).collect(),
            ..Sheet::default()
        };
        let own = self.fleet.hosts.entry(host.to_owned()).or_default();
        // A table of another file with the same columns goes on here.
        let alike =
            |known: &Sheet| known.name == sheet.name && known.labels == sheet.labels && known.fields == sheet.fields;
        let place = own.sheets.iter().position(alike).unwrap_or_else(|| {
            own.sheets.push(sheet);
            own.sheets.len() - 1
        });
        self.sheets.insert(host.to_owned(), place);
        place
    }
}

/// Whether a column of a table has times.
pub(crate) fn has_times(grid: &dyn Grid) -> bool {
    Roles::of(grid, &Asked::default(), &Preset::default()).is_ok_and(|roles| roles.time.is_some())
}

/// Whether a column is called as times are.
pub(crate) fn names_time(grid: &dyn Grid) -> bool {
    grid.heads().iter().any(|head| TIMES.iter().any(|name| head.name.eq_ignore_ascii_case(name)))
}

/// Names that are all different: a table may have two columns of one name.
pub(crate) fn heads(names: Vec<String>) -> Vec<Head> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    names
        .into_iter()
        .map(|name| {
            let times = seen.entry(name.clone()).or_insert(0);
            *times += 1;
            let name = if *times > 1 { format!("{name}_{times}") } else { name };
            Head { name, ..Head::default() }
        })
        .collect()
}
