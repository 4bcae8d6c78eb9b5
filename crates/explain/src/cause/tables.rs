//! The tables that causes ask beside the recorded ones: the budget's cells, states and waits, numbers of both sides, and what is made of recorded tables
//! for several causes.

use super::counted::Counted;
use super::cut;
use super::footprint;
use super::instructions::Instructions;
use super::jvm;
use super::sharing::Shared;
use super::speed::Speeds;
use super::totals::Total;
use crate::budget::{Budget, STATES, State};
use compare::own::InGroup;
use compare::{Pace, PerSide, Side};
use query::Session;
use query::sql::Value;
use std::collections::HashSet;

/// A run, as the table `side` tells of it.
pub(crate) struct OfRun {
    pub(crate) run: String,
    pub(crate) side: Side,
    /// Its part of the work and of the seconds of its side.
    pub(crate) pace: Pace,
    /// Nanoseconds since the start of its recording.
    pub(crate) window: (i64, i64),
}

/// A property that differs: name, values by side, why it matters.
pub(crate) type Property = (String, PerSide<Option<String>>, Option<&'static str>);

/// A number of both sides.
pub(crate) type Measure = (String, PerSide<Option<f64>>);

/// The tables that causes ask beside the recorded ones.
pub(crate) struct Tables<'a> {
    pub(crate) budget: &'a Budget,
    /// The runs.
    pub(crate) runs: Vec<OfRun>,
    /// Control groups that the workload is in.
    pub(crate) cgroups: Vec<InGroup>,
    /// Further numbers.
    pub(crate) measures: Vec<Measure>,
    /// What there was of this and that.
    pub(crate) totals: Vec<Total>,
    /// Properties that differ: name, values by side, and why that matters where it is known to.
    pub(crate) facts: Vec<Property>,
    /// What the code of functions waits for, and how long rounds of its loops take.
    pub(crate) instructions: Instructions,
    /// Cache lines that threads share.
    pub(crate) sharing: Shared,
    /// How fast the CPUs were.
    pub(crate) speeds: Speeds,
    /// What cycles went into, by hardware counters.
    pub(crate) counted: Counted,
}

/// The columns of `budget`.
const BUDGET: [&str; 22] = [
    "cell",
    "state",
    "comm",
    "thread",
    "what",
    "lock",
    "lock_name",
    "request",
    "function",
    "module",
    "kind",
    "caller",
    "path",
    "slow",
    "against",
    "share",
    "samples",
    "aside",
    "focus",
    "fresh",
    "roles",
    "own_roles",
];

