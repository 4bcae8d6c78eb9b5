//! A fleet whose summaries an engine reads. What comes back are sums, the values of a few metrics, and those of all metrics on at most
//! [`SOME`] recordings.

use super::question::{
    FACT_NAMES, FACT_SPLIT, FACT_VALUES, MEMBERSHIP, PLACE_SPLIT, PLACE_VALUES, Question, SEPARATE, SLICES, SPREAD,
    VALUES,
};
use super::rows::{Row, rows};
use super::session::Asker;
use super::tables::{ASKED, ASKED_FACT, ASKED_PLACE, MEMBER};
use super::{Engine, Material};
use crate::ask::AskError;
use crate::folder::{Batch, Cell, DATASETS, NO_TEXT, SLICE};
use crate::loaded::{Course, Declared, Fact, Key, Metric, Part, Place, Recording, grouping, zeros};
use crate::separate::FactSplit;
use crate::statistics::separate::{SOME, Sums, at};
use crate::{Damage, Folder};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Where the summaries are.
#[derive(Clone, Debug)]
pub enum Where {
    /// In a folder of this machine.
    Folder(Folder),
    /// Where the engine reads: `s3://bucket/fleet`.
    Url(String),
}

impl Where {
    /// A folder of this machine, or, with `://` in it, an address that is the engine's business.
    ///
    /// # Errors
    /// Where the folder is none.
    pub fn new(path: &Path) -> Result<Where, crate::FolderError> {
        let text = path.to_string_lossy();
        if text.contains("://") {
            return Ok(Where::Url(text.trim_end_matches('/').to_owned()));
        }
        Folder::open(path).map(Where::Folder)
    }

    /// What the engine is told of the datasets.
    fn views(&self) -> Result<Value, AskError> {
        let mut views = Map::new();
        for dataset in DATASETS {
            let paths = match self {
                // Only whole parts: what was left over from an `add` that was cut off is not there.
                Where::Folder(folder) => {
                    let parts = folder.parts(dataset)?;
                    let whole = |path| std::path::absolute(&path).unwrap_or(path).display().to_string();
                    parts.into_iter().map(whole).collect::<Vec<_>>()
                }
                Where::Url(url) => vec![format!("{url}/{}/*.parquet", dataset.name)],
            };
            let columns: Vec<Value> = dataset.columns.iter().map(|c| json!([c.name, c.ty.word()])).collect();
            let mut view = json!({ "paths": paths, "columns": columns });
            if let (true, Some(view)) = (dataset.name == SLICE.name, view.as_object_mut()) {
                // Words of SQL are no names.
                view.insert("rename".into(), json!({ "from": "begins", "to": "ends" }));
            }
            views.insert(dataset.name.into(), view);
        }
        Ok(Value::Object(views))
    }
}

/// A slice of a course: its number, when it begins and ends, and its mean.
type Slice = (i64, (i64, i64), f64);

/// What a metric is.
type Known = (Key, Arc<Declared>);

/// A fleet that an engine reads.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    session: Rc<RefCell<dyn Asker>>,
    recordings: Vec<Recording>,
    /// When the oldest process of each began.
    oldest: Vec<Option<i64>>,
    /// The metrics that they have, once they were asked for.
    known: Option<Rc<Vec<Known>>>,
}

impl Elsewhere {
    /// The recordings that have all of these labels.
    ///
    /// # Errors
    /// Where the engine does not answer.
    pub fn open(
        mut session: impl Asker + 'static,
        at: &Where,
        labels: &[(String, String)],
    ) -> Result<Elsewhere, AskError> {
        session.views(&at.views()?)?;
        let mut found: Vec<(Recording, Option<i64>)> = Vec::new();
        for row in rows(&session.ask(&MEMBERSHIP)?) {
            let text = |name: &str| row.text(name).to_owned();
            let recording = Recording {
                id: text("id"),
                host: text("host"),
                run: text("run"),
                file: text("file"),
                start: row.int("start").unwrap_or(0),
                seconds: row.real("seconds"),
                work_unit: text("work_unit"),
                labels: serde_json::from_str(row.text("labels")).unwrap_or_default(),
                boot: text("boot"),
                booted: row.int("booted"),
                marks: serde_json::from_str(row.text("marks")).unwrap_or_default(),
            };
            if labels.iter().all(|(name, value)| recording.labels.get(name) == Some(value)) {
                found.push((recording, row.int("oldest")));
            }
        }
        found.sort_by(|(a, _), (b, _)| (&a.host, a.start, &a.id).cmp(&(&b.host, b.start, &b.id)));
        found.dedup_by(|a, b| a.0.id == b.0.id);
        let (recordings, oldest) = found.into_iter().unzip();
        Ok(Elsewhere { session: Rc::new(RefCell::new(session)), recordings, oldest, known: None })
    }

