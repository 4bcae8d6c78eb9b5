//! From what groups of counters have counted to rows.

use super::plan::Chunk;
use counters::COLUMNS;
use host::Host;
use host::counting::{Counting, Reading};
use model::NULL;

/// Labels of the table `pmu` before its columns.
const LABELS: usize = 2;

/// One chunk on one CPU.
#[derive(Debug)]
pub struct Counted {
    /// The CPU.
    pub cpu: u32,
    counting: Counting,
    /// What it had counted at the read before; none before the first.
    last: Option<Reading>,
    now: Reading,
    /// What each column has come to, scaled up; none where nothing fills it.
    sums: Vec<Option<f64>>,
}

/// What one interval came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Time for which the chunk was wanted, and had counters.
    pub enabled: u64,
    /// The second of them.
    pub running: u64,
}

impl Counted {
    /// Of an open group.
    pub fn new(cpu: u32, counting: Counting) -> Self {
        Counted { cpu, counting, last: None, now: Reading::default(), sums: vec![None; COLUMNS.len()] }
    }

    /// What it has counted by now, as the kernel gave it: none where it could not be read.
    pub fn raw(&self) -> Option<&Reading> {
        self.last.as_ref()
    }

    /// Reads, and puts what each column has come to into `cells`; [`NULL`] where it was not counted in this interval. `add` is told what each name came
    /// to in the interval.
    pub fn read(
        &mut self,
        host: &Host,
        chunk: &Chunk,
        smt: bool,
        cells: &mut [i64],
        mut add: impl FnMut(&str, f64),
    ) -> Option<Interval> {
        cells.iter_mut().skip(LABELS).for_each(|cell| *cell = NULL);
        if self.counting.read(host, &mut self.now).is_err() {
            self.last = None;
            return None;
        }
        let before = self.last.replace(self.now.clone());
        let Some(before) = before else {
            self.begin(chunk, cells);
            return None;
        };
        let enabled = self.now.enabled.checked_sub(before.enabled)?;
        let running = self.now.running.checked_sub(before.running)?;
        let interval = Some(Interval { enabled, running });
        if running == 0 {
            return interval;
        }
        let scale = enabled as f64 / running as f64;
        let counts = self.now.counts.iter().zip(&before.counts);
        let counts: Option<Vec<f64>> =
            counts.map(|(now, before)| Some(now.checked_sub(*before)? as f64 * scale)).collect();
        let counts = counts?;
        let names = chunk.events.iter().map(|(name, _)| name.as_str());
        let mut known: Vec<(&str, Option<f64>)> = names.zip(counts.into_iter().map(Some)).collect();
        for (name, formula) in &chunk.computed {
            let of = |name: &str| match name {
                "smt" => Some(f64::from(u8::from(smt))),
                _ => known.iter().find(|(other, _)| *other == name).and_then(|(_, value)| *value),
            };
            let value = formula.value(&of);
            known.push((name, value));
        }
        for (name, value) in known {
            let Some(value) = value else { continue };
            add(name, value);
            let Some(at) = COLUMNS.iter().position(|column| column.name == name) else { continue };
            if let (Some(sum), Some(cell)) = (self.sums.get_mut(at), cells.get_mut(at)) {
                // Counts grow. What is computed can be below 0 for a moment.
                let total = sum.unwrap_or(0.0) + value.max(0.0);
                *sum = Some(total);
                *cell = total.round() as i64;
            }
        }
        interval
    }

    /// The first reading is where the columns begin.
    fn begin(&mut self, chunk: &Chunk, cells: &mut [i64]) {
        for name in chunk.names() {
            let Some(at) = COLUMNS.iter().position(|column| column.name == name) else { continue };
            if let (Some(sum), Some(cell)) = (self.sums.get_mut(at), cells.get_mut(at)) {
                *cell = sum.get_or_insert(0.0).round() as i64;
            }
        }
    }
}

/// Counts of one event or a few that are scaled by hand: of the command, or of a package.
#[derive(Debug)]
pub struct Scaled {
    counting: Counting,
    last: Option<Reading>,
    now: Reading,
    sums: Vec<f64>,
}

impl Scaled {
    /// Of an open group of so many events.
    pub fn new(counting: Counting, events: usize) -> Self {
        Scaled { counting, last: None, now: Reading::default(), sums: vec![0.0; events] }
    }

    /// The counts as the kernel gave them at the last read.
    pub fn raw(&self) -> &[u64] {
        &self.now.counts
    }

    /// What the events have come to, scaled up; none where they were not counted since the read before.
    pub fn read(&mut self, host: &Host) -> Option<&[f64]> {
        if self.counting.read(host, &mut self.now).is_err() {
            self.last = None;
            return None;
        }
        let Some(before) = self.last.replace(self.now.clone()) else { return Some(&self.sums) };
        let enabled = self.now.enabled.checked_sub(before.enabled)?;
        let running = self.now.running.checked_sub(before.running)?;
        if running == 0 && enabled > 0 {
            return None;
        }
        let scale = if running == 0 { 1.0 } else { enabled as f64 / running as f64 };
        for (sum, (now, before)) in self.sums.iter_mut().zip(self.now.counts.iter().zip(&before.counts)) {
            *sum += now.checked_sub(*before)? as f64 * scale;
        }
        Some(&self.sums)
    }
}
