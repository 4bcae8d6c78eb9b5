//! More steps for a ladder that has begun, and more blocks, where that keeps what was promised.

use super::Session;
use crate::machine::Journal;
use crate::stage::Kind;
use crate::{Design, Error, Event, Keep, Plan};
use query::stats::pairs::{least_p, looks};

/// How the probability of a wrong call is divided in a ladder: a part for each step's climbing, the rest for the table.
///
/// At first half of it is for climbing, in equal parts, and half for the table. When steps are added, those that have begun keep
/// their parts, for their looks were planned at these; what is left of the whole is halved again, between the steps that have not
/// begun, old and new, and the table. The sum of all parts is never more than the whole, and each part is fixed before the first
/// trial that is judged at it, so that the probability of any wrong call is at most the whole, whatever made somebody add steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Levels {
    climb: Vec<f64>,
    table: f64,
}

impl Levels {
    pub(super) fn of(plan: &Plan) -> Levels {
        let Design::Ladder { steps, .. } = &plan.design else { return Levels::default() };
        Levels { climb: vec![plan.climb_wrong() / steps.len() as f64; steps.len()], table: plan.table_wrong() }
    }

    /// With so many steps, of which some have begun.
    fn extended(&self, plan: &Plan, steps: usize, begun: usize) -> Levels {
        let mut climb: Vec<f64> = self.climb.iter().take(begun).copied().collect();
        let half = (plan.wrong - climb.iter().sum::<f64>()) / 2.0;
        let to_come = steps.saturating_sub(begun);
        climb.extend(std::iter::repeat_n(half / to_come.max(1) as f64, to_come));
        Levels { climb, table: half }
    }
}

impl Session {
    /// The level of a step's climbing.
    pub(crate) fn climb_level(&self, step: usize) -> f64 {
        self.levels.climb.get(step).copied().unwrap_or(0.0)
    }

    /// The level of all comparisons of the table together.
    pub(crate) fn table_level(&self) -> f64 {
        self.levels.table
    }

    /// What a plan has beyond this one's: the event that adds it, `None` where there is nothing. `table` says whether the blocks
    /// of the whole ladder were asked for, or follow from the number of steps.
    ///
    /// # Errors
    /// Why it cannot be added now.
    pub fn extension(&self, wanted: &Plan, table: bool) -> Result<Option<Event>, Error> {
        let blocks = wanted.blocks;
        let fewer = |of: &str, now: usize, before: usize| {
            Err(Error::More(format!("{now} blocks{of}, where {before} were planned: they can only become more")))
        };
        // What is quick looks once, after four blocks, whatever number stands in the plan of an older session.
        if self.plan.quick {
            return Ok(None);
        }
        if blocks < self.plan.blocks {
            return fewer("", blocks, self.plan.blocks);
        }
        match (&self.plan.design, &wanted.design) {
            (Design::Ladder { steps, table: planned, .. }, Design::Ladder { steps: all, table: asked, .. }) => {
                let new = all.get(steps.len()..).unwrap_or_default();
                if !all.starts_with(steps) {
                    return Err(Error::More("steps of a ladder that has begun can only be added at its end".into()));
                }
                if *asked < *planned && table {
                    return fewer(" of the whole ladder", *asked, *planned);
                }
                let asked = (*asked).max(*planned);
                if new.is_empty() && blocks == self.plan.blocks && asked == *planned {
                    return Ok(None);
                }
                let event = Event::Extend { steps: new.to_vec(), blocks, table: asked };
                match self.extended(new, blocks, asked) {
                    Err(Lacks::Table(enough)) if !table => {
                        let event = Event::Extend { steps: new.to_vec(), blocks, table: enough };
                        self.extended(new, blocks, enough).map_err(|lacks| Error::More(lacks.to_string()))?;
                        Ok(Some(event))
                    }
                    other => other.map(|_| Some(event)).map_err(|lacks| Error::More(lacks.to_string())),
                }
            }
            _ if blocks == self.plan.blocks => Ok(None),
            (Design::Sweep { .. }, Design::Sweep { .. }) if self.finished() => {
                Err(Error::More(format!("the sweep has ended: --more {} adds blocks", blocks - self.plan.blocks)))
            }
            (Design::Sweep { .. }, Design::Sweep { .. }) => {
                Ok(Some(Event::Extend { steps: Vec::new(), blocks, table: 0 }))
            }
            _ => Err(Error::More(
                "the blocks of a comparison are planned at its beginning, for all looks at it share one level; when it has ended, \
                 --more N adds some"
                    .into(),
            )),
        }
    }

    /// Adds what [`Session::extension`] found.
    ///
    /// # Errors
    /// That it does not fit, or could not be written down.
    pub fn extend(&mut self, event: Event, journal: &mut dyn Journal) -> Result<(), Error> {
        self.write(event, journal)
    }

    /// How many climbing stages have begun, and whether the one of the whole ladder is there without a block of its own.
    fn begun(&self, steps: usize) -> Result<(usize, bool), Lacks> {
        let Some(last) = self.stages.last().filter(|stage| stage.kind == Kind::Table) else {
            return Ok((self.stages.len(), false));
        };
        let untouched = last.series.blocks.is_empty() && self.open.is_none() && self.attempts == 0 && !last.time_up;
        if untouched { Ok((steps, true)) } else { Err(Lacks::Begun) }
    }

