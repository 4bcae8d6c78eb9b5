//! Searches for the best values: that they are single trials and then blocks, come near the best, and tell the true gain.

#[path = "simulation/mod.rs"]
#[allow(dead_code, unused_imports)]
mod simulation;
#[allow(dead_code)]
mod table;

use table::{Table, optimising, stages, whole};
use tune::blocks::Slot;
use tune::designs::optimise;
use tune::{By, End, Event, Machine, Outcome, Session, Trial, Verdict};

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

#[test]
fn a_search_comes_near_the_best_and_tells_its_gain() {
    let s = simulation::optima(80, 0.05, 0.02, 40);
    println!("{s:?}");
    assert!(s.short < 5.5 && s.overstated.abs() < 1.5, "{s:?}");
    assert!(s.seen > s.overstated + 2.0, "the search itself is too sure: {s:?}");
}
