//! Opens a recording, finished, cut off, or still being written. What is damaged is said and left out; the rest is read.

use crate::catalogue::Segment;
use crate::door::{self, Access, Opened};
use crate::frame::{Builder, Frame, Select};
use crate::{Error, catalogue, pack, segment, sum, tail};
use model::{Coverage, Fact, Manifest, Mark, Status, Table};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

mod check;
mod recorders;
mod scan;

use recorders::{Recorders, Whose};
pub use scan::{Batch, stretch_from};

/// A part of a recording that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Which part: a table, and which of its segments.
    pub what: String,
    /// What was wrong, what was lost and what was kept.
    pub why: String,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// An open recording.
pub struct Recording {
    path: PathBuf,
    opened: Opened,
    manifest: Manifest,
    recorders: Recorders,
    tables: Vec<(u32, &'static str, &'static Table)>,
    segments: Vec<Segment>,
    damage: RefCell<Vec<Damage>>,
    tail: HashMap<u32, Vec<tail::Chunk>>,
    tail_symbols: HashMap<i64, String>,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Marks that are read of one recording. A recorder takes a thousand at once, and ten a second from then on.
const MOST_MARKS: usize = 200_000;

impl Recording {
    /// Opens the file. Its state at this moment is what is read, even if a recorder goes on writing.
    ///
    /// # Errors
    /// Where the file is missing, is no recording, or is of a newer format. Damage inside it is no error: see [`Recording::damage`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut recording = Self::begin(path)?;
        recording.check_length();
        recording.read_manifest();
        recording.recorders = Recorders::of(&recording.manifest);
        recording.read_tables();
        let first = recording.read_segments();
        recording.read_tail(first);
        recording.check_import();
        Ok(recording)
    }

