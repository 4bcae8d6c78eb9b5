//! Judges answers to pairs of the field exam (docs/field.md): released software whose truth names a class of cause and what a useful
//! answer would name. `field judge` asks with three recordings a side, `cargo test` with the one that is kept; both count here.

use crate::answers::{Answer, NEAR, ask_runs, ask_tail_of};
use crate::{Pair, Set};
use anyhow::Context;
use compare::Choice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Classes of causes, and the identifiers of causes in each. A class may have none: `explain` cannot name it yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classes(pub BTreeMap<String, Vec<String>>);

impl Classes {
    /// Reads `field/classes.toml`.
    ///
    /// # Errors
    /// If the file cannot be read or parsed.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        toml::from_str(&text).map(Classes).with_context(|| file.display().to_string())
    }

    /// Reads the classes of this repository.
    ///
    /// # Errors
    /// See [`Classes::read`].
    pub fn built_in() -> anyhow::Result<Self> {
        Classes::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../field/classes.toml"))
    }

    /// The causes of these classes.
    pub fn causes(&self, classes: &[String]) -> Vec<String> {
        classes.iter().filter_map(|class| self.0.get(class)).flatten().cloned().collect()
    }
}

/// What the truth of a pair says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// The change costs nothing, so any finding is wrong.
    pub is_innocent: bool,
    /// Only the slowest requests are slower, so `explain --tail` is asked.
    pub is_tail: bool,
    /// The causes of the true classes.
    pub causes: Vec<String>,
    /// Regular expressions. The answer names the thing if one matches its first two lines.
    pub names: Vec<String>,
    /// The part of the slowdown due to the cause, if known.
    pub share: Option<f64>,
    /// Elapsed time per unit of work, slow over fast, by the load's own count.
    pub ratio: Option<f64>,
}

/// How far an answer is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The first finding is a cause of the true class.
    pub first: bool,
    /// One of the first three is.
    pub third: bool,
    /// The first two lines name what a useful answer names.
    pub named: bool,
    /// Answered share minus true share, in parts of one, if the truth states a share. A cause that was not found counts as 0.
    pub off: Option<f64>,
    /// Predicted speed-up over measured speed-up, if both are known.
    pub predicted: Option<f64>,
}

/// Speed-up after removing `share` of the loss. Removing all of it gives the ratio itself.
fn without(ratio: f64, share: f64) -> f64 {
    ratio / (ratio - share.clamp(0.0, 1.0) * (ratio - 1.0))
}

/// Judges an answer. `None` means that `explain` failed.
///
/// # Errors
/// If a name is not a valid regular expression.
pub fn judge(truth: &Truth, answer: Option<&Answer>) -> anyhow::Result<Judged> {
    let Some(answer) = answer else { return Ok(Judged { off: truth.share.map(|share| -share), ..Judged::default() }) };
    let rank = answer.rank(&truth.causes);
    let mut named = false;
    for name in &truth.names {
        named |= regex_lite::Regex::new(name).with_context(|| name.clone())?.is_match(&answer.head);
    }
    let said = rank.and_then(|rank| answer.findings.get(rank - 1)).map_or(0.0, |(_, share)| *share);
    let first = answer.findings.first().map_or(0.0, |(_, share)| *share);
    Ok(Judged {
        first: rank == Some(1),
        third: rank.is_some_and(|rank| rank <= 3),
        named,
        off: truth.share.map(|share| said - share),
        predicted: answer
            .ratio
            .zip(truth.ratio)
            .map(|(said, measured)| without(said, first) / without(measured, truth.share.unwrap_or(1.0))),
    })
}

/// Recordings of a pair.
#[derive(Clone, Debug, Default)]
pub struct Recordings {
    /// Recordings of the slow side.
    pub slow: Vec<PathBuf>,
    /// Recordings of the fast side.
    pub fast: Vec<PathBuf>,
    /// More recordings of the fast side. Any difference found against `fast` is a false alarm.
    pub again: Vec<PathBuf>,
    /// These are asked about one way round only, which tests have time for.
    pub one_way: bool,
}

