//! `explain`: why a run is slower than another, or what limits one; the causes ranked by the part of the lost time that they explain.

use crate::answer::{Explanation, Finding, Limit, LimitedBy, NotEvaluated, Note, Outcome};
use crate::budget::{Budget, STATES, State};
use crate::cause::counted::Counted;
use crate::cause::instructions::Instructions;
use crate::cause::sharing::Shared;
use crate::cause::speed::Speeds;
use crate::cause::{Cause, Found, Measure, OfRun, Order, Tables, ask, totals};
use crate::machine::{self, Machine};
use crate::{Error, allocate, verdict};
use compare::{Choice, FactDifference, LEAST_CHANGE, Longer, Pace, PerSide, Side, Unit, cautions, facts, own, window};
use model::{Status, Window};
use query::concurrency::Concurrency;
use query::{Run, Session};
use std::collections::HashMap;

/// A side that was recorded once must be slower by so much: runs of the same program differ by some per cent, and one run cannot tell.
const ONCE: f64 = 0.1;

/// Where the work is not known, so many more threads at work on average are worth an explanation.
const LEAST_THREADS: f64 = 0.01;

/// So many repeats of a side say how much runs differ.
const REPEATS: usize = 3;

/// What is explained, and how.
#[derive(Clone, Debug)]
pub struct Explain {
    /// The window of each run.
    pub window: Choice,
    /// How much slower the slow side must be: 0.05 for five per cent; `None` for 5 %, and 10 % where a side was recorded once or twice.
    pub least: Option<f64>,
    /// The causes that are looked for.
    pub causes: Vec<Cause>,
    /// Other machines: how long the program would take on them.
    pub machines: Vec<Machine>,
}

impl Default for Explain {
    fn default() -> Self {
        Explain { window: Choice::Auto, least: None, causes: crate::cause::built_in(), machines: Vec::new() }
    }
}

