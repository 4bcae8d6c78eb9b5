//! All trials of a session as a list: what its events say of them, and what is kept beside.

use crate::Event;
use crate::event::Outcome;
use crate::folder::Folder;
use crate::result::{Trial, TrialEnd};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Of the output of a failed trial, so many bytes from its end.
const TAIL: u64 = 2000;

/// The trials in the order in which they ran.
pub(super) fn all(events: &[Event], path: &Path, began: f64) -> Vec<Trial> {
    let mut trials: Vec<Trial> = Vec::new();
    // Stage, block, its order, and where in the list its trials begin.
    let mut block = (0, 0, [].as_slice(), 0);
    for event in events {
        match event {
            Event::Block { stage, block: number, order, .. } => {
                block = (*stage, *number, order.as_slice(), trials.len())
            }
            Event::Began { trial, variant } => {
                let slot = block.2.get(trials.len() - block.3);
                let set = slot.map(|slot| slot.set.clone().into_iter().collect());
                let record = Folder::record(path, *trial).unwrap_or_default();
                let known = record.at > 0.0;
                trials.push(Trial {
                    number: *trial,
                    stage: block.0,
                    block: block.1,
                    variant: *variant,
                    set: set.unwrap_or_default(),
                    explained: slot.is_some_and(|slot| slot.explained),
                    end: TrialEnd::Open,
                    reason: None,
                    at: known.then_some(record.at - began),
                    seconds: known.then_some(record.seconds),
                    values: Vec::new(),
                    stolen: record.stolen,
                    others: record.others,
                    cpu: record.on_cpu,
                    cpus_used: record.cpu.zip(record.wall.filter(|wall| *wall > 0.0)).map(|(cpu, wall)| cpu / wall),
                    output: None,
                });
            }
            Event::Ended { trial: number, outcome } => {
                // Two may have begun before the first of them ended.
                let Some(trial) = trials.iter_mut().rev().find(|t| t.number == *number) else { continue };
                match outcome {
                    Outcome::Measured(values) => (trial.end, trial.values) = (TrialEnd::Measured, values.clone()),
                    Outcome::Failed(why) => {
                        (trial.end, trial.reason) = (TrialEnd::Failed, Some(why.clone()));
                        trial.output = output(&Folder::trial(path, trial.number));
                    }
                    Outcome::Void(why) => (trial.end, trial.reason) = (TrialEnd::Void, Some(why.clone())),
                }
            }
            Event::Cut { why, .. } => {
                for trial in trials.iter_mut().skip(block.3).filter(|t| t.end != TrialEnd::Void) {
                    (trial.end, trial.reason) = (TrialEnd::Cut, Some(why.clone()));
                }
            }
            _ => {}
        }
    }
    trials
}

/// The ends of what a trial's commands wrote.
fn output(folder: &Path) -> Option<String> {
    let names = ["prepare.err", "server.err", "server.out", "errors", "output", "check.err", "cleanup.err"];
    let ends: Vec<String> = names.iter().filter_map(|name| end(&folder.join(name))).collect();
    (!ends.is_empty()).then(|| ends.join("\n"))
}

fn end(file: &Path) -> Option<String> {
    let mut file = files::foreign::open(file).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
