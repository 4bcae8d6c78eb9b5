//! Figures of a machine by which it is compared with another ([`model::Figure`]): frequency, system call, switch, fault, wake-up, memory by level and
//! node, cache lines between CPUs, fsync, clock.
//!
//! All are measured in turn, round after round until the time is over: each has rounds from the whole time, so that its interval holds what comes and
//! goes meanwhile, as a neighbour on the core does, and not only what one moment was like.

mod memory;
mod probes;
mod team;

use crate::context::{Others, Watch};
use crate::measure::{allowed_cpus, deadline, on_cpu, quantile, quiet_cpu};
use crate::{Context, machine};
use model::{Figure, Unavailable};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Gives one value: seconds, or so many a second.
type Round<'a> = Box<dyn FnMut() -> Result<f64, Unavailable> + 'a>;

/// How one figure is measured.
struct Probe<'a> {
    id: String,
    title: String,
    unit: &'static str,
    more: bool,
    round: Round<'a>,
}

impl<'a> Probe<'a> {
    /// One that takes seconds.
    fn time(
        id: impl Into<String>,
        title: impl Into<String>,
        round: impl FnMut() -> Result<f64, Unavailable> + 'a,
    ) -> Self {
        Probe { id: id.into(), title: title.into(), unit: "s", more: false, round: Box::new(round) }
    }

    /// One of which more is better.
    fn rate(
        id: impl Into<String>,
        title: impl Into<String>,
        unit: &'static str,
        round: impl FnMut() -> Result<f64, Unavailable> + 'a,
    ) -> Self {
        Probe { id: id.into(), title: title.into(), unit, more: true, round: Box::new(round) }
    }
}

/// What was prepared: probes, and what could not be.
#[derive(Default)]
struct Prepared<'a> {
    probes: Vec<Probe<'a>>,
    missing: Vec<NoFigure>,
}

impl<'a> Prepared<'a> {
    /// Adds those that can be measured here.
    fn add(&mut self, id: &str, found: Result<Vec<Probe<'a>>, Unavailable>) {
        match found {
            Ok(probes) => self.probes.extend(probes),
            Err(why) => self.missing.push(NoFigure { id: id.to_owned(), why: why.to_string() }),
        }
    }
}

/// Where is measured: the calling thread is tied to `cpu`, and `cpus` may be used.
#[derive(Clone, Copy)]
struct On<'a> {
    context: &'a Context<'a>,
    cpu: usize,
    cpus: &'a [usize],
}

/// A figure that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoFigure {
    /// Which, or the beginning of the names of several.
    pub id: String,
    /// Why.
    pub why: String,
}

/// The figures of this machine.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Those that were measured.
    pub list: Vec<Figure>,
    /// Those that could not be.
    pub missing: Vec<NoFigure>,
    /// What others did meanwhile, where it was so much that the figures are not the machine's alone.
    pub disturbed: Option<String>,
    /// How long all of it took, seconds.
    pub seconds: f64,
}

/// Fewer rounds of all are not enough for an interval.
const LEAST_ROUNDS: usize = 5;

/// Where others hold up the rounds, so many times as long as asked for is the end: what has been measured by then has to do.
const PATIENCE: f64 = 1.5;
const FEWEST: usize = 2;

/// Ranges of figures with fewer rounds than these, and of those that others disturbed, reach further by this factor either way: they hold less of what
/// the machine does.
const FEW: u32 = 8;
const WIDER: f64 = 1.15;

/// One round of a figure may take this part of the time of all; what takes longer is not measured in each round.
const SHARE: f64 = 0.04;

/// Measures all figures in about `seconds`, once what they need is prepared. With fewer than four seconds what takes long to prepare is left out: memory
/// by node, and in small pages.
///
/// # Errors
/// Where nothing can be measured on this host, or others took all the time, and where the user wants to stop.
pub fn figures(context: &Context<'_>, seconds: f64) -> Result<Figures, Unavailable> {
    context.live()?;
    let (watch, start) = (Watch::start(context.host), Instant::now());
    let end = deadline(seconds);
    let cpu = quiet_cpu()?;
    // From there on the thread is tied to one of them.
    let cpus = allowed_cpus();
    let is_thorough = seconds >= 4.0;
    let (list, missing) = on_cpu(cpu, || {
        let mut prepared = Prepared::default();
        let on = On { context, cpu, cpus: &cpus };
        probes::prepare(on, &mut prepared);
        memory::prepare(on, is_thorough, &mut prepared);
        team::prepare(on, &mut prepared);
        let Prepared { probes, mut missing } = prepared;
        let list = rounds(context, probes, (start, end), &mut missing)?;
        Ok((list, missing))
    })?;
    let disturbed = watch.end(context.host).and_then(Others::disturbed);
    if list.is_empty() {
        let why = missing.first().map_or("there is nothing to be measured", |lacks: &NoFigure| &lacks.why);
        let others = disturbed.as_deref().map_or_else(String::new, |others| format!(" ({others})"));
        return Err(Unavailable::failed(format!("no figure of this machine was measured: {why}{others}"))
            .remedy("again, when other programs leave it a CPU"));
    }
    let list = list.into_iter().map(|figure| widened(figure, disturbed.is_some())).collect();
    Ok(Figures { list, missing, disturbed, seconds: start.elapsed().as_secs_f64() })
}

/// With the range that it deserves.
fn widened(figure: Figure, is_disturbed: bool) -> Figure {
    if !is_disturbed && figure.rounds >= FEW {
        return figure;
    }
    Figure { low: figure.low / WIDER, high: figure.high * WIDER, ..figure }
}

