//! The words of a trigger: `NAME: METRIC{label=value} > NUMBER and … for TIME`, or `NAME: pressure cpu some 150ms in 1s`.

use crate::options::duration;
use model::{Metric, Table, Type};
use std::time::Duration;

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// Its name, which file names and labels carry.
    pub(crate) name: String,
    /// What was asked for, without the name.
    pub(crate) text: String,
    pub(crate) cause: Cause,
}

/// What makes a trigger fire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cause {
    /// All of these hold for so long.
    Conditions(Vec<Condition>, Duration),
    /// The kernel says so.
    Pressure(Pressure),
}

/// Something that holds or does not at each reading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) what: What,
    pub(crate) sign: Sign,
    /// In the unit of what it is about.
    pub(crate) threshold: f64,
}

/// What a condition is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A metric, of the entities that have these labels. `*` stands for any one value: each is judged on its own.
    Metric(Metric, Vec<(&'static str, String)>),
    /// Work done a second, as the workload reports it.
    Work,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Above,
    Below,
}

impl Sign {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Sign::Above => ">",
            Sign::Below => "<",
        }
    }
}

/// A trigger of the kernel's own (Documentation/accounting/psi.rst, "Monitoring for pressure thresholds").
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pressure {
    /// `cpu`, `memory`, `io` or `irq`.
    pub(crate) resource: String,
    /// `some` or `full`.
    pub(crate) kind: String,
    pub(crate) stall: Duration,
    pub(crate) window: Duration,
}

/// The name of the metric of work done.
pub(crate) const WORK: &str = "work.rate";

const WANTED: &str = "expected NAME: METRIC > NUMBER for TIME, such as 'busy: cpu.busy > 1.5 for 10s', or NAME: pressure cpu some 150ms in 1s";

impl Trigger {
    /// Reads a trigger.
    ///
    /// # Errors
    /// In words: what is wrong, and what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').ok_or(WANTED)?;
        let (name, rest) = (name.trim(), rest.trim());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
            return Err(format!(
                "{name:?} is no name: file names carry it, so it has letters, digits, - and _ only; {WANTED}"
            ));
        }
        let cause = match rest.strip_prefix("pressure ") {
            Some(words) => Cause::Pressure(pressure(words)?),
            None => conditions(rest)?,
        };
        Ok(Trigger { name: name.to_owned(), text: rest.to_owned(), cause })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the kernel watches for it.
    pub(crate) fn pressure(&self) -> Option<&Pressure> {
        match &self.cause {
            Cause::Conditions(..) => None,
            Cause::Pressure(pressure) => Some(pressure),
        }
    }

    /// What must hold, where the recorder decides that.
    pub(crate) fn conditions(&self) -> &[Condition] {
        match &self.cause {
            Cause::Conditions(all, _) => all,
            Cause::Pressure(_) => &[],
        }
    }
}

impl std::str::FromStr for Trigger {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Trigger::parse(text)
    }
}

impl Condition {
    /// Whether it holds for a value; never for what was not measured.
    pub(crate) fn holds(&self, value: f64) -> bool {
        match self.sign {
            Sign::Above => value > self.threshold,
            Sign::Below => value < self.threshold,
        }
    }

    /// What it is about, as `compare` names it.
    pub(crate) fn name(&self) -> String {
        match &self.what {
            What::Work => WORK.to_owned(),
            What::Metric(metric, labels) if labels.is_empty() => metric.full_name(),
            What::Metric(metric, labels) => {
                let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
                format!("{}{{{}}}", metric.full_name(), labels.join(","))
            }
        }
    }

    pub(crate) fn unit(&self) -> &'static str {
        match &self.what {
            What::Metric(metric, _) => metric.unit,
            What::Work => "1/s",
        }
    }
}

fn conditions(text: &str) -> Result<Cause, String> {
    let (text, lasting) = match text.rsplit_once(" for ") {
        Some((text, time)) => (text, duration(time.trim()).map_err(|why| format!("for {time}: {why}"))?),
        None => (text, Duration::ZERO),
    };
    let all = split_and(text).into_iter().map(condition).collect::<Result<Vec<_>, _>>()?;
    for (at, one) in all.iter().enumerate() {
        let others = all.iter().skip(at + 1).filter(|other| other.what == one.what && other.sign != one.sign);
        for other in others {
            let (low, high) = if one.sign == Sign::Above { (one, other) } else { (other, one) };
            if low.threshold >= high.threshold {
                let (name, low, high) = (one.name(), low.threshold, high.threshold);
                return Err(format!("{name} is never above {low} and below {high}: this would never fire"));
            }
        }
    }
    Ok(Cause::Conditions(all, lasting))
}

