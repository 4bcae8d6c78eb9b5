//! The form of pairs, with messages that say file, key and what to do.

use crate::pair::{Effect, FILE, Family, Pair, Side, What};
use corpus::field::Classes;
use regex_lite::Regex;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Tools that a pair may name: `record --throughput` reads each.
const TOOLS: [&str; 8] = ["pgbench", "wrk", "wrk2", "sysbench", "fio", "k6", "redis-benchmark", "jmh"];

/// Variables that the runner sets.
const TAKEN: [&str; 10] = ["SIDE", "HERE", "FILES", "RUN", "PORT", "PORT2", "PORT3", "PORT4", "SECONDS_EACH", "SERVER"];

/// What is wrong with the classes: a cause that `explain` does not know.
pub(crate) fn classes(classes: &Classes) -> Vec<String> {
    let known: BTreeSet<String> = explain::cause::built_in().into_iter().map(|cause| cause.id).collect();
    let causes = classes.0.iter().flat_map(|(class, causes)| causes.iter().map(move |cause| (class, cause)));
    causes
        .filter(|(_, cause)| !known.contains(*cause))
        .map(|(class, cause)| {
            format!("field/classes.toml: {class}: there is no cause {cause}; `twinscope causes` lists them")
        })
        .collect()
}

/// Names of a truth that stand in what `explain` says of every finding of the class, its identifier and title: they say no more than the class.
pub(crate) fn names_of_class(pair: &Pair, classes: &Classes) -> Vec<String> {
    let causes = classes.causes(&pair.form.truth.classes);
    let known = explain::cause::built_in();
    let mut found = Vec::new();
    for name in &pair.form.truth.names {
        let Ok(regex) = Regex::new(name) else { continue };
        let said = known.iter().filter(|cause| causes.contains(&cause.id));
        for said in said.map(|cause| format!("{}: {}", cause.id, cause.title)).filter(|said| regex.is_match(said)) {
            found.push(format!(
                "field/{}/{FILE}: truth.names: {name:?} is in {said:?}: it names no more than the class",
                pair.name
            ));
        }
    }
    found
}

/// What is wrong with a pair.
pub(crate) fn pair(pair: &Pair, classes: &Classes) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut say = |key: &str, what: &str| wrong.push(format!("field/{}/{FILE}: {key}: {what}", pair.name));
    if !pair.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        say("the folder", "name it in lower-case letters, digits and hyphens");
    }
    for (key, text) in
        [("title", &pair.form.title), ("language", &pair.form.language), ("truth.why", &pair.form.truth.why)]
    {
        if text.trim().is_empty() || (key != "truth.why" && text.contains('\n')) {
            say(key, "say it in a line");
        }
    }
    if pair.form.packages.iter().any(|name| name.is_empty() || name.contains(char::is_whitespace)) {
        say("packages", "name one Debian package in each text");
    }
    variables(pair, &mut say);
    scripts(pair, &mut say);
    work(pair, &mut say);
    truth(pair, classes, &mut say);
    wrong
}

fn variables(pair: &Pair, say: &mut impl FnMut(&str, &str)) {
    for side in Side::BOTH {
        for name in pair.variables(side).keys() {
            let fits = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && !name.starts_with(|first: char| first.is_ascii_digit());
            if !fits {
                say(&format!("{}.{name}", side.name()), "a variable has letters, digits and underscores");
            }
            if TAKEN.contains(&name.as_str()) || name.starts_with("FIELD_") {
                say(&format!("{}.{name}", side.name()), "the runner sets this variable; take another name");
            }
        }
    }
    let (slow, fast) = (&pair.form.slow, &pair.form.fast);
    let lacks =
        |here: &str, there: &str| format!("{here} lacks it; set it on both sides, empty where {there} has none");
    for name in slow.keys().filter(|name| !fast.contains_key(*name)) {
        say(&format!("slow.{name}"), &lacks("[fast]", "it"));
    }
    for name in fast.keys().filter(|name| !slow.contains_key(*name)) {
        say(&format!("fast.{name}"), &lacks("[slow]", "it"));
    }
    if slow == fast && !pair.is_innocent() {
        say("slow, fast", "the sides are the same; give what differs a variable");
    }
}

