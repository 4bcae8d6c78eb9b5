// Exports a ledger as CSV to a pipe's or file's end: each booking is formatted and written. The slow variant's writer flushes at
// the end of each line, as the standard output of Rust always does; the fast one's when its buffer is full.
#[path = "../common/pace.rs"]
mod pace;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, LineWriter, Write};

struct Booking {
    day: u32,
    account: u32,
    cents: i64,
    text: &'static str,
}

/// Bookings of a made-up company, one after the other.
struct Bookings(u64);

impl Iterator for Bookings {
    type Item = Booking;
    fn next(&mut self) -> Option<Booking> {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let roll = self.0 >> 30;
        let texts = ["rent", "salary", "invoice", "refund", "travel", "hardware", "coffee", "insurance"];
        Some(Booking {
            day: (roll % 365) as u32,
            account: 1000 + (roll >> 9) as u32 % 600,
            cents: (roll >> 5) as i64 % 900_000 - 300_000,
            text: texts[roll as usize % texts.len()],
        })
    }
}

fn date(day: u32) -> (u32, u32) {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (mut month, mut rest) = (0, day);
    while rest >= lengths[month] {
        rest -= lengths[month];
        month += 1;
    }
    (month as u32 + 1, rest + 1)
}

/// Writes a booking and what its account then holds.
fn write_booking(out: &mut dyn Write, booking: &Booking, balance: i64) -> std::io::Result<()> {
    let (month, day) = date(booking.day);
    writeln!(
        out,
        "2026-{month:02}-{day:02};{};{}.{:02};{}.{:02};{}",
        booking.account,
        booking.cents / 100,
        booking.cents.abs() % 100,
        balance / 100,
        balance.abs() % 100,
        booking.text
    )
}

fn export(out: &mut dyn Write) -> std::io::Result<()> {
    let mut balances: BTreeMap<u32, i64> = BTreeMap::new();
    let mut bookings = Bookings(42);
    while !pace::over() {
        for booking in bookings.by_ref().take(50) {
            let balance = balances.entry(booking.account).or_insert(0);
            *balance += booking.cents;
            write_booking(out, &booking, *balance)?;
        }
        pace::did(50);
    }
    out.flush()
}

fn main() -> std::io::Result<()> {
    let mut pace = pace::read();
    let end = File::create("/dev/null")?;
    let mut out: Box<dyn Write> = if pace.slow { Box::new(LineWriter::new(end)) } else { Box::new(BufWriter::new(end)) };
    pace.start();
    export(&mut out)?;
    pace.finish(1.0);
    Ok(())
}