impl Tables<'_> {
    /// Defines them in a session. Returns which could not be made, and why: those of recordings that are damaged.
    ///
    /// # Errors
    /// Where SQLite refuses.
    pub(crate) fn define(&self, session: &mut Session) -> Result<Vec<String>, query::Error> {
        let text = |t: &str| if t.is_empty() { Value::Null } else { Value::Text(t.to_owned()) };
        let cells = self.budget.cells.iter().enumerate().map(|(number, cell)| {
            let PerSide { slow, baseline: against } = self.budget.times(number);
            vec![
                Value::Integer(number as i64),
                text(cell.state.map_or("", State::name)),
                text(&cell.comm),
                text(&cell.thread),
                text(&cell.what),
                text(&cell.lock),
                text(&cell.lock_name),
                text(&cell.request),
                text(&cell.function),
                text(&cell.module),
                text(&cell.kind),
                text(&cell.caller),
                Value::Text(cell.path.clone()),
                Value::Real(slow),
                Value::Real(against),
                Value::Real(self.budget.share(number)),
                Value::Real(cell.samples.slow + cell.samples.baseline),
                Value::Integer(i64::from(cell.aside)),
                text(&cell.focus),
                Value::Integer(i64::from(cell.fresh)),
                Value::Text(cell.roles.to_string()),
                Value::Text(cell.own_roles.to_string()),
            ]
        });
        session.define("budget", &BUDGET, cells)?;
        let groups = self.budget.groups.iter().map(|((comm, thread), PerSide { slow, baseline: against })| {
            let on =
                |times: &[f64]| [State::User, State::Kernel].iter().filter_map(|s| times.get(*s as usize)).sum::<f64>();
            let of = |times: &[f64], state: State| times.get(state as usize).copied().unwrap_or(0.0);
            let wait = |times: &[f64]| of(times, State::Crowded);
            vec![
                text(comm),
                text(thread),
                Value::Real(on(slow)),
                Value::Real(on(against)),
                Value::Real(wait(slow)),
                Value::Real(wait(against)),
                Value::Real(of(slow, State::Lock)),
                Value::Real(of(against, State::Lock)),
            ]
        });
        let columns = [
            "comm",
            "thread",
            "slow_cpu",
            "against_cpu",
            "slow_runnable",
            "against_runnable",
            "slow_lock",
            "against_lock",
        ];
        session.define("thread_group", &columns, groups)?;
        let side = |side: Side| Value::Text(side.name().to_owned());
        let of_side = PerSide::of(|side| {
            let runs = self.runs.iter().filter(|of| of.side == side);
            runs.fold(Pace::default(), |sum, of| sum + of.pace)
        });
        let runs = self.runs.iter().map(|of| {
            let all = of_side[of.side];
            vec![
                Value::Text(of.run.clone()),
                side(of.side),
                Value::Real(of.pace.work),
                Value::Real(of.pace.seconds),
                Value::Integer(of.window.0),
                Value::Integer(of.window.1),
                Value::Real(all.work),
                Value::Real(all.seconds),
            ]
        });
        let columns = ["run", "side", "units", "seconds", "t_from", "t_to", "side_units", "side_seconds"];
        session.define("side", &columns, runs)?;
        let groups = self.cgroups.iter().map(|of| {
            vec![Value::Text(of.run.clone()), side(of.side), Value::Text(of.path.clone()), Value::Integer(of.above)]
        });
        session.define("own_cgroup", &["run", "side", "path", "above"], groups)?;
        let is_pair = i64::from(!self.budget.single);
        session.define("pair", &["is_pair"], [vec![Value::Integer(is_pair)]])?;
        let waits = self.budget.judged.iter().map(|wait| {
            let time = |side: Side| match self.budget.pace(side).work {
                work if work > 0.0 => Value::Real(wait.time[side] / work),
                _ => Value::Real(0.0),
            };
            vec![
                text(&wait.comm),
                text(&wait.thread),
                text(&wait.what),
                text(&wait.waker),
                text(wait.recorded.name()),
                text(wait.state.name()),
                text(&wait.why.to_string()),
                time(Side::Slow),
                time(Side::Baseline),
            ]
        });
        let columns = ["comm", "thread", "what", "waker", "recorded", "state", "why", "slow", "against"];
        session.define("judged_wait", &columns, waits)?;
        let real = |x: Option<f64>| x.filter(|x| x.is_finite()).map_or(Value::Null, Value::Real);
        let measures =
            self.measures.iter().map(|(name, of)| vec![Value::Text(name.clone()), real(of.slow), real(of.baseline)]);
        session.define("measure", &["name", "slow", "against"], measures)?;
        let facts = self.facts.iter().map(|(name, of, why)| {
            let text = |t: &Option<String>| t.clone().map_or(Value::Null, Value::Text);
            let why = why.map_or(Value::Null, |w| Value::Text(w.to_owned()));
            vec![Value::Text(name.clone()), text(&of.slow), text(&of.baseline), why]
        });
        session.define("fact_change", &["name", "slow", "against", "why"], facts)?;
        let states = STATES.iter().map(|state| {
            vec![
                Value::Text(state.name().to_owned()),
                Value::Real(self.budget.time(*state, Side::Slow)),
                Value::Real(self.budget.time(*state, Side::Baseline)),
                Value::Real(self.budget.threads(*state, Side::Slow)),
                Value::Real(self.budget.threads(*state, Side::Baseline)),
                Value::Real(self.budget.state(*state).value),
            ]
        });
        let columns = ["state", "slow", "against", "slow_threads", "against_threads", "share"];
        session.define("state", &columns, states)?;
        let totals = self.totals.iter().map(|t| {
            let (unit, second) = (t.per_unit.map(real), t.per_second.map(real));
            vec![Value::Text(t.metric.clone()), unit.slow, unit.baseline, second.slow, second.baseline]
        });
        session.define("total", &["metric", "slow", "against", "slow_rate", "against_rate"], totals)?;
        self.instructions.define(session)?;
        self.sharing.define(session)?;
        self.speeds.define(session)?;
        self.counted.define(session)?;
        cut::define(session)?;
        derive(session, &DERIVED)
    }
}