    /// What a recording says of itself, without looking at what it holds: for many files at once.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn about(path: &Path) -> Result<Manifest, Error> {
        let mut recording = Self::begin(path)?;
        recording.read_manifest();
        Ok(recording.manifest)
    }

    /// The file, of which nothing was read yet.
    fn begin(path: &Path) -> Result<Self, Error> {
        let opened = door::open(path, Access::Read)?;
        Ok(Recording {
            path: path.to_owned(),
            opened,
            manifest: Manifest::default(),
            recorders: Recorders::default(),
            tables: Vec::new(),
            segments: Vec::new(),
            damage: RefCell::default(),
            tail: HashMap::new(),
            tail_symbols: HashMap::new(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the work that its manifest tells of, where that is found in its tables.
    pub fn set_work(&mut self, work: Option<model::Work>) {
        self.manifest.work = work;
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether the recorder had not finished it: it was cut off, or is still at it.
    pub fn is_unfinished(&self) -> bool {
        self.manifest.ended.is_none()
    }

    /// The tables, each with its source.
    pub fn tables(&self) -> impl Iterator<Item = (&'static str, &'static Table)> {
        self.tables.iter().map(|&(_, source, table)| (source, table))
    }

    /// The table called `name`.
    pub fn table(&self, name: &str) -> Option<&'static Table> {
        self.tables.iter().find(|(_, _, t)| t.name == name).map(|&(_, _, t)| t)
    }

    /// The number of a table in the file, and its columns as they are stored.
    pub(crate) fn stored(&self, name: &str) -> Option<(u32, Vec<model::Column>)> {
        self.tables.iter().find(|(_, _, t)| t.name == name).map(|&(id, _, table)| (id, table.stored()))
    }

    /// The tables by their numbers in the file.
    pub(crate) fn tables_by_number(&self) -> impl Iterator<Item = (u32, &'static Table)> {
        self.tables.iter().map(|&(id, _, table)| (id, table))
    }

    /// The sealed segments, in the order in which they were written.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The reads of a table that are in the open tail.
    pub(crate) fn open_chunks(&self, table: u32) -> &[tail::Chunk] {
        self.tail.get(&table).map_or(&[], Vec::as_slice)
    }

    /// The text that a cell of the open tail stands for.
    pub(crate) fn tail_text(&self, cell: i64) -> Option<&str> {
        self.tail_symbols.get(&cell).map(String::as_str)
    }

    /// What could not be read of the file so far, as it was opened and used.
    pub fn damage(&self) -> Vec<Damage> {
        self.damage.borrow().clone()
    }

    fn damaged(&self, what: impl Into<String>, why: impl Into<String>) {
        let damage = Damage { what: what.into(), why: why.into() };
        let mut all = self.damage.borrow_mut();
        if !all.contains(&damage) {
            all.push(damage);
        }
    }

    /// Rows of a query, those that could be read; a failure is noted as damage of `what`.
    fn rows<T>(&self, what: &str, sql: &str, mut row: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        let mut found = Vec::new();
        let read = self.opened.each(sql, |next| {
            found.push(row(next)?);
            Ok(())
        });
        if let Err(why) = read {
            self.damaged(what, format!("{why}; {} rows before it were kept", found.len()));
        }
        found
    }

    /// Says so where the file is shorter than its header has it. Pages in a write-ahead log need not be in the file yet.
    fn check_length(&self) {
        let has_log = door::log_of(&self.path).is_some();
        let mut header = [0; 100];
        let read = std::fs::File::open(&self.path).and_then(|mut file| {
            file.read_exact(&mut header)?;
            Ok(file.metadata()?.len())
        });
        // SQLite's file format, section 1.3: page size at 16, where 1 stands for 65536; number of pages at 28.
        let (Ok(length), false) = (read, has_log) else { return };
        let page = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
            1 => 65_536,
            size => size,
        };
        let wanted = page * u64::from(u32::from_be_bytes([header[28], header[29], header[30], header[31]]));
        if length < wanted {
            self.damaged("file", format!("cut off: {length} of {wanted} bytes are there; what they hold is kept"));
        }
    }

    /// Says so where an import did not come to its end: what it lacks, nobody can tell from its tables.
    fn check_import(&self) {
        let ended = self.manifest.ended.as_deref();
        if self.manifest.is_import() && ended != Some(model::IMPORTED) {
            let why = ended.unwrap_or("it did not come to its end");
            self.damaged(
                "import",
                format!("{why}; what came after is missing, and what was taken is kept: import it again"),
            );
        }
    }

    fn read_manifest(&mut self) {
        let rows = self.rows("manifest", "select key, value from manifest", |r| {
            Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?))
        });
        // Field by field: one that is damaged must not take the others along.
        let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(Manifest::default()) else { return };
        for (key, value) in rows {
            let Ok(value) = serde_json::from_str(&value) else {
                self.damaged(format!("manifest.{key}"), "not JSON; left at its default");
                continue;
            };
            let old = fields.insert(key.clone(), value);
            if serde_json::from_value::<Manifest>(fields.clone().into()).is_err() {
                self.damaged(format!("manifest.{key}"), "not of the right type; left at its default");
                match old {
                    Some(old) => fields.insert(key, old),
                    None => fields.remove(&key),
                };
            }
        }
        self.manifest = serde_json::from_value(fields.into()).unwrap_or_default();
    }

    fn read_tables(&mut self) {
        let rows = self.rows(
            "table definitions",
            "select id, source, name, definition from table_definition order by id",
            |r| Ok((r.get::<_, u32>(0)?, r.get::<_, String>(1)?, r.get::<_, String>(2)?, r.get::<_, Vec<u8>>(3)?)),
        );
        for (id, source, name, definition) in rows {
            let text = catalogue::stored(&self.opened.db, [i64::from(id), 0], &definition);
            match text.and_then(|text| catalogue::decode(&text)) {
                Ok(table) => self.tables.push((id, model::intern(&source), table)),
                Err(why) => self.damaged(
                    format!("table {name}"),
                    format!("its definition is damaged ({why}); the table is left out"),
                ),
            }
        }
    }

    /// Reads the list of segments. Returns the first commit that they do not hold.
    fn read_segments(&mut self) -> Option<i64> {
        self.segments = Segment::in_order(self.rows("segments", Segment::SELECT, Segment::of));
        let noted = self.rows("list of segments", "select segments, sum, tick from sealed", |r| {
            Ok((r.get::<_, i64>(0)?, r.get::<_, i64>(1)?, r.get::<_, i64>(2)?))
        });
        let &(count, sum, tick) = noted.first()?;
        if (count, sum) != (self.segments.len() as i64, Segment::sum(&self.segments)) {
            self.damaged(
                "list of segments",
                format!(
                    "not as it was written: {} of {count} are there, and rows may be missing or stand under the wrong table or time; what could be read is kept",
                    self.segments.len()
                ),
            );
        }
        Some(tick)
    }

    /// Reads the tail, which begins with the commit `first`.
    fn read_tail(&mut self, first: Option<i64>) {
        let symbols = self.rows("strings of the tail", "select id, text from symbol", |r| Ok((r.get(0)?, r.get(1)?)));
        self.tail_symbols = symbols.into_iter().collect();
        let rows = self.rows("tail", "select tick, bytes from tail order by tick", |r| {
            Ok((r.get::<_, i64>(0)?, r.get::<_, Vec<u8>>(1)?))
        });
        let mut next = first;
        for (tick, bytes) in rows {
            if next.is_some_and(|next| next != tick) {
                self.damaged("tail", format!("the commits before number {tick} are missing; the others were kept"));
            }
            next = Some(tick.saturating_add(1));
            let (chunks, error) = match sum::check([tick, 0], &bytes) {
                Ok(bytes) => tail::decode(bytes),
                Err(why) => (Vec::new(), Some(why)),
            };
            if let Some(why) = error {
                self.damaged(
                    format!("tail, commit {tick}"),
                    format!("{why}; {} reads before it were kept", chunks.len()),
                );
            }
            for chunk in chunks {
                self.tail.entry(chunk.table).or_default().push(chunk);
            }
        }
    }

    /// The properties of the host, sorted.
    pub fn facts(&self) -> Vec<Fact> {
        self.rows("facts", "select category, name, value from fact order by category, name", |r| {
            Ok(Fact { category: r.get(0)?, name: r.get(1)?, value: r.get(2)? })
        })
    }

    /// What could and could not be read when it was recorded.
    pub fn coverage(&self) -> Vec<Coverage> {
        self.rows("coverage", "select source, item, status, why, remedy from coverage order by source, item", |r| {
            let status: String = r.get(2)?;
            let status = Status::parse(&status).unwrap_or(Status::Failed);
            Ok(Coverage { source: r.get(0)?, item: r.get(1)?, status, why: r.get(3)?, remedy: r.get(4)? })
        })
    }

    /// The marks, in time: [`MOST_MARKS`] at most.
    pub fn marks(&self) -> Vec<Mark> {
        let row = |r: &rusqlite::Row<'_>| Ok(Mark { t: r.get(0)?, text: r.get(1)? });
        let mut marks = self.rows("marks", &format!("select t, text from mark limit {}", MOST_MARKS + 1), row);
        if marks.len() > MOST_MARKS {
            marks.truncate(MOST_MARKS);
            self.damaged("marks", format!("there are more than {MOST_MARKS}; the others are left out"));
        }
        marks.sort_by_key(|mark| mark.t);
        marks
    }

    /// The sources that were recorded: name, title, interval in nanoseconds.
    pub fn sources(&self) -> Vec<(String, String, i64)> {
        self.rows("sources", "select name, title, interval from source order by id", |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?))
        })
    }

    /// The default charts of all sources, in the order of the pages.
    pub fn charts(&self) -> Vec<model::Chart> {
        let rows = self.rows("charts", "select id, name, charts from source order by id", |r| {
            Ok((r.get::<_, i64>(0)?, r.get::<_, String>(1)?, r.get::<_, Vec<u8>>(2)?))
        });
        let mut charts = Vec::new();
        for (id, source, bytes) in rows {
            let text = catalogue::stored(&self.opened.db, [id, 0], &bytes);
            match text.and_then(|text| catalogue::decode_charts(&text)) {
                Ok(more) => charts.extend(more),
                Err(why) => self.damaged(format!("charts of source {source}"), format!("{why}; they are left out")),
            }
        }
        charts.sort_by_key(|chart| chart.page);
        charts
    }

    /// Nanoseconds from the start to the last read of any table, or to the end that the manifest gives.
    pub fn duration(&self) -> i64 {
        let sealed = self.segments.iter().map(|s| s.to).max();
        let open = self.tail.values().flatten().map(|c| c.t).max();
        self.manifest.duration.or(sealed.max(open)).unwrap_or(0).max(0)
    }

    /// Since when there is something, nanoseconds from the start: 0, but for what a flight recorder saved, which keeps the last stretch only.
    pub fn began(&self) -> i64 {
        let is_kept = |id: i64| self.tables.iter().any(|(own, _, table)| i64::from(*own) == id && !table.dictionary);
        let sealed = self.segments.iter().filter(|s| is_kept(s.table)).map(|s| s.from);
        let open = self.tail.iter().filter(|(id, _)| is_kept(i64::from(**id))).flat_map(|(_, c)| c).map(|c| c.t);
        let first = sealed.chain(open).min().unwrap_or(0);
        // The first reading of a recording lies a little after its start. Imports are put in at the ends of stretches that no interval tells of, and
        // hold all that there was.
        let is_whole = self.manifest.is_import() || first <= self.manifest.interval.saturating_mul(2);
        if is_whole { 0 } else { first }
    }

    /// Bytes and rows of each table in the file: (table, segments, rows, bytes). The tail counts as rows only.
    pub fn sizes(&self) -> Vec<(&'static str, i64, i64, i64)> {
        let mut sealed: HashMap<i64, (i64, i64, i64)> = HashMap::new();
        let places = self.rows("segments", "select id, bytes from segment where length(bytes) < 100", |r| {
            Ok((r.get::<_, i64>(0)?, r.get::<_, Vec<u8>>(1)?))
        });
        let places: HashMap<i64, Vec<u8>> = places.into_iter().filter(|(_, bytes)| pack::is_place(bytes)).collect();
        for s in &self.segments {
            let (segments, rows, bytes) = sealed.entry(s.table).or_default();
            *segments += 1;
            *rows = rows.saturating_add(s.rows);
            let packed =
                places.get(&s.id).map_or(0, |place| pack::share(&self.opened.db, [s.table, s.generation], place));
            *bytes = bytes.saturating_add(s.bytes).saturating_add(packed);
        }
        let size = |&(id, _, table): &(u32, &str, &'static Table)| {
            let (segments, rows, bytes) = sealed.get(&i64::from(id)).copied().unwrap_or_default();
            let open: usize =
                self.tail.get(&id).map_or(0, |chunks| chunks.iter().map(|c| c.cells.len() / c.width.max(1)).sum());
            (table.name, segments, rows.saturating_add(open as i64), bytes)
        };
        self.tables.iter().map(size).collect()
    }

    /// Decodes a table, without the rows of recorders or these alone. An unknown name gives `None`; a table without rows gives an empty frame.
    pub fn load(&self, name: &str, select: &Select<'_>) -> Option<Frame> {
        let &(id, _, table) = self.tables.iter().find(|(_, _, t)| t.name == name)?;
        let columns = table.stored();
        let whose = Whose::of(&columns);
        // What a dictionary says later is true before, too.
        let (from, to) = select.between.filter(|_| !table.dictionary).unwrap_or((i64::MIN, i64::MAX));
        let mine = |s: &&Segment| s.table == i64::from(id) && s.to >= from && s.from <= to;
        let mut parts: Vec<(&Segment, Vec<i64>)> = Vec::new();
        for segment in self.segments.iter().filter(mine) {
            match self.ticks_of(segment) {
                Ok(ticks) => parts.push((segment, ticks)),
                Err(why) => self.bad_ticks(name, segment.generation, &why),
            }
        }
        let open: Vec<&tail::Chunk> = self.tail.get(&id).map_or(Vec::new(), |chunks| {
            chunks.iter().filter(|c| c.width == columns.len() && (from..=to).contains(&c.t)).collect()
        });
        // A segment that turns out damaged is left out with its ticks, and the others are read anew: a tick without its rows would read as "nothing changed".
        'again: loop {
            let mut times: Vec<i64> =
                parts.iter().flat_map(|(_, ticks)| ticks).copied().chain(open.iter().map(|c| c.t)).collect();
            times.sort_unstable();
            times.dedup();
            let mut builder = Builder::new(table, select, &times);
            let wanted = builder.wanted().to_vec();
            for (at, (segment, ticks)) in parts.iter().enumerate() {
                match segment
                    .bytes(&self.opened.db)
                    .and_then(|bytes| read_segment(&bytes, table, &columns, &wanted, &mut builder.symbols))
                {
                    Ok((mut block, mut gone)) => {
                        if let Some(whose) = whose {
                            let is_theirs = |columns: &[Vec<i64>], row: usize| {
                                let cell = |at: usize| columns.get(at).and_then(|c| c.get(row)).copied();
                                let (pid, comm) = whose.cells(|at| cell(at).unwrap_or(model::NULL));
                                self.recorders.have(pid, builder.symbols.text(comm))
                            };
                            let stay: Vec<bool> = (0..block.tick.len())
                                .map(|row| is_theirs(&block.columns, row) == select.recorders)
                                .collect();
                            retain(&mut block, &stay);
                            let mut stays = stay.iter();
                            gone.retain(|_| stays.next().is_some_and(|stay| *stay));
                        }
                        builder.add(ticks, &block.tick, &block.columns, &gone);
                    }
                    Err(why) => {
                        self.bad_rows(name, ticks, &why);
                        parts.remove(at);
                        continue 'again;
                    }
                }
            }
            if !open.is_empty() {
                self.add_tail(&mut builder, &open, &columns, whose.map(|whose| (whose, select.recorders)));
            }
            return Some(builder.finish());
        }
    }

    /// Whether a row of the open tail is a recorder's.
    fn are_recorders(&self, whose: Whose, row: &[i64]) -> bool {
        let (pid, comm) = whose.cells(|at| row.get(at).copied().unwrap_or(model::NULL));
        self.recorders.have(pid, self.tail_symbols.get(&comm).map(String::as_str))
    }

    /// The times of the reads of a segment.
    pub(crate) fn ticks_of(&self, segment: &Segment) -> Result<Vec<i64>, String> {
        let mut select =
            self.opened.db.prepare_cached("select ticks from segment where id = ?").map_err(|e| e.to_string())?;
        let ticks: Vec<u8> = select.query_row([segment.id], |r| r.get(0)).map_err(|e| e.to_string())?;
        tail::decode_ticks(sum::check([segment.table, segment.generation], &ticks)?)
    }

    /// Notes that a segment of table `name` cannot be placed in time.
    fn bad_ticks(&self, name: &str, generation: i64, why: &str) {
        self.damaged(
            format!("table {name}, segment {generation}"),
            format!("its ticks are damaged ({why}); it is left out"),
        );
    }

    /// Notes that the rows of the segment of table `name` with these reads are lost.
    fn bad_rows(&self, name: &str, ticks: &[i64], why: &str) {
        let (first, last) = (ticks.first().copied().unwrap_or(0), ticks.last().copied().unwrap_or(0));
        self.damaged(
            format!("table {name}, {:.1} s to {:.1} s", first as f64 / 1e9, last as f64 / 1e9),
            format!("{why}; these rows are lost, the others were kept"),
        );
    }

    /// Adds the open tail as one more generation.
    fn add_tail(
        &self,
        builder: &mut Builder,
        chunks: &[&tail::Chunk],
        columns: &[model::Column],
        whose: Option<(Whose, bool)>,
    ) {
        let mut times: Vec<i64> = Vec::with_capacity(chunks.len());
        let mut tick: Vec<i32> = Vec::new();
        let mut cells: Vec<Vec<i64>> = vec![Vec::new(); columns.len()];
        let wanted = builder.wanted().to_vec();
        let mut gone: Vec<bool> = Vec::new();
        for chunk in chunks {
            let index = times.len() as i32;
            times.push(chunk.t);
            for row in chunk.cells.chunks_exact(chunk.width.max(1)) {
                if whose.is_some_and(|(whose, recorders)| self.are_recorders(whose, row) != recorders) {
                    continue;
                }
                tick.push(index);
                gone.push(says_gone(builder.table(), row));
                for (((column, &cell), into), &wanted) in columns.iter().zip(row).zip(&mut cells).zip(&wanted) {
                    if !wanted {
                        continue;
                    }
                    into.push(match column.ty {
                        model::Type::Text if cell != model::NULL => match self.tail_symbols.get(&cell) {
                            Some(text) => builder.symbols.cell(text),
                            None => {
                                self.damaged(
                                    "strings of the tail",
                                    format!("string {cell} is missing; shown as nothing read"),
                                );
                                model::NULL
                            }
                        },
                        _ => cell,
                    });
                }
            }
        }
        builder.add(&times, &tick, &cells, &gone);
    }
}

