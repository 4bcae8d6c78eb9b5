//! The recorded tables as they are in the windows: `w_NAME` for each table of rates and of events. What reaches over an end of its run's window counts
//! by the part of it that lies inside, and each row says by what it becomes one of a unit of work or of a second, so that no question does that by
//! itself.

use query::Session;
use query::sql::{ColumnDoc, TableDoc, TableKind};

/// Tables of code, with the columns that are asked for: locks and waits can be known without any stack.
const CODE: [(&str, &[&str]); 2] =
    [("stack", &["run", "number", "parent", "frame"]), ("frame", &["run", "number", "function", "module", "kind"])];

/// Events that causes ask for besides what else tells them, and do without in recordings that lack them.
pub(super) const EVENTS: [(&str, &[&str]); 1] = [(
    "jvm_pause",
    &[
        "run",
        "side",
        "t_from",
        "t",
        "seconds",
        "per_unit",
        "per_second",
        "pid",
        "comm",
        "kind",
        "operation",
        "cause",
        "at",
        "time",
        "to_stop",
        "used_before",
        "used_after",
        "together",
        "exact",
    ],
)];

/// The columns that tell of the stretch of a row, which its cut has instead.
const STRETCH: [&str; 4] = ["run", "t_from", "t", "seconds"];

/// A name as SQL writes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The recorded table as it is in the windows: the name of the view, and its question. A row of rates or of events that reaches over an end of its
/// run's window counts by the part of it that lies inside.
fn cut(table: &TableDoc) -> Option<(String, String)> {
    let has = |name: &str| table.columns.iter().any(|c: &ColumnDoc| c.name == name);
    let name = match table.kind {
        TableKind::Rate => table.name.strip_suffix("_rate")?,
        // What events have no stretch are entries that others refer to.
        TableKind::Recorded if has("t_from") => table.name.as_str(),
        _ => return None,
    };
    // A row that tells its own time is of that moment.
    let (from, to) = if has("at") { ("r.at", "r.at") } else { ("r.t_from", "r.t") };
    let part = format!("overlap({from}, {to}, s.t_from, s.t_to)");
    let is_rate = table.kind == TableKind::Rate;
    let inside = if is_rate { format!("r.seconds * {part}") } else { part.clone() };
    let seconds = if is_rate { inside.clone() } else { format!("(r.t - r.t_from) / 1e9 * {part}") };
    let own = table.columns.iter().filter(|c| !STRETCH.contains(&c.name.as_str()));
    let own: String = own.map(|c| format!(", r.{}", quoted(&c.name))).collect();
    let sql = format!(
        "select r.run as run, s.side as side, max(r.t_from, s.t_from) as t_from, min(r.t, s.t_to) as t, \
         {seconds} as seconds, {inside} / s.side_units as per_unit, {inside} / s.side_seconds as per_second{own} \
         from side s cross join {} r where r.run = s.run and r.t >= s.t_from and r.t_from <= s.t_to and {part} > 0",
        quoted(&table.name)
    );
    Some((format!("w_{name}"), sql))
}

/// Defines the recorded tables cut to the windows of table `side`, and those of code, without rows, where none was recorded.
///
/// # Errors
/// Where SQLite takes no view.
pub(super) fn define(session: &mut Session) -> Result<(), query::Error> {
    let schema = session.schema();
    for (table, columns) in CODE {
        if !schema.iter().any(|t| t.name == table) {
            session.define(table, columns, [])?;
        }
    }
    for (table, columns) in EVENTS {
        if !schema.iter().any(|t| t.name == table) {
            session.define(&format!("w_{table}"), columns, [])?;
        }
    }
    for (name, sql) in schema.iter().filter_map(cut) {
        session.define_view(&name, &sql)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::sql::Value;
    use query::testing::{CPU, WAIT};

    /// A session over one recording of a wait of half a second in each second, whose window lies from 1.5 s to 3.25 s.
    fn session() -> Session {
        let mut waits = String::from("t pid comm thread state what stack waker waker_stack count time longest\n");
        let mut cpus = String::from("t cpu user idle mhz\n0 0 0 0 1000\n");
        for t in 1..=5 {
            waits += &format!("{t} 1 app app lock futex - - - 8 500000000 1\n");
            cpus += &format!("{t} 0 {} 0 1000\n", 50 * t);
        }
        let manifest = model::Manifest { interval: 1_000_000_000, ..model::Manifest::default() };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.twin");
        query::testing::write(&path, &manifest, &[(&WAIT, &waits), (&CPU, &cpus)]);
        let recording = store::Recording::open(&path).unwrap();
        let mut session = Session::of(vec![query::Run { name: "run".into(), recording, stretch: None }]).unwrap();
        let text = |text: &str| Value::Text(text.into());
        let window = [1_500_000_000, 3_250_000_000].map(Value::Integer);
        let [from, to] = window;
        let side = vec![text("run"), text("slow"), Value::Real(7.0), Value::Real(1.75), from, to];
        let side = [side, vec![Value::Real(7.0), Value::Real(1.75)]].concat();
        let columns = ["run", "side", "units", "seconds", "t_from", "t_to", "side_units", "side_seconds"];
        session.define("side", &columns, [side]).unwrap();
        session
    }

    fn numbers(session: &Session, sql: &str) -> Vec<f64> {
        let (_, rows) = session.all(sql).unwrap();
        let number = |value: &Value| match value {
            Value::Integer(n) => *n as f64,
            Value::Real(x) => *x,
            _ => f64::NAN,
        };
        rows.iter().flatten().map(number).collect()
    }

    #[test]
    fn rows_that_straddle_the_window_count_by_the_part_inside() {
        let mut session = session();
        define(&mut session).unwrap();
        // Half of the second row, all of the third, a quarter of the fourth.
        let of = numbers(
            &session,
            "select count(*), sum(count * per_unit), sum(time * per_second) / 1e9, sum(seconds) from w_wait",
        );
        let near = |of: &[f64], as_is: &[f64]| of.iter().zip(as_is).all(|(a, b)| (a - b).abs() < 1e-9 * b);
        assert!(near(&of, &[3.0, 8.0 * 1.75 / 7.0, 0.5, 1.75]), "{of:?}");
        let of = numbers(
            &session,
            "select count(*), sum(user * per_unit), sum(user * per_second), sum(seconds), min(t_from), max(t) from w_cpu",
        );
        assert!(near(&of, &[3.0, 0.5 * 1.75 / 7.0, 0.5, 1.75, 1.5e9, 3.25e9]), "{of:?}");
    }
}
