//! CSV as RFC 4180 writes it: one file a table, all runs in it. Nothing read is an empty field; an empty text is two quotes. Texts are cleaned
//! as on a terminal, and one that a spreadsheet would run has an apostrophe before it.

use super::{Batch, Exported, Form, LEADING, Options, batches, columns, create, escaped, load, tables, text};
use crate::{Error, Run};
use model::{Column, NULL, Type};
use std::io::Write;
use std::path::Path;
use store::Frame;

/// Writes every table to `TABLE.csv` in `dir`.
///
/// # Errors
/// Where a file exists already or cannot be written; files written before stay.
pub fn csv(runs: &[Run], dir: &Path, options: &Options) -> Result<Exported, Error> {
    let mut exported = Exported::default();
    for table in tables(runs.iter(), options)? {
        // Runs of several versions may know several columns: all of them, in order of first sight.
        let declared: Vec<_> = runs.iter().filter_map(|r| r.recording.table(table)).collect();
        let mut header: Vec<String> = Vec::new();
        for (name, _) in declared.iter().flat_map(|t| columns(t, options.form)) {
            if !header.contains(&name) {
                header.push(name);
            }
        }
        let with_gone = options.form == Form::Stored && declared.iter().any(|t| !t.events);
        let mut file = None;
        let path = dir.join(format!("{}.csv", escaped(table)));
        let failed = |why| Error::Write { path: path.clone(), why };
        let mut rows = 0;
        for run in runs {
            let frame = match load(run, table, options) {
                Ok(Some(frame)) => frame,
                Ok(None) => continue,
                Err(why) => {
                    exported.left_out.push((table.to_owned(), why));
                    continue;
                }
            };
            let out = match &mut file {
                Some(out) => out,
                None => {
                    let mut out = create(&path)?;
                    let leading = ["run"].into_iter().chain(LEADING).chain(with_gone.then_some("gone"));
                    let names: Vec<String> = leading.map(quoted).chain(header.iter().map(|n| quoted(n))).collect();
                    write!(out, "{}\r\n", names.join(",")).map_err(failed)?;
                    file.insert(out)
                }
            };
            let start = run.recording.manifest().start_unix;
            // For each column of the file, the one of this run's table.
            let own = columns(frame.table, options.form);
            let at: Vec<Option<usize>> = header.iter().map(|name| own.iter().position(|(n, _)| n == name)).collect();
            let run = quoted(&run.name);
            batches(&frame, options.form, |batch| {
                rows += batch.t.len();
                for row in 0..batch.t.len() {
                    line(out, &run, start, &frame, &own, &at, batch, row, with_gone)?;
                }
                Ok(())
            })
            .map_err(failed)?;
        }
        if let Some(out) = file {
            out.finish().map_err(failed)?;
            exported.files.push((path.clone(), rows));
        }
    }
    Ok(exported)
}

#[allow(clippy::too_many_arguments)]
fn line(
    out: &mut impl Write,
    run: &str,
    start_unix: i64,
    frame: &Frame,
    own: &[(String, Column)],
    at: &[Option<usize>],
    batch: &Batch,
    row: usize,
    with_gone: bool,
) -> std::io::Result<()> {
    let t = batch.t.get(row).copied().unwrap_or(0);
    write!(out, "{run},{t},{}", timestamp(start_unix.saturating_add(t)))?;
    if with_gone {
        write!(out, ",{}", u8::from(batch.gone.get(row).copied().unwrap_or(false)))?;
    }
    for at in at {
        out.write_all(b",")?;
        let Some((index, (_, column))) = at.and_then(|i| Some((i, own.get(i)?))) else { continue };
        let cell = batch.columns.get(index).and_then(|c| c.get(row)).copied().unwrap_or(NULL);
        match column.ty {
            _ if cell == NULL => {}
            Type::Int => write!(out, "{cell}")?,
            Type::Real => write!(out, "{}", f64::from_bits(cell as u64))?,
            Type::Text => out.write_all(quoted(text(frame, column, cell).unwrap_or("")).as_bytes())?,
        }
    }
    out.write_all(b"\r\n")
}

/// A text as a field.
fn quoted(text: &str) -> String {
    let text = &*model::csv_cell(text);
    if text.is_empty() || text.contains(['"', ',', '\r', '\n']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Unix nanoseconds as RFC 3339 in UTC. The civil date from the number of days is Howard Hinnant's ("chrono-compatible low-level date
/// algorithms", 2013).
fn timestamp(unix: i64) -> String {
    let (seconds, nanos) = (unix.div_euclid(1_000_000_000), unix.rem_euclid(1_000_000_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanos:09}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_civil() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(timestamp(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(timestamp(951_782_400_000_000_000), "2000-02-29T00:00:00.000000000Z");
        assert_eq!(timestamp(1_795_261_296_123_456_789), "2026-11-21T11:41:36.123456789Z");
    }

    #[test]
    fn fields_are_quoted_where_they_must() {
        assert_eq!(
            ["a", "", "a,b", "a\"b", " a", "-l\n"].map(quoted),
            ["a", "\"\"", "\"a,b\"", "\"a\"\"b\"", "\" a\"", "'-l\u{fffd}"]
        );
    }
}