    /// The recordings as a table.
    fn members(&self, of: Option<(&[Option<usize>], &[usize])>, sides: Option<&[Option<bool>]>) -> Batch {
        let mut members = Batch::new(&MEMBER);
        for (number, recording) in self.recordings.iter().enumerate() {
            let band = of.and_then(|(of, _)| of.get(number).copied().flatten()).map(|band| band as i64);
            let decided = of.is_none_or(|(_, undecided)| !undecided.contains(&number));
            let side = sides.and_then(|sides| sides.get(number).copied().flatten()).map(i64::from);
            let (number, decided) = (number as i64, i64::from(decided));
            members.push(&[(&*recording.id).into(), number.into(), band.into(), decided.into(), side.into()]);
        }
        members
    }

    /// Some of them, numbered anew.
    fn some_members(&self, hosts: &[usize]) -> Batch {
        let mut members = Batch::new(&MEMBER);
        for (number, recording) in hosts.iter().filter_map(|at| self.recordings.get(*at)).enumerate() {
            members.push(&[(&*recording.id).into(), (number as i64).into(), Cell::Null, 1i64.into(), Cell::Null]);
        }
        members
    }

    /// Asks a question of these tables.
    fn ask(&self, question: &'static Question, tables: &[&Batch]) -> Result<Vec<Batch>, AskError> {
        let mut session = self.session.borrow_mut();
        session.give(tables)?;
        Ok(session.ask(question)?)
    }

    /// The metrics that the recordings have.
    fn known(&mut self) -> Result<Rc<Vec<Known>>, AskError> {
        if let Some(known) = &self.known {
            return Ok(Rc::clone(known));
        }
        let mut known: Vec<Known> = Vec::new();
        for row in rows(&self.ask(&SPREAD, &[&self.members(None, None)])?) {
            let text = |name: &str| row.text(name).to_owned();
            let key = Key {
                metric: row.text("metric").into(),
                labels: row.text("labels").into(),
                per_operation: row.text("per") == "operation",
            };
            let floor = row.real("floor");
            let declared = Declared {
                unit: text("unit"),
                per_operation: text("per_operation"),
                better: text("better"),
                is_rate: row.int("is_rate").is_some_and(|is| is > 0),
                floor: if floor.is_finite() { floor } else { 0.0 },
                help: text("help"),
            };
            known.push((key, Arc::new(declared)));
        }
        known.sort_by(|a, b| a.0.cmp(&b.0));
        known.dedup_by(|a, b| a.0 == b.0);
        let known = Rc::new(known);
        self.known = Some(Rc::clone(&known));
        Ok(known)
    }

    /// The values of facts on all recordings.
    fn fact_values(&self, facts: &mut [Fact]) -> Result<(), AskError> {
        let mut asked = Batch::new(&ASKED_FACT);
        for (number, fact) in facts.iter_mut().enumerate() {
            asked.push(&[(number as i64).into(), (&*fact.name.0).into(), (&*fact.name.1).into()]);
            fact.of = vec![NO_TEXT; self.recordings.len()];
        }
        for row in rows(&self.ask(&FACT_VALUES, &[&self.members(None, None), &asked])?) {
            let Some(fact) = row.place("fact_no").and_then(|number| facts.get_mut(number)) else { continue };
            let value = row.text("value");
            let number = fact.values.iter().position(|known| known == value).unwrap_or_else(|| {
                fact.values.push(value.to_owned());
                fact.values.len() - 1
            });
            let place = row.place("recording_no").unwrap_or(usize::MAX);
            fact.of.iter_mut().skip(place).take(1).for_each(|of| *of = number as u32);
        }
        Ok(())
    }

