//! Optima for the best values of a made-up service, on a simulated machine that drifts.

use super::Nothing;
use query::stats::quantile::quantile;
use query::stats::rng::Rng;
use std::collections::BTreeMap;
use tune::designs::optimise;
use tune::optimise::Space;
use tune::space::Set;
use tune::{Better, Design, Machine, Measure, Outcome, Plan, Session, Trial};

/// Seconds of a trial.
const TRIAL: f64 = 10.0;

/// Moods last so many seconds.
const MOOD: f64 = 120.0;

/// Six parameters of three kinds, the first value of each being the usual one.
const PARAMETERS: [(&str, &[&str]); 6] = [
    ("gc", &["g1", "par", "z"]),
    ("heap", &["512", "256", "1024", "1536", "2048", "3072", "4096"]),
    ("inline", &["0", "1"]),
    ("pool", &["4", "1", "2", "8", "16", "32"]),
    ("thp", &["madvise", "never", "always"]),
    ("threads", &["4", "1", "2", "8", "12", "16", "24", "32", "64"]),
];

/// The space of these.
pub fn space() -> Space {
    let list = |of: &[&str]| of.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    let parameters: BTreeMap<String, Vec<String>> =
        PARAMETERS.iter().map(|(name, values)| ((*name).to_owned(), list(values))).collect();
    Space::of(&parameters, &[], &[]).expect("a sound space")
}

/// The logarithm of its throughput.
pub fn throughput(set: &Set) -> f64 {
    let word = |name: &str| set.get(name).map_or("", String::as_str);
    let number = |name: &str| word(name).parse::<f64>().unwrap_or(1.0);
    let off = |name: &str, best: f64| (number(name) / best).log2();
    let heap = 0.05 * off("heap", 2048.0).powi(2) * if word("gc") == "par" { 0.4 } else { 1.0 };
    let gc = match word("gc") {
        "par" => 0.12,
        "z" => -0.08,
        _ => 0.0,
    };
    let thp = match word("thp") {
        "madvise" => 0.03,
        "always" if number("heap") >= 1024.0 => 0.06,
        "always" => -0.06,
        _ => 0.0,
    };
    let pool = 0.03 * (off("pool", 8.0) - 0.3 * off("threads", 12.0)).powi(2);
    gc + thp + 0.04 * number("inline") - heap - 0.035 * off("threads", 12.0).powi(2) - pool
}

/// The logarithm of its latency: more threads and a larger heap cost some.
fn latency(set: &Set) -> f64 {
    let number = |name: &str| set.get(name).and_then(|v| v.parse::<f64>().ok()).unwrap_or(1.0);
    0.18 * (number("threads") / 4.0).log2() + 0.08 * (number("heap") / 512.0).log2() - 0.3 * throughput(set)
}

/// The best of all combinations.
fn best(space: &Space) -> f64 {
    let mut all = vec![Set::new()];
    for d in &space.dimensions {
        let with = |set: &Set| {
            (0..d.values.len()).map(|p| set.clone().into_iter().chain(d.at(p)).collect()).collect::<Vec<Set>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all.iter().map(throughput).fold(f64::NEG_INFINITY, f64::max)
}

/// A machine with moods, and noise of each trial's own.
struct Drifting {
    rng: Rng,
    default: Set,
    sd: f64,
    own: f64,
    mood: f64,
}

impl Machine for Drifting {
    fn run(&mut self, trial: &Trial) -> Outcome {
        let stays = (-TRIAL / MOOD).exp();
        self.mood = stays * self.mood + self.sd * (1.0 - stays * stays).sqrt() * self.rng.normal();
        let mut set = self.default.clone();
        set.extend(trial.set.clone());
        let noise = self.mood + self.own * self.rng.normal();
        let other = latency(&set) - noise + self.own * self.rng.normal();
        Outcome::Measured(vec![Some((throughput(&set) + noise).exp()), Some(other.exp())])
    }
}

/// What searches came to, in %.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Optima {
    /// How far what was to be taken falls short of the best: median, and the worst tenth.
    pub short: f64,
    /// See above.
    pub worst: f64,
    /// By how much its gain was overstated on average, as told by the blocks, and the mean size of that error.
    pub overstated: f64,
    /// See above.
    pub off: f64,
    /// The same, had one believed the search.
    pub seen: f64,
    /// How often the interval leaves out the truth.
    pub left_out: f64,
    /// How often what is better was called so.
    pub better: f64,
}

/// Optima of so many trials, with moods of `sd` and noise of `own` a trial.
pub fn optima(trials: usize, sd: f64, own: f64, sessions: usize) -> Optima {
    let space = space();
    let best = best(&space);
    let default = throughput(&space.default_set());
    let (mut short, mut overstated, mut off, mut seen, mut left_out, mut better) = (Vec::new(), 0.0, 0.0, 0.0, 0, 0);
    for seed in 0..sessions {
        let seed = 7_000_000 + seed as u64;
        let mut rng = Rng::new(seed);
        let mood = sd * rng.normal();
        let mut machine = Drifting { rng, default: space.default_set(), sd, own, mood };
        let measure = |name: &str, better| Measure { name: name.into(), better };
        let design = Design::Optimise { space: space.clone(), trials, objectives: 1 };
        let plan = Plan::new(design, vec![measure("work", Better::More), measure("p99", Better::Less)], seed ^ 0x5eed);
        let plan = Plan { blocks: tune::Seek::of(trials).blocks, ..plan };
        let mut session = Session::begin(plan, &mut Nothing).expect("a sound plan");
        session.run(&mut machine, &mut Nothing).expect("a machine without void trials");
        let take = optimise::to_take(&session).unwrap_or(0);
        let set = optimise::confirmed(&session).remove(&take).unwrap_or_else(|| space.default_set());
        let truth = throughput(&set) - default;
        short.push(best - throughput(&set));
        let changes = optimise::changes(&session);
        if let Some(change) = changes.iter().find(|c| c.variant == take) {
            let error = change.factor.ln() - truth;
            overstated += error;
            off += error.abs();
            left_out += usize::from(change.interval.is_some_and(|[l, h]| truth.exp() < l || h < truth.exp()));
            better += usize::from(change.verdict == Some(tune::Verdict::Better));
        }
        let tried = optimise::tried(&session);
        let cost = |of: &Set| tried.iter().find(|t| t.set == *of).and_then(|t| t.costs.as_ref()?.first().copied());
        let top =
            tried.iter().filter_map(|t| Some((t, *t.costs.as_ref()?.first()?))).min_by(|a, b| a.1.total_cmp(&b.1));
        if let Some(((top, own), usual)) = top.zip(cost(&space.default_set())) {
            seen += usual - own - (throughput(&top.set) - default);
        }
    }
    let n = sessions as f64;
    let weights = vec![1.0; short.len()];
    let at = |p: f64| 100.0 * quantile(&short, &weights, p).unwrap_or(f64::NAN);
    Optima {
        short: at(0.5),
        worst: at(0.9),
        overstated: 100.0 * overstated / n,
        off: 100.0 * off / n,
        seen: 100.0 * seen / n,
        left_out: super::percent(left_out, sessions),
        better: super::percent(better, sessions),
    }
}
