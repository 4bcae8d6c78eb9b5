//! Rows of contended locks. A lock without a name of its own is called after the function that takes it, so that it can be found again in
//! another run: addresses mean nothing there.

use crate::events::Event;
use crate::profile::{Making, at, nodes, threads};
use crate::rows::Rows;
use lexicon::{Role, Roles};
use std::collections::{HashMap, HashSet};

/// The function that takes a lock: that of the program itself which waits, as `explain` and `compare` have it; of locks of the kernel the innermost of
/// its functions that is not about locks.
fn taken_in(stack: u32, making: &Making, of_kernel: bool) -> Option<u32> {
    const ABOUT: Roles = Roles::of(&[
        Role::KernelLock,
        Role::KernelLockTake,
        Role::KernelSwitch,
        Role::KernelTracing,
        Role::KernelFutex,
    ]);
    let text = |string: u32| making.columns.text_of(string).unwrap_or_default();
    let frames: Vec<(u32, Roles, &str)> = making
        .stacks
        .walk(stack)
        .map(|[function, module, kind]| {
            (function, lexicon::roles(text(function), text(module), text(kind)), text(kind))
        })
        .collect();
    if of_kernel {
        return frames.iter().find(|(_, roles, kind)| *kind == "kernel" && !roles.any(ABOUT)).map(|frame| frame.0);
    }
    let at = lexicon::waiting(frames.iter().map(|(_, roles, kind)| (*roles, *kind)))?;
    frames.get(at).map(|frame| frame.0)
}

/// What a lock is called that is taken in a function.
fn called_after(function: &str) -> String {
    format!("taken in {function}")
}

/// What a lock is called of which neither a name nor a place in the code is known.
fn unseen(kind: Option<&str>, process: Option<&str>) -> String {
    let kind = kind.unwrap_or("lock");
    match process {
        Some(process) => format!("{kind} of {process}, place unknown"),
        None => format!("{kind}, place unknown"),
    }
}

/// For each of these stacks of user code what the lock is called that it waits for; none where only the locking itself is on it.
pub(crate) fn places(stacks: &[u32], making: &mut Making) -> HashMap<u32, u32> {
    let different: HashSet<u32> = stacks.iter().copied().collect();
    let name = |stack: u32| {
        let function = taken_in(stack, making, false)?;
        let name = called_after(making.columns.text_of(function)?);
        Some((stack, making.columns.string(&name)))
    };
    different.into_iter().filter_map(name).collect()
}

/// The rows of table `lock`, in the order of the keys of its shape.
pub(crate) fn rows(rows: &Rows, run: u32, making: &mut Making) -> Vec<Event> {
    let (threads, processes) = threads(rows, making);
    let stacks = nodes(rows, "stack", run, making);
    let holder_stacks = nodes(rows, "holder_stack", run, making);
    let texts = ["kind", "name", "address", "holder"].map(|c| rows.texts(c, &mut making.columns));
    let [kinds, names, addresses, holders] = &texts;
    let (times, counts) = (rows.numbers("time"), rows.numbers("count"));
    let (longest, waiters) = (rows.numbers("longest"), rows.numbers("waiters"));
    // A lock without a name: by process and address, the stack that waited longest. Where not even its address is known, each stack for itself.
    let unnamed = |i: usize| {
        let address = at(addresses, i);
        (at(&processes, i), address, if address == 0 { at(&stacks, i) } else { 0 })
    };
    let mut waited: HashMap<(u32, u32, u32), HashMap<u32, i64>> = HashMap::new();
    for i in 0..rows.len() {
        if at(names, i) == 0 {
            let of_lock = waited.entry(unnamed(i)).or_default();
            *of_lock.entry(at(&stacks, i)).or_default() += at(&times, i);
        }
    }
    let kernel = making.columns.string("kernel");
    let mut called: HashMap<(u32, u32, u32), u32> = HashMap::new();
    for (lock, stacks) in waited {
        let heaviest = stacks.into_iter().max_by_key(|&(stack, time)| (time, stack)).map_or(0, |(stack, _)| stack);
        let function = taken_in(heaviest, making, false).or_else(|| taken_in(heaviest, making, true));
        // Where only the locking itself is seen: by the call that waits.
        let last = || making.stacks.walk(heaviest).find(|[_, _, kind]| *kind != kernel).map(|[function, ..]| function);
        let function = function.or_else(last);
        let name = function.and_then(|f| making.columns.text_of(f)).map(called_after);
        if let Some(name) = name {
            called.insert(lock, making.columns.string(&name));
        }
    }
    // The others by kind and process.
    let mut placeless: HashMap<(u32, u32), u32> = HashMap::new();
    for i in (0..rows.len()).filter(|&i| at(names, i) == 0 && !called.contains_key(&unnamed(i))) {
        let known = (at(kinds, i), at(&processes, i));
        placeless.entry(known).or_insert_with(|| {
            let name = unseen(making.columns.text_of(known.0), making.columns.text_of(known.1));
            making.columns.string(&name)
        });
    }
    let stretches = rows.stretches();
    let event = |i: usize| {
        let (from, to) = at(&stretches, i);
        let name = match at(names, i) {
            0 => {
                let known = (at(kinds, i), at(&processes, i));
                called.get(&unnamed(i)).or_else(|| placeless.get(&known)).copied().unwrap_or(0)
            }
            name => name,
        };
        Event {
            run,
            from,
            to,
            key: [
                at(&stacks, i),
                at(&threads, i),
                at(kinds, i),
                name,
                at(addresses, i),
                at(holders, i),
                at(&holder_stacks, i),
                at(&processes, i),
            ],
            sum: [at(&times, i), at(&counts, i), 0],
            most: [at(&longest, i), at(&waiters, i)],
        }
    };
    rows.indices().map(event).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_without_a_place_says_what_is_known() {
        assert_eq!(unseen(Some("pthread mutex"), Some("postgres")), "pthread mutex of postgres, place unknown");
        assert_eq!(unseen(Some("futex"), None), "futex, place unknown");
        assert_eq!(unseen(None, Some("postgres")), "lock of postgres, place unknown");
    }
}
