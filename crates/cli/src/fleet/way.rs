//! What the commands of `fleet` that reach hosts have in common: which hosts, by what way, how progress and failures are said.

use crate::stop;
use crate::text::{clean, cut, table, trimmed};
use anyhow::{Result, anyhow};
use clap::Args;
use recorder::Usage;
use remote::{Book, By, Recorders, Report, Ssh, SshOptions, Way, Work};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Connections of recordings up to this length rest meanwhile; those of longer ones are made anew.
const SHORT: Duration = Duration::from_secs(120);

/// Which hosts.
#[derive(Args, Clone, Debug)]
pub struct Hosts {
    /// Hosts by ssh: names separated by commas, @FILE for a file with one a line; may be given several times
    #[arg(long, value_name = "HOSTS")]
    hosts: Vec<String>,
}

/// By what way, and how patiently.
#[derive(Args, Clone, Debug)]
pub struct Connect {
    /// The ssh program with its first words, such as 'ssh -F config' or 'tsh ssh'. Default: ssh, or what it was before
    #[arg(long, value_name = "COMMAND")]
    ssh: Option<String>,

    /// Do not become root by sudo: record what the user may see
    #[arg(long)]
    no_sudo: bool,

    /// The recorder to send, or a folder of such. Default: twinscope-recorder-MACHINE beside this program
    #[arg(long, value_name = "PATH")]
    recorder: Option<PathBuf>,

    /// So many hosts at once
    #[arg(short = 'P', long, value_name = "NUMBER", default_value_t = 32,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) parallel: u16,

    /// How long a step of a host may take, tries that fail included
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = recorder::duration)]
    pub(super) limit: Duration,
}

/// What was asked for.
pub(super) struct Wished {
    pub(super) by: By,
    pub(super) names: Vec<String>,
}

impl Hosts {
    /// The hosts that are named.
    pub(super) fn wished(&self, connect: &Connect) -> Result<Wished> {
        let mut names = Vec::new();
        for word in &self.hosts {
            names.extend(remote::host_names(word).map_err(|why| Usage(format!("--hosts: {why}")))?);
        }
        if names.is_empty() {
            return Err(Usage("which hosts? Name them with --hosts a,b,@file".into()).into());
        }
        Ok(Wished { by: By::Ssh(connect.ssh_words()?.unwrap_or_else(|| vec!["ssh".into()])), names })
    }
}

impl Connect {
    fn ssh_words(&self) -> Result<Option<Vec<String>>> {
        let split = |text: &String| recorder::then(text).map(|then| then.into_words());
        let words = self.ssh.as_ref().map(split).transpose();
        words.map_err(|why| Usage(format!("--ssh: {why}")).into())
    }

    /// The way to the hosts of a book.
    pub(super) fn way(&self, book: &Book, _hosts: &Hosts, duration: Option<Duration>) -> Result<Way> {
        let program = std::env::current_exe()?;
        let state = book.state();
        match &state.by {
            By::Ssh(words) => {
                let recorders = Recorders::find(self.recorder.as_deref(), &program).map_err(|why| anyhow!(why))?;
                let words = self.ssh_words()?.unwrap_or_else(|| words.clone());
                let rest = duration.filter(|time| *time <= SHORT).unwrap_or_default() + self.limit;
                let options = SshOptions { words, no_sudo: self.no_sudo, rest, limit: self.limit };
                Ok(Way::Ssh(Ssh::new(options, recorders, &state.run).map_err(|why| anyhow!(why))?))
            }
            By::Kubectl(..) => Err(anyhow!("kubectl")),
        }
    }

    /// The way to the hosts of a book, of which no recorder is sent any more.
    pub(super) fn way_again(&self, book: &Book) -> Result<Way> {
        let state = book.state();
        match &state.by {
            By::Ssh(words) => {
                let words = self.ssh_words()?.unwrap_or_else(|| words.clone());
                let options = SshOptions { words, no_sudo: self.no_sudo, rest: self.limit, limit: self.limit };
                Ok(Way::Ssh(Ssh::new(options, Recorders::default(), &state.run).map_err(|why| anyhow!(why))?))
            }
            By::Kubectl(..) => Err(anyhow!("kubectl")),
        }
    }
}

/// From here on Ctrl-C ends recorders, and what they have is fetched.
pub(super) fn stopped() -> &'static AtomicBool {
    stop::heed_signals();
    &stop::STOP
}

/// What says on a terminal how far a step is.
pub(super) fn told() -> impl Fn(&str, usize, usize) + Sync {
    let (terminal, last) = (std::io::stderr().is_terminal(), Mutex::new(None::<Instant>));
    let stopping = AtomicBool::new(false);
    move |what, done, of| {
        if stop::STOP.load(Ordering::Relaxed) && !stopping.swap(true, Ordering::Relaxed) {
            eprintln!("twinscope: ending the recorders and fetching what they have; Ctrl-C again leaves them");
        }
        if !terminal {
            return;
        }
        let mut last = last.lock().unwrap_or_else(|e| e.into_inner());
        if done != of && last.is_some_and(|last| last.elapsed() < Duration::from_millis(200)) {
            return;
        }
        *last = Some(Instant::now());
        let how_many = if of == 0 { String::new() } else { format!("{done} of {of} hosts ") };
        eprint!("\r\x1b[K{how_many}{what}{}", if done == of && of > 0 { "\n" } else { "" });
        let _ = std::io::stderr().flush();
    }
}

/// "1 host", "2 hosts".
pub(super) fn hosts(number: usize) -> String {
    format!("{number} {}", if number == 1 { "host" } else { "hosts" })
}

/// Prints the table of failures, then the sum.
pub(super) fn say(work: &Work<'_>, report: &Report) {
    if !report.failed.is_empty() {
        let mut out = table(&["host", "step", "why"], &[false, false, false]);
        for (host, step, why) in &report.failed {
            out.add_row([clean(host), clean(step), cut(&clean(why), 300)]);
        }
        println!("{}\n", trimmed(&out));
    }
    let folder = work.book.folder().display();
    let mut line = format!("{} in {folder}", super::add::recordings(report.fetched));
    if report.new != report.fetched {
        line.push_str(&format!(", {} of them new", report.new));
    }
    if let Some(spread) = report.spread {
        line.push_str(&format!(", begun within {:.2} s of each other", spread as f64 / 1e9));
    }
    if report.recording > 0 {
        line.push_str(&format!("; {} recording: `twinscope fleet fetch {folder}` fetches", hosts(report.recording)));
    }
    if !report.failed.is_empty() {
        line.push_str(&format!("; {} failed: the same command again asks only these", hosts(report.failed.len())));
    }
    println!("{line}");
    if let Some(left) = &report.left {
        eprintln!("twinscope: {}", clean(left));
    }
}
