//! Which bands a fleet without any would have shown.

/// Two bands of equal width that would have been found in 4 of 5 fleets like this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown {
    /// The share of the smaller band, 0 to 1.
    pub share: f64,
    /// How far apart their middles would have been, in the robust deviations of the hosts that are there.
    pub deviations: f64,
    /// The same as a ratio of their middles (1.2: a fifth more), for metrics of which all values are positive.
    pub ratio: Option<f64>,
    /// The same as a difference, in the unit of the metric.
    pub difference: f64,
}

/// Shares of the table.
pub const SHARES: [f64; 3] = [0.5, 0.25, 0.125];

/// Numbers of hosts of the table.
pub const HOSTS: [usize; 9] = [16, 24, 32, 48, 64, 128, 256, 512, 1024];

/// The distance, in deviations within the bands, that is found in 80 % of fleets, by [`HOSTS`] and [`SHARES`]; infinite where none is.
/// Made by `cargo run --release -p twinscope-fleet --example fleet_simulation -- shown --seed 7`; 48 hosts need no less than 64.
const DISTANCE: [[f64; 3]; 9] = [
    [5.6, f64::INFINITY, f64::INFINITY],
    [4.8, 7.2, 9.2],
    [4.3, 5.9, 7.3],
    [4.1, 5.1, 5.6],
    [4.1, 4.9, 5.5],
    [3.8, 4.4, 4.9],
    [3.8, 4.3, 4.7],
    [3.7, 4.3, 4.6],
    [3.6, 4.2, 4.5],
];

/// What `hosts` hosts with this middle and deviation (of logarithms with `logs`) would have shown.
pub(super) fn shown(hosts: usize, middle: f64, deviation: f64, logs: bool) -> Vec<Shown> {
    let one = |s: usize| {
        let deviations = distance(hosts, s);
        let reach = deviations * deviation;
        let difference = if logs { middle * reach.exp_m1() } else { reach };
        Shown { share: SHARES[s], deviations, ratio: logs.then(|| reach.exp()), difference }
    };
    (0..SHARES.len()).filter(|&s| distance(hosts, s).is_finite()).map(one).collect()
}

/// Between two numbers of hosts, linear in the logarithm; beyond the last, as there.
fn distance(hosts: usize, share: usize) -> f64 {
    let next = HOSTS.partition_point(|h| *h <= hosts);
    if next == 0 {
        return f64::INFINITY;
    }
    let low = DISTANCE[next - 1][share];
    let Some(high) = HOSTS.get(next) else { return low };
    let ln = |n: usize| (n as f64).ln();
    if low.is_infinite() {
        // Nothing is known until the next number of hosts.
        return f64::INFINITY;
    }
    let part = (ln(hosts) - ln(HOSTS[next - 1])) / (ln(*high) - ln(HOSTS[next - 1]));
    low + part * (DISTANCE[next][share] - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_hosts_show_closer_bands() {
        assert!(shown(15, 1.0, 1.0, false).is_empty());
        assert_eq!(shown(16, 1.0, 1.0, false).len(), 1);
        let of = |n| shown(n, 10.0, 0.1, true).iter().map(|s| s.deviations).collect::<Vec<_>>();
        assert!(of(40).iter().zip(of(200)).all(|(a, b)| *a > b), "{:?} {:?}", of(40), of(200));
        assert_eq!(of(100_000), of(1024));
        let s = shown(1024, 10.0, 0.1, true)[0];
        assert!(
            (s.ratio.unwrap() - 0.36f64.exp()).abs() < 1e-12 && (s.difference - 10.0 * 0.36f64.exp_m1()).abs() < 1e-12
        );
    }
}
