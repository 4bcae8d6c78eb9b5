//! `field keep`: takes what `explain` sees of recorded pairs into `fixtures/field`, small, so that `cargo test` asks about all of them.

use crate::judge::{Recorded, machine};
use crate::kept::{Kept, Run};
use crate::pair::{Effect, Family, Pair, Set};
use crate::work::{middle, ratio};
use anyhow::Context;
use corpus::Expected;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The recordings of a pair that are kept, and what is known of it.
struct Choice {
    slow: PathBuf,
    fast: PathBuf,
    again: PathBuf,
    expected: Expected,
}

/// The middle pair of runs by their ratio, and of the runs of the fast side again the one that is the middle beside it.
fn choose(out: &Path, pair: &Pair) -> anyhow::Result<Result<Choice, String>> {
    let recorded = match Recorded::of(out, pair)? {
        Ok(recorded) => recorded,
        Err(why) => return Ok(Err(why)),
    };
    let kept = Kept::of(out, pair);
    let at = recorded.middle + 1;
    let of = |run: Run| kept.about(pair, run).transpose().context("not recorded")?;
    let fast = of(Run::Fast(at))?;
    let mut ratios = Vec::new();
    for n in 1..=crate::kept::REPEATS {
        ratios.push(ratio(pair.form.truth.effect, &of(Run::Again(n))?.done, &fast.done).unwrap_or(f64::NAN));
    }
    let again = middle(&ratios).map_or(1, |at| at + 1);
    let form = &pair.form;
    let about = ratio(form.truth.effect, &of(Run::Slow(at))?.done, &fast.done);
    let expected = Expected {
        title: form.title.clone(),
        language: form.language.clone(),
        origin: form.truth.sources.join("; "),
        set: if form.set == Some(Set::Held) { corpus::Set::HeldOut } else { corpus::Set::Tuned },
        classes: form.truth.classes.clone(),
        names: form.truth.names.clone(),
        family: Some(form.family.name().to_owned()),
        share: form.truth.share,
        ratio: about.map(|ratio| (ratio * 100.0).round() / 100.0),
        tail: form.truth.effect == Effect::Tail,
        recorded: format!("{}, {}", fast.day, machine()),
        ..Expected::default()
    };
    let [slow, fast, again] = [Run::Slow(at), Run::Fast(at), Run::Again(again)].map(|run| kept.recording(run));
    Ok(Ok(Choice { slow, fast, again, expected }))
}

/// Keeps these pairs; those that take no part are said. What all recordings have in common is taken of one of each family, once.
///
/// # Errors
/// Where a recording is damaged, or the folder cannot be written.
pub(crate) fn keep(pairs: &[Pair], out: &Path, fixtures: &Path) -> anyhow::Result<()> {
    let mut chosen = Vec::new();
    for pair in pairs {
        match choose(out, pair).with_context(|| pair.name.clone())? {
            Ok(choice) => chosen.push((pair, choice)),
            Err(why) => println!("{}: left out: {why}", pair.name),
        }
    }
    if !fixtures.join("common.zst").exists() && !chosen.is_empty() {
        let mut of_family: BTreeMap<Family, PathBuf> = BTreeMap::new();
        for (pair, choice) in &chosen {
            of_family.entry(pair.form.family).or_insert_with(|| choice.fast.clone());
        }
        corpus::keep::set_common(fixtures, &of_family.into_values().collect::<Vec<_>>()).context("what is common")?;
    }
    let kept = corpus::field::on_all_cpus(&chosen, |(pair, choice)| {
        let recordings = [("slow.twin", &*choice.slow), ("fast.twin", &*choice.fast), ("again.twin", &*choice.again)];
        corpus::keep::keep_all(&fixtures.join(&pair.name), &recordings, &choice.expected)
            .with_context(|| pair.name.clone())
    });
    kept.into_iter().collect::<anyhow::Result<Vec<()>>>()?;
    println!("{} of {} pairs are kept in {}", chosen.len(), pairs.len(), fixtures.display());
    Ok(())
}
