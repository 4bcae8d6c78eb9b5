//! Since when recordings are in their bands: switches within a recording, how these lie to marks, to starts and to boots, and whether the band belongs
//! to the host or is drawn at each start.

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
    /// What switches lie close to, the surest first.
    pub around: Vec<Around>,
    /// Whether the band stays with the host, where hosts have several recordings.
    pub starts: Option<Starts>,
    /// What decides where all recordings are of one host, and fall into several bands.
    pub one_host: Option<OneHost>,
}

/// What switches lie close to.
#[derive(Clone, Debug, PartialEq)]
pub struct Around {
    /// To what.
    pub what: Anchor,
    /// How many lie there.
    pub switches: usize,
    /// Of how many, in recordings that have it.
    pub of: usize,
    /// How long after it they lie, from the first to the last, ns; of the clock: when.
    pub after: (i64, i64),
    /// p-value of "they lie anywhere in their recordings", adjusted for all that was looked at (Holm).
    pub p: f64,
}

/// What a switch can lie close to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// A mark of this text.
    Mark(String),
    /// The start of the oldest process of the workload.
    Start,
    /// The boot of the host.
    Boot,
    /// One and the same time.
    Clock,
}

/// Slices before and after a mark in which a switch lies close to it: a switch is known to a slice, and may take a moment.
const CLOSE: (i64, i64) = (1, 2);

/// Switches that lie close to something, at least: one alone is none of its doing.
const SOME: usize = 2;

/// Of as many, ages are said to agree.
const AGES: usize = 3;

/// The share of switches near something by which it is believed to have to do with them, and by p.
const NEAR: (f64, f64) = (0.5, 0.05);

/// A switch with what is known of its recording.
struct At<'a> {
    at: i64,
    recording: &'a Recording,
    started: Option<i64>,
    /// The course, and the length of a slice.
    watched: (i64, i64),
    slice: i64,
}

/// What switches lie close to. Where they lie in their recordings is taken for even where nothing is behind it.
fn around(
    switches: &[Switch],
    recordings: &[Recording],
    courses: &[Course],
    starts: &HashMap<usize, i64>,
) -> Vec<Around> {
    let of = |switch: &Switch| {
        let times = &courses.get(switch.recording)?.times;
        let (first, last) = (times.first()?, times.last()?);
        Some(At {
            at: switch.at,
            recording: recordings.get(switch.recording)?,
            started: starts.get(&switch.recording).copied(),
            watched: (first.0, last.1),
            slice: (first.1 - first.0).max(1),
        })
    };
    let all: Vec<At<'_>> = switches.iter().filter_map(of).collect();
    let mut texts: Vec<&str> = all.iter().flat_map(|of| &of.recording.marks).map(|mark| &*mark.1).collect();
    texts.sort_unstable();
    texts.dedup();
    let mut found: Vec<Around> = texts.into_iter().filter_map(|text| by_mark(&all, text)).collect();
    let ages = [
        by_age(&all, Anchor::Start, |of| of.started),
        by_age(&all, Anchor::Boot, |of| of.recording.booted),
        by_age(&all, Anchor::Clock, |_| Some(0)),
    ];
    // Where all began at the same time, ages agree since the clock does: that by which they agree best is what counts.
    let ages: Vec<Around> = ages.into_iter().flatten().collect();
    let tests = found.len() + ages.len();
    found.extend(ages.into_iter().min_by_key(|of| (of.after.1 - of.after.0, of.what != Anchor::Clock)));
    found.sort_by(|a, b| a.p.total_cmp(&b.p));
    let mut least = 0.0_f64;
    for (at, of) in found.iter_mut().enumerate() {
        least = least.max(of.p * tests.saturating_sub(at) as f64).min(1.0);
        of.p = least;
    }
    found.retain(|of| of.p <= NEAR.1 && of.switches as f64 >= NEAR.0 * of.of as f64);
    found
}

