//! The budget of lost time: what a unit of work takes longer on the slow side, divided among states and, within them, among the places where the
//! time was spent. Every claim on it is in one currency, the part of the lost time, with an interval.

mod cell;
mod cells;
mod divide;
mod evenly;
mod focus;
mod free;
mod judged;
mod ledger;
mod locks;
mod request;
mod sampled;
mod state;
mod timed;
mod waits;

pub use cell::Cell;
pub use judged::{Judged, Moved, Why, moved};
pub use ledger::{Group, group};
pub(crate) use state::WAITS;
pub use state::{ALL as STATES, FINER, State};

use cell::Sides;
use compare::work::Progress;
use compare::{Pace, PerSide, Side, Unit, own, window};
use divide::{Division, alone, divide, paced};
use ledger::{Ledger, Work, Working};
use model::Window;
use query::concurrency::Concurrency;
use query::stats::quantile::quantile;
use query::stats::rng::Rng;
use query::{Run, human};
use state::Sums;
use std::collections::{BTreeMap, BTreeSet};

/// Times the recordings are resampled for an interval.
const RESAMPLED: usize = 400;

/// Blocks of ticks are at least so long, seconds: what happens within a second depends on itself.
const BLOCK: f64 = 1.0;

/// Nearby are so many blocks before and after.
const NEARBY: usize = 2;

/// Runs that did the same job differ by no more of it: the window ends between two lines of progress.
const ALIKE: f64 = 0.1;

/// A value with the 95 % interval of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
}

impl Estimate {
    fn of(value: f64, resampled: &[f64]) -> Estimate {
        let weights = vec![1.0; resampled.len()];
        let at = |q: f64| quantile(resampled, &weights, q).unwrap_or(value);
        Estimate { value, low: at(0.025).min(value), high: at(0.975).max(value) }
    }
}

/// One way in which the recordings could have turned out.
struct Outcome {
    sums: PerSide<Sums>,
    division: Division,
}

impl Outcome {
    /// `serial`: of one run alone, the part of the time in which one thread ran alone.
    fn of(sums: PerSide<Sums>, cpus: f64, serial: Option<f64>) -> Outcome {
        let division = if let Some(serial) = serial {
            alone(&sums.slow, cpus, serial)
        } else {
            divide(&sums.slow, &sums.baseline, cpus)
        };
        Outcome { sums, division }
    }

    /// The part of the lost time that a cell is, with these fractions of its state on both sides.
    fn share(&self, cell: &Cell, fraction: PerSide<f64>) -> f64 {
        let Some(state) = cell.state else { return 0.0 };
        let side = |side: Side| {
            let sums = &self.sums[side];
            let (time, per) = if cell.aside { (1.0, sums.seconds) } else { (sums.of(state), sums.work) };
            if per > 0.0 { fraction[side] * time / per } else { 0.0 }
        };
        let factor = if cell.aside { &self.division.aside } else { &self.division.factor };
        // What fewer threads are has no time of its own.
        if state == State::Fewer {
            return if fraction.slow > 0.0 { self.division.share[state as usize] } else { 0.0 };
        }
        factor[state as usize] * (side(Side::Slow) - side(Side::Baseline))
    }
}

