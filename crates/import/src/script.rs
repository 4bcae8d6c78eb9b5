//! The text of `perf script`: a line on each sample, then its frames from the innermost outward, then an empty line.

use crate::profile::{Profile, Sample, kind_of};
use model::NULL;

/// The line before the frames.
#[derive(Debug, PartialEq)]
struct Head<'a> {
    comm: &'a str,
    pid: i64,
    tid: i64,
    cpu: i64,
    /// Nanoseconds; `None` where the text has no times, as that of Linux 3.x.
    at: Option<i64>,
    period: Option<i64>,
    event: &'a str,
}

/// "123.456789:" as nanoseconds.
fn time(word: &str) -> Option<i64> {
    let (seconds, fraction) = word.strip_suffix(':')?.split_once('.')?;
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let scale = 10i64.checked_pow(9 - fraction.len() as u32)?;
    seconds
        .parse::<i64>()
        .ok()
        .filter(|s| *s >= 0)?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction.parse::<i64>().ok()?.checked_mul(scale)?)
}

/// Words with where they begin.
fn words(line: &str) -> Vec<(usize, &str)> {
    line.split_ascii_whitespace().map(|w| (w.as_ptr() as usize - line.as_ptr() as usize, w)).collect()
}

/// `comm  PID/TID [CPU] SECONDS: PERIOD EVENT:`; the process, the CPU, the time and the period may be missing, and a name may hold blanks.
fn head(line: &str) -> Option<Head<'_>> {
    let words = words(line);
    let Some(at) = words.iter().position(|(_, w)| time(w).is_some()) else { return head_without_time(line, &words) };
    let (comm, pid, tid, cpu) = who(line, words.get(..at)?)?;
    let mut rest = words.get(at + 1..)?.iter().map(|(_, w)| *w);
    let mut word = rest.next().unwrap_or("");
    let period = word.parse::<i64>().ok();
    if period.is_some() {
        word = rest.next().unwrap_or("");
    }
    let event = word.trim_end_matches(':');
    Some(Head { comm, pid, tid, cpu, at: Some(time(words.get(at)?.1)?), period, event })
}

