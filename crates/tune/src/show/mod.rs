//! What a session has come to, put together from its events, its folder and its file: what [`crate::result`] describes.

mod factorial;
mod optimum;
mod search;
mod trials;
mod words;

pub use words::{amount, factor, shell};

use crate::designs::{self, ladder, shown, sweep};
use crate::experiment::Experiment;
use crate::file::DesignName;
use crate::folder::Folder;
use crate::judge::By;
use crate::result::{self, DesignKind, MeasureHead, Rung, Sweep, TrialEnd, Variant};
use crate::scaling::{self, Peak, Work};
use crate::session::Session;
use crate::space::Set;
use crate::stage::{Kind, Stage};
use crate::{Better, Error, Event, why};
use query::stats::quantile::quantile;
use std::path::Path;

/// Level of intervals that are shown and call nothing.
const SHOWN: f64 = 0.05;

/// Puts together what a session in this folder has come to. `with_why`: findings of trials for explaining, which takes a second
/// for each change the first time.
///
/// # Errors
/// That the events are none of a session.
pub fn show(
    experiment: &Experiment,
    events: &[Event],
    path: &Path,
    with_why: bool,
) -> Result<result::Experiment, Error> {
    let session = Session::resume(events)?;
    let about = Folder::about(path);
    let trials = trials::all(events, path, about.began);
    let view = View { experiment, session: &session, path, trials: &trials, with_why };
    let measures: Vec<MeasureHead> = experiment
        .measures
        .iter()
        .map(|m| MeasureHead {
            name: m.head.name.clone(),
            unit: m.unit.clone(),
            more_is_better: m.head.better == Better::More,
            limit: m.limit.as_ref().map(|l| l.text.clone()),
        })
        .collect();
    let plan = session.plan();
    let comparing = |s: &&Stage| matches!(s.kind, Kind::Compare | Kind::Climb(_) | Kind::Search | Kind::Confirm);
    let comparing = session.stages().iter().filter(comparing);
    let changes =
        comparing.flat_map(|s| s.comparisons.iter().map(|c| view.change(s, &designs::Change::of(s, c)))).collect();
    let mut shown = result::Experiment {
        format: result::FORMAT,
        name: experiment.name.clone(),
        design: match experiment.file.design {
            DesignName::Ab => DesignKind::Ab,
            DesignName::Ladder => DesignKind::Ladder,
            DesignName::Sweep => DesignKind::Sweep,
            DesignName::Factorial => DesignKind::Factorial,
            DesignName::Optimise => DesignKind::Optimise,
            DesignName::Search => DesignKind::Search,
        },
        began: (about.began > 0.0).then_some(about.began),
        host: about.host,
        command: words::command(experiment),
        finished: session.finished(),
        verdict: String::new(),
        measures,
        effect: plan.effect,
        together: plan.together,
        blocks: plan.blocks,
        variants: (0..experiment.shown_variants(&session)).map(|v| view.variant(v)).collect(),
        changes,
        rungs: view.rungs(),
        sweep: view.sweep(),
        factorial: view.factorial(),
        optimum: view.optimum(),
        search: view.search(),
        trials: trials.clone(),
        cautions: Vec::new(),
        next: Vec::new(),
    };
    shown.verdict = words::verdict(&shown);
    shown.cautions = words::cautions(&shown, experiment);
    shown.next = view.next(&shown);
    Ok(shown)
}

struct View<'a> {
    experiment: &'a Experiment,
    session: &'a Session,
    path: &'a Path,
    trials: &'a [result::Trial],
    with_why: bool,
}

