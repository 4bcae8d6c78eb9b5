//! Settings of the machine that an experiment changes: asks for them, keeps what puts them back when this program is gone, and does that
//! on request.

use super::usage;
use crate::doctor::{is_root, report};
use crate::text::clean;
use ::tune::{Experiment, Setter, Settings};
use anyhow::{Context, Result, bail};
use host::Host;
use host::settings::{ChangeError, Changes, Outcome, left};
use std::cell::RefCell;
use std::io::{BufRead, IsTerminal, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Who puts settings back when a session is gone has this long for it before others speak of it.
const PUT_BACK: Duration = Duration::from_secs(2);

/// Another program may hold what is remembered for a moment, only to look, or because it was killed while it started a process.
const LOOK: Duration = Duration::from_secs(2);

const POLL: Duration = Duration::from_millis(10);

/// Where it is remembered what settings were. One file for the machine: of two sessions that change settings at the same time each
/// would take the other's values for what was there before.
fn state_file() -> Result<PathBuf, ChangeError> {
    host::settings::state_file("tune.json")
}

/// What a session that is gone has left changed, in a sentence.
fn left_over(host: &Host) -> Option<String> {
    let left = left(host, &state_file().ok()?)?;
    Some(clean(&format!(
        "{} was killed, and settings of this machine are still as its trial had them: {}; twinscope tune --restore puts them back",
        if left.by.is_empty() { "a session" } else { &left.by },
        left.files.join(", ")
    )))
}

/// Says what a session that is gone has left changed.
pub(crate) fn say_what_is_left() {
    if let Some(what) = left_over(&Host::live()) {
        eprintln!("twinscope: {what}");
    }
}

/// No session begins on a machine that another one has left changed.
pub(super) fn refuse_what_is_left(host: &Host) -> Result<()> {
    let end = Instant::now() + PUT_BACK;
    while let Some(what) = left_over(host) {
        if Instant::now() >= end {
            bail!(what);
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// The same, tried again for this long while another program holds it.
fn wait<T>(time: Duration, mut open: impl FnMut() -> Result<T, ChangeError>) -> Result<T, ChangeError> {
    let end = Instant::now() + time;
    loop {
        match open() {
            Err(ChangeError::Locked(_)) if Instant::now() < end => std::thread::sleep(POLL),
            other => return other,
        }
    }
}

/// What sets an experiment's settings, and what puts them back should this program be killed.
#[derive(Debug)]
pub(super) struct Keeping<'a> {
    settings: Settings<'a>,
    keeper: RefCell<Keeper>,
}

/// The process that puts settings back.
#[derive(Debug)]
struct Keeper {
    child: Child,
    /// Its end is how the keeper knows that this program is gone.
    alive: PipeWriter,
}

impl Keeper {
    fn start() -> Result<Keeper> {
        let (end, alive) = std::io::pipe().context("a pipe")?;
        let mut command = Command::new(std::env::current_exe().context("this program")?);
        command.args(["tune", "keep"]).arg(state_file()?).current_dir("/");
        command.stdin(end).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(|| {
                // In a session of its own, so that what ends this program's group or terminal does not end it; what is ignored stays so.
                if libc::setsid() < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                    libc::signal(signal, libc::SIG_IGN);
                }
                Ok(())
            });
        }
        let child = command.spawn().context("the process that puts settings back should this one be killed")?;
        Ok(Keeper { child, alive })
    }
}

/// Asks for an experiment's settings and gets ready to change them; `None` where it has none.
pub(super) fn keeping<'a>(
    host: &'a Host,
    experiment: &Experiment,
    session: &Path,
    yes: bool,
) -> Result<Option<Keeping<'a>>> {
    let wanted = experiment.settings();
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut lines = Vec::new();
    for setting in &wanted {
        let now = setting.examine(host).map_err(|why| {
            let root = if is_root() { "" } else { "; changing settings needs root" };
            anyhow::anyhow!("{}{root}", clean(&format!("parameter {}: {why}", setting.name)))
        })?;
        lines.push(clean(&format!("  {}: {}  (now {now})", setting.path, setting.values.join(", "))));
    }
    if !yes {
        consent(&lines)?;
    }
    let whose = std::path::absolute(session).with_context(|| session.display().to_string())?;
    let file = state_file()?;
    let settings = match wait(LOOK, || Settings::open(host, &file, &whose.display().to_string())) {
        Err(ChangeError::Locked(_)) => bail!("another session changes settings of this machine: one at a time"),
        other => other?,
    };
    Ok(Some(Keeping { settings, keeper: RefCell::new(Keeper::start()?) }))
}

