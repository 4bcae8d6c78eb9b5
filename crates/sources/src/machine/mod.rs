//! Figures of the machine that were measured before the recording began (`record --doctor`): what a system call, a page fault, a load from memory and
//! such take on it, by which `explain` tells a slower machine from a slower program.

use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Column, Compare, Figure, Out, Table, Unavailable, Unit, real};

const fn number(name: &'static str, help: &'static str) -> Column {
    Column::real(name, Unit::None, help).compared(Compare::Never)
}

static MACHINE: Table = Table::wide(
    "machine",
    "one figure of the machine, measured before the recording began",
    &[
        Column::label("figure", "which it is, the same on all machines: call, memory.dram"),
        Column::label("title", "in words"),
        Column::label("unit", "the unit of the values: s, B/s, Hz, or empty"),
        Column::label("better", "more or less: which is better"),
        Column::label(
            "disturbed",
            "what others did while it was measured, where it was so much that it is not the machine's alone",
        ),
        number("value", "the median of the rounds"),
        number("low", "what one round of ten is below"),
        number("high", "what one round of ten is above"),
        Column::gauge("rounds", Unit::None, "how many rounds there were").compared(Compare::Never),
    ],
)
.of_events();

/// Figures of the machine.
pub static SOURCE: Source = Source {
    name: "machine",
    title: "figures of the machine, measured before the command starts",
    documented: "docs/machines.md",
    reads: &[],
    needs: "record --doctor",
    pace: Pace::Once,
    tables: &[&MACHINE],
    charts: &[],
    open: |_, scope: &Scope| {
        if scope.figures.is_empty() {
            return Err(Unavailable::not_applicable("measured only when asked").remedy("record --doctor"));
        }
        Ok(Box::new(Machine { figures: scope.figures.clone(), disturbed: scope.figures_disturbed.clone() }))
    },
};

struct Machine {
    /// Those that are not told yet.
    figures: Vec<Figure>,
    disturbed: Option<String>,
}

impl Reader for Machine {
    fn read(&mut self, _host: &Host, out: &mut Out<'_>) -> Result<(), Unavailable> {
        for figure in self.figures.drain(..) {
            let cells = [
                out.text(&figure.id),
                out.text(&figure.title),
                out.text(&figure.unit),
                out.text(if figure.more { "more" } else { "less" }),
                self.disturbed.as_deref().map_or(model::NULL, |why| out.text(why)),
                real(figure.value),
                real(figure.low),
                real(figure.high),
                i64::from(figure.rounds),
            ];
            out.row(0, &cells);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Rows, Status, Symbols};

    #[test]
    fn they_are_told_once_and_only_when_asked() {
        let host = Host::live();
        let why = (SOURCE.open)(&host, &Scope::default()).err().unwrap();
        assert!(why.status == Status::NotApplicable && why.remedy.as_deref() == Some("record --doctor"), "{why}");
        let [id, title, unit] = ["call", "a call", "s"].map(str::to_owned);
        let figure = Figure { id, title, unit, more: false, value: 2e-7, low: 1e-7, high: 3e-7, rounds: 9 };
        let scope = Scope { figures: vec![figure], ..Scope::default() };
        let mut reader = (SOURCE.open)(&host, &scope).unwrap();
        for count in [1, 0] {
            let mut rows = vec![Rows::default()];
            let (mut symbols, mut coverage, mut facts) = (Symbols::default(), Vec::new(), Vec::new());
            let mut out = Out::new("machine", SOURCE.tables, &mut rows, &mut symbols, &mut coverage, &mut facts);
            reader.read(&host, &mut out).unwrap();
            assert_eq!(rows[0].len(), count);
        }
    }
}