/// A quotient of quantities that are not negative; 0 for what has nothing to be divided by.
fn over(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// The budget.
pub struct Budget {
    /// What a unit of work is.
    pub unit: Unit,
    /// Whether there is one side only: shares are then of all the time of the threads that do the work.
    pub single: bool,
    /// The cells.
    pub cells: Vec<Cell>,
    /// By group of threads that work, thread-seconds per unit in each state as they were read.
    pub(crate) groups: BTreeMap<Group, PerSide<[f64; state::STATES]>>,
    /// The judged waits.
    pub(crate) judged: Vec<Judged>,
    /// The kernel's part of CPU time by the kernel's ticks and by the samples, where the samples were believed.
    pub(crate) by_samples: PerSide<Option<[f64; 2]>>,
    /// Work done and time taken, where the work is known.
    paces: PerSide<Option<Pace>>,
    measured: Outcome,
    resampled: Vec<Outcome>,
}

/// Why there is none.
pub type Missing = String;

impl Budget {
    /// Divides the time of `runs`; `side` says of each which side it is on.
    ///
    /// # Errors
    /// In words, where the threads of a run were not looked at.
    pub(crate) fn of(runs: &[Run], windows: &[Window], side: &[Side]) -> Result<Budget, Missing> {
        let own = own::names(runs);
        let all: Vec<&Run> = runs.iter().collect();
        let stretches: Vec<&Window> = windows.iter().collect();
        let mut working = Working::of(&all, &stretches, &own);
        let budget = Budget::with(runs, windows, side, &own, &working)?;
        let free = free::running(&budget.groups, PerSide::of(|side| budget.elapsed(side)));
        if budget.single || free.is_empty() {
            return Ok(budget);
        }
        working.leave_out(&free);
        Budget::with(runs, windows, side, &own, &working)
    }

    /// The same, where the threads that do the work are known.
    fn with(
        runs: &[Run],
        windows: &[Window],
        side: &[Side],
        own: &BTreeSet<String>,
        working: &Working,
    ) -> Result<Budget, Missing> {
        let all: Vec<&Run> = runs.iter().collect();
        let stretches: Vec<&Window> = windows.iter().collect();
        let sides = Sides { runs: &all, windows: &stretches, side, own, working };
        let (cells, judged) = cells::load(&sides);
        // The ledger that they are parts of is that of the threads that work.
        let moves = judged::moves(&judged, &|wait| working.works(&group(&wait.comm, &wait.thread)));
        let progress: Vec<Option<Progress>> = runs.iter().map(Progress::of).collect();
        let unit = Unit::of(runs.iter().zip(windows));
        let mut ledgers: PerSide<Vec<Ledger>> = PerSide::default();
        let mut paces: PerSide<Vec<Option<Pace>>> = PerSide::default();
        for (index, (run, window)) in runs.iter().zip(windows).enumerate() {
            let work = match (&unit, progress.get(index)) {
                (Unit::Operation(_), Some(Some(progress))) => Work::Reported(progress),
                (Unit::Run, _) => Work::Run,
                _ => Work::Seconds,
            };
            let of_side = side.get(index).copied().unwrap_or(Side::Slow);
            let pace = match &work {
                Work::Reported(progress) => Pace::with(run, window, Some(progress)),
                Work::Run => Pace::of_whole(run, window),
                Work::Seconds => None,
            };
            let ledger = Ledger::load((index, run), window, own, working, (&work, pace), &moves[of_side as usize])
                .filter(|ledger| ledger.sums().time.iter().sum::<f64>() > 0.0)
                .ok_or_else(|| without_threads(run))?;
            ledgers[of_side].push(ledger);
            paces[of_side].push(pace);
        }
        let by_samples = PerSide::of(|side| {
            let samples = [State::User, State::Kernel].map(|state| {
                cells.iter().filter(|c| !c.aside && c.state == Some(state)).map(|c| c.samples[side]).sum::<f64>()
            });
            sampled::divide_as_sampled(&mut ledgers[side], samples)
        });
        let single = ledgers.baseline.is_empty();
        let cpus = runs.iter().map(|run| run.recording.manifest().cpus as f64).fold(1.0, f64::max);
        let serial_in = |(run, window): (&Run, &Window)| Some(Concurrency::load(run, window)?.serial_in(window).1);
        let serial = single.then(|| runs.iter().zip(windows).find_map(serial_in).unwrap_or(0.0));
        let whole = |side: &[Ledger]| side.iter().fold(Sums::default(), |sum, ledger| sum + ledger.sums());
        let measured = Outcome::of(ledgers.each_ref().map(|of| whole(of)), cpus, serial);
        let phases = unit == Unit::Run || windows.iter().all(window::is_life) && did_the_same(&ledgers);
        let mut rng = Rng::new(0x7477_696e);
        let resampled = (0..RESAMPLED)
            .map(|_| {
                let sums = ledgers.each_ref().map(|of| resample(of, phases, &mut rng));
                Outcome::of(sums, cpus, serial)
            })
            .collect();
        let mut groups: BTreeMap<Group, PerSide<[f64; state::STATES]>> = BTreeMap::new();
        for of_side in Side::BOTH {
            let work: f64 = ledgers[of_side].iter().map(|l| l.sums().work).sum();
            for (group, times) in ledgers[of_side].iter().flat_map(|l| &l.groups) {
                let sums = groups.entry(group.clone()).or_default();
                for (sum, time) in sums[of_side].iter_mut().zip(times) {
                    *sum += if work > 0.0 { time / work } else { 0.0 };
                }
            }
        }
        let paces = paces.map(Pace::sum);
        let mut budget = Budget { unit, single, cells, groups, judged, by_samples, paces, measured, resampled };
        let times: Vec<[f64; 2]> = (0..budget.cells.len()).map(|cell| budget.times(cell).both()).collect();
        focus::find(&mut budget.cells, &times);
        locks::name(&mut budget.cells, &times);
        if single {
            // Nothing is new where nothing was before.
            budget.cells.iter_mut().for_each(|cell| cell.fresh = false);
        }
        Ok(budget)
    }

    /// Divides what the threads spend longer on a unit instead of what is longer from one unit to the next: others decide how often there is one.
    pub(crate) fn by_thread_time(&mut self) {
        for outcome in self.resampled.iter_mut().chain([&mut self.measured]) {
            outcome.division = paced(&outcome.sums.slow, &outcome.sums.baseline);
        }
    }

    /// Elapsed time per unit, slow over fast.
    pub fn ratio(&self) -> Estimate {
        let resampled: Vec<f64> = self.resampled.iter().map(|o| o.division.ratio).collect();
        let value = if self.single { 1.0 } else { self.elapsed(Side::Slow) / self.elapsed(Side::Baseline) };
        Estimate::of(value, &resampled)
    }

    /// Thread-seconds per unit that a side spent on anything but waiting for work or for threads of its own, and what the slow side spent times the baseline's.
    pub(crate) fn engaged(&self) -> (PerSide<f64>, Estimate) {
        let is_engaged = |s: &State| !matches!(s, State::Idle | State::Crowded | State::Fewer);
        let of = |sums: &Sums| over(STATES.into_iter().filter(is_engaged).map(|s| sums.of(s)).sum(), sums.work);
        let ratio = |o: &Outcome| over(of(&o.sums.slow), of(&o.sums.baseline));
        let resampled: Vec<f64> = self.resampled.iter().map(ratio).collect();
        (PerSide::of(|side| of(&self.measured.sums[side])), Estimate::of(ratio(&self.measured), &resampled))
    }

    /// Elapsed seconds per unit of a side.
    pub fn elapsed(&self, side: Side) -> f64 {
        self.paces[side].map_or_else(|| self.measured.sums[side].elapsed(), Pace::elapsed)
    }

    /// Units of work of a side, and the seconds in which they were done.
    pub fn pace(&self, side: Side) -> Pace {
        let sums = &self.measured.sums[side];
        self.paces[side].unwrap_or(Pace { work: sums.work, seconds: sums.seconds })
    }

    /// Thread-seconds per unit in a state, of the threads that do the work.
    pub fn time(&self, state: State, side: Side) -> f64 {
        over(self.measured.sums[side].of(state), self.measured.sums[side].work)
    }

    /// How many times as much CPU time a unit takes, where all code takes about as much longer, the kernel's too, and that is most of what was lost or
    /// nothing else grew by more.
    pub(crate) fn evenly_slower(&self) -> Option<f64> {
        let of = |state| PerSide::of(|side| self.time(state, side));
        let ratio = evenly::slower(&self.cells, of(State::User), of(State::Kernel)).filter(|_| !self.single)?;
        let (on, off): (Vec<State>, Vec<State>) = STATES.into_iter().partition(|state| state.is_on_cpu());
        let lost: f64 = on.iter().map(|state| self.state(*state).value).sum();
        let with_it = |state: &State| {
            let PerSide { slow, baseline: fast } = of(*state);
            self.state(*state).value < evenly::LEAST || slow < (1.0 + evenly::WAITS * (ratio - 1.0)) * fast
        };
        (lost > 0.5 || off.iter().all(with_it)).then_some(ratio)
    }

    /// Threads in a state, on average.
    pub(crate) fn threads(&self, state: State, side: Side) -> f64 {
        over(self.measured.sums[side].of(state), self.measured.sums[side].seconds)
    }

    /// Names of the workload's processes.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.cells.iter().map(|c| c.comm.clone()).filter(|name| !name.is_empty()).collect()
    }

    /// CPUs that programs outside the workload used, on average.
    pub(crate) fn others(&self, side: Side) -> f64 {
        over(self.measured.sums[side].others, self.measured.sums[side].seconds)
    }

    /// CPUs that recorders used, on average.
    pub(crate) fn recorder(&self, side: Side) -> f64 {
        over(self.measured.sums[side].recorder, self.measured.sums[side].seconds)
    }

    /// The part of the lost time that a state is.
    pub fn state(&self, state: State) -> Estimate {
        let resampled: Vec<f64> = self.resampled.iter().map(|o| o.division.share[state as usize]).collect();
        Estimate::of(self.measured.division.share[state as usize], &resampled)
    }

    /// The part of the lost time that a cell is.
    pub fn share(&self, cell: usize) -> f64 {
        self.cells.get(cell).map_or(0.0, |c| self.measured.share(c, c.fraction))
    }

    /// Thread-seconds per unit of a cell.
    pub(crate) fn times(&self, cell: usize) -> PerSide<f64> {
        let Some(cell) = self.cells.get(cell) else { return PerSide::default() };
        PerSide::of(|side| match cell.state {
            Some(_) if cell.aside => over(cell.fraction[side], self.measured.sums[side].work),
            Some(state) if !cell.aside => cell.fraction[side] * self.time(state, side),
            _ => 0.0,
        })
    }

    /// The part of the lost time that these parts of cells are.
    pub(crate) fn claimed(&self, claims: &[(usize, f64)]) -> Estimate {
        let value = claims.iter().map(|&(cell, part)| part * self.share(cell)).sum();
        let resampled: Vec<f64> = self
            .resampled
            .iter()
            .enumerate()
            .map(|(number, outcome)| {
                let of = |&(index, part): &(usize, f64)| {
                    let Some(cell) = self.cells.get(index) else { return 0.0 };
                    let mut rng = Rng::new(((number as u64) << 32) ^ index as u64);
                    let fraction = PerSide::of(|side| match cell.samples[side] {
                        n if n > 0.0 => (cell.fraction[side] * (1.0 + rng.normal() / n.sqrt())).max(0.0),
                        _ => cell.fraction[side],
                    });
                    part * outcome.share(cell, fraction)
                };
                claims.iter().map(of).sum()
            })
            .collect();
        Estimate::of(value, &resampled)
    }
}

