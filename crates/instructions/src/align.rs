//! Two versions of a function side by side: block by block, and in blocks instruction by instruction, whatever addresses and registers they have.

use crate::{Code, Register};
use std::collections::HashMap;

/// A line of both versions: instructions by index, where the version has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// In the first version.
    pub left: Option<usize>,
    /// In the second.
    pub right: Option<usize>,
    /// They do the same: they differ in addresses and in names of registers at most.
    pub same: bool,
}

/// Pairs of instructions that are compared at most: beyond it, only blocks that are the same are paired.
const PAIRS: usize = 16_000_000;

/// An instruction within its block, without addresses and names of registers.
struct Token {
    name: u64,
    form: u64,
    /// Registers by their first use in the block.
    registers: Vec<u8>,
}

impl Token {
    /// How alike two are: 0 for not at all. `u32` so that sums are exact.
    fn like(&self, other: &Token) -> u32 {
        if self.name != other.name {
            0
        } else if self.form != other.form {
            2
        } else if self.registers != other.registers {
            5
        } else {
            6
        }
    }
}

fn tokens(code: &Code) -> Vec<Vec<Token>> {
    let of_block = |block: usize| {
        let mut met: HashMap<Register, u8> = HashMap::new();
        let token = |instruction: &crate::Instruction| {
            let mut number = |register: &Register| {
                let next = met.len() as u8;
                *met.entry(*register).or_insert(next)
            };
            Token {
                name: instruction.name,
                form: instruction.form,
                registers: instruction.operands.iter().map(&mut number).collect(),
            }
        };
        code.of_block(block).iter().map(token).collect()
    };
    (0..code.blocks.len()).map(of_block).collect()
}

/// Pairs from two lists, in order, of the greatest sum of values: those without a value are not paired. And the sum.
fn pairs(rows: usize, columns: usize, value: &dyn Fn(usize, usize) -> u32) -> (Vec<(usize, usize)>, u32) {
    let width = columns + 1;
    let mut best = vec![0u32; (rows + 1) * width];
    let get = |best: &[u32], a: usize, b: usize| best.get(a * width + b).copied().unwrap_or(0);
    for a in (0..rows).rev() {
        for b in (0..columns).rev() {
            let with = value(a, b);
            let paired = if with > 0 { with + get(&best, a + 1, b + 1) } else { 0 };
            let most = paired.max(get(&best, a + 1, b)).max(get(&best, a, b + 1));
            if let Some(cell) = best.get_mut(a * width + b) {
                *cell = most;
            }
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut found = Vec::new();
    while a < rows && b < columns {
        let here = get(&best, a, b);
        let with = value(a, b);
        if with > 0 && here == with + get(&best, a + 1, b + 1) {
            found.push((a, b));
            a += 1;
            b += 1;
        } else if here == get(&best, a + 1, b) {
            a += 1;
        } else {
            b += 1;
        }
    }
    (found, get(&best, 0, 0))
}

/// Lays two versions of a function side by side. All instructions of both are in the rows once, those of the first in order.
pub fn align(left: &Code, right: &Code) -> Vec<Row> {
    let (mine, theirs) = (tokens(left), tokens(right));
    let small = left.instructions.len().saturating_mul(right.instructions.len()) <= PAIRS;
    // How alike two blocks are. Two fifths of the larger one must have a partner, or they are not versions of each other.
    let alike = |a: usize, b: usize| -> u32 {
        let (Some(a), Some(b)) = (mine.get(a), theirs.get(b)) else { return 0 };
        let equal = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.like(b) == 6);
        if equal {
            return 6 * a.len() as u32 + 1;
        }
        if !small {
            return 0;
        }
        let (_, sum) = pairs(a.len(), b.len(), &|x, y| a.get(x).zip(b.get(y)).map_or(0, |(x, y)| x.like(y)));
        if sum as usize * 5 >= 12 * a.len().max(b.len()) { sum } else { 0 }
    };
    let mut values = vec![0u32; mine.len() * theirs.len().max(1)];
    let counted = mine.len().saturating_mul(theirs.len()) <= PAIRS;
    if counted {
        for a in 0..mine.len() {
            for b in 0..theirs.len() {
                if let Some(value) = values.get_mut(a * theirs.len() + b) {
                    *value = alike(a, b);
                }
            }
        }
    }
    let value = |a: usize, b: usize| values.get(a * theirs.len() + b).copied().unwrap_or(0);
    let mut partners: Vec<Option<usize>> = vec![None; mine.len()];
    let mut taken = vec![false; theirs.len()];
    let in_order = if counted { pairs(mine.len(), theirs.len(), &value).0 } else { Vec::new() };
    let mut pair = |a: usize, b: usize| {
        if let (Some(partner), Some(taken)) = (partners.get_mut(a), taken.get_mut(b))
            && partner.is_none()
            && !*taken
        {
            *partner = Some(b);
            *taken = true;
        }
    };
    in_order.iter().for_each(|&(a, b)| pair(a, b));
    // Blocks that were moved: the same, and long enough that this is no accident.
    if counted {
        for a in 0..mine.len() {
            let long = mine.get(a).is_some_and(|tokens| tokens.len() >= 3);
            let equal = |b: &usize| long && value(a, *b) == 6 * mine.get(a).map_or(0, Vec::len) as u32 + 1;
            (0..theirs.len()).filter(equal).for_each(|b| pair(a, b));
        }
    }
    let mut rows = Vec::with_capacity(left.instructions.len().max(right.instructions.len()));
    let mut next = 0usize;
    let alone = |block: usize, rows: &mut Vec<Row>| {
        if let Some(block) = right.blocks.get(block) {
            rows.extend((block.first..block.end).map(|at| Row { left: None, right: Some(at), same: false }));
        }
    };
    for (a, partner) in partners.iter().enumerate() {
        let Some(block) = left.blocks.get(a) else { continue };
        let other = partner.and_then(|b| right.blocks.get(b).map(|block| (b, block)));
        let Some((b, other)) = other else {
            rows.extend((block.first..block.end).map(|at| Row { left: Some(at), right: None, same: false }));
            continue;
        };
        // What of the second version stands before, and has no partner.
        if b >= next {
            (next..b).filter(|&b| !taken.get(b).copied().unwrap_or(true)).for_each(|b| alone(b, &mut rows));
            next = b + 1;
        }
        let (x, y) = (mine.get(a).map_or(&[][..], Vec::as_slice), theirs.get(b).map_or(&[][..], Vec::as_slice));
        let like = |i: usize, j: usize| x.get(i).zip(y.get(j)).map_or(0, |(i, j)| i.like(j));
        let (found, _) = pairs(x.len(), y.len(), &like);
        let (mut i, mut j) = (0, 0);
        for (to_i, to_j) in found.into_iter().chain([(x.len(), y.len())]) {
            rows.extend((i..to_i).map(|at| Row { left: Some(block.first + at), right: None, same: false }));
            rows.extend((j..to_j).map(|at| Row { left: None, right: Some(other.first + at), same: false }));
            if to_i < x.len() {
                rows.push(Row {
                    left: Some(block.first + to_i),
                    right: Some(other.first + to_j),
                    same: like(to_i, to_j) >= 5,
                });
            }
            (i, j) = (to_i + 1, to_j + 1);
        }
    }
    (next..right.blocks.len()).filter(|&b| !taken.get(b).copied().unwrap_or(true)).for_each(|b| alone(b, &mut rows));
    rows
}
