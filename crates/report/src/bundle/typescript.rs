//! The same types in TypeScript, for the page: `ui/src/bundle/generated.ts`. `make reference` writes it; the test here holds it against
//! what is declared.

use super::{
    BlockIndex, CodeMaps, ColumnsIndex, Counters, FLAME_FORMAT, FLEET_FORMAT, FORMAT, FlameData, FleetPage, Head, Jvms,
    Listings, SetUp, SharedLines,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use ts_rs::{Config, TS, TypeVisitor};
use tune::result::FORMAT as EXPERIMENT_FORMAT;

/// Set where the file is to be written.
const WRITE: &str = "TWINSCOPE_WRITE_TYPES";

/// Declarations of types by name. The order in which a type tells what it is made of is another with each compilation.
struct Declared {
    config: Config,
    types: BTreeMap<String, String>,
}

impl TypeVisitor for Declared {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // What has no file of its own is no type of ours: numbers, texts, lists.
        let name = T::output_path().map(|_| T::ident(&self.config));
        let Some(name) = name.filter(|name| !self.types.contains_key(name)) else { return };
        let docs = T::docs().unwrap_or_default();
        self.types.insert(name, layout(&format!("{docs}export {}", T::decl(&self.config))));
        T::visit_dependencies(self);
    }
}

/// Comments of one line in one line, fields indented, no commas before closing braces.
fn layout(declared: &str) -> String {
    let mut text = declared.to_owned();
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find("/**\n * ")).map(|at| from + at) {
        let end = start + text[start..].find("\n */").expect("a comment ends");
        let comment = text[start + "/**\n * ".len()..end].to_owned();
        if !comment.contains('\n') {
            text.replace_range(start..end + "\n */".len(), &format!("/** {comment} */"));
        }
        from = start + 1;
    }
    let text = text.replace(", }", " }").replace("{ }", "{}");
    let mut inside = false;
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim_end();
        let line = match line.strip_suffix(" };").filter(|_| inside) {
            Some(last) => format!("{last},\n}};"),
            None => line.to_owned(),
        };
        writeln!(out, "{}{line}", if inside { "  " } else { "" }).expect("a text grows");
        inside |= line.ends_with('{');
    }
    out.trim_end().to_owned()
}

fn generated() -> String {
    // Numbers of 64 bits are counts and bytes, which are far below 2^53.
    let mut declared = Declared { config: Config::new().with_large_int("number"), types: BTreeMap::new() };
    declared.visit::<Head>();
    declared.visit::<SetUp>();
    declared.visit::<Listings>();
    declared.visit::<SharedLines>();
    declared.visit::<Jvms>();
    declared.visit::<Counters>();
    declared.visit::<CodeMaps>();
    declared.visit::<BlockIndex>();
    declared.visit::<ColumnsIndex>();
    declared.visit::<FlameData>();
    declared.visit::<tune::result::Experiment>();
    declared.visit::<FleetPage>();
    let mut text = format!(
        "// The report bundle as types, what an experiment has come to, and what a fleet answers. Made by `make reference` from\n\
         // crates/report/src/bundle, crates/tune/src/result.rs and crates/fleet/src/result; do not edit.\n\n\
         /** The version of the contract that these types describe. */\n\
         export const FORMAT = {FORMAT};\n\n\
         /** The version of `FlameData`. */\n\
         export const FLAME_FORMAT = {FLAME_FORMAT};\n\n\
         /** The version of `Experiment`. */\n\
         export const EXPERIMENT_FORMAT = {EXPERIMENT_FORMAT};\n\n\
         /** The version of `FleetPage`. */\n\
         export const FLEET_FORMAT = {FLEET_FORMAT};\n"
    );
    for declared in declared.types.values() {
        writeln!(text, "\n{declared}").expect("a text grows");
    }
    text
}

#[test]
fn the_page_knows_these_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/src/bundle/generated.ts");
    let now = generated();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&file, &now).unwrap();
    }
    let there = std::fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        there == now,
        "ui/src/bundle/generated.ts is not current: run `make reference`, or this test with {WRITE}=yes, and commit the result"
    );
}
