//! HotSpot's list of its compiled methods, which it writes when it is asked to, of JVMs whose own tables are not understood.

use super::jit::Map;
use crate::hotspot::Attached;
use host::Host;
use std::time::Duration;

/// So long a JVM may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

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
pub(super) fn methods(host: &Host, pid: u32) -> Result<Map, String> {
    let said = |what: &str| format!("process {pid}: {what}");
    let jvm = Attached::to(host, pid).map_err(|why| said(&why))?;
    let map = jvm.in_tmp(&format!("perf-{}.map", jvm.number));
    let before = map.exists();
    let refused = |why: String| said(&format!("Compiler.perfmap (JDK 17 and later): {why}"));
    jvm.ask("Compiler.perfmap", PATIENCE).map_err(refused)?;
    let file = super::resolve::open_own(&map, pid, host);
    let methods = file
        .and_then(|file| Map::read(&file).ok())
        .ok_or_else(|| said(&format!("/tmp/perf-{}.map: cannot be read", jvm.number)));
    if !before {
        // It came from our question; a failure leaves a file that perf(1) would have left too.
        let _ = std::fs::remove_file(&map);
    }
    methods
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_another_number_in_a_container() {
        assert_eq!((own_number("NSpid:\t812\t7\n", 812), own_number("", 5)), (7, 5));
    }
}