fn scripts(pair: &Pair, say: &mut impl FnMut(&str, &str)) {
    let scripts = &pair.form.scripts;
    for (name, text) in scripts.each() {
        let key = format!("scripts.{name}");
        if text.trim().is_empty() {
            say(&key, "it is empty; leave it out");
        }
        if mentions(text, "SIDE") {
            say(&key, "it asks for $SIDE; give what differs a variable in [slow] and [fast]");
        }
        if mentions(text, "SERVER") && (name != "load" && name != "warm") {
            say(&key, "only `warm` and `load` know $SERVER");
        }
        for file in files_of(text) {
            if !pair.folder.join(&file).exists() {
                say(&key, &format!("it reads $HERE/{file}, which is not in the folder"));
            }
        }
        if let Some(why) = syntax(text) {
            say(&key, &format!("bash cannot read it: {why}"));
        }
    }
    if scripts.ready.is_some() && scripts.serve.is_none() {
        say("scripts.ready", "there is no `serve`; leave it out");
    }
    if pair.form.record.what == What::Serve && scripts.serve.is_none() {
        say("record.what", "there is no `serve`; say \"load\" or \"machine\"");
    }
    for option in &pair.form.record.options {
        let name = option.split('=').next().unwrap_or_default();
        if ["-o", "--output", "-f", "--force", "-q", "--quiet", "-p", "--pid", "--all", "--unit"].contains(&name) {
            say("record.options", &format!("the runner gives {name} itself"));
        }
        if name == "--throughput" {
            say("record.options", "work.tool and work.count stand for --throughput");
        }
    }
}

/// Whether a script asks for a variable.
fn mentions(text: &str, name: &str) -> bool {
    Regex::new(&format!(r"\$\{{?{name}\b")).is_ok_and(|regex| regex.is_match(text))
}

