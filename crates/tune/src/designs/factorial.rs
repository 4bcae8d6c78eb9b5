//! On and off of several flags: the effect of each, and what pairs of them do beyond that.
//!
//! All combinations of up to four flags are run, and of more a fraction of 16, by the generators of Box, Hunter and Hunter
//! ("Statistics for experimenters", 2nd edition, Wiley 2005, table 6.22; the same in the NIST/SEMATECH e-Handbook of
//! Statistical Methods, 5.3.3.4.7). Signs are chosen so that all flags off is among the runs. Each block has all runs, so an
//! effect is one contrast of logarithms a block, in which the machine's state in that block is not; what scatters from block to
//! block is what Student's t of these contrasts judges by, each with a scatter of its own.

use super::sweep::complete;
use crate::experiment::Variant;
use crate::space::Set;
use crate::stage::{Kind, Stage};
use crate::{Design, Session};
use query::stats::pairs::looks;
use query::stats::special::t_two_sided;
use std::collections::BTreeMap;

/// The most flags.
pub const MOST: usize = 8;

/// Level of the intervals that are shown.
const SHOWN: f64 = 0.05;

/// Which combinations of flags are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// For each flag: the base flags of which it is the parity, as bits. A base flag has its own bit alone.
    masks: Vec<usize>,
    /// How many flags are varied freely.
    base: usize,
}

/// What one contrast is of: a flag, a pair, or several pairs that share it.
pub type Members = Vec<Vec<usize>>;

impl Runs {
    /// Those of so many flags; `None` for fewer than 2 and more than [`MOST`].
    pub fn of(flags: usize) -> Option<Runs> {
        // A = bit 0, B = bit 1, C = bit 2, D = bit 3.
        let generated: &[usize] = match flags {
            2..=4 => &[],
            5 => &[0b1111],                         // E = ABCD
            6 => &[0b0111, 0b1110],                 // E = ABC, F = BCD
            7 => &[0b0111, 0b1110, 0b1101],         // E = ABC, F = BCD, G = ACD
            8 => &[0b1110, 0b1101, 0b0111, 0b1011], // E = BCD, F = ACD, G = ABC, H = ABD
            _ => return None,
        };
        let base = flags - generated.len();
        let masks = (0..base).map(|flag| 1 << flag).chain(generated.iter().copied()).collect();
        Some(Runs { masks, base })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        1 << self.base
    }

    /// How many flags.
    pub fn flags(&self) -> usize {
        self.masks.len()
    }

    /// Whether a flag is on in a run. In run 0 none is.
    pub fn on(&self, run: usize, flag: usize) -> bool {
        self.masks.get(flag).is_some_and(|mask| (run & mask).count_ones() % 2 == 1)
    }

    /// The flags that are on in a run.
    pub fn all_on(&self, run: usize) -> Vec<usize> {
        (0..self.flags()).filter(|flag| self.on(run, *flag)).collect()
    }

    /// `V` or `IV` of a fraction; `None` where all combinations are run.
    pub fn resolution(&self) -> Option<&'static str> {
        match self.flags() {
            5 => Some("V"),
            6.. => Some("IV"),
            _ => None,
        }
    }

    /// The flags whose setting follows from others, and from which.
    pub fn generated(&self) -> Vec<(usize, Vec<usize>)> {
        let of = |mask: usize| (0..self.base).filter(|flag| mask >> flag & 1 == 1).collect();
        self.masks.iter().enumerate().skip(self.base).map(|(flag, mask)| (flag, of(*mask))).collect()
    }

    /// The contrasts: each flag, then each pair, those that cannot be told apart together.
    pub fn contrasts(&self) -> Vec<Members> {
        let mut pairs: Vec<(usize, Members)> = Vec::new();
        for a in 0..self.flags() {
            for b in a + 1..self.flags() {
                let column = self.masks[a] ^ self.masks[b];
                match pairs.iter_mut().find(|(known, _)| *known == column) {
                    Some((_, members)) => members.push(vec![a, b]),
                    None => pairs.push((column, vec![vec![a, b]])),
                }
            }
        }
        let flags = (0..self.flags()).map(|flag| vec![vec![flag]]);
        flags.chain(pairs.into_iter().map(|(_, members)| members)).collect()
    }

    /// 1 where a run has these flags alike (one: on), −1 where not.
    fn sign(&self, members: &Members, run: usize) -> f64 {
        sign(members, &|flag| self.on(run, flag))
    }
}

