//! Functions that SQLite does not have: robust statistics, intervals that know that samples depend on each other, numbers for people, and the
//! roles of code.

use crate::profile::unresolved;
use crate::stats::Series;
use crate::stats::bootstrap::{Bootstrap, Interval};
use crate::stats::distinct::{at_least, holding, rarefied};
use crate::stats::histogram::{self, Counted};
use crate::stats::poisson;
use crate::stats::quantile::quantile;
use lexicon::{Nearness, Role, call, nearness, roles};
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
    function(
        "quantile_of",
        "quantile_of(low, high, count, p)",
        "aggregate: the value below which a share p of the values lie, of values that were counted in ranges from low to high, as in turn_time; within a range they are taken to lie evenly",
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
        "rarefied",
        "rarefied(count, n)",
        "aggregate: how many different ones a random part of n would have found, of things that were met count times each; null for fewer than n in all. Unlike the number that was found it can be compared between samples of different size",
    ),
    function(
        "at_least",
        "at_least(count)",
        "aggregate: how many different ones there are at least, with those that were not met (Chao's estimate), of things that were met count times each",
    ),
    function(
        "holding",
        "holding(count, share)",
        "aggregate: how many of them, those met most often first, hold a share of all, between 0 and 1",
    ),
    function(
        "poisson_factor",
        "poisson_factor(n, …)",
        "the factor by which a product or quotient of counts n may be off either way: with x = a / b, the 95 % interval is x / poisson_factor(a, b) to x * poisson_factor(a, b); of counts of things that happen independently of each other, such as samples (limits of Wald on the logarithm); null where one is 0 or null",
    ),
    function(
        "overlap",
        "overlap(from, to, start, end)",
        "the part of the time between from and to that lies between start and end, 0 to 1; of a moment, from equal to to, 1 or 0",
    ),
    function(
        "ramp",
        "ramp(x, low, high)",
        "how far x has come from low to high: 0 up to low, 1 from high on, in between in proportion; 0 for null",
    ),
    function(
        "grown",
        "grown(slow, against, low, high)",
        "how far the ratio of slow to against has come from low to high, see ramp; 1 where only slow has any",
    ),
    function(
        "call_group",
        "call_group(call)",
        "what a system call is for: map, process, sync, write, read, send, receive, poll, clock or file; null for others",
    ),
    function("call_name", "call_name(call)", "a system call by one name: pread64 is pread"),
    function("human", "human(x, unit)", "the number with a prefix for people: human(3e6, 'B/s') is '2.86 MiB/s'"),
    function(
        "roles",
        "roles(function, module, kind)",
        "the roles of a function, as ';lock.take;lock.wait;', empty where none is known: see the lists of the lexicon in docs/explain.md",
    ),
    function(
        "has_role",
        "has_role(roles, role, …)",
        "1 where one of these roles is among them, else 0: has_role(roles, 'gc.work', 'gc.ask'); an error for a role that does not exist",
    ),
    function(
        "nearness",
        "nearness(function, module, kind)",
        "how near a function is to the program that waits: 0 its own code, 1 the run-time system or standard library of its language; null for libraries of the system, parts of locks and queues, and the kernel",
    ),
    function(
        "function_name",
        "function_name(function, module)",
        "what a frame is called: its function, or its module in brackets where the function is not known",
    ),
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

/// The quantile of values that were counted in ranges.
struct QuantileOf;

impl Aggregate<(Vec<Counted>, f64), Option<f64>> for QuantileOf {
    fn init(&self, _: &mut Context<'_>) -> Result<(Vec<Counted>, f64)> {
        Ok((Vec::new(), 0.5))
    }

