//! The cases at the end of a cause's file, and what its question answers to them. A case is the rows that the question finds, as small as
//! can be:
//!
//! ```sql
//! -- test claims: what is there
//! -- budget* state=lock lock='mutex 0x10' slow=5 against=1
//! -- budget state=user slow=1 against=1
//! -- total metric=process.minor_faults slow=100 against=2 slow_rate=5000 against_rate=100
//! -- says 'mutex 0x10'
//! -- test refuses: what is missing for it
//! -- …
//! ```
//!
//! A line is a table and what differs in a row of it from [`Case::usual`]. The cells that must be claimed, and no others, have a star;
//! `says` stands in the sentence of a finding, or of a note, where none is claimed, or in its advice; `silent` in none. Tables have the columns that they have in an
//! explanation, and no rows where the case has none.

use super::super::{Cause, FILES, Tables, ask, parse};
use crate::budget::{Budget, Cell, STATES, State};
use crate::cause::instructions::Instructions;
use query::Session;
use query::sql::{Row, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// A row: its columns by name.
type Columns = BTreeMap<String, Value>;

/// A case of a cause.
#[derive(Default)]
struct Case {
    title: String,
    claims: bool,
    rows: Vec<(String, Columns)>,
    /// Numbers of the cells that must be claimed.
    starred: BTreeSet<usize>,
    says: Vec<String>,
    silent: Vec<String>,
}

/// The words of a line: blanks part them, but within single quotes.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all.retain(|word| !word.is_empty());
    all
}

/// Columns whose numbers are whole: all others are seconds, numbers per unit, rates.
const WHOLE: [&str; 6] = ["above", "aside", "cpu", "cpus_allowed", "fresh", "is_pair"];

