//! A session: what its events make of it, and what is to be done next.

mod extend;

use crate::blocks::{self, Block, Slot, order};
use crate::designs::{next_stage, optimise};
use crate::event::{Event, FORMAT, Outcome};
use crate::machine::{Go, Journal, Machine, Trial};
use crate::stage::{Due, Kind, Stage};
use crate::{By, Design, Error, Plan, Verdict};

/// A block whose attempts are void this often is given up.
const ATTEMPTS: usize = 10;

/// How [`Session::run`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All is done that was planned.
    Finished,
    /// [`Go::Stop`]: it can go on later.
    Stopped,
}

/// A session.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    plan: Plan,
    levels: extend::Levels,
    stages: Vec<Stage>,
    /// The number of the last trial that began.
    last: usize,
    open: Option<Open>,
    /// Attempts of the present block so far.
    attempts: usize,
    /// The order of these, where values were chosen for it: it is run again with the same.
    again: Option<Vec<Slot>>,
}

/// The block that has begun.
#[derive(Clone, Debug, PartialEq)]
struct Open {
    order: Vec<Slot>,
    trials: Vec<(usize, Outcome)>,
    /// The trials that run: one, or two at the same time.
    running: Vec<usize>,
    /// Why it does not count.
    cut: Option<String>,
}

enum Step {
    Write(Event),
    /// A block of one trial, of values that are asked for.
    Ask,
    /// One trial, or two at the same time.
    Run(Vec<Trial>),
    Done,
}

impl Session {
    /// A new session: checks the plan, and writes it down.
    pub fn begin(plan: Plan, journal: &mut dyn Journal) -> Result<Session, Error> {
        plan.check()?;
        let session = Session::new(plan.clone());
        journal.append(&Event::Plan { format: FORMAT, plan })?;
        Ok(session)
    }

    fn new(plan: Plan) -> Session {
        let levels = extend::Levels::of(&plan);
        let mut session = Session { plan, levels, stages: Vec::new(), last: 0, open: None, attempts: 0, again: None };
        session.advance();
        session
    }

