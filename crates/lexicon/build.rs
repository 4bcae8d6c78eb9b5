//! Turns the lists of `lexicon/` into sorted tables, and fails with file and line where one cannot be used.

#[path = "src/read.rs"]
#[allow(dead_code, reason = "stacks are for the tests")]
mod read;
#[path = "src/role.rs"]
#[allow(dead_code, reason = "the library uses more of it")]
mod role;

use read::{Entry, Kind};
use role::Roles;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../lexicon");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    files.sort();
    let mut entries = Vec::new();
    for path in &files {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = format!("lexicon/{}", path.file_name().unwrap_or_default().to_string_lossy());
        match read::read(&name, &std::fs::read_to_string(path)?) {
            Ok(more) => entries.extend(more),
            Err(why) => println!("cargo::error={why}"),
        }
    }
    let out = PathBuf::from(std::env::var("OUT_DIR").unwrap_or_default());
    std::fs::write(out.join("tables.rs"), tables(&entries))?;
    std::fs::write(out.join("files.rs"), texts(&files)?)
}

/// The tables that the library looks into.
fn tables(entries: &[Entry]) -> String {
    let mut out = "pub(crate) static ENTRIES: &[Entry] = &[\n".to_owned();
    for entry in entries {
        let (roles, modules, lock) = (Roles::of(&[entry.role]).bits(), &entry.modules, &entry.lock);
        let _ = writeln!(
            out,
            "Entry {{ roles: {roles}, kind: Kind::{:?}, modules: &{modules:?}, lock: {lock:?} }},",
            entry.kind
        );
    }
    let (mut exact, mut begins, mut ends, mut modules) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, entry) in entries.iter().enumerate() {
        for pattern in &entry.functions {
            match pattern.split_once('*') {
                None => exact.push((pattern.as_str(), "", number)),
                Some(("", "")) => modules.extend(entry.modules.iter().map(|module| match module.split_once('*') {
                    Some((begin, rest)) => (begin, rest, number),
                    None => (module.as_str(), "\\0", number),
                })),
                Some(("", rest)) => ends.push((rest, "", number)),
                Some((begin, rest)) => begins.push((begin, rest, number)),
            }
        }
    }
    let _ = write!(out, "];\n{}", table("EXACT", exact));
    let _ = write!(out, "{}{}{}", table("BEGINS", begins), table("ENDS", ends), table("MODULES", modules));
    out
}

/// A table sorted by its first column. Each row knows the row before it whose text its own begins with, or is equal to.
fn table(name: &str, mut rows: Vec<(&str, &str, usize)>) -> String {
    rows.sort_unstable();
    rows.dedup();
    let mut out = format!("pub(crate) static {name}: &[Row] = &[\n");
    for (at, (text, rest, entry)) in rows.iter().enumerate() {
        let up = (0..at).rev().find(|&before| rows.get(before).is_some_and(|(begin, ..)| text.starts_with(begin)));
        let up = up.map_or_else(|| "NONE".to_owned(), |up| up.to_string());
        let rest = if *rest == "\\0" { "\"\\0\"".to_owned() } else { format!("{rest:?}") };
        let _ = writeln!(out, "Row {{ text: {text:?}, rest: {rest}, entry: {entry}, up: {up} }},");
    }
    out.push_str("];\n");
    out
}

/// The files themselves, for the tests.
fn texts(files: &[PathBuf]) -> std::io::Result<String> {
    let mut out = "const FILES: &[(&str, &str)] = &[\n".to_owned();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path: &Path = &path.canonicalize()?;
        let _ = writeln!(out, "({:?}, include_str!({:?})),", format!("lexicon/{name}"), path.display().to_string());
    }
    out.push_str("];\n");
    Ok(out)
}

/// Both are named in what is written.
const _: [Kind; 2] = [Kind::User, Kind::Kernel];
