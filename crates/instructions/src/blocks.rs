//! The code of a function: its basic blocks and its natural loops.

use crate::{Flow, Instruction, Machine, Work, decode};
use std::collections::BTreeSet;

/// Instructions without a jump in or out but at their ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Its first instruction, by index.
    pub first: usize,
    /// One past its last.
    pub end: usize,
    /// Blocks that may follow.
    pub successors: Vec<usize>,
    /// Blocks that it may follow.
    pub predecessors: Vec<usize>,
    /// Among its successors are some that an indirect jump may have: assumed, for the code does not tell.
    pub assumed: bool,
}

/// A natural loop: what is passed through between its head and the jumps back to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block that it is entered by.
    pub head: usize,
    /// Blocks that jump back to the head.
    pub latches: Vec<usize>,
    /// All its blocks, in order.
    pub blocks: Vec<usize>,
    /// The loop around it, by index.
    pub parent: Option<usize>,
    /// 1 for an outermost one.
    pub depth: usize,
    /// No loop is within it.
    pub innermost: bool,
}

impl Loop {
    /// The same without the ways through some blocks; `None` where nothing is left of it, or nothing was taken away.
    pub(crate) fn without(&self, code: &Code, left_out: impl Fn(usize) -> bool) -> Option<Loop> {
        let stays = |block: &usize| self.blocks.binary_search(block).is_ok() && !left_out(*block);
        let reached = |from: Vec<usize>, next: &dyn Fn(&Block) -> &[usize], end: bool| {
            let mut found = BTreeSet::new();
            let mut todo = from;
            while let Some(block) = todo.pop() {
                if stays(&block) && found.insert(block) && !(end && block == self.head) {
                    todo.extend(code.blocks.get(block).map_or(&[][..], next));
                }
            }
            found
        };
        let ahead = reached(vec![self.head], &|block| &block.successors, false);
        let latches: Vec<usize> = self.latches.iter().copied().filter(|latch| ahead.contains(latch)).collect();
        let back = reached(latches.clone(), &|block| &block.predecessors, true);
        let blocks: Vec<usize> = ahead.intersection(&back).copied().collect();
        let is_less = !latches.is_empty() && blocks.contains(&self.head) && blocks.len() < self.blocks.len();
        is_less.then(|| Loop { latches, blocks, ..self.clone() })
    }
}

/// Decoded code of a function.
#[derive(Clone, Debug)]
pub struct Code {
    /// The machine it is for.
    pub machine: Machine,
    /// In order of addresses.
    pub instructions: Vec<Instruction>,
    /// In order of addresses.
    pub blocks: Vec<Block>,
    /// Outer ones before inner ones of the same head's order.
    pub loops: Vec<Loop>,
}

/// More blocks than any function has whose code is kept: beyond it loops are not looked for.
const BLOCKS: usize = 20_000;

impl Code {
    /// Decodes a function.
    pub fn new(machine: Machine, bytes: &[u8], address: u64) -> Code {
        let instructions = decode(machine, bytes, address);
        let blocks = blocks(&instructions);
        let loops = if blocks.len() <= BLOCKS { loops(&blocks) } else { Vec::new() };
        Code { machine, instructions, blocks, loops }
    }

    /// The instruction that begins at an address, by index.
    pub fn at(&self, address: u64) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |i| i.address).ok()
    }

    /// The block of an instruction.
    pub fn block_of(&self, instruction: usize) -> Option<usize> {
        let after = self.blocks.partition_point(|b| b.first <= instruction);
        after.checked_sub(1).filter(|&at| self.blocks.get(at).is_some_and(|b| instruction < b.end))
    }

    /// The innermost loop of a block, by index.
    pub fn loop_of(&self, block: usize) -> Option<usize> {
        let around = self.loops.iter().enumerate().filter(|(_, l)| l.blocks.binary_search(&block).is_ok());
        around.max_by_key(|(_, l)| l.depth).map(|(at, _)| at)
    }

    /// The instructions of a block.
    pub fn of_block(&self, block: usize) -> &[Instruction] {
        self.blocks.get(block).and_then(|b| self.instructions.get(b.first..b.end)).unwrap_or(&[])
    }

    /// The instructions of one round of an innermost loop, by index, from its head to a jump back: where paths part, by the block that `weight` says
    /// more of. `None` where a round may take ways that the code does not tell: loops within, indirect jumps.
    pub fn round(&self, which: &Loop, weight: &dyn Fn(usize) -> f64) -> Option<Vec<usize>> {
        if !which.innermost {
            return None;
        }
        let mut round = Vec::new();
        let mut block = which.head;
        for _ in 0..=which.blocks.len() {
            let here = self.blocks.get(block)?;
            if here.assumed {
                return None;
            }
            round.extend(here.first..here.end);
            let inside = here.successors.iter().copied().filter(|&s| which.blocks.binary_search(&s).is_ok());
            let next = inside.max_by(|&a, &b| {
                let of = |at: usize| if at == which.head { f64::MIN_POSITIVE } else { weight(at) };
                of(a).total_cmp(&of(b)).then(b.cmp(&a))
            })?;
            if next == which.head {
                return Some(round);
            }
            block = next;
        }
        None
    }

    /// All rounds of a loop take the same way.
    pub fn one_way(&self, which: &Loop) -> bool {
        which.innermost
            && which.blocks.iter().all(|&block| {
                self.blocks.get(block).is_some_and(|b| {
                    !b.assumed && b.successors.iter().filter(|s| which.blocks.binary_search(s).is_ok()).count() == 1
                })
            })
    }
}

