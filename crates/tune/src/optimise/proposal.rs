//! Which values to try next: at random, then by a Tree-structured Parzen Estimator (Bergstra et al., "Algorithms for
//! hyper-parameter optimization", NIPS 2011; the crate `tpe`).
//!
//! It is made anew for each proposal, of the seed and the trials in the journal alone, so that a session that was killed goes on
//! as it would have.

use super::parego::{as_one, costs, normalised};
use super::{Dimension, Space, Told, history, space};
use crate::space::Set;
use crate::{Design, Session};
use query::stats::rng::Rng;
use std::convert::Infallible;
use tpe::{TpeOptimizerBuilder, categorical_range, histogram_estimator, parzen_estimator, range};

/// Trials of the search at random, the default among them.
pub const RANDOM: usize = 8;

/// So often something else is drawn where `where` does not hold: by the estimator, and then at random.
const REDRAWN: usize = 100;

/// So often something else is drawn where the same was tried before: in simulation new values find more than repeats do, and the
/// blocks at the end repeat what is worth it.
const NEW: usize = 20;

/// The part of the trials that is taken for good. (0.1 and 0.2 fell shorter of the best in simulation.)
const GOOD: f64 = 0.15;

/// Of so many candidates of each dimension the most promising is taken.
const CANDIDATES: usize = 24;

/// The numbers of this project as those of the crate `rand`, so that they are the same in each of its versions.
struct Numbers(Rng);

impl rand::TryRng for Numbers {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.bits())
    }

    fn try_fill_bytes(&mut self, to: &mut [u8]) -> Result<(), Infallible> {
        for part in to.chunks_mut(8) {
            let bytes = self.0.bits().to_le_bytes();
            part.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        }
        Ok(())
    }
}

/// The values of the next trial.
pub fn propose(session: &Session) -> Set {
    let (Some(space), Design::Optimise { objectives, .. }) = (space(session), &session.plan().design) else {
        return Set::new();
    };
    let told = history(session);
    let number = told.len() + 1;
    let mut rng = Rng::new(session.plan().seed ^ (number as u64).wrapping_mul(0xa076_1d64_78bd_642f));
    let mut search = Search::new(space, &told, |rng| scores(&told, session, *objectives, rng), &mut rng);
    let allowed = |set: &Set| space.allows(set).unwrap_or(false);
    for attempt in 0..2 * REDRAWN {
        let set = search.draw(attempt < REDRAWN && number > RANDOM, &mut rng);
        let new = attempt >= NEW || !told.iter().any(|t| t.set == set);
        if new && allowed(&set) {
            return set;
        }
    }
    // It is known to be allowed.
    space.default_set()
}

/// What each trial is told to have cost: of two measures with weights drawn for this proposal. One that failed cost as much as the
/// worst that did not.
fn scores(told: &[Told], session: &Session, objectives: usize, rng: &mut Rng) -> Vec<f64> {
    let known: Vec<Option<Vec<f64>>> = told.iter().map(|t| costs(t, &session.plan().measures, objectives)).collect();
    let scaled = normalised(&known.iter().flatten().cloned().collect::<Vec<_>>());
    let weight = rng.uniform();
    let weights = if objectives == 2 { vec![weight, 1.0 - weight] } else { vec![1.0] };
    let mut scaled = scaled.iter().map(|f| as_one(f, &weights));
    let own: Vec<Option<f64>> = known.iter().map(|k| k.as_ref().and_then(|_| scaled.next())).collect();
    let worst = own.iter().flatten().copied().fold(0.0, f64::max);
    own.into_iter().map(|score| score.unwrap_or(worst)).collect()
}

/// An estimator for each dimension.
struct Search<'a> {
    space: &'a Space,
    estimators: Vec<Option<tpe::TpeOptimizer>>,
}

impl<'a> Search<'a> {
    fn new(space: &'a Space, told: &[Told], scores: impl FnOnce(&mut Rng) -> Vec<f64>, rng: &mut Rng) -> Search<'a> {
        let scores = scores(rng);
        let estimator = |d: &Dimension| {
            let points = d.values.len();
            let (kind, range) = match d.ordered {
                true => (parzen_estimator(), range(0.0, points as f64).ok()?),
                false => (histogram_estimator(), categorical_range(points).ok()?),
            };
            let mut made = TpeOptimizerBuilder::new().gamma(GOOD).candidates(CANDIDATES).build(kind, range).ok()?;
            // The middle of a point's part of the range stands for it.
            let middle = if d.ordered { 0.5 } else { 0.0 };
            for (told, score) in told.iter().zip(&scores) {
                let place = d.place(&told.set)?;
                made.tell(place as f64 + middle, *score).ok()?;
            }
            Some(made)
        };
        Search { space, estimators: space.dimensions.iter().map(estimator).collect() }
    }

    /// Values of all dimensions: by the estimators, or at random.
    fn draw(&mut self, estimated: bool, rng: &mut Rng) -> Set {
        let mut set = Set::new();
        for (d, estimator) in self.space.dimensions.iter().zip(&mut self.estimators) {
            let points = d.values.len();
            let mut numbers = Numbers(rng.clone());
            let estimate = estimator.as_mut().filter(|_| estimated).and_then(|e| e.ask(&mut numbers).ok());
            let place = match estimate {
                Some(x) => {
                    *rng = numbers.0;
                    (x.max(0.0) as usize).min(points.saturating_sub(1))
                }
                None => rng.below(points),
            };
            set.extend(d.at(place));
        }
        set
    }
}
