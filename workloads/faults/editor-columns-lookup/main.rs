// A language server: gives the row and column of each token of a document that it highlights. The slow variant counts rows and
// columns from the start of the document for each; the fast one has an index of the rows' starts.
#[path = "../common/pace.rs"]
mod pace;

use std::collections::HashMap;

struct Document {
    text: String,
    rows: Vec<usize>, // where each begins
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Position {
    row: usize,
    column: usize,
}

/// A module of 90 lines, some with letters of more than a byte.
fn document() -> Document {
    let lines = ["fn größe(breite: u32, höhe: u32) -> u32 {\n", "    let fläche = breite * höhe;\n", "    fläche + 2 // Rand\n", "}\n", "\n"];
    let text: String = (0..90).map(|i| lines[i % lines.len()]).collect();
    let rows = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    Document { text, rows }
}

/// The tokens' places: words and signs.
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        let part_of_word = letter.is_alphanumeric() || letter == '_';
        match (start, part_of_word) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                found.push((from, at));
                start = None;
            }
            _ => {}
        }
        if !part_of_word && !letter.is_whitespace() {
            found.push((at, at + letter.len_utf8()));
        }
    }
    found
}

fn position_of(document: &Document, offset: usize, indexed: bool) -> Position {
    let text = &document.text;
    let (row, start) = if indexed {
        let row = document.rows.partition_point(|start| *start <= offset) - 1;
        (row, document.rows[row])
    } else {
        let before = &text[..offset];
        (before.chars().filter(|letter| *letter == '\n').count(), before.rfind('\n').map_or(0, |at| at + 1))
    };
    Position { row, column: text[start..offset].chars().map(char::len_utf16).sum() }
}

const KEYWORDS: [&str; 12] = ["as", "else", "fn", "for", "if", "impl", "let", "match", "pub", "return", "struct", "u32"];

/// What the names of a module stand for.
fn symbols(document: &Document) -> HashMap<&str, u32> {
    tokens(&document.text).iter().map(|(from, to)| (&document.text[*from..*to], *from as u32 % 7)).collect()
}

/// The kind of a token: keyword, number, name of something, sign.
fn classify(word: &str, names: &HashMap<&str, u32>) -> u32 {
    if KEYWORDS.binary_search(&word).is_ok() {
        return 1;
    }
    match word.chars().next() {
        Some(first) if first.is_numeric() => 2,
        Some(first) if first.is_alphabetic() => 3 + names.get(word.to_lowercase().as_str()).copied().unwrap_or(0),
        _ => 0,
    }
}

fn highlight(document: &Document, names: &HashMap<&str, u32>, indexed: bool) -> usize {
    let mut sum = 0;
    let mut done = 0;
    for (from, to) in tokens(&document.text) {
        let position = position_of(document, from, indexed);
        sum += position.row * 3 + position.column + classify(&document.text[from..to], names) as usize;
        done += 1;
    }
    pace::did(done);
    sum
}

fn main() {
    let mut pace = pace::read();
    let document = document();
    let (names, indexed) = (symbols(&document), !pace.slow);
    pace.start();
    let mut sum = 0;
    while !pace::over() {
        sum ^= highlight(&document, &names, indexed);
    }
    pace.finish(1.0);
    eprintln!("sum: {sum}");
}
