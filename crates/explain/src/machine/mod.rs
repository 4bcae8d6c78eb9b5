//! Two machines under one program: what its time is spent on, by what a machine is measured by (`record --doctor`, `doctor --json`), and so how long it
//! would take on a machine on which each of these takes so many times as long. Tells how much of a difference is the machine's and how much is of how it
//! is set up; and of one recording, which other machine would suit the program.

mod classes;

pub use classes::{Class, Evidence};

use crate::budget::Budget;
use crate::cause::instructions::Instructions;
use classes::Times;
use compare::{FactDifference, PerSide, Side};
use model::{Figure, FigureRatio, Window, is_hardware, sets_figure};
use query::{Run, human, percent, times, times_interval};
use serde_json::{Value, json};

/// A machine, as `doctor --json` or a recording tells of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// What it is called.
    pub name: String,
    /// Its figures.
    pub figures: Vec<Figure>,
}

/// What a part of the program's time is spent on, on one machine and on the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is spent on.
    pub class: Class,
    /// Its part of the time of the threads that do the work.
    pub share: f64,
    /// The figure that it goes by, of both machines: that where the program ran, and the other.
    pub figure: Option<(Figure, Figure)>,
    /// How many times as long it takes on the other. None where no figure tells, and where both differ by no more than their intervals.
    pub ratio: Option<FigureRatio>,
}

/// How long a program would take on another machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// The other.
    pub machine: String,
    /// By what the time is spent on, most of it first.
    pub parts: Vec<Part>,
    /// How many times as long it would take.
    pub ratio: FigureRatio,
    /// The part of the time about which figures of both machines tell.
    pub known: f64,
}

/// Where a figure that differs comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The hardware differs, and nothing that is set.
    Machine,
    /// The hardware is the same, and these facts that set it differ.
    SetUp(Vec<String>),
    /// Both differ.
    Either(Vec<String>),
    /// Nothing that was recorded differs.
    Unknown,
}

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// That of the slow side.
    pub slow: Figure,
    /// That of the baseline.
    pub baseline: Figure,
    /// How many times as long the same takes on the slow side.
    pub cost: FigureRatio,
    /// Where that comes from, if they differ.
    pub origin: Option<Origin>,
}

/// The machines of two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Machines {
    /// Figures of both, those that differ most first.
    pub figures: Vec<Compared>,
    /// How long the baseline's program would take on the machine of the slow side.
    pub forecast: Forecast,
    /// The part of the difference that is explained so: of the hardware, of how it is set up, and of either; None where nothing is slower.
    pub part: Option<[f64; 3]>,
    /// What disturbed the measurements.
    pub disturbed: Vec<String>,
    /// All of it in sentences, the most telling first; none where the machines do not differ.
    pub says: Vec<String>,
}

/// What is known of the machines of an explanation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachinesOf {
    /// Of two sides that both have figures.
    pub pair: Option<Machines>,
    /// Of one, on other machines.
    pub forecasts: Vec<Forecast>,
    /// Why there is no forecast, where one was asked for.
    pub lacking: Option<String>,
}

/// A side's figures: those of all its runs as one.
fn of_side(runs: &[Run], side: &[Side], wanted: Side) -> (Vec<Figure>, Vec<String>) {
    let own = runs.iter().zip(side).filter(|(_, side)| **side == wanted);
    let (mut all, mut disturbed): (Vec<Vec<Figure>>, Vec<String>) = (Vec::new(), Vec::new());
    for (run, _) in own {
        let (figures, by) = query::machine::figures(run);
        disturbed.extend(by.map(|by| format!("{}: {by}", run.name)));
        all.push(figures);
    }
    let first = all.first().cloned().unwrap_or_default();
    let pooled = |figure: &Figure| {
        let same: Vec<Figure> = all.iter().flatten().filter(|other| other.id == figure.id).cloned().collect();
        Figure::pooled(&same)
    };
    (first.iter().filter_map(pooled).collect(), disturbed)
}

