//! Figures of the machine that a recording holds (`record --doctor`).

use crate::Run;
use model::{Figure, NULL, Symbols, real_of};

/// The figures of a run's machine, and what disturbed their measurement; none where they were not measured. Those that cannot be, of a file that was
/// changed, are left out.
pub fn figures(run: &Run) -> (Vec<Figure>, Option<String>) {
    const NAMES: [&str; 9] = ["figure", "title", "unit", "better", "disturbed", "value", "low", "high", "rounds"];
    let mut symbols = Symbols::default();
    let mut rows: Vec<[i64; NAMES.len()]> = Vec::new();
    run.recording.scan("machine", &NAMES, None, &mut symbols, |batch| {
        rows.extend((0..batch.len()).map(|row| std::array::from_fn(|column| batch.cell(column, row))));
    });
    let text = |cell: i64| symbols.text(cell).unwrap_or_default().to_owned();
    let (mut all, mut disturbed): (Vec<Figure>, Option<String>) = (Vec::new(), None);
    for [figure, title, unit, better, by, value, low, high, rounds] in rows {
        let number = |cell: i64| real_of(cell).unwrap_or(f64::NAN);
        let found = Figure {
            id: text(figure),
            title: text(title),
            unit: text(unit),
            more: text(better) == "more",
            value: number(value),
            low: number(low),
            high: number(high),
            rounds: u32::try_from(rounds).unwrap_or(0),
        };
        if found.check().is_ok() && !all.iter().any(|known| known.id == found.id) {
            all.push(found);
        }
        if by != NULL {
            disturbed = Some(text(by));
        }
    }
    (all, disturbed)
}
