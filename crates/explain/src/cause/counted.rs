//! How many more cycles of an instruction go into what, as hardware counters tell it: the table `counted`, which causes ask. It is of the whole machine; only
//! of runs on CPUs of one kind, for others count in another way.

use compare::counted::{Cycles, cycles};
use compare::{PerSide, Side};
use model::Window;
use query::sql::Value;
use query::{Run, Session};

/// All that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted(Vec<Cycles>);

impl Counted {
    /// Reads them.
    pub(crate) fn of(runs: &[Run], side: &[Side], windows: &[Window]) -> Counted {
        let of = PerSide::of(|wanted| {
            let own = runs.iter().zip(windows).zip(side).filter(|(_, side)| **side == wanted);
            own.map(|(of, _)| of).collect::<Vec<_>>()
        });
        Counted(if of.baseline.is_empty() { Vec::new() } else { cycles(&of.slow, &of.baseline) })
    }

    /// Defines the table.
    ///
    /// # Errors
    /// Where SQLite refuses.
    pub(crate) fn define(&self, session: &mut Session) -> Result<(), query::Error> {
        let rows = self.0.iter().map(|of| {
            let each = of.each.map_or(Value::Null, Value::Real);
            vec![
                Value::Text(of.class.word().to_owned()),
                Value::Text(of.title.to_owned()),
                Value::Real(of.value[0]),
                Value::Real(of.value[1]),
                each,
                Value::Real(of.cpi[0]),
                Value::Real(of.cpi[1]),
                Value::Real(of.more),
                Value::Real(of.low),
                Value::Real(of.high),
            ]
        });
        let columns =
            ["class", "title", "slow", "against", "each", "slow_cpi", "against_cpi", "more", "more_low", "more_high"];
        session.define("counted", &columns, rows)
    }
}
