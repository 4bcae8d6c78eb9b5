//! Lists the files of `causes/`, so that a cause is added by adding its file.

use std::fmt::Write;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../causes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "sql"));
    files.sort();
    let mut list = "/// Name and text of each file.\npub(crate) const FILES: &[(&str, &str)] = &[\n".to_owned();
    for path in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let _ = writeln!(list, "    ({name:?}, include_str!({:?})),", path.canonicalize()?.display().to_string());
    }
    list.push_str("];\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default());
    std::fs::write(out.join("causes.rs"), list)
}
