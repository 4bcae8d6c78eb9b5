//! The plain form of a function's name, in which the lists are written: `<std::sync::Mutex<T>>::lock` is `std::sync::Mutex::lock`, and
//! `foo(int) [clone .cold]` is `foo`. Versions, copies that a compiler made and arguments say nothing of what a function is for.

use std::borrow::Cow;

/// Endings of names that compilers and assemblers make.
const ENDINGS: [&str; 4] = [".abi0", ".cold", ".lto_priv", ".part"];

/// The name as the lists have it.
pub fn plain(name: &str) -> Cow<'_, str> {
    let name = name.strip_prefix("__GI_").unwrap_or(name);
    // `pthread_cond_wait@@GLIBC_2.3.2`; not `@plt`, which is code of its own, but means the same.
    let name = match name.split_once('@') {
        Some((name, _)) if !name.is_empty() => name,
        _ => name,
    };
    // A module in place of a function that is not known.
    if name.starts_with('[') {
        return Cow::Borrowed(name);
    }
    let name = without_copies(name);
    if !name.contains(['<', '(', '[']) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(without_arguments(name))
}

/// Without ` [clone .isra.0]`, `.isra.0`, `.constprop.1`, `.abi0` and the like.
fn without_copies(name: &str) -> &str {
    let mut name = name.split_once(" [clone ").map_or(name, |(name, _)| name);
    loop {
        // A number at the end belongs to what is before it.
        let short = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let short = if short.len() < name.len() { short.strip_suffix('.').unwrap_or(name) } else { name };
        let found =
            [".isra", ".constprop", ".lto_priv", ".part", ".cold"].iter().find_map(|end| short.strip_suffix(end));
        let found = found.or_else(|| ENDINGS.iter().find_map(|end| name.strip_suffix(end)));
        match found {
            Some(rest) if !rest.is_empty() => name = rest,
            _ => return name,
        }
    }
}

/// Without template arguments, generic arguments, parameters, and the trait of `<X as Trait>::m`.
fn without_arguments(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let bytes = name.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let before = out.as_bytes().last().copied();
        // Go writes its receivers so: sync.(*Mutex).Lock.
        let is_receiver = byte == b'(' && before == Some(b'.');
        let is_operator = out.ends_with("operator");
        match byte {
            b'<' | b'>' | b'(' if is_operator => {
                // operator<, operator<<, operator>=, operator(): the name itself.
                let end = bytes[at..].iter().position(|b| !b"<>=()".contains(b)).map_or(bytes.len(), |n| at + n);
                let end = if byte == b'(' { (at + 2).min(bytes.len()) } else { end };
                push(&mut out, name, at, end);
                at = end;
            }
            b'(' if !is_receiver && before.is_some() => at = skip(bytes, at),
            b'[' if before.is_some() => at = skip(bytes, at),
            // <X as Trait>::m, and <X>::m: what X is.
            b'<' if before.is_none_or(|b| b == b'&') => {
                let end = skip(bytes, at);
                let inside = name.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                let inside = split_as(inside).trim_start_matches(['&', '*', ' ']);
                out.push_str(&plain(inside.strip_prefix("dyn ").unwrap_or(inside)));
                at = end;
            }
            // java.util.HashMap.<init>
            b'<' if before == Some(b'.') => {
                let end = skip(bytes, at);
                push(&mut out, name, at, end);
                at = end;
            }
            b'<' => {
                // f::<T>: the two colons go with it.
                while out.ends_with("::") {
                    out.truncate(out.len() - 2);
                }
                at = skip(bytes, at);
            }
            _ => {
                let end = bytes[at + 1..].iter().position(|b| b"<([".contains(b)).map_or(bytes.len(), |n| at + 1 + n);
                let end = match name.get(at..end).and_then(|part| part.find("operator")) {
                    Some(found) => (at + found + "operator".len()).max(at + 1).min(end),
                    None => end,
                };
                push(&mut out, name, at, end);
                at = end;
            }
        }
    }
    let short = out.trim_end();
    let short = short.strip_suffix(" const").unwrap_or(short).trim_end();
    if short.len() < out.len() {
        out.truncate(short.len());
    }
    out
}