/// Makes tables of the recorded ones. Returns which could not be made, and why.
fn derive(session: &mut Session, tables: &[Derived]) -> Result<Vec<String>, query::Error> {
    let known: HashSet<String> = session.schema().iter().flat_map(names).collect();
    let mut failed = Vec::new();
    for Derived { name, needs, columns, sql } in tables {
        match needs.iter().all(|need| known.contains(*need)).then(|| session.all(sql)) {
            Some(Ok((columns, rows))) => {
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                session.define(name, &columns, rows)?;
                continue;
            }
            Some(Err(why)) => failed.push(format!("table {name}, which causes ask, could not be made: {why}")),
            // It was not recorded; causes that need it say so.
            None => {}
        }
        if !columns.is_empty() {
            session.define(name, columns, [])?;
        }
    }
    Ok(failed)
}

/// A table and its columns, as [`Derived::needs`] names them.
fn names(table: &query::sql::TableDoc) -> Vec<String> {
    let of = |column: &query::sql::ColumnDoc| format!("{}.{}", table.name, column.name);
    table.columns.iter().map(of).chain([table.name.clone()]).collect()
}

/// A table that several causes ask, made of the recorded ones: per unit of work, both sides in one row.
struct Derived {
    name: &'static str,
    /// Tables, or columns of them (`table.column`), that it is made of.
    needs: &'static [&'static str],
    /// Its columns where it is there without rows when they are missing: no program need be Go's, and older recordings do not tell which waits ran
    /// out. Without them it is not there then.
    columns: &'static [&'static str],
    sql: &'static str,
}

/// In the order in which they are made: later ones ask earlier ones.
const DERIVED: [Derived; 13] = [
    Derived {
        name: "syscall_use",
        needs: &["syscall_rate"],
        columns: &[],
        sql: "select call_name(call) as call,
                sum(iif(side = 'slow', count * per_unit, 0)) as slow_count,
                sum(iif(side = 'against', count * per_unit, 0)) as against_count,
                sum(iif(side = 'slow', errors * per_unit, 0)) as slow_errors,
                sum(iif(side = 'against', errors * per_unit, 0)) as against_errors,
                sum(iif(side = 'slow', time * per_unit, 0)) as slow_time,
                sum(iif(side = 'against', time * per_unit, 0)) as against_time,
                sum(iif(side = 'slow', bytes * per_unit, 0)) as slow_bytes,
                sum(iif(side = 'against', bytes * per_unit, 0)) as against_bytes
         from w_syscall where count > 0 group by 1",
    },
    Derived {
        name: "wait_use",
        needs: &["wait"],
        columns: &[
            "comm",
            "state",
            "what",
            "waker",
            "slow_count",
            "against_count",
            "slow_time",
            "against_time",
        ],
        sql: "select comm, state, what, waker,
                sum(iif(side = 'slow', count * per_unit, 0)) as slow_count,
                sum(iif(side = 'against', count * per_unit, 0)) as against_count,
                sum(iif(side = 'slow', time * per_unit, 0)) / 1e9 as slow_time,
                sum(iif(side = 'against', time * per_unit, 0)) / 1e9 as against_time
         from w_wait group by comm, state, what, waker",
    },
    Derived {
        name: "lock_use",
        needs: &["lock"],
        columns: &[],
        sql: concat!(
            "with recursive part as materialized (
             select coalesce(l.name, l.kind || ' ' || coalesce(l.address, '?')) as lock, l.kind as kind, l.side as side,
                    l.holder as holder, l.holder_stack as holder_stack, l.run as run,
                    sum(l.count * l.per_unit) as count, sum(l.time * l.per_unit) / 1e9 as time,
                    max(l.longest) / 1e9 as longest, max(l.waiters) as waiters
             from w_lock l group by 1, 2, 3, 4, 5, 6
         ),
         asked as (select distinct run, holder_stack as stack from part where holder_stack is not null and side = 'slow'), ",
            compare::own_code!(),
            ", held as materialized (
             select lock, holder, o.function as function, row_number() over (partition by lock order by sum(p.time) desc) as place
             from part p left join own o on o.run = p.run and o.stack = p.holder_stack
             where p.side = 'slow' and p.holder is not null group by lock, holder, o.function
         )
         select p.lock as lock, p.kind as kind,
                sum(iif(side = 'slow', count, 0)) as slow_count, sum(iif(side = 'against', count, 0)) as against_count,
                sum(iif(side = 'slow', time, 0)) as slow_time, sum(iif(side = 'against', time, 0)) as against_time,
                max(iif(side = 'slow', longest, null)) as longest, max(iif(side = 'slow', waiters, null)) as waiters,
                h.holder as holder, h.function as holder_function
         from part p left join held h on h.lock = p.lock and h.place = 1
         group by p.lock"
        ),
    },
    Derived {
        name: "method_use",
        needs: &["sample", "frame.tier"],
        columns: &jvm::METHOD_USE_COLUMNS,
        sql: jvm::METHOD_USE,
    },
    Derived {
        name: "hot_method",
        needs: &["jvm_code"],
        columns: &jvm::HOT_METHOD_COLUMNS,
        sql: jvm::HOT_METHOD,
    },
    Derived { name: "code_room", needs: &["jvm_heap"], columns: &jvm::CODE_ROOM_COLUMNS, sql: jvm::CODE_ROOM },
    Derived {
        name: "code_spread",
        needs: &["jvm_code_layout"],
        columns: &jvm::CODE_SPREAD_COLUMNS,
        sql: jvm::CODE_SPREAD,
    },
    Derived {
        name: "footprint",
        needs: &["sample.address", "code_space", "code_huge"],
        columns: &footprint::COLUMNS,
        sql: footprint::FOOTPRINT,
    },
    Derived { name: "turn_use", needs: &["turn_rate"], columns: &TURN_USE_COLUMNS, sql: TURN_USE },
    Derived { name: "stranger", needs: &["wait"], columns: &["comm", "slow_cpu"], sql: STRANGER },
    Derived {
        name: "timeout_use",
        needs: &["wait.timed_out"],
        columns: &["comm", "what", "slow_count", "against_count", "slow_time", "against_time"],
        sql: TIMEOUT_USE,
    },
    Derived {
        name: "goroutine_use",
        needs: &["goroutine_wait"],
        columns: &[
            "reason",
            "function",
            "slow_time",
            "against_time",
            "slow_number",
            "against_number",
            "most",
        ],
        sql: GOROUTINE_USE,
    },
    Derived {
        name: "allocation_use",
        needs: &["allocation"],
        columns: &["class", "function", "slow", "against"],
        sql: ALLOCATION_USE,
    },
];

