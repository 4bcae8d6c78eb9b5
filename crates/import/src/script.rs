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
    /// Nanoseconds.
    at: i64,
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

/// `comm  PID/TID [CPU] SECONDS: PERIOD EVENT:`; the process, the CPU and the period may be missing, and a name may hold blanks.
fn head(line: &str) -> Option<Head<'_>> {
    let words = words(line);
    let at = words.iter().position(|(_, w)| time(w).is_some())?;
    let mut before = at;
    let mut cpu = NULL;
    if let Some(n) = before
        .checked_sub(1)
        .and_then(|i| words.get(i))
        .and_then(|(_, w)| w.strip_prefix('[')?.strip_suffix(']')?.parse().ok())
    {
        cpu = n;
        before -= 1;
    }
    let &(place, ids) = words.get(before.checked_sub(1)?)?;
    let (pid, tid) = match ids.split_once('/') {
        Some((pid, tid)) => (pid.parse().ok()?, tid.parse().ok()?),
        None => (NULL, ids.parse().ok()?),
    };
    let comm = line.get(..place)?.trim();
    let mut rest = words.get(at + 1..)?.iter().map(|(_, w)| *w);
    let mut word = rest.next().unwrap_or("");
    let period = word.parse::<i64>().ok();
    if period.is_some() {
        word = rest.next().unwrap_or("");
    }
    let event = word.trim_end_matches(':');
    Some(Head { comm, pid, tid, cpu, at: time(words.get(at)?.1)?, period, event })
}

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let lines =
        || bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#")).take(200);
    let heads = lines()
        .filter(|l| !l.starts_with(b" ") && !l.starts_with(b"\t"))
        .filter(|l| head(&String::from_utf8_lossy(l)).is_some());
    let frames = lines()
        .filter(|l| (l.starts_with(b" ") || l.starts_with(b"\t")) && frame(&String::from_utf8_lossy(l)).is_some());
    let first = lines().next().is_some_and(|l| head(&String::from_utf8_lossy(l)).is_some());
    first || (heads.count() > 0 && frames.count() > 0)
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
    let wanted = choose(&text, profile);
    let mut open: Option<Open<'_>> = None;
    for line in text.lines() {
        if line.starts_with('#') && open.is_none() {
            continue;
        }
        if line.trim().is_empty() {
            finish(profile, open.take());
            continue;
        }
        let inside = line.starts_with([' ', '\t']);
        if inside
            && let Some(open) = &mut open
            && let Some((symbol, module)) = frame(line)
        {
            let symbol = if symbol == "[unknown]" { "" } else { symbol };
            let inlined = module == "inlined";
            let module = if matches!(module, "[unknown]" | "inlined") { "" } else { module };
            let kind = if inlined { "inlined" } else { kind_of(module) };
            let place =
                profile.named(symbol, if module.starts_with("[kernel") { "[kernel]" } else { module }, "", kind);
            if open.places.len() < 10_000 {
                open.places.push(place);
            }
        } else if let Some(found) = head(line) {
            finish(profile, open.take());
            if found.event == wanted {
                open = Some(Open { comm: found.comm.to_owned(), head: found, places: Vec::new() });
            } else {
                profile.count("samples of other events; they are left out (--event takes another)", 1);
            }
        } else if !inside {
            profile.count("lines that say nothing known; they are left out", 1);
        }
    }
    finish(profile, open.take());
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

fn finish(profile: &mut Profile, open: Option<Open<'_>>) {
    let Some(Open { comm, head, places }) = open else { return };
    let stack = places.iter().rev().fold(0, |stack, place| profile.stack(stack, *place));
    // The period of a clock is in nanoseconds; of all else it is a count of something.
    let weight = match head.period {
        Some(period) if crate::perf::is_clock(head.event) && period > 0 => period,
        _ => {
            let count = profile.options.count as f64 / 1e6;
            profile.note(format!(
                "the text does not say how much time a sample stands for; it is taken for {count} ms (--count)"
            ));
            profile.options.count
        }
    };
    let comm = profile.text(&comm);
    let pid = if head.pid == NULL { head.tid } else { head.pid };
    profile.samples.push(Sample { at: head.at, pid, tid: head.tid, comm, thread: comm, cpu: head.cpu, stack, weight });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let h = head("swapper     0/0     [001] 1234.567890:     250000 cpu-clock:pppH: ").unwrap();
        assert_eq!(
            (h.comm, h.pid, h.tid, h.cpu, h.at, h.period, h.event),
            ("swapper", 0, 0, 1, 1_234_567_890_000, Some(250_000), "cpu-clock:pppH")
        );
        let h = head("Web Content 4711 12.5:  cycles:").unwrap();
        assert_eq!(
            (h.comm, h.pid, h.tid, h.at, h.period, h.event),
            ("Web Content", NULL, 4711, 12_500_000_000, None, "cycles")
        );
        assert!(head("main;work 12").is_none());
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
