//! A machine whose outcomes are known before, and sessions on it.

use std::collections::BTreeMap;
use tune::optimise::Space;
use tune::{Better, Design, End, Event, Go, Machine, Measure, Outcome, Plan, Session, Stage, Trial};

/// A plan of two measures.
pub fn plan(design: Design) -> Plan {
    let measure = |name: &str, better| Measure { name: name.into(), better };
    Plan::new(design, vec![measure("wall", Better::Less), measure("done", Better::More)], 11)
}

/// A machine whose outcomes depend on the place in the plan alone, so that a trial that is run again says the same.
#[derive(Clone)]
pub struct Table {
    pub factors: Vec<f64>,
    /// Of 16.
    pub failing: Vec<u64>,
    /// The trials, by number, that are void.
    pub void: Vec<usize>,
    /// The machine wants to stop when it is asked for the how manieth time.
    pub stop: usize,
    pub asked: usize,
    pub ran: Vec<Trial>,
}

impl Table {
    pub fn new(factors: &[f64]) -> Table {
        Table { factors: factors.to_vec(), failing: vec![], void: vec![], stop: usize::MAX, asked: 0, ran: vec![] }
    }

    pub fn failing(mut self, failing: &[u64]) -> Table {
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
pub fn whole(plan: Plan, machine: &Table) -> (Session, Vec<Event>) {
    let mut journal = Vec::new();
    let mut session = Session::begin(plan, &mut journal).unwrap();
    assert_eq!(session.run(&mut machine.clone(), &mut journal).unwrap(), End::Finished);
    assert!(session.finished());
    (session, journal)
}

/// The stages without numbers of trials, which grow with each trial that is run again.
pub fn stages(session: &Session) -> Vec<Stage> {
    let mut stages = session.stages().to_vec();
    let trials = stages.iter_mut().flat_map(|s| &mut s.series.blocks).flat_map(|b| &mut b.trials);
    trials.for_each(|(number, _)| *number = 0);
    stages
}

/// That each trial of the completed blocks is one of its own, and ended once.
pub fn each_counts_once(session: &Session, journal: &[Event]) {
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
pub fn optimising(objectives: usize, only: &[&str]) -> Plan {
    let list = |of: &[&str]| of.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    let parameters = BTreeMap::from([
        ("gc".to_owned(), list(&["g1", "par", "z"])),
        ("heap".to_owned(), list(&["512", "256", "1024", "2048"])),
        ("threads".to_owned(), list(&["1", "2", "4", "8"])),
    ]);
    let space = Space::of(&parameters, &[], &list(only)).unwrap();
    plan(Design::Optimise { space, trials: 30, objectives })
}