/// The files of the pair's folder that a script names, without those whose names variables make.
fn files_of(text: &str) -> Vec<String> {
    let Ok(regex) = Regex::new(r#"\$(?:HERE|\{HERE\})"?/([A-Za-z0-9._/-]+)([$*?\[{]?)"#) else { return Vec::new() };
    let whole = regex.captures_iter(text).filter(|found| found.get(2).is_none_or(|rest| rest.as_str().is_empty()));
    whole.filter_map(|found| Some(found.get(1)?.as_str().trim_end_matches(['/', '.']).to_owned())).collect()
}

/// Why bash cannot read a script.
fn syntax(text: &str) -> Option<String> {
    let said = Command::new("bash").args(["-n", "-c", text]).stdin(Stdio::null()).output().ok()?;
    let why = String::from_utf8_lossy(&said.stderr);
    (!said.status.success()).then(|| why.trim().replace('\n', "; "))
}

fn work(pair: &Pair, say: &mut impl FnMut(&str, &str)) {
    let work = &pair.form.work;
    if [&work.tool, &work.count, &work.total].into_iter().flatten().count() > 1 {
        say("work", "say one of tool, count and total");
    }
    if let Some(tool) = work.tool.as_deref().filter(|tool| !TOOLS.contains(tool)) {
        say("work.tool", &format!("{tool} is none of {}; use count or total", TOOLS.join(", ")));
    }
    for (key, text) in [("work.count", &work.count), ("work.total", &work.total), ("work.tail_ms", &work.tail_ms)] {
        let Some(text) = text else { continue };
        match Regex::new(text) {
            Err(why) => say(key, &format!("it is no regular expression: {why}")),
            Ok(regex) if regex.captures_len() < 2 => {
                say(key, "put the number in parentheses, such as '^done (\\d+)'");
            }
            Ok(_) => {}
        }
    }
    let (effect, has_tail) = (pair.form.truth.effect, work.tail_ms.is_some());
    if effect == Effect::Tail && !has_tail {
        say("work.tail_ms", "effect is \"tail\": say how to read the 99th percentile in ms");
    }
    if has_tail && matches!(effect, Effect::Mean | Effect::None) {
        say("work.tail_ms", "effect is neither \"tail\" nor \"both\"; leave it out, or change truth.effect");
    }
}

fn truth(pair: &Pair, classes: &Classes, say: &mut impl FnMut(&str, &str)) {
    let truth = &pair.form.truth;
    for class in truth.classes.iter().filter(|class| !classes.0.contains_key(*class)) {
        say("truth.classes", &format!("{class} is none of field/classes.toml"));
    }
    let is_innocent = pair.form.family == Family::Innocent;
    if is_innocent != truth.classes.is_empty() {
        say("truth.classes", "it is empty in the family innocent, and only there");
    }
    if (truth.effect == Effect::None) != truth.classes.is_empty() {
        say("truth.effect", "it is \"none\" where nothing changed that costs, and only there");
    }
    if truth.names.is_empty() && !truth.classes.is_empty() {
        say("truth.names", "say what a useful answer would name");
    }
    if !truth.names.is_empty() && truth.classes.is_empty() {
        say("truth.names", "nothing changed that costs; leave it out");
    }
    for name in &truth.names {
        match Regex::new(name) {
            Err(why) => say("truth.names", &format!("{name} is no regular expression: {why}")),
            Ok(regex) if regex.is_match("") => say("truth.names", &format!("{name:?} is found in any text")),
            Ok(_) => {}
        }
    }
    if truth.share.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
        say("truth.share", "say it in parts of one, such as 0.9");
    }
    if truth.share.is_some() && truth.classes.is_empty() {
        say("truth.share", "nothing changed that costs; leave it out");
    }
    if truth.sources.is_empty() || truth.sources.iter().any(|source| source.trim().is_empty()) {
        say("truth.sources", "name an issue, a commit, a manual or a paper, and what it says");
    }
}

/// What is wrong with all pairs of a folder and its classes.
///
/// # Errors
/// Where the folder or the classes cannot be read.
pub(crate) fn all(field: &Path, chosen: impl Fn(&Pair) -> bool) -> anyhow::Result<Checked> {
    let known = Classes::read(&field.join("classes.toml"))?;
    let (mut pairs, mut wrong) = crate::pair::read_all(field)?;
    pairs.retain(chosen);
    wrong.extend(classes(&known));
    wrong.extend(pairs.iter().flat_map(|one| pair(one, &known)));
    let notes = pairs.iter().flat_map(|one| names_of_class(one, &known)).collect();
    Ok(Checked { pairs: pairs.len(), wrong, notes })
}

/// What came of a check.
pub(crate) struct Checked {
    /// How many pairs were looked at, without those that cannot be read.
    pub(crate) pairs: usize,
    /// What is wrong, in lines.
    pub(crate) wrong: Vec<String>,
    /// What is weak, in lines.
    pub(crate) notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::testing;
    use std::collections::BTreeMap;

