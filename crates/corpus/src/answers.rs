//! What `explain` says of the pairs, and how often it is right.

use crate::{Pair, Set};
use compare::{Bound, Choice};
use explain::{Explain, Outcome};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use store::{Cells, Keep};

/// A share may be so far from the truth.
pub const NEAR: f64 = 0.15;

/// What `explain` says of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Causes and the parts of the lost time that they explain, in order.
    pub findings: Vec<(String, f64)>,
    /// How the sides compare.
    pub outcome: Outcome,
    /// The first two lines of the first finding, as a terminal shows them; empty without one.
    pub head: String,
    /// Elapsed time per unit of work, slow over fast, where the recordings say it and the slow side is slower.
    pub ratio: Option<f64>,
    /// What a unit of work is: "run" and "second" where nothing is known of the work.
    pub unit: String,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl Answer {
    /// The place of the first finding of one of these causes, from 1.
    pub fn rank(&self, causes: &[String]) -> Option<usize> {
        self.findings.iter().position(|(cause, _)| causes.contains(cause)).map(|at| at + 1)
    }

    /// What it says, in a line: the first three findings.
    pub fn line(&self) -> String {
        let said = self.findings.iter().take(3).map(|(cause, share)| format!("{cause} {:.0} %", share * 100.0));
        let said = said.collect::<Vec<_>>().join(", ");
        if said.is_empty() { format!("nothing ({:?})", self.outcome) } else { said }
    }
}

/// Asks about two recordings in a folder.
///
/// # Errors
/// Those of [`explain::explain`].
pub fn ask(folder: &Path, window: Choice) -> anyhow::Result<Answer> {
    ask_of(folder, ["slow.twin", "fast.twin"], window)
}

fn ask_of(folder: &Path, files: [&str; 2], window: Choice) -> anyhow::Result<Answer> {
    let [slow, fast] = files.map(|name| vec![folder.join(name)]);
    ask_runs(&slow, &fast, window)
}

/// Asks why these recordings are slower than those.
///
/// # Errors
/// Those of [`explain::explain`].
pub fn ask_runs(slow: &[PathBuf], fast: &[PathBuf], window: Choice) -> anyhow::Result<Answer> {
    let from = Instant::now();
    let runs = query::open(&[slow, fast].concat())?;
    let said = explain::explain(runs, slow.len(), &Explain { window, ..Explain::default() })?;
    Ok(Answer {
        findings: said.findings.iter().map(|f| (f.cause.clone(), f.share.value)).collect(),
        outcome: said.outcome,
        head: head(said.findings.first().map(explain::Finding::head)),
        ratio: (said.outcome == Outcome::Slower).then_some(said.ratio.value),
        unit: said.unit.name().to_owned(),
        seconds: from.elapsed().as_secs_f64(),
    })
}

/// Asks what the slowest requests of `slow.twin` do.
///
/// # Errors
/// Those of [`explain::tail::tail`].
pub fn ask_tail(folder: &Path) -> anyhow::Result<Answer> {
    let [slow, fast] = ["slow.twin", "fast.twin"].map(|name| vec![folder.join(name)]);
    ask_tail_of(&slow, &fast)
}

/// Asks what the slowest requests of these recordings do that those of the others do not.
///
/// # Errors
/// Those of [`explain::tail::tail`].
pub fn ask_tail_of(slow: &[PathBuf], fast: &[PathBuf]) -> anyhow::Result<Answer> {
    let from = Instant::now();
    let runs = query::open(&[slow, fast].concat())?;
    let said = explain::tail::tail(runs, slow.len(), &Choice::Auto, &explain::cause::built_in())?;
    Ok(Answer {
        findings: said.findings.iter().map(|f| (f.cause.clone(), f.share)).collect(),
        outcome: Outcome::Slower,
        head: head(said.findings.first().map(explain::tail::TailFinding::head)),
        ratio: None,
        unit: "request".to_owned(),
        seconds: from.elapsed().as_secs_f64(),
    })
}

/// The lines as a terminal shows them.
fn head(lines: Option<[String; 2]>) -> String {
    lines.map_or_else(String::new, |lines| lines.map(|line| model::clean(&line)).join("\n"))
}

/// How often it is right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Pairs with a fault, and those of which one of the causes came first.
    pub pairs: usize,
    /// See [`Score::pairs`].
    pub first: usize,
    /// Faults, those of mixed pairs apart, and those of which the cause is among the first three.
    pub faults: usize,
    /// See [`Score::faults`].
    pub third: usize,
    /// Pairs with a known share whose cause was found, and those in which the share is within [`NEAR`] of it.
    pub shares: usize,
    /// See [`Score::shares`].
    pub near: usize,
    /// Equal runs, asked both ways round, and those of which nothing was found.
    pub equal: usize,
    /// See [`Score::equal`].
    pub silent: usize,
}

/// The answers to all pairs of a set.
#[derive(Debug, Default)]
pub struct Answers {
    /// By set.
    pub scores: BTreeMap<Set, Score>,
    /// Name, set, answer and whether that is right, by pair; equal runs twice.
    pub lines: Vec<(String, Set, Answer, Verdict)>,
}

/// Whether an answer is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The place of the cause.
    pub rank: Option<usize>,
    /// How far its share is off, in parts of one.
    pub off: Option<f64>,
    /// Whether it is what it should be.
    pub right: bool,
}

