//! Single pauses, from what a JVM keeps of the last one and from its sums: of two readings, what came between them.
//!
//! The JVM keeps begin and end of the last collection of each collector (`collectorCounters.hpp`) and of the last safepoint (`SafepointTracing`), and how
//! many there were. Where one came between two readings, it is told exactly. Of more, the last is, and the others together by the difference of the sums.

use crate::hotspot::Safepoint;

/// A collector, as its counters had it. Times are of CLOCK_MONOTONIC, nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Collector {
    pub kind: Kind,
    pub collections: u64,
    /// Time of all, nanoseconds.
    pub time: u64,
    /// Begin and end of the last.
    pub entry: u64,
    pub exit: u64,
}

/// What a pause is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Young,
    Full,
    Concurrent,
    #[default]
    Operation,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Young => "young",
            Kind::Full => "full",
            Kind::Concurrent => "concurrent",
            Kind::Operation => "operation",
        }
    }

    /// Of a collector, by its place among the counters.
    pub fn of_collector(place: usize) -> Self {
        match place {
            0 => Kind::Young,
            1 => Kind::Full,
            _ => Kind::Concurrent,
        }
    }

    /// Of an operation that no collector counted: those of collectors that run beside the program.
    pub fn of_operation(name: &str) -> Self {
        match () {
            () if name == "ShenandoahFullGC" => Kind::Full,
            () if is_concurrent(name) => Kind::Concurrent,
            () => Kind::Operation,
        }
    }
}

fn is_concurrent(name: &str) -> bool {
    let begins = |prefix: &str| name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(char::is_uppercase));
    begins("Z") || begins("X") || begins("Shenandoah")
}

/// Whether an operation collects garbage, so that a collector counts it too (`vmOperation.hpp`).
pub(super) fn is_collection(name: &str) -> bool {
    is_concurrent(name) || name.contains("Collect") || name.contains("GC") || name.starts_with("G1")
}

/// What was read of a JVM at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub collectors: Vec<Collector>,
    /// Why the last collection was.
    pub cause: Option<String>,
    /// All safepoints: how many, their time (which some versions count with that until all had stopped), and that alone.
    pub safepoints: u64,
    pub safepoint_time: u64,
    pub to_stop: u64,
    /// The last; `None` where the JVM does not tell.
    pub last: Option<Safepoint>,
    /// How often each operation was, by its number.
    pub operations: Vec<u64>,
    /// Bytes of the heap in use, and of those what is in eden.
    pub used: u64,
    pub eden: u64,
}

/// One pause, or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pause {
    pub kind: Kind,
    /// Number of the operation.
    pub operation: Option<u32>,
    pub cause: Option<String>,
    /// CLOCK_MONOTONIC, nanoseconds, as all times.
    pub at: u64,
    pub time: u64,
    pub to_stop: Option<u64>,
    pub used_before: Option<u64>,
    pub used_after: Option<u64>,
    pub together: u64,
    pub exact: bool,
}

/// What operations came to since the start, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub count: u64,
    pub time: u64,
    pub to_stop: u64,
}

/// What came since the first reading.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    before: Option<Reading>,
    /// By number of the operation.
    pub sums: Vec<Sum>,
    /// Whether an operation collects garbage, by its number.
    pub collects: Vec<bool>,
    /// How often the time of a single safepoint was with that until all had stopped, less how often it was without.
    with_stop: i32,
    /// How much eden held after the last collection: where it holds something else later, the JVM counts it all the time.
    eden: Option<u64>,
}

impl Pauses {
    /// What came since the reading before; since its start, of a JVM that began while it was recorded.
    pub fn step(&mut self, reading: Reading, is_new: bool) -> Vec<Pause> {
        if self.before.is_none() && is_new {
            let collectors = reading.collectors.iter().map(|c| Collector { kind: c.kind, ..Collector::default() });
            let operations = vec![0; reading.operations.len()];
            self.before = Some(Reading { collectors: collectors.collect(), operations, ..Reading::default() });
        }
        if let Some(before) = &self.before {
            self.with_stop = self.with_stop.saturating_add(with_stop(before, &reading)).clamp(-100, 100);
        }
        let found = match &self.before {
            Some(before) => between(before, &reading, self.eden, &self.collects, self.with_stop >= 0),
            None => Vec::new(),
        };
        if let Some(before) = &self.before {
            add(&mut self.sums, before, &reading, self.with_stop >= 0);
            let collected = before.collectors != reading.collectors;
            if collected || self.eden.is_none() {
                self.eden = Some(reading.eden);
            }
        }
        if self.sums.len() < reading.operations.len() {
            self.sums.resize(reading.operations.len(), Sum::default());
        }
        self.before = Some(reading);
        found
    }
}

