//! Logs of garbage collections: unified logging of JDK 9 and later (`-Xlog:gc*`, `-Xlog:safepoint`) with whatever decorations, and the
//! lines of JDK 8 and before (`-verbose:gc`, `-XX:+PrintGCDetails`) as far as they are regular.

mod classic;
mod unified;

use crate::profile::Profile;
use crate::rows::Pause;
use crate::tables::JVM_HEAP;
use model::{Fact, NULL};

/// A pause as a log tells it. Times are nanoseconds on the log's clock; begin and end are where the log has times at all.
#[derive(Clone, Debug, Default, PartialEq)]
struct Found {
    kind: &'static str,
    operation: Option<String>,
    cause: Option<String>,
    at: Option<i64>,
    time: i64,
    to_stop: Option<i64>,
    /// The heap before and after, and what it could hold then.
    used: Option<(i64, i64, Option<i64>)>,
}

/// What was read of a log so far.
#[derive(Debug, Default)]
struct Log {
    pauses: Vec<Found>,
    collector: Option<String>,
    version: Option<String>,
    pid: Option<i64>,
    /// Whether lines say how long the JVM had run; else the log's clock is that on the wall, where it has one.
    uptime: bool,
    /// The wall clock of the first line that has it, Unix nanoseconds, and how long the JVM had run then.
    first: Option<(i64, Option<i64>)>,
    /// What a heap held, where no pause tells it: when, and the heap after a collection.
    heaps: Vec<(i64, i64)>,
    /// Pauses whose end was not found.
    unfinished: u64,
    /// The last time on a line, and with what is told to have ended later.
    lines: i64,
    last: i64,
}

/// Clocks of a log's lines and of its pauses differ by so much at most, nanoseconds.
const CLOCKS: i64 = 100_000_000;

impl Log {
    /// Takes in the times of a line; that on the log's clock comes back.
    fn time(&mut self, wall: Option<i64>, uptime: Option<i64>) -> Option<i64> {
        self.uptime |= uptime.is_some();
        self.first = self.first.or(wall.map(|wall| (wall, uptime)));
        let now = if self.uptime { uptime } else { wall };
        self.lines = now.unwrap_or(self.lines).max(self.lines);
        self.last = self.last.max(self.lines);
        now
    }

    /// Takes out the pauses that end long after the next one began, for one stops all threads until it ends. Returns how many.
    fn take_impossible(&mut self) -> usize {
        let begins: Vec<Option<i64>> = self.pauses.iter().map(|pause| pause.at).collect();
        let (before, mut number) = (self.pauses.len(), 0);
        self.pauses.retain(|pause| {
            number += 1;
            let Some(at) = pause.at else { return true };
            let next = begins.iter().skip(number).flatten().find(|next| **next > at);
            next.is_none_or(|next| {
                pause.time <= next.saturating_sub(at).saturating_add(CLOCKS).saturating_add(pause.time / 10)
            })
        });
        let taken = before - self.pauses.len();
        if taken > 0 {
            let ends = self.pauses.iter().filter_map(|pause| Some(pause.at?.saturating_add(pause.time)));
            self.last = ends.max().map_or(self.lines, |end| end.max(self.lines));
        }
        taken
    }
}

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let lines = bytes.split(|b| *b == b'\n').take(200).filter_map(|line| std::str::from_utf8(line).ok());
    let mut good = 0;
    for line in lines {
        good += usize::from(unified::is_one(line) || classic::is_one(line) || classic::is_head(line));
    }
    good > 0
}

