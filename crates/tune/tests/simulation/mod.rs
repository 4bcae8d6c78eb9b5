//! Sessions on simulated machines, many of a kind, and how often they were wrong: for the test and for the table of
//! docs/method.md.

mod flags;

pub use flags::flags;

use query::stats::rng::Rng;
use tune::designs::search::{self, Bound, Searched};
use tune::designs::{ab, ladder};
use tune::measure::Limit;
use tune::scaling::{self, Peak, Work};
use tune::simulated::{Noise, Queue, Simulated};
use tune::{Better, Change, Design, Event, Journal, Keep, Measure, Plan, Session, Verdict};

/// A journal that keeps nothing.
struct Nothing;

impl Journal for Nothing {
    fn append(&mut self, _: &Event) -> std::io::Result<()> {
        Ok(())
    }
}

/// Percent of so many.
pub fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

fn plan(design: Design, blocks: usize, seed: u64) -> Plan {
    let measures = vec![Measure { name: "wall".into(), better: Better::Less }];
    Plan { blocks, ..Plan::new(design, measures, seed) }
}

fn run(plan: Plan, machine: &mut Simulated) -> Session {
    let mut session = Session::begin(plan, &mut Nothing).expect("a sound plan");
    session.run(machine, &mut Nothing).expect("a machine without void trials");
    session
}

fn differs(change: &Change) -> bool {
    matches!(change.verdict, Some(Verdict::Better | Verdict::Worse))
}

/// Whether the interval leaves out this true difference of logarithms.
fn leaves_out(change: &Change, truth: f64) -> bool {
    change.interval.is_some_and(|[low, high]| truth.exp() < low || high < truth.exp())
}

/// What sessions with the same true differences came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// In which anything was called different, in %.
    pub called: f64,
    /// In which any interval left out the truth, in %.
    pub left_out: f64,
    /// Mean number of blocks.
    pub blocks: f64,
}

/// What is compared.
#[derive(Clone, Copy)]
pub struct Compare<'a> {
    /// The noise.
    pub noise: Noise,
    /// The true differences of logarithms of the variants.
    pub truth: &'a [f64],
    /// The most blocks.
    pub blocks: usize,
    /// Four blocks and Student's t.
    pub quick: bool,
    /// So many more by the wager, where it was not decided.
    pub more: usize,
}

fn compared(c: Compare, seed: u64) -> Session {
    let effects: Vec<f64> = [0.0].iter().chain(c.truth).copied().collect();
    let mut machine = Simulated::new(c.noise, seed, (c.truth.len() + 1) * c.blocks).effects(&effects);
    let plan = Plan { quick: c.quick, ..plan(Design::Ab { variants: c.truth.len() }, c.blocks, seed ^ 0x5eed) };
    let mut session = run(plan, &mut machine);
    if c.more > 0 && session.more(c.more, &mut Nothing).is_ok() {
        session.run(&mut machine, &mut Nothing).expect("a machine without void trials");
    }
    session
}

/// Sessions of [`Design::Ab`].
pub fn compare(c: Compare, sessions: usize) -> Rates {
    let (mut called, mut left_out, mut blocks) = (0, 0, 0);
    for seed in 0..sessions {
        let session = compared(c, seed as u64);
        let changes = ab::changes(&session);
        called += usize::from(changes.iter().any(differs));
        left_out += usize::from(changes.iter().zip(c.truth).any(|(change, truth)| leaves_out(change, *truth)));
        blocks += session.stages().iter().map(|s| s.series.blocks.len()).sum::<usize>();
    }
    Rates {
        called: percent(called, sessions),
        left_out: percent(left_out, sessions),
        blocks: blocks as f64 / sessions as f64,
    }
}

/// What searches of two variants came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Searches {
    /// How far off the ratio of their rates is, in % (root mean square).
    pub ratio_off: f64,
    /// Sessions in which its interval holds the truth, in %.
    pub ratio_held: f64,
    /// How far off a rate is, and how often its interval holds the truth.
    pub rate_off: f64,
    /// See `rate_off`.
    pub rate_held: f64,
    /// Mean number of trials.
    pub trials: f64,
}

