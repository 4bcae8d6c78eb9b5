//! Two recordings with figures of their machines: what `explain` makes of them, where they differ and where they do not.

use explain::machine::{Class, Machine, Machines};
use explain::{Explain, Explanation, explain};
use model::{Figure, Manifest, Work, whose};
use query::open;
use query::testing::{CPU, THREADS, write};
use std::path::{Path, PathBuf};

/// A program of one thread that computes for nine tenths of its `seconds`, and waits for a lock else; on a CPU of this frequency.
fn record(dir: &Path, name: &str, seconds: i64, hertz: Option<f64>) -> PathBuf {
    let mut cpu = String::from("t cpu user idle mhz\n");
    let mut threads = String::from(
        "t pid tid comm thread user kernel stolen runnable throttled lock disk network pipe fault sleep idle other\n",
    );
    for t in 0..=seconds {
        let lived = t * 1_000_000_000;
        cpu += &format!("{t} 0 {} {} 1000\n", 90 * t, 10 * t);
        threads += &format!("{t} 7 7 app app {} 0 0 0 0 {} 0 0 0 0 0 0 0\n", lived / 10 * 9, lived / 10);
    }
    let mut machine = String::from("t figure title unit better disturbed value low high rounds\n");
    if let Some(hertz) = hertz {
        let row = |id: &str, title: &str, unit: &str, better: &str, value: f64| {
            format!("0 {id} {title:?} {unit} {better} - {value} {} {} 20\n", value * 0.98, value * 1.02)
        };
        machine += &row("frequency", "frequency, one CPU busy", "Hz", "more", hertz);
        machine += &row("fsync", "a safe write", "s", "less", 1e-3);
        // What no machine has is left out.
        machine += "0 call \"a system call\" s less - -1.0 -2.0 0.0 20\n";
    }
    let manifest = Manifest {
        name: name.into(),
        cpus: 4,
        interval: 1_000_000_000,
        command: Some(vec!["/bin/app".into()]),
        pid: Some(7),
        scope: whose::COMMAND.into(),
        command_start: Some(0),
        wall: Some(seconds * 1_000_000_000),
        work: Some(Work { unit: "requests".into(), total: 1000.0, progress: Vec::new(), how: String::new() }),
        ..Manifest::default()
    };
    let path = dir.join(format!("{name}.twin"));
    let figures = sources::by_name("machine").expect("the source").tables[0];
    write(&path, &manifest, &[(&THREADS, &threads), (&CPU, &cpu), (figures, &machine)]);
    path
}

fn explained(paths: &[PathBuf], machines: Vec<Machine>) -> Explanation {
    let runs = open(paths).expect("recordings");
    explain(runs, 1, &Explain { causes: Vec::new(), machines, ..Explain::default() }).expect("an explanation")
}

fn pair(explanation: &Explanation) -> &Machines {
    explanation.machines.pair.as_ref().expect("two machines")
}

#[test]
fn a_slower_machine_explains_a_slower_program() {
    let dir = tempfile::tempdir().expect("a folder");
    let paths = [record(dir.path(), "b", 30, Some(2e9)), record(dir.path(), "a", 20, Some(3e9))];
    let explanation = explained(&paths, Vec::new());
    let found = pair(&explanation);
    assert_eq!(found.figures.iter().map(|of| of.slow.id.as_str()).collect::<Vec<_>>(), ["frequency", "fsync"]);
    // Nine tenths of the time take 1.5 times as long.
    let ratio = found.forecast.ratio;
    assert!((ratio.value - 1.45).abs() < 1e-6 && ratio.low < 1.45 && ratio.high > 1.45, "{ratio:?}");
    let part = found.part.expect("a part of the difference");
    assert!((part.iter().sum::<f64>() - 0.9).abs() < 0.01, "{part:?}");
    assert!(found.says[0].starts_with("frequency, one CPU busy: 1.50× as long on b as on a ("), "{:?}", found.says);
    assert!(found.says[0].ends_with("90 % of this program's time is computing (sampled)"), "{:?}", found.says);
    assert!(found.says[1].contains("b would take 1.45× as long as a") && found.says[1].contains("it takes 1.50×"));
}

#[test]
fn one_machine_twice_says_nothing_and_none_neither() {
    let dir = tempfile::tempdir().expect("a folder");
    let paths = [record(dir.path(), "b", 30, Some(3.03e9)), record(dir.path(), "a", 20, Some(3e9))];
    let explanation = explained(&paths, Vec::new());
    assert_eq!((&pair(&explanation).says[..], pair(&explanation).forecast.ratio.value), (&[][..], 1.0));
    let paths = [record(dir.path(), "d", 30, None), record(dir.path(), "c", 20, Some(3e9))];
    assert_eq!(explained(&paths, Vec::new()).machines, explain::machine::MachinesOf::default());
}

#[test]
fn other_machines_are_ranked_for_one_program() {
    let dir = tempfile::tempdir().expect("a folder");
    let own = record(dir.path(), "a", 20, Some(3e9));
    let machine = |name: &str, hertz: f64| {
        let [id, title, unit] = ["frequency", "frequency, one CPU busy", "Hz"].map(str::to_owned);
        let figure = Figure { id, title, unit, more: true, value: hertz, low: hertz, high: hertz, rounds: 9 };
        Machine { name: name.into(), figures: vec![figure] }
    };
    let machines = vec![machine("slower", 1.5e9), machine("faster", 6e9), machine("alike", 3e9)];
    let explanation = explained(std::slice::from_ref(&own), machines.clone());
    let found = &explanation.machines.forecasts;
    let order: Vec<(&str, f64)> =
        found.iter().map(|f| (f.machine.as_str(), (f.ratio.value * 100.0).round() / 100.0)).collect();
    assert_eq!(order, [("faster", 0.55), ("alike", 1.0), ("slower", 1.9)]);
    assert!(found.iter().all(|f| f.parts[0].class == Class::Compute && (f.known - 0.9).abs() < 0.01), "{found:?}");
    let without = record(dir.path(), "none", 20, None);
    let explanation = explained(&[without], machines);
    assert!(explanation.machines.lacking.is_some_and(|why| why.contains("--doctor")));
    assert!(explanation.machines.forecasts.is_empty());
}
