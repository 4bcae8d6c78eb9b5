//! Options of JVMs among the facts. A recording holds those that somebody gave and those that the JVM chose itself, so that one which is not there has its
//! default: where the same program ran in both recordings, that is a difference too.

use std::collections::{BTreeMap, BTreeSet};

/// Facts by category and name, with a value for each run.
pub(crate) type Facts = BTreeMap<(String, String), Vec<Option<String>>>;

/// The category of what programs were found running.
pub(crate) const RUNNING: &str = "runtime";

/// What stands for an option that a run does not have: of what the options came to, of the command line, and of the environment.
const DEFAULT: &str = "default";
const NOT_GIVEN: &str = "not given";
const NOT_SET: &str = "not set";

/// Options of the command line by what the JVM calls the flag that they set (java(1); `arguments.cpp`).
const SHORT: [(&str, &str); 4] =
    [("-Xmx", "MaxHeapSize"), ("-Xms", "InitialHeapSize"), ("-Xmn", "NewSize"), ("-Xss", "ThreadStackSize")];

/// A fact of a JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About<'a> {
    /// What an option came to: `java.Main.flag.MaxHeapSize`.
    Flag(&'a str),
    /// What the command line says: `java.Main.-Xmx`.
    Given(&'a str),
    /// A variable that adds options: `java.Main.JAVA_TOOL_OPTIONS`.
    Variable,
    /// Anything else, such as its version.
    Other,
}

/// The main class and what a fact says of it; `None` for facts of something else.
fn about(name: &str) -> Option<(&str, About<'_>)> {
    let rest = name.strip_prefix("java.")?;
    if let Some((main, flag)) = rest.split_once(".flag.") {
        return Some((main, About::Flag(flag)));
    }
    match rest.split_once(".-") {
        Some((main, _)) => Some((main, About::Given(rest.get(main.len() + 1..)?))),
        None => {
            rest.rsplit_once('.').map(|(main, word)| match word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') {
                true => (main, About::Variable),
                false => (main, About::Other),
            })
        }
    }
}

/// What an option of the command line is called as a flag.
fn flag_of(option: &str) -> Option<&str> {
    let short = SHORT.iter().find(|(given, _)| *given == option).map(|(_, flag)| *flag);
    short.or_else(|| option.strip_prefix("-XX:"))
}

/// The value of a flag, without who gave it.
fn without_origin(value: &str) -> &str {
    value.rsplit_once(" (").map_or(value, |(value, _)| value)
}

/// Whether this fact is a flag of a JVM.
fn is_flag(category: &str, name: &str) -> bool {
    category == RUNNING && matches!(about(name), Some((_, About::Flag(_))))
}

/// Whether a JVM chose this value of a flag itself.
fn is_own(value: &str) -> bool {
    value == DEFAULT || value.ends_with("(ergonomic)") || value.ends_with("(internal)")
}

/// Why a flag may matter of which no more is known: somebody set it. What a JVM chose itself follows from something else that differs.
pub(crate) fn why_given(category: &str, name: &str, values: &[Option<String>]) -> Option<&'static str> {
    (is_flag(category, name) && values.iter().flatten().any(|value| !is_own(value)))
        .then_some("a flag of the JVM that somebody set")
}

/// Whether JVMs chose this flag themselves, a size that hardly differs: sizes are rounded to pages, for example.
pub(crate) fn hardly_differs(category: &str, name: &str, values: &[Option<String>]) -> bool {
    let sizes: Vec<f64> = values.iter().flatten().filter_map(|value| without_origin(value).parse().ok()).collect();
    let most = sizes.iter().copied().fold(0.0, f64::max);
    is_flag(category, name)
        && sizes.len() == values.len()
        && values.iter().flatten().all(|value| is_own(value))
        && sizes.iter().all(|size| *size >= 0.99 * most)
}

/// Whether all these values of a fact are what JVMs chose themselves, which follows from something else that differs.
pub fn only_jvms_chose<'a>(category: &str, name: &str, mut values: impl Iterator<Item = &'a str>) -> bool {
    is_flag(category, name) && values.all(is_own)
}

