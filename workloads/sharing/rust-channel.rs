// False sharing in Rust: the two sides of a channel each count what went through them, in neighbouring fields of one struct.
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
mod share;

#[derive(Default)]
#[cfg_attr(mended, repr(align(128)))]
pub struct Count(AtomicU64);

#[derive(Default)]
#[repr(C, align(64))]
pub struct Channel {
    sent: Count,
    received: Count,
}

#[inline(never)]
pub fn send(channel: &Channel, message: u64) -> u64 {
    channel.sent.0.fetch_add(1, Relaxed) ^ share::work(message, 20)
}

#[inline(never)]
pub fn receive(channel: &Channel, message: u64) -> u64 {
    channel.received.0.fetch_add(1, Relaxed) ^ share::work(message, 20)
}

fn main() {
    let run = share::begin(2);
    let channel = Channel::default();
    share::writes(0, &channel.sent, "Channel.sent");
    share::writes(1, &channel.received, "Channel.received");
    let sides = [send as fn(&Channel, u64) -> u64, receive].into_iter().take(run.threads);
    run.all(
        sides
            .map(|side| {
                let (channel, mut message) = (&channel, 1);
                move || {
                    for _ in 0..share::ROUND {
                        message = side(channel, message);
                    }
                }
            })
            .collect(),
    );
}
