//! Every cause that comes with the program can be read, and asks for nothing that its answer does not have.

use super::*;

mod cases;

#[test]
fn files_are_sound() {
    for (name, text) in FILES {
        let cause = parse(text).unwrap_or_else(|why| panic!("causes/{name}.sql: {why}"));
        assert_eq!(&cause.id, name, "a file is called as its cause");
        assert!(!cause.title.ends_with('.') && cause.sql.lines().count() <= 130, "{name}");
        assert!(!cause.see.is_empty() || cause.id == "set-up", "{name}: what is it based on?");
    }
    assert_eq!(built_in().len(), FILES.len());
}

#[test]
fn faults_of_a_file_are_named() {
    let good = "-- cause mine: title\n-- layer: io\n-- specific: 3\n-- says: {subject}\n-- check: look\n-- try: that\nselect 1";
    assert!(parse(good).is_ok());
    for (bad, why) in [
        (good.replace("-- cause mine: title", "select"), "does not begin"),
        (good.replace("mine", "My Own"), "no identifier"),
        (good.replace("layer: io", "layer: disks"), "no layer"),
        (good.replace("-- specific", "-- page: cpu discs\n-- specific"), "no page of the report"),
        (good.replace("specific: 3", "specific: 30"), "1 to 9"),
        (good.replace("-- check: look\n", ""), "check is missing"),
        (good.replace("-- try: that", "-- hint: that"), "not known"),
        (good.replace("select 1", "delete from x"), "not followed by a select"),
        (good.replace("-- layer: io", "--   on\n-- layer: io"), "goes on with nothing"),
    ] {
        let said = parse(&bad).expect_err(&bad);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn lines_of_a_header_may_go_on() {
    let text = "-- cause mine: title\n-- layer: io\n-- specific: 3\n-- says: {subject} is\n--   here:\n--    there\n-- check: look\n\
                -- try: that\n-- try: this,\n--   or this\nselect 1";
    let cause = parse(text).unwrap();
    assert_eq!((cause.says.as_str(), cause.sql.as_str()), ("{subject} is here: there", "select 1"));
    assert_eq!(cause.advice, ["that", "this, or this"]);
}

#[test]
fn a_folder_adds_and_replaces() {
    let dir = tempfile::tempdir().unwrap();
    let text = |id: &str| {
        format!("-- cause {id}: title\n-- layer: io\n-- specific: 3\n-- says: s\n-- check: c\n-- try: t\nselect 1")
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
    let why = ask(&query::Session::of(Vec::new()).unwrap(), mine, &budget).unwrap_err().to_string();
    assert!(why.contains("mine.sql") && why.contains("no columns subject"), "{why}");
}

/// The recorded table that a name in a question stands for; `None` for what `Tables` defines and for the question's own.
fn recorded(name: &str) -> Option<&str> {
    const DERIVED: [(&str, &str); 3] = [("syscall_use", "syscall"), ("wait_use", "wait"), ("lock_use", "lock")];
    let derived = DERIVED.iter().find(|(table, _)| *table == name).map(|(_, from)| *from);
    derived.or(name.strip_prefix("w_"))
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
        let sql = parse(text).unwrap_or_else(|why| panic!("causes/{name}.sql: {why}")).sql;
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
        let words = words_of(&cause.sql);
        for pair in words.windows(2).filter(|pair| matches!(pair[0], "from" | "join")) {
            if let Some(table) = recorded(pair[1]) {
                assert!(
                    cause.needs.iter().any(|n| n == table),
                    "causes/{name}.sql asks {}, and needs no {table}",
                    pair[1]
                );
            }
        }
        let templates = std::iter::once(&cause.says).chain(&cause.evidence);
        for column in templates.flat_map(|t| words::names(t)) {
            assert!(
                words.contains(&column) || cause.sql.contains(&format!("\"{column}\"")),
                "causes/{name}.sql: no column {column}"
            );
        }
    }
}

#[test]
fn a_unit_of_work_is_called_by_its_name() {
    let text = "-- cause mine: title\n-- layer: io\n-- specific: 3\n-- says: {n} calls per unit of work\n\
                -- evidence: waited per unit of work: {n:s}\n-- check: c\n-- try: t\n\
                select 'it' as subject, 0 as cell, 1.0 as part, 3 as n";
    let cell = crate::budget::Cell { state: Some(crate::budget::State::Lock), ..Default::default() };
    let mut budget = crate::budget::Budget::of_times(vec![(cell, [2.0, 1.0])]);
    let session = query::Session::of(Vec::new()).unwrap();
    for (unit, per) in [
        (crate::budget::Unit::Operation(String::new()), "per operation"),
        (crate::budget::Unit::Operation("requests".into()), "per request"),
        (crate::budget::Unit::Second, "per second"),
    ] {
        budget.unit = unit;
        let found = ask(&session, &parse(text).unwrap(), &budget).unwrap();
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
        let sql = parse(text).unwrap_or_else(|why| panic!("causes/{name}.sql: {why}")).sql.to_lowercase();
        let words = sql.split(|c: char| !c.is_alphanumeric() && c != '_');
        assert_eq!(words.filter(|w| *w == "like").count(), 0, "causes/{name}.sql: glob instead of like");
    }
}