/// What of a JVM was read: one may be known without the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum JvmOptions {
    /// What its flags came to.
    Flags,
    /// Its command line and environment.
    Lines,
}

/// The main class and what of it was read where this fact is there.
pub fn options_read<'a>(category: &str, name: &'a str) -> Option<(&'a str, JvmOptions)> {
    match about(name).filter(|_| category == RUNNING)? {
        (main, About::Flag(_)) => Some((main, JvmOptions::Flags)),
        (main, About::Given(_)) => Some((main, JvmOptions::Lines)),
        // Who saw the installation saw the command line and the environment.
        (main, About::Other) if name.ends_with(".home") => Some((main, JvmOptions::Lines)),
        _ => None,
    }
}

/// What it means that a run does not have this fact, in a word, where those options of that main class were read ([`options_read`]).
pub fn option_absent<'a>(category: &str, name: &'a str) -> Option<(&'a str, JvmOptions, &'static str)> {
    match about(name).filter(|_| category == RUNNING)? {
        (main, About::Flag(_)) => Some((main, JvmOptions::Flags, DEFAULT)),
        (main, About::Given(_)) => Some((main, JvmOptions::Lines, NOT_GIVEN)),
        (main, About::Variable) => Some((main, JvmOptions::Lines, NOT_SET)),
        (_, About::Other) => None,
    }
}

/// Says of options that a run does not have what that means, where its options were read.
pub(crate) fn say_defaults(all: &mut Facts) {
    let mut read: BTreeSet<(&str, JvmOptions, usize)> = BTreeSet::new();
    for ((category, name), values) in all.iter() {
        let Some((main, options)) = options_read(category, name) else { continue };
        let runs = values.iter().enumerate().filter(|(_, value)| value.is_some());
        read.extend(runs.map(|(run, _)| (main, options, run)));
    }
    let mut found: Vec<((String, String), usize, &str)> = Vec::new();
    for (key, values) in all.iter() {
        let Some((main, options, word)) = option_absent(&key.0, &key.1) else { continue };
        let absent = values.iter().enumerate().filter(|(_, value)| value.is_none());
        let known = absent.filter(|(run, _)| read.contains(&(main, options, *run)));
        found.extend(known.map(|(run, _)| (key.clone(), run, word)));
    }
    for (key, run, word) in found {
        if let Some(value) = all.get_mut(&key).and_then(|values| values.get_mut(run)) {
            *value = Some(word.to_owned());
        }
    }
}

