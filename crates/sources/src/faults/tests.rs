//! Tests against a child that touches memory.

use super::SOURCE;
use crate::tally::testing::{Live, child, done, follow, is_child};

/// Pages that the child writes to itself, and pages into which it lets the kernel write.
const TOUCHED: usize = 3_000;
const FILLED: usize = 200;
const PAGE: usize = 4096;

fn faults_much() {
    let map = |pages: usize| {
        let (all, anonymous) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping that nobody else knows.
        unsafe {
            let at = libc::mmap(std::ptr::null_mut(), pages * PAGE, all, anonymous, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            libc::madvise(at, pages * PAGE, libc::MADV_NOHUGEPAGE);
            at.cast::<u8>()
        }
    };
    let (touched, filled) = (map(TOUCHED), map(FILLED));
    // SAFETY: `zero` is a descriptor or -1; the kernel writes into the mapping alone.
    unsafe {
        for page in 0..TOUCHED {
            touched.add(page * PAGE).write_volatile(1);
            // Stacks are taken so many in a tenth of a second, and others fault too.
            if page % 200 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        let zero = libc::open(c"/dev/zero".as_ptr(), libc::O_RDONLY);
        (0..FILLED).for_each(|page| assert_eq!(libc::read(zero, filled.add(page * PAGE).cast(), 1), 1));
    }
    done();
}

#[test]
fn every_fault_of_a_child_is_counted() {
    if is_child("faults_much") {
        return faults_much();
    }
    let Some(mut live) = Live::open(&SOURCE) else { return };
    live.read();
    follow(&mut live, child("faults::tests::every_fault_of_a_child_is_counted", "faults_much"));
    let of = |kind: &str| {
        let with = [("comm", "faults_much"), ("kind", kind), ("access", "write")];
        live.reached("page_fault", "count", &with, |_| true)
    };
    let (user, kernel) = (of("user"), of("kernel"));
    eprintln!("{user} faults of the child, {kernel} in the kernel");
    // What else it does from the moment it has its name is little.
    assert!((TOUCHED as i64..TOUCHED as i64 + 300).contains(&user), "{user}");
    assert!((FILLED as i64..FILLED as i64 + 100).contains(&kernel), "{kernel}");
    let stacks = live.reached("page_fault", "count", &[("comm", "faults_much")], |row| row("stack") != "-");
    assert!(stacks > 0, "no stack of {user} faults");
}

#[test]
fn a_recorded_host_has_none() {
    let why = crate::testing::play(&SOURCE, &crate::testing::fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
}