/// The parts between `and`, which may also be in a label's value.
fn split_and(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '{' => inside = true,
            '}' => inside = false,
            ' ' if !inside && text.get(at..).is_some_and(|rest| rest.starts_with(" and ")) => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + " and ".len();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

fn condition(text: &str) -> Result<Condition, String> {
    let text = text.trim();
    if text.starts_with("pressure ") {
        return Err("pressure stands alone: the kernel says when it holds, and only for how long it held".into());
    }
    // Behind the labels, whose values may have any sign.
    let labels_end = text.find('{').map_or(Ok(0), |open| {
        let close = text.get(open..).and_then(|rest| rest.find('}')).map(|close| open + close + 1);
        close.ok_or_else(|| format!("{text:?}: the {{ is never closed"))
    })?;
    let rest = text.get(labels_end..).unwrap_or_default();
    let at = rest.find(['<', '>']).map(|at| labels_end + at).ok_or_else(|| format!("{text:?}: {WANTED}"))?;
    let (what, rest) = text.split_at(at);
    let sign = if rest.starts_with('>') { Sign::Above } else { Sign::Below };
    let number = rest.get(1..).unwrap_or_default();
    if number.starts_with('=') {
        return Err(format!("{text:?}: a measured value is hardly ever equal to a number; write {}", sign.as_str()));
    }
    let what = named(what.trim())?;
    let mut condition = Condition { what, sign, threshold: 0.0 };
    condition.threshold = value(number.trim(), condition.unit())?;
    Ok(condition)
}

/// The tables that triggers can ask for.
fn tables() -> impl Iterator<Item = &'static Table> {
    sources::ALL.iter().flat_map(|source| source.tables.iter().copied()).filter(|table| !table.events)
}

fn named(text: &str) -> Result<What, String> {
    if text == WORK {
        return Ok(What::Work);
    }
    let (name, labels) = match text.split_once('{') {
        Some((name, rest)) => (name.trim(), rest.strip_suffix('}').unwrap_or(rest)),
        None => (text, ""),
    };
    let (table, field) = name
        .split_once('.')
        .ok_or_else(|| format!("{name:?} names no metric: expected TABLE.METRIC, such as cpu.busy"))?;
    let list = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>().join(", ");
    let Some(found) = tables().find(|t| t.name == table) else {
        let names = list(&mut tables().map(|t| t.name.to_owned()));
        return Err(format!(
            "there is no table {table:?}; there are {WORK}, and the metrics of {names}: see `triggers`"
        ));
    };
    let Some(metric) = model::metric(found, field) else {
        let names = list(&mut model::metrics(found).iter().map(Metric::full_name));
        return Err(format!("there is no metric {name}; there are {names}"));
    };
    let mut wanted = Vec::new();
    for pair in labels.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (label, value) = pair.split_once('=').ok_or_else(|| format!("{pair:?}: expected LABEL=VALUE in {{}}"))?;
        let Some(column) = found.labels().find(|column| column.name == label.trim()) else {
            let names = list(&mut found.labels().map(|column| column.name.to_owned()));
            let names = if names.is_empty() { "none".to_owned() } else { names };
            return Err(format!("{table} has no label {:?}; its labels are: {names}", label.trim()));
        };
        let value = value.trim();
        if column.ty == Type::Int && value != "*" && value.parse::<i64>().is_err() {
            return Err(format!("{table}'s {} is a number, not {value:?}", column.name));
        }
        wanted.push((column.name, value.to_owned()));
    }
    Ok(What::Metric(metric, wanted))
}

/// A number in the unit of a metric; `80%`, `20ms`, `4GiB`, `10k` are numbers too, where they fit.
fn value(text: &str, unit: &str) -> Result<f64, String> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at(digits);
    // 1e6, as far as it is one.
    if let Ok(number) = text.parse::<f64>().map(|n| n + 0.0)
        && number.is_finite()
    {
        return Ok(number);
    }
    let wanted = || {
        let unit = if unit.is_empty() { "a plain number".to_owned() } else { format!("a number in {unit}") };
        format!("{text:?}: expected {unit}, such as 0.5, 20 or 10k")
    };
    let number: f64 = number.parse().map_err(|_| wanted())?;
    let suffix = suffix.trim();
    let suffix = suffix.strip_suffix("/s").filter(|_| unit.ends_with("/s")).unwrap_or(suffix);
    let factor = match (suffix, unit) {
        ("%", "ratio" | "s/s") => 0.01,
        ("%", "%") => 1.0,
        ("ns", "s" | "s/s") => 1e-9,
        ("us" | "µs", "s" | "s/s") => 1e-6,
        ("ms", "s" | "s/s") => 1e-3,
        ("s", "s" | "s/s") => 1.0,
        ("min", "s") => 60.0,
        (_, "B" | "B/s") if suffix == "B" => 1.0,
        ("KiB", "B" | "B/s") => 1024.0,
        ("MiB", "B" | "B/s") => 1_048_576.0,
        ("GiB", "B" | "B/s") => 1_073_741_824.0,
        ("TiB", "B" | "B/s") => 1_099_511_627_776.0,
        ("kB", "B" | "B/s") | ("k", _) | ("kHz", "Hz") => 1e3,
        ("MB", "B" | "B/s") | ("M", _) | ("MHz", "Hz") => 1e6,
        ("GB", "B" | "B/s") | ("G", _) | ("GHz", "Hz") => 1e9,
        ("Hz", "Hz") | ("W", "W") | ("J", "J") | ("°C", "°C") => 1.0,
        _ => return Err(wanted()),
    };
    Ok(number * factor)
}

