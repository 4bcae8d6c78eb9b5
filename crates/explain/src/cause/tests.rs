//! Every cause that comes with the program can be read, and asks for nothing that its answer does not have.

use super::*;

mod cases;

#[test]
fn files_are_sound() {
    for (name, text) in FILES {
        let cause = parse(text).unwrap_or_else(|why| panic!("causes/{name}.sql: {why}"));
        assert_eq!(&cause.id, name, "a file is called as its cause");
        assert!(!cause.title.ends_with('.') && cause.query().lines().count() <= 130, "{name}");
        assert!(!cause.see.is_empty() || cause.id == "set-up", "{name}: what is it based on?");
    }
    assert_eq!(built_in().len(), FILES.len());
}

#[test]
fn faults_of_a_file_are_named() {
    let good = "-- cause mine: title\n-- layer: io\n-- yields: gc\n-- says: {subject}\n-- check: look\n-- try: that\n\
                -- experiment: env A: 1 2\n-- claims:\nselect 1";
    assert!(parse(good).is_ok());
    for (bad, why) in [
        (good.replace("-- cause mine: title", "select"), "does not begin"),
        (good.replace("mine", "My Own"), "no identifier"),
        (good.replace("layer: io", "layer: disks"), "no layer"),
        (good.replace("layer: io", "layer: io\n-- against: true"), "neither yes nor no"),
        (good.replace("-- yields", "-- page: cpu discs\n-- yields"), "no page of the report"),
        (good.replace("yields: gc", "yields: GC"), "no identifier of a cause"),
        (good.replace("-- check: look\n", ""), "check is missing"),
        (good.replace("-- try: that", "-- hint: that"), "not known"),
        (good.replace("env A: 1 2", "env A"), "expected KIND NAME: VALUES"),
        (good.replace("env A: 1 2", "set A: 1 2"), "no kind"),
        (good.replace("env A: 1 2", "env A: 1"), "two values"),
        (good.replace("env A: 1 2", "setting cpu.max: 1 2"), "no setting"),
        (good.replace("select 1", "delete from x"), "claims: expected a select"),
        (good.replace("-- claims:\n", ""), "not followed by"),
        (good.replace("-- claims:\nselect 1", "-- when:\nselect 1"), "claims is missing"),
        (good.replace("-- layer: io", "--   on\n-- layer: io"), "goes on with nothing"),
    ] {
        let said = parse(&bad).expect_err(&bad);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn lines_of_a_header_may_go_on() {
    let text = "-- cause mine: title\n-- layer: io\n-- says: {subject} is\n--   here:\n--    there\n-- check: look\n\
                -- try: that\n-- try: this,\n--   or this\n-- when:\n-- Why.\nselect 1 as score;\n-- claims:\nselect 1\n-- tells:\nselect 2\n";
    let cause = parse(text).unwrap();
    assert_eq!(cause.says, "{subject} is here: there");
    assert_eq!(cause.questions().collect::<Vec<_>>(), ["-- Why.\nselect 1 as score", "select 1", "select 2"]);
    assert_eq!(cause.advice, ["that", "this, or this"]);
}

/// A cause with these questions.
fn mine(questions: &str) -> Cause {
    let head =
        "-- cause mine: title\n-- layer: io\n-- says: {subject} took {slow:s} of {whole}\n-- check: c\n-- try: t\n";
    parse(&format!("{head}{questions}")).unwrap()
}

#[test]
fn a_score_is_a_part_of_all_claims_and_words_come_from_given_and_tells() {
    let cell = |state| crate::budget::Cell { state: Some(state), ..Default::default() };
    let states = [crate::budget::State::Lock, crate::budget::State::Disk];
    let budget = crate::budget::Budget::of_times(states.map(|state| (cell(state), [4.0, 1.0])).to_vec());
    let mut session = query::Session::of(Vec::new()).unwrap();
    let mut ask = |questions: &str| ask(&mut session, &mine(questions), &budget);
    let found = ask(
        "-- when:\nselect 0.5 as score, 'much' as whole\n-- claims:\nselect 'a' as subject, 0 as cell, 1.0 as part \
         union all select 'a', 1, 0.5 union all select 'b', 1, 2.0 from given\n\
         -- tells:\nselect 'b' as subject, 'little ' || count(*) as whole from claimed",
    )
    .unwrap();
    assert_eq!(
        found.iter().map(|f| f.says.as_str()).collect::<Vec<_>>(),
        ["a took 3 s of much", "b took 2 s of little 3"]
    );
    assert_eq!(found[0].claims.iter().map(|c| (c.cell, c.part)).collect::<Vec<_>>(), [(0, 0.5), (1, 0.25)]);
    assert_eq!(found[1].claims[0].part, 0.5);
    // It is not met, or nothing is known of it.
    let claims = "\n-- claims:\nselect 'a' as subject, 0 as cell, 1.0 as part";
    for when in ["select 0 as score", "select null as score", "select 1 as score where 0"] {
        assert!(ask(&format!("-- when:\n{when}{claims}")).unwrap().is_empty(), "{when}");
    }
    for (questions, why) in [
        (&*format!("-- when:\nselect 1 as x{claims}"), "no column score"),
        (&*format!("-- when:\nselect 1 as score union all select 0.5{claims}"), "2 rows"),
        ("-- claims:\nselect 1 as cell", "no columns subject"),
        (&*format!("{}\n-- tells:\nselect x from nowhere", claims.trim()), "tells: no such table"),
    ] {
        let said = ask(questions).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_folder_adds_and_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let text = |id: &str| {
        format!("-- cause {id}: title\n-- layer: io\n-- says: s\n-- check: c\n-- try: t\n-- claims:\nselect 1")
    };
    std::fs::write(dir.path().join("gc.sql"), text("gc")).unwrap();
    std::fs::write(dir.path().join("mine.sql"), text("mine")).unwrap();
    let mut causes = built_in();
    let before = causes.len();
    add(&mut causes, dir.path()).unwrap();
    assert_eq!(causes.len(), before + 1);
    assert!(causes.iter().any(|c| c.id == "gc" && c.title == "title"));
    std::fs::write(dir.path().join("other.sql"), text("another")).unwrap();
    let why = add(&mut causes, dir.path()).unwrap_err();
    assert!(why.to_string().contains("other.sql") && why.why.contains("another.sql"), "{why}");
    assert!(add(&mut causes, &dir.path().join("nowhere")).is_err());
    // A question of one's own that fails is named by its file.
    let mine = causes.iter().find(|c| c.id == "mine").unwrap();
    let budget = crate::budget::Budget::of_times(Vec::new());
    let why = ask(&mut query::Session::of(Vec::new()).unwrap(), mine, &budget).unwrap_err().to_string();
    assert!(why.contains("mine.sql") && why.contains("no columns subject"), "{why}");
}

/// The recorded table that a name in a question stands for; `None` for what `Tables` defines and for the question's own.
fn recorded(name: &str) -> Option<&str> {
    const DERIVED: [(&str, &str); 2] = [("syscall_use", "syscall"), ("lock_use", "lock")];
    let derived = DERIVED.iter().find(|(table, _)| *table == name).map(|(_, from)| *from);
    derived.or(name.strip_prefix("w_"))
}

/// All questions of a file, without their comments.
fn all_of(name: &str, text: &str) -> String {
    let cause = parse(text).unwrap_or_else(|why| panic!("causes/{name}.sql: {why}"));
    let lines = cause.questions().flat_map(str::lines).filter(|line| !line.trim_start().starts_with("--"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The words of a question.
fn words_of(sql: &str) -> Vec<&str> {
    sql.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect()
}

#[test]
fn no_question_cuts_rows_to_the_window_by_itself() {
    // Of what changes with time only the tables that are cut are asked: `w_NAME`. What is read once, or has no time, is asked as it is.
    const TIMELESS: [&str; 4] = ["process_info", "fact", "frame", "stack"];
    let recorded: Vec<&str> = sources::ALL.iter().flat_map(|source| source.tables).map(|table| table.name).collect();
    for (name, text) in FILES {
        let sql = all_of(name, text);
        for word in words_of(&sql) {
            assert!(
                !matches!(word, "t_from" | "t_to" | "1000000000"),
                "causes/{name}.sql cuts rows to the window: {word}"
            );
        }
        for pair in words_of(&sql).windows(2).filter(|pair| matches!(pair[0], "from" | "join")) {
            let table = pair[1].strip_suffix("_rate").unwrap_or(pair[1]);
            // A question may call a table of its own as a recorded one is called.
            let is_own = sql.contains(&format!("{} as ", pair[1]));
            assert!(
                !recorded.contains(&table) || TIMELESS.contains(&table) || is_own,
                "causes/{name}.sql asks {}: there is w_{table}",
                pair[1]
            );
            let cut = pair[1].strip_prefix("w_");
            assert!(cut.is_none_or(|cut| recorded.contains(&cut)), "causes/{name}.sql: no source makes {}", pair[1]);
        }
    }
}

#[test]
fn what_is_asked_is_needed() {
    for (name, text) in FILES {
        let cause = parse(text).unwrap_or_else(|why| panic!("causes/{name}.sql: {why}"));
        let sql = all_of(name, text);
        let words = words_of(&sql);
        for pair in words.windows(2).filter(|pair| matches!(pair[0], "from" | "join")) {
            let is_optional = |table: &str| super::cut::EVENTS.iter().any(|(optional, _)| *optional == table);
            if let Some(table) = recorded(pair[1]).filter(|table| !is_optional(table)) {
                assert!(
                    cause.needs.iter().any(|n| n == table),
                    "causes/{name}.sql asks {}, and needs no {table}",
                    pair[1]
                );
            }
        }
        let templates = std::iter::once(&cause.says).chain(&cause.evidence).chain(&cause.advice);
        for column in templates.flat_map(|t| words::names(t)) {
            assert!(
                ["subject", "slow", "against"].contains(&column) || words.contains(&column),
                "causes/{name}.sql: no column {column}"
            );
        }
    }
}

#[test]
fn a_unit_of_work_is_called_by_its_name() {
    let text = "-- cause mine: title\n-- layer: io\n-- says: {n} calls per unit of work\n\
                -- evidence: waited per unit of work: {n:s}\n-- check: c\n-- try: t\n\
                -- when:\nselect 1 as score, 3 as n\n-- claims:\nselect 'it' as subject, 0 as cell, 1.0 as part";
    let cell = crate::budget::Cell { state: Some(crate::budget::State::Lock), ..Default::default() };
    let mut budget = crate::budget::Budget::of_times(vec![(cell, [2.0, 1.0])]);
    let mut session = query::Session::of(Vec::new()).unwrap();
    for (unit, per) in [
        (compare::Unit::Operation(String::new()), "per operation"),
        (compare::Unit::Operation("requests".into()), "per request"),
        (compare::Unit::Second, "per second"),
    ] {
        budget.unit = unit;
        let found = ask(&mut session, &parse(text).unwrap(), &budget).unwrap();
        assert_eq!(
            (found[0].says.as_str(), found[0].evidence[0].as_str()),
            (&*format!("3 calls {per}"), &*format!("waited {per}: 3 s"))
        );
    }
}

#[test]
fn names_are_matched_as_they_are_written() {
    // `like` takes `a` for `A` and `_` for any character: '%_IO_%' is in `validation`, and '%park%' in all of Apache Spark.
    for (name, text) in FILES {
        let sql = all_of(name, text).to_lowercase();
        let words = sql.split(|c: char| !c.is_alphanumeric() && c != '_');
        assert_eq!(words.filter(|w| *w == "like").count(), 0, "causes/{name}.sql: glob instead of like");
    }
}

#[test]
fn who_yields_to_whom_has_no_circles() {
    let causes = built_in();
    Order::of(&causes).unwrap();
    let last: Vec<&str> = causes.iter().filter(|cause| cause.last).map(|cause| cause.id.as_str()).collect();
    assert!(last.contains(&"slower-function") && last.iter().all(|id| *id != "lock-contention"), "{last:?}");
}
