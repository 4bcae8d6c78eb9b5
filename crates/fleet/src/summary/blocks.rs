//! A window in blocks of time, every other of which is even: what was found in the even ones must be there in the odd ones too. And the
//! statistics that a row of the metrics holds.

use crate::folder::Cell;
use compare::measured::Cut;
use model::Window;
use query::stats::{Comparer, Series};

/// How many blocks a window has; fewer where there are fewer intervals.
pub const BLOCKS: usize = 20;

/// The mean over the even and over the odd blocks; NaN where nothing was measured.
pub fn halves(cut: &Cut, window: &Window) -> [f64; 2] {
    let blocks = BLOCKS.min(cut.len()).max(1) as f64;
    let (from, seconds) = (window.from as f64 / 1e9, window.seconds());
    let mut sums = [(0.0, 0.0); 2];
    for ((num, den), (begin, end)) in cut.num().iter().zip(cut.den()).zip(cut.times()) {
        if !num.is_finite() || !den.is_finite() || seconds <= 0.0 {
            continue;
        }
        let block = (((begin + end) / 2.0 - from) / seconds * blocks).clamp(0.0, blocks - 1.0) as usize;
        if let Some(sum) = sums.get_mut(block % 2) {
            *sum = (sum.0 + num, sum.1 + den);
        }
    }
    sums.map(|(num, den)| if den > 0.0 { num / den } else { f64::NAN })
}

/// What a row of the metrics says of a cut, from `samples` on: samples, mean, error, deviation, median, p99, even, odd. `None` where it has no mean.
pub fn statistics(cut: &Cut, window: &Window, comparer: &mut Comparer) -> Option<[Cell; 8]> {
    let series = cut.series();
    let side = comparer.alone(&series);
    let [even, odd] = halves(cut, window);
    Some([
        (side.samples as i64).into(),
        side.mean?.into(),
        (side.se > 0.0).then_some(side.se).into(),
        deviation(&series).into(),
        side.median.into(),
        side.p99.into(),
        even.into(),
        odd.into(),
    ])
}

/// The weighted standard deviation; `None` of fewer than two intervals.
fn deviation(series: &Series) -> Option<f64> {
    let (values, weights) = series.points();
    let total: f64 = weights.iter().sum();
    if values.len() < 2 || total <= 0.0 {
        return None;
    }
    let mean = values.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>() / total;
    let square = values.iter().zip(&weights).map(|(v, w)| w * (v - mean).powi(2)).sum::<f64>() / total;
    let n = values.len() as f64;
    Some((square * n / (n - 1.0)).sqrt())
}
