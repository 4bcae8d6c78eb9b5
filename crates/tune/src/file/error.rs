//! What is wrong with an experiment's file, where, and what was probably meant.

/// An error in a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{}{what}", line.map_or(String::new(), |line| format!("{line}: ")))]
pub struct FileError {
    /// The file.
    pub file: String,
    /// The line, counted from 1, where it is one.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl FileError {
    /// What the parser says, in this product's words.
    pub(super) fn of(error: &toml::de::Error, text: &str, file: &str) -> FileError {
        let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
        FileError { file: file.to_owned(), line, what: told(error.message()) }
    }

    /// One that is about no single line.
    pub(crate) fn whole(file: &str, what: impl Into<String>) -> FileError {
        FileError { file: file.to_owned(), line: None, what: format!(" {}", what.into()) }
    }

    /// One about a parameter: the first line below `[parameters]` that holds its name.
    pub(crate) fn parameter(file: &str, text: &str, name: &str, what: impl Into<String>) -> FileError {
        let (before, below) = text.split_at(text.find("[parameters]").unwrap_or(0));
        let mut error = FileError::near(file, below, name, what);
        error.line = error.line.map(|line| line + before.matches('\n').count());
        error
    }

    /// One about the first line that holds this word.
    pub(crate) fn near(file: &str, text: &str, word: &str, what: impl Into<String>) -> FileError {
        let line = text.lines().position(|line| !word.is_empty() && line.contains(word)).map(|at| at + 1);
        match line {
            Some(line) => FileError { file: file.to_owned(), line: Some(line), what: what.into() },
            None => FileError::whole(file, what),
        }
    }
}

/// An unknown key with the nearest that is known.
fn told(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let is = |what: &str| message.starts_with(what);
    if is("unknown field") || is("unknown variant") {
        let Some(word) = quoted.next() else { return message.to_owned() };
        let what = if is("unknown field") { "key" } else { "word" };
        let known: Vec<&str> = quoted.collect();
        return match nearest(word, &known) {
            Some(meant) => format!("unknown {what} {word}; did you mean {meant}?"),
            None => format!("unknown {what} {word}; there are {}", known.join(", ")),
        };
    }
    if is("missing field") {
        return format!("{} is missing", quoted.next().unwrap_or("a key"));
    }
    message.trim().replace('\n', " ")
}

/// The known word that is nearest to one that is not, if any is near.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|k| (distance(word, k), *k)).min()?;
    (near.0 <= 1 + word.chars().count() / 4).then_some(near.1)
}

/// Insertions, deletions and replacements from one word to the other (Levenshtein 1966).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let here = (*cell + 1).min(left + 1).min(diagonal + usize::from(x != *y));
            (diagonal, left) = (*cell, here);
            *cell = here;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (a, b, d) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("desing", "design", 2), ("ab", "ab", 0)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (d, d), "{a} {b}");
        }
        assert_eq!(nearest("trhoughput", &["timeout", "throughput"]), Some("throughput"));
        assert_eq!(nearest("xyz", &["timeout", "throughput"]), None);
    }
}
