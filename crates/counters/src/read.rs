//! Reads the files of `counters/`: what a group is for, its columns, the events that fill them on each CPU, and the metrics.

use crate::formula::Formula;

/// A group: counters that tell about one thing together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Its word, as `--counters` takes it.
    pub name: String,
    /// A heading.
    pub title: String,
    /// What it tells, in a line.
    pub says: String,
    /// Where its events are from.
    pub see: String,
    /// Its columns and what they count.
    pub columns: Vec<(String, String)>,
    /// How they are filled, by CPU.
    pub sections: Vec<Section>,
    /// What is made of them.
    pub metrics: Vec<Metric>,
}

/// The events of some CPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Names of microarchitectures; `generic` is any.
    pub cpus: Vec<String>,
    /// What is counted.
    pub events: Vec<Event>,
    /// Columns that are computed from events, and from columns before them.
    pub computed: Vec<(String, Formula)>,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// The column that it fills, or a name for formulas only.
    pub name: String,
    /// How its maker calls it; empty where no list has it.
    pub maker: String,
    /// How it is told to the kernel.
    pub encoding: Encoding,
    /// In the kernel only.
    pub kernel: bool,
    /// Any code makes it count, and the self-test holds it to that.
    pub counts: bool,
    /// It comes first in its group: the kernel wants it so.
    pub leader: bool,
    /// The maker of the system that alone has it (`/sys/class/dmi/id/sys_vendor`); empty for any.
    pub only: String,
}

/// How an event is told to the kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Encoding {
    /// Fields of the PMU's format and their values.
    Terms(Vec<(String, u64)>),
    /// One of the kernel's generic events, such as `cpu-cycles`.
    Hardware(String),
    /// A name that the PMU has in sysfs, in its folder `events`.
    Alias(String),
}

impl Default for Encoding {
    fn default() -> Self {
        Encoding::Terms(Vec::new())
    }
}

/// Whether more of a metric is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// More is better.
    Better,
    /// More is worse.
    Worse,
    /// Neither.
    #[default]
    Neutral,
}

/// Something that is made of columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// How it is computed.
    pub formula: Formula,
    /// `ratio`, or in words: per 1,000 instructions.
    pub unit: String,
    /// Whether more of it is better.
    pub direction: Direction,
    /// The least difference that matters.
    pub floor: f64,
    /// Means the same only on CPUs of one kind.
    pub same_cpu: bool,
    /// At most two sentences.
    pub help: String,
}

/// Names that formulas may use besides columns and events.
pub const CONSTANTS: [&str; 1] = ["smt"];

