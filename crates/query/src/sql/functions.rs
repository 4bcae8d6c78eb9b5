//! Functions that SQLite does not have: robust statistics, intervals that know that samples depend on each other, numbers for people.

use crate::stats::Series;
use crate::stats::bootstrap::{Bootstrap, Interval};
use crate::stats::quantile::quantile;
use model::human;
use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

/// A function, documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// How it is called.
    pub call: &'static str,
    /// One line: what it gives.
    pub help: &'static str,
}

const fn function(name: &'static str, call: &'static str, help: &'static str) -> Function {
    Function { name, call, help }
}

/// The functions that come on top of SQLite's.
pub const FUNCTIONS: &[Function] = &[
    function(
        "mean",
        "mean(x, weight)",
        "aggregate: mean of x weighted by weight; of a rate weighted by seconds it is the rate over all the time, which avg is not where intervals differ in length",
    ),
    function("median", "median(x)", "aggregate: the middle value; null values are left out, here and in the others"),
    function(
        "quantile",
        "quantile(x, p)",
        "aggregate: the value below which a share p of the values lie, between 0 and 1 (Hyndman and Fan's type 7)",
    ),
    function("stddev", "stddev(x)", "aggregate: standard deviation of the sample; null for fewer than two values"),
    function(
        "mad",
        "mad(x)",
        "aggregate: median absolute deviation from the median; times 1.4826 it estimates the standard deviation",
    ),
    function(
        "bootstrap_low",
        "bootstrap_low(x order by t)",
        "aggregate: lower end of the 95 % interval of the mean, by block bootstrap: the order of the values matters, for neighbours depend on each other; null for too few values",
    ),
    function("bootstrap_high", "bootstrap_high(x order by t)", "aggregate: upper end of that interval"),
    function(
        "overlap",
        "overlap(from, to, start, end)",
        "the part of the time between from and to that lies between start and end, 0 to 1; of a moment, from equal to to, 1 or 0",
    ),
    function("human", "human(x, unit)", "the number with a prefix for people: human(3e6, 'B/s') is '2.86 MiB/s'"),
];

#[derive(Clone, Copy)]
enum Statistic {
    Quantile,
    Median,
    Deviation,
    Mad,
    Low,
    High,
}

/// The values so far, and the second argument.
type Values = (Vec<f64>, f64);

struct Sample {
    name: &'static str,
    statistic: Statistic,
}

fn number(ctx: &Context<'_>, argument: usize, name: &str) -> Result<Option<f64>> {
    match ctx.get_raw(argument) {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(value) => Ok(Some(value as f64)),
        ValueRef::Real(value) => Ok(Some(value)),
        _ => Err(Error::UserFunctionError(format!("{name}() takes numbers").into())),
    }
}

fn even(values: &[f64], p: f64) -> Option<f64> {
    quantile(values, &vec![1.0; values.len()], p)
}

fn interval(values: &[f64]) -> Option<Interval> {
    Bootstrap::default().one(&Series::even(values)).map(|i| i.studentised)
}

impl Aggregate<Values, Option<f64>> for Sample {
    fn init(&self, _: &mut Context<'_>) -> Result<Values> {
        Ok((Vec::new(), 0.5))
    }

    fn step(&self, ctx: &mut Context<'_>, (values, p): &mut Values) -> Result<()> {
        if let Statistic::Quantile = self.statistic {
            *p = match number(ctx, 1, self.name)? {
                Some(p) if (0.0..=1.0).contains(&p) => p,
                _ => {
                    let why = "quantile(x, p) takes a p between 0 and 1, such as 0.99";
                    return Err(Error::UserFunctionError(why.into()));
                }
            };
        }
        values.extend(number(ctx, 0, self.name)?);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, values: Option<Values>) -> Result<Option<f64>> {
        let (values, p) = values.unwrap_or_default();
        Ok(match self.statistic {
            Statistic::Quantile | Statistic::Median => even(&values, p),
            Statistic::Deviation => {
                let n = values.len() as f64;
                let mean = values.iter().sum::<f64>() / n;
                let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
                (n >= 2.0).then(|| (squares / (n - 1.0)).sqrt())
            }
            Statistic::Mad => even(&values, 0.5).and_then(|middle| {
                let away: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
                even(&away, 0.5)
            }),
            Statistic::Low => interval(&values).map(|i| i.low),
            Statistic::High => interval(&values).map(|i| i.high),
        })
    }
}

/// Sums of x·weight and of weight.
struct Mean;

impl Aggregate<(f64, f64), Option<f64>> for Mean {
    fn init(&self, _: &mut Context<'_>) -> Result<(f64, f64)> {
        Ok((0.0, 0.0))
    }

    fn step(&self, ctx: &mut Context<'_>, (sum, weights): &mut (f64, f64)) -> Result<()> {
        if let (Some(x), Some(weight)) = (number(ctx, 0, "mean")?, number(ctx, 1, "mean")?) {
            *sum += x * weight;
            *weights += weight;
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sums: Option<(f64, f64)>) -> Result<Option<f64>> {
        Ok(sums.filter(|&(_, weights)| weights != 0.0).map(|(sum, weights)| sum / weights))
    }
}

/// Adds the functions to a connection.
pub(crate) fn register(db: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, arguments, statistic) in [
        ("median", 1, Statistic::Median),
        ("quantile", 2, Statistic::Quantile),
        ("stddev", 1, Statistic::Deviation),
        ("mad", 1, Statistic::Mad),
        ("bootstrap_low", 1, Statistic::Low),
        ("bootstrap_high", 1, Statistic::High),
    ] {
        db.create_aggregate_function(name, arguments, flags, Sample { name, statistic })?;
    }
    db.create_aggregate_function("mean", 2, flags, Mean)?;
    db.create_scalar_function("overlap", 4, flags, |ctx| {
        let mut of = [0i64; 4];
        for (argument, value) in of.iter_mut().enumerate() {
            match number(ctx, argument, "overlap")? {
                // A double may lie beyond all integers: the cast saturates.
                Some(number) => *value = number as i64,
                None => return Ok(None),
            }
        }
        let [from, to, start, end] = of;
        Ok(Some(model::Window { from: start, to: end, why: String::new() }.part(from, to)))
    })?;
    db.create_scalar_function("human", 2, flags, |ctx| {
        let unit = match ctx.get_raw(1) {
            ValueRef::Text(unit) => String::from_utf8_lossy(unit).into_owned(),
            _ => String::new(),
        };
        Ok(number(ctx, 0, "human")?.map(|value| human(value, &unit)))
    })
}
