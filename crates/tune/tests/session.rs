//! Sessions: that they go on from any event on as if nothing had happened, that no trial counts twice, and what ends them.

use proptest::prelude::*;
use std::collections::BTreeMap;
use tune::blocks::Slot;
use tune::designs::search::{self, Bound, Next, Searched};
use tune::designs::{ab, ladder, optimise, sweep};
use tune::measure::Limit;
use tune::optimise::Space;
use tune::simulated::{Noise, Simulated};
use tune::{
    Better, By, Design, End, Error, Event, Go, Keep, Machine, Measure, Outcome, Plan, Session, Stage, Trial, Verdict,
    lines,
};

fn plan(design: Design) -> Plan {
    let measure = |name: &str, better| Measure { name: name.into(), better };
    Plan::new(design, vec![measure("wall", Better::Less), measure("done", Better::More)], 11)
}

fn ab_plan(variants: usize) -> Plan {
    plan(Design::Ab { variants })
}

/// A machine whose outcomes depend on the place in the plan alone, so that a trial that is run again says the same.
#[derive(Clone)]
struct Table {
    factors: Vec<f64>,
    /// Of 16.
    failing: Vec<u64>,
    /// The trials, by number, that are void.
    void: Vec<usize>,
    /// The machine wants to stop when it is asked for the how manieth time.
    stop: usize,
    asked: usize,
    ran: Vec<Trial>,
}

impl Table {
    fn new(factors: &[f64]) -> Table {
        Table { factors: factors.to_vec(), failing: vec![], void: vec![], stop: usize::MAX, asked: 0, ran: vec![] }
    }

    fn failing(mut self, failing: &[u64]) -> Table {
        self.failing = failing.to_vec();
        self
    }
}

impl Machine for Table {
    fn run(&mut self, trial: &Trial) -> Outcome {
        self.ran.push(trial.clone());
        if self.void.contains(&trial.number) {
            return Outcome::Void("a setting could not be set".into());
        }
        let place = (trial.stage * 1000 + trial.block) * 100 + 2 * trial.variant + usize::from(trial.explained);
        let mut rng = query::stats::rng::Rng::new(place as u64);
        let mut value = self.factors[trial.variant] * (0.02 * rng.normal()).exp();
        if let Some(rate) = trial.set.get("rate").and_then(|text| text.parse::<f64>().ok()) {
            // A queue with this many times the capacity.
            value = 0.3e-3 / (1.0 - rate / (1000.0 * value)).max(0.01);
        }
        if rng.bits() % 16 < self.failing.get(trial.variant).copied().unwrap_or(0) {
            return Outcome::Failed("exit code 1".into());
        }
        Outcome::Measured(vec![Some(value), Some(1.0 / value)])
    }

    fn go_on(&mut self, _stage: &Stage) -> Go {
        self.asked += 1;
        if self.asked > self.stop { Go::Stop } else { Go::On }
    }
}

/// A session from beginning to end.
fn whole(plan: Plan, machine: &Table) -> (Session, Vec<Event>) {
    let mut journal = Vec::new();
    let mut session = Session::begin(plan, &mut journal).unwrap();
    assert_eq!(session.run(&mut machine.clone(), &mut journal).unwrap(), End::Finished);
    assert!(session.finished());
    (session, journal)
}

/// The stages without numbers of trials, which grow with each trial that is run again.
fn stages(session: &Session) -> Vec<Stage> {
    let mut stages = session.stages().to_vec();
    let trials = stages.iter_mut().flat_map(|s| &mut s.series.blocks).flat_map(|b| &mut b.trials);
    trials.for_each(|(number, _)| *number = 0);
    stages
}

