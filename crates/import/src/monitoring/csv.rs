//! Tables as text: columns parted by commas, semicolons, tabs, bars or blanks, the first row their names. Headers that come again, as tools print them every
//! screen, are read over.

use super::preset::Preset;
use super::table::{Cell, Grid, Head, heads};
use std::borrow::Cow;

/// What parts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parted {
    By(u8),
    /// One or more blanks.
    Blanks,
}

/// A table in memory.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    text: Cow<'a, str>,
    parted: Parted,
    heads: Vec<Head>,
    /// The first cells of the header, as they are read again in one that is repeated.
    names: Vec<String>,
    /// Whether the first row is no header.
    without: bool,
    skip: Vec<regex_lite::Regex>,
    last_is_rest: bool,
    /// Days since 1970 that a line before the header names.
    pub(crate) day: Option<i64>,
}

/// Longest line that is looked at as a header.
const LONGEST: usize = 1 << 20;

impl<'a> Text<'a> {
    /// A table of these bytes; none where they are no text, or have no second column.
    pub(crate) fn of(bytes: &'a [u8], preset: &Preset, separator: Option<u8>) -> Option<Text<'a>> {
        let start = bytes.get(..bytes.len().min(4096)).unwrap_or(bytes);
        if start.contains(&0) {
            return None;
        }
        let text = String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes));
        let mut table = Text {
            text,
            parted: Parted::Blanks,
            heads: Vec::new(),
            names: Vec::new(),
            without: false,
            skip: preset.skip.clone(),
            last_is_rest: preset.last_is_rest,
            day: None,
        };
        let mut lines = table.text.lines().take(100);
        let mut day = None;
        let header = lines.find(|line| {
            let line = line.trim_end();
            let skipped = line.trim().is_empty() || table.skip.iter().any(|regex| regex.is_match(line));
            if skipped {
                // `Linux 6.1.0 (host)  11/26/26  _x86_64_`: the day of times that have none.
                day = day.or_else(|| line.split_whitespace().find_map(day_of));
            }
            !skipped
        })?;
        if header.len() > LONGEST {
            return None;
        }
        let parted = separator.map_or_else(|| parted(header), Parted::By);
        let names: Vec<String> = split(header, parted, false).into_iter().map(Cow::into_owned).collect();
        let mut names: Vec<String> = names.iter().map(|name| plain(name)).collect();
        // A remark's sign before the header is none of it.
        if let Some(first) = names.first_mut()
            && first.is_empty()
            && header.trim_start().starts_with('#')
        {
            names.remove(0);
        }
        let without = names.iter().all(|name| super::time::of_text(name).is_some() || name.parse::<f64>().is_ok());
        let own = if without { (1..=names.len()).map(|n| format!("column_{n}")).collect() } else { names.clone() };
        (table.parted, table.heads, table.names, table.without, table.day) = (parted, heads(own), names, without, day);
        (table.heads.len() > 1).then_some(table)
    }

    pub(crate) fn header(&self) -> Vec<String> {
        self.heads.iter().map(|head| head.name.clone()).collect()
    }

    fn is_header(&self, cells: &[Cow<'_, str>], line: &str) -> bool {
        if line.trim_start().starts_with('#') {
            return true;
        }
        let mut alike = 0;
        for (cell, name) in cells.iter().zip(&self.names) {
            alike += usize::from(plain(cell) == *name);
        }
        // The first column of a repeated header may be a time.
        !self.without && alike + 1 >= self.names.len().max(2)
    }
}

