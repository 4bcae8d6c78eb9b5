//! Tests against a child that unmaps memory while another of its threads runs on another CPU.

use super::SOURCE;
use crate::tally::testing::{Live, child, done, follow, is_child};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const UNMAPPED: i64 = 500;
const MOST: i64 = 20_000;
const PAGE: usize = 4096;

/// Interrupts to forget translations that CPUs have got, as the kernel counts them.
fn shootdowns() -> i64 {
    let text = std::fs::read_to_string("/proc/interrupts").unwrap();
    let line = text.lines().find(|line| line.trim_start().starts_with("TLB:")).unwrap_or_default();
    line.split_ascii_whitespace()
        .map_while(|word| word.strip_suffix("TLB:").map_or_else(|| word.parse().ok(), |_| Some(0)))
        .sum()
}

/// Keeps the calling thread on one CPU.
fn stay_on(cpu: usize) {
    // SAFETY: a set of CPUs is plain bits, and the kernel only reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &raw const set);
    }
}

fn unmaps_much() {
    let (stop, turns) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            stay_on(1);
            while !stop.load(Ordering::Relaxed) {
                turns.fetch_add(1, Ordering::Relaxed);
            }
        });
        stay_on(0);
        while turns.load(Ordering::Relaxed) == 0 {}
        let (all, anonymous) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let (before, mut done) = (shootdowns(), 0);
        // While the other thread is off its CPU there is nobody to tell.
        while done < MOST && (done < UNMAPPED || shootdowns() < before + 100) {
            done += 1;
            // SAFETY: a mapping of our own, written to and given back.
            unsafe {
                let at = libc::mmap(std::ptr::null_mut(), PAGE, all, anonymous, -1, 0);
                assert_ne!(at, libc::MAP_FAILED);
                at.cast::<u8>().write_volatile(1);
                libc::munmap(at, PAGE);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    done();
}

#[test]
fn shootdowns_of_a_child_are_counted() {
    if is_child("unmaps_much") {
        return unmaps_much();
    }
    let Some(mut live) = Live::open(&SOURCE) else { return };
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED: TLB shootdowns: one CPU has nobody to tell");
        return;
    }
    live.read();
    let before = shootdowns();
    follow(&mut live, child("ipis::tests::shootdowns_of_a_child_are_counted", "unmaps_much"));
    let of = |column: &str, comm: &str| {
        live.reached("ipi", column, &[("kind", "tlb")], |row| comm.is_empty() || row("comm") == comm)
    };
    let (count, targets, pages) =
        (of("count", "unmaps_much"), of("targets", "unmaps_much"), of("pages", "unmaps_much"));
    let (all, received) = (of("targets", ""), shootdowns() - before);
    eprintln!("{count} shootdowns of {targets} CPUs, {pages} pages; in all {all}, the kernel says {received}");
    if live.coverage.iter().any(|c| c.item == "tlb") || received == 0 {
        eprintln!("SKIPPED: TLB shootdowns: this machine tells other CPUs without interrupts");
        return;
    }
    if count < 50 {
        eprintln!("SKIPPED: TLB shootdowns: its threads hardly ran at once: {count}");
        return;
    }
    assert!(targets >= count && targets <= count * 2, "{targets} {count}");
    // Each is of one page, but for the few that forget all.
    assert!(pages > count / 2, "{pages} {count}");
    // What the kernel counts began a little later and ends a little later.
    assert!((all - received).abs() <= received / 3 + 50, "{all} {received}");
    let with_stack =
        live.reached("ipi", "count", &[("comm", "unmaps_much"), ("kind", "tlb")], |row| row("stack") != "-");
    assert!(with_stack > 0 && with_stack <= count);
}

#[test]
fn a_recorded_host_has_none() {
    let why = crate::testing::play(&SOURCE, &crate::testing::fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
}
