//! Asking a JVM through its attach interface: a socket in its `/tmp` (the JDK's `AttachListener`), which it opens when it gets SIGQUIT and finds a file of
//! ours. No agent is loaded and no tool of the JDK is needed. Only for what its memory does not tell.

use crate::stacks::own_number;
use host::Host;
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
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
    pid: u32,
    /// Its number as it sees it.
    pub number: u32,
    /// Whose process it is.
    owner: u32,
    tmp: Arc<File>,
}

/// The `/tmp` of a process, as it sees it. In a mount namespace of its own it could have anything there.
///
/// # Errors
/// In words: it is a link, or a folder in which others than the process and those that may write to any `/tmp` make files.
pub(crate) fn tmp_of(host: &Host, pid: u32) -> Result<File, String> {
    let said = |why: std::io::Error| format!("the /tmp of process {pid}: {why}");
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let tmp =
        File::options().read(true).custom_flags(flags).open(host.path(&host::seen_by(pid, "/tmp"))).map_err(said)?;
    let about = tmp.metadata().map_err(said)?;
    let is_for_all = about.mode() & 0o1002 == 0o1002;
    if is_for_all || about.uid() == owner_of(host, pid).map_err(said)? {
        return Ok(tmp);
    }
    Err(format!("the /tmp of process {pid} is no folder for temporary files"))
}

/// The effective user of a process (proc(5)).
fn owner_of(host: &Host, pid: u32) -> std::io::Result<u32> {
    Ok(std::fs::metadata(host.path(&format!("/proc/{pid}")))?.uid())
}

impl Attached {
    /// Has a JVM open its socket, if it has not yet.
    ///
    /// # Errors
    /// In words.
    pub fn to(host: &Host, pid: u32) -> Result<Self, String> {
        let status = host.read_text(&format!("/proc/{pid}/status")).map_err(|e| e.to_string())?;
        let owner = owner_of(host, pid).map_err(|e| e.to_string())?;
        let jvm = Attached { pid, number: own_number(&status, pid), owner, tmp: Arc::new(tmp_of(host, pid)?) };
        if jvm.socket().is_err_and(|why| why.kind() == ErrorKind::NotFound) {
            let arguments = host.read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if arguments.split(|&b| b == 0).any(|a| a == b"-XX:+DisableAttachMechanism" || a == b"-Xrs") {
                return Err("it was started with an option that forbids to ask it".into());
            }
            if !catches_quit(&status) {
                return Err("its JVM is not ready to be asked".into());
            }
            jvm.wake()?;
        }
        Ok(jvm)
    }

