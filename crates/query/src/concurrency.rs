//! Who was running when: from the slots of table `running`, how many threads ran at once, the serial phases with the code that ran in them, and
//! whether the number swings at a regular period.

use crate::Run;
use crate::code::{Code, Frame};
use crate::stats::concurrency::{profile, serial_phases};
use crate::stats::sawtooth::{Sawtooth, sawtooth};
use model::{NULL, Status, Symbols, Window};
use std::collections::HashMap;
use std::ops::Range;

/// Length of a slot of table `running`, nanoseconds.
pub const SLOT: i64 = 10_000_000;

/// Threads by which the number must swing to be said.
const LEAST_SWING: f64 = 0.25;

/// A stretch in which one thread ran and no other could, after more did.
#[derive(Clone, Debug, PartialEq)]
pub struct Serial {
    /// Where it begins, seconds since the start of the recording.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Process, and thread, that had most of the samples in it; `None` without samples.
    pub thread: Option<(String, String)>,
    /// The function that ran in most of the samples of it, libraries of the system and the kernel aside.
    pub function: Option<String>,
    /// The stack of most of its samples, innermost first.
    pub stack: Vec<Frame>,
}

impl Serial {
    /// Seconds of it that lie in a window.
    pub fn within(&self, window: &Window) -> f64 {
        let (from, to) = (window.from as f64 / 1e9, window.to as f64 / 1e9);
        (self.to.min(to) - self.from.max(from)).max(0.0)
    }
}

/// How many threads of a run were running at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Concurrency {
    /// By number of threads (0, 1, 2 …), the share of the window in which so many ran.
    pub profile: Vec<f64>,
    /// The serial phases of the whole recording, in order.
    pub serial: Vec<Serial>,
    /// The regular swing of the number of threads that run or want to, in the window.
    pub sawtooth: Option<Sawtooth>,
}

impl Concurrency {
    /// Reads it; `None` where the recording does not have it, or not all of it.
    pub fn load(run: &Run, window: &Window) -> Option<Concurrency> {
        let lost = |c: &model::Coverage| c.item == "running" && c.status != Status::Read;
        if run.recording.coverage().iter().any(lost) {
            return None;
        }
        let slots = Slots::load(run)?;
        let seconds = SLOT as f64 / 1e9;
        let mut serial: Vec<Serial> = serial_phases(&slots.running, &slots.runnable, seconds)
            .into_iter()
            .map(|r| Serial {
                from: r.start as f64 * seconds,
                to: r.end as f64 * seconds,
                thread: None,
                function: None,
                stack: Vec::new(),
            })
            .collect();
        name(run, &mut serial);
        let inside = slots.running.get(slots.of(window)).unwrap_or_default();
        let waiting = slots.runnable.get(slots.of(window)).unwrap_or_default();
        // A thread whose CPU was taken away has not stopped by itself: every read of the recorder does that, at a regular period.
        let wanted: Vec<f64> = inside.iter().zip(waiting).map(|(running, waiting)| running + waiting).collect();
        Some(Concurrency { profile: profile(inside), serial, sawtooth: sawtooth(&wanted, seconds, LEAST_SWING) })
    }

    /// The serial phases that lie in a window, and the share of it that they take.
    pub fn serial_in(&self, window: &Window) -> (Vec<&Serial>, f64) {
        let found: Vec<&Serial> = self.serial.iter().filter(|s| s.within(window) > 0.0).collect();
        let length = (window.to - window.from) as f64 / 1e9;
        let sum: f64 = found.iter().fold(0.0, |sum, s| sum + s.within(window));
        (found, if length > 0.0 { sum / length } else { 0.0 })
    }
}

/// Threads running and ready to run, slot by slot from the start of the recording.
struct Slots {
    running: Vec<f64>,
    runnable: Vec<f64>,
}

impl Slots {
    fn load(run: &Run) -> Option<Slots> {
        // A slot of which nothing is said had nothing running in it.
        let count = usize::try_from(run.recording.duration() / SLOT + 1).ok()?;
        let mut slots = Slots { running: vec![0.0; count], runnable: vec![0.0; count] };
        let (mut symbols, mut any) = (Symbols::default(), false);
        let names = ["at", "running", "runnable"];
        run.recording.scan("running", &names, None, &mut symbols, |batch| {
            for row in 0..batch.len() {
                let Ok(at) = usize::try_from(batch.cell(0, row) / SLOT) else { continue };
                let value = |column| model::real_of(batch.cell(column, row)).filter(|v| v.is_finite());
                for (slots, value) in [(&mut slots.running, value(1)), (&mut slots.runnable, value(2))] {
                    if let (Some(slot), Some(value)) = (slots.get_mut(at), value) {
                        *slot += value;
                        any = true;
                    }
                }
            }
        });
        any.then_some(slots)
    }

    /// The slots that lie wholly in a window.
    fn of(&self, window: &Window) -> Range<usize> {
        let edge = |ns: i64| usize::try_from(ns.max(0) / SLOT).unwrap_or(usize::MAX).min(self.running.len());
        let from = edge(window.from.saturating_add(SLOT - 1));
        from..edge(window.to).max(from)
    }
}

