//! What a session is to do: the design, what is measured, and how sure its answers shall be.

use crate::Error;
use crate::designs::factorial::Runs;
use crate::designs::optimise;
use crate::designs::search::Searched;
use crate::optimise::Space;
use query::stats::pairs::{least_p, looks};
use serde::{Deserialize, Serialize};

/// The least blocks of a factorial: of two or three, Student's t can tell next to nothing.
const FACTORIAL: usize = 4;

/// A plan. It is the first event of a journal, and does not change but for [`crate::Session::more`] and [`crate::Session::extend`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Which variants there are, and what is asked of them.
    pub design: Design,
    /// What a trial measures, in the order of [`crate::Outcome::Measured`]. The first is judged.
    pub measures: Vec<Measure>,
    /// The least change that matters, as a share: 0.03 is 3 %, and "the same" is 1 ÷ 1.03 to 1.03.
    pub effect: f64,
    /// The most blocks that one comparison takes (a sweep takes just these).
    pub blocks: usize,
    /// Probability that anything at all is called different where all variants are equal: 0.05.
    pub wrong: f64,
    /// Four blocks and Student's t instead of planned looks at ranks. Only for [`Design::Ab`].
    pub quick: bool,
    /// Both trials of a block run at the same time, on two CPUs that they swap. Only for [`Design::Ab`] of one variant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
    /// In how many of the first blocks of a stage each variant has a second trial, for explaining and not for the numbers.
    pub explained: usize,
    /// Equal seeds give equal orders.
    pub seed: u64,
}

/// A design. Variants are numbered; 0 is the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Design {
    /// So many variants against the baseline.
    Ab {
        /// Without the baseline.
        variants: usize,
    },
    /// One step after the other, each on top of what was kept; then all of them once more in the same blocks.
    Ladder {
        /// What is kept of each. Variant i + 1 is step i on top of what was kept before it.
        steps: Vec<Keep>,
        /// Blocks of the whole ladder, from which the table comes.
        table: usize,
        /// Where each step is judged by the highest rate that meets the limits: what is searched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        searched: Option<Searched>,
    },
    /// So many points, all in each block. No differences are called.
    Sweep {
        /// Variants 0 to `points` − 1.
        points: usize,
    },
    /// The highest rate that meets the limits, of each of so many variants: what is judged is the rate.
    Search {
        /// With the baseline.
        variants: usize,
        /// What is searched.
        searched: Searched,
    },
    /// The best values of a space: single trials that choose where to look next, then blocks of the best three and the default.
    Optimise {
        /// The values.
        space: Space,
        /// Measured trials in all.
        trials: usize,
        /// How many measures are sought to be good: 1, or 2 for their front.
        objectives: usize,
    },
    /// So many flags on and off, in runs that are all in each block ([`crate::designs::factorial::Runs`]).
    Factorial {
        /// 2 to 8.
        flags: usize,
    },
}

/// How the trials of [`Design::Optimise`] are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    /// For the search.
    pub searched: usize,
    /// Blocks of the best three and the default.
    pub blocks: usize,
}

impl Seek {
    /// The least trials: a search that is more than its random beginning, and blocks that have an interval.
    pub const LEAST: usize = 30;

    /// The most: each proposal looks at all trials before it.
    pub const MOST: usize = 2000;

    /// A third of the trials is for blocks of four.
    pub fn of(trials: usize) -> Seek {
        let most = looks::PLANNED.last().copied().unwrap_or(0);
        let each = optimise::CONFIRMED + 1;
        let blocks = ((trials + 3 * each / 2) / (3 * each)).clamp(looks::EARLY, most);
        Seek { searched: trials.saturating_sub(blocks * each), blocks }
    }
}

/// When a step of a ladder is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Where it was found better.
    IfBetter,
    /// Whatever it did, unless none of its trials succeeded.
    Always,
}

/// What a trial measures. Positive numbers only: they are compared by their ratios.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Its name.
    pub name: String,
    /// Whether more or less of it is better.
    pub better: Better,
}

/// Which way is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// As with throughput.
    More,
    /// As with time.
    Less,
}

impl Better {
    /// 1 where more is better, −1 where less is.
    pub fn sign(self) -> f64 {
        match self {
            Better::More => 1.0,
            Better::Less => -1.0,
        }
    }
}

