//! Groups whose program is gone, told by their names: `twinscope-tune-NAMESPACE-PROCESS-START`, the namespace being that of process
//! numbers, for in another one the same number is another process; START is when the process began. Letters at the end say which
//! controllers were switched on for it.

use super::{Controller, Tree, group};
use crate::Host;
use crate::groups::hierarchy::hierarchies;

const PREFIX: &str = "twinscope-tune-";

/// Groups that one search lists at most.
const MOST: usize = 8192;

/// The name for this process.
pub(super) fn name(host: &Host) -> String {
    let pid = std::process::id();
    format!("{PREFIX}{}-{pid}-{}", namespace(host), start(host, pid as i32).unwrap_or(0))
}

/// The same with what is switched on for it.
pub(super) fn with(name: &str, enabled: &[Controller]) -> String {
    let letters: String = enabled.iter().map(|c| letter(*c)).collect();
    if letters.is_empty() { name.to_owned() } else { format!("{name}-{letters}") }
}

fn letter(controller: Controller) -> char {
    match controller {
        Controller::Cpuset => 's',
        Controller::Memory => 'm',
        Controller::Cpu => 'c',
    }
}

/// The number of the namespace of process numbers; 0 where that is not told.
fn namespace(host: &Host) -> u64 {
    let link = host.link("/proc/self/ns/pid").unwrap_or_default();
    let text = link.to_string_lossy().into_owned();
    text.trim_start_matches("pid:[").trim_end_matches(']').parse().unwrap_or(0)
}

/// Of /proc/PID/stat, the fields after the name, from the third on.
fn stat(host: &Host, pid: i32) -> Option<Vec<String>> {
    let text = host.read_text(&format!("/proc/{pid}/stat")).ok()?;
    Some(text.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}

/// When a process began, in ticks since boot; `None` where there is none.
fn start(host: &Host, pid: i32) -> Option<u64> {
    stat(host, pid)?.get(19)?.parse().ok()
}

/// Whether this is this program's process, or was started by it.
pub(super) fn is_own(host: &Host, pid: i32) -> bool {
    let mut at = pid;
    for _ in 0..64 {
        if at == std::process::id() as i32 {
            return true;
        }
        match stat(host, at).and_then(|fields| fields.get(1)?.parse().ok()) {
            Some(parent) if parent > 1 => at = parent,
            _ => return false,
        }
    }
    false
}

/// Whether a group of this name was made by a process that is gone, and which controllers were switched on for it.
fn is_left(host: &Host, name: &str) -> Option<Vec<Controller>> {
    let mut parts = name.strip_prefix(PREFIX)?.split('-');
    let mut number = || parts.next()?.parse::<u64>().ok();
    let (namespace_of, pid, began) = (number()?, number()?, number()?);
    let letters = parts.next().unwrap_or_default();
    let gone = namespace_of == namespace(host) && start(host, i32::try_from(pid).ok()?) != Some(began);
    gone.then(|| Controller::ALL.into_iter().filter(|c| letters.contains(letter(*c))).collect())
}

/// Ends what programs that were killed have left in their groups, removes these, and switches off what they had switched on. Says
/// how many there were.
pub fn remove_left(host: &Host) -> usize {
    let mut count = 0;
    for hierarchy in hierarchies(host).unwrap_or_default() {
        let mut folders = vec![hierarchy.mount.clone()];
        let mut at = 0;
        while let Some(parent) = folders.get(at).cloned().filter(|_| at < MOST) {
            at += 1;
            for name in host.folders(&parent) {
                let folder = format!("{parent}/{name}");
                if !group::is_group(host, &folder) {
                    continue;
                }
                let Some(enabled) = is_left(host, &name) else {
                    // Those of sessions that run are theirs.
                    if !name.starts_with(PREFIX) {
                        folders.push(folder);
                    }
                    continue;
                };
                let unified = hierarchy.unified;
                let controllers = if unified { Controller::ALL.to_vec() } else { Vec::new() };
                Tree { parent: parent.clone(), folder, unified, controllers, enabled, aside: None }.take_down(host);
                count += 1;
            }
        }
    }
    count
}
