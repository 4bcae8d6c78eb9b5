//! Collapsed stacks, as `stackcollapse-*.pl` of FlameGraph, async-profiler, py-spy and others write them: `process;outer;inner 12`.

use crate::profile::{Profile, Sample};
use model::NULL;

/// A line's frames and count.
fn line(line: &[u8]) -> Option<(&[u8], u64)> {
    let line = line.trim_ascii();
    let at = line.iter().rposition(|b| *b == b' ' || *b == b'\t')?;
    let count = std::str::from_utf8(line.get(at + 1..)?).ok()?;
    let stack = line.get(..at)?.trim_ascii_end();
    if stack.is_empty() {
        return None;
    }
    // Some tools write fractions.
    let count = count
        .parse()
        .ok()
        .or_else(|| count.parse::<f64>().ok().filter(|c| c.is_finite() && *c >= 0.0).map(|c| c.round() as u64))?;
    Some((stack, count))
}

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let (mut good, mut bad, mut columns, mut several) = (0, 0, 0, false);
    for text in bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#")).take(50) {
        match line(text) {
            Some((stack, _)) => {
                good += 1;
                several |= stack.contains(&b';');
                columns += usize::from(ends_with_number(stack));
            }
            None => bad += 1,
        }
    }
    // Tables of numbers, as of sar, have a number at the end of each line too, and further ones before it.
    good > bad && (several || 2 * columns <= good)
}

fn ends_with_number(stack: &[u8]) -> bool {
    let word = stack.rsplit(|b| b.is_ascii_whitespace()).next().unwrap_or_default();
    word.len() < stack.len()
        && std::str::from_utf8(word).is_ok_and(|word| word.replace(',', ".").parse::<f64>().is_ok())
}

/// The kind that a name's suffix says: FlameGraph's `_[k]`, `_[j]`, `_[i]`; async-profiler's `_[0]`, `_[1]` are compiled and interpreted Java.
pub(crate) fn annotated(name: &str) -> (&str, &'static str) {
    for (suffix, kind) in [
        ("_[k]", "kernel"),
        ("_[j]", "jit"),
        ("_[i]", "inlined"),
        ("_[0]", "interpreted"),
        ("_[1]", "jit"),
        ("_[2]", "inlined"),
    ] {
        if let Some(name) = name.strip_suffix(suffix).filter(|n| !n.is_empty()) {
            return (name, kind);
        }
    }
    if name.starts_with("[kernel") {
        return (name, "kernel");
    }
    if name.contains(".py:") || name.starts_with("py::") { (name, "python") } else { (name, "native") }
}

/// # Errors
/// Where most lines are no stacks: what is left then is chance.
pub(crate) fn read(bytes: &[u8], profile: &mut Profile) -> Result<(), String> {
    let (mut total, mut taken, mut left_out) = (0u64, 0usize, 0usize);
    for text in bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#")) {
        let Some((frames, count)) = line(text) else {
            left_out += 1;
            continue;
        };
        taken += 1;
        if count == 0 {
            continue;
        }
        total = total.saturating_add(count);
        let mut stack = 0;
        // The first frame is the process, as the collapsing scripts write it, where there is more than one.
        let mut names = frames.split(|b| *b == b';').filter(|f| !f.is_empty());
        let several = frames.contains(&b';');
        let comm = if several { names.next() } else { None };
        let comm = comm.map_or(NULL, |name| profile.symbols.cell_bytes(name));
        for name in names {
            let name = String::from_utf8_lossy(name);
            let (name, kind) = annotated(&name);
            let place = profile.named(name, "", "", kind);
            stack = profile.stack(stack, place);
        }
        let weight = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(profile.options.count);
        profile.samples.push(Sample { at: 0, pid: NULL, tid: NULL, comm, thread: comm, cpu: NULL, stack, weight });
    }
    if left_out > taken {
        return Err(format!("{left_out} of {} lines are no stack with a count", left_out + taken));
    }
    if left_out > 0 {
        profile.count("lines that are no stack with a count; they are left out", left_out as u64);
    }
    profile.manifest.duration = i64::try_from(total).ok().map(|t| t.saturating_mul(profile.options.count));
    let count = profile.options.count as f64 / 1e6;
    profile.note(format!(
        "collapsed stacks have no times: all is at 0 s; each count is taken for {count} ms of CPU time (--count)"
    ));
    Ok(())
}
