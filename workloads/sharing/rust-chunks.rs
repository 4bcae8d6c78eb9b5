// Innocent: threads fill halves of one vector. The lines at the border between two are shared once in a pass: nothing must be found.
mod share;

#[inline(never)]
pub fn fill(part: &mut [u64], from: u64) {
    for (value, number) in part.iter_mut().zip(from..) {
        *value = value.wrapping_add(number);
    }
}

fn main() {
    let run = share::begin(2);
    let mut all = vec![0u64; 32_000 * run.threads];
    run.all(
        all.chunks_mut(32_000)
            .map(|part| {
                let mut from = 0;
                move || {
                    fill(part, from);
                    from += 1;
                }
            })
            .collect(),
    );
}