/// `comm PID EVENT:`: the event ends the line, for else any line could be one.
fn head_without_time<'a>(line: &'a str, words: &[(usize, &'a str)]) -> Option<Head<'a>> {
    let ((_, last), before) = words.split_last()?;
    let event = last.strip_suffix(':')?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-:/,.=".contains(c);
    if !event.starts_with(|c: char| c.is_ascii_alphabetic()) || !event.chars().all(is_plain) {
        return None;
    }
    // Of two numbers before it the second is the period.
    if let Some(((_, number), rest)) = before.split_last()
        && let Ok(period) = number.parse()
        && let Some((comm, pid, tid, cpu)) = who(line, rest)
    {
        return Some(Head { comm, pid, tid, cpu, at: None, period: Some(period), event });
    }
    let (comm, pid, tid, cpu) = who(line, before)?;
    Some(Head { comm, pid, tid, cpu, at: None, period: None, event })
}

/// Name, process, thread and CPU from the words before a time: `comm PID/TID [CPU]`.
fn who<'a>(line: &'a str, words: &[(usize, &'a str)]) -> Option<(&'a str, i64, i64, i64)> {
    let (mut ids, rest) = words.split_last()?;
    let mut cpu = NULL;
    if let Some(n) = ids.1.strip_prefix('[').and_then(|w| w.strip_suffix(']')?.parse().ok()) {
        cpu = n;
        ids = rest.last()?;
    }
    let &(place, ids) = ids;
    let (pid, tid) = match ids.split_once('/') {
        Some((pid, tid)) => (pid.parse().ok()?, tid.parse().ok()?),
        None => (NULL, ids.parse().ok()?),
    };
    let comm = line.get(..place)?.trim();
    (!comm.is_empty()).then_some((comm, pid, tid, cpu))
}

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let lines = bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#")).take(200);
    let (mut heads, mut timed, mut frames, mut modules) = (0, 0, 0, 0);
    for (number, line) in lines.enumerate() {
        let line = String::from_utf8_lossy(line);
        if let Some(head) = Some(&line).filter(|line| !line.starts_with([' ', '\t'])).and_then(|line| head(line)) {
            heads += 1;
            timed += usize::from(head.at.is_some());
            if number == 0 && head.at.is_some() {
                return true;
            }
        } else if let Some((_, module)) = frame(&line) {
            frames += usize::from(line.starts_with([' ', '\t']));
            modules += usize::from(!module.is_empty());
        }
    }
    // Prose has lines that end on a colon, too.
    (timed > 0 && frames > 0) || (heads > 0 && modules > 0)
}

/// `ADDRESS symbol+0xOFFSET (module)`. Symbols hold blanks and brackets; modules may.
fn frame(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (address, rest) = line.split_once(char::is_whitespace)?;
    if address.is_empty() || !address.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let rest = rest.trim();
    let (symbol, module) = match rest.strip_suffix(')').and_then(|r| r.rfind(" (").map(|at| (at, r))) {
        Some((at, r)) => (r.get(..at)?, r.get(at + 2..)?),
        None if rest.starts_with('(') && rest.ends_with(')') => ("", rest.get(1..rest.len() - 1)?),
        None => (rest, ""),
    };
    let symbol = match symbol.rfind("+0x") {
        Some(at) if symbol.get(at + 3..).is_some_and(|o| !o.is_empty() && o.bytes().all(|b| b.is_ascii_hexdigit())) => {
            symbol.get(..at)?
        }
        _ => symbol,
    };
    Some((symbol.trim(), module.trim()))
}

/// A sample that is being read.
struct Open<'a> {
    comm: String,
    head: Head<'a>,
    /// The innermost first.
    places: Vec<u32>,
}

pub(crate) fn read(bytes: &[u8], profile: &mut Profile) {
    let text = String::from_utf8_lossy(bytes);
    let mut samples = Samples::new(choose(&text, profile));
    let mut open: Option<Open<'_>> = None;
    // Whether the lines are those of a sample that is left out.
    let mut is_other = false;
    for line in text.lines() {
        if line.starts_with('#') && open.is_none() {
            continue;
        }
        if line.trim().is_empty() {
            samples.finish(profile, open.take());
            is_other = false;
            continue;
        }
        let inside = line.starts_with([' ', '\t']);
        // Names are aligned to the right, so that heads are indented too; where frames are expected they go first.
        let found = if inside && open.is_some() && frame(line).is_some() { None } else { head(line) };
        if let Some(found) = found {
            samples.finish(profile, open.take());
            is_other = found.event != samples.event;
            if is_other {
                profile.count("samples of other events; they are left out (--event takes another)", 1);
            } else {
                open = Some(Open { comm: found.comm.to_owned(), head: found, places: Vec::new() });
            }
        } else if let Some((symbol, module)) = frame(line).filter(|(_, module)| inside || !module.is_empty()) {
            // Some versions do not indent frames.
            let Some(open) = &mut open else {
                profile.count("lines that say nothing known; they are left out", u64::from(!inside && !is_other));
                continue;
            };
            let symbol = if symbol == "[unknown]" { "" } else { symbol };
            let inlined = module == "inlined";
            let module = if matches!(module, "[unknown]" | "inlined") { "" } else { module };
            let kind = if inlined { "inlined" } else { kind_of(module) };
            let place =
                profile.named(symbol, if module.starts_with("[kernel") { "[kernel]" } else { module }, "", kind);
            if open.places.len() < 10_000 {
                open.places.push(place);
            }
        } else if !inside {
            profile.count("lines that say nothing known; they are left out", 1);
        }
    }
    samples.finish(profile, open.take());
    samples.weigh(profile);
}

/// The event whose samples are taken.
fn choose(text: &str, profile: &mut Profile) -> String {
    if let Some(event) = &profile.options.event {
        return event.clone();
    }
    let mut events: Vec<&str> = Vec::new();
    for line in text.lines().filter(|l| !l.starts_with([' ', '\t', '#'])) {
        if let Some(head) = head(line)
            && !events.contains(&head.event)
            && events.len() < 64
        {
            events.push(head.event);
        }
    }
    crate::perf::preferred(&events).unwrap_or("").to_owned()
}

/// The samples of a text.
struct Samples {
    /// The event that is taken.
    event: String,
    /// Periods of all samples that have one, in their order, where the event counts no time.
    periods: Vec<i64>,
    /// Samples of which nothing says what they stand for.
    unweighed: usize,
    /// When the last one was.
    at: Option<i64>,
}

impl Samples {
    fn new(event: String) -> Self {
        Samples { event, periods: Vec::new(), unweighed: 0, at: None }
    }

    fn finish(&mut self, profile: &mut Profile, open: Option<Open<'_>>) {
        let Some(Open { comm, head, places }) = open else { return };
        let stack = places.iter().rev().fold(0, |stack, place| profile.stack(stack, *place));
        self.at = head.at.or(self.at);
        // The period of a clock is in nanoseconds; of all else it is a count of something.
        let weight = match head.period.filter(|period| *period > 0) {
            Some(period) if crate::perf::is_clock(head.event) => period,
            period => {
                self.periods.extend(period);
                self.unweighed += usize::from(period.is_none());
                profile.options.count
            }
        };
        let comm = profile.text(&comm);
        let (pid, at) = (if head.pid == NULL { head.tid } else { head.pid }, self.at.unwrap_or(0));
        profile.samples.push(Sample { at, pid, tid: head.tid, comm, thread: comm, cpu: head.cpu, stack, weight });
    }

    /// Weighs samples of what is no time: by their periods, if they have any, as perf does.
    fn weigh(&self, profile: &mut Profile) {
        let count = profile.options.count;
        let milliseconds = count as f64 / 1e6;
        if self.unweighed == 0 && !self.periods.is_empty() {
            let event = &self.event;
            profile.note(format!(
                "{event} counts no time: samples weigh by their periods, {milliseconds} ms each on average (--count)"
            ));
            by_period(&mut profile.samples, &self.periods, count);
        } else if self.unweighed > 0 {
            profile.note(format!(
                "the text does not say how much time a sample stands for; it is taken for {milliseconds} ms (--count)"
            ));
        }
        if self.at.is_none() && !profile.samples.is_empty() {
            profile.note("the text has no times: all is at 0 s");
            let all = profile.samples.iter().fold(0i64, |all, sample| all.saturating_add(sample.weight));
            profile.manifest.duration = Some(all);
        }
    }
}

/// Divides `count` nanoseconds a sample among the samples in proportion to their periods; the sum stays.
fn by_period(samples: &mut [Sample], periods: &[i64], count: i64) {
    let all: f64 = periods.iter().map(|period| *period as f64).sum();
    let total = count as f64 * samples.len() as f64;
    let (mut before, mut given) = (0.0, 0);
    for (sample, period) in samples.iter_mut().zip(periods) {
        before += *period as f64;
        let until = (total * (before / all)).round() as i64;
        sample.weight = until - given;
        given = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let h = head("swapper     0/0     [001] 1234.567890:     250000 cpu-clock:pppH: ").unwrap();
        assert_eq!(
            (h.comm, h.pid, h.tid, h.cpu, h.at, h.period, h.event),
            ("swapper", 0, 0, 1, Some(1_234_567_890_000), Some(250_000), "cpu-clock:pppH")
        );
        let h = head("Web Content 4711 12.5:  cycles:").unwrap();
        assert_eq!(
            (h.comm, h.pid, h.tid, h.at, h.period, h.event),
            ("Web Content", NULL, 4711, Some(12_500_000_000), None, "cycles")
        );
        // Linux 3.x.
        for (line, comm, tid, cpu, period, event) in [
            ("java 19983 cycles:", "java", 19983, NULL, None, "cycles"),
            ("node-v011 31912 cpu-clock: ", "node-v011", 31912, NULL, None, "cpu-clock"),
            ("Web Content 4711 [003] 12 page-faults:", "Web Content", 4711, 3, Some(12), "page-faults"),
        ] {
            let h = head(line).unwrap();
            assert_eq!((h.comm, h.tid, h.cpu, h.at, h.period, h.event), (comm, tid, cpu, None, period, event));
        }
        for line in ["main;work 12", "note:", "12 note:", "chapter 12 (note):", "a b c:"] {
            assert!(head(line).is_none(), "{line}");
        }
        assert!(head("99999999999999999999.1: x:").is_none());
    }

    #[test]
    fn frames_are_read() {
        assert_eq!(
            frame("\tffffffff8104b5a6 native_safe_halt+0x6 ([kernel.kallsyms])"),
            Some(("native_safe_halt", "[kernel.kallsyms]"))
        );
        assert_eq!(
            frame("  7f01 std::vec<(a, b)>::push(int)+0x1f (/usr/lib/a b.so)"),
            Some(("std::vec<(a, b)>::push(int)", "/usr/lib/a b.so"))
        );
        assert_eq!(frame("  7f01 [unknown] ([unknown])"), Some(("[unknown]", "[unknown]")));
        assert_eq!(frame("  7f01 operator+0xzz (x)"), Some(("operator+0xzz", "x")));
        assert_eq!(frame("  nothex f (x)"), None);
    }
}
