//! Reads a file of `lexicon/`. A part of the build script: what is wrong with a file is said with its line, and ends the build.

use crate::role::Role;
use serde::Deserialize;
use toml::Spanned;

/// One list of functions that play a role.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) role: Role,
    /// Which frames it is about.
    pub(crate) kind: Kind,
    /// Patterns of file names; none: any.
    pub(crate) modules: Vec<String>,
    /// Patterns of functions.
    pub(crate) functions: Vec<String>,
    /// What a lock is called that is waited for there; nothing: it says nothing of that.
    pub(crate) lock: String,
    /// Stacks that have the role, outermost function first.
    pub(crate) stacks: Vec<String>,
    /// Stacks that do not have it.
    pub(crate) not: Vec<String>,
    /// Where it is: file and line.
    pub(crate) at: String,
}

/// Which frames an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The program and its libraries, whatever made the code.
    User,
    /// The kernel.
    Kernel,
    /// Not a function: the name of a thread, `#` for digits.
    Thread,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    role: Vec<Spanned<Written>>,
}

/// As it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    role: Spanned<String>,
    why: String,
    source: String,
    kind: Option<Spanned<String>>,
    module: Option<Several>,
    functions: Vec<Spanned<String>>,
    lock: Option<String>,
    stack: Several,
    not: Option<Several>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Several {
    One(String),
    Many(Vec<String>),
}

impl Several {
    fn list(self) -> Vec<String> {
        match self {
            Several::One(text) => vec![text],
            Several::Many(list) => list,
        }
    }
}

/// The entries of a file called `name`.
///
/// # Errors
/// What is wrong with it, as `NAME:LINE: WHY`.
pub(crate) fn read(name: &str, text: &str) -> Result<Vec<Entry>, String> {
    let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    let wrong = |at: usize, why: String| format!("{name}:{}: {why}", line(at));
    let file: File =
        toml::from_str(text).map_err(|e| wrong(e.span().map_or(0, |span| span.start), e.message().to_owned()))?;
    let mut entries = Vec::new();
    for written in file.role {
        let at = written.span().start;
        let written = written.into_inner();
        let role = Role::parse(written.role.get_ref()).ok_or_else(|| {
            wrong(
                written.role.span().start,
                format!("there is no role {:?}: see crates/lexicon/src/role.rs", written.role.get_ref()),
            )
        })?;
        let kind = match written.kind.as_ref().map(|kind| kind.get_ref().as_str()) {
            None | Some("user") => Kind::User,
            Some("kernel") => Kind::Kernel,
            Some("thread") => Kind::Thread,
            Some(other) => {
                let at = written.kind.as_ref().map_or(at, |kind| kind.span().start);
                return Err(wrong(at, format!("{other:?} is no kind; there are user, kernel, thread")));
            }
        };
        for (what, missing) in [("why", written.why.trim().is_empty()), ("source", written.source.trim().is_empty())] {
            if missing {
                return Err(wrong(at, format!("{what} is empty")));
            }
        }
        let modules = written.module.map_or_else(Vec::new, Several::list);
        for function in &written.functions {
            check(function.get_ref(), !modules.is_empty()).map_err(|why| wrong(function.span().start, why))?;
        }
        if written.functions.is_empty() {
            return Err(wrong(at, "it lists no functions".into()));
        }
        if let Some(module) = modules.iter().find(|module| module.starts_with('*') || module.contains('/')) {
            return Err(wrong(
                at,
                format!("module {module:?}: the beginning of a file's name is asked for, without its folder"),
            ));
        }
        let stacks = written.stack.list();
        if stacks.iter().all(|stack| stack.trim().is_empty()) {
            return Err(wrong(at, "it has no test stack".into()));
        }
        entries.push(Entry {
            role,
            kind,
            modules,
            functions: written.functions.into_iter().map(Spanned::into_inner).collect(),
            lock: written.lock.unwrap_or_default(),
            stacks,
            not: written.not.map_or_else(Vec::new, Several::list),
            at: format!("{name}:{}", line(at)),
        });
    }
    Ok(entries)
}

