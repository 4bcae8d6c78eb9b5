//! The metrics of a recording: the list that `compare` walks, each with its statistics by itself.

use super::blocks::statistics;
use super::{Error, Rows, Subject, labels};
use crate::folder::Cell;
use compare::measured::{self, Cut};
use compare::{NotCompared, Per};
use model::Polarity;
use query::Metric;
use query::stats::Comparer;

/// What a value is divided by, as the folder writes it.
pub fn per_word(per: Per) -> &'static str {
    match per {
        Per::Second => "second",
        Per::Operation => "operation",
    }
}

/// Adds them; what could not be reduced comes back.
pub fn reduce(subject: &Subject<'_>, comparer: &mut Comparer, rows: &mut Rows) -> Result<Vec<NotCompared>, Error> {
    let (runs, windows) = (std::slice::from_ref(subject.run), std::slice::from_ref(&subject.window));
    let left_out = measured::walk(runs, windows, |of| {
        let name = of.metric.full_name();
        declare(&Declaration::of(of.metric), rows);
        for group in &of.groups {
            let Some(cut) = of.cut(0, group, &subject.window) else { continue };
            let labels = labels(of.by, group);
            subject.row((&name, &labels, Per::Second), &cut, comparer, rows);
            if let Some(work) = subject.progress.as_ref().filter(|_| of.is_per_operation(group, &subject.owned)) {
                subject.row((&name, &labels, Per::Operation), &cut.per_operation(work), comparer, rows);
            }
        }
        Ok(())
    })?;
    Ok(left_out)
}

impl Subject<'_> {
    /// Adds the row of a metric, told by name, labels, and what it is per. One that was never measured has none.
    pub fn row(&self, (name, labels, per): (&str, &str, Per), cut: &Cut, comparer: &mut Comparer, rows: &mut Rows) {
        let Some(statistics) = statistics(cut, &self.window, comparer) else { return };
        let mut row: Vec<Cell> =
            vec![name.into(), labels.into(), per_word(per).into(), self.host.clone(), self.id.clone()];
        row.extend(statistics);
        rows.metric.push(&row);
    }
}

/// What is known of a metric.
pub struct Declaration<'a> {
    pub name: String,
    pub unit: &'a str,
    pub per_operation: Option<&'a str>,
    pub polarity: Polarity,
    pub is_rate: bool,
    pub floor: f64,
    pub help: &'a str,
}

impl<'a> Declaration<'a> {
    fn of(metric: &'a Metric) -> Self {
        Declaration {
            name: metric.full_name(),
            unit: metric.unit,
            per_operation: metric.per_operation,
            polarity: metric.polarity,
            is_rate: metric.is_rate(),
            floor: measured::floor(metric),
            help: metric.help,
        }
    }
}

/// Adds what is known of a metric, once.
pub fn declare(of: &Declaration<'_>, rows: &mut Rows) {
    if !rows.known.insert(of.name.clone()) {
        return;
    }
    let better = match of.polarity {
        Polarity::Better => Some("more"),
        Polarity::Worse => Some("less"),
        Polarity::Neutral => None,
    };
    rows.declared.push(&[
        Cell::from(&*of.name),
        of.unit.into(),
        of.per_operation.into(),
        better.into(),
        i64::from(of.is_rate).into(),
        of.floor.into(),
        of.help.into(),
    ]);
}
