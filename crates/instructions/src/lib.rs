//! What machine code says of itself, for x86-64 and aarch64: instructions with what they read and write, basic blocks and loops, a coarse lower bound of
//! what a round of a loop costs, registers that count the rounds, where samples land and what the CPU waited for there, where in memory instructions read
//! and write, and two versions of a function side by side.
//!
//! Nothing is read or measured here: bytes, samples and their times come from the caller. Where the code does not tell, the answer is that it does not.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod align;
mod arm;
mod blocks;
mod bound;
mod entered;
mod instruction;
mod landing;
mod operand;
mod registers;
mod rounds;
mod steps;
#[cfg(test)]
mod tests;
mod x86;

pub use align::{Row, align};
pub use blocks::{Block, Code, Loop};
pub use bound::{Bound, Limit, Verdict, bound, judge};
pub use instruction::{Assign, Flow, Instruction, Machine, Memory, Work, decode, start_of};
pub use landing::{Landed, Skid, Wait, Weights, calibrate, landed, loads_and_computes, wait_of, weigh};
pub use operand::{Touch, Values, ahead, touched};
pub use registers::{Register, Registers};
pub use rounds::{Known, Rate, Sample, Why, rate};
pub use steps::{Counter, Steps, steps};
