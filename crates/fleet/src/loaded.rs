//! A folder's summaries in memory, metric by metric: what bands and what separates them are computed from.

use crate::folder::{
    Batch, DECLARED, Damage, FACT, Folder, FolderError, METRIC, NO_TEXT, PLACE, PROCESS, RECORDING, SLICE,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A recording: one unit of what is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Identifier in the folder.
    pub id: String,
    /// Name of the host.
    pub host: String,
    /// Name of the recording.
    pub run: String,
    /// The file that it was read from.
    pub file: String,
    /// When it began, ns since 1970 UTC.
    pub start: i64,
    /// How long it is, s.
    pub seconds: f64,
    /// What work was counted in; empty where none is known.
    pub work_unit: String,
    /// Labels that were given.
    pub labels: BTreeMap<String, String>,
    /// Identifier of the boot of the host.
    pub boot: String,
    /// When the host booted, ns since 1970 UTC; `None` where that is not known.
    pub booted: Option<i64>,
    /// Marks that were set, by time: ns since 1970 UTC, and the text.
    pub marks: Vec<(i64, String)>,
}

/// What a metric is; unknown where `declared` has no row for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// Its unit.
    pub unit: String,
    /// Its unit per operation; empty where it cannot be given so.
    pub per_operation: String,
    /// `more`, `less`, or empty.
    pub better: String,
    /// Whether it is something per second: a group that a host lacks was 0 there.
    pub is_rate: bool,
    /// The least difference that anyone would care about, in its unit.
    pub floor: f64,
    /// What it says.
    pub help: String,
}

/// What tells a metric from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Its name.
    pub metric: Arc<str>,
    /// The group, as a JSON object of texts.
    pub labels: Arc<str>,
    /// Whether it is per operation of the workload; else per second, a level or a ratio.
    pub per_operation: bool,
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.metric)?;
        let labels: BTreeMap<String, String> = serde_json::from_str(&self.labels).unwrap_or_default();
        if !labels.is_empty() {
            let pairs: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            write!(f, "{{{}}}", pairs.join(","))?;
        }
        if self.per_operation { write!(f, " per operation") } else { Ok(()) }
    }
}

/// One metric of all recordings, in their order; NaN where a recording lacks it.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Which.
    pub key: Key,
    /// What it is.
    pub declared: Arc<Declared>,
    /// Means over the windows.
    pub mean: Vec<f64>,
    /// Their standard errors.
    pub error: Vec<f32>,
    /// Standard deviations within the recordings.
    pub deviation: Vec<f32>,
    /// Means over the even blocks.
    pub even: Vec<f32>,
    /// Means over the odd blocks.
    pub odd: Vec<f32>,
}

/// Which values of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Means over the windows.
    Mean,
    /// Means over the even blocks.
    Even,
    /// Means over the odd blocks.
    Odd,
    /// Standard deviations within the recordings.
    Deviation,
}

impl Metric {
    /// Some of its values on all recordings.
    pub fn values(&self, part: Part) -> Vec<f64> {
        let wide = |values: &[f32]| values.iter().map(|v| f64::from(*v)).collect();
        match part {
            Part::Mean => self.mean.clone(),
            Part::Even => wide(&self.even),
            Part::Odd => wide(&self.odd),
            Part::Deviation => wide(&self.deviation),
        }
    }

    /// The same metric on these recordings alone, in their order.
    pub(crate) fn on(&self, hosts: &[usize]) -> Metric {
        let single = |values: &[f32]| hosts.iter().map(|at| values.get(*at).copied().unwrap_or(f32::NAN)).collect();
        Metric {
            key: self.key.clone(),
            declared: Arc::clone(&self.declared),
            mean: hosts.iter().map(|at| self.mean.get(*at).copied().unwrap_or(f64::NAN)).collect(),
            error: single(&self.error),
            deviation: single(&self.deviation),
            even: single(&self.even),
            odd: single(&self.odd),
        }
    }

    pub(crate) fn new(key: Key, declared: Arc<Declared>, recordings: usize) -> Metric {
        let missing = vec![f32::NAN; recordings];
        Metric {
            key,
            declared,
            mean: vec![f64::NAN; recordings],
            error: missing.clone(),
            deviation: missing.clone(),
            even: missing.clone(),
            odd: missing,
        }
    }

