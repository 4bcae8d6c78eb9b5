// True sharing in Rust: each request clones the Arc of the configuration and drops it. Mended, it borrows.
use std::sync::Arc;
mod share;

pub struct Configuration {
    limit: u64,
}

#[inline(never)]
#[cfg(not(mended))]
pub fn serve(configuration: &Arc<Configuration>, request: u64) -> u64 {
    let mine = Arc::clone(configuration);
    share::work(request, 10) ^ std::hint::black_box(&mine).limit
}

#[inline(never)]
#[cfg(mended)]
pub fn serve(configuration: &Configuration, request: u64) -> u64 {
    share::work(request, 10) ^ std::hint::black_box(configuration).limit
}

fn main() {
    let run = share::begin(2);
    let configuration = Arc::new(Configuration { limit: 5 });
    if cfg!(not(mended)) {
        for thread in 0..run.threads {
            // The counts, strong and weak, lie in front of the value.
            share::writes(thread, Arc::as_ptr(&configuration).wrapping_byte_sub(16), "strong count");
        }
    }
    run.all(
        (0..run.threads)
            .map(|thread| {
                let (configuration, mut request) = (&configuration, thread as u64);
                move || {
                    for _ in 0..share::ROUND {
                        request = serve(configuration, request);
                    }
                }
            })
            .collect(),
    );
}
