//! What does not differ between a band and the other hosts, and how surely: that nothing was found says nothing.

use super::separate::{Columns, Slices};
use query::stats::rank::{Samples, hodges_lehmann};

/// Whether a metric, such as the work, is equal on both sides: two one-sided tests at 5 %, which the 90 % interval of the shift answers (Schuirmann,
/// "A comparison of the two one-sided tests procedure …", J. Pharmacokinetics and Biopharmaceutics 15, 1987).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equal {
    /// By which part the band exceeds the others: 0.02 is 2 % more.
    pub change: f64,
    /// Lower end of its 90 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The interval lies within the margin on both sides.
    pub equal: bool,
}

/// Asks whether `values` (one place a host, all positive where known) differ between the sides by less than `margin` (0.05: 5 %). `None` where a side
/// has fewer than three hosts, or values are not positive.
pub fn equal(values: &[f64], sides: &[Option<bool>], margin: f64) -> Option<Equal> {
    let [one, rest] = split(values, sides);
    let logs = |x: &[f64]| x.iter().map(|v| (*v > 0.0).then(|| v.ln())).collect::<Option<Vec<f64>>>();
    if one.len() < 3 || rest.len() < 3 {
        return None;
    }
    let shift = hodges_lehmann(&logs(&rest)?, &logs(&one)?, Samples::Independent, 0.1)?;
    let inside = shift.low >= -margin.ln_1p() && shift.high <= margin.ln_1p();
    Some(Equal { change: shift.estimate.exp_m1(), low: shift.low.exp_m1(), high: shift.high.exp_m1(), equal: inside })
}

/// How far at most any of several metrics can differ, such as the shares of functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtMost {
    /// In the unit of the metrics: the furthest end of all 95 % intervals.
    pub by: f64,
    /// The metric that leaves most open.
    pub metric: usize,
}

/// "No function differs by more than X": X and the function whose interval sets it. NaN: a host has no sample of it, which counts as 0 where
/// `absent_is_zero` (a share). `None` where a side has fewer than three hosts, or nothing is asked.
pub fn at_most(metrics: &[&[f64]], sides: &[Option<bool>], absent_is_zero: bool) -> Option<AtMost> {
    let hosts: Vec<usize> = (0..sides.len()).collect();
    match at_most_of(&mut Slices(metrics), sides, &hosts, absent_is_zero) {
        Ok(most) => most,
        Err(never) => match never {},
    }
}

/// Of so many functions that leave most open by the values of some hosts, those of all hosts are looked at.
const OPEN: usize = 8;

/// The same of columns that may be elsewhere: `some` are the hosts whose values of all are looked at.
///
/// # Errors
/// Where values cannot be had.
pub fn at_most_of<C: Columns>(
    of: &mut C,
    sides: &[Option<bool>],
    some: &[usize],
    absent_is_zero: bool,
) -> Result<Option<AtMost>, C::Error> {
    let one = |metric: usize, values: &[f64], sides: &[Option<bool>]| {
        let filled: Vec<f64> = values.iter().map(|v| if v.is_nan() && absent_is_zero { 0.0 } else { *v }).collect();
        let [one, rest] = split(&filled, sides);
        if one.len() < 3 || rest.len() < 3 {
            return None;
        }
        let shift = hodges_lehmann(&rest, &one, Samples::Independent, 0.05)?;
        Some(AtMost { by: shift.low.abs().max(shift.high.abs()), metric })
    };
    let values: Vec<(usize, Vec<f64>)> = of.some(some)?.into_iter().enumerate().collect();
    let their: Vec<Option<bool>> = some.iter().map(|&i| sides.get(i).copied().flatten()).collect();
    let mut open: Vec<AtMost> =
        super::parallel(&values, |(i, values)| one(*i, values, &their)).into_iter().flatten().collect();
    open.sort_by(|a, b| b.by.total_cmp(&a.by).then(a.metric.cmp(&b.metric)));
    if their.iter().flatten().count() < sides.iter().flatten().count() {
        let which: Vec<usize> = open.iter().take(OPEN).map(|most| most.metric).collect();
        let whole: Vec<(usize, Vec<f64>)> = which.iter().copied().zip(of.whole(&which)?).collect();
        open = super::parallel(&whole, |(i, values)| one(*i, values, sides)).into_iter().flatten().collect();
        open.sort_by(|a, b| b.by.total_cmp(&a.by).then(a.metric.cmp(&b.metric)));
    }
    Ok(open.first().copied())
}

/// The values that are known, of the band and of the others.
fn split(values: &[f64], sides: &[Option<bool>]) -> [Vec<f64>; 2] {
    let of =
        |side| values.iter().zip(sides).filter(|(v, s)| **s == Some(side) && v.is_finite()).map(|(v, _)| *v).collect();
    [of(true), of(false)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::stats::rng::Rng;

    #[test]
    fn equal_work_is_shown_and_not_assumed() {
        let mut rng = Rng::new(4);
        let sides: Vec<Option<bool>> = (0..64).map(|i| Some(i < 8)).collect();
        let same: Vec<f64> = sides.iter().map(|_| 1000.0 * (1.0 + 0.02 * rng.normal())).collect();
        let e = equal(&same, &sides, 0.05).unwrap();
        assert!(e.equal && e.low < e.change && e.change < e.high, "{e:?}");
        let noisy: Vec<f64> = sides.iter().map(|_| 1000.0 * (0.5 * rng.normal()).exp()).collect();
        assert!(!equal(&noisy, &sides, 0.05).unwrap().equal, "not known is not equal");
        let more: Vec<f64> =
            same.iter().zip(&sides).map(|(v, s)| if *s == Some(true) { 1.3 * v } else { *v }).collect();
        assert!(!equal(&more, &sides, 0.05).unwrap().equal);
        assert_eq!(equal(&same[..2], &sides, 0.05), None);
        assert_eq!(equal(&[0.0; 64], &sides, 0.05), None);
    }

    #[test]
    fn the_widest_interval_says_how_far_at_most() {
        let mut rng = Rng::new(5);
        let sides: Vec<Option<bool>> = (0..64).map(|i| Some(i < 8)).collect();
        let shares: Vec<Vec<f64>> =
            [0.1, 0.4, 0.2].iter().map(|w| sides.iter().map(|_| 10.0 + w * rng.normal()).collect()).collect();
        let all: Vec<&[f64]> = shares.iter().map(Vec::as_slice).collect();
        let most = at_most(&all, &sides, true).unwrap();
        assert!(most.metric == 1 && most.by < 1.0, "{most:?}");
        assert_eq!(at_most(&[], &sides, true), None);
        assert_eq!(at_most(&[&[f64::NAN; 64]], &sides, true).unwrap().by, 0.0);
        assert_eq!(at_most(&[&[f64::NAN; 64]], &sides, false), None);
    }
}
