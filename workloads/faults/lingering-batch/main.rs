// Clients that each wait for a writer to take their record, which takes records in batches: it waits for 64 of them or 4 ms, against as many as there
// are clients.
#[path = "../common/frame.rs"]
mod frame;

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Mutex, atomic::AtomicU64, atomic::Ordering::Relaxed};
use std::time::{Duration, Instant};

const CLIENTS: usize = 6;

struct Record {
    key: u64,
    done: SyncSender<u64>,
}

#[inline(never)]
fn digest(key: u64) -> u64 {
    (0..20_000).fold(key | 1, |x: u64, _| (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9))
}

/// As many records as make a batch, or what there is when the time is over.
#[inline(never)]
fn gather(records: &Receiver<Record>, most: usize, limit: Duration, lingered: &AtomicU64) -> Vec<Record> {
    let mut batch: Vec<Record> = records.recv().into_iter().collect();
    let (begun, until) = (Instant::now(), Instant::now() + limit);
    while batch.len() < most {
        match records.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(record) => batch.push(record),
            Err(_) => {
                lingered.fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
                break;
            }
        }
    }
    batch
}

fn main() {
    let frame = frame::begin();
    let (sender, records) = channel::<Record>();
    let (keys, lingered) = (AtomicU64::new(0), AtomicU64::new(0));
    let most = if frame.slow { 64 } else { CLIENTS };
    std::thread::scope(|scope| {
        let time = &lingered;
        scope.spawn(move || {
            loop {
                let batch = gather(&records, most, Duration::from_millis(4), time);
                if batch.is_empty() {
                    break;
                }
                for record in batch {
                    let _ = record.done.send(digest(record.key));
                }
            }
        });
        let answers: Vec<_> = (0..CLIENTS).map(|_| sync_channel::<u64>(1)).map(|(s, r)| (s, Mutex::new(r))).collect();
        frame.run("client", CLIENTS, |worker| {
            let (done, answer) = &answers[worker];
            let key = digest(keys.fetch_add(1, Relaxed));
            sender.send(Record { key, done: done.clone() }).expect("the writer outlives its clients");
            answer.lock().expect("no thread panics").recv().expect("the writer answers");
        });
        drop(sender);
    });
    println!("truth: seconds lingered {:.3}", lingered.load(Relaxed) as f64 / 1e9);
    frame.lost_share(1.0);
}