fn blocks(instructions: &[Instruction]) -> Vec<Block> {
    let at = |address: u64| instructions.binary_search_by_key(&address, |i| i.address).ok();
    let mut leads = vec![false; instructions.len() + 1];
    let mut lead = |index: usize| {
        if let Some(leads) = leads.get_mut(index) {
            *leads = true;
        }
    };
    lead(0);
    for (index, instruction) in instructions.iter().enumerate() {
        match instruction.flow {
            Flow::Next | Flow::Call | Flow::IndirectCall => {}
            _ => lead(index + 1),
        }
        if matches!(instruction.flow, Flow::Jump | Flow::Branch) {
            instruction.target.and_then(at).into_iter().for_each(&mut lead);
        }
    }
    let firsts: Vec<usize> =
        leads.iter().take(instructions.len()).enumerate().filter_map(|(at, &leads)| leads.then_some(at)).collect();
    let ends = firsts.iter().copied().skip(1).chain([instructions.len()]);
    let mut blocks: Vec<Block> =
        firsts.iter().zip(ends).map(|(&first, end)| Block { first, end, ..Block::default() }).collect();
    let block_of = |instruction: usize| firsts.binary_search(&instruction).ok();
    let mut edges = Vec::new();
    let mut indirect = Vec::new();
    for (from, block) in blocks.iter().enumerate() {
        let Some(last) = instructions.get(block.end.wrapping_sub(1)) else { continue };
        if last.goes_on() && block.end < instructions.len() {
            edges.push((from, from + 1));
        }
        if matches!(last.flow, Flow::Jump | Flow::Branch) {
            edges.extend(last.target.and_then(at).and_then(block_of).map(|to| (from, to)));
        }
        if last.flow == Flow::Indirect {
            indirect.push(from);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let mut entered = vec![false; blocks.len()];
    for &(_, to) in &edges {
        if let Some(entered) = entered.get_mut(to) {
            *entered = true;
        }
    }
    // What nothing jumps to is where the indirect jumps of the function go.
    let assumed: Vec<usize> = (1..blocks.len())
        .filter(|&to| !entered.get(to).copied().unwrap_or(true))
        .filter(|&to| {
            blocks
                .get(to)
                .and_then(|b| instructions.get(b.first))
                .is_some_and(|i| i.work != Work::Nop && i.flow != Flow::Stop)
        })
        .collect();
    if indirect.len() * assumed.len() <= 1_000_000 {
        edges.extend(indirect.iter().flat_map(|&from| assumed.iter().map(move |&to| (from, to))));
    }
    for &from in &indirect {
        if let Some(block) = blocks.get_mut(from) {
            block.assumed = true;
        }
    }
    for (from, to) in edges {
        if let Some(block) = blocks.get_mut(from) {
            block.successors.push(to);
        }
        if let Some(block) = blocks.get_mut(to) {
            block.predecessors.push(from);
        }
    }
    blocks
}

/// Blocks that a walk from the entry, and then from what is not reached by it, leaves for the last time: the last left is first. And for each
/// block which walk came to it: 0 for what the entry leads to. The rest is padding, what exceptions lead to, or what jumps that the code does not tell do:
/// that it leads back into the function does not make it a part of its loops.
fn in_order(blocks: &[Block]) -> (Vec<usize>, Vec<usize>) {
    let mut left = Vec::with_capacity(blocks.len());
    let mut walks = vec![usize::MAX; blocks.len()];
    let nothing_enters = |&block: &usize| block == 0 || blocks.get(block).is_some_and(|b| b.predecessors.is_empty());
    for root in (0..blocks.len()).filter(nothing_enters).chain(0..blocks.len()) {
        let fresh = |walks: &mut [usize], at: usize| match walks.get_mut(at) {
            Some(walk) if *walk == usize::MAX => {
                *walk = root;
                true
            }
            _ => false,
        };
        if !fresh(&mut walks, root) {
            continue;
        }
        let mut stack = vec![(root, 0usize)];
        while let Some((block, next)) = stack.pop() {
            match blocks.get(block).and_then(|b| b.successors.get(next)) {
                Some(&to) => {
                    stack.push((block, next + 1));
                    if fresh(&mut walks, to) {
                        stack.push((to, 0));
                    }
                }
                None => left.push(block),
            }
        }
    }
    left.reverse();
    (left, walks)
}

/// The block that each is entered through, always: dominators by Cooper, Harvey and Kennedy. What walks began with has a common root, `blocks.len()`.
fn dominators(blocks: &[Block], order: &[usize], walks: &[usize]) -> Vec<usize> {
    let root = blocks.len();
    let mut place = vec![usize::MAX; root + 1];
    for (at, &block) in order.iter().enumerate() {
        if let Some(place) = place.get_mut(block) {
            *place = at + 1;
        }
    }
    if let Some(place) = place.get_mut(root) {
        *place = 0;
    }
    let of = |list: &[usize], at: usize| list.get(at).copied().unwrap_or(usize::MAX);
    let mut above = vec![usize::MAX; root + 1];
    if let Some(above) = above.get_mut(root) {
        *above = root;
    }
    loop {
        let mut changed = false;
        for &block in order {
            let Some(here) = blocks.get(block) else { continue };
            let walk = of(walks, block);
            let mut found = if walk == block { root } else { usize::MAX };
            for &from in &here.predecessors {
                if of(&above, from) == usize::MAX || of(walks, from) != walk {
                    continue;
                }
                if found == usize::MAX {
                    found = from;
                    continue;
                }
                let mut other = from;
                while found != other {
                    while of(&place, other) > of(&place, found) {
                        other = of(&above, other);
                    }
                    while of(&place, found) > of(&place, other) {
                        found = of(&above, found);
                    }
                }
            }
            if let Some(above) = above.get_mut(block).filter(|above| **above != found) {
                *above = found;
                changed = true;
            }
        }
        if !changed {
            return above;
        }
    }
}

fn loops(blocks: &[Block]) -> Vec<Loop> {
    let (order, walks) = in_order(blocks);
    let above = dominators(blocks, &order, &walks);
    let together = |a: usize, b: usize| walks.get(a) == walks.get(b);
    let dominates = |head: usize, mut block: usize| {
        for _ in 0..=blocks.len() {
            if block == head {
                return true;
            }
            match above.get(block) {
                Some(&up) if up != block && up < blocks.len() => block = up,
                _ => return false,
            }
        }
        false
    };
    let mut loops: Vec<Loop> = Vec::new();
    for (head, block) in blocks.iter().enumerate() {
        let latches: Vec<usize> = block.predecessors.iter().copied().filter(|&from| dominates(head, from)).collect();
        if latches.is_empty() {
            continue;
        }
        let mut inside = BTreeSet::from([head]);
        let mut todo = latches.clone();
        while let Some(at) = todo.pop() {
            if inside.insert(at) {
                let before = blocks.get(at).map_or(&[][..], |b| &b.predecessors);
                todo.extend(before.iter().copied().filter(|&from| together(from, head)));
            }
        }
        loops.push(Loop {
            head,
            latches,
            blocks: inside.into_iter().collect(),
            parent: None,
            depth: 1,
            innermost: true,
        });
    }
    loops.sort_by_key(|l| (std::cmp::Reverse(l.blocks.len()), l.head));
    for at in 0..loops.len() {
        let Some(head) = loops.get(at).map(|l| l.head) else { continue };
        // Larger loops stand before; the last that holds the head is the closest.
        let parent = loops.iter().take(at).rposition(|l| l.blocks.binary_search(&head).is_ok());
        let depth = parent.and_then(|p| loops.get(p)).map_or(1, |p| p.depth + 1);
        if let Some(parent) = parent.and_then(|p| loops.get_mut(p)) {
            parent.innermost = false;
        }
        if let Some(this) = loops.get_mut(at) {
            this.parent = parent;
            this.depth = depth;
        }
    }
    loops
}