/// Appends a part of a name; nothing where it would cut a character.
fn push(out: &mut String, name: &str, from: usize, to: usize) {
    out.push_str(name.get(from..to).unwrap_or_default());
}

/// Behind the bracket that closes the one at a place; the end where none does. An arrow closes nothing.
fn skip(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, &byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' if at > 0 && bytes.get(at - 1) == Some(&b'-') => {}
            b'>' | b')' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

/// `X` of `X as Trait`, where the word stands outside of brackets.
fn split_as(inside: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'[' => depth += 1,
            b'>' | b')' | b']' => depth = depth.saturating_sub(1),
            b' ' if depth == 0 && inside.get(at..).is_some_and(|rest| rest.starts_with(" as ")) => {
                return inside.get(..at).unwrap_or(inside);
            }
            _ => {}
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_all_languages() {
        for (name, expected) in [
            ("pthread_mutex_lock", "pthread_mutex_lock"),
            ("pthread_cond_wait@@GLIBC_2.3.2", "pthread_cond_wait"),
            ("__GI___lll_lock_wait", "__lll_lock_wait"),
            ("sync_runqueues_membarrier_state.part.0", "sync_runqueues_membarrier_state"),
            ("__mutex_lock.constprop.0.isra.0", "__mutex_lock"),
            ("work(int, char const*) [clone .cold]", "work"),
            ("runtime.futex.abi0", "runtime.futex"),
            ("runtime.main.func1", "runtime.main.func1"),
            ("sync.(*Mutex).Lock", "sync.(*Mutex).Lock"),
            (
                "internal/sync.(*HashTrieMap[go.shape.interface {},go.shape.int]).Load",
                "internal/sync.(*HashTrieMap).Load",
            ),
            (
                "<std::sys::sync::mutex::futex::Mutex>::lock_contended",
                "std::sys::sync::mutex::futex::Mutex::lock_contended",
            ),
            ("std::sync::poison::mutex::Mutex<T>::lock", "std::sync::poison::mutex::Mutex::lock"),
            (
                "<std::sync::mpmc::Sender<T> as core::ops::drop::Drop>::drop::{{closure}}",
                "std::sync::mpmc::Sender::drop::{{closure}}",
            ),
            ("core::sync::atomic::atomic_load::<u32>", "core::sync::atomic::atomic_load"),
            (
                "<alloc::boxed::Box<dyn core::ops::function::FnOnce<(), Output = ()> + core::marker::Send> as core::ops::function::FnOnce<()>>::call_once",
                "alloc::boxed::Box::call_once",
            ),
            ("std::lock_guard<std::mutex>::lock_guard", "std::lock_guard::lock_guard"),
            ("std::lock_guard<std::mutex>::~lock_guard", "std::lock_guard::~lock_guard"),
            ("Table::find(unsigned long) const", "Table::find"),
            ("main::{lambda(unsigned int)#1}", "main::{lambda#1}"),
            ("std::operator<< <std::char_traits<char> >", "std::operator<<"),
            ("Pointer::operator->() const", "Pointer::operator->"),
            ("Call::operator()(int)", "Call::operator()"),
            ("java.lang.AbstractStringBuilder.<init>", "java.lang.AbstractStringBuilder.<init>"),
            ("Main$$Lambda$2/0x00007f2080001800.accept", "Main$$Lambda$2/0x00007f2080001800.accept"),
            ("[libc.so.6]", "[libc.so.6]"),
            ("StubRoutines (1)", "StubRoutines"),
            ("", ""),
            ("<", ""),
            ("a<b", "a"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_name_is_too_strange(name in "\\PC{0,40}|[a-z:<>()\\[\\] .@*&-]{0,60}") {
            let once = plain(&name);
            prop_assert!(once.len() <= name.len());
        }
    }
}