/// Measures in turn until the time is over.
fn rounds(
    context: &Context<'_>,
    mut probes: Vec<Probe<'_>>,
    (start, end): (Instant, Instant),
    missing: &mut Vec<NoFigure>,
) -> Result<Vec<Figure>, Unavailable> {
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); probes.len()];
    let mut took = vec![0.0f64; probes.len()];
    let mut failed: Vec<Option<String>> = vec![None; probes.len()];
    let budget = end.saturating_duration_since(start).as_secs_f64();
    let last = start + Duration::from_secs_f64(PATIENCE * budget);
    let is_too_late = || budget > 0.0 && Instant::now() >= last;
    for turn in 0.. {
        let is_over = Instant::now() >= end;
        if is_too_late() || (is_over && turn >= LEAST_ROUNDS) {
            break;
        }
        for (((probe, values), took), failed) in probes.iter_mut().zip(&mut all).zip(&mut took).zip(&mut failed) {
            context.go_on()?;
            if is_too_late() {
                break;
            }
            // What takes long has its part of the time, and the fewest rounds in any case.
            let has_its_share = *took > SHARE * budget && values.len() >= LEAST_ROUNDS;
            if failed.is_some() || has_its_share || (is_over && values.len() >= LEAST_ROUNDS) {
                continue;
            }
            let begin = Instant::now();
            match (probe.round)() {
                // The first round finds everything cold.
                Ok(_) if turn == 0 => {}
                Ok(value) if value.is_finite() && value > 0.0 => values.push(value),
                Ok(_) => {}
                Err(why) => *failed = Some(why.to_string()),
            }
            *took += begin.elapsed().as_secs_f64();
        }
    }
    let mut list = Vec::new();
    for ((probe, values), failed) in probes.into_iter().zip(all).zip(failed) {
        let is_enough = values.len() >= FEWEST;
        match figure(&probe, values) {
            Some(figure) if failed.is_none() && is_enough => list.push(figure),
            _ => {
                let why = failed.unwrap_or_else(|| "others took the time in which it would have been measured".into());
                missing.push(NoFigure { id: probe.id, why });
            }
        }
    }
    Ok(list)
}

/// The figure of rounds: their median, and what one of ten is below and above.
fn figure(probe: &Probe<'_>, mut values: Vec<f64>) -> Option<Figure> {
    values.sort_by(f64::total_cmp);
    Some(Figure {
        id: probe.id.clone(),
        title: probe.title.clone(),
        unit: probe.unit.to_owned(),
        more: probe.more,
        value: quantile(&values, 0.5)?,
        low: quantile(&values, 0.1)?,
        high: quantile(&values, 0.9)?,
        rounds: u32::try_from(values.len()).unwrap_or(u32::MAX),
    })
}

/// Names by which caches are called, such as "L2".
fn level(number: i64) -> String {
    format!("L{number}")
}

/// Free memory that measuring may take: a quarter of it.
fn spare(context: &Context<'_>) -> usize {
    (machine::available_memory(context.host) / 4) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;
    use host::Host;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn this_machine_has_figures() {
        let (host, stop) = (Host::live(), AtomicBool::new(false));
        let dir = tempfile::tempdir().unwrap();
        let context = Context { dir: dir.path(), ..context(&host, &stop) };
        let found = match figures(&context, 2.0) {
            Ok(found) => found,
            Err(why) if why.why.contains("others took the time") => {
                return println!("SKIPPED: figures of this machine: {why}");
            }
            Err(why) => panic!("{why}"),
        };
        for figure in &found.list {
            assert_eq!(figure.check(), Ok(()), "{figure:?}");
            assert!(
                found.list.iter().filter(|other| other.id == figure.id).count() == 1,
                "{} is there twice",
                figure.id
            );
        }
        let has =
            |id: &str| found.list.iter().any(|f| f.id == id) || found.missing.iter().any(|m| id.starts_with(&m.id));
        for id in [
            "frequency",
            "width",
            "call",
            "call.read",
            "clock",
            "switch",
            "fault",
            "fault.huge",
            "wake.short",
            "memory.dram",
            "bandwidth",
            "bandwidth.all",
            "fsync",
        ] {
            assert!(has(id), "{id} is neither there nor missing: {found:?}");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn it_stops_when_it_is_told_to_and_needs_a_live_host() {
        let (host, stop) = (Host::live(), AtomicBool::new(true));
        assert!(figures(&context(&host, &stop), 5.0).is_err());
        let (_dir, host) = crate::testing::host_of(&[]);
        let stop = AtomicBool::new(false);
        assert_eq!(figures(&context(&host, &stop), 5.0).unwrap_err().status, model::Status::NotApplicable);
    }

    #[test]
    fn rounds_make_a_figure() {
        let (host, stop) = (Host::live(), AtomicBool::new(false));
        let mut n = 0.0;
        let probes = vec![
            Probe::time("a", "counts", move || {
                n += 1.0;
                Ok(n)
            }),
            Probe::time("b", "fails", || Err(Unavailable::failed("never"))),
        ];
        let mut missing = Vec::new();
        let now = Instant::now();
        let list = rounds(&context(&host, &stop), probes, (now, now), &mut missing).unwrap();
        assert_eq!((list.len(), list[0].rounds, list[0].value), (1, 4, 4.0), "the first round does not count");
        assert!(missing.len() == 1 && missing[0].why.contains("never"), "{missing:?}");
    }
}
