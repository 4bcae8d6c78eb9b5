//! `field judge`: asks `explain` about recorded pairs, counts how often it is right, and writes the figures into docs/field.md.
//!
//! Answers to held-out pairs are counted and nothing else: who changes rules must not see them, by chance neither.

use crate::kept::Kept;
use crate::pair::{Chosen, Effect, Family, Pair, Set};
use crate::verdicts::Verdicts;
use crate::work::{middle, not_reproduced};
use anyhow::Context;
use corpus::field::{Classes, Count, Figures, Recordings, Told, Truth, on_all_cpus, tell};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Where the figures stand in the document.
const BEGIN: &str = "<!-- figures: begin -->";
const END: &str = "<!-- figures: end -->";

/// A headline in the list of misses has so many characters at most.
const HEADLINE: usize = 200;

/// Why a pair takes no part, of which nothing is known yet.
const NOT_RECORDED: &str = "not recorded";
const NOT_DRAWN: &str = "not drawn: field draw";

/// Figures of fewer held-out pairs say too much of each: in all, and of a family.
const FEWEST: usize = 5;
const FEWEST_OF_FAMILY: usize = 3;

/// Lines of our documents have so many characters at most.
const WIDTH: usize = 120;

/// Treat a predicted ratio as right within this factor of the measured one.
const NEAR: f64 = 1.25;

/// The result for one pair.
pub(crate) struct Judged {
    pub(crate) name: String,
    pub(crate) family: Family,
    /// `None` where it is not drawn.
    pub(crate) set: Option<Set>,
    pub(crate) outcome: Outcome,
    /// Whether the present rules were asked: a verdict may be older than they are.
    pub(crate) is_current: bool,
}

/// See [`Judged`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// It was asked about.
    Asked(Box<Asked>),
    /// It takes no part, and why.
    Out(String),
}

/// A pair that was asked about.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) told: Told,
    /// The first finding, in a line.
    pub(crate) said: String,
    /// Its classes and names, in words.
    pub(crate) expected: String,
    /// Whether `explain` has no cause of its classes.
    pub(crate) is_unknown: bool,
    /// Slow over fast, by the load.
    pub(crate) ratio: f64,
    /// The mean size of its recordings, in bytes.
    pub(crate) bytes: f64,
    /// The days of its first and last recording.
    pub(crate) days: (String, String),
    /// The machine that it was recorded on.
    pub(crate) machine: String,
}

/// Asks about these pairs, those that are recorded and show their effect. Held-out pairs are only counted together: those that are named are
/// left out, and that is said.
///
/// # Errors
/// Where the classes or a pair cannot be read.
pub(crate) fn judge(field: &Path, out: &Path, chosen: &Chosen, verdicts: &mut Verdicts) -> anyhow::Result<Vec<Judged>> {
    let classes = Classes::read(&field.join("classes.toml"))?;
    let mut pairs = chosen.of(field)?;
    pairs.retain(|pair| {
        let is_told = chosen.names.is_empty() || pair.form.set != Some(Set::Held);
        if !is_told {
            eprintln!("{}: it is held out, and only counted together with all others: leave out its name", pair.name);
        }
        is_told
    });
    let all = pairs.len();
    let done = std::sync::atomic::AtomicUsize::new(0);
    let judged: Vec<anyhow::Result<Outcome>> = on_all_cpus(&pairs, |pair| {
        let outcome = ask(out, pair, &classes).with_context(|| pair.name.clone());
        let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        let outcome = outcome?;
        if matches!(outcome, Outcome::Asked(_)) {
            eprintln!("{done} of {all}");
        }
        if let Outcome::Asked(asked) = &outcome
            && let Some(why) = &asked.told.failed
        {
            // That there is no answer is none; it has to be mended in either set.
            eprintln!("{}: explain gives no answer: {why}", pair.name);
        }
        Ok(outcome)
    });
    pairs.iter().zip(judged).map(|(pair, outcome)| of_both(pair, outcome?, verdicts)).collect()
}

