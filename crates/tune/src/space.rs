//! What parameters can be: lists and ranges, the combinations of several, and texts in which their values stand in braces.

use crate::file::{Parameter, nearest};
use crate::settings;
use query::Session;
use query::sql::Value;
use std::collections::BTreeMap;

/// A parameter's values by name.
pub type Set = BTreeMap<String, String>;

/// No parameter has more values than this, nor an experiment more combinations.
const MOST: usize = 1000;

/// The value of a parameter that stands for a TCP port that nobody listens on, another in each trial.
pub const FREE: &str = "free";

/// The values of a parameter, the usual one first.
///
/// # Errors
/// What is wrong with it.
pub fn values(of: &Parameter) -> Result<Vec<String>, String> {
    let values: Vec<String> = match of {
        Parameter::List(list) => list.iter().map(ToString::to_string).collect(),
        Parameter::Env(env) => env.values.iter().map(ToString::to_string).collect(),
        Parameter::Setting(of) => {
            settings::check(&of.setting)?;
            of.values.iter().map(ToString::to_string).collect()
        }
        Parameter::One(one) => vec![one.to_string()],
        Parameter::Range(text) => match range(text) {
            Some(values) => values?,
            None => vec![text.clone()],
        },
    };
    match values.len() {
        0 => Err("it has no values".into()),
        n if n > MOST => Err(format!("it has {n} values, more than {MOST}")),
        _ => Ok(values),
    }
}

/// The rates that a search may ask for: `A..B`, where it begins and the most, or one number, where it begins.
///
/// # Errors
/// What is wrong with it.
pub fn rates(of: &Parameter) -> Result<(f64, f64), String> {
    let ends = match of {
        Parameter::Range(text) => text.split_once("..").map(|(from, to)| (from.trim().parse(), to.trim().parse())),
        Parameter::One(one) => Some((one.to_string().parse(), one.to_string().parse().map(|rate: f64| rate * DOUBLED))),
        _ => None,
    };
    match ends {
        Some((Ok(from), Ok(to))) if from > 0.0 && from < to && to.is_finite() => Ok((from, to)),
        _ => Err("of a search it is where it begins and the most, such as \"100..50000\", or one number".into()),
    }
}

/// Where no most is given, the rate is doubled twenty times.
const DOUBLED: f64 = 1_048_576.0;

/// `A..B`, `A..BxFACTOR`, `A..B+STEP`; `None` where a text is no range. B is among the values, whatever the step.
fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (from, rest) = text.split_once("..")?;
    let first: f64 = from.trim().parse().ok()?;
    let at = rest.find(['x', '+']);
    let (to, step) = at.map_or((rest, None), |at| (&rest[..at], Some((&rest[at..at + 1], &rest[at + 1..]))));
    let last: f64 = to.trim().parse().ok()?;
    let wrong =
        || Err(format!("{text:?} is no range: such as 1..8, 10..100+10 or 1..64x2, from the lesser to the greater"));
    let (factor, add) = match step {
        None => (1.0, 1.0),
        Some((kind, number)) => match (kind, number.trim().parse::<f64>()) {
            ("x", Ok(factor)) if factor > 1.0 && first > 0.0 => (factor, 0.0),
            ("+", Ok(add)) if add > 0.0 => (1.0, add),
            _ => return Some(wrong()),
        },
    };
    if !(first.is_finite() && last.is_finite() && first < last) {
        return Some(wrong());
    }
    let mut values = Vec::new();
    let mut value = first;
    // What rounding leaves of a step is no step.
    while value < last - (last - first) * 1e-9 {
        if values.len() >= MOST {
            return Some(Err(format!("{text:?} has more than {MOST} values")));
        }
        values.push(number(value));
        value = value * factor + add;
    }
    values.push(number(last));
    Some(Ok(values))
}

