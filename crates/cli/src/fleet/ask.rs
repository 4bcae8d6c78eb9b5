//! `twinscope fleet snapshot` and `fleet mark`: running flight recorders of many hosts are asked for what they hold, or given a mark.

use super::record::{finish, merge};
use super::way::{Connect, Hosts, Wished, stopped, told};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use recorder::Usage;
use remote::{Book, State, Step, What, Work};
use std::path::{Path, PathBuf};

/// Have running flight recorders save what they hold.
#[derive(Args, Debug)]
pub struct Snapshot {
    /// The folder of `fleet record --keep --detach`, whose recorders are asked. Without it, the one that runs on each of the hosts
    #[arg(value_name = "DIR", required_unless_present_any = ["hosts", "kubernetes"])]
    of: Option<PathBuf>,

    /// The folder of snapshots
    #[arg(short, long, value_name = "DIR", value_parser = recorder::output())]
    output: PathBuf,

    #[command(flatten)]
    hosts: Hosts,

    #[command(flatten)]
    connect: Connect,
}

/// Put a mark into the recordings of running recorders.
#[derive(Args, Debug)]
pub struct Mark {
    /// The mark's text
    #[arg(value_name = "TEXT")]
    text: String,

    /// The folder of `fleet record --detach`, whose recorders get it. Without it, the one that runs on each of the hosts
    #[arg(long, value_name = "DIR", required_unless_present_any = ["hosts", "kubernetes"])]
    of: Option<PathBuf>,

    #[command(flatten)]
    hosts: Hosts,

    #[command(flatten)]
    connect: Connect,
}

/// Saves and fetches. Exit code 3 where hosts failed.
pub fn snapshot(options: &Snapshot) -> Result<u8> {
    ask(&options.output, What::Snapshot, options.of.as_deref(), &options.hosts, &options.connect)
}

/// Marks. Exit code 3 where hosts failed.
pub fn mark(options: &Mark) -> Result<u8> {
    let folder = tempfile::tempdir().context("a folder for the time being")?;
    ask(folder.path(), What::Mark(options.text.clone()), options.of.as_deref(), &options.hosts, &options.connect)
}

/// The hosts to ask: those named, else those of a folder that record.
fn wished(of: Option<&Path>, hosts: &Hosts, connect: &Connect) -> Result<Wished> {
    let Some(of) = of else { return hosts.wished(connect, false) };
    if hosts.are_named() {
        return Err(Usage("name a folder or hosts, not both".into()).into());
    }
    let state = Book::open(of, || None).map_err(|why| anyhow!(why))?.state();
    let recording = state.hosts.into_iter().filter(|host| host.step == Step::Recording);
    let hosts: Vec<_> = recording
        .map(|host| remote::Host { of: host.there(), step: Step::Missing, failed: None, why: None, ..host })
        .collect();
    if hosts.is_empty() {
        return Err(anyhow!("{}: no host of it is recording", of.display()));
    }
    Ok(Wished { by: state.by, hosts })
}

fn ask(folder: &Path, what: What, of: Option<&Path>, hosts: &Hosts, connect: &Connect) -> Result<u8> {
    let is_mark = matches!(what, What::Mark(_));
    let Wished { by, hosts: asked } = wished(of, hosts, connect)?;
    let state = State {
        version: remote::VERSION,
        run: remote::new_run(),
        what: what.clone(),
        by,
        options: Vec::new(),
        command: Vec::new(),
        duration: Some(0),
        hosts: asked,
    };
    let book = Book::open(folder, || Some(state.clone())).map_err(|why| anyhow!(why))?;
    if book.state().what != what {
        return Err(Usage(format!("{}: holds other recordings; choose another folder", folder.display())).into());
    }
    merge(&book, &state)?;
    let way = connect.way(&book, Some(hosts), None)?;
    let (stop, told) = (stopped(), told());
    let work = Work {
        way: &way,
        book: &book,
        at_once: connect.parallel.into(),
        limit: connect.limit,
        most: connect.size_limit,
        at: None,
        stop,
        told: &told,
    };
    let report = work.record(false).map_err(|why| anyhow!(why))?;
    if is_mark {
        super::way::say_marked(&report);
        crate::stop::leave_signals();
        return Ok(if report.failed.is_empty() { 0 } else { 3 });
    }
    finish(&work, &report, false)
}
