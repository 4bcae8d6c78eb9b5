//! The events of a session, one line of JSON each.

use crate::blocks::Slot;
use crate::judge::{Look, Verdict};
use crate::{Error, Keep, Plan};
use serde::{Deserialize, Serialize};

/// The version of the lines. One that reads others refuses them.
pub const FORMAT: u32 = 1;

/// What was decided or came out. Stages, blocks, attempts and variants count from 0, trials from 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The first line.
    Plan {
        /// [`FORMAT`].
        format: u32,
        /// What is to be done.
        plan: Plan,
    },
    /// A block begins, in this order.
    Block {
        /// Which stage.
        stage: usize,
        /// Which block of it.
        block: usize,
        /// How often it was begun before.
        attempt: usize,
        /// Its trials.
        order: Vec<Slot>,
    },
    /// A trial begins, the next of its block.
    Began {
        /// Its number.
        trial: usize,
        /// Its variant, as the order says.
        variant: usize,
    },
    /// It ended.
    Ended {
        /// Its number.
        trial: usize,
        /// What came out.
        outcome: Outcome,
    },
    /// A block does not count and is begun again: a trial was void, or the session ended within it.
    Cut {
        /// Which stage.
        stage: usize,
        /// Which block of it.
        block: usize,
        /// Which attempt it was.
        attempt: usize,
        /// Why.
        why: String,
    },
    /// A comparison was looked at.
    Look {
        /// Which stage.
        stage: usize,
        /// The variant.
        variant: usize,
        /// What it is held against.
        against: usize,
        /// What was seen.
        look: Look,
    },
    /// A comparison ended.
    Verdict {
        /// Which stage.
        stage: usize,
        /// The variant.
        variant: usize,
        /// What it is held against.
        against: usize,
        /// How it ended.
        verdict: Verdict,
    },
    /// The time of a stage is up.
    TimeUp {
        /// Which stage.
        stage: usize,
    },
    /// The plan has more from here on: steps at the end of a ladder, or blocks of what has not begun.
    Extend {
        /// Steps that come after those that there are.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        steps: Vec<Keep>,
        /// The most blocks of a comparison from here on; of a sweep, all of it.
        blocks: usize,
        /// Blocks of the whole ladder; 0 of a sweep.
        table: usize,
    },
    /// So many more blocks were asked for after the end.
    More {
        /// How many at most.
        blocks: usize,
    },
}

/// What came out of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The measures, in the order of [`Plan::measures`]; `None` for one that could not be taken.
    Measured(Vec<Option<f64>>),
    /// It failed, and why: a wrong answer, an exit code, a time-out. It counts as a trial without numbers.
    Failed(String),
    /// It tells nothing, and why: something that has nothing to do with what was measured.
    Void(String),
}

impl Outcome {
    /// What can be written: numbers that are finite. Of a trial that is `judged` the first must be there and positive, else it
    /// failed.
    pub(crate) fn sound(self, plan: &Plan, judged: bool) -> Outcome {
        let Outcome::Measured(values) = self else { return self };
        let values: Vec<Option<f64>> = values.into_iter().map(|v| v.filter(|x| x.is_finite())).collect();
        if !judged {
            return Outcome::Measured(values);
        }
        let name = plan.measures.first().map_or("measure", |m| m.name.as_str());
        match values.first().copied().flatten() {
            Some(x) if x > 0.0 => Outcome::Measured(values),
            Some(x) => Outcome::Failed(format!("{name} was {x}: only positive numbers can be compared by their ratio")),
            None => Outcome::Failed(format!("{name} was not measured")),
        }
    }

    /// Measure number `i`.
    pub fn value(&self, i: usize) -> Option<f64> {
        match self {
            Outcome::Measured(values) => values.get(i).copied().flatten(),
            _ => None,
        }
    }

    /// Whether it failed.
    pub fn failed(&self) -> bool {
        matches!(self, Outcome::Failed(_))
    }
}

impl Event {
    /// The line, with its end.
    pub fn line(&self) -> String {
        // Nothing here can fail: keys are texts, and numbers that JSON lacks are kept out by `Outcome::sound` and `Look`.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// The events of a journal's text, and how many bytes of it they take. A last line without its end was cut while it was
/// written, and so is no event: whoever goes on cuts the file there first.
pub fn lines(text: &str) -> Result<(Vec<Event>, usize), Error> {
    let mut events = Vec::new();
    let mut bytes = 0;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let Some(json) = line.strip_suffix('\n') else { break };
        let event = serde_json::from_str(json).map_err(|e| Error::Journal {
            line: i + 1,
            what: format!("{e}; it is not a line that this version writes"),
        })?;
        events.push(event);
        bytes += line.len();
    }
    Ok((events, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Better, Design, Measure};

    #[test]
    fn lines_come_back_as_they_were() {
        let measures = vec![Measure { name: "wall".into(), better: Better::Less }];
        let plan = Plan::new(Design::Ab { variants: 1 }, measures, u64::MAX);
        let slot = Slot::of(1);
        let all = [
            Event::Plan { format: FORMAT, plan: plan.clone() },
            Event::Block { stage: 0, block: 0, attempt: 0, order: vec![slot] },
            Event::Began { trial: 1, variant: 1 },
            Event::Ended { trial: 1, outcome: Outcome::Measured(vec![Some(0.1 + 0.2), None, Some(1e-300)]) },
            Event::Ended { trial: 2, outcome: Outcome::Failed("exit code 3\nand more".into()) },
            Event::More { blocks: 8 },
        ];
        let text: String = all.iter().map(Event::line).collect();
        assert_eq!(text.lines().count(), all.len());
        assert_eq!(lines(&text).unwrap(), (all.to_vec(), text.len()));
        // Cut anywhere in the last line, it is as if that had not been written.
        let before = text.len() - all[5].line().len();
        for end in before..text.len() {
            assert_eq!(lines(&text[..end]).unwrap(), (all[..5].to_vec(), before));
        }
        assert!(
            lines("{\"event\":\"more\",\"blocks\":1}\n{\"event\":\"less\"}\n")
                .unwrap_err()
                .to_string()
                .contains("line 2")
        );
        assert!(lines("{\"event\":\"more\",\"blocks\":1,\"x\":2}\n").is_err());
        // Numbers that JSON does not have never get there.
        let sound = Outcome::Measured(vec![Some(1.0), Some(f64::NAN)]).sound(&plan, true);
        assert_eq!(sound, Outcome::Measured(vec![Some(1.0), None]));
        for bad in [None, Some(0.0), Some(-1.0), Some(f64::INFINITY)] {
            assert!(Outcome::Measured(vec![bad]).sound(&plan, true).failed(), "{bad:?}");
        }
        assert!(Outcome::Measured(vec![]).sound(&plan, true).failed());
        assert!(!Outcome::Measured(vec![None]).sound(&plan, false).failed());
    }
}
