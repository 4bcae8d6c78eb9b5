//! A stage of a session: blocks of some variants, the comparisons that they are for, and when it ends.

use crate::blocks::{Series, Slot};
use crate::designs::search::{self, Searched};
use crate::judge::{Fails, Look, Rule, Verdict};
use serde::{Deserialize, Serialize};

/// What a stage is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Variants against the baseline.
    Compare,
    /// A step of a ladder, counted from 0, against what was kept so far.
    Climb(usize),
    /// The whole ladder.
    Table,
    /// All points.
    Sweep,
    /// The highest rate that meets the limits.
    Search,
    /// Flags on and off.
    Factorial,
}

/// A variant, what it is held against, and what was seen of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The variant.
    pub variant: usize,
    /// What it is held against.
    pub against: usize,
    /// How it is judged.
    pub rule: Rule,
    /// The looks so far.
    pub looks: Vec<Look>,
    /// How it ended; `None` before.
    pub verdict: Option<Verdict>,
}

impl Comparison {
    pub(crate) fn new(variant: usize, against: usize, rule: Rule) -> Comparison {
        Comparison { variant, against, rule, looks: Vec::new(), verdict: None }
    }
}

/// A stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// What it is for.
    pub kind: Kind,
    /// Its variants.
    pub variants: Vec<usize>,
    /// What is asked of them.
    pub comparisons: Vec<Comparison>,
    /// The blocks so far.
    pub series: Series,
    /// The most blocks.
    pub limit: usize,
    /// Whether its time was up before.
    pub time_up: bool,
    /// A variant that is in every fourth block only, so that the drift of the machine can be drawn.
    pub(crate) seldom: Option<usize>,
    /// Whether variants leave when nothing is asked of them any more.
    pub(crate) leave: bool,
    /// How many blocks have trials for explaining.
    pub(crate) explained: usize,
    /// What is searched, where something is: then trials are at rates of their own, and what is judged is the rate.
    pub(crate) search: Option<Searched>,
    /// The least change that matters, of a search: a difference of logarithms.
    pub(crate) narrow: f64,
}

/// What a stage has to write down before its next block.
pub(crate) enum Due {
    Look(usize, Look),
    Verdict(usize, Verdict),
}

/// A change above 15 % is explained by one trial each.
const PLAIN: f64 = 1.15;

impl Stage {
    pub(crate) fn new(kind: Kind, variants: Vec<usize>, comparisons: Vec<Comparison>, limit: usize) -> Stage {
        let series = Series::default();
        let leave = matches!(kind, Kind::Compare | Kind::Climb(_));
        Stage {
            kind,
            variants,
            comparisons,
            series,
            limit,
            time_up: false,
            seldom: None,
            leave,
            explained: 0,
            search: None,
            narrow: 0.0,
        }
    }

    /// Whether this one failed in each of its trials, or what it is held against did, or the search of one of them came to an
    /// end: more blocks would tell nothing.
    fn hopeless(&self, c: &Comparison) -> bool {
        let stuck = |v| self.search.as_ref().is_some_and(|of| search::stuck(self, of, v));
        [c.variant, c.against].into_iter().any(|v| self.series.hopeless(v) || stuck(v))
    }

    /// Whether something is still asked of this variant.
    pub(crate) fn open(&self, variant: usize) -> bool {
        let open = |c: &Comparison| c.verdict.is_none() && !self.hopeless(c);
        self.comparisons.iter().any(|c| (c.variant == variant || c.against == variant) && open(c))
    }

    /// The blocks that count against the limit: of a search those in which some variant goes up and down around its limit.
    pub fn counted(&self) -> usize {
        let Some(of) = &self.search else { return self.series.blocks.len() };
        self.variants.iter().map(|v| search::around(self, of, *v)).max().unwrap_or(0)
    }

    /// What is judged of a comparison, by block: the block, the variant's value and that of what it is held against.
    pub(crate) fn pairs(&self, variant: usize, against: usize) -> Vec<(usize, f64, f64)> {
        if let Some(of) = &self.search {
            return search::pairs(self, of, variant, against);
        }
        let both = self.series.values(variant, 0).zip(self.series.values(against, 0)).enumerate();
        both.filter_map(|(block, (a, b))| Some((block, a?, b?))).collect()
    }