/// Searches of two servers, the second with this many times the capacity of the first, with so many pairs at most.
pub fn searches(bend: f64, drift: f64, own: f64, gain: f64, pairs: usize, sessions: usize) -> Searches {
    let (service, limit) = (0.3e-3, 1.5e-3);
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    let mut trials = 0;
    for seed in 0..sessions {
        let capacity = 1000.0;
        let searched = Searched {
            parameter: "rate".into(),
            from: 100.0,
            to: 1e6,
            limits: vec![Bound { measure: 0, limit: Limit::parse("<= 1.5ms").expect("a limit") }],
            reached: Some(1),
        };
        let measures = ["mean", "rate"].map(|name| Measure { name: name.into(), better: Better::Less });
        let design = Design::Search { variants: 2, searched };
        // Only as many as there are: nothing is decided before, for nothing matters less.
        let plan = Plan { blocks: pairs, effect: 1e-6, ..Plan::new(design, measures.into(), seed as u64) };
        let mut machine = Queue::new(seed as u64, &[capacity, capacity * gain], service, drift, own).bend(bend);
        let mut session = Session::begin(plan, &mut Nothing).expect("a sound plan");
        session.run(&mut machine, &mut Nothing).expect("a machine without void trials");
        trials += session.trials();
        let all = search::all(&session);
        for ((_, found), more) in all.iter().zip([1.0, gain]) {
            let truth = capacity * more * (1.0 - service / limit).powf(1.0 / bend);
            let held = found.interval.is_some_and(|[low, high]| low <= truth && truth <= high);
            rates.push(((found.rate / truth).ln(), held));
        }
        let change = &ab::changes(&session)[0];
        ratios.push(((change.factor / gain).ln(), !leaves_out(change, gain.ln())));
    }
    let off = |all: &[(f64, bool)]| 100.0 * (all.iter().map(|x| x.0 * x.0).sum::<f64>() / all.len() as f64).sqrt();
    let held = |all: &[(f64, bool)]| percent(all.iter().filter(|x| x.1).count(), all.len());
    Searches {
        ratio_off: off(&ratios),
        ratio_held: held(&ratios),
        rate_off: off(&rates),
        rate_held: held(&rates),
        trials: trials as f64 / sessions as f64,
    }
}

/// What the prediction after 8 pairs was worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predicted {
    /// Sessions that were not decided after 8 pairs.
    pub open: usize,
    /// Of these, those in which a number up to the most blocks was told.
    pub told: usize,
    /// Of those told, the ones that were decided by then, in %.
    pub sufficed: f64,
    /// Median of the number told.
    pub median: usize,
    /// Median of the number that was used.
    pub used: usize,
}

/// How often the predicted blocks suffice.
pub fn predicted(noise: Noise, truth: f64, blocks: usize, sessions: usize) -> Predicted {
    let mut told = Vec::new();
    let mut used = Vec::new();
    let (mut open, mut sufficed) = (0, 0);
    for seed in 0..sessions {
        let c = Compare { noise, truth: &[truth], blocks, quick: false, more: 0 };
        let session = compared(c, 1_000_000 + seed as u64);
        let comparison = &session.stages()[0].comparisons[0];
        let Some(look) = comparison.looks.iter().find(|l| l.pairs == 8 && l.verdict.is_none()) else { continue };
        open += 1;
        if let Some(needs) = look.needs.filter(|n| *n <= blocks) {
            let end = comparison.looks.last().expect("a look");
            let decided = comparison.verdict != Some(Verdict::NotDecided) && end.pairs <= needs;
            sufficed += usize::from(decided);
            told.push(needs);
            used.push(end.pairs);
        }
    }
    let median = |list: &mut Vec<usize>| {
        list.sort_unstable();
        list.get(list.len() / 2).copied().unwrap_or(0)
    };
    Predicted {
        open,
        told: told.len(),
        sufficed: percent(sufficed, told.len()),
        median: median(&mut told),
        used: median(&mut used),
    }
}

/// What ladders came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ladders {
    /// Sessions in which a step or a total was called different in the table, in %.
    pub table: f64,
    /// The same, or a step while climbing.
    pub any: f64,
    /// Sessions in which an interval of the table left out the truth, in %.
    pub left_out: f64,
    /// The mean of the told factor of all that was kept ÷ the true one, in % above 1: as multiplied while climbing.
    pub overstated_climbing: f64,
    /// The same, as the table says.
    pub overstated_table: f64,
}

