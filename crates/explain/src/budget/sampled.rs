//! CPU time divided into that of the program and the kernel's by samples, where the kernel's ticks mislead.

use super::ledger::Ledger;
use super::state::{State, Sums};

/// Kernels divide run time into that of the program and their own by where timer ticks find it: what happens in step with the ticks, such as what is done
/// a thousand times a second, is always found or never, and a thread that no tick found counts as its program's. Samples are not in step. Where so much of CPU time
/// lies between the two, beyond chance, samples are believed.
const APART: f64 = 0.15;
/// Kernels that let nobody sample them have next to no samples of theirs.
const SAMPLED: f64 = 0.02;

/// Divides the CPU time of one side's ledgers as their samples are, `samples` of the program and of the kernel, where ticks mislead. The kernel's part as
/// ticks have it and as samples have it, if so.
pub(crate) fn divide_as_sampled(ledgers: &mut [Ledger], samples: [f64; 2]) -> Option<[f64; 2]> {
    let sums = ledgers.iter().fold(Sums::default(), |sum, ledger| sum + ledger.sums());
    let (count, cpu) = (samples[0] + samples[1], sums.cpu());
    let (sampled, ticked) = (samples[1] / count, sums.of(State::Kernel) / cpu);
    let chance = 4.0 * (sampled * (1.0 - sampled) / count).sqrt();
    let is_apart = (sampled - ticked).abs() > APART + chance;
    if !is_apart || !(SAMPLED..=1.0 - SAMPLED).contains(&sampled) {
        return None;
    }
    let (from, to, part) = if sampled > ticked {
        (State::User, State::Kernel, (sampled - ticked) / (1.0 - ticked))
    } else {
        (State::Kernel, State::User, (ticked - sampled) / ticked)
    };
    ledgers.iter_mut().for_each(|ledger| ledger.shift(from, to, part));
    Some([ticked, sampled])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::ledger::Tick;
    use std::collections::BTreeMap;

    #[test]
    fn samples_are_believed_where_ticks_are_in_step_with_the_work() {
        let ledger = |user: f64, kernel: f64| {
            let mut tick = Tick { length: 10.0, ..Tick::default() };
            tick.sums.time[State::User as usize] = user;
            tick.sums.time[State::Kernel as usize] = kernel;
            Ledger { ticks: vec![tick; 2], grain: 0.0, groups: BTreeMap::new() }
        };
        let divided = |user, kernel, samples| {
            let mut ledgers = [ledger(user, kernel)];
            let found = divide_as_sampled(&mut ledgers, samples);
            let sums = ledgers[0].sums();
            (found.is_some(), (sums.of(State::User) * 10.0).round(), (sums.of(State::Kernel) * 10.0).round())
        };
        assert_eq!(divided(10.0, 0.0, [600.0, 400.0]), (true, 120.0, 80.0), "no tick has found the kernel");
        assert_eq!(divided(1.0, 9.0, [600.0, 400.0]), (true, 120.0, 80.0), "nearly all have");
        assert_eq!(divided(7.0, 3.0, [600.0, 400.0]), (false, 140.0, 60.0), "near enough");
        assert_eq!(divided(10.0, 0.0, [12.0, 8.0]), (false, 200.0, 0.0), "too few");
        assert_eq!(divided(5.0, 5.0, [1000.0, 0.0]), (false, 100.0, 100.0), "the kernel may not be sampled");
        assert_eq!(divided(5.0, 5.0, [0.0, 0.0]), (false, 100.0, 100.0));
        assert_eq!(divided(0.0, 0.0, [600.0, 400.0]), (false, 0.0, 0.0));
    }
}