    #[test]
    fn the_pairs_of_this_repository_have_their_form() {
        let Checked { pairs, wrong, .. } = all(&crate::field_folder(), |_| true).unwrap();
        assert!(pairs > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        let field = tempfile::tempdir().unwrap();
        let known = Classes(BTreeMap::from([("sync-writes".to_owned(), vec!["sync-writes".to_owned()])]));
        let whole = testing::pair(field.path(), "a", testing::WHOLE).unwrap();
        assert_eq!(pair(&whole, &known), Vec::<String>::new());
        for (from, to, key, what) in [
            ("SYNC = \"on\"", "SYNC = \"off\"", "slow, fast", "the same"),
            ("SYNC = \"on\"", "SYNC = \"on\"\nMORE = 1", "slow.MORE", "lacks"),
            ("SYNC = \"on\"", "PORT = 80", "slow.PORT", "the runner sets"),
            ("bench", "bench $SIDE", "scripts.load", "$SIDE"),
            ("bench", "bench ${SIDE}", "scripts.load", "$SIDE"),
            ("exec server", "exec server $SERVER", "scripts.serve", "$SERVER"),
            ("bench", "bench $HERE/x.sql", "scripts.load", "$HERE/x.sql"),
            ("bench", "if true", "scripts.load", "bash cannot read it"),
            ("serve = \"exec server $SYNC\"", "", "record.what", "no `serve`"),
            ("what = \"serve\"", "what = \"serve\"\noptions = [\"--all\"]", "record.options", "--all"),
            ("count = '^done (\\d+)'", "count = '^done \\d+'", "work.count", "parentheses"),
            ("count = '^done (\\d+)'", "count = '^done ('", "work.count", "no regular expression"),
            ("count = '^done (\\d+)'", "tool = \"ab\"", "work.tool", "none of"),
            ("count = '^done (\\d+)'", "count = '(1)'\ntool = \"wrk\"", "work", "one of"),
            ("effect = \"mean\"", "effect = \"tail\"", "work.tail_ms", "99th percentile"),
            ("unit = ", "tail_ms = '(1)'\nunit = ", "work.tail_ms", "leave it out"),
            ("[\"sync-writes\"]", "[\"syncs\"]", "truth.classes", "syncs is none of"),
            ("[\"sync-writes\"]", "[]", "truth.classes", "only there"),
            ("\"databases\"", "\"innocent\"", "truth.classes", "only there"),
            ("effect = \"mean\"", "effect = \"none\"", "truth.effect", "only there"),
            ("names = [\"fdatasync\"]", "", "truth.names", "would name"),
            ("\"fdatasync\"", "\"(\"", "truth.names", "no regular expression"),
            ("\"fdatasync\"", "\"a*\"", "truth.names", "any text"),
            ("effect = ", "share = 90\neffect = ", "truth.share", "parts of one"),
            ("[\"the manual\"]", "[]", "truth.sources", "manual"),
            ("\"a log on the disk\"", "\"\"", "title", "in a line"),
            ("\"postgresql\"", "\"postgresql redis\"", "packages", "one Debian package"),
        ] {
            assert!(testing::WHOLE.contains(from), "{from}");
            let changed = testing::pair(field.path(), "a", &testing::WHOLE.replacen(from, to, 1)).unwrap();
            let wrong = pair(&changed, &known);
            let begin = format!("field/a/pair.toml: {key}: ");
            assert!(wrong.iter().any(|line| line.starts_with(&begin) && line.contains(what)), "{key}: {wrong:?}");
        }
    }

    #[test]
    fn a_name_that_the_class_says_is_noted() {
        let field = tempfile::tempdir().unwrap();
        let known = Classes(BTreeMap::from([("sync-writes".to_owned(), vec!["sync-writes".to_owned()])]));
        let of = |name: &str| {
            let text = testing::WHOLE.replace("\"fdatasync\"", &format!("{name:?}"));
            names_of_class(&testing::pair(field.path(), "a", &text).unwrap(), &known)
        };
        assert_eq!(of("XLogFlush"), Vec::<String>::new());
        assert!(of("sync-?writes")[0].contains("no more than the class"));
    }

    #[test]
    fn files_are_found_in_scripts() {
        let text = "cp \"$HERE/a.sql\" $HERE/b/c.conf; cat \"$HERE\"/d ${HERE}/e. $HERE/$NAME $HERE/f-$NAME $HERE/g*";
        assert_eq!(files_of(text), ["a.sql", "b/c.conf", "d", "e"]);
    }
}
