use super::*;
use proptest::prelude::*;
use std::collections::HashSet;

fn value(formula: &str) -> Option<f64> {
    let of = |name: &str| match name {
        "a" => Some(6.0),
        "b" => Some(4.0),
        "zero" => Some(0.0),
        _ => None,
    };
    Formula::parse(formula).unwrap().value(&of)
}

#[test]
fn formulas_compute() {
    for (formula, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("100 / 5 / 2", 10.0),
        ("1000 * a / b", 1500.0),
        ("a - b * 0.5", 4.0),
        ("min(a, b, 5)", 4.0),
        ("max(a - b, 0)", 2.0),
        ("if(a > b, a, none)", 6.0),
        ("if(zero, none, b)", 4.0),
        ("a < b", 0.0),
        ("(a == a) + 1", 2.0),
    ] {
        assert_eq!(value(formula), Some(expected), "{formula}");
    }
}

#[test]
fn what_is_missing_makes_nothing() {
    for formula in
        ["none", "a + none", "min(a, none)", "if(none, a, b)", "a / zero", "a / (b - 4)", "1 / 0", "zero * (a / zero)"]
    {
        assert_eq!(value(formula), None, "{formula}");
    }
}

#[test]
fn mistakes_are_told() {
    for (formula, why) in [
        ("", "ends too early"),
        ("1 +", "ends too early"),
        ("(1", "not closed"),
        ("max(1", "not closed"),
        ("log(1)", "no function log"),
        ("if(1, 2)", "three parts"),
        ("1 2", "not understood"),
        ("1..2", "no number"),
        ("a % b", "not understood"),
    ] {
        let told = Formula::parse(formula).unwrap_err();
        assert!(told.contains(why), "{formula}: {told}");
    }
    assert!(Formula::parse(&"(".repeat(10_000)).is_err());
    assert!(Formula::parse(&"1+".repeat(10_000)).is_err());
}

#[test]
fn ratios_are_found() {
    let ratio = |text: &str| Formula::parse(text).unwrap().ratio();
    let sum = |pairs: &[(&str, f64)]| pairs.iter().map(|&(name, weight)| (name.to_owned(), weight)).collect::<Sum>();
    assert_eq!(ratio("1000 * a / b"), Some((sum(&[("a", 1000.0)]), sum(&[("b", 1.0)]))));
    assert_eq!(ratio("(a + 2 * b - a / 2) / (6 * c)"), Some((sum(&[("a", 0.5), ("b", 2.0)]), sum(&[("c", 6.0)]))));
    assert_eq!(ratio("(a / b) * 100"), Some((sum(&[("a", 100.0)]), sum(&[("b", 1.0)]))));
    for no in ["a", "a * b / c", "max(a, b) / c", "(a + 1) / c", "a / b / c"] {
        assert_eq!(ratio(no), None, "{no}");
    }
}

/// The build has read the files; what it cannot know is held here.
#[test]
fn the_files_hold_together() {
    assert_eq!(groups().len(), FILES.len());
    let names: Vec<&str> = groups().iter().map(|g| g.name.as_str()).collect();
    assert_eq!(names, ["branch", "core", "data", "fetch", "memory", "sharing", "smt", "tlb", "topdown"]);
    let known: HashSet<&str> = [
        "neoverse-n1",
        "neoverse-n2",
        "neoverse-v1",
        "neoverse-v2",
        "neoverse-v3",
        "skylake-sp",
        "cascade-lake",
        "ice-lake-sp",
        "sapphire-rapids",
        "emerald-rapids",
        "granite-rapids",
        "zen2",
        "zen3",
        "zen4",
        "zen5",
        "generic",
    ]
    .into();
    for group in groups() {
        assert_eq!(FILES.iter().filter(|(name, _)| *name == group.name).count(), 1);
        assert!(group.see.contains("Apache-2.0"), "{} names its sources", group.name);
        let mut cpus: Vec<&str> = group.sections.iter().flat_map(|s| s.cpus.iter().map(String::as_str)).collect();
        assert!(cpus.iter().all(|cpu| known.contains(cpu)), "{}: {cpus:?}", group.name);
        let all = cpus.len();
        cpus.sort_unstable();
        cpus.dedup();
        assert_eq!(cpus.len(), all, "{}: a CPU has two lists of events", group.name);
        for (column, _) in &group.columns {
            let is_filled = |s: &Section| {
                s.events.iter().any(|e| e.name == *column) || s.computed.iter().any(|(name, _)| name == column)
            };
            assert!(group.sections.iter().any(is_filled), "{}: no CPU fills {column}", group.name);
        }
        for metric in &group.metrics {
            let place = format!("{} {}", group.name, metric.name);
            assert!(metric.floor > 0.0, "{place}: no floor");
            assert!(!metric.unit.is_empty(), "{place}: no unit");
            let sentences = metric.help.matches(['.', '?', '!']).count() - metric.help.matches("0.").count();
            assert!((1..=2).contains(&sentences), "{place}: {:?}", metric.help);
            assert!(metric.formula.ratio().is_some(), "{place}");
            let is_there = |s: &Section| {
                metric.formula.names().iter().all(|name| {
                    s.events.iter().any(|e| e.name == *name) || s.computed.iter().any(|(column, _)| column == name)
                })
            };
            assert!(group.sections.iter().any(is_there), "{place}: no CPU has it");
        }
    }
}

