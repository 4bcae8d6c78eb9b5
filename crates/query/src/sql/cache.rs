//! Tables as decoded, kept for as long as the session asks for them: a join asks for the same one once for every row of the other side.

use crate::Error;
use crate::metric::{Metric, fields};
use crate::series::{Life, Reader};
use model::{NULL, Type};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use store::{Frame, Recording, Select};

/// What is kept beyond the newest few tables.
const MOST_BYTES: usize = 256 << 20;

/// So many tables are kept whatever their size: those of one join.
const LEAST: usize = 6;

/// A recording of the session.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    /// Nanoseconds between two reads, as was asked for.
    pub(crate) interval: i64,
    recording: Mutex<Recording>,
}

impl Source {
    pub(crate) fn new(name: String, recording: Recording) -> Self {
        let interval = recording.manifest().interval;
        Source { name, interval, recording: Mutex::new(recording) }
    }

    pub(crate) fn recording(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A label's value, to look for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Null,
    Int(i64),
    Text(String),
}

/// What a row of a rate table is about.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// For each term of the metric, the entity. The first one's labels are the row's.
    pub(crate) subject: Vec<usize>,
    /// Of a long table: which of [`Loaded::metrics`].
    pub(crate) metric: usize,
}

type ByLabel = HashMap<Key, Vec<usize>>;

/// A decoded table.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) frame: Frame,
    lives: Vec<OnceLock<Vec<Life>>>,
    rates: OnceLock<(Vec<Metric>, Vec<Item>)>,
    /// Items by label: for rates or not, and which label.
    index: Mutex<HashMap<(bool, usize), ByLabel>>,
}

impl Loaded {
    fn new(frame: Frame) -> Self {
        let lives = frame.entities.iter().map(|_| OnceLock::new()).collect();
        Loaded { frame, lives, rates: OnceLock::new(), index: Mutex::default() }
    }

    /// The stretches of an entity's life.
    pub(crate) fn lives(&self, entity: usize) -> Cow<'_, [Life]> {
        match (self.lives.get(entity), self.frame.entities.get(entity)) {
            (Some(known), Some(entity)) => Cow::Borrowed(known.get_or_init(|| self.frame.lives(entity))),
            _ => Cow::Borrowed(&[]),
        }
    }

    /// The fields of a long table as metrics, and what each can be computed for.
    pub(crate) fn rates(&self) -> &(Vec<Metric>, Vec<Item>) {
        self.rates.get_or_init(|| {
            let metrics = fields(&self.frame);
            let mut items = Vec::new();
            for (index, metric) in metrics.iter().enumerate() {
                // Fields alone: the cells are not looked at here.
                if let Ok(reader) = Reader::new(&self.frame, metric, false) {
                    items.extend(reader.subjects(|_| true).into_iter().map(|subject| Item { subject, metric: index }));
                }
            }
            (metrics, items)
        })
    }

    /// Number of items that a scan goes through.
    pub(crate) fn items(&self, rate: bool) -> usize {
        if rate && self.frame.table.is_long() { self.rates().1.len() } else { self.frame.entities.len() }
    }

    /// The entity whose labels an item has.
    pub(crate) fn entity(&self, rate: bool, item: usize) -> usize {
        if rate && self.frame.table.is_long() {
            self.rates().1.get(item).and_then(|i| i.subject.first()).copied().unwrap_or(usize::MAX)
        } else {
            item
        }
    }

    /// A label of an item; the last one of a long table's rates is the name of the metric.
    pub(crate) fn label(&self, rate: bool, item: usize, label: usize) -> Key {
        let table = self.frame.table;
        if rate && table.is_long() && label + 1 == table.label_width() {
            let (metrics, items) = self.rates();
            let name = items.get(item).and_then(|i| metrics.get(i.metric)).map(|m| m.name);
            return name.map_or(Key::Null, |n| Key::Text(n.to_owned()));
        }
        let entity = self.frame.entities.get(self.entity(rate, item));
        let cell = entity.and_then(|e| e.labels.get(label)).copied().unwrap_or(NULL);
        // The `field` of a long table comes after its declared labels, and is a text.
        let declared = table.labels().nth(label).map_or(Type::Text, |c| c.ty);
        match declared {
            _ if cell == NULL => Key::Null,
            Type::Text => self.frame.symbols.text(cell).map_or(Key::Null, |t| Key::Text(t.to_owned())),
            _ => Key::Int(cell),
        }
    }

    /// The items that have these labels: all of them where none is asked for.
    pub(crate) fn with_labels(&self, rate: bool, labels: &[(usize, &Key)]) -> Vec<usize> {
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        for (label, _) in labels {
            index.entry((rate, *label)).or_insert_with(|| {
                let mut by_key = ByLabel::new();
                for item in 0..self.items(rate) {
                    by_key.entry(self.label(rate, item, *label)).or_default().push(item);
                }
                by_key
            });
        }
        let with = |(label, key): &(usize, &Key)| index.get(&(rate, *label)).and_then(|by_key| by_key.get(*key));
        // Those of the label that fewest have: the others are looked at one by one.
        match labels.iter().min_by_key(|of| with(of).map_or(0, Vec::len)) {
            None => (0..self.items(rate)).collect(),
            Some(rarest) => {
                let has = |item: usize| {
                    let mut others = labels.iter().filter(|of| *of != rarest);
                    others.all(|(label, key)| self.label(rate, item, *label) == **key)
                };
                with(rarest).into_iter().flatten().copied().filter(|&item| has(item)).collect()
            }
        }
    }

    fn bytes(&self) -> usize {
        self.frame.values.iter().map(Vec::len).sum::<usize>() * 8 + self.frame.tick.len() * 5
    }
}

