//! pprof's profile.proto (github.com/google/pprof, proto/profile.proto), read field by field: unknown fields are passed over.

use crate::bytes::Bytes;
use crate::profile::{Place, Profile, Sample, kind_of};
use model::NULL;
use std::collections::HashMap;

/// What to give instead of a profile of gperftools: its own format, which holds addresses only (gperftools, docs/cpuprofile-fileformat.html).
pub(crate) fn of_gperftools(bytes: &[u8]) -> Option<&'static str> {
    // Words of the machine: 0, the words of the header that follow, the version, the period in microseconds, 0.
    let of_words = |bytes: &[u8], size: usize| {
        let (words, _) = bytes.split_at_checked(5 * size)?;
        let word = |n: usize| {
            let bytes = words.get(n * size..(n + 1) * size)?;
            let low = |bytes: Vec<u8>| bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
            // Of either byte order.
            let [little, big] = [bytes.to_vec(), bytes.iter().rev().copied().collect()].map(low);
            Some(little.min(big))
        };
        (word(0)? == 0 && word(1)? == 3 && word(2)? == 0 && (1..10_000_000).contains(&word(3)?) && word(4)? == 0)
            .then_some(())
    };
    let is_symbolised = bytes.starts_with(b"--- symbol\n") || bytes.starts_with(b"heap profile: ");
    let is_one = is_symbolised || [8, 4].iter().any(|size| of_words(bytes, *size).is_some());
    is_one.then_some("a profile of gperftools, which needs the program to be read: pprof -proto PROGRAM FILE > FILE.pb.gz, then import that")
}

/// A field of a message: its number, and a number or bytes.
enum Field<'a> {
    Number(u64, u64),
    Bytes(u64, &'a [u8]),
}

fn fields<'a>(bytes: &'a [u8], mut each: impl FnMut(Field<'a>)) -> Result<(), String> {
    let mut rest = Bytes(bytes);
    while !rest.0.is_empty() {
        let cut = || "it is cut off or damaged".to_owned();
        let key = rest.varint().ok_or_else(cut)?;
        let field = key >> 3;
        if field == 0 || field > 1000 {
            return Err("it is no message of profile.proto".into());
        }
        match key & 7 {
            0 => each(Field::Number(field, rest.varint().ok_or_else(cut)?)),
            1 => drop(rest.u64().ok_or_else(cut)?),
            2 => {
                let length = rest.varint().and_then(|n| usize::try_from(n).ok()).ok_or_else(cut)?;
                each(Field::Bytes(field, rest.take(length).ok_or_else(cut)?));
            }
            5 => drop(rest.u32().ok_or_else(cut)?),
            _ => return Err("it is no message of profile.proto".into()),
        }
    }
    Ok(())
}

/// Numbers of a repeated field, packed or one by one.
fn numbers(field: Field<'_>, into: &mut Vec<u64>) {
    match field {
        Field::Number(_, n) => into.push(n),
        Field::Bytes(_, bytes) => {
            let mut rest = Bytes(bytes);
            while let Some(n) = rest.varint() {
                into.push(n);
            }
        }
    }
}

#[derive(Default)]
struct Raw<'a> {
    types: Vec<(u64, u64)>,
    samples: Vec<&'a [u8]>,
    mappings: HashMap<u64, (u64, u64, u64, u64)>,
    locations: HashMap<u64, Location>,
    functions: HashMap<u64, (u64, u64)>,
    strings: Vec<&'a [u8]>,
    time: i64,
    duration: i64,
    default_type: u64,
}

#[derive(Clone, Default)]
struct Location {
    mapping: u64,
    address: u64,
    /// Function and line; the last is the function into which the others were inlined.
    lines: Vec<(u64, u64)>,
}

fn raw(bytes: &[u8]) -> Result<Raw<'_>, String> {
    let mut raw = Raw::default();
    let mut inner: Result<(), String> = Ok(());
    let mut note = |result: Result<(), String>| {
        if inner.is_ok() {
            inner = result;
        }
    };
    fields(bytes, |field| match field {
        Field::Bytes(1, m) => {
            let mut pair = (0, 0);
            note(fields(m, |f| match f {
                Field::Number(1, n) => pair.0 = n,
                Field::Number(2, n) => pair.1 = n,
                _ => {}
            }));
            raw.types.push(pair);
        }
        Field::Bytes(2, m) => raw.samples.push(m),
        Field::Bytes(3, m) => {
            let (mut id, mut mapping) = (0, (0, 0, 0, 0));
            note(fields(m, |f| match f {
                Field::Number(1, n) => id = n,
                Field::Number(2, n) => mapping.0 = n,
                Field::Number(4, n) => mapping.1 = n,
                Field::Number(5, n) => mapping.2 = n,
                Field::Number(6, n) => mapping.3 = n,
                _ => {}
            }));
            raw.mappings.insert(id, mapping);
        }
        Field::Bytes(4, m) => {
            let (mut id, mut location) = (0, Location::default());
            note(fields(m, |f| match f {
                Field::Number(1, n) => id = n,
                Field::Number(2, n) => location.mapping = n,
                Field::Number(3, n) => location.address = n,
                Field::Bytes(4, line) => {
                    let mut pair = (0, 0);
                    let _ = fields(line, |f| match f {
                        Field::Number(1, n) => pair.0 = n,
                        Field::Number(2, n) => pair.1 = n,
                        _ => {}
                    });
                    location.lines.push(pair);
                }
                _ => {}
            }));
            raw.locations.insert(id, location);
        }
        Field::Bytes(5, m) => {
            let (mut id, mut function) = (0, (0, 0));
            note(fields(m, |f| match f {
                Field::Number(1, n) => id = n,
                Field::Number(2, n) => function.0 = n,
                Field::Number(4, n) => function.1 = n,
                _ => {}
            }));
            raw.functions.insert(id, function);
        }
        Field::Bytes(6, m) => raw.strings.push(m),
        Field::Number(9, n) => raw.time = n as i64,
        Field::Number(10, n) => raw.duration = n as i64,
        Field::Number(14, n) => raw.default_type = n,
        _ => {}
    })?;
    inner?;
    Ok(raw)
}

