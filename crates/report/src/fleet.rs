//! A fleet as a page of its own.

use crate::bundle::{
    FLEET_FORMAT, FleetCourse, FleetDrawn, FleetFacts, FleetPage, FleetPageGroup, FleetStrips, FleetWhy,
};
use crate::{Error, block, explained, html};
use explain::{Explanation, Outcome};
use fleet::result::{FleetAnswer, FleetGroup};
use fleet::{Answer, Banding, Course, Group, Of};
use std::collections::BTreeSet;

/// The page as `ui/` builds it.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/dist/fleet.html"));

/// Where the data go.
const PLACE: &str = "<!--TWINSCOPE-DATA-->";

/// Lines of what separates a band that are drawn, and functions.
const LINES: usize = 24;
const FUNCTIONS: usize = 12;

/// Values that are drawn of a group, at most, so that a page of many hosts stays small.
const VALUES: usize = 700_000;

/// Stretches of a course, and bytes of all courses of a group, at most.
const COLUMNS: usize = 120;
const BYTES: usize = 1_500_000;

/// The colours of a course reach from this quantile of its values to the other.
const QUANTILES: (f64, f64) = (0.002, 0.998);

/// Causes that the first screen names, those besides the first from this share of the slowdown on.
const SAID: usize = 2;
const WORTH: f64 = 0.1;

/// Facts that a page has by recording.
const FACTS: usize = 40;

/// What a page says besides what the fleet answers.
#[derive(Clone, Debug, Default)]
pub struct AboutFleet {
    /// The folder of summaries, as it was named.
    pub folder: String,
    /// The command that says the same as text.
    pub command: String,
    /// The fact that was asked to look within.
    pub within: Option<String>,
}

/// Why the slow band of a group is slower, or why that is not known; `None` where there are no bands.
pub type Why = Option<Result<(Explanation, [Vec<usize>; 2]), String>>;