/// What `explain` says of a pair, judged. The answer itself is not serialized.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Told {
    /// The answer. For an innocent pair, the answer with a finding, if there is one.
    #[serde(skip)]
    pub answer: Option<Answer>,
    /// Why `explain` failed, if it did.
    pub failed: Option<String>,
    /// The judgement of a pair with a fault.
    pub judged: Option<Judged>,
    /// For an innocent pair, whether both directions have no finding.
    pub innocent: Option<bool>,
    /// Whether nothing is found between runs of the fast side, either way round, or one way where that is what was asked.
    pub equal: Option<bool>,
    /// Seconds that the slowest question took.
    pub seconds: f64,
}

/// Asks about a pair, and judges.
///
/// # Errors
/// Where a name of the truth is no regular expression. An answer that is not given is no error: it is wrong, and said.
pub fn tell(recordings: &Recordings, truth: &Truth) -> anyhow::Result<Told> {
    let Recordings { slow, fast, again, one_way } = recordings;
    let mut told = Told::default();
    if truth.is_innocent {
        told.innocent = Some(told.is_silent(&[(slow, fast), (fast, slow)]));
    } else {
        let answer =
            told.heard(|| if truth.is_tail { ask_tail_of(slow, fast) } else { ask_runs(slow, fast, Choice::Auto) });
        told.judged = Some(judge(truth, answer.as_ref())?);
        told.answer = answer;
    }
    if !again.is_empty() {
        let answer = told.answer.take();
        let ways = [(&again[..], &fast[..]), (fast, again)];
        told.equal = Some(told.is_silent(ways.get(..if *one_way { 1 } else { 2 }).unwrap_or(&ways)));
        // What is said of equal runs is no answer to the pair.
        told.answer = answer;
    }
    Ok(told)
}

impl Told {
    /// Asks, and records why it failed if it did. A panic counts as a failure.
    fn heard(&mut self, ask: impl FnOnce() -> anyhow::Result<Answer>) -> Option<Answer> {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(ask))
            .unwrap_or_else(|_| Err(anyhow::anyhow!("explain panicked")));
        match answer {
            Ok(answer) => {
                self.seconds = self.seconds.max(answer.seconds);
                Some(answer)
            }
            Err(why) => {
                self.failed = Some(format!("{why:#}"));
                None
            }
        }
    }

    /// Whether nothing is found of these slow and fast runs. What is found is the answer.
    fn is_silent(&mut self, ways: &[(&[PathBuf], &[PathBuf])]) -> bool {
        let mut is_silent = true;
        for (slow, fast) in ways {
            let answer = self.heard(|| ask_runs(slow, fast, Choice::Auto));
            if answer.as_ref().is_none_or(|answer| !answer.findings.is_empty()) {
                is_silent = false;
                self.answer = answer;
            } else if is_silent {
                self.answer = answer;
            }
        }
        is_silent
    }
}

/// Maps items in parallel, one thread per CPU. Results keep the order of the items.
pub fn on_all_cpus<T: Sync, R: Send>(items: &[T], what: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = what(item);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What `explain` says of pairs that are kept (`fixtures/field/`), in their order.
///
/// # Errors
/// Where an archive is damaged, or a truth has another form.
pub fn of_kept(pairs: &[Pair]) -> anyhow::Result<Vec<Told>> {
    let tell = |pair: &Pair| {
        let folder = pair.unpack()?;
        let of = |name: &str| vec![folder.path().join(name)];
        let again = of("again.twin").into_iter().filter(|file| file.exists()).collect();
        let recordings = Recordings { slow: of("slow.twin"), fast: of("fast.twin"), again, one_way: true };
        let expected = &pair.expected;
        let truth = Truth {
            is_innocent: expected.is_equal(),
            is_tail: expected.tail,
            // By now the causes of its classes.
            causes: expected.causes.clone(),
            names: expected.names.clone(),
            share: expected.share,
            ratio: expected.ratio,
        };
        tell(&recordings, &truth)
    };
    let named = |pair: &Pair| tell(pair).with_context(|| pair.name.clone());
    on_all_cpus(pairs, named).into_iter().collect()
}

/// The figures of each set.
pub fn by_set<'a>(told: impl IntoIterator<Item = (Set, &'a Told)>) -> BTreeMap<Set, Figures> {
    let mut figures: BTreeMap<Set, Figures> = BTreeMap::new();
    for (set, told) in told {
        figures.entry(set).or_default().add(told);
    }
    figures
}