/// Explains the first `slow` of the runs by the others; without others, what limits them.
///
/// # Errors
/// Where a window is not there, the threads of a run were not looked at, or a cause's question fails.
pub fn explain(runs: Vec<Run>, slow: usize, options: &Explain) -> Result<Explanation, Error> {
    let windows = runs.iter().map(|run| window::choose(run, &options.window)).collect::<Result<Vec<_>, _>>()?;
    let slow = slow.min(runs.len());
    let side = sides(runs.len(), slow);
    let mut budget = Budget::of(&runs, &windows, &side).map_err(|why| no_budget(&runs, why))?;
    let ratio = budget.ratio();
    let repeats = slow.min(runs.len() - slow) >= REPEATS;
    // Where others use the CPUs, equal runs differ by as much: by their share of the CPUs, and by what they do to caches and siblings.
    let cpus = runs.iter().map(|run| run.recording.manifest().cpus as f64).fold(1.0, f64::max);
    let disturbed = budget.others(Side::Slow).max(budget.others(Side::Baseline)) / cpus;
    let limit = match options.least {
        Some(least) => Limit { least, by: LimitedBy::Asked },
        None if repeats => Limit { least: LEAST_CHANGE, by: LimitedBy::Repeats },
        None if disturbed > ONCE => Limit { least: disturbed, by: LimitedBy::Others },
        None => Limit { least: ONCE, by: LimitedBy::Once },
    };
    let least = limit.least;
    let (engaged, more) = budget.engaged();
    let is_more = more.value >= 1.0 + least && more.low > 1.0;
    let evenly = budget.evenly_slower().filter(|_| !repeats);
    let outcome = match budget.unit {
        _ if budget.single => Outcome::Alone,
        Unit::Second if is_more && engaged.slow - engaged.baseline >= LEAST_THREADS => Outcome::MoreTime,
        Unit::Second => Outcome::NoSlower,
        _ if ratio.value >= 1.0 + least && ratio.low > 1.0 => match evenly {
            Some(_) => Outcome::Evenly,
            None => Outcome::Slower,
        },
        // It is no chance within these runs, and may be one of these runs.
        _ if ratio.value >= 1.0 + LEAST_CHANGE
            && ratio.low > 1.0
            && matches!(limit.by, LimitedBy::Once | LimitedBy::Others) =>
        {
            Outcome::Undecided
        }
        _ => Outcome::NoSlower,
    };
    let is_reversed = outcome == Outcome::NoSlower
        && budget.unit != Unit::Second
        && ratio.value * (1.0 + least) <= 1.0
        && ratio.high < 1.0;
    // A server that has time to spare answers as many requests however long each takes: as many as are asked.
    let longer = match outcome {
        Outcome::NoSlower => Longer::of(&runs, &windows, slow),
        _ => Longer::default(),
    };
    let is_paced = longer.many.is_some() && matches!(budget.unit, Unit::Operation(_)) && is_more;
    let (outcome, tail) = match (is_paced, longer) {
        (true, longer) => (Outcome::LongerRequests, longer.many),
        (false, longer) => (outcome, longer.tail.or(longer.many)),
    };
    if is_paced {
        budget.by_thread_time();
    }
    let facts = facts::differences(&runs);
    let own = own::names(&runs);
    let mut warned = cautions::failed(&runs);
    warned.extend(cautions::fixed_length(&runs));
    warned.extend(cautions::sampled_ledgers(&runs));
    warned.extend(cautions::servers(&runs));
    warned.extend(cautions::recorders(&runs, &windows));
    if !budget.single {
        let (a, b): (Vec<usize>, Vec<usize>) = ((slow..runs.len()).collect(), (0..slow).collect());
        warned.extend(cautions::of(&runs, &windows, &own, [&a, &b], least));
    }
    for of_side in Side::BOTH {
        let Some(found) = budget.by_samples[of_side] else { continue };
        let of: Vec<usize> = (0..runs.len()).filter(|run| side.get(*run) == Some(&of_side)).collect();
        let names: Vec<&str> = of.iter().filter_map(|&run| Some(runs.get(run)?.name.as_str())).collect();
        let one = if let [run] = of[..] { Some(run) } else { None };
        warned.push(cautions::divided_by_samples(&names.join(", "), one, found));
    }
    let names = |of: &[Run]| of.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(", ");
    let machines = machine::Asked {
        runs: &runs,
        side: &side,
        windows: &windows,
        budget: &budget,
        facts: &facts,
        ratio: if budget.single || budget.unit == Unit::Second { f64::NAN } else { ratio.value },
        names: PerSide {
            slow: names(runs.get(..slow).unwrap_or_default()),
            baseline: names(runs.get(slow..).unwrap_or_default()),
        },
        others: &options.machines,
    }
    .answer();
    let ledger = STATES.into_iter().map(|s| (s, PerSide::of(|side| budget.time(s, side)), budget.state(s))).collect();
    let mut explanation = Explanation {
        runs: runs.iter().map(|r| r.name.clone()).collect(),
        slow,
        unit: budget.unit.clone(),
        elapsed: PerSide::of(|side| budget.elapsed(if budget.single { Side::Slow } else { side })),
        done: PerSide::of(|side| budget.pace(side)),
        ratio,
        limit,
        outcome,
        tail,
        verdict: String::new(),
        slower_cpus: (outcome == Outcome::Evenly).then(|| Speeds::of(&runs, &side, &windows).reason()).flatten(),
        ledger,
        waits: budget.judged.clone(),
        hottest: hottest(&budget),
        findings: Vec::new(),
        differs: Vec::new(),
        limits_both: None,
        reversed: is_reversed.then(|| reversed(&runs, slow)),
        unexplained: 0.0,
        notes: Vec::new(),
        machines,
        not_evaluated: Vec::new(),
        facts,
        cautions: warned,
        damage: Vec::new(),
        windows,
    };
    if matches!(outcome, Outcome::NoSlower | Outcome::Evenly) {
        explanation.damage =
            runs.iter().flat_map(|r| r.recording.damage().into_iter().map(|d| format!("{}: {d}", r.name))).collect();
        // What is faster is not held up by the same.
        if outcome == Outcome::NoSlower && !is_reversed && !options.causes.is_empty() {
            explanation.limits_both = limits_both(runs, slow, options);
        }
    } else {
        explanation.damage = find(runs, &side, &budget, options, &mut explanation)?;
        if outcome == Outcome::Undecided {
            explanation.differs = std::mem::take(&mut explanation.findings);
        }
    }
    explanation.verdict = verdict::of(&explanation);
    Ok(explanation)
}

/// The tables that causes ask, over these recordings: what [`explain`] looks at, for a question of one's own.
///
/// # Errors
/// Those of [`explain`].
pub fn session(runs: Vec<Run>, slow: usize, window: &Choice) -> Result<Session, Error> {
    let windows = runs.iter().map(|run| window::choose(run, window)).collect::<Result<Vec<_>, _>>()?;
    let side = sides(runs.len(), slow);
    let budget = Budget::of(&runs, &windows, &side).map_err(|why| no_budget(&runs, why))?;
    let facts = facts::differences(&runs);
    let tables = tables(&runs, &side, &windows, &budget, &facts, &crate::cause::built_in());
    let mut session = Session::of(runs)?;
    let wrong = tables.define(&mut session)?;
    if wrong.is_empty() { Ok(session) } else { Err(Error::Tables(wrong.join("\n"))) }
}