#[test]
fn what_makers_count_in_their_own_way_is_marked() {
    assert!(is_of_one_cpu("frontend_bound") && is_of_one_cpu("l1i_mpki") && is_of_one_cpu("code_sparsity_pki"));
    assert!(!is_of_one_cpu("ipc") && !is_of_one_cpu("branch_mpki") && !is_of_one_cpu("none"));
}

/// Codes that stand in the manuals as well: Arm's by the architecture (PMUv3), Intel's architectural events, AMD's PMCs.
#[test]
fn well_known_codes() {
    let code = |group: &str, cpu: &str, name: &str| {
        let group = groups().iter().find(|g| g.name == group).unwrap();
        let event = group.section(cpu).unwrap().events.iter().find(|e| e.name == name).unwrap();
        match &event.encoding {
            Encoding::Terms(terms) => {
                terms.iter().map(|(field, value)| format!("{field}={value:#x}")).collect::<Vec<_>>().join(",")
            }
            other => format!("{other:?}"),
        }
    };
    assert_eq!(code("core", "neoverse-v1", "cycles"), "event=0x11");
    assert_eq!(code("branch", "neoverse-n1", "branch_misses"), "event=0x22");
    assert_eq!(code("branch", "sapphire-rapids", "branches"), "event=0xc4,umask=0x0");
    assert_eq!(code("data", "granite-rapids", "llc_misses"), "event=0x2e,umask=0x41");
    assert_eq!(code("branch", "zen4", "branch_misses"), "event=0xc3");
    assert_eq!(code("topdown", "zen5", "fetch_cycles"), "event=0x1a0,umask=0x1,cmask=0x8");
    assert_eq!(code("tlb", "zen2", "dtlb_walks"), "event=0x45,umask=0xf0");
    assert_eq!(code("topdown", "skylake-sp", "cycles_any"), "event=0x3c,umask=0x0,any=0x1");
}

