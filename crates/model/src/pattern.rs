//! Patterns with `*`, as declarations use them for paths and names.

/// Whether `name` matches `pattern`, in which `*` stands for any characters, none included.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(previous) = last.replace(part) {
            match rest.find(previous) {
                Some(at) => rest = rest.get(at + previous.len()..).unwrap_or_default(),
                None => return false,
            }
        }
    }
    match last {
        Some(last) => rest.ends_with(last),
        None => rest.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        assert!(matches("cpu*", "cpu12"));
        assert!(matches("*", "anything"));
        assert!(matches("a*b*c", "axxbyyc"));
        assert!(!matches("a*b*c", "axxc"));
        assert!(!matches("cpu", "cpu1"));
        assert!(matches("cpu", "cpu"));
    }
}
