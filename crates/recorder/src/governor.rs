//! Keeps the recorder within its budget. From the CPU time that the recorder used it decides which collectors are thinned, step by step, and
//! when they run in full again. It does no I/O and has no clock: its caller passes the time. Collectors obey `sources::Thinning`.
//!
//! A budget is an average, for what a recorder does comes in bursts: an account gains the budget as time passes, up to that of a minute, and
//! pays what was taken. While it is overdrawn and more than the budget is taken, one more step is thinned every few seconds, so that each shows
//! before the next. A step comes back when the account is nearly full again and less than half of the budget is taken; one that had to go again soon
//! after it had come back waits twice as long the next time.

use sources::Degrees;
use std::time::Duration;

/// What the recorder may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// A part of the machine's CPUs.
    pub share: f64,
    /// CPUs.
    pub cpus: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { share: 0.02, cpus: 0.5 }
    }
}

impl Budget {
    /// Whatever it takes.
    pub const NONE: Budget = Budget { share: f64::INFINITY, cpus: f64::INFINITY };

    /// Reads `2%` (of the machine's CPUs), `0.5` (CPUs), both with a comma between them, of which the smaller holds, or `none`.
    ///
    /// # Errors
    /// What is allowed.
    pub fn read(text: &str) -> Result<Self, String> {
        const WANTED: &str = "expected a part of the machine's CPUs such as 2%, a number of CPUs such as 0.5, both as in 2%,0.5, or none";
        if text == "none" {
            return Ok(Budget::NONE);
        }
        let mut budget = Budget::NONE;
        for word in text.split(',') {
            let (into, number, unit) = match word.strip_suffix('%') {
                Some(percent) => (&mut budget.share, percent, 100.0),
                None => (&mut budget.cpus, word, 1.0),
            };
            let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
            let number = number.ok_or(WANTED)? / unit;
            if into.is_finite() {
                return Err(WANTED.into());
            }
            *into = number;
        }
        Ok(budget)
    }

    /// How many CPUs that is on a machine with so many; infinite where there is no budget.
    pub fn of(self, machine: f64) -> f64 {
        self.cpus.min(self.share * machine.max(1.0))
    }
}

/// From all that is recorded to the least: what is thinned first comes first.
const STEPS: [Degrees; 9] = {
    const fn step(stacks: u32, instructions: u32, bystanders: bool, reads: u32) -> Degrees {
        Degrees { stacks, instructions, bystanders, reads }
    }
    [
        step(1, 1, false, 1),
        step(2, 1, false, 1),
        step(4, 1, false, 1),
        step(8, 1, false, 1),
        step(8, 3, false, 1),
        step(8, 0, false, 1),
        step(8, 0, true, 1),
        // What is left costs by the read, whatever happens in between.
        step(8, 0, true, 2),
        step(8, 0, true, 5),
    ]
};

/// The account holds the budget of so many seconds at most, and as much to begin with: a short recording is whole.
const HELD: f64 = 60.0;
/// It is overdrawn by no more than that of so many: what cannot be made up for is forgotten.
const OVERDRAWN: f64 = 15.0;
/// A step shows within this time.
const SETTLES: Duration = Duration::from_secs(5);
/// A step comes back after so long at first, and after so long at last; it has stayed when it was there for as long again.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(15 * 60));
/// It comes back where so much of the budget is taken, and the account is as full as this.
const CALM: (f64, f64) = (0.5, 0.8);

/// The governor of one recording.
#[derive(Clone, Debug)]
pub(crate) struct Governor {
    /// CPUs.
    budget: f64,
    /// Whether there are bystanders: who records only a command has none.
    has_bystanders: bool,
    step: usize,
    /// CPU seconds.
    account: f64,
    /// CPUs taken of late.
    rate: f64,
    /// When it was called last, and the CPU time by then, nanoseconds.
    before: Option<(u64, u64)>,
    changed: u64,
    patience: Duration,
    came_back: Option<u64>,
    /// How long it was thinned, in the order of [`Degrees::NAMES`].
    thinned: [u64; 4],
}

impl Governor {
    /// Of a recorder that may take so many CPUs, of everything or not.
    pub(crate) fn new(budget: f64, has_bystanders: bool) -> Self {
        Governor {
            budget,
            has_bystanders,
            step: 0,
            account: budget * HELD,
            rate: 0.0,
            before: None,
            changed: 0,
            patience: PATIENCE.0,
            came_back: None,
            thinned: [0; 4],
        }
    }

