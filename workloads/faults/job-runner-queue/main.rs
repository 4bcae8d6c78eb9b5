// A job runner: workers take jobs from one channel behind a mutex, fetch what a job needs, and compute. The slow variant takes a
// job in the head of `while let`, whose guard lives as long as the job runs; the fast one lets go of it first.
#[path = "../common/pace.rs"]
mod pace;

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

struct Job {
    customer: u64,
    pages: u32,
}

/// Asks the customer database: an answer takes most of a millisecond, off the CPU.
#[inline(never)]
fn fetch_customer(customer: u64) -> u64 {
    std::thread::sleep(Duration::from_micros(700));
    customer.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

/// Lays out the pages of an invoice.
#[inline(never)]
fn render_invoice(details: u64, pages: u32) -> u64 {
    let mut line = details;
    for _ in 0..pages * 20_000 {
        line = (line ^ (line >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    line
}

fn perform(job: Job) -> u64 {
    let details = fetch_customer(job.customer);
    let invoice = render_invoice(details, job.pages);
    pace::did(1);
    invoice
}

fn work_coupled(jobs: &Mutex<Receiver<Job>>) -> u64 {
    let mut sum = 0;
    while let Ok(job) = jobs.lock().expect("no worker panics").recv() {
        sum ^= perform(job);
    }
    sum
}

fn work_released(jobs: &Mutex<Receiver<Job>>) -> u64 {
    let mut sum = 0;
    loop {
        let job = jobs.lock().expect("no worker panics").recv();
        let Ok(job) = job else { return sum };
        sum ^= perform(job);
    }
}

fn main() {
    let mut pace = pace::read();
    let (sender, receiver) = sync_channel(32);
    let jobs = Mutex::new(receiver);
    let work = if pace.slow { work_coupled } else { work_released };
    pace.start();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let jobs = &jobs;
            let body = move || std::hint::black_box(work(jobs));
            std::thread::Builder::new().name("worker".into()).spawn_scoped(scope, body).expect("a thread");
        }
        for customer in 0.. {
            let job = Job { customer, pages: 3 + customer as u32 % 5 };
            if pace::over() || sender.send(job).is_err() {
                break;
            }
        }
        drop(sender);
    });
    pace.finish(1.0);
}
