//! A program that is talked to for a limited time: what ssh and kubectl are to us. One thread writes and reads, and no pipe can fill or hang.

use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long to wait before the limit and a request to stop are looked at again.
const TICK: Duration = Duration::from_millis(100);

/// The most that is kept of standard error, bytes, from its end.
const MOST_SAID: u64 = 16 << 10;

/// So much standard error may be: more is a program that writes without end.
const MOST_ERRORS: u64 = 64 << 20;

/// What is to be done after hearing something.
pub(crate) enum Answer {
    /// Listen on.
    Listen,
    /// Say this, and listen on.
    Say(Vec<u8>),
    /// Nothing more will be said: its standard input ends.
    Close,
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself, with this code; killed by a signal it is 128 and that, as in shells.
    Code(i32),
    /// It took too long, and was killed.
    Late,
    /// Someone asked to stop, and it was killed.
    Stopped,
    /// It could not be started, or talked to.
    Broken(String),
}

/// How it ended, and what it said on standard error.
#[derive(Debug)]
pub(crate) struct Talk {
    pub(crate) ended: Ended,
    pub(crate) said: String,
}

/// What goes to its standard input at once, and whether that stays open for answers.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) first: &'a [u8],
    pub(crate) open: bool,
}

/// Until when, and who may end it before.
#[derive(Clone, Copy)]
pub(crate) struct Until<'a> {
    pub(crate) limit: Instant,
    pub(crate) stop: Option<&'a AtomicBool>,
}

/// Runs a program: what it prints goes to `hear`, which may answer; an error of `hear` ends it.
pub(crate) fn talk(
    command: &mut Command,
    input: Input<'_>,
    until: Until<'_>,
    hear: &mut dyn FnMut(&[u8]) -> std::io::Result<Answer>,
) -> Talk {
    let broken = |why: std::io::Error| Talk { ended: Ended::Broken(why.to_string()), said: String::new() };
    let (mut errors, its_errors) = match tempfile::tempfile().and_then(|file| Ok((file.try_clone()?, file))) {
        Ok(files) => files,
        Err(why) => return broken(why),
    };
    // In a group of its own: Ctrl-C at a terminal is for us, who end it in good order.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(its_errors).process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(why) => {
            return broken(std::io::Error::new(why.kind(), format!("{}: {why}", command.get_program().display())));
        }
    };
    let ended = converse(&mut child, &errors, input, until, hear).unwrap_or_else(|why| {
        kill(&mut child);
        Ended::Broken(why.to_string())
    });
    let length = errors.seek(SeekFrom::End(0)).unwrap_or(0);
    let mut said = Vec::new();
    // What cannot be read back adds nothing to how it ended.
    let _ = errors.seek(SeekFrom::Start(length.saturating_sub(MOST_SAID))).and_then(|_| errors.read_to_end(&mut said));
    Talk { ended, said: String::from_utf8_lossy(&said).into_owned() }
}