/// Asks about all of these pairs, on as many threads as there are CPUs.
///
/// # Errors
/// Those of [`Pair::unpack`] and [`ask`], with the name of the pair.
pub fn all(pairs: &[Pair]) -> anyhow::Result<Answers> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let answers = std::sync::Mutex::new(vec![None; pairs.len()]);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(pair) = pairs.get(at) else { break };
                    let answer = of_pair(pair).map_err(|why| format!("{}: {why:#}", pair.name));
                    if let Ok(mut answers) = answers.lock() {
                        answers[at] = Some(answer);
                    }
                }
            });
        }
    });
    let mut found = Answers::default();
    let answers = answers.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    for (pair, answer) in pairs.iter().zip(answers) {
        let answers = answer.unwrap_or_else(|| Err(format!("{}: not asked", pair.name))).map_err(anyhow::Error::msg)?;
        found.add(pair, answers);
    }
    Ok(found)
}

/// The answers to a pair: one, and of equal runs one each way round.
fn of_pair(pair: &Pair) -> anyhow::Result<Vec<Answer>> {
    let folder = pair.unpack()?;
    if pair.expected.tail {
        return Ok(vec![ask_tail(folder.path())?]);
    }
    let mut answers = vec![ask(folder.path(), Choice::Auto)?];
    if pair.expected.is_equal() {
        answers.push(ask_of(folder.path(), ["fast.twin", "slow.twin"], Choice::Auto)?);
    }
    Ok(answers)
}

impl Answers {
    fn add(&mut self, pair: &Pair, answers: Vec<Answer>) {
        let expected = &pair.expected;
        let score = self.scores.entry(expected.set).or_default();
        for answer in answers {
            if expected.is_equal() {
                let right = answer.findings.is_empty();
                score.equal += 1;
                score.silent += usize::from(right);
                self.lines.push((pair.name.clone(), expected.set, answer, Verdict { rank: None, off: None, right }));
                continue;
            }
            let mut faults = vec![(expected.causes.clone(), expected.share)];
            faults.extend(expected.also.iter().map(|(cause, share)| (vec![cause.clone()], *share)));
            // Which of two faults is the greater depends on the machine: that one has to come first.
            faults.sort_by(|a, b| b.1.unwrap_or(0.0).total_cmp(&a.1.unwrap_or(0.0)));
            score.pairs += 1;
            let mut verdict = Verdict { rank: None, off: None, right: false };
            for (at, (causes, share)) in faults.iter().enumerate() {
                let rank = answer.rank(causes);
                let found = rank.and_then(|rank| answer.findings.get(rank - 1));
                let off = found.zip(*share).map(|((_, said), share)| said - share);
                score.faults += 1;
                score.third += usize::from(rank.is_some_and(|rank| rank <= 3));
                score.shares += usize::from(off.is_some());
                score.near += usize::from(off.is_some_and(|off| off.abs() <= NEAR));
                if at == 0 {
                    verdict = Verdict { rank, off, right: rank == Some(1) };
                    score.first += usize::from(verdict.right);
                }
            }
            self.lines.push((pair.name.clone(), expected.set, answer, verdict));
        }
    }
}

/// How stable the first finding is: by kind of disturbance, how many answers there were, how many of them named another cause first, and how
/// many had its share off by more than ten points.
pub type Stability = BTreeMap<&'static str, [usize; 3]>;

/// Leaves out one sample in ten.
struct Fewer {
    state: u64,
}

impl Keep for Fewer {
    fn table(&mut self, _: &str) -> bool {
        true
    }

    fn row(&mut self, table: &str, _: &Cells<'_>, _: usize) -> bool {
        if table != "sample" {
            return true;
        }
        // xorshift64*: the same samples each time.
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32 >= (u64::from(u32::MAX) / 10)
    }
}

/// Asks about each pair with a fault again, with a tenth of the samples left out and with windows that begin later or end earlier by a tenth.
///
/// # Errors
/// Those of [`Pair::unpack`] and [`ask`].
pub fn stability(pairs: &[Pair], mut each: impl FnMut(&str, &str, &Answer, &Answer)) -> anyhow::Result<Stability> {
    let mut found = Stability::new();
    for pair in pairs.iter().filter(|pair| !pair.expected.is_equal() && !pair.expected.tail) {
        let folder = pair.unpack()?;
        let whole = ask(folder.path(), Choice::Auto)?;
        let mut note = |what: &'static str, answer: &Answer| {
            let of = found.entry(what).or_default();
            of[0] += 1;
            let first = |a: &Answer| a.findings.first().cloned().unwrap_or_default();
            let ((cause, share), (other, now)) = (first(&whole), first(answer));
            of[1] += usize::from(cause != other);
            of[2] += usize::from((share - now).abs() > 0.1);
            if cause != other || (share - now).abs() > 0.1 {
                each(&pair.name, what, &whole, answer);
            }
        };
        for seed in 1..=2u64 {
            let fewer = tempfile::tempdir()?;
            for name in ["slow.twin", "fast.twin"] {
                let mut keep = Fewer { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) };
                store::extract(&folder.path().join(name), &fewer.path().join(name), &mut keep)?;
            }
            note("a tenth of the samples left out", &ask(fewer.path(), Choice::Auto)?);
        }
        let length = |name: &str| Ok::<_, anyhow::Error>(store::Recording::open(&folder.path().join(name))?.duration());
        let shortest = length("slow.twin")?.min(length("fast.twin")?) as f64 / 1e9;
        // A run of a command is one only as a whole.
        if !["run", "second"].contains(&&*whole.unit) {
            let (start, end) = (Bound::At(0.1 * shortest), Bound::At(0.9 * shortest));
            note("the first tenth left out", &ask(folder.path(), Choice::Between(start, Bound::Open))?);
            note("the last tenth left out", &ask(folder.path(), Choice::Between(Bound::Open, end))?);
        }
    }
    Ok(found)
}