/// Stores the verdict of a pair recorded here. For any other pair, uses the stored verdict.
fn of_both(pair: &Pair, outcome: Outcome, verdicts: &mut Verdicts) -> anyhow::Result<Judged> {
    let (outcome, is_current) = match outcome {
        Outcome::Out(why) if [NOT_RECORDED, NOT_DRAWN].contains(&why.as_str()) => {
            verdicts.of(pair)?.unwrap_or((Outcome::Out(why), true))
        }
        outcome => {
            verdicts.set(pair, &outcome)?;
            (outcome, true)
        }
    };
    Ok(Judged { name: pair.name.clone(), family: pair.form.family, set: pair.form.set, outcome, is_current })
}

fn ask(out: &Path, pair: &Pair, classes: &Classes) -> anyhow::Result<Outcome> {
    let recorded = match Recorded::of(out, pair)? {
        Ok(recorded) => recorded,
        Err(why) => return Ok(Outcome::Out(why)),
    };
    let kept = Kept::of(out, pair);
    let [slow, fast, again] = kept.recordings();
    let files = [&slow[..], &fast, &again].concat();
    let bytes: u64 = files.iter().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    let truth = &pair.form.truth;
    let causes = classes.causes(&truth.classes);
    let asked = Truth {
        is_innocent: pair.is_innocent(),
        is_tail: truth.effect == Effect::Tail,
        causes: causes.clone(),
        names: truth.names.clone(),
        share: truth.share,
        ratio: Some(recorded.ratio),
    };
    let told = tell(&Recordings { slow, fast, again, one_way: false }, &asked)?;
    let expected = match pair.is_innocent() {
        true => "nothing".to_owned(),
        false => format!("{} ({})", truth.classes.join(" or "), truth.names.join(", ")),
    };
    Ok(Outcome::Asked(Box::new(Asked {
        said: said(&told),
        told,
        expected,
        is_unknown: causes.is_empty() && !pair.is_innocent(),
        ratio: recorded.ratio,
        bytes: bytes as f64 / files.len().max(1) as f64,
        days: recorded.days,
        machine: machine(),
    })))
}

/// A pair whose recordings are whole and show its effect.
pub(crate) struct Recorded {
    /// The middle of its ratios.
    pub(crate) ratio: f64,
    /// Whose place this is.
    pub(crate) middle: usize,
    /// The days of the first and the last recording.
    pub(crate) days: (String, String),
}

impl Recorded {
    /// That, or why a pair takes no part.
    ///
    /// # Errors
    /// Where the pair's own files cannot be read.
    pub(crate) fn of(out: &Path, pair: &Pair) -> anyhow::Result<Result<Self, String>> {
        if pair.form.set.is_none() {
            return Ok(Err(NOT_DRAWN.into()));
        }
        let kept = Kept::of(out, pair);
        let mut days = Vec::new();
        for run in crate::kept::Run::all() {
            match kept.about(pair, run)? {
                Some(about) => days.push(about.day),
                None => return Ok(Err(kept.miss().unwrap_or_else(|| NOT_RECORDED.into()))),
            }
        }
        let ratios = kept.ratios(pair)?;
        if let Some(why) = not_reproduced(pair.is_innocent(), &ratios) {
            return Ok(Err(why));
        }
        days.sort();
        let days = days.first().cloned().zip(days.last().cloned()).unwrap_or_default();
        Ok(middle(&ratios)
            .and_then(|at| Some(Recorded { ratio: *ratios.get(at)?, middle: at, days }))
            .ok_or_else(|| "no ratio of its runs is known".into()))
    }
}

/// One of the counts of figures.
type CountOf = fn(&Figures) -> Count;