/// A part of a whole, both counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Those that are right.
    pub part: usize,
    /// All.
    pub whole: usize,
}

impl Count {
    /// One more.
    pub fn add(&mut self, right: bool) {
        self.part += usize::from(right);
        self.whole += 1;
    }

    /// The part as a share of the whole; 1 if the whole is 0.
    pub fn share(self) -> f64 {
        if self.whole == 0 { 1.0 } else { self.part as f64 / self.whole as f64 }
    }

    /// The 95 % Wilson score interval of [`Count::share`]. It stays within 0 and 1 for small counts.
    pub fn interval(self) -> (f64, f64) {
        const Z: f64 = 1.959_963_984_540_054;
        if self.whole == 0 {
            return (0.0, 1.0);
        }
        let (n, p) = (self.whole as f64, self.share());
        let middle = p + Z * Z / (2.0 * n);
        let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        let scale = 1.0 + Z * Z / n;
        (((middle - half) / scale).max(0.0), ((middle + half) / scale).min(1.0))
    }
}

impl std::fmt::Display for Count {
    /// "27 of 37 (73 %, 57–85 %)".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.whole == 0 {
            return f.write_str("-");
        }
        let (low, high) = self.interval();
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        let [share, low, high] = [self.share(), low, high].map(percent);
        write!(f, "{} of {} ({share} %, {low}–{high} %)", self.part, self.whole)
    }
}

/// How often answers are right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The first finding is a cause of the true class.
    pub first: Count,
    /// One of the first three is.
    pub third: Count,
    /// The first two lines name what a useful answer names.
    pub named: Count,
    /// The share is within [`NEAR`] of the truth, of those pairs whose truth says one.
    pub near: Count,
    /// Predicted over measured ratio, of each pair that has both.
    pub predicted: Vec<f64>,
    /// Nothing is found between runs of the fast side.
    pub equal: Count,
    /// Nothing is found in innocent pairs.
    pub innocent: Count,
}

impl Figures {
    /// Counts what is said of a pair.
    pub fn add(&mut self, told: &Told) {
        if let Some(judged) = &told.judged {
            self.add_judged(judged);
        }
        if let Some(is_silent) = told.innocent {
            self.innocent.add(is_silent);
        }
        if let Some(is_silent) = told.equal {
            self.equal.add(is_silent);
        }
    }

    fn add_judged(&mut self, judged: &Judged) {
        self.first.add(judged.first);
        self.third.add(judged.third);
        self.named.add(judged.named);
        if let Some(off) = judged.off {
            self.near.add(off.abs() <= NEAR);
        }
        self.predicted.extend(judged.predicted);
    }

