//! A machine that is simulated: trials of 9 s one after the other, with the noise of shared machines. For tests, and for the
//! table of docs/method.md.

use crate::event::Outcome;
use crate::machine::{Machine, Trial};
use query::stats::rng::Rng;

/// Seconds of a trial and the gap after it.
const TRIAL: f64 = 9.0;

/// What disturbs a machine. All but the first have noise of 1.5 % of each trial's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// 3 % of each trial, and nothing that lasts.
    White,
    /// Moods of two minutes, 6 %.
    Moods,
    /// It becomes slower or faster by 12 % over the session.
    Ramp,
    /// A neighbour takes 20 % for 150 s, and is gone for 300.
    Neighbour,
    /// 6 % of the trials take 15 % longer on average.
    Bursts,
    /// Moods of 4 %, a neighbour of 15 % for 120 s in 600, and bursts of 12 % in 4 % of the trials.
    All,
}

/// All kinds.
pub const KINDS: [Noise; 6] = [Noise::White, Noise::Moods, Noise::Ramp, Noise::Neighbour, Noise::Bursts, Noise::All];

impl Noise {
    /// Moods: standard deviation and seconds.
    fn moods(self) -> (f64, f64) {
        match self {
            Noise::Moods => (0.06, 120.0),
            Noise::All => (0.04, 120.0),
            _ => (0.0, 1.0),
        }
    }

    /// A neighbour: what it takes, for how long, and for how long it is gone.
    fn neighbour(self) -> (f64, f64, f64) {
        match self {
            Noise::Neighbour => (0.2, 150.0, 300.0),
            Noise::All => (0.15, 120.0, 480.0),
            _ => (0.0, 1.0, 1.0),
        }
    }

    /// Bursts: how often, and how much.
    fn bursts(self) -> (f64, f64) {
        match self {
            Noise::Bursts => (0.06, 0.15),
            Noise::All => (0.04, 0.12),
            _ => (0.0, 0.0),
        }
    }
}

/// A simulated machine. Its measure is 1 where nothing disturbs a variant without an effect.
#[derive(Clone, Debug)]
pub struct Simulated {
    noise: Noise,
    rng: Rng,
    effects: Vec<f64>,
    failures: Vec<f64>,
    void: f64,
    mood: f64,
    neighbour: bool,
    /// Of the ramp: where it is, and what a trial adds.
    ramp: (f64, f64),
}

impl Simulated {
    /// A machine with this noise. A session is expected to take so many trials: over these goes the ramp.
    pub fn new(noise: Noise, seed: u64, trials: usize) -> Simulated {
        let mut rng = Rng::new(seed);
        let mood = noise.moods().0 * rng.normal();
        let (_, on, off) = noise.neighbour();
        let neighbour = rng.uniform() < on / (on + off);
        let slope = if noise == Noise::Ramp { 0.12 / trials.max(1) as f64 } else { 0.0 };
        let slope = if rng.below(2) == 0 { slope } else { -slope };
        Simulated { noise, rng, effects: vec![], failures: vec![], void: 0.0, mood, neighbour, ramp: (0.0, slope) }
    }

    /// The logarithm of each variant's true factor. Variants of a ladder have the sum of their steps, of which these are the
    /// effects, the first being that of the baseline.
    pub fn effects(mut self, effects: &[f64]) -> Simulated {
        self.effects = effects.to_vec();
        self
    }

    /// The probability with which trials of each variant fail.
    pub fn failures(mut self, failures: &[f64]) -> Simulated {
        self.failures = failures.to_vec();
        self
    }

    /// The probability with which a trial is void.
    pub fn void(mut self, void: f64) -> Simulated {
        self.void = void;
        self
    }

    /// What disturbs the next trial alone, as a logarithm.
    fn own(&mut self) -> f64 {
        let (often, much) = self.noise.bursts();
        let own = if self.noise == Noise::White { 0.03 } else { 0.015 };
        let rng = &mut self.rng;
        let burst = if rng.uniform() < often { much * rng.exponential() } else { 0.0 };
        burst + own * rng.normal()
    }