    fn step(&self, ctx: &mut Context<'_>, (counted, p): &mut (Vec<Counted>, f64)) -> Result<()> {
        let number = |argument| number(ctx, argument, "quantile_of");
        *p = match number(3)? {
            Some(p) if (0.0..=1.0).contains(&p) => p,
            _ => {
                let why = "quantile_of(low, high, count, p) takes a p between 0 and 1, such as 0.99";
                return Err(Error::UserFunctionError(why.into()));
            }
        };
        if let (Some(low), Some(high), Some(count)) = (number(0)?, number(1)?, number(2)?)
            && count > 0.0
        {
            // Rows of one range, which come read by read, often follow each other.
            match counted.last_mut() {
                Some(last) if last.0 == low && last.1 == high => last.2 += count,
                _ => counted.push((low, high, count)),
            }
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, state: Option<(Vec<Counted>, f64)>) -> Result<Option<f64>> {
        let (counted, p) = state.unwrap_or_default();
        Ok(histogram::quantile(&histogram::merged(counted), p))
    }
}

/// What is told of how often things were met.
#[derive(Clone, Copy)]
enum Met {
    Rarefied,
    AtLeast,
    Holding,
}

/// Counts, and the second argument.
struct Distinct(Met);

impl Aggregate<(Vec<u64>, f64), Option<f64>> for Distinct {
    fn init(&self, _: &mut Context<'_>) -> Result<(Vec<u64>, f64)> {
        Ok((Vec::new(), f64::NAN))
    }

