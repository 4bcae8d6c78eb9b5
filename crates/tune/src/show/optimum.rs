//! A search for the best values as it is shown, and in sentences.

use super::words::{compared, factor};
use super::{View, words};
use crate::designs::optimise::{self, SOUGHT, Tried};
use crate::experiment::Experiment;
use crate::file::DesignName;
use crate::plan::{Better, Seek};
use crate::result::{self, FrontPoint, Optimum, Verdict};
use crate::space::Set;
use crate::{Design, optimise as space};

impl View<'_> {
    pub(super) fn optimum(&self) -> Option<Optimum> {
        let Design::Optimise { trials, objectives, .. } = &self.session.plan().design else { return None };
        if self.experiment.file.design != DesignName::Optimise {
            return None;
        }
        let seek = Seek::of(*trials);
        let tried = optimise::tried(self.session);
        let confirmed = optimise::confirmed(self.session);
        let default = space::space(self.session)?.default_set();
        let variant = |set: &Set| match *set == default {
            true => Some(0),
            false => confirmed.iter().find(|(_, own)| *own == set).map(|(variant, _)| *variant),
        };
        let take = optimise::to_take(self.session);
        let cost = |of: &Set| tried.iter().find(|t| t.set == *of)?.costs.as_ref()?.first().copied();
        let seen = take.and_then(|take| cost(confirmed.get(&take)?)).zip(cost(&default));
        let sign = self.session.plan().measures.first()?.better.sign();
        let front = if *objectives == 2 { optimise::front(&tried) } else { Vec::new() };
        Some(Optimum {
            parameters: self.experiment.swept.clone(),
            searched: space::history(self.session).len(),
            search: seek.searched,
            blocks: seek.blocks,
            asked: self.experiment.file.ask.as_ref().map(words::commands),
            take,
            seen: seen.map(|(own, usual)| ((usual - own) * sign).exp()),
            objectives: *objectives,
            front: front.iter().filter_map(|at| tried.get(*at)).map(|t| self.point(t, variant(&t.set))).collect(),
        })
    }

    fn point(&self, of: &Tried, variant: Option<usize>) -> FrontPoint {
        let value =
            |(cost, m): (&f64, &crate::Measure)| if m.better == Better::Less { cost.exp() } else { (-cost).exp() };
        FrontPoint {
            set: self.experiment.swept.iter().map(|p| of.set.get(p).cloned().unwrap_or_default()).collect(),
            values: of.costs.iter().flatten().zip(&self.session.plan().measures).map(value).collect(),
            trials: of.trials.clone(),
            variant,
        }
    }

    /// What a variant of a search sets, and its command; `None` in other designs.
    pub(super) fn chosen(&self, variant: usize) -> Option<(Set, String)> {
        let space = space::space(self.session)?;
        let set = match variant {
            0 => space.default_set(),
            SOUGHT => return Some((Set::new(), words::command(self.experiment))),
            _ => optimise::confirmed(self.session).remove(&variant)?,
        };
        let values = self.experiment.values(variant, &[], &set);
        let command = self.experiment.invocation_of(variant, values).map(|i| words::shell(&i.command));
        Some((set, command.unwrap_or_default()))
    }
}

impl Experiment {
    /// How many variants there are to show: of a search those whose values are known.
    pub(super) fn shown_variants(&self, session: &crate::Session) -> usize {
        match self.file.design {
            DesignName::Optimise => SOUGHT + 1 + optimise::confirmed(session).len(),
            _ => self.variants.len(),
        }
    }
}

/// What came out.
pub(super) fn said(of: &result::Experiment) -> String {
    let Some(all) = &of.optimum else { return String::new() };
    let values = |variant: usize| {
        let set = of.variants.get(variant).map_or(&[][..], |v| v.set.as_slice());
        let usual = of.variants.first().map_or(&[][..], |v| v.set.as_slice());
        let changed: Vec<String> =
            set.iter().filter(|pair| !usual.contains(pair)).map(|(name, value)| format!("{name}={value}")).collect();
        changed.join(" ")
    };
    let Some(take) = all.take else {
        return match (all.searched < all.search, of.changes.is_empty()) {
            (true, true) if !of.finished => {
                format!("{} of {} trials of the search have been run.", all.searched, all.search)
            }
            (_, true) if of.finished => "Nothing but the default worked.".into(),
            _ => "The best three have not been held against the default yet.".into(),
        };
    };
    if take == 0 {
        return "None of the best three is better than the default in the blocks that hold them against it: keep the default.".into();
    }
    let change = of.changes.iter().find(|c| c.variant == take);
    let said = change.map_or(String::new(), |c| compared(of, c));
    let seen = all.seen.map_or(String::new(), |seen| format!(" While searching it looked like {}.", factor(seen)));
    let advice = match change.map(|c| c.verdict) {
        Some(Verdict::Better) => format!(" It sets {}.", values(take)),
        _ => format!(" It sets {}, and may be no better than the default.", values(take)),
    };
    let front = match all.front.len() {
        0 => String::new(),
        1 => " One point is the best in both measures.".into(),
        n => format!(" {n} points are on the front of both measures."),
    };
    said + &seen + &advice + &front
}
