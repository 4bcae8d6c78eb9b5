//! What `compare` must and must not say: equal runs list nothing, real differences are found, edges are answered honestly.

mod simulation;

use query::stats::{Comparer, Comparison, NotCompared, Options, Series, compare::Basis, is_material, rng::Rng};
use simulation::{Kind, metric, pair};

fn compare(a: &[f64], b: &[f64]) -> Comparison {
    Comparer::new().compare(&[Series::even(a)], &[Series::even(b)], &Options::default())
}

#[test]
fn equal_runs_list_nothing() {
    let (mut comparer, mut rng) = (Comparer::new(), Rng::new(2026));
    let (mut pairs, mut any, mut small) = (0, 0, 0.0);
    for n in [8, 20, 60] {
        for seed in 0..8 {
            let l = pair(&mut comparer, &mut rng, Kind::Mixed, seed, 120, n, 0, 1.0);
            any += usize::from(l.listed > 0);
            small += l.small_p;
            pairs += 1;
            // The stricter rate lists no more than the other.
            assert!(l.listed <= l.listed_bh);
        }
    }
    assert_eq!(any, 0, "of {pairs} pairs");
    assert!(small / f64::from(pairs) < 0.05, "{small}");
    // Each bad habit by itself, all metrics alike: the worst that a pair can be.
    for kind in [Kind::Walk(0.03), Kind::Ar(0.6, 0.2), Kind::Bursts(4.0), Kind::Tail(1.5), Kind::Unlike(0.9)] {
        let listed = pair(&mut comparer, &mut rng, kind, 1, 200, 30, 0, 1.0).listed;
        assert_eq!(listed, 0, "{kind:?}");
    }
}

#[test]
fn a_fifth_more_is_found() {
    let (mut comparer, mut rng) = (Comparer::new(), Rng::new(5));
    let found: usize = (0..50).map(|s| pair(&mut comparer, &mut rng, Kind::Noise(0.05), s, 1, 20, 1, 1.2).found).sum();
    assert!(found >= 47, "{found} of 50 alone");
    let found: usize =
        (0..4).map(|s| pair(&mut comparer, &mut rng, Kind::Noise(0.05), s, 200, 20, 20, 1.2).found).sum();
    assert!(found >= 60, "{found} of 80 among 200");
}

#[test]
fn constants() {
    let same = compare(&[10.0; 30], &[10.0; 30]);
    assert_eq!((same.p, same.change, same.basis), (Some(1.0), Some(0.0), Basis::Constant));
    assert!(!is_material(&same, 0.05, 0.0));
    let sure: Vec<f64> = [8, 20, 60].iter().map(|&n| compare(&vec![10.0; n], &vec![20.0; n]).p.unwrap()).collect();
    assert!(sure[0] > 0.05 && sure[0] > sure[1] && sure[1] > sure[2] && sure[2] > 1e-6 && sure[2] < 1e-3, "{sure:?}");
    let c = compare(&[10.0; 60], &[20.0; 60]);
    assert_eq!((c.change, c.low, c.high), (Some(1.0), Some(1.0), Some(1.0)));
    assert!(is_material(&c, 0.05, 0.0) && !is_material(&c, 0.05, 11.0) && !is_material(&c, 1.5, 0.0));
}

#[test]
fn a_baseline_of_zero_has_no_ratio() {
    let mut rng = Rng::new(8);
    let c = compare(&[0.0; 60], &metric(&mut rng, Kind::Counts(50.0), 60));
    assert_eq!((c.change, c.low, c.high), (None, None, None));
    assert!(c.p.unwrap() < 1e-6 && is_material(&c, 0.05, 5.0) && !is_material(&c, 0.05, 60.0), "{c:?}");
}

#[test]
fn few_samples() {
    for n in 1..4 {
        let c = compare(&vec![1.0; n], &[2.0; 30]);
        assert_eq!(c.not_compared, Some(NotCompared::TooFewSamples { samples: n }));
        assert_eq!(c.difference, None);
        assert_eq!(c.baseline.mean, Some(1.0));
    }
    let c = compare(&[1.0, 1.1, 0.9, 1.0], &[2.0, 2.1, 1.9, 2.0]);
    assert!(c.p.unwrap() > 0.02, "{c:?}");
    let c = compare(&[f64::NAN; 9], &[1.0; 9]);
    assert_eq!(c.not_compared, Some(NotCompared::NothingMeasured { baseline: true, other: false }));
    let gaps = compare(&[1.0, f64::NAN, 1.2, 0.9, f64::NAN, 1.1, 1.0], &[1.0; 7]);
    assert_eq!((gaps.baseline.samples, gaps.baseline.missing, gaps.not_compared), (5, 2, None));
}