    /// What the machine does to all that runs now, as a logarithm; then the time of a trial passes.
    fn passes(&mut self) -> f64 {
        let rng = &mut self.rng;
        let (sd, lasts) = self.noise.moods();
        let (takes, on, off) = self.noise.neighbour();
        let neighbour = if self.neighbour { takes } else { 0.0 };
        let now = self.mood + neighbour + self.ramp.0;
        let stays = (-TRIAL / lasts).exp();
        self.mood = stays * self.mood + sd * (1.0 - stays * stays).sqrt() * rng.normal();
        let changes = 1.0 - (-TRIAL / if self.neighbour { on } else { off }).exp();
        self.neighbour ^= rng.uniform() < changes;
        self.ramp.0 += self.ramp.1;
        now
    }

    /// What comes out of a trial that is disturbed so.
    fn outcome(&mut self, trial: &Trial, disturbance: f64) -> Outcome {
        let effect = |i: usize| self.effects.get(i).copied().unwrap_or(0.0);
        let truth = match trial.steps.is_empty() {
            true => effect(trial.variant),
            false => effect(0) + trial.steps.iter().map(|s| effect(s + 1)).sum::<f64>(),
        };
        let value = (truth + disturbance).exp();
        if self.rng.uniform() < self.void {
            return Outcome::Void("simulated".into());
        }
        if self.rng.uniform() < self.failures.get(trial.variant).copied().unwrap_or(0.0) {
            return Outcome::Failed("simulated".into());
        }
        Outcome::Measured(vec![Some(value)])
    }
}

/// A simulated server: one queue (M/M/1) for each variant, on a machine whose speed drifts. Its measures are the mean latency
/// and the rate that was reached; what is asked for is the parameter `rate`.
#[derive(Clone, Debug)]
pub struct Queue {
    rng: Rng,
    capacities: Vec<f64>,
    service: f64,
    bend: f64,
    drift: f64,
    own: f64,
    mood: f64,
}

/// Seconds of a trial of a server, and how long its moods last.
const SERVED: (f64, f64) = (12.0, 120.0);
/// Noise of a mean latency.
const LATENCY: f64 = 0.05;

impl Queue {
    /// Variants with these capacities in requests per second; one takes `service` seconds where nobody waits. The machine's
    /// speed has moods of `drift`, and each trial is `own` off, both standard deviations of the logarithm.
    pub fn new(seed: u64, capacities: &[f64], service: f64, drift: f64, own: f64) -> Queue {
        let mut rng = Rng::new(seed);
        let mood = drift * rng.normal();
        Queue { rng, capacities: capacities.to_vec(), service, bend: 1.0, drift, own, mood }
    }

    /// Its latency is service ÷ (1 − useᵇᵉⁿᵈ): with more than 1 it is flat for longer, and then steeper, as of several workers.
    pub fn bend(mut self, bend: f64) -> Queue {
        self.bend = bend;
        self
    }
}

impl Machine for Queue {
    fn run(&mut self, trial: &Trial) -> Outcome {
        let rng = &mut self.rng;
        let speed = (self.mood + self.own * rng.normal()).exp();
        let stays = (-SERVED.0 / SERVED.1).exp();
        self.mood = stays * self.mood + self.drift * (1.0 - stays * stays).sqrt() * rng.normal();
        let rate = trial.set.get("rate").and_then(|text| text.parse::<f64>().ok());
        let (Some(rate), Some(capacity)) = (rate, self.capacities.get(trial.variant)) else {
            return Outcome::Failed("simulated: no rate".into());
        };
        let (capacity, service) = (capacity * speed, self.service / speed);
        let used = (rate / capacity).powf(self.bend);
        // Above its capacity the queue grows for as long as it is asked.
        let latency = if used < 0.99 { service / (1.0 - used) } else { service * 100.0 * (1.0 + 20.0 * (used - 0.99)) };
        Outcome::Measured(vec![Some(latency * (LATENCY * rng.normal()).exp()), Some(rate.min(capacity))])
    }
}

impl Machine for Simulated {
    fn run(&mut self, trial: &Trial) -> Outcome {
        let disturbance = self.own() + self.passes();
        self.outcome(trial, disturbance)
    }

    fn run_together(&mut self, trials: &[Trial]) -> Vec<Outcome> {
        let of_both = self.passes();
        let one = |trial| {
            let disturbance = self.own() + of_both;
            self.outcome(trial, disturbance)
        };
        trials.iter().map(one).collect()
    }
}