#[cfg(test)]
impl Budget {
    /// That of one unit on each side, in which one thread spent `[slow, fast]` seconds in each cell.
    pub(crate) fn of_times(times: Vec<(Cell, [f64; 2])>) -> Budget {
        let mut sums = PerSide::of(|_| Sums { work: 1.0, ..Sums::default() });
        for (cell, times) in &times {
            for (sums, time) in sums.each_mut().into_iter().zip(times) {
                sums.seconds += time;
                sums.time[cell.state.unwrap() as usize] += time;
            }
        }
        let fraction = |cell: &Cell, times: [f64; 2]| {
            PerSide::of(|side| times[side as usize] / sums[side].of(cell.state.unwrap()).max(f64::MIN_POSITIVE))
        };
        let cells = times.into_iter().map(|(cell, times)| Cell { fraction: fraction(&cell, times), ..cell }).collect();
        let unit = Unit::Operation(String::new());
        let (measured, resampled) = (Outcome::of(sums, 1.0, None), vec![Outcome::of(sums, 1.0, None)]);
        let (groups, by_samples, paces) = (BTreeMap::new(), PerSide::default(), PerSide::default());
        Budget { unit, single: false, cells, groups, judged: Vec::new(), by_samples, paces, measured, resampled }
    }
}

/// A command that ends sooner may be over before its threads are read once, seconds.
const TOO_SHORT: f64 = 0.05;

