//! The page *Machine*: figures of the machines of all recordings (`record --doctor`), and what `explain` makes of them.

use crate::bundle::{MachineFigure, MachinePart, MachineRatio, MachineValue, Machines};
use crate::explained::Explained;
use explain::machine::{Compared, Machines as OfPair, Origin, Part};
use model::{Figure, FigureRatio};
use query::Run;

/// What is known of machines; `None` where no run has figures.
pub(crate) fn machines(runs: &[Run], explained: Option<&Explained>) -> Option<Machines> {
    let (of_runs, disturbed): (Vec<Vec<Figure>>, Vec<Option<String>>) =
        runs.iter().map(query::machine::figures).unzip();
    if of_runs.iter().all(Vec::is_empty) {
        return None;
    }
    let pair = explained.and_then(|e| e.explanation.machines.pair.as_ref());
    let mut names: Vec<&Figure> = Vec::new();
    for figure in of_runs.iter().flatten() {
        if !names.iter().any(|known| known.id == figure.id) {
            names.push(figure);
        }
    }
    let mut figures: Vec<(f64, MachineFigure)> = names.into_iter().map(|named| figure(named, &of_runs, pair)).collect();
    figures.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    Some(Machines {
        figures: figures.into_iter().map(|(_, figure)| figure).collect(),
        says: pair.map(|pair| pair.says.clone()).unwrap_or_default(),
        parts: pair.map_or_else(Vec::new, |pair| pair.forecast.parts.iter().map(part).collect()),
        forecast: pair.map(|pair| ratio(&pair.forecast.ratio)),
        disturbed,
    })
}

fn ratio(of: &FigureRatio) -> MachineRatio {
    MachineRatio { value: of.value, low: of.low, high: of.high }
}

fn part(of: &Part) -> MachinePart {
    MachinePart {
        title: of.class.title().to_owned(),
        evidence: of.class.evidence().as_str().to_owned(),
        share: of.share,
        figure: of.figure.as_ref().map(|(here, _)| here.id.clone()),
        times: of.ratio.as_ref().map(ratio),
    }
}

/// One figure of all runs, and how far up the list it belongs: by what differs most, others in their order.
fn figure(named: &Figure, of_runs: &[Vec<Figure>], pair: Option<&OfPair>) -> (f64, MachineFigure) {
    let same = |figures: &Vec<Figure>| {
        let found = figures.iter().find(|f| f.id == named.id && f.unit == named.unit && f.more == named.more);
        found.cloned()
    };
    let values: Vec<Option<Figure>> = of_runs.iter().map(same).collect();
    let baseline = values.first().cloned().flatten();
    let over: Vec<Option<FigureRatio>> = values
        .iter()
        .enumerate()
        .map(|(run, own)| Some(own.as_ref()?.over(baseline.as_ref().filter(|_| run > 0)?)))
        .collect();
    let most = over.iter().flatten().filter(|of| of.differs()).map(FigureRatio::distance).fold(0.0, f64::max);
    let compared: Option<&Compared> = pair.and_then(|pair| pair.figures.iter().find(|of| of.slow.id == named.id));
    let origin: Option<&Origin> = compared.and_then(|of| of.origin.as_ref());
    let shown = MachineFigure {
        id: named.id.clone(),
        title: named.title.clone(),
        unit: named.unit.as_str().into(),
        more: named.more,
        values: values
            .iter()
            .map(|of| of.as_ref().map(|of| MachineValue { value: of.value, low: of.low, high: of.high }))
            .collect(),
        ratios: over.iter().map(|of| of.as_ref().map(ratio)).collect(),
        differs: most > 0.0,
        origin: origin.map(|origin| origin.word().to_owned()),
        facts: origin.map(|origin| origin.facts().to_vec()).unwrap_or_default(),
    };
    (most, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: &str, value: f64) -> Figure {
        let [id, title, unit] = [id, "what it is", "s"].map(str::to_owned);
        Figure { id, title, unit, more: false, value, low: 0.98 * value, high: 1.02 * value, rounds: 9 }
    }

    #[test]
    fn figures_have_ratios_over_the_baseline() {
        let runs = [vec![of("call", 1e-7), of("fsync", 1e-3)], vec![of("call", 1.01e-7)], vec![of("call", 2e-7)]];
        let (most, call) = figure(&of("call", 1.0), &runs, None);
        assert!(call.differs && most > 0.6 && call.ratios[0].is_none());
        assert!((call.ratios[2].as_ref().unwrap().value - 2.0).abs() < 1e-9);
        let (most, fsync) = figure(&of("fsync", 1.0), &runs, None);
        assert!(most == 0.0 && !fsync.differs && fsync.ratios.iter().all(Option::is_none));
        assert!(fsync.values[0].is_some() && fsync.values[1].is_none());
        assert_eq!(machines(&[], None), None);
    }
}
