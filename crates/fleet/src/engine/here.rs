//! The engine that is built in: the summaries in memory.

use super::{Engine, Material};
use crate::ask::AskError;
use crate::loaded::{Course, Declared, Fact, Key, Metric, Part, Place, Recording};
use crate::separate::FactSplit;
use crate::statistics::separate::{Columns, Slices, Sums, at};
use crate::{Damage, Fleet};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

impl<'a> Engine<'a> for Fleet<'a> {
    fn recordings(&self) -> &[Recording] {
        &self.recordings
    }

    fn named(&mut self, names: &[&str], labels: Option<&str>) -> Result<Vec<Metric>, AskError> {
        let mut found = Vec::new();
        for name in names {
            found.extend(self.metrics(Some(name))?);
        }
        found.retain(|metric| labels.is_none_or(|labels| labels == &*metric.key.labels));
        Ok(found)
    }

    fn all(&mut self) -> Result<Vec<Metric>, AskError> {
        Ok(self.metrics(None)?)
    }

    fn declared(&mut self) -> Result<HashMap<String, Arc<Declared>>, AskError> {
        Ok(Fleet::declared(self)?)
    }

    fn fact(&mut self, name: &str) -> Result<Result<Fact, Vec<(String, String)>>, AskError> {
        let facts = self.facts()?;
        let found = facts.iter().find(|fact| format!("{}.{}", fact.name.0, fact.name.1) == name).cloned();
        Ok(found.ok_or_else(|| facts.into_iter().map(|fact| fact.name).collect()))
    }

    fn only(&self, kept: &[usize]) -> Box<dyn Engine<'a> + 'a> {
        Box::new(Fleet::only(self, |place| kept.binary_search(&place).is_ok()))
    }

    fn courses(&mut self, key: &Key) -> Result<Vec<Course>, AskError> {
        Ok(Fleet::courses(self, key)?)
    }

    fn starts(&mut self) -> Result<HashMap<usize, i64>, AskError> {
        Ok(Fleet::starts(self)?)
    }

    fn material(&mut self, banded: bool) -> Result<Box<dyn Material + 'a>, AskError> {
        let facts = self.facts()?;
        let (metrics, places) = if banded { (self.metrics(None)?, self.places()?) } else { (Vec::new(), Vec::new()) };
        Ok(Box::new(Loaded { metrics, places, facts }))
    }

    fn damage(&mut self) -> Vec<Damage> {
        std::mem::take(&mut self.damage)
    }
}

/// All in memory.
struct Loaded {
    metrics: Vec<Metric>,
    places: Vec<Place>,
    facts: Vec<Fact>,
}

impl Loaded {
    fn values(&self, which: &[(usize, Part)]) -> Vec<Vec<f64>> {
        let values = |(at, part): &(usize, Part)| self.metrics.get(*at).map_or_else(Vec::new, |m| m.values(*part));
        which.iter().map(values).collect()
    }

    fn own(&self) -> Vec<&[f64]> {
        self.places.iter().map(|place| place.own.as_slice()).collect()
    }
}

/// What cannot fail has not failed.
fn sure<T>(result: Result<T, std::convert::Infallible>) -> Result<T, AskError> {
    result.map_err(|never| match never {})
}

impl Material for Loaded {
    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn metric_sums(&mut self, which: &[(usize, Part)], sides: &[Option<bool>]) -> Result<Vec<Sums>, AskError> {
        let metrics = &self.metrics;
        Ok(crate::statistics::parallel(which, |(at, part)| {
            metrics.get(*at).map_or_else(Sums::default, |metric| Sums::new(&metric.values(*part), sides))
        }))
    }

    fn metric_whole(&mut self, which: &[(usize, Part)]) -> Result<Vec<Vec<f64>>, AskError> {
        Ok(self.values(which))
    }

    fn metric_some(&mut self, which: &[(usize, Part)], hosts: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        Ok(which.iter().map(|of| at(self.values(&[*of]).first().map_or(&[][..], Vec::as_slice), hosts)).collect())
    }

    fn metrics_on(&mut self, hosts: &[usize]) -> Result<Vec<Metric>, AskError> {
        Ok(crate::statistics::parallel(&self.metrics, |metric| metric.on(hosts)))
    }

    fn place_sums(&mut self, sides: &[Option<bool>]) -> Result<Vec<Sums>, AskError> {
        sure(Slices(&self.own()).sums(sides))
    }

    fn place_whole(&mut self, which: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        sure(Slices(&self.own()).whole(which))
    }

    fn place_some(&mut self, hosts: &[usize]) -> Result<Vec<Vec<f64>>, AskError> {
        sure(Slices(&self.own()).some(hosts))
    }

    fn facts(&mut self, of: &[Option<usize>], undecided: &[usize]) -> Result<Vec<FactSplit>, AskError> {
        let mut decided = vec![true; of.len()];
        undecided.iter().for_each(|at| decided.iter_mut().skip(*at).take(1).for_each(|d| *d = false));
        let split = |fact: &Fact| {
            let mut rows: BTreeMap<(&str, Option<usize>, bool), u64> = BTreeMap::new();
            for ((value, band), decided) in fact.of.iter().zip(of).zip(&decided) {
                if let Some(value) = fact.values.get(*value as usize) {
                    *rows.entry((value, *band, *decided)).or_default() += 1;
                }
            }
            let row = |((value, band, decided), count): ((&str, Option<usize>, bool), u64)| {
                (value.to_owned(), band, decided, count)
            };
            FactSplit { name: fact.name.clone(), rows: rows.into_iter().map(row).collect() }
        };
        Ok(crate::statistics::parallel(&self.facts, split))
    }

    fn fact_whole(&mut self, _: &[usize]) -> Result<(), AskError> {
        Ok(())
    }

    fn into_parts(self: Box<Self>) -> (Vec<Metric>, Vec<Place>, Vec<Fact>) {
        (self.metrics, self.places, self.facts)
    }
}
