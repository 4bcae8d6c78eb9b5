//! The list of roles in docs/explain.md is that of the program.

use lexicon::Role;
use std::path::Path;

#[test]
fn the_document_lists_the_roles_as_they_are() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explain.md")).unwrap();
    let section = text.split_once("\n## Roles\n").map_or("", |(_, rest)| rest);
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    let listed: Vec<(&str, &str)> = rows.collect();
    let expected: Vec<(&str, &str)> = Role::ALL.iter().map(|role| (role.name(), role.meaning())).collect();
    assert_eq!(listed, expected);
}
