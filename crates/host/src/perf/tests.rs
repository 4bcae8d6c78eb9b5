//! Samples of this machine, where it lets one take any.

use super::*;

#[test]
fn lists_of_cpus() {
    assert_eq!(cpus("0-2,5\n"), [0, 1, 2, 5]);
    assert_eq!(cpus("x,-,3"), [3]);
}

/// A child that would run for ever: it ends with the test, also where that fails.
struct Busy(std::process::Child);

impl Busy {
    fn new() -> Busy {
        let mut shell = std::process::Command::new("sh");
        Busy(shell.args(["-c", "exec sh -c 'while :; do :; done'"]).spawn().expect("a shell"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().expect("a child of this test");
        self.0.wait().expect("a child of this test");
    }
}

fn open(hertz: u32) -> Option<Perf> {
    let opened = Perf::open(&Host::live(), hertz);
    opened.map_err(|why| eprintln!("SKIPPED: performance events: {why}")).ok()
}

/// Samples by instructions come beside those with stacks, into the same rings. Where no counter counts instructions, a timer stands for it.
#[test]
fn short_samples_come_beside_the_others() {
    let Some(mut perf) = open(499) else { return };
    if let Err(why) = perf.sample_instructions(499) {
        eprintln!("no samples by instructions: {why}");
        assert!(!perf.has_instructions());
        perf.sample_short((TYPE_SOFTWARE, CPU_CLOCK), 499).unwrap();
    }
    assert!(perf.has_instructions());
    let busy = Busy::new();
    let (host, pid) = (Host::live(), busy.0.id());
    let (mut with_stack, mut short, mut before) = (0, 0, 0);
    for _ in 0..100 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        perf.drain(&host, |time, record| {
            assert!(time >= before, "in the order of time");
            before = time;
            match record {
                Record::Sample(sample) if sample.pid == pid => {
                    with_stack += usize::from(!sample.stack.is_empty() && sample.period > 0 && sample.address != 0);
                }
                Record::ByInstructions(sample) if sample.pid == pid => {
                    assert_eq!((sample.tid, sample.stack, sample.registers), (pid, &[][..], None));
                    short += usize::from(sample.period > 0 && sample.address != 0);
                }
                _ => {}
            }
        });
        if with_stack > 20 && short > 20 {
            break;
        }
    }
    assert!(with_stack > 20 && short > 20, "{with_stack} {short}");
}

#[test]
fn own_children_are_seen() {
    let Some(mut perf) = open(999) else { return };
    let busy = Busy::new();
    let (host, pid) = (Host::live(), busy.0.id());
    let (mut samples, mut names, mut maps, mut before) = (0, 0, 0, 0);
    for _ in 0..100 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        perf.drain(&host, |time, record| {
            assert!(time >= before, "in the order of time");
            before = time;
            match record {
                Record::Sample(sample) if sample.pid == pid => {
                    // In the middle of its execve(2) it has no program, and so no stack.
                    let [ip, sp, ..] = sample.registers.unwrap();
                    samples += usize::from(ip != 0 && sp != 0 && !sample.stack.is_empty());
                }
                Record::Comm { pid: of, name: b"sh", exec: true, .. } if of == pid => names += 1,
                Record::Mapped { pid: of, path, .. } if of == pid && path.ends_with(b"sh") => maps += 1,
                _ => {}
            }
        });
        if samples > 20 {
            break;
        }
    }
    assert!(samples > 20 && names >= 2 && maps >= 2, "{samples} {names} {maps}");
}