/// Ladders of a baseline and steps with these effects.
pub fn ladders(noise: Noise, effects: &[f64], sessions: usize) -> Ladders {
    let steps = vec![Keep::IfBetter; effects.len()];
    let all: Vec<f64> = [0.0].iter().chain(effects).copied().collect();
    let (mut table, mut any, mut left_out) = (0, 0, 0);
    let (mut climbing, mut whole, mut kept) = (0.0, 0.0, 0usize);
    for seed in 0..sessions {
        let seed = 2_000_000 + seed as u64;
        let mut machine = Simulated::new(noise, seed, 2 * 20 * effects.len()).effects(&all);
        let design = Design::Ladder { steps: steps.clone(), table: 15, searched: None };
        let session = run(plan(design, 30, seed ^ 0x5eed), &mut machine);
        let rows = ladder::table(&session);
        let changes = || rows.iter().flat_map(|r| [&r.change, &r.total]).flatten();
        let called = changes().any(differs);
        table += usize::from(called);
        any += usize::from(called || rows.iter().any(|r| differs(&r.climbed)));
        // Less time is better: what was kept is told too well where its factor is too small.
        let truth = |variant: usize| session.steps(variant).iter().map(|s| effects[*s]).sum::<f64>();
        left_out += usize::from(changes().any(|c| leaves_out(c, truth(c.variant) - truth(c.against))));
        if let Some(total) = rows.iter().rev().find_map(|r| r.total.as_ref()) {
            let told: f64 = rows.iter().filter(|r| r.kept == Some(true)).map(|r| r.climbed.factor.ln()).sum();
            climbing += truth(total.variant) - told;
            whole += truth(total.variant) - total.factor.ln();
            kept += 1;
        }
    }
    let mean = |sum: f64| if kept == 0 { f64::NAN } else { 100.0 * sum / kept as f64 };
    Ladders {
        table: percent(table, sessions),
        any: percent(any, sessions),
        left_out: percent(left_out, sessions),
        overstated_climbing: mean(climbing),
        overstated_table: mean(whole),
    }
}

/// How well a scaling law was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scaling {
    /// How often the interval of σ and of κ hold the truth, in %.
    pub sigma: f64,
    /// See above.
    pub kappa: f64,
    /// How often a peak was named, and how often "none up to 2N" was said, in %.
    pub named: f64,
    /// See above.
    pub none: f64,
    /// How often what was said of a peak is false, in %: none up to 2N, or one within its interval.
    pub false_peak: f64,
    /// How often it was said that the law does not fit, in %.
    pub refused: f64,
    /// Median width of the interval of σ.
    pub width: f64,
}

/// Sweeps of 10 blocks over `n`, with 3 % of each trial and 4 % of each block.
pub fn scaling(sigma: f64, kappa: f64, n: &[f64], sessions: usize) -> Scaling {
    let mut rng = Rng::new(sigma.to_bits() ^ kappa.to_bits().rotate_left(7) ^ n.len() as u64);
    let at = ((1.0 - sigma).max(0.0) / kappa).sqrt();
    let most = 2.0 * n.iter().copied().fold(0.0, f64::max);
    let (mut of_sigma, mut of_kappa, mut named, mut none, mut wrong, mut refused) = (0, 0, 0, 0, 0, 0);
    let mut widths = Vec::new();
    for _ in 0..sessions {
        let blocks: Vec<Vec<f64>> = (0..10)
            .map(|_| {
                let mood = 0.04 * rng.normal();
                let law = |n: f64| 1000.0 * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0));
                n.iter().map(|n| law(*n) * (mood + 0.03 * rng.normal()).exp()).collect()
            })
            .collect();
        let fit = scaling::fit(n, &blocks, Work::Same).expect("a sound sweep");
        let holds = |v: scaling::Value, truth: f64| v.low <= truth && truth <= v.high;
        of_sigma += usize::from(holds(fit.sigma, sigma));
        of_kappa += usize::from(fit.kappa.is_some_and(|k| holds(k, kappa)));
        widths.push(fit.sigma.high - fit.sigma.low);
        refused += usize::from(fit.does_not_fit());
        match fit.peak {
            Peak::At(value) => {
                named += 1;
                wrong += usize::from(!holds(value, at));
            }
            Peak::NoneUpTo(_) => {
                none += 1;
                wrong += usize::from(at <= most);
            }
            Peak::NotKnown(_) => (),
        }
    }
    widths.sort_by(f64::total_cmp);
    Scaling {
        sigma: percent(of_sigma, sessions),
        kappa: percent(of_kappa, sessions),
        named: percent(named, sessions),
        none: percent(none, sessions),
        false_peak: percent(wrong, sessions),
        refused: percent(refused, sessions),
        width: widths[widths.len() / 2],
    }
}
