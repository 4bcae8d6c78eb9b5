//! What `sar` recorded, as the JSON of `sadf -j FILE -- -A` (sysstat 10 to 12; sadf(1)): hosts, each with statistics at times. Members of a statistic that are
//! objects or lists of objects are tables, `sar_*`; texts in them are labels. Old versions forgot commas, or wrote decimal ones: they are read over, and said.

use super::fleet::{Field, Fleet, Host, Sheet};
use super::json::{Json, Next, Wrong};
use super::time::{self, Time};
use crate::Input;
use model::{Kind, Unit};
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(512)).unwrap_or(bytes).trim_ascii_start();
    start.starts_with(b"{") && start.windows(9).any(|word| word == b"\"sysstat\"")
}

/// Whether it is a binary file of sar: it begins with a mark of two bytes, in the order of the machine that wrote it.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x96, 0xd5]) || bytes.starts_with(&[0xd5, 0x96])
}

/// What to give instead of a text of sysstat that is not read: that of `sar` is laid out for people, and `sadf -x` writes XML.
pub(crate) fn refused(bytes: &[u8]) -> Option<&'static str> {
    let start = bytes.get(..bytes.len().min(1024)).unwrap_or(bytes).trim_ascii_start();
    let first = start.split(|b| *b == b'\n').next().unwrap_or_default().trim_ascii_end();
    if first.starts_with(b"Linux ") && first.ends_with(b" CPU)") {
        return Some(
            "the text of sar, which is laid out for people: give the file that sar wrote, or what sadf -j FILE -- -A makes of it",
        );
    }
    (start.starts_with(b"<") && start.windows(9).any(|word| word == b"<sysstat "))
        .then_some("the XML of sadf -x: give the file that sar wrote, or what sadf -j FILE -- -A makes of it")
}

/// The JSON of a binary file, by the `sadf` of this machine: such files vary by version and machine, and it knows.
///
/// # Errors
/// What the user can do instead.
pub(crate) fn converted(input: &Input) -> Result<Vec<u8>, String> {
    let path = match input.held() {
        Some(_) => {
            return Err(
                "a binary file of sar, which sadf reads by its name: give the file, or pipe sadf -j FILE -- -A".into(),
            );
        }
        None => input.path(),
    };
    let name = path.display();
    let instead = format!("on the machine that wrote it: sadf -j {name} -- -A > {name}.json, then import that");
    // A path that looks like an option is none.
    let own = if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) };
    let run =
        Command::new("sadf").env("LC_ALL", "C").arg("-j").arg(own).args(["--", "-A"]).stdin(Stdio::null()).output();
    let done = run.map_err(|why| format!("a binary file of sar, which needs sadf of sysstat ({why}); {instead}"))?;
    // What it cannot read it may leave out without a word.
    let has_rows = done.stdout.windows(11).any(|word| word == b"\"timestamp\"");
    if !done.status.success() || !has_rows {
        let said = String::from_utf8_lossy(&done.stderr);
        let said = said.lines().next().unwrap_or("it says nothing").trim().to_owned();
        let older = format!("of an older sysstat: sadf -c {name} > {name}.new, then import that");
        return Err(format!("a binary file of sar that the sadf here cannot read ({said}); {older}; {instead}"));
    }
    Ok(done.stdout)
}

/// Numbers that tell rows apart.
const NUMBERED: [&str; 8] = ["cpu", "number", "intr", "line", "bus", "idvendor", "idprod", "node"];

/// Most rows of a file.
const MOST: usize = 50_000_000;

/// A table that grows: its columns are those that any row has.
#[derive(Debug, Default)]
struct Growing {
    labels: Vec<String>,
    fields: Vec<String>,
    rows: Vec<Row>,
    /// Whether a row is of all together.
    has_all: bool,
}

#[derive(Debug, Default, Clone)]
struct Row {
    at: i64,
    names: Vec<u32>,
    values: Vec<f64>,
}

