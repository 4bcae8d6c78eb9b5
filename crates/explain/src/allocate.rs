//! Gives each part of the lost time to one finding: first to what claims it, causes that yield after those that they yield to; then what follows
//! from that.

use crate::answer::Finding;
use crate::budget::{Budget, Cell, State, WAITS};
use crate::cause::{Cause, Found, Order};
use std::collections::{BTreeMap, HashMap};

/// Findings that explain less are not listed.
const LEAST_SHARE: f64 = 0.03;

/// Where findings have such a part of what some code grew by, the rest of it is what leads to them. Of code that only the slow side runs they must
/// have more: it can be the cause itself.
const MOST_OF_IT: f64 = 0.5;
const MOST_OF_NEW: f64 = 0.67;

/// The rest follows in part from so little below to so little above these: half of this.
const SOFT: f64 = 0.2;

/// What a cause was granted: parts of cells.
type Granted = Vec<(usize, f64)>;

/// The parts of cells that nobody has yet.
#[derive(Default)]
struct Left(HashMap<usize, f64>);

impl Left {
    fn of(&self, cell: usize) -> f64 {
        self.0.get(&cell).copied().unwrap_or(1.0)
    }

    fn take(&mut self, granted: &Granted) {
        for (cell, part) in granted {
            *self.0.entry(*cell).or_insert(1.0) -= part;
        }
    }
}

/// Divides the lost time among what was found; largest first.
pub(crate) fn allocated(budget: &Budget, order: &Order<'_>, found: Vec<(&Cause, Found)>) -> Vec<Finding> {
    let found: Vec<(&Cause, Found, f64)> = found
        .into_iter()
        .filter(|(_, f)| !f.claims.is_empty())
        .map(|(cause, f)| {
            let share = f.claims.iter().map(|c| c.part * budget.share(c.cell)).sum::<f64>();
            (cause, f, share)
        })
        .filter(|(.., share)| *share >= LEAST_SHARE)
        .collect();
    let (last, found) = found.into_iter().partition(|(cause, ..)| cause.last);
    let mut left = Left::default();
    let mut findings = Vec::new();
    grant(budget, in_turn(order, found), &mut left, &mut findings);
    follow(budget, &mut left, &mut findings);
    wake(budget, &mut left, &mut findings);
    // What only says which code it is comes last.
    grant(budget, in_turn(order, last), &mut left, &mut findings);
    finish(budget, findings)
}

/// In the order in which they are granted: who yields to another comes after it; else who claims more comes first.
fn in_turn<'c>(order: &Order<'_>, mut found: Vec<(&'c Cause, Found, f64)>) -> Vec<(&'c Cause, Found, f64)> {
    found.sort_by(|(a, x, p), (b, y, q)| q.total_cmp(p).then_with(|| (&a.id, &x.subject).cmp(&(&b.id, &y.subject))));
    let mut turns = Vec::with_capacity(found.len());
    while !found.is_empty() {
        let waits = |(cause, ..): &(&Cause, Found, f64)| found.iter().any(|(b, ..)| order.yields(&cause.id, &b.id));
        // There are no circles, so that one does not wait.
        let next = found.iter().position(|one| !waits(one)).unwrap_or(0);
        turns.push(found.remove(next));
    }
    turns
}