    /// The logarithms of their ratios, which are what is judged.
    fn ratios(&self, c: &Comparison) -> Vec<f64> {
        let all = self.pairs(c.variant, c.against).into_iter();
        all.map(|(_, a, b)| (a / b).ln()).filter(|d| d.is_finite()).collect()
    }

    /// Whether trials fail too often. In a search failing is what happens above the limit.
    fn fails(&self, c: &Comparison) -> Fails {
        match self.search {
            Some(_) => Fails::default(),
            None => Fails { variant: self.series.fails(c.variant), against: self.series.fails(c.against) },
        }
    }

    /// Whether there are to be more blocks.
    pub(crate) fn wants_block(&self) -> bool {
        let open = self.comparisons.iter().any(|c| c.verdict.is_none() && !self.hopeless(c));
        if let Some(of) = &self.search {
            return !self.time_up && !search::slots(self, of).is_empty();
        }
        let works = |v: &usize| !self.series.hopeless(*v);
        // Effects are contrasts of all runs, so one that never works leaves none.
        let alive = match self.kind {
            Kind::Factorial => self.variants.iter().all(works),
            _ => self.variants.iter().any(works),
        };
        !self.time_up && self.series.blocks.len() < self.limit && if self.leave { open } else { alive }
    }

    /// Whether nothing is left to do.
    pub(crate) fn finished(&self) -> bool {
        !self.wants_block() && self.comparisons.iter().all(|c| c.verdict.is_some())
    }

    /// Who is in the next block, before it is put in order.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        if let Some(of) = &self.search {
            return search::slots(self, of);
        }
        let block = self.series.blocks.len();
        let asked = |v: usize| !self.leave || self.open(v) || (self.seldom == Some(v) && block.is_multiple_of(4));
        let here: Vec<usize> =
            self.variants.iter().copied().filter(|v| asked(*v) && !self.series.hopeless(*v)).collect();
        let slot = |variant, explained| Slot { explained, ..Slot::of(variant) };
        let mut slots: Vec<Slot> = here.iter().map(|v| slot(*v, false)).collect();
        slots.extend(here.iter().filter(|v| self.explains(**v)).map(|v| slot(*v, true)));
        slots
    }

    /// Whether the next block has a trial for explaining of a variant: the first few do, and only the first where what is asked
    /// of it is plain.
    fn explains(&self, variant: usize) -> bool {
        let plain = |c: &Comparison| {
            let d = self.ratios(c);
            d.first().is_some_and(|x| x.abs() > PLAIN.ln())
        };
        let mut asked = self.comparisons.iter().filter(|c| c.variant == variant || c.against == variant).peekable();
        let block = self.series.blocks.len();
        block < self.explained && (block == 0 || asked.peek().is_none() || asked.any(|c| !plain(c)))
    }

    /// The first thing that is to be written down.
    pub(crate) fn due(&self) -> Option<Due> {
        let over = !self.wants_block();
        self.comparisons.iter().enumerate().find_map(|(i, c)| {
            if c.verdict.is_some() {
                return None;
            }
            if let Some(verdict) = c.looks.last().and_then(|l| l.verdict) {
                return Some(Due::Verdict(i, verdict));
            }
            let plain = self.search.as_ref().and_then(|of| search::plain(self, of, c.variant, c.against));
            if let Some(verdict) = plain {
                return Some(Due::Verdict(i, verdict));
            }
            let d = self.ratios(c);
            // Where a search ended at an end, the other's goes on until it is known what it takes.
            let last = over || self.hopeless(c) && self.search.is_none();
            let looked = c.looks.last().map_or(0, |l| l.pairs);
            // What is looked at for the last time is looked at once more, for then it ends.
            if !last && !c.rule.due(d.len(), looked) {
                return None;
            }
            match c.rule.look(&d, last, self.fails(c)) {
                Some(look) => Some(Due::Look(i, look)),
                None if last => Some(Due::Verdict(i, Verdict::NotDecided)),
                None => None,
            }
        })
    }
}