#[derive(Debug, PartialEq)]
struct Entry {
    run: usize,
    table: &'static str,
    columns: Vec<&'static str>,
    /// Nanoseconds for which it holds all ticks, those before and after included.
    between: (i64, i64),
}

/// The recordings, and what of them was decoded.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) sources: Vec<Source>,
    /// Newest last.
    kept: Mutex<Vec<(Entry, Arc<Loaded>)>>,
}

impl Shared {
    pub(crate) fn new(sources: Vec<Source>) -> Self {
        Shared { sources, kept: Mutex::default() }
    }

    /// The table of a run with these stored value columns and all ticks between two times, and the last tick before them. `None` where the run
    /// has no such table.
    pub(crate) fn load(
        &self,
        run: usize,
        table: &'static str,
        mut columns: Vec<&'static str>,
        between: Range<i64>,
    ) -> Result<Option<Arc<Loaded>>, Error> {
        columns.sort_unstable();
        columns.dedup();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |e: &Entry| e.run == run && e.table == table && e.columns == columns;
        let covers = |e: &Entry| same(e) && e.between.0 <= between.start && e.between.1 >= between.end;
        if let Some(at) = kept.iter().position(|(e, _)| covers(e)) {
            let found = kept.remove(at);
            let loaded = Arc::clone(&found.1);
            kept.push(found);
            return Ok(Some(loaded));
        }
        let Some(source) = self.sources.get(run) else { return Ok(None) };
        let recording = source.recording();
        // Asked for another stretch of the same table, a join is going through it: better all of it once.
        let again = kept.iter().any(|(e, _)| same(e));
        let mut reach = if again { (i64::MIN, i64::MAX) } else { (between.start, between.end) };
        let mut back: i64 = 60_000_000_000;
        let frame = loop {
            let select = Select { columns: Some(&columns), between: Some(reach), ..Select::default() };
            let Some(frame) = recording.load(table, &select) else { return Ok(None) };
            let early = frame.ticks.first().is_some_and(|&t| t < between.start) || reach.0 <= 0;
            if early || frame.table.events {
                break frame;
            }
            reach.0 = between.start.saturating_sub(back);
            back = back.saturating_mul(8);
        };
        if again {
            kept.retain(|(e, _)| !same(e));
        }
        let loaded = Arc::new(Loaded::new(frame));
        let entry = Entry { run, table, columns, between: if again { reach } else { (between.start, between.end) } };
        kept.push((entry, Arc::clone(&loaded)));
        let mut bytes: usize = kept.iter().map(|(_, l)| l.bytes()).sum();
        while bytes > MOST_BYTES && kept.len() > LEAST {
            bytes -= kept.remove(0).1.bytes();
        }
        Ok(Some(loaded))
    }
}
