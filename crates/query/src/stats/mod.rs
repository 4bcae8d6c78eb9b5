//! The statistics under `compare` and `explain`: numbers in, numbers out. No input or output, no table, no clock.
//!
//! Everything is deterministic: where numbers are drawn at random, the generator is our own and its seed is an option.
//! What is assumed, why, and how it behaves when two equal runs are compared is in `docs/method.md`.

pub mod bootstrap;
pub mod change;
pub mod compare;
pub mod concurrency;
pub mod dependence;
pub mod distinct;
pub mod fdr;
pub mod histogram;
pub mod pairs;
pub mod poisson;
pub mod quantile;
pub mod rank;
pub mod rng;
pub mod sawtooth;
pub mod separation;
pub mod series;
pub mod special;
pub mod window;

pub use compare::{Comparer, Comparison, NotCompared, Options, Side, is_material};
pub use separation::separation;
pub use series::Series;