    /// The path of a file in its `/tmp`, which leads there whatever becomes of the names above it.
    pub fn in_tmp(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.tmp.as_raw_fd()))
    }

    /// Its socket: no link to that of another process, and its own.
    fn socket(&self) -> std::io::Result<OwnedFd> {
        use rustix::fs::{FileType, Mode, OFlags, fstat, openat};
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let socket = openat(&self.tmp, format!(".java_pid{}", self.number), flags, Mode::empty())?;
        let about = fstat(&socket)?;
        if FileType::from_raw_mode(about.st_mode) != FileType::Socket || about.st_uid != self.owner {
            return Err(std::io::Error::new(ErrorKind::PermissionDenied, "it is not the socket of this process"));
        }
        Ok(socket)
    }

    /// Has it carry out a command, as `jcmd` does, for at most so long; what it answers.
    ///
    /// # Errors
    /// In words: it refused, or did not answer.
    pub fn ask(&self, command: &str, patience: Duration) -> Result<String, String> {
        let asked = self.socket().and_then(|socket| ask(&socket, self.pid, command, patience));
        let answer = asked.map_err(|e| format!("its attach socket: {e}"))?;
        let text = String::from_utf8_lossy(&answer);
        let (code, rest) = text.split_once('\n').unwrap_or((&text, ""));
        if code != "0" {
            return Err(rest.lines().next().unwrap_or("refused").chars().take(120).collect());
        }
        Ok(rest.to_owned())
    }

    /// Makes the JVM open its socket: it looks for a file of ours when it gets SIGQUIT.
    fn wake(&self) -> Result<(), String> {
        let file = self.in_tmp(&format!(".attach_pid{}", self.number));
        // Others may write to that folder: what lies there already is not followed.
        #[expect(
            clippy::disallowed_methods,
            reason = "the JVM wants it to be this process's, also under sudo; O_EXCL follows no link"
        )]
        File::create_new(&file).map_err(|e| format!("/tmp/.attach_pid{}: {e}", self.number))?;
        let done = (|| {
            let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or("it has no number")?;
            rustix::process::kill_process(pid, Signal::QUIT).map_err(|e| e.to_string())?;
            let until = Instant::now() + PATIENCE;
            while self.socket().is_err() {
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
}

fn ask(socket: &OwnedFd, pid: u32, command: &str, patience: Duration) -> std::io::Result<Vec<u8>> {
    let until = Instant::now() + patience;
    let mut stream = connect(socket, until)?;
    // Who listens there: another process may have moved its socket to this name.
    let listens = rustix::net::sockopt::socket_peercred(&stream)?;
    if listens.pid.as_raw_nonzero().get().cast_unsigned() != pid {
        return Err(std::io::Error::new(ErrorKind::PermissionDenied, "another process listens there"));
    }
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
fn connect(socket: &OwnedFd, until: Instant) -> std::io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let address = SocketAddrUnix::new(format!("/proc/self/fd/{}", socket.as_raw_fd()))?;
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
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    /// A process of this name, as seen from here, whose `/tmp` is `tmp`.
    fn attached(tmp: &Path, pid: u32, owner: u32) -> Attached {
        Attached { pid, number: 7, owner, tmp: Arc::new(File::open(tmp).unwrap()) }
    }

    fn is_late(answer: Result<String, String>) -> bool {
        answer.is_err_and(|why| why.contains("timed out") || why.contains("temporarily unavailable"))
    }

    #[test]
    fn nobody_is_waited_for_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".java_pid7");
        let jvm = attached(folder.path(), std::process::id(), rustix::process::geteuid().as_raw());
        let listener = UnixListener::bind(&path).unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let patience = Duration::from_millis(300);
        // It accepts nobody: the first has its place in the queue, the next waits for one.
        let first = UnixStream::connect(&path).unwrap();
        assert!(is_late(jvm.ask("x", patience)));
        drop((first, listener));
        std::fs::remove_file(&path).unwrap();
        // A byte at a time, each within the time that one read may take.
        let listener = UnixListener::bind(&path).unwrap();
        let slow = std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            while stream.write_all(b"0").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        assert!(is_late(jvm.ask("x", patience)));
        slow.join().unwrap();
    }

    #[test]
    fn only_the_socket_of_the_process_is_spoken_to() {
        let folder = tempfile::tempdir().unwrap();
        let [own, other] = [".java_pid7", "other"].map(|name| folder.path().join(name));
        let (pid, user) = (std::process::id(), rustix::process::geteuid().as_raw());
        let patience = Duration::from_millis(300);
        let _listener = UnixListener::bind(&other).unwrap();
        std::os::unix::fs::symlink(&other, &own).unwrap();
        assert!(attached(folder.path(), pid, user).ask("x", patience).is_err_and(|why| why.contains("not the socket")));
        std::fs::rename(&other, &own).unwrap();
        let of_another = attached(folder.path(), pid, user + 1).ask("x", patience);
        assert!(of_another.is_err_and(|why| why.contains("not the socket")));
        let of_another = attached(folder.path(), pid + 1, user).ask("x", patience);
        assert!(of_another.is_err_and(|why| why.contains("another process listens")));
    }

    #[test]
    fn a_tmp_is_a_folder_for_temporary_files() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/7/root/tmp")).unwrap();
        std::fs::create_dir_all(root.path().join("proc/8/root")).unwrap();
        std::os::unix::fs::symlink("../../7/root/tmp", root.path().join("proc/8/root/tmp")).unwrap();
        let host = Host::at(root.path());
        assert!(tmp_of(&host, 7).is_ok() && tmp_of(&host, 8).is_err());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(root.path().join("proc/7"), Some(4242), None).unwrap();
            assert!(tmp_of(&host, 7).is_err_and(|why| why.contains("temporary files")));
            let for_all = std::fs::Permissions::from_mode(0o1777);
            std::fs::set_permissions(root.path().join("proc/7/root/tmp"), for_all).unwrap();
            assert!(tmp_of(&host, 7).is_ok());
        }
    }

    #[test]
    fn only_who_catches_the_signal_gets_it() {
        assert!(catches_quit("Name:\tjava\nSigCgt:\t2000000181005ccf\n"));
        assert!(!catches_quit("SigCgt:\t2000000181005ccb\n"));
        assert!(!catches_quit("SigCgt:\tx\n") && !catches_quit(""));
    }
}
