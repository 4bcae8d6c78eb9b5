//! Lines of unified logging: decorations in brackets, any of them or none, and what is told.

use super::{Found, Log, change, iso, span};

/// How much later than they happened lines may be written: times have milliseconds, and writing takes some.
const SLACK: i64 = 2_000_000;

/// A line without its decorations.
struct Line<'a> {
    /// Time since the JVM began, nanoseconds.
    uptime: Option<i64>,
    /// Unix nanoseconds.
    wall: Option<i64>,
    pid: Option<i64>,
    message: &'a str,
}

/// A word in brackets that is a decoration.
fn parse(line: &str) -> Line<'_> {
    let mut parsed = Line { uptime: None, wall: None, pid: None, message: line.trim() };
    while let Some((word, rest)) = parsed.message.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let word = word.trim();
        let digits = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(word.len());
        let time = word.split_at_checked(digits).and_then(|(number, unit)| span(number, unit));
        match time {
            // Some decorations are the time of day in these units (`timemillis`): since 1970, and not since the JVM began.
            Some(time) if time > 500_000_000_000_000_000 => parsed.wall = parsed.wall.or(Some(time)),
            Some(time) => parsed.uptime = parsed.uptime.or(Some(time)),
            None => match (iso(word), word.parse::<i64>()) {
                (Some(time), _) => parsed.wall = Some(time),
                (None, Ok(number)) => parsed.pid = parsed.pid.or(Some(number)),
                _ => {}
            },
        }
        parsed.message = rest.trim_start();
    }
    parsed
}

/// What ZGC tells of a whole collection, concurrent for the most part: `Garbage Collection (Warmup) 42M(10%)->24M(6%)`.
const COLLECTION: &str = "Garbage Collection ";

/// What is told of a collection, after its number: `GC(12) `, of generational ZGC `GC(12) Y: `.
fn of_collection(message: &str) -> Option<(u64, &str)> {
    let (number, rest) = message.strip_prefix("GC(")?.split_once(')')?;
    let rest = rest.trim_start();
    let rest = ["Y: ", "y: ", "O: ", "o: "].into_iter().find_map(|phase| rest.strip_prefix(phase)).unwrap_or(rest);
    Some((number.parse().ok()?, rest))
}

pub(super) fn is_one(line: &str) -> bool {
    if !line.starts_with('[') && !line.starts_with("GC(") && !line.starts_with("Safepoint \"") {
        return false;
    }
    let parsed = parse(line);
    let told = |message: &str| ["Pause ", "Concurrent ", COLLECTION].iter().any(|word| message.starts_with(word));
    of_collection(parsed.message).is_some_and(|(_, told_of)| told(told_of))
        || parsed.message.starts_with("Safepoint \"")
        || parsed.message.starts_with("Total time for which application threads were stopped")
        || (parsed.message.starts_with("Using ") && line.contains("[gc"))
}

