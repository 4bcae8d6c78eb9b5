//! What a search found, as it is shown.

use super::View;
use super::words::amount;
use crate::designs::search::{self, Broke, Found, Next, Searched};
use crate::result;

/// Points of a curve.
const POINTS: usize = 48;

impl View<'_> {
    /// What was searched; `None` of other designs.
    fn searched(&self) -> Option<&Searched> {
        self.session.plan().searched()
    }

    /// The numbers of the trials around the limit of a variant, of which its medians are; `None` of other designs.
    pub(super) fn around(&self, variant: usize) -> Option<Vec<usize>> {
        self.searched()?;
        let found = search::all(self.session);
        let found = found.iter().find(|(of, _)| *of == variant);
        let tried = found.map(|(_, f)| f.tried.iter().filter(|t| t.around).map(|t| t.trial).collect());
        Some(tried.unwrap_or_default())
    }

    pub(super) fn search(&self) -> Option<result::Search> {
        let of = self.searched()?;
        let all = search::all(self.session);
        // The curve, where there is one, is the same measure's for all.
        let curve = all.iter().find_map(|(_, f)| f.curve);
        let first = of.limits.first().map_or(0, |bound| bound.measure);
        let measure = curve.map_or(first, |curve| curve.measure);
        let limit = of.limits.iter().find(|bound| bound.measure == measure).and_then(|bound| bound.limit.at_most());
        let mut limits: Vec<String> = (0..of.limits.len()).map(|at| self.limit(of, at)).collect();
        limits.extend(of.reached.map(|_| "99 % of the asked rate done".to_owned()));
        let rates = all.iter().map(|(variant, found)| self.rate(of, *variant, found, measure)).collect();
        Some(result::Search { parameter: of.parameter.clone(), limits, measure, limit, rates })
    }

    /// A limit in words.
    fn limit(&self, of: &Searched, at: usize) -> String {
        let Some(bound) = of.limits.get(at) else { return String::new() };
        let name = self.experiment.measures.get(bound.measure).map_or("", |m| m.head.name.as_str());
        format!("{name} {}", bound.limit.text)
    }

    fn broke(&self, of: &Searched, what: Broke) -> String {
        match what {
            Broke::Limit(at) => self.limit(of, at),
            Broke::Rate => "less than 99 % of the asked rate was done".into(),
            Broke::Failed => "trials failed".into(),
        }
    }

    fn rate(&self, of: &Searched, variant: usize, found: &Found, measure: usize) -> result::SearchRate {
        let around = found.tried.iter().filter(|t| t.around).count();
        let said = |rate| amount(rate, "/s");
        let says = match found.next {
            Next::Rate(_) => None,
            Next::AtLeast(rate) => {
                Some(format!("meets the limits up to {}, the highest rate that the file allows", said(rate)))
            }
            Next::Below(rate) => Some(format!("does not meet the limits even at {}", said(rate))),
        };
        let rate = Some(found.rate).filter(|rate| rate.is_finite() && says.is_none());
        let value =
            |t: &search::Tried| self.trials.get(t.trial - 1).and_then(|t| t.values.get(measure).copied()).flatten();
        let tried = found.tried.iter().map(|t| result::SearchTrial {
            trial: t.trial,
            rate: t.rate,
            value: value(t),
            broke: t.broke.map(|what| self.broke(of, what)),
            around: t.around,
        });
        let tried: Vec<result::SearchTrial> = tried.collect();
        let ends = tried.iter().filter(|t| t.value.is_some()).map(|t| t.rate);
        let ends = ends.fold(None, |ends: Option<(f64, f64)>, rate| {
            Some(ends.map_or((rate, rate), |(low, high)| (low.min(rate), high.max(rate))))
        });
        let curve = found.curve.zip(rate).zip(ends).map_or(Vec::new(), |((curve, limit), (low, high))| {
            let at = |i: usize| low * (high / low).powf(i as f64 / (POINTS - 1) as f64);
            let points = (0..POINTS).map(|i| (at(i), curve.at(at(i), limit)));
            points.take_while(|(_, y)| y.is_finite()).collect()
        });
        result::SearchRate {
            variant,
            rate,
            interval: found.interval.filter(|_| rate.is_some()),
            around,
            says,
            limited_by: found.by.map(|what| self.broke(of, what)),
            curve,
            tried,
        }
    }
}