/// Names thread and code of the phases by the samples that were taken in them.
fn name(run: &Run, phases: &mut [Serial]) {
    let (Some(first), Some(last)) = (phases.first(), phases.last()) else { return };
    let window = (first.from, last.to);
    let mut symbols = Symbols::default();
    // By phase and thread, and by phase and stack: nanoseconds.
    let mut threads: HashMap<(usize, i64, i64), i64> = HashMap::new();
    let mut stacks: HashMap<(usize, i64), i64> = HashMap::new();
    let names = ["at", "comm", "thread", "stack", "weight"];
    let after = Some(((window.0 * 1e9) as i64, i64::MAX));
    run.recording.scan("sample", &names, after, &mut symbols, |batch| {
        for row in 0..batch.len() {
            let [at, comm, thread, stack, weight] = [0, 1, 2, 3, 4].map(|c| batch.cell(c, row));
            let t = at as f64 / 1e9;
            let phase = phases.partition_point(|p| p.to <= t);
            if at == NULL || weight <= 0 || phases.get(phase).is_none_or(|p| t < p.from) {
                continue;
            }
            *threads.entry((phase, comm, thread)).or_insert(0) += weight;
            if stack > 0 {
                *stacks.entry((phase, stack)).or_insert(0) += weight;
            }
        }
    });
    // In the order of names, so that the same rows give the same answer.
    let text = |symbols: &Symbols, cell: i64| symbols.text(cell).unwrap_or("").to_owned();
    let named =
        threads.into_iter().map(|((p, comm, thread), w)| ((p, (text(&symbols, comm), text(&symbols, thread))), w));
    let threads = most(named);
    let code = Code::load(run, stacks.keys().map(|&(_, stack)| stack));
    let function = |stack: i64| code.running(stack);
    let heaviest = most(stacks.iter().map(|(key, weight)| (*key, *weight)));
    let mut sums: HashMap<(usize, String), i64> = HashMap::new();
    for ((phase, stack), weight) in stacks {
        if let Some(function) = function(stack) {
            *sums.entry((phase, function)).or_insert(0) += weight;
        }
    }
    let functions = most(sums.into_iter());
    for (index, phase) in phases.iter_mut().enumerate() {
        phase.thread = threads.get(&index).cloned();
        phase.function = functions.get(&index).cloned();
        phase.stack = heaviest.get(&index).map(|&stack| code.frames(stack)).unwrap_or_default();
    }
}

/// For each phase what has the most; of equal ones the first by name.
fn most<T: Ord>(sums: impl Iterator<Item = ((usize, T), i64)>) -> HashMap<usize, T> {
    let mut sorted: Vec<((usize, T), i64)> = sums.collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut found = HashMap::new();
    for ((phase, what), _) in sorted {
        found.entry(phase).or_insert(what);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, FRAME, RUNNING, SAMPLE, STACK};
    use std::fmt::Write;

    fn window(from: f64, to: f64) -> Window {
        Window { from: (from * 1e9) as i64, to: (to * 1e9) as i64, why: String::new() }
    }

    /// 4 s: two threads that come and go every 80 ms, then from 3 s on one alone.
    fn run() -> Run {
        let mut rows = "t at running runnable\n".to_owned();
        for i in (0..400i64).filter(|i| *i >= 300 || i % 8 < 4) {
            let running = if i < 300 { 2.0 } else { 1.0 };
            // Slots do not begin when the recording does.
            writeln!(rows, "{} {} {running} 0", (i / 50 + 1) as f64 * 0.5, i * SLOT + 3_000_000).unwrap();
        }
        let samples = "t pid tid comm thread at cpu stack weight
3.5 10 10 job main 1000000000 0 1 9000000
3.5 10 11 job merger 3100000000 0 2 2000000
3.5 10 11 job merger 3200000000 0 3 2000000
4 10 10 job main 3700000000 0 1 3000000";
        let frames = "t number function module build_id offset source kind
0 1 work /bin/job - - - native
0 2 merge /bin/job - - - native
0 3 - /lib/libc.so.6 - - - native";
        let stacks = "t number parent frame
0 1 0 1
0 2 1 2
0 3 1 2";
        testing::run("job", &[(&RUNNING, &rows), (&SAMPLE, samples), (&FRAME, frames), (&STACK, stacks)])
    }

    #[test]
    fn phases_and_swings_of_a_recording() {
        let run = run();
        let found = Concurrency::load(&run, &window(0.0, 3.0)).expect("it was recorded");
        let swing = found.sawtooth.expect("a swing");
        assert!((swing.period - 0.08).abs() < 0.002 && (swing.swing - 2.0).abs() < 0.4, "{swing:?}");
        assert!((found.profile[0] - 0.5).abs() < 0.01 && (found.profile[2] - 0.5).abs() < 0.01, "{found:?}");
        let [serial] = found.serial.as_slice() else { panic!("{found:?}") };
        assert!((serial.from - 3.0).abs() < 1e-9 && (serial.to - 4.0).abs() < 1e-9, "{serial:?}");
        // The thread with most samples in it; the function, whichever stack it is in.
        assert_eq!(serial.thread, Some(("job".into(), "merger".into())));
        assert_eq!(serial.function.as_deref(), Some("merge"));
        let (phases, share) = found.serial_in(&window(2.0, 4.0));
        assert!(phases.len() == 1 && (share - 0.5).abs() < 1e-9);
        assert!(found.serial_in(&window(0.0, 3.0)).0.is_empty());
        let end = Concurrency::load(&run, &window(3.0, 4.0)).expect("it was recorded");
        assert_eq!(end.sawtooth, None, "a constant load does not swing");
        assert!(end.profile.len() == 2 && (end.profile[1] - 1.0).abs() < 1e-9, "{end:?}");
    }

    #[test]
    fn what_was_not_recorded_is_not_there() {
        let run = testing::run("none", &[(&SAMPLE, "t pid tid comm thread at cpu stack weight\n1 1 1 a a 5 0 - 3")]);
        assert_eq!(Concurrency::load(&run, &window(0.0, 1.0)), None);
    }
}
