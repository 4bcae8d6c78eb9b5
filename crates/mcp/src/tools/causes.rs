//! `causes`: what `explain` looks for, and one cause with its query.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Item, Page};
use crate::args::{Failure, holds, read};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const TOOL: Tool = Tool {
    name: "causes",
    title: "Causes",
    description: "The causes that `explain` looks for. With `cause`, one of them: what it says, the tables that it needs, how to check it by \
hand, what to try, and its query, which `sql` runs with `recordings` (slow) and `against`.",
    only_reads: true,
    schema: schema_of::<Args>,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The identifier of one cause, such as lock-contention
    #[serde(default)]
    cause: String,
    /// Only causes whose name, title or layer hold this
    #[serde(default)]
    matching: String,
    /// Leave out so many at the beginning of the list, or lines of the query
    #[serde(default)]
    offset: u32,
    /// List so many at most (0: all that fit)
    #[serde(default)]
    limit: u32,
}

fn call(_context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let causes = explain::cause::built_in();
    let page = Page::new(args.offset, args.limit, 1000, 1000);
    if args.cause.is_empty() {
        let found: Vec<_> =
            causes.iter().filter(|c| holds(&format!("{} {} {}", c.id, c.title, c.layer), &args.matching)).collect();
        return Ok(Answer::list(
            "causes",
            page,
            found.iter().map(|c| Item {
                text: format!("{} ({}): {}", c.id, c.layer, c.title),
                value: json!({"cause": c.id, "layer": c.layer, "title": c.title}),
            }),
        ));
    }
    let Some(cause) = causes.iter().find(|c| c.id == args.cause) else {
        return Err(format!("there is no cause {}; without `cause`, causes lists them", args.cause));
    };
    let mut answer = Answer::text("query", page, &cause.query())
        .line(format!("{} ({}): {}", cause.id, cause.layer, cause.title))
        .line(format!("says: {}", cause.says))
        .line(format!(
            "needs: {}",
            if cause.needs.is_empty() { "only the thread ledger".into() } else { cause.needs.join(", ") }
        ))
        .field("cause", cause.id.clone())
        .field("title", cause.title.clone())
        .field("says", cause.says.clone())
        .field("needs", cause.needs.clone())
        .field("check", cause.check.clone())
        .field("advice", cause.advice.clone())
        .field("references", cause.see.clone());
    for (word, lines) in [("check", &cause.check), ("try", &cause.advice), ("see", &cause.see)] {
        for line in lines {
            answer = answer.line(format!("{word}: {line}"));
        }
    }
    Ok(answer)
}
