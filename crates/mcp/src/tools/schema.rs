//! `schema`: what can be asked in SQL.

use super::sql::session;
use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Item, Page};
use crate::args::{Failure, holds, read};
use query::sql::{FUNCTIONS, TableDoc, TableKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const TOOL: Tool = Tool {
    name: "schema",
    title: "Tables",
    description: "What can be asked with `sql`: the tables and views of recordings with what a row is; with `table`, its columns with types, \
units and what they say; with `functions`, the functions beside SQLite's own.",
    only_reads: true,
    schema: schema_of::<Args>,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Recordings
    recordings: Vec<String>,
    /// A table or view, to see its columns
    #[serde(default)]
    table: String,
    /// Only tables or columns whose name or help hold this
    #[serde(default)]
    matching: String,
    /// List the functions instead
    #[serde(default)]
    functions: bool,
    /// Leave out so many at the beginning of the list
    #[serde(default)]
    offset: u32,
    /// List so many at most (0: all that fit)
    #[serde(default)]
    limit: u32,
}

fn call(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: Args = read(arguments)?;
    let page = Page::new(args.offset, args.limit, 1000, 1000);
    if args.functions {
        let item = |f: &query::sql::Function| Item {
            text: format!("{}: {}", f.call, f.help),
            value: json!({"call": f.call, "help": f.help}),
        };
        return Ok(Answer::list("functions", page, FUNCTIONS.iter().map(item)));
    }
    let session = session(context, &args.recordings, "")?;
    let all = session.schema();
    if args.table.is_empty() {
        let is_listed =
            |t: &&TableDoc| t.kind != TableKind::Rate && holds(&format!("{} {}", t.name, t.help), &args.matching);
        let tables: Vec<&TableDoc> = all.iter().filter(is_listed).collect();
        let item = |t: &&TableDoc| Item {
            text: format!("{}: {}", t.name, t.help),
            value: json!({"table": t.name, "help": t.help}),
        };
        let note = "Beside each recorded table NAME there is NAME_rate: counters per second, in base units.";
        return Ok(Answer::list("tables", page, tables.iter().map(item)).line(note).field("note", note));
    }
    let Some(table) = all.iter().find(|t| t.name == args.table) else {
        return Err(format!("there is no table {}; without `table`, schema lists them", args.table));
    };
    let columns: Vec<_> =
        table.columns.iter().filter(|c| holds(&format!("{} {}", c.name, c.help), &args.matching)).collect();
    let item = |c: &&query::sql::ColumnDoc| Item {
        text: format!(
            "  {} {}{}: {}",
            c.name,
            c.ty,
            if c.unit.is_empty() { String::new() } else { format!(" ({})", c.unit) },
            c.help
        ),
        value: json!({"column": c.name, "type": c.ty, "unit": c.unit, "help": c.help}),
    };
    Ok(Answer::list("columns", page, columns.iter().map(item))
        .line(format!("{}: {}", table.name, table.help))
        .field("table", table.name.clone())
        .field("help", table.help.clone()))
}
