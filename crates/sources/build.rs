//! Compiles the eBPF programs that lie beside their sources (`src/**/NAME.bpf.c`) with clang, to be embedded by
//! `include_bytes!(concat!(env!("OUT_DIR"), "/NAME.bpf.o"))`. The same object serves every little-endian machine.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CLANG");
    if std::env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // libbpf-sys says so: `links = "bpf"`, `cargo:include=…`.
    let libbpf = std::env::var_os("DEP_BPF_INCLUDE").expect("libbpf-sys names its headers");
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-changed=src");
    for program in programs(Path::new("src")) {
        let name = program.file_stem().expect("a file name").to_string_lossy().into_owned();
        compile(&program, &out.join(format!("{name}.o")), &libbpf);
    }
}

/// The eBPF programs in the folders of `folder`.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("a folder entry").path()) {
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.to_string_lossy().ends_with(".bpf.c") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn compile(program: &Path, object: &Path, libbpf: &std::ffi::OsStr) {
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".to_owned());
    let ran = Command::new(&clang)
        .args(["-target", "bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Werror", "-Ibpf", "-I"])
        .arg(libbpf)
        // The paths of this machine do not belong into the object.
        .args(["-fdebug-compilation-dir", ".", "-c"])
        .arg(program)
        .arg("-o")
        .arg(object)
        .status();
    match ran {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{clang} could not compile {}: {status}", program.display()),
        Err(e) => {
            panic!("{clang}: {e}: install clang 12 or newer, name it in CLANG, or build with --no-default-features")
        }
    }
}