/// The command that asks the other way round.
fn reversed(runs: &[Run], slow: usize) -> String {
    let (slow, baseline) = runs.split_at(slow.min(runs.len()));
    let files =
        |of: &[Run]| of.iter().map(|run| run.recording.path().display().to_string()).collect::<Vec<_>>().join(" ");
    format!("explain {} --against {}", files(baseline), files(slow))
}

/// What limits both is a larger part of the time of each than this.
const LIMITS: f64 = 0.1;

/// What takes most time of each side alone, where that is the same.
fn limits_both(mut runs: Vec<Run>, slow: usize, options: &Explain) -> Option<PerSide<Finding>> {
    let baseline = runs.split_off(slow);
    let options = Explain { machines: Vec::new(), ..options.clone() };
    let first = |runs: Vec<Run>| {
        let count = runs.len();
        let alone = explain(runs, count, &options).ok()?;
        let user = alone.ledger.iter().find(|(state, ..)| *state == State::User).map_or(0.0, |(.., share)| share.value);
        // Code that runs is what a program is there for.
        alone.findings.into_iter().next().filter(|first| first.share.value >= user.max(LIMITS))
    };
    let both = PerSide { slow: first(runs)?, baseline: first(baseline)? };
    is_same(&both.slow, &both.baseline).then_some(both)
}

/// Whether two findings are about one thing. What numbers it, such as a port, may differ.
fn is_same(a: &Finding, b: &Finding) -> bool {
    let subject = |of: &Finding| of.subject.replace(|c: char| c.is_ascii_digit(), "");
    a.cause == b.cause && subject(a) == subject(b)
}

/// The sides of `runs` runs of which the first `slow` are slow.
fn sides(runs: usize, slow: usize) -> Vec<Side> {
    (0..runs).map(|run| if run < slow { Side::Slow } else { Side::Baseline }).collect()
}

/// Why there is none: where a recording is damaged, by what.
fn no_budget(runs: &[Run], why: String) -> Error {
    let damage = runs.iter().flat_map(|r| r.recording.damage().into_iter().map(|d| format!("\n{}: {d}", r.name)));
    Error::Budget(std::iter::once(why).chain(damage).collect())
}

fn tables<'a>(
    runs: &[Run],
    side: &[Side],
    windows: &[Window],
    budget: &'a Budget,
    facts: &[FactDifference],
    causes: &[Cause],
) -> Tables<'a> {
    let of_run = |((run, side), w): ((&Run, &Side), &Window)| {
        // Of repeats each has its part of the side's work.
        let rate = Some(budget.pace(*side).rate()).filter(|rate| rate.is_finite()).unwrap_or(0.0);
        let pace = Pace { work: rate * w.seconds(), seconds: w.seconds() };
        OfRun { run: run.name.clone(), side: *side, pace, window: (w.from, w.to) }
    };
    let names = budget.names();
    let units = PerSide::of(|of| {
        let place = side.iter().position(|s| *s == of);
        place.and_then(|at| windows.get(at)).map_or(0.0, |w| budget.pace(of).rate() * w.seconds())
    });
    Tables {
        budget,
        instructions: Instructions::of(runs, side, windows, units),
        sharing: Shared::of(runs, side, windows),
        speeds: Speeds::of(runs, side, windows),
        counted: Counted::of(runs, side, windows),
        cgroups: runs.iter().zip(side).flat_map(|(run, side)| own::cgroups(run, *side, &names)).collect(),
        runs: runs.iter().zip(side).zip(windows).map(of_run).collect(),
        measures: measures(runs, side, windows, budget),
        totals: totals::load(
            &totals::asked(causes),
            runs,
            side,
            windows,
            PerSide::of(|side| budget.pace(side)),
            &names,
        ),
        facts: facts.iter().map(|f| (f.full_name(), side_values(f, side), f.why)).collect(),
    }
}

