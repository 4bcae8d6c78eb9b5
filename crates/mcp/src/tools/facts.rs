//! `facts`: properties of the hosts and their set-up that differ, those known to matter first.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Item, Page};
use crate::args::{Failure, holds, read};
use compare::FactDifference;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const TOOL: Tool = Tool {
    name: "facts",
    title: "Facts",
    description: "Properties of hosts and their set-up (CPU model, kernel, sysctl, mount options, versions, limits …) that differ between \
recordings, those known to matter for performance first, with why. Of one recording, or with `all`, all of them.",
    only_reads: true,
    schema: schema_of::<Args>,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Recordings, the baseline first
    recordings: Vec<String>,
    /// Only facts whose name holds this
    #[serde(default)]
    matching: String,
    /// Those that do not differ, too
    #[serde(default)]
    all: bool,
    /// Leave out so many at the beginning of the list
    #[serde(default)]
    offset: u32,
    /// List so many at most (0: 60)
    #[serde(default)]
    limit: u32,
}

fn call(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let runs = context.place.open(&args.recordings, "")?;
    let found = if args.all || runs.len() == 1 {
        let of = |((category, name), values): ((String, String), Vec<Option<String>>)| {
            let why = model::why_it_matters(&category, &name);
            FactDifference { category, name, values, why }
        };
        compare::all_facts(&runs).into_iter().map(of).collect()
    } else {
        compare::facts::differences(&runs)
    };
    let found: Vec<_> = found.iter().filter(|fact| holds(&fact.full_name(), &args.matching)).collect();
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let item = |fact: &&FactDifference| {
        let values: Vec<&str> = fact.values.iter().map(|value| value.as_deref().unwrap_or("(not read)")).collect();
        let shown: Vec<String> = values.iter().map(|value| crate::answer::cut(value, 200)).collect();
        let why = fact.why.map_or(String::new(), |why| format!("; it matters: {why}"));
        Item {
            text: format!("{}: {}{why}", fact.full_name(), shown.join(" → ")),
            value: json!({"fact": fact.full_name(), "values": fact.values, "why": fact.why}),
        }
    };
    let page = Page::new(args.offset, args.limit, 60, 1000);
    let answer = Answer::list("facts", page, found.iter().map(item)).line(names.join(" → ")).field("runs", names);
    Ok(if found.is_empty() { answer.line("No fact differs.") } else { answer })
}
