//! Sessions: that they go on from any event on as if nothing had happened, that no trial counts twice, and what ends them.

mod table;

use proptest::prelude::*;
use table::{Table, each_counts_once, optimising, plan, stages, whole};
use tune::designs::search::{self, Bound, Next, Searched};
use tune::designs::{ab, ladder, sweep};
use tune::measure::Limit;
use tune::simulated::{Noise, Simulated};
use tune::{By, Design, End, Error, Event, Go, Keep, Machine, Outcome, Plan, Session, Stage, Trial, Verdict, lines};

fn ab_plan(variants: usize) -> Plan {
    plan(Design::Ab { variants })
}

fn searched() -> Searched {
    let limits = vec![Bound { measure: 0, limit: Limit::parse("<= 1.5ms").unwrap() }];
    Searched { parameter: "rate".into(), from: 300.0, to: 1e5, limits, reached: None }
}

fn designs() -> [(Plan, Table); 10] {
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
        (Plan { blocks: 9, explained: 2, together: true, ..ab_plan(1) }, Table::new(&[1.0, 0.99]).failing(&[0, 2])),
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

#[test]
fn two_that_run_together_begin_before_either_ends() {
    let (plan, machine) = designs()[9].clone();
    let (session, journal) = whole(plan, &machine);
    let mut places = [[0; 2]; 2];
    for block in &session.stages()[0].series.blocks {
        // Those for explaining come after, for they run alone.
        let explained: Vec<bool> = block.order.iter().map(|slot| slot.explained).collect();
        assert_eq!(explained, [false, false, true, true][..explained.len()]);
        (0..2).for_each(|place| places[place][block.order[place].variant] += 1);
    }
    assert!(places.iter().flatten().all(|n| *n > 0), "they swap: {places:?}");
    let mut events = journal.iter().filter_map(|event| match event {
        Event::Began { trial, .. } => Some((true, *trial)),
        Event::Ended { trial, .. } => Some((false, *trial)),
        _ => None,
    });
    for block in &session.stages()[0].series.blocks {
        let numbers: Vec<usize> = block.trials.iter().map(|(number, _)| *number).collect();
        let (pair, alone) = numbers.split_at(2);
        let mut expected: Vec<(bool, usize)> =
            [true, false].into_iter().flat_map(|b| pair.iter().map(move |n| (b, *n))).collect();
        expected.extend(alone.iter().flat_map(|n| [(true, *n), (false, *n)]));
        assert_eq!(events.by_ref().take(expected.len()).collect::<Vec<_>>(), expected);
    }
    // An end of the second before that of the first is none that a session writes.
    let second = journal.iter().position(|e| matches!(e, Event::Ended { trial: 2, .. })).unwrap();
    let mut swapped = journal.clone();
    swapped.swap(second - 1, second);
    assert!(Session::resume(&swapped).is_err());
    // One after the other where nothing says together.
    let Event::Plan { format, plan } = journal[0].clone() else { panic!() };
    let mut alone = journal.clone();
    alone[0] = Event::Plan { format, plan: Plan { together: false, ..plan } };
    assert!(Session::resume(&alone).is_err());
}

#[test]
fn what_the_machine_does_to_both_is_not_in_the_ratio() {
    let spread = |together| {
        let plan = Plan { blocks: 30, effect: 0.001, together, ..ab_plan(1) };
        let mut machine = Simulated::new(Noise::Neighbour, 5, 60);
        let mut journal = Vec::new();
        let mut session = Session::begin(plan, &mut journal).unwrap();
        session.run(&mut machine, &mut journal).unwrap();
        let pairs = session.stages()[0].series.pairs(1, 0, 0);
        assert!(pairs.len() >= 15, "{}", pairs.len());
        (pairs.iter().map(|d| d * d).sum::<f64>() / pairs.len() as f64).sqrt()
    };
    // 1.5 % of each trial's own, of which the difference has the root of two.
    let (both, turns) = (spread(true), spread(false));
    assert!((0.012..0.03).contains(&both) && turns > 1.5 * both, "{both} {turns}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn killed_void_and_stopped_at_random(
        design in 0..10usize,
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
fn steps_are_added_to_a_ladder_until_its_table_begins() {
    let ladder =
        |steps: usize, table| plan(Design::Ladder { steps: vec![Keep::IfBetter; steps], table, searched: None });
    let machine = Table::new(&[1.0, 0.8, 0.9, 0.6]);
    let (short, _) = whole(ladder(2, 11), &machine);
    let (mut added, mut refused) = (0, 0);
    for stop in 0..60 {
        let mut journal = Vec::new();
        let mut session = Session::begin(ladder(2, 11), &mut journal).unwrap();
        let end = session.run(&mut Table { stop, ..machine.clone() }, &mut journal).unwrap();
        let begun = session.stages().iter().filter(|s| !s.series.blocks.is_empty()).count();
        match session.extension(&ladder(3, 11), false) {
            Ok(event) => {
                added += 1;
                assert!(begun <= 2 && end == End::Stopped);
                session.extend(event.unwrap(), &mut journal).unwrap();
                assert!(session.extension(&ladder(3, 11), false).unwrap().is_none(), "it is there now");
            }
            Err(error) => {
                refused += 1;
                assert!(begun == 3 && error.to_string().contains("the whole ladder have begun"), "{error}");
                continue;
            }
        }
        // It goes on as it was, with the new step behind the others.
        assert_eq!(Session::resume(&journal).unwrap().stages(), session.stages());
        assert_eq!(session.run(&mut machine.clone(), &mut journal).unwrap(), End::Finished);
        assert_eq!(Session::resume(&journal).unwrap(), session);
        each_counts_once(&session, &journal);
        assert_eq!(session.stages().len(), 4);
        let before = |s: &Session, stage: usize| s.stages()[stage].comparisons[0].clone();
        for stage in 0..begun.max(1) {
            assert_eq!(before(&session, stage).rule, before(&short, stage).rule, "stage {stage} of stop {stop}");
        }
        assert_eq!(session.stages()[3].variants, [0, 1, 2, 3]);
        assert!(session.stages()[3].series.blocks.len() >= 11);
        assert_eq!(session.kept(), [0, 2]);
    }
    assert!(added > 10 && refused > 5, "{added} {refused}");
}

#[test]
fn only_what_is_sound_can_be_added() {
    let ladder = |steps: &[Keep], blocks, table| Plan {
        blocks,
        ..plan(Design::Ladder { steps: steps.to_vec(), table, searched: None })
    };
    let two = [Keep::IfBetter, Keep::Always];
    let session = |plan: Plan| Session::begin(plan, &mut Vec::new()).unwrap();
    let of = |wanted: Plan, table| session(ladder(&two, 20, 12)).extension(&wanted, table);
    assert_eq!(of(ladder(&two, 20, 12), true).unwrap(), None);
    assert!(of(ladder(&[Keep::Always, Keep::Always], 20, 12), false).unwrap_err().to_string().contains("at its end"));
    assert!(of(ladder(&two, 19, 12), false).unwrap_err().to_string().contains("20 were planned"));
    assert!(of(ladder(&two, 20, 11), true).unwrap_err().to_string().contains("12 were planned"));
    assert_eq!(of(ladder(&two, 25, 14), true).unwrap(), Some(Event::Extend { steps: vec![], blocks: 25, table: 14 }));
    assert!(of(ladder(&two, 241, 12), false).unwrap_err().to_string().contains("at most 240"));
    // With more steps the table needs more blocks, and gets them where nobody said how many.
    let many = [&two[..], &[Keep::IfBetter; 30]].concat();
    assert!(of(ladder(&many, 20, 12), true).unwrap_err().to_string().contains("budget.table"));
    let Some(Event::Extend { table, .. }) = of(ladder(&many, 20, 12), false).unwrap() else { panic!("it fits") };
    assert!(table > 12);
    // A sweep calls nothing, so that it may take more blocks while it runs; looks at comparisons are planned.
    let sweep = |blocks| Plan { blocks, ..plan(Design::Sweep { points: 3 }) };
    let mut journal = Vec::new();
    let mut more = Session::begin(sweep(3), &mut journal).unwrap();
    let event = more.extension(&sweep(5), false).unwrap().unwrap();
    more.extend(event, &mut journal).unwrap();
    more.run(&mut Table::new(&[1.0, 0.9, 0.8]), &mut journal).unwrap();
    assert_eq!(more.stages()[0].series.blocks.len(), 5);
    assert_eq!(Session::resume(&journal).unwrap(), more);
    assert!(more.extension(&sweep(7), false).unwrap_err().to_string().contains("--more 2"));
    let ab = session(ab_plan(1)).extension(&Plan { blocks: 42, ..ab_plan(1) }, false);
    assert!(ab.unwrap_err().to_string().contains("--more N"));
    // A journal that says otherwise is none.
    let wrong = [journal[0].clone(), Event::Extend { steps: vec![Keep::Always], blocks: 9, table: 0 }];
    assert!(Session::resume(&wrong).is_err());
}