/// The page of a fleet: one file that needs no network. `shown` is what is made of `answer`; `whys` are by group.
///
/// # Errors
/// Where the data cannot be written as JSON or compressed.
pub fn fleet_html(about: AboutFleet, answer: &Answer, shown: FleetAnswer, whys: Vec<Why>) -> Result<String, Error> {
    let mut blocks = Vec::new();
    let mut groups = Vec::new();
    let mut whys = whys.into_iter();
    for (at, (group, shown)) in answer.groups.iter().zip(shown.groups).enumerate() {
        let mut bytes = Vec::new();
        let drawn = group.bandings.iter().map(|banding| drawn(group, banding, &mut bytes)).collect();
        let block = (!bytes.is_empty()).then(|| format!("fleet-{at}"));
        if let Some(block) = &block {
            blocks.push((block.clone(), html::pack(&bytes)?));
        }
        let (why, not_explained) = match whys.next().flatten() {
            Some(Ok((explanation, sides))) => (Some(why(explanation, sides)), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let facts = facts(group, &shown);
        groups.push(FleetPageGroup { answer: shown, block, drawn, facts, why, not_explained });
    }
    let page = FleetPage {
        format: FLEET_FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made: std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64()),
        folder: about.folder,
        command: about.command,
        within: about.within,
        groups,
    };
    // Names from outside are in compressed base64: no markup can come of them.
    let packed = html::pack(&serde_json::to_vec(&page)?)?;
    let (before, after) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    let mut text = format!("{before}<script type=\"text/plain\" id=\"twinscope-fleet\">{packed}</script>\n");
    for (id, data) in blocks {
        text.push_str(&format!("<script type=\"text/plain\" id=\"block-{id}\">{data}</script>\n"));
    }
    text.push_str(after);
    Ok(text)
}

fn why(explanation: Explanation, [slow, fast]: [Vec<usize>; 2]) -> FleetWhy {
    let verdict = verdict(&explanation);
    FleetWhy { slow, fast, verdict, explanation: explained::alone(explanation) }
}

/// The largest causes in a sentence; which recordings they were found in is said elsewhere.
fn verdict(explanation: &Explanation) -> String {
    let said = explanation.findings.iter().enumerate();
    let said = said.take_while(|(at, finding)| *at == 0 || finding.share.value >= WORTH);
    let causes: Vec<String> =
        said.take(SAID).map(|(_, f)| format!("{:.0} % of the slowdown: {}", 100.0 * f.share.value, f.says)).collect();
    match (explanation.outcome, causes.as_slice()) {
        (Outcome::Slower | Outcome::MoreTime | Outcome::LongerRequests, [_, ..]) => format!("{}.", causes.join("; ")),
        _ => explanation.verdict.clone(),
    }
}

/// What is drawn of a banding; its bytes are put into the block.
fn drawn(group: &Group, banding: &Banding, bytes: &mut Vec<u8>) -> FleetDrawn {
    let recordings = group.recordings.len().max(1);
    let (lines, functions) = group
        .bandings
        .iter()
        .flat_map(|banding| &banding.separated)
        .fold((0, 0), |sum, of| (sum.0 + of.lines.len().min(LINES), sum.1 + of.places.len().min(FUNCTIONS)));
    // Of many recordings in many bands fewer lines are drawn, those that tell most apart.
    let part = (VALUES as f64 / recordings as f64 / (lines + functions).max(1) as f64).min(1.0);
    let few = |count: usize, most: usize| ((count.min(most) as f64 * part).ceil() as usize).min(count);
    let strips = banding
        .separated
        .iter()
        .map(|of| {
            let lines = of.lines.iter().take(few(of.lines.len(), LINES));
            let functions = of.places.iter().take(few(of.places.len(), FUNCTIONS));
            let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
            FleetStrips {
                lines: lines
                    .map(|line| {
                        let values = group.metrics.get(line.metric.0).map(|metric| match line.metric.1 {
                            Of::Mean => metric.mean.clone(),
                            Of::Deviation => wide(&metric.deviation),
                        });
                        put(&values.unwrap_or_default(), bytes)
                    })
                    .collect(),
                functions: functions
                    .map(|line| {
                        let values = group.places.get(line.place).map(|place| place.own.clone());
                        put(&values.unwrap_or_default(), bytes)
                    })
                    .collect(),
            }
        })
        .collect();
    let most = COLUMNS.min(BYTES / recordings / group.bandings.len().max(1)).max(8);
    let logs = group.named(banding).is_some_and(|(_, found)| found.logs);
    FleetDrawn { course: course(&banding.courses, logs, most, bytes), strips }
}

/// Puts values into the block, byte planes shuffled. Returns where they are.
fn put(values: &[f64], bytes: &mut Vec<u8>) -> usize {
    let offset = bytes.len();
    let rounded: Vec<[u8; 4]> = values.iter().map(|v| block::round(*v).to_le_bytes()).collect();
    for plane in 0..4 {
        bytes.extend(rounded.iter().filter_map(|value| value.get(plane)));
    }
    offset
}

/// Courses at `most` stretches each. `None` where there are none.
fn course(courses: &[Course], logs: bool, most: usize, bytes: &mut Vec<u8>) -> Option<FleetCourse> {
    let length = |course: &Course| match (course.times.first(), course.times.last()) {
        (Some(first), Some(last)) => (last.1 - first.0) as f64 / 1e9,
        _ => 0.0,
    };
    let seconds = courses.iter().map(length).fold(0.0, f64::max);
    let columns = courses.iter().map(|course| course.means.len()).max().unwrap_or(0).min(most);
    let mut known: Vec<f64> =
        courses.iter().flat_map(|c| &c.means).copied().filter(|v| v.is_finite() && (!logs || *v > 0.0)).collect();
    if seconds <= 0.0 || columns < 2 || known.is_empty() {
        return None;
    }
    known.sort_unstable_by(f64::total_cmp);
    let quantile = |at: f64| known.get(((known.len() - 1) as f64 * at).round() as usize).copied().unwrap_or(0.0);
    let (low, high) = (quantile(QUANTILES.0), quantile(QUANTILES.1));
    let shown = |v: f64| if logs { v.ln() } else { v };
    let reach = shown(high) - shown(low);
    let byte = |v: f64| match v {
        v if v.is_nan() => 255,
        v if reach > 0.0 => ((shown(v) - shown(low)) / reach * 254.0).round().clamp(0.0, 254.0) as u8,
        _ => 127,
    };
    let offset = bytes.len();
    for course in courses {
        bytes.extend(resampled(course, seconds, columns).into_iter().map(byte));
    }
    Some(FleetCourse { offset, columns, seconds, low, high, log: logs })
}

/// The means of a course over `columns` stretches of equal length from its start.
fn resampled(course: &Course, seconds: f64, columns: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); columns];
    let start = course.times.first().map_or(0, |first| first.0);
    let each = seconds * 1e9 / columns as f64;
    for ((from, to), mean) in course.times.iter().zip(&course.means).filter(|(_, mean)| mean.is_finite()) {
        // A slice counts in each stretch by the time that it is there.
        let (from, to) = ((from - start) as f64 / each, (to - start) as f64 / each);
        let mut at = from.max(0.0).floor();
        while at < to.min(columns as f64) {
            let time = to.min(at + 1.0) - from.max(at);
            if let Some(sum) = sums.get_mut(at as usize) {
                *sum = (sum.0 + mean * time, sum.1 + time);
            }
            at += 1.0;
        }
    }
    // A sliver of a slice says nothing.
    sums.into_iter().map(|(sum, time)| if time > 0.05 { sum / time } else { f64::NAN }).collect()
}