fn pressure(words: &str) -> Result<Pressure, String> {
    const WANTED: &str =
        "expected pressure cpu|memory|io|irq some|full TIME in WINDOW, such as pressure cpu some 150ms in 1s";
    let [resource, kind, stall, "in", window] = words.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(WANTED.into());
    };
    if !["cpu", "memory", "io", "irq"].contains(&resource) || !["some", "full"].contains(&kind) {
        return Err(WANTED.into());
    }
    let [stall, window] = [stall, window].map(duration);
    let (stall, window) = (stall?, window?);
    if window < Duration::from_millis(500) || window > Duration::from_secs(10) {
        return Err("the kernel takes windows from 500ms to 10s".into());
    }
    if stall > window {
        return Err("no more of a window can be stalled than its length: this would never fire".into());
    }
    Ok(Pressure { resource: resource.into(), kind: kind.into(), stall, window })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Vec<String>, Vec<f64>, Duration) {
        let trigger = Trigger::parse(text).unwrap();
        let Cause::Conditions(all, lasting) = &trigger.cause else { panic!("{text}") };
        (all.iter().map(Condition::name).collect(), all.iter().map(|c| c.threshold).collect(), *lasting)
    }

    #[test]
    fn triggers_are_read() {
        assert_eq!(of("busy: cpu.busy > 1.5 for 10s"), (vec!["cpu.busy".into()], vec![1.5], Duration::from_secs(10)));
        let (names, numbers, lasting) = of("d: disks.queue_depth{device=*} > 20 and meminfo.MemFree < 2GiB");
        assert_eq!(names, ["disks.queue_depth{device=*}", "meminfo.MemFree"]);
        assert_eq!((numbers, lasting), (vec![20.0, 2_147_483_648.0], Duration::ZERO));
        assert_eq!(of("one: cpu.busy{cpu=0}>80% for 500ms").1, [0.8]);
        assert_eq!(of("slow: work.rate < 10k").1, [10_000.0]);
        let pressure = Trigger::parse("psi: pressure cpu some 150ms in 1s").unwrap();
        assert!(matches!(pressure.cause, Cause::Pressure(p) if p.stall.as_millis() == 150 && p.window.as_secs() == 1));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_there_is() {
        for (text, says) in [
            ("cpu.busy > 1", "expected NAME:"),
            ("../x: cpu.busy > 1", "is no name"),
            ("a: cpu.bussy > 1", "there is no metric cpu.bussy; there are cpu.user"),
            ("a: cpus.busy > 1", "there is no table \"cpus\""),
            ("a: cpu.busy{core=1} > 1", "cpu has no label \"core\"; its labels are: cpu"),
            ("a: cpu.busy{cpu=x} > 1", "is a number"),
            ("a: cpu.busy{cpu=1 > 1", "never closed"),
            ("a: cpu.busy > 1MiB", "expected a number in s/s"),
            ("a: cpu.busy > lots", "expected a number in s/s"),
            ("a: cpu.busy >= 1", "hardly ever equal"),
            ("a: cpu.busy > 1 for ever", "expected a number with ms"),
            ("a: cpu.busy > 2 and cpu.busy < 1 for 1s", "would never fire"),
            ("a: pressure cpu some 2s in 1s", "would never fire"),
            ("a: pressure cpu some 2s in 1h", "from 500ms to 10s"),
            ("a: pressure disk some 2s in 1s", "expected pressure"),
            ("a: cpu.busy > 1 and pressure cpu some 1s in 2s", "stands alone"),
        ] {
            let why = Trigger::parse(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "[a-z:.{}=*<>, 0-9]{0,60}") {
            let _ = Trigger::parse(&text);
            let _ = Trigger::parse(&format!("a: cpu.busy{text}"));
        }
    }
}
