//! Looks a frame up in the lists.

use crate::name::plain;
use crate::role::{Role, Roles};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// What is listed of a group of functions.
pub(crate) struct Entry {
    roles: u128,
    kind: Kind,
    modules: &'static [&'static str],
    lock: &'static str,
}

/// A row of a table: a text, what a pattern goes on with behind its first star (`\0`: there is no star), and the row before it of whose text this
/// one is a continuation.
pub(crate) struct Row {
    text: &'static str,
    rest: &'static str,
    entry: u16,
    up: u16,
}

/// No row.
const NONE: u16 = u16::MAX;

/// As in the lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    User,
    Kernel,
    Thread,
}

/// What a frame is known for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Its roles.
    pub roles: Roles,
    /// What the lock is called that a thread waits for which is blocked in a futex right there; empty where that says nothing of a lock.
    pub lock: &'static str,
}

impl Found {
    fn add(&mut self, entry: &Entry) {
        self.roles = self.roles.with(Roles::from_bits(entry.roles));
        if self.lock.is_empty() {
            self.lock = entry.lock;
        }
    }
}

/// The roles of a frame. `module` is the path of its program or library; `kind` its kind of code as recordings have it, of which `kernel`, `python` and
/// `jit` count.
pub fn roles(function: &str, module: &str, kind: &str) -> Roles {
    find(function, module, kind).roles
}

/// The roles of a frame, and the name of a lock that is waited for in it. Takes some hundred nanoseconds.
pub fn find(function: &str, module: &str, kind: &str) -> Found {
    if kind == "python" {
        // The lists name functions of machine code. What Python's are for, their file says.
        let roles = if is_standard_python(module) { Roles::of(&[Role::Standard]) } else { Roles::default() };
        return Found { roles, lock: "" };
    }
    if kind == "jit" && is_script(module) {
        let roles = if module.starts_with("node:") { Roles::of(&[Role::Standard]) } else { Roles::default() };
        return Found { roles, lock: "" };
    }
    look(function, module, if kind == "kernel" { Kind::Kernel } else { Kind::User })
}

/// Whether a file of Python's code is of its standard library: `/usr/lib/python3.11/json/encoder.py`, `<frozen importlib._bootstrap>`, but not what was
/// installed beside it.
fn is_standard_python(path: &str) -> bool {
    let below = ["/lib/python3.", "/lib64/python3."].iter().find_map(|folder| path.split_once(folder));
    match below.and_then(|(_, rest)| rest.split_once('/')) {
        Some((_, file)) => !file.starts_with("site-packages/") && !file.starts_with("dist-packages/"),
        None => path.starts_with("<frozen "),
    }
}

/// Whether a file is one of JavaScript: what Node.js brings along is called `node:fs`.
fn is_script(path: &str) -> bool {
    path.starts_with("node:") || [".js", ".mjs", ".cjs", ".ts"].iter().any(|end| path.ends_with(end))
}

/// The roles of a thread by its name, in which digits may be `#`.
pub fn roles_of_thread(name: &str) -> Roles {
    if name.bytes().any(|b| b.is_ascii_digit()) {
        let name: String = name.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
        return look(&name, "", Kind::Thread).roles;
    }
    look(name, "", Kind::Thread).roles
}

