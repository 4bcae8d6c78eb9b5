//! What `perfspect metrics` writes as CSV: `TS,SKT,CPU,CID` and a column for each metric, a row for each interval, and where that was asked for for each CPU, socket or control group.
//! Only metrics are in it, no counts: what of them means what a metric of `counters/` does has its name.

use super::{known, metric};
use crate::profile::Profile;
use std::collections::BTreeMap;

/// The columns before the metrics.
const HEAD: &str = "TS,SKT,CPU,CID,";

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    bytes.starts_with(HEAD.as_bytes())
}

pub(crate) fn read(bytes: &[u8], profile: &mut Profile) {
    let text = String::from_utf8_lossy(bytes);
    let mut rows = text.lines();
    let names: Vec<(String, f64)> =
        rows.next().and_then(|head| head.strip_prefix(HEAD)).unwrap_or_default().split(',').map(known::named).collect();
    // By time: sums and how many rows of each metric. The mean over CPUs is only taken where nothing better is there.
    let mut by: BTreeMap<i64, Vec<(f64, u32)>> = BTreeMap::new();
    let mut several = false;
    for row in rows.filter(|row| !row.is_empty()) {
        let mut fields = row.split(',');
        let at =
            fields.next().and_then(|at| at.trim().parse::<i64>().ok()).and_then(|at| at.checked_mul(1_000_000_000));
        let Some(at) = at.filter(|at| *at >= 0) else {
            profile.count("rows without a time", 1);
            continue;
        };
        several |= fields.by_ref().take(3).filter(|part| !part.is_empty()).count() > 0;
        let sums = by.entry(at).or_insert_with(|| vec![(0.0, 0); names.len()]);
        for ((sum, number), field) in sums.iter_mut().zip(fields) {
            if let Some(value) = field.trim().parse::<f64>().ok().filter(|value| value.is_finite()) {
                *sum += value;
                *number += 1;
            }
        }
    }
    if several {
        profile.note("the file tells CPUs, sockets or control groups apart: of each metric their mean is taken, as if all did the same");
    }
    for (&at, sums) in &by {
        for ((name, factor), (sum, number)) in names.iter().zip(sums) {
            let value = (*number > 0).then(|| factor * sum / f64::from(*number));
            metric(profile, at, "perfspect", name, value);
        }
    }
    let times: Vec<i64> = by.keys().copied().collect();
    let usual = times.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(1_000_000_000);
    if let (Some(first), Some(last)) = (times.first(), times.last()) {
        // A row is of the time before it.
        let start = first.saturating_sub(usual);
        profile.start = Some(start);
        profile.manifest.start_unix = start;
        profile.manifest.interval = usual;
        profile.manifest.duration = Some(last - start);
    }
}
