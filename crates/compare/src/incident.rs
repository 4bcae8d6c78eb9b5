//! What a trigger had saved, as two stretches of one recording: since the trigger held, and the time before.

use crate::window::{Bound, Choice};
use model::{Clock, Window, utc};
use query::{Run, Stretch};

/// A stretch must last so long, and hold so many readings, for anything to be told from chance.
const LEAST_SECONDS: i64 = 3;
const LEAST_READINGS: i64 = 4;

const SECOND: i64 = 1_000_000_000;

/// A recording that a trigger had saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Incident {
    /// The trigger, and what was read: `busy: cpu.busy 1.9 s/s > 1.5 s/s`.
    pub what: String,
    /// Since it held.
    pub since: Stretch,
    /// The time before; `None` where there is too little.
    pub before: Option<Stretch>,
    /// When the same trigger, or another one, fired within the time before, as the marks say.
    pub earlier: Vec<String>,
}

impl Incident {
    /// What a recording says of the trigger that had it saved; `None` where none had.
    pub fn of(run: &Run) -> Option<Incident> {
        let manifest = run.recording.manifest();
        let label = |name: &str| manifest.labels.get(name);
        let (name, words) = (label("trigger")?, label("trigger.what")?);
        let (began, end) = (run.recording.began(), run.recording.duration());
        let since = label("trigger.since").and_then(|seconds| seconds.parse::<f64>().ok());
        let held = match since.filter(|seconds| seconds.is_finite()) {
            Some(seconds) => (seconds * 1e9) as i64,
            // Recordings of before say only when it fired.
            None => compact(label("trigger.at")?)?.saturating_sub(manifest.start_unix),
        };
        let held = held.clamp(began, end.max(began));
        let clock = |t: i64| Clock::at(tenth(manifest.start_unix.saturating_add(t)));
        // A time of day says which moment it is where there is only one in the recording.
        let is_short = end.saturating_sub(began) < 12 * 3600 * SECOND;
        let bound = |t: i64| Bound::Clock(if is_short { clock(t).without_date() } else { clock(t) });
        let stretch = |from: i64, to: i64, why: String| Stretch {
            window: Window { from, to, why },
            words: Choice::Between(bound(from), bound(to)).to_string(),
        };
        let least = (LEAST_SECONDS * SECOND).max(manifest.interval.saturating_mul(LEAST_READINGS));
        let is_enough = held.saturating_sub(began) >= least && end.saturating_sub(held) >= least;
        let fired = |mark: &&model::Mark| mark.text.starts_with("trigger ") && (began..held).contains(&mark.t);
        Some(Incident {
            what: format!("{name}: {words}"),
            since: stretch(held, end, format!("since the trigger {name} held")),
            before: is_enough.then(|| stretch(began, held, format!("before the trigger {name} held"))),
            earlier: run.recording.marks().iter().filter(fired).map(|mark| clock(mark.t).to_string()).collect(),
        })
    }
}

/// What was made of a recording that a trigger had saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divided {
    /// Says in a line which stretches are compared, or that there are none.
    pub said: String,
    /// The windows since it held and before, as one would ask for them; `None` where there is too little to compare, and the recording was left whole.
    pub windows: Option<[String; 2]>,
}

impl Divided {
    /// Whether the only one of `runs` is what a trigger had saved. `again` is then a second opening of it, which becomes the time before, where there is
    /// enough of that.
    ///
    /// # Errors
    /// Where it cannot be opened once more.
    pub fn of<E>(runs: &mut Vec<Run>, again: impl FnOnce() -> Result<Vec<Run>, E>) -> Result<Option<Divided>, E> {
        let [run] = runs.as_mut_slice() else { return Ok(None) };
        let Some(Incident { what, since, before, earlier }) = Incident::of(run) else { return Ok(None) };
        let Some(before) = before else {
            let said = format!(
                "The trigger {what}. There is too little before or since it held to compare: this is the recording as one run."
            );
            return Ok(Some(Divided { said, windows: None }));
        };
        let more = match earlier.as_slice() {
            [] => String::new(),
            marks => format!(" (a trigger fired then too: {})", marks.join(", ")),
        };
        let said = format!(
            "The trigger {what}. Since it held, {} UTC, against the time before, {}{more}.",
            since.words, before.words
        );
        let windows = [since.words.clone(), before.words.clone()];
        let name = run.name.clone();
        run.narrow(&name, since);
        for mut other in again()? {
            other.narrow(&name, before.clone());
            runs.push(other);
        }
        Ok(Some(Divided { said, windows: Some(windows) }))
    }
}

/// The next tenth of a second.
fn tenth(unix: i64) -> i64 {
    const TENTH: i64 = SECOND / 10;
    unix.saturating_add(TENTH - 1).div_euclid(TENTH) * TENTH
}

/// `20261126T210405Z` in nanoseconds since 1970.
fn compact(text: &str) -> Option<i64> {
    let digits = |from: usize, to: usize| text.get(from..to).filter(|part| part.bytes().all(|c| c.is_ascii_digit()));
    let [year, month, day] = [digits(0, 4)?, digits(4, 6)?, digits(6, 8)?];
    let [hour, minute, second] = [digits(9, 11)?, digits(11, 13)?, digits(13, 15)?];
    let clock = Clock::read(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))?;
    let unix = clock.resolve((0, 0), None);
    // As it was written.
    (text.len() == "20261126T210405Z".len() && utc(unix).starts_with(year)).then_some(unix)
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn times_of_triggers_are_read() {
        assert_eq!(compact("20261126T140530Z"), Some(1_795_701_930_000_000_000));
        for bad in ["", "20261126T140530", "2026-11-26T14:05:30Z", "20261326T140530Z", "é0261126T140530Z"] {
            assert_eq!(compact(bad), None, "{bad}");
        }
    }
}
