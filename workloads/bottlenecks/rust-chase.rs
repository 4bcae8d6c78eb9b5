// Waits for loads: the entries of a table are indices of the entries to look at next.
mod bench;

#[inline(never)]
pub fn follow(table: &[u32], from: u32, steps: u64) -> u32 {
    let mut at = from;
    for _ in 0..steps {
        at = table[at as usize];
    }
    at
}

fn main() {
    let bench = bench::Bench { operation: "follow an index", unit: "bytes", size: 256 << 20, per_call: 200_000 };
    bench::run(&bench, |size| {
        let entries = (size / 4).next_power_of_two() as usize;
        // One cycle through all: the full period of a linear congruential generator.
        let table: Vec<u32> = (0..entries)
            .map(|i| (i.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) & (entries - 1)) as u32)
            .collect();
        let mut at = 0;
        move |steps| {
            at = follow(&table, at, steps);
            u64::from(at)
        }
    });
}
