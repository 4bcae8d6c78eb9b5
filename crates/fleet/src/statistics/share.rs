//! Whether the share of a band is a simple one, such as one in eight: a hint at what is drawn, never a finding.

use query::stats::special::clopper_pearson;

/// Shares that chance makes often: one in so many.
pub const SIMPLE: [u32; 5] = [2, 3, 4, 8, 16];

/// A simple share beside the one that was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simple {
    /// One in so many.
    pub of: u32,
    /// It lies in the exact 95 % interval; else it is excluded.
    pub within: bool,
}

/// Which simple shares `count` of `n` hosts leave open.
pub fn simple(count: usize, n: usize) -> Vec<Simple> {
    let (low, high) = clopper_pearson(count as u64, n as u64, 0.05);
    let within = |of: u32| (low..=high).contains(&(1.0 / f64::from(of)));
    SIMPLE.iter().map(|&of| Simple { of, within: within(of) }).collect()
}

/// What has a chance of one in so many on today's machines; empty where nothing is known to.
pub fn chance(of: u32) -> &'static str {
    match of {
        2 => "one of two sockets or of two SMT siblings",
        4 => "one of four places of 16 bytes in a cache line of 64",
        8 => {
            "two neighbouring fields of 8 bytes lie on two cache lines at one of the eight places in a line of 64 bytes"
        }
        16 => "the same with fields of 4 bytes, or with lines of 128 bytes",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_eight_takes_hosts_to_tell() {
        let within = |k, n| simple(k, n).iter().filter(|s| s.within).map(|s| s.of).collect::<Vec<_>>();
        assert_eq!(within(8, 64), [8, 16]);
        assert_eq!(within(51, 412), [8]);
        assert_eq!(within(0, 0), SIMPLE);
        assert!(!chance(8).is_empty() && chance(3).is_empty());
    }
}
