use super::*;

fn figure(id: &str, title: &str, value: f64) -> Figure {
    let is_rate = id.starts_with("frequency");
    Figure {
        id: id.into(),
        title: title.into(),
        unit: if is_rate { "Hz" } else { "s" }.into(),
        more: is_rate,
        value,
        low: value * 0.96,
        high: value * 1.04,
        rounds: 20,
    }
}

fn machine(dram: f64, fsync: f64) -> Vec<Figure> {
    vec![
        figure("frequency", "frequency", 3e9),
        figure("memory.dram", "a load from DRAM", dram),
        figure("fsync", "a write", fsync),
    ]
}

fn program() -> Times {
    Times::of_parts(&[(Class::Memory, 7.0), (Class::Compute, 2.0), (Class::Sync, 0.5), (Class::Waits, 0.5)])
}

#[test]
fn a_forecast_weighs_figures_by_the_programs_time() {
    let found = forecast("b", &program(), &machine(100e-9, 1e-3), &machine(160e-9, 2e-3));
    // 0.7 × 1.6 + 0.2 + 0.05 × 2 + 0.05.
    assert!((found.ratio.value - 1.47).abs() < 1e-9, "{found:?}");
    assert!(found.ratio.low < 1.47 && found.ratio.low > 1.3 && found.ratio.high > 1.47, "{found:?}");
    assert!((found.known - 0.95).abs() < 1e-9);
    assert_eq!(found.parts.iter().map(|p| p.class).take(2).collect::<Vec<_>>(), [Class::Memory, Class::Compute]);
    assert!(found.says("operation").starts_with("b: 1.47× as long per operation ("), "{}", found.says("operation"));
    // The same machine: nothing differs, and the interval is none.
    let same = forecast("a", &program(), &machine(100e-9, 1e-3), &machine(101e-9, 1e-3));
    assert_eq!((same.ratio.value, same.ratio.low, same.ratio.high), (1.0, 1.0, 1.0));
    assert!(same.parts.iter().all(|part| part.ratio.is_none()));
    // Nothing is known of a machine without figures.
    let nothing = forecast("c", &program(), &machine(100e-9, 1e-3), &[]);
    assert_eq!((nothing.ratio.value, nothing.known), (1.0, 0.0));
    assert_eq!(forecast("c", &Times::default(), &[], &[]).ratio.value, 1.0);
}

#[test]
fn a_difference_is_the_machines_or_that_of_its_set_up() {
    let facts = |all: &[&str]| all.iter().map(|fact| (*fact).to_owned()).collect::<Vec<_>>();
    assert_eq!(origin("memory.dram", &facts(&["cpu.model"])), Origin::Machine);
    assert_eq!(origin("memory.dram", &facts(&["cpu.governor"])), Origin::Unknown);
    let governor = facts(&["cpu.governor"]);
    assert_eq!(origin("frequency", &governor), Origin::SetUp(governor.clone()));
    assert_eq!(origin("frequency", &facts(&["cpu.governor", "cpu.model"])), Origin::Either(governor));
    let (slow, fast) = (machine(160e-9, 2e-3), machine(100e-9, 1e-3));
    let compared = |origins: [Option<Origin>; 3]| {
        let both = slow.iter().zip(&fast).zip(origins);
        both.map(|((slow, baseline), origin)| Compared {
            slow: slow.clone(),
            baseline: baseline.clone(),
            cost: slow.cost_over(baseline),
            origin,
        })
        .collect::<Vec<_>>()
    };
    let found = forecast("b", &program(), &fast, &slow);
    let figures = compared([None, Some(Origin::Machine), Some(Origin::SetUp(vec!["mount./.options".into()]))]);
    // 0.42 of memory and 0.05 of fsync, of a difference of 0.5.
    let part = divided(&found, &figures, 1.5).unwrap();
    assert!((part[0] - 0.84).abs() < 1e-9 && (part[1] - 0.1).abs() < 1e-9 && part[2] == 0.0, "{part:?}");
    let said = told(part, &figures);
    assert_eq!(said, ": of the difference, 84 % is the machine, 10 % how it is set up (mount./.options)");
    // Of a smaller one it is all, and no more.
    let all: f64 = divided(&found, &figures, 1.2).unwrap().iter().sum();
    assert!((all - 1.0).abs() < 1e-9);
    assert_eq!(divided(&found, &figures, 1.0), None);
    assert_eq!(divided(&found, &figures, f64::NAN), None);
}

#[test]
fn time_that_another_class_has_is_taken_from_its_own() {
    let mut times = program();
    times.moved(Class::Compute, Class::Memory, 0.5);
    assert_eq!((times.of_class(Class::Compute), times.of_class(Class::Memory), times.all()), (1.5, 7.5, 10.0));
    times.moved(Class::Waits, Class::Wakes, 1e9);
    assert_eq!((times.of_class(Class::Waits), times.of_class(Class::Wakes)), (0.0, 0.5));
    times.moved(Class::Compute, Class::Memory, f64::NAN);
    assert_eq!(times.all(), 10.0);
}