fn number(value: f64) -> String {
    // Twelve digits: 0.1 + 0.2 is 0.3.
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// The parameters that go together with this one, itself among them, and their values: as many of each.
///
/// # Errors
/// That they have not.
pub(crate) fn zipped<'a>(
    name: &str,
    parameters: &'a BTreeMap<String, Vec<String>>,
    zip: &[Vec<String>],
) -> Result<(Vec<String>, Vec<&'a Vec<String>>), String> {
    let together =
        zip.iter().find(|z| z.iter().any(|other| other == name)).cloned().unwrap_or_else(|| vec![name.to_owned()]);
    let lists: Vec<&Vec<String>> = together.iter().filter_map(|p| parameters.get(p)).collect();
    let count = lists.first().map_or(0, |list| list.len());
    if lists.len() != together.len() || lists.iter().any(|list| list.len() != count) {
        return Err(format!("zip: {} are not all parameters with the same number of values", together.join(", ")));
    }
    Ok((together, lists))
}

/// All combinations of what varies, in the order of the parameters, the last varying fastest. Of those in `zip`, first goes with
/// first. Those for which one of `only` does not hold are left out.
///
/// # Errors
/// What cannot be combined, or asked.
pub fn combinations(
    parameters: &BTreeMap<String, Vec<String>>,
    varies: &[String],
    zip: &[Vec<String>],
    only: &[String],
) -> Result<Vec<Set>, String> {
    let mut all: Vec<Set> = vec![Set::new()];
    let mut done: Vec<String> = Vec::new();
    for name in varies {
        if done.contains(name) {
            continue;
        }
        let (together, lists) = zipped(name, parameters, zip)?;
        let count = lists.first().map_or(0, |list| list.len());
        done.extend(together.iter().cloned());
        if all.len().saturating_mul(count) > MOST {
            return Err(format!("there are more than {MOST} combinations"));
        }
        let with = |set: &Set, at: usize| {
            let own = together.iter().zip(&lists).filter_map(|(p, list)| Some((p.clone(), list.get(at)?.clone())));
            set.iter().map(|(name, value)| (name.clone(), value.clone())).chain(own).collect::<Set>()
        };
        all = all.iter().flat_map(|set| (0..count).map(move |at| (set, at))).map(|(set, at)| with(set, at)).collect();
    }
    let mut kept = Vec::new();
    for set in all {
        let mut whole: Set = parameters.iter().filter_map(|(p, v)| Some((p.clone(), v.first()?.clone()))).collect();
        whole.extend(set.clone());
        if holds(&whole, only)? {
            kept.push(set);
        }
    }
    if kept.is_empty() { Err("where: no combination is left".into()) } else { Ok(kept) }
}

/// Whether all of these hold: expressions of SQL over the parameters.
pub(crate) fn holds(set: &Set, only: &[String]) -> Result<bool, String> {
    let literal = |value: &String| match value.parse::<f64>() {
        Ok(number) if number.is_finite() => value.clone(),
        _ if matches!(value.as_str(), "true" | "false") => value.clone(),
        _ => format!("'{}'", value.replace('\'', "''")),
    };
    let columns: Vec<String> =
        set.iter().map(|(name, value)| format!("{} as \"{}\"", literal(value), name.replace('"', "\"\""))).collect();
    if only.is_empty() {
        return Ok(true);
    }
    let session = Session::of(Vec::new()).map_err(|e| e.to_string())?;
    for condition in only {
        let asked = format!("select ({condition}) from (select {})", columns.join(", "));
        let (_, rows) = session.all(&asked).map_err(|e| format!("where: {condition:?}: {e}"))?;
        match rows.first().and_then(|row| row.first()) {
            Some(Value::Integer(0)) => return Ok(false),
            Some(Value::Integer(_)) => {}
            _ => return Err(format!("where: {condition:?} is neither true nor false, such as threads <= 2 * pool")),
        }
    }
    Ok(true)
}

