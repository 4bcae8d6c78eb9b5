//! Series: a metric of one recording over time, entity by entity or folded over groups of them.
//!
//! Two rules hold everywhere. A mean over a window is the ratio of the sums, never the mean of ratios. And what was not measured is NaN:
//! it is never zero, and it is never carried over.
//!
//! - A **rate** or a ratio with a counter in it stands for the time between two successive reads of its table. There is one interval less than
//!   there are reads, so no rate has a made-up first point. A gauge beside counters counts as read at the end of the interval.
//! - A **level** stands for the moment of its reading: interval `i` starts and ends at read `i`, the first read included.
//! - The recording leaves out rows that did not change, so a row holds until the entity's next row.
//! - An interval is measured for an entity that was there at both of its ends (levels: at the read). One that is first seen between two reads
//!   counts from zero where its table says so ([`model::Table::from_zero`]); else it has no rate for that interval, for its counters may have run
//!   since long before. So has one that was gone and came back. (Of a frame that was cut to a stretch of time, what went before is not known: the
//!   first time in the frame counts as the first.)
//! - A counter that went down was reset: the interval is not measured, and the reset is counted.
//! - A group is folded over those of its entities that were measured; it is not measured when none was.

use crate::{Error, Metric};
use model::{Divisor, Fold, NULL, Term, Type, Window};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use store::{Entity, Frame};

pub use crate::metric::{fields, metric, metrics};

/// A metric of one recording, one [`Series`] for each group of entities, all over the same intervals.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The metric.
    pub metric: Metric,
    /// The labels that tell the groups apart.
    pub by: Vec<&'static str>,
    /// Start of each interval, seconds since the start of the recording. Equal to its end for a level.
    pub from: Arc<[f64]>,
    /// End of each interval, seconds.
    pub to: Arc<[f64]>,
    /// The groups, sorted by their labels, numbers by value. Groups in which nothing was ever measured are left out.
    pub series: Vec<Series>,
}

/// One group of a [`Grid`].
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The values of the grid's `by` labels; empty where the label was not read.
    pub labels: Vec<String>,
    /// The interval of the first of the numbers. What lies before and after them was not measured: of the thousands of processes that a build
    /// starts, each is there for seconds of an hour.
    start: usize,
    num: Vec<f64>,
    den: Vec<f64>,
    /// How often a counter of the group went down.
    pub resets: u64,
    /// How many entities were folded in.
    pub entities: usize,
}

/// The intervals of a [`Grid`] that a window touches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cut {
    /// Which they are.
    pub range: Range<usize>,
    /// Of each, the part that lies in the window.
    parts: Vec<f64>,
}

impl Cut {
    /// The part of an interval that lies in the window, 0 to 1.
    pub fn part(&self, interval: usize) -> f64 {
        interval.checked_sub(self.range.start).and_then(|at| self.parts.get(at)).copied().unwrap_or(0.0)
    }

    /// The intervals that lie in the window by half or more: those that stand for it where their values are taken as they are.
    pub fn mostly(&self) -> Range<usize> {
        let is_in = |part: &f64| *part >= 0.5;
        let first = self.parts.iter().position(is_in).unwrap_or(0);
        let end = self.parts.iter().rposition(is_in).map_or(first, |last| last + 1);
        self.range.start + first..self.range.start + end
    }
}

/// Which intervals of a [`Grid`] make one point of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    /// The intervals of each bucket.
    pub ranges: Vec<Range<usize>>,
    /// The middle of the time that each bucket stands for, seconds.
    pub time: Vec<f64>,
}

/// A series at a lower resolution: one value for each bucket, NaN where nothing was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Resampled {
    /// Ratio of the sums over the bucket.
    pub mean: Vec<f64>,
    /// The least value of one interval.
    pub min: Vec<f64>,
    /// The greatest value of one interval.
    pub max: Vec<f64>,
}

