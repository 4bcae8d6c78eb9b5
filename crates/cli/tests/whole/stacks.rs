//! Stacks of code with large frames, such as compilers have.

use crate::common::{Folder, skipped};
use std::process::Command;

/// `main` calls `wide`, whose frame has SIZE bytes, and that calls `busy_work`. Where the frame lies, earlier calls have left frame pointers and
/// return addresses, and no page of it is new: such would end the copy of the stack.
const PROGRAM: &str = "static volatile unsigned long sum;
__attribute__((noinline)) static void stale(int depth) { volatile char local[32]; local[0] = (char)depth; if (depth) stale(depth - 1); sum += local[0]; }
__attribute__((noinline)) static void busy_work(volatile char *room) { for (long i = 0; i < 500000000; i++) sum += i; room[0]++; }
__attribute__((noinline)) static void wide(void) { volatile char room[SIZE]; room[0] = 0; busy_work(room); sum += room[0]; }
int main(void) { stale(SIZE / 32); wide(); sum++; return 0; }
";

/// The stacks of `busy_work` in a program whose frame is so large: functions from the start of the thread on, and how many nanoseconds they stand for.
/// `None` where it cannot be tried.
fn stacks(size: usize) -> Option<Vec<(Vec<String>, f64)>> {
    let folder = Folder::new();
    std::fs::write(folder.path("program.c"), PROGRAM).unwrap();
    let size = format!("-DSIZE={size}");
    let built = Command::new("cc")
        .args(["-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", &size, "-o", "program", "program.c"])
        .current_dir(folder.path(""))
        .status();
    if !built.is_ok_and(|s| s.success()) {
        skipped("stacks with large frames", "no cc");
        return None;
    }
    folder.expect(0, ["record", "-q", "-o", "a.twin", "--only", "stacks", "--stacks=499", "--", "./program"]);
    if folder.count("a.twin", "select count(*) from sample where comm = 'program'") < 20 {
        skipped("stacks with large frames", "no samples are taken here");
        return None;
    }
    folder.expect(0, ["flame", "a.twin", "--window", "whole", "--levels", "none", "-o", "a.folded"]);
    let text = std::fs::read_to_string(folder.path("a.folded")).unwrap();
    let stack = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ')?;
        let stack: Vec<String> = stack.split(';').map(str::to_owned).collect();
        stack.iter().any(|f| f == "busy_work").then(|| Some((stack, weight.parse().ok()?)))?
    };
    Some(text.lines().filter_map(stack).collect())
}

/// The share of the weight of those for which something holds.
fn share(stacks: &[(Vec<String>, f64)], holds: impl Fn(&[String]) -> bool) -> f64 {
    let sum = |of: &mut dyn Iterator<Item = &(Vec<String>, f64)>| of.map(|(_, weight)| weight).sum::<f64>();
    sum(&mut stacks.iter().filter(|(stack, _)| holds(stack))) / sum(&mut stacks.iter())
}

#[test]
fn frames_of_tens_of_kilobytes_are_followed() {
    if std::thread::available_parallelism().map_or(1, usize::from) > 32 {
        return skipped("stacks with large frames", "less of each stack is copied where there are so many CPUs");
    }
    let Some(stacks) = stacks(40 << 10) else { return };
    let whole =
        share(&stacks, |stack| stack.iter().any(|f| f == "main") && stack.first().is_none_or(|f| f != "[truncated]"));
    assert!(whole > 0.95, "{whole} of {stacks:?}");
}

#[test]
fn what_calls_that_returned_left_on_the_stack_is_no_caller() {
    let Some(stacks) = stacks(200 << 10) else { return };
    let cut = share(&stacks, |stack| {
        let inner: Vec<&str> = stack.iter().map(String::as_str).take_while(|f| *f != "busy_work").collect();
        inner == ["[truncated]", "wide"]
    });
    assert!(cut > 0.95, "{cut} of {stacks:?}");
}
