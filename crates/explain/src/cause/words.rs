//! Fills the words of a cause with the numbers of its answer.

use query::human;
use query::sql::Value;
use std::collections::HashMap;

/// The columns of an answer by name.
pub(super) type Columns = HashMap<String, Value>;

/// `template` with its `{name}` and `{name:unit}` filled in; `None` where one of them is null or not there.
pub(super) fn fill(template: &str, columns: &Columns) -> Option<String> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let (inside, after) = after.split_once('}')?;
        let (name, unit) = inside.split_once(':').unwrap_or((inside, ""));
        match columns.get(name)? {
            Value::Null | Value::Blob(_) => return None,
            Value::Text(text) => out.push_str(text),
            Value::Integer(n) => out.push_str(&number(*n as f64, unit)),
            Value::Real(x) => out.push_str(&number(*x, unit)),
        }
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

/// A number for people; of what comes seldom, one in how many.
fn number(x: f64, unit: &str) -> String {
    if unit.is_empty() && x > 0.0 && x < 0.01 { format!("1 in {}", human(1.0 / x, "")) } else { human(x, unit) }
}

/// A template without what it says of the other side: ", against {name}".
pub(super) fn alone(template: &str) -> String {
    const AGAINST: &str = ", against {";
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once(AGAINST) {
        out.push_str(before);
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
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
        assert_eq!((number(0.0005, ""), number(0.0005, "s")), ("1 in 2 k".into(), "500 µs".into()));
        assert_eq!((of("{none} of it"), of("{other}"), of("{open")), (None, None, None));
        assert_eq!(alone("{a:s} of it, against {b:s}; more"), "{a:s} of it; more");
        assert_eq!(names("{call} takes {time:s}"), ["call", "time"]);
    }
}
