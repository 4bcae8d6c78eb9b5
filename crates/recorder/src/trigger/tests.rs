//! Triggers on a simulated clock, and on what a recorder reads here, beside `query`, which has the same values from the finished recording.

use super::*;
use model::{Column, Fold, Kind, Metric, NULL, Unit};
use proptest::prelude::*;

const SECOND: i64 = 1_000_000_000;

/// The busy CPUs of a simulated host, one number of ticks of 10 ms for each CPU and second.
struct Simulated {
    symbols: Symbols,
    used: Vec<i64>,
}

impl Simulated {
    fn new(cpus: usize) -> Self {
        Simulated { symbols: Symbols::default(), used: vec![0; cpus] }
    }

    /// A second in which each CPU was busy for this part.
    fn read(&mut self, triggers: &mut Triggers, t: i64, busy: &[f64]) -> Vec<Fired> {
        let table = sources::by_name("cpu").unwrap().tables[0];
        let user = table.columns.iter().position(|c| c.name == "user").unwrap();
        let mut rows = Rows { width: table.width(), cells: Vec::new() };
        for (cpu, (used, part)) in self.used.iter_mut().zip(busy).enumerate() {
            *used += (part * 100.0) as i64;
            let mut row = vec![0; table.width()];
            (row[0], row[user]) = (cpu as i64, *used);
            rows.cells.extend(row);
        }
        triggers.rows(table, t, &rows, &self.symbols);
        triggers.fire(t)
    }
}

fn triggers(text: &[&str], cooldown: i64) -> Triggers {
    let all: Vec<Trigger> = text.iter().map(|text| Trigger::parse(text).unwrap()).collect();
    Triggers::new(&all, cooldown * SECOND)
}

#[test]
fn fires_at_the_first_reading_at_which_it_has_held_so_long_and_once_an_incident() {
    let mut waiting = triggers(&["busy: cpu.busy > 1.5 for 3s"], 0);
    let mut host = Simulated::new(2);
    let mut fired = Vec::new();
    for second in 0..60 {
        let busy = match second {
            // Two seconds are too short.
            5 | 6 | 20..=40 | 50..=59 => [0.9, 0.9],
            _ => [0.2, 0.9],
        };
        fired.extend(host.read(&mut waiting, second * SECOND + second * 300, &busy));
    }
    let at: Vec<i64> = fired.iter().map(|fired| fired.t / SECOND).collect();
    assert_eq!(at, [22, 52]);
    assert_eq!(fired[0].what, "cpu.busy 1.80 s/s > 1.50 s/s");
}

#[test]
fn a_week_of_flapping_fires_once_a_cooldown() {
    let mut waiting = triggers(&["busy: cpu.busy > 1.5"], 600);
    let mut host = Simulated::new(2);
    let mut last = None;
    for second in 0..7 * 24 * 3600 {
        let busy = if second % 2 == 0 { [0.9, 0.9] } else { [0.1, 0.1] };
        for fired in host.read(&mut waiting, second * SECOND, &busy) {
            assert!(last.is_none_or(|last| fired.t - last >= 600 * SECOND));
            last = Some(fired.t);
        }
    }
    assert!(last > Some(7 * 24 * 3600 * SECOND - 700 * SECOND));
}

#[test]
fn one_that_always_holds_fires_once() {
    let mut waiting = triggers(&["always: cpu.busy > -1"], 600);
    let mut host = Simulated::new(1);
    let fired: usize = (0..7200).map(|second| host.read(&mut waiting, second * SECOND, &[0.5]).len()).sum();
    assert_eq!(fired, 1);
}

#[test]
fn each_value_of_a_star_is_judged_on_its_own() {
    let mut waiting =
        triggers(&["one: cpu.busy{cpu=*} > 0.8 for 2s", "second: cpu.busy{cpu=1} < 0.1 and cpu.busy > 0.8"], 0);
    let mut host = Simulated::new(2);
    let mut fired = Vec::new();
    // The load moves from CPU to CPU: neither is busy for two seconds.
    for (second, busy) in [[0.9, 0.0], [0.9, 0.0], [0.0, 0.9], [0.9, 0.0], [0.0, 0.9], [0.0, 0.9]].iter().enumerate() {
        fired.extend(host.read(&mut waiting, second as i64 * SECOND, busy));
    }
    let what: Vec<(usize, i64)> = fired.iter().map(|fired| (fired.trigger, fired.t / SECOND)).collect();
    assert_eq!(what, [(1, 1), (1, 3), (0, 5)]);
    assert_eq!(fired[2].what, "cpu.busy{cpu=*} (1) 0.900 s/s > 0.800 s/s");
}