/// That each trial of the completed blocks is one of its own, and ended once.
fn each_counts_once(session: &Session, journal: &[Event]) {
    let mut ended = BTreeMap::new();
    for event in journal {
        if let Event::Ended { trial, .. } = event {
            *ended.entry(*trial).or_insert(0) += 1;
        }
    }
    assert!(ended.values().all(|n| *n == 1));
    let blocks = session.stages().iter().flat_map(|s| &s.series.blocks);
    let mut counted: Vec<usize> = blocks.flat_map(|b| b.trials.iter().map(|t| t.0)).collect();
    let all = counted.len();
    assert!(counted.iter().all(|n| ended.contains_key(n)));
    counted.dedup();
    assert_eq!(counted.len(), all, "numbers grow");
    for stage in session.stages() {
        for block in &stage.series.blocks {
            assert_eq!(block.order.len(), block.trials.len());
        }
    }
}

/// A search for the best over words and numbers.
fn optimising(objectives: usize, only: &[&str]) -> Plan {
    let list = |of: &[&str]| of.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    let parameters = BTreeMap::from([
        ("gc".to_owned(), list(&["g1", "par", "z"])),
        ("heap".to_owned(), list(&["512", "256", "1024", "2048"])),
        ("threads".to_owned(), list(&["1", "2", "4", "8"])),
    ]);
    let space = Space::of(&parameters, &[], &list(only)).unwrap();
    plan(Design::Optimise { space, trials: 30, objectives })
}

fn searched() -> Searched {
    let limits = vec![Bound { measure: 0, limit: Limit::parse("<= 1.5ms").unwrap() }];
    Searched { parameter: "rate".into(), from: 300.0, to: 1e5, limits, reached: None }
}

fn designs() -> [(Plan, Table); 9] {
    let searching = vec![Keep::IfBetter, Keep::Always];
    let steps = vec![Keep::IfBetter, Keep::Always, Keep::IfBetter, Keep::IfBetter];
    [
        (ab_plan(2), Table::new(&[1.0, 0.98, 1.0])),
        (Plan { blocks: 9, explained: 3, ..ab_plan(1) }, Table::new(&[1.0, 0.7]).failing(&[0, 2])),
        (
            plan(Design::Ladder { steps, table: 12, searched: None }),
            Table::new(&[1.0, 0.9, 0.9, 0.7, 0.8]).failing(&[0, 0, 0, 16, 0]),
        ),
        (Plan { blocks: 6, ..plan(Design::Sweep { points: 4 }) }, Table::new(&[1.0, 0.8, 0.7, 0.69])),
        (
            Plan { blocks: 9, explained: 2, ..plan(Design::Search { variants: 3, searched: searched() }) },
            // The last one takes no rate at all.
            Table::new(&[1.0, 1.3, 0.001]).failing(&[0, 1, 0]),
        ),
        (
            Plan { blocks: 8, ..plan(Design::Ladder { steps: searching, table: 9, searched: Some(searched()) }) },
            Table::new(&[1.0, 1.2, 1.5]),
        ),
        (Plan { blocks: 5, ..plan(Design::Factorial { flags: 2 }) }, Table::new(&[1.0, 0.8, 0.7, 0.6])),
        (Plan { explained: 1, ..optimising(1, &[]) }, Table::new(&[1.0, 0.9, 0.8, 0.8, 1.1]).failing(&[0, 3, 0, 0, 0])),
        (optimising(2, &[]), Table::new(&[1.0, 0.9, 0.8, 0.8, 1.1])),
    ]
}

#[test]
fn a_session_that_was_killed_after_any_event_goes_on_as_if_it_had_not_been() {
    for (plan, machine) in designs() {
        let (whole, journal) = whole(plan, &machine);
        each_counts_once(&whole, &journal);
        assert_eq!(Session::resume(&journal).unwrap(), whole);
        for end in 1..=journal.len() {
            // As it is on disk, cut within the line that came next.
            let text: String = journal.iter().take(end + 1).map(Event::line).collect();
            let cut = if end < journal.len() { text.len() - 1 } else { text.len() };
            let (mut events, _) = lines(&text[..cut]).unwrap();
            assert_eq!(events, journal[..end]);
            let mut session = Session::resume(&events).unwrap();
            assert_eq!(session.run(&mut machine.clone(), &mut events).unwrap(), End::Finished);
            assert_eq!(stages(&session), stages(&whole), "cut after {end} of {}", journal.len());
            each_counts_once(&session, &events);
            assert_eq!(Session::resume(&events).unwrap(), session);
        }
    }
}

