//! Asking a JVM through its attach interface: a socket in its `/tmp` (the JDK's `AttachListener`), which it opens when it gets SIGQUIT and finds a file of
//! ours. No agent is loaded and no tool of the JDK is needed. Only for what its memory does not tell.

use crate::stacks::own_number;
use host::Host;
use rustix::process::{Pid, Signal};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// So long a JVM may take to open its socket.
const PATIENCE: Duration = Duration::from_secs(2);
/// The pause before it is tried again.
const AGAIN: Duration = Duration::from_millis(20);
/// Of an answer so much is read, bytes.
const LONGEST: usize = 64 << 10;

/// Whether SIGQUIT may be sent: where a program does not catch it, it would end the program (`-Xrs`, or a JVM that is still starting).
fn catches_quit(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
    // Signal 3 is bit 2.
    mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & 1 << 2 != 0)
}

/// A JVM that answers.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    /// Its `/tmp`, as seen from here.
    pub tmp: PathBuf,
    /// Its number as it sees it.
    pub number: u32,
    socket: PathBuf,
}

impl Attached {
    /// Has a JVM open its socket, if it has not yet.
    ///
    /// # Errors
    /// In words.
    pub fn to(host: &Host, pid: u32) -> Result<Self, String> {
        let status = host.read_text(&format!("/proc/{pid}/status")).map_err(|e| e.to_string())?;
        let number = own_number(&status, pid);
        let tmp = host.path(&host::seen_by(pid, "/tmp"));
        let socket = tmp.join(format!(".java_pid{number}"));
        if !socket.exists() {
            let arguments = host.read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if arguments.split(|&b| b == 0).any(|a| a == b"-XX:+DisableAttachMechanism" || a == b"-Xrs") {
                return Err("it was started with an option that forbids to ask it".into());
            }
            if !catches_quit(&status) {
                return Err("its JVM is not ready to be asked".into());
            }
            wake(pid, tmp.join(format!(".attach_pid{number}")), &socket)?;
        }
        Ok(Attached { tmp, number, socket })
    }

    /// Has it carry out a command, as `jcmd` does, for at most so long; what it answers.
    ///
    /// # Errors
    /// In words: it refused, or did not answer.
    pub fn ask(&self, command: &str, patience: Duration) -> Result<String, String> {
        let answer = ask(&self.socket, command, patience).map_err(|e| format!("its attach socket: {e}"))?;
        let text = String::from_utf8_lossy(&answer);
        let (code, rest) = text.split_once('\n').unwrap_or((&text, ""));
        if code != "0" {
            return Err(rest.lines().next().unwrap_or("refused").chars().take(120).collect());
        }
        Ok(rest.to_owned())
    }
}

/// Makes the JVM open its socket: it looks for a file of ours when it gets SIGQUIT.
fn wake(pid: u32, file: PathBuf, socket: &Path) -> Result<(), String> {
    // Others may write to that folder: what lies there already is not followed.
    #[expect(
        clippy::disallowed_methods,
        reason = "the JVM wants it to be this process's, also under sudo; O_EXCL follows no link"
    )]
    std::fs::File::create_new(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let done = (|| {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or("it has no number")?;
        rustix::process::kill_process(pid, Signal::QUIT).map_err(|e| e.to_string())?;
        let until = Instant::now() + PATIENCE;
        while !socket.exists() {
            if Instant::now() >= until {
                return Err("its JVM did not open its attach socket".to_owned());
            }
            std::thread::sleep(AGAIN);
        }
        Ok(())
    })();
    let _ = std::fs::remove_file(&file);
    done
}

fn ask(socket: &Path, command: &str, patience: Duration) -> std::io::Result<Vec<u8>> {
    let until = Instant::now() + patience;
    let mut stream = connect(socket, until)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Version, command, three arguments.
    stream.write_all(format!("1\0jcmd\0{command}\0\0\0").as_bytes())?;
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    while answer.len() < LONGEST {
        // Of all that is left: a process that answers a byte at a time is not waited for any longer.
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => answer.extend_from_slice(part.get(..length).unwrap_or_default()),
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
    Ok(answer)
}

/// Connects to a socket that may belong to anybody: where nobody accepts, connect(2) itself would wait for ever.
fn connect(socket: &Path, until: Instant) -> std::io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let address = SocketAddrUnix::new(socket)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let end = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    loop {
        match connect(&end, &address) {
            Ok(()) => break,
            // Its queue is full.
            Err(rustix::io::Errno::AGAIN) if Instant::now() < until => std::thread::sleep(AGAIN),
            Err(why) => return Err(why.into()),
        }
    }
    let stream = UnixStream::from(end);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let patience = Duration::from_millis(300);
        let late = |why: std::io::Error| matches!(why.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock);
        // It accepts nobody: the first waits for an answer, and the next for the queue.
        let first = UnixStream::connect(&path).unwrap();
        assert!(late(ask(&path, "x", patience).unwrap_err()));
        drop(first);
        drop(listener);
        // A byte at a time, each within the time that one read may take.
        let path = folder.path().join("slow");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let slow = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            while stream.write_all(b"0").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert!(late(ask(&path, "x", patience).unwrap_err()));
        slow.join().unwrap();
    }

    #[test]
    fn only_who_catches_the_signal_gets_it() {
        assert!(catches_quit("Name:\tjava\nSigCgt:\t2000000181005ccf\n"));
        assert!(!catches_quit("SigCgt:\t2000000181005ccb\n"));
        assert!(!catches_quit("SigCgt:\tx\n") && !catches_quit(""));
    }
}
