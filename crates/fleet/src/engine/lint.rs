//! What the questions may be made of: the part of SQL that SQLite, DuckDB, Spark and Trino share, so that an answer is the same wherever it comes
//! from. A tokeniser is enough to hold that; docs/engines.md has it in words.

use super::question::ALL;

/// Words of SQL, in capitals.
const WORDS: [&str; 33] = [
    "WITH",
    "AS",
    "SELECT",
    "FROM",
    "JOIN",
    "LEFT",
    "FULL",
    "ON",
    "WHERE",
    "GROUP",
    "ORDER",
    "BY",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "DOUBLE",
    "BIGINT",
    "AND",
    "OR",
    "NOT",
    "IS",
    "NULL",
    "OVER",
    "PARTITION",
    "ROWS",
    "BETWEEN",
    "UNBOUNDED",
    "PRECEDING",
    "CURRENT",
    "ROW",
];

/// Functions, and whether they may be over a window.
const FUNCTIONS: [(&str, bool); 8] = [
    ("count", true),
    ("sum", true),
    ("rank", true),
    ("row_number", true),
    ("lag", true),
    ("min", false),
    ("max", false),
    ("avg", false),
];

/// Signs. Not `/`: whole numbers divide in two ways.
const SIGNS: [&str; 11] = ["(", ")", ",", ".", "+", "-", "*", "=", "<", ">", "<>"];

/// Words that some engine keeps for itself: no names.
const KEPT: [&str; 46] = [
    "all",
    "any",
    "array",
    "asc",
    "at",
    "both",
    "check",
    "column",
    "create",
    "cross",
    "current",
    "cube",
    "date",
    "day",
    "desc",
    "distinct",
    "end",
    "except",
    "exists",
    "fetch",
    "first",
    "from",
    "grouping",
    "having",
    "in",
    "inner",
    "intersect",
    "interval",
    "into",
    "last",
    "like",
    "limit",
    "natural",
    "offset",
    "order",
    "outer",
    "right",
    "rollup",
    "sample",
    "table",
    "time",
    "to",
    "union",
    "user",
    "using",
    "values",
];

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Number(String),
    Text,
    Sign(String),
}

/// The tokens of a statement.
fn tokens(sql: &str) -> Result<Vec<Token>, String> {
    let mut found = Vec::new();
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        let taken = if c.is_whitespace() {
            c.len_utf8()
        } else if c.is_ascii_alphabetic() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(Token::Word(rest[..end].into()));
            end
        } else if c.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
            found.push(Token::Number(rest[..end].into()));
            end
        } else if c == '\'' {
            let end = rest[1..].find('\'').ok_or("a text does not end")?;
            if rest[1..=end].chars().any(|c| !c.is_ascii_alphanumeric()) {
                return Err(format!("a text other than of letters and digits: {}", &rest[..end + 2]));
            }
            found.push(Token::Text);
            end + 2
        } else {
            let sign = if rest.starts_with("<>") { "<>" } else { &rest[..c.len_utf8()] };
            if !SIGNS.contains(&sign) {
                return Err(format!("the sign {sign:?}"));
            }
            found.push(Token::Sign(sign.into()));
            sign.len()
        };
        rest = &rest[taken..];
    }
    Ok(found)
}