impl Plan {
    /// A plan with what is usual: changes of 3 % matter, 30 blocks at most, wrong in 5 %, nothing explained.
    pub fn new(design: Design, measures: Vec<Measure>, seed: u64) -> Plan {
        let (quick, together) = (false, false);
        Plan { design, measures, effect: 0.03, blocks: 30, wrong: 0.05, quick, together, explained: 0, seed }
    }

    /// Whether this can be carried out. `Err` says what cannot, and what to write instead.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |what: String| Err(Error::Plan(what));
        if self.measures.is_empty() {
            return refuse("nothing is measured: name a measure".into());
        }
        if !(self.effect > 0.0 && self.effect < 1.0) {
            return refuse(format!("effect {}: a share above 0 and below 1, such as 0.03", self.effect));
        }
        if !(self.wrong > 0.0 && self.wrong <= 0.05) {
            return refuse(format!(
                "a level of {}: above 0 and at most 0.05, for the levels of the looks are known for these",
                self.wrong
            ));
        }
        if self.together && !matches!(self.design, Design::Ab { variants: 1 }) {
            return refuse("together is for one variant against a baseline (design = \"ab\")".into());
        }
        let most = looks::PLANNED.last().copied().unwrap_or(0);
        if self.blocks == 0 || self.blocks > most {
            return refuse(format!("{} blocks: 1 to {most} can be planned, and more added after the end", self.blocks));
        }
        let speaks = |blocks: usize, comparisons: usize, level: f64, what: &str| {
            if least_p(blocks) <= level {
                return Ok(());
            }
            let enough = (1..=most).find(|n| least_p(*n) <= level.min(self.wrong));
            let enough =
                enough.map_or("a greater level".into(), |n| format!("at least {n} blocks, or a greater level"));
            refuse(format!(
                "{blocks} blocks of {what} with {comparisons} comparisons can call no difference, however large: {enough}"
            ))
        };
        match &self.design {
            Design::Ab { variants: 0 } => refuse("no variant to hold against the baseline".into()),
            Design::Ab { .. } if self.quick => Ok(()),
            _ if self.quick => refuse("quick is for comparing variants with a baseline (design = \"ab\")".into()),
            _ if self.searched().is_some_and(|of| of.limits.is_empty()) => {
                refuse("a search without a limit: give a measure limit = \"<= 1.5ms\"".into())
            }
            Design::Search { searched, .. }
                if !(searched.from > 0.0 && searched.to > searched.from && searched.to.is_finite()) =>
            {
                refuse(format!("a search from {} to {}: from the lesser to the greater", searched.from, searched.to))
            }
            Design::Search { variants: 0 | 1, .. } => Ok(()),
            Design::Ab { .. } | Design::Search { .. } => {
                let variants = self.variants() - 1;
                let looks = looks::planned(self.blocks);
                if looks.is_empty() {
                    return refuse(format!("{} blocks: ranks need 8; quick takes 4 and Student's t", self.blocks));
                }
                speaks(self.blocks, variants, looks::level(self.blocks, self.wrong / variants as f64), "these")
            }
            Design::Ladder { steps, table, .. } => {
                if steps.is_empty() {
                    return refuse("a ladder without steps".into());
                }
                if *table > most {
                    return refuse(format!("{table} blocks of the whole ladder: at most {most}"));
                }
                let n = steps.len();
                let climb = looks::level(self.blocks, self.climb_wrong() / n as f64);
                speaks(self.blocks, n, climb, "climbing")?;
                // At most one comparison with the step before and one with the baseline for each.
                speaks(*table, 2 * n, self.table_wrong() / (2 * n) as f64, "the whole ladder")
            }
            Design::Sweep { points } if *points < 2 => refuse(format!("a sweep of {points} points: at least 2")),
            Design::Sweep { .. } => Ok(()),
            Design::Optimise { trials, .. } if *trials < Seek::LEAST || *trials > Seek::MOST => refuse(format!(
                "{trials} trials: {} to {}, of which a third is for blocks of the best three and the default",
                Seek::LEAST,
                Seek::MOST
            )),
            Design::Optimise { objectives, .. } if !(1..=2).contains(objectives) => {
                refuse(format!("{objectives} objectives: 1, or 2 for the front of two measures"))
            }
            Design::Optimise { objectives, .. } if *objectives > self.measures.len() => {
                refuse("2 objectives need two measures".into())
            }
            Design::Optimise { space, .. } if space.points() < 4 => {
                refuse("there are fewer than four combinations: an ab or a sweep tells them apart".into())
            }
            Design::Optimise { .. } => Ok(()),
            Design::Factorial { flags } if Runs::of(*flags).is_none() => {
                refuse(format!("a factorial of {flags} flags: 2 to 8"))
            }
            Design::Factorial { .. } if self.blocks < FACTORIAL => refuse(format!(
                "{} blocks of a factorial: at least {FACTORIAL}, for their scatter is what effects are judged by",
                self.blocks
            )),
            Design::Factorial { .. } => Ok(()),
        }
    }

    /// The part of `wrong` that a ladder's climbing may use.
    pub(crate) fn climb_wrong(&self) -> f64 {
        self.wrong / 2.0
    }

    /// The part that its table may use.
    pub(crate) fn table_wrong(&self) -> f64 {
        self.wrong / 2.0
    }

    /// [`Plan::effect`] as a difference of logarithms.
    pub(crate) fn log_effect(&self) -> f64 {
        self.effect.ln_1p()
    }

    /// How many measures are sought to be good.
    pub(crate) fn objectives(&self) -> usize {
        match self.design {
            Design::Optimise { objectives, .. } => objectives,
            _ => 1,
        }
    }

    /// What is searched, where rates are sought.
    pub fn searched(&self) -> Option<&Searched> {
        match &self.design {
            Design::Search { searched, .. } => Some(searched),
            Design::Ladder { searched, .. } => searched.as_ref(),
            _ => None,
        }
    }

    /// How many variants there are.
    pub fn variants(&self) -> usize {
        match &self.design {
            Design::Ab { variants } => variants + 1,
            Design::Ladder { steps, .. } => steps.len() + 1,
            Design::Sweep { points } => *points,
            Design::Optimise { .. } => optimise::VARIANTS,
            Design::Factorial { flags } => Runs::of(*flags).map_or(0, |runs| runs.count()),
            Design::Search { variants, .. } => *variants,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(design: Design) -> Plan {
        Plan::new(design, vec![Measure { name: "wall".into(), better: Better::Less }], 1)
    }

    #[test]
    fn what_cannot_be_carried_out_is_said() {
        let refused = |plan: Plan| plan.check().unwrap_err().to_string();
        assert!(plan(Design::Ab { variants: 1 }).check().is_ok());
        assert!(refused(Plan { blocks: 7, ..plan(Design::Ab { variants: 1 }) }).contains("quick"));
        assert!(refused(Plan { blocks: 8, ..plan(Design::Ab { variants: 40 }) }).contains("at least 11 blocks"));
        assert!(refused(Plan { blocks: 241, ..plan(Design::Ab { variants: 1 }) }).contains("240"));
        assert!(refused(Plan { effect: f64::NAN, ..plan(Design::Ab { variants: 1 }) }).contains("effect"));
        assert!(refused(Plan { wrong: 0.2, ..plan(Design::Ab { variants: 1 }) }).contains("0.05"));
        assert!(refused(plan(Design::Ab { variants: 0 })).contains("no variant"));
        assert!(refused(plan(Design::Sweep { points: 1 })).contains("at least 2"));
        assert!(
            refused(plan(Design::Ladder { steps: vec![Keep::IfBetter; 5], table: 8, searched: None }))
                .contains("whole ladder")
        );
        assert!(plan(Design::Ladder { steps: vec![Keep::IfBetter; 5], table: 12, searched: None }).check().is_ok());
        assert!(refused(Plan { quick: true, ..plan(Design::Sweep { points: 3 }) }).contains("quick"));
        assert!(refused(Plan { measures: vec![], ..plan(Design::Ab { variants: 1 }) }).contains("measure"));
        assert!(Plan { quick: true, ..plan(Design::Ab { variants: 2 }) }.check().is_ok());
        assert!(refused(Plan { together: true, ..plan(Design::Ab { variants: 2 }) }).contains("together"));
        assert!(Plan { together: true, ..plan(Design::Ab { variants: 1 }) }.check().is_ok());
    }
}
