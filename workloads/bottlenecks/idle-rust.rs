// Innocent: a consumer waits for messages that come once in two milliseconds. Nothing must be named.
use std::sync::mpsc;
use std::time::Duration;
mod bench;

#[inline(never)]
pub fn receive(messages: &mpsc::Receiver<u64>, count: u64) -> u64 {
    (0..count).filter_map(|_| messages.recv().ok()).sum()
}

fn main() {
    let bench = bench::Bench { operation: "receive a message", unit: "producers", size: 1, per_call: 1 };
    bench::run(&bench, |_| {
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            while sender.send(1).is_ok() {
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        move |count| receive(&messages, count)
    });
}
