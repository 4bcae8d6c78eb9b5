//! The locks that threads of the compared runs waited for, run by run: which to strike at, and whether the other run has it too.

use crate::Comparison;
use crate::own_code;
use query::sql::{Row, Value};
use query::{Run, Session};
use std::collections::{HashMap, HashSet};

/// A lock that threads of at least one of the runs had to wait for.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// The variable, `monitor of CLASS`, or `taken in FUNCTION`: what is the same in every run. Its address, or `without a name`, where nothing else is known.
    pub name: String,
    /// Kind of lock: `pthread mutex`, `monitor`, `rwsem` …
    pub kind: String,
    /// Name of the process whose threads waited.
    pub process: String,
    /// The waits of each run within its window; `None` where there were none.
    pub of: Vec<Option<Waited>>,
}

/// How a run waited for a lock.
#[derive(Clone, Debug, PartialEq)]
pub struct Waited {
    /// Seconds waited in each second of the window, all threads added up.
    pub time: f64,
    /// Waits that ended, per second of the window.
    pub count: f64,
    /// The longest wait, from its beginning; seconds.
    pub longest: f64,
    /// The most threads that waited at once; `None` for locks of the kernel.
    pub waiters: Option<u32>,
    /// The thread that held it for most of that time, where that is known.
    pub holder: Option<String>,
}

impl Lock {
    /// Seconds waited in each second, in the run that waited most.
    pub fn most(&self) -> f64 {
        self.of.iter().flatten().map(|w| w.time).fold(0.0, f64::max)
    }
}

/// Tables of code, with the columns asked for: locks can be known without any stack.
const CODE: [(&str, &[&str]); 2] =
    [("stack", &["run", "number", "parent", "frame"]), ("frame", &["run", "number", "function", "module", "kind"])];

/// By run and lock, and by holder. A lock without a name is called by the code that waits for it: addresses differ from run to run.
const BY_HOLDER: &str = concat!(
    "with recursive part as materialized (
         select c.place as place, l.run as run, l.comm as comm, l.kind as kind, l.name as name, l.address as address, l.stack as stack, l.holder as holder,
                sum(l.time * overlap(l.t_from, l.t, c.t_from, c.t_to)) / 1e9 / c.seconds as time,
                sum(l.count * overlap(l.t_from, l.t, c.t_from, c.t_to)) / c.seconds as count, max(l.longest) / 1e9 as longest, max(l.waiters) as waiters
         from lock l join compared c on c.run = l.run where overlap(l.t_from, l.t, c.t_from, c.t_to) > 0 group by 1, 2, 3, 4, 5, 6, 7, 8
     ),
     asked as (select distinct run, stack from part where name is null and stack is not null), ",
    own_code!(),
    " select p.place, coalesce(p.name, 'taken in ' || o.function, p.address, 'without a name') as lock, p.kind, p.comm, p.holder,
            sum(p.time) as time, sum(p.count), max(p.longest), max(p.waiters)
     from part p left join own o on o.run = p.run and o.stack = p.stack
     group by 1, 2, 3, 4, 5 order by time desc"
);

impl Comparison {
    /// Finds the locks that the threads of these runs waited for, which are those compared, in their order: most time in any run first. Where none of them
    /// recorded any, there are none. Returns what could not be read of the recordings: the run, and what was wrong.
    ///
    /// # Errors
    /// Where the tables cannot be asked.
    pub fn find_locks(&mut self, runs: Vec<Run>) -> Result<Vec<(String, store::Damage)>, query::Error> {
        if !runs.iter().any(|run| run.recording.tables().any(|(_, table)| table.name == "lock")) {
            return Ok(Vec::new());
        }
        let compared: Vec<Row> = runs
            .iter()
            .zip(&self.windows)
            .enumerate()
            .map(|(place, (run, w))| {
                let seconds = (w.to - w.from) as f64 / 1e9;
                vec![
                    Value::Integer(place as i64),
                    Value::Text(run.name.clone()),
                    Value::Integer(w.from),
                    Value::Integer(w.to),
                    Value::Real(seconds.max(1e-9)),
                ]
            })
            .collect();
        let count = runs.len();
        let mut session = Session::of(runs)?;
        session.define("compared", &["place", "run", "t_from", "t_to", "seconds"], compared)?;
        let known: HashSet<String> = session.schema().into_iter().map(|table| table.name).collect();
        for (table, columns) in CODE {
            if !known.contains(table) {
                session.define(table, columns, [])?;
            }
        }
        let (_, rows) = session.all(BY_HOLDER)?;
        let mut places = HashMap::new();
        for row in rows {
            self.add(&row, count, &mut places);
        }
        self.locks.sort_by(|a, b| b.most().total_cmp(&a.most()));
        Ok(session.damage())
    }