/// Asks all causes, and divides the lost time among what they find. Returns what could not be read.
fn find(
    runs: Vec<Run>,
    side: &[Side],
    budget: &Budget,
    options: &Explain,
    into: &mut Explanation,
) -> Result<Vec<String>, Error> {
    let tables = tables(&runs, side, &into.windows, budget, &into.facts, &options.causes);
    let missing: Vec<Option<String>> = options.causes.iter().map(|cause| lacks(&runs, cause, budget.single)).collect();
    let mut session = Session::of(runs)?;
    let failed = tables.define(&mut session)?;
    let order = Order::of(&options.causes)?;
    let (found, not_evaluated) = ask_all(&mut session, options.causes.iter().zip(missing), budget)?;
    into.not_evaluated = not_evaluated;
    for (cause, note) in found.iter().filter(|(_, f)| f.claims.is_empty()) {
        into.notes.push(Note { cause: cause.id.clone(), text: note.says.clone() });
    }
    into.findings = allocate::allocated(budget, &order, found);
    let explained: f64 = into.findings.iter().map(|f| f.share.value).sum();
    into.unexplained = (1.0 - explained).max(0.0);
    Ok(session.damage().into_iter().map(|(run, damage)| format!("{run}: {damage}")).chain(failed).collect())
}

/// What was found by causes, and those that could not be looked for.
type Asked<'c> = (Vec<(&'c Cause, Found)>, Vec<NotEvaluated>);

/// What causes find, and which could not be looked for. `causes`: each with what it lacks.
fn ask_all<'c>(
    session: &mut Session,
    causes: impl Iterator<Item = (&'c Cause, Option<String>)>,
    budget: &Budget,
) -> Result<Asked<'c>, Error> {
    let (mut found, mut not_evaluated) = (Vec::new(), Vec::new());
    for (cause, missing) in causes {
        let mut lacks = |needs: String| not_evaluated.push(NotEvaluated { cause: cause.id.clone(), needs });
        match missing {
            Some(needs) => lacks(needs),
            None => match ask(session, cause, budget) {
                Ok(all) => found.extend(all.into_iter().map(|f| (cause, f))),
                // What a recording is damaged by must not keep other causes from being looked for; who wrote one wants to know.
                Err(why) if cause.built_in => lacks(format!("an answer to its question: {why}")),
                Err(why) => return Err(why),
            },
        }
    }
    Ok((found, not_evaluated))
}

/// Where the threads' own code ran most on the slow side.
fn hottest(budget: &Budget) -> Option<(String, f64)> {
    let mut by: HashMap<&str, f64> = HashMap::new();
    for (number, cell) in budget.cells.iter().enumerate() {
        if cell.state == Some(State::User) && !cell.caller.is_empty() {
            *by.entry(cell.caller.as_str()).or_insert(0.0) += budget.times(number).slow;
        }
    }
    let all: f64 = STATES.iter().filter(|s| **s != State::Crowded).map(|s| budget.time(*s, Side::Slow)).sum();
    let most = by.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(a.0)))?;
    (all > 0.0).then(|| (most.0.to_owned(), most.1 / all))
}

/// Why a cause cannot be looked for in these runs.
fn lacks(runs: &[Run], cause: &Cause, single: bool) -> Option<String> {
    if cause.against && single {
        return Some("a baseline (--against)".into());
    }
    let mut lacking = Vec::new();
    for need in &cause.needs {
        // A table, or one of its columns, which older recordings lack; or one of several.
        let has_one = |run: &Run, need: &str| {
            let (table, column) = need.split_once('.').map_or((need, None), |(table, column)| (table, Some(column)));
            let found = run.recording.table(table);
            found.is_some_and(|t| column.is_none_or(|name| t.columns.iter().any(|c| c.name == name)))
        };
        let has = |run: &&Run| need.split('|').any(|need| has_one(run, need));
        let table = need.split(['|', '.']).next().unwrap_or_default();
        let without: Vec<&Run> = runs.iter().filter(|run| !has(run)).collect();
        let Some(first) = without.first() else { continue };
        let coverage = first.recording.coverage().into_iter().filter(|c| c.status != Status::Read);
        let why = coverage.into_iter().find(|c| c.source == table || c.item == table).map(|c| c.why);
        let why = why.filter(|w| !w.is_empty()).map_or(String::new(), |w| format!(" ({w})"));
        let names: Vec<&str> = without.iter().map(|run| run.name.as_str()).collect();
        let of = if without.len() == runs.len() { String::new() } else { format!(" in {}", names.join(", ")) };
        lacking.push(format!("table {}{of}{why}", need.replace('|', " or ")));
    }
    (!lacking.is_empty()).then(|| lacking.join("; "))
}