/// The sign of a contrast where these flags are on.
fn sign(members: &Members, on: &dyn Fn(usize) -> bool) -> f64 {
    let first = members.first().map_or(&[][..], Vec::as_slice);
    first.iter().map(|flag| if on(*flag) { 1.0 } else { -1.0 }).product()
}

/// The variants of a file: a run each, named by the flags that are on.
///
/// # Errors
/// What is no flag, or too many.
pub(crate) fn variants(parameters: &BTreeMap<String, Vec<String>>) -> Result<Vec<Variant>, (String, String)> {
    let flags = flags(parameters);
    if let Some(many) = flags.iter().find(|name| parameters.get(*name).is_some_and(|values| values.len() != 2)) {
        let what = format!("factorial: {many} has more than two values, and a flag has two, the usual one first");
        return Err((many.clone(), what));
    }
    let Some(runs) = Runs::of(flags.len()) else {
        let what = format!("factorial: 2 to {MOST} parameters with two values each, but there are {}", flags.len());
        return Err(("[parameters]".into(), what));
    };
    let variant = |run: usize| {
        let value = |(flag, name): (usize, &String)| {
            Some((name.clone(), parameters.get(name)?.get(usize::from(runs.on(run, flag)))?.clone()))
        };
        let set: Set = flags.iter().enumerate().filter_map(value).collect();
        Variant::of(named(&flags, &runs.all_on(run)), set)
    };
    Ok((0..runs.count()).map(variant).collect())
}

/// The parameters that vary, in their order.
pub(crate) fn flags(parameters: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    parameters.iter().filter(|(_, values)| values.len() > 1).map(|(name, _)| name.clone()).collect()
}

/// What a combination is called.
pub(crate) fn named(flags: &[String], on: &[usize]) -> String {
    let on: Vec<&str> = on.iter().filter_map(|flag| flags.get(*flag)).map(String::as_str).collect();
    if on.is_empty() { "all off".into() } else { on.join(" + ") }
}

pub(crate) fn stage(session: &Session, flags: usize) -> Option<Stage> {
    let runs = Runs::of(flags)?;
    let stage = || Stage::new(Kind::Factorial, (0..runs.count()).collect(), Vec::new(), session.plan().blocks);
    session.stages().is_empty().then(stage)
}

/// What is known of a contrast. Numbers are differences of logarithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// What it is of. Of a flag: on against off, as the mean over all settings of the others. Of a pair: what both together do
    /// beyond the sum of what each does alone.
    pub of: Members,
    /// One a complete block.
    pub blocks: Vec<f64>,
    /// Their mean; NaN without any.
    pub estimate: f64,
    /// Its 95 % interval by Student's t; `None` with fewer than two blocks.
    pub interval: Option<[f64; 2]>,
    /// The probability of a mean that is this far off where there is no effect, adjusted for the number of contrasts (Holm,
    /// "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979).
    pub p: Option<f64>,
    /// Whether that is at most [`crate::Plan::wrong`]: so often at most is anything told where all flags do nothing.
    pub told: bool,
}

impl Effect {
    fn is_pair(&self) -> bool {
        self.of.first().is_some_and(|of| of.len() > 1)
    }
}

/// The runs of a session, where it is a factorial.
pub fn runs(session: &Session) -> Option<Runs> {
    let Design::Factorial { flags } = session.plan().design else { return None };
    Runs::of(flags)
}