impl View<'_> {
    /// 1 where more of what is judged is better, −1 where less is. Of a rate more is.
    fn sign(&self) -> f64 {
        match self.experiment.searched {
            Some(_) => 1.0,
            None => self.experiment.measures.first().map_or(1.0, |m| m.head.better.sign()),
        }
    }

    /// The numbers of a variant's trials for explaining that succeeded, in order.
    fn explained(&self, variant: usize) -> Vec<usize> {
        let of = |t: &&result::Trial| t.variant == variant && t.explained && t.end == TrialEnd::Measured;
        self.trials.iter().filter(of).map(|t| t.number).collect()
    }

    fn values(&self, variant: usize, measure: usize, explained: bool) -> Vec<f64> {
        let of = |t: &&result::Trial| t.variant == variant && t.explained == explained && t.end == TrialEnd::Measured;
        self.trials.iter().filter(of).filter_map(|t| t.values.get(measure).copied().flatten()).collect()
    }

    fn variant(&self, number: usize) -> Variant {
        let steps = self.session.steps(number);
        let invocation = self.experiment.shown(number, &steps);
        let around = self.around(number);
        let searches = around.is_some();
        let median = |values: &[f64]| quantile(values, &vec![1.0; values.len()], 0.5);
        let own = self.experiment.variants.get(number);
        let counted = |t: &&result::Trial| {
            t.variant == number && !t.explained && matches!(t.end, TrialEnd::Measured | TrialEnd::Failed)
        };
        let trials: Vec<&result::Trial> = self.trials.iter().filter(counted).collect();
        let measured = |measure: usize| match &around {
            None => self.values(number, measure, false),
            Some(around) => {
                let of = trials.iter().filter(|t| around.contains(&t.number));
                of.filter_map(|t| t.values.get(measure).copied().flatten()).collect()
            }
        };
        let sign = self.experiment.measures.first().map_or(1.0, |m| m.head.better.sign());
        let (set, command) = self.chosen(number).unwrap_or_else(|| {
            let set = own.map(|v| v.set.clone()).unwrap_or_default();
            (set, invocation.map(|i| words::shell(&i.command)).unwrap_or_default())
        });
        let costs = median(&self.values(number, 0, true)).zip(median(&self.values(number, 0, false)));
        Variant {
            name: own.map(|v| v.name.clone()).unwrap_or_default(),
            set: set.into_iter().collect(),
            command,
            trials: trials.len(),
            failed: trials.iter().filter(|t| t.end == TrialEnd::Failed).count(),
            medians: (0..self.experiment.measures.len()).map(|m| median(&measured(m))).collect(),
            // As time: of a rate the other way round.
            recording_costs: costs
                .filter(|(_, plain)| *plain > 0.0 && !searches)
                .map(|(with, plain)| (with / plain).powf(-sign)),
        }
    }

    fn change(&self, stage: &Stage, of: &designs::Change) -> result::Change {
        let pairs = stage.pairs(of.variant, of.against).into_iter();
        let pairs = pairs.map(|(block, variant, against)| result::Pair { block, against, variant });
        // In a search they are of other rates.
        let others = (1..self.experiment.measures.len()).map(|m| match stage.search {
            None => shown(stage, of.variant, of.against, m, SHOWN),
            Some(_) => None,
        });
        let verdict = match of.verdict {
            None => result::Verdict::Open,
            Some(crate::Verdict::Better) => result::Verdict::Better,
            Some(crate::Verdict::Worse) => result::Verdict::Worse,
            Some(crate::Verdict::Same) => result::Verdict::Same,
            Some(crate::Verdict::NotDecided) => result::Verdict::NotDecided,
        };
        let why = match verdict {
            result::Verdict::Better => self.why(of.against, of.variant),
            result::Verdict::Worse => self.why(of.variant, of.against),
            _ => Vec::new(),
        };
        result::Change {
            variant: of.variant,
            against: of.against,
            verdict,
            factor: of.factor.is_finite().then_some(of.factor),
            interval: of.interval,
            level: of.level.is_finite().then_some(of.level),
            by: match of.by {
                By::SignedRanks => "signed ranks",
                By::Student => "Student's t",
                By::Wager => "wager",
            }
            .into(),
            blocks: of.pairs,
            needs: of.needs,
            others: others.collect(),
            pairs: pairs.collect(),
            why,
            report: None,
        }
    }

    fn why(&self, slow: usize, fast: usize) -> Vec<result::Why> {
        if !self.with_why {
            return Vec::new();
        }
        let mut found = why::why(self.path, &self.explained(slow), &self.explained(fast));
        // What is a baseline to `explain` is the faster of the two, and here that may be any variant.
        let name = self.experiment.variants.get(fast).map_or("", |v| v.name.as_str());
        for why in &mut found {
            why.says = why.says.replace("(baseline ", &format!("(`{name}` "));
        }
        found
    }

    fn rungs(&self) -> Vec<Rung> {
        let whole = self.session.stages().iter().find(|s| s.kind == Kind::Table);
        let of = |change: Option<designs::Change>| change.zip(whole).map(|(c, stage)| self.change(stage, &c));
        let rung = |row: ladder::Row| {
            let variant = row.step + 1;
            let own = self.experiment.variants.get(variant);
            Rung {
                name: own.map(|v| v.name.clone()).unwrap_or_default(),
                variant,
                why: own.and_then(|v| v.why.clone()),
                kept: row.kept,
                change: of(row.change),
                total: of(row.total),
            }
        };
        if self.experiment.file.design != DesignName::Ladder {
            return Vec::new();
        }
        ladder::table(self.session).into_iter().map(rung).collect()
    }

    fn sweep(&self) -> Option<Sweep> {
        if self.experiment.file.design != DesignName::Sweep {
            return None;
        }
        let points = sweep::points(self.session);
        let sign = self.experiment.measures.first()?.head.better.sign();
        let better = |a: f64, b: f64| if sign > 0.0 { a > b } else { a < b };
        let best = points.iter().filter(|p| p.mean.is_finite() && p.of_best.is_none());
        let best = best.reduce(|best, p| if better(p.mean, best.mean) { p } else { best }).map(|p| p.point);
        let shown: Vec<result::Point> = points
            .iter()
            .map(|p| result::Point {
                variant: p.point,
                values: self.swept(p.point),
                mean: p.mean.is_finite().then_some(p.mean),
                interval: p.interval,
                of_best: p.of_best,
                is_best: best == Some(p.point),
                may_be_best: p.may_be_best,
                ledger: if self.with_why { why::ledger(self.path, &self.explained(p.point)) } else { Vec::new() },
            })
            .collect();
        let law = self.law(&shown);
        Some(Sweep { parameters: self.experiment.swept.clone(), points: shown, law })
    }

    fn swept(&self, variant: usize) -> Vec<String> {
        let values = self.experiment.values(variant, &[], &Set::new());
        self.experiment.swept.iter().map(|p| values.get(p).cloned().unwrap_or_default()).collect()
    }

    fn law(&self, points: &[result::Point]) -> Option<result::Law> {
        if self.experiment.swept.len() != 1 {
            return None;
        }
        let n: Vec<f64> = points.iter().map(|p| p.values.first()?.parse().ok()).collect::<Option<_>>()?;
        let measure = self.experiment.measures.first()?;
        let mut blocks = sweep::complete(self.session);
        // The law is of throughput, and a time is its inverse. Nothing else has one.
        match (measure.head.better, measure.unit.as_str()) {
            (Better::More, _) => {}
            (Better::Less, "s") => blocks.iter_mut().flatten().for_each(|x| *x = 1.0 / *x),
            _ => return None,
        }
        let fit = scaling::fit(&n, &blocks, Work::Same)?;
        let value = |v: scaling::Value| result::Value { estimate: v.estimate, low: v.low, high: v.high };
        let (peak, peak_says) = match fit.peak {
            Peak::At(at) => (Some(value(at)), format!("throughput is highest at {}", words::about(value(at)))),
            Peak::NoneUpTo(n) => (None, format!("no peak up to {n}")),
            Peak::NotKnown(n) => (None, format!("whether there is a peak up to {n} cannot be told from these points")),
        };
        let name = match fit.law {
            scaling::Law::Linear => "linear",
            scaling::Law::Amdahl => "Amdahl",
            scaling::Law::Universal => "Universal Scalability Law",
            scaling::Law::Gustafson => "Gustafson",
        };
        Some(result::Law {
            name: name.into(),
            does_not_fit: fit.does_not_fit(),
            lambda: value(fit.lambda),
            sigma: value(fit.sigma),
            kappa: fit.kappa.map(value),
            peak,
            peak_says,
            points: n.iter().zip(&fit.points).map(|(n, (law, off))| (*n, *law, off.exp())).collect(),
            grows: words::grows(points),
        })
    }

    /// What to do next.
    fn next(&self, shown: &result::Experiment) -> Vec<result::Next> {
        let mut next = Vec::new();
        if !shown.finished {
            return next;
        }
        let open = shown.changes.iter().filter(|c| c.verdict == result::Verdict::NotDecided && c.blocks > 0);
        let needs = open.filter_map(|c| Some(c.needs?.saturating_sub(c.blocks))).max();
        if let Some(more) =
            needs.filter(|more| *more > 0 && matches!(shown.design, DesignKind::Ab | DesignKind::Search))
        {
            let says = format!("About {more} more blocks would probably decide what is not decided.");
            let command = Some(format!("twinscope tune {} --more {more}", words::for_command(self.path)));
            next.push(result::Next { says, command });
        }
        let last = match shown.design {
            DesignKind::Ladder => shown.rungs.iter().rev().find(|r| r.kept == Some(true)).map_or(0, |r| r.variant),
            DesignKind::Ab | DesignKind::Search => {
                let better = shown.changes.iter().filter(|c| c.verdict == result::Verdict::Better);
                let sign = self.sign();
                let by = |c: &&result::Change| c.factor.map_or(f64::MIN, |f| f.ln() * sign);
                better.max_by(|a, b| by(a).total_cmp(&by(b))).map_or(0, |c| c.variant)
            }
            DesignKind::Optimise => shown.optimum.as_ref().and_then(|o| o.take).unwrap_or(0),
            DesignKind::Sweep => return next,
            DesignKind::Factorial => {
                next.extend(factorial::next(shown));
                return next;
            }
        };
        if self.with_why {
            next.extend(why::limit(self.path, &self.explained(last)));
        }
        next
    }
}
