//! False discovery rate: the more metrics are compared, the more differ by chance.

/// Benjamini and Hochberg's q-values ("Controlling the false discovery rate", JRSS B 57, 1995): the least rate at which each
/// p-value would be listed. Valid for tests that are independent or positively dependent. p-values that are NaN count as
/// tests that were not made: their q is NaN and they do not add to the number of tests.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    adjust(p, |_| 1.0)
}

/// Benjamini and Yekutieli's q-values ("The control of the false discovery rate in multiple testing under dependency", Annals
/// of Statistics 29, 2001): valid whatever the dependence, at the price of a factor 1 + 1/2 + … + 1/m. The metrics of one
/// machine rise and fall with and against each other (busy and idle), so this is the one that `compare` uses.
pub fn benjamini_yekutieli(p: &[f64]) -> Vec<f64> {
    adjust(p, |m| (1..=m).map(|i| 1.0 / i as f64).sum())
}

fn adjust(p: &[f64], factor: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&i| !p[i].is_nan()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let tests = order.len();
    let factor = factor(tests) * tests as f64;
    let mut q = vec![f64::NAN; p.len()];
    let mut least = 1.0f64;
    for (rank, &i) in order.iter().enumerate().rev() {
        // Rounding must not make q less than p.
        least = least.min((p[i] * factor / (rank + 1) as f64).max(p[i]));
        q[i] = least;
    }
    q
}