/// A member of a statistic: its texts and its numbers.
type Members = (Vec<(String, String)>, Vec<(String, f64)>);

/// Reads a file into a fleet.
pub(crate) fn read(bytes: &[u8], name: &str, fleet: &mut Fleet) {
    let mut json = Json::new(bytes).lenient();
    let mut rows = 0;
    let done = json.object(&mut |json, key| match key {
        "sysstat" => json.object(&mut |json, key| match key {
            "hosts" if json.peek() == Next::Array => json.array(&mut |json| {
                let mut reader = Reader::default();
                let done = reader.host(json, fleet);
                rows += reader.rows;
                reader.finish(name, fleet);
                done
            }),
            _ => json.skip(),
        }),
        _ => json.skip(),
    });
    if let Err(wrong) = done {
        fleet.note(format!("{name}: {}; the {rows} rows before it are kept", json.said(&wrong)));
    }
    let mended = std::mem::take(&mut json.mended);
    for (at, what) in mended.iter().take(3) {
        fleet.note(format!("{name}: line {}: {what}; it was read over", json.line(*at)));
    }
    if mended.len() > 3 {
        fleet.note(format!("{name}: {} or more slips of that kind in all", mended.len()));
    }
}

/// One host of a file.
#[derive(Debug, Default)]
struct Reader {
    nodename: String,
    host: Host,
    tables: Vec<(String, Growing)>,
    places: HashMap<String, usize>,
    rows: usize,
    /// Times of a zone that is not said, or that could not be read.
    local: u64,
    without_time: u64,
    restarts: Vec<String>,
}

impl Reader {
    fn host(&mut self, json: &mut Json<'_>, fleet: &mut Fleet) -> Result<(), Wrong> {
        json.object(&mut |json, key| match key {
            "nodename" | "release" | "machine" | "number-of-cpus" => {
                let text = json.word()?.unwrap_or_default().into_owned();
                match key {
                    "nodename" => self.nodename = text,
                    "release" => self.host.kernel = text,
                    "machine" => self.host.machine = text,
                    _ => self.host.cpus = text.parse().unwrap_or(0),
                }
                Ok(())
            }
            "statistics" if json.peek() == Next::Array => json.array(&mut |json| match json.peek() {
                Next::Object => self.statistic(json, fleet),
                _ => json.skip(),
            }),
            "restarts" if json.peek() == Next::Array => json.array(&mut |json| match json.peek() {
                Next::Object => json.object(&mut |json, _| {
                    let (texts, _) = members(json)?;
                    let text = |name: &str| texts.iter().find(|(key, _)| key == name).map_or("", |(_, text)| text);
                    self.restarts.push(format!("{} {}", text("date"), text("time")));
                    Ok(())
                }),
                _ => json.skip(),
            }),
            _ => json.skip(),
        })
    }

    /// What was read at one time.
    fn statistic(&mut self, json: &mut Json<'_>, fleet: &mut Fleet) -> Result<(), Wrong> {
        let mut at = None;
        let mut read: Vec<(String, Members)> = Vec::new();
        let done = json.object(&mut |json, key| match key {
            "timestamp" => {
                at = self.time(json)?;
                Ok(())
            }
            _ => tables(json, key, &mut read),
        });
        match at {
            Some(at) => read.into_iter().for_each(|(name, members)| self.put(&name, at, members, fleet)),
            None => self.without_time += 1,
        }
        done
    }