/// Asks once for all settings.
fn consent(lines: &[String]) -> Result<()> {
    let (what, them) = match lines.len() {
        1 => ("a setting", "it"),
        _ => ("settings", "them"),
    };
    let list = lines.join("\n");
    if !std::io::stdin().is_terminal() {
        return Err(usage(format!(
            "this experiment changes {what} of the machine:\n{list}\nSay that it may with --yes: each trial sets {them}, and puts back \
             what was there"
        )));
    }
    let mut err = std::io::stderr().lock();
    write!(
        err,
        "This experiment changes {what} of the machine:\n{list}\nEach trial sets {them}, and what was there is put back after it, should \
         this program be killed as well. Begin? [y/N] "
    )?;
    err.flush()?;
    drop(err);
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => bail!("nothing was changed, and nothing was run"),
    }
}

impl Setter for Keeping<'_> {
    /// Nothing is set while nobody would put it back: a keeper that is gone is replaced first.
    fn set(&self, writes: &[(String, host::settings::Write)]) -> Result<(), String> {
        let mut keeper = self.keeper.try_borrow_mut().map_err(|e| e.to_string())?;
        if !matches!(keeper.child.try_wait(), Ok(None)) {
            let gone = "the process that puts settings back should this one be killed is gone";
            *keeper = Keeper::start().map_err(|why| format!("{gone}, and no other one could be started: {why:#}"))?;
            eprintln!("twinscope: {gone}; another one was started");
        }
        self.settings.set(writes)
    }

    fn put_back(&self) -> Result<(), String> {
        self.settings.put_back()
    }
}

impl Keeping<'_> {
    /// Ends it, when all is put back.
    pub(super) fn over(self) -> Result<()> {
        let closed = self.settings.close();
        let Keeper { mut child, alive } = self.keeper.into_inner();
        drop(alive);
        // It has nothing to do, and how it ends says nothing.
        let _ = child.wait();
        Ok(closed?)
    }
}

/// The keeper: waits for the end of the session that started it, and puts back what that has left.
pub(super) fn keep(file: &Path) -> Result<u8> {
    // Nothing is ever written: this ends when nobody holds the other end any more.
    let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
    if !file.exists() {
        return Ok(0);
    }
    let host = Host::live();
    // The session's own lock ends with it; who looks for what is left holds it for a moment.
    let mut changes = wait(Duration::from_secs(60), || Changes::open(&host, file))?;
    let done = changes.undo_for_good()?;
    changes.close()?;
    Ok(u8::from(done.iter().any(|c| matches!(c.outcome, Outcome::Refused(_)))))
}

/// `--restore`: puts back what sessions that are gone have left.
pub(super) fn restore() -> Result<u8> {
    let host = Host::live();
    let file = state_file()?;
    let mut out = std::io::stdout().lock();
    if !file.exists() {
        writeln!(out, "Nothing to put back: no session has left settings changed.")?;
        return Ok(0);
    }
    let mut changes = match wait(PUT_BACK, || Changes::open(&host, &file)) {
        Err(ChangeError::Locked(_)) => {
            bail!("a session that changes settings still runs; it puts them back itself")
        }
        other => other?,
    };
    if changes.is_empty() {
        writeln!(out, "Nothing to put back.")?;
    }
    let done = changes.undo_for_good()?;
    let failed = report(&mut out, &done, "restored")?;
    let foreign = done.iter().any(|c| matches!(c.outcome, Outcome::Foreign(_)));
    changes.close()?;
    Ok(match (failed, foreign) {
        (true, _) => 1,
        (false, true) => 3,
        (false, false) => 0,
    })
}
