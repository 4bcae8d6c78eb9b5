//! Divides lost time among the states. With E the elapsed time per unit of work, R the CPU time per unit of the threads that do it, F what
//! stretched that (neighbours, a quota, interrupts), k the number of CPUs that they could keep busy, and W the rest:
//!
//! E = (R + F) / k + W.
//!
//! The first part is what a unit takes where nobody waits for anything but a CPU; it grows with the CPU time of a unit, or with what stretches it. W is
//! time in which CPUs that the threads could have used were not used: it grows by what each unit waited longer for (a lock, a disk …), and by threads
//! that waited for work more often than before, or that were not there. docs/method.md has the formulas and where they come from.

use super::state::{ALL, STATES, STRETCH, State, Sums, WAITS};

/// The lost time, divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Division {
    /// Elapsed time per unit of work, slow over fast; for one run alone 1.
    pub(crate) ratio: f64,
    /// By state, the part of the lost time; negative where it fell.
    pub(crate) share: [f64; STATES],
    /// By state, the part of the lost time for each thread-second per unit that its cells grew by.
    pub(crate) factor: [f64; STATES],
    /// The same for threads that keep house, for each thread that was in the state on average.
    pub(crate) aside: [f64; STATES],
}

/// A quotient of quantities that are not negative; 0 for nothing of nothing.
fn over(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// The weight of time waited for work that grew with the time of a unit only, against what else grew.
const OUTSIDE: f64 = 0.02;

/// So many more threads that sleep on average are a change.
const AWAKE: f64 = 0.2;

/// A phase of a run alone takes so much of its time: less is its beginning and end, more is all there is.
const PHASE: std::ops::Range<f64> = 0.08..0.9;

/// Divides what `slow` takes longer for a unit than `fast`. `cpus`: those of the machine with more of them.
pub(crate) fn divide(slow: &Sums, fast: &Sums, cpus: f64) -> Division {
    let mut share = [0.0; STATES];
    let mut factor = [0.0; STATES];
    let unit = |s: &Sums, state: State| over(s.of(state), s.work);
    let count = |s: &Sums, state: State| over(s.of(state), s.seconds);
    let ratio = over(slow.elapsed(), fast.elapsed());
    let lost = slow.elapsed() - fast.elapsed();

    // Where both the CPU time of a unit and this changed, each change is taken at the mean of the other.
    let k = 1.0 / f64::midpoint(1.0 / slow.parallel(cpus), 1.0 / fast.parallel(cpus));

    for (state, per) in by_cpu_time(slow, fast) {
        factor[state as usize] = per / k;
        share[state as usize] = (unit(slow, state) - unit(fast, state)) * per / k;
    }
    let by_cpu: f64 = share.iter().sum();

    // What is left, by what each unit waited longer and by threads that worked no more; the latter at the pace of the slow side, since threads with
    // nothing to do have nothing to do for longer where a unit takes longer.
    let unused = (lost - by_cpu).max(0.0);
    let threads = |s: &Sums| over(s.time.iter().sum(), s.seconds);
    let more = |state: State| match state {
        // Where nothing else grew, threads wait for work as before, and for something outside: a little of their time stands for that.
        State::Idle => {
            let longer = (count(slow, State::Idle) - count(fast, State::Idle)) * slow.elapsed();
            longer.max(OUTSIDE * (unit(slow, State::Idle) - unit(fast, State::Idle)))
        }
        State::Fewer => (threads(fast) - threads(slow)) * slow.elapsed(),
        // Behind threads of their own while CPUs are unused: they may not run there.
        State::Crowded => (count(slow, State::Crowded) - count(fast, State::Crowded)) * slow.elapsed(),
        // A thread that always sleeps, such as one that tells the progress, sleeps longer per unit where a unit takes longer. It is no part of the unit
        // where others are at work all the time.
        State::Sleep => {
            let busy = over(slow.engaged() - slow.of(State::Sleep), slow.seconds);
            let weight =
                (1.0 - busy).max((count(slow, State::Sleep) - count(fast, State::Sleep)) / AWAKE).clamp(0.0, 1.0);
            weight * (unit(slow, State::Sleep) - unit(fast, State::Sleep))
        }
        state => unit(slow, state) - unit(fast, state),
    };
    let idle: Vec<(State, f64)> =
        WAITS.into_iter().chain([State::Idle, State::Crowded, State::Fewer]).map(|s| (s, more(s).max(0.0))).collect();
    let all: f64 = idle.iter().map(|(_, more)| more).sum();
    for &(state, more) in &idle {
        let part = if all > 0.0 { unused * more / all } else { 0.0 };
        share[state as usize] = part;
        let grown = unit(slow, state) - unit(fast, state);
        factor[state as usize] = if grown > 0.0 { part / grown } else { 0.0 };
    }
    // What fell made up for a part of what grew.
    let grown: f64 = share.iter().filter(|s| **s > 0.0).sum();
    // Where threads waited less evenly for one another, no state grew by all of what was lost.
    let scale = if ratio > 0.0 { over(1.0, grown.max(lost)) } else { 0.0 };
    for value in share.iter_mut().chain(&mut factor) {
        *value *= scale;
    }
    let aside = follow(slow, fast, k, &mut share, &mut factor);
    Division { ratio, share, factor, aside }
}

/// How much longer a unit takes on one CPU for each second by which a state of its CPU time R, or of what stretches that, F, grew. With f = F / R,
/// Δ(R + F) = ΔR (1 + f̄) + R̄ Δf, the bar being the mean of both sides. An F that grew by less than R grew because R did, as time behind
/// neighbours does that use as much of the CPUs as before: R̄ Δf would have the other sign than ΔF, so ΔF is a part of what R grew by.
fn by_cpu_time(slow: &Sums, fast: &Sums) -> Vec<(State, f64)> {
    let unit = |s: &Sums, state: State| over(s.of(state), s.work);
    let [of_slow, of_fast] = [slow, fast].map(|s| over(s.cpu(), s.work));
    let mut whole = 1.0;
    let mut found = Vec::with_capacity(2 + STRETCH.len());
    for state in STRETCH {
        let grown = unit(slow, state) - unit(fast, state);
        let [f, before] = [slow, fast].map(|s| over(s.of(state), s.cpu()));
        let by_itself = f64::midpoint(of_slow, of_fast) * (f - before);
        if by_itself * grown > 0.0 {
            whole += f64::midpoint(f, before);
            found.push((state, by_itself / grown));
        } else if of_slow - of_fast != 0.0 {
            whole += grown / (of_slow - of_fast);
            found.push((state, 0.0));
        }
    }
    found.extend([(State::User, whole), (State::Kernel, whole)]);
    found
}

/// Who waited for work waited for other threads. Where threads were blocked more than before, those that wait for work are taken to wait for them; so
/// are those that are there and have nothing to do while on the other side they worked.
/// Gives, by state, what threads that keep house have of that, for each that was blocked on average.
fn follow(slow: &Sums, fast: &Sums, k: f64, share: &mut [f64; STATES], factor: &mut [f64; STATES]) -> [f64; STATES] {
    let mut aside = [0.0; STATES];
    let grown = |of: &dyn Fn(&Sums) -> f64| (over(of(slow), slow.seconds) - over(of(fast), fast.seconds)).max(0.0);
    let working: Vec<(State, f64)> = WAITS.into_iter().map(|s| (s, grown(&|x| x.of(s)))).collect();
    // Threads that keep house sleep as a rule, and nobody waits for them then.
    let keeping = WAITS.into_iter().filter(|s| *s != State::Sleep);
    let keeping: Vec<(State, f64)> = keeping.map(|s| (s, grown(&|x| x.housekeeping[s as usize]))).collect();
    let all: f64 = working.iter().chain(&keeping).map(|(_, n)| n).sum();
    let idle = grown(&|x| x.of(State::Idle));
    let fewer = over(fast.time.iter().sum(), fast.seconds) - over(slow.time.iter().sum(), slow.seconds);
    let resting = grown(&|x| x.resting).min(fewer.max(0.0));
    // They wait for those that have something to do, one after another at the least: of whose time this part was spent blocked.
    let engaged = over(slow.engaged(), slow.seconds).max(1.0);
    let waiting = (idle + resting).min(k).min(engaged);
    // By those that wait for work, and by those that rest.
    let by = [share[State::Idle as usize], share[State::Fewer as usize] * over(resting, fewer)].map(|s| s.max(0.0));
    let whole = by[0] + by[1];
    if whole <= 0.0 || waiting <= 0.0 || all <= 0.0 {
        return aside;
    }
    let part = (all / waiting).min(1.0);
    let moved = whole * part;
    for (state, n) in working {
        let (before, more) = (share[state as usize], moved * n / all);
        share[state as usize] += more;
        if before > 0.0 {
            factor[state as usize] *= 1.0 + more / before;
        }
    }
    for (state, n) in keeping.into_iter().filter(|(_, n)| *n > 0.0) {
        share[state as usize] += moved * n / all;
        aside[state as usize] = moved / all;
    }
    share[State::Idle as usize] -= by[0] * part;
    factor[State::Idle as usize] *= 1.0 - part;
    share[State::Fewer as usize] -= by[1] * part;
    aside
}

/// Divides what the threads of `slow` spend longer on a unit than those of `fast`, where others decide how often there is one: the clients of a server that
/// has time to spare. A unit then takes longer by what its CPU time grew, by what stretches that more, and by what it waited longer for, however long
/// it is from one unit to the next.
pub(crate) fn paced(slow: &Sums, fast: &Sums) -> Division {
    let unit = |s: &Sums, state: State| over(s.of(state), s.work);
    let mut share = ALL.map(|state| match state {
        State::Idle | State::Fewer => 0.0,
        // Who always sleeps sleeps longer per unit where there are fewer.
        State::Sleep => (over(slow.of(state), slow.seconds) - over(fast.of(state), fast.seconds)) * slow.elapsed(),
        state => unit(slow, state) - unit(fast, state),
    });
    for (state, per) in by_cpu_time(slow, fast) {
        share[state as usize] = (unit(slow, state) - unit(fast, state)) * per;
    }
    let all: f64 = share.iter().filter(|part| **part > 0.0).sum();
    let mut factor = [0.0; STATES];
    for (state, (share, factor)) in ALL.into_iter().zip(share.iter_mut().zip(&mut factor)) {
        *share = over(*share, all);
        let longer = unit(slow, state) - unit(fast, state);
        *factor = if *share * longer > 0.0 { *share / longer } else { 0.0 };
    }
    Division { ratio: over(slow.elapsed(), fast.elapsed()), share, factor, aside: [0.0; STATES] }
}

/// Where the time of one run alone went: the share of each state in the thread-seconds of those that do the work, and in those that CPUs were not used
/// for. Waiting behind threads of the workload takes no time from the whole, but as far as CPUs are unused meanwhile: then threads may not run there.
/// Nor does waiting for work, beyond what would keep the CPUs busy: who waits for work waits for those that have some, whatever these do. Where
/// `serial`, the part of the time in which one thread ran alone, is a phase of a run that has others, the CPUs that threads used in those are missing
/// in it.
pub(crate) fn alone(run: &Sums, cpus: f64, serial: f64) -> Division {
    let (idle, crowded) = (run.of(State::Idle), run.of(State::Crowded));
    let spare = (cpus * run.seconds - run.cpu() - run.others - run.recorder).max(0.0);
    let kept = crowded.min(spare);
    let threads = run.time.iter().sum::<f64>() - crowded;
    let unused = ((cpus * run.seconds).min(threads) - run.engaged()).clamp(0.0, idle);
    let alone = serial * run.seconds;
    let together = over((run.cpu() - alone).max(0.0), run.seconds - alone).min(cpus);
    let missing = if PHASE.contains(&serial) { (alone * (together - 1.0) - unused).max(0.0) } else { 0.0 };
    let whole = threads - idle + unused + kept + missing;
    let mut share = ALL.map(|state| over(run.of(state), whole));
    let mut factor = [over(run.work, whole); STATES];
    for (state, part) in [(State::Crowded, over(kept, crowded)), (State::Idle, over(unused, idle))] {
        share[state as usize] *= part;
        factor[state as usize] *= part;
    }
    share[State::Fewer as usize] = over(missing, whole);
    Division { ratio: 1.0, share, factor, aside: [0.0; STATES] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(seconds: f64, work: f64, times: &[(State, f64)]) -> Sums {
        let mut sums = Sums { work, seconds, ..Sums::default() };
        for (state, time) in times {
            sums.time[*state as usize] = *time;
        }
        sums
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn one_thread_loses_what_each_state_grew_by() {
        let fast = sums(10.0, 1000.0, &[(State::User, 9.0), (State::Disk, 1.0)]);
        let slow = sums(30.0, 1000.0, &[(State::User, 19.0), (State::Disk, 11.0)]);
        let d = divide(&slow, &fast, 2.0);
        assert!(
            near(d.ratio, 3.0) && near(d.share[State::User as usize], 0.5) && near(d.share[State::Disk as usize], 0.5),
            "{d:?}"
        );
        // The factors give the same shares from what cells grew by.
        assert!(near(d.factor[State::Disk as usize] * 0.01, 0.5), "{d:?}");
    }

    #[test]
    fn shares_have_the_sign_of_what_they_are_shares_of() {
        // All of it grew, the neighbours' part by less than the rest: nanoseconds per unit of one thread.
        let fast = [(State::User, 100.0), (State::Kernel, 90.0), (State::Neighbours, 228.0)];
        let slow = [(State::User, 193.0), (State::Kernel, 419.0), (State::Neighbours, 354.0)];
        let seconds = |times: &[(State, f64)]| times.iter().map(|(_, time)| time).sum::<f64>();
        let (fast, slow) = (sums(seconds(&fast), 1.0, &fast), sums(seconds(&slow), 1.0, &slow));
        for d in [divide(&slow, &fast, 2.0), paced(&slow, &fast)] {
            let of = |state: State| d.share[state as usize];
            // It follows from the CPU time: the neighbours took a smaller part of the CPUs than before.
            assert!(near(of(State::User), 93.0 / 422.0) && near(of(State::Kernel), 329.0 / 422.0), "{d:?}");
            assert!(near(of(State::Neighbours), 0.0) && near(d.share.iter().sum(), 1.0), "{d:?}");
        }
        // Where they took more of them, that part is theirs.
        let slow = [(State::User, 193.0), (State::Kernel, 419.0), (State::Neighbours, 1000.0)];
        let slow = sums(seconds(&slow), 1.0, &slow);
        for d in [divide(&slow, &fast, 2.0), paced(&slow, &fast)] {
            assert!(d.share.iter().all(|share| *share >= 0.0) && near(d.share.iter().sum(), 1.0), "{d:?}");
            assert!(d.share[State::Neighbours as usize] > 0.1, "{d:?}");
        }
    }

    #[test]
    fn a_thread_that_hardly_runs_takes_no_half_of_the_cpu_time() {
        // One works, and waits now and then for a lock that another holds asleep.
        let fast = Sums { spread: 10.0, ..sums(10.0, 1000.0, &[(State::User, 10.0), (State::Sleep, 10.0)]) };
        let times = [(State::User, 20.0), (State::Lock, 20.0), (State::Sleep, 40.0)];
        let slow = Sums { spread: 40.0, ..sums(40.0, 1000.0, &times) };
        let d = divide(&slow, &fast, 2.0);
        let (user, lock) = (d.share[State::User as usize], d.share[State::Lock as usize]);
        assert!(near(user, 1.0 / 3.0) && near(lock, 2.0 / 3.0), "{d:?}");
    }

    #[test]
    fn a_lock_is_all_of_it_though_threads_pile_up_behind_it() {
        let fast = sums(10.0, 1000.0, &[(State::User, 20.0), (State::Crowded, 20.0)]);
        let slow = sums(20.0, 1000.0, &[(State::User, 20.0), (State::Lock, 60.0)]);
        let d = divide(&slow, &fast, 2.0);
        assert!(near(d.share[State::Lock as usize], 1.0) && near(d.share[State::User as usize], 0.0), "{d:?}");
    }

    #[test]
    fn what_neighbours_take_from_a_unit_that_costs_more_is_not_their_doing() {
        // The neighbour stretches each CPU second to two in both.
        let fast = sums(20.0, 1000.0, &[(State::User, 10.0), (State::Neighbours, 10.0)]);
        let slow = sums(60.0, 1000.0, &[(State::User, 30.0), (State::Neighbours, 30.0)]);
        let d = divide(&slow, &fast, 2.0);
        assert!(near(d.share[State::User as usize], 1.0) && near(d.share[State::Neighbours as usize], 0.0), "{d:?}");
        let alone = sums(10.0, 1000.0, &[(State::User, 10.0)]);
        let d = divide(&fast, &alone, 2.0);
        assert!(near(d.share[State::Neighbours as usize], 1.0), "{d:?}");
    }

    #[test]
    fn requests_that_take_longer_do_so_though_they_come_as_often() {
        let fast = sums(10.0, 1000.0, &[(State::User, 1.0), (State::Network, 1.0), (State::Idle, 8.0)]);
        let slow = sums(10.0, 1000.0, &[(State::User, 4.0), (State::Network, 2.0), (State::Idle, 4.0)]);
        let d = paced(&slow, &fast);
        let (user, network) = (d.share[State::User as usize], d.share[State::Network as usize]);
        assert!(near(d.ratio, 1.0) && near(user, 0.75) && near(network, 0.25), "{d:?}");
        assert!(
            near(d.share[State::Idle as usize], 0.0) && near(d.factor[State::User as usize] * 0.003, 0.75),
            "{d:?}"
        );
        // What neighbours take from requests that cost more is not their doing.
        let fast = sums(10.0, 1000.0, &[(State::User, 1.0), (State::Neighbours, 1.0), (State::Idle, 8.0)]);
        let slow = sums(10.0, 1000.0, &[(State::User, 3.0), (State::Neighbours, 3.0), (State::Idle, 4.0)]);
        let d = paced(&slow, &fast);
        assert!(near(d.share[State::User as usize], 1.0) && near(d.share[State::Neighbours as usize], 0.0), "{d:?}");
        // A thread that always sleeps is no part of them.
        let fast = sums(10.0, 1000.0, &[(State::User, 1.0), (State::Sleep, 50.0)]);
        let slow = sums(10.0, 900.0, &[(State::User, 2.0), (State::Sleep, 50.0)]);
        let d = paced(&slow, &fast);
        assert!(near(d.share[State::User as usize], 1.0) && near(d.share[State::Sleep as usize], 0.0), "{d:?}");
    }

    #[test]
    fn fewer_threads_are_no_longer_sleeps() {
        let fast = sums(10.0, 4000.0, &[(State::Sleep, 40.0)]);
        let slow = sums(10.0, 1000.0, &[(State::Sleep, 10.0)]);
        let d = divide(&slow, &fast, 2.0);
        assert!(near(d.share[State::Fewer as usize], 1.0) && near(d.share[State::Sleep as usize], 0.0), "{d:?}");
    }

    #[test]
    fn threads_that_spin_cost_cpu_time_though_fewer_wait() {
        let fast = sums(10.0, 1000.0, &[(State::User, 20.0), (State::Lock, 50.0), (State::Crowded, 10.0)]);
        let slow = sums(40.0, 1000.0, &[(State::User, 80.0), (State::Crowded, 240.0)]);
        let d = divide(&slow, &fast, 2.0);
        assert!(near(d.share[State::User as usize], 1.0), "{d:?}");
    }

    #[test]
    fn a_thread_that_always_sleeps_is_no_part_of_a_unit() {
        let fast = sums(10.0, 1000.0, &[(State::User, 20.0), (State::Sleep, 10.0)]);
        let slow = sums(30.0, 1000.0, &[(State::User, 20.0), (State::Lock, 40.0), (State::Sleep, 30.0)]);
        let d = divide(&slow, &fast, 2.0);
        assert!(near(d.share[State::Lock as usize], 1.0), "{d:?}");
        let fast = sums(10.0, 1000.0, &[(State::User, 2.0), (State::Sleep, 8.0)]);
        let slow = sums(100.0, 1000.0, &[(State::User, 2.0), (State::Sleep, 98.0)]);
        assert!(near(divide(&slow, &fast, 2.0).share[State::Sleep as usize], 1.0));
    }

    #[test]
    fn a_mask_that_keeps_threads_from_a_cpu_is_time_in_the_run_queue() {
        let fast = sums(10.0, 1000.0, &[(State::User, 20.0)]);
        let slow = sums(20.0, 1000.0, &[(State::User, 20.0), (State::Crowded, 20.0)]);
        let d = divide(&slow, &fast, 2.0);
        assert!(near(d.share[State::Crowded as usize], 1.0), "{d:?}");
    }

    #[test]
    fn a_serial_end_is_time_waited_for_work() {
        let fast = sums(10.0, 1000.0, &[(State::User, 20.0)]);
        let slow = sums(14.0, 1000.0, &[(State::User, 20.0), (State::Idle, 8.0)]);
        let d = divide(&slow, &fast, 2.0);
        assert!(near(d.share[State::Idle as usize], 1.0), "{d:?}");
    }

    #[test]
    fn who_waits_for_a_writer_waits_for_its_disk() {
        let fast = sums(10.0, 1000.0, &[(State::User, 40.0)]);
        let mut slow = sums(20.0, 1000.0, &[(State::User, 40.0), (State::Idle, 40.0)]);
        slow.housekeeping[State::Disk as usize] = 10.0;
        let d = divide(&slow, &fast, 2.0);
        let (disk, idle) = (d.share[State::Disk as usize], d.share[State::Idle as usize]);
        assert!(near(disk + idle, 1.0) && near(disk, 0.25), "{d:?}");
        assert!(near(d.aside[State::Disk as usize] * 0.5, disk), "by the threads that wait on average: {d:?}");
        assert!(near(d.aside[State::Other as usize], 0.0), "nothing for what did not grow: {d:?}");
    }

    #[test]
    fn who_rests_while_others_are_blocked_waits_for_what_blocks_them() {
        let fast = sums(10.0, 1000.0, &[(State::User, 30.0)]);
        let mut slow = sums(20.0, 1000.0, &[(State::User, 20.0), (State::Disk, 20.0)]);
        let gone = divide(&slow, &fast, 2.0).share[State::Fewer as usize];
        slow.resting = 20.0;
        let d = divide(&slow, &fast, 2.0);
        assert!(gone > 0.0 && near(d.share[State::Fewer as usize], 0.0), "{gone} {d:?}");
        assert!(near(d.share[State::Disk as usize], 1.0), "{d:?}");
    }

    #[test]
    fn nothing_is_nothing() {
        let d = divide(&Sums::default(), &Sums::default(), 2.0);
        assert!(d.share.iter().chain(&d.factor).all(|x| x.is_finite()), "{d:?}");
        let d = alone(&Sums::default(), 2.0, 0.0);
        assert!(d.share.iter().chain(&d.factor).all(|x| x.is_finite()), "{d:?}");
    }

    #[test]
    fn who_waits_for_work_in_one_run_waits_for_those_that_have_some() {
        let idle = |times: &[(State, f64)]| alone(&sums(10.0, 1.0, times), 2.0, 0.0).share[State::Idle as usize];
        assert!(near(idle(&[(State::User, 5.0), (State::Idle, 15.0)]), 0.75));
        // Eight wait for one that works and one that sleeps.
        assert!(near(idle(&[(State::User, 10.0), (State::Sleep, 10.0), (State::Idle, 80.0)]), 0.0));
        assert!(near(idle(&[(State::User, 10.0), (State::Idle, 990.0)]), 0.5), "one CPU of two");
    }

    #[test]
    fn cpus_that_threads_may_not_use_and_that_are_missing_in_a_phase_count_in_one_run() {
        let share = |times: &[(State, f64)], serial: f64, state: State| {
            alone(&sums(10.0, 1.0, times), 2.0, serial).share[state as usize]
        };
        // Two threads on one of two CPUs.
        let times = [(State::User, 10.0), (State::Crowded, 10.0)];
        assert!(near(share(&times, 0.0, State::Crowded), 0.5));
        let times = [(State::User, 20.0), (State::Crowded, 10.0)];
        assert!(near(share(&times, 0.0, State::Crowded), 0.0), "both are busy");
        // Two threads for five seconds, then one; what is missing is one CPU for five seconds.
        let times = [(State::User, 15.0)];
        assert!(near(share(&times, 0.5, State::Fewer), 0.25));
        assert!(near(share(&[(State::User, 10.0)], 1.0, State::Fewer), 0.0), "one thread is all there is");
    }
}