    fn time(&mut self, json: &mut Json<'_>) -> Result<Option<i64>, Wrong> {
        let (texts, numbers) = members(json)?;
        let text = |name: &str| texts.iter().find(|(key, _)| key == name).map(|(_, text)| text.as_str());
        let number = |name: &str| numbers.iter().find(|(key, _)| key == name).map(|(_, number)| *number);
        // From 12.7 on the zone has a name.
        let is_utc = number("utc") == Some(1.0) || text("tz").is_some_and(|zone| zone == "UTC" || zone == "GMT");
        let own = match (text("date"), text("time")) {
            (Some(date), Some(clock)) => time::of_text(&format!("{date} {clock}")),
            _ => number("time").or(number("timestamp")).and_then(time::of_number),
        };
        Ok(match own {
            Some(Time::Exact(at)) => Some(at),
            Some(Time::Local(at)) => {
                self.local += u64::from(!is_utc);
                Some(at)
            }
            _ => None,
        })
    }

    fn put(&mut self, name: &str, at: i64, (texts, numbers): Members, fleet: &mut Fleet) {
        if numbers.is_empty() || self.rows >= MOST {
            return;
        }
        // What old versions call so has the same columns and more.
        let name = if name == "cpu-load-all" { "cpu-load" } else { name };
        let next = self.tables.len();
        let place = *self.places.entry(name.to_owned()).or_insert(next);
        if place == next {
            self.tables.push((name.to_owned(), Growing::default()));
        }
        let Some((_, table)) = self.tables.get_mut(place) else { return };
        let mut row = Row { at, names: Vec::with_capacity(texts.len()), values: Vec::with_capacity(numbers.len()) };
        // Rows of a table have their members in one order, as a rule.
        for (i, (key, text)) in texts.iter().enumerate() {
            table.has_all |= text == "all" || text == "sum";
            let column = column(&mut table.labels, key, i);
            if row.names.len() <= column {
                row.names.resize(column + 1, u32::MAX);
            }
            if let Some(cell) = row.names.get_mut(column) {
                *cell = fleet.texts.number(text);
            }
        }
        for (i, (key, value)) in numbers.iter().enumerate() {
            let column = column(&mut table.fields, key, i);
            if row.values.len() <= column {
                row.values.resize(column + 1, f64::NAN);
            }
            if let Some(cell) = row.values.get_mut(column) {
                *cell = if value.is_finite() { *value } else { f64::NAN };
            }
        }
        table.rows.push(row);
        self.rows += 1;
    }

    fn finish(self, name: &str, fleet: &mut Fleet) {
        if self.local > 0 {
            fleet.note(format!("{name}: times are of a zone that is not said, and taken for UTC"));
        }
        if self.without_time > 0 {
            fleet.note(format!("{name}: {} statistics without a time are left out", self.without_time));
        }
        if let Some(first) = self.restarts.first() {
            let count = self.restarts.len();
            fleet.note(format!(
                "{name}: {}: the machine was started anew {count} times, first at {first}",
                self.nodename
            ));
        }
        let none = fleet.texts.number("");
        let host = fleet.hosts.entry(self.nodename).or_default();
        (host.kernel, host.machine, host.cpus) = (self.host.kernel, self.host.machine, self.host.cpus);
        for (name, table) in self.tables {
            let sheet = table.sheet(&name, none);
            match host
                .sheets
                .iter_mut()
                .find(|known| known.name == sheet.name && known.labels == sheet.labels && known.fields == sheet.fields)
            {
                // Another day.
                Some(known) => {
                    known.at.extend(sheet.at);
                    known.names.extend(sheet.names);
                    known.values.extend(sheet.values);
                }
                None => host.sheets.push(sheet),
            }
        }
    }
}

/// The place of a column, which is `guess` as a rule.
fn column(columns: &mut Vec<String>, name: &str, guess: usize) -> usize {
    if columns.get(guess).is_some_and(|own| own == name) {
        return guess;
    }
    columns.iter().position(|own| own == name).unwrap_or_else(|| {
        columns.push(name.to_owned());
        columns.len() - 1
    })
}