fn by_mark(all: &[At<'_>], text: &str) -> Option<Around> {
    let with: Vec<(&At<'_>, Vec<i64>)> = all
        .iter()
        .map(|of| {
            (of, of.recording.marks.iter().filter(|mark| mark.1 == text).map(|mark| mark.0).collect::<Vec<i64>>())
        })
        .filter(|(_, marks)| !marks.is_empty())
        .collect();
    let span = |of: &At<'_>, mark: i64| {
        let [before, after] = [CLOSE.0, CLOSE.1].map(|slices| slices.saturating_mul(of.slice));
        (mark.saturating_sub(before).max(of.watched.0), mark.saturating_add(after).min(of.watched.1))
    };
    let chance = |(of, marks): &(&At<'_>, Vec<i64>)| {
        // Marks are by time, so that stretches around them that overlap follow each other.
        let mut until = of.watched.0;
        let mut covered = 0;
        for (from, to) in marks.iter().map(|mark| span(of, *mark)) {
            covered += (to - from.max(until)).max(0);
            until = until.max(to);
        }
        covered as f64 / (of.watched.1 - of.watched.0).max(1) as f64
    };
    let chances: Vec<f64> = with.iter().map(chance).collect();
    let after = |(of, marks): &(&At<'_>, Vec<i64>)| {
        let near = |mark: &&i64| {
            let (from, to) = span(of, **mark);
            (from..=to).contains(&of.at)
        };
        marks.iter().filter(near).map(|mark| of.at - mark).min_by_key(|after| after.abs())
    };
    let hits: Vec<i64> = with.iter().filter_map(after).collect();
    let (first, last) = (hits.iter().min().copied()?, hits.iter().max().copied()?);
    let p = since::at_least(&chances, hits.len());
    let of = with.len();
    (hits.len() >= SOME).then(|| Around {
        what: Anchor::Mark(text.to_owned()),
        switches: hits.len(),
        of,
        after: (first, last),
        p,
    })
}

fn by_age(all: &[At<'_>], what: Anchor, anchor: impl Fn(&At<'_>) -> Option<i64>) -> Option<Around> {
    let with: Vec<(&At<'_>, i64)> = all.iter().filter_map(|of| Some((of, anchor(of)?))).collect();
    let ages: Vec<i64> = with.iter().map(|(of, anchor)| of.at.saturating_sub(*anchor)).collect();
    let (first, last) = (ages.iter().min().copied()?, ages.iter().max().copied()?);
    // From the first on, so that a second is not lost in the years since 1970.
    let seconds = |ns: i64| ns.saturating_sub(first) as f64 / 1e9;
    let range = |(of, anchor): &(&At<'_>, i64)| {
        (seconds(of.watched.0.saturating_sub(*anchor)), seconds(of.watched.1.saturating_sub(*anchor)))
    };
    let ranges: Vec<(f64, f64)> = with.iter().map(range).collect();
    let p = since::gathered(&ages.iter().map(|age| seconds(*age)).collect::<Vec<_>>(), &ranges, SEED);
    (ages.len() >= AGES).then_some(Around { what, switches: ages.len(), of: ages.len(), after: (first, last), p })
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

/// Says since when. `of` has the band of each recording by its place in [`Found::bands`], `ages` when the workload's oldest process began.
pub fn since(found: &Found, recordings: &[Recording], courses: &[Course], ages: &HashMap<usize, i64>) -> Since {
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
            let after_start = ages.get(&at).map(|start| time.saturating_sub(*start));
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
    let around = around(&switches, recordings, courses, ages);
    Since { switches, steady, watched, around, starts, one_host }
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

    const MINUTE: i64 = 60_000_000_000;
    const START: i64 = 1_790_000_000_000_000_000;

    /// Hosts watched for an hour in slices of half a minute, which switch at these minutes; each has its marks, by minute, and its process began so
    /// many minutes before.
    fn hosts(
        switched: &[i64],
        mark: impl Fn(usize) -> Vec<(i64, &'static str)>,
        age: impl Fn(usize) -> i64,
    ) -> Vec<Around> {
        let recording = |host: usize| Recording {
            host: format!("h{host}"),
            booted: Some(START - (host as i64 * 977 + 1000) * MINUTE),
            marks: mark(host).into_iter().map(|(at, text)| (START + at * MINUTE, text.to_owned())).collect(),
            ..Recording::default()
        };
        let recordings: Vec<Recording> = (0..switched.len()).map(recording).collect();
        let times = (0..120).map(|slice| (START + slice * MINUTE / 2, START + (slice + 1) * MINUTE / 2)).collect();
        let courses = vec![Course { times, means: vec![1.0; 120] }; switched.len()];
        let starts = (0..switched.len()).map(|host| (host, START - age(host) * MINUTE)).collect();
        let switch = |(recording, minute): (usize, &i64)| Switch {
            recording,
            at: START + minute * MINUTE,
            up: true,
            after_start: None,
        };
        around(&switched.iter().enumerate().map(switch).collect::<Vec<_>>(), &recordings, &courses, &starts)
    }

    #[test]
    fn switches_lie_after_a_mark_or_at_an_age_or_nowhere() {
        let minutes = [11, 34, 50, 27, 42, 19];
        // Each half a minute after its own deploy; another mark is in all.
        let marks = |host: usize| vec![(5, "began"), (minutes[host], "deploy")];
        let deploy = hosts(&minutes, marks, |host| host as i64 * 131);
        assert_eq!(deploy.len(), 1, "{deploy:?}");
        assert_eq!((&deploy[0].what, deploy[0].switches, deploy[0].of), (&Anchor::Mark("deploy".into()), 6, 6));
        assert!(deploy[0].p < 1e-6, "{deploy:?}");
        // Each when its process was two hours old.
        let age = hosts(&minutes, |_| Vec::new(), |host| 120 - minutes[host]);
        assert_eq!((age.len(), &age[0].what, age[0].after), (1, &Anchor::Start, (120 * MINUTE, 120 * MINUTE)));
        // All at one time, when all processes were of one age: the time counts.
        let clock = hosts(&[30, 30, 31, 30], |_| Vec::new(), |_| 40);
        assert_eq!((clock.len(), &clock[0].what), (1, &Anchor::Clock));
        // Anywhere.
        assert_eq!(hosts(&minutes, |_| vec![(3, "deploy"), (57, "deploy")], |host| host as i64 * 131), []);
        // One alone says nothing.
        assert_eq!(hosts(&[30], |_| vec![(30, "deploy")], |_| 40), []);
    }

    #[test]
    fn starts_of_one_host_draw_or_follow_each_other() {
        let drawn = [0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0];
        assert_eq!(one_host(&drawn), OneHost::EachStart);
        let stretches: Vec<usize> = (0..16).map(|at| usize::from(at > 7)).collect();
        assert!(matches!(one_host(&stretches), OneHost::Stretches(p) if p < 0.01));
        assert_eq!(one_host(&[0, 1]), OneHost::EachStart);
    }
}