/// A pause whose end is told: `Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms`.
pub(super) fn pause(told: &str) -> Option<Found> {
    let rest = told.strip_prefix("Pause ")?;
    let (before, last) = rest.rsplit_once(' ')?;
    let number = last.strip_suffix("ms").or(last.strip_suffix('s'))?;
    let time = span(number, if last.ends_with("ms") { "ms" } else { "s" })?;
    let used = before.split_whitespace().find_map(change);
    let words = before.split(" (").next().unwrap_or_default();
    let mut brackets: Vec<&str> = Vec::new();
    let mut left = before;
    while let Some((_, open)) = left.split_once('(') {
        // Causes have brackets of their own: `System.gc()`.
        let mut depth = 1usize;
        let end = open.find(|c: char| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some((inside, after)) = end.and_then(|end| open.split_at_checked(end)) else { break };
        brackets.push(inside);
        left = after.get(1..).unwrap_or_default();
    }
    let sort = |word: &&&str| {
        matches!(**word, "Normal" | "Mixed" | "Prepare Mixed" | "Concurrent Start" | "Initial Mark" | "Concurrent End")
            || word.ends_with('%')
            || word.starts_with("Evacuation Failure")
            || super::size(word).is_some()
    };
    // Of a cycle it was told when that began.
    let whole = matches!(words.split_whitespace().next(), Some("Young" | "Full"));
    let cause = brackets.iter().find(|word| !sort(word)).filter(|_| whole).map(|word| (*word).to_owned());
    let kind = match words.split_whitespace().next() {
        Some("Young") => "young",
        Some("Full") => "full",
        // Remark, Cleanup, Init Mark, Mark Start … of a cycle.
        _ => "concurrent",
    };
    Some(Found { kind, cause, time, used, ..Found::default() })
}

/// A number of nanoseconds after a word: `Reaching safepoint: 1234 ns`.
fn after(message: &str, word: &str) -> Option<i64> {
    let (_, rest) = message.split_once(word)?;
    let mut words = rest.split_whitespace();
    span(words.next()?, words.next()?.trim_end_matches([',', '.']))
}

pub(super) fn read(text: &str) -> Log {
    let mut log = Log::default();
    // Collections whose begin was told, with when; and the name of a safepoint that is told over several lines.
    let mut begun: Option<(u64, i64)> = None;
    let mut entered: Option<String> = None;
    // Of the pauses, those from here on are in no safepoint yet.
    let mut free = 0;
    for line in text.lines() {
        let line = parse(line);
        log.pid = log.pid.or(line.pid);
        let now = log.time(line.wall, line.uptime);
        let message = line.message;
        if let Some((number, told)) = of_collection(message) {
            match pause(told) {
                Some(found) => {
                    let began = begun.take().filter(|(of, _)| *of == number).map(|(_, at)| at);
                    // A line is written at the end of what it tells.
                    let at = began.or(now.map(|now| now.saturating_sub(found.time)));
                    log.pauses.push(Found { at, ..found });
                }
                None if told.starts_with("Pause ") => begun = now.map(|now| (number, now)),
                None if told.starts_with(COLLECTION) => {
                    let after = told.split_whitespace().find_map(change).map(|(_, after, _)| after);
                    log.heaps.extend(now.zip(after));
                }
                None => {}
            }
        } else if let Some(rest) = message.strip_prefix("Safepoint \"") {
            let name = rest.split('"').next().unwrap_or_default();
            let time = after(message, "At safepoint:");
            if let (Some(time), Some(to_stop)) = (time, after(message, "Reaching safepoint:")) {
                let whole = after(message, "Total:").unwrap_or(time);
                safepoint(&mut log, free, now, name, [time, to_stop, whole]);
                free = log.pauses.len();
            }
        } else if let Some(name) = message.strip_prefix("Entering safepoint region: ") {
            entered = Some(name.to_owned());
        } else if message.starts_with("Total time for which application threads were stopped") {
            let time = after(message, "were stopped:");
            if let (Some(time), Some(to_stop)) = (time, after(message, "Stopping threads took:")) {
                let name = entered.take().unwrap_or_default();
                safepoint(&mut log, free, now, &name, [time.saturating_sub(to_stop), to_stop, time]);
                free = log.pauses.len();
            }
        } else if let Some(collector) = message.strip_prefix("Using ") {
            log.collector.get_or_insert_with(|| collector.to_owned());
        } else if let Some(version) = message.strip_prefix("Version: ") {
            log.version.get_or_insert_with(|| version.to_owned());
        }
    }
    log
}

/// A safepoint whose end is told: of a collection it adds what is not known of its pauses, else it is a pause of its own. `spans`: how
/// long the threads stood, how long it took to stop them, and both with all around them.
fn safepoint(log: &mut Log, free: usize, now: Option<i64>, name: &str, spans: [i64; 3]) {
    let [time, to_stop, whole] = spans;
    let operation = Some(name.to_owned()).filter(|name| !name.is_empty());
    let began = now.map(|now| now.saturating_sub(whole).saturating_sub(SLACK));
    let inside = |p: &&mut Found| began.zip(p.at).is_none_or(|(began, at)| at >= began) && p.time <= whole + SLACK;
    let own: Vec<&mut Found> = log.pauses.iter_mut().skip(free).filter(inside).collect();
    if own.is_empty() {
        let at = now.map(|now| now.saturating_sub(time));
        log.pauses.push(Found { kind: "operation", operation, at, time, to_stop: Some(to_stop), ..Found::default() });
        return;
    }
    for pause in own {
        pause.operation = operation.clone();
        pause.to_stop = Some(to_stop);
    }
}
