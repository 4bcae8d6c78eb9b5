// Waits for integer divisions: powers modulo a number that only the caller knows.
mod bench;

#[inline(never)]
pub fn power(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % modulus;
        }
        base = base * base % modulus;
        exponent >>= 1;
    }
    result
}

fn main() {
    let bench = bench::Bench { operation: "take a power", unit: "modulus", size: 4_294_967_291, per_call: 100 };
    bench::run(&bench, |modulus| {
        let mut value = 12345 % modulus;
        move |operations| {
            for _ in 0..operations {
                // All bits of the exponent are set, so the branch of the loop is always taken.
                value = power(value | 1, u64::from(u32::MAX), modulus);
            }
            value
        }
    });
}
