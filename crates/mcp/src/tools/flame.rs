//! `flame`: which code the time goes to: functions, or whole call paths, heaviest first; of two sides those that differ most.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Item, Page};
use crate::args::{Failure, baseline, holds, narrow, read, window};
use compare::flame::Drawn;
use query::human;
use query::profile::{self, Filter, Frame, Levels, ROOT, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const TOOL: Tool = Tool {
    name: "flame",
    title: "Flame graph",
    description: "Which code the time goes to, from sampled stacks: functions (with what they use themselves and with callees) or whole call \
paths, heaviest first. With `against`, the difference from a baseline, per operation where both count these, else per second. `state` \
chooses what is measured: time on a CPU, blocked by a lock, disk, network …",
    only_reads: true,
    schema: schema_of::<Args>,
    call,
};

/// What is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum View {
    /// Functions
    #[default]
    Functions,
    /// Call paths, from the outermost function inward
    Paths,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Recordings; several are added up
    recordings: Vec<String>,
    /// The baseline: show the difference from it
    #[serde(default)]
    against: Vec<String>,
    /// What to measure: cpu, blocked, all, a state of blocked threads (lock, disk, network, sleep, idle …), contended, or what else the
    /// recordings declare; empty: cpu
    #[serde(default)]
    state: String,
    /// auto, whole, busy, or FROM..TO with times (10s..50s, or 10:02..10:05 in UTC) or marks; empty: auto
    #[serde(default)]
    window: String,
    /// The window of the baseline, which then has one of its own; without a baseline it is a stretch of the same recording
    #[serde(default)]
    against_window: String,
    /// Only this process: name or number
    #[serde(default)]
    process: String,
    /// Only this thread: name or number
    #[serde(default)]
    thread: String,
    /// Only functions or paths that hold this
    #[serde(default)]
    matching: String,
    /// What to list: functions or paths
    #[serde(default)]
    view: View,
    /// The stacks of the other thread: of the waker, or of the lock's holder
    #[serde(default)]
    others: bool,
    /// Leave out so many at the beginning of the list
    #[serde(default)]
    offset: u32,
    /// List so many at most (0: 25)
    #[serde(default)]
    limit: u32,
}

/// Frames of a path that are shown: its outer and its inner end.
const OUTER: usize = 4;
const INNER: usize = 12;

fn call(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let windows = [args.window.as_str(), args.against_window.as_str()];
    let against = baseline(&args.recordings, &args.against, windows)?;
    let all: Vec<String> = against.iter().chain(&args.recordings).cloned().collect();
    let mut runs = context.place.open(&all, "")?;
    narrow(&mut runs, 0..against.len(), windows)?;
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    let request = Request {
        measure: if args.state.is_empty() { "cpu".into() } else { args.state.clone() },
        filter: Filter { process: given(&args.process), thread: given(&args.thread) },
        levels: Levels { what: false, process: true, thread: false },
        others: args.others,
        spins: false,
    };
    let drawn = compare::flame::draw(&runs, against.len(), &window(&args.window)?, &request);
    let drawn = drawn.map_err(|error| {
        let mut words: Vec<String> = runs.iter().flat_map(profile::words).collect();
        words.sort();
        words.dedup();
        format!("{error}; these recordings can be asked for: {}", words.join(", "))
    })?;
    let page = Page::new(args.offset, args.limit, 25, 500);
    let listed = match args.view {
        View::Functions => functions(&drawn),
        View::Paths => paths(&drawn),
    };
    let listed: Vec<Weighed> = listed.into_iter().filter(|of| holds(&of.name, &args.matching)).collect();
    let whole: Vec<f64> = (0..drawn.tree.runs()).map(|side| drawn.tree.whole(side)).collect();
    let what = if args.view == View::Functions { "functions" } else { "paths" };
    let mut answer = Answer::list(what, page, listed.iter().map(|of| of.item(&drawn, &whole)))
        .line(&drawn.title)
        .field("title", drawn.title.clone())
        .field("unit", drawn.unit.clone())
        .field("sides", drawn.runs.clone())
        .field("all", whole.clone());
    for note in &drawn.notes {
        answer = answer.line(note);
    }
    let sums: Vec<String> = whole.iter().map(|sum| human(*sum, &drawn.unit)).collect();
    answer = answer.line(format!("all: {}", sums.join(" → ")));
    if whole.iter().all(|sum| *sum <= 0.0) {
        answer = answer.line("Nothing was measured there; `recordings` with `recording` says which sources were read.");
    }
    Ok(answer)
}