/// Leaves one line of each option: what it came to, where that is known of all runs whose command lines are; and none where only who gave it differs.
pub(crate) fn say_once(all: &mut Facts) {
    let mut twice: Vec<(String, String)> = Vec::new();
    for (key, values) in all.iter() {
        let Some((main, about)) = about(&key.1).filter(|_| key.0 == RUNNING) else { continue };
        let is_told = match about {
            About::Flag(_) => {
                let mut said = values.iter().flatten().map(|value| without_origin(value));
                let first = said.next();
                said.all(|value| Some(value) == first)
            }
            About::Given(option) => {
                let flag =
                    flag_of(option).and_then(|flag| all.get(&(key.0.clone(), format!("java.{main}.flag.{flag}"))));
                flag.is_some_and(|flag| flag.iter().zip(values).all(|(flag, given)| flag.is_some() || given.is_none()))
            }
            About::Variable | About::Other => false,
        };
        if is_told {
            twice.push(key.clone());
        }
    }
    for key in twice {
        all.remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The facts of two runs: each a main class, `:`, and facts of it.
    fn facts(runs: [&[(&str, &str)]; 2]) -> Facts {
        let mut all = Facts::new();
        for (index, run) in runs.iter().enumerate() {
            for (name, value) in *run {
                let values = all.entry((RUNNING.into(), format!("java.{name}"))).or_insert_with(|| vec![None; 2]);
                values[index] = Some((*value).to_owned());
            }
        }
        all
    }

    fn said(mut all: Facts) -> Vec<String> {
        say_defaults(&mut all);
        say_once(&mut all);
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "?".into());
        all.into_iter().map(|((_, name), of)| format!("{name} {} {}", word(&of[0]), word(&of[1]))).collect()
    }

    #[test]
    fn an_option_of_one_run_alone_is_a_difference() {
        let all = facts([
            &[("a.Main.home", "/j"), ("a.Main.flag.MaxHeapSize", "9 (command line)"), ("a.Main.-Xmx", "9")],
            &[
                ("a.Main.home", "/j"),
                ("a.Main.flag.MaxHeapSize", "9 (command line)"),
                ("a.Main.-Xmx", "9"),
                ("a.Main.-XX:UseTransparentHugePages", "on"),
                ("a.Main.flag.UseTransparentHugePages", "true (command line)"),
                ("a.Main.-Dx", "y"),
                ("a.Main.-XX:OnError", "kill"),
                ("a.Main.JAVA_TOOL_OPTIONS", "set"),
            ],
        ]);
        assert_eq!(
            said(all),
            [
                "java.a.Main.-Dx not given y",
                "java.a.Main.-XX:OnError not given kill",
                "java.a.Main.JAVA_TOOL_OPTIONS not set set",
                "java.a.Main.flag.UseTransparentHugePages default true (command line)",
                "java.a.Main.home /j /j",
            ]
        );
    }

    #[test]
    fn what_was_not_read_is_not_the_default() {
        // Another program, and a JVM whose memory could not be read.
        let all = facts([
            &[("Other.home", "/j"), ("Other.flag.UseZGC", "true (command line)")],
            &[("Main.home", "/j"), ("Main.-XX:UseZGC", "on"), ("Main.flag.UseZGC", "true (command line)")],
        ]);
        assert_eq!(
            said(all),
            ["java.Main.home ? /j", "java.Other.home /j ?"],
            "that a program did not run says nothing of its options"
        );
        let all = facts([
            &[("Main.home", "/j")],
            &[("Main.home", "/j"), ("Main.-Xss", "1m"), ("Main.flag.ThreadStackSize", "1024 (command line)")],
        ]);
        assert_eq!(said(all), ["java.Main.-Xss not given 1m", "java.Main.home /j /j"]);
        // A flight recording has what the options came to, and no command line.
        let all = facts([
            &[("Main.version", "17"), ("Main.flag.UseZGC", "true (command line)")],
            &[("Main.home", "/j"), ("Main.-Dx", "y"), ("Main.flag.UseSerialGC", "true (ergonomic)")],
        ]);
        assert_eq!(
            said(all),
            [
                "java.Main.-Dx ? y",
                "java.Main.flag.UseSerialGC default true (ergonomic)",
                "java.Main.flag.UseZGC true (command line) default",
                "java.Main.home ? /j",
                "java.Main.version 17 ?",
            ]
        );
    }

    #[test]
    fn what_somebody_set_may_matter() {
        let why = |name: &str, values: [&str; 2]| why_given(RUNNING, name, &values.map(|value| Some(value.to_owned())));
        assert!(why("java.Main.flag.TrackedInitializationLimit", ["50 (command line)", "default"]).is_some());
        assert!(why("java.Main.flag.MinHeapDeltaBytes", ["524288 (ergonomic)", "default"]).is_none());
        assert!(why("java.Main.-Dx", ["y", "not given"]).is_none());
        let hardly = |values: [&str; 2]| {
            hardly_differs(RUNNING, "java.Main.flag.NewSize", &values.map(|value| Some(value.to_owned())))
        };
        assert!(hardly(["357564416 (ergonomic)", "356515840 (ergonomic)"]));
        assert!(!hardly(["357564416 (ergonomic)", "256515840 (ergonomic)"]));
        assert!(!hardly(["357564416 (ergonomic)", "356515840 (command line)"]));
        assert!(!hardly(["357564416 (ergonomic)", "default"]));
    }

    #[test]
    fn who_gave_the_same_value_makes_no_difference() {
        let all = facts([
            &[("Main.flag.UseG1GC", "true (command line)"), ("Main.-XX:UseG1GC", "on"), ("Main.home", "/j")],
            &[("Main.flag.UseG1GC", "true (ergonomic)"), ("Main.home", "/j")],
        ]);
        assert_eq!(said(all), ["java.Main.home /j /j"]);
    }
}