    /// How far predicted ratios are from those measured, in the median: 1.1 where half of them are within a tenth.
    pub fn median_error(&self) -> Option<f64> {
        let mut errors: Vec<f64> = self.predicted.iter().map(|factor| factor.max(1.0 / factor)).collect();
        errors.sort_by(f64::total_cmp);
        let middle = errors.len() / 2;
        match errors.len() % 2 {
            0 => errors.get(middle.checked_sub(1)?..=middle).map(|two| two.iter().sum::<f64>() / 2.0),
            _ => errors.get(middle).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::Outcome;

    fn answer(findings: &[(&str, f64)], head: &str, ratio: Option<f64>) -> Answer {
        Answer {
            findings: findings.iter().map(|(cause, share)| ((*cause).to_owned(), *share)).collect(),
            outcome: Outcome::Slower,
            head: head.into(),
            ratio,
            unit: "operation".into(),
            seconds: 0.1,
        }
    }

    fn truth() -> Truth {
        Truth {
            causes: vec!["sync-writes".into(), "dirty-throttling".into()],
            names: vec!["XLogFlush".into(), r"f(data)?sync\b".into()],
            share: Some(0.9),
            ratio: Some(4.0),
            ..Truth::default()
        }
    }

    #[test]
    fn an_answer_is_right_by_class_and_by_name() {
        let right =
            answer(&[("sync-writes", 0.8), ("syscalls", 0.1)], "80 %  waits in fdatasync\nsync-writes: …", Some(4.0));
        let judged = judge(&truth(), Some(&right)).unwrap();
        assert!(judged.first && judged.third && judged.named);
        assert!((judged.off.unwrap() + 0.1).abs() < 1e-9);
        // 4 − 0.8 × 3 is left of what took 4; in truth 4 − 0.9 × 3.
        assert!((judged.predicted.unwrap() - (4.0 / 1.6) / (4.0 / 1.3)).abs() < 1e-9);

        let second = answer(&[("syscalls", 0.5), ("dirty-throttling", 0.4)], "50 %  fsyncs of many\nsyscalls: …", None);
        let judged = judge(&truth(), Some(&second)).unwrap();
        assert!(!judged.first && judged.third && !judged.named && judged.predicted.is_none());

        let other = answer(&[("a", 0.3), ("b", 0.2), ("c", 0.1), ("sync-writes", 0.1)], "30 %  fsync\na: …", None);
        let judged = judge(&truth(), Some(&other)).unwrap();
        assert!(!judged.first && !judged.third && judged.named);

        for none in [None, Some(&answer(&[], "", Some(4.0)))] {
            let judged = judge(&truth(), none).unwrap();
            assert!(!judged.first && !judged.third && !judged.named && judged.off == Some(-0.9));
        }
    }

    #[test]
    fn a_class_that_explain_cannot_name_is_never_right() {
        let classes = Classes(BTreeMap::from([
            ("build".to_owned(), vec![]),
            ("lock".to_owned(), vec!["lock-contention".to_owned()]),
        ]));
        let causes = classes.causes(&["build".into()]);
        assert!(causes.is_empty());
        assert_eq!(classes.causes(&["lock".into(), "build".into()]), ["lock-contention"]);
        let truth = Truth { causes, names: vec!["-O0".into()], ..Truth::default() };
        let said = answer(&[("slower-function", 1.0)], "100 %  advance() built with -O0", None);
        let judged = judge(&truth, Some(&said)).unwrap();
        assert!(!judged.first && judged.named && judged.off.is_none());
    }

    #[test]
    fn intervals_are_those_of_the_literature() {
        let of = |part, whole| Count { part, whole }.interval();
        // Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
        for (part, whole, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let (a, b) = of(part, whole);
            assert!((a - low).abs() < 5e-5 && (b - high).abs() < 5e-5, "{part} of {whole}: {a} to {b}");
        }
        assert_eq!(of(0, 0), (0.0, 1.0));
        assert_eq!(Count { part: 27, whole: 37 }.to_string(), "27 of 37 (73 %, 57–85 %)");
        assert_eq!(Count::default().to_string(), "-");
    }

    #[test]
    fn figures_count_each_kind() {
        let mut figures = Figures::default();
        figures.add_judged(&Judged { first: true, third: true, named: false, off: Some(0.2), predicted: Some(0.5) });
        figures.add_judged(&Judged { off: Some(-0.15), predicted: Some(1.1), ..Judged::default() });
        figures.add_judged(&Judged { named: true, predicted: Some(1.3), ..Judged::default() });
        let of = |part, whole| Count { part, whole };
        assert_eq!((figures.first, figures.third, figures.named), (of(1, 3), of(1, 3), of(1, 3)));
        assert_eq!(figures.near, of(1, 2));
        figures.add(&Told { innocent: Some(false), equal: Some(true), ..Told::default() });
        figures.add(&Told { equal: Some(true), ..Told::default() });
        assert_eq!((figures.innocent, figures.equal, figures.first), (of(0, 1), of(2, 2), of(1, 3)));
        assert!((figures.median_error().unwrap() - 1.3).abs() < 1e-9);
        figures.predicted.pop();
        assert!((figures.median_error().unwrap() - (1.1 + 2.0) / 2.0).abs() < 1e-9);
        assert_eq!(Figures::default().median_error(), None);
    }
}
