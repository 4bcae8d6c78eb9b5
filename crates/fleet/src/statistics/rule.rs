//! One rule that tells a band from the other hosts: at most two cuts, "context switches above 900 and CPU frequency below 2.4", found on some
//! blocks of time and counted on the others.
//!
//! The second cut is looked for within each side of the 32 best first ones, in all metrics: exhaustive but for first cuts that tell little alone.

/// First cuts within which a second is looked for.
const FIRST: usize = 32;

/// A second cut must spare at least so many wrong hosts.
const SPARES: usize = 2;

/// One cut through a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Place of the metric in what was asked.
    pub metric: usize,
    /// Where, in its unit.
    pub at: f64,
    /// The band lies above; else below. A host that lacks the metric lies on neither side.
    pub above: bool,
}

impl Cut {
    fn holds(&self, value: f64) -> bool {
        if self.above { value > self.at } else { value < self.at }
    }
}

/// How two cuts go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Hosts of the band fulfil both.
    And,
    /// They fulfil one of them.
    Or,
}

/// A rule for who is in the band.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// One or two.
    pub cuts: Vec<Cut>,
    /// How two go together.
    pub join: Join,
    /// Hosts told wrongly on the blocks that the rule was found on.
    pub wrong: usize,
    /// Hosts told wrongly on the other blocks.
    pub wrong_elsewhere: usize,
    /// Of how many.
    pub hosts: usize,
    /// How many would be wrong without any rule: the smaller side.
    pub without: usize,
}

/// Finds the rule with the fewest errors on the blocks `even`, and counts those on `odd`; both have a slice a metric with one place a host. Two
/// cuts are taken only if they are better on both. `None` where no rule is better than none.
pub fn find(even: &[&[f64]], odd: &[&[f64]], sides: &[Option<bool>]) -> Option<Rule> {
    let hosts: Vec<(usize, bool)> = sides.iter().enumerate().filter_map(|(i, s)| Some((i, (*s)?))).collect();
    let without = hosts.iter().filter(|h| h.1).count().min(hosts.iter().filter(|h| !h.1).count());
    let places: Vec<usize> = (0..even.len().min(odd.len())).collect();
    // Hosts by value, once a metric.
    let sorted: Vec<Vec<(f64, u32)>> = super::parallel(&places, |&m| {
        let value = |p: usize| even[m].get(hosts[p].0).copied().unwrap_or(f64::NAN);
        let mut s: Vec<(f64, u32)> =
            (0..hosts.len()).map(|p| (value(p), p as u32)).filter(|v| v.0.is_finite()).collect();
        s.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        s
    });
    let one: Vec<bool> = hosts.iter().map(|h| h.1).collect();
    let everyone = vec![true; hosts.len()];
    let mut firsts: Vec<(usize, f64, Cut)> = super::parallel(&places, |&m| best(m, &sorted[m], &one, &everyone))
        .into_iter()
        .flatten()
        .map(|(wrong, margin, cut)| (wrong, -margin, cut))
        .collect();
    firsts.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.metric.cmp(&b.2.metric)));
    let elsewhere = |rule: &[Cut], join: Join| {
        let told = |i: usize| {
            let mut each = rule.iter().map(|c| c.holds(odd[c.metric].get(i).copied().unwrap_or(f64::NAN)));
            if join == Join::And { each.all(|x| x) } else { each.any(|x| x) }
        };
        hosts.iter().filter(|h| told(h.0) != h.1).count()
    };
    let &(wrong, _, cut) = firsts.first()?;
    let simple = Rule {
        cuts: vec![cut],
        join: Join::And,
        wrong,
        wrong_elsewhere: elsewhere(&[cut], Join::And),
        hosts: hosts.len(),
        without,
    };
    firsts.truncate(FIRST);
    let second: Vec<Option<Rule>> = if wrong < SPARES {
        Vec::new()
    } else {
        super::parallel(&firsts, |(_, _, first)| {
            let holds: Vec<bool> =
                hosts.iter().map(|h| first.holds(even[first.metric].get(h.0).copied().unwrap_or(f64::NAN))).collect();
            // And: those on the band's side are looked through; or: those on the other.
            let joined = [(Join::And, true), (Join::Or, false)].map(|(join, side)| {
                let within: Vec<bool> = holds.iter().map(|h| *h == side).collect();
                let outside = (0..hosts.len()).filter(|&p| !within[p] && one[p] == side).count();
                places
                    .iter()
                    .filter_map(|&m| best(m, &sorted[m], &one, &within))
                    .min_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)))
                    .map(|(wrong, _, cut)| (wrong + outside, join, cut))
            });
            let (wrong, join, cut) = joined.into_iter().flatten().min_by_key(|j| j.0)?;
            Some(Rule { cuts: vec![*first, cut], join, wrong, wrong_elsewhere: 0, ..simple.clone() })
        })
    };
    let two = second.into_iter().flatten().min_by_key(|r| r.wrong).map(|mut r| {
        r.wrong_elsewhere = elsewhere(&r.cuts, r.join);
        r
    });
    let rule = match two {
        Some(two) if two.wrong + SPARES <= simple.wrong && two.wrong_elsewhere + SPARES <= simple.wrong_elsewhere => {
            two
        }
        _ => simple,
    };
    (rule.wrong_elsewhere < without).then_some(rule)
}

