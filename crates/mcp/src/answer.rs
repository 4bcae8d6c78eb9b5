//! An answer of a tool: text for a language model and the same as structured content, both cut so that they fit, with a sentence on what was left out
//! and how to ask for it. All text of all tools goes through here, and here it is made harmless.

use model::clean as harmless;
use serde_json::{Map, Value, json};

/// Bytes of an answer at most, text and structured content together, as they are sent.
pub const MOST_BYTES: usize = 24 * 1024;

/// Bytes for the frame around an answer, and for the sentence on what was left out.
const FRAME: usize = 1024;

/// Bytes of what stands above the items, as text and as fields each.
const HEAD: usize = 5 * 1024;

/// Characters of a text within an item; of one in an item that does not fit otherwise.
const LONGEST: usize = 2000;
const SHORTEST: usize = 80;

/// One of the things that an answer lists.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// In a line.
    pub(crate) text: String,
    /// As data.
    pub(crate) value: Value,
}

/// What a tool answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// Lines above the items.
    pub(crate) head: Vec<String>,
    /// The same as data.
    pub(crate) fields: Map<String, Value>,
    /// What is listed: the plural that stands in the structured content.
    pub(crate) what: &'static str,
    /// The items from `offset` on, as far as they were made.
    pub(crate) items: Vec<Item>,
    /// The number of the first of `items`.
    pub(crate) offset: usize,
    /// How many there are in all; `None` where that is not known, and there are more.
    pub(crate) total: Option<usize>,
    /// Whether the items are lines of one text, which the structured content has as one.
    pub(crate) is_text: bool,
}

/// A part of a list that is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

impl Page {
    /// That of these arguments; a limit of 0 stands for `usual`.
    pub(crate) fn new(offset: u32, limit: u32, usual: usize, most: usize) -> Self {
        let limit = if limit == 0 { usual } else { limit as usize };
        Page { offset: offset as usize, limit: limit.min(most) }
    }
}

/// What is sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) text: String,
    pub(crate) structured: Value,
}

impl Answer {
    /// An answer that lists the items of a page.
    pub(crate) fn list(what: &'static str, page: Page, items: impl ExactSizeIterator<Item = Item>) -> Self {
        let total = items.len();
        let items = items.skip(page.offset).take(page.limit).collect();
        Answer { what, items, offset: page.offset, total: Some(total), ..Answer::default() }
    }

    /// A text, in lines.
    pub(crate) fn text(what: &'static str, page: Page, text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let item = |line: &&str| Item { text: (*line).to_owned(), value: Value::String((*line).to_owned()) };
        Answer { is_text: true, ..Answer::list(what, page, lines.iter().map(item)) }
    }

    /// With a line above the items.
    pub(crate) fn line(mut self, line: impl Into<String>) -> Self {
        self.head.push(line.into());
        self
    }

    /// With a field beside the items.
    pub(crate) fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// As it is sent: as many of the items as fit.
    pub(crate) fn sent(self) -> Sent {
        let mut text = String::new();
        let mut head_left = HEAD;
        for line in &self.head {
            let line = cut(&harmless(line), LONGEST);
            if line.len() > head_left {
                text.push_str("…\n");
                break;
            }
            head_left -= line.len();
            text.push_str(&line);
            text.push('\n');
        }
        let fields = fitting(&self.fields);
        let mut used = FRAME + sent_bytes(&text) + Value::Object(fields.clone()).to_string().len();
        let (mut lines, mut values): (Vec<String>, Vec<Value>) = (Vec::new(), Vec::new());
        for item in &self.items {
            let bytes = |text: &str, value: &Value| sent_bytes(text) + value.to_string().len() + 4;
            let mut longest = LONGEST;
            let (mut line, mut value) = (cut(&harmless(&item.text), longest), harmless_value(&item.value, longest));
            // The first is shown whatever it takes: who asks from here on must come forward.
            while lines.is_empty() && used + bytes(&line, &value) > MOST_BYTES && longest > SHORTEST {
                longest /= 2;
                (line, value) = (cut(&line, longest), harmless_value(&value, longest));
            }
            if lines.is_empty() && used + bytes(&line, &value) > MOST_BYTES {
                (line, value) = ("(too large to be shown)".into(), json!({"left_out": "too large to be shown"}));
            }
            if used + bytes(&line, &value) > MOST_BYTES {
                break;
            }
            used += bytes(&line, &value);
            lines.push(line);
            values.push(value);
        }
        let next = self.offset + lines.len();
        let left = self.left_out(lines.len(), next);
        for line in &lines {
            text.push_str(line);
            text.push('\n');
        }
        let mut structured = fields;
        let listed = match self.is_text {
            true => Value::String(lines.join("\n")),
            false => Value::Array(values),
        };
        if !self.what.is_empty() {
            structured.insert(self.what.to_owned(), listed);
        }
        if let Some(left) = left {
            text.push_str(&format!("\n{left}\n"));
            structured.insert("left_out".into(), Value::String(left));
            if self.total.is_none_or(|total| next < total) {
                structured.insert("next_offset".into(), json!(next));
            }
        }
        Sent { text, structured: Value::Object(structured) }
    }

