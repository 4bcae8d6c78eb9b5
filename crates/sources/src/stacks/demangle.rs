//! Names as people wrote them: C++, Rust, Java, and without what compilers hang on.

use std::fmt::Write;

/// The longest name, before and after, bytes. Mangled names can say more than anyone could read.
const LONGEST: usize = 2048;

/// What compilers add to the name of a part or a copy of a function.
const SUFFIXES: [&str; 7] = [".constprop.", ".isra.", ".part.", ".cold", ".llvm.", ".lto_priv.", ".localalias"];

/// A symbol's name as its author knows it.
pub(super) fn symbol(name: &str) -> String {
    // The version of a symbol, as in `memcpy@@GLIBC_2.14`.
    let name = name.split('@').next().filter(|n| !n.is_empty()).unwrap_or(name);
    let plain = SUFFIXES.iter().filter_map(|suffix| name.find(suffix)).min().and_then(|at| name.get(..at));
    let plain = plain.filter(|n| !n.is_empty()).unwrap_or(name);
    if plain.len() > LONGEST {
        return shortened(plain);
    }
    if let Ok(rust) = rustc_demangle::try_demangle(plain) {
        // Without the hash at its end.
        return limited(format_args!("{rust:#}")).unwrap_or_else(|| shortened(plain));
    }
    if plain.starts_with("_Z") {
        return cpp(plain).unwrap_or_else(|| shortened(plain));
    }
    plain.to_owned()
}

fn cpp(name: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type().recursion_limit(200);
    let mut text = Limited(String::new());
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(text.0).filter(|text| !text.is_empty())
}

fn limited(what: std::fmt::Arguments<'_>) -> Option<String> {
    let mut text = Limited(String::new());
    text.write_fmt(what).ok()?;
    Some(text.0)
}

/// A string that refuses to become long.
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        if self.0.len() + part.len() > LONGEST {
            return Err(std::fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

fn shortened(name: &str) -> String {
    let end = (0..=name.len().min(LONGEST)).rev().find(|&at| name.is_char_boundary(at)).unwrap_or(0);
    name.get(..end).unwrap_or_default().to_owned()
}

/// A function of JavaScript with its file and its line: V8 writes `JS:*name /path/file.js:12:7`, the star or another sign being the compiler that made the
/// code. `None` for other names.
pub(super) fn javascript(name: &str) -> Option<(String, String, u32)> {
    const KINDS: [&str; 5] = ["JS:", "LazyCompile:", "Function:", "Script:", "Eval:"];
    let rest = KINDS.iter().find_map(|kind| name.strip_prefix(kind))?;
    let rest = rest.strip_prefix(['*', '~', '^', '+', '=']).unwrap_or(rest);
    // Both the name (`get size`) and the path may hold spaces.
    let starts = [" /", " file://", " node:"].iter().filter_map(|start| rest.find(start));
    let at = starts.min().or_else(|| rest.rfind(' '))?;
    let (function, place) = (rest.get(..at)?.trim(), rest.get(at..)?.trim());
    let (place, _column) = place.rsplit_once(':')?;
    let (file, line) = place.rsplit_once(':')?;
    let function = if function.is_empty() { "<anonymous>" } else { function };
    let file = file.strip_prefix("file://").unwrap_or(file);
    Some((shortened(function), shortened(file), line.parse().ok()?))
}

/// A Java method as `Class.method`: HotSpot writes `int java.lang.String.indexOf(int, int)`, agents write `Ljava/lang/String;::indexOf`.
/// Other names stay as they are.
pub(super) fn java(name: &str) -> String {
    let name = shortened(name.trim());
    if let Some((class, method)) = name.split_once(";::").filter(|(class, _)| class.starts_with('L')) {
        return format!("{}.{method}", class.trim_start_matches('L').replace('/', "."));
    }
    let Some((before, rest)) = name.split_once('(').filter(|(_, rest)| rest.ends_with(')')) else { return name };
    let _ = rest;
    match before.rsplit(' ').next() {
        Some(method) if method.contains('.') => method.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn functions_of_javascript() {
        let of = |name| javascript(name).map(|(function, file, line)| format!("{function} {file} {line}"));
        for (name, expected) in [
            ("JS:*fib /srv/app/a.js:3:13", "fib /srv/app/a.js 3"),
            ("LazyCompile:~Map.get size file:///srv/my app/b.mjs:12:7", "Map.get size /srv/my app/b.mjs 12"),
            (
                "JS:^processTicksAndRejections node:internal/process/task_queues:67:35",
                "processTicksAndRejections node:internal/process/task_queues 67",
            ),
            ("Script:~ /srv/app/a.js:1:1", "<anonymous> /srv/app/a.js 1"),
            ("Eval:+f evalmachine.<anonymous>:1:9", "f evalmachine.<anonymous> 1"),
        ] {
            assert_eq!(of(name).as_deref(), Some(expected), "{name}");
        }
        for name in [
            "Builtin:ArrayMap",
            "BytecodeHandler:LdaZero",
            "JS:*f",
            "JS:",
            "JS:*f x.js:1",
            "int a.B.c(int)",
            "py::f:/a.py",
        ] {
            assert_eq!(of(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_as_written() {
        for (mangled, written) in [
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("sort_all.constprop.0.isra.3", "sort_all"),
            ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("main.(*Server).Serve", "main.(*Server).Serve"),
            ("_Zgarbage", "_Zgarbage"),
            ("", ""),
        ] {
            assert_eq!(symbol(mangled), written);
        }
        for (given, written) in [
            ("int java.lang.String.indexOf(int, int)", "java.lang.String.indexOf"),
            ("Ljava/lang/String;::hashCode", "java.lang.String.hashCode"),
            ("Interpreter", "Interpreter"),
            ("LazyCompile:~foo (file.js:1)", "LazyCompile:~foo (file.js:1)"),
        ] {
            assert_eq!(java(given), written);
        }
    }

    proptest! {
        #[test]
        fn foreign_names_never_panic(name in "(_Z|_R|_ZN)?[\\PC]{0,60}", tail in "[0-9A-Za-z_]{0,80}") {
            let name = name + &tail;
            prop_assert!(symbol(&name).len() <= LONGEST.max(name.len()));
            let _ = java(&name);
        }
    }
}