/// The hardware events of the kernel's ABI (include/uapi/linux/perf_event.h), by their place in the enumeration.
pub const HARDWARE: [&str; 10] = [
    "cpu-cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branch-instructions",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

/// Reads the file `name`, which holds `text`.
///
/// # Errors
/// File, line and what is wrong there.
pub fn read(name: &str, text: &str) -> Result<Group, String> {
    let mut reader = Reader::default();
    for (number, line) in text.lines().enumerate() {
        reader.line(line).map_err(|why| format!("{name}:{}: {why}", number + 1))?;
    }
    reader.end().and_then(|group| check(&group).map(|()| group)).map_err(|why| format!("{name}: {why}"))
}

#[derive(Default)]
struct Reader {
    group: Group,
    metric: Option<(Metric, Vec<&'static str>)>,
    in_events: bool,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix('#') {
            if let Some((key, value)) = comment.split_once(':') {
                let value = value.trim().to_owned();
                match key.trim() {
                    "group" => self.group.name = value,
                    "title" => self.group.title = value,
                    "says" => self.group.says = value,
                    "see" => self.group.see = value,
                    _ => {}
                }
            }
            return Ok(());
        }
        let is_inside = line.starts_with([' ', '\t']);
        let (line, comment) = line.split_once(" #").unwrap_or((line, ""));
        let line = line.trim();
        match line.split_once(' ') {
            _ if line.is_empty() => Ok(()),
            _ if is_inside && self.in_events => self.event(line, comment.trim()),
            _ if is_inside => self.about_metric(line),
            Some(("column", rest)) => {
                let (name, help) = rest.split_once(':').ok_or("expected column NAME: what it counts")?;
                self.group.columns.push((word(name)?, help.trim().to_owned()));
                Ok(())
            }
            Some(("events", cpus)) => {
                self.finish_metric()?;
                let cpus = cpus.split_ascii_whitespace().map(str::to_owned).collect();
                self.group.sections.push(Section { cpus, ..Section::default() });
                self.in_events = true;
                Ok(())
            }
            Some(("metric", rest)) => {
                self.finish_metric()?;
                let (name, formula) = rest.split_once('=').ok_or("expected metric NAME = FORMULA")?;
                let metric = Metric {
                    name: word(name)?,
                    formula: Formula::parse(formula)?,
                    unit: String::new(),
                    direction: Direction::Neutral,
                    floor: 0.0,
                    same_cpu: false,
                    help: String::new(),
                };
                self.metric = Some((metric, Vec::new()));
                self.in_events = false;
                Ok(())
            }
            _ => Err(format!("expected column, events or metric, not {line:?}")),
        }
    }

    fn event(&mut self, line: &str, maker: &str) -> Result<(), String> {
        let section = self.group.sections.last_mut().ok_or("no events were begun")?;
        let (name, rest) = line.split_once([' ', '\t']).ok_or("expected NAME ENCODING or NAME = FORMULA")?;
        let (name, rest) = (word(name)?, rest.trim());
        if section.events.iter().any(|e| e.name == name) || section.computed.iter().any(|(other, _)| *other == name) {
            return Err(format!("{name} is there twice"));
        }
        if let Some(formula) = rest.strip_prefix('=') {
            section.computed.push((name, Formula::parse(formula)?));
            return Ok(());
        }
        let (encoding, mut words) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let mut event = Event { name, maker: maker.to_owned(), ..Event::default() };
        if let Some((before, only)) = words.split_once("only:") {
            event.only = only.trim().to_owned();
            words = before;
        }
        for word in words.split_ascii_whitespace() {
            match word {
                "counts" => event.counts = true,
                "leader" => event.leader = true,
                _ => return Err(format!("{word:?} is neither counts nor leader nor only: MAKER")),
            }
        }
        (event.encoding, event.kernel) = encoding_of(encoding)?;
        section.events.push(event);
        Ok(())
    }

    fn about_metric(&mut self, line: &str) -> Result<(), String> {
        let (metric, said) = self.metric.as_mut().ok_or("belongs to no metric")?;
        let (key, value) = line.split_once(':').ok_or("expected KEY: VALUE")?;
        let value = value.trim();
        let key = match key {
            "unit" => {
                metric.unit = value.to_owned();
                "unit"
            }
            "direction" => {
                metric.direction = match value {
                    "better" => Direction::Better,
                    "worse" => Direction::Worse,
                    "neutral" => Direction::Neutral,
                    _ => return Err(format!("direction: {value:?} is neither better, worse nor neutral")),
                };
                "direction"
            }
            "floor" => {
                metric.floor = value.parse().map_err(|_| format!("floor: {value:?} is no number"))?;
                "floor"
            }
            "compare" if value == "same cpu only" => {
                metric.same_cpu = true;
                "compare"
            }
            "help" => {
                metric.help = value.to_owned();
                "help"
            }
            _ => return Err(format!("{line:?} says nothing of a metric")),
        };
        said.push(key);
        Ok(())
    }

    fn finish_metric(&mut self) -> Result<(), String> {
        let Some((metric, said)) = self.metric.take() else { return Ok(()) };
        if let Some(missing) = ["unit", "direction", "floor", "help"].iter().find(|key| !said.contains(key)) {
            return Err(format!("{}: no {missing}", metric.name));
        }
        if self.group.metrics.iter().any(|other| other.name == metric.name) {
            return Err(format!("{} is there twice", metric.name));
        }
        self.group.metrics.push(metric);
        Ok(())
    }

    fn end(mut self) -> Result<Group, String> {
        self.finish_metric()?;
        Ok(self.group)
    }
}

/// A name as formulas can use it.
fn word(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_word = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_word { Ok(text.to_owned()) } else { Err(format!("{text:?} is no name: letters, digits and _")) }
}

/// Reads `event=0x11,umask=0x0e,kernel`, a bare code, `hw=cpu-cycles` or `alias=slots`.
fn encoding_of(text: &str) -> Result<(Encoding, bool), String> {
    let mut terms = Vec::new();
    let mut named = None;
    let mut kernel = false;
    for term in text.split(',') {
        match term.split_once('=') {
            Some(("hw", name)) if HARDWARE.contains(&name) => named = Some(Encoding::Hardware(name.to_owned())),
            Some(("hw", name)) => return Err(format!("the kernel has no event {name}")),
            Some(("alias", name)) => named = Some(Encoding::Alias(name.to_owned())),
            Some((field, value)) => terms.push((field.to_owned(), number(value)?)),
            None if term == "kernel" => kernel = true,
            None if term.starts_with("0x") => terms.push(("event".to_owned(), number(term)?)),
            None => terms.push((term.to_owned(), 1)),
        }
    }
    match named {
        Some(_) if !terms.is_empty() => Err(format!("{text}: a name and fields")),
        Some(named) => Ok((named, kernel)),
        None => Ok((Encoding::Terms(terms), kernel)),
    }
}

/// A number, hexadecimal after `0x`.
pub fn number(text: &str) -> Result<u64, String> {
    let found = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    found.map_err(|_| format!("{text:?} is no number"))
}

/// What must hold between the parts of a file.
fn check(group: &Group) -> Result<(), String> {
    for (what, text) in [("group", &group.name), ("title", &group.title), ("says", &group.says)] {
        if text.is_empty() {
            return Err(format!("no line # {what}:"));
        }
    }
    for section in &group.sections {
        let mut known: Vec<&str> = CONSTANTS.to_vec();
        known.extend(section.events.iter().map(|event| event.name.as_str()));
        for (name, formula) in &section.computed {
            if let Some(unknown) = formula.names().into_iter().find(|name| !known.contains(name)) {
                return Err(format!(
                    "{name} for {}: {unknown} is neither counted nor computed before",
                    section.cpus.join(" ")
                ));
            }
            known.push(name);
        }
        for needed in ["cycles", "instructions"] {
            if !section.events.iter().any(|event| event.name == needed) {
                return Err(format!("{needed} is not counted for {}", section.cpus.join(" ")));
            }
        }
    }
    for metric in &group.metrics {
        for name in metric.formula.names() {
            if !group.columns.iter().any(|(column, _)| column == name) {
                return Err(format!("{}: {name} is no column of this group", metric.name));
            }
        }
    }
    Ok(())
}