impl Series {
    /// Numerator of an interval in base units; NaN where it was not measured.
    pub fn num(&self, interval: usize) -> f64 {
        interval.checked_sub(self.start).and_then(|i| self.num.get(i)).copied().unwrap_or(f64::NAN)
    }

    /// Denominator of an interval: seconds for a rate, 1 for a level (for either, times the number of entities where the fold is the mean),
    /// the sum of columns for a ratio. 0 where it was not measured, and where a measured ratio has nothing to divide by.
    pub fn den(&self, interval: usize) -> f64 {
        interval.checked_sub(self.start).and_then(|i| self.den.get(i)).copied().unwrap_or(0.0)
    }

    /// The value of an interval; NaN where it was not measured or has nothing to divide by.
    pub fn value(&self, interval: usize) -> f64 {
        match self.den(interval) {
            0.0 => f64::NAN,
            den => self.num(interval) / den,
        }
    }

    /// The measured ones of a range of intervals: which, numerator, denominator.
    pub fn measured(&self, range: Range<usize>) -> impl Iterator<Item = (usize, f64, f64)> + '_ {
        let span = range.start.max(self.start)..range.end.min(self.start + self.num.len());
        span.map(|i| (i, self.num(i), self.den(i))).filter(|(_, num, _)| !num.is_nan())
    }

    /// The series of what used nothing where it was not measured, in intervals of these lengths; NaN for one that stays unmeasured.
    pub fn or_zero(&self, lengths: &[f64]) -> Series {
        let mut all = Series { start: 0, num: Vec::new(), den: Vec::new(), ..self.clone() };
        for (i, &length) in lengths.iter().enumerate() {
            let (num, den) = match self.num(i) {
                num if num.is_nan() && !length.is_nan() => (0.0, length),
                num => (num, self.den(i)),
            };
            all.num.push(num);
            all.den.push(den);
        }
        all
    }

    /// Makes room for intervals.
    fn reach(&mut self, range: &Range<usize>) {
        if self.num.is_empty() {
            self.start = range.start;
        }
        let before = self.start.saturating_sub(range.start);
        self.num.splice(0..0, std::iter::repeat_n(f64::NAN, before));
        self.den.splice(0..0, std::iter::repeat_n(0.0, before));
        self.start -= before;
        let length = self.num.len().max(range.end.saturating_sub(self.start));
        self.num.resize(length, f64::NAN);
        self.den.resize(length, 0.0);
    }

    /// The values of the intervals that have one, for statistics.
    pub fn values(&self, range: Range<usize>) -> Vec<f64> {
        range.map(|i| self.value(i)).filter(|v| !v.is_nan()).collect()
    }

    /// Numerators and denominators added up over the measured intervals; `None` where there are none.
    pub fn sums(&self, range: Range<usize>) -> Option<(f64, f64)> {
        self.measured(range).map(|(_, num, den)| (num, den)).reduce(|(n, d), (num, den)| (n + num, d + den))
    }

    /// The same for a window: what it cuts counts by the part of it that lies inside.
    pub fn sums_in(&self, cut: &Cut) -> Option<(f64, f64)> {
        let inside = self.measured(cut.range.clone()).map(|(i, num, den)| (num * cut.part(i), den * cut.part(i)));
        inside.reduce(|(n, d), (num, den)| (n + num, d + den))
    }

    /// The mean over a range of intervals: the ratio of the sums. `None` where nothing was measured or there is nothing to divide by.
    pub fn mean(&self, range: Range<usize>) -> Option<f64> {
        self.sums(range).filter(|&(_, den)| den != 0.0).map(|(num, den)| num / den)
    }

    /// The series at the resolution of `buckets`, which are of the same grid.
    pub fn resample(&self, buckets: &Buckets) -> Resampled {
        let n = buckets.ranges.len();
        let mut out = Resampled { mean: Vec::with_capacity(n), min: Vec::with_capacity(n), max: Vec::with_capacity(n) };
        for range in &buckets.ranges {
            // `f64::min` and `max` give the other value where one is NaN.
            let (mut min, mut max) = (f64::NAN, f64::NAN);
            for value in range.clone().map(|i| self.value(i)) {
                (min, max) = (min.min(value), max.max(value));
            }
            out.mean.push(self.mean(range.clone()).unwrap_or(f64::NAN));
            out.min.push(min);
            out.max.push(max);
        }
        out
    }
}

