//! After the last read: functions get their names. Nothing is measured any more, and what was attached to programs is gone.

use super::Recorder;
use crate::keeper::Keeper;
use crate::progress::Progress;
use crate::signals::{self, Wake};
use std::time::{Duration, Instant};

/// So long names are looked for at most.
const MOST: Duration = Duration::from_secs(5);

/// How often it is looked how far that has come, nanoseconds.
const LOOK: u64 = 20_000_000;

impl Recorder<'_> {
    /// Names the functions of all stacks, for some seconds at most, or until somebody wants to stop.
    pub(super) fn name(&mut self, keeper: &Keeper, progress: &Progress) {
        self.read_afterwards(keeper);
        self.sources.retain(|source| source.name() == sources::stacks::SOURCE.name);
        if self.sources.is_empty() || !self.stacks.name_all() {
            return;
        }
        let begin = Instant::now();
        loop {
            let naming = self.stacks.naming();
            if naming.is_done {
                break;
            }
            let is_stopped = matches!(signals::wait(LOOK), Wake::Stop(_));
            if is_stopped || begin.elapsed() >= MOST {
                self.stacks.stop_naming();
                break;
            }
            progress.draw(&format!("naming functions: {} of {} places", naming.named, naming.places));
        }
        self.read_names(keeper);
    }
}
