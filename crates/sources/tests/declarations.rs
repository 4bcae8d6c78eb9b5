//! Whether the declarations of all sources hold together: names are unique, and what charts, groups and derived metrics refer to
//! is there.

use model::{Chart, Den, Kind, Table, Type};
use sources::{ALL, Source};
use std::collections::HashSet;

fn every(mut check: impl FnMut(&'static Source, &'static Table)) {
    for source in ALL {
        for table in source.tables {
            check(source, table);
        }
    }
}

#[test]
fn names_are_unique() {
    let (mut sources, mut tables, mut charts) = (HashSet::new(), HashSet::new(), HashSet::new());
    for source in ALL {
        assert!(sources.insert(source.name), "source {}", source.name);
        for chart in source.charts {
            assert!(charts.insert(chart.id), "chart {}", chart.id);
        }
    }
    every(|source, table| {
        assert!(tables.insert(table.name), "table {} of {}", table.name, source.name);
        let mut names = HashSet::new();
        for name in table.columns.iter().map(|c| c.name).chain(table.derived.iter().map(|d| d.name)) {
            assert!(names.insert(name), "{}.{name}", table.name);
        }
    });
}

#[test]
fn labels_come_first_and_everything_is_explained() {
    every(|source, table| {
        let labels = table.labels().count();
        assert!(table.columns.iter().take(labels).all(|c| c.is_label()), "{}: labels come first", table.name);
        assert!(!source.documented.is_empty() && !source.title.is_empty(), "{}", source.name);
        for (name, help) in
            table.columns.iter().map(|c| (c.name, c.help)).chain(table.derived.iter().map(|d| (d.name, d.help)))
        {
            assert!(!help.is_empty(), "{}.{name} has no help", table.name);
        }
    });
}

#[test]
fn groups_and_derived_metrics_refer_to_columns() {
    every(|_, table| {
        let label = |name: &str| table.column(name).is_some_and(|c| c.is_label());
        for name in table.groups.iter().copied().flatten() {
            assert!(label(name), "{} is grouped by {name}", table.name);
        }
        for derived in table.derived {
            let divisor = match derived.den {
                Den::Time => &[],
                Den::Columns(columns) => columns,
            };
            for (name, _) in derived.num.iter().chain(divisor) {
                let column = table.column(name).filter(|c| matches!(c.kind, Kind::Counter | Kind::Gauge));
                assert!(column.is_some(), "{}.{} refers to {name}", table.name, derived.name);
            }
        }
    });
}

/// The unit that a column is drawn in; `None` where there is no such column.
fn drawn(table: &Table, name: &str) -> Option<&'static str> {
    if let Some(derived) = table.derived.iter().find(|d| d.name == name) {
        return Some(derived.unit);
    }
    let column = table.column(name).filter(|c| !c.is_label())?;
    Some(if column.is_cumulative() { column.unit.per_second() } else { column.unit.base() })
}

#[test]
fn charts_refer_to_what_is_there_and_draw_one_unit() {
    for source in ALL {
        for chart in source.charts {
            let Chart { id, table, .. } = *chart;
            let Some(table) = source.tables.iter().find(|t| t.name == table) else {
                panic!("{id}: {} has no table {table}", source.name)
            };
            let units: HashSet<&str> = chart
                .columns
                .iter()
                .map(|name| drawn(table, name).unwrap_or_else(|| panic!("{id}: no {name}")))
                .collect();
            assert_eq!(units.len(), 1, "{id} draws {units:?}");
            let split = chart.by.iter().chain(chart.only.as_ref().map(|(label, _)| label));
            for label in split {
                assert!(table.column(label).is_some_and(|c| c.is_label()), "{id} is split by {label}");
            }
            assert!(!chart.title.is_empty() && chart.read.len() > 20, "{id} does not say how to read it");
        }
    }
}

#[test]
fn measures_refer_to_columns_and_have_words_of_their_own() {
    let mut words: HashSet<&str> = HashSet::new();
    every(|_, table| words.extend(table.states().map(|(column, _)| column.name)));
    every(|_, table| {
        let Some(m) = table.measure else { return };
        assert!(words.insert(m.id), "{}: {} is the word for something else too", table.name, m.id);
        assert!(table.events, "{}: only events have stacks of their own", table.name);
        for text in [m.title, m.help, m.who] {
            assert!(!text.is_empty(), "{} is not explained", m.id);
        }
        let stacks = std::iter::once(m.stack).chain(m.other.map(|other| other.stack));
        let numbers = [m.weight].into_iter().chain(m.more.iter().copied()).chain((!m.at.is_empty()).then_some(m.at));
        for name in stacks.chain(numbers) {
            assert!(table.column(name).is_some_and(|c| c.ty == Type::Int), "{}.{name}", table.name);
        }
        let locks = m.locks.map_or([""; 3], |locks| [locks.name, locks.kind, locks.address]);
        let texts = m.labels.iter().copied().chain(m.other.map(|o| o.name)).chain(locks).chain([m.level, "comm"]);
        for name in texts.filter(|name| !name.is_empty()) {
            assert!(table.column(name).is_some_and(|c| c.ty == Type::Text), "{}.{name}", table.name);
        }
        assert!(m.level.is_empty() || m.labels.contains(&m.level), "{}: the level is a label", table.name);
    });
}

#[test]
fn buckets_rise_and_states_have_words_and_colours() {
    every(|_, table| {
        let mut end = 0.0;
        for column in table.columns.iter().filter(|c| c.kind == Kind::Histogram) {
            let bucket = column.bucket.unwrap_or_else(|| panic!("{}.{} has no bounds", table.name, column.name));
            assert!(bucket.end > end, "{}.{} ends before it begins", table.name, column.name);
            end = bucket.end;
        }
        for (column, state) in table.states() {
            assert!(!state.words.is_empty() && !column.title.is_empty(), "{}.{}", table.name, column.name);
            let is_color = |color: &&str| color.len() == 7 && u32::from_str_radix(&color[1..], 16).is_ok();
            assert!(state.color.iter().all(is_color), "{}.{}", table.name, column.name);
        }
    });
}
