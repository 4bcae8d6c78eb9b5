//! SQL on hand-written recordings: a question, and the rows expected.

use super::*;
use crate::testing::{CPU, ENDED, MEMINFO, NET, PROCESS, VMSTAT, run};
use model::{Column, Coverage, Exit, Fact, Manifest, Mark, Status, Table, Unit, Work};
use proptest::prelude::*;

/// Rows as text: cells joined by blanks, `-` for null.
fn shown(session: &Session, sql: &str) -> Vec<String> {
    let cell = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::Integer(v) => v.to_string(),
        Value::Real(v) => format!("{}", (v * 1e9).round() / 1e9),
        Value::Text(v) => v.clone(),
        Value::Blob(v) => format!("{v:?}"),
    };
    let rows = session.all(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).1;
    rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(" ")).collect()
}

fn error(session: &Session, sql: &str) -> String {
    session.all(sql).expect_err(sql).to_string()
}

const CPU_TEXT: &str = "t cpu user idle mhz
    0   0 100 0   1000
    0   1 100 100 2000
    1   0 150 50  -
    1   1 100 100 2000
    1.5 0 20  60  1500
    1.5 1 100 100 2000";

fn session(name: &str, tables: &[(&'static Table, &str)]) -> Session {
    Session::of(vec![run(name, tables)]).unwrap()
}

#[test]
fn states_are_dense() {
    let s = session("a", &[(&CPU, CPU_TEXT)]);
    assert_eq!(
        shown(&s, "select * from cpu order by t, cpu"),
        [
            "a 0 0 100 0 1000",
            "a 0 1 100 100 2000",
            "a 1000000000 0 150 50 -",
            "a 1000000000 1 100 100 2000",
            "a 1500000000 0 20 60 1500",
            "a 1500000000 1 100 100 2000",
        ]
    );
    assert_eq!(shown(&s, "select count(*), sum(user) from cpu"), ["6 570"]);
    // A projection of what was not read does not lose the row.
    assert_eq!(shown(&s, "select mhz from cpu where cpu = 0 order by t"), ["1000", "-", "1500"]);
    assert_eq!(shown(&s, "select count(*) from cpu"), ["6"]);
}

#[test]
fn nothing_equals_null_and_labels_are_looked_for_together() {
    let text = "t name received speed\n0 a 5 1\n0 b 5 1\n1 a 6 1\n1 b 8 1";
    let s = session("a", &[(&NET, text), (&CPU, CPU_TEXT)]);
    for column in ["run", "name", "t"] {
        let sql = format!("with w(x) as (values (null)) select count(*) from w cross join net n on n.{column} = w.x");
        assert_eq!(shown(&s, &sql), ["0"], "{column}");
        assert_eq!(shown(&s, &format!("select count(*) from net where {column} < null")), ["0"], "{column}");
    }
    assert_eq!(shown(&s, "select count(*) from cpu where mhz is null"), ["1"]);
    assert_eq!(shown(&s, "select received from net where name = 'b' and name = 'b' and t > 0"), ["8"]);
    assert_eq!(shown(&s, "select received from net where name = 'b' and name = 'a'"), [""; 0]);
    assert_eq!(shown(&s, "select count(*) from net where name = 'c' and name = 'a'"), ["0"]);
}

#[test]
fn rates_follow_the_series() {
    let s = session("a", &[(&CPU, CPU_TEXT)]);
    // A counter that went down has no rate; the level is that at the end of the interval.
    assert_eq!(
        shown(&s, "select t_from, t, seconds, cpu, user, idle, mhz, busy, busy_share from cpu_rate order by t, cpu"),
        [
            "0 1000000000 1 0 0.5 0.5 - 0.5 0.5",
            "0 1000000000 1 1 0 0 2000 0 -",
            "1000000000 1500000000 0.5 0 - 0.2 1500 - -",
            "1000000000 1500000000 0.5 1 0 0 2000 0 -",
        ]
    );
}

#[test]
fn sums_of_totals_are_cautioned() {
    let s = session("a", &[(&CPU, CPU_TEXT), (&ENDED, "t pid command lived load\n1 7 x 5 1")]);
    let doc = |name: &str| s.schema().into_iter().find(|table| table.name == name).unwrap().to_string();
    assert!(
        doc("cpu").starts_with("cpu: cumulative: use cpu_rate for what happened between reads; CPU time"),
        "{}",
        doc("cpu")
    );
    assert!(doc("ended").starts_with("ended: a process that ended"), "{}", doc("ended"));
    for sql in [
        "select sum(user) from cpu",
        "SELECT cpu, SUM(c.idle) AS x FROM cpu AS c GROUP BY 1",
        "select avg( user ) from CPU",
    ] {
        let said = s.cautions(sql);
        assert!(said.len() == 1 && said[0].contains("use cpu_rate"), "{sql}: {said:?}");
    }
    for sql in [
        "select sum(user) from cpu_rate",
        "select sum(mhz) from cpu",
        "select sum(d) from (select max(user) - min(user) as d from cpu group by cpu)",
        "select sum(lived) from ended",
        "select max(user) from cpu -- sum(user)",
        "select 'sum(user)' from cpu",
        "select sum(user - lag(user) over ()) from cpu",
    ] {
        assert_eq!(s.cautions(sql), [""; 0], "{sql}");
    }
}

#[test]
fn entities_come_and_go() {
    let text = "t name received speed
        0 a 10 1
        0 b 10 1
        1 a 20 1
        2 a 20 1
        2 b 50 1
        3 a 30 1
        3 b 55 1";
    let s = session("a", &[(&NET, text)]);
    assert_eq!(shown(&s, "select t / 1000000000, received from net where name = 'b'"), ["0 10", "2 50", "3 55"]);
    assert_eq!(shown(&s, "select t / 1000000000, received from net_rate where name = 'b'"), ["3 5"]);
    assert_eq!(shown(&s, "select t / 1000000000, name from net_rate order by t, name"), ["1 a", "2 a", "3 a", "3 b"]);
}

#[test]
fn what_begins_at_zero_has_a_first_rate() {
    let text = "t pid comm user rss
        0 1 a 9000000000 100
        1 1 a 9500000000 100
        2 1 a 9500000000 100
        2 2 b 250000000 50
        4 2 b 500000000 60";
    let s = session("a", &[(&PROCESS, text)]);
    let rates = "select t / 1000000000, comm, user, rss from process_rate";
    assert_eq!(shown(&s, rates), ["1 a 0.5 100", "2 a 0 100", "2 b 0.25 50", "4 b 0.125 60"]);
    assert_eq!(shown(&s, &format!("{rates} where t = 2000000000")), ["2 a 0 100", "2 b 0.25 50"]);
    assert_eq!(shown(&s, &format!("{rates} where t > 2000000000")), ["4 b 0.125 60"]);
}

#[test]
fn long_tables_and_their_rates() {
    let text = "t field value
        0 pgfault 100
        0 pgmajfault 0
        0 new 1
        2 pgfault 300
        2 pgmajfault 50
        2 new 1";
    let levels = "t node field value
        0 0 total 10
        0 0 free 4
        1 0 total 10
        1 0 free 5";
    let s = session("a", &[(&VMSTAT, text), (&MEMINFO, levels)]);
    assert_eq!(shown(&s, "select field, value from vmstat where t > 0"), ["pgfault 300", "pgmajfault 50", "new 1"]);
    assert_eq!(
        shown(&s, "select field, value from vmstat_rate"),
        ["pgfault 100", "pgmajfault 25", "new 0", "major_share 0.25"]
    );
    assert_eq!(shown(&s, "select value from vmstat_rate where field = 'major_share'"), ["0.25"]);
    assert_eq!(shown(&s, "select distinct field from vmstat_rate where field > 'o'"), ["pgfault", "pgmajfault"]);
    assert_eq!(
        shown(&s, "select node, field, value from meminfo_rate"),
        ["0 total 10240", "0 free 5120", "0 used 5120"]
    );
}

#[test]
fn events_are_as_recorded() {
    let text = r#"t pid command lived load
        1 7 "a b" 5 0.5
        1 7 "a b" 6 -
        2 8 c     - 1.5"#;
    let s = session("a", &[(&ENDED, text)]);
    assert_eq!(
        shown(&s, "select t, pid, command, lived, load from ended"),
        ["1000000000 7 a b 5 0.5", "1000000000 7 a b 6 -", "2000000000 8 c - 1.5"]
    );
    assert_eq!(
        shown(&s, "select t_from, t from ended where pid = 8"),
        ["2000000000 2000000000"],
        "reads without an interval"
    );
    assert_eq!(shown(&s, "select pid from ended where t > 1000000000"), ["8"]);
    assert_eq!(shown(&s, "select count(*) from ended where command = 'a b' and lived = 6"), ["1"]);
    assert!(
        error(&s, "select * from ended_rate")
            .contains("no such table: ended_rate; the tables nearest to it are: ended")
    );
}

#[test]
fn runs_stand_side_by_side() {
    let other = "t cpu user idle mhz\n0 0 0 0 1\n2 0 100 0 1";
    let s = Session::of(vec![
        run("fast", &[(&CPU, CPU_TEXT)]),
        run("slow", &[(&CPU, other), (&NET, "t name received speed\n0 a 1 1")]),
    ])
    .unwrap();
    assert_eq!(s.runs(), ["fast", "slow"]);
    assert_eq!(shown(&s, "select run, count(*) from cpu group by run"), ["fast 6", "slow 2"]);
    assert_eq!(shown(&s, "select run, busy from cpu_rate where run = 'slow'"), ["slow 0.5"]);
    assert_eq!(shown(&s, "select run from net"), ["slow"]);
    assert_eq!(shown(&s, "select count(*) from cpu where run = 'none'"), ["0"]);
    let joined = "select f.cpu, f.user, s.user from cpu f join cpu s on s.cpu = f.cpu and s.run = 'slow' and s.t = f.t where f.run = 'fast'";
    assert_eq!(shown(&s, joined), ["0 100 0"]);
}

#[test]
fn the_catalogue_tells_of_the_recordings() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("quick one.twin");
    let manifest = Manifest {
        host: "db-1".into(),
        command: Some(vec!["./a".into(), "b c".into()]),
        exit: Some(Exit::Signal(9)),
        wall: Some(1_500_000_000),
        work: Some(Work {
            unit: "rows".into(),
            total: 10.0,
            progress: vec![(0.5, 4.0), (1.0, 10.0)],
            how: String::new(),
        }),
        labels: [("release".to_owned(), "1.4".to_owned())].into(),
        duration: Some(2_000_000_000),
        ..Manifest::default()
    };
    crate::testing::write_with(&path, &manifest, &[(&CPU, CPU_TEXT)], |writer| {
        let fact = Fact { category: "kernel".into(), name: "release".into(), value: "6.18".into() };
        writer.facts(&[fact]).unwrap();
        writer.mark(&Mark { t: 5, text: "it's; drop table run".into() }).unwrap();
        writer.source("cpu", "CPU time", 1_000_000_000, &[]);
        let missing = |item: &str| Coverage {
            source: "cpu".into(),
            item: item.into(),
            status: Status::Denied,
            why: "no".into(),
            remedy: None,
        };
        writer.coverage(&[missing("x")]).unwrap();
    });
    let s = Session::open(&[&path, &path]).unwrap();
    assert_eq!(s.runs(), ["quick one", "quick one#2"]);
    assert_eq!(
        shown(
            &s,
            "select run, host, duration, exit_code, exit_signal, wall, work_total, command ->> 1 from run limit 1"
        ),
        ["quick one db-1 2 - 9 1.5 10 b c"]
    );
    assert_eq!(shown(&s, "select * from run_label limit 1"), ["quick one release 1.4"]);
    assert_eq!(shown(&s, "select value from fact where name = 'release'"), ["6.18", "6.18"]);
    assert_eq!(shown(&s, "select t, text from mark limit 1"), ["5 it's; drop table run"]);
    assert_eq!(shown(&s, "select t, total from progress where run = 'quick one'"), ["500000000 4", "1000000000 10"]);
    assert_eq!(shown(&s, "select item, status, remedy from coverage limit 1"), ["x denied -"]);
    assert_eq!(shown(&s, "select name, interval from source limit 1"), ["cpu 1"]);
    assert_eq!(
        shown(&s, "select metric, kind, unit, polarity, compare from metric where name in ('idle', 'busy_share')"),
        ["cpu.idle counter s/s better ratio", "cpu.busy_share derived ratio neutral difference"]
    );
    assert!(s.damage().is_empty() && s.notes().is_empty());
}

#[test]
fn a_session_only_reads() {
    let s = session("a", &[(&CPU, CPU_TEXT)]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out.db");
    for sql in [
        format!("attach '{}' as x", file.display()),
        format!("vacuum into '{}'", file.display()),
        "create table x(a)".into(),
        "create temp table x(a)".into(),
        "create view x as select 1".into(),
        "insert into fact values (1, 2, 3, 4)".into(),
        "delete from cpu".into(),
        "update run set host = 'x'".into(),
        "drop table cpu".into(),
        "pragma query_only = off".into(),
        "pragma journal_mode = wal".into(),
        "select load_extension('x')".into(),
        "create virtual table x using recorded(0)".into(),
        "begin".into(),
    ] {
        let why = error(&s, &sql);
        assert!(
            why.contains("only reads") || why.contains("no question") || why.contains("no such function"),
            "{sql}: {why}"
        );
    }
    assert!(!file.exists());
    assert_eq!(shown(&s, "select count(*) from pragma_table_info('cpu')"), ["6"]);
    assert_eq!(
        shown(&s, "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select sum(i) from n"),
        ["6"]
    );
}

#[test]
fn mistakes_get_hints() {
    let s = session("a", &[(&CPU, CPU_TEXT)]);
    assert_eq!(
        error(&s, "select * from cpus"),
        "no such table: cpus; the tables nearest to it are: cpu; list them with .schema"
    );
    assert!(error(&s, "select busy_shares from cpu_rate").contains("busy_share (of cpu_rate)"));
    assert_eq!(
        error(&s, "select medain(1)"),
        "no such function: medain; the functions nearest to it are: mean, median"
    );
    assert!(
        error(&s, "select form cpu where where").contains("; at: where"),
        "{}",
        error(&s, "select form cpu where where")
    );
    assert_eq!(error(&s, "select 1; select 2"), "more than one statement");
    assert_eq!(error(&s, ""), "no question; a session answers select statements");
    assert!(error(&s, "select quantile(user, 99) from cpu").contains("a p between 0 and 1"));
    assert!(error(&s, "select quantile_of(1, 2, 3, 99)").contains("a p between 0 and 1"));
    assert!(error(&s, "select holding(1, 90)").contains("a share between 0 and 1"));
    assert!(error(&s, "select rarefied(1, 0)").contains("at least 1"));
    assert!(error(&s, "select median(run) from cpu").contains("takes numbers"));
}

#[test]
fn hostile_names_are_names() {
    static HOSTILE: Table = Table::wide(
        "x\"; select '",
        "line\nbreak",
        &[
            Column::label("RUN", "l"),
            Column::counter("a b'\"", Unit::None, "c"),
            Column::counter("select", Unit::None, "c"),
        ],
    );
    static RUN: Table = Table::wide("Run", "h", &[Column::counter("c", Unit::None, "c")]);
    let text = "t RUN \"a b'\\\"\" select\n0 \"'; drop table run; --\\n\" 1 2\n1 \"'; drop table run; --\\n\" 2 4";
    let s = Session::of(vec![run("r'\"", &[(&HOSTILE, text), (&RUN, "t c\n0 1")])]).unwrap();
    assert_eq!(
        shown(&s, "select run, RUN_, \"a b'\"\"\", \"select\" from \"x\"\"; select '\" where t = 0"),
        ["r'\" '; drop table run; --\n 1 2"]
    );
    assert_eq!(shown(&s, "select \"a b'\"\"\" from \"x\"\"; select '_rate\" where \"RUN_\" like '%drop%'"), ["1"]);
    assert_eq!(s.notes().len(), 1, "{:?}", s.notes());
    let shown = s.schema()[0].to_string();
    assert!(shown.contains("line\u{fffd}break"), "{shown}");
}

#[test]
fn functions_say_what_they_promise() {
    let s = session("a", &[(&CPU, CPU_TEXT)]);
    let one = |sql: &str| shown(&s, sql).remove(0);
    let values = "(select column1 as x from (values (1), (2), (null), (3), (10)))";
    assert_eq!(one(&format!("select median(x), quantile(x, 0), quantile(x, 1), mad(x) from {values}")), "2.5 1 10 1");
    let counted = "(select column1 as low, column2 as high, column3 as count from \
         (values (20, 40, 1), (0, 10, 2), (null, 9, 5), (20, 40, 1), (50, 60, 0)))";
    assert_eq!(one(&format!("select quantile_of(low, high, count, 0.75) from {counted}")), "30");
    assert_eq!(one(&format!("select quantile_of(low, high, count, 0.25) from {counted} where low < 0")), "-");
    let met = "(select column1 as n from (values (2), (1), (null), (0)))";
    assert_eq!(
        one(&format!(
            "select rarefied(n, 2), rarefied(n, 4), rarefied(n, null), at_least(n), holding(n, 0.6) from {met}"
        )),
        "1.666666667 - - 2 1"
    );
    assert_eq!(one("select rarefied(n, 1), at_least(n), holding(n, 1) from (select 1 as n where 0)"), "- - -");
    assert_eq!(one("select poisson_factor(603, 536), poisson_factor(4, 0), poisson_factor(null)"), "1.123389746 - -");
    assert_eq!(one(&format!("select stddev(x) from {values}")), "4.082482905");
    assert_eq!(one(&format!("select mean(x, 1), mean(x, x), mean(x, 0), mean(null, 1) from {values}")), "4 7.125 - -");
    // CPU 1 did nothing; CPU 0 was measured in the first interval only.
    assert_eq!(one("select mean(user, seconds) from cpu_rate where cpu = 0"), "0.5");
    assert_eq!(one("select median(1) from cpu where t < 0"), "-");
    assert_eq!(one("select stddev(1), bootstrap_low(1)"), "- -");
    assert_eq!(one("select human(3e6, 'B/s'), human(null, 'B'), human(2, null)"), "2.86 MiB/s - 2");
    assert_eq!(one("select overlap(0, 10, 5, 20), overlap(7, 7, 5, 20), overlap(1, 2, null, 4)"), "0.5 1 -");
    let series = "with recursive n(i) as (select 0 union all select i + 1 from n where i < 199) select i, (i * 7919) % 101 as x from n";
    assert_eq!(
        one(&format!(
            "select bootstrap_low(x order by i) < avg(x) and avg(x) < bootstrap_high(x order by i) from ({series})"
        )),
        "1"
    );
    for function in FUNCTIONS {
        let found =
            shown(&s, &format!("select count(*) > 0 from pragma_function_list where name = '{}'", function.name));
        assert_eq!(found, ["1"], "{}", function.name);
    }
}

#[test]
fn roles_are_those_of_the_lexicon() {
    let s = session("a", &[(&CPU, CPU_TEXT)]);
    let one = |sql: &str| shown(&s, sql).join(" ");
    assert_eq!(one("select roles('__lll_lock_wait', '/lib/libc.so.6', 'native')"), ";lock.wait;library;");
    assert_eq!(one("select roles('MutexMap::get', '/bin/app', 'native') = '', roles(null, null, null) = ''"), "1 1");
    assert_eq!(
        one(
            "select has_role(';lock.wait;library;', 'lock.wait'), has_role(';lock.wait;', 'lock.take'), has_role(null, 'log')"
        ),
        "1 0 0"
    );
    assert_eq!(
        one("select has_role(';lock.wait;', 'gc.work', 'lock.wait'), has_role(';lock.waiter;', 'lock.wait')"),
        "1 0"
    );
    let wrong = |sql: &str| s.all(sql).unwrap_err().to_string();
    assert!(
        wrong("select has_role(';lock.wait;', 'lock.await')").contains("no role 'lock.await'; there are lock.take")
    );
    assert!(wrong("select has_role(';lock.wait;')").contains("at least one role"));
    assert!(wrong("select has_role(1, 'log')").contains("texts"));
    assert_eq!(
        one("select nearness('work', '/bin/app', 'native'), nearness('runtime.schedule', '/bin/app', 'native')"),
        "0 1"
    );
    assert_eq!(
        one("select nearness('pthread_mutex_lock', '', 'native'), nearness('schedule', '[kernel]', 'kernel')"),
        "- -"
    );
    assert_eq!(
        one("select function_name('work', '/bin/app'), function_name(null, '/bin/app'), function_name('', null)"),
        "work [app] [unknown]"
    );
}

#[test]
fn the_schema_documents_every_column() {
    let s = session(
        "a",
        &[(&CPU, CPU_TEXT), (&VMSTAT, "t field value\n0 a 1"), (&ENDED, "t pid command lived load\n0 1 a 1 1")],
    );
    for table in s.schema() {
        let (columns, _) = s.all(&format!("select * from \"{}\" limit 0", table.name)).unwrap();
        assert_eq!(columns, table.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>(), "{}", table.name);
        assert!(!table.help.is_empty() && table.columns.iter().all(|c| !c.help.is_empty()), "{table}");
    }
}

#[test]
fn a_statement_without_end_is_stopped() {
    let mut s = session("a", &[(&CPU, CPU_TEXT)]);
    s.limit_time(std::time::Duration::from_millis(100));
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select";
    for what in [
        format!("{endless} count(*) from n"),
        format!("{endless} i from n where i < 0"),
        format!("{endless} i from n order by 1"),
    ] {
        assert!(error(&s, &what).starts_with("the statement was stopped after 0.1 s: ask for less"));
    }
    // Rows that come are taken for as long as somebody wants them, and the next statement has its own time.
    let sql = format!("{endless} i from n");
    let mut query = s.query(&sql).unwrap();
    assert_eq!(query.rows().unwrap().take(1000).filter(Result::is_ok).count(), 1000);
    assert!(error(&s, "select printf('%.*c', 1000000000, 'x')").contains("too big"));
    assert_eq!(s.all("select 1").unwrap().1.len(), 1);
}

/// Several generations, entities that come and go, resets, and values that were not read.
fn eventful() -> String {
    let mut text = String::from("t cpu user idle mhz\n");
    for t in 0..200i64 {
        for cpu in (0..4).filter(|cpu| (t / 17 + cpu) % 3 != 0) {
            let user = if t > 120 { t } else { t * 3 / (cpu + 1) };
            let mhz = if (t + cpu) % 5 == 0 { "-".into() } else { (t / 9 * 100).to_string() };
            text.push_str(&format!("{t} {cpu} {user} 7 {mhz}\n"));
        }
        if t % 23 == 0 {
            text.push_str("seal\n");
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A condition that is pushed down finds the same rows as one that is not: `+` before a column keeps it from being pushed.
    #[test]
    fn push_down_changes_nothing(seed in 0u64..1000) {
        let text = eventful();
        static ZERO: Table = Table { name: "zero", from_zero: true, ..CPU };
        let s = Session::of(vec![run("a", &[(&CPU, &text), (&ZERO, &text)]), run("b", &[(&CPU, CPU_TEXT), (&ZERO, CPU_TEXT)])]).unwrap();
        let mut rng = crate::stats::rng::Rng::new(seed);
        for _ in 0..12 {
            let second = |rng: &mut crate::stats::rng::Rng| rng.below(210) as i64 * 1_000_000_000 - 5;
            let columns = ["run", "t", "cpu", "user", "idle", "mhz"];
            let used: Vec<&str> = columns.into_iter().filter(|_| rng.below(2) == 0).collect();
            let used = if used.is_empty() { "count(*)".to_owned() } else { used.join(", ") };
            let table = ["cpu", "cpu_rate", "zero", "zero_rate"][rng.below(4)];
            let (from, to) = (second(&mut rng), second(&mut rng));
            let conditions = [
                format!("@t >= {from}"),
                format!("@t < {to}.5"),
                format!("@t = {}", second(&mut rng) + 5),
                format!("@cpu = {}", rng.below(5)),
                "@cpu = '1'".into(),
                "@cpu = 1.0".into(),
                "@run = 'b'".into(),
                "@run = 'A' collate nocase".into(),
                "@run in ('a', 'c')".into(),
                "@user = 3".into(),
                "@t > 'x'".into(),
            ];
            let some: Vec<&String> = conditions.iter().filter(|_| rng.below(4) == 0).collect();
            let condition = some.iter().map(|c| c.as_str()).chain(["1"]).collect::<Vec<_>>().join(" and ");
            let pushed = format!("select {used} from {table} where {}", condition.replace('@', ""));
            // Affinity belongs to a bare column: cast keeps it without letting the condition be pushed down.
            let plain = condition.replace("@cpu = '1'", "+cpu = 1").replace('@', "+");
            let all = format!("select {used} from {table} where {plain}");
            // Without an order by, any order is right.
            let sorted = |sql: &str| {
                let mut rows = shown(&s, sql);
                rows.sort();
                rows
            };
            prop_assert_eq!(sorted(&pushed), sorted(&all), "{} | {}", pushed, all);
        }
    }
}

/// SQLite asks nobody while one of its functions searches a text.
#[test]
fn no_single_value_takes_long() {
    let s = session("a", &[]);
    for long in [
        "select instr(hex(zeroblob(5000000)), hex(zeroblob(2000000)) || '1')",
        "select 'a' like printf('%.*c', 2000, '%')",
        "select printf('%.*c', 2000000, 'x')",
    ] {
        let why = error(&s, long);
        assert!(why.contains("too big") || why.contains("too complex"), "{why}");
    }
}
