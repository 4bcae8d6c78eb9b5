use super::*;

fn experiment(text: &str) -> Result<Experiment, String> {
    let file = File::parse(text, "e.toml").map_err(|e| e.to_string())?;
    Experiment::new(file, text, "e.toml", "/base".into()).map_err(|e| e.to_string())
}

const LADDER: &str = "design = \"ladder\"\n[workload]\ncommand = \"./prog --lock {lock} {note}\"\nenv = { T = \"{threads}\" }\n\
    [parameters]\nlock = [\"mutex\", \"atomic\"]\nthreads = \"1..8x2\"\nnote = \"it's\"\narenas = { env = \"ARENAS\", values = [1, 4] }\n\
    [[step]]\nname = \"threads\"\nset = { threads = 8 }\n[[step]]\nname = \"atomic\"\nset = { lock = \"atomic\", arenas = 4 }\nkeep = \"always\"\n";

#[test]
fn steps_of_a_ladder_add_up() {
    let made = experiment(LADDER).unwrap();
    let run = |variant, steps: &[usize]| made.invocation(variant, steps).unwrap();
    assert_eq!(run(0, &[]).command, ["sh", "-c", "./prog --lock mutex 'it'\\''s'"]);
    assert_eq!((&run(2, &[0, 1]).env["T"], &run(2, &[0, 1]).env["ARENAS"]), (&"8".to_owned(), &"4".to_owned()));
    assert_eq!((&run(2, &[1]).env["T"], run(0, &[]).dir), (&"1".to_owned(), "/base".into()));
    let plan = made.plan(5);
    assert_eq!(plan.design, Design::Ladder { steps: vec![Keep::IfBetter, Keep::Always], table: 10, searched: None });
    assert_eq!((plan.seed, plan.explained, plan.measures[0].name.as_str()), (5, 3, "wall"));
    assert_eq!(table_blocks(7), 11);
}

#[test]
fn what_does_not_fit_is_said() {
    let refused = |from: &str, to: &str| experiment(&LADDER.replace(from, to)).unwrap_err();
    assert!(
        refused("{ lock = \"atomic\"", "{ lock = \"atomik\"")
            .starts_with("e.toml:15: step \"atomic\": lock has no value atomik; did you mean")
    );
    assert!(refused("{ threads = 8", "{ thread = 8").contains("did you mean threads?"));
    assert_eq!(refused("{note}", "{not}"), "e.toml:3: there is no parameter not; did you mean {note}?");
    assert!(refused("{note}", "").contains("parameter note is used nowhere"));
    assert!(refused("name = \"atomic\"", "name = \"threads\"").contains("a name of its own"));
    assert!(refused("\"ladder\"", "\"ab\"").contains("steps are for"));
    assert!(experiment("[workload]\ncommand = \"true\"").unwrap_err().contains("nothing varies"));
    assert!(
        experiment("[workload]\ncommand = []\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"")
            .unwrap_err()
            .contains("empty")
    );
}

#[test]
fn a_confidence_is_a_level() {
    assert_eq!((wrong_of("95%"), wrong_of("94%"), wrong_of("100%"), wrong_of("0.99")), (Some(0.05), None, None, None));
    assert!(wrong_of("99%").is_some_and(|wrong| (wrong - 0.01).abs() < 1e-9));
}

#[test]
fn settings_are_parameters_without_a_hole() {
    let file = "[workload]\ncommand = [\"p\"]\n[parameters]\nthp = { setting = \"/sys/kernel/mm/thp\", values = [\"madvise\", \"always\"] }\n\
        swap = { setting = \"/proc/sys/vm/swappiness\", values = [60] }\n";
    let made = experiment(file).unwrap();
    let told: Vec<String> = made.settings().iter().map(|s| format!("{} {:?}", s.name, s.values)).collect();
    assert_eq!(told, ["swap [\"60\"]", "thp [\"always\", \"madvise\"]"]);
    assert_eq!(made.values(1, &[], &Set::new())["thp"], "always");
    let refused = experiment(&file.replace("/sys/kernel", "/sys/../etc")).unwrap_err();
    assert!(refused.starts_with("e.toml:4: parameter thp: ") && refused.contains("no setting"), "{refused}");
    assert!(experiment(&file.replace("values = [60]", "value = [60]")).is_err());
    let twice = experiment(&file.replace("/sys/kernel/mm/thp", "/proc/sys/vm/swappiness")).unwrap_err();
    assert!(twice.contains("are the same setting"), "{twice}");
}

#[test]
fn an_ab_is_of_commands_or_of_combinations() {
    let by_hand = "[workload]\ncommand = [\"new\"]\n[[variant]]\nname = \"old\"\ncommand = \"old -x\"\ndir = \"there\"\n[[variant]]\nname = \"new\"\n";
    let made = experiment(by_hand).unwrap();
    assert_eq!(made.invocation(0, &[]).unwrap().command, ["sh", "-c", "old -x"]);
    assert_eq!(made.invocation(0, &[]).unwrap().dir, PathBuf::from("/base/there"));
    assert_eq!(made.invocation(1, &[]).unwrap().command, ["new"]);
    let product = "[workload]\ncommand = [\"p\", \"{a}\", \"{b}\"]\n[parameters]\na = [1, 2]\nb = [\"x\", \"y\"]\n";
    let made = experiment(product).unwrap();
    assert_eq!(
        made.variants.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(),
        ["a=1 b=x", "a=1 b=y", "a=2 b=x", "a=2 b=y"]
    );
    let sweep = experiment(&format!("design = \"sweep\"\n{product}")).unwrap();
    assert_eq!((sweep.swept.len(), sweep.plan(1).blocks), (2, 10));
    // What is quick looks once, after four blocks, and says so.
    let blocks = |head: &str| experiment(&format!("{head}{product}")).unwrap().plan(1).blocks;
    assert_eq!((blocks(""), blocks("quick = true\n")), (30, 4));
    for of in [product, by_hand] {
        let both = experiment(&format!("quick = true\nbudget = {{ blocks = 12 }}\n{of}")).unwrap_err();
        assert!(both.contains("leave out one of the two"), "{both}");
    }
}

#[test]
fn a_search_has_a_rate_and_limits() {
    let file = "design = \"search\"\n[load]\nurl = \"http://h/\"\nrate = \"{rate}\"\nconnections = 4\nduration = \"1s\"\n\
        [[measure]]\nformat = \"load\"\nvalue = \"mean\"\nlimit = \"<= 1ms\"\n[parameters]\nrate = \"100..2000\"\n";
    let made = experiment(file).unwrap();
    let searched = made.searched.as_ref().unwrap();
    assert_eq!((searched.from, searched.to, made.variants.len()), (100.0, 2000.0, 1));
    // What it reaches, and that it answers at all, are asked beside.
    let names: Vec<&str> = made.measures.iter().map(|m| m.head.name.as_str()).collect();
    assert_eq!((names, searched.reached, searched.limits.len()), (vec!["mean", "rate", "error_share"], Some(1), 2));
    let refused = |from: &str, to: &str| experiment(&file.replace(from, to)).unwrap_err();
    // Not the rate of [load].
    assert!(refused("100..2000", "200..100").starts_with("e.toml:12: parameter rate: of a search"));
    assert!(refused("rate = \"100..2000\"\n", "").contains("needs the parameter rate"));
    assert!(refused("\"{rate}\"", "100").contains("rate is used nowhere"));
    assert!(refused("\"search\"", "\"search\"\nscore = \"rate\"").contains("score is for"));
}
