//! Hosts that lie far from all others, one or two together.

/// How many robust deviations make a stray among fifteen hosts and more.
const FAR: f64 = 6.0;

/// The same among fewer, from three on: the median of a few deviations is often far too small. So many are surpassed by the farthest of so
/// many equal hosts in one fleet of a hundred (simulated, normal values; a test simulates them anew).
const FAR_OF_FEW: [f64; 12] = [112.0, 15.6, 18.5, 10.1, 10.6, 7.9, 8.2, 6.9, 7.1, 6.3, 6.4, 6.0];

/// Who lies no further out than so many times the last one is with it.
const TOGETHER: f64 = 1.5;

/// So many together are no strays.
pub(crate) const MANY: usize = 3;

/// How many robust deviations make a stray among `hosts`, itself one of them.
pub(crate) fn far_among(hosts: usize) -> f64 {
    match hosts {
        0..3 => f64::INFINITY,
        _ => FAR_OF_FEW.get(hosts - 3).copied().unwrap_or(FAR),
    }
}

/// What lies beyond so many robust deviations as [`far_among`] says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Far {
    /// Fewer than three together.
    pub strays: Vec<usize>,
    /// Three and more together.
    pub groups: Vec<Vec<usize>>,
}

/// The median and the robust deviation (1.4826 median deviations) of sorted values, the latter at least `floor`.
pub(crate) fn middle(sorted: &[f64], floor: f64) -> (f64, f64) {
    let median = |x: &[f64]| match x.len() {
        0 => f64::NAN,
        n => 0.5 * x[(n - 1) / 2] + 0.5 * x[n / 2],
    };
    let m = median(sorted);
    let mut off: Vec<f64> = sorted.iter().map(|v| (v - m).abs()).collect();
    off.sort_by(f64::total_cmp);
    // Rounding is no deviation.
    (m, (1.4826 * median(&off)).max(floor).max(1e-9 * m.abs()))
}

/// Looks for them among `values` (index and value, in any order). `floor`: the least deviation, what hosts' own errors make.
pub(super) fn far(values: &[(usize, f64)], floor: f64) -> Far {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let (middle, deviation) = middle(&sorted.iter().map(|v| v.1).collect::<Vec<_>>(), floor);
    let mut far = Far::default();
    let limit = far_among(values.len()) * deviation;
    let beyond = |v: f64| (v - middle).abs() > limit;
    let below: Vec<(usize, f64)> = sorted.iter().take_while(|v| v.1 < middle && beyond(v.1)).copied().collect();
    let above: Vec<(usize, f64)> = sorted.iter().rev().take_while(|v| v.1 > middle && beyond(v.1)).copied().collect();
    for side in [below, above] {
        // From the inside out.
        let inside: Vec<(usize, f64)> = side.into_iter().rev().map(|(i, v)| (i, (v - middle).abs())).collect();
        for group in inside.chunk_by(|a, b| b.1 <= TOGETHER * a.1) {
            let hosts = group.iter().map(|g| g.0);
            if group.len() < MANY { far.strays.extend(hosts) } else { far.groups.push(hosts.collect()) }
        }
    }
    far.strays.sort_unstable();
    far
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::stats::rng::Rng;

    #[test]
    fn one_or_two_are_strays_and_three_a_group() {
        let mut x: Vec<(usize, f64)> = (0..40).map(|i| (i, 100.0 + (i as f64 * 0.7).sin())).collect();
        assert_eq!(far(&x, 0.0), Far::default());
        x[3].1 = 140.0;
        x[9].1 = 60.0;
        assert_eq!(far(&x, 0.0).strays, [3, 9]);
        x[10].1 = 61.0;
        x[11].1 = 58.0;
        let f = far(&x, 0.0);
        assert_eq!((f.strays, f.groups.len()), (vec![3], 1));
        assert_eq!(far(&[], 0.0), Far::default());
        let equal: Vec<(usize, f64)> = (0..9).map(|i| (i, if i == 4 { 2.0 } else { 1.0 })).collect();
        assert_eq!(far(&equal, 0.0).strays, [4]);
        assert_eq!(far(&equal, 0.5), Far::default());
    }

    #[test]
    fn of_few_equal_hosts_one_fleet_of_a_hundred_has_a_stray() {
        let mut rng = Rng::new(5);
        for hosts in [4, 5, 7, 10, 14] {
            let fleets = 8000;
            let with = (0..fleets)
                .filter(|_| {
                    let values: Vec<(usize, f64)> = (0..hosts).map(|i| (i, rng.normal())).collect();
                    !far(&values, 0.0).strays.is_empty()
                })
                .count();
            let share = with as f64 / fleets as f64;
            assert!((0.005..0.015).contains(&share), "{hosts} hosts: {share}");
        }
    }
}
