//! Tails and quantiles of the distributions that the tests need.

use statrs::function::{beta::checked_beta_reg, erf};

/// P(|T| ≥ |t|) for Student's t with `df` degrees of freedom (any positive real). Keeps its relative accuracy in the far
/// tail. 1 where `t` is not a number, 0 where it is infinite.
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    if df > 1e8 {
        return normal_two_sided(t);
    }
    let t2 = t * t;
    if t2 < 0.25 {
        // Near the centre the complement is the accurate one; further out it would cancel.
        1.0 - checked_beta_reg(0.5, df / 2.0, t2 / (df + t2)).unwrap_or(0.0).clamp(0.0, 1.0)
    } else {
        checked_beta_reg(df / 2.0, 0.5, df / (df + t2)).unwrap_or(0.0).clamp(0.0, 1.0)
    }
}

/// P(|Z| ≥ |z|) for the standard normal.
pub fn normal_two_sided(z: f64) -> f64 {
    if z.is_nan() { 1.0 } else { erf::erfc(z.abs() / std::f64::consts::SQRT_2) }
}

/// The z with P(Z ≤ z) = `p`.
pub fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erf::erfc_inv(2.0 * p)
}

/// The t > 0 with P(|T| ≥ t) = `p`, for 0 < p < 1: bisection on the logarithm, exact to 12 digits.
pub fn t_critical(p: f64, df: f64) -> f64 {
    let (mut low, mut high) = (-40.0f64, 1.0f64);
    while t_two_sided(high.exp(), df) > p && high < 600.0 {
        high *= 2.0;
    }
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if t_two_sided(middle.exp(), df) > p { low = middle } else { high = middle }
    }
    (0.5 * (low + high)).exp()
}

/// P(F ≥ `f`) for Fisher's F with `d1` and `d2` degrees of freedom (any positive reals). 1 where anything is not a number.
pub fn f_upper(f: f64, d1: f64, d2: f64) -> f64 {
    if !(f > 0.0 && d1 > 0.0 && d2 > 0.0) {
        return 1.0;
    }
    checked_beta_reg(d2 / 2.0, d1 / 2.0, d2 / (d2 + d1 * f)).unwrap_or(0.0).clamp(0.0, 1.0)
}

/// ln of the binomial coefficient C(n, k).
pub fn ln_choose(n: u64, k: u64) -> f64 {
    statrs::function::factorial::ln_binomial(n, k)
}

/// The exact interval of a share of which `count` of `n` were seen, which leaves out the truth with a probability of at most `alpha` (Clopper and
/// Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934). 0 to 1 for an `n` of 0.
pub fn clopper_pearson(count: u64, n: u64, alpha: f64) -> (f64, f64) {
    let (k, n) = (count.min(n) as f64, n as f64);
    let low = if k > 0.0 { beta_quantile(alpha / 2.0, k, n - k + 1.0) } else { 0.0 };
    let high = if k < n { beta_quantile(1.0 - alpha / 2.0, k + 1.0, n - k) } else { 1.0 };
    (low, high)
}

/// The x with P(B ≤ x) = `p` for the beta distribution, by bisection.
fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0f64, 1.0f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if checked_beta_reg(a, b, middle).unwrap_or(1.0) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// P(X ≥ `x`) for the χ² distribution with `df` degrees of freedom. 1 where anything is not a number.
pub fn chi_square_upper(x: f64, df: f64) -> f64 {
    if !(x > 0.0 && df > 0.0) {
        return 1.0;
    }
    statrs::function::gamma::checked_gamma_ur(df / 2.0, x / 2.0).unwrap_or(0.0).clamp(0.0, 1.0)
}

/// Fisher's exact test of a table of two by two, two-sided: the sum of the probabilities of all tables of the same margins that are not more
/// likely than this one ("Statistical methods for research workers", 5th ed., 1934, §21.02; as SciPy's `fisher_exact`).
pub fn fisher_exact(a: u64, b: u64, c: u64, d: u64) -> f64 {
    let (row, column, all) = (a + b, a + c, a + b + c + d);
    let ln = |k: u64| ln_choose(row, k) + ln_choose(all - row, column - k) - ln_choose(all, column);
    let seen = ln(a);
    let (from, to) = ((row + column).saturating_sub(all), row.min(column));
    (from..=to).map(ln).filter(|p| *p <= seen + 1e-7).map(f64::exp).sum::<f64>().min(1.0)
}
