//! What could not be compared, and why.

use model::Status;
use query::Run;
use std::collections::BTreeMap;

/// Something that could not be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCompared {
    /// A table or a metric.
    pub what: String,
    /// Why.
    pub why: String,
}

/// One entry for each table and reason: a machine with many short-lived processes has thousands of metrics of a few samples each.
pub(crate) fn gathered(all: Vec<NotCompared>) -> Vec<NotCompared> {
    let mut reasons: BTreeMap<(String, String), Vec<NotCompared>> = BTreeMap::new();
    for one in all {
        let table = one.what.split('.').next().unwrap_or(&one.what).to_owned();
        let reason = one.why.chars().filter(|c| !c.is_ascii_digit()).collect();
        let list = reasons.entry((table, reason)).or_default();
        if !list.contains(&one) {
            list.push(one);
        }
    }
    let entry = |((table, _), list): ((String, String), Vec<NotCompared>)| match <[NotCompared; 1]>::try_from(list) {
        Ok([one]) => Some(one),
        Err(list) => {
            let why = list.first()?.why.clone();
            Some(NotCompared { what: format!("{table}: {} metrics", list.len()), why })
        }
    };
    reasons.into_iter().filter_map(entry).collect()
}

/// Why a run has nothing of a table.
pub(crate) fn why_missing(run: &Run, table: &str) -> String {
    let source = run.recording.tables().find(|(_, t)| t.name == table).map(|(source, _)| source);
    let source = source.map(str::to_owned);
    let coverage = run.recording.coverage();
    let matching = |c: &&model::Coverage| {
        c.status != Status::Read
            && (c.item == table || (c.item.is_empty() && source.as_ref().is_none_or(|s| *s == c.source)))
    };
    match coverage.iter().filter(|c| source.is_some() || c.item == table).find(matching) {
        Some(c) => format!("{}: {}", c.status.as_str(), c.why),
        None if source.is_none() => "its source was skipped, or could not be read there (see `twinscope info`)".into(),
        None => "it was not read within the window".into(),
    }
}