    /// The values of some of `known`, on all recordings.
    fn values(&self, known: &[Known], which: &[usize]) -> Result<Vec<Metric>, AskError> {
        let wanted: Vec<(usize, Part)> = which.iter().map(|at| (*at, Part::Odd)).collect();
        let answer = self.ask(&VALUES, &[&self.members(None, None), &asked(known, &wanted, true)])?;
        Ok(metrics(known, which, &answer, self.recordings.len()))
    }
}

/// The columns that are asked, as a table: in this order, and, with `fill`, what else is of their families.
fn asked(known: &[Known], wanted: &[(usize, Part)], fill: bool) -> Batch {
    let mut families: HashMap<(&str, String, bool), Vec<usize>> = HashMap::new();
    if fill {
        for (at, (key, _)) in known.iter().enumerate().filter(|(_, (_, declared))| declared.is_rate) {
            families.entry((&key.metric, grouping(key), key.per_operation)).or_default().push(at);
        }
    }
    // One alone has nothing to be filled from.
    let mut family_of: HashMap<usize, (i64, &[usize])> = HashMap::new();
    for members in families.values().filter(|members| members.len() > 1) {
        let number = members.first().copied().unwrap_or(0) as i64;
        family_of.extend(members.iter().map(|at| (*at, (number, members.as_slice()))));
    }
    let mut rows = Batch::new(&ASKED);
    let mut there: BTreeSet<usize> = BTreeSet::new();
    let mut others: BTreeSet<usize> = BTreeSet::new();
    let mut put = |number: usize, at: usize, part: Part, wanted: bool| {
        let Some((key, _)) = known.get(at) else { return };
        let family = family_of.get(&at).map(|(family, _)| *family);
        let per = if key.per_operation { "operation" } else { "second" };
        rows.push(&[
            (number as i64).into(),
            (&*key.metric).into(),
            (&*key.labels).into(),
            per.into(),
            if part == Part::Deviation { "deviation".into() } else { "odd".into() },
            family.into(),
            i64::from(family.is_some()).into(),
            i64::from(wanted).into(),
        ]);
    };
    for (number, (at, part)) in wanted.iter().enumerate() {
        put(number, *at, *part, true);
        there.insert(*at);
        others.extend(family_of.get(at).iter().flat_map(|(_, members)| members.iter().copied()));
    }
    for (number, at) in others.difference(&there).enumerate() {
        put(wanted.len() + number, *at, Part::Odd, false);
    }
    rows
}

/// An answer to `values`, of so many recordings.
fn metrics(known: &[Known], which: &[usize], answer: &[Batch], recordings: usize) -> Vec<Metric> {
    let metric = |at: &usize| {
        let (key, declared) = known.get(*at)?;
        Some(Metric::new(key.clone(), Arc::clone(declared), recordings))
    };
    let mut found: Vec<Metric> = which.iter().filter_map(metric).collect();
    for row in rows(answer) {
        let (Some(metric), Some(at)) =
            (row.place("column_no").and_then(|n| found.get_mut(n)), row.place("recording_no"))
        else {
            continue;
        };
        let single = [
            ("error", &mut metric.error),
            ("deviation", &mut metric.deviation),
            ("even", &mut metric.even),
            ("odd", &mut metric.odd),
        ];
        for (name, values) in single {
            values.iter_mut().skip(at).take(1).for_each(|v| *v = row.real(name) as f32);
        }
        metric.mean.iter_mut().skip(at).take(1).for_each(|v| *v = row.real("mean"));
    }
    found
}

