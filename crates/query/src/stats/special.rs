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
