//! Fills the words of a cause with the numbers of its answer.

use query::sql::Value;
use query::{count, human};
use std::borrow::Cow;
use std::collections::HashMap;

/// The columns of an answer by name.
pub(super) type Columns = HashMap<String, Value>;

/// The column that says what calls the subject, where that is code without a name of its own.
pub(super) const CALLED_BY: &str = "called by";

/// `template` with its `{name}` and `{name:unit}` filled in; `None` where one of them is null or not there. A part in `[[` and `]]` is left
/// out by itself where one of its own is.
pub(super) fn fill(template: &str, columns: &Columns) -> Option<String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("[[") {
        let (part, after) = after.split_once("]]")?;
        out.push_str(&filled(before, columns)?);
        out.push_str(&filled(part, columns).unwrap_or_default());
        rest = after;
    }
    out.push_str(&filled(rest, columns)?);
    Some(out)
}

/// The same for a template without such parts.
fn filled(template: &str, columns: &Columns) -> Option<String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (inside, after) = after.split_once('}')?;
        let (name, unit) = inside.split_once(':').unwrap_or((inside, ""));
        match columns.get(name)? {
            Value::Null | Value::Blob(_) => return None,
            Value::Text(text) => {
                out.push_str(&match unit {
                    "path" => way(text),
                    "fn" => code(text),
                    "lock" => lock(text),
                    _ => brief(text).into_owned(),
                });
                if let (Some(Value::Text(caller)), "subject", "fn" | "lock") = (columns.get(CALLED_BY), name, unit) {
                    out.push_str(&format!(" (called by {})", code(caller)));
                }
            }
            Value::Integer(n) => out.push_str(&number(*n as f64, unit)),
            Value::Real(x) => out.push_str(&number(*x, unit)),
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// Names of functions that are longer lose the arguments of their templates.
const LONG: usize = 60;

/// A name for people: `std::map<int, std::string>::find` as `std::map<…>::find`, where it is long; `Main$$Lambda$1/0x00007fad58001000.accept`, a hidden
/// class of a JVM, as `Main$$Lambda$1.accept`.
fn brief(name: &str) -> Cow<'_, str> {
    if let Some((class, address)) = name.split_once("/0x") {
        let method = address.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        if method.len() + 6 <= address.len() {
            return format!("{class}{method}").into();
        }
    }
    if name.len() <= LONG || !name.contains('<') {
        return name.into();
    }
    let (mut out, mut depth, mut before) = (String::new(), 0usize, ' ');
    for c in name.chars() {
        let is_argument = c == '<' && (before.is_alphanumeric() || before == '_') && !out.ends_with("operator");
        match c {
            '<' if depth > 0 || is_argument => {
                depth += 1;
                if depth == 1 {
                    out.push_str("<…>");
                }
            }
            '>' if depth > 0 && before != '-' => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
        before = c;
    }
    // Something else than a template: `a < b`, `operator<`.
    if depth == 0 { out.into() } else { name.into() }
}

/// A function as docs/glossary.md writes it: `` `work()` ``; of code without a known function the module, `` `[libc.so.6]` ``. Words that are
/// no function, `page fault`, stay as they are. A backtick in a name, which is foreign, would end the code too early.
fn code(name: &str) -> String {
    let name = brief(name).replace('`', "'");
    let is_call = name.contains('(');
    match name.contains(' ') && !is_call && !name.contains('<') && !name.contains("operator") {
        true => name,
        false => format!("`{name}{}`", if is_call || name.starts_with('[') { "" } else { "()" }),
    }
}

/// The name of a lock; one that has none of its own is called after the function that takes it.
fn lock(name: &str) -> String {
    name.strip_prefix("taken in ").map_or_else(|| brief(name).into_owned(), |taker| format!("taken in {}", code(taker)))
}

/// So many functions of a path are named, the innermost.
const NAMED: usize = 5;

/// A path `;main;work;sort;` for people.
fn way(path: &str) -> String {
    let names: Vec<&str> = path.split(';').filter(|name| !name.is_empty()).collect();
    let last = names.get(names.len().saturating_sub(NAMED)..).unwrap_or_default();
    let dots = if last.len() < names.len() { "… → " } else { "" };
    format!("{dots}{}", last.iter().map(|name| code(name)).collect::<Vec<_>>().join(" → "))
}

/// A number for people; a count without a unit stays a decimal, however seldom it is.
fn number(x: f64, unit: &str) -> String {
    if unit.is_empty() { count(x) } else { human(x, unit) }
}

/// A template without what it says of the baseline: " (baseline {name})".
pub(super) fn alone(template: &str) -> String {
    const BASELINE: &str = " (baseline {";
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once(BASELINE) {
        out.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// The names that a template asks for.
#[cfg(test)]
pub(super) fn names(template: &str) -> Vec<&str> {
    let parts = template.split('{').skip(1).filter_map(|part| part.split('}').next());
    parts.map(|inside| inside.split(':').next().unwrap_or(inside)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_made_brief() {
        let long = "std::__detail::_Executor<__gnu_cxx::__normal_iterator<char const*, std::string>, true>::_M_dfs";
        assert_eq!(brief(long), "std::__detail::_Executor<…>::_M_dfs");
        assert_eq!(brief("std::vector<int>::push_back"), "std::vector<int>::push_back");
        let rust = "<alloc::vec::Vec<T> as core::iter::traits::collect::FromIterator<T>>::from_iter";
        assert_eq!(brief(rust), "<alloc::vec::Vec<…> as core::iter::traits::collect::FromIterator<…>>::from_iter");
        assert_eq!(brief("Main$$Lambda$1/0x00007fad58001000.accept"), "Main$$Lambda$1.accept");
        assert_eq!(brief("/0x12/a"), "/0x12/a");
        let less = "a_namespace_with_a_rather_long_name::a_class_with_a_long_name::operator<";
        assert_eq!(brief(less), less);
        assert_eq!(way(";a;b;c;d;e;f;"), "… → `b()` → `c()` → `d()` → `e()` → `f()`");
        assert_eq!(way(";a;b;"), "`a()` → `b()`");
    }

    #[test]
    fn functions_are_code() {
        assert_eq!(code("work"), "`work()`");
        assert_eq!(code("[libc.so.6]"), "`[libc.so.6]`");
        assert_eq!(code("Main.lambda$1(int)"), "`Main.lambda$1(int)`");
        assert_eq!(code("page fault"), "page fault");
        assert_eq!(code("<T as Trait>::call"), "`<T as Trait>::call()`");
        assert_eq!(code("a`b"), "`a'b()`");
        let columns: Columns = [("place".to_owned(), Value::Text("work".into()))].into();
        assert_eq!(fill("mostly in {place:fn}", &columns).as_deref(), Some("mostly in `work()`"));
        assert_eq!(fill("it[[, in {place:fn}]][[, by {who}]]", &columns).as_deref(), Some("it, in `work()`"));
        let text = |name: &str, value: &str| (name.to_owned(), Value::Text(value.into()));
        let called: Columns = [text("subject", "[postgres]"), text(CALLED_BY, "ExecScan"), text("inner", "[a]")].into();
        let said = fill("{subject:fn} takes longer, most in {inner:fn}", &called);
        assert_eq!(said.as_deref(), Some("`[postgres]` (called by `ExecScan()`) takes longer, most in `[a]`"));
        assert_eq!((fill("it[[, in {place}", &columns), fill("{who}[[, in {place}]]", &columns)), (None, None));
        assert_eq!((lock("taken in work"), lock("table of app")), ("taken in `work()`".into(), "table of app".into()));
    }

    #[test]
    fn numbers_get_their_units() {
        let columns: Columns = [
            ("call".to_owned(), Value::Text("read".into())),
            ("time".to_owned(), Value::Real(0.000_12)),
            ("size".to_owned(), Value::Integer(2048)),
            ("none".to_owned(), Value::Null),
        ]
        .into();
        let of = |template| fill(template, &columns);
        assert_eq!(of("{call} takes {time:s} for {size:B}").as_deref(), Some("read takes 120 µs for 2 KiB"));
        assert_eq!((number(0.0005, ""), number(0.0005, "s")), ("0.0005".into(), "500 µs".into()));
        assert_eq!((of("{none} of it"), of("{other}"), of("{open")), (None, None, None));
        assert_eq!(alone("{a:s} of it (baseline {b:s}); more"), "{a:s} of it; more");
        assert_eq!(names("{call} takes {time:s}"), ["call", "time"]);
    }
}
