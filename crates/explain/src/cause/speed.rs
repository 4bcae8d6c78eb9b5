//! How fast the CPUs were on both sides, as the table `core_speed` that causes ask: their frequency, and how many additions they did in a cycle, with
//! intervals. Either wavers by itself, so that causes judge the end of the interval that says least.

use compare::{PerSide, Side, means};
use model::Window;
use query::sql::Value;
use query::stats::{Comparer, Options, Series};
use query::{Run, Session, human};

/// What is asked for: the word for it, in which table and column it is, and how it was come by. Of several the first that both sides have counts.
const ASKED: [(&str, &str, &str, &str); 3] = [
    ("frequency", "cpufreq", "frequency", "counted"),
    ("frequency", "cpu_speed", "frequency", "sampled"),
    ("width", "cpu_speed", "width", "sampled"),
];

/// So much less at the least is a reason why all code is slower.
const REASON: f64 = 0.02;

/// One of them.
#[derive(Clone, Debug, PartialEq)]
struct Paced {
    what: &'static str,
    how: &'static str,
    mean: PerSide<f64>,
    /// How much less it is on the slow side, as a part of the baseline: best estimate, and the ends of its interval.
    lack: f64,
    low: f64,
    high: f64,
}

/// All that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Speeds(Vec<Paced>);

/// A metric of a run over its window, its mean over CPUs.
fn series(run: &Run, table: &str, column: &str, window: &Window) -> Option<Series> {
    let grid = means::grid(run, table, column, &[], window)?;
    let of = grid.series.first()?;
    let (num, den): (Vec<f64>, Vec<f64>) = grid.cut(window).mostly().map(|i| (of.num(i), of.den(i))).unzip();
    Some(Series::ratio(&num, &den)).filter(|series| !series.is_empty())
}

impl Speeds {
    /// Reads them.
    pub(crate) fn of(runs: &[Run], side: &[Side], windows: &[Window]) -> Speeds {
        let mut found: Vec<Paced> = Vec::new();
        for (what, table, column, how) in ASKED {
            if found.iter().any(|known| known.what == what) {
                continue;
            }
            let sides = PerSide::of(|wanted| {
                let own = runs.iter().zip(windows).zip(side).filter(|(_, side)| **side == wanted);
                own.filter_map(|((run, window), _)| series(run, table, column, window)).collect::<Vec<_>>()
            });
            found.extend(compared(what, how, &sides));
        }
        Speeds(found)
    }

    /// Why all code is slower, in words; none where the CPUs were as fast.
    pub(crate) fn reason(&self) -> Option<String> {
        let found = self.0.iter().filter(|of| of.low >= REASON).max_by(|a, b| a.lack.total_cmp(&b.lack))?;
        let (slow, fast) = (found.mean.slow, found.mean.baseline);
        Some(match found.what {
            "frequency" => {
                format!("the CPUs ran at {} (baseline {}; {})", human(slow, "Hz"), human(fast, "Hz"), found.how)
            }
            _ => format!(
                "another thread of their cores took part of them: {slow:.1} additions a cycle (baseline {fast:.1}; {})",
                found.how
            ),
        })
    }

    /// Defines the table.
    ///
    /// # Errors
    /// Where SQLite refuses.
    pub(crate) fn define(&self, session: &mut Session) -> Result<(), query::Error> {
        let rows = self.0.iter().map(|of| {
            vec![
                Value::Text(of.what.to_owned()),
                Value::Text(of.how.to_owned()),
                Value::Real(of.mean.slow),
                Value::Real(of.mean.baseline),
                Value::Real(of.lack),
                Value::Real(of.low),
                Value::Real(of.high),
            ]
        });
        session.define("core_speed", &["what", "how", "slow", "against", "lack", "lack_low", "lack_high"], rows)
    }
}

/// Both sides of one; none where either was not measured, or too seldom to tell.
fn compared(what: &'static str, how: &'static str, sides: &PerSide<Vec<Series>>) -> Option<Paced> {
    let found = Comparer::new().compare(&sides.baseline, &sides.slow, &Options::default());
    let mean = PerSide { slow: found.other.mean?, baseline: found.baseline.mean? };
    // An interval without an end says nothing.
    let (low, high) = (-found.high.unwrap_or(f64::INFINITY), -found.low.unwrap_or(f64::NEG_INFINITY));
    Some(Paced { what, how, mean, lack: -found.change?, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::stats::rng::Rng;

    /// A width that is that of two threads of a core for stretches of so many reads, and that of one else.
    fn shared(rng: &mut Rng, reads: usize, stretch: usize) -> Series {
        let mut values = Vec::new();
        while values.len() < reads {
            let level = if rng.uniform() < 0.5 { 2.0 } else { 3.7 };
            values.extend((0..stretch).map(|_| level + 0.05 * rng.normal()));
        }
        values.truncate(reads);
        Series::even(&values)
    }

    #[test]
    fn a_neighbour_that_comes_and_goes_is_no_difference() {
        let mut rng = Rng::new(7);
        let mut wrong = 0;
        for _ in 0..40 {
            let sides = PerSide { slow: vec![shared(&mut rng, 60, 4)], baseline: vec![shared(&mut rng, 60, 4)] };
            let found = compared("width", "sampled", &sides).unwrap();
            wrong += usize::from(Speeds(vec![found]).reason().is_some());
        }
        assert!(wrong <= 2, "{wrong} of 40 pairs that do not differ");
    }

    #[test]
    fn one_that_stays_is_the_reason() {
        let mut rng = Rng::new(8);
        let mut level = |mean: f64| vec![Series::even(&(0..30).map(|_| mean + 0.1 * rng.normal()).collect::<Vec<_>>())];
        let found = compared("width", "sampled", &PerSide { slow: level(2.1), baseline: level(3.7) }).unwrap();
        assert!((found.lack - 0.43).abs() < 0.03 && found.low > 0.38 && found.high < 0.48, "{found:?}");
        let said = Speeds(vec![found]).reason().unwrap();
        assert_eq!(
            said,
            "another thread of their cores took part of them: 2.1 additions a cycle (baseline 3.7; sampled)"
        );
        let same = compared("frequency", "sampled", &PerSide { slow: level(3.6), baseline: level(3.6) }).unwrap();
        assert_eq!(Speeds(vec![same]).reason(), None);
        let few = PerSide { slow: vec![Series::even(&[2.0])], baseline: vec![Series::even(&[3.0])] };
        assert_eq!(compared("width", "sampled", &few), None);
        let none = PerSide { slow: Vec::new(), baseline: level(3.0) };
        assert_eq!(compared("width", "sampled", &none), None);
    }
}
