//! Registers by number, the same for every machine: what a recording stores in its columns `r0` to `r31`, and more that only dependencies need.

use crate::Machine;

/// A register. 0 to 31 are the general ones in the order that instructions encode them: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 … r15 of x86-64 (16
/// in all); x0 … x30 and sp of aarch64. Then the flags, 32 vector registers, and one that stands for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u8);

impl Register {
    /// How many numbers are kept for general registers.
    pub const GENERAL: usize = 32;
    /// The flags of comparisons.
    pub const FLAGS: Register = Register(32);
    /// x87, mask, control and other rare registers: as one, for what follows from it is only that instructions depend on each other.
    pub const OTHER: Register = Register(65);

    /// A general register, if there is one of that number.
    pub fn general(number: u8) -> Option<Register> {
        (usize::from(number) < Self::GENERAL).then_some(Register(number))
    }

    /// A vector register, if there is one of that number.
    pub fn vector(number: u8) -> Option<Register> {
        (number < 32).then_some(Register(33 + number))
    }

    /// The stack pointer of a machine.
    pub fn stack(machine: Machine) -> Register {
        match machine {
            Machine::X86_64 => Register(4),
            Machine::Aarch64 => Register(31),
        }
    }

    /// Its column in a sample, if it is a general register.
    pub fn column(self) -> Option<usize> {
        let number = usize::from(self.0);
        (number < Self::GENERAL).then_some(number)
    }

    /// What assemblers call it, in 64 bits.
    pub fn name(self, machine: Machine) -> String {
        const X86: [&str; 8] = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"];
        match (machine, self.0) {
            (Machine::X86_64, n @ 0..=31) => {
                X86.get(usize::from(n)).map_or_else(|| format!("r{n}"), |&name| name.to_owned())
            }
            (Machine::Aarch64, 31) => "sp".to_owned(),
            (Machine::Aarch64, n @ 0..=30) => format!("x{n}"),
            (_, 32) => "flags".to_owned(),
            (_, n @ 33..=64) => format!("v{}", n - 33),
            _ => "other".to_owned(),
        }
    }
}

/// A set of registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(u128);

impl Registers {
    /// With one more.
    pub fn insert(&mut self, register: Register) {
        self.0 |= 1 << register.0;
    }

    /// Without one.
    pub fn remove(&mut self, register: Register) {
        self.0 &= !(1 << register.0);
    }

    /// Is it among them?
    pub fn contains(self, register: Register) -> bool {
        self.0 & (1 << register.0) != 0
    }

    /// Those of either.
    #[must_use]
    pub fn union(self, other: Registers) -> Registers {
        Registers(self.0 | other.0)
    }

    /// Are there none?
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All of them, by number.
    pub fn iter(self) -> impl Iterator<Item = Register> {
        (0..=Register::OTHER.0).map(Register).filter(move |&r| self.contains(r))
    }
}

impl FromIterator<Register> for Registers {
    fn from_iter<I: IntoIterator<Item = Register>>(registers: I) -> Registers {
        let mut all = Registers::default();
        registers.into_iter().for_each(|r| all.insert(r));
        all
    }
}