#[test]
fn a_search_finds_where_the_limit_is() {
    let (plan, machine) = designs()[4].clone();
    let (session, _) = whole(plan, &machine);
    let found = search::all(&session);
    for ((_, found), factor) in found.iter().zip([1.0, 1.3]) {
        // 1 − S ÷ limit of the capacity.
        let truth = 800.0 * factor;
        assert!((found.rate / truth).ln().abs() < 0.05, "{} against {truth}", found.rate);
        assert!(
            found.interval.is_some_and(|[low, high]| low < truth * 1.03 && high > truth * 0.97 && high < low * 1.6)
        );
        assert!(found.tried.iter().filter(|t| t.around).count() >= 8);
    }
    assert_eq!(found[2].1.next, Next::Below(300.0 / 64.0));
    let changes = ab::changes(&session);
    assert_eq!((changes[0].verdict, changes[1].verdict), (Some(Verdict::Better), Some(Verdict::Worse)));
    assert!((changes[0].factor / 1.3).ln().abs() < 0.05 && changes[1].factor.is_nan());
    // What is recorded for explaining is asked for the same rate by all.
    let blocks = session.stages().iter().flat_map(|s| &s.series.blocks);
    let explained = blocks.map(|b| b.order.iter().filter(|s| s.explained).map(|s| &s.set["rate"]).collect::<Vec<_>>());
    let explained: Vec<Vec<&String>> = explained.filter(|rates| !rates.is_empty()).collect();
    assert_eq!(explained.len(), 2);
    assert!(explained.iter().all(|rates| rates.len() == 2 && rates[0] == rates[1]), "{explained:?}");
}

#[test]
fn a_search_that_meets_its_limits_at_the_most_says_so() {
    let plan = plan(Design::Search { variants: 1, searched: Searched { to: 500.0, ..searched() } });
    let (session, _) = whole(plan, &Table::new(&[1.0]));
    assert_eq!(search::all(&session)[0].1.next, Next::AtLeast(500.0));
}