/// # Errors
/// Where the times of its pauses cannot be.
pub(crate) fn read(bytes: &[u8], profile: &mut Profile) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let classic = text.lines().take(200).filter(|line| classic::is_one(line) || classic::is_head(line)).count();
    let unified = text.lines().take(200).filter(|line| unified::is_one(line)).count();
    let mut found = if unified >= classic { unified::read(&text) } else { classic::read(&text) };
    let all = found.pauses.len();
    let impossible = found.take_impossible();
    if 2 * impossible > all {
        return Err(format!(
            "{impossible} of {all} pauses end after the next one began, which cannot be: its numbers are of a kind that is not known here"
        ));
    }
    if impossible > 0 {
        profile
            .count("pauses that end after the next one began, which cannot be; they are left out", impossible as u64);
    }
    if found.unfinished > 0 {
        profile.count("pauses whose end is not in the log; they are left out", found.unfinished);
    }
    let comm = profile.text("java");
    if found.pauses.is_empty() {
        let what = if found.heaps.is_empty() {
            "the log tells of no pause"
        } else {
            "the log tells what the heap held, and of no pause"
        };
        profile
            .note(format!("{what}: -Xlog:gc*,safepoint does, and of JDK 8 -XX:+PrintGCDetails -XX:+PrintGCDateStamps"));
    } else if found.pauses.iter().any(|p| p.at.is_none()) {
        profile.note("lines of the log have no time: what they tell is put where the lines before it ended");
    }
    if !found.pauses.is_empty() && !found.pauses.iter().any(|p| p.to_stop.is_some()) {
        profile.note("the log does not say how long it took to stop the threads: -Xlog:safepoint does");
    }
    let mut now = match found.first {
        Some((wall, _)) if !found.uptime => wall,
        _ => 0,
    };
    for p in &found.pauses {
        let at = p.at.unwrap_or(now);
        now = at.saturating_add(p.time).max(now);
        let mut text = |text: &Option<String>| text.as_deref().map_or(NULL, |text| profile.text(text));
        let (operation, cause) = (text(&p.operation), text(&p.cause));
        let (used_before, used_after, capacity) = p.used.unwrap_or((NULL, NULL, None));
        let pause = Pause {
            pid: found.pid.unwrap_or(NULL),
            comm,
            kind: profile.text(p.kind),
            operation,
            cause,
            at,
            time: p.time,
            to_stop: p.to_stop.unwrap_or(NULL),
            used_before,
            used_after,
        };
        if p.used.is_some() {
            let pool = profile.text("heap");
            for (when, used) in [(at, used_before), (at.saturating_add(p.time), used_after)] {
                let cells = vec![pause.pid, comm, pool, used, capacity.unwrap_or(NULL), NULL, NULL];
                profile.row(&JVM_HEAP, when, cells);
            }
        }
        pause.put(profile);
    }
    for (at, after) in &found.heaps {
        let pool = profile.text("heap");
        profile.row(&JVM_HEAP, *at, vec![found.pid.unwrap_or(NULL), comm, pool, *after, NULL, NULL, NULL]);
    }
    profile.collector = found.collector.as_deref().map(short);
    for (name, value) in [("java.collector", found.collector), ("java.version", found.version)] {
        if let Some(value) = value {
            profile.facts.push(Fact { category: "runtime".into(), name: name.into(), value });
        }
    }
    // Of a log that tells how long the JVM had run, time 0 is when it began; else the first line.
    let start = match found.first {
        Some((wall, _)) if !found.uptime => wall,
        _ => 0,
    };
    profile.start = Some(start);
    if let Some((wall, uptime)) = found.first {
        profile.manifest.start_unix = wall.saturating_sub(uptime.unwrap_or(0));
    }
    profile.manifest.duration = Some(found.last.max(now).saturating_sub(start));
    Ok(())
}

/// A collector in a word, as the names of its pauses begin.
fn short(collector: &str) -> String {
    let words = ["G1", "Parallel", "Serial", "Shenandoah", "CMS"];
    let known = words.into_iter().find(|word| collector.contains(word));
    let z = || collector.contains("Z Garbage").then_some("ZGC");
    known.or_else(z).unwrap_or(collector).to_owned()
}

/// A size: `24M`, `512K`, `1.5G`, `24.0M`, `0.0B`.
fn size(text: &str) -> Option<i64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(digits)?;
    let factor = match unit {
        "" | "B" => 1.0,
        "K" => 1024.0,
        "M" => 1024.0 * 1024.0,
        "G" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let bytes = number.replace(',', ".").parse::<f64>().ok()? * factor;
    (0.0..1e18).contains(&bytes).then_some(bytes as i64)
}

/// A change of the heap: `24M->4M(256M)`, `24.0M(24.0M)->4.0M(20.0M)`, `42M(10%)->24M(6%)`.
fn change(word: &str) -> Option<(i64, i64, Option<i64>)> {
    let (before, after) = word.split_once("->")?;
    let plain = |part: &str| size(part.split('(').next().unwrap_or_default());
    let holds = after.split_once('(').and_then(|(_, holds)| size(holds.split(')').next()?));
    Some((plain(before)?, plain(after)?, holds))
}

/// A decimal number with a unit of time after it, in nanoseconds.
fn span(number: &str, unit: &str) -> Option<i64> {
    let digits = match unit {
        "ns" => 0,
        "us" => 3,
        "ms" => 6,
        "s" | "secs" | "seconds" => 9,
        _ => return None,
    };
    // Some languages write a comma.
    let (whole, part) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !plain(part) {
        return None;
    }
    let part = format!("{part:0<9}0").get(..digits)?.parse::<i64>().unwrap_or(0);
    whole.parse::<i64>().ok()?.checked_mul(10i64.pow(digits as u32))?.checked_add(part)
}

/// A time of day as ISO 8601 has it, in Unix nanoseconds: `2026-11-26T00:00:00.123+0000`.
fn iso(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    if !(1970..3000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let zone_at = rest.rfind(['+', '-', 'Z'])?;
    let (clock, zone) = rest.split_at_checked(zone_at)?;
    let mut parts = clock.splitn(3, ':');
    let (hour, minute, second) =
        (parts.next()?.parse::<i64>().ok()?, parts.next()?.parse::<i64>().ok()?, parts.next()?);
    let (second, part) = second.split_once(['.', ',']).unwrap_or((second, "0"));
    let second = second.parse::<i64>().ok().filter(|s| (0..62).contains(s))?;
    let nanoseconds = format!("{part:0<9}").get(..9)?.parse::<i64>().ok()?;
    if !(0..24).contains(&hour) || !(0..60).contains(&minute) {
        return None;
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let offset = match digits.len() {
        0 => 0,
        4 => digits.get(..2)?.parse::<i64>().ok()? * 3600 + digits.get(2..)?.parse::<i64>().ok()? * 60,
        _ => return None,
    };
    // Days since 1970 of a date (Hinnant, "chrono-compatible low-level date algorithms").
    let year_of_march = if month <= 2 { year - 1 } else { year };
    let era = year_of_march.div_euclid(400);
    let of_era = year_of_march - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - sign * offset;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

#[cfg(test)]
mod tests;
