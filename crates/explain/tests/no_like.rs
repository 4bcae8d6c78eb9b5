//! SQLite's LIKE ignores case and takes `_` for any character: `like '%_IO_%'` is true of `validation`. Questions here ask roles (`has_role`), or
//! compare whole names or patterns that know case (`=`, `glob`).

use std::path::{Path, PathBuf};

/// Files of `causes/` that may still have it.
const NOT_CONVERTED: [&str; 0] = [];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder with this ending.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|e| e == ending) {
            found.push(path);
        }
    }
}

/// The lines of Rust in which the word stands as SQL's operator does: before a text, a parameter or a function.
fn in_rust(text: &str) -> Vec<usize> {
    let is_operator = |line: &str| {
        let line = line.to_ascii_lowercase();
        line.match_indices(" like ").any(|(at, word)| {
            let after = line[at + word.len()..].trim_start();
            after.starts_with(['\'', '?', '(']) || after.starts_with("lower(") || after.starts_with("upper(")
        })
    };
    let code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines().enumerate().filter(|(_, line)| code(line) && is_operator(line)).map(|(at, _)| at + 1).collect()
}

/// The lines of SQL in which the word stands outside of comments and texts.
fn in_sql(text: &str) -> Vec<usize> {
    let is_operator = |line: &str| {
        let code = line.split("--").next().unwrap_or_default();
        let outside: String = code.split('\'').step_by(2).collect::<Vec<_>>().join(" ");
        outside.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word.eq_ignore_ascii_case("like"))
    };
    text.lines().enumerate().filter(|(_, line)| is_operator(line)).map(|(at, _)| at + 1).collect()
}

#[test]
fn nobody_asks_like() {
    let (mut rust, mut sql) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let sources = entry.unwrap().path().join("src");
        files(&sources, "rs", &mut rust);
        files(&sources, "sql", &mut sql);
    }
    files(&root().join("stdlib"), "sql", &mut sql);
    files(&root().join("causes"), "sql", &mut sql);
    assert!(rust.len() > 100 && sql.len() > 50, "{} and {} files", rust.len(), sql.len());
    // A test of what the program says of `like` has to write it.
    rust.retain(|path| !path.ends_with("query/src/sql/tests.rs"));
    sql.retain(|path| !path.file_name().is_some_and(|name| NOT_CONVERTED.iter().any(|known| name == *known)));
    let mut found = Vec::new();
    for (paths, lines) in [(&rust, in_rust as fn(&str) -> Vec<usize>), (&sql, in_sql)] {
        for path in paths {
            let text = std::fs::read_to_string(path).unwrap();
            found.extend(lines(&text).into_iter().map(|line| format!("{}:{line}", path.display())));
        }
    }
    assert!(found.is_empty(), "like in\n{}", found.join("\n"));
}

#[test]
fn the_operator_is_told_from_the_word() {
    assert_eq!(in_rust("a\n\"where f not LIKE '%x%'\"\n// it is like 'this'\nlooks like a lock"), [2]);
    assert_eq!(in_sql("-- like this\nselect 1 where f like x\nselect 'like'\nand f not Like '%y'"), [2, 4]);
}