/// What of a statement is not shared by all engines.
fn lint(sql: &str) -> Result<(), String> {
    let tokens = tokens(sql)?;
    let sign = |at: usize, sign: &str| tokens.get(at) == Some(&Token::Sign(sign.into()));
    let word = |at: usize, word: &str| tokens.get(at) == Some(&Token::Word(word.into()));
    let closing = |from: usize| {
        let mut depth = 0;
        (from..tokens.len()).find(|&at| {
            depth += i32::from(sign(at, "(")) - i32::from(sign(at, ")"));
            depth == 0
        })
    };
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Number(number) if !number.chars().all(|c| c.is_ascii_digit()) => {
                return Err(format!("the number {number}: engines make different kinds of it; CAST a whole one"));
            }
            Token::Word(name) if name.chars().all(|c| c.is_ascii_uppercase()) && name.len() > 1 => {
                if !WORDS.contains(&name.as_str()) {
                    return Err(format!("the word {name}"));
                }
                let is_kind = |at: usize| word(at, "DOUBLE") || word(at, "BIGINT");
                if name == "CAST" {
                    let end = closing(at + 1).ok_or("CAST without an end")?;
                    if !is_kind(end - 1) || !word(end - 2, "AS") {
                        return Err("a CAST to another kind than DOUBLE and BIGINT".into());
                    }
                }
                if name == "OVER" && !sign(at + 1, "(") {
                    return Err("a window by name".into());
                }
            }
            Token::Word(name) if name.chars().any(|c| c.is_ascii_uppercase()) => {
                return Err(format!("{name}: words of SQL are in capitals, names are not"));
            }
            Token::Word(name) if sign(at + 1, "(") => {
                let known = FUNCTIONS.iter().find(|f| f.0 == name).ok_or(format!("the function {name}"))?;
                let end = closing(at + 1).ok_or("a function without an end")?;
                if word(end + 1, "OVER") && !known.1 {
                    return Err(format!("{name} over a window"));
                }
                if !word(end + 1, "OVER") && ["rank", "row_number", "lag"].contains(&known.0) {
                    return Err(format!("{name} without a window"));
                }
            }
            Token::Word(name) if KEPT.contains(&name.as_str()) => return Err(format!("the name {name}")),
            _ => {}
        }
    }
    Ok(())
}

#[test]
fn questions_keep_to_what_engines_share() {
    for question in ALL {
        let name = question.name;
        if let Err(what) = lint(&question.sql()) {
            panic!("fleet/{name}.sql: {what} is not in all engines: docs/engines.md");
        }
        assert!(question.file.starts_with("-- "), "fleet/{name}.sql: say at the top what it answers");
        for (number, line) in question.file.lines().enumerate() {
            assert!(line.chars().count() <= 120, "fleet/{name}.sql:{}: longer than 120 characters", number + 1);
        }
        // The columns of the answer, in the order in which they are declared.
        let sql = question.sql();
        let select = sql.rfind("\nSELECT ").map_or(0, |at| at + 1);
        let mut rest = &sql[select..];
        for column in question.answer.columns {
            let has = format!(" AS {}", column.name);
            let at = rest.find(&has).unwrap_or_else(|| panic!("fleet/{name}.sql: no column {}", column.name));
            rest = &rest[at + has.len()..];
        }
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fleet");
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, ALL.len(), "files in fleet/, and questions in question.rs");
}

#[test]
fn the_rest_is_refused() {
    let good = "WITH a AS (SELECT x.v AS v, rank() OVER (PARTITION BY x.g ORDER BY x.v) AS r FROM t x) \
                SELECT CAST(sum(CASE WHEN a.v > 0 THEN 1 ELSE 0 END) AS BIGINT) AS n FROM a WHERE a.r <> 2";
    assert_eq!(lint(good), Ok(()));
    for (bad, what) in [
        ("SELECT DISTINCT x.a AS a FROM t x", "DISTINCT"),
        ("SELECT distinct FROM t", "distinct"),
        ("SELECT x.a AS a FROM t x UNION ALL SELECT y.a AS a FROM u y", "UNION"),
        ("SELECT median(x.a) AS m FROM t x", "median"),
        ("SELECT ln(x.a) AS m FROM t x", "ln"),
        ("SELECT 1.0 * x.a AS a FROM t x", "1.0"),
        ("SELECT x.a / 2 AS a FROM t x", "/"),
        ("SELECT CAST(x.a AS DECIMAL) AS a FROM t x", "CAST to another"),
        ("SELECT CAST(x.a AS VARCHAR) AS a FROM t x", "CAST to another"),
        ("SELECT max(x.a) OVER (PARTITION BY x.b) AS a FROM t x", "max over"),
        ("SELECT rank() AS a FROM t x", "without a window"),
        ("SELECT x.a AS from FROM t x", "from"),
        ("SELECT \"a\" FROM t", "\""),
        ("SELECT x.a AS a FROM t x LIMIT 3", "LIMIT"),
        ("SELECT 'it; drop' AS a FROM t", "text"),
        ("SELECT x.a::double FROM t x", ":"),
        ("Select x.a AS a FROM t x", "capitals"),
        ("SELECT coalesce(x.a, 0) AS a FROM t x", "coalesce"),
    ] {
        let found = lint(bad).unwrap_err();
        assert!(found.contains(what), "{bad}: {found}");
    }
}
