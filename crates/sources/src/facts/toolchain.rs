//! C library and compilers that are installed, found by their files: no program is run.

use super::Facts;
use std::collections::BTreeSet;

/// Larger files are no C library.
const MOST: usize = 16 << 20;

pub(super) fn find(facts: &mut Facts<'_, '_>) {
    libc(facts);
    // A library that is loaded into every program: jemalloc, a profiler.
    facts.optional("preload", "/etc/ld.so.preload");
    gcc(facts);
    clang(facts);
    if let Some(text) = facts.text("go", "/usr/local/go/VERSION") {
        facts.set("go", text.lines().next().unwrap_or_default());
    }
}

fn libc(facts: &mut Facts<'_, '_>) {
    let mut patterns: Vec<String> = Vec::new();
    for folder in ["/lib64", "/usr/lib64", "/lib", "/usr/lib"] {
        patterns.push(format!("{folder}/libc.so.6"));
        patterns.push(format!("{folder}/*-linux-gnu*/libc.so.6"));
    }
    for path in patterns.iter().flat_map(|pattern| facts.host.glob(pattern)) {
        if facts.host.path(&path).metadata().is_ok_and(|m| m.len() as usize > MOST) {
            continue;
        }
        if let Ok(bytes) = facts.host.read(&path)
            && let Some(version) = glibc_version(&bytes)
        {
            return facts.set("libc", version);
        }
    }
    let musl = facts.host.glob("/lib/ld-musl-*.so.1");
    if musl.is_empty() {
        return;
    }
    // Alpine's package database names its version; the library itself does not in plain text.
    let installed = facts.host.read_text("/lib/apk/db/installed").unwrap_or_default();
    facts.set("libc", format!("musl {}", package_version(&installed, "musl").unwrap_or_default()));
}

/// The banner that glibc carries for when it is run as a program: "GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36."
fn glibc_version(bytes: &[u8]) -> Option<String> {
    let start = memchr::memmem::find(bytes, b"GNU C Library ")?;
    let banner = bytes.get(start..)?;
    let end = memchr::memchr3(b'\n', b'\0', b'\r', banner)?.min(200);
    let text = String::from_utf8_lossy(banner.get(..end)?).trim_end_matches('.').to_owned();
    let version = text.rsplit_once("version ")?.1;
    let package = text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(inner, _)| inner);
    Some(match package {
        Some(package) => format!("glibc {version} ({package})"),
        None => format!("glibc {version}"),
    })
}

/// The version of a package in Alpine's database: a paragraph with `P:name` and `V:version`.
fn package_version<'a>(database: &'a str, package: &str) -> Option<&'a str> {
    database.split("\n\n").find_map(|paragraph| {
        let field = |key: &str| paragraph.lines().find_map(|line| line.strip_prefix(key));
        (field("P:") == Some(package)).then(|| field("V:"))?
    })
}

/// Versions and targets of GCC: `/usr/lib/gcc/x86_64-linux-gnu/12`.
fn gcc(facts: &mut Facts<'_, '_>) {
    let mut found = BTreeSet::new();
    for pattern in ["/usr/lib/gcc/*/*", "/usr/lib64/gcc/*/*", "/usr/local/lib/gcc/*/*"] {
        for path in facts.host.glob(pattern) {
            let mut parts = path.rsplit('/');
            // The compiler proper: libraries alone come with the same folder.
            if let (Some(version), Some(target)) = (parts.next(), parts.next())
                && (facts.host.exists(&format!("{path}/cc1"))
                    || facts.host.exists(&format!("/usr/libexec/gcc/{target}/{version}/cc1")))
            {
                found.insert(format!("{version} ({target})"));
            }
        }
    }
    facts.set("gcc", found.into_iter().collect::<Vec<_>>().join(", "));
}

/// Versions of clang: `/usr/lib/llvm-14/bin/clang`, `/usr/lib/clang/19`.
fn clang(facts: &mut Facts<'_, '_>) {
    let mut found = BTreeSet::new();
    for path in facts.host.glob("/usr/lib/llvm-*") {
        if let Some((_, version)) = path.rsplit_once("llvm-")
            && facts.host.path(&format!("{path}/bin/clang")).symlink_metadata().is_ok()
        {
            found.insert(version.to_owned());
        }
    }
    if found.is_empty() && facts.host.path("/usr/bin/clang").symlink_metadata().is_ok() {
        let versions = facts.host.glob("/usr/lib/clang/*").into_iter().chain(facts.host.glob("/usr/lib64/clang/*"));
        found.extend(versions.filter_map(|path| path.rsplit('/').next().map(str::to_owned)));
    }
    facts.set("clang", found.into_iter().collect::<Vec<_>>().join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners() {
        let of = |text: &str| glibc_version(text.as_bytes());
        assert_eq!(
            of("\x7fELF\0GNU C Library (Debian GLIBC 2.36-9+deb12u10) stable release version 2.36.\nCopyright")
                .as_deref(),
            Some("glibc 2.36 (Debian GLIBC 2.36-9+deb12u10)")
        );
        assert_eq!(
            of("GNU C Library (GNU libc) stable release version 2.34.\n").as_deref(),
            Some("glibc 2.34 (GNU libc)")
        );
        assert_eq!(of("GNU C Library "), None);
        assert_eq!(of(""), None);
        assert_eq!(package_version("P:a\nV:1\n\nC:x\nP:musl\nV:1.2.5-r0\n", "musl"), Some("1.2.5-r0"));
    }
}
