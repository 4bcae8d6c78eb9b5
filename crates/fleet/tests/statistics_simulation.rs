//! Small versions of the tables of docs/method.md, which `examples/fleet_simulation` makes: what a change of a constant would break.

use fleet::statistics::bands::{self, Ask, Values};
use fleet::statistics::separate;
use fleet::statistics::since::{self};
use fleet::statistics::synthetic::{self, EQUAL, Metric, Shape};
use query::stats::rng::Rng;

#[test]
fn fleets_without_bands_have_none() {
    let mut named = Vec::new();
    for (shape, hosts) in EQUAL.into_iter().flat_map(|s| [(s, 24), (s, 64)]) {
        for seed in 0..10 {
            let mut rng = Rng::new(500 + seed);
            let made: Vec<Metric> = (0..4).map(|_| synthetic::metric(shape, hosts, 0.05, &mut rng)).collect();
            let values: Vec<Values> = made.iter().map(|m| m.values("")).collect();
            if !bands::ask(&values, &Ask::default()).bandings.is_empty() {
                named.push((shape, hosts, seed));
            }
        }
    }
    // 160 fleets, a quarter of them uniform or a gradient.
    assert!(named.len() <= 8, "{named:?}");
}

#[test]
fn fleets_with_bands_show_them() {
    for (shape, hosts, at_least) in
        [(Shape::OneInEight, 128, 9), (Shape::Three(5.0), 128, 8), (Shape::Halves(4.0), 128, 7)]
    {
        let truth = shape.bands(hosts);
        let (mut found, mut right, mut decided) = (0, 0, 0);
        for seed in 0..10 {
            let m = synthetic::metric(shape, hosts, 0.05, &mut Rng::new(700 + seed));
            let of = bands::find(&m.values(""), 0.04, 1);
            if of.bands.len() == 1 + truth.iter().max().copied().unwrap_or(0) {
                found += 1;
                let known = (0..hosts).filter(|i| !of.undecided.contains(i));
                decided += known.clone().count();
                right += known.filter(|&i| of.of[i] == Some(truth[i])).count();
            }
        }
        assert!(found >= at_least, "{shape:?}: {found} of 10");
        assert!(right as f64 >= 0.98 * decided as f64, "{shape:?}: {right} of {decided}");
    }
}

#[test]
fn what_separates_is_found_and_little_else() {
    let sides: Vec<Option<bool>> = (0..64).map(|i| Some(i < 8)).collect();
    let (mut found, mut wrong) = (0, 0);
    for seed in 0..10 {
        let made = synthetic::many(1229, 10, 1.7, 0.95, &sides, &mut Rng::new(900 + seed));
        let metrics: Vec<&[f64]> = made.iter().map(Vec::as_slice).collect();
        for d in separate::metrics(&metrics, &sides, 1).listed {
            if d.metric % 100 == 5 && d.metric < 1000 { found += 1 } else { wrong += 1 }
        }
    }
    assert!(found >= 75 && wrong <= 10, "{found} of 100, {wrong} false");
}

#[test]
fn switches_are_dated_and_steady_hosts_have_none() {
    let mut rng = Rng::new(40);
    let mut dated = 0;
    let mut claimed = 0;
    for i in 0..200 {
        let levels = if i % 2 == 0 { (100.0, 250.0) } else { (250.0, 100.0) };
        let x = synthetic::course(120, 72, levels, 0.2, 0.5, &mut rng);
        let s = since::path(&x, 160.0, 100.0, 250.0).switches;
        dated += usize::from(s.len() == 1 && s[0].abs_diff(72) <= 1);
        let steady = synthetic::course(120, 120, levels, 0.2, 0.5, &mut rng);
        claimed += usize::from(!since::path(&steady, 160.0, 100.0, 250.0).switches.is_empty());
    }
    assert!(dated >= 190 && claimed <= 2, "{dated} dated, {claimed} claimed");
}