/// The effects, the greatest first.
pub fn effects(session: &Session) -> Vec<Effect> {
    let Some(runs) = runs(session) else { return Vec::new() };
    let blocks: Vec<Vec<f64>> = complete(session).iter().map(|block| block.iter().map(|x| x.ln()).collect()).collect();
    let half = runs.count() as f64 / 2.0;
    let mut effects: Vec<Effect> = (runs.contrasts().into_iter())
        .map(|of| {
            // The usual effect of a pair is half of what both do beyond the sum of what each does.
            let times = if of.first().is_some_and(|of| of.len() > 1) { 2.0 } else { 1.0 };
            let contrast = |block: &Vec<f64>| {
                let signed = block.iter().enumerate().map(|(run, y)| runs.sign(&of, run) * y);
                times * signed.sum::<f64>() / half
            };
            let blocks: Vec<f64> = blocks.iter().map(contrast).collect();
            let estimate = blocks.iter().sum::<f64>() / blocks.len() as f64;
            let interval = looks::student(&blocks, SHOWN).map(|e| [e.low, e.high]);
            Effect { of, estimate, interval, p: probability(&blocks), told: false, blocks }
        })
        .collect();
    holm(&mut effects, session.plan().wrong);
    effects.sort_by(|a, b| b.estimate.abs().total_cmp(&a.estimate.abs()));
    effects
}

/// P(a mean this far off) by Student's t, where the true one is 0.
fn probability(d: &[f64]) -> Option<f64> {
    let n = d.len() as f64;
    if d.len() < 2 {
        return None;
    }
    let mean = d.iter().sum::<f64>() / n;
    let variance = d.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(match (variance > 0.0, mean == 0.0) {
        (true, _) => t_two_sided(mean / (variance / n).sqrt(), n - 1.0),
        (false, true) => 1.0,
        (false, false) => 0.0,
    })
}

/// Adjusts the probabilities for all being looked at, and says which are told from nothing.
fn holm(effects: &mut [Effect], wrong: f64) {
    let mut order: Vec<usize> = (0..effects.len()).collect();
    let p = |of: &Effect| of.p.unwrap_or(1.0);
    order.sort_by(|a, b| p(&effects[*a]).total_cmp(&p(&effects[*b])));
    let mut least = 0.0f64;
    for (rank, at) in order.iter().enumerate() {
        let left = (effects.len() - rank) as f64;
        let effect = &mut effects[*at];
        least = least.max(p(effect) * left).min(1.0);
        effect.p = effect.p.map(|_| least);
        effect.told = effect.p.is_some_and(|p| p <= wrong);
    }
}

/// A combination and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The flags that are on.
    pub on: Vec<usize>,
    /// Its run, where it was run.
    pub run: Option<usize>,
    /// The logarithm of its factor over all off.
    pub estimate: f64,
    /// The 95 % interval of that; `None` with fewer than two blocks.
    pub interval: Option<[f64; 2]>,
}

/// The best combination as the effects predict it: by those that are told from nothing, and the flags of such pairs. Flags that
/// do nothing stay off. Where told pairs share a contrast, only combinations are looked at for which it does not matter
/// whose effect it is. `None` where nothing is told.
pub fn predicted(session: &Session, effects: &[Effect]) -> Option<Best> {
    let runs = runs(session)?;
    let sign_of_better = session.plan().measures.first()?.better.sign();
    let in_pair =
        |flag: usize| effects.iter().any(|e| e.told && e.is_pair() && e.of.iter().any(|of| of.contains(&flag)));
    let used = |e: &&Effect| e.told || (!e.is_pair() && e.of.first().is_some_and(|of| of.iter().any(|f| in_pair(*f))));
    let model: Vec<&Effect> = effects.iter().filter(used).collect();
    if model.is_empty() {
        return None;
    }
    // How much of each effect a combination has more than all off.
    let share = |effect: &Effect, on: &dyn Fn(usize) -> bool| match effect.is_pair() {
        false => (sign(&effect.of, on) + 1.0) / 2.0,
        true => (sign(&effect.of, on) - 1.0) / 4.0,
    };
    let clear = |on: &dyn Fn(usize) -> bool| {
        let alike = |e: &&&Effect| e.of.iter().all(|of| sign(&vec![of.clone()], on) == sign(&e.of, on));
        model.iter().filter(|e| e.is_pair()).all(|e| alike(&e))
    };
    let gain =
        |on: &dyn Fn(usize) -> bool| sign_of_better * model.iter().map(|e| share(e, on) * e.estimate).sum::<f64>();
    let mut best = (0usize, 0.0);
    for bits in 0..1usize << runs.flags() {
        let on = |flag: usize| bits >> flag & 1 == 1;
        let (gain, fewer) = (gain(&on), bits.count_ones() < best.0.count_ones());
        // What differs by rounding alone is the same.
        let more = gain > best.1 + 1e-12 || (fewer && gain > best.1 - 1e-12);
        if more && clear(&on) {
            best = (bits, gain);
        }
    }
    let on = |flag: usize| best.0 >> flag & 1 == 1;
    let blocks = model.first().map_or(0, |e| e.blocks.len());
    let of_block = |block: usize| model.iter().filter_map(|e| Some(share(e, &on) * e.blocks.get(block)?)).sum();
    let d: Vec<f64> = (0..blocks).map(of_block).collect();
    let on: Vec<usize> = (0..runs.flags()).filter(|flag| on(*flag)).collect();
    let run = (0..runs.count()).find(|run| runs.all_on(*run) == on);
    Some(best_of(on, run, &d))
}

