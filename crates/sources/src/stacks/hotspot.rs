//! HotSpot's list of its compiled methods, which it writes when it is asked to through its attach interface (a socket in its `/tmp`; the
//! JDK's `AttachListener`). No agent is loaded and no tool of the JDK is needed.

use host::Host;
use rustix::process::{Pid, Signal};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// So long a JVM may take to open its socket, and to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether SIGQUIT may be sent: where a program does not catch it, it would end the program (`-Xrs`, or a JVM that is still starting).
fn catches_quit(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
    // Signal 3 is bit 2.
    mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & 1 << 2 != 0)
}

/// The process's number in the innermost of its pid namespaces, by which it names its files.
pub(crate) fn own_number(status: &str, pid: u32) -> u32 {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    line.and_then(|line| line.split_ascii_whitespace().last()?.parse().ok()).unwrap_or(pid)
}

/// Whether a JVM was told to keep frame pointers, on its command line or by the variables that add to it. Where neither can be read, nothing is held
/// against it.
pub(super) fn keeps_frame_pointers(host: &Host, pid: u32) -> bool {
    let has = |file: &str| {
        let text = host.read(&format!("/proc/{pid}/{file}")).ok().filter(|text| !text.is_empty());
        text.map(|text| memchr::memmem::find(&text, b"-XX:+PreserveFramePointer").is_some())
    };
    has("cmdline").is_none_or(|found| found || has("environ") == Some(true))
}

/// Asks the JVM in a process to write `/tmp/perf-PID.map`, and reads it. A file that was not there before is removed again.
///
/// # Errors
/// In words.
pub(super) fn methods(host: &Host, pid: u32) -> Result<Vec<u8>, String> {
    let said = |what: &str| format!("process {pid}: {what}");
    let status = host.read_text(&format!("/proc/{pid}/status")).map_err(|e| e.to_string())?;
    let number = own_number(&status, pid);
    let tmp = host.path(&host::seen_by(pid, "/tmp"));
    let socket = tmp.join(format!(".java_pid{number}"));
    if !socket.exists() {
        let arguments = host.read(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if arguments.split(|&b| b == 0).any(|a| a == b"-XX:+DisableAttachMechanism" || a == b"-Xrs") {
            return Err(said("it was started with an option that forbids to ask it for its methods"));
        }
        if !catches_quit(&status) {
            return Err(said("its JVM is not ready to be asked for its methods"));
        }
        wake(pid, tmp.join(format!(".attach_pid{number}")), &socket).map_err(|why| said(&why))?;
    }
    let map = tmp.join(format!("perf-{number}.map"));
    let before = map.exists();
    let answer = ask(&socket).map_err(|e| said(&format!("its attach socket: {e}")))?;
    if !answer.starts_with(b"0") {
        let text = String::from_utf8_lossy(&answer);
        let why: String = text.lines().nth(1).unwrap_or("refused").chars().take(120).collect();
        return Err(said(&format!("Compiler.perfmap (JDK 17 and later): {why}")));
    }
    let text =
        super::resolve::read_own(&map, pid, host).ok_or_else(|| said(&format!("{}: cannot be read", map.display())));
    if !before {
        // It came from our question; a failure leaves a file that perf(1) would have left too.
        let _ = std::fs::remove_file(&map);
    }
    text
}

/// Makes the JVM open its socket: it looks for a file of ours when it gets SIGQUIT.
fn wake(pid: u32, file: PathBuf, socket: &std::path::Path) -> Result<(), String> {
    // Others may write to that folder: what lies there already is not followed.
    std::fs::File::create_new(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let done = (|| {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or("it has no number")?;
        rustix::process::kill_process(pid, Signal::QUIT).map_err(|e| e.to_string())?;
        let until = Instant::now() + PATIENCE;
        while !socket.exists() {
            if Instant::now() >= until {
                return Err("its JVM did not open its attach socket".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    })();
    let _ = std::fs::remove_file(&file);
    done
}

fn ask(socket: &std::path::Path) -> std::io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Version, command, three arguments.
    stream.write_all(b"1\0jcmd\0Compiler.perfmap\0\0\0")?;
    let mut answer = Vec::new();
    stream.take(64 << 10).read_to_end(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_catches_the_signal_gets_it() {
        assert!(catches_quit("Name:\tjava\nSigCgt:\t2000000181005ccf\n"));
        assert!(!catches_quit("SigCgt:\t2000000181005ccb\n"));
        assert!(!catches_quit("SigCgt:\tx\n") && !catches_quit(""));
        assert_eq!((own_number("NSpid:\t812\t7\n", 812), own_number("", 5)), (7, 5));
    }
}