/// Programs that the command started, or that run in its control group, and that have nothing to do with its work: only the slow side has them, they use a
/// tenth of a CPU and more, and nobody of the workload wakes them or is woken by them, but for less than five times in a second of their CPU time.
const STRANGER: &str = "with used as materialized (
         select comm, sum(slow) as slow_cpu, sum(against) as against_cpu from budget where state in ('user', 'kernel') and comm is not null group by comm
     ),
     met as materialized (
         select u.comm as comm, sum(w.slow_count) as count
         from wait_use w join used u on (u.comm = w.comm or u.comm = w.waker)
         where w.comm <> w.waker and u.against_cpu = 0 and w.comm in (select comm from used) and w.waker in (select comm from used) group by u.comm
     )
     select u.comm as comm, u.slow_cpu as slow_cpu from used u left join met m on m.comm = u.comm, measure e
     where e.name = 'elapsed' and e.against is not null and u.against_cpu = 0 and u.slow_cpu > 0.1 * e.slow and coalesce(m.count, 0) < 5 * u.slow_cpu
       and exists (select 1 from used where against_cpu > 0)";

/// Requests of each process name by role and place: per unit of work, times in seconds; how many a second, and at once; and how many connections.
const TURN_USE_COLUMNS: [&str; 24] = [
    "comm",
    "role",
    "protocol",
    "place",
    "slow_turns",
    "against_turns",
    "slow_sends",
    "against_sends",
    "slow_time",
    "against_time",
    "slow_queue",
    "against_queue",
    "slow_opened",
    "against_opened",
    "slow_held",
    "against_held",
    "slow_accept",
    "against_accept",
    "slow_rate",
    "against_rate",
    "slow_at_once",
    "against_at_once",
    "slow_used",
    "against_used",
];
const TURN_USE: &str = "with used as materialized (
         select comm, kind, protocol, port, peer, side,
                sum(used) * 1.0 / count(distinct run) as used
         from (select t.run, t.pid, t.comm, t.role as kind, t.protocol, t.port, t.peer, s.side as side, max(t.used) as used
               from turn t join side s on s.run = t.run and t.t <= s.t_to group by 1, 2, 3, 4, 5, 6, 7, 8)
         group by 1, 2, 3, 4, 5, 6
     ),
     row as materialized (
         select comm, kind, protocol, port, peer, side,
                sum(turns * per_unit) as turns, sum(sends * per_unit) as sends, sum(service_time * per_unit) as time,
                sum(queue_time * per_unit) as queue, sum(opened * per_unit) as opened,
                sum(held_up_time * per_unit) as held, sum(accept_wait_time * per_unit) as accept,
                sum(turns * per_second) as rate, sum(service_time * per_second) as at_once
         from (select comm, role as kind, protocol, port, peer, side, per_unit, per_second, turns, sends, service_time, queue_time, opened,
                      held_up_time, accept_wait_time from w_turn) group by 1, 2, 3, 4, 5, 6
     )
     select r.comm as comm, r.kind as role, r.protocol as protocol,
            iif(r.protocol = 'unix', r.peer, iif(r.kind = 'client', iif(r.port > 0, r.peer || ':' || r.port, 'a server asked by ' || upper(r.protocol)), 'port ' || r.port)) as place,
            sum(iif(r.side = 'slow', turns, 0)) as slow_turns, sum(iif(r.side = 'against', turns, 0)) as against_turns,
            sum(iif(r.side = 'slow', sends, 0)) as slow_sends, sum(iif(r.side = 'against', sends, 0)) as against_sends,
            sum(iif(r.side = 'slow', time, 0)) as slow_time, sum(iif(r.side = 'against', time, 0)) as against_time,
            sum(iif(r.side = 'slow', queue, 0)) as slow_queue, sum(iif(r.side = 'against', queue, 0)) as against_queue,
            sum(iif(r.side = 'slow', opened, 0)) as slow_opened, sum(iif(r.side = 'against', opened, 0)) as against_opened,
            sum(iif(r.side = 'slow', held, 0)) as slow_held, sum(iif(r.side = 'against', held, 0)) as against_held,
            sum(iif(r.side = 'slow', accept, 0)) as slow_accept, sum(iif(r.side = 'against', accept, 0)) as against_accept,
            sum(iif(r.side = 'slow', rate, 0)) as slow_rate, sum(iif(r.side = 'against', rate, 0)) as against_rate,
            sum(iif(r.side = 'slow', at_once, 0)) as slow_at_once, sum(iif(r.side = 'against', at_once, 0)) as against_at_once,
            sum(iif(r.side = 'slow', used, 0)) as slow_used, sum(iif(r.side = 'against', used, 0)) as against_used
     from row r left join used u on u.comm = r.comm and u.kind = r.kind and u.protocol = r.protocol and u.port = r.port
          and u.peer is r.peer and u.side = r.side
     group by 1, 2, 3, 4";

