//! The metrics that a frame holds. What a metric is, the declaration of its table says: [`model::Metric`].

use model::intern;
use store::Frame;

pub use model::{Metric, metric, metrics};

/// The metrics that a frame holds: for a wide table those of [`metrics`]; for a long one the fields that are in the frame, known or not, and
/// the derived metrics whose fields all are.
pub fn fields(frame: &Frame) -> Vec<Metric> {
    let table = frame.table;
    if !table.is_long() || table.events {
        return metrics(table);
    }
    let mut found: Vec<&'static str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for entity in &frame.entities {
        if let Some(&cell) = entity.labels.last()
            && seen.insert(cell)
            && let Some(name) = frame.symbols.text(cell)
        {
            found.push(intern(name));
        }
    }
    let field = |name: &&'static str| {
        let known = table.values().find(|c| c.name == *name).copied();
        Metric::of_column(table, &known.unwrap_or_else(|| table.unknown_field(name)))
    };
    let derived = table.derived.iter().filter_map(|d| Metric::of_derived(table, d));
    let here = derived.filter(|m| m.terms().all(|t| found.contains(&t.name)));
    found.iter().filter_map(field).chain(here).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CPU, VMSTAT, frame};

    #[test]
    fn units_are_those_shown() {
        let all = metrics(&CPU);
        let shown: Vec<_> = all.iter().map(|m| (m.full_name(), m.unit, m.per_operation, m.is_level())).collect();
        assert_eq!(
            shown,
            [
                ("cpu.user".into(), "s/s", Some("s/op"), false),
                ("cpu.idle".into(), "s/s", Some("s/op"), false),
                ("cpu.mhz".into(), "Hz", None, true),
                ("cpu.busy".into(), "s/s", Some("s/op"), false),
                ("cpu.busy_share".into(), "ratio", None, false),
            ]
        );
        assert_eq!(all[4].columns(), ["idle", "user"]);
    }

    #[test]
    fn fields_are_those_found_and_unknown_ones_are_kept() {
        let frame = frame(&VMSTAT, "t field value\n0 pgfault 1\n0 brand_new 2\n1 pgfault 2\n1 brand_new 2");
        let names: Vec<_> = fields(&frame).iter().map(|m| (m.name, m.unit)).collect();
        assert_eq!(names, [("pgfault", "1/s"), ("brand_new", "1/s")]);
        assert_eq!(metric(&VMSTAT, "brand_new").unwrap().columns(), ["value"]);
        assert!(metric(&CPU, "cpu").is_none() && metric(&CPU, "no such").is_none());
    }
}