    /// The levels with these steps added.
    fn extended(&self, new: &[Keep], blocks: usize, table: usize) -> Result<Levels, Lacks> {
        let Design::Ladder { steps, .. } = &self.plan.design else { return Err(Lacks::Begun) };
        let (begun, _) = self.begun(steps.len())?;
        let all = steps.len() + new.len();
        let levels = match new.is_empty() {
            true => self.levels.clone(),
            false => self.levels.extended(&self.plan, all, begun),
        };
        let most = looks::PLANNED.last().copied().unwrap_or(0);
        if blocks > most || table > most {
            return Err(Lacks::Most(most));
        }
        let enough = |level: f64| (1..=most).find(|n| least_p(*n) <= level);
        let climb = levels.climb.get(begun..).unwrap_or_default().iter().copied().fold(f64::INFINITY, f64::min);
        if least_p(blocks) > looks::level(blocks, climb.min(self.plan.wrong)) {
            return Err(Lacks::Climb);
        }
        // At most one comparison with the step before and one with the baseline for each.
        let level = levels.table / (2 * all) as f64;
        if least_p(table) > level {
            return Err(enough(level).map_or(Lacks::Climb, Lacks::Table));
        }
        Ok(levels)
    }

    /// Takes the event in.
    pub(super) fn apply_extension(&mut self, new: &[Keep], blocks: usize, table: usize) -> Result<(), String> {
        if blocks < self.plan.blocks {
            return Err(format!("{blocks} blocks, which are fewer than before"));
        }
        match &self.plan.design {
            Design::Ladder { steps, table: before, searched } => {
                if table < *before {
                    return Err(format!("{table} blocks of the whole ladder, which are fewer than before"));
                }
                let levels = self.extended(new, blocks, table).map_err(|lacks| lacks.to_string())?;
                let (_, waits) = self.begun(steps.len()).map_err(|lacks| lacks.to_string())?;
                let steps = steps.iter().chain(new).copied().collect();
                let design = Design::Ladder { steps, table, searched: searched.clone() };
                if waits {
                    // It is made anew, after the new steps and with its blocks.
                    self.stages.pop();
                }
                (self.levels, self.plan.design, self.plan.blocks) = (levels, design, blocks);
            }
            Design::Sweep { .. } if new.is_empty() && !self.finished() => {
                self.plan.blocks = blocks;
                if let Some(stage) = self.stages.last_mut() {
                    stage.limit = blocks;
                }
            }
            _ => return Err("this session cannot be extended".into()),
        }
        Ok(())
    }
}

/// Why a ladder cannot be extended.
enum Lacks {
    /// The table has begun.
    Begun,
    /// The steps that are left could call nothing.
    Climb,
    /// The table could call nothing with less than this.
    Table(usize),
    /// More than can be planned.
    Most(usize),
}

impl std::fmt::Display for Lacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lacks::Begun => f.write_str(
                "the blocks of the whole ladder have begun, and what they are judged by was fixed before: begin a new session with \
                 the steps that were kept",
            ),
            Lacks::Climb => f.write_str(
                "what is left of the probability of a wrong call does not suffice for these steps, with any number of blocks: begin a \
                 new session with the steps that were kept",
            ),
            Lacks::Table(enough) => {
                write!(f, "budget.table: with these steps the whole ladder needs at least {enough} blocks to call a difference")
            }
            Lacks::Most(most) => write!(f, "at most {most} blocks can be planned"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Better, Measure};

    #[test]
    fn no_extension_makes_the_sum_of_the_levels_more() {
        let measures = vec![Measure { name: "wall".into(), better: Better::Less }];
        let plan = |steps: usize| {
            Plan::new(
                Design::Ladder { steps: vec![Keep::IfBetter; steps], table: 12, searched: None },
                measures.clone(),
                1,
            )
        };
        let sum = |levels: &Levels| levels.climb.iter().sum::<f64>() + levels.table;
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let first = Levels::of(&plan(4));
        assert!(near(sum(&first), 0.05) && near(first.table, 0.025));
        for begun in 0..=4 {
            let mut levels = first.extended(&plan(4), 6, begun);
            assert!(near(sum(&levels), 0.05), "{begun}: {levels:?}");
            assert_eq!(levels.climb[..begun], first.climb[..begun], "what has begun stays");
            for steps in 7..12 {
                levels = levels.extended(&plan(4), steps, steps - 1);
                assert!(near(sum(&levels), 0.05) && levels.climb.len() == steps && levels.table > 0.0, "{levels:?}");
            }
        }
        // Before anything has begun, it is as if it had been planned so.
        let fresh = Levels::of(&plan(6));
        let extended = first.extended(&plan(4), 6, 0);
        assert!(
            near(fresh.table, extended.table) && fresh.climb.iter().zip(&extended.climb).all(|(a, b)| near(*a, *b))
        );
    }
}
