//! Numbers that look random and are the same at each run: xorshift64* (Vigna 2016, "An experimental exploration of Marsaglia's xorshift
//! generators, scrambled").

/// A generator.
pub struct Random(u64);

impl Random {
    /// One that always gives the same numbers.
    pub fn new() -> Self {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 up to but not including 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Around `mean`, from half to one and a half of it.
    pub fn about(&mut self, mean: f64) -> u64 {
        (mean * (0.5 + self.unit()) + 0.5) as u64
    }

    /// True once in so many times.
    pub fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}