/// Ends it and all that it has started.
fn kill(child: &mut Child) {
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

fn converse(
    child: &mut Child,
    errors: &File,
    input: Input<'_>,
    until: Until<'_>,
    hear: &mut dyn FnMut(&[u8]) -> std::io::Result<Answer>,
) -> std::io::Result<Ended> {
    let Input { first, open } = input;
    let mut input = child.stdin.take();
    let Some(mut output) = child.stdout.take() else { return Err(ErrorKind::BrokenPipe.into()) };
    if let Some(input) = &input {
        rustix::io::ioctl_fionbio(input, true)?;
    }
    rustix::io::ioctl_fionbio(&output, true)?;
    let mut buffer = vec![0; 64 << 10];
    let (mut later, mut written): (Vec<u8>, usize) = (Vec::new(), 0);
    let mut closing = !open;
    let status = loop {
        if until.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            kill(child);
            return Ok(Ended::Stopped);
        }
        if Instant::now() >= until.limit {
            kill(child);
            return Ok(Ended::Late);
        }
        if errors.metadata()?.len() > MOST_ERRORS {
            return Err(std::io::Error::other("writes to standard error without end"));
        }
        written = write_some(&mut input, first, &later, written);
        if written == first.len() + later.len() && closing {
            input = None;
        }
        let waits = written < first.len() + later.len();
        let mut ready = Vec::with_capacity(2);
        ready.push(PollFd::new(&output, PollFlags::IN));
        if let Some(input) = input.as_ref().filter(|_| waits) {
            ready.push(PollFd::from_borrowed_fd(input.as_fd(), PollFlags::OUT));
        }
        let wait = until.limit.saturating_duration_since(Instant::now()).min(TICK);
        let wait = rustix::time::Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
        let woken = match poll(&mut ready, Some(&wait)) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        drop(ready);
        match output.read(&mut buffer) {
            // A program that has closed its output is about to end.
            Ok(0) => {
                drop(input.take());
                break wait_for(child, until)?;
            }
            Ok(count) => match hear(buffer.get(..count).unwrap_or_default())? {
                Answer::Listen => {}
                Answer::Say(more) => later.extend(more),
                Answer::Close => closing = true,
            },
            Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                // What it left behind may hold its output open for ever.
                if woken == 0
                    && let Some(status) = child.try_wait()?
                {
                    break Some(status);
                }
            }
            Err(why) => return Err(why),
        }
    };
    Ok(match status {
        Some(status) => Ended::Code(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))),
        None => Ended::Late,
    })
}

/// Writes what can be written now; returns how much is written in all. What is read no longer counts as written.
fn write_some(input: &mut Option<ChildStdin>, first: &[u8], later: &[u8], mut written: usize) -> usize {
    let all = first.len() + later.len();
    while written < all {
        let Some(pipe) = input.as_mut() else { return all };
        let part = first.get(written..).filter(|part| !part.is_empty());
        let part = part.or_else(|| later.get(written.saturating_sub(first.len())..)).unwrap_or_default();
        match pipe.write(part) {
            Ok(0) => break,
            Ok(count) => written += count,
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) if why.kind() == ErrorKind::WouldBlock => break,
            Err(_) => {
                *input = None;
                return all;
            }
        }
    }
    written
}

fn wait_for(child: &mut Child, until: Until<'_>) -> std::io::Result<Option<std::process::ExitStatus>> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until.limit {
            kill(child);
            return Ok(None);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(TICK);
    }
}

/// Takes the bytes of a recording that come after a line `twinscope-recording BYTES`; what is printed before it, such as a greeting, is passed over.
pub(crate) struct Taker {
    file: File,
    before: Vec<u8>,
    /// Bytes that are still to come, once the line has come.
    left: Option<u64>,
    /// Bytes that a recording may have.
    most: u64,
}

/// So much may be printed before, bytes.
const MOST_BEFORE: usize = 1 << 20;

impl Taker {
    pub(crate) fn new(file: File, most: u64) -> Self {
        Taker { file, before: Vec::new(), left: None, most }
    }