/// Waits whose time ran out, per unit of work.
const TIMEOUT_USE: &str = "select comm, what,
            sum(iif(side = 'slow', timed_out * per_unit, 0)) as slow_count,
            sum(iif(side = 'against', timed_out * per_unit, 0)) as against_count,
            sum(iif(side = 'slow', timed_out_time * per_unit, 0)) / 1e9 as slow_time,
            sum(iif(side = 'against', timed_out_time * per_unit, 0)) / 1e9 as against_time
     from w_wait where timed_out > 0 group by comm, what";

/// What goroutines waited for and in which code, that of Go's library aside, per unit of work; and how many of them, on average.
const GOROUTINE_USE: &str = concat!(
    "with recursive part as materialized (
         select run, reason, stack, side, sum(time * per_unit) / 1e9 as time, sum(time * per_second) / 1e9 as number,
                max(most) as most
         from w_goroutine_wait group by 1, 2, 3, 4
     ),
     asked as (select distinct run, stack from part), ",
    compare::own_code!(),
    "
     select p.reason as reason, o.function as function,
            sum(iif(p.side = 'slow', p.time, 0)) as slow_time,
            sum(iif(p.side = 'against', p.time, 0)) as against_time,
            sum(iif(p.side = 'slow', p.number, 0)) as slow_number,
            sum(iif(p.side = 'against', p.number, 0)) as against_number,
            max(iif(p.side = 'slow', p.most, null)) as most
     from part p left join own o on o.run = p.run and o.stack = p.stack and o.near = 0
     group by p.reason, o.function"
);

