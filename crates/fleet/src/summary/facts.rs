//! The facts of a host, those that `compare` holds against each other; and what each source could read, for what was not read can be what tells
//! hosts apart.

use super::{Rows, Subject};

/// The category of what could be read.
pub const COVERAGE: &str = "coverage";

/// Adds them.
pub fn reduce(subject: &Subject<'_>, rows: &mut Rows) {
    let mut put = |category: &str, name: &str, value: &str| {
        let number = value.trim().parse::<f64>().ok();
        let (host, id) = (subject.host.clone(), subject.id.clone());
        rows.fact.push(&[category.into(), name.into(), host, id, value.into(), number.into()]);
    };
    for ((category, name), values) in compare::all_facts(std::slice::from_ref(subject.run)) {
        if let Some(value) = values.into_iter().flatten().next() {
            put(&category, &name, &value);
        }
    }
    let mut names = std::collections::HashSet::new();
    for coverage in subject.run.recording.coverage() {
        let name = match coverage.item.as_str() {
            "" => coverage.source.clone(),
            item => format!("{}.{item}", coverage.source),
        };
        // A source may say several things of one item: the first stands.
        if names.insert(name.clone()) {
            put(COVERAGE, &name, coverage.status.as_str());
        }
    }
}