/// How long the threads stood between two readings.
fn stood(before: &Reading, now: &Reading, with_stop: bool) -> u64 {
    let to_stop = if with_stop { now.to_stop.saturating_sub(before.to_stop) } else { 0 };
    now.safepoint_time.saturating_sub(before.safepoint_time).saturating_sub(to_stop)
}

/// Of two readings with one safepoint between them: 1 where its time was counted with that until all had stopped, as in 17, -1 where it was without, as in
/// 25; 0 where that does not show.
fn with_stop(before: &Reading, now: &Reading) -> i32 {
    let Some(last) = now.last.filter(|_| now.safepoints == before.safepoints + 1) else { return 0 };
    let time = now.safepoint_time.saturating_sub(before.safepoint_time);
    let (whole, stood) = (last.end - last.begin, last.end - last.stopped);
    let (to_whole, to_stood) = (time.abs_diff(whole), time.abs_diff(stood));
    match whole - stood {
        // It took no time to stop.
        0..2000 => 0,
        _ if to_whole < to_stood => 1,
        _ => -1,
    }
}

/// Whether a collection lies in a safepoint.
fn lies_in(collector: &Collector, safepoint: &Safepoint) -> bool {
    safepoint.stopped <= collector.exit && collector.entry <= safepoint.end
}

fn between(before: &Reading, now: &Reading, eden: Option<u64>, collects: &[bool], with_stop: bool) -> Vec<Pause> {
    let mut found = Vec::new();
    let new = now.last.filter(|last| before.last.is_none_or(|before| before.begin < last.begin));
    // How often each operation was asked for beyond what is told by itself.
    let mut left: Vec<u64> =
        (now.operations.iter().zip(&before.operations)).map(|(n, b)| n.saturating_sub(*b)).collect();
    if let Some(times) = new.and_then(|last| left.get_mut(last.operation as usize)) {
        *times = times.saturating_sub(1);
    }
    let is_collection = |number: usize| collects.get(number) == Some(&true);
    // Those that came with several collections, where it can only be one.
    let mut of_others = (0u32..).zip(&left).filter(|(number, times)| **times > 0 && is_collection(*number as usize));
    let of_others = of_others.next().filter(|_| of_others.next().is_none()).map(|(number, _)| number);
    let (mut known, mut is_told) = (0, false);
    let counts_eden = eden.is_some_and(|eden| eden != before.eden);
    for (collector, old) in now.collectors.iter().zip(&before.collectors) {
        let collections = collector.collections.saturating_sub(old.collections);
        if collections == 0 {
            continue;
        }
        let time = collector.time.saturating_sub(old.time);
        let length = collector.exit.saturating_sub(collector.entry);
        let of = new.filter(|safepoint| lies_in(collector, safepoint));
        is_told |= of.is_some();
        let last = Pause {
            kind: collector.kind,
            operation: of.map(|safepoint| safepoint.operation),
            cause: now.cause.clone().filter(|_| collector.kind != Kind::Concurrent),
            at: collector.entry,
            time: length,
            to_stop: of.map(|safepoint| safepoint.stopped - safepoint.begin),
            used_before: (collections == 1 && counts_eden).then_some(before.used),
            used_after: Some(now.used),
            together: 1,
            exact: true,
        };
        if collections > 1 {
            found.push(Pause {
                operation: of_others,
                time: time.saturating_sub(length),
                to_stop: None,
                used_before: None,
                used_after: None,
                together: collections - 1,
                exact: false,
                ..last.clone()
            });
        }
        known += time;
        found.push(last);
    }
    if let Some(last) = new.filter(|_| !is_told) {
        let time = last.end - last.stopped;
        known += time;
        found.push(Pause {
            operation: Some(last.operation),
            at: last.stopped,
            time,
            to_stop: Some(last.stopped - last.begin),
            together: 1,
            exact: true,
            ..Pause::default()
        });
    }
    // What collectors count was told; where there are no counters, nothing was.
    if !now.collectors.is_empty() {
        left.iter_mut().enumerate().filter(|(number, _)| is_collection(*number)).for_each(|(_, times)| *times = 0);
    }
    let all: u64 = left.iter().sum();
    if let Some(last) = now.last.filter(|_| all > 0) {
        let rest = stood(before, now, with_stop).saturating_sub(known);
        for (operation, times) in (0u32..).zip(left).filter(|(_, times)| *times > 0) {
            let time = (u128::from(rest) * u128::from(times) / u128::from(all)) as u64;
            found.push(Pause {
                operation: Some(operation),
                at: last.stopped,
                time,
                together: times,
                ..Pause::default()
            });
        }
    }
    found.sort_by_key(|pause| (pause.at, pause.exact));
    found
}