#[test]
fn one_spike_is_not_a_difference() {
    let mut rng = Rng::new(9);
    let a = metric(&mut rng, Kind::Noise(0.05), 60);
    for size in [10.0, 1e3, 1e9] {
        let mut b = metric(&mut rng, Kind::Noise(0.05), 60);
        b[30] = size;
        let c = compare(&a, &b);
        assert!(c.change.unwrap() > 0.1 && c.p.unwrap() > 0.05 && !is_material(&c, 0.05, 0.0), "{c:?}");
    }
}

#[test]
fn signs_and_sizes() {
    let mut rng = Rng::new(10);
    let a = metric(&mut rng, Kind::Noise(0.02), 60);
    let b: Vec<f64> = metric(&mut rng, Kind::Noise(0.02), 60).iter().map(|x| 1.5 * x).collect();
    let times = |x: &[f64], by: f64| x.iter().map(|v| v * by).collect::<Vec<_>>();
    let plain = compare(&a, &b);
    let huge = compare(&times(&a, 1e18), &times(&b, 1e18));
    assert!((plain.change.unwrap() - huge.change.unwrap()).abs() < 1e-9 && is_material(&huge, 0.05, 0.0));
    // −1 to −1.5: less by half of its size.
    let less = compare(&times(&a, -1.0), &times(&b, -1.0));
    assert!((less.change.unwrap() + plain.change.unwrap()).abs() < 1e-9);
    assert!(less.low.unwrap() < less.change.unwrap() && less.high.unwrap() < -0.4 && is_material(&less, 0.05, 0.0));
    let small = compare(&a, &times(&a, 1.01));
    assert!(!is_material(&small, 0.05, 0.0));
}

#[test]
fn ratios_of_sums() {
    // 1 ms an operation in both, though the load swings; then 2 ms.
    let mut rng = Rng::new(11);
    let ops: Vec<f64> = (0..40).map(|_| 1.0 + 100.0 * rng.uniform()).collect();
    let mut time = |each: f64| ops.iter().map(|o| o * each * (1.0 + 0.1 * rng.normal())).collect::<Vec<_>>();
    let (a, b, c) = (time(1e-3), time(1e-3), time(2e-3));
    let mut comparer = Comparer::new();
    let mut run =
        |x: &[f64]| comparer.compare(&[Series::ratio(&a, &ops)], &[Series::ratio(x, &ops)], &Options::default());
    let same = run(&b);
    assert!(same.p.unwrap() > 0.05 && same.change.unwrap().abs() < 0.1);
    let twice = run(&c);
    assert!(twice.p.unwrap() < 1e-5 && is_material(&twice, 0.5, 0.0), "{twice:?}");
}

#[test]
fn repeats_are_the_unit() {
    let mut rng = Rng::new(12);
    // Each run has its own level: the samples within a run know nothing of it.
    let mut runs = |k: usize, mean: f64| -> Vec<Series> {
        (0..k)
            .map(|_| {
                let level = mean + 0.2 * rng.normal();
                Series::even(&(0..60).map(|_| level + 0.01 * rng.normal()).collect::<Vec<_>>())
            })
            .collect()
    };
    let mut comparer = Comparer::new();
    let mut small = 0;
    for _ in 0..200 {
        let (a, b) = (runs(3, 2.0), runs(3, 2.0));
        small += usize::from(comparer.compare(&a, &b, &Options::default()).p.unwrap() < 0.05);
    }
    assert!(small <= 20, "{small} of 200");
    let c = comparer.compare(&runs(5, 2.0), &runs(5, 4.0), &Options::default());
    assert!(c.basis == Basis::Runs && c.p.unwrap() < 1e-3 && is_material(&c, 0.2, 0.0), "{c:?}");
    // One run beside five: how runs differ is known from the five.
    let one = comparer.compare(&runs(5, 2.0), &runs(1, 2.2), &Options::default());
    assert!(one.p.unwrap() > 0.05, "{one:?}");
}