/// The figures in Markdown: what stands between the marks of docs/field.md. `blind`: without what tuned pairs are missed by.
pub(crate) fn report(judged: &[Judged], blind: bool) -> String {
    let of_set = |set: Set| judged.iter().filter(move |pair| pair.set == Some(set));
    let figures = |pairs: &mut dyn Iterator<Item = &Judged>| {
        let mut figures = Figures::default();
        pairs.filter_map(asked).for_each(|asked| figures.add(&asked.told));
        figures
    };
    let is_told = of_set(Set::Held).filter_map(asked).count() >= FEWEST;
    let held = if is_told { figures(&mut of_set(Set::Held)) } else { Figures::default() };
    let tuned = figures(&mut of_set(Set::Tuned));
    let mut text = String::new();
    let _ = match is_told {
        true => writeln!(
            text,
            "**Held out, at first sight: the class comes first in {}, the thing is named in {}** (95 % intervals after \
             Wilson).\n",
            words(held.first),
            words(held.named),
        ),
        false => writeln!(text, "Held out: fewer than {FEWEST} pairs take part, whose figures are not told.\n"),
    };
    let all: Vec<&Asked> = judged.iter().filter_map(asked).collect();
    let first = all.iter().map(|asked| asked.days.0.as_str()).min().unwrap_or("-");
    let last = all.iter().map(|asked| asked.days.1.as_str()).max().unwrap_or("-");
    let machines: std::collections::BTreeSet<&str> = all.iter().map(|asked| asked.machine.as_str()).collect();
    let machines: Vec<&str> = machines.into_iter().collect();
    let when = if first == last { first.to_owned() } else { format!("{first} to {last}") };
    let _ = writeln!(
        text,
        "Recorded {when} on a {}, by `make field`; three recordings a side. {} of {} pairs take part.\n",
        machines.join(" and a "),
        all.len(),
        judged.len()
    );
    let old = judged.iter().filter(|pair| asked(pair).is_some() && !pair.is_current).count();
    if old > 0 {
        let _ = writeln!(text, "{old} of them were judged by earlier rules, and not recorded again since.\n");
    }
    text.push_str("| what is asked | held out | tuned |\n|---|--:|--:|\n");
    let rows: [(&str, CountOf); 6] = [
        ("class first", |f| f.first),
        ("class among the first three", |f| f.third),
        ("thing named in the first two lines", |f| f.named),
        ("share within 15 points, where the truth says one", |f| f.near),
        ("nothing found between equal runs, either way round", |f| f.equal),
        ("nothing found in innocent pairs, either way round", |f| f.innocent),
    ];
    for (what, count) in rows {
        let _ = writeln!(text, "| {what} | {} | {} |", count(&held), count(&tuned));
    }
    let near = |figures: &Figures| {
        let mut count = Count::default();
        figures.predicted.iter().for_each(|factor| count.add(factor.max(1.0 / factor) <= NEAR));
        count
    };
    let median = |figures: &Figures| {
        figures.median_error().map_or("-".to_owned(), |error| format!("{error:.2} (of {})", figures.predicted.len()))
    };
    let _ =
        writeln!(text, "| predicted ratio within a quarter of the measured one | {} | {} |", near(&held), near(&tuned));
    let _ = writeln!(text, "| predicted ratio: factor off, in the median | {} | {} |", median(&held), median(&tuned));
    let failed = |set: Set| of_set(set).filter_map(asked).filter(|asked| asked.told.failed.is_some()).count();
    let unknown = |set: Set| of_set(set).filter_map(asked).filter(|asked| asked.is_unknown).count();
    let _ = writeln!(
        text,
        "| pairs of classes that have no cause yet | {} | {} |",
        unknown(Set::Held),
        unknown(Set::Tuned)
    );
    let _ = writeln!(
        text,
        "| pairs without an answer (`explain` fails) | {} | {} |",
        failed(Set::Held),
        failed(Set::Tuned)
    );

    let mean = all.iter().map(|asked| asked.bytes).sum::<f64>() / all.len().max(1) as f64;
    let largest = all.iter().map(|asked| asked.bytes).fold(0.0, f64::max);
    let seconds: Vec<f64> = all.iter().map(|asked| asked.told.seconds).collect();
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    let half = middle(&seconds).and_then(|at| seconds.get(at)).copied().unwrap_or(0.0);
    let ratios: Vec<f64> = all.iter().filter(|asked| asked.told.judged.is_some()).map(|asked| asked.ratio).collect();
    let ratio = middle(&ratios).and_then(|at| ratios.get(at));
    let slower =
        ratio.map(|ratio| format!("Slow sides take {ratio:.1} times as long, in the median. ")).unwrap_or_default();
    let _ = match all.is_empty() {
        true => writeln!(text),
        false => writeln!(
            text,
            "\n{slower}An answer takes {half:.1} s in the median and {longest:.1} s at \
         most (six recordings, one question on each CPU); a recording has {:.1} MB, the largest of a pair {:.1} MB.\n",
            mean / 1e6,
            largest / 1e6,
        ),
    };
    by_family(&mut text, judged, is_told, &figures);
    if !blind {
        misses(&mut text, &mut of_set(Set::Tuned));
    }
    left_out(&mut text, judged);
    wrapped(&text)
}