    /// At `now` the recorder had taken `cpu`, both nanoseconds. What is recorded from now on, where that changes.
    pub(crate) fn tick(&mut self, now: u64, cpu: u64) -> Option<Degrees> {
        let (then, taken) = self.before.replace((now, cpu)).unwrap_or((now, cpu));
        let time = now.saturating_sub(then);
        if time == 0 || self.budget.is_infinite() {
            return None;
        }
        self.note(time);
        let (seconds, used) = (time as f64 / 1e9, cpu.saturating_sub(taken) as f64 / 1e9);
        // What was taken before the last step says nothing of what is taken now.
        let since = now.saturating_sub(self.changed) as f64 / 1e9;
        self.rate += (used / seconds - self.rate) * (seconds / since.min(3.0)).min(1.0);
        let account = self.account + self.budget * seconds - used;
        self.account = account.clamp(-self.budget * OVERDRAWN, self.budget * HELD);
        let since = Duration::from_nanos(now.saturating_sub(self.changed));
        if self.account < 0.0 && self.rate > self.budget && self.step + 1 < STEPS.len() && since >= SETTLES {
            if self.came_back.take().is_some_and(|at| Duration::from_nanos(now - at) < self.patience * 2) {
                self.patience = (self.patience * 2).min(PATIENCE.1);
            }
            return Some(self.change(self.step + 1, now));
        }
        if self.came_back.is_some_and(|at| Duration::from_nanos(now - at) >= self.patience * 2) {
            (self.came_back, self.patience) = (None, PATIENCE.0);
        }
        let is_calm = self.rate < self.budget * CALM.0 && self.account > self.budget * HELD * CALM.1;
        if self.step > 0 && is_calm && since >= self.patience {
            self.came_back = Some(now);
            return Some(self.change(self.step - 1, now));
        }
        None
    }

    fn change(&mut self, step: usize, now: u64) -> Degrees {
        (self.step, self.changed) = (step, now);
        self.degrees()
    }

    /// Adds time to what is thinned now.
    fn note(&mut self, time: u64) {
        let Degrees { stacks, instructions, bystanders, reads } = self.degrees();
        for (thinned, is_thinned) in
            self.thinned.iter_mut().zip([stacks != 1, instructions != 1, bystanders, reads != 1])
        {
            *thinned += if is_thinned { time } else { 0 };
        }
    }

    /// What is recorded at present.
    pub(crate) fn degrees(&self) -> Degrees {
        let step = STEPS.get(self.step).copied().unwrap_or_default();
        Degrees { bystanders: step.bystanders && self.has_bystanders, ..step }
    }

    /// What was thinned, in the order in which it is, and for how long, nanoseconds.
    pub(crate) fn thinned(&self) -> impl Iterator<Item = (&'static str, u64)> {
        sources::Degrees::NAMES.into_iter().zip(self.thinned).filter(|(_, time)| *time > 0)
    }

