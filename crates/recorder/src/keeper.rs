//! The thread that owns the recording file. Readers of the system never wait for the disk: they hand each tick over and go on.

use crate::program::say;
use crate::then::Runs;
use model::{Coverage, Fact, Manifest, Mark, Rows, Symbols};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use store::{TableId, Writer};

/// So many ticks may wait for the disk before the recorder waits too; what that costs is counted as late and skipped ticks.
const WAITING: usize = 64;

/// What one tick read.
#[derive(Debug, Default)]
pub(crate) struct Tick {
    /// Time of the first read, nanoseconds since the start.
    pub(crate) t: i64,
    /// Each read of a table: which, when, and its rows.
    pub(crate) reads: Vec<(TableId, i64, Rows)>,
    /// Strings that came up since the last tick, with their numbers.
    pub(crate) symbols: Vec<(i64, Arc<str>)>,
    /// Strings that no later tick refers to.
    pub(crate) forgotten: Vec<i64>,
    /// Dictionaries that were begun anew: rows from this tick on refer to nothing that they were told before.
    pub(crate) renewed: Vec<TableId>,
    /// Whether to commit now.
    pub(crate) commit: bool,
}

/// Something for the file.
#[derive(Debug)]
pub(crate) enum Message {
    Tick(Tick),
    Facts(Vec<Fact>),
    Coverage(Vec<Coverage>),
    Mark(Mark),
    Manifest(Box<Manifest>),
    /// Save a copy; the manifest that it shall have.
    Snapshot(PathBuf, Box<Manifest>),
    /// Finish with this manifest.
    Finish(Box<Manifest>),
}

/// What the loop may know of the keeper.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) rows: AtomicU64,
    pub(crate) bytes: AtomicU64,
    failed: AtomicBool,
    error: Mutex<Option<store::Error>>,
}

impl State {
    /// Whether writing failed; nothing more will be kept.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Why writing failed.
    pub(crate) fn why(&self) -> Option<String> {
        self.error.lock().unwrap_or_else(|e| e.into_inner()).as_ref().map(ToString::to_string)
    }

    fn fail(&self, error: store::Error) {
        self.error.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(error);
        self.failed.store(true, Ordering::Relaxed);
    }
}

/// The keeper as the loop sees it.
#[derive(Debug)]
pub(crate) struct Keeper {
    sender: SyncSender<Message>,
    thread: JoinHandle<()>,
    pub(crate) state: Arc<State>,
}

impl Keeper {
    /// Takes the file over. With `keep`, only the last so many nanoseconds are kept. `then` is told of each snapshot.
    pub(crate) fn start(writer: Writer, keep: Option<i64>, then: Runs) -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || run(writer, &receiver, keep, &shared, &then));
        Keeper { sender, thread, state }
    }

    /// Hands something over.
    pub(crate) fn send(&self, message: Message) {
        // The keeper only ends at `Finish`, which consumes `self`; were it gone, its error would say why.
        let _ = self.sender.send(message);
    }

    /// Another way to hand things over, for other threads.
    pub(crate) fn sender(&self) -> SyncSender<Message> {
        self.sender.clone()
    }

    /// Writes what is left and closes the file. The first error of the recording, if any, comes back.
    pub(crate) fn finish(self, manifest: Manifest) -> Result<(), store::Error> {
        self.send(Message::Finish(Box::new(manifest)));
        let _ = self.thread.join();
        match self.state.error.lock().unwrap_or_else(|e| e.into_inner()).take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

fn run(mut writer: Writer, receiver: &Receiver<Message>, keep: Option<i64>, state: &State, then: &Runs) {
    let (mut symbols, mut forgotten, mut generation) = (Symbols::default(), Vec::new(), writer.generation());
    while let Ok(message) = receiver.recv() {
        if state.has_failed() && !matches!(message, Message::Finish(_)) {
            continue;
        }
        let done = match message {
            Message::Tick(mut tick) => {
                forgotten.append(&mut tick.forgotten);
                take(&mut writer, tick, &mut symbols, keep, state)
            }
            Message::Facts(facts) => writer.facts(&facts),
            Message::Coverage(coverage) => writer.coverage(&coverage),
            Message::Mark(mark) => writer.mark(&mark),
            Message::Manifest(manifest) => writer.manifest(&manifest),
            Message::Snapshot(path, manifest) => {
                // A snapshot that fails is the asker's trouble, not the recording's.
                match writer.snapshot(&path, &manifest, &symbols) {
                    Ok(()) => then.complete(path),
                    Err(error) => {
                        say!("twinscope: snapshot: {error}");
                        crate::control::report_error(&error.to_string());
                    }
                }
                Ok(())
            }
            Message::Finish(mut manifest) => {
                if let Some(error) = state.error.lock().unwrap_or_else(|e| e.into_inner()).as_ref() {
                    manifest.ended = Some(format!("stopped: {error}"));
                }
                if let Err(error) = writer.finish(&manifest, &symbols) {
                    state.fail(error);
                }
                return;
            }
        };
        // The open tail refers to them until it is sealed.
        if writer.generation() != generation {
            generation = writer.generation();
            symbols.remove(&std::mem::take(&mut forgotten));
        }
        if let Err(error) = done {
            // Give the held-back space to what must still be written.
            writer.release_reserve();
            state.fail(error);
        }
    }
}

fn take(
    writer: &mut Writer,
    tick: Tick,
    symbols: &mut Symbols,
    keep: Option<i64>,
    state: &State,
) -> Result<(), store::Error> {
    for (cell, text) in tick.symbols {
        symbols.add(cell, text);
    }
    if !tick.renewed.is_empty() {
        writer.renewed(&tick.renewed, tick.t);
    }
    for (table, t, rows) in &tick.reads {
        state.rows.fetch_add(rows.len() as u64, Ordering::Relaxed);
        writer.put(*table, *t, rows);
    }
    if tick.commit {
        writer.commit(symbols)?;
        state.bytes.store(writer.bytes(), Ordering::Relaxed);
        if let Some(keep) = keep {
            writer.forget_before(tick.t - keep)?;
        }
    }
    Ok(())
}