/// Pairs that take no part.
fn left_out(text: &mut String, judged: &[Judged]) {
    let why = |pair: &Judged| match &pair.outcome {
        Outcome::Out(why) => Some(why.clone()),
        Outcome::Asked(_) => None,
    };
    let out: Vec<(&Judged, String)> = judged.iter().filter_map(|pair| Some((pair, why(pair)?))).collect();
    let (waiting, out): (Vec<_>, Vec<_>) =
        out.into_iter().partition(|(_, why)| [NOT_RECORDED, NOT_DRAWN].contains(&why.as_str()));
    if !waiting.is_empty() {
        let _ = writeln!(text, "\n{} pairs are not recorded yet.", waiting.len());
    }
    if !out.is_empty() {
        text.push_str("\nPairs that take no part:\n\n| pair | family | why |\n|---|---|---|\n");
    }
    for (pair, why) in out {
        let _ = writeln!(text, "| `{}` | {} | {} |", pair.name, pair.family.name(), cell(&why));
    }
}

/// Wraps paragraphs at [`WIDTH`]. Tables keep their lines.
fn wrapped(text: &str) -> String {
    let mut wrapped = String::new();
    for line in text.lines() {
        let mut width = 0;
        let words = if line.starts_with('|') { vec![line] } else { line.split(' ').collect() };
        for (at, word) in words.into_iter().enumerate() {
            let length = word.chars().count();
            if at > 0 {
                wrapped.push(if width + 1 + length > WIDTH { '\n' } else { ' ' });
                width = if width + 1 + length > WIDTH { 0 } else { width + 1 };
            }
            wrapped.push_str(word);
            width += length;
        }
        wrapped.push('\n');
    }
    wrapped
}

fn asked(pair: &Judged) -> Option<&Asked> {
    match &pair.outcome {
        Outcome::Asked(asked) => Some(asked),
        Outcome::Out(_) => None,
    }
}

/// "12 of 50 (24 %, 14–37 %)", also where there are none.
fn words(count: Count) -> String {
    if count.whole == 0 { "none of 0".to_owned() } else { count.to_string() }
}