/// Why a run has no time of threads, and what to do.
fn without_threads(run: &Run) -> Missing {
    let (name, manifest) = (&run.name, run.recording.manifest());
    let compared = "`twinscope compare` and `twinscope report` say what differs without them";
    let command = manifest.wall.filter(|_| manifest.command.is_some() && manifest.scope != model::whose::NOBODY);
    match command.map(|wall| wall as f64 / 1e9) {
        _ if manifest.is_import() => format!(
            "{name}: no per-thread data in this recording: what was imported can be compared by `twinscope compare`, \
             `flame --against` and `report`"
        ),
        Some(wall) if wall < TOO_SHORT => format!(
            "{name}: no per-thread data: the command ran for {}, too short for its threads to be seen; let it do more work, or repeat it in a \
             loop",
            human(wall, "s")
        ),
        Some(_) => format!("{name}: no per-thread data: the threads of the command were not recorded; {compared}"),
        None => format!(
            "{name}: no per-thread data: no threads were recorded, so where time went is not known; {compared}. To explain, record a command \
             (record -- COMMAND), or threads that run already: record --all, --pid or --cgroup"
        ),
    }
}

/// Whether all runs did as much, as commands do that have a job and end with it; those that run for a time do as much as they can.
fn did_the_same(ledgers: &PerSide<Vec<Ledger>>) -> bool {
    let (least, most) = ledgers
        .each_ref()
        .both()
        .into_iter()
        .flatten()
        .map(|ledger| ledger.sums().work)
        .fold((f64::INFINITY, 0.0f64), |(l, m), w| (l.min(w), m.max(w)));
    most < (1.0 + ALIKE) * least
}