/// Whether a pattern is one that means what it says: bound to the beginning of a name, or to a whole part of a qualified one.
fn check(pattern: &str, has_module: bool) -> Result<(), String> {
    let refused = |why: &str| Err(format!("pattern {pattern:?}: {why}"));
    if pattern.trim() != pattern || pattern.is_empty() {
        return refused("it is empty, or has blanks around it");
    }
    if pattern == "*" {
        return if has_module { Ok(()) } else { refused("every function, of any module") };
    }
    let Some(rest) = pattern.strip_prefix('*') else {
        return match pattern.split_once('*') {
            Some((begin, _)) if begin.len() < 3 => refused("at least three characters before the first *"),
            _ => Ok(()),
        };
    };
    // `*::Mutex::lock`, `*.Logger.info`: what comes after the star is a whole name.
    let is_whole = rest.starts_with("::") || rest.starts_with('.') || rest.starts_with("$");
    let literal = rest.trim_end_matches('*');
    let is_qualified = literal.contains("::") || literal.contains('.');
    if !is_qualified || !is_whole || literal.contains('*') || literal.trim_matches([':', '.', '$']).len() < 3 {
        return refused(
            "after a * at its beginning comes a qualified name, such as *::Mutex::lock, or it is in every third name",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# A comment.\n[[role]]\nrole = \"lock.wait\"\nwhy = \"it waits\"\nsource = \"glibc nptl/lowlevellock.c\"\n\
                        module = \"libc.so*\"\nfunctions = [\"__lll_lock_wait\", \"__lll_*\"]\nstack = \"main;__lll_lock_wait\"\n";

    #[test]
    fn a_sound_file_is_read() {
        let [entry] = read("libc.toml", GOOD).unwrap().try_into().unwrap();
        assert_eq!((entry.role, entry.kind, entry.at.as_str()), (Role::LockWait, Kind::User, "libc.toml:2"));
        assert_eq!(
            (entry.modules, entry.stacks),
            (vec!["libc.so*".to_owned()], vec!["main;__lll_lock_wait".to_owned()])
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (from, to, line, why) in [
            ("lock.wait", "lock.await", 3, "no role"),
            ("why = \"it waits\"", "wy = \"it waits\"", 4, "unknown field"),
            ("why = \"it waits\"", "why = \" \"", 2, "why is empty"),
            ("module = \"libc.so*\"", "kind = \"c\"", 6, "no kind"),
            ("module = \"libc.so*\"", "module = \"/lib/libc.so*\"", 2, "without its folder"),
            ("\"__lll_*\"", "\"*park*\"", 7, "qualified name"),
            ("\"__lll_*\"", "\"*lock\"", 7, "qualified name"),
            ("\"__lll_*\"", "\"*ark.Block*\"", 7, "qualified name"),
            ("\"__lll_*\"", "\"ab*\"", 7, "three characters"),
            ("\"__lll_*\"", "\"a b \"", 7, "blanks"),
            ("[\"__lll_lock_wait\", \"__lll_*\"]", "[]", 2, "no functions"),
            ("stack = \"main;__lll_lock_wait\"", "stack = \"\"", 2, "no test stack"),
            ("stack = \"main;__lll_lock_wait\"", "stack = [\"main", 8, ""),
        ] {
            let said = read("libc.toml", &GOOD.replace(from, to)).expect_err(to);
            assert!(said.starts_with(&format!("libc.toml:{line}: ")) && said.contains(why), "{to}: {said}");
        }
        let all = GOOD.replace("module = \"libc.so*\"\n", "").replace("__lll_*", "*");
        assert!(read("libc.toml", &all).expect_err("any function").contains("of any module"));
    }

    #[test]
    fn a_star_at_the_beginning_takes_a_qualified_name() {
        for good in ["*::Mutex::lock", "*.Logger.info", "*::Mutex::lock*", "*$ConditionObject.await", "main", "std::*"]
        {
            assert_eq!(check(good, false), Ok(()), "{good}");
        }
    }
}
