//! The tools: each is a name, words for the agent, the schema of its arguments, and a function. Its words are constants: what a recording holds never
//! gets into them.

mod causes;
mod compare;
mod explain;
mod facts;
mod flame;
mod fleet;
mod recordings;
mod run;
mod schema;
pub(crate) mod sql;

use crate::Allowed;
use crate::answer::Answer;
use crate::args::Failure;
use crate::place::Place;
use schemars::JsonSchema;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// What tools work with.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) place: Place,
    pub(crate) program: PathBuf,
}

/// A tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    pub(crate) only_reads: bool,
    pub(crate) schema: fn() -> Map<String, Value>,
    pub(crate) call: fn(&Context, Map<String, Value>) -> Result<Answer, Failure>,
}

/// All that are there, with those that are allowed.
pub(crate) fn all(allowed: &[Allowed]) -> Vec<Tool> {
    let mut tools = vec![
        recordings::TOOL,
        explain::TOOL,
        compare::TOOL,
        schema::TOOL,
        sql::TOOL,
        flame::TOOL,
        causes::TOOL,
        facts::TOOL,
        fleet::BANDS,
        fleet::SEPARATES,
    ];
    for (what, tool) in [(Allowed::Record, run::RECORD), (Allowed::Doctor, run::DOCTOR)] {
        if allowed.contains(&what) {
            tools.push(tool);
        }
    }
    tools
}

/// The schema of arguments.
pub(crate) fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value();
    schema.as_object_mut().map(std::mem::take).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_are_not_allowed_do_not_exist() {
        let names = |allowed: &[Allowed]| all(allowed).iter().map(|tool| tool.name).collect::<Vec<_>>();
        assert_eq!(names(&[]).len(), 10);
        assert!(all(&[]).iter().all(|tool| tool.only_reads));
        assert_eq!(names(&[Allowed::Doctor])[10..], ["doctor"]);
        assert_eq!(names(&[Allowed::Record, Allowed::Doctor])[10..], ["record", "doctor"]);
    }

    #[test]
    fn arguments_are_described_and_nothing_else_is_taken() {
        for tool in all(&[Allowed::Record, Allowed::Doctor]) {
            let schema = Value::Object((tool.schema)());
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(property["description"].is_string(), "{}: {name}", tool.name);
            }
        }
    }
}
