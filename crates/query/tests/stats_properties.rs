//! What holds for every input: no panic, no NaN, intervals around their estimates, order where it must not matter.

use proptest::prelude::*;
use query::stats::rank::{Samples, brunner_munzel, cliff_delta, hodges_lehmann, mann_whitney};
use query::stats::{Comparer, Comparison, Options, Series, change, fdr, is_material, pairs, quantile, window};
use std::slice::from_ref;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -100.0..100.0f64,
        2 => (0..4i32).prop_map(f64::from),
        1 => prop::num::f64::ANY,
        1 => prop::sample::select(vec![f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324, 1e300, -1e-300, f64::NAN, f64::INFINITY]),
    ]
}

fn numbers(most: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(number(), 0..most)
}

fn sound(c: &Comparison) {
    assert_eq!(c.p.is_some(), c.not_compared.is_none());
    if let Some(p) = c.p {
        assert!(p > 0.0 && p <= 1.0, "{c:?}");
    }
    for x in [c.difference, c.change, c.low, c.high, c.baseline.mean, c.other.median, c.other.p99].into_iter().flatten()
    {
        assert!(x.is_finite(), "{c:?}");
    }
    if let (Some(low), Some(change), Some(high)) = (c.low, c.change, c.high) {
        assert!(low <= change && change <= high, "{c:?}");
    }
    if let (Some((low, high)), Some(d)) = (c.difference_interval, c.difference) {
        assert!(low <= d && d <= high, "{c:?}");
    }
    assert!(c.n_eff.is_finite() && c.n_eff >= 0.0);
    assert!(!is_material(c, 0.05, 0.0) || c.p.is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn comparisons_are_sound(
        b in prop::collection::vec((numbers(40), numbers(40)), 0..3),
        o in prop::collection::vec((numbers(40), numbers(40)), 0..3),
        even in any::<bool>(),
    ) {
        let series = |x: &[(Vec<f64>, Vec<f64>)]| -> Vec<Series> {
            x.iter().map(|(n, d)| if even { Series::even(n) } else { Series::ratio(n, d) }).collect()
        };
        let c = Comparer::new().compare(&series(&b), &series(&o), &Options::default());
        sound(&c);
        // The same again gives the same.
        prop_assert_eq!(c, Comparer::new().compare(&series(&b), &series(&o), &Options::default()));
    }

    #[test]
    fn pairs_are_sound(d in numbers(40), alpha in 0.0001..0.5f64) {
        let swapped: Vec<f64> = d.iter().map(|x| -x).collect();
        let (test, other) = (pairs::signed_rank(&d), pairs::signed_rank(&swapped));
        prop_assert_eq!(test.is_some(), d.iter().any(|x| x.is_finite()));
        let (Some(test), Some(other)) = (test, other) else { return Ok(()) };
        prop_assert!(test.p > 0.0 && test.p <= 1.0);
        // Whoever swaps the sides gets the same answer with the other sign.
        prop_assert_eq!((test.p, test.plus, test.minus), (other.p, other.minus, other.plus));
        let (a, b) = (pairs::shift(&d, alpha).unwrap(), pairs::shift(&swapped, alpha).unwrap());
        prop_assert!(a.low <= a.estimate && a.estimate <= a.high);
        prop_assert_eq!((a.low, a.estimate, a.high), (-b.high, -b.estimate, -b.low));
        // Where the test rejects without ties, 0 is outside, and the other way round: of numbers whose halves are not rounded to 0.
        let mut sizes: Vec<f64> = d.iter().filter(|x| x.is_finite()).map(|x| x.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        if sizes.windows(2).all(|w| w[0] < w[1]) && sizes[0] > 1e-100 && sizes[sizes.len() - 1] < 1e100 {
            prop_assert_eq!(test.p <= alpha, a.low > 0.0 || a.high < 0.0, "{:?} {:?}", test, a);
        }
        // A smaller level is a wider interval.
        let wide = pairs::shift(&d, alpha / 2.0).unwrap();
        prop_assert!(wide.low <= a.low && a.high <= wide.high);
        // The wager has lost nothing it did not have, and its interval is around something.
        let wager = pairs::wager::Wager::of(&d);
        prop_assert!(wager.wealth() >= 0.0 && wager.most() >= wager.wealth());
        if let Some((low, high)) = pairs::wager::interval(&d, 20.0) {
            prop_assert!(low <= high);
        }
    }

    #[test]
    fn sides_and_repeats_may_be_swapped(
        a in prop::collection::vec(1.0..100.0f64, 8..30),
        b in prop::collection::vec(1.0..100.0f64, 8..30),
        c in prop::collection::vec(1.0..100.0f64, 8..30),
    ) {
        let [a, b, c] = [a, b, c].map(|x| Series::even(&x));
        let mut comparer = Comparer::new();
        let options = Options { bootstrap_below: 0.0, ..Options::default() };
        let one = comparer.compare(from_ref(&a), from_ref(&b), &options);
        let back = comparer.compare(from_ref(&b), from_ref(&a), &options);
        prop_assert!((one.difference.unwrap() + back.difference.unwrap()).abs() < 1e-9);
        prop_assert!((one.p.unwrap() / back.p.unwrap() - 1.0).abs() < 1e-6);
        let one = comparer.compare(&[a.clone(), b.clone()], &[c.clone(), a.clone()], &options);
        let other = comparer.compare(&[b, a.clone()], &[a, c], &options);
        prop_assert!((one.p.unwrap() / other.p.unwrap() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn ranks_are_sound(x in numbers(30), y in numbers(30), worth in 0.5..30.0f64, rotate in 0usize..30) {
        for s in [Samples::Independent, Samples::effective(worth, worth)] {
            for t in [mann_whitney(&x, &y, s), brunner_munzel(&x, &y, s)].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&t.p), "{:?}", t);
            }
            for e in [cliff_delta(&x, &y, s, 0.05), hodges_lehmann(&x, &y, s, 0.05)].into_iter().flatten() {
                prop_assert!(e.low <= e.estimate && e.estimate <= e.high, "{:?}", e);
            }
        }
        let mut turned = x.clone();
        turned.rotate_left(rotate % x.len().max(1));
        prop_assert_eq!(mann_whitney(&x, &y, Samples::Independent), mann_whitney(&turned, &y, Samples::Independent));
    }

    #[test]
    fn the_rest_is_sound(x in numbers(80), w in numbers(80), q in 0.0..1.0f64) {
        if let Some(v) = quantile::quantile(&x, &w, q) {
            prop_assert!(!v.is_nan() && x.iter().any(|a| *a <= v) && x.iter().any(|a| *a >= v));
        }
        let points = change::change_points(&x, 3);
        prop_assert!(points.windows(2).all(|p| p[0] < p[1]) && points.iter().all(|p| *p > 0 && *p < x.len()));
        let start: Vec<f64> = (0..x.len()).map(|i| i as f64).collect();
        let end: Vec<f64> = start.iter().map(|s| s + 1.0).collect();
        if let Some(found) = window::busy_window(&start, &end, &x, window::Idle::default()) {
            prop_assert!(found.from >= 0.0 && found.from < found.to && found.to <= x.len() as f64);
        }
        let p: Vec<f64> = x.iter().map(|v| v.abs() % 1.0).collect();
        let (bh, by) = (fdr::benjamini_hochberg(&p), fdr::benjamini_yekutieli(&p));
        for i in 0..p.len() {
            prop_assert!(p[i].is_nan() || (p[i] <= bh[i] && bh[i] <= by[i] && by[i] <= 1.0));
        }
    }
}