#[test]
fn what_is_no_longer_read_holds_no_more() {
    let mut waiting = triggers(&["idle: cpu.busy < 0.5 for 20s"], 0);
    let mut host = Simulated::new(1);
    for second in 0..5 {
        assert!(host.read(&mut waiting, second * SECOND, &[0.1]).is_empty());
    }
    assert!((5..60).all(|second| waiting.fire(second * SECOND).is_empty()));
}

#[test]
fn work_that_stops_is_seen() {
    let mut waiting = triggers(&["stalled: work.rate < 50 for 5s"], 0);
    let mut fired = Vec::new();
    for second in 0..60 {
        // A hundred a second, reported every third second, until it stops.
        let done = (second.min(30) / 3 * 300) as f64;
        waiting.work(second * SECOND, done);
        fired.extend(waiting.fire(second * SECOND));
    }
    let [fired] = &fired[..] else { panic!("{fired:?}") };
    assert!((35..=42).contains(&(fired.t / SECOND)), "{fired:?}");
}

/// What `query` says of a recording, and what the triggers see of the same rows.
#[test]
fn values_are_those_of_compare() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.twin");
    let words = ["-q", "-d", "3s", "-i", "200ms", "-o", path.to_str().unwrap()];
    assert_eq!(crate::record(&crate::options::testing::record(&words).unwrap(), None).unwrap().code, 0);
    let recording = store::Recording::open(&path).unwrap();
    let mut compared = 0;
    for name in ["cpu", "vmstat", "process", "softirqs", "meminfo", "disks", "pressure", "schedstat", "network"] {
        let Some(frame) = recording.load(name, &store::Select::default()) else { continue };
        for metric in query::series::fields(&frame) {
            let grid = query::series::Grid::new(&frame, &metric, &[], None).unwrap();
            let mut watch = Watch::new(metric.clone(), &[]);
            let mut rows = replay::Replayed::new(frame.table, &frame);
            for (tick, t) in frame.ticks.iter().enumerate() {
                let reading = watch.take(*t, &rows.rows(&frame, tick), &frame.symbols);
                let level = metric.is_level();
                let interval = if level { Some(tick) } else { tick.checked_sub(1) };
                let wanted = interval.and_then(|i| grid.series.first().map(|series| series.value(i)));
                let found = reading.and_then(|reading| reading.values.first().map(|value| value.value));
                let (wanted, found) = (wanted.unwrap_or(f64::NAN), found.unwrap_or(f64::NAN));
                let equal =
                    wanted.is_nan() && found.is_nan() || (wanted - found).abs() <= 1e-9 * wanted.abs().max(1e-9);
                // A process that came back under its number counts from zero here.
                assert!(equal, "{} at {tick}: {wanted} in the series, {found} here", metric.full_name());
                compared += usize::from(!found.is_nan());
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

const TABLE: model::Table = model::Table::long(
    "t",
    "",
    Kind::Counter,
    &[Column::number("cpu", ""), Column::counter("a", Unit::None, "").folded(Fold::Mean)],
);

proptest! {
    /// Whatever the cells are: no panic, and nothing is measured of what was reset or is missing.
    #[test]
    fn any_rows_are_taken(cells in prop::collection::vec(prop::collection::vec(any::<i64>(), 0..40), 1..6)) {
        static T: model::Table = TABLE;
        let metric: Metric = model::metric(&T, "a").unwrap();
        let mut watch = Watch::new(metric, &[("cpu", "*".into())]);
        let mut symbols = Symbols::default();
        let a = symbols.cell("a");
        for (t, mut cells) in cells.into_iter().enumerate() {
            for row in cells.chunks_exact_mut(3) {
                row[1] = a;
                if row[2] % 7 == 0 {
                    row[2] = NULL;
                }
            }
            cells.truncate(cells.len() / 3 * 3);
            let _ = watch.take(t as i64, &Rows { width: 3, cells }, &symbols);
        }
    }
}
