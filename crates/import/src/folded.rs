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
    let (mut good, mut bad) = (0, 0);
    for text in bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#")).take(50) {
        if line(text).is_some() { good += 1 } else { bad += 1 }
    }
    good > bad
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

pub(crate) fn read(bytes: &[u8], profile: &mut Profile) {
    let mut total = 0u64;
    for text in bytes.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty() && !l.starts_with(b"#")) {
        let Some((frames, count)) = line(text) else {
            profile.count("lines that are no stack with a count; they are left out", 1);
            continue;
        };
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
    profile.manifest.duration = i64::try_from(total).ok().map(|t| t.saturating_mul(profile.options.count));
    let count = profile.options.count as f64 / 1e6;
    profile.note(format!(
        "collapsed stacks have no times: all is at 0 s; each count is taken for {count} ms of CPU time (--count)"
    ));
}
