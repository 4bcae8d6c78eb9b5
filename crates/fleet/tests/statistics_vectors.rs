//! The statistics of a fleet against those of SciPy and scikit-learn: fixtures/stats/ORIGIN.md. Critical bandwidths: `statistics/density.rs`.

use fleet::statistics::agree::{adjusted_rand, kappa};
use fleet::statistics::separate;
use query::stats::special::{chi_square_upper, clopper_pearson, fisher_exact};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../fixtures/stats/fleet.json")).unwrap()
}

fn each(v: &Value) -> &Vec<Value> {
    let list = v.as_array().unwrap();
    assert!(!list.is_empty());
    list
}

fn number(v: &Value, key: &str) -> f64 {
    v[key].as_f64().unwrap()
}

fn numbers(v: &Value) -> Vec<f64> {
    each(v).iter().map(|x| x.as_f64().unwrap()).collect()
}

#[track_caller]
fn near(ours: f64, theirs: f64, relative: f64) {
    assert!((ours - theirs).abs() <= relative * theirs.abs().max(1e-12), "ours {ours}, theirs {theirs}");
}

#[test]
fn exact_tests_and_intervals() {
    let v = vectors();
    for x in each(&v["fisher"]) {
        let t: Vec<u64> = each(&x["table"]).iter().map(|n| n.as_u64().unwrap()).collect();
        near(fisher_exact(t[0], t[1], t[2], t[3]), number(x, "p"), 1e-7);
    }
    for x in each(&v["clopper_pearson"]) {
        let (low, high) = clopper_pearson(x["k"].as_u64().unwrap(), x["n"].as_u64().unwrap(), 0.05);
        near(low, number(x, "low"), 1e-8);
        near(high, number(x, "high"), 1e-8);
    }
    for x in each(&v["chi_square"]) {
        near(chi_square_upper(number(x, "x"), number(x, "df")), number(x, "p"), 1e-8);
    }
}

#[test]
fn agreement() {
    for x in each(&vectors()["sorted_alike"]) {
        let of = |k: &str| each(&x[k]).iter().map(|c| c.as_u64().unwrap() as usize).collect::<Vec<usize>>();
        let (a, b) = (of("a"), of("b"));
        near(kappa(&a, &b), number(x, "kappa"), 1e-9);
        let some = |x: &[usize]| x.iter().copied().map(Some).collect::<Vec<_>>();
        near(adjusted_rand(&some(&a), &some(&b)), number(x, "adjusted_rand"), 1e-9);
    }
}

#[test]
fn ranks() {
    for v in each(&vectors()["rank"]) {
        let (x, y) = (numbers(&v["x"]), numbers(&v["y"]));
        let sides: Vec<Option<bool>> = (0..x.len() + y.len()).map(|i| Some(i < x.len())).collect();
        let all = [x, y].concat();
        let d = separate::difference(&all, &sides).unwrap();
        near(d.p, number(v, "p"), 1e-6);
        near(d.superiority, number(v, "superiority"), 1e-9);
        near(d.shift.estimate, number(v, "shift"), 1e-9);
    }
}