    fn step(&self, ctx: &mut Context<'_>, (counts, second): &mut (Vec<u64>, f64)) -> Result<()> {
        let (name, what) = match self.0 {
            Met::Rarefied => ("rarefied", "rarefied(count, n) takes an n of at least 1"),
            Met::AtLeast => ("at_least", ""),
            Met::Holding => ("holding", "holding(count, share) takes a share between 0 and 1, such as 0.9"),
        };
        *second = match self.0 {
            Met::AtLeast => f64::NAN,
            // How many to draw may not be known where nothing was counted.
            Met::Rarefied => match number(ctx, 1, name)? {
                Some(n) if n < 1.0 => return Err(Error::UserFunctionError(what.into())),
                n => n.unwrap_or(f64::NAN),
            },
            Met::Holding => match number(ctx, 1, name)? {
                Some(share) if (0.0..=1.0).contains(&share) => share,
                _ => return Err(Error::UserFunctionError(what.into())),
            },
        };
        counts.extend(number(ctx, 0, name)?.filter(|count| *count > 0.0).map(|count| count as u64));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, state: Option<(Vec<u64>, f64)>) -> Result<Option<f64>> {
        let (counts, second) = state.unwrap_or_default();
        Ok(match self.0 {
            _ if counts.is_empty() => None,
            Met::Rarefied if second.is_nan() => None,
            Met::Rarefied => rarefied(&counts, second as u64),
            Met::AtLeast => Some(at_least(&counts)),
            Met::Holding => Some(holding(&counts, second) as f64),
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

/// Two numbers from an argument on, the second above the first: where a ramp begins and ends.
fn bounds(ctx: &Context<'_>, first: usize, name: &str) -> Result<[f64; 2]> {
    match (number(ctx, first, name)?, number(ctx, first + 1, name)?) {
        (Some(low), Some(high)) if low < high => Ok([low, high]),
        _ => Err(Error::UserFunctionError(format!("{name}(): low must be less than high").into())),
    }
}

/// How far `x` has come from the first to the second, 0 to 1.
fn ramp(x: f64, [low, high]: [f64; 2]) -> f64 {
    ((x - low) / (high - low)).clamp(0.0, 1.0)
}

/// A text; nothing for null.
fn text<'c>(ctx: &'c Context<'_>, argument: usize) -> Result<&'c str> {
    match ctx.get_raw(argument) {
        ValueRef::Null => Ok(""),
        ValueRef::Text(bytes) => Ok(std::str::from_utf8(bytes).unwrap_or_default()),
        _ => Err(Error::UserFunctionError("functions, modules, kinds and roles are texts".into())),
    }
}

/// Whether one of the roles that are named from the second argument on is among those of the first.
fn has_role(ctx: &mut Context<'_>) -> Result<bool> {
    if ctx.len() < 2 {
        return Err(Error::UserFunctionError(
            "has_role(roles, role, …) takes roles and at least one role to look for".into(),
        ));
    }
    let roles = text(ctx, 0)?;
    let mut found = false;
    for argument in 1..ctx.len() {
        let name = text(ctx, argument)?;
        // A role that does not exist would never be found, and nobody would know why.
        if Role::parse(name).is_none() {
            let known: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
            let why = format!("there is no role '{name}'; there are {}", known.join(", "));
            return Err(Error::UserFunctionError(why.into()));
        }
        found |= roles.split(';').any(|role| role == name);
    }
    Ok(found)
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
    db.create_aggregate_function("quantile_of", 4, flags, QuantileOf)?;
    db.create_aggregate_function("rarefied", 2, flags, Distinct(Met::Rarefied))?;
    db.create_aggregate_function("at_least", 1, flags, Distinct(Met::AtLeast))?;
    db.create_aggregate_function("holding", 2, flags, Distinct(Met::Holding))?;
    db.create_scalar_function("poisson_factor", -1, flags, |ctx| {
        let counts = (0..ctx.len()).map(|argument| number(ctx, argument, "poisson_factor"));
        let counts = counts.map(|count| Ok(count?.unwrap_or(0.0))).collect::<Result<Vec<f64>>>()?;
        Ok(poisson::factor(&counts))
    })?;
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
    db.create_scalar_function("ramp", 3, flags, |ctx| {
        let x = number(ctx, 0, "ramp")?;
        let bounds = bounds(ctx, 1, "ramp")?;
        Ok(x.map_or(0.0, |x| ramp(x, bounds)))
    })?;
    db.create_scalar_function("grown", 4, flags, |ctx| {
        let of = [number(ctx, 0, "grown")?.unwrap_or(0.0), number(ctx, 1, "grown")?.unwrap_or(0.0)];
        let bounds = bounds(ctx, 2, "grown")?;
        Ok(match of {
            [slow, _] if slow <= 0.0 => 0.0,
            [_, against] if against <= 0.0 => 1.0,
            [slow, against] => ramp(slow / against, bounds),
        })
    })?;
    db.create_scalar_function("human", 2, flags, |ctx| {
        let unit = match ctx.get_raw(1) {
            ValueRef::Text(unit) => String::from_utf8_lossy(unit).into_owned(),
            _ => String::new(),
        };
        Ok(number(ctx, 0, "human")?.map(|value| human(value, &unit)))
    })?;
    db.create_scalar_function("roles", 3, flags, |ctx| {
        Ok(roles(text(ctx, 0)?, text(ctx, 1)?, text(ctx, 2)?).to_string())
    })?;
    db.create_scalar_function("call_group", 1, flags, |ctx| Ok(call::group(text(ctx, 0)?)))?;
    db.create_scalar_function("call_name", 1, flags, |ctx| {
        Ok(Some(text(ctx, 0)?).filter(|call| !call.is_empty()).map(|name| call::plain(name).to_owned()))
    })?;
    db.create_scalar_function("has_role", -1, flags, has_role)?;
    db.create_scalar_function("nearness", 3, flags, |ctx| {
        let kind = text(ctx, 2)?;
        Ok(match nearness(roles(text(ctx, 0)?, text(ctx, 1)?, kind), kind) {
            Nearness::Own => Some(0),
            Nearness::Language => Some(1),
            Nearness::Machinery | Nearness::Kernel => None,
        })
    })?;
    db.create_scalar_function("function_name", 2, flags, |ctx| {
        let function = text(ctx, 0)?;
        Ok(if function.is_empty() { unresolved(text(ctx, 1)?) } else { function.to_owned() })
    })
}