/// What is compared.
pub(crate) struct Asked<'a> {
    pub(crate) runs: &'a [Run],
    pub(crate) side: &'a [Side],
    pub(crate) windows: &'a [Window],
    pub(crate) budget: &'a Budget,
    pub(crate) facts: &'a [FactDifference],
    /// Elapsed time per unit, slow over baseline.
    pub(crate) ratio: f64,
    /// The slow side, and the baseline, in words.
    pub(crate) names: PerSide<String>,
    /// Other machines that were given.
    pub(crate) others: &'a [Machine],
}

impl Asked<'_> {
    /// All that figures say.
    pub(crate) fn answer(&self) -> MachinesOf {
        let (slow, of_slow) = of_side(self.runs, self.side, Side::Slow);
        let (baseline, of_baseline) = of_side(self.runs, self.side, Side::Baseline);
        let mut found = MachinesOf::default();
        let is_pair = !self.budget.single && !slow.is_empty() && !baseline.is_empty();
        if !is_pair && self.others.is_empty() {
            return found;
        }
        let units = PerSide::of(|of| {
            let place = self.side.iter().position(|side| *side == of);
            place.and_then(|at| self.windows.get(at)).map_or(0.0, |w| self.budget.pace(of).rate() * w.seconds())
        });
        let instructions = Instructions::of(self.runs, self.side, self.windows, units);
        let times = |side| Times::of(self.budget, side, instructions.memory(side), classes::wakes(self, side));
        if is_pair {
            let disturbed = of_slow.into_iter().chain(of_baseline).collect();
            found.pair = Some(self.pair(&times(Side::Baseline), &slow, &baseline, disturbed));
        }
        if !self.others.is_empty() && slow.is_empty() {
            let name = &self.names.slow;
            found.lacking = Some(format!("{name} holds no figures of its machine: record it with --doctor"));
        } else if !self.others.is_empty() {
            let times = times(Side::Slow);
            let forecast = |machine: &Machine| forecast(&machine.name, &times, &slow, &machine.figures);
            found.forecasts = self.others.iter().map(forecast).collect();
            found.forecasts.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
        }
        found
    }

    fn pair(&self, times: &Times, slow: &[Figure], baseline: &[Figure], disturbed: Vec<String>) -> Machines {
        let differing: Vec<String> = self.facts.iter().map(FactDifference::full_name).collect();
        let partner =
            |figure: &Figure| baseline.iter().find(|other| other.id == figure.id && other.unit == figure.unit);
        let mut figures: Vec<Compared> = slow
            .iter()
            .filter_map(|own| {
                let other = partner(own)?;
                let cost = own.cost_over(other);
                let origin = cost.differs().then(|| origin(&own.id, &differing));
                Some(Compared { slow: own.clone(), baseline: other.clone(), cost, origin })
            })
            .collect();
        figures.sort_by(|a, b| {
            let key = |of: &Compared| (of.origin.is_some(), of.cost.distance());
            let ((a_differs, a), (b_differs, b)) = (key(a), key(b));
            b_differs.cmp(&a_differs).then(b.total_cmp(&a))
        });
        let forecast = forecast(&self.names.slow, times, baseline, slow);
        let part = divided(&forecast, &figures, self.ratio);
        let says = self.says(&figures, &forecast, part, &disturbed);
        Machines { figures, forecast, part, disturbed, says }
    }

    fn says(
        &self,
        figures: &[Compared],
        forecast: &Forecast,
        part: Option<[f64; 3]>,
        disturbed: &[String],
    ) -> Vec<String> {
        let PerSide { slow, baseline } = &self.names;
        if !figures.iter().any(|of| of.origin.is_some()) {
            return Vec::new();
        }
        let mut all = Vec::new();
        let weight = |part: &Part| part.share * part.ratio.map_or(0.0, |ratio| (ratio.value - 1.0).abs());
        let mut telling: Vec<&Part> = forecast.parts.iter().filter(|part| weight(part) > 0.01).collect();
        telling.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        // One machine wavers in what this program does not do; two machines differ in it, and that is worth a line.
        if telling.is_empty() && !self.facts.iter().any(|fact| is_hardware(&fact.full_name())) {
            return Vec::new();
        }
        for part in telling {
            let (Some(ratio), Some((figure, _))) = (part.ratio, &part.figure) else { continue };
            all.push(format!(
                "{}: {} as long on {slow} as on {baseline} ({}); {:.0} % of this program's time {} ({})",
                figure.title,
                times(ratio.value),
                times_interval(ratio.low, ratio.high),
                part.share * 100.0,
                part.class.spends(),
                part.class.evidence().as_str()
            ));
        }
        let FigureRatio { value, low, high } = forecast.ratio;
        let interval = times_interval(low, high);
        let alone = match forecast.ratio {
            of if of.low > 1.0 || of.high < 1.0 => {
                format!("By these figures {slow} would take {} as long as {baseline} ({interval})", times(value))
            }
            _ => format!("By these figures {slow} would take about as long as {baseline} ({interval})"),
        };
        let observed = if self.ratio.is_finite() && self.ratio > 0.0 {
            format!("; it takes {}", times(self.ratio))
        } else {
            String::new()
        };
        all.push(format!("{alone}{observed}{}", part.map_or(String::new(), |part| told(part, figures))));
        if forecast.known < 0.5 {
            let known = forecast.known * 100.0;
            all.push(format!("Only {known:.0} % of its time is spent on what is measured of both machines"));
        }
        all.extend(disturbed.iter().map(|by| format!("The figures were disturbed: {by}")));
        all
    }
}