    /// The unit of its values.
    pub fn unit(&self) -> &str {
        if self.key.per_operation { &self.declared.per_operation } else { &self.declared.unit }
    }
}

/// A fact: its value on each recording, where it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Category and name.
    pub name: (String, String),
    /// Number of each recording's value among `values`; [`NO_TEXT`] where it has none.
    pub of: Vec<u32>,
    /// The values.
    pub values: Vec<String>,
}

/// A function in a state: its share on each recording; 0 where others of that state were seen, NaN where the state was not.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// `cpu`, or the state in which threads were blocked.
    pub state: Arc<str>,
    /// The function.
    pub function: Arc<str>,
    /// File name of its program or library.
    pub module: Arc<str>,
    /// In the function itself, 0 to 1.
    pub own: Vec<f64>,
    /// With what it called.
    pub total: Vec<f32>,
}

/// The course of a metric on one recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// When each slice begins and ends, ns since 1970 UTC.
    pub times: Vec<(i64, i64)>,
    /// The mean of each; NaN where nothing was measured.
    pub means: Vec<f64>,
}

/// The recordings of a folder, and where to read what is asked of them.
#[derive(Debug)]
pub struct Fleet<'a> {
    folder: &'a Folder,
    /// The recordings, by host and start.
    pub recordings: Vec<Recording>,
    /// Place among them by identifier.
    places: HashMap<String, u32>,
    /// Parts that could not be read as a whole.
    pub damage: Vec<Damage>,
}

