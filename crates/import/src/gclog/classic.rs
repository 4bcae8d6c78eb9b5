//! Lines of JDK 8 and before: a time of day, the time since the JVM began, or both, and what is told in brackets. What the threads of
//! a collector do at the same time may lie between the parts of a line, which is then left out.

use super::{Found, Log, change, iso, size, span};

/// Times before what is told, each with a colon after it: the time of day, and seconds since the JVM began.
fn stamps(line: &str) -> (Option<i64>, Option<i64>, &str) {
    let (mut wall, mut uptime, mut rest) = (None, None, line.trim());
    while let Some((word, after)) = rest.split_once(": ") {
        if let Some(time) = iso(word) {
            wall = Some(time);
        } else if let Some(time) = word.contains(['.', ',']).then(|| span(word, "s")).flatten() {
            uptime = Some(time);
        } else {
            break;
        }
        rest = after.trim_start();
    }
    (wall, uptime, rest)
}

fn begins(rest: &str) -> Option<(bool, &str)> {
    rest.strip_prefix("[Full GC")
        .map(|rest| (true, rest))
        .or_else(|| rest.strip_prefix("[GC").map(|rest| (false, rest)))
}

pub(super) fn is_one(line: &str) -> bool {
    let (_, _, rest) = stamps(line);
    begins(rest).is_some() || rest.starts_with("Total time for which application threads were stopped")
}

/// What stands in the outermost brackets of a collection, without what is in brackets within; `None` where it does not end here.
fn outermost(rest: &str) -> Option<String> {
    let (mut depth, mut own) = (0usize, String::new());
    for c in rest.chars() {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return Some(own),
            ']' => {
                depth -= 1;
                own.push(' ');
            }
            c if depth == 0 => own.push(c),
            _ => {}
        }
    }
    None
}

/// Words in round brackets, with those that lie in them: `System.gc()`.
fn bracketed(text: &str) -> Vec<String> {
    let (mut depth, mut all, mut word) = (0usize, Vec::new(), String::new());
    for c in text.chars() {
        match c {
            '(' => {
                depth += 1;
                if depth > 1 {
                    word.push(c);
                }
            }
            ')' if depth == 1 => {
                depth = 0;
                all.push(std::mem::take(&mut word));
            }
            ')' => {
                depth = depth.saturating_sub(1);
                word.push(c);
            }
            c if depth > 0 => word.push(c),
            _ => {}
        }
    }
    all
}

fn pause(full: bool, rest: &str) -> Option<Found> {
    // What G1's own threads did while the program ran.
    if rest.trim_start().starts_with("concurrent") {
        return None;
    }
    let (own, closed) = match outermost(rest) {
        Some(own) => (own, true),
        // G1 with details goes on in lines of its own: `[GC pause (G1 Evacuation Pause) (young), 0.0123 secs]` is whole.
        None => (rest.to_owned(), false),
    };
    let (before, _) = own.rsplit_once(" secs").filter(|_| closed)?;
    // Where the JVM ran with a locale that has them, numbers have decimal commas: `, 0,0665670 secs`.
    let number = before.rsplit(' ').next()?;
    let time = span(number, "secs").or_else(|| span(number.rsplit(',').next().filter(|n| n.contains('.'))?, "secs"))?;
    let words = bracketed(&own);
    let known = ["young", "mixed", "initial-mark", "to-space exhausted", "promotion failed", "concurrent mode failure"];
    let cause = words.iter().find(|w| !known.contains(&w.as_str()) && size(w).is_none());
    let kind = match () {
        () if full => "full",
        () if own.trim_start().starts_with("remark") || own.trim_start().starts_with("cleanup") => "concurrent",
        () if cause.is_some_and(|c| c.starts_with("CMS ")) => "concurrent",
        () => "young",
    };
    // The last is that of the whole heap.
    let used = own.split(' ').filter_map(|word| change(word.trim_end_matches(','))).next_back();
    Some(Found { kind, cause: cause.cloned(), time, used, ..Found::default() })
}

pub(super) fn read(text: &str) -> Log {
    let mut log = Log::default();
    let mut free = 0;
    for line in text.lines() {
        // G1 tells the heap of a pause some lines after it: `   [Eden: … Heap: 24.0M(256.0M)->4000.0K(256.0M)]`.
        if let Some((_, heap)) = line.split_once(" Heap: ").filter(|_| line.trim_start().starts_with("[Eden: ")) {
            let used = heap.split([' ', ']']).find_map(change);
            if let Some(last) = log.pauses.last_mut().filter(|p| p.used.is_none()) {
                last.used = used;
            }
            continue;
        }
        let (wall, uptime, rest) = stamps(line);
        let now = log.time(wall, uptime);
        if let Some((full, rest)) = begins(rest) {
            // Here the time is that of the beginning.
            if let Some(found) = pause(full, rest) {
                log.last = now.map_or(log.last, |now| log.last.max(now.saturating_add(found.time)));
                log.pauses.push(Found { at: now, ..found });
            }
        } else if rest.starts_with("Total time for which application threads were stopped") {
            let number = |word: &str| {
                let mut words = rest.split_once(word)?.1.split_whitespace();
                span(words.next()?, words.next()?.trim_end_matches([',', '.']))
            };
            let Some(whole) = number("were stopped:") else { continue };
            let to_stop = number("Stopping threads took:");
            let time = whole.saturating_sub(to_stop.unwrap_or(0));
            let mut own = log.pauses.iter_mut().skip(free).filter(|p| p.time <= whole).peekable();
            if own.peek().is_some() {
                own.for_each(|pause| pause.to_stop = to_stop);
            } else {
                let at = now.map(|now| now.saturating_sub(time));
                log.pauses.push(Found { kind: "operation", at, time, to_stop, ..Found::default() });
            }
            free = log.pauses.len();
        } else if let Some(flags) = rest.strip_prefix("CommandLine flags: ") {
            let of = |word: &str| Some(word.strip_prefix("-XX:+Use")?.strip_suffix("GC")?.to_owned());
            log.collector = flags.split_whitespace().find_map(of);
        }
    }
    log
}