impl Engine<'static> for Elsewhere {
    fn recordings(&self) -> &[Recording] {
        &self.recordings
    }

    fn named(&mut self, names: &[&str], labels: Option<&str>) -> Result<Vec<Metric>, AskError> {
        let known = self.known()?;
        let fits = |key: &Key| names.contains(&&*key.metric) && labels.is_none_or(|labels| labels == &*key.labels);
        let which: Vec<usize> = (0..known.len()).filter(|at| known.get(*at).is_some_and(|of| fits(&of.0))).collect();
        if which.is_empty() { Ok(Vec::new()) } else { self.values(&known, &which) }
    }

    fn all(&mut self) -> Result<Vec<Metric>, AskError> {
        let known = self.known()?;
        self.values(&known, &(0..known.len()).collect::<Vec<_>>())
    }

    fn declared(&mut self) -> Result<HashMap<String, Arc<Declared>>, AskError> {
        Ok(self.known()?.iter().map(|(key, declared)| (key.metric.to_string(), Arc::clone(declared))).collect())
    }

    fn fact(&mut self, name: &str) -> Result<Result<Fact, Vec<(String, String)>>, AskError> {
        let members = self.members(None, None);
        let named = self.ask(&FACT_NAMES, &[&members])?;
        let mut names: Vec<(String, String)> =
            rows(&named).map(|row| (row.text("category").to_owned(), row.text("name").to_owned())).collect();
        names.sort();
        let Some(found) = names.iter().find(|of| format!("{}.{}", of.0, of.1) == name).cloned() else {
            return Ok(Err(names));
        };
        let mut facts = [Fact { name: found, of: Vec::new(), values: Vec::new() }];
        self.fact_values(&mut facts)?;
        let [fact] = facts;
        Ok(Ok(fact))
    }

    fn only(&self, kept: &[usize]) -> Box<dyn Engine<'static>> {
        Box::new(Elsewhere {
            session: Rc::clone(&self.session),
            recordings: kept.iter().filter_map(|at| self.recordings.get(*at).cloned()).collect(),
            oldest: kept.iter().map(|at| self.oldest.get(*at).copied().flatten()).collect(),
            known: None,
        })
    }

    fn courses(&mut self, key: &Key) -> Result<Vec<Course>, AskError> {
        let known = self.known()?;
        let which: Vec<(usize, Part)> =
            known.iter().position(|of| of.0 == *key).map(|at| (at, Part::Odd)).into_iter().collect();
        let answer = self.ask(&SLICES, &[&self.members(None, None), &asked(&known, &which, false)])?;
        let mut slices: Vec<Vec<Slice>> = vec![Vec::new(); self.recordings.len()];
        for row in rows(&answer) {
            let (Some(course), Some(begins), Some(ends)) =
                (row.place("recording_no").and_then(|at| slices.get_mut(at)), row.int("begins"), row.int("ends"))
            else {
                continue;
            };
            course.push((row.int("slice_no").unwrap_or(0), (begins, ends), row.real("mean")));
        }
        let course = |mut slices: Vec<Slice>| {
            slices.sort_by_key(|slice| slice.0);
            Course { times: slices.iter().map(|s| s.1).collect(), means: slices.iter().map(|s| s.2).collect() }
        };
        Ok(slices.into_iter().map(course).collect())
    }

    fn starts(&mut self) -> Result<HashMap<usize, i64>, AskError> {
        Ok(self.oldest.iter().enumerate().filter_map(|(at, oldest)| Some((at, (*oldest)?))).collect())
    }

    fn material(&mut self, banded: bool) -> Result<Box<dyn Material>, AskError> {
        let known = if banded { self.known()? } else { Rc::default() };
        // Values come with the questions that need them.
        let metrics = known.iter().map(|(key, declared)| Metric::new(key.clone(), Arc::clone(declared), 0)).collect();
        let engine = self.clone();
        let (some, places, shares) = ((Vec::new(), Vec::new()), Vec::new(), (Vec::new(), Vec::new()));
        Ok(Box::new(Asked { engine, known, metrics, some, places, shares, facts: Vec::new() }))
    }

    fn damage(&mut self) -> Vec<Damage> {
        Vec::new()
    }
}

/// What recordings can differ in, with what came of it.
struct Asked {
    engine: Elsewhere,
    known: Rc<Vec<Known>>,
    /// With values where all were asked for.
    metrics: Vec<Metric>,
    /// Some recordings, and the values of all metrics on these.
    some: (Vec<usize>, Vec<Metric>),
    /// With shares where they were asked for.
    places: Vec<Place>,
    /// Some recordings, and the own shares of all functions on these.
    shares: (Vec<usize>, Vec<Vec<f64>>),
    facts: Vec<Fact>,
}

impl Asked {
    /// So few recordings that all are as good as some.
    fn is_small(&self) -> bool {
        self.engine.recordings.len() <= SOME
    }

