//! What the commands of `fleet` that reach hosts have in common: which hosts, by what way, how progress and failures are said.

use crate::stop;
use crate::text::{clean, cut, table, trimmed};
use anyhow::{Result, anyhow};
use clap::Args;
use recorder::Usage;
use remote::{
    Book, By, Host, Kubernetes, KubernetesOptions, Recorders, Report, Ssh, SshOptions, Targets, Way, What, Work,
};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Connections of recordings up to this length rest meanwhile; those of longer ones are made anew.
const SHORT: Duration = Duration::from_secs(120);

/// How long a pod stays beyond what is recorded.
const POD_STAYS: Duration = Duration::from_secs(30 * 60);

/// How long a pod stays where it is not said how long is recorded.
const POD_STAYS_ANYHOW: Duration = Duration::from_secs(12 * 3600);

/// Which hosts.
#[derive(Args, Clone, Debug)]
pub struct Hosts {
    /// Hosts by ssh: names separated by commas, @FILE for a file with one a line; may be given several times
    #[arg(long, value_name = "HOSTS", conflicts_with = "kubernetes")]
    hosts: Vec<String>,

    /// Nodes or pods by kubectl: --nodes, --selector or --pods-of say which
    #[arg(long)]
    kubernetes: bool,

    /// These nodes, separated by commas
    #[arg(long, value_name = "NODES", value_delimiter = ',', requires = "kubernetes", group = "which")]
    nodes: Vec<String>,

    /// The nodes with these labels, as kubectl selects them; an empty word for all
    #[arg(short = 'l', long, value_name = "SELECTOR", requires = "kubernetes", group = "which")]
    selector: Option<String>,

    /// Each pod of this, such as deployment/web, in the namespace: its node, and the threads of its control group
    #[arg(long, value_name = "KIND/NAME", requires = "kubernetes", group = "which")]
    pods_of: Option<String>,

    /// The namespace of --pods-of and of recorders. Default: that of kubectl's context
    #[arg(short = 'n', long, value_name = "NAME", requires = "kubernetes")]
    namespace: Option<String>,

    /// The image of the recorder, with /twinscope-recorder in it
    #[arg(long, value_name = "IMAGE", requires = "kubernetes")]
    image: Option<String>,

    /// All privileges for the recorder, instead of capabilities: for kernels before 5.8
    #[arg(long, requires = "kubernetes")]
    privileged: bool,

    /// The kubectl program with its first words. Default: kubectl, or what it was before
    #[arg(long, value_name = "COMMAND")]
    kubectl: Option<String>,
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

    /// Most bytes that a host's recording may have, such as 8GiB
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = recorder::bytes)]
    pub(super) size_limit: u64,
}

/// What was asked for: the way, and the hosts.
pub(super) struct Wished {
    pub(super) by: By,
    pub(super) hosts: Vec<Host>,
}

/// A command of the command line in its words.
fn split(option: &str, text: Option<&String>) -> Result<Option<Vec<String>>> {
    let words = text.map(|text| recorder::then(text).map(|then| then.into_words())).transpose();
    words.map_err(|why| Usage(format!("{option}: {why}")).into())
}

impl Hosts {
    /// Whether any are named.
    pub(super) fn are_named(&self) -> bool {
        self.kubernetes || !self.hosts.is_empty()
    }

    /// The hosts that are named.
    pub(super) fn wished(&self, connect: &Connect, makes_pods: bool) -> Result<Wished> {
        if self.kubernetes {
            return self.wished_of_kubernetes(connect, makes_pods);
        }
        let mut names = Vec::new();
        for word in &self.hosts {
            names.extend(remote::host_names(word).map_err(|why| Usage(format!("--hosts: {why}")))?);
        }
        if names.is_empty() {
            return Err(Usage("which hosts? Name them with --hosts a,b,@file, or give --kubernetes".into()).into());
        }
        let by = By::Ssh(connect.ssh_words()?.unwrap_or_else(|| vec!["ssh".into()]));
        Ok(Wished { by, hosts: remote::fresh_hosts(&names) })
    }

