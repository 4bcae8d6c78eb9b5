//! Since when recordings are in their bands: switches within a recording, and whether the band belongs to the host or is drawn at each start.

use crate::loaded::{Course, Recording};
use crate::statistics::bands::Found;
use crate::statistics::since::{self, Drawn, Starts};
use query::stats::rng::Rng;
use std::collections::HashMap;

/// Draws are the same each time.
const SEED: u64 = 0x7369_6e63_6520_7768;

/// A recording that changed its band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Which recording.
    pub recording: usize,
    /// When, ns since 1970 UTC.
    pub at: i64,
    /// Whether to the upper of the two bands by value.
    pub up: bool,
    /// How long the oldest process of the workload had been there, ns; `None` where that is not known.
    pub after_start: Option<i64>,
}

/// What is known of when.
#[derive(Clone, Debug, PartialEq)]
pub struct Since {
    /// Switches in all recordings, by time.
    pub switches: Vec<Switch>,
    /// Recordings with a course that shows none.
    pub steady: usize,
    /// For how long those were watched in all, s.
    pub watched: f64,
    /// Whether the band stays with the host, where hosts have several recordings.
    pub starts: Option<Starts>,
    /// What decides where all recordings are of one host, and fall into several bands.
    pub one_host: Option<OneHost>,
}

/// What decides the band of the recordings of one host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OneHost {
    /// Bands follow each other as if each start drew one.
    EachStart,
    /// They come in stretches, so that something changed meanwhile: the p-value of "each start draws".
    Stretches(f64),
}

/// Fewer changes of the band from one start to the next than this share of random orders has are stretches.
const STRETCHES: f64 = 0.05;

/// Random orders.
const ORDERS: usize = 999;

/// Of bands in the order of time: how likely so few changes are if each start draws.
fn one_host(bands: &[usize]) -> OneHost {
    let changes = |bands: &[usize]| bands.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let seen = changes(bands);
    let (mut rng, mut order) = (Rng::new(SEED), bands.to_vec());
    let mut as_few = 0;
    for _ in 0..ORDERS {
        for at in (1..order.len()).rev() {
            order.swap(at, rng.below(at + 1));
        }
        as_few += usize::from(changes(&order) <= seen);
    }
    let p = (as_few + 1) as f64 / (ORDERS + 1) as f64;
    if p < STRETCHES { OneHost::Stretches(p) } else { OneHost::EachStart }
}

/// Says since when. `of` has the band of each recording by its place in [`Found::bands`], `starts` when the workload's oldest process began.
pub fn since(found: &Found, recordings: &[Recording], courses: &[Course], starts: &HashMap<usize, i64>) -> Since {
    let value = |v: f64| if found.logs { v.ln() } else { v };
    let (mut switches, mut steady, mut watched) = (Vec::new(), 0, 0.0);
    for (at, course) in courses.iter().enumerate() {
        let Some(band) = found.of.get(at).copied().flatten() else { continue };
        let Some((lower, valley)) = nearest(found, band) else { continue };
        if course.means.is_empty() {
            continue;
        }
        let middle = |band: usize| found.bands.get(band).map_or(f64::NAN, |b| value(b.middle));
        let slices: Vec<f64> = course.means.iter().map(|v| value(*v)).collect();
        let path = since::path(&slices, value(valley), middle(lower), middle(lower + 1));
        if path.switches.is_empty() {
            steady += 1;
            let ends = course.times.first().zip(course.times.last());
            watched += ends.map_or(0.0, |(first, last)| (last.1 - first.0) as f64 / 1e9);
        }
        for slice in path.switches {
            let Some((time, _)) = course.times.get(slice).copied() else { continue };
            let up = path.upper.get(slice).copied().unwrap_or(false);
            let after_start = starts.get(&at).map(|start| time.saturating_sub(*start));
            switches.push(Switch { recording: at, at: time, up, after_start });
        }
    }
    switches.sort_by_key(|switch| switch.at);
    let mut hosts: HashMap<&str, usize> = HashMap::new();
    let placed: Vec<(usize, usize)> = recordings
        .iter()
        .zip(&found.of)
        .filter_map(|(of, band)| {
            let next = hosts.len();
            Some((*hosts.entry(&of.host).or_insert(next), (*band)?))
        })
        .collect();
    let several = placed.len() > hosts.len();
    // Recordings of a host are in the order of their starts.
    let bands: Vec<usize> = placed.iter().map(|(_, band)| *band).collect();
    let one_host = (hosts.len() == 1 && several && found.banded()).then(|| one_host(&bands));
    let starts = (several && one_host.is_none()).then(|| since::drawn(&placed, SEED));
    Since { switches, steady, watched, starts, one_host }
}

/// The nearer neighbour of a band: the lower band of the two, and the valley between.
fn nearest(found: &Found, band: usize) -> Option<(usize, f64)> {
    let below = band.checked_sub(1).and_then(|lower| Some((lower, found.valleys.get(lower)?.at)));
    let above = found.valleys.get(band).map(|valley| (band, valley.at));
    let gap = |lower: usize| Some(found.bands.get(lower + 1)?.middle - found.bands.get(lower)?.middle);
    match (below, above) {
        (Some(below), Some(above)) if gap(above.0) < gap(below.0) => Some(above),
        (below, above) => below.or(above),
    }
}

impl Since {
    /// What decides the band, where that can be said: `host`, `start`, `time`, or nothing.
    pub fn decides(&self) -> Option<&'static str> {
        match (&self.starts, self.one_host) {
            (_, Some(OneHost::EachStart)) => Some("start"),
            (_, Some(OneHost::Stretches(_))) => Some("time"),
            (Some(starts), None) if starts.drawn == Drawn::WithHost => Some("host"),
            (Some(starts), None) if starts.drawn == Drawn::EachStart => Some("start"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_of_one_host_draw_or_follow_each_other() {
        let drawn = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0];
        assert_eq!(one_host(&drawn), OneHost::EachStart);
        let stretches: Vec<usize> = (0..16).map(|at| usize::from(at > 7)).collect();
        assert!(matches!(one_host(&stretches), OneHost::Stretches(p) if p < 0.01));
        assert_eq!(one_host(&[0, 1]), OneHost::EachStart);
    }
}
