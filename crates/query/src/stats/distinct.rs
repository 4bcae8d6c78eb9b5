//! How many different things there are, by a sample of them: pages of code by the addresses that a CPU was found at.
//!
//! A longer sample finds more of them, so that what was seen cannot be compared between runs. How many different ones a random part of it would have
//! found can: the expectation over all parts of one size, without drawing any (rarefaction; Hurlbert, "The nonconcept of species diversity", 1971).

use std::collections::BTreeMap;

/// The expected number of different things in `n` draws without replacement out of all that was counted: `counts` says how often each was met. `None` for
/// fewer than `n` in all.
pub fn rarefied(counts: &[u64], n: u64) -> Option<f64> {
    let all = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count))?;
    if n > all || n == 0 {
        return None;
    }
    let mut by_count: BTreeMap<u64, u64> = BTreeMap::new();
    for &count in counts.iter().filter(|count| **count > 0) {
        *by_count.entry(count).or_default() += 1;
    }
    // The chance that none of its `count` is among the draws: each in turn is among those that were left out.
    let mut missed = 1.0;
    let (mut expected, mut done) = (0.0, 0);
    for (&count, &things) in &by_count {
        while done < count && missed > 1e-18 {
            missed *= (all - n).saturating_sub(done) as f64 / (all - done) as f64;
            done += 1;
        }
        expected += things as f64 * (1.0 - missed);
    }
    Some(expected)
}

/// How many different things there are at least, with those that were not met (Chao, "Nonparametric estimation of the number of classes in a population",
/// 1984; without bias where nothing was met twice). 0 where nothing was counted.
pub fn at_least(counts: &[u64]) -> f64 {
    let all: f64 = counts.iter().map(|&count| count as f64).sum();
    let met = |times: u64| counts.iter().filter(|count| **count == times).count() as f64;
    let seen = counts.iter().filter(|count| **count > 0).count() as f64;
    if all == 0.0 {
        return 0.0;
    }
    let (once, twice) = (met(1), met(2));
    seen + (all - 1.0) / all * once * (once - 1.0) / (2.0 * (twice + 1.0))
}

/// How many of them, those met most often first, hold a `share` of all that was counted.
pub fn holding(counts: &[u64], share: f64) -> u64 {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let all: f64 = counts.iter().map(|&count| count as f64).sum();
    let (mut held, mut number) = (0.0, 0);
    for count in sorted {
        if held >= share * all {
            break;
        }
        held += count as f64;
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::rng::Rng;
    use crate::stats::special::ln_choose;
    use proptest::prelude::*;

    /// Draws with replacement from things that are equally likely.
    fn drawn(rng: &mut Rng, things: usize, draws: usize) -> Vec<u64> {
        let mut counts = vec![0; things];
        for _ in 0..draws {
            counts[((rng.uniform() * things as f64) as usize).min(things - 1)] += 1;
        }
        counts
    }

    #[test]
    fn few_things_are_counted_by_hand() {
        // Of a, a, b two are drawn: aa once, ab twice.
        assert!((rarefied(&[2, 1], 2).unwrap() - 5.0 / 3.0).abs() < 1e-12);
        assert_eq!((rarefied(&[2, 1], 3), rarefied(&[2, 1], 4), rarefied(&[], 1)), (Some(2.0), None, None));
        assert_eq!(rarefied(&[u64::MAX, 2], 1), None);
        assert_eq!((at_least(&[]), at_least(&[5]), at_least(&[0, 5, 0])), (0.0, 1.0, 1.0));
        // Three met once, one twice, one thrice, of eight: 5 + 7/8 · 3·2/(2·2).
        assert!((at_least(&[1, 1, 1, 2, 3]) - (5.0 + 7.0 / 8.0 * 1.5)).abs() < 1e-12);
        assert_eq!((holding(&[1, 8, 1], 0.9), holding(&[1, 8, 1], 0.8), holding(&[], 0.9)), (2, 1, 0));
    }

    #[test]
    fn what_a_longer_sample_finds_is_what_a_short_one_would_have_found() {
        let mut rng = Rng::new(1);
        for things in [128, 1024, 8192] {
            let (long, short) = (drawn(&mut rng, things, 6000), drawn(&mut rng, things, 1000));
            let truth = things as f64 * (1.0 - (1.0 - 1.0 / things as f64).powi(1000));
            let seen = short.iter().filter(|count| **count > 0).count() as f64;
            let expected = rarefied(&long, 1000).unwrap();
            assert!((expected / truth - 1.0).abs() < 0.03, "{things}: {expected} of {truth}");
            assert!((expected / seen - 1.0).abs() < 0.08, "{things}: {expected}, seen {seen}");
            let least = at_least(&short);
            assert!((least / things as f64 - 1.0).abs() < 0.35, "{things}: at least {least}");
        }
    }

    proptest! {
        #[test]
        fn it_is_hurlberts_sum(counts in prop::collection::vec(0u64..40, 1..40), part in 0.0..1.0f64) {
            let all: u64 = counts.iter().sum();
            let n = ((all as f64 * part) as u64).max(1);
            prop_assume!(all >= n);
            let out_of = ln_choose(all, n);
            let missed = |count: u64| if all - count < n { 0.0 } else { (ln_choose(all - count, n) - out_of).exp() };
            let sum: f64 = counts.iter().map(|&count| 1.0 - missed(count)).sum();
            let found = rarefied(&counts, n).unwrap();
            prop_assert!((found - sum).abs() < 1e-6 * sum.max(1.0), "{} {}", found, sum);
        }

        #[test]
        fn more_draws_find_no_fewer(counts in prop::collection::vec(0u64..1000, 1..60)) {
            let all: u64 = counts.iter().sum();
            let seen = counts.iter().filter(|count| **count > 0).count() as f64;
            let mut before = 0.0;
            for n in [1, 2, 5, 10, 100, 1000].into_iter().filter(|n| *n <= all) {
                let found = rarefied(&counts, n).unwrap();
                prop_assert!(found >= before - 1e-9 && found <= seen.min(n as f64) + 1e-9);
                before = found;
            }
            prop_assert!(at_least(&counts) >= seen);
            let hot = holding(&counts, 0.9) as f64;
            prop_assert!(hot <= seen && holding(&counts, 1.0) as f64 == seen);
            if all > 0 {
                prop_assert!((rarefied(&counts, 1).unwrap() - 1.0).abs() < 1e-9);
                prop_assert!((rarefied(&counts, all).unwrap() - seen).abs() < 1e-9);
            }
        }
    }
}