/// The same rule, found on some hosts, counted on all of them: `even` and `odd` have the values of the metric of each cut. `None` where it is no
/// better than none.
pub fn count_again(mut rule: Rule, even: &[&[f64]], odd: &[&[f64]], sides: &[Option<bool>]) -> Option<Rule> {
    let told = |blocks: &[&[f64]], i: usize| {
        let holds = |(cut, values): (&Cut, &&[f64])| cut.holds(values.get(i).copied().unwrap_or(f64::NAN));
        let mut each = rule.cuts.iter().zip(blocks).map(holds);
        if rule.join == Join::And { each.all(|x| x) } else { each.any(|x| x) }
    };
    let wrong =
        |blocks: &[&[f64]]| sides.iter().enumerate().filter(|(i, s)| s.is_some_and(|s| told(blocks, *i) != s)).count();
    let count = |side: bool| sides.iter().filter(|s| **s == Some(side)).count();
    let (wrong, wrong_elsewhere, one, rest) = (wrong(even), wrong(odd), count(true), count(false));
    (rule.wrong, rule.wrong_elsewhere, rule.hosts, rule.without) = (wrong, wrong_elsewhere, one + rest, one.min(rest));
    (rule.wrong_elsewhere < rule.without).then_some(rule)
}

/// The cut through one metric with the fewest wrong hosts among those `within`, how many those are, and how wide the gap at the cut is, as a part of
/// the range. Hosts that lack the metric are on the side of the others.
fn best(metric: usize, sorted: &[(f64, u32)], one: &[bool], within: &[bool]) -> Option<(usize, f64, Cut)> {
    let ours = |p: u32| within[p as usize].then(|| one[p as usize]);
    let members = one.iter().zip(within).filter(|(o, w)| **o && **w).count();
    let (mut known_one, mut known_rest) = (0usize, 0usize);
    for o in sorted.iter().filter_map(|s| ours(s.1)) {
        if o { known_one += 1 } else { known_rest += 1 }
    }
    let lack = members - known_one;
    let range = sorted.last()?.0 - sorted[0].0;
    let (mut one_below, mut rest_below) = (0usize, 0usize);
    let mut found: Option<(usize, f64, Cut)> = None;
    let mut last: Option<f64> = None;
    for &(v, p) in sorted {
        let Some(o) = ours(p) else { continue };
        if let Some(before) = last.filter(|l| *l < v) {
            let gap = (v - before) / range;
            let above = one_below + (known_rest - rest_below) + lack;
            let below = rest_below + (known_one - one_below) + lack;
            for (wrong, above) in [(above, true), (below, false)] {
                if found.is_none_or(|f| wrong < f.0 || (wrong == f.0 && gap > f.1)) {
                    found = Some((wrong, gap, Cut { metric, at: 0.5 * before + 0.5 * v, above }));
                }
            }
        }
        if o {
            one_below += 1
        } else {
            rest_below += 1
        }
        last = Some(v);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::stats::rng::Rng;

    fn noise(rng: &mut Rng, n: usize) -> Vec<f64> {
        (0..n).map(|_| rng.normal()).collect()
    }

    #[test]
    fn one_cut_and_two() {
        let mut rng = Rng::new(3);
        let n = 80;
        let columns: Vec<Vec<f64>> = (0..40).map(|_| noise(&mut rng, n)).collect();
        let again: Vec<Vec<f64>> =
            columns.iter().map(|c| c.iter().map(|v| v + 0.02 * rng.normal()).collect()).collect();
        let (even, odd): (Vec<&[f64]>, Vec<&[f64]>) =
            (columns.iter().map(Vec::as_slice).collect(), again.iter().map(Vec::as_slice).collect());
        let sides = |f: &dyn Fn(usize) -> bool| (0..n).map(|i| Some(f(i))).collect::<Vec<_>>();
        let one = find(&even, &odd, &sides(&|i| columns[7][i] > 0.8)).unwrap();
        assert_eq!((one.cuts.len(), one.cuts[0].metric, one.cuts[0].above, one.wrong), (1, 7, true, 0), "{one:?}");
        let two = find(&even, &odd, &sides(&|i| columns[7][i] > 0.2 && columns[9][i] < 0.3)).unwrap();
        let mut metrics: Vec<usize> = two.cuts.iter().map(|c| c.metric).collect();
        metrics.sort_unstable();
        assert!(metrics == [7, 9] && two.join == Join::And && two.wrong == 0 && two.wrong_elsewhere < 5, "{two:?}");
        let any = find(&even, &odd, &sides(&|i| columns[3][i] > 1.0 || columns[5][i] < -1.0)).unwrap();
        assert!(any.join == Join::Or && any.wrong == 0, "{any:?}");
        // A coin has no rule that holds on other blocks, where these are new.
        let new: Vec<Vec<f64>> = (0..40).map(|_| noise(&mut rng, n)).collect();
        let new: Vec<&[f64]> = new.iter().map(Vec::as_slice).collect();
        let coin = find(&even, &new, &sides(&|i| i % 8 == 0));
        assert_eq!(coin, None);
    }

    #[test]
    fn nothing_to_cut() {
        assert_eq!(find(&[], &[], &[]), None);
        let x: &[f64] = &[1.0, 1.0, f64::NAN];
        assert_eq!(find(&[x], &[x], &[Some(true), Some(false), Some(true)]), None);
        let x: &[f64] = &[1.0, 2.0];
        assert_eq!(find(&[x], &[x], &[Some(true), Some(true)]), None);
    }
}