/// Zen 4 with the counts of one second, by hand: 6 slots a cycle.
#[test]
fn the_levels_of_top_down_add_up() {
    let group = groups().iter().find(|g| g.name == "topdown").unwrap();
    let section = group.section("zen4").unwrap();
    let mut known: Vec<(String, f64)> = [
        ("cycles", 1000.0),
        ("slots_frontend", 1200.0),
        ("fetch_cycles", 100.0),
        ("slots_backend", 1800.0),
        ("dispatched", 3000.0),
        ("slots_retired", 2700.0),
        ("no_retire_load", 30.0),
        ("no_retire", 60.0),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    for (name, formula) in &section.computed {
        let found = formula.value(&|name| known.iter().find(|(n, _)| n == name).map(|(_, v)| *v)).unwrap();
        known.push((name.clone(), found));
    }
    let metric = |name: &str| {
        let metric = group.metrics.iter().find(|m| m.name == name).unwrap();
        metric.formula.value(&|name| known.iter().find(|(n, _)| n == name).map(|(_, v)| *v)).unwrap()
    };
    assert_eq!(metric("frontend_bound"), 0.2);
    assert_eq!(metric("backend_bound"), 0.3);
    assert_eq!(metric("retiring"), 0.45);
    assert_eq!(metric("bad_speculation"), 0.05);
    assert_eq!(metric("fetch_latency"), 0.1);
    assert_eq!(metric("memory_bound"), 0.15);
}

#[test]
fn cpus_are_told_apart() {
    let of = |vendor: &str, family, model, stepping| {
        microarchitecture(&Identity { vendor: vendor.to_owned(), family, model, stepping })
    };
    assert_eq!(of("GenuineIntel", 6, 0x55, 4), "skylake-sp");
    assert_eq!(of("GenuineIntel", 6, 0x55, 7), "cascade-lake");
    assert_eq!(of("GenuineIntel", 6, 0x8f, 8), "sapphire-rapids");
    assert_eq!(of("AuthenticAMD", 0x17, 0x31, 0), "zen2");
    assert_eq!(of("AuthenticAMD", 0x17, 1, 0), "generic");
    assert_eq!(of("AuthenticAMD", 0x19, 1, 1), "zen3");
    assert_eq!(of("AuthenticAMD", 0x19, 0x11, 1), "zen4");
    assert_eq!(of("AuthenticAMD", 0x1a, 2, 1), "zen5");
    assert_eq!(of("", 0x41, 0xd0c, 0), "neoverse-n1");
    assert_eq!(of("", 0x41, 0xd4f, 0), "neoverse-v2");
    assert_eq!(of("", 0, 0x51, 0), "generic");
    let x86 = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n";
    let expected = Identity { vendor: "AuthenticAMD".to_owned(), family: 25, model: 17, stepping: 1 };
    assert_eq!(identities(x86), [(0, expected)]);
    let arm = "processor\t: 3\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n";
    let expected = Identity { family: 0x41, model: 0xd0c, ..Identity::default() };
    assert_eq!(identities(arm), [(3, expected)]);
}

#[test]
fn mistakes_in_files_are_told_with_their_line() {
    let head = "# group: mine\n# title: mine\n# says: x\ncolumn a: x\n";
    let events = "events generic\n  cycles 0x11\n  instructions 0x8\n";
    for (text, why) in [
        ("metric", "expected column, events or metric"),
        ("events generic\n  a hw=none", ":6: the kernel has no event none"),
        ("events generic\n  a 0xzz", ":6: \"0xzz\" is no number"),
        ("events generic\n  A 0x1", ":6: \"A\" is no name"),
        ("events generic\n  a 0x1 always", "is neither counts nor leader"),
        ("events generic\n  a 0x1\n  a 0x2", ":7: a is there twice"),
        ("events generic\n  cycles 0x11", "instructions is not counted for generic"),
        ("events generic\n  cycles 0x11\n  instructions 0x8\n  a = b + 1", "b is neither counted nor computed before"),
        ("metric m = a / b\n  unit: ratio\n  direction: up", ":7: direction"),
        ("metric m = a / b\n  unit: ratio", "m: no direction"),
        ("metric m = a / b\n  unit: ratio\n  direction: worse\n  floor: 1\n  help: x.", "b is no column"),
    ] {
        let told = read("mine.txt", &format!("{head}{text}")).unwrap_err();
        assert!(told.starts_with("mine.txt") && told.contains(why), "{told}");
    }
    assert!(read("x", "").unwrap_err().contains("no line # group:"));
    let group = read(
        "x",
        &format!("{head}{events}  a event=0x100,umask=0x2,inv,kernel counts leader only: Some Maker # told\n"),
    )
    .unwrap();
    let event = &group.sections[0].events[2];
    assert_eq!((event.kernel, event.counts, event.leader, event.only.as_str()), (true, true, true, "Some Maker"));
    let terms = vec![("event".to_owned(), 0x100), ("umask".to_owned(), 2), ("inv".to_owned(), 1)];
    assert_eq!(event.encoding, Encoding::Terms(terms));
}

proptest! {
    #[test]
    fn nothing_panics_on_what_files_hold(text in "[ a-z0-9_=+*/(),.:#\n-]{0,200}") {
        let _ = read("x", &text);
        if let Ok(formula) = Formula::parse(&text) {
            let _ = formula.value(&|_| Some(1.0));
            // With all its parentheses a long one is too deep.
            prop_assert!(Formula::parse(&formula.to_string()).map_or(true, |again| again == formula));
        }
    }
}