fn look(function: &str, module: &str, kind: Kind) -> Found {
    let mut found = Found::default();
    let module = module.rsplit('/').next().unwrap_or(module);
    // A module that was deleted or comes from a package is still that module.
    let module = module.strip_suffix(" (deleted)").unwrap_or(module);
    let fits = |row: &Row| {
        ENTRIES.get(usize::from(row.entry)).filter(|entry| {
            entry.kind == kind
                && (entry.modules.is_empty() || entry.modules.iter().any(|pattern| glob(pattern, module)))
        })
    };
    let name = plain(function);
    let from = EXACT.partition_point(|row| row.text < &*name);
    let exact = EXACT.get(from..).unwrap_or_default().iter().take_while(|row| row.text == name);
    exact.filter_map(fits).for_each(|entry| found.add(entry));
    along(BEGINS, &name, |row, rest| {
        if continues(row.rest, rest) {
            fits(row).into_iter().for_each(|entry| found.add(entry));
        }
    });
    for row in ENDS {
        let ends = match row.text.strip_suffix('*') {
            Some(part) => name.contains(part),
            None => name.ends_with(row.text),
        };
        if ends && let Some(entry) = fits(row) {
            found.add(entry);
        }
    }
    along(MODULES, module, |row, rest| {
        let whole = if row.rest == "\0" { rest.is_empty() } else { continues(row.rest, rest) };
        if whole && let Some(entry) = ENTRIES.get(usize::from(row.entry)).filter(|entry| entry.kind == kind) {
            found.add(entry);
        }
    });
    found
}

/// Calls `each` for the rows whose text `name` begins with, with the rest of the name.
///
/// In a sorted table all rows between a beginning of the name and the name itself begin with that beginning too: so the row before the place of the
/// name leads to all of them.
fn along(table: &'static [Row], name: &str, mut each: impl FnMut(&'static Row, &str)) {
    let mut at = table.partition_point(|row| row.text <= name).checked_sub(1);
    while let Some(row) = at.and_then(|at| table.get(at)) {
        if let Some(rest) = name.strip_prefix(row.text) {
            each(row, rest);
        }
        at = (row.up != NONE).then_some(usize::from(row.up));
    }
}

/// Whether a text goes on as a pattern does behind a star of it.
fn continues(pattern: &str, text: &str) -> bool {
    let mut text = text;
    let mut parts = pattern.split('*');
    let last = parts.next_back().unwrap_or_default();
    for part in parts {
        match text.split_once(part) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    last.is_empty() || text.ends_with(last)
}

/// Whether a text is as a pattern says, from its beginning to its end.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((begin, rest)) => text.strip_prefix(begin).is_some_and(|text| continues(rest, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_are_bound_at_both_ends() {
        for (pattern, text, expected) in [
            ("main", "main", true),
            ("main", "main2", false),
            ("main*", "main2", true),
            ("main*", "domain", false),
            ("std::*::Mutex::lock", "std::sync::poison::mutex::Mutex::lock", true),
            ("std::*::Mutex::lock", "std::sync::Mutex::lock_contended", false),
            ("std::*::Mutex::lock*", "std::sync::Mutex::lock_contended", true),
            ("a*b*c", "axbyc", true),
            ("a*b*c", "axcyb", false),
            ("a*bb", "abb", true),
            ("a*bb", "ab", false),
            ("lib.so", "lib_so", false),
            ("pthread_*", "PTHREAD_x", false),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn tables_are_sorted_and_lead_upwards() {
        for table in [EXACT, BEGINS, ENDS, MODULES] {
            assert!(table.is_sorted_by(|a, b| a.text <= b.text));
            for (at, row) in table.iter().enumerate().filter(|(_, row)| row.up != NONE) {
                assert!(usize::from(row.up) < at && row.text.starts_with(table[usize::from(row.up)].text));
            }
        }
        assert!(ENTRIES.len() < usize::from(NONE) && BEGINS.len() < usize::from(NONE));
    }

    proptest! {
        /// The way along the table finds what a look at every row finds.
        #[test]
        fn no_beginning_is_missed(name in "[a-z_:.]{0,12}", known in prop::sample::select(BEGINS.iter().map(|r| r.text).collect::<Vec<_>>())) {
            for name in [name.clone(), format!("{known}{name}")] {
                let mut found = Vec::new();
                along(BEGINS, &name, |row, _| found.push((row.text, row.entry)));
                found.sort_unstable();
                let mut expected: Vec<_> =
                    BEGINS.iter().filter(|row| name.starts_with(row.text)).map(|row| (row.text, row.entry)).collect();
                expected.sort_unstable();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