/// The best of the runs as it was measured: the best of many means, and so too good on average. `None` before the first
/// complete block.
pub fn measured(session: &Session) -> Option<Best> {
    let runs = runs(session)?;
    let stage = session.stages().last()?;
    let sign = session.plan().measures.first()?.better.sign();
    let blocks = complete(session);
    let gain = |run: usize| sign * blocks.iter().filter_map(|b| Some(b.get(run)?.ln())).sum::<f64>();
    let all = (0..runs.count()).filter(|run| !blocks.is_empty() && !stage.series.fails(*run));
    let best = all.reduce(|best, run| if gain(run) > gain(best) { run } else { best })?;
    let d: Vec<f64> = blocks.iter().filter_map(|b| Some((b.get(best)? / b.first()?).ln())).collect();
    Some(best_of(runs.all_on(best), Some(best), &d))
}

fn best_of(on: Vec<usize>, run: Option<usize>, d: &[f64]) -> Best {
    let interval = looks::student(d, SHOWN).map(|e| [e.low, e.high]).filter(|_| !on.is_empty());
    Best { on, run, estimate: d.iter().sum::<f64>() / d.len() as f64, interval }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{KINDS, Noise, Simulated};
    use crate::{Better, End, Measure, Plan};

    #[test]
    fn fractions_are_those_of_the_books() {
        for flags in 2..=MOST {
            let runs = Runs::of(flags).unwrap();
            assert_eq!((runs.count(), runs.all_on(0).len()), (16.min(1 << flags), 0));
            // Each flag is on in half of the runs, and so are each pair's settings: no contrast has anything of another.
            let all = runs.contrasts();
            for (i, a) in all.iter().enumerate() {
                assert_eq!((0..runs.count()).map(|run| runs.sign(a, run)).sum::<f64>(), 0.0, "{a:?}");
                for b in &all[i + 1..] {
                    let both: f64 = (0..runs.count()).map(|run| runs.sign(a, run) * runs.sign(b, run)).sum();
                    assert_eq!(both, 0.0, "{flags} flags: {a:?} and {b:?}");
                }
                for of in a {
                    // What shares a contrast has the same sign in all runs.
                    let alone = vec![of.clone()];
                    assert!((0..runs.count()).all(|run| runs.sign(&alone, run) == runs.sign(a, run)));
                }
            }
        }
        assert_eq!((Runs::of(1), Runs::of(9)), (None, None));
        let rows = |flags| Runs::of(flags).unwrap().contrasts().len();
        // Resolution V: each pair has its own. IV: pairs share seven.
        assert_eq!([2, 3, 4, 5, 6, 7, 8].map(rows), [3, 6, 10, 15, 13, 14, 15]);
        let six = Runs::of(6).unwrap();
        assert!(six.contrasts().contains(&vec![vec![0, 1], vec![2, 4]]), "AB + CE, as the books have it");
        assert_eq!(six.generated(), [(4, vec![0, 1, 2]), (5, vec![1, 2, 3])]);
    }

    fn session(flags: usize, blocks: usize, noise: Noise, seed: u64, effect: impl Fn(&Runs, usize) -> f64) -> Session {
        let runs = Runs::of(flags).unwrap();
        let effects: Vec<f64> = (0..runs.count()).map(|run| effect(&runs, run)).collect();
        let mut machine = Simulated::new(noise, seed, runs.count() * blocks).effects(&effects);
        let measures = vec![Measure { name: "wall".into(), better: Better::Less }];
        let plan = Plan { blocks, ..Plan::new(Design::Factorial { flags }, measures, seed ^ 0x5eed) };
        let mut session = Session::begin(plan, &mut Vec::new()).unwrap();
        assert_eq!(session.run(&mut machine, &mut Vec::new()).unwrap(), End::Finished);
        session
    }

    #[test]
    fn effects_and_an_interaction_are_found() {
        // The first takes a tenth off, the second adds 4 %, and the third takes 8 % off together with the fourth alone.
        let truth = |runs: &Runs, run: usize| {
            let on = |flag| f64::from(u8::from(runs.on(run, flag)));
            on(0) * 0.9f64.ln() + on(1) * 0.04 + on(2) * on(3) * 0.92f64.ln()
        };
        for flags in [4, 5, 6, 8] {
            let session = session(flags, 8, Noise::Moods, 3, truth);
            let effects = effects(&session);
            let find = |of: &[usize]| effects.iter().find(|e| e.of.iter().any(|m| m == of)).unwrap();
            for (of, truth) in [(&[0][..], 0.9f64.ln()), (&[1], 0.04), (&[2, 3], 0.92f64.ln())] {
                let effect = find(of);
                let [low, high] = effect.interval.unwrap();
                assert!(effect.told && low < truth && truth < high, "{flags} flags: {of:?} {effect:?}");
            }
            // The mean of what it does with the other on and off.
            let [low, high] = find(&[2]).interval.unwrap();
            assert!(low < 0.92f64.ln() / 2.0 && 0.92f64.ln() / 2.0 < high);
            assert!(effects.windows(2).all(|w| w[0].estimate.abs() >= w[1].estimate.abs()));
            let predicted = predicted(&session, &effects).unwrap();
            let best = if flags < 6 { vec![0, 2, 3] } else { predicted.on.clone() };
            assert_eq!(predicted.on, best);
            assert!([0, 2, 3].iter().all(|flag| predicted.on.contains(flag)), "{predicted:?}");
            let [low, high] = predicted.interval.unwrap();
            let whole = (0.9f64 * 0.92).ln();
            assert!(low < whole && whole < high, "{flags} flags: {predicted:?}");
            let measured = measured(&session).unwrap();
            assert!(measured.estimate < -0.1 && measured.on.contains(&0), "{measured:?}");
        }
    }

    #[test]
    fn flags_that_do_nothing_are_called_in_five_percent_of_sessions_at_most() {
        for flags in [3, 6] {
            for noise in KINDS {
                let told = |seed: &u64| effects(&session(flags, 8, noise, *seed, |_, _| 0.0)).iter().any(|e| e.told);
                // Of 80, 10 or more have a probability of 0.6 % at a rate of 5 %; docs/method.md has the rates.
                let called = (0..80).filter(told).count();
                assert!(called < 10, "{flags} flags, {noise:?}: {called} of 80");
            }
        }
    }

    #[test]
    fn a_run_that_never_works_ends_it() {
        let runs = Runs::of(3).unwrap();
        let measures = vec![Measure { name: "wall".into(), better: Better::Less }];
        let plan = Plan { blocks: 9, ..Plan::new(Design::Factorial { flags: 3 }, measures, 1) };
        let mut failures = vec![0.0; runs.count()];
        failures[5] = 1.0;
        let mut machine = Simulated::new(Noise::White, 1, 72).failures(&failures);
        let mut session = Session::begin(plan, &mut Vec::new()).unwrap();
        assert_eq!(session.run(&mut machine, &mut Vec::new()).unwrap(), End::Finished);
        assert_eq!(session.trials(), 24, "three blocks");
        let effects = effects(&session);
        assert!(effects.iter().all(|e| !e.told && e.interval.is_none()));
        assert_eq!((predicted(&session, &effects), measured(&session)), (None, None));
    }
}