    /// Adds a row of [`BY_HOLDER`]; the first of a lock and run has the holder of most of its time.
    fn add(&mut self, row: &[Value], runs: usize, places: &mut HashMap<[String; 3], usize>) {
        let [place, name, kind, process, holder, time, count, longest, waiters] = row else { return };
        let text = |value: &Value| if let Value::Text(text) = value { text.clone() } else { String::new() };
        let number = |value: &Value| match value {
            Value::Integer(n) => *n as f64,
            Value::Real(x) => *x,
            _ => 0.0,
        };
        let of = [name, kind, process].map(text);
        let at = *places.entry(of.clone()).or_insert_with(|| {
            let [name, kind, process] = of;
            self.locks.push(Lock { name, kind, process, of: vec![None; runs] });
            self.locks.len() - 1
        });
        let Some(slot) = self.locks.get_mut(at).and_then(|l| l.of.get_mut(number(place) as usize)) else { return };
        let waited = slot.get_or_insert(Waited { time: 0.0, count: 0.0, longest: 0.0, waiters: None, holder: None });
        waited.time += number(time);
        waited.count += number(count);
        waited.longest = waited.longest.max(number(longest));
        waited.waiters = waited.waiters.max((*waiters != Value::Null).then_some(number(waiters) as u32));
        if waited.holder.is_none() {
            waited.holder = Some(text(holder)).filter(|h| !h.is_empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, compare};
    use query::testing::{FRAME, LOCK, STACK, run};

    const FRAMES: &str = "t number function module build_id offset source kind
0 1 __lll_lock_wait /lib/libc.so.6 - - - native
0 2 take /bin/app - - - native
0 3 main /bin/app - - - native";
    const STACKS: &str = "t number parent frame\n0 1 - 3\n0 2 1 2\n0 3 2 1";

    #[test]
    fn a_lock_is_the_same_lock_in_both_runs() {
        let of = |name: &str, address: &str, scale: i64| {
            let lock = format!(
                "t pid comm kind address name stack holder count time longest waiters
1 1 app mutex {address} - 3 worker {} {} 7 3
2 1 app mutex {address} - 3 other 1 10 90 5
2 1 app mutex 0x7 table - - 1 1000 1000 -",
                10 * scale,
                1_000_000 * scale
            );
            run(name, &[(&LOCK, &lock), (&FRAME, FRAMES), (&STACK, STACKS)])
        };
        let runs = vec![of("slow", "0x1000", 8), of("fast", "0x2000", 1)];
        let mut comparison = compare(&runs, &Options::default()).unwrap();
        for w in &mut comparison.windows {
            (w.from, w.to) = (0, 2_000_000_000);
        }
        assert_eq!(comparison.find_locks(runs).unwrap().len(), 0);
        let [first, second] = comparison.locks.as_slice() else { panic!("{:?}", comparison.locks) };
        assert_eq!(
            (first.name.as_str(), first.kind.as_str(), first.process.as_str()),
            ("taken in take", "mutex", "app")
        );
        let [Some(slow), Some(fast)] = first.of.as_slice() else { panic!("{first:?}") };
        let expected = Waited {
            time: (8e-3 + 1e-8) / 2.0,
            count: 40.5,
            longest: 9e-8,
            waiters: Some(5),
            holder: Some("worker".into()),
        };
        assert!((slow.time - expected.time).abs() < 1e-12, "{slow:?}");
        assert_eq!(*slow, Waited { time: slow.time, ..expected });
        assert_eq!(fast.count, 5.5);
        assert_eq!((second.name.as_str(), second.of[0].as_ref().unwrap().waiters), ("table", None));
    }

    #[test]
    fn a_circle_in_the_stacks_ends() {
        let lock = "t pid comm kind address name stack holder count time longest waiters\n1 1 app mutex 0x10 - 3 - 1 1000 1000 2";
        let circle = "t number parent frame\n0 1 2 1\n0 2 1 1\n0 3 2 2";
        let runs: Vec<Run> =
            ["a", "b"].map(|name| run(name, &[(&LOCK, lock), (&FRAME, FRAMES), (&STACK, circle)])).into();
        let mut comparison = compare(&runs, &Options::default()).unwrap();
        for w in &mut comparison.windows {
            (w.from, w.to) = (0, 2_000_000_000);
        }
        comparison.find_locks(runs).unwrap();
        // No code is outside of the lock's own, which never ends.
        assert_eq!(comparison.locks[0].name, "0x10");
    }

    #[test]
    fn without_stacks_a_lock_is_its_address() {
        let lock = "t pid comm kind address name stack holder count time longest waiters\n1 1 app mutex 0x10 - - - 1 1000 1000 2";
        let runs = vec![run("a", &[(&LOCK, lock)]), run("b", &[(&LOCK, lock)])];
        let mut comparison = compare(&runs, &Options::default()).unwrap();
        for w in &mut comparison.windows {
            (w.from, w.to) = (0, 2_000_000_000);
        }
        comparison.find_locks(runs).unwrap();
        let names: Vec<&str> = comparison.locks.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["0x10"]);
    }

    #[test]
    fn runs_without_the_table_have_none() {
        let runs = vec![run("a", &[(&FRAME, FRAMES)]), run("b", &[(&FRAME, FRAMES)])];
        let mut comparison = compare(&runs, &Options::default()).unwrap();
        assert_eq!(comparison.find_locks(runs).unwrap().len(), 0);
        assert!(comparison.locks.is_empty());
    }
}