/// What the parts of the difference are, in words.
fn told([machine, set_up, either]: [f64; 3], figures: &[Compared]) -> String {
    let facts = |wanted: fn(&Origin) -> Option<&Vec<String>>| {
        let mut all: Vec<&str> =
            figures.iter().filter_map(|of| wanted(of.origin.as_ref()?)).flatten().map(String::as_str).collect();
        all.sort_unstable();
        all.dedup();
        all.truncate(4);
        all.join(", ")
    };
    let mut parts = Vec::new();
    let share = |part: f64| format!("{:.0} %", part * 100.0);
    if machine > 0.01 {
        parts.push(format!("{} is the machine", share(machine)));
    }
    if set_up > 0.01 {
        let facts = facts(|origin| if let Origin::SetUp(facts) = origin { Some(facts) } else { None });
        parts.push(format!("{} how it is set up ({facts})", share(set_up)));
    }
    if either > 0.01 {
        let facts = facts(|origin| if let Origin::Either(facts) = origin { Some(facts) } else { None });
        let what =
            if facts.is_empty() { String::new() } else { format!(" ({facts} differ, and so does the hardware)") };
        parts.push(format!("{} the machine or its set-up{what}", share(either)));
    }
    if parts.is_empty() { String::new() } else { format!(": of the difference, {}", parts.join(", ")) }
}

/// Where a figure that differs comes from.
fn origin(figure: &str, differing: &[String]) -> Origin {
    let facts: Vec<String> =
        differing.iter().filter(|fact| sets_figure(figure, fact) && !is_hardware(fact)).cloned().collect();
    match (differing.iter().any(|fact| is_hardware(fact)), facts.is_empty()) {
        (true, true) => Origin::Machine,
        (true, false) => Origin::Either(facts),
        (false, false) => Origin::SetUp(facts),
        (false, true) => Origin::Unknown,
    }
}

/// How long a program would take on another machine, if each of the things that it spends time on took as many times as long as the figures say.
fn forecast(name: &str, times: &Times, here: &[Figure], there: &[Figure]) -> Forecast {
    let all = times.all();
    let mut parts = Vec::new();
    // Of no time at all nothing is known, and nothing changes.
    let begin = if all > 0.0 { 0.0 } else { 1.0 };
    let (mut ratio, mut known) = (FigureRatio { value: begin, low: begin, high: begin }, 0.0);
    for class in Class::ALL {
        let share = if all > 0.0 { times.of_class(class) / all } else { 0.0 };
        let of = |figures: &[Figure], id: &str| figures.iter().find(|figure| figure.id == id).cloned();
        let pair = |id: &&str| of(here, id).zip(of(there, id)).filter(|(a, b)| a.unit == b.unit && a.more == b.more);
        let figure = class.figures(times.is_crowded()).iter().find_map(pair);
        let cost = figure.as_ref().map(|(here, there)| there.cost_over(here)).filter(FigureRatio::differs);
        let FigureRatio { value, low, high } = cost.unwrap_or(FigureRatio { value: 1.0, low: 1.0, high: 1.0 });
        ratio.value += share * value;
        ratio.low += share * low;
        ratio.high += share * high;
        known += if figure.is_some() { share } else { 0.0 };
        if share >= 0.001 {
            parts.push(Part { class, share, figure, ratio: cost });
        }
    }
    parts.sort_by(|a, b| b.share.total_cmp(&a.share));
    Forecast { machine: name.to_owned(), parts, ratio, known }
}

