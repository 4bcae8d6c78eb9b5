//! Why a change made a difference: `explain` of the trials that were recorded for it, kept beside the session so that a look at it
//! does not take seconds each time.

use crate::folder::Folder;
use crate::result::{Next, Why};
use explain::{Explain, Explanation};
use files::Rules;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A side has no more recordings than this.
const MOST: usize = 3;

/// Findings below this part of the difference are not shown.
const LEAST: f64 = 0.05;

/// What is kept of an explanation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// The trials that it is of.
    slow: Vec<usize>,
    fast: Vec<usize>,
    /// Cause, what is said, share.
    findings: Vec<(String, String, f64)>,
    /// What to try about the first.
    advice: Vec<String>,
    /// Seconds of the slower side's threads per unit of work, by state.
    ledger: Vec<(String, f64)>,
}

/// The findings about the slower of two, against the faster; empty where there are no recordings, or nothing is found.
pub(crate) fn why(path: &Path, slow: &[usize], fast: &[usize]) -> Vec<Why> {
    if fast.is_empty() {
        return Vec::new();
    }
    let kept = kept(path, slow, fast);
    kept.findings.into_iter().map(|(cause, says, share)| Why { cause, says, share }).collect()
}

/// What limits a variant now, and what to try; `None` where that is not known.
pub(crate) fn limit(path: &Path, trials: &[usize]) -> Option<Next> {
    let kept = kept(path, trials, &[]);
    let (_, says, share) = kept.findings.first()?;
    let tried = kept.advice.first().map_or(String::new(), |advice| format!(" Try: {advice}."));
    let says = format!("What limits it now: {says} ({:.0} % of the time of its threads).{tried}", share * 100.0);
    let last = Folder::trial(path, *trials.first()?).join("run.twin");
    Some(Next { says, command: Some(format!("twinscope explain {}", last.display())) })
}

fn kept(path: &Path, slow: &[usize], fast: &[usize]) -> Kept {
    let few = |of: &[usize]| of.iter().copied().take(MOST).collect::<Vec<_>>();
    let (slow, fast) = (few(slow), few(fast));
    let Some(first) = slow.first() else { return Kept::default() };
    let file =
        path.join("why").join(format!("{first}-{}.json", fast.first().map_or("alone".into(), ToString::to_string)));
    let there = files::foreign::text(&file).ok().and_then(|text| serde_json::from_str::<Kept>(&text).ok());
    if let Some(there) = there.filter(|kept| kept.slow == slow && kept.fast == fast) {
        return there;
    }
    let Some(made) = explained(path, &slow, &fast) else { return Kept::default() };
    let text = serde_json::to_string(&made).unwrap_or_default();
    // Where it cannot be kept it is made again.
    let _ = files::make_folder(&path.join("why"))
        .and_then(|()| files::write(&file, text.as_bytes(), Rules { replace: true, ..Rules::default() }));
    made
}

fn explained(path: &Path, slow: &[usize], fast: &[usize]) -> Option<Kept> {
    let file = |number: &usize| Folder::trial(path, *number).join("run.twin");
    let files: Vec<PathBuf> = slow.iter().chain(fast).map(file).collect();
    let runs = query::open(&files).ok()?;
    // That it is slower was found by other trials, and more of them.
    let options = Explain { least: Some(0.0), ..Explain::default() };
    let explanation: Explanation = explain::explain(runs, slow.len(), &options).ok()?;
    let findings = explanation.findings.iter().filter(|f| f.share.value >= LEAST);
    let advice = explanation.findings.first().map(|f| f.advice.clone()).unwrap_or_default();
    let ledger = explanation.ledger.iter().map(|(state, time, _)| (state.name().to_owned(), time.slow));
    Some(Kept {
        slow: slow.to_vec(),
        fast: fast.to_vec(),
        findings: findings.map(|f| (f.cause.clone(), f.says.clone(), f.share.value)).collect(),
        advice,
        ledger: ledger.filter(|(_, time)| *time > 0.0).collect(),
    })
}

/// The seconds of threads per unit of work, by state; empty where there are no recordings.
pub(crate) fn ledger(path: &Path, trials: &[usize]) -> Vec<(String, f64)> {
    kept(path, trials, &[]).ledger
}
