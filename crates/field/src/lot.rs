//! The lot: which pairs rules may be changed by, and which only judge.
//!
//! Within a family half of the pairs go to each set, in an order that their names make. What was drawn is never changed: a pair that is
//! added later goes to the set that has fewer pairs of its family, and where both have as many, its own lot decides.

use crate::pair::{FILE, Family, Pair, Set, hex};
use anyhow::{Context, bail};
use files::Rules;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Fixed before the first pair was drawn.
const SALT: &str = "field exam of Twinscope, 2026-11-28: ";

/// The lot of a name: what orders pairs, and decides where a family has as many of each set.
fn lot(name: &str) -> [u8; 32] {
    Sha256::digest(format!("{SALT}{name}")).into()
}

/// Draws for those that have no set, by family.
pub(crate) fn draw(pairs: &[(&str, Family, Option<Set>)]) -> Vec<(String, Set)> {
    let mut drawn = Vec::new();
    let mut families: BTreeMap<Family, ([usize; 2], Vec<&str>)> = BTreeMap::new();
    for (name, family, set) in pairs {
        let (counts, waiting) = families.entry(*family).or_default();
        match set {
            Some(Set::Held) => counts[0] += 1,
            Some(Set::Tuned) => counts[1] += 1,
            None => waiting.push(name),
        }
    }
    for ([mut held, mut tuned], mut waiting) in families.into_values() {
        waiting.sort_by_key(|name| hex(&lot(name)));
        for name in waiting {
            // The last byte is not what the order is made by.
            let is_held = if held == tuned { lot(name)[31] & 1 == 0 } else { held < tuned };
            *(if is_held { &mut held } else { &mut tuned }) += 1;
            drawn.push((name.to_owned(), if is_held { Set::Held } else { Set::Tuned }));
        }
    }
    drawn
}

/// Writes the set of a pair into its file, below the language, and leaves the rest of its text as it is.
///
/// # Errors
/// Where the file has another form, or cannot be written.
pub(crate) fn write(pair: &Pair, set: Set) -> anyhow::Result<()> {
    let file = pair.folder.join(FILE);
    let text = std::fs::read_to_string(&file)?;
    files::write(&file, with_set(&text, set)?.as_bytes(), Rules { replace: true, ..Rules::default() })
        .with_context(|| file.display().to_string())?;
    let read = Pair::read(&pair.folder)?;
    if read.form.set != Some(set) {
        bail!("{}: the set could not be written", file.display());
    }
    Ok(())
}

fn with_set(text: &str, set: Set) -> anyhow::Result<String> {
    let mut at = None;
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if line.trim_start().starts_with('[') {
            break;
        }
        if line.starts_with("language") || (at.is_none() && line.starts_with("family")) {
            at = Some(length);
        }
    }
    let Some((before, after)) = at.and_then(|at| text.split_at_checked(at)) else {
        bail!("there is no line `family = …` before the first table");
    };
    Ok(format!("{before}set = \"{}\"\n{after}", set.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];

    fn all(set: impl Fn(&str) -> Option<Set>) -> Vec<(&'static str, Family, Option<Set>)> {
        let family = |at: usize| if at < 6 { Family::Web } else { Family::Tails };
        NAMES.iter().enumerate().map(|(at, name)| (*name, family(at), set(name))).collect()
    }

    #[test]
    fn half_of_each_family_is_held() {
        let drawn = draw(&all(|_| None));
        let held = |names: &[&str]| {
            drawn.iter().filter(|(name, set)| names.contains(&name.as_str()) && *set == Set::Held).count()
        };
        assert_eq!((drawn.len(), held(&NAMES[..6])), (9, 3));
        assert!([1, 2].contains(&held(&NAMES[6..])));
    }

    #[test]
    fn the_order_of_files_does_not_matter_and_draws_are_what_they_were() {
        let mut there = all(|_| None);
        let drawn = draw(&there);
        there.reverse();
        assert_eq!(draw(&there), drawn);
        // This is what the lot once said; another order or salt would show here.
        let held: Vec<&str> =
            drawn.iter().filter(|(_, set)| *set == Set::Held).map(|(name, _)| name.as_str()).collect();
        assert_eq!(held.join(""), HELD);
    }

    const HELD: &str = "cafgi";

    #[test]
    fn pairs_that_are_added_change_no_other_one() {
        let first: BTreeMap<String, Set> = draw(&all(|_| None)[..4]).into_iter().collect();
        let later = all(|name| first.get(name).copied());
        let drawn = draw(&later);
        assert_eq!(drawn.len(), 5);
        assert!(drawn.iter().all(|(name, _)| !first.contains_key(name)));
        let held = first
            .values()
            .chain(drawn.iter().filter(|(name, _)| ["e", "f"].contains(&name.as_str())).map(|(_, set)| set));
        assert_eq!(held.filter(|set| **set == Set::Held).count(), 3);
    }

    #[test]
    fn the_text_stays_as_it_is() {
        let text = "# why\ntitle = \"family\"\nfamily = \"web\"\nlanguage = \"C\" # mostly\n\n[slow]\nlanguage = 1\n";
        let with = with_set(text, Set::Held).unwrap();
        assert_eq!(with, text.replace("# mostly\n", "# mostly\nset = \"held\"\n"));
        assert!(with_set("title = 1\n[slow]\nfamily = 2\n", Set::Held).is_err());
    }
}