impl<'a> Fleet<'a> {
    /// The recordings that have all of these labels.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn load(folder: &'a Folder, labels: &[(String, String)]) -> Result<Fleet<'a>, FolderError> {
        let mut recordings: Vec<Recording> = Vec::new();
        let names: Vec<&str> = RECORDING.columns.iter().map(|c| c.name).collect();
        let damage = folder.read(&RECORDING, &names, &[], |batch| {
            recordings.extend((0..batch.len()).map(|row| recording(&batch, row)));
        })?;
        recordings.retain(|of| labels.iter().all(|(name, value)| of.labels.get(name) == Some(value)));
        recordings.sort_by(|a, b| (&a.host, a.start, &a.id).cmp(&(&b.host, b.start, &b.id)));
        // Two that added at once may both have added it.
        recordings.dedup_by(|a, b| a.id == b.id);
        let places = recordings.iter().enumerate().map(|(at, of)| (of.id.clone(), at as u32)).collect();
        Ok(Fleet { folder, recordings, places, damage })
    }

    /// Only those recordings that `wanted` says.
    #[must_use]
    pub fn only(&self, wanted: impl Fn(usize) -> bool) -> Fleet<'a> {
        let kept = self.recordings.iter().enumerate().filter(|(at, _)| wanted(*at));
        let recordings: Vec<Recording> = kept.map(|(_, of)| of.clone()).collect();
        let places = recordings.iter().enumerate().map(|(at, of)| (of.id.clone(), at as u32)).collect();
        Fleet { folder: self.folder, recordings, places, damage: Vec::new() }
    }

    /// How many recordings there are.
    pub fn len(&self) -> usize {
        self.recordings.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.recordings.is_empty()
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> usize {
        let mut hosts: Vec<&str> = self.recordings.iter().map(|of| &*of.host).collect();
        hosts.dedup();
        hosts.len()
    }

    /// By number of the text of an identifier in a batch, the recording.
    fn by_text(&self, batch: &Batch) -> Vec<Option<u32>> {
        let count = batch.texts.len() as u32;
        (0..count).map(|text| self.places.get(&**batch.texts.text(text)?).copied()).collect()
    }

    /// What metrics are, by name.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn declared(&mut self) -> Result<HashMap<String, Arc<Declared>>, FolderError> {
        let mut found = HashMap::new();
        let names: Vec<&str> = DECLARED.columns.iter().map(|c| c.name).collect();
        let place = |name: &str| DECLARED.place(name).unwrap_or(0);
        let damage = self.folder.read(&DECLARED, &names, &[], |batch| {
            for row in 0..batch.len() {
                let text = |name: &str| batch.text(row, place(name)).unwrap_or_default().to_owned();
                let number = |name: &str| batch.columns.get(place(name)).map_or(f64::NAN, |c| c.real(row));
                found.entry(text("metric")).or_insert_with(|| {
                    Arc::new(Declared {
                        unit: text("unit"),
                        per_operation: text("per_operation"),
                        better: text("better"),
                        is_rate: number("is_rate") > 0.0,
                        floor: if number("floor").is_finite() { number("floor") } else { 0.0 },
                        help: text("help"),
                    })
                });
            }
        })?;
        self.damage.extend(damage);
        Ok(found)
    }

    /// The metrics: all, or those of one name.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn metrics(&mut self, name: Option<&str>) -> Result<Vec<Metric>, FolderError> {
        let declared = self.declared()?;
        let recordings = self.len();
        let mut found: Vec<Metric> = Vec::new();
        let mut numbers: HashMap<Key, usize> = HashMap::new();
        let columns = ["metric", "labels", "per", "id", "mean", "error", "deviation", "even", "odd"];
        let [metric, labels, per, id, mean, error, deviation, even, odd] =
            columns.map(|name| METRIC.place(name).unwrap_or(0));
        let only: Vec<(&str, &str)> = name.iter().map(|name| ("metric", *name)).collect();
        let damage = self.folder.read(&METRIC, &columns, &only, |batch| {
            let of = self.by_text(&batch);
            // Rows of one metric lie together: its key is looked up once for all of them.
            let mut last: Option<((u32, u32, u32), usize)> = None;
            for row in 0..batch.len() {
                let text = |column: usize| batch.columns.get(column).map_or(NO_TEXT, |c| c.text(row));
                let Some(at) = of.get(text(id) as usize).copied().flatten() else { continue };
                let short = (text(metric), text(labels), text(per));
                let place = match last {
                    Some((key, place)) if key == short => place,
                    _ => {
                        let word = |number: u32| batch.texts.text(number).cloned().unwrap_or_default();
                        let (metric, labels) = (word(short.0), word(short.1));
                        if name.is_some_and(|name| name != &*metric) {
                            continue;
                        }
                        let key = Key { metric, labels, per_operation: &*word(short.2) == "operation" };
                        let declared = declared.get(&*key.metric).cloned().unwrap_or_default();
                        *numbers.entry(key.clone()).or_insert_with(|| {
                            found.push(Metric::new(key, declared, recordings));
                            found.len() - 1
                        })
                    }
                };
                last = Some((short, place));
                let Some(into) = found.get_mut(place) else { continue };
                let real = |column: usize| batch.columns.get(column).map_or(f64::NAN, |c| c.real(row));
                let put = |values: &mut Vec<f32>, column: usize| {
                    if let Some(slot) = values.get_mut(at as usize) {
                        *slot = real(column) as f32;
                    }
                };
                if let Some(slot) = into.mean.get_mut(at as usize) {
                    *slot = real(mean);
                }
                put(&mut into.error, error);
                put(&mut into.deviation, deviation);
                put(&mut into.even, even);
                put(&mut into.odd, odd);
            }
        })?;
        self.damage.extend(damage);
        found.sort_by(|a, b| a.key.cmp(&b.key));
        zeros(&mut found);
        Ok(found)
    }

    /// The facts.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn facts(&mut self) -> Result<Vec<Fact>, FolderError> {
        let recordings = self.len();
        let mut found: BTreeMap<(String, String), Fact> = BTreeMap::new();
        let columns = ["category", "name", "id", "value"];
        let [category, name, id, value] = columns.map(|name| FACT.place(name).unwrap_or(0));
        let damage = self.folder.read(&FACT, &columns, &[], |batch| {
            let of = self.by_text(&batch);
            for row in 0..batch.len() {
                let at = batch.columns.get(id).map_or(NO_TEXT, |c| c.text(row));
                let Some(at) = of.get(at as usize).copied().flatten() else { continue };
                let text = |column: usize| batch.text(row, column).unwrap_or_default();
                let key = (text(category).to_owned(), text(name).to_owned());
                let fact = found.entry(key.clone()).or_insert_with(|| Fact {
                    name: key,
                    of: vec![NO_TEXT; recordings],
                    values: Vec::new(),
                });
                let number = fact.values.iter().position(|known| known == text(value)).unwrap_or_else(|| {
                    fact.values.push(text(value).to_owned());
                    fact.values.len() - 1
                });
                if let Some(slot) = fact.of.get_mut(at as usize) {
                    *slot = number as u32;
                }
            }
        })?;
        self.damage.extend(damage);
        Ok(found.into_values().collect())
    }

    /// The functions.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn places(&mut self) -> Result<Vec<Place>, FolderError> {
        let recordings = self.len();
        type Name = (Arc<str>, Arc<str>, Arc<str>);
        let mut found: BTreeMap<Name, Place> = BTreeMap::new();
        // By state, the recordings that saw it.
        let mut seen: HashMap<Arc<str>, Vec<bool>> = HashMap::new();
        let columns = ["state", "function", "module", "id", "own", "total"];
        let [state, function, module, id, own, total] = columns.map(|name| PLACE.place(name).unwrap_or(0));
        let damage = self.folder.read(&PLACE, &columns, &[], |batch| {
            let of = self.by_text(&batch);
            for row in 0..batch.len() {
                let number = |column: usize| batch.columns.get(column).map_or(NO_TEXT, |c| c.text(row));
                let word = |column: usize| batch.texts.text(number(column)).cloned().unwrap_or_default();
                let Some(at) = of.get(number(id) as usize).copied().flatten() else { continue };
                let all = seen.entry(word(state)).or_insert_with(|| vec![false; recordings]);
                if let Some(slot) = all.get_mut(at as usize) {
                    *slot = true;
                }
                // All that is too small to be told apart is no function.
                if number(function) == NO_TEXT {
                    continue;
                }
                let key = (word(state), word(function), word(module));
                let place = found.entry(key).or_insert_with_key(|(state, function, module)| Place {
                    state: Arc::clone(state),
                    function: Arc::clone(function),
                    module: Arc::clone(module),
                    own: vec![0.0; recordings],
                    total: vec![0.0; recordings],
                });
                let real = |column: usize| batch.columns.get(column).map_or(f64::NAN, |c| c.real(row));
                if let (Some(into), Some(all)) = (place.own.get_mut(at as usize), place.total.get_mut(at as usize)) {
                    // One function may be inlined here and called there: its rows add up.
                    *into += real(own);
                    *all = (*all + real(total) as f32).min(1.0);
                }
            }
        })?;
        self.damage.extend(damage);
        let mut places: Vec<Place> = found.into_values().collect();
        for place in &mut places {
            let Some(seen) = seen.get(&place.state) else { continue };
            for (at, _) in seen.iter().enumerate().filter(|(_, seen)| !**seen) {
                if let (Some(own), Some(total)) = (place.own.get_mut(at), place.total.get_mut(at)) {
                    (*own, *total) = (f64::NAN, f32::NAN);
                }
            }
        }
        Ok(places)
    }

    /// When the oldest process of the workload of each recording began, ns since 1970 UTC, where that is known.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn starts(&mut self) -> Result<HashMap<usize, i64>, FolderError> {
        let mut starts: HashMap<usize, i64> = HashMap::new();
        let columns = ["id", "start"];
        let [id, start] = columns.map(|name| PROCESS.place(name).unwrap_or(0));
        let damage = self.folder.read(&PROCESS, &columns, &[], |batch| {
            let of = self.by_text(&batch);
            for row in 0..batch.len() {
                let at = batch.columns.get(id).map_or(NO_TEXT, |c| c.text(row));
                let start = batch.columns.get(start).and_then(|c| c.int(row));
                if let (Some(at), Some(start)) = (of.get(at as usize).copied().flatten(), start) {
                    starts.entry(at as usize).and_modify(|oldest| *oldest = start.min(*oldest)).or_insert(start);
                }
            }
        })?;
        self.damage.extend(damage);
        Ok(starts)
    }

    /// The course of a metric on each recording, in their order; empty where none was kept.
    ///
    /// # Errors
    /// Where the folder cannot be listed.
    pub fn courses(&mut self, key: &Key) -> Result<Vec<Course>, FolderError> {
        let mut courses = vec![Course::default(); self.len()];
        let columns = ["metric", "labels", "per", "id", "from", "to", "mean"];
        let [metric, labels, per, id, from, to, mean] = columns.map(|name| SLICE.place(name).unwrap_or(0));
        let damage = self.folder.read(&SLICE, &columns, &[("metric", &key.metric)], |batch| {
            let of = self.by_text(&batch);
            for row in 0..batch.len() {
                let is_it = batch.text(row, metric) == Some(&key.metric)
                    && batch.text(row, labels) == Some(&key.labels)
                    && (batch.text(row, per) == Some("operation")) == key.per_operation;
                let at = batch.columns.get(id).map_or(NO_TEXT, |c| c.text(row));
                let Some(at) = of.get(at as usize).copied().flatten().filter(|_| is_it) else { continue };
                let int = |column: usize| batch.columns.get(column).and_then(|c| c.int(row));
                if let (Some(course), Some(from), Some(to)) = (courses.get_mut(at as usize), int(from), int(to)) {
                    course.times.push((from, to));
                    course.means.push(batch.columns.get(mean).map_or(f64::NAN, |c| c.real(row)));
                }
            }
        })?;
        self.damage.extend(damage);
        Ok(courses)
    }
}

