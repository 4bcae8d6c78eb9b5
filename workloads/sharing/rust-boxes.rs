// False sharing of heap objects in Rust: small boxes, allocated one after another, each for a thread.
mod share;

#[cfg_attr(mended, repr(align(128)))]
pub struct Meter {
    unit: u64, // set once
    reading: u64,
}

#[inline(never)]
pub fn read_on(meter: &mut Meter, by: u64) -> u64 {
    let step = share::work(by ^ meter.unit, 2);
    meter.reading = meter.reading.wrapping_add(step);
    step
}

fn main() {
    let run = share::begin(2);
    // Sixteen boxes of 16 bytes; the first two that begin in the same line are taken.
    let mut boxes: Vec<Box<Meter>> = (0..16).map(|unit| Box::new(Meter { unit, reading: 0 })).collect();
    let line = |meter: &Meter| std::ptr::from_ref(meter).addr() / 64;
    while cfg!(not(mended)) && line(&boxes[0]) != line(&boxes[1]) {
        boxes.remove(0);
    }
    boxes.truncate(run.threads);
    for (thread, meter) in boxes.iter().enumerate() {
        share::reads(thread, &meter.unit, "Meter.unit");
        share::writes(thread, &meter.reading, "Meter.reading");
    }
    run.all(
        boxes
            .iter_mut()
            .map(|meter| {
                let mut value = 1;
                move || {
                    for _ in 0..share::ROUND {
                        value = read_on(meter, value);
                    }
                }
            })
            .collect(),
    );
}