#[test]
fn steps_of_a_ladder_can_be_judged_by_the_rate_that_they_take() {
    let (plan, machine) = designs()[5].clone();
    let (session, _) = whole(plan, &machine);
    assert_eq!(session.kept(), [0, 1]);
    let table = ladder::table(&session);
    let total = table[1].total.as_ref().unwrap();
    assert!((total.factor / 1.5).ln().abs() < 0.05, "{}", total.factor);
    assert_eq!(search::all(&session).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn killed_void_and_stopped_at_random(
        design in 0..9usize,
        kills in prop::collection::vec(1..60usize, 0..8),
        void in prop::collection::btree_set(1..200usize, 0..6),
        stop in 1..20usize,
    ) {
        let (plan, machine) = designs()[design].clone();
        let whole = whole(plan.clone(), &machine).0;
        let mut machine = Table { void: void.into_iter().collect(), stop, ..machine };
        let mut journal = Vec::new();
        let mut session = Session::begin(plan, &mut journal).unwrap();
        let mut end = session.run(&mut machine, &mut journal).unwrap();
        for kill in kills {
            // Killed so many events before where it came to.
            journal.truncate(journal.len().saturating_sub(kill).max(1));
            session = Session::resume(&journal).unwrap();
            machine.asked = 0;
            end = session.run(&mut machine, &mut journal).unwrap();
        }
        while end == End::Stopped {
            machine.asked = 0;
            end = session.run(&mut machine, &mut journal).unwrap();
        }
        prop_assert_eq!(stages(&session), stages(&whole));
        each_counts_once(&session, &journal);
    }

    #[test]
    fn no_journal_makes_it_panic(
        design in 0..9usize,
        edits in prop::collection::vec((0..400usize, 0..3usize, 0..400usize), 1..6),
    ) {
        let (plan, machine) = designs()[design].clone();
        let mut journal = whole(plan, &machine).1;
        for (at, how, from) in edits {
            let (at, from) = (at % journal.len(), from % journal.len());
            match how {
                0 => { if journal.len() > 1 { journal.remove(at); } }
                1 => journal.insert(at, journal[from].clone()),
                _ => journal.swap(at, from),
            }
        }
        // Refused with a line, or a session that can go on and counts nothing twice.
        match Session::resume(&journal) {
            Err(Error::Journal { line, .. }) => prop_assert!(line >= 1 && line <= journal.len() + 1),
            Err(other) => panic!("{other}"),
            Ok(mut session) => {
                prop_assert_eq!(session.run(&mut machine.clone(), &mut journal).unwrap(), End::Finished);
                each_counts_once(&session, &journal);
            }
        }
    }
}

#[test]
fn what_is_not_a_journal_is_refused_with_its_line() {
    let (_, journal) = whole(ab_plan(1), &Table::new(&[1.0, 0.8]));
    let refused = |events: &[Event]| Session::resume(events).unwrap_err().to_string();
    assert!(refused(&[]).contains("line 1"));
    assert!(refused(&journal[1..]).contains("does not begin with the plan"));
    // One trial twice.
    let at = journal.iter().position(|e| matches!(e, Event::Ended { .. })).unwrap();
    let mut twice = journal.clone();
    twice.insert(at, journal[at].clone());
    assert!(
        refused(&twice).starts_with(&format!("line {} of the journal: trial 1 ended", at + 2)),
        "{}",
        refused(&twice)
    );
    let mut other = journal.clone();
    if let Event::Plan { format, .. } = &mut other[0] {
        *format = 9;
    }
    assert!(refused(&other).contains("format 9"));
}

#[test]
fn a_variant_that_fails_is_not_called_better() {
    // Half the time, when it works: and it fails in a quarter of its trials.
    let (session, _) = whole(ab_plan(1), &Table::new(&[1.0, 0.5]).failing(&[0, 4]));
    let change = &ab::changes(&session)[0];
    assert_eq!(change.verdict, Some(Verdict::NotDecided));
    assert!(change.interval.unwrap()[1] < 0.6, "what was measured is shown all the same");
    assert!(change.trials.1 * 10 > change.trials.0 && change.trials_against.1 == 0, "{change:?}");
    // It is called worse where it is.
    let (session, _) = whole(ab_plan(1), &Table::new(&[1.0, 1.5]).failing(&[0, 4]));
    assert_eq!(ab::changes(&session)[0].verdict, Some(Verdict::Worse));
    // One that never works is given up after three trials, and so is a session whose baseline never does.
    for failing in [[0, 16], [16, 0]] {
        let (session, _) = whole(ab_plan(1), &Table::new(&[1.0, 0.5]).failing(&failing));
        let change = &ab::changes(&session)[0];
        assert_eq!((change.verdict, change.pairs, session.trials()), (Some(Verdict::NotDecided), 0, 6));
    }
}

#[test]
fn a_block_that_is_void_again_and_again_is_given_up() {
    let mut journal = Vec::new();
    let mut session = Session::begin(ab_plan(1), &mut journal).unwrap();
    let mut machine = Table { void: (5..100).collect(), ..Table::new(&[1.0, 1.0]) };
    let error = session.run(&mut machine, &mut journal).unwrap_err().to_string();
    assert!(error.contains("10 attempts") && error.contains("a setting could not be set"), "{error}");
    // Two blocks are there; it can go on when the reason is gone.
    assert_eq!(session.stages()[0].series.blocks.len(), 2);
    let mut session = Session::resume(&journal).unwrap();
    assert_eq!(session.run(&mut Table::new(&[1.0, 1.0]), &mut journal).unwrap(), End::Finished);
    each_counts_once(&session, &journal);
}

#[test]
fn variants_leave_when_they_are_decided() {
    // The first is plain after four blocks.
    let (session, journal) = whole(ab_plan(2), &Table::new(&[1.0, 0.5, 0.97]));
    let changes = ab::changes(&session);
    assert_eq!((changes[0].verdict, changes[0].by, changes[0].pairs), (Some(Verdict::Better), By::Student, 4));
    assert!(changes[1].pairs > 4);
    let sizes: Vec<usize> = journal
        .iter()
        .filter_map(|e| if let Event::Block { order, .. } = e { Some(order.len()) } else { None })
        .collect();
    assert!(sizes[..4].iter().all(|n| *n == 3) && sizes[4..].iter().all(|n| *n == 2), "{sizes:?}");
}

#[test]
fn a_ladder_is_climbed_and_then_measured_as_a_whole() {
    let (plan, machine) = designs()[2].clone();
    let (session, journal) = whole(plan, &machine);
    let table = ladder::table(&session);
    // Step 1 takes a tenth off, step 2 is kept whatever it does, step 3 never works, step 4 is better again.
    assert_eq!(session.kept(), [0, 1, 3]);
    assert_eq!(table.iter().map(|r| r.kept.unwrap()).collect::<Vec<_>>(), [true, true, false, true]);
    assert_eq!(table.iter().map(|r| r.climbed.against).collect::<Vec<_>>(), [0, 1, 2, 2]);
    let total = table[3].total.as_ref().unwrap();
    assert!((total.factor - 0.8).abs() < 0.03 && total.verdict == Some(Verdict::Better), "{total:?}");
    assert_eq!(total.pairs, 12);
    assert_eq!(table[1].change.as_ref().unwrap().verdict, Some(Verdict::Same));
    assert_eq!(table[2].change.as_ref().unwrap().pairs, 0);
    // The baseline is in every fourth block of a step that stands on another; all but the broken rung are in the table's.
    let last = session.stages().len() - 1;
    let orders = |of: usize| {
        journal.iter().filter_map(move |e| match e {
            Event::Block { stage, order, .. } if *stage == of => Some(order.clone()),
            _ => None,
        })
    };
    assert!(orders(last).all(|o| o.len() == 4));
    for (block, order) in orders(1).enumerate() {
        assert_eq!(order.iter().any(|s| s.variant == 0), block % 4 == 0);
    }
    // The machine is told what a variant is made of.
    let mut again = machine.clone();
    let mut begun = Session::resume(&journal[..1]).unwrap();
    begun.run(&mut again, &mut journal[..1].to_vec()).unwrap();
    let steps = again.ran.iter().rev().find(|t| t.variant == 4).unwrap().steps.clone();
    assert_eq!(steps, [0, 1, 3]);
    assert_eq!(again.ran.iter().rev().find(|t| t.variant == 3).unwrap().steps, [0, 1, 2]);
    assert!(again.ran.iter().filter(|t| t.variant == 0).all(|t| t.steps.is_empty()));
}

#[test]
fn trials_for_explaining_are_no_part_of_the_numbers() {
    let with = Plan { explained: 3, ..ab_plan(1) };
    let machine = Table::new(&[1.0, 0.97]);
    let (session, journal) = whole(with, &machine);
    assert_eq!(ab::changes(&session), ab::changes(&whole(ab_plan(1), &machine).0));
    let explained = |journal: &[Event]| {
        let slots = journal.iter().filter_map(|e| if let Event::Block { order, .. } = e { Some(order) } else { None });
        slots.flatten().filter(|s| s.explained).count()
    };
    assert_eq!(explained(&journal), 6, "three of each");
    let (_, plain) = whole(Plan { explained: 3, ..ab_plan(1) }, &Table::new(&[1.0, 0.5]));
    assert_eq!(explained(&plain), 2, "one of each where the change is plain");
}

#[test]
fn a_sweep_names_what_may_be_best() {
    let (session, _) =
        whole(Plan { blocks: 10, ..plan(Design::Sweep { points: 4 }) }, &Table::new(&[1.0, 0.8, 0.7, 0.698]));
    let points = sweep::points(&session);
    assert_eq!(points.iter().map(|p| p.may_be_best).collect::<Vec<_>>(), [false, false, true, true]);
    assert_eq!(points.iter().filter(|p| p.of_best.is_none()).count(), 1);
    let (factor, [low, high]) = points[0].of_best.unwrap();
    assert!(low < factor && factor < high && (low..high).contains(&(1.0 / 0.7)), "{low} {factor} {high}");
    assert_eq!(sweep::complete(&session).len(), 10);
}

/// A machine whose time is up after so many blocks.
struct Clock(Simulated, usize);

impl Machine for Clock {
    fn run(&mut self, trial: &Trial) -> Outcome {
        self.0.run(trial)
    }

    fn go_on(&mut self, stage: &Stage) -> Go {
        if stage.series.blocks.len() >= self.1 { Go::TimeUp } else { Go::On }
    }
}

#[test]
fn when_time_is_up_it_is_judged_as_it_is_and_can_go_on_by_the_wager() {
    let mut journal = Vec::new();
    let mut session = Session::begin(ab_plan(1), &mut journal).unwrap();
    assert!(session.more(5, &mut journal).unwrap_err().to_string().contains("not ended"));
    // 2 % less, in noise of 3 % a trial.
    let machine = |seed| Simulated::new(Noise::White, seed, 60).effects(&[0.0, 0.98f64.ln()]);
    assert_eq!(session.run(&mut Clock(machine(8), 9), &mut journal).unwrap(), End::Finished);
    let change = ab::changes(&session)[0].clone();
    assert_eq!((change.verdict, change.pairs, change.by), (Some(Verdict::NotDecided), 9, By::SignedRanks));
    assert!(change.needs.is_some_and(|n| n > 9), "{change:?}");
    session.more(200, &mut journal).unwrap();
    assert_eq!(Session::resume(&journal).unwrap(), session);
    assert_eq!(session.run(&mut machine(6), &mut journal).unwrap(), End::Finished);
    let change = &ab::changes(&session)[0];
    assert_eq!((change.verdict, change.by, change.level), (Some(Verdict::Better), By::Wager, 0.05));
    assert!(change.pairs > 9 && change.pairs < 209);
    assert!(session.more(5, &mut journal).unwrap_err().to_string().contains("decided"));
    assert_eq!(Session::resume(&journal).unwrap(), session);
    // A ladder cannot.
    let (plan, machine) = designs()[2].clone();
    let mut ladder = whole(plan, &machine).0;
    assert!(ladder.more(5, &mut Vec::new()).unwrap_err().to_string().contains("new session"));
}

#[test]
fn a_search_is_single_trials_and_then_blocks() {
    let (session, journal) =
        whole(optimising(1, &["threads <= 4 or heap >= 1024"]), &Table::new(&[1.0, 0.9, 0.8, 0.7, 1.1]));
    let orders: Vec<(usize, Vec<Slot>)> = journal
        .iter()
        .filter_map(|e| if let Event::Block { stage, order, .. } = e { Some((*stage, order.clone())) } else { None })
        .collect();
    let (first, second): (Vec<_>, Vec<_>) = orders.into_iter().partition(|(stage, _)| *stage == 0);
    assert_eq!((first.len(), second.len(), session.trials()), (14, 4, 30));
    assert_eq!(first[0].1, [Slot::of(0)], "the default is the first");
    let sets: Vec<_> = first[1..].iter().map(|(_, order)| order[0].set.clone()).collect();
    assert!(first[1..].iter().all(|(_, order)| order.len() == 1 && order[0].variant == optimise::SOUGHT));
    for set in &sets {
        let number = |name: &str| set[name].parse::<f64>().unwrap();
        assert!(number("threads") <= 4.0 || number("heap") >= 1024.0, "{set:?}");
        assert_eq!(set.len(), 3);
    }
    // Those that are looked at again were tried, and are no default.
    let confirmed = optimise::confirmed(&session);
    assert_eq!(confirmed.keys().copied().collect::<Vec<_>>(), [2, 3, 4]);
    assert!(confirmed.values().all(|set| sets.contains(set)));
    for (_, order) in &second {
        assert_eq!(order.len(), 4);
        assert!(order.iter().all(|s| s.set == confirmed.get(&s.variant).cloned().unwrap_or_default()));
    }
    // The gain is that of the blocks: variant 3 takes 0.7 of the time there, whatever the search saw.
    assert_eq!(optimise::to_take(&session), Some(3));
    let change = optimise::changes(&session).into_iter().find(|c| c.variant == 3).unwrap();
    assert_eq!((change.verdict, change.by, change.pairs), (Some(Verdict::Better), By::Student, 4));
    assert!((change.level - 0.05 / 3.0).abs() < 1e-12 && (change.factor - 0.7).abs() < 0.05, "{change:?}");
    // What no plan has in it is no journal of it.
    let at = journal.iter().position(|e| matches!(e, Event::Block { block: 3, .. })).unwrap();
    for (name, value) in [("heap", "300"), ("heep", "512")] {
        let mut other = journal.clone();
        if let Event::Block { order, .. } = &mut other[at] {
            order[0].set.insert(name.into(), value.into());
        }
        let refused = Session::resume(&other).unwrap_err().to_string();
        assert!(refused.contains(&format!("line {}", at + 1)) && refused.contains(name), "{refused}");
    }
    let mut again = session.clone();
    assert!(again.more(3, &mut Vec::new()).unwrap_err().to_string().contains("begin a new session"));
}

#[test]
fn a_search_in_which_nothing_works_ends() {
    let (session, _) = whole(optimising(1, &[]), &Table::new(&[1.0; 5]).failing(&[16; 5]));
    assert_eq!((session.trials(), optimise::to_take(&session)), (12, None));
    assert!(optimise::changes(&session).is_empty());
    // Only the default works: it is not held against itself.
    let (session, _) = whole(optimising(1, &[]), &Table::new(&[1.0; 5]).failing(&[0, 16, 0, 0, 0]));
    assert_eq!((session.trials(), session.stages().len()), (14, 1));
}

/// Proposes what is no value of the space.
struct Wrong(Table);

impl Machine for Wrong {
    fn run(&mut self, trial: &Trial) -> Outcome {
        self.0.run(trial)
    }

    fn propose(&mut self, session: &Session) -> Result<Option<tune::space::Set>, String> {
        match session.trials() {
            n if n < 3 => Ok(Some(tune::optimise::propose(session))),
            3 => Err("line 3 of what it wrote is no answer".into()),
            _ => Ok(None),
        }
    }
}

#[test]
fn who_cannot_say_what_to_try_next_leaves_a_session_that_goes_on() {
    let mut journal = Vec::new();
    let mut session = Session::begin(optimising(1, &[]), &mut journal).unwrap();
    let table = Table::new(&[1.0, 0.9, 0.8, 0.8, 1.1]);
    let error = session.run(&mut Wrong(table.clone()), &mut journal).unwrap_err().to_string();
    assert!(error.contains("line 3 of what it wrote is no answer"), "{error}");
    let mut session = Session::resume(&journal).unwrap();
    assert_eq!(session.run(&mut table.clone(), &mut journal).unwrap(), End::Finished);
    assert_eq!(stages(&session), stages(&whole(optimising(1, &[]), &table).0));
}
