//! Reads the file of a cause.

use super::{Cause, Experiment, LAYERS, Tail};
use crate::tail::PARTS;
use model::Page;

/// What is asked where a file has no `when`.
pub(super) const ALWAYS: &str = "select 1.0 as score";

/// Reads a file.
///
/// # Errors
/// In words, where it is not as described in [`super`].
pub fn parse(text: &str) -> Result<Cause, String> {
    let mut lines = text.lines().peekable();
    let head = lines
        .next()
        .and_then(|l| l.strip_prefix("-- cause "))
        .ok_or("it does not begin with \"-- cause ID: TITLE\"")?;
    let (id, title) = head.split_once(": ").ok_or("its first line has no \": \"")?;
    if !is_identifier(id) {
        return Err(format!("{id:?} is no identifier: small letters, digits and - are allowed"));
    }
    let mut cause = Cause { id: id.to_owned(), title: title.to_owned(), ..Cause::default() };
    let mut header: Vec<String> = Vec::new();
    while let Some(line) = lines.next_if(|l| l.starts_with("-- ") && section(l).is_none()) {
        match (line.strip_prefix("--   "), header.last_mut()) {
            (Some(more), Some(before)) => *before = format!("{} {}", before.trim_end(), more.trim()),
            (Some(more), None) => return Err(format!("{more:?} goes on with nothing")),
            (None, _) => header.push(line.trim_start_matches("-- ").to_owned()),
        }
    }
    for line in &header {
        let (key, value) = line.split_once(": ").ok_or_else(|| format!("no \": \" in {line:?}"))?;
        read(&mut cause, key, value.trim())?;
    }
    questions(&mut cause, lines)?;
    if cause.tail.is_empty() != cause.tail_says.is_empty() {
        return Err("tail and tail-says go together".into());
    }
    for (what, missing) in [
        ("layer", cause.layer.is_empty()),
        ("says", cause.says.is_empty()),
        ("check", cause.check.is_empty()),
        ("try", cause.advice.is_empty()),
        ("claims", cause.claims.is_empty()),
    ] {
        if missing {
            return Err(format!("{what} is missing"));
        }
    }
    Ok(cause)
}

fn is_identifier(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// The name of the question that begins with this line.
fn section(line: &str) -> Option<&str> {
    line.strip_prefix("-- ")?.strip_suffix(':').filter(|name| ["when", "claims", "tells"].contains(name))
}

/// One line of the header.
fn read(cause: &mut Cause, key: &str, value: &str) -> Result<(), String> {
    match key {
        "layer" if LAYERS.contains(&value) => cause.layer = value.to_owned(),
        "layer" => return Err(format!("{value:?} is no layer; there are {}", LAYERS.join(", "))),
        "page" => {
            cause.pages = value.split_whitespace().map(str::to_owned).collect();
            // What the page of the set-up holds is no chart's.
            let known: Vec<&str> = Page::ALL.iter().map(|page| page.id()).chain(["set-up"]).collect();
            if let Some(page) = cause.pages.iter().find(|page| !known.contains(&page.as_str())) {
                return Err(format!("{page:?} is no page of the report; there are {}", known.join(", ")));
            }
        }
        "needs" => cause.needs.extend(value.split([' ', ',']).filter(|n| !n.is_empty()).map(str::to_owned)),
        "against" => {
            cause.against = match value {
                "yes" => true,
                "no" => false,
                _ => return Err(format!("against: {value:?} is neither yes nor no")),
            }
        }
        "yields" | "before" => {
            for id in value.split([' ', ',']).filter(|id| !id.is_empty()) {
                match (key, id) {
                    ("yields", "all") => cause.last = true,
                    (_, id) if !is_identifier(id) => return Err(format!("{key}: {id:?} is no identifier of a cause")),
                    ("yields", id) => cause.yields.push(id.to_owned()),
                    (_, id) => cause.before.push(id.to_owned()),
                }
            }
        }
        "says" => cause.says = value.to_owned(),
        "evidence" => cause.evidence.push(value.to_owned()),
        "check" => cause.check.push(value.to_owned()),
        "try" => cause.advice.push(value.to_owned()),
        "experiment" => cause.experiment.push(experiment(value)?),
        "see" => cause.see.push(value.to_owned()),
        "tail" => cause.tail.push(tail(value)?),
        "tail-says" => cause.tail_says = value.to_owned(),
        _ => {
            return Err(format!(
                "{key:?} is not known; there are layer, page, needs, against, yields, before, says, evidence, check, try, experiment, see, tail, tail-says, and the \
                 questions when, claims and tells"
            ));
        }
    }
    Ok(())
}

/// A part of slow requests, or `helper NAME`.
fn tail(text: &str) -> Result<Tail, String> {
    match text.split_once(' ') {
        Some(("helper", name)) => Ok(Tail::Helper(name.to_owned())),
        None if PARTS.contains(&text) => Ok(Tail::Part(text.to_owned())),
        _ => {
            Err(format!("tail: {text:?} is no part of a request; there are {}, and \"helper NAME\"", PARTS.join(", ")))
        }
    }
}

/// `KIND NAME: VALUE VALUE …`.
fn experiment(text: &str) -> Result<Experiment, String> {
    let form = || format!("experiment: expected KIND NAME: VALUES, such as \"env GOMAXPROCS: 1 2\", not {text:?}");
    let (what, values) = text.split_once(": ").ok_or_else(form)?;
    let (kind, name) = what.split_once(' ').ok_or_else(form)?;
    if !Experiment::KINDS.contains(&kind) {
        return Err(format!("experiment: {kind:?} is no kind; there are {}", Experiment::KINDS.join(", ")));
    }
    if kind == "setting" && !["/proc/sys/", "/sys/"].iter().any(|folder| name.starts_with(folder)) {
        return Err(format!("experiment: {name} is no setting: expected a file of /proc/sys or /sys"));
    }
    let values: Vec<String> = values.split_whitespace().map(str::to_owned).collect();
    if values.len() < 2 {
        return Err(format!("experiment: {name} needs two values at least, the present one among them (x1)"));
    }
    Ok(Experiment { kind: kind.to_owned(), name: name.to_owned(), values })
}

/// The questions. The cases that test them follow, see `tests/cases.rs`.
fn questions<'t>(cause: &mut Cause, lines: impl Iterator<Item = &'t str>) -> Result<(), String> {
    let mut of: Option<&str> = None;
    let mut texts: [(&str, String); 3] = ["when", "claims", "tells"].map(|name| (name, String::new()));
    for line in lines.take_while(|line| !line.starts_with("-- test ")) {
        if let Some(name) = section(line) {
            of = Some(name);
            continue;
        }
        match texts.iter_mut().find(|(name, _)| Some(*name) == of) {
            Some((_, text)) => *text += &format!("{line}\n"),
            None if line.trim().is_empty() => {}
            None => {
                return Err(format!("the header is not followed by \"-- when:\" or \"-- claims:\", but by {line:?}"));
            }
        }
    }
    for (name, text) in &mut texts {
        *text = text.trim().trim_end_matches(';').to_owned();
        let code = text.lines().find(|line| !line.trim_start().starts_with("--"));
        if !text.is_empty() && !code.is_some_and(|line| line.starts_with("select") || line.starts_with("with")) {
            return Err(format!("{name}: expected a select"));
        }
    }
    let [(_, when), (_, claims), (_, tells)] = texts;
    (cause.when, cause.claims, cause.tells) = (when, claims, tells);
    Ok(())
}