    /// A session as its events left it. A block that had begun is cut: its trials are not neighbours any more, and it is run
    /// again as a whole. `Err` names the first event that no session could have written.
    pub fn resume(events: &[Event]) -> Result<Session, Error> {
        let wrong = |line: usize, what: String| Error::Journal { line, what };
        let Some((Event::Plan { format, plan }, rest)) = events.split_first() else {
            return Err(wrong(1, "it does not begin with the plan; it is not a journal of a session".into()));
        };
        if *format != FORMAT {
            return Err(wrong(
                1,
                format!("format {format}, this version writes {FORMAT}: use the version that began it"),
            ));
        }
        plan.check().map_err(|e| wrong(1, e.to_string()))?;
        let mut session = Session::new(plan.clone());
        for (i, event) in rest.iter().enumerate() {
            session.apply(event).map_err(|what| wrong(i + 2, what))?;
        }
        if let Some(open) = &mut session.open {
            open.cut.get_or_insert_with(|| "the session ended within it".into());
        }
        Ok(session)
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The stages so far, the present one last.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The trials that have begun, those of blocks that were cut among them.
    pub fn trials(&self) -> usize {
        self.last
    }

    /// Whether all is done that was planned.
    pub fn finished(&self) -> bool {
        matches!(self.next(), Step::Done)
    }

    /// The steps that a variant of a ladder has, from 0; empty in other designs.
    pub fn steps(&self, variant: usize) -> Vec<usize> {
        let Design::Ladder { steps, .. } = &self.plan.design else { return Vec::new() };
        // What was kept before it, and its own step.
        let mut has = self.kept();
        has.retain(|step| step + 1 < variant);
        has.extend(variant.checked_sub(1).filter(|step| *step < steps.len()));
        has
    }

    /// The steps of a ladder that were kept so far, from 0.
    pub fn kept(&self) -> Vec<usize> {
        let Design::Ladder { steps, .. } = &self.plan.design else { return Vec::new() };
        let kept = |stage: &Stage| {
            let Kind::Climb(step) = stage.kind else { return None };
            let verdict = stage.comparisons.first()?.verdict?;
            let keep = match steps.get(step)? {
                crate::Keep::IfBetter => verdict == Verdict::Better,
                crate::Keep::Always => stage.series.values(step + 1, 0).flatten().next().is_some(),
            };
            keep.then_some(step)
        };
        self.stages.iter().filter_map(kept).collect()
    }

    /// Runs trials until all is done or the machine says stop. Each decision is in the journal before it is carried out.
    pub fn run(&mut self, machine: &mut dyn Machine, journal: &mut dyn Journal) -> Result<End, Error> {
        // Attempts of the present block that were void, of those that this call made.
        let mut void = 0;
        loop {
            match self.next() {
                Step::Done => return Ok(End::Finished),
                Step::Run(trials) => {
                    for trial in &trials {
                        self.write(Event::Began { trial: trial.number, variant: trial.variant }, journal)?;
                    }
                    if trials.iter().any(|trial| trial.place == 0 && trial.attempt == 0) {
                        void = 0;
                    }
                    let outcomes = match trials.as_slice() {
                        [trial] => vec![machine.run(trial)],
                        trials => machine.run_together(trials),
                    };
                    let mut outcomes = outcomes.into_iter();
                    let mut why = None;
                    for trial in &trials {
                        let judged = !trial.explained && self.plan.searched().is_none();
                        let outcome = outcomes.next().unwrap_or_else(|| Outcome::Void("it was not run".into()));
                        let outcome = outcome.sound(&self.plan, judged);
                        if let Outcome::Void(because) = &outcome {
                            why.get_or_insert_with(|| because.clone());
                        }
                        self.write(Event::Ended { trial: trial.number, outcome }, journal)?;
                    }
                    if let Some(why) = why {
                        void += 1;
                        if void >= ATTEMPTS {
                            return Err(Error::Void { attempts: void, why });
                        }
                    }
                }
                Step::Ask => {
                    let go = self.stages.last().map_or(Go::On, |stage| machine.go_on(stage));
                    if go == Go::TimeUp {
                        self.write(Event::TimeUp { stage: self.stage() }, journal)?;
                        continue;
                    }
                    let chosen = if go == Go::On { machine.propose(self).map_err(Error::Ask)? } else { None };
                    let Some(set) = chosen else { return Ok(End::Stopped) };
                    let order = vec![Slot { set, ..Slot::of(optimise::SOUGHT) }];
                    let block = self.stages.last().map_or(0, |s| s.series.blocks.len());
                    self.write(Event::Block { stage: self.stage(), block, attempt: self.attempts, order }, journal)?;
                }
                Step::Write(event) => {
                    let go = match (&event, self.stages.last()) {
                        (Event::Block { .. }, Some(stage)) => machine.go_on(stage),
                        _ => Go::On,
                    };
                    match go {
                        Go::On => self.write(event, journal)?,
                        Go::TimeUp => self.write(Event::TimeUp { stage: self.stage() }, journal)?,
                        Go::Stop => return Ok(End::Stopped),
                    }
                }
            }
        }
    }

    /// Goes on after the end, by so many blocks at most. Comparisons that were not decided go on by the wager, which may be
    /// looked at after each block; a sweep takes that many more. A ladder does not, for a look at its table was planned once.
    pub fn more(&mut self, blocks: usize, journal: &mut dyn Journal) -> Result<(), Error> {
        self.may_go_on(blocks).map_err(Error::More)?;
        self.write(Event::More { blocks }, journal)
    }

    fn may_go_on(&self, blocks: usize) -> Result<(), String> {
        if blocks == 0 {
            return Err("0 more blocks: name how many".into());
        }
        if !self.finished() {
            return Err("the session has not ended yet: let it go on first".into());
        }
        match self.plan.design {
            Design::Ladder { .. } => Err("a ladder's blocks are planned at its beginning: begin a new session".into()),
            Design::Sweep { .. } => Ok(()),
            Design::Optimise { .. } => {
                Err("a search's trials are planned at its beginning: begin a new session, or an ab of the best".into())
            }
            Design::Factorial { .. } => {
                Err("a factorial's blocks are planned at its beginning: begin a new session".into())
            }
            Design::Search { variants: 1, .. } => Ok(()),
            Design::Ab { .. } | Design::Search { .. } => {
                let most = query::stats::pairs::MOST;
                let stage = self.stages.last();
                if stage.is_some_and(|s| s.counted().saturating_add(blocks) > most) {
                    return Err(format!("{blocks} more blocks: at most {most} in all"));
                }
                let open = stage.is_some_and(|s| {
                    let live = |v| !s.series.hopeless(v);
                    let mut open = s.comparisons.iter().filter(|c| c.verdict == Some(Verdict::NotDecided));
                    open.any(|c| live(c.variant) && live(c.against))
                });
                if open { Ok(()) } else { Err("all comparisons are decided: more blocks would change nothing".into()) }
            }
        }
    }

    fn write(&mut self, event: Event, journal: &mut dyn Journal) -> Result<(), Error> {
        journal.append(&event)?;
        // What it has just decided fits by itself.
        self.apply(&event).map_err(|what| Error::Journal { line: 0, what })
    }

    /// The number of the present stage.
    fn stage(&self) -> usize {
        self.stages.len().saturating_sub(1)
    }

    fn next(&self) -> Step {
        let Some(stage) = self.stages.last() else { return Step::Done };
        let number = self.stage();
        let block = stage.series.blocks.len();
        if let Some(open) = &self.open {
            if let Some(why) = &open.cut {
                let why = why.clone();
                return Step::Write(Event::Cut { stage: number, block, attempt: self.attempts, why });
            }
            let place = open.trials.len();
            let Some(slot) = open.order.get(place) else { return Step::Done };
            let both = self.plan.together && !slot.explained;
            let slots = open.order.iter().skip(place).take_while(|s| both && !s.explained).count().max(1);
            let trial = |(ahead, slot): (usize, &Slot)| Trial {
                number: self.last + 1 + ahead,
                stage: number,
                block,
                attempt: self.attempts,
                place: place + ahead,
                variant: slot.variant,
                steps: self.steps(slot.variant),
                set: slot.set.clone(),
                explained: slot.explained,
            };
            return Step::Run(open.order.iter().skip(place).take(slots).enumerate().map(trial).collect());
        }
        let of = |i: usize| stage.comparisons.get(i).map_or((0, 0), |c| (c.variant, c.against));
        match stage.due() {
            Some(Due::Look(i, look)) => {
                let (variant, against) = of(i);
                Step::Write(Event::Look { stage: number, variant, against, look })
            }
            Some(Due::Verdict(i, verdict)) => {
                let (variant, against) = of(i);
                Step::Write(Event::Verdict { stage: number, variant, against, verdict })
            }
            None if stage.wants_block() && stage.kind == Kind::Seek && block > 0 && self.again.is_none() => Step::Ask,
            None if stage.wants_block() && stage.kind == Kind::Seek => {
                // The default is the first.
                let order = self.again.clone().unwrap_or_else(|| vec![Slot::of(0)]);
                Step::Write(Event::Block { stage: number, block, attempt: self.attempts, order })
            }
            None if stage.wants_block() => {
                let order = order(self.plan.seed, number, block, &stage.slots());
                let order = if self.plan.together { blocks::together(order) } else { order };
                Step::Write(Event::Block { stage: number, block, attempt: self.attempts, order })
            }
            None => Step::Done,
        }
    }

    /// Takes an event in. `Err` says why it does not fit.
    fn apply(&mut self, event: &Event) -> Result<(), String> {
        let number = self.stage();
        let blocks = self.stages.last().map_or(0, |s| s.series.blocks.len());
        let here = |stage: usize| {
            if stage == number { Ok(()) } else { Err(format!("stage {stage}, but the session is in stage {number}")) }
        };
        match event {
            Event::Plan { .. } => return Err("a second plan".into()),
            Event::Block { stage, block, attempt, order } => {
                here(*stage)?;
                if self.open.is_some() || *block != blocks || *attempt != self.attempts {
                    return Err(format!("block {block} (attempt {attempt}) begins where block {blocks} was due"));
                }
                if order.is_empty() || order.iter().any(|s| s.variant >= self.plan.variants()) {
                    return Err("a block without trials, or of a variant that the plan does not have".into());
                }
                self.chosen(order)?;
                self.open = Some(Open { order: order.clone(), trials: Vec::new(), running: Vec::new(), cut: None });
            }
            Event::Began { trial, variant } => {
                let next = self.last + 1;
                let may = |o: &&mut Open| o.running.is_empty() || self.plan.together;
                let open = self.open.as_mut().filter(|o| o.cut.is_none()).filter(may);
                let slot = open.as_ref().and_then(|o| o.order.get(o.trials.len() + o.running.len()));
                if slot.is_none_or(|s| s.variant != *variant) || *trial != next {
                    return Err(format!("trial {trial} of variant {variant} was not the next one"));
                }
                if let Some(open) = open {
                    open.running.push(*trial);
                }
                self.last = next;
            }
            Event::Ended { trial, outcome } => {
                // Of two at the same time the end of the first is written first, whichever it was.
                let Some(open) = self.open.as_mut().filter(|o| o.running.first() == Some(trial)) else {
                    return Err(format!("trial {trial} ended, but it was not running"));
                };
                open.running.remove(0);
                match outcome {
                    Outcome::Void(why) => open.cut = Some(why.clone()),
                    _ => open.trials.push((*trial, outcome.clone())),
                }
                if open.trials.len() == open.order.len() {
                    let block =
                        Block { order: std::mem::take(&mut open.order), trials: std::mem::take(&mut open.trials) };
                    (self.open, self.attempts, self.again) = (None, 0, None);
                    if let Some(stage) = self.stages.last_mut() {
                        stage.series.blocks.push(block);
                    }
                }
            }
            Event::Cut { stage, block, attempt, .. } => {
                here(*stage)?;
                if self.open.is_none() || *block != blocks || *attempt != self.attempts {
                    return Err(format!("block {block} (attempt {attempt}) is cut, but is not the one that runs"));
                }
                let seeks = self.stages.last().is_some_and(|stage| stage.kind == Kind::Seek);
                self.again = self.open.take().map(|open| open.order).filter(|_| seeks);
                self.attempts += 1;
            }
            Event::Look { stage, variant, against, look } => {
                here(*stage)?;
                let c = self.comparison(*variant, *against)?;
                c.looks.push(look.clone());
            }
            Event::Verdict { stage, variant, against, verdict } => {
                here(*stage)?;
                let c = self.comparison(*variant, *against)?;
                c.verdict = Some(*verdict);
            }
            Event::TimeUp { stage } => {
                here(*stage)?;
                if let Some(stage) = self.stages.last_mut().filter(|_| self.open.is_none()) {
                    stage.time_up = true;
                }
            }
            Event::Extend { steps, blocks, table } => self.apply_extension(steps, *blocks, *table)?,
            Event::More { blocks } => {
                self.may_go_on(*blocks)?;
                if let Some(stage) = self.stages.last_mut() {
                    stage.limit = stage.counted() + blocks;
                    stage.time_up = false;
                    // What a search found is then to be known better, however well it is.
                    stage.narrow = 0.0;
                    for c in stage.comparisons.iter_mut().filter(|c| c.verdict == Some(Verdict::NotDecided)) {
                        if c.looks.last().is_none_or(|l| l.by != By::Wager) {
                            c.rule = c.rule.extended();
                        }
                        c.verdict = None;
                        // The last look ended it; it does not any more.
                        if let Some(look) = c.looks.last_mut() {
                            look.verdict = None;
                        }
                    }
                }
            }
        }
        self.advance();
        Ok(())
    }

    /// Whether values were chosen where they are to be, and from those that there are.
    fn chosen(&self, order: &[Slot]) -> Result<(), String> {
        let Some(stage) = self.stages.last() else { return Ok(()) };
        for slot in order {
            match (stage.kind, crate::optimise::space(self)) {
                (Kind::Seek, Some(space)) if slot.variant == optimise::SOUGHT && order.len() == 1 => {
                    space.check(&slot.set)?
                }
                (Kind::Seek, _) if slot.variant != 0 || order.len() != 1 => {
                    return Err("a search has blocks of one trial, of the default or of chosen values".into());
                }
                // Of a search for a rate, each trial has its own.
                _ if stage.search.is_none()
                    && stage.sets.get(&slot.variant).cloned().unwrap_or_default() != slot.set =>
                {
                    return Err(format!("variant {} has other values", slot.variant));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// An open comparison of the present stage.
    fn comparison(&mut self, variant: usize, against: usize) -> Result<&mut crate::Comparison, String> {
        let free = self.open.is_none();
        let mut all = self.stages.last_mut().into_iter().flat_map(|s| &mut s.comparisons);
        all.find(|c| free && c.variant == variant && c.against == against && c.verdict.is_none())
            .ok_or_else(|| format!("variant {variant} against {against} is not an open comparison here"))
    }

    /// Begins the next stage where the present one is at its end.
    fn advance(&mut self) {
        if self.open.is_none()
            && self.stages.last().is_none_or(Stage::finished)
            && let Some(stage) = next_stage(self)
        {
            self.stages.push(stage);
        }
    }
}
