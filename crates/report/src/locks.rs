//! What locks are called. One without a name of its own is called after the function that takes it, so that it can be found again in another run:
//! addresses mean nothing there.

use crate::profile::{Making, at};
use crate::rows::Rows;
use lexicon::{Role, Roles};
use model::Locks;
use std::collections::{BTreeMap, HashMap};

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

/// For each row what the lock is called that it is about; 0 for rows about no lock. `stacks` and `processes` are those of the rows.
pub(crate) fn names(
    rows: &Rows,
    locks: &Locks,
    (stacks, processes): (&[u32], &[u32]),
    weight: &str,
    making: &mut Making,
) -> Vec<u32> {
    let texts = [locks.kind, locks.name, locks.address].map(|c| rows.texts(c, &mut making.columns));
    let [kinds, names, addresses] = &texts;
    let times = rows.numbers(weight);
    let is_lock = |i: usize| {
        let kind = || making.columns.text_of(at(kinds, i)).unwrap_or_default();
        locks.only.is_empty() || locks.only.contains(&kind())
    };
    let of_lock: Vec<bool> = (0..rows.len()).map(is_lock).collect();
    let nameless = || (0..rows.len()).filter(|&i| at(names, i) == 0 && at(&of_lock, i));
    // A lock without a name: by process and address, the stack that waited longest. Where not even its address is known, each stack for itself.
    let unnamed = |i: usize| {
        let address = at(addresses, i);
        (at(processes, i), address, if address == 0 { at(stacks, i) } else { 0 })
    };
    // In order, so that a report of the same recordings has its texts in the same order.
    let mut waited: BTreeMap<(u32, u32, u32), HashMap<u32, i64>> = BTreeMap::new();
    for i in nameless() {
        let of_lock = waited.entry(unnamed(i)).or_default();
        *of_lock.entry(at(stacks, i)).or_default() += at(&times, i);
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
    for i in nameless().filter(|&i| !called.contains_key(&unnamed(i))) {
        let known = (at(kinds, i), at(processes, i));
        placeless.entry(known).or_insert_with(|| {
            let name = unseen(making.columns.text_of(known.0), making.columns.text_of(known.1));
            making.columns.string(&name)
        });
    }
    let name = |i: usize| match at(names, i) {
        _ if !at(&of_lock, i) => 0,
        0 => {
            let known = (at(kinds, i), at(processes, i));
            called.get(&unnamed(i)).or_else(|| placeless.get(&known)).copied().unwrap_or(0)
        }
        name => name,
    };
    (0..rows.len()).map(name).collect()
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