/// The part of a difference that figures explain: by the hardware, by how it is set up, and by either. Together no more than all of it.
fn divided(forecast: &Forecast, figures: &[Compared], observed: f64) -> Option<[f64; 3]> {
    let whole = observed - 1.0;
    if !whole.is_finite() || whole < 0.05 {
        return None;
    }
    let mut sums = [0.0; 3];
    for part in &forecast.parts {
        let (Some(ratio), Some((figure, _))) = (part.ratio, &part.figure) else { continue };
        let origin = figures.iter().find(|of| of.slow.id == figure.id).and_then(|of| of.origin.as_ref());
        let place = match origin {
            Some(Origin::Machine) => 0,
            Some(Origin::SetUp(_)) => 1,
            _ => 2,
        };
        if let Some(sum) = sums.get_mut(place) {
            *sum += part.share * (ratio.value - 1.0);
        }
    }
    let sums = sums.map(|sum: f64| (sum / whole).max(0.0));
    let all: f64 = sums.iter().sum();
    Some(if all > 1.0 { sums.map(|sum| sum / all) } else { sums })
}

impl Forecast {
    /// In a sentence.
    pub fn says(&self, unit: &str) -> String {
        let FigureRatio { value, low, high } = self.ratio;
        let change = if (value - 1.0).abs() < 0.005 { String::new() } else { format!(", {}", percent(value - 1.0)) };
        format!(
            "{}: {} as long per {unit} ({}){change}; {:.0} % of the time is spent on what is measured of both machines",
            self.machine,
            times(value),
            times_interval(low, high),
            self.known * 100.0
        )
    }
}

impl Part {
    /// The figure on a machine, for people.
    pub fn shown(figure: &Figure) -> String {
        human(figure.value, &figure.unit)
    }
}

impl MachinesOf {
    /// As JSON, described in docs/explain-json.md.
    pub(crate) fn to_json(&self) -> Value {
        let pair = self.pair.as_ref().map(|pair| {
            let figures = pair.figures.iter().map(|of| {
                json!({
                    "id": of.slow.id, "title": of.slow.title, "unit": of.slow.unit, "slow": of.slow, "against": of.baseline,
                    "times_as_long": of.cost, "differs": of.origin.is_some(),
                    "origin": of.origin.as_ref().map(Origin::word), "facts": of.origin.as_ref().map(Origin::facts),
                })
            });
            json!({
                "figures": figures.collect::<Vec<_>>(), "forecast": pair.forecast.to_json(), "disturbed": pair.disturbed, "says": pair.says,
                "part": pair.part.map(|[machine, set_up, either]| json!({"machine": machine, "set_up": set_up, "either": either})),
            })
        });
        let forecasts: Vec<Value> = self.forecasts.iter().map(Forecast::to_json).collect();
        json!({"pair": pair, "forecasts": forecasts, "lacking": self.lacking})
    }
}

impl Origin {
    /// The word in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Origin::Machine => "machine",
            Origin::SetUp(_) => "set-up",
            Origin::Either(_) => "either",
            Origin::Unknown => "unknown",
        }
    }

    /// The facts that it may be.
    pub fn facts(&self) -> &[String] {
        match self {
            Origin::SetUp(facts) | Origin::Either(facts) => facts,
            Origin::Machine | Origin::Unknown => &[],
        }
    }
}

impl Forecast {
    fn to_json(&self) -> Value {
        let parts = self.parts.iter().map(|part| {
            json!({
                "class": part.class.id(), "title": part.class.title(), "evidence": part.class.evidence().as_str(), "share": part.share,
                "figure": part.figure.as_ref().map(|(here, _)| here.id.as_str()), "times_as_long": part.ratio,
            })
        });
        json!({"machine": self.machine, "parts": parts.collect::<Vec<_>>(), "times_as_long": self.ratio, "known": self.known})
    }
}

#[cfg(test)]
mod tests;