    /// CPUs that the recorder may take; `None` where it may take what it will.
    pub(crate) fn budget(&self) -> Option<f64> {
        self.budget.is_finite().then_some(self.budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    /// What a recorder takes: what its reads take in any case, and what stacks, instructions and threads of bystanders cost where all are recorded. CPUs.
    #[derive(Clone, Copy, Debug)]
    struct Load {
        fixed: f64,
        stacks: f64,
        instructions: f64,
        bystanders: f64,
    }

    impl Load {
        const fn scaled(self, by: f64) -> Load {
            Load {
                fixed: self.fixed * by,
                stacks: self.stacks * by,
                instructions: self.instructions * by,
                bystanders: self.bystanders * by,
            }
        }

        fn cost(self, degrees: Degrees) -> f64 {
            let one_in = |cost: f64, one_in: u32| if one_in == 0 { 0.0 } else { cost / f64::from(one_in) };
            self.fixed / f64::from(degrees.reads)
                + one_in(self.stacks, degrees.stacks)
                + one_in(self.instructions, degrees.instructions)
                + if degrees.bystanders { 0.0 } else { self.bystanders }
        }
    }

    /// A recorder in simulated time.
    struct Simulated {
        governor: Governor,
        now: u64,
        cpu: u64,
        /// When the step changed, and to which.
        changes: Vec<(u64, usize)>,
    }

    impl Simulated {
        fn new(budget: f64) -> Self {
            let mut governor = Governor::new(budget, true);
            assert_eq!(governor.tick(0, 0), None);
            Simulated { governor, now: 0, cpu: 0, changes: Vec::new() }
        }

        /// Runs for so many seconds. Returns the CPUs that it took.
        fn run(&mut self, seconds: u64, load: Load) -> f64 {
            let before = self.cpu;
            for _ in 0..seconds {
                self.now += SECOND;
                self.cpu += (load.cost(self.governor.degrees()) * 1e9) as u64;
                if self.governor.tick(self.now, self.cpu).is_some() {
                    self.changes.push((self.now / SECOND, self.governor.step));
                }
            }
            (self.cpu - before) as f64 / 1e9 / seconds as f64
        }
    }

    /// Takes 0.29 CPUs, and a hundredth of one in any case.
    const HEAVY: Load = Load { fixed: 0.01, stacks: 0.2, instructions: 0.04, bystanders: 0.04 };
    const LIGHT: Load = Load { fixed: 0.004, stacks: 0.006, instructions: 0.0, bystanders: 0.002 };

    #[test]
    fn budgets_are_read() {
        assert_eq!(Budget::read("2%,0.5"), Ok(Budget::default()));
        assert_eq!(Budget::read("5%"), Ok(Budget { share: 0.05, cpus: f64::INFINITY }));
        assert_eq!(Budget::read("1.5"), Ok(Budget { share: f64::INFINITY, cpus: 1.5 }));
        assert_eq!(Budget::read("none"), Ok(Budget::NONE));
        for wrong in ["", "x", "0", "-1", "2%,", "2%,3%", "1,2", "nan", "inf%", "2 % of all"] {
            assert!(Budget::read(wrong).is_err_and(|why| why.contains("2%,0.5")), "{wrong}");
        }
        assert_eq!([2.0, 16.0, 192.0].map(|cpus| Budget::default().of(cpus)), [0.04, 0.32, 0.5]);
        assert!(Budget::NONE.of(2.0).is_infinite());
    }

    #[test]
    fn what_is_thinned_first_comes_first_and_all_comes_back() {
        let mut recorder = Simulated::new(0.04);
        recorder.run(600, HEAVY);
        let steps: Vec<usize> = recorder.changes.iter().map(|(_, step)| *step).collect();
        assert_eq!(steps, [1, 2, 3, 4, 5, 6]);
        let first = recorder.changes[0].0;
        assert!((5..20).contains(&first), "a short recording is whole: {first}");
        let names: Vec<&str> = recorder.governor.thinned().map(|(what, _)| what).collect();
        assert_eq!(names, ["stacks", "instructions", "threads of bystanders"]);
        let taken = recorder.run(3_000, HEAVY);
        assert!(taken <= 0.04, "{taken}");
        recorder.run(3_600, LIGHT);
        assert_eq!(recorder.governor.degrees(), Degrees::default(), "{:?}", recorder.changes);
    }

    #[test]
    fn reads_are_further_apart_where_nothing_else_helps() {
        let mut recorder = Simulated::new(0.04);
        recorder.run(600, Load { fixed: 0.06, stacks: 0.05, instructions: 0.02, bystanders: 0.01 });
        assert_eq!(recorder.governor.degrees().reads, 2);
        assert_eq!(recorder.governor.thinned().last().map(|(what, _)| what), Some("reads"));
        recorder.run(600, Load { fixed: 0.15, stacks: 0.05, instructions: 0.02, bystanders: 0.01 });
        assert_eq!(recorder.governor.degrees().reads, 5);
        recorder.run(4 * 3_600, LIGHT);
        assert_eq!(recorder.governor.degrees(), Degrees::default(), "{:?}", recorder.changes);
    }

    #[test]
    fn a_recorder_within_its_budget_is_left_alone() {
        let mut recorder = Simulated::new(0.04);
        for _ in 0..60 {
            recorder.run(55, LIGHT);
            // A burst, as when a hundred programs start.
            recorder.run(5, HEAVY);
        }
        assert!(recorder.changes.is_empty(), "{:?}", recorder.changes);
    }

    #[test]
    fn it_does_not_go_to_and_fro() {
        // With all of it twice the budget, with half of the stacks hardly anything.
        let load = Load { fixed: 0.001, stacks: 0.03, instructions: 0.04, bystanders: 0.0 };
        let mut recorder = Simulated::new(0.04);
        let taken = recorder.run(4 * 3_600, load);
        assert!(taken <= 0.045, "{taken}");
        let late = recorder.changes.iter().filter(|(at, _)| *at > 3_600).count();
        assert!(late <= 3 * 8 * 2, "{late} changes in three hours: {:?}", recorder.changes);
    }

    #[test]
    fn without_a_budget_or_without_bystanders() {
        let mut governor = Governor::new(f64::INFINITY, true);
        assert_eq!((governor.tick(0, 0), governor.tick(SECOND, 100 * SECOND), governor.budget()), (None, None, None));
        let mut governor = Governor::new(0.04, false);
        for second in 0..1_000 {
            governor.tick(second * SECOND, second * SECOND);
        }
        assert!(!governor.degrees().bystanders && governor.degrees().instructions == 0);
    }

    proptest! {
        /// Whatever a recorder has to do, its steps are taken one by one, and in the long run it takes no more than its budget, where that can be.
        #[test]
        fn the_budget_holds(loads in prop::collection::vec((0.0f64..3.0, 60u64..900), 1..20), budget in 0.03f64..0.5) {
            let mut recorder = Simulated::new(budget);
            let (mut taken, mut time, mut costs) = (0.0, 0u64, 0.0);
            for (heavy, seconds) in loads {
                let load = HEAVY.scaled(heavy * budget / 0.1);
                // What remains when all is thinned must fit.
                let load = if load.cost(STEPS[STEPS.len() - 1]) > budget { LIGHT } else { load };
                taken += recorder.run(seconds, load) * seconds as f64;
                time += seconds;
                costs += load.cost(STEPS[0]);
            }
            // What it holds to begin with, and what is taken at each change while steps are taken one after the other.
            let most = budget * (time as f64 * 1.25 + HELD) + 35.0 * costs;
            prop_assert!(taken <= most, "{} of {}", taken, most);
            let mut step = 0usize;
            for (_, to) in &recorder.changes {
                prop_assert_eq!(step.abs_diff(*to), 1);
                step = *to;
            }
        }
    }
}
