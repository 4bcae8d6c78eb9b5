//! Looks at all that is in a recording, without decoding its segments.

use super::Recording;
use super::scan::decoders;
use crate::segment;
use std::sync::mpsc;

/// A segment to be looked at: table, its reads, its rows.
type Job = (&'static str, Vec<i64>, Vec<u8>);

impl Recording {
    /// Reads all lists, and checks each segment of each table against its checksums. What is damaged is in [`Recording::damage`] then, in the words that
    /// [`Recording::load`] uses. The whole file is read.
    pub fn check(&self) {
        // What is damaged in a list is noted when it is read.
        drop((self.facts(), self.coverage(), self.marks(), self.sources(), self.charts()));
        let bad = std::thread::scope(|scope| {
            // Unpacking is most of the work, and needs nothing of the database.
            let (jobs, workers): (Vec<_>, Vec<_>) = (0..decoders(self.segments.len()))
                .map(|_| {
                    let (outside, inbox) = mpsc::sync_channel::<Job>(2);
                    let look = || {
                        let bad = |(name, ticks, bytes): Job| Some((name, ticks, segment::check(&bytes).err()?));
                        inbox.into_iter().filter_map(bad).collect::<Vec<_>>()
                    };
                    (outside, scope.spawn(look))
                })
                .unzip();
            let mut next = jobs.iter().cycle();
            for segment in &self.segments {
                // A table without a definition was found damaged when the file was opened.
                let Some(&(_, _, table)) = self.tables.iter().find(|(id, ..)| i64::from(*id) == segment.table) else {
                    continue;
                };
                let ticks = match self.ticks_of(segment) {
                    Ok(ticks) => ticks,
                    Err(why) => {
                        self.bad_ticks(table.name, segment.generation, &why);
                        continue;
                    }
                };
                match (segment.bytes(&self.opened.db), next.next()) {
                    // A worker takes jobs until there are no more.
                    (Ok(bytes), Some(to)) => drop(to.send((table.name, ticks, bytes))),
                    (Ok(_), None) => {}
                    (Err(why), _) => self.bad_rows(table.name, &ticks, &why),
                }
            }
            drop(jobs);
            workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect::<Vec<_>>()
        });
        for (name, ticks, why) in bad {
            self.bad_rows(name, &ticks, &why);
        }
    }
}