impl Growing {
    fn sheet(self, name: &str, none: u32) -> Sheet {
        let scales: Vec<(Unit, f64)> = self.fields.iter().map(|field| unit(name, field)).collect();
        let field = |(field, (unit, _)): (&String, &(Unit, f64))| Field {
            name: field.clone(),
            help: format!("`{field}` of sar"),
            kind: Kind::Gauge,
            unit: *unit,
            adds: !self.has_all && *unit != Unit::Percent && !is_mean(field),
            moment: false,
        };
        let mut sheet = Sheet {
            name: format!("sar_{name}"),
            help: format!("`{name}` of sar: rates and levels, each of the interval before"),
            fields: self.fields.iter().zip(&scales).map(field).collect(),
            ..Sheet::default()
        };
        for mut row in self.rows {
            sheet.at.push(row.at);
            row.names.resize(self.labels.len(), none);
            sheet.names.extend(row.names.into_iter().map(|name| if name == u32::MAX { none } else { name }));
            row.values.resize(self.fields.len(), f64::NAN);
            sheet.values.extend(row.values.iter().zip(&scales).map(|(value, (_, factor))| value * factor));
        }
        sheet.labels = self.labels;
        sheet
    }
}

/// Whether it is a mean over operations, which do not add up over devices.
fn is_mean(field: &str) -> bool {
    ["await", "avgrq-sz", "areq-sz", "svctm", "frequency", "degC", "rpm", "inV"].contains(&field)
        || field.contains("avg")
}

/// The unit of a column, and what its values are multiplied by, by sar(1).
fn unit(table: &str, field: &str) -> (Unit, f64) {
    if field.contains("percent") || field.contains('%') || table.starts_with("cpu-load") || table.starts_with("psi-") {
        return (Unit::Percent, 1.0);
    }
    if field.ends_with("kB") || (table == "memory" && !field.contains("tps")) {
        return (Unit::Kibibytes, 1.0);
    }
    if field.starts_with("MB") {
        return (Unit::Bytes, 1_048_576.0);
    }
    if ["rd_sec", "wr_sec", "dc_sec"].contains(&field) {
        return (Unit::Sectors, 1.0);
    }
    match field {
        "await" | "svctm" => (Unit::Milliseconds, 1.0),
        "frequency" => (Unit::Hertz, 1e6),
        "degC" => (Unit::MilliCelsius, 1000.0),
        _ => (Unit::None, 1.0),
    }
}

/// Texts and numbers of an object; those of objects in it are among them.
fn members(json: &mut Json<'_>) -> Result<Members, Wrong> {
    let mut found = Members::default();
    json.object(&mut |json, key| member(json, key, &mut found))?;
    Ok(found)
}

fn member(json: &mut Json<'_>, key: &str, found: &mut Members) -> Result<(), Wrong> {
    match json.peek() {
        Next::Text => found.0.push((key.to_owned(), json.text()?.into_owned())),
        Next::Number if NUMBERED.contains(&key) => {
            found.0.push((key.to_owned(), json.word()?.unwrap_or_default().into_owned()));
        }
        Next::Number => found.1.push((key.to_owned(), json.number()?)),
        Next::Object => {
            let (texts, numbers) = members(json)?;
            found.0.extend(texts);
            found.1.extend(numbers);
        }
        _ => json.skip()?,
    }
    Ok(())
}

/// The tables of a member of a statistic. `io` is one with parts; `network` and `psi` hold several.
fn tables(json: &mut Json<'_>, name: &str, read: &mut Vec<(String, Members)>) -> Result<(), Wrong> {
    match json.peek() {
        Next::Array => json.array(&mut |json| {
            if json.peek() == Next::Object {
                read.push((name.to_owned(), members(json)?));
                Ok(())
            } else {
                json.skip()
            }
        }),
        Next::Object => {
            let mut own = Members::default();
            json.object(&mut |json, key| match json.peek() {
                Next::Array => tables(json, key, read),
                Next::Object if name != "io" => tables(json, key, read),
                _ => member(json, key, &mut own),
            })?;
            if !own.1.is_empty() {
                read.push((name.to_owned(), own));
            }
            Ok(())
        }
        _ => json.skip(),
    }
}