/// Keeps some rows of a segment.
fn retain(block: &mut segment::Block, stay: &[bool]) {
    if !stay.contains(&false) {
        return;
    }
    let mut stays = stay.iter();
    block.tick.retain(|_| stays.next().is_some_and(|stay| *stay));
    for cells in block.columns.iter_mut().filter(|cells| !cells.is_empty()) {
        let mut stays = stay.iter();
        cells.retain(|_| stays.next().is_some_and(|stay| *stay));
    }
}

/// Whether a whole row says that its entity is gone: all its values are NULL.
fn says_gone(table: &Table, row: &[i64]) -> bool {
    !table.events
        && row.get(table.label_width()..).is_some_and(|v| !v.is_empty() && v.iter().all(|&c| c == model::NULL))
}

/// Decodes a segment, and says for each row whether the entity is gone. Where the wanted columns alone cannot tell, the others are looked at.
fn read_segment(
    bytes: &[u8],
    table: &Table,
    columns: &[model::Column],
    wanted: &[bool],
    symbols: &mut model::Symbols,
) -> Result<(segment::Block, Vec<bool>), String> {
    let labels = table.label_width();
    let block = segment::decode(bytes, columns, wanted, symbols)?;
    let rows = block.tick.len();
    if table.events || columns.len() == labels {
        return Ok((block, vec![false; rows]));
    }
    let mut gone = vec![true; rows];
    let mut look_at = |block: &segment::Block| {
        for column in block.columns.iter().skip(labels) {
            gone.iter_mut().zip(column).for_each(|(gone, &cell)| *gone &= cell == model::NULL);
        }
        gone.contains(&true)
    };
    if look_at(&block) {
        let others: Vec<bool> = wanted.iter().enumerate().map(|(i, &wanted)| i >= labels && !wanted).collect();
        if others.contains(&true) {
            look_at(&segment::decode(bytes, columns, &others, symbols)?);
        }
    }
    Ok((block, gone))
}