    /// Asks for the values of all metrics on some recordings: into `metrics` where these are few, else into `some`.
    fn load(&mut self, hosts: &[usize]) -> Result<(), AskError> {
        let all: Vec<usize> = (0..self.known.len()).collect();
        if self.is_small() {
            if self.metrics.iter().any(|metric| metric.mean.is_empty()) {
                self.metrics = self.engine.values(&self.known, &all)?;
            }
        } else if self.some.0 != hosts {
            let columns: Vec<(usize, Part)> = all.iter().map(|at| (*at, Part::Odd)).collect();
            let tables = [&self.engine.some_members(hosts), &asked(&self.known, &columns, false)];
            let answer = self.engine.ask(&VALUES, &tables)?;
            let mut metrics = metrics(&self.known, &all, &answer, hosts.len());
            zeros(&mut metrics);
            self.some = (hosts.to_vec(), metrics);
        }
        Ok(())
    }

    /// The own shares of some functions on the recordings that `members` numbers, so many of them.
    fn shares(&self, which: &[usize], members: &Batch, count: usize) -> Result<Vec<Vec<f64>>, AskError> {
        let mut asked = Batch::new(&ASKED_PLACE);
        let mut by_state: HashMap<&str, Vec<usize>> = HashMap::new();
        for (number, place) in which.iter().filter_map(|at| self.places.get(*at)).enumerate() {
            let names = [&place.state, &place.function, &place.module].map(|name| Cell::from(&**name));
            let [state, function, module] = names;
            asked.push(&[(number as i64).into(), state, function, module]);
            by_state.entry(&place.state).or_default().push(number);
        }
        let mut found = vec![vec![f64::NAN; count]; which.len()];
        if which.is_empty() {
            return Ok(found);
        }
        let answer = self.engine.ask(&PLACE_VALUES, &[members, &asked])?;
        let mut seen: HashMap<(&str, usize), ()> = HashMap::new();
        let answered: Vec<Row<'_>> = rows(&answer).collect();
        for row in &answered {
            let Some(at) = row.place("recording_no") else { continue };
            if seen.insert((row.text("state"), at), ()).is_none() {
                // Where others of the state were seen, it was 0.
                for number in by_state.get(row.text("state")).into_iter().flatten() {
                    found.iter_mut().skip(*number).take(1).flat_map(|own| own.get_mut(at)).for_each(|v| *v = 0.0);
                }
            }
        }
        for row in &answered {
            let (Some(at), Some(number)) = (row.place("recording_no"), row.place("place_no")) else { continue };
            found.iter_mut().skip(number).take(1).flat_map(|own| own.get_mut(at)).for_each(|v| *v = row.real("own"));
        }
        Ok(found)
    }
}

impl Material for Asked {
    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn metric_sums(&mut self, which: &[(usize, Part)], sides: &[Option<bool>]) -> Result<Vec<Sums>, AskError> {
        let members = self.engine.members(None, Some(sides));
        let answer = self.engine.ask(&SEPARATE, &[&members, &asked(&self.known, which, true)])?;
        let mut sums = vec![Sums::default(); which.len()];
        for row in rows(&answer) {
            let place = row.place("column_no").unwrap_or(usize::MAX);
            sums.iter_mut().skip(place).take(1).for_each(|into| *into = row.sums());
        }
        Ok(sums)
    }

    fn metric_whole(&mut self, which: &[(usize, Part)]) -> Result<Vec<Vec<f64>>, AskError> {
        let has = |metrics: &[Metric], at: usize| metrics.get(at).is_some_and(|metric| !metric.mean.is_empty());
        let missing: BTreeSet<usize> = which.iter().map(|of| of.0).filter(|at| !has(&self.metrics, *at)).collect();
        if !missing.is_empty() {
            let missing: Vec<usize> = missing.into_iter().collect();
            for (at, metric) in missing.iter().zip(self.engine.values(&self.known, &missing)?) {
                self.metrics.iter_mut().skip(*at).take(1).for_each(|into| *into = metric.clone());
            }
        }
        let values = |(at, part): &(usize, Part)| self.metrics.get(*at).map_or_else(Vec::new, |m| m.values(*part));
        Ok(which.iter().map(values).collect())
    }

    fn metric_some(&mut self, which: &[(usize, Part)], hosts: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        self.load(hosts)?;
        let from = if self.is_small() { &self.metrics } else { &self.some.1 };
        let values = |(place, part): &(usize, Part)| from.get(*place).map_or_else(Vec::new, |m| m.values(*part));
        let values = which.iter().map(values);
        Ok(if self.is_small() { values.map(|values| at(&values, hosts)).collect() } else { values.collect() })
    }

