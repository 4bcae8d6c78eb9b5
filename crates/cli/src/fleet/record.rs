//! `twinscope fleet record` and `fleet fetch`: many hosts recorded together, and what they recorded brought here.

use super::way::{Connect, Hosts, Wished, stopped, told};
use anyhow::{Result, anyhow};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, CommandFactory};
use recorder::Usage;
use remote::{Book, Report, State, Step, What, Work};
use std::ffi::OsString;
use std::path::PathBuf;

/// Options of `record` that `fleet record` sets itself, or that make no sense on another host.
const OWN: [&str; 4] = ["output", "at", "detach", "command"];

/// Record many hosts together.
#[derive(Args, Debug)]
pub struct Recorded {
    #[command(flatten)]
    hosts: Hosts,

    #[command(flatten)]
    connect: Connect,

    /// Delete the recorders that are kept on hosts for later runs
    #[arg(long)]
    clean: bool,

    /// What is recorded. `-o` is the folder of recordings.
    #[command(flatten)]
    options: recorder::Record,
}

/// Fetch what hosts have recorded.
#[derive(Args, Debug)]
pub struct Fetch {
    /// The folder of `fleet record`
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    connect: Connect,

    /// End recorders that still run, and fetch what they have
    #[arg(long)]
    stop: bool,

    /// Delete the recorders that are kept on hosts for later runs
    #[arg(long)]
    clean: bool,
}

/// The words of options that were given, as a recorder reads them.
fn words(given: &ArgMatches) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let options = <recorder::Record as Args>::augment_args(clap::Command::new("record"));
    for option in options.get_arguments() {
        let name = option.get_id().as_str();
        if OWN.contains(&name) || !matches!(given.value_source(name), Some(ValueSource::CommandLine)) {
            continue;
        }
        let Some(long) = option.get_long() else { continue };
        if matches!(option.get_action(), ArgAction::SetTrue) {
            words.push(format!("--{long}"));
            continue;
        }
        for value in given.get_raw(name).into_iter().flatten() {
            let value = value.to_str().ok_or_else(|| Usage(format!("--{long}: is no text")))?;
            words.push(format!("--{long}={value}"));
        }
    }
    Ok(words)
}

/// What was given to the innermost command.
fn given() -> ArgMatches {
    let mut found = crate::Arguments::command().get_matches();
    while let Some((_, inner)) = found.remove_subcommand() {
        found = inner;
    }
    found
}

fn texts(words: &[OsString]) -> Result<Vec<String>> {
    let text =
        |word: &OsString| word.to_str().map(str::to_owned).ok_or_else(|| Usage("the command is no text".into()).into());
    words.iter().map(text).collect()
}

impl Recorded {
    /// What cannot be on many hosts.
    fn check(&self) -> Result<(), Usage> {
        let options = &self.options;
        let no = |what: &str| Err(Usage(what.into()));
        if options.output.is_none() {
            return no("name the folder of recordings with -o DIR/");
        }
        if options.jfr.is_some() {
            return no("--jfr: flight recordings are not fetched; record such a host with `twinscope record`");
        }
        if options.tty {
            return no("--tty: there is no terminal on those hosts");
        }
        if options.duration.is_none() && options.command.is_empty() && !(options.keep.is_some() && options.detach) {
            return no("how long? Give -d TIME, a command, or --keep TIME --detach for flight recorders");
        }
        Ok(())
    }
}

/// Records. Exit code 3 where hosts failed.
pub fn record(options: &Recorded) -> Result<u8> {
    options.check()?;
    let folder = options.options.output.clone().unwrap_or_default();
    let Wished { by, hosts } = options.hosts.wished(&options.connect, true)?;
    let (words, command) = (words(&given())?, texts(&options.options.command)?);
    let duration = options.options.duration.map(|time| time.as_nanos() as i64);
    let state = State {
        version: remote::VERSION,
        run: remote::new_run(),
        what: What::Record,
        by,
        options: words,
        command,
        duration,
        hosts,
    };
    let book = Book::open(&folder, || Some(state.clone())).map_err(|why| anyhow!(why))?;
    let known = book.state();
    if (&known.options, &known.command, &known.what) != (&state.options, &state.command, &state.what) {
        let why = format!("{}: holds recordings with other options; choose another folder", folder.display());
        return Err(Usage(why).into());
    }
    merge(&book, &state)?;
    let way = options.connect.way(&book, Some(&options.hosts), options.options.duration)?;
    let (stop, told) = (stopped(), told());
    let work = Work {
        way: &way,
        book: &book,
        at_once: options.connect.parallel.into(),
        limit: options.connect.limit,
        most: options.connect.size_limit,
        at: options.options.at,
        stop,
        told: &told,
    };
    let report = work.record(options.options.detach).map_err(|why| anyhow!(why))?;
    finish(&work, &report, options.clean)
}

/// The same command with more hosts has these too; where a pod is now may be another node than it was.
pub(super) fn merge(book: &Book, wished: &State) -> Result<()> {
    let merged = book.change(|known| {
        known.by = wished.by.clone();
        for host in &wished.hosts {
            match known.hosts.iter_mut().find(|old| old.host == host.host) {
                None => known.hosts.push(host.clone()),
                Some(old) if old.step != Step::Recording => {
                    (old.node, old.uid) = (host.node.clone(), host.uid.clone());
                    old.unfit.clone_from(&host.unfit);
                }
                Some(_) => {}
            }
        }
    });
    merged.map_err(|why| anyhow!(why))
}

/// Fetches. Exit code 3 where hosts failed.
pub fn fetch(options: &Fetch) -> Result<u8> {
    let book = Book::open(&options.folder, || None).map_err(|why| anyhow!(why))?;
    let way = options.connect.way(&book, None, None)?;
    let (stop, told) = (stopped(), told());
    if options.stop {
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    }
    let work = Work {
        way: &way,
        book: &book,
        at_once: options.connect.parallel.into(),
        limit: options.connect.limit,
        most: options.connect.size_limit,
        at: None,
        stop,
        told: &told,
    };
    let report = work.fetch().map_err(|why| anyhow!(why))?;
    if options.stop {
        stop.store(false, std::sync::atomic::Ordering::Relaxed);
    }
    finish(&work, &report, options.clean)
}

/// Says what became of it, and cleans up. Returns the exit code.
pub(super) fn finish(work: &Work<'_>, report: &Report, clean: bool) -> Result<u8> {
    let mut report = report.clone();
    if clean {
        report.failed.extend(work.clean());
    }
    super::way::say(work, &report);
    crate::stop::leave_signals();
    Ok(if report.failed.is_empty() && report.left.is_none() { 0 } else { 3 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(line: &[&str]) -> Vec<String> {
        let command = <Recorded as Args>::augment_args(clap::Command::new("record"));
        words(&command.try_get_matches_from(line).unwrap()).unwrap()
    }

    #[test]
    fn options_reach_the_recorder_as_they_were_given() {
        let line =
            ["record", "-o", "d", "--hosts", "a", "-d", "10s", "--only", "cpu,kernel", "--stacks", "--label", "a=b c"];
        assert_eq!(words_of(&line), ["--duration=10s", "--only=cpu", "--only=kernel", "--label=a=b c", "--stacks=99"]);
        assert_eq!(
            words_of(&["record", "-o", "d", "--hosts=a", "--at=+3s", "--detach", "--all", "-i50ms", "--", "x", "-d"]),
            ["--interval=50ms", "--all"]
        );
    }
}
