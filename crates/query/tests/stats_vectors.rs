//! Our statistics against those of SciPy, NumPy, arch and statsmodels: fixtures/stats/ORIGIN.md.

use query::stats::rank::{Samples, brunner_munzel, cliff_delta, hodges_lehmann, mann_whitney};
use query::stats::special::{f_upper, normal_quantile, normal_two_sided, t_critical, t_two_sided};
use query::stats::{bootstrap, fdr, pairs, quantile};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/stats/vectors.json")).unwrap()
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn each(v: &Value) -> &Vec<Value> {
    let list = v.as_array().unwrap();
    assert!(!list.is_empty());
    list
}

#[track_caller]
fn near(ours: f64, theirs: &Value, relative: f64) {
    let theirs = theirs.as_f64().unwrap();
    assert!((ours - theirs).abs() <= relative * theirs.abs().max(1e-300), "ours {ours}, theirs {theirs}");
}

#[test]
fn distributions() {
    let v = vectors();
    let f = |x: &Value, k: &str| x[k].as_f64().unwrap();
    for x in each(&v["t"]) {
        near(t_two_sided(f(x, "t"), f(x, "df")), &x["p"], 1e-9);
        near(t_two_sided(-f(x, "t"), f(x, "df")), &x["p"], 1e-9);
    }
    for x in each(&v["t_critical"]) {
        near(t_critical(f(x, "p"), f(x, "df")), &x["t"], 1e-7);
    }
    for x in each(&v["f"]) {
        near(f_upper(f(x, "f"), f(x, "d1"), f(x, "d2")), &x["p"], 1e-9);
    }
    for x in each(&v["normal"]) {
        near(normal_two_sided(f(x, "z")), &x["p"], 1e-9);
        assert!((normal_quantile(x["p"].as_f64().unwrap() / 2.0) + f(x, "z")).abs() < 1e-6);
    }
}

#[test]
fn quantiles() {
    for x in each(&vectors()["quantile"]) {
        let values = numbers(&x["x"]);
        let weights = vec![2.5; values.len()];
        near(quantile::quantile(&values, &weights, x["q"].as_f64().unwrap()).unwrap(), &x["is"], 1e-12);
    }
}

#[test]
fn rank_tests() {
    for case in each(&vectors()["rank"]) {
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        let u = mann_whitney(&x, &y, Samples::Independent).unwrap();
        near(u.statistic, &case["u"], 1e-12);
        near(u.p, &case["u_p"], 1e-8);
        let bm = brunner_munzel(&x, &y, Samples::Independent).unwrap();
        near(bm.statistic, &case["bm"], 1e-9);
        near(bm.p, &case["bm_p"], 1e-8);
        let delta = cliff_delta(&x, &y, Samples::Independent, 0.05).unwrap();
        near(delta.estimate, &case["delta"], 1e-12);
        assert!(delta.low < delta.estimate && delta.estimate < delta.high);
        let shift = hodges_lehmann(&x, &y, Samples::Independent, 0.05).unwrap();
        near(shift.estimate, &case["shift"], 1e-9);
    }
}

#[test]
fn signed_ranks() {
    let v = vectors();
    for case in each(&v["signed_rank"]) {
        let d = numbers(&case["d"]);
        near(pairs::signed_rank(&d).unwrap().p, &case["p"], 1e-9);
        let shift = pairs::shift(&d, 0.05).unwrap();
        assert!((shift.estimate - case["shift"].as_f64().unwrap()).abs() < 1e-12);
        if case["low"].is_number() {
            assert!((shift.low - case["low"].as_f64().unwrap()).abs() < 1e-12, "{shift:?} {case}");
            assert!((shift.high - case["high"].as_f64().unwrap()).abs() < 1e-12, "{shift:?} {case}");
        } else if d.len() == 5 {
            assert_eq!((shift.low, shift.high), (f64::NEG_INFINITY, f64::INFINITY));
        }
    }
    let t = pairs::looks::student(&numbers(&v["student"]["d"]), v["student"]["alpha"].as_f64().unwrap()).unwrap();
    near(t.low, &v["student"]["low"], 1e-9);
    near(t.high, &v["student"]["high"], 1e-9);
}

#[test]
fn false_discovery() {
    let v = &vectors()["fdr"];
    let mut p = numbers(&v["p"]);
    for (ours, theirs) in [(fdr::benjamini_hochberg(&p), &v["bh"]), (fdr::benjamini_yekutieli(&p), &v["by"])] {
        ours.iter().zip(each(theirs)).for_each(|(o, t)| near(*o, t, 1e-10));
    }
    // A test that was not made changes nothing.
    let before = fdr::benjamini_yekutieli(&p);
    p.insert(3, f64::NAN);
    let mut after = fdr::benjamini_yekutieli(&p);
    assert!(after.remove(3).is_nan());
    assert_eq!(before, after);
}

#[test]
fn block_lengths() {
    for case in each(&vectors()["block_length"]) {
        let (circular, stationary) = bootstrap::block_length(&numbers(&case["x"]));
        near(circular, &case["circular"], 1e-9);
        near(stationary, &case["stationary"], 1e-9);
    }
}