fn by_family(
    text: &mut String,
    judged: &[Judged],
    is_told: bool,
    figures: &dyn Fn(&mut dyn Iterator<Item = &Judged>) -> Figures,
) {
    text.push_str(
        "| family | held out: class first | among three | thing named | tuned: class first | among three | thing named | left out |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut families: BTreeMap<Family, Vec<&Judged>> = BTreeMap::new();
    for pair in judged {
        families.entry(pair.family).or_default().push(pair);
    }
    let short =
        |count: Count| if count.whole == 0 { "-".to_owned() } else { format!("{} of {}", count.part, count.whole) };
    for (family, pairs) in families {
        let left_out = pairs.iter().filter(|pair| asked(pair).is_none()).count();
        let cells = [Set::Held, Set::Tuned].map(|set| {
            let of_set = || pairs.iter().copied().filter(|pair| pair.set == Some(set));
            let some = of_set().filter_map(asked).count();
            let of = figures(&mut of_set());
            match family {
                _ if set == Set::Held && (!is_told || (1..FEWEST_OF_FAMILY).contains(&some)) => {
                    if some == 0 {
                        "- | - | -".to_owned()
                    } else {
                        format!("too few ({some}) | | ")
                    }
                }
                Family::Innocent => format!("{} silent | | ", short(of.innocent)),
                _ => format!("{} | {} | {}", short(of.first), short(of.third), short(of.named)),
            }
        });
        let _ = writeln!(text, "| {} | {} | {} | {left_out} |", family.name(), cells[0], cells[1]);
    }
}

/// Lists the misses of tuned pairs, one row each.
fn misses(text: &mut String, tuned: &mut dyn Iterator<Item = &Judged>) {
    let mut lines = Vec::new();
    for (pair, asked) in tuned.filter_map(|pair| Some((pair, asked(pair)?))) {
        let told = &asked.told;
        let mut wrong = Vec::new();
        if let Some(judged) = &told.judged {
            match (judged.first, judged.third) {
                (true, _) => {}
                (false, true) => wrong.push("class not first"),
                (false, false) => wrong.push("class not among three"),
            }
            if !judged.named {
                wrong.push("thing not named");
            }
        }
        if told.innocent == Some(false) {
            wrong.push("something is found in an innocent pair");
        }
        if told.equal == Some(false) {
            wrong.push("something is found between equal runs");
        }
        if wrong.is_empty() {
            continue;
        }
        let (expected, said) = (cell(&asked.expected), cell(&asked.said));
        lines.push(format!("| `{}` | {} | {expected} | {said} |", pair.name, wrong.join(", ")));
    }
    if !lines.is_empty() {
        text.push_str(
            "\nMisses of the tuned set:\n\n| pair | what is missed | expected | first finding |\n|---|---|---|---|\n",
        );
        lines.iter().for_each(|line| {
            let _ = writeln!(text, "{line}");
        });
    }
}

/// The first finding in a line, or why there is none.
fn said(told: &Told) -> String {
    let Some(answer) = &told.answer else { return told.failed.clone().unwrap_or_default() };
    match (answer.findings.first(), answer.head.lines().next()) {
        // The headline begins with the share.
        (Some((cause, share)), Some(head)) => {
            format!("{cause} {:.0} %: {}", share * 100.0, head.split_once("  ").map_or(head, |(_, says)| says))
        }
        _ => format!("nothing ({:?})", answer.outcome),
    }
}

/// A text as a cell of a table in Markdown that no name in it can leave.
fn cell(text: &str) -> String {
    let clean = model::clean(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let short: String = clean.chars().take(HEADLINE).collect();
    let cut = if short.len() < clean.len() { "…" } else { "" };
    format!("{}{cut}", short.replace('<', "&lt;").replace('|', "\\|"))
}

/// Puts figures into a document.
///
/// # Errors
/// Where it has no place for them, or cannot be written.
pub(crate) fn write(document: &Path, figures: &str) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(document).with_context(|| document.display().to_string())?;
    let new = placed(&text, figures).with_context(|| document.display().to_string())?;
    files::write(document, new.as_bytes(), files::Rules { replace: true, ..files::Rules::default() })
        .with_context(|| document.display().to_string())
}

fn placed(text: &str, figures: &str) -> anyhow::Result<String> {
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.with_context(|| format!("there is no {BEGIN} … {END}"))?;
    Ok(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", figures.trim()))
}

/// This machine: "VM with 2 CPUs (Intel Xeon), Linux 6.18".
pub(crate) fn machine() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let of = |key: &str| {
        let line = cpuinfo.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let is_virtual = of("flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version: Vec<&str> = release.trim().split(['.', '-']).take(2).collect();
    let model = of("model name").map_or_else(String::new, |name| format!(" ({name})"));
    let kind = if is_virtual { "VM" } else { "machine" };
    format!("{kind} with {cpus} CPUs{model}, Linux {}", version.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use corpus::answers::Answer;

    fn pair(name: &str, set: Set, family: Family, right: [bool; 3], head: &str) -> Judged {
        let answer = Answer {
            findings: vec![("slower-function".into(), 0.456)],
            outcome: explain::Outcome::Slower,
            head: format!("46 % (95 % CI 40–50 %)  {head}\nslower-function: A function"),
            ratio: None,
            unit: "run".into(),
            seconds: 1.0,
        };
        let [first, third, named] = right;
        let judged = corpus::field::Judged { first, third, named, off: None, predicted: first.then_some(1.2) };
        let is_innocent = family == Family::Innocent;
        let told = Told {
            answer: Some(answer),
            judged: (!is_innocent).then_some(judged),
            innocent: is_innocent.then_some(first),
            equal: Some(true),
            seconds: 1.0,
            ..Told::default()
        };
        let asked = Asked {
            said: said(&told),
            told,
            expected: format!("lock ({name}Lock)"),
            is_unknown: false,
            ratio: 2.0,
            bytes: 1e6,
            days: ("2026-11-28".into(), "2026-11-28".into()),
            machine: "VM with 2 CPUs".into(),
        };
        let outcome = Outcome::Asked(Box::new(asked));
        Judged { name: name.into(), family, set: Some(set), outcome, is_current: true }
    }

    fn all() -> Vec<Judged> {
        let mut all = vec![
            pair("seen", Set::Tuned, Family::Web, [false, true, false], "`spin<T>()` takes\nlonger"),
            pair("right", Set::Tuned, Family::Web, [true; 3], "well"),
            pair("quiet", Set::Tuned, Family::Innocent, [false; 3], "loud"),
            pair("hidden", Set::Held, Family::Innocent, [false; 3], "hidden headline"),
            Judged {
                name: "gone".into(),
                family: Family::Web,
                set: Some(Set::Held),
                outcome: Outcome::Out("slow-1: load: exit code 1".into()),
                is_current: true,
            },
        ];
        let secret = |at: usize| pair(&format!("secret-{at}"), Set::Held, Family::Web, [at == 0; 3], "secret headline");
        all.extend((0..4).map(secret));
        all
    }

    #[test]
    fn held_out_pairs_are_counted_and_nothing_else() {
        let text = report(&all(), false);
        for part in ["secret", "hidden"] {
            assert!(!text.contains(part), "{text}");
        }
        assert!(
            text.starts_with("**Held out, at first sight: the class comes first in 1 of 4 (25 %, 5–70 %)"),
            "{text}"
        );
        assert!(text.contains("| class first | 1 of 4 (25 %, 5–70 %) | 1 of 2 (50 %, 9–91 %) |"), "{text}");
        assert!(text.contains("| class among the first three | 1 of 4 (25 %, 5–70 %) | 2 of 2 (100 %, 34–100 %) |"));
        assert!(text.contains("| web | 1 of 4 | 1 of 4 | 1 of 4 | 1 of 2 | 2 of 2 | 1 of 2 | 1 |"), "{text}");
        assert!(text.contains("| innocent | too few (1) | |  | 0 of 1 silent | |  | 0 |"), "{text}");
        assert!(text.contains("| `gone` | web | slow-1: load: exit code 1 |\n"), "{text}");
        assert!(text.contains("8 of 9 pairs take part"), "{text}");
    }

    #[test]
    fn figures_of_a_few_held_out_pairs_are_not_told() {
        let few: Vec<Judged> = all().into_iter().filter(|pair| pair.name != "secret-3").collect();
        let text = report(&few, false);
        assert!(text.starts_with("Held out: fewer than 5 pairs take part"), "{text}");
        assert!(text.contains("| class first | - | 1 of 2 (50 %, 9–91 %) |"), "{text}");
        assert!(text.contains("| web | too few (3) | |  | 1 of 2 |"), "{text}");
    }

    #[test]
    fn misses_of_tuned_pairs_are_a_line_each() {
        let text = report(&all(), false);
        let lines: Vec<&str> =
            text.lines().skip_while(|line| !line.starts_with("| pair | what")).skip(2).take(2).collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(
            lines[0],
            "| `seen` | class not first, thing not named | lock (seenLock) | slower-function 46 %: `spin&lt;T>()` takes |"
        );
        assert!(lines[1].starts_with("| `quiet` | something is found in an innocent pair | "), "{}", lines[1]);
        assert!(!report(&all(), true).contains("seenLock"));
        let is_narrow = |line: &str| line.starts_with('|') || line.chars().count() <= WIDTH;
        assert!(text.lines().all(is_narrow), "{text}");
    }

    #[test]
    fn figures_are_put_between_the_marks() {
        let text = format!("# A\n\n{BEGIN}\n\nold\n\n{END}\n\nB\n");
        let new = placed(&text, "new\n").unwrap();
        assert_eq!(new, text.replace("old", "new"));
        assert_eq!(placed(&new, "new").unwrap(), new);
        assert!(placed("# A", "new").is_err());
    }

    #[test]
    fn a_held_out_pair_is_not_asked_about_by_its_name() {
        let field = tempfile::tempdir().unwrap();
        std::fs::write(field.path().join("classes.toml"), "sync-writes = [\"sync-writes\"]\n").unwrap();
        let held = crate::pair::testing::WHOLE.replace("language", "set = \"held\"\nlanguage");
        crate::pair::testing::pair(field.path(), "a", &held).unwrap();
        let chosen = Chosen { names: vec!["a".into()], ..Chosen::default() };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut verdicts = Verdicts::read(&field.path().join("verdicts"), &root).unwrap();
        assert!(judge(field.path(), field.path(), &chosen, &mut verdicts).unwrap().is_empty());
        let all = judge(field.path(), field.path(), &Chosen::default(), &mut verdicts).unwrap();
        assert!(matches!(&all[0].outcome, Outcome::Out(why) if why == "not recorded"));
    }
}