    fn metrics_on(&mut self, hosts: &[usize]) -> Result<Vec<Metric>, AskError> {
        self.load(hosts)?;
        if self.is_small() {
            return Ok(self.metrics.iter().map(|metric| metric.on(hosts)).collect());
        }
        Ok(self.some.1.clone())
    }

    fn place_sums(&mut self, sides: &[Option<bool>]) -> Result<Vec<Sums>, AskError> {
        let answer = self.engine.ask(&PLACE_SPLIT, &[&self.engine.members(None, Some(sides))])?;
        let mut found: BTreeMap<[&str; 3], Sums> = BTreeMap::new();
        for row in rows(&answer) {
            let sums = row.sums();
            // Those that saw the state and not the function have 0 of it.
            let rest = |name: &str, known: usize| row.place(name).unwrap_or(0).saturating_sub(known);
            let zeros = (rest("saw_ones", sums.hosts.0), rest("saw_others", sums.hosts.1));
            found.insert(["state", "function", "module"].map(|name| row.text(name)), sums.with_zeros(zeros));
        }
        if self.places.is_empty() {
            let place = |[state, function, module]: &[&str; 3]| Place {
                state: (*state).into(),
                function: (*function).into(),
                module: (*module).into(),
                own: Vec::new(),
                total: Vec::new(),
            };
            self.places = found.keys().map(place).collect();
        }
        Ok(found.into_values().collect())
    }

    fn place_whole(&mut self, which: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        let members = self.engine.members(None, None);
        let found = self.shares(which, &members, self.engine.recordings.len())?;
        for (at, own) in which.iter().zip(&found) {
            self.places.iter_mut().skip(*at).take(1).for_each(|place| place.own.clone_from(own));
        }
        Ok(found)
    }

    fn place_some(&mut self, hosts: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        if self.shares.0 != hosts {
            let all: Vec<usize> = (0..self.places.len()).collect();
            self.shares = (hosts.to_vec(), self.shares(&all, &self.engine.some_members(hosts), hosts.len())?);
        }
        Ok(self.shares.1.clone())
    }

    fn facts(&mut self, of: &[Option<usize>], undecided: &[usize]) -> Result<Vec<FactSplit>, AskError> {
        let answer = self.engine.ask(&FACT_SPLIT, &[&self.engine.members(Some((of, undecided)), None)])?;
        let mut found: BTreeMap<(String, String), FactSplit> = BTreeMap::new();
        for row in rows(&answer) {
            let name = (row.text("category").to_owned(), row.text("name").to_owned());
            let split = found.entry(name.clone()).or_insert_with(|| FactSplit { name, rows: Vec::new() });
            let decided = row.int("decided") == Some(1);
            let count = row.place("recordings").unwrap_or(0) as u64;
            split.rows.push((row.text("value").to_owned(), row.place("band"), decided, count));
        }
        let mut found: Vec<FactSplit> = found.into_values().collect();
        found.iter_mut().for_each(|split| split.rows.sort());
        let fact = |split: &FactSplit| {
            let mut values: Vec<String> = split.rows.iter().map(|row| row.0.clone()).collect();
            values.dedup();
            Fact { name: split.name.clone(), of: Vec::new(), values }
        };
        if self.facts.is_empty() {
            self.facts = found.iter().map(fact).collect();
        }
        Ok(found)
    }

    fn fact_whole(&mut self, which: &[usize]) -> Result<(), AskError> {
        let which: BTreeSet<usize> = which.iter().copied().collect();
        let mut facts: Vec<Fact> = which.iter().filter_map(|at| self.facts.get(*at).cloned()).collect();
        if !facts.is_empty() {
            self.engine.fact_values(&mut facts)?;
        }
        for (at, fact) in which.into_iter().zip(facts) {
            self.facts.iter_mut().skip(at).take(1).for_each(|into| *into = fact.clone());
        }
        Ok(())
    }

    fn into_parts(self: Box<Self>) -> (Vec<Metric>, Vec<Place>, Vec<Fact>) {
        (self.metrics, self.places, self.facts)
    }
}
