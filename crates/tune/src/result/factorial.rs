//! What a factorial has come to.

use serde::Serialize;

/// A factorial. Numbers of flags count from 0.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Factorial {
    /// The flags.
    pub flags: Vec<Flag>,
    /// `V` or `IV` where only a fraction of the combinations is run; null where all are.
    pub resolution: Option<String>,
    /// What follows from that: which flags are set by which, and what cannot be told apart; empty where all are run.
    pub aliased: String,
    /// Complete blocks: effects come from these alone.
    pub blocks: usize,
    /// What each flag and pair does, the greatest first.
    pub effects: Vec<FlagEffect>,
    /// The best combination as the effects predict it; null where none is told from nothing.
    pub predicted: Option<Combination>,
    /// The best of those that were run, as measured; null before the first complete block.
    pub measured: Option<Combination>,
}

/// A parameter with two values.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Flag {
    /// Its name.
    pub name: String,
    /// Its first value, the usual one.
    pub off: String,
    /// The other.
    pub on: String,
}

/// What a flag or a pair does.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FlagEffect {
    /// The flag, or the two of a pair. Several of them share a contrast: the effect is of all of them together, and whose it is
    /// cannot be told.
    pub of: Vec<Vec<usize>>,
    /// The same in words: `gc`, `gc × thp`, `gc × thp or log × pool`.
    pub name: String,
    /// Of a flag: on ÷ off, as the geometric mean over all settings of the others. Of a pair: what both together do ÷ the
    /// product of what each does alone. Null before the first complete block.
    pub factor: Option<f64>,
    /// Its 95 % interval, by Student's t of the blocks; null with fewer than two.
    pub interval: Option<[f64; 2]>,
    /// The probability of a factor that is this far off where there is no effect, adjusted for the number of effects (Holm).
    pub p: Option<f64>,
    /// Whether it is told from nothing; where all flags do nothing, any is in 5 % of sessions at most.
    pub told: bool,
    /// The factor of each complete block, in their order.
    pub blocks: Vec<f64>,
}

/// A combination of flags.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Combination {
    /// The flags that are on, joined by +, or `all off`.
    pub name: String,
    /// The value of each flag: name and value.
    pub set: Vec<(String, String)>,
    /// The number of its variant; null where it was not run.
    pub variant: Option<usize>,
    /// The factor over all off.
    pub factor: Option<f64>,
    /// Its 95 % interval; null with fewer than two blocks, and for all off itself.
    pub interval: Option<[f64; 2]>,
}
