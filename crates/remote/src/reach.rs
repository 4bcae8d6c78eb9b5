//! What is asked of a way to hosts, ssh or kubectl: to have a recorder there, to run it, and to bring back what it wrote.

use crate::process::{Answer, Ended, Input, Talk, Until, talk};
use crate::state::Host;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What kept a host from being recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The step, in a word.
    pub step: &'static str,
    /// Why, in a line.
    pub why: String,
    /// Whether it may succeed when it is tried again.
    pub again: bool,
}

impl Failure {
    pub(crate) fn new(step: &'static str, why: impl Into<String>) -> Self {
        Failure { step, why: why.into(), again: false }
    }

    pub(crate) fn stopped() -> Self {
        Self::new("stopped", "stopped before it was done")
    }

    /// What became of a program that did not end well; `who` says how it failed where it ended by itself.
    pub(crate) fn of(
        step: &'static str,
        done: &Talk,
        limit: Duration,
        who: impl FnOnce(i32, &str) -> (String, bool),
    ) -> Self {
        match &done.ended {
            Ended::Late => {
                Self::new(step, format!("no end within {} s{}", limit.as_secs(), after(&last_line(&done.said))))
            }
            Ended::Stopped => Self::stopped(),
            Ended::Broken(why) => Self::new(step, why),
            Ended::Code(code) => {
                let (why, again) = who(*code, &done.said);
                Failure { step, why, again }
            }
        }
    }
}

fn after(line: &str) -> String {
    if line.is_empty() { String::new() } else { format!("; it said: {line}") }
}

/// The last line with something in it, without control characters, of at most 300 characters.
pub(crate) fn last_line(text: &str) -> String {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    model::clean(line).chars().take(300).collect()
}

/// A program to be run for a host, and what goes to its standard input.
pub(crate) struct Order {
    pub(crate) command: Command,
    pub(crate) input: Vec<u8>,
}

impl Order {
    /// Runs it. Returns what it printed, of which not more than 1 MiB is kept.
    pub(crate) fn run(&mut self, until: Until<'_>) -> (Talk, String) {
        let mut heard = Vec::new();
        let done = talk(&mut self.command, Input { first: &self.input, open: false }, until, &mut |bytes| {
            if heard.len() < 1 << 20 {
                heard.extend_from_slice(bytes);
            }
            Ok(Answer::Listen)
        });
        (done, String::from_utf8_lossy(&heard).into_owned())
    }
}

/// A way to hosts.
pub(crate) trait Reach: Sync {
    /// Gets all ready for a number of hosts, before [`Reach::prepare`] of each. Those that it cannot reach are named with why.
    fn begin(&self, _hosts: &[Host], _at_once: usize, _stop: &AtomicBool) -> Vec<(String, Failure)> {
        Vec::new()
    }

    /// Sees to it that a recorder is there; puts into `host` what was found out.
    fn prepare(&self, host: &mut Host, until: Until<'_>) -> Result<(), Failure>;

    /// Runs the recorder there with these words.
    fn recorder(&self, host: &Host, words: &[String]) -> Order;

    /// Has the recorder there send its recording; what to say to it once that is here and safe.
    fn fetch(&self, host: &Host) -> (Order, Option<Vec<u8>>);

    /// How a program failed, in a line, and whether it may succeed when tried again.
    fn why(&self, host: &Host, code: i32, said: &str) -> (String, bool);

    /// Its recording is here.
    fn fetched(&self, _host: &Host) {}

    /// Whether what was said means that there is nothing to be fetched any more.
    fn is_lost(&self, said: &str) -> bool {
        said.contains("No such file or directory")
    }

    /// The options that the recorder needs there, before those that were asked for.
    fn options(&self, _host: &Host) -> Vec<String> {
        Vec::new()
    }

    /// Deletes what is kept there for later runs.
    fn clean(&self, _host: &Host, _until: Until<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// Lets go of everything, whatever became of it, but of recorders that go on where it `keeps` these.
    fn end(&self, _hosts: &[Host], _keeps: bool) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_cannot_drive_a_terminal() {
        assert_eq!(last_line("one\n two\u{1b}[31m \n\n"), "two\u{fffd}[31m");
        assert_eq!(last_line(""), "");
        assert_eq!(last_line(&"x".repeat(1000)).len(), 300);
        let late = Failure::of(
            "look",
            &Talk { ended: Ended::Late, said: "Password:\n".into() },
            Duration::from_secs(30),
            |_, _| unreachable!(),
        );
        assert_eq!((late.why.as_str(), late.again), ("no end within 30 s; it said: Password:", false));
    }
}
