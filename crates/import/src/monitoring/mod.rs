//! What monitoring systems and text tools wrote, as recordings: one a host, with a table for each metric or each group of columns. Readers put what they find
//! into a [`Fleet`] (series of values with labels, or sheets of columns); here each host of it becomes a recording.

mod arrow;
mod csv;
mod declare;
mod fleet;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod json;
mod parquet;
mod preset;
mod prometheus;
mod read;
mod sar;
#[cfg(test)]
mod sar_tests;
mod series;
mod table;
#[cfg(test)]
mod table_tests;
#[cfg(test)]
mod tests;
mod time;
mod units;

pub use preset::Preset;
pub use read::read;
pub(crate) use sar::refused;

use crate::profile::Profile;
use crate::{Error, Format, Input};
use fleet::Fleet;
use regex_lite::Regex;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What is asked of files with many hosts and metrics.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The label, or column, whose values are the hosts; each becomes a recording. Without it `instance`, of tables also `host`, `hostname`, `node`.
    pub host: Option<String>,
    /// Metrics and columns that count up, beyond those whose names or types say so.
    pub counter: Option<Regex>,
    /// Of tables: the column of times.
    pub time: Option<String>,
    /// Of tables: columns that tell rows of one time apart.
    pub labels: Vec<String>,
    /// Of long tables: the column of the names of metrics.
    pub metric: Option<String>,
    /// Of long tables: the column of their values.
    pub value: Option<String>,
    /// Of tables: how they are laid out, by name or path of a file.
    pub preset: Option<String>,
    /// Of tables: what parts columns.
    pub separator: Option<u8>,
    /// Of tables without times: nanoseconds from row to row.
    pub every: i64,
    /// Of tables whose times have no date: the midnight before, Unix seconds.
    pub midnight: i64,
    /// Most bytes of a file, and that a compressed one may grow to.
    pub limit: files::foreign::Limit,
}

impl Default for Asked {
    fn default() -> Self {
        Asked {
            host: None,
            counter: None,
            time: None,
            labels: Vec::new(),
            metric: None,
            value: None,
            preset: None,
            separator: None,
            every: 1_000_000_000,
            midnight: 0,
            limit: crate::input::USUAL,
        }
    }
}

impl Asked {
    /// Whether something was asked that only tables have.
    fn is_table(&self) -> bool {
        self.time.is_some()
            || self.metric.is_some()
            || self.preset.is_some()
            || self.separator.is_some()
            || !self.labels.is_empty()
    }
}

/// Hosts that were read, each of which becomes a recording.
#[derive(Debug)]
pub struct Monitored {
    /// What the files are.
    pub format: Format,
    /// What must be known of all hosts.
    pub notes: Vec<String>,
    /// The name of a host, and its recording as far as it is not written.
    hosts: Vec<(String, Profile)>,
    /// The file that they came from.
    input: Input,
}

/// A recording that was written.
#[derive(Debug)]
pub struct Written {
    /// Where.
    pub path: PathBuf,
    /// Tables and rows.
    pub tables: usize,
    /// Rows of all of them.
    pub rows: usize,
    /// What must be known of it alone.
    pub notes: Vec<String>,
}

impl Monitored {
    pub(crate) fn new(format: Format, input: &Input, mut fleet: Fleet) -> Result<Self, Error> {
        series::to_sheets(&mut fleet);
        let notes = fleet.notes();
        let hosts = fleet.into_profiles(format);
        if hosts.is_empty() {
            let why = notes.first().map_or(String::new(), |note| format!(": {note}"));
            let why = format!("{} without a value that can be taken{why}", format.name());
            return Err(input.unreadable(why));
        }
        Ok(Monitored { format, notes, hosts, input: input.clone() })
    }

    /// The hosts, in the order of their names.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|(name, _)| name.as_str())
    }

    /// Writes the recording of the only host.
    ///
    /// # Errors
    /// Where the file is there and `replace` is not asked, and what the system says.
    pub fn write_one(self, output: &Path, replace: bool) -> Result<Vec<Written>, Error> {
        let outputs = vec![output.to_owned(); self.hosts.len().min(1)];
        self.write(&outputs, replace)
    }

    /// Writes a recording for each host into a folder, which is made where it is not there.
    ///
    /// # Errors
    /// As [`Monitored::write_one`]; recordings written before stay.
    pub fn write_all(self, folder: &Path, replace: bool) -> Result<Vec<Written>, Error> {
        files::make_folder(folder).map_err(|why| Error::Io { path: folder.to_owned(), why })?;
        let mut taken = HashSet::new();
        let outputs: Vec<PathBuf> = self.hosts().map(|host| folder.join(file_of(host, &mut taken))).collect();
        self.write(&outputs, replace)
    }

    /// Waiting for the disk takes most of the time: several are written at once.
    fn write(self, outputs: &[PathBuf], replace: bool) -> Result<Vec<Written>, Error> {
        let (format, input) = (self.format, self.input);
        let mut work: Vec<(Profile, &PathBuf)> =
            self.hosts.into_iter().map(|(_, profile)| profile).zip(outputs).collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 16) * 2;
        let share = work.len().div_ceil(threads).max(1);
        let results: Vec<Result<Vec<Written>, Error>> = std::thread::scope(|scope| {
            let running: Vec<_> = work
                .chunks_mut(share)
                .map(|part| {
                    let input = &input;
                    scope.spawn(move || {
                        part.iter_mut()
                            .map(|(profile, output)| {
                                let profile = std::mem::take(profile);
                                one(profile, format, input, output, replace)
                            })
                            .collect::<Result<Vec<Written>, Error>>()
                    })
                })
                .collect();
            running
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        Ok(results.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

fn one(mut profile: Profile, format: Format, input: &Input, output: &Path, replace: bool) -> Result<Written, Error> {
    profile.write(format, input, output, replace)?;
    let events = profile.events();
    Ok(Written {
        path: output.to_owned(),
        tables: events.len(),
        rows: events.iter().map(|(_, rows)| rows).sum(),
        notes: profile.notes(),
    })
}

/// The name of a host's file: names of hosts are foreign, and could climb out of the folder, hide, or be the same in another case.
fn file_of(host: &str, taken: &mut HashSet<String>) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = host.chars().take(100).map(plain).collect();
    let name = name.trim_start_matches('.');
    let name = if name.is_empty() { "host" } else { name };
    let mut own = name.to_owned();
    for number in 2.. {
        if taken.insert(own.to_lowercase()) {
            break;
        }
        own = format!("{name}-{number}");
    }
    own + ".twin"
}

#[cfg(test)]
mod names {
    use super::*;

    #[test]
    fn names_of_hosts_stay_in_the_folder() {
        let mut taken = HashSet::new();
        let mut name = |host: &str| file_of(host, &mut taken);
        assert_eq!(name("10.0.0.1:9100"), "10.0.0.1_9100.twin");
        assert_eq!(name("10.0.0.1/9100"), "10.0.0.1_9100-2.twin");
        assert_eq!(name("../../etc/passwd"), "_.._etc_passwd.twin");
        assert_eq!(name(""), "host.twin");
        assert_eq!(name(".."), "host-2.twin");
        assert_eq!(name("A"), "A.twin");
        assert_eq!(name("a"), "a-2.twin");
    }
}