pub(crate) fn read(bytes: &[u8], profile: &mut Profile) -> Result<(), String> {
    let raw = raw(bytes)?;
    if raw.types.is_empty() || raw.strings.first().is_none_or(|s| !s.is_empty()) {
        return Err("it has no types of values".into());
    }
    let string = |at: u64| {
        let bytes = usize::try_from(at).ok().and_then(|at| raw.strings.get(at)).copied().unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    let names: Vec<(String, String)> = raw.types.iter().map(|&(kind, unit)| (string(kind), string(unit))).collect();
    let wanted = profile.options.event.clone().or_else(|| (raw.default_type != 0).then(|| string(raw.default_type)));
    let column = wanted
        .and_then(|w| names.iter().position(|(kind, _)| *kind == w))
        .or_else(|| names.iter().position(|(_, unit)| unit == "nanoseconds"))
        .unwrap_or(0);
    let (kind, unit) = names.get(column).cloned().unwrap_or_default();
    let by = match unit.as_str() {
        "nanoseconds" | "ns" => 1,
        "microseconds" | "us" => 1000,
        "milliseconds" | "ms" => 1_000_000,
        "seconds" | "s" => 1_000_000_000,
        _ => profile.options.count,
    };
    if names.len() > 1 {
        let others: Vec<&str> =
            names.iter().enumerate().filter(|(i, _)| *i != column).map(|(_, (k, _))| k.as_str()).collect();
        profile.note(format!("of its values {kind} ({unit}) is taken, not {} (--event)", others.join(", ")));
    }
    profile.note("pprof has no times of samples: all is at 0 s");
    if by == profile.options.count && unit != "nanoseconds" {
        profile.note(format!("each {kind} of the profile is taken for {} ms of CPU time (--count)", by as f64 / 1e6));
    }
    // A location's places, the outermost first.
    let mut places: HashMap<u64, Vec<u32>> = HashMap::new();
    for (&id, location) in &raw.locations {
        let (start, pgoff, file, build_id) = raw.mappings.get(&location.mapping).copied().unwrap_or_default();
        let module = string(file);
        let module_cell = profile.text(&module);
        let build_id = profile.text(&string(build_id));
        let offset =
            location.address.checked_sub(start).and_then(|o| o.checked_add(pgoff)).and_then(|o| i64::try_from(o).ok());
        let mut list: Vec<u32> = Vec::with_capacity(location.lines.len().max(1));
        let last = location.lines.len().saturating_sub(1);
        for (i, &(function, line)) in location.lines.iter().enumerate().rev() {
            let (name, file) = raw.functions.get(&function).copied().unwrap_or_default();
            let (name, file) = (string(name), string(file));
            let source = if file.is_empty() || line == 0 { file } else { format!("{file}:{line}") };
            let kind = if i < last { "inlined" } else { kind_of(&module) };
            let [function, source, kind] = [name.as_str(), source.as_str(), kind].map(|t| profile.text(t));
            list.push(profile.place(Place { function, module: module_cell, build_id, offset: NULL, source, kind }));
        }
        if list.is_empty() {
            let kind = profile.text(kind_of(&module));
            list.push(profile.place(Place {
                function: NULL,
                module: module_cell,
                build_id,
                offset: offset.unwrap_or(NULL),
                source: NULL,
                kind,
            }));
        }
        places.insert(id, list);
    }
    let (mut ids, mut values) = (Vec::new(), Vec::new());
    for sample in &raw.samples {
        ids.clear();
        values.clear();
        let mut thread = NULL;
        let read = fields(sample, |f| match f {
            Field::Number(1, _) | Field::Bytes(1, _) => numbers(f, &mut ids),
            Field::Number(2, _) | Field::Bytes(2, _) => numbers(f, &mut values),
            Field::Bytes(3, label) => {
                let (mut key, mut text) = (0, 0);
                let _ = fields(label, |f| match f {
                    Field::Number(1, n) => key = n,
                    Field::Number(2, n) => text = n,
                    _ => {}
                });
                if text != 0 && matches!(string(key).as_str(), "thread" | "thread_name" | "thread name") {
                    thread = profile.text(&string(text));
                }
            }
            _ => {}
        });
        if read.is_err() {
            profile.count("samples that are damaged; they are left out", 1);
            continue;
        }
        let value = values.get(column).copied().unwrap_or(0) as i64;
        if value <= 0 {
            continue;
        }
        let mut stack = 0;
        for id in ids.iter().rev() {
            match places.get(id) {
                Some(list) => {
                    for &place in list {
                        stack = profile.stack(stack, place);
                    }
                }
                None => profile.count("frames whose location is missing", 1),
            }
        }
        let weight = value.saturating_mul(by);
        profile.samples.push(Sample { at: 0, pid: NULL, tid: NULL, comm: NULL, thread, cpu: NULL, stack, weight });
    }
    profile.manifest.start_unix = raw.time.max(0);
    profile.manifest.duration = (raw.duration > 0).then_some(raw.duration);
    Ok(())
}
