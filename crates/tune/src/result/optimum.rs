//! What a search for the best values has come to.

use serde::Serialize;

/// A search. Its variants are the default, what was tried while searching (each trial has its own `set`), and those that were looked
/// at again, whose `changes` are what to quote.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct Optimum {
    /// The parameters that vary.
    pub parameters: Vec<String>,
    /// Trials of the search so far, and at most.
    pub searched: usize,
    /// See `searched`.
    pub search: usize,
    /// Blocks in which the best are held against the default, at most.
    pub blocks: usize,
    /// The program that was asked what to try; null where that was the built-in one.
    pub asked: Option<String>,
    /// The variant to take: the best of those that were looked at again, or 0 where none is better than the default. Null before.
    pub take: Option<usize>,
    /// What that was over the default as it looked while searching, as a factor: too good, for it was picked for that. Null for the
    /// default itself, and where its trial failed.
    pub seen: Option<f64>,
    /// How many measures are sought to be good: 1, or 2.
    pub objectives: usize,
    /// Of two measures: what was tried and no other beats in both, the best by the first one first; else empty.
    pub front: Vec<FrontPoint>,
}

/// A point of the front.
#[derive(Clone, Debug, PartialEq, Serialize, ts_rs::TS)]
pub struct FrontPoint {
    /// Its values, in the order of `parameters`.
    pub set: Vec<String>,
    /// The two measures: geometric means of its trials.
    pub values: Vec<f64>,
    /// Its trials while searching.
    pub trials: Vec<usize>,
    /// The variant that it is, where it is the default or was looked at again.
    pub variant: Option<usize>,
}