/// Adds to the sums of operations what came between two readings. The times of those that came together are shared out by their numbers, but for that of
/// the last.
fn add(sums: &mut Vec<Sum>, before: &Reading, now: &Reading, with_stop: bool) {
    let times: Vec<u64> = (now.operations.iter().zip(&before.operations)).map(|(n, b)| n.saturating_sub(*b)).collect();
    let to_stop = now.to_stop.saturating_sub(before.to_stop);
    let time = stood(before, now, with_stop);
    let last = now.last.filter(|last| before.last.is_none_or(|before| before.begin < last.begin));
    if sums.len() < times.len() {
        sums.resize(times.len(), Sum::default());
    }
    let of_last = last.map_or([0; 2], |last| [last.end - last.stopped, last.stopped - last.begin]);
    let [time_left, to_stop_left] = [time.saturating_sub(of_last[0]), to_stop.saturating_sub(of_last[1])];
    let all: u64 = times.iter().sum();
    let others = all.saturating_sub(u64::from(last.is_some()));
    for ((number, sum), times) in (0u32..).zip(sums.iter_mut()).zip(times) {
        let is_last = last.is_some_and(|last| last.operation == number) && times > 0;
        let of_others = times - u64::from(is_last);
        let part = |whole: u64| {
            (u128::from(whole) * u128::from(of_others)).checked_div(u128::from(others)).unwrap_or(0) as u64
        };
        sum.count += times;
        sum.time += part(time_left) + if is_last { of_last[0] } else { 0 };
        sum.to_stop += part(to_stop_left) + if is_last { of_last[1] } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collector(collections: u64, time: u64, entry: u64, exit: u64) -> Collector {
        Collector { kind: Kind::Young, collections, time, entry, exit }
    }

    fn safepoint(begin: u64, stopped: u64, end: u64, operation: u32) -> Option<Safepoint> {
        Some(Safepoint { begin, stopped, end, operation })
    }

    fn reading(
        collectors: Vec<Collector>,
        safepoints: [u64; 3],
        last: Option<Safepoint>,
        operations: &[u64],
    ) -> Reading {
        let [safepoints, safepoint_time, to_stop] = safepoints;
        let operations = operations.to_vec();
        let cause = Some("Allocation Failure".into());
        Reading { collectors, cause, safepoints, safepoint_time, to_stop, last, operations, used: 100, eden: 10 }
    }

    #[test]
    fn a_collection_and_its_safepoint_are_one_pause() {
        let mut pauses = Pauses::default();
        let first = reading(vec![collector(3, 300, 50, 90)], [7, 900, 100], safepoint(40, 45, 95, 2), &[0, 4, 3]);
        assert_eq!(pauses.step(first, false), []);
        let next =
            reading(vec![collector(4, 420, 1010, 1130)], [8, 1050, 108], safepoint(1000, 1008, 1142, 2), &[0, 4, 4]);
        let found = pauses.step(next.clone(), false);
        let [pause] = &found[..] else { panic!("{found:?}") };
        assert_eq!((pause.kind, pause.at, pause.time, pause.to_stop), (Kind::Young, 1010, 120, Some(8)));
        assert_eq!((pause.operation, pause.together, pause.exact), (Some(2), 1, true));
        assert_eq!(pauses.sums[2], Sum { count: 1, time: 134, to_stop: 8 });
        assert_eq!(pauses.step(next, false), []);
    }

    #[test]
    fn the_time_to_stop_is_not_taken_off_where_it_was_not_counted() {
        let last = |begin| safepoint(begin, begin + 60_000, begin + 100_000, 1);
        let mut pauses = Pauses::default();
        pauses.step(reading(vec![], [1, 40_000, 60_000], last(1_000_000), &[0, 1]), false);
        // 40 µs each, without the 60 until all had stopped.
        pauses.step(reading(vec![], [2, 80_000, 120_000], last(2_000_000), &[0, 2]), false);
        let found = pauses.step(reading(vec![], [5, 200_000, 300_000], last(3_000_000), &[0, 5]), false);
        let told: Vec<_> = found.iter().map(|p| (p.together, p.time)).collect();
        assert_eq!(told, [(2, 80_000), (1, 40_000)], "{found:?}");
        assert_eq!(pauses.sums[1], Sum { count: 4, time: 160_000, to_stop: 240_000 });
    }

    #[test]
    fn others_are_told_by_their_operation() {
        let mut pauses = Pauses::default();
        pauses.step(reading(vec![], [7, 900, 100], safepoint(40, 45, 95, 2), &[0, 4, 3]), false);
        let found = pauses.step(reading(vec![], [8, 1000, 160], safepoint(1000, 1060, 1100, 1), &[0, 5, 3]), false);
        let [pause] = &found[..] else { panic!("{found:?}") };
        assert_eq!((pause.kind, pause.at, pause.time, pause.to_stop), (Kind::Operation, 1060, 40, Some(60)));
        // Of many, one is told by itself.
        let found = pauses.step(reading(vec![], [18, 2000, 260], safepoint(2000, 2010, 2050, 1), &[0, 13, 5]), false);
        let told: Vec<_> = found.iter().map(|p| (p.operation, p.together, p.time, p.exact)).collect();
        assert_eq!(told, [(Some(1), 7, 668, false), (Some(2), 2, 191, false), (Some(1), 1, 40, true)], "{found:?}");
        assert_eq!(pauses.sums.iter().map(|sum| sum.count).sum::<u64>(), 11);
        let (time, to_stop) = pauses.sums.iter().fold((0, 0), |(a, b), sum| (a + sum.time, b + sum.to_stop));
        assert!((time as i64 - 940).abs() <= 2 && (to_stop as i64 - 160).abs() <= 2, "{:?}", pauses.sums);
    }

    #[test]
    fn of_several_collections_the_last_is_exact() {
        let mut pauses = Pauses::default();
        pauses.step(reading(vec![collector(3, 300, 50, 90)], [3, 400, 10], None, &[]), false);
        let found = pauses.step(reading(vec![collector(6, 700, 1010, 1130)], [6, 820, 22], None, &[]), false);
        let told: Vec<_> = found.iter().map(|p| (p.together, p.time, p.exact, p.to_stop)).collect();
        assert_eq!(told, [(2, 280, false, None), (1, 120, true, None)]);
    }

    proptest! {
        #[test]
        fn nothing_panics_and_no_pause_is_counted_twice(numbers in prop::collection::vec(0u64..1000, 0..200)) {
            let mut pauses = Pauses::default();
            let mut it = numbers.into_iter();
            let mut next = || it.next().unwrap_or(0);
            let mut total = 0;
            for _ in 0..12 {
                let begin = next();
                let (stopped, operation) = (begin + next(), next() as u32 % 4);
                let last = safepoint(begin, stopped, stopped + next(), operation);
                let collectors = vec![collector(next() % 8, next(), next(), next())];
                let operations: Vec<u64> = (0..3).map(|_| next() % 16).collect();
                let read = reading(collectors, [next() % 32, next(), next()], last, &operations);
                total += pauses.step(read, false).iter().map(|p| p.together).sum::<u64>();
            }
            prop_assert!(total < 12 * 64);
        }
    }
}