/// Puts values where their names stand in braces: `{threads}`. Two braces are one; braces around what is no name stay.
///
/// # Errors
/// A name that is none of them.
pub fn fill(text: &str, set: &Set, quote: impl Fn(&str) -> String) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        if from.starts_with("{{") || from.starts_with("}}") {
            filled.push_str(&from[..1]);
            rest = &from[2..];
            continue;
        }
        let name = from.strip_prefix('{').and_then(|inner| inner.split_once('}')).map(|(name, _)| name);
        match name.filter(|name| is_name(name)) {
            Some(name) => {
                let value = set.get(name).ok_or_else(|| unknown(name, set))?;
                filled.push_str(&quote(value));
                rest = &from[name.len() + 2..];
            }
            None => {
                filled.push_str(&from[..1]);
                rest = &from[1..];
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

fn unknown(name: &str, set: &Set) -> String {
    let known: Vec<&str> = set.keys().map(String::as_str).collect();
    let meant = match nearest(name, &known) {
        Some(meant) => format!("did you mean {{{meant}}}?"),
        None => format!("write {{{{{name}}}}} where braces are meant"),
    };
    format!("there is no parameter {name}; {meant}")
}

/// Whether this can be a parameter's name.
pub fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// A value as sh reads it back.
pub fn for_sh(value: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./=:,+@%".contains(&b);
    match !value.is_empty() && value.bytes().all(plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Scalar;
    use proptest::prelude::*;

    fn set(of: &[(&str, &str)]) -> Set {
        of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn ranges_have_both_ends() {
        let of = |text: &str| values(&Parameter::Range(text.into()));
        assert_eq!(of("1..64x2").unwrap(), ["1", "2", "4", "8", "16", "32", "64"]);
        assert_eq!(of("1..6x2").unwrap(), ["1", "2", "4", "6"]);
        assert_eq!(of("0..0.3+0.1").unwrap(), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(of("2..4").unwrap(), ["2", "3", "4"]);
        assert_eq!(of("free").unwrap(), ["free"]);
        for wrong in ["8..1", "1..8x1", "0..8x2", "1..8+0", "1..9999", "1..infx2"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        assert!(values(&Parameter::List(vec![])).is_err());
        assert_eq!(values(&Parameter::One(Scalar::Real(0.5))).unwrap(), ["0.5"]);
    }

    #[test]
    fn combinations_are_those_that_make_sense() {
        let list = |of: &[&str]| of.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
        let parameters = BTreeMap::from([
            ("pool".into(), list(&["1", "4"])),
            ("threads".into(), list(&["1", "2", "8"])),
            ("gc".into(), list(&["a b"])),
        ]);
        let varies = list(&["pool", "threads"]);
        let all = combinations(&parameters, &varies, &[], &[]).unwrap();
        assert_eq!((all.len(), &all[1]), (6, &set(&[("pool", "1"), ("threads", "2")])));
        let only = list(&["threads <= 2 * pool", "gc = 'a b'"]);
        let some = combinations(&parameters, &varies, &[], &only).unwrap();
        assert_eq!(some.len(), 5);
        let refused =
            |zip: &[Vec<String>], only: &[&str]| combinations(&parameters, &varies, zip, &list(only)).unwrap_err();
        assert!(refused(&[list(&["pool", "threads"])], &[]).contains("same number"));
        assert!(refused(&[], &["threads > 8"]).contains("no combination"));
        assert!(refused(&[], &["threeds > 8"]).contains("threeds"));
        assert!(refused(&[], &["'x'"]).contains("neither true nor false"));
        let zipped = BTreeMap::from([("a".into(), list(&["1", "2"])), ("b".into(), list(&["x", "y"]))]);
        let both = combinations(&zipped, &list(&["a", "b"]), &[list(&["a", "b"])], &[]).unwrap();
        assert_eq!(both, [set(&[("a", "1"), ("b", "x")]), set(&[("a", "2"), ("b", "y")])]);
    }

    #[test]
    fn names_in_braces_are_values() {
        let of = |text: &str| fill(text, &set(&[("n", "4"), ("word", "it's")]), for_sh);
        assert_eq!(of("run -t {n} {word}").unwrap(), "run -t 4 'it'\\''s'");
        assert_eq!(of("awk '{print $1}' {{n}} }} {").unwrap(), "awk '{print $1}' {n} } {");
        assert_eq!(of("{m}").unwrap_err(), "there is no parameter m; did you mean {n}?");
        assert_eq!(of("{whole}").unwrap_err(), "there is no parameter whole; write {{whole}} where braces are meant");
    }

    proptest! {
        #[test]
        fn any_text_can_be_filled(text in ".{0,60}") {
            let _ = fill(&text, &set(&[("a", "1")]), for_sh);
            let _ = values(&Parameter::Range(text));
        }

        #[test]
        fn sh_reads_back_what_was_quoted(value in "[^\u{0}]{0,20}") {
            let out = std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", for_sh(&value))).output().unwrap();
            prop_assert_eq!(String::from_utf8_lossy(&out.stdout), value);
        }
    }
}