/// One resampling of a side: of its runs where there are enough repeats, and of blocks of ticks within each. Where a run did one job, its phases are parts of it, so that each block is replaced by one from nearby (the local block bootstrap: Paparoditis and Politis, Comptes Rendus Mathématique 335, 2002).
fn resample(side: &[Ledger], phases: bool, rng: &mut Rng) -> Sums {
    let mut sum = Sums::default();
    for index in 0..side.len() {
        let index = if side.len() >= 3 { rng.below(side.len()) } else { index };
        let Some(ledger) = side.get(index) else { continue };
        let n = ledger.ticks.len();
        let seconds: f64 = ledger.ticks.iter().map(|t| t.length).sum();
        let tick = if n > 0 { seconds / n as f64 } else { continue };
        let length = (BLOCK.max(ledger.grain) / tick.max(1e-9)).ceil().max((n as f64).cbrt());
        let length = (length as usize).clamp(1, n.div_ceil(3));
        let mut taken = 0;
        while taken < n {
            let start = match phases {
                true => (taken + rng.below(2 * NEARBY * length + 1)).saturating_sub(NEARBY * length).min(n - length),
                false => rng.below(n),
            };
            for at in 0..length.min(n - taken) {
                if let Some(tick) = ledger.ticks.get((start + at) % n) {
                    sum = sum + tick.sums;
                }
            }
            taken += length;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_threads_is_told_what_works() {
        let why = |manifest: model::Manifest| {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("run.twin");
            query::testing::write(&path, &manifest, &[]);
            without_threads(&Run {
                name: "run".into(),
                recording: store::Recording::open(&path).unwrap(),
                stretch: None,
            })
        };
        let command = |wall: i64| model::Manifest {
            command: Some(vec!["ls".into()]),
            wall: Some(wall),
            ..model::Manifest::default()
        };
        assert!(why(command(4_000_000)).contains("the command ran for 4 ms, too short"));
        assert!(why(command(4_000_000_000)).contains("threads of the command were not recorded"));
        let none = why(model::Manifest::default());
        assert!(none.contains("`twinscope compare`") && none.contains("record --all, --pid or --cgroup"), "{none}");
    }

    #[test]
    fn a_run_that_is_one_unit_keeps_its_phases() {
        // A minute on two CPUs, then one on one.
        let tick = |cpus: f64| {
            let mut tick = ledger::Tick { length: 1.0, ..Default::default() };
            tick.sums.time[State::User as usize] = cpus;
            tick
        };
        let ticks = (0..120).map(|at| tick(if at < 60 { 2.0 } else { 1.0 })).collect();
        let side = [Ledger { ticks, grain: 0.0, groups: BTreeMap::new() }];
        let furthest = |phases: bool| {
            let mut rng = Rng::new(1);
            let off = |_| (resample(&side, phases, &mut rng).of(State::User) - 180.0).abs();
            (0..200).map(off).fold(0.0, f64::max)
        };
        assert!(furthest(true) < 15.0 && furthest(false) > 20.0, "{} {}", furthest(true), furthest(false));
    }
}
