//! The thread of a collector that thins itself out: it attaches and detaches hooks, opens and shuts the gate, and judges.

use super::Shared;
use super::gate::Gate;
use super::judge::Judge;
use crate::Thinning;
use host::bpf::Hooks;
use model::Unavailable;
use std::sync::{Arc, MutexGuard};

/// How often a collector is judged while it counts all the time.
pub(super) const JUDGED: u64 = 200_000_000;
/// Hooks that run so often a second, on the CPU where they do most, stay attached: that takes 0.03 % of that CPU, and to attach and detach two of them as
/// much of each.
const SELDOM: f64 = 1_500.0;

/// The hooks of a set.
struct Attached {
    hooks: Hooks,
    /// Whether they are attached.
    is: bool,
    /// Whether they stay so between stretches.
    seldom: bool,
}

impl Attached {
    fn attach(&mut self) -> Result<(), Unavailable> {
        if self.is {
            self.hooks.keep_up();
        } else {
            self.hooks.attach()?;
            self.is = true;
        }
        Ok(())
    }

    fn detach(&mut self) {
        if self.is && !self.seldom {
            self.hooks.detach();
            self.is = false;
        }
    }
}

/// What the thread does.
pub(super) struct Work {
    shared: Arc<Shared>,
    sets: Vec<Attached>,
    judge: Judge,
    thinning: Thinning,
}

impl Work {
    /// With hooks that are attached, set by set.
    pub(super) fn new(shared: Arc<Shared>, hooks: Vec<Hooks>, judge: Judge, thinning: Thinning) -> Self {
        let sets = hooks.into_iter().map(|hooks| Attached { hooks, is: true, seldom: true }).collect();
        Work { shared, sets, judge, thinning }
    }

    /// Until the end.
    pub(super) fn run(mut self) {
        // On a busy machine a stretch must not go on while this waits for a CPU. Only root may; for others it stays as it is.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -10);
        let shared = Arc::clone(&self.shared);
        let mut gate = shared.lock();
        // Chance enough for the place of a stretch: xorshift of the time of the start.
        let mut random = gate.now() | 1;
        let mut seen = gate.events_of_sets().unwrap_or_default();
        let mut from = (gate.now(), gate.counted(gate.now()));
        while !gate.end {
            if gate.one_in == 1 {
                gate = begin(&shared, &mut self.sets, gate);
                gate = keep_up(&shared, &mut self.sets, gate);
                gate = shared.wait(gate, JUDGED);
            } else {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let (cycle, stretch) = gate.cycle();
                let before = random % (cycle - stretch + 1);
                gate = cease(&shared, &mut self.sets, gate);
                gate = shared.wait(gate, before);
                if gate.end {
                    break;
                }
                gate = begin(&shared, &mut self.sets, gate);
                gate = shared.wait(gate, stretch);
                gate = cease(&shared, &mut self.sets, gate);
                gate = shared.wait(gate, cycle - stretch - before);
            }
            let now = gate.now();
            let (time, counted) = (now.saturating_sub(from.0), gate.counted(now).saturating_sub(from.1));
            // Less is no judgement: a change of what is done, or the end.
            if counted == 0 || time < JUDGED / 2 {
                continue;
            }
            let events = gate.events_of_sets().unwrap_or_default();
            for ((set, before), now) in self.sets.iter_mut().zip(&seen).zip(&events) {
                set.seldom = is_seldom(before, now, counted);
            }
            let (all_before, all) = (sum(&seen), sum(&events));
            let (_, share) = gate.cost.shares(&all_before, &all, counted);
            let new = all.iter().sum::<u64>().saturating_sub(all_before.iter().sum());
            self.thinning.spent(new.saturating_mul(gate.cost.each));
            (seen, from) = (events, (now, gate.counted(now)));
            let one_in = self.judge.judge(share, time);
            gate.propose(one_in);
        }
    }
}

/// Whether events were so few on each CPU, in `time` nanoseconds in which they were counted: `now`, `before` at their beginning.
fn is_seldom(before: &[u64], now: &[u64], time: u64) -> bool {
    let most = SELDOM * time as f64 / 1e9;
    now.iter().zip(before).all(|(now, before)| now.saturating_sub(*before) as f64 <= most)
}

/// Attaches the hooks and opens the gate. Attaching waits for other CPUs: without the lock, for a read must not wait for it.
fn begin<'a>(shared: &'a Shared, sets: &mut [Attached], gate: MutexGuard<'a, Gate>) -> MutexGuard<'a, Gate> {
    if gate.stretch {
        return gate;
    }
    drop(gate);
    let result = sets.iter_mut().try_for_each(Attached::attach);
    let mut gate = shared.lock();
    match result {
        Ok(()) => {
            gate.attached = gate.now();
            gate.stretch = true;
        }
        Err(why) => gate.failed = Some(why),
    }
    gate.settle();
    gate
}

/// Attaches the hooks where there is something new for them. That takes a while, too.
fn keep_up<'a>(shared: &'a Shared, sets: &mut [Attached], gate: MutexGuard<'a, Gate>) -> MutexGuard<'a, Gate> {
    if !sets.iter().any(|set| set.hooks.follows()) {
        return gate;
    }
    drop(gate);
    sets.iter_mut().filter(|set| set.is).for_each(|set| set.hooks.keep_up());
    shared.lock()
}

/// Shuts the gate and detaches those hooks that do not run seldom.
fn cease<'a>(shared: &'a Shared, sets: &mut [Attached], mut gate: MutexGuard<'a, Gate>) -> MutexGuard<'a, Gate> {
    // The read with which a collector begins to be thinned ends its stretch, and leaves the hooks to be detached here.
    if !gate.stretch && !sets.iter().any(|set| set.is && !set.seldom) {
        return gate;
    }
    gate.stretch = false;
    gate.settle();
    drop(gate);
    sets.iter_mut().for_each(Attached::detach);
    shared.lock()
}

/// The sum of `sets`, for each CPU.
pub(super) fn sum(sets: &[Vec<u64>]) -> Vec<u64> {
    let cpus = sets.iter().map(Vec::len).max().unwrap_or(0);
    (0..cpus).map(|cpu| sets.iter().filter_map(|set| set.get(cpu)).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_that_run_seldom_stay() {
        // 20 ms: 30 on a CPU are as many as may be.
        assert!(is_seldom(&[5, 100], &[35, 130], 20_000_000));
        assert!(!is_seldom(&[5, 100], &[6, 131], 20_000_000));
        assert!(is_seldom(&[], &[], 0));
        assert_eq!(sum(&[vec![1, 2], vec![10, 20], vec![100]]), [111, 22]);
    }
}
