//! Figures of a machine: what a system call, a page fault, an access to memory and such take on it. Two machines are compared by them.

use serde::{Deserialize, Serialize};

/// What one thing takes on a machine, or how much of it there is a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Which it is, the same on all machines: `call`, `memory.dram`.
    pub id: String,
    /// In words.
    pub title: String,
    /// The unit: `s`, `B/s`, `Hz`, or empty.
    pub unit: String,
    /// Whether more of it is better.
    pub more: bool,
    /// The median of the rounds.
    pub value: f64,
    /// What one round of ten is below.
    pub low: f64,
    /// What one round of ten is above.
    pub high: f64,
    /// How many rounds there were.
    pub rounds: u32,
}

/// How many times as much one machine has of a figure as another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FigureRatio {
    /// Of the medians.
    pub value: f64,
    /// The least that both intervals allow.
    pub low: f64,
    /// The most.
    pub high: f64,
}

/// Ratios nearer to 1 are no difference, however sure they are: the same machine gives as much on another day.
const LEAST: f64 = 0.05;

/// The longest identifier, title and unit that are taken from a file, bytes.
const LONGEST: [usize; 3] = [64, 160, 8];

impl Figure {
    /// Whether it can be what this program has measured: a number above 0 within its interval, and short texts.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn check(&self) -> Result<(), String> {
        let texts = [&self.id, &self.title, &self.unit];
        if self.id.is_empty() || texts.iter().zip(LONGEST).any(|(text, most)| text.len() > most) {
            return Err("it has no name, or one that is too long".into());
        }
        if !["s", "B/s", "Hz", "", "B"].contains(&self.unit.as_str()) {
            return Err(format!("{} has a unit that is not known", self.id));
        }
        let all = [self.low, self.value, self.high];
        let is_number = |x: &f64| x.is_finite() && (1e-15..1e18).contains(x);
        if !all.iter().all(is_number) || !all.is_sorted() {
            return Err(format!("{} is no number above 0 within its interval", self.id));
        }
        Ok(())
    }

    /// This over the other.
    pub fn over(&self, other: &Figure) -> FigureRatio {
        FigureRatio { value: self.value / other.value, low: self.low / other.high, high: self.high / other.low }
    }

    /// How many times as long the same takes here as there: of rates and frequencies the inverse.
    pub fn cost_over(&self, other: &Figure) -> FigureRatio {
        if self.more { other.over(self) } else { self.over(other) }
    }

    /// Several of one machine as one: the median of their medians, and all that their intervals span.
    pub fn pooled(all: &[Figure]) -> Option<Figure> {
        let mut values: Vec<f64> = all.iter().map(|figure| figure.value).collect();
        values.sort_by(f64::total_cmp);
        let first = all.first()?;
        Some(Figure {
            value: *values.get(values.len() / 2)?,
            low: all.iter().map(|figure| figure.low).fold(f64::INFINITY, f64::min),
            high: all.iter().map(|figure| figure.high).fold(0.0, f64::max),
            rounds: all.iter().map(|figure| figure.rounds).fold(0, u32::saturating_add),
            ..first.clone()
        })
    }
}

impl FigureRatio {
    /// Whether the machines differ in it: the intervals lie apart, and by more than machines waver.
    pub fn differs(&self) -> bool {
        let is_apart = self.low > 1.0 || self.high < 1.0;
        is_apart && self.value.ln().abs() > LEAST.ln_1p()
    }

    /// How far it is from 1, either way.
    pub fn distance(&self) -> f64 {
        self.value.ln().abs()
    }
}

/// Which facts set a figure, besides the hardware: names of facts with `*`, by the beginning of the figure's name.
const SET_BY: &[(&str, &[&str])] = &[
    (
        "frequency",
        &[
            "cpu.governor",
            "cpu.frequency.*",
            "cpu.boost",
            "cpu.turbo",
            "cpu.energy_preference",
            "platform.power_profile",
        ],
    ),
    ("width", &["cpu.smt*", "cpu.threads_per_core"]),
    ("call", &["cpu.mitigation.*", "kernel.release", "kernel.version", "kernel.boot.*"]),
    ("switch", &["cpu.mitigation.*", "kernel.release", "kernel.version", "kernel.boot.*", "kernel.preemption"]),
    ("fault", &["memory.thp.*", "cpu.mitigation.*", "kernel.release", "kernel.boot.*", "platform.hypervisor"]),
    (
        "wake",
        &[
            "cpu.idle.*",
            "kernel.boot.*cstate",
            "kernel.boot.idle",
            "kernel.boot.cpuidle*",
            "kernel.preemption",
            "platform.hypervisor",
        ],
    ),
    ("clock", &["clock.source", "clock.tsc", "platform.hypervisor"]),
    ("fsync", &["mount.*", "block.*", "kernel.release"]),
    ("memory", &["memory.thp.*", "cpu.numa.*", "memory.node*"]),
    ("bandwidth", &["cpu.numa.*", "memory.node*"]),
];

