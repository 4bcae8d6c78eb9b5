//! The two sides of a comparison, by name: an index would mean the slow side in one place and the baseline in another.

use std::ops::{Index, IndexMut};

/// Which side a run is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// What is explained.
    Slow,
    /// What it is held against.
    Baseline,
}

impl Side {
    /// Both, the slow one first.
    pub const BOTH: [Side; 2] = [Side::Slow, Side::Baseline];

    /// What SQL calls it.
    pub fn name(self) -> &'static str {
        match self {
            Side::Slow => "slow",
            Side::Baseline => "against",
        }
    }
}

/// Something of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerSide<T> {
    /// Of what is explained.
    pub slow: T,
    /// Of what it is held against.
    pub baseline: T,
}

impl<T> PerSide<T> {
    /// What `of` says of each side, the slow one first.
    pub fn of(mut of: impl FnMut(Side) -> T) -> Self {
        PerSide { slow: of(Side::Slow), baseline: of(Side::Baseline) }
    }

    /// What `to` makes of each, the slow one first.
    pub fn map<U>(self, mut to: impl FnMut(T) -> U) -> PerSide<U> {
        PerSide { slow: to(self.slow), baseline: to(self.baseline) }
    }

    /// Both, borrowed.
    pub fn each_ref(&self) -> PerSide<&T> {
        PerSide { slow: &self.slow, baseline: &self.baseline }
    }

    /// Each with its fellow of `other`.
    pub fn zip<U>(self, other: PerSide<U>) -> PerSide<(T, U)> {
        PerSide { slow: (self.slow, other.slow), baseline: (self.baseline, other.baseline) }
    }

    /// Both, the slow one first.
    pub fn both(self) -> [T; 2] {
        [self.slow, self.baseline]
    }

    /// Both, to be changed, the slow one first.
    pub fn each_mut(&mut self) -> [&mut T; 2] {
        [&mut self.slow, &mut self.baseline]
    }
}

impl<T> Index<Side> for PerSide<T> {
    type Output = T;

    fn index(&self, side: Side) -> &T {
        match side {
            Side::Slow => &self.slow,
            Side::Baseline => &self.baseline,
        }
    }
}

impl<T> IndexMut<Side> for PerSide<T> {
    fn index_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Slow => &mut self.slow,
            Side::Baseline => &mut self.baseline,
        }
    }
}
