//! Logs of JDK 8 and before: a time of day, the time since the JVM began, or both, then a pause in brackets. Options print more between the brackets, over
//! several lines (`PrintTenuringDistribution`, `PrintAdaptiveSizePolicy`, `PrintFLSStatistics`, `PrintHeapAtGC`), and so do concurrent threads.

use super::{Found, Log, change, iso, size, span, unified};

/// Lines between the begin of a pause and its end, at most.
const MOST_LINES: usize = 1000;

/// Bytes of a pause's own text, at most.
const MOST_TEXT: usize = 64 << 10;

/// Times before what is told, each with a colon after it: the time of day, seconds since the JVM began, and the number of the collection (`-XX:+PrintGCID`).
fn stamps(line: &str) -> (Option<i64>, Option<i64>, &str) {
    let (mut wall, mut uptime, mut rest) = (None, None, line.trim());
    while let Some((word, after)) = rest.split_once(": ") {
        if let Some(time) = iso(word) {
            wall = Some(time);
        } else if let Some(time) = word.contains(['.', ',']).then(|| span(word, "s")).flatten() {
            uptime = Some(time);
        } else if !is_number_of_collection(word) {
            break;
        }
        rest = after.trim_start();
    }
    (wall, uptime, rest)
}

fn is_number_of_collection(word: &str) -> bool {
    word.strip_prefix('#').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a pause is a full collection, and what follows; `None` where no pause begins.
fn begins(rest: &str) -> Option<(bool, &str)> {
    let of = |word: &str, full: bool| Some((full, rest.strip_prefix(word)?));
    of("[Full GC", true).or_else(|| of("[GC", false)).filter(|(_, rest)| {
        // What concurrent threads do, and how long the threads of a pause took.
        !["concurrent", "Worker"].iter().any(|word| rest.trim_start().starts_with(word))
    })
}

const STOPPED: &str = "Total time for which application threads were stopped";

pub(super) fn is_one(line: &str) -> bool {
    let (_, _, rest) = stamps(line);
    begins(rest).is_some() || rest.starts_with(STOPPED) || shenandoah(rest).is_some()
}

/// Whether a line stands at the head of a log: the JVM's version, or that the file was begun because another one was full (`-XX:+UseGCLogFileRotation`).
pub(super) fn is_head(line: &str) -> bool {
    version(line).is_some() || line.contains(" GC log file created ")
}

/// `OpenJDK 64-Bit Server VM (25.342-b07) for linux-amd64 JRE (1.8.0_342-b07), built on …`: the version of the JRE.
fn version(line: &str) -> Option<&str> {
    let is_jvm = line.starts_with("OpenJDK ") || line.starts_with("Java HotSpot(TM) ");
    let (_, rest) = line.split_once(" JRE (").filter(|(before, _)| is_jvm && before.contains(" VM ("))?;
    rest.split_once(')').map(|(version, _)| version)
}

/// A pause of Shenandoah, whose end is told: `[Pause Init Mark (process weakrefs), 3.341 ms]`.
fn shenandoah(rest: &str) -> Option<Found> {
    let (told, time) = rest.strip_prefix('[')?.trim_end().strip_suffix(" ms]")?.rsplit_once(", ")?;
    unified::pause(&format!("{told} {time}ms"))
}

/// A pause that has begun, and what stands in its brackets, without what is in brackets within.
#[derive(Debug)]
struct Open {
    at: Option<i64>,
    is_full: bool,
    own: String,
    /// Where the first line of `own` ends.
    first: usize,
    depth: usize,
    lines: usize,
}

impl Open {
    fn new(at: Option<i64>, is_full: bool) -> Self {
        Open { at, is_full, own: String::new(), first: 0, depth: 0, lines: 0 }
    }

    /// Takes a further line. Whether the brackets are closed.
    fn closes_with(&mut self, line: &str) -> bool {
        self.lines += 1;
        self.own.push(' ');
        // Addresses of PrintHeapAtGC: intervals whose brackets differ.
        if line.contains("[0x") {
            return false;
        }
        for c in line.chars() {
            match c {
                '[' => self.depth += 1,
                ']' if self.depth == 0 => return true,
                ']' => {
                    self.depth -= 1;
                    self.own.push(' ');
                }
                c if self.depth == 0 => self.own.push(c),
                _ => {}
            }
        }
        if self.lines == 1 {
            self.first = self.own.len();
        }
        false
    }

    /// Whether it is too long to be one.
    fn is_endless(&self) -> bool {
        self.lines > MOST_LINES || self.own.len() > MOST_TEXT
    }
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

/// A pause whose brackets are closed.
fn pause(open: &Open) -> Option<Found> {
    let own = open.own.as_str();
    let (before, _) = own.rsplit_once(" secs")?;
    // Where the JVM ran with a locale that has them, numbers have decimal commas: `, 0,0665670 secs`.
    let number = before.rsplit(' ').next()?;
    let time = span(number, "secs").or_else(|| span(number.rsplit(',').next().filter(|n| n.contains('.'))?, "secs"))?;
    let first = match open.first {
        0 => own,
        end => own.get(..end)?,
    };
    let words = bracketed(first.split('{').next().unwrap_or_default());
    let known = ["young", "mixed", "initial-mark", "to-space exhausted", "promotion failed", "concurrent mode failure"];
    let is_cause =
        |word: &&String| !known.contains(&word.as_str()) && size(word).is_none() && word.contains(char::is_alphabetic);
    let cause = words.iter().find(is_cause);
    let told = own.trim_start();
    let kind = match () {
        () if open.is_full => "full",
        () if told.starts_with("remark") || told.starts_with("cleanup") => "concurrent",
        () if cause.is_some_and(|c| c.starts_with("CMS ")) => "concurrent",
        () => "young",
    };
    // The last is that of the whole heap.
    let used = own.split_whitespace().filter_map(|word| change(word.trim_end_matches(','))).next_back();
    Some(Found { kind, cause: cause.cloned(), at: open.at, time, used, ..Found::default() })
}

/// What the heap of G1 holds, some lines after a pause: `   [Eden: … Heap: 24.0M(256.0M)->4000.0K(256.0M)]`.
fn heap_of_g1(line: &str) -> Option<(i64, i64, Option<i64>)> {
    let (_, heap) = line.split_once(" Heap: ").filter(|_| line.trim_start().starts_with("[Eden: "))?;
    heap.split([' ', ']']).find_map(change)
}

pub(super) fn read(text: &str) -> Log {
    let mut log = Log::default();
    let mut free = 0;
    let mut open: Option<Open> = None;
    for line in text.lines() {
        if let Some(used) = heap_of_g1(line) {
            if let Some(last) = log.pauses.last_mut().filter(|p| p.used.is_none()) {
                last.used = Some(used);
            }
            continue;
        }
        let (wall, uptime, rest) = stamps(line);
        let now = log.time(wall, uptime);
        if let Some((is_full, rest)) = begins(rest) {
            // What was begun before has no end: the JVM was killed, or the file was full.
            log.unfinished += u64::from(open.is_some());
            // Here the time is that of the beginning.
            let mut begun = Open::new(now, is_full);
            let is_closed = begun.closes_with(rest);
            open = Some(begun).filter(|begun| !log.take_closed(is_closed, begun));
        } else if rest.starts_with(STOPPED) {
            log.unfinished += u64::from(open.take().is_some());
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
        } else if let Some(begun) = &mut open {
            let is_closed = begun.closes_with(line);
            let is_endless = begun.is_endless();
            if is_closed || is_endless {
                log.unfinished += u64::from(!is_closed);
                if let Some(begun) = open.take() {
                    log.take_closed(is_closed, &begun);
                }
            }
        } else if let Some(found) = shenandoah(rest) {
            // A line is written at the end of what it tells.
            log.pauses.push(Found { at: now.map(|now| now.saturating_sub(found.time)), ..found });
        } else if let Some(flags) = rest.strip_prefix("CommandLine flags: ") {
            let of = |word: &str| Some(word.strip_prefix("-XX:+Use")?.strip_suffix("GC")?.to_owned());
            log.collector = flags.split_whitespace().find_map(of);
        } else if let Some(version) = version(line) {
            log.version.get_or_insert_with(|| version.to_owned());
        }
    }
    log.unfinished += u64::from(open.is_some());
    log
}

impl Log {
    /// Takes a pause whose brackets are closed. Whether they are.
    fn take_closed(&mut self, is_closed: bool, open: &Open) -> bool {
        if is_closed && let Some(found) = pause(open) {
            self.last = open.at.map_or(self.last, |at| self.last.max(at.saturating_add(found.time)));
            self.pauses.push(found);
        }
        is_closed
    }
}