    /// Takes some bytes. Whether all are here.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> std::io::Result<bool> {
        let Some(left) = self.left else {
            self.before.extend_from_slice(bytes);
            let text = String::from_utf8_lossy(&self.before);
            let mut at = 0;
            for line in self.before.split_inclusive(|byte| *byte == b'\n') {
                at += line.len();
                let line = String::from_utf8_lossy(line);
                let size = line.strip_suffix('\n').and_then(|line| line.rsplit_once("twinscope-recording "));
                if let Some(size) = size.and_then(|(_, size)| size.trim().parse().ok()) {
                    if size > self.most {
                        let why = format!("its recording has {size} bytes, more than {} (--size-limit)", self.most);
                        return Err(std::io::Error::other(why));
                    }
                    self.left = Some(size);
                    break;
                }
            }
            if self.left.is_none() {
                return if text.len() > MOST_BEFORE {
                    Err(std::io::Error::other("prints without end"))
                } else {
                    Ok(false)
                };
            }
            let rest = std::mem::take(&mut self.before);
            return self.take(rest.get(at..).unwrap_or_default());
        };
        let part = bytes.get(..usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len())).unwrap_or_default();
        self.file.write_all(part)?;
        let left = left - part.len() as u64;
        self.left = Some(left);
        Ok(left == 0)
    }

    /// Whether all bytes came that were announced.
    pub(crate) fn is_whole(&self) -> bool {
        self.left == Some(0)
    }

    /// Whether any came.
    pub(crate) fn has_begun(&self) -> bool {
        self.left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(script);
        command
    }

    const NOTHING: Input<'_> = Input { first: b"", open: false };

    fn until(seconds: f64) -> Until<'static> {
        Until { limit: Instant::now() + Duration::from_secs_f64(seconds), stop: None }
    }

    #[test]
    fn it_talks_and_listens() {
        let mut heard = String::new();
        let done = talk(
            &mut shell("read a; echo got $a; read b; echo and $b; cat; echo no >&2; exit 7"),
            Input { first: b"one\n", open: true },
            until(20.0),
            &mut |bytes| {
                heard.push_str(&String::from_utf8_lossy(bytes));
                Ok(if heard.ends_with("one\n") { Answer::Say(b"two\n".to_vec()) } else { Answer::Close })
            },
        );
        assert_eq!(heard, "got one\nand two\n");
        assert!(matches!(done.ended, Ended::Code(7)) && done.said == "no\n", "{done:?}");
        // More than a pipe holds, both ways at once.
        let (many, mut count) = (vec![b'x'; 3 << 20], 0);
        let done = talk(&mut shell("cat"), Input { first: &many, open: true }, until(20.0), &mut |bytes| {
            count += bytes.len();
            Ok(if count < many.len() { Answer::Listen } else { Answer::Close })
        });
        assert!(matches!(done.ended, Ended::Code(0)) && count == many.len(), "{done:?} {count}");
    }

    #[test]
    fn what_hangs_is_ended_with_its_children() {
        let begun = Instant::now();
        let mut nothing = |_: &[u8]| Ok(Answer::Listen);
        let done = talk(&mut shell("sleep 300 & sleep 300"), NOTHING, until(0.2), &mut nothing);
        assert!(matches!(done.ended, Ended::Late));
        let done = talk(&mut shell("yes >&2"), NOTHING, until(60.0), &mut nothing);
        assert!(matches!(&done.ended, Ended::Broken(why) if why.contains("without end")), "{:?}", done.ended);
        // One that ended, and left a child with its output.
        let done = talk(&mut shell("sleep 20 & exit 3"), NOTHING, until(20.0), &mut nothing);
        assert!(matches!(done.ended, Ended::Code(3)), "{done:?}");
        let stop = AtomicBool::new(true);
        let done = talk(&mut shell("sleep 300"), NOTHING, Until { stop: Some(&stop), ..until(20.0) }, &mut nothing);
        assert!(matches!(done.ended, Ended::Stopped));
        let done = talk(&mut Command::new("/no/such/program"), NOTHING, until(1.0), &mut nothing);
        assert!(matches!(&done.ended, Ended::Broken(why) if why.contains("/no/such/program")));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_recording_after_a_greeting() {
        let take = |parts: &[&[u8]]| {
            let file = tempfile::NamedTempFile::new().unwrap();
            let mut taker = Taker::new(file.reopen().unwrap(), 100);
            let last = parts.iter().map(|part| taker.take(part)).last().unwrap();
            (last.ok(), taker.is_whole(), std::fs::read(file.path()).unwrap())
        };
        // A greeting without an end.
        assert_eq!(take(&[b"Welcome: twinscope-recording 2\nab"]), (Some(true), true, b"ab".to_vec()));
        assert_eq!(take(&[b"Welcome\ntwinscope-", b"recording 4\nab", b"cdxyz"]), (Some(true), true, b"abcd".to_vec()));
        assert_eq!(take(&[b"twinscope-recording 4\nab"]), (Some(false), false, b"ab".to_vec()));
        assert_eq!(take(&[b"twinscope-recording 0\n"]), (Some(true), true, vec![]));
        // Nothing of what is too large is written.
        assert_eq!(take(&[b"twinscope-recording 101\nab"]), (None, false, vec![]));
        assert_eq!(take(&[b"twinscope-recording -1\n"]), (Some(false), false, vec![]));
        assert_eq!(take(&[&[b'x'; 2 << 20]]).0, None);
    }
}