    fn wished_of_kubernetes(&self, connect: &Connect, makes_pods: bool) -> Result<Wished> {
        if makes_pods && self.image.is_none() {
            return Err(
                Usage("--image: which image has the recorder? docs/remote.md says how one is made".into()).into()
            );
        }
        let nodes: Vec<String> = self.nodes.iter().filter(|name| !name.is_empty()).cloned().collect();
        let targets = match (&self.pods_of, &self.selector) {
            (Some(what), _) if what.contains('/') && !what.starts_with('-') => Targets::PodsOf(what.clone()),
            (Some(what), _) => {
                return Err(Usage(format!("--pods-of {what}: name a kind and a name, such as deployment/web")).into());
            }
            (None, Some(selector)) => Targets::Selector(selector.clone()),
            (None, None) if !nodes.is_empty() => Targets::Nodes(nodes),
            (None, None) => {
                return Err(
                    Usage("which nodes? Give --nodes a,b, --selector LABELS or --pods-of KIND/NAME".into()).into()
                );
            }
        };
        for name in &self.nodes {
            remote::host_name(name).map_err(|why| Usage(format!("--nodes: {name:?} {why}")))?;
        }
        let words = split("--kubectl", self.kubectl.as_ref())?.unwrap_or_else(|| vec!["kubectl".into()]);
        let by = By::Kubectl(words, self.namespace.clone().unwrap_or_default());
        let kubernetes = connect.kubernetes(&by, "", Some(self), "", None).ok_or_else(|| anyhow!("kubectl"))?;
        Ok(Wished { by, hosts: kubernetes.find(&targets).map_err(|why| anyhow!(why))? })
    }
}

impl Connect {
    fn ssh_words(&self) -> Result<Option<Vec<String>>> {
        split("--ssh", self.ssh.as_ref())
    }

    /// Kubernetes, where that is the way. `image` is "" where no pods are made.
    fn kubernetes(
        &self,
        by: &By,
        run: &str,
        hosts: Option<&Hosts>,
        image: &str,
        duration: Option<Duration>,
    ) -> Option<Kubernetes> {
        let By::Kubectl(words, namespace) = by else { return None };
        let options = KubernetesOptions {
            words: words.clone(),
            namespace: namespace.clone(),
            image: image.to_owned(),
            privileged: hosts.is_some_and(|hosts| hosts.privileged),
            deadline: duration.map_or(POD_STAYS_ANYHOW, |time| time + POD_STAYS),
            limit: self.limit,
        };
        Some(Kubernetes::new(options, run))
    }

    /// The way to the hosts of a book. Without `hosts`, no recorder is sent any more.
    pub(super) fn way(&self, book: &Book, hosts: Option<&Hosts>, duration: Option<Duration>) -> Result<Way> {
        let state = book.state();
        let image = match (&state.what, hosts.and_then(|hosts| hosts.image.as_deref())) {
            (What::Record, image) => image.unwrap_or("none"),
            _ => "",
        };
        if let Some(kubernetes) = self.kubernetes(&state.by, &state.run, hosts, image, duration) {
            return Ok(Way::Kubernetes(kubernetes));
        }
        let By::Ssh(words) = &state.by else { return Err(anyhow!("no way to these hosts is known")) };
        let recorders = match hosts {
            Some(_) => {
                Recorders::find(self.recorder.as_deref(), &std::env::current_exe()?).map_err(|why| anyhow!(why))?
            }
            None => Recorders::default(),
        };
        let words = self.ssh_words()?.unwrap_or_else(|| words.clone());
        let rest = duration.filter(|time| *time <= SHORT).unwrap_or_default() + self.limit;
        let options = SshOptions { words, no_sudo: self.no_sudo, rest, limit: self.limit };
        Ok(Way::Ssh(Ssh::new(options, recorders, &state.run).map_err(|why| anyhow!(why))?))
    }
}

/// From here on Ctrl-C ends recorders, and what they have is fetched.
pub(super) fn stopped() -> &'static AtomicBool {
    // An ssh that ends before it has read what it gets is its own failure, not ours.
    // SAFETY: to ignore a signal needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    stop::heed_signals();
    &stop::STOP
}

/// What says on a terminal how far a step is.
pub(super) fn told() -> impl Fn(&str, usize, usize) + Sync {
    let (terminal, last) = (recorder::can_rewrite(), Mutex::new(None::<Instant>));
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

fn say_failures(report: &Report) {
    if !report.failed.is_empty() {
        let mut out = table(&["host", "step", "why"], &[false, false, false]);
        for (host, step, why) in &report.failed {
            out.add_row([clean(host), clean(step), cut(&clean(why), 300)]);
        }
        println!("{}\n", trimmed(&out));
    }
}

/// Prints the table of failures, then on how many hosts a mark was put.
pub(super) fn say_marked(report: &Report) {
    say_failures(report);
    println!("marked on {}", hosts(report.fetched));
}

/// Prints the table of failures, then the sum.
pub(super) fn say(work: &Work<'_>, report: &Report) {
    say_failures(report);
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