fn value(column: &str, text: &str) -> Value {
    match text.parse::<f64>() {
        _ if text == "null" => Value::Null,
        Ok(x) if WHOLE.contains(&column) => Value::Integer(x as i64),
        Ok(x) => Value::Real(x),
        Err(_) => Value::Text(text.into()),
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn number(columns: &Columns, name: &str) -> f64 {
    match columns.get(name) {
        Some(Value::Integer(n)) => *n as f64,
        Some(Value::Real(x)) => *x,
        _ => 0.0,
    }
}

/// The cases of a file.
fn cases(file: &str) -> Vec<Case> {
    let mut all: Vec<Case> = Vec::new();
    let start = file.find("\n-- test ").unwrap_or(file.len());
    for line in file[start..].lines().filter(|line| !line.is_empty()) {
        let line = line.strip_prefix("-- ").unwrap_or_else(|| panic!("no line of a case: {line}"));
        if let Some(head) = line.strip_prefix("test ") {
            let (kind, title) = head.split_once(": ").unwrap_or_else(|| panic!("no title: {line}"));
            assert!(matches!(kind, "claims" | "refuses"), "{line}");
            all.push(Case { title: title.into(), claims: kind == "claims", ..Case::default() });
            continue;
        }
        let case = all.last_mut().expect("a line before the first case");
        let words = words(line);
        let (table, is_starred) = match words[0].strip_suffix('*') {
            Some(table) => (table, true),
            None => (words[0].as_str(), false),
        };
        if table == "says" || table == "silent" {
            let of = if table == "says" { &mut case.says } else { &mut case.silent };
            of.extend(words[1..].iter().cloned());
            continue;
        }
        if is_starred {
            assert!(table == "budget" && case.claims, "{line}");
            case.starred.insert(case.rows.iter().filter(|(table, _)| table == "budget").count());
        }
        let pair = |word: &String| {
            let (name, text) = word.split_once('=').unwrap_or_else(|| panic!("no NAME=VALUE: {word:?} in {line}"));
            (name.to_owned(), value(name, text))
        };
        case.rows.push((table.to_owned(), words[1..].iter().map(pair).collect()));
    }
    all
}

/// The tables that questions ask, with their columns, as they are made for a recording of all sources.
fn schema() -> &'static BTreeMap<String, Vec<String>> {
    static SCHEMA: OnceLock<BTreeMap<String, Vec<String>>> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let tables: Vec<(&'static model::Table, String)> = sources::ALL
            .iter()
            .flat_map(|source| source.tables)
            .map(|table| (*table, table.stored().iter().fold("t".to_owned(), |all, c| all + " " + c.name)))
            .collect();
        let tables: Vec<(&'static model::Table, &str)> = tables.iter().map(|(t, text)| (*t, text.as_str())).collect();
        let mut session = Session::of(vec![query::testing::run("run", &tables)]).unwrap();
        let budget = Budget::of_times(Vec::new());
        let nothing = Tables {
            budget: &budget,
            runs: Vec::new(),
            cgroups: Vec::new(),
            measures: Vec::new(),
            totals: Vec::new(),
            facts: Vec::new(),
            instructions: Instructions::default(),
            sharing: crate::cause::sharing::Shared::default(),
            speeds: crate::cause::speed::Speeds::default(),
            counted: crate::cause::counted::Counted::default(),
        };
        assert_eq!(nothing.define(&mut session).unwrap(), Vec::<String>::new());
        let (_, names) = session
            .all("select distinct name from pragma_table_list where type in ('table', 'view', 'virtual')")
            .unwrap();
        let names = names.into_iter().filter_map(|row| match row.as_slice() {
            [Value::Text(name)] if !name.starts_with("sqlite_") => Some(name.clone()),
            _ => None,
        });
        names.map(|name| (name.clone(), session.all(&format!("select * from \"{name}\" limit 0")).unwrap().0)).collect()
    })
}

impl Case {
    /// What is so unless a case says otherwise: cells of the one thread of `app` that does the work, ten samples each, none new; a comparison, of a
    /// unit of work a side; two CPUs, none of them idle, and no other program. States, groups of threads and elapsed time follow from the cells.
    fn usual(&mut self) {
        let mut times: BTreeMap<String, [f64; 2]> = STATES.map(|state| (state.name().to_owned(), [0.0; 2])).into();
        let mut groups: BTreeMap<(String, String), [f64; 6]> = BTreeMap::new();
        for (_, cell) in self.rows.iter_mut().filter(|(table, _)| table == "budget") {
            let of = [number(cell, "slow"), number(cell, "against")];
            for (name, usual) in [
                ("comm", text("app")),
                ("thread", text("app")),
                ("path", text(";main;")),
                ("share", Value::Real(of[0] - of[1])),
                ("samples", Value::Integer(100)),
                ("aside", Value::Integer(0)),
                ("fresh", Value::Integer(0)),
                ("slow", Value::Real(0.0)),
                ("against", Value::Real(0.0)),
            ] {
                cell.entry(name.into()).or_insert(usual);
            }
            let name = |column: &str| match cell.get(column) {
                Some(Value::Text(name)) => name.clone(),
                _ => String::new(),
            };
            // A function of a case is the program's or the kernel's: whichever has roles.
            let roles = |function: &str| match lexicon::roles(function, &name("module"), &name("kind")) {
                roles if roles.is_empty() => lexicon::roles(function, "[kernel]", "kernel"),
                roles => roles,
            };
            let path = name("path");
            let all = path.split(';').filter(|function| !function.is_empty()).map(roles);
            let all = all.fold(lexicon::roles_of_thread(&name("thread")), |all, of| all.with(of));
            let own = roles(
                &Some(name("function"))
                    .filter(|f| !f.is_empty())
                    .unwrap_or_else(|| path.trim_end_matches(';').rsplit(';').next().unwrap_or_default().to_owned()),
            );
            let lock = Some(name("lock")).filter(|lock| !lock.is_empty() && !lock.starts_with("kernel "));
            let known = [
                ("roles", text(&all.with(own).to_string())),
                ("own_roles", text(&own.to_string())),
                ("lock_name", lock.map_or(Value::Null, Value::Text)),
            ];
            for (column, value) in known {
                cell.entry(column.into()).or_insert(value);
            }
            let name = |column: &str| match cell.get(column) {
                Some(Value::Text(name)) => name.clone(),
                _ => String::new(),
            };
            let state = name("state");
            assert!(State::parse(&state).is_some(), "{}: {state:?} is no state", self.title);
            let group = groups.entry((name("comm"), name("thread"))).or_default();
            let at = ["user", "runnable", "lock"].iter().position(|s| *s == state.replace("kernel", "user"));
            for (side, time) in of.into_iter().enumerate() {
                times.entry(state.clone()).or_default()[side] += time;
                if let Some(at) = at {
                    group[2 * at + side] += time;
                }
            }
        }
        let elapsed = [0, 1].map(|side| Value::Real(times.values().map(|of| of[side]).sum()));
        let mut usual = |table: &str, key: &str, row: Vec<(&str, Value)>| {
            let row: Columns = row.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let is_this =
                |(known, columns): &&mut (String, Columns)| known == table && columns.get(key) == row.get(key);
            match self.rows.iter_mut().find(is_this) {
                Some((_, known)) => row.into_iter().for_each(|(name, value)| {
                    known.entry(name).or_insert(value);
                }),
                None => self.rows.push((table.to_owned(), row)),
            }
        };
        for side in ["slow", "against"] {
            let one = Value::Real(1.0);
            usual(
                "side",
                "side",
                vec![
                    ("side", text(side)),
                    ("run", text(side)),
                    ("units", one.clone()),
                    ("seconds", one.clone()),
                    ("side_units", one.clone()),
                    ("side_seconds", one),
                ],
            );
        }
        let both = |of: f64| [Value::Real(of), Value::Real(of)];
        for (name, [slow, against]) in [
            ("elapsed", elapsed),
            ("cpus", both(2.0)),
            ("idle_cpus", both(0.0)),
            ("others", both(0.0)),
            ("threads", both(1.0)),
            ("running", both(2.0)),
            ("serial", both(0.0)),
        ] {
            usual("measure", "name", vec![("name", text(name)), ("slow", slow), ("against", against)]);
        }
        for (state, [slow, against]) in times {
            let share = Value::Real(slow - against);
            let [slow, against] = [slow, against].map(Value::Real);
            let threads = [("slow_threads", slow.clone()), ("against_threads", against.clone())];
            let row =
                [vec![("state", text(&state)), ("slow", slow), ("against", against), ("share", share)], threads.into()];
            usual("state", "state", row.concat());
        }
        for ((comm, thread), of) in groups {
            let names = ["slow_cpu", "against_cpu", "slow_runnable", "against_runnable", "slow_lock", "against_lock"];
            let times = names.into_iter().zip(of.map(Value::Real)).collect();
            usual("thread_group", "thread", [vec![("comm", text(&comm)), ("thread", text(&thread))], times].concat());
        }
        if !self.rows.iter().any(|(table, _)| table == "pair") {
            self.rows.push(("pair".into(), Columns::from([("is_pair".into(), Value::Integer(1))])));
        }
    }

    /// Asks the cause, and says what is not as it should be.
    fn check(mut self, cause: &Cause) -> Result<(), String> {
        self.usual();
        let mut session = Session::of(Vec::new()).unwrap();
        let mut cells = 0;
        for (table, columns) in schema() {
            let mut rows: Vec<Row> = Vec::new();
            for (_, row) in self.rows.iter_mut().filter(|(of, _)| of == table) {
                if table == "budget" {
                    row.insert("cell".into(), Value::Integer(cells));
                    cells += 1;
                }
                if let Some(unknown) = row.keys().find(|name| !columns.contains(name)) {
                    return Err(format!("table {table} has no column {unknown}; it has {}", columns.join(", ")));
                }
                rows.push(columns.iter().map(|name| row.get(name).cloned().unwrap_or(Value::Null)).collect());
            }
            session.define(table, &columns.iter().map(String::as_str).collect::<Vec<_>>(), rows).unwrap();
        }
        if let Some((table, _)) = self.rows.iter().find(|(table, _)| !schema().contains_key(table)) {
            return Err(format!("there is no table {table}"));
        }
        let cells = self.rows.iter().filter(|(table, _)| table == "budget").map(|(_, row)| {
            let state = match row.get("state") {
                Some(Value::Text(name)) => State::parse(name),
                _ => None,
            };
            (Cell { state, ..Cell::default() }, [number(row, "slow"), number(row, "against")])
        });
        let mut budget = Budget::of_times(cells.collect());
        budget.single = self.rows.iter().any(|(table, row)| table == "pair" && number(row, "is_pair") == 0.0);
        let found = ask(&mut session, cause, &budget).map_err(|error| error.to_string())?;
        let claimed: BTreeSet<usize> = found.iter().flat_map(|f| &f.claims).map(|claim| claim.cell).collect();
        if claimed != self.starred {
            return Err(format!("claimed are the cells {claimed:?}, and should be {:?}", self.starred));
        }
        if found.is_empty() == self.claims {
            return Err(format!("found is {:?}", found.iter().map(|f| f.says.as_str()).collect::<Vec<_>>()));
        }
        for f in found.iter().filter(|_| self.claims) {
            if f.says == format!("{}: {}", cause.title, f.subject) {
                return Err(format!("a column of the sentence is null: {}", cause.says));
            }
        }
        let said: Vec<&str> = found.iter().flat_map(|f| f.advice.iter().chain([&f.says])).map(String::as_str).collect();
        if let Some(words) = self.silent.iter().find(|words| said.iter().any(|said| said.contains(*words))) {
            return Err(format!("{words:?} is said in {said:?}"));
        }
        match self.says.iter().find(|words| !said.iter().any(|said| said.contains(*words))) {
            Some(words) => Err(format!("{words:?} is not said in {said:?}")),
            None => Ok(()),
        }
    }
}

#[test]
fn each_cause_claims_what_it_is_about_and_refuses_what_is_near() {
    let mut wrong = Vec::new();
    for (name, text) in FILES {
        let cause = parse(text).unwrap_or_else(|why| panic!("causes/{name}.sql: {why}"));
        let cases = cases(text);
        for claims in [true, false] {
            if !cases.iter().any(|case| case.claims == claims) {
                wrong.push(format!("{name}: no case {}", if claims { "claims" } else { "refuses" }));
            }
        }
        for case in cases {
            let title = case.title.clone();
            if let Err(why) = case.check(&cause) {
                wrong.push(format!("{name}, {title}: {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FILES.len(), wrong.join("\n"));
}

#[test]
fn a_case_that_does_not_hold_is_told() {
    let file = "-- cause mine: title\n-- layer: io\n-- says: {subject} took {slow}\n-- check: c\n-- try: t\n\
                -- claims:\nselect 'it' as subject, cell, 1.0 as part from budget b, total where state = 'disk' and metric = 'process.read_bytes'\n\
                -- test claims: a disk\n-- budget* state=disk slow=2\n-- budget state=user\n-- total metric=process.read_bytes\n-- says 'it took 2'\n";
    let check = |file: &str| {
        let cause = parse(file).unwrap();
        assert!(!cause.claims.contains("test"), "{}", cause.claims);
        cases(file).pop().unwrap().check(&cause)
    };
    check(file).unwrap();
    for (from, to, why) in [
        ("budget* state=disk", "budget state=disk", "claimed are the cells {0}"),
        ("budget state=user", "budget* state=user", "should be {0, 1}"),
        ("-- total metric=process.read_bytes\n", "", "claimed are the cells {}"),
        ("total metric", "total matric", "no column matric"),
        ("total metric=process.read_bytes", "totals metric=process.read_bytes", "no table totals"),
        ("took 2'", "took 3'", "is not said"),
    ] {
        let said = check(&file.replace(from, to)).unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}
