//! What the load generators and benchmark runners of others print, as numbers: one small reader for each.
//!
//! Text in, numbers out: nothing here starts a program or reads a file. The text may be all that a trial printed: what stands
//! before and after the report, colours and bars of progress do not matter. Of several reports the last is taken; where it was
//! cut off that is an error, and the one before it is not taken in its place. Numbers are those of the tool, none is
//! interpolated, and what they count is what the tool counts:
//!
//! | tool | `rate` | `done` | `errors` |
//! |---|---|---|---|
//! | wrk, wrk2 | answers | answers | statuses of 400 and above, errors of sockets, time-outs |
//! | oha | answers and errors | answers | statuses of 400 and above, errors; not what the deadline cut off |
//! | h2load | requests that ended | requests that ended | failed ones: by status, by socket, by time-out |
//! | hey | answers and errors | answers | statuses of 400 and above, errors |
//! | vegeta | successes (its "throughput") | requests | what is not a success: no answer, or a status of 400 and above |
//! | k6 | requests | requests | failed requests; iterations stand for requests in a script that makes none |
//! | pgbench | transactions | transactions | failed ones, and those skipped for being late |
//! | hyperfine | | runs | runs with an exit code that is not 0 (JSON only) |
//! | sysbench | events | events | ignored errors (databases only) |
//! | fio | reads, writes and trims | reads, writes and trims | |
//! | redis-benchmark | requests | requests (its text only) | |
//! | jmh | `thrpt` | | |
//! | load | successes | successes | all kinds |
//!
//! `error_share` is `errors` by all that was tried. Times of nothing (no request was done) are left out.

mod fio;
mod h2load;
mod hey;
mod hyperfine;
mod jmh;
mod k6;
mod load;
mod oha;
mod pgbench;
mod redis_benchmark;
mod sysbench;
mod text;
mod vegeta;
mod wrk;

/// A tool whose output can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// wrk 4, with or without `--latency`.
    Wrk,
    /// wrk2, with or without `--latency`.
    Wrk2,
    /// oha, its text or its JSON.
    Oha,
    /// h2load of nghttp2.
    H2load,
    /// hey.
    Hey,
    /// `vegeta report`, its text or its JSON.
    Vegeta,
    /// k6: the summary at the end of a test, or the JSON of `--summary-export`.
    K6,
    /// pgbench of PostgreSQL.
    Pgbench,
    /// sysbench, of any test.
    Sysbench,
    /// fio, its text or its JSON.
    Fio,
    /// redis-benchmark of one test: its text, or that of `-q` or `--csv`.
    RedisBenchmark,
    /// hyperfine of one command: the JSON of `--export-json`, or its text.
    Hyperfine,
    /// The JSON of JMH (`-rf json`) with one benchmark.
    Jmh,
    /// `twinscope load`, its text or its JSON.
    Load,
}

impl Format {
    /// The names of all formats, as they are given.
    pub const NAMES: [&'static str; 14] = [
        "wrk",
        "wrk2",
        "oha",
        "h2load",
        "hey",
        "vegeta",
        "k6",
        "pgbench",
        "sysbench",
        "fio",
        "redis-benchmark",
        "hyperfine",
        "jmh",
        "load",
    ];

    /// All formats, in the order of their names.
    pub const ALL: [Self; 14] = [
        Self::Wrk,
        Self::Wrk2,
        Self::Oha,
        Self::H2load,
        Self::Hey,
        Self::Vegeta,
        Self::K6,
        Self::Pgbench,
        Self::Sysbench,
        Self::Fio,
        Self::RedisBenchmark,
        Self::Hyperfine,
        Self::Jmh,
        Self::Load,
    ];

    /// The format of that name.
    pub fn parse(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|known| *known == name)?;
        Self::ALL.get(at).copied()
    }

    /// What one of those is called that it counts, plural.
    pub fn counts(self) -> &'static str {
        match self {
            Self::Pgbench => "transactions",
            Self::Sysbench => "events",
            Self::Hyperfine => "runs",
            Self::Fio | Self::Jmh => "operations",
            _ => "requests",
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// What a report tells. None of it is negative or infinite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Requests, transactions or operations per second.
    pub rate: Option<f64>,
    /// The mean time of one, in seconds.
    pub mean: Option<f64>,
    /// Shares and the time within which so many were done, in seconds, by rising share: (0.99, 0.0015).
    pub quantiles: Vec<(f64, f64)>,
    /// The shortest time, in seconds.
    pub min: Option<f64>,
    /// The longest, in seconds.
    pub max: Option<f64>,
    /// How many failed.
    pub errors: Option<f64>,
    /// How many failed of all that were tried.
    pub error_share: Option<f64>,
    /// How many were done.
    pub done: Option<f64>,
}