/// What the hardware is known by: where one of these differs, a figure that differs may be the machine's.
const HARDWARE: &[&str] = &[
    "cpu.model",
    "cpu.vendor",
    "cpu.stepping",
    "platform.instance_type",
    "platform.product*",
    "platform.hypervisor",
    "cpu.cache.*",
    "cpu.sockets",
    "memory.total",
];

/// Whether a fact (`cpu.governor`) is one of those that set a figure.
pub fn sets_figure(figure: &str, fact: &str) -> bool {
    let begins = |(id, _): &&(&str, &[&str])| figure.split('.').next() == Some(id);
    let known = SET_BY.iter().find(begins).map_or(&[][..], |(_, facts)| facts);
    known.iter().any(|pattern| crate::matches(pattern, fact))
}

/// Whether a fact tells hardware apart.
pub fn is_hardware(fact: &str) -> bool {
    HARDWARE.iter().any(|pattern| crate::matches(pattern, fact))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, low: f64, high: f64, more: bool) -> Figure {
        let [id, title, unit] = ["call", "an empty system call", "s"].map(str::to_owned);
        Figure { id, title, unit, more, value, low, high, rounds: 9 }
    }

    #[test]
    fn intervals_decide() {
        let (slow, fast) = (figure(160e-9, 150e-9, 190e-9, false), figure(100e-9, 95e-9, 120e-9, false));
        let ratio = slow.over(&fast);
        assert!((ratio.value - 1.6).abs() < 1e-9 && ratio.low < 1.3 && ratio.high < 2.01 && ratio.differs());
        let wide = figure(160e-9, 100e-9, 190e-9, false);
        assert!(!wide.over(&fast).differs(), "the intervals overlap");
        let near = figure(103e-9, 102.9e-9, 103.1e-9, false);
        assert!(!near.over(&figure(100e-9, 99.9e-9, 100.1e-9, false)).differs(), "too little to matter");
        // Twice the rate takes half as long.
        let rate = |value: f64| figure(value, value, value, true);
        assert!((rate(2e9).cost_over(&rate(1e9)).value - 0.5).abs() < 1e-9);
        let pooled = Figure::pooled(&[slow.clone(), fast.clone(), wide]).unwrap();
        assert_eq!((pooled.value, pooled.low, pooled.high, pooled.rounds), (160e-9, 95e-9, 190e-9, 27));
        assert_eq!(Figure::pooled(&[]), None);
    }

    #[test]
    fn foreign_figures_are_checked() {
        assert_eq!(figure(2.0, 1.0, 3.0, false).check(), Ok(()));
        for (bad, why) in [
            (figure(f64::NAN, 1.0, 3.0, false), "no number"),
            (figure(f64::INFINITY, 1.0, f64::INFINITY, false), "no number"),
            (figure(-1.0, -2.0, 3.0, false), "no number"),
            (figure(5.0, 1.0, 3.0, false), "within its interval"),
            (Figure { unit: "s\u{1b}[2J".into(), ..figure(2.0, 1.0, 3.0, false) }, "unit"),
            (Figure { id: "x".repeat(100), ..figure(2.0, 1.0, 3.0, false) }, "too long"),
            (Figure { id: String::new(), ..figure(2.0, 1.0, 3.0, false) }, "no name"),
        ] {
            assert!(bad.check().unwrap_err().contains(why), "{bad:?}");
        }
    }

    #[test]
    fn facts_belong_to_figures() {
        assert!(sets_figure("call.read", "cpu.mitigation.meltdown") && sets_figure("fsync", "mount./.options"));
        assert!(!sets_figure("call", "memory.thp.enabled") && !sets_figure("caller", "kernel.release"));
        assert!(is_hardware("cpu.model") && !is_hardware("cpu.governor"));
    }
}