/// Bytes that JVMs allocate, by class and the innermost method that is not of the class library, per unit of work.
const ALLOCATION_USE: &str = "with recursive part as materialized (
         select run, side, class, stack, sum(bytes * per_unit) as bytes from w_allocation group by 1, 2, 3, 4
     ),
     asked as materialized (select distinct run, stack from part where stack is not null),
     step as materialized (select run, number, parent, frame from stack),
     place as materialized (
         select run, number, function,
                kind in ('jit', 'interpreted', 'inlined') and not has_role(roles(function, module, kind), 'class.library') as own
         from frame
     ),
     way (run, stack, parent, function, own, depth) as (
         select a.run, a.stack, k.parent, p.function, p.own, 0
         from asked a join step k on k.run = a.run and k.number = a.stack join place p on p.run = k.run and p.number = k.frame
         union all
         select w.run, w.stack, k.parent, p.function, p.own, w.depth + 1
         from way w join step k on k.run = w.run and k.number = w.parent join place p on p.run = k.run and p.number = k.frame
         where not w.own and w.depth < 512
     ),
     site as materialized (select run, stack, max(function) as function from way where own group by run, stack)
     select p.class as class, s.function as function, sum(iif(p.side = 'slow', p.bytes, 0)) as slow,
            sum(iif(p.side = 'against', p.bytes, 0)) as against
     from part p left join site s on s.run = p.run and s.stack = p.stack
     group by 1, 2";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_was_not_recorded_is_no_failure_and_one_that_cannot_be_made_is() {
        let mut session = Session::of(Vec::new()).unwrap();
        let tables = [
            Derived {
                name: "made",
                needs: &["run", "run.command"],
                columns: &["n"],
                sql: "select count(*) as n from run",
            },
            Derived { name: "not_there", needs: &["nothing"], columns: &[], sql: "select 1 as n" },
            Derived { name: "without_rows", needs: &["run.nothing"], columns: &["n"], sql: "select 1 as n" },
            Derived { name: "broken", needs: &["run"], columns: &["n"], sql: "select n from run" },
        ];
        let failed = derive(&mut session, &tables).unwrap();
        assert!(
            failed.len() == 1 && failed[0].contains("table broken") && failed[0].contains("no such column"),
            "{failed:?}"
        );
        let rows = |table: &str| session.all(&format!("select n from {table}")).map(|(_, rows)| rows.len());
        assert_eq!((rows("made").unwrap(), rows("without_rows").unwrap(), rows("broken").unwrap()), (1, 0, 0));
        assert!(rows("not_there").is_err());
    }

    #[test]
    fn allocations_are_those_of_the_innermost_method_that_is_of_the_program() {
        use query::testing::{FRAME, STACK};
        let allocation = "t pid tid comm thread class outside stack at bytes count sampled_1_in\n\
                          1 7 8 java main java.lang.Integer 0 3 500000000 3000 1 1\n\
                          1 7 8 java main java.lang.Integer 0 3 600000000 1000 1 1\n\
                          1 7 8 java main byte[] 0 - 700000000 500 1 1\n\
                          1 7 8 java main byte[] 0 4 5000000000 900 1 1\n";
        let frame = "t number function module build_id offset source kind\n\
                     1 1 Report.add [jit] - - - jit\n1 2 java.lang.Integer.valueOf [jit] - - - inlined\n\
                     1 3 java.lang.Integer [class] - - - class\n1 4 JavaThread::run /lib/libjvm.so - - - native\n";
        let stack = "t number parent frame\n1 1 - 1\n1 2 1 2\n1 3 2 3\n1 4 - 4\n";
        let tables = [(&model::jvm::ALLOCATION, allocation), (&FRAME, frame), (&STACK, stack)];
        let mut session = Session::of(vec![query::testing::run("run", &tables)]).unwrap();
        let side = ["run", "slow"].map(|text| Value::Text(text.into()));
        let numbers = [2.0, 2.0].map(Value::Real);
        let window = [0, 2_000_000_000].map(Value::Integer);
        let columns = ["run", "side", "units", "seconds", "t_from", "t_to", "side_units", "side_seconds"];
        let row = [side.as_slice(), &numbers, &window, &numbers].concat();
        session.define("side", &columns, [row]).unwrap();
        cut::define(&mut session).unwrap();
        let (_, mut rows) = session.all(ALLOCATION_USE).unwrap();
        rows.sort_by_key(|row| format!("{row:?}"));
        let text = |text: &str| Value::Text(text.into());
        // Two of them are per unit of work; what was allocated after the window does not count.
        let integers = [text("java.lang.Integer"), text("Report.add"), Value::Real(2000.0), Value::Real(0.0)];
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert!(rows.iter().any(|row| format!("{row:?}").contains("byte[]")), "{rows:?}");
        assert!(rows.iter().any(|row| row.get(..3) == integers.get(..3)), "{rows:?}");
    }
}