impl Numbers {
    /// The number of that name and its unit (`/s`, `s` or none): `rate`, `mean`, `min`, `max`, `errors`, `error_share`, `done`, or
    /// a percentile such as `p50` and `p99.9`. None where the report does not tell it.
    pub fn value(&self, name: &str) -> Option<(f64, &'static str)> {
        let (value, unit) = match name {
            "rate" => (self.rate, "/s"),
            "mean" => (self.mean, "s"),
            "min" => (self.min, "s"),
            "max" => (self.max, "s"),
            "errors" => (self.errors, ""),
            "error_share" => (self.error_share, ""),
            "done" => (self.done, ""),
            _ => {
                let share = text::number(name.strip_prefix('p')?)? / 100.0;
                (self.quantiles.iter().find(|(at, _)| (at - share).abs() < SAME_SHARE).map(|(_, time)| *time), "s")
            }
        };
        value.map(|value| (value, unit))
    }

    /// How many were done in `seconds`: as counted, else by the rate, else by the mean time of one; `None` where the report tells
    /// none of these.
    pub fn done_in(&self, seconds: f64) -> Option<f64> {
        let by_rate = || self.rate.map(|rate| rate * seconds);
        let by_mean = || self.mean.filter(|mean| *mean > 0.0).map(|mean| seconds / mean);
        self.done.or_else(by_rate).or_else(by_mean)
    }

    /// The names of what the report tells, for a message. Of percentiles those that people ask for: wrk2 tells some 60 more, such
    /// as p98.4375, which [`Numbers::value`] knows too.
    pub fn names(&self) -> Vec<String> {
        let plain = ["rate", "mean", "min", "max", "errors", "error_share", "done"];
        let plain = plain.into_iter().filter(|name| self.value(name).is_some()).map(str::to_owned);
        plain.chain(self.quantiles.iter().map(|(share, _)| percentile(*share)).filter(|name| usual(name))).collect()
    }

    fn set_quantile(&mut self, share: f64, time: Option<f64>) {
        let Some(time) = time.filter(|_| (0.0..=1.0).contains(&share)) else { return };
        let full = self.quantiles.len() >= MOST_QUANTILES;
        match self.quantiles.iter_mut().find(|(at, _)| (*at - share).abs() < SAME_SHARE) {
            // What comes later is more exact.
            Some(known) => known.1 = time,
            None if full => {}
            None => self.quantiles.push((share, time)),
        }
    }

    /// Errors, and what share they are of `tried`.
    fn set_errors(&mut self, errors: f64, tried: f64) {
        self.errors = Some(errors);
        self.error_share = (tried > 0.0).then(|| (errors / tried).min(1.0));
    }

    fn sound(mut self) -> Self {
        let sound = |value: &f64| (0.0..=text::LARGEST).contains(value);
        for value in [
            &mut self.rate,
            &mut self.mean,
            &mut self.min,
            &mut self.max,
            &mut self.errors,
            &mut self.error_share,
            &mut self.done,
        ] {
            *value = value.filter(sound);
        }
        self.quantiles.retain(|(share, time)| sound(share) && sound(time));
        self.quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        if self.done == Some(0.0) {
            (self.mean, self.min, self.max) = (None, None, None);
            self.quantiles.clear();
        }
        self
    }
}

/// Shares that are closer than this are the same: far below the last digit that any tool prints.
const SAME_SHARE: f64 = 1e-9;

/// wrk2 tells about a hundred.
const MOST_QUANTILES: usize = 1000;

/// The name of a share: "p99.9".
fn percentile(share: f64) -> String {
    let digits = format!("{:.7}", share * 100.0);
    format!("p{}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Whether people ask for it: two digits after the point, or nothing but nines.
fn usual(name: &str) -> bool {
    let after = name.split_once('.').map_or("", |(_, after)| after);
    after.len() <= 2 || (name.starts_with("p99.") && after.bytes().all(|digit| digit == b'9'))
}

/// The numbers of the last report in what a tool printed.
///
/// # Errors
///
/// Where there is no report, or it lacks what such a report always has: what was looked for, and what is missing.
pub fn read(format: Format, output: &str) -> Result<Numbers, String> {
    let output = text::plain(output);
    let read = match format {
        Format::Wrk => wrk::read,
        Format::Wrk2 => wrk::read2,
        Format::Oha => oha::read,
        Format::H2load => h2load::read,
        Format::Hey => hey::read,
        Format::Vegeta => vegeta::read,
        Format::K6 => k6::read,
        Format::Pgbench => pgbench::read,
        Format::Sysbench => sysbench::read,
        Format::Fio => fio::read,
        Format::RedisBenchmark => redis_benchmark::read,
        Format::Hyperfine => hyperfine::read,
        Format::Jmh => jmh::read,
        Format::Load => load::read,
    };
    read(&output).map(Numbers::sound).map_err(|what| format!("{}: {what}", format.name()))
}

#[cfg(test)]
mod tests;