/// A fact by side: the values of its runs, each once, in the order of the runs.
fn side_values(fact: &FactDifference, side: &[Side]) -> PerSide<Option<String>> {
    PerSide::of(|wanted| {
        let mut values: Vec<&str> = Vec::new();
        for (value, _) in fact.values.iter().zip(side).filter(|(_, side)| **side == wanted) {
            values.extend(value.as_deref().filter(|value| !values.contains(value)));
        }
        (!values.is_empty()).then(|| values.join(" or "))
    })
}

/// Numbers that several causes ask for.
fn measures(runs: &[Run], side: &[Side], windows: &[Window], budget: &Budget) -> Vec<Measure> {
    let mut found = Vec::new();
    let mut put = |name: &str, of: &dyn Fn(Side) -> Option<f64>| found.push((name.to_owned(), PerSide::of(of)));
    let single = budget.single;
    let known = |side: Side| !(single && side == Side::Baseline);
    let mean = |side_wanted: Side, of: &dyn Fn(&Run, &Window) -> Option<f64>| {
        let values: Vec<f64> = runs
            .iter()
            .zip(windows)
            .zip(side)
            .filter(|(_, s)| **s == side_wanted)
            .filter_map(|((run, window), _)| of(run, window))
            .collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let cpus = |side: Side| mean(side, &|run, _| Some(run.recording.manifest().cpus as f64).filter(|c| *c > 0.0));
    put("elapsed", &|side| known(side).then(|| budget.elapsed(side)));
    put("others", &|side| known(side).then(|| budget.others(side)));
    put("cpus", &cpus);
    put("idle_cpus", &|side| {
        let own: f64 = [State::User, State::Kernel, State::Stolen].iter().map(|s| budget.threads(*s, side)).sum();
        cpus(side).map(|all| (all - own - budget.others(side) - budget.recorder(side)).max(0.0))
    });
    put("threads", &|side| known(side).then(|| STATES.iter().map(|s| budget.threads(*s, side)).sum()));
    // On a CPU, or kept from one.
    put("running", &|side| {
        let wants = [State::User, State::Kernel, State::Stolen, State::Neighbours, State::Crowded];
        known(side).then(|| wants.iter().map(|s| budget.threads(*s, side)).sum())
    });
    put("serial", &|side| mean(side, &|run, window| Concurrency::load(run, window).map(|c| c.serial_in(window).1)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Cell;

    #[test]
    fn a_fact_of_several_runs_has_all_their_values() {
        let values = ["60", "10", "60", "60"].map(|value| Some(value.to_owned())).to_vec();
        let fact = FactDifference { category: "vm".into(), name: "swappiness".into(), values, why: None };
        let values = side_values(&fact, &[Side::Slow, Side::Slow, Side::Baseline, Side::Baseline]);
        assert_eq!(values.slow.as_deref(), Some("60 or 10"));
        assert_eq!(values.baseline.as_deref(), Some("60"));
    }

    #[test]
    fn a_question_that_fails_ends_nothing_but_its_cause() {
        let cell = Cell { state: Some(State::Lock), ..Cell::default() };
        let budget = Budget::of_times(vec![(cell, [2.0, 1.0])]);
        let mut session = Session::of(Vec::new()).unwrap();
        let cause = |id: &str, sql: &str, built_in: bool| Cause {
            id: id.into(),
            says: "it".into(),
            claims: sql.into(),
            built_in,
            ..Cause::default()
        };
        let good = cause("good", "select 'it' as subject, 0 as cell, 1.0 as part", true);
        let bad = cause("bad", "select x from nowhere", true);
        let asked = [(&bad, None), (&good, None), (&good, Some("table x".to_owned()))];
        let (found, not) = ask_all(&mut session, asked.into_iter(), &budget).unwrap();
        assert_eq!(found.iter().map(|(c, _)| c.id.as_str()).collect::<Vec<_>>(), ["good"]);
        assert!(not[0].cause == "bad" && not[0].needs.contains("no such table: nowhere"), "{not:?}");
        assert_eq!((not[1].cause.as_str(), not[1].needs.as_str()), ("good", "table x"));
        // Who wrote a cause wants to know what is wrong with it.
        let own = Cause { built_in: false, ..bad.clone() };
        let why = ask_all(&mut session, [(&own, None)].into_iter(), &budget).unwrap_err().to_string();
        assert!(why.contains("cause bad"), "{why}");
    }
}