/// The facts that differ between bands, or are what the bands are.
fn facts(group: &Group, shown: &FleetGroup) -> Vec<FleetFacts> {
    let of_bandings = shown.bandings.iter().flat_map(|banding| {
        let listed = banding.separated.iter().flat_map(|of| &of.facts).map(|fact| &fact.fact);
        banding.facts.iter().chain(listed)
    });
    let (mut known, mut names) = (BTreeSet::new(), Vec::new());
    names.extend(of_bandings.filter(|name| known.insert(name.as_str())).take(FACTS));
    let made = names.into_iter().filter_map(|name| {
        let fact = group.facts.iter().find(|fact| format!("{}.{}", fact.name.0, fact.name.1) == *name)?;
        let of = fact.of.iter().map(|value| Some(*value).filter(|v| (*v as usize) < fact.values.len())).collect();
        Some(FleetFacts { fact: name.clone(), values: fact.values.clone(), of })
    });
    made.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course_of(start: i64, means: &[f64]) -> Course {
        let times = (0..means.len() as i64).map(|at| (start + at * 1_000_000_000, start + (at + 1) * 1_000_000_000));
        Course { times: times.collect(), means: means.to_vec() }
    }

    #[test]
    fn courses_are_bytes_from_their_own_starts() {
        let mut bytes = vec![7];
        let courses = [
            course_of(1_790_000_000_000_000_000, &[1.0, 10.0, 100.0, 100.0]),
            course_of(5, &[10.0, f64::NAN]),
            Course::default(),
        ];
        let made = course(&courses, true, 120, &mut bytes).unwrap();
        assert_eq!((made.offset, made.columns, made.seconds, made.low, made.high), (1, 4, 4.0, 1.0, 100.0));
        assert_eq!(bytes[1..], [0, 127, 254, 254, 127, 255, 255, 255, 255, 255, 255, 255]);
        // Two at a time.
        let mut bytes = Vec::new();
        let made = course(&courses[..1], false, 2, &mut bytes).unwrap();
        assert_eq!((made.columns, bytes.len()), (2, 2));
        assert_eq!(course(&[Course::default()], true, 120, &mut bytes), None);
        assert_eq!(course(&[], false, 120, &mut bytes), None);
        let still = course(&[course_of(0, &[3.0, 3.0])], true, 120, &mut bytes).unwrap();
        assert_eq!((still.low, still.high), (3.0, 3.0));
    }

    #[test]
    fn values_keep_four_digits() {
        let mut bytes = vec![0; 3];
        assert_eq!(put(&[1.0, f64::NAN], &mut bytes), 3);
        let value = |at: usize| f32::from_le_bytes([0, 1, 2, 3].map(|plane| bytes[3 + plane * 2 + at]));
        assert!(value(0) == 1.0 && value(1).is_nan());
    }

    #[test]
    fn text_from_outside_is_no_markup() {
        let about = AboutFleet { folder: "</script><img src=x onerror=alert(1)>".into(), ..AboutFleet::default() };
        let answer = Answer { groups: Vec::new(), damage: Vec::new() };
        let shown = fleet::result::result(&answer);
        let page = fleet_html(about, &answer, shown, Vec::new()).unwrap();
        assert!(!page.contains("onerror=alert") && !page.contains(PLACE) && page.contains("Content-Security-Policy"));
        assert_eq!(page.matches("<script").count(), PAGE.matches("<script").count() + 1, "one script more: the data");
    }
}
