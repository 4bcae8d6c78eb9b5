//! What asked the kernel: a system call, a page fault, an interrupt. Its own functions tell; time on the way into a call and out of it, where they do
//! not, belongs to the call that the same code makes.

use super::cell::Cell;
use super::state::State;
use lexicon::{Role, Roles, call};
use std::collections::HashMap;

/// A function that spends such a part of its time in the calls that it makes itself does nothing but make them.
const STUB: f64 = 0.5;

/// What asked the kernel: from its outermost function inwards, each with its roles.
pub(super) fn of<'f>(kernel: impl IntoIterator<Item = (&'f str, Roles)>) -> String {
    for (name, roles) in kernel {
        if let Some(call) = call::of(name) {
            return call.to_owned();
        }
        for (role, word) in
            [(Role::KernelFault, "page fault"), (Role::KernelInterrupt, "interrupt"), (Role::KernelReturn, "switch")]
        {
            if roles.has(role) {
                return word.into();
            }
        }
    }
    String::new()
}

/// Whether functions of the kernel are at its door: on the way into a system call or out of it.
fn is_at_door(kernel: &str) -> bool {
    kernel.split(';').any(|name| lexicon::roles(name, "[kernel]", "kernel").has(Role::KernelEntry))
}

/// CPU time by the call that was asked for.
type Asked<'c> = HashMap<&'c str, f64>;

fn most<'c>(asked: &Asked<'c>) -> Option<&'c str> {
    let most = asked.iter().max_by(|a, b| a.1.total_cmp(b.1).then_with(|| b.0.cmp(a.0)))?;
    Some(most.0)
}

/// Gives cells of CPU time at the kernel's door, and of functions of programs that only make calls, the call that is made there most.
pub(super) fn infer(found: &mut [(Cell, [f64; 2])]) {
    let mut given: Vec<(usize, String)> = Vec::new();
    {
        // By stack of the program, and by its innermost function: what it asks for; and the time of the function itself.
        let mut stacks: HashMap<&str, Asked<'_>> = HashMap::new();
        let mut functions: HashMap<&str, (Asked<'_>, f64)> = HashMap::new();
        let mut unknown = Vec::new();
        for (number, (cell, weights)) in found.iter().enumerate() {
            if !matches!(cell.state, Some(State::User | State::Kernel)) {
                continue;
            }
            let (program, kernel) = parted(cell);
            let function = program.rsplit(';').nth(1).unwrap_or_default();
            let time: f64 = weights.iter().sum();
            if function.is_empty() {
                continue;
            }
            let calls = functions.entry(function).or_default();
            if kernel.is_empty() {
                calls.1 += time;
                unknown.push((number, program, function, false));
            } else if !cell.request.is_empty() && is_at_door(kernel) {
                *calls.0.entry(&cell.request).or_insert(0.0) += time;
                *stacks.entry(program).or_default().entry(&cell.request).or_insert(0.0) += time;
            } else if cell.request.is_empty() && is_at_door(kernel) {
                unknown.push((number, program, function, true));
            }
        }
        for (number, program, function, is_at_door) in unknown {
            let Some((asked, own)) = functions.get(function) else { continue };
            let calls: f64 = asked.values().sum();
            if is_at_door || calls >= STUB * (calls + own) {
                let call = stacks.get(program).and_then(most).or_else(|| most(asked));
                given.extend(call.map(|call| (number, call.to_owned())));
            }
        }
    }
    for (number, call) in given {
        if let Some((cell, _)) = found.get_mut(number) {
            cell.request = call;
        }
    }
}

/// The path of a cell up to the program's innermost function, and the kernel's part of it.
fn parted(cell: &Cell) -> (&str, &str) {
    // Each name ends with a semicolon.
    let ends: Vec<usize> = cell.path.match_indices(';').map(|(at, _)| at + 1).collect();
    let at = ends.len().checked_sub(cell.kernel + 1).and_then(|at| ends.get(at)).copied().unwrap_or(0);
    cell.path.split_at(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asked_the_kernel() {
        let of = |names: &[&str]| of(names.iter().map(|name| (*name, lexicon::roles(name, "[kernel]", "kernel"))));
        assert_eq!(
            of(&["entry_SYSCALL_64_after_hwframe", "do_syscall_64", "__x64_sys_munmap", "zap_page_range"]),
            "munmap"
        );
        assert_eq!(of(&["asm_exc_page_fault", "exc_page_fault", "clear_page_erms"]), "page fault");
        assert_eq!(of(&["asm_sysvec_apic_timer_interrupt", "hrtimer_interrupt"]), "interrupt");
        assert_eq!(of(&["something_else"]), "");
        assert_eq!(of(&["do_syscall_64", "__x64_sys_pread64", "vfs_read"]), "pread");
        assert_eq!(of(&["do_syscall_64", "do_writev", "vfs_writev"]), "writev");
    }

    #[test]
    fn the_way_to_a_call_belongs_to_it() {
        let cell = |path: &str, kernel: usize, request: &str, time: f64| {
            let state = if kernel > 0 { State::Kernel } else { State::User };
            let cell =
                Cell { state: Some(state), path: path.into(), kernel, request: request.into(), ..Cell::default() };
            (cell, [time, 0.0])
        };
        let mut cells = [
            cell(";main;work;stub;do_syscall_64;vfs_read;", 2, "read", 3.0),
            cell(";main;log;stub;do_syscall_64;vfs_write;", 2, "write", 4.0),
            cell(";main;work;stub;", 0, "", 1.0),
            cell(";main;work;stub;do_syscall_64;", 1, "", 1.0),
            cell(";main;work;", 0, "", 5.0),
            cell(";main;other;stub;", 0, "", 1.0),
            cell(";main;work;asm_exc_page_fault;", 1, "page fault", 9.0),
            cell(";main;inlined;do_syscall_64;vfs_read;", 2, "read", 1.0),
            cell(";main;inlined;", 0, "", 9.0),
        ];
        infer(&mut cells);
        let asked: Vec<&str> = cells.iter().map(|(cell, _)| cell.request.as_str()).collect();
        assert_eq!(asked, ["read", "write", "read", "read", "", "write", "page fault", "read", ""]);
    }
}