/// Grants what is left of their claims to causes, one after the other.
fn grant<'c>(
    budget: &Budget,
    found: Vec<(&'c Cause, Found, f64)>,
    left: &mut Left,
    into: &mut Vec<(&'c Cause, Found, Granted)>,
) {
    for (cause, one, _) in found {
        let granted: Granted = one.claims.iter().map(|c| (c.cell, c.part.min(left.of(c.cell)))).collect();
        let share = budget.claimed(&granted);
        if share.value >= LEAST_SHARE && share.low > 0.0 {
            left.take(&granted);
            into.push((cause, one, granted));
        }
    }
}

/// Where most of what some code grew by is explained, the code that leads there and what it costs besides belong to the same: a storm of calls is
/// made by code that grows with it. So does what leads to that code, where most of what both grew by is explained.
fn follow(budget: &Budget, left: &mut Left, findings: &mut [(&Cause, Found, Granted)]) {
    let mut places: BTreeMap<&str, (Vec<usize>, bool)> = BTreeMap::new();
    for (number, cell) in budget.cells.iter().enumerate().filter(|(_, cell)| !cell.focus.is_empty()) {
        let place = places.entry(&cell.focus).or_default();
        place.0.push(number);
        place.1 |= cell.fresh;
    }
    for (cells, is_new) in places.values() {
        give(budget, left, findings, cells, cells, *is_new);
    }
    for (place, (cells, is_new)) in &places {
        let name = format!(";{place};");
        let below =
            |(_, cell): &(usize, &Cell)| !cell.focus.is_empty() && (cell.focus == **place || cell.path.contains(&name));
        let all: Vec<usize> = budget.cells.iter().enumerate().filter(below).map(|(number, _)| number).collect();
        give(budget, left, findings, cells, &all, *is_new);
    }
}

/// Who has waited waits for a CPU then: where most of both is explained, the rest belongs to it.
fn wake(budget: &Budget, left: &mut Left, findings: &mut [(&Cause, Found, Granted)]) {
    let of = |is_one: &dyn Fn(State) -> bool| -> Vec<usize> {
        let cells = budget.cells.iter().enumerate();
        cells.filter(|(_, cell)| cell.state.is_some_and(is_one)).map(|(number, _)| number).collect()
    };
    let ready = of(&|state| state == State::Crowded);
    let both = of(&|state| matches!(state, State::Crowded | State::Idle) || WAITS.contains(&state));
    give(budget, left, findings, &ready, &both, false);
}

/// Gives what is left of `cells` to the findings that have most of what `all` grew by, in proportion.
fn give(
    budget: &Budget,
    left: &mut Left,
    findings: &mut [(&Cause, Found, Granted)],
    cells: &[usize],
    all: &[usize],
    is_new: bool,
) {
    let grown: f64 = all.iter().map(|&cell| budget.share(cell)).sum();
    let has = |granted: &Granted| -> f64 {
        let here = granted.iter().filter(|(cell, _)| all.binary_search(cell).is_ok());
        here.map(|&(cell, part)| part * budget.share(cell)).sum::<f64>().max(0.0)
    };
    let parts: Vec<f64> = findings.iter().map(|(.., granted)| has(granted)).collect();
    let explained: f64 = parts.iter().sum();
    if explained >= grown || explained <= 0.0 {
        return;
    }
    let needed = if is_new { MOST_OF_NEW } else { MOST_OF_IT };
    // A sample more or less must not move all of the rest.
    let most = ((explained / grown - needed) / SOFT + 0.5).clamp(0.0, 1.0);
    if most <= 0.0 {
        return;
    }
    for ((.., granted), part) in findings.iter_mut().zip(&parts).filter(|(_, part)| **part > 0.0) {
        granted.extend(cells.iter().map(|&cell| (cell, most * left.of(cell) * part / explained)));
    }
    left.take(&cells.iter().map(|&cell| (cell, most * left.of(cell))).collect());
}

fn finish(budget: &Budget, findings: Vec<(&Cause, Found, Granted)>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = findings
        .into_iter()
        .map(|(cause, one, granted)| Finding {
            cause: cause.id.clone(),
            title: cause.title.clone(),
            share: budget.claimed(&granted),
            subject: one.subject,
            says: one.says,
            evidence: one.evidence,
            advice: one.advice,
            check: cause.check.clone(),
            experiment: cause.experiment.iter().map(ToString::to_string).collect(),
            see: cause.see.clone(),
            query: cause.query(),
            states: states(budget, &granted),
        })
        .collect();
    // What fell elsewhere was made up for: all together explain the whole at most.
    let all: f64 = findings.iter().map(|f| f.share.value).sum();
    if all > 1.0 {
        for finding in &mut findings {
            for x in [&mut finding.share.value, &mut finding.share.low, &mut finding.share.high] {
                *x /= all;
            }
            finding.states.iter_mut().for_each(|(_, share)| *share /= all);
        }
    }
    for finding in &mut findings {
        finding.share.high = finding.share.high.min(1.0);
    }
    findings.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
    findings
}

/// In which states a finding's time was.
fn states(budget: &Budget, granted: &Granted) -> Vec<(State, f64)> {
    let mut sums: Vec<(State, f64)> = Vec::new();
    for &(cell, part) in granted {
        let Some(state) = budget.cells.get(cell).and_then(|c| c.state) else { continue };
        let share = part * budget.share(cell);
        match sums.iter_mut().find(|(s, _)| *s == state) {
            Some((_, sum)) => *sum += share,
            None => sums.push((state, share)),
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::Claim;

    fn cause(id: &str, layer: &str) -> Cause {
        Cause { id: id.into(), last: layer == "code", ..Cause::default() }
    }

    fn claims(cells: &[usize]) -> Found {
        let claims = cells.iter().map(|&cell| Claim { cell, part: 1.0 }).collect();
        Found { claims, ..Found::default() }
    }

    /// The shares of `storm`, which claims the first cell, and of `slower`, which claims all; places are called by their callers' names and
    /// their own, times are slow and fast.
    fn shares(cells: &[(&str, bool, [f64; 2])]) -> [f64; 2] {
        let cell = |(focus, fresh, times): &(&str, bool, [f64; 2])| {
            let (focus, path) = (focus.rsplit('/').next().unwrap().into(), format!(";{};", focus.replace('/', ";")));
            let cell = Cell { state: Some(State::User), focus, fresh: *fresh, path, ..Cell::default() };
            (cell, *times)
        };
        let budget = Budget::of_times(cells.iter().map(cell).collect());
        let (storm, slower) = (cause("storm", "kernel"), cause("slower", "code"));
        let all: Vec<usize> = (0..cells.len()).collect();
        let findings = allocated(&budget, &Order::default(), vec![(&slower, claims(&all)), (&storm, claims(&[0]))]);
        let of = |id: &str| findings.iter().find(|f| f.cause == id).map_or(0.0, |f| f.share.value);
        [of("storm"), of("slower")]
    }

    fn near(a: [f64; 2], b: [f64; 2]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
    }

    #[test]
    fn the_code_that_leads_to_a_finding_belongs_to_it() {
        // Below work, 6 of the 10 that were lost are calls, and 2 the code that makes them; 2 were lost elsewhere.
        let of = shares(&[("work", false, [7.0, 1.0]), ("work", false, [3.0, 1.0]), ("sort", false, [3.0, 1.0])]);
        assert!(near(of, [0.8, 0.2]), "{of:?}");
    }

    #[test]
    fn so_does_what_leads_to_that_code() {
        let of =
            shares(&[("serve/commit", true, [6.0, 0.0]), ("serve", false, [5.0, 2.0]), ("sort", false, [3.0, 2.0])]);
        assert!(near(of, [0.9, 0.1]), "{of:?}");
        let of =
            shares(&[("serve/commit", true, [2.0, 0.0]), ("serve", false, [9.0, 2.0]), ("sort", false, [3.0, 2.0])]);
        assert!(near(of, [0.2, 0.8]), "{of:?}");
    }

    #[test]
    fn where_a_finding_has_little_of_it_the_code_is_its_own() {
        let of = shares(&[("work", false, [3.0, 1.0]), ("work", false, [9.0, 1.0])]);
        assert!(near(of, [0.2, 0.8]), "{of:?}");
    }

    #[test]
    fn new_code_must_be_little_else() {
        let of = shares(&[("check", true, [5.0, 0.0]), ("check", true, [5.0, 0.0]), ("", false, [1.0, 1.0])]);
        assert!(near(of, [0.5, 0.5]), "{of:?}");
        let of = shares(&[("check", true, [8.0, 0.0]), ("check", true, [2.0, 0.0]), ("", false, [1.0, 1.0])]);
        assert!(near(of, [1.0, 0.0]), "{of:?}");
    }
}