impl Grid {
    /// Computes `metric` from `frame`, one series for each combination of the labels `by`, over the entities whose label `only.0` is one of
    /// `only.1`.
    ///
    /// # Errors
    /// Where a label is not one of the table's, or the frame does not hold what the metric is computed from.
    pub fn new(frame: &Frame, metric: &Metric, by: &[&str], only: Option<(&str, &[&str])>) -> Result<Self, Error> {
        if frame.table.name != metric.table.name || frame.table.events {
            return Err(not_loaded(frame, metric, "it is a metric of another table, or the table holds events"));
        }
        let labels = frame.table.stored();
        let labels = labels.get(..frame.table.label_width()).unwrap_or_default();
        let label = |name: &str| match labels.iter().position(|c| c.name == name) {
            Some(at) => Ok((at, labels.get(at).map_or("", |c| c.name))),
            None => Err(Error::NoLabel {
                table: frame.table.name.into(),
                label: name.into(),
                labels: labels.iter().map(|c| c.name).collect::<Vec<_>>().join(", "),
            }),
        };
        let by: Vec<(usize, &'static str)> = by.iter().map(|name| label(name)).collect::<Result<_, _>>()?;
        let text = |at: usize, cell: i64| match labels.get(at) {
            Some(column) if column.ty == Type::Text => frame.symbols.text(cell).unwrap_or("").to_owned(),
            _ if cell == NULL => String::new(),
            _ => cell.to_string(),
        };
        let only = match only {
            Some((name, values)) => Some((label(name)?.0, values)),
            None => None,
        };
        let wanted = |entity: &Entity| {
            only.is_none_or(|(at, values)| {
                let value = text(at, entity.labels.get(at).copied().unwrap_or(NULL));
                values.contains(&value.as_str())
            })
        };

        let level = metric.is_level();
        let n = if level { frame.ticks.len() } else { frame.ticks.len().saturating_sub(1) };
        let seconds = |t: &i64| *t as f64 / 1e9;
        let to: Arc<[f64]> = frame.ticks.iter().skip(usize::from(!level)).map(seconds).collect();
        let from: Arc<[f64]> = frame.ticks.iter().take(n).map(seconds).collect();
        let lengths: Vec<f64> = match metric.den {
            // From the exact difference: the ends alone have been rounded.
            Divisor::Seconds => frame
                .ticks
                .windows(2)
                .map(|w| w.last().zip(w.first()).map_or(0.0, |(b, a)| (b - a) as f64 / 1e9))
                .collect(),
            _ => vec![1.0; n],
        };

        let lives = |index: usize| Cow::Owned(frame.entities.get(index).map_or(Vec::new(), |e| frame.lives(e)));
        let mut reader = Reader::new(frame, metric, level)?;
        let mut groups: HashMap<Vec<i64>, usize> = HashMap::new();
        let mut folded: Vec<(Vec<i64>, Series)> = Vec::new();
        for subject in reader.subjects(wanted) {
            let Some(entity) = subject.iter().find_map(|&e| frame.entities.get(e)) else { continue };
            let ticks = reader.ticks(&subject, &lives);
            let resets = reader.read(&subject, ticks.clone(), &lives);
            if resets == 0 && reader.num.iter().all(|n| n.is_nan()) {
                continue;
            }
            let key: Vec<i64> = by.iter().map(|&(at, _)| entity.labels.get(at).copied().unwrap_or(NULL)).collect();
            let at = *groups.entry(key.clone()).or_insert_with(|| {
                let labels = by.iter().zip(&key).map(|(&(at, _), &cell)| text(at, cell)).collect();
                let series = Series { labels, start: 0, num: vec![], den: vec![], resets: 0, entities: 0 };
                folded.push((key, series));
                folded.len() - 1
            });
            let Some((_, series)) = folded.get_mut(at) else { continue };
            series.resets += resets;
            series.entities += 1;
            reader.fold_into(series, ticks.start, &lengths, metric);
        }
        let numeric: Vec<bool> = by.iter().map(|&(at, _)| labels.get(at).is_some_and(|c| c.ty == Type::Int)).collect();
        folded.sort_by(|(a, x), (b, y)| {
            let mut order = Ordering::Equal;
            for (i, numeric) in numeric.iter().enumerate() {
                order = order.then_with(|| {
                    if *numeric { a.get(i).cmp(&b.get(i)) } else { x.labels.get(i).cmp(&y.labels.get(i)) }
                });
            }
            order
        });
        let by = by.into_iter().map(|(_, name)| name).collect();
        let series = folded.into_iter().map(|(_, series)| series).collect();
        Ok(Grid { metric: metric.clone(), by, from, to, series })
    }

    /// Number of intervals.
    pub fn len(&self) -> usize {
        self.to.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.to.is_empty()
    }

    /// The intervals that lie within a window as a whole, given in seconds.
    pub fn within(&self, from: f64, to: f64) -> Range<usize> {
        let first = self.from.partition_point(|&t| t < from);
        let last = self.to.partition_point(|&t| t <= to);
        first..last.max(first)
    }

    /// The intervals that a window touches, with the part of each that lies in it.
    pub fn cut(&self, window: &Window) -> Cut {
        let ns = |seconds: &f64| (seconds * 1e9).round() as i64;
        let part = |i: usize| match (self.from.get(i), self.to.get(i)) {
            (Some(from), Some(to)) => window.part(ns(from), ns(to)),
            _ => 0.0,
        };
        // A moment at an end of the window lies in it; an interval that ends there does not.
        let is_moment = self.metric.is_level();
        let is_before = |to: &f64| ns(to) < window.from || ns(to) == window.from && !is_moment;
        let is_begun = |from: &f64| ns(from) < window.to || ns(from) == window.to && is_moment;
        let first = self.to.partition_point(is_before);
        let range = first..self.from.partition_point(is_begun).max(first);
        Cut { parts: range.clone().map(part).collect(), range }
    }

    /// All intervals.
    pub fn all(&self) -> Range<usize> {
        0..self.len()
    }

    /// Gathers intervals into at most `most` buckets of as many intervals each; the last one may hold fewer.
    pub fn buckets(&self, most: usize) -> Buckets {
        let size = self.len().div_ceil(most.max(1)).max(1);
        let ranges: Vec<Range<usize>> =
            (0..self.len()).step_by(size).map(|at| at..(at + size).min(self.len())).collect();
        let middle = |range: &Range<usize>| {
            let from = self.from.get(range.start).copied().unwrap_or(0.0);
            let to = self.to.get(range.end.wrapping_sub(1)).copied().unwrap_or(from);
            f64::midpoint(from, to)
        };
        let time = ranges.iter().map(middle).collect();
        Buckets { ranges, time }
    }
}

fn not_loaded(frame: &Frame, metric: &Metric, why: &str) -> Error {
    Error::NotLoaded { metric: metric.full_name(), table: frame.table.name.into(), why: why.into() }
}

/// A stretch of an entity's life, as [`Frame::lives`] gives it: the ticks from its first to before it was gone, and its rows.
pub(crate) type Life = (Range<usize>, Range<usize>);

/// The tick before an entity was first seen, where it is known to have begun at zero since then.
pub(crate) fn born(frame: &Frame, lives: &[Life]) -> Option<usize> {
    lives.first().and_then(|(life, _)| life.start.checked_sub(1)).filter(|_| frame.table.from_zero)
}

/// The cells of one entity at each of `ticks`: what changed carried forward, [`NULL`] where it was not there.
pub(crate) fn carried(frame: &Frame, column: &[i64], lives: &[Life], ticks: Range<usize>, cells: &mut Vec<i64>) {
    cells.clear();
    cells.resize(ticks.len(), NULL);
    for (life, rows) in lives.iter().filter(|(life, _)| life.start < ticks.end && life.end > ticks.start) {
        let Some(at) = frame.tick.get(rows.clone()) else { continue };
        // The last row at or before the first tick holds there.
        let first = at.partition_point(|&t| (t as usize) <= ticks.start).saturating_sub(1);
        for (row, &start) in at.iter().enumerate().skip(first) {
            let start = start as usize;
            if start >= ticks.end {
                break;
            }
            let end = at.get(row + 1).map_or(life.end, |&t| t as usize).min(ticks.end);
            let cell = column.get(rows.start + row).copied().unwrap_or(NULL);
            if let Some(stretch) = cells.get_mut(start.max(ticks.start) - ticks.start..end.saturating_sub(ticks.start))
            {
                stretch.fill(cell);
            }
        }
    }
}

/// Reads the numerator and denominator of one entity after the other into buffers.
pub(crate) struct Reader<'f> {
    frame: &'f Frame,
    num_terms: Vec<(Term, &'f [i64])>,
    den_terms: Vec<(Term, &'f [i64])>,
    level: bool,
    cells: Vec<i64>,
    pub(crate) num: Vec<f64>,
    pub(crate) den: Vec<f64>,
}

impl<'f> Reader<'f> {
    /// A reader of what `metric` needs: one number for each tick where it is read as a level, else for each interval.
    pub(crate) fn new(frame: &'f Frame, metric: &Metric, level: bool) -> Result<Self, Error> {
        let long = frame.table.is_long();
        let with_cells = |terms: &[Term]| -> Result<Vec<(Term, &'f [i64])>, Error> {
            let cells = |term: &Term| {
                let column = if long { "value" } else { term.name };
                match frame.column(column) {
                    Some(cells) if !cells.is_empty() || frame.tick.is_empty() => Ok((term.clone(), cells)),
                    _ => Err(not_loaded(frame, metric, &format!("column {column} was not decoded"))),
                }
            };
            terms.iter().map(cells).collect()
        };
        let den_terms = match &metric.den {
            Divisor::Columns(terms) => with_cells(terms)?,
            _ => Vec::new(),
        };
        let num_terms = with_cells(&metric.num)?;
        let (cells, num, den) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Reader { frame, num_terms, den_terms, level, cells, num, den })
    }

    /// What the metric is computed for: for each term the entity that has it. In a wide table all are the same; in a long one
    /// each field is an entity of its own, and the fields of equal labels belong together.
    pub(crate) fn subjects(&self, wanted: impl Fn(&Entity) -> bool) -> Vec<Vec<usize>> {
        let terms: Vec<&str> = self.num_terms.iter().chain(&self.den_terms).map(|(t, _)| t.name).collect();
        let entities = self.frame.entities.iter().enumerate().filter(|(_, e)| wanted(e));
        if !self.frame.table.is_long() {
            return entities.map(|(i, _)| vec![i; terms.len()]).collect();
        }
        let mut order: Vec<Vec<Option<usize>>> = Vec::new();
        let mut by_labels: HashMap<&[i64], usize> = HashMap::new();
        for (index, entity) in entities {
            let Some((&field, labels)) = entity.labels.split_last() else { continue };
            let Some(name) = self.frame.symbols.text(field) else { continue };
            for (term, _) in terms.iter().enumerate().filter(|(_, t)| **t == name) {
                let subject = *by_labels.entry(labels).or_insert_with(|| {
                    order.push(vec![None; terms.len()]);
                    order.len() - 1
                });
                if let Some(slot) = order.get_mut(subject).and_then(|s| s.get_mut(term)) {
                    *slot = Some(index);
                }
            }
        }
        // A subject without one of the fields was not measured; nothing is put in its place.
        order.into_iter().filter_map(|subject| subject.into_iter().collect()).collect()
    }

    /// The ticks beyond which nothing is known of a subject: an interval counts where something was there at its end.
    fn ticks(&self, subject: &[usize], lives: &dyn Fn(usize) -> Cow<'f, [Life]>) -> Range<usize> {
        let mut all = 0..self.frame.ticks.len();
        for &entity in subject {
            let lives = lives(entity);
            let first = lives.first().map_or(all.end, |(life, _)| life.start);
            let before = if self.level { first } else { first.saturating_sub(1) };
            all = all.start.max(before)..all.end.min(lives.last().map_or(0, |(life, _)| life.end));
        }
        all.start..all.end.max(all.start)
    }

    /// Fills `num` and `den` with what was at `ticks`; gives the number of resets.
    pub(crate) fn read(
        &mut self,
        subject: &[usize],
        ticks: Range<usize>,
        lives: &dyn Fn(usize) -> Cow<'f, [Life]>,
    ) -> u64 {
        let n = if self.level { ticks.len() } else { ticks.len().saturating_sub(1) };
        for sums in [&mut self.num, &mut self.den] {
            sums.clear();
            sums.resize(n, 0.0);
        }
        let mut down = vec![];
        let terms = self.num_terms.iter().map(|t| (t, true)).chain(self.den_terms.iter().map(|t| (t, false)));
        // A column that is in the numerator and in the denominator is reset once.
        let mut last: Option<(usize, *const i64)> = None;
        for (((term, column), numerator), &index) in terms.zip(subject) {
            if last.replace((index, column.as_ptr())) != Some((index, column.as_ptr())) {
                let lives = lives(index);
                carried(self.frame, column, &lives, ticks.clone(), &mut self.cells);
                // What counts up and is first seen at a read stood at zero at the read before.
                if let Some(before) = born(self.frame, &lives).filter(|_| term.cumulative && !self.level)
                    && let Some(cell) = before.checked_sub(ticks.start).and_then(|i| self.cells.get_mut(i))
                {
                    *cell = 0;
                }
            }
            let into = if numerator { &mut self.num } else { &mut self.den };
            if self.level {
                for (sum, &cell) in into.iter_mut().zip(&self.cells) {
                    *sum += term.level(cell);
                }
                continue;
            }
            for (i, (sum, pair)) in into.iter_mut().zip(self.cells.windows(2)).enumerate() {
                let &[before, after] = pair else { continue };
                if term.is_reset(before, after) {
                    down.push(i);
                }
                *sum += term.between(before, after);
            }
        }
        down.sort_unstable();
        down.dedup();
        down.len() as u64
    }

    /// Adds what was read to a group's series, in which it begins at interval `start`.
    fn fold_into(&self, series: &mut Series, start: usize, lengths: &[f64], metric: &Metric) {
        let ratio = matches!(metric.den, Divisor::Columns(_));
        series.reach(&(start..start + self.num.len()));
        let at = start - series.start;
        let own = self.num.iter().zip(&self.den).zip(lengths.iter().skip(start));
        let sums = series.num.iter_mut().zip(series.den.iter_mut()).skip(at);
        for ((num, den), ((&n, &d), &length)) in sums.zip(own) {
            if !n.is_finite() || !d.is_finite() {
                continue;
            }
            let first = num.is_nan();
            let sum = if first { n } else { *num + n };
            match metric.fold {
                _ if ratio => (*num, *den) = (sum, *den + d),
                Fold::Sum => (*num, *den) = (sum, length),
                Fold::Mean => (*num, *den) = (sum, *den + length),
                Fold::Max => (*num, *den) = (if first { n } else { num.max(n) }, length),
            }
        }
    }
}

#[cfg(test)]
mod tests;
