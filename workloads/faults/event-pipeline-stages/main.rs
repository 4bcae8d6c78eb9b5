// A click-stream pipeline of three threads: parse, enrich, count. Events go from stage to stage through channels: in the slow
// variant one by one through channels without room, in the fast one in bundles of what a stage has ready, with room for a few.
#[path = "../common/pace.rs"]
mod pace;

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

struct Event {
    user: u32,
    page: u32,
    country: u16,
}

fn raw_line(number: u64) -> String {
    let roll = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    format!("{} user={} page={} agent=Mozilla/5.0", number, roll % 50_000, (roll >> 16) % 900)
}

fn field(line: &str, name: &str) -> u32 {
    let start = line.find(name).map_or(line.len(), |at| at + name.len());
    line[start..].split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Whether the user's cookie is one that we gave out: a chain of hashes of the line.
fn genuine(line: &str) -> bool {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for _ in 0..160 {
        for byte in line.bytes() {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    sum != 0
}

fn parse(line: &str) -> Event {
    assert!(genuine(line), "the made-up lines are genuine");
    Event { user: field(line, "user="), page: field(line, "page="), country: 0 }
}

/// Where a user is from, by a table of ranges.
fn enrich(event: &mut Event, ranges: &[(u32, u16)]) {
    let at = ranges.partition_point(|(first, _)| *first <= event.user);
    event.country = ranges[at.saturating_sub(1)].1;
}

fn read_events(bundle: usize, out: SyncSender<Vec<Event>>) {
    let mut number = 0;
    while !pace::over() {
        let events = (0..bundle as u64).map(|i| parse(&raw_line(number + i))).collect();
        number += bundle as u64;
        if out.send(events).is_err() {
            return;
        }
    }
}

fn enrich_events(events: Receiver<Vec<Event>>, out: SyncSender<Vec<Event>>) {
    let ranges: Vec<(u32, u16)> = (0..2000).map(|i| (i * 25, (i * 7 % 190) as u16)).collect();
    for mut bundle in events {
        bundle.iter_mut().for_each(|event| enrich(event, &ranges));
        if out.send(bundle).is_err() {
            return;
        }
    }
}

fn count_events(events: Receiver<Vec<Event>>) -> usize {
    let mut counts: HashMap<(u16, u32), u64> = HashMap::new();
    for bundle in events {
        for event in &bundle {
            *counts.entry((event.country, event.page)).or_default() += 1;
        }
        pace::did(bundle.len() as u64);
    }
    counts.len()
}

fn main() {
    let mut pace = pace::read();
    let (bundle, room) = if pace.slow { (1, 0) } else { (64, 8) };
    let (parsed, to_enrich) = sync_channel(room);
    let (enriched, to_count) = sync_channel(room);
    pace.start();
    std::thread::scope(|scope| {
        let spawn = |name: &str| std::thread::Builder::new().name(name.into());
        spawn("parse").spawn_scoped(scope, move || read_events(bundle, parsed)).expect("a thread");
        spawn("enrich").spawn_scoped(scope, move || enrich_events(to_enrich, enriched)).expect("a thread");
        let counted = spawn("count").spawn_scoped(scope, move || count_events(to_count)).expect("a thread");
        eprintln!("pages by country: {}", counted.join().expect("the count"));
    });
    pace.finish(1.0);
}