/// A function or a path with its weights by side.
struct Weighed {
    name: String,
    module: String,
    own: Vec<f64>,
    total: Vec<f64>,
}

impl Weighed {
    fn item(&self, drawn: &Drawn, whole: &[f64]) -> Item {
        let share = |weights: &[f64]| -> Vec<Option<f64>> {
            weights.iter().zip(whole).map(|(w, all)| (*all > 0.0).then_some(w / all)).collect()
        };
        let words = |weights: &[f64]| -> String {
            let one = |(w, share): (&f64, Option<f64>)| {
                let share = share.map_or(String::new(), |share| format!(" ({:.1} %)", 100.0 * share));
                format!("{}{share}", human(*w, &drawn.unit))
            };
            weights.iter().zip(share(weights)).map(one).collect::<Vec<_>>().join(" → ")
        };
        let module = if self.module.is_empty() { String::new() } else { format!(" [{}]", self.module) };
        let total =
            if self.total.is_empty() { String::new() } else { format!(", with callees {}", words(&self.total)) };
        let mut value = json!({"name": self.name, "own": self.own, "own_share": share(&self.own)});
        if let Value::Object(fields) = &mut value
            && !self.total.is_empty()
        {
            fields.insert("module".into(), json!(self.module));
            fields.insert("total".into(), json!(self.total));
        }
        Item { text: format!("{}{module}: itself {}{total}", self.name, words(&self.own)), value }
    }

    /// What it is sorted by: its own weight; of two sides the difference.
    fn rank(&self) -> f64 {
        match self.own.as_slice() {
            [one] => *one,
            [before, after, ..] => (after - before).abs(),
            [] => 0.0,
        }
    }
}

fn sorted(mut all: Vec<Weighed>) -> Vec<Weighed> {
    all.sort_by(|a, b| b.rank().total_cmp(&a.rank()).then_with(|| a.name.cmp(&b.name)));
    all
}

fn functions(drawn: &Drawn) -> Vec<Weighed> {
    let found = drawn.tree.top().into_iter().filter_map(|row| {
        let frame = drawn.tree.frames().get(row.frame as usize)?;
        let module = frame.module.rsplit('/').next().unwrap_or("").to_owned();
        Some(Weighed { name: frame.name.to_string(), module, own: row.own, total: row.total })
    });
    sorted(found.collect())
}

fn paths(drawn: &Drawn) -> Vec<Weighed> {
    let tree = &drawn.tree;
    let own = |node: u32| -> Vec<f64> {
        (0..tree.runs()).map(|side| tree.own(side).get(node as usize).copied().unwrap_or(0.0)).collect()
    };
    let found = (0..tree.len() as u32).filter(|node| *node != ROOT).filter_map(|node| {
        let own = own(node);
        if own.iter().all(|w| *w <= 0.0) {
            return None;
        }
        let frames: Vec<&Frame> =
            tree.path(node).into_iter().filter_map(|frame| tree.frames().get(frame as usize)).collect();
        let names = |part: &[&Frame]| part.iter().map(|f| f.name.to_string()).collect::<Vec<_>>().join(" > ");
        let name = match frames.len() {
            n if n <= OUTER + INNER + 1 => names(&frames),
            n => {
                let (outer, inner) = (frames.get(..OUTER), frames.get(n - INNER..));
                let between = n - OUTER - INNER;
                format!(
                    "{} > ({between} more) > {}",
                    names(outer.unwrap_or_default()),
                    names(inner.unwrap_or_default())
                )
            }
        };
        Some(Weighed { name, module: String::new(), own, total: Vec::new() })
    });
    sorted(found.collect())
}