fn recording(batch: &Batch, row: usize) -> Recording {
    let place = |name: &str| RECORDING.place(name).unwrap_or(0);
    let text = |name: &str| batch.text(row, place(name)).unwrap_or_default().to_owned();
    Recording {
        id: text("id"),
        host: text("host"),
        run: text("run"),
        file: text("file"),
        start: batch.columns.get(place("start")).and_then(|c| c.int(row)).unwrap_or(0),
        seconds: batch.columns.get(place("seconds")).map_or(f64::NAN, |c| c.real(row)),
        work_unit: text("work_unit"),
        labels: serde_json::from_str(&text("labels")).unwrap_or_default(),
        boot: text("boot"),
        booted: batch.columns.get(place("booted")).and_then(|c| c.int(row)),
        marks: serde_json::from_str(&text("marks")).unwrap_or_default(),
    }
}

/// The grouping of a metric: the names of its labels. They are in one order, so that names without values tell groupings apart.
pub(crate) fn grouping(key: &Key) -> String {
    let labels: BTreeMap<String, serde_json::Value> = serde_json::from_str(&key.labels).unwrap_or_default();
    labels.into_keys().collect::<Vec<_>>().join(",")
}

/// What a host lacks of a rate, of which it has other groups of the same grouping, it did not use: 0, as `compare` takes it.
pub(crate) fn zeros(metrics: &mut [Metric]) {
    let mut at = 0;
    while at < metrics.len() {
        let Some(name) = metrics.get(at).map(|m| Arc::clone(&m.key.metric)) else { break };
        let end = at + metrics.iter().skip(at).take_while(|m| m.key.metric == name).count();
        let Some(same) = metrics.get_mut(at..end) else { break };
        at = end;
        if same.len() < 2 || same.first().is_none_or(|m| !m.declared.is_rate) {
            continue;
        }
        let mut seen: HashMap<(String, bool), Vec<bool>> = HashMap::new();
        for metric in same.iter() {
            let key = (grouping(&metric.key), metric.key.per_operation);
            let seen = seen.entry(key).or_insert_with(|| vec![false; metric.mean.len()]);
            seen.iter_mut().zip(&metric.mean).for_each(|(seen, mean)| *seen |= !mean.is_nan());
        }
        for metric in same.iter_mut() {
            let key = (grouping(&metric.key), metric.key.per_operation);
            let Some(seen) = seen.get(&key) else { continue };
            for at in (0..metric.mean.len()).filter(|at| seen.get(*at) == Some(&true)) {
                if !metric.mean.get(at).is_some_and(|mean| mean.is_nan()) {
                    continue;
                }
                if let Some(slot) = metric.mean.get_mut(at) {
                    *slot = 0.0;
                }
                for values in [&mut metric.error, &mut metric.deviation, &mut metric.even, &mut metric.odd] {
                    if let Some(slot) = values.get_mut(at) {
                        *slot = 0.0;
                    }
                }
            }
        }
    }
}
