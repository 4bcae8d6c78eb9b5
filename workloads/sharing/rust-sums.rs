// False sharing in Rust without anything atomic: each thread has an exclusive reference to one element of a vector.
mod share;

#[derive(Clone)]
#[cfg_attr(mended, repr(align(128)))]
pub struct Sum {
    scale: u32, // set once
    values: u32,
    total: u64,
}

#[inline(never)]
pub fn add(sum: &mut Sum, value: u64) -> u64 {
    let scaled = share::work(value + u64::from(sum.scale), 3);
    sum.values += 1;
    sum.total = sum.total.wrapping_add(scaled);
    scaled
}

fn main() {
    let run = share::begin(4);
    let mut sums = vec![Sum { scale: 3, values: 0, total: 0 }; run.threads];
    for (thread, sum) in sums.iter().enumerate() {
        share::reads(thread, &sum.scale, "Sum.scale");
        share::writes(thread, &sum.values, "Sum.values");
        share::writes(thread, &sum.total, "Sum.total");
    }
    run.all(
        sums.iter_mut()
            .map(|sum| {
                let mut value = 1;
                move || {
                    for _ in 0..share::ROUND {
                        value = add(sum, value >> 8);
                    }
                }
            })
            .collect(),
    );
}
