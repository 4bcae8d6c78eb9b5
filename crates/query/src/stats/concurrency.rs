//! How many threads ran at once, from the mean numbers in slots of equal length: shares of the time, and the stretches in which only one ran.

use std::ops::Range;

/// The least length of a serial phase, seconds.
const LEAST: f64 = 0.3;

/// What does not end a serial phase, seconds.
const PATIENCE: f64 = 0.02;

/// How long more than one thread must have run, or wanted to, before one alone counts as a serial phase; seconds.
const BEFORE: f64 = 0.1;

/// By number of threads (0, 1, 2 …), the share of the slots in which so many ran at once; a slot with a mean between two numbers is shared out
/// among them. Empty where there is no slot.
pub fn profile(running: &[f64]) -> Vec<f64> {
    /// More threads at once than any machine has CPUs: damage.
    const MOST: f64 = 65_536.0;
    let mut out: Vec<f64> = Vec::new();
    let each = 1.0 / running.len() as f64;
    for x in running.iter().map(|x| if x.is_finite() { x.clamp(0.0, MOST) } else { 0.0 }) {
        let (low, part) = (x as usize, x.fract());
        if out.len() < low + 2 {
            out.resize(low + 2, 0.0);
        }
        for (at, share) in [(low, 1.0 - part), (low + 1, part)] {
            if let Some(sum) = out.get_mut(at) {
                *sum += share * each;
            }
        }
    }
    while out.last().is_some_and(|v| *v <= 0.0) {
        out.pop();
    }
    out
}

/// The serial phases, as ranges of slots of `seconds` each: at least 0.3 s in which one thread ran, or was ready to, and no other (between
/// 0.75 and 1.5 of both together, whatever else the machine had to do), after more did. Up to 20 ms in between do not end one.
pub fn serial_phases(running: &[f64], runnable: &[f64], seconds: f64) -> Vec<Range<usize>> {
    let count = |s: f64| ((s / seconds).round() as usize).max(1);
    let (least, patience, before) = (count(LEAST), count(PATIENCE), count(BEFORE));
    let wanting = |i: usize| running.get(i).unwrap_or(&0.0) + runnable.get(i).unwrap_or(&0.0);
    let serial = |i: usize| (0.75..1.5).contains(&wanting(i));
    let (mut found, mut many) = (Vec::new(), 0);
    let mut open: Option<Range<usize>> = None;
    // One slot beyond the end closes what is open there.
    for i in 0..=running.len() {
        if i < running.len() && serial(i) {
            if many >= before {
                open = Some(open.map_or(i, |o| o.start)..i + 1);
            }
            continue;
        }
        many += usize::from(i < running.len() && wanting(i) >= 1.5);
        if let Some(o) = open.take_if(|o| i == running.len() || i - o.end >= patience)
            && o.len() >= least
        {
            found.push(o);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let p = profile(&[0.0, 1.0, 1.5, 4.0, f64::NAN]);
        let expected = [0.4, 0.3, 0.1, 0.0, 0.2];
        assert!(p.len() == 5 && p.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{p:?}");
        assert!(profile(&[]).is_empty());
        assert!(profile(&[f64::INFINITY, -1.0, 1e300]).len() < 70_000);
    }

    #[test]
    fn one_thread_after_many_is_a_serial_phase() {
        // 0.5 s alone before the others start, 1 s of four, 1 s alone with a slot of three and one of none in it, 0.5 s of two.
        let mut x: Vec<f64> = [vec![1.0; 50], vec![4.0; 100], vec![1.0; 100], vec![2.0; 50]].concat();
        (x[180], x[220]) = (3.0, 0.0);
        let ready = vec![0.0; x.len()];
        let found = serial_phases(&x, &ready, 0.01);
        assert!(found.len() == 1 && found[0] == (150..250), "{found:?}");
        // One that has to share its CPU with other programs.
        let (half, rest) =
            (x.iter().map(|x| x / 2.0).collect::<Vec<_>>(), x.iter().map(|x| x / 2.0).collect::<Vec<_>>());
        assert_eq!(serial_phases(&half, &rest, 0.01), found);
        // Where others wait for a CPU, the machine is small and the program is not serial.
        assert!(serial_phases(&x, &vec![1.0; x.len()], 0.01).is_empty());
        // To the end, and one slot too short.
        let end = |n: usize| serial_phases(&[vec![2.0; 10], vec![0.98; n]].concat(), &[], 0.01);
        assert_eq!(end(30).first(), Some(&(10..40)));
        assert!(end(29).is_empty());
        // A thread that mostly sleeps is no serial phase.
        assert!(serial_phases(&[vec![2.0; 50], vec![0.2; 100]].concat(), &[], 0.01).is_empty());
        assert!(serial_phases(&[f64::NAN; 100], &[f64::NAN; 100], 0.01).is_empty());
        assert!(serial_phases(&[], &[], 0.01).is_empty());
    }
}