impl Grid for Text<'_> {
    fn heads(&self) -> &[Head] {
        &self.heads
    }

    fn comma(&self) -> bool {
        self.parted != Parted::By(b',')
    }

    fn rows(&self, take: &mut dyn FnMut(usize, &[Cell<'_>]) -> bool) -> Result<(), String> {
        if let Parted::By(separator) = self.parted {
            return self.records(separator, take);
        }
        let mut is_first = !self.without;
        for (number, line) in (1..).zip(self.text.lines()) {
            if line.trim().is_empty() || self.skip.iter().any(|regex| regex.is_match(line)) {
                continue;
            }
            let mut cells = split(line, self.parted, true);
            if std::mem::take(&mut is_first) || self.is_header(&cells, line) {
                continue;
            }
            if self.last_is_rest && cells.len() > self.heads.len() {
                let rest = cells.split_off(self.heads.len().saturating_sub(1)).join(" ");
                cells.push(Cow::Owned(rest));
            }
            let cells: Vec<Cell<'_>> = cells.into_iter().map(Cell::Text).collect();
            if !take(number, &cells) {
                break;
            }
        }
        Ok(())
    }
}

impl Text<'_> {
    /// Rows whose cells may be in quotation marks, over several lines.
    fn records(&self, separator: u8, take: &mut dyn FnMut(usize, &[Cell<'_>]) -> bool) -> Result<(), String> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(separator)
            .flexible(true)
            .has_headers(false)
            .trim(csv::Trim::All)
            .from_reader(self.text.as_bytes());
        let mut record = csv::StringRecord::new();
        let mut is_first = !self.without;
        loop {
            match reader.read_record(&mut record) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(why) => return Err(why.to_string()),
            }
            let line = record.position().map_or(0, |at| at.line() as usize);
            let first = record.get(0).unwrap_or_default();
            if record.iter().all(str::is_empty)
                || (record.len() == 1 && self.skip.iter().any(|regex| regex.is_match(first)))
            {
                continue;
            }
            let cells: Vec<Cow<'_, str>> = record.iter().map(Cow::from).collect();
            if std::mem::take(&mut is_first) || self.is_header(&cells, first) {
                continue;
            }
            let cells: Vec<Cell<'_>> = cells.into_iter().map(Cell::Text).collect();
            if !take(line, &cells) {
                return Ok(());
            }
        }
    }
}

/// A name without the sign of a remark and quotation marks.
fn plain(name: &str) -> String {
    name.trim().trim_start_matches('#').trim().trim_matches('"').to_owned()
}

/// What parts the columns of a header: what is in it most often, and blanks where nothing else is.
fn parted(header: &str) -> Parted {
    let count = |byte: u8| header.bytes().filter(|own| *own == byte).count();
    let most = [b',', b';', b'\t', b'|'].into_iter().max_by_key(|byte| (count(*byte), *byte == b','));
    match most {
        Some(byte) if count(byte) > 0 => Parted::By(byte),
        _ => Parted::Blanks,
    }
}

/// The cells of a line. Between blanks a date and a clock are one, and so are a clock and `AM`.
fn split(line: &str, parted: Parted, join: bool) -> Vec<Cow<'_, str>> {
    match parted {
        Parted::By(byte) => line.split(char::from(byte)).map(|cell| Cow::from(cell.trim())).collect(),
        Parted::Blanks => {
            let mut cells: Vec<Cow<'_, str>> = Vec::new();
            for word in line.split_whitespace() {
                if let Some(last) = cells.last_mut()
                    && join
                    && ((is_date(last) && is_clock(word)) || (matches!(word, "AM" | "PM") && is_clock(last)))
                {
                    *last = Cow::Owned(format!("{last} {word}"));
                } else {
                    cells.push(Cow::from(word));
                }
            }
            cells
        }
    }
}

fn is_clock(word: &str) -> bool {
    word.len() >= 5
        && word.bytes().all(|b| b.is_ascii_digit() || b == b':' || b == b'.')
        && word.matches(':').count() >= 1
}

fn is_date(word: &str) -> bool {
    word.len() >= 8
        && word.bytes().all(|b| b.is_ascii_digit() || b"-/.".contains(&b))
        && word.matches(['-', '/']).count() == 2
}

/// Days since 1970 of a word that is a date.
fn day_of(word: &str) -> Option<i64> {
    match super::time::of_text(word).filter(|_| is_date(word))? {
        super::time::Time::Local(at) => Some(at / 86_400_000_000_000),
        _ => None,
    }
}