    /// The sentence on what is not shown; none where all is.
    fn left_out(&self, shown: usize, next: usize) -> Option<String> {
        let (what, from) = (self.what.replace('_', " "), self.offset + 1);
        let what = if self.is_text { "lines".to_owned() } else { what };
        let more = match self.total {
            Some(total) if self.offset >= total && total > 0 => {
                return Some(format!("Offset {} is past the end: there are {total} {what}.", self.offset));
            }
            Some(total) if shown == total => return None,
            Some(total) if next >= total => format!("of {total}. This is the end of them."),
            Some(total) => {
                format!("of {total}. {} are left out: ask again with offset {next} for what follows.", total - next)
            }
            None => format!("and there are more: ask again with offset {next} for what follows."),
        };
        match shown {
            0 if self.total == Some(0) => None,
            _ => Some(format!("Shown are {what} {from} to {next} {more}")),
        }
    }
}

/// Bytes of a text within JSON.
fn sent_bytes(text: &str) -> usize {
    text.bytes().map(|b| if matches!(b, b'"' | b'\\' | b'\n') { 2 } else { 1 }).sum()
}

/// The fields without the largest, where they would not fit.
fn fitting(fields: &Map<String, Value>) -> Map<String, Value> {
    let Value::Object(mut fields) = harmless_value(&Value::Object(fields.clone()), LONGEST) else { return Map::new() };
    while Value::Object(fields.clone()).to_string().len() > HEAD {
        let size = |(name, value): (&String, &Value)| (value.to_string().len(), name.clone());
        let Some((_, largest)) = fields.iter().map(size).max() else { break };
        fields.remove(&largest);
    }
    fields
}

/// The beginning of a text that is longer than `most` characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A value with all its texts and names made harmless and cut.
fn harmless_value(value: &Value, longest: usize) -> Value {
    match value {
        Value::String(text) => Value::String(cut(&harmless(text), longest)),
        Value::Array(all) => Value::Array(all.iter().map(|one| harmless_value(one, longest)).collect()),
        Value::Object(all) => {
            let one =
                |(name, value): (&String, &Value)| (cut(&harmless(name), longest), harmless_value(value, longest));
            Value::Object(all.iter().map(one).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(number: usize, bytes: usize) -> Vec<Item> {
        let item =
            |at: usize| Item { text: format!("{at} {}", "x".repeat(bytes)), value: json!([at, "x".repeat(bytes)]) };
        (0..number).map(item).collect()
    }

    fn size(sent: &Sent) -> usize {
        json!({"content": [{"type": "text", "text": sent.text}], "structuredContent": sent.structured})
            .to_string()
            .len()
    }

    #[test]
    fn answers_fit_and_every_item_is_reached() {
        for bytes in [0, 10, 300, 5000, 60_000] {
            let all = items(200, bytes);
            let (mut offset, mut seen) = (0, 0);
            loop {
                let page = Page { offset, limit: 100 };
                let sent = Answer::list("rows", page, all.iter().cloned()).line("y".repeat(9000)).sent();
                assert!(size(&sent) <= MOST_BYTES, "{bytes}: {}", size(&sent));
                let shown = sent.structured["rows"].as_array().unwrap().len();
                assert!(shown > 0);
                seen += shown;
                match sent.structured.get("next_offset") {
                    Some(next) => offset = next.as_u64().unwrap() as usize,
                    None => break,
                }
                assert!(sent.text.contains(&format!("offset {offset}")), "{}", sent.text);
            }
            assert_eq!(seen, 200);
        }
    }

    #[test]
    fn escapes_and_large_fields_count() {
        let hostile = "\"\\\n\u{1}\u{202e}".repeat(4000);
        let item = Item { text: hostile.clone(), value: json!({ hostile.clone(): vec![hostile.clone(); 50] }) };
        let page = Page { offset: 0, limit: 9 };
        let sent = Answer::list("rows", page, vec![item; 9].into_iter()).field("big", hostile).sent();
        assert!(size(&sent) <= MOST_BYTES);
    }

    #[test]
    fn what_is_left_out_is_said() {
        let page = |offset, limit| Page { offset, limit };
        let said =
            |answer: Answer| answer.sent().structured.get("left_out").map(|left| left.as_str().unwrap().to_owned());
        assert_eq!(said(Answer::list("rows", page(0, 9), items(3, 1).into_iter())), None);
        assert_eq!(said(Answer::list("rows", page(0, 9), items(0, 1).into_iter())), None);
        let first = said(Answer::list("rows", page(0, 2), items(3, 1).into_iter())).unwrap();
        assert_eq!(first, "Shown are rows 1 to 2 of 3. 1 are left out: ask again with offset 2 for what follows.");
        let last = said(Answer::list("rows", page(2, 2), items(3, 1).into_iter())).unwrap();
        assert_eq!(last, "Shown are rows 3 to 3 of 3. This is the end of them.");
        let past = said(Answer::list("rows", page(9, 2), items(3, 1).into_iter())).unwrap();
        assert_eq!(past, "Offset 9 is past the end: there are 3 rows.");
    }

    #[test]
    fn names_cannot_forge_or_hide_text() {
        assert_eq!(
            harmless("a\nIgnore\u{1b}[31m\u{202e}b\u{e0041}c\u{200b}d\u{2028}é"),
            "a\u{fffd}Ignore\u{fffd}[31m\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}é"
        );
        let value = harmless_value(&json!({"a\nb": ["c\u{0}d", 1, null]}), 9);
        assert_eq!(value, json!({"a\u{fffd}b": ["c\u{fffd}d", 1, null]}));
    }
}
