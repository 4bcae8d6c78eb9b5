//! Triggers while a recording runs: what fires is marked, and its snapshot saved when it is due.

use super::Recorder;
use crate::keeper::{Keeper, Message};
use crate::options::{Record, Throughput, Usage};
use crate::program::say;
use crate::trigger::{Asked, Fired, Saved, Triggers, Waiting, listen};
use host::Host;
use model::{Manifest, Mark};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};

/// The triggers of a recording and what they had saved.
pub(super) struct Firing {
    pub(super) triggers: Triggers,
    saved: Saved,
    /// Triggers, by their places, of which the kernel says that they hold.
    pressed: Receiver<usize>,
}

impl Firing {
    /// Begins to wait for the triggers of the options.
    ///
    /// # Errors
    /// [`Usage`] where one cannot fire here.
    pub(super) fn begin(options: &Record, host: &Host, recording: &Path) -> Result<Self, Usage> {
        let (sender, pressed) = std::sync::mpsc::channel();
        for (at, trigger) in options.trigger.iter().enumerate() {
            if options.trigger.iter().skip(at + 1).any(|other| other.name == trigger.name) {
                return Err(Usage(format!("there are two triggers called {}", trigger.name)));
            }
            if let Some(pressure) = trigger.pressure() {
                let sender: Sender<usize> = sender.clone();
                let say = move || {
                    // Wakes the loop, which looks whether anything was sent.
                    if sender.send(at).is_ok() {
                        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR2).ok();
                    }
                };
                listen(host, pressure, say).map_err(|why| Usage(format!("trigger {}: {why}", trigger.name)))?;
            }
        }
        let triggers = Triggers::new(&options.trigger, options.cooldown.as_nanos() as i64);
        if let Some(trigger) = triggers.want_work()
            && !matches!(options.throughput, Some(Throughput::Total(_)))
            && options.throughput_each.is_none()
        {
            let (name, what) = (&trigger.name, "work.rate needs a workload that reports its work while it runs");
            return Err(Usage(format!("trigger {name}: {what}: --throughput REGEX or --throughput-each")));
        }
        let asked = Asked {
            after: options.after,
            most: options.most as usize,
            most_size: options.most_size,
            close_look: options.close_look,
        };
        Ok(Firing { triggers, saved: Saved::new(recording, asked), pressed })
    }

    /// Whether all metrics are of sources that are read.
    ///
    /// # Errors
    /// [`Usage`] with the first that is not.
    pub(super) fn check(&self, read: &[&str]) -> Result<(), Usage> {
        for (trigger, metric) in self.triggers.metrics() {
            let source = sources::ALL.iter().find(|s| s.tables.iter().any(|table| table.name == metric.table.name));
            if let Some(source) = source.filter(|source| !read.contains(&source.name)) {
                let (name, metric, source) = (&trigger.name, metric.full_name(), source.name);
                return Err(Usage(format!(
                    "trigger {name}: {metric} is of the source {source}, which is not read here: `sources` says why"
                )));
            }
        }
        Ok(())
    }

    /// When a snapshot is due, nanoseconds since the start.
    pub(super) fn deadline(&self) -> u64 {
        self.saved.deadline()
    }
}

impl Recorder<'_> {
    /// Looks whether a trigger fires after what was read, and whether a snapshot is due.
    pub(super) fn fire(&mut self, keeper: &Keeper, manifest: &Manifest) {
        if self.firing.triggers.is_empty() {
            return;
        }
        let now = self.now();
        let mut fired = self.firing.triggers.fire(now as i64);
        while let Ok(at) = self.firing.pressed.try_recv() {
            fired.extend(self.firing.triggers.pressed(at, now as i64));
        }
        for one in fired {
            self.fired(&one, keeper);
        }
        while let Some(waiting) = self.firing.saved.due(now) {
            self.save(waiting, keeper, manifest);
        }
        self.firing.saved.tend(&self.then);
    }

    fn fired(&mut self, fired: &Fired, keeper: &Keeper) {
        let Some(name) = self.firing.triggers.get(fired.trigger).map(|trigger| trigger.name().to_owned()) else {
            return;
        };
        let text = format!("trigger {name}: {}", fired.what);
        if !self.options.quiet {
            say!("twinscope: {text}");
        }
        keeper.send(Message::Mark(Mark { t: fired.t, text }));
        let unix = rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec;
        self.firing.saved.fired(fired, &name, self.now(), unix);
    }

    fn save(&self, waiting: Waiting, keeper: &Keeper, manifest: &Manifest) {
        let mut snapshot = self.snapshot(manifest);
        snapshot.labels.extend(waiting.labels);
        keeper.send(Message::Snapshot(waiting.path, Box::new(snapshot)));
        // The recording itself goes on without these labels.
        keeper.send(Message::Manifest(Box::new(manifest.clone())));
    }

    /// Says once which triggers had nothing to go by so far.
    pub(super) fn say_silent(&mut self) {
        for why in self.firing.triggers.silent() {
            say!("twinscope: {why}");
        }
    }

    /// At the end of the recording: what waits is saved now, and close looks end.
    pub(super) fn finish_firing(&mut self, keeper: &Keeper, manifest: &Manifest) {
        for waiting in self.firing.saved.finish(&self.then) {
            self.save(waiting, keeper, manifest);
        }
    }
}
