//! How often functions are called: the looks of `record --count-calls` (table `call_look`), put together by function.

use super::{Dictionary, Kept};
use crate::Run;
use model::{NULL, Symbols, Window};
use std::collections::{BTreeMap, HashMap};

/// How often a function is called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calls {
    /// CPU time that one of its calls takes itself, without what it calls, ns.
    pub ns: f64,
    /// Lower end of the 95 % interval of `ns`.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// From one call to the next on a thread, ns: the median of the looks.
    pub between: f64,
    /// Calls come in even intervals, in most looks.
    pub even: bool,
    /// Looks that told it.
    pub looks: usize,
    /// Hits of breakpoints.
    pub hits: u64,
    /// What they took from threads, ns.
    pub cost: f64,
}

/// What two breakpoints resolve in one look, ns, and how far a look is off beyond that, as a part (one standard deviation: half of what was measured as
/// the largest errors on programs that count their calls).
const RESOLUTION: f64 = 10.0;
const OFF: f64 = 0.025;

/// Looks whose median distance from their median is more than this part of it disagree.
const DISAGREE: f64 = 0.35;

/// One look.
#[derive(Clone, Copy, Debug)]
struct Look {
    between: f64,
    even: bool,
    hits: u64,
    cost: f64,
    samples: f64,
    of_thread: f64,
}

fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let at = |at: usize| numbers.get(at).copied().unwrap_or(f64::NAN);
    (at(numbers.len() / 2) + at(numbers.len().saturating_sub(1) / 2)) / 2.0
}

/// What looks at one function say together; nothing if they disagree.
fn together(looks: &[Look]) -> Option<Calls> {
    let of_thread: f64 = looks.iter().map(|look| look.of_thread).sum();
    let share = looks.iter().map(|look| look.samples).sum::<f64>() / of_thread;
    let between = middle(looks.iter().map(|look| look.between).collect());
    let apart = middle(looks.iter().map(|look| (look.between - between).abs()).collect());
    let agrees = looks.len() < 3 || apart <= DISAGREE * between;
    let ns = Some(between * share).filter(|ns| agrees && ns.is_finite() && *ns > 0.0)?;
    let count = looks.len() as f64;
    let of_share = ((1.0 - share) / (share * of_thread)).sqrt();
    let of_time = ((RESOLUTION / between).powi(2) / count + OFF.powi(2)).sqrt();
    let half = 1.96 * of_share.hypot(of_time) * ns;
    Some(Calls {
        ns,
        low: (ns - half).max(0.0),
        high: ns + half,
        between,
        even: looks.iter().filter(|look| look.even).count() * 2 > looks.len(),
        looks: looks.len(),
        hits: looks.iter().map(|look| look.hits).sum(),
        cost: looks.iter().map(|look| look.cost * look.hits as f64).sum(),
    })
}

/// By number of code. Code that a process made is known by its name.
pub(super) fn load(
    run: &Run,
    window: &Window,
    kept: &BTreeMap<i64, Kept>,
    names: &HashMap<i64, String>,
    dictionary: &Dictionary,
) -> BTreeMap<i64, Calls> {
    let mut looks: BTreeMap<i64, Vec<Look>> = BTreeMap::new();
    let columns = ["at", "stack", "hits", "cost", "gap", "even", "samples", "thread_samples"];
    run.recording.scan("call_look", &columns, Some((window.from, i64::MAX)), &mut Symbols::default(), |batch| {
        for row in 0..batch.len() {
            let [at, stack, hits, cost, between, even, samples, of_thread] =
                [0, 1, 2, 3, 4, 5, 6, 7].map(|column| batch.cell(column, row));
            if [at, cost, between, of_thread].contains(&NULL) || window.part(at, at) <= 0.0 || of_thread <= 0 {
                continue;
            }
            let Some((frame, _)) = dictionary.innermost(stack) else { continue };
            let is_it = |(number, kept): &(&i64, &Kept)| match frame.kind.as_str() {
                "jit" => kept.pid != NULL && names.get(number).is_some_and(|name| *name == frame.function),
                _ => kept.begins_at(&frame.module, &frame.build_id, frame.offset as u64, &frame.function),
            };
            let look = Look {
                between: f64::from_bits(between as u64),
                even: even == 1,
                hits: hits.max(0) as u64,
                cost: f64::from_bits(cost as u64),
                samples: samples.max(0) as f64,
                of_thread: of_thread as f64,
            };
            if look.between.is_finite() && look.cost.is_finite() {
                kept.iter().filter(is_it).for_each(|(&number, _)| looks.entry(number).or_default().push(look));
            }
        }
    });
    looks.into_iter().filter_map(|(number, looks)| Some((number, together(&looks)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(between: f64, samples: f64) -> Look {
        Look { between, even: true, hits: 200, cost: 9_000.0, samples, of_thread: 100.0 }
    }

    #[test]
    fn looks_come_together() {
        let calls = together(&[look(1_000.0, 50.0), look(1_020.0, 48.0), look(990.0, 52.0)]).unwrap();
        assert!((calls.ns - 500.0).abs() < 1e-9 && calls.between == 1_000.0 && calls.even, "{calls:?}");
        assert!(calls.low < 480.0 && calls.high > 520.0 && calls.low > 400.0, "{calls:?}");
        assert_eq!((calls.looks, calls.hits, calls.cost), (3, 600, 5_400_000.0));
        // They disagree; there are none; the function had no samples.
        assert_eq!(together(&[look(100.0, 50.0), look(1_000.0, 50.0), look(9_000.0, 50.0)]), None);
        assert_eq!(together(&[]), None);
        assert_eq!(together(&[look(100.0, 0.0)]), None);
        // Close to what two breakpoints resolve it is known less well.
        let near = together(&[look(60.0, 100.0)]).unwrap();
        assert!(near.high / near.ns > 1.3, "{near:?}");
    }
}
