//! A cause is one file: nothing else of the program names one. Where it is shown, granted and counted follows from its file.

use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() {
            files(&path, found);
        } else if ["rs", "ts", "tsx"].contains(&ending)
            && !path.iter().any(|part| part == "tests" || part == "tests.rs")
        {
            found.push(path);
        }
    }
}

#[test]
fn no_code_names_a_cause() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        files(&entry.unwrap().path().join("src"), &mut sources);
    }
    files(&root.join("ui/src"), &mut sources);
    assert!(sources.len() > 200, "{} files", sources.len());
    // Of one word are also names of tables and columns; set-up is a page, huge-pages a check of `doctor`, and branch-misses an event of the kernel.
    let causes: Vec<String> = explain::cause::built_in().into_iter().map(|cause| cause.id).collect();
    let others = ["set-up", "huge-pages", "branch-misses"];
    let causes: Vec<String> =
        causes.into_iter().filter(|id| id.contains('-') && !others.contains(&id.as_str())).collect();
    assert!(causes.len() > 30, "{causes:?}");
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for id in &causes {
            assert!(!code.contains(&format!("\"{id}\"")), "{} names the cause {id}", path.display());
        }
    }
}
