//! JSON read piece by piece, so that what came before damage is kept, and with its place said. Where that is allowed, slips of old writers are read over:
//! commas that are missing or too many, and commas in numbers.

use std::borrow::Cow;

/// Deeper nesting is refused.
const DEEPEST: usize = 64;

/// Most slips that are said one by one.
const MOST_MENDED: usize = 20;

/// What is wrong, and at which byte.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) what: String,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Object,
    Array,
    Text,
    Number,
    /// `true`, `false`, `null`, `NaN`.
    Word,
    /// Nothing more.
    End,
    /// No JSON.
    Other,
}

#[derive(Debug)]
pub(crate) struct Json<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    lenient: bool,
    /// Slips that were read over: at which byte, and what.
    pub(crate) mended: Vec<(usize, &'static str)>,
}

impl<'a> Json<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Json { bytes, at: 0, depth: 0, lenient: false, mended: Vec::new() }
    }

    /// Reads over slips of old writers.
    pub(crate) fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// The line of a byte, from 1 on.
    pub(crate) fn line(&self, at: usize) -> usize {
        1 + self.bytes.get(..at).unwrap_or(self.bytes).iter().filter(|byte| **byte == b'\n').count()
    }

    /// In words, with the place: the line, and the byte where all is on few lines.
    pub(crate) fn said(&self, wrong: &Wrong) -> String {
        format!("line {}, byte {}: {}", self.line(wrong.at), wrong.at, wrong.what)
    }

    fn wrong<T>(&self, what: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong { at: self.at, what: what.into() })
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.byte().is_some_and(|byte| byte.is_ascii_whitespace() || byte == 0x1e) {
            self.at += 1;
        }
    }

    pub(crate) fn peek(&mut self) -> Next {
        self.space();
        match self.byte() {
            None => Next::End,
            Some(b'{') => Next::Object,
            Some(b'[') => Next::Array,
            Some(b'"') => Next::Text,
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => Next::Number,
            Some(b'a'..=b'z' | b'A'..=b'Z') => Next::Word,
            Some(_) => Next::Other,
        }
    }

    fn mend(&mut self, what: &'static str) {
        if self.mended.len() < MOST_MENDED {
            self.mended.push((self.at, what));
        }
    }

    /// Reads what is between brackets; `one` reads a member.
    fn between(
        &mut self,
        (open, close): (u8, u8),
        one: &mut dyn FnMut(&mut Self) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        self.space();
        if self.byte() != Some(open) {
            return self.wrong(format!("{:?} is missing", char::from(open)));
        }
        if self.depth >= DEEPEST {
            return self.wrong("nested too deeply");
        }
        self.at += 1;
        self.depth += 1;
        let mut first = true;
        let mut comma = false;
        loop {
            self.space();
            match self.byte() {
                None => return self.wrong("the file ends here"),
                Some(byte) if byte == close => {
                    if comma && self.lenient {
                        self.mend("a comma too many");
                    } else if comma {
                        return self.wrong("a comma too many");
                    }
                    self.at += 1;
                    self.depth -= 1;
                    return Ok(());
                }
                Some(b',') => {
                    if comma || first {
                        if !self.lenient {
                            return self.wrong("a comma too many");
                        }
                        self.mend("a comma too many");
                    }
                    comma = true;
                    self.at += 1;
                    continue;
                }
                Some(b']' | b'}') => return self.wrong("the wrong bracket"),
                Some(_) if !first && !comma => {
                    if !self.lenient {
                        return self.wrong("a comma is missing");
                    }
                    self.mend("a comma is missing");
                }
                Some(_) => {}
            }
            (first, comma) = (false, false);
            let before = self.at;
            one(self)?;
            if self.at == before {
                return self.wrong("no value");
            }
        }
    }

    /// Reads an object; `member` is called with each key and must read its value.
    pub(crate) fn object(&mut self, member: &mut dyn FnMut(&mut Self, &str) -> Result<(), Wrong>) -> Result<(), Wrong> {
        self.between((b'{', b'}'), &mut |json| {
            let key = json.text()?;
            json.space();
            if json.byte() != Some(b':') {
                return json.wrong("\":\" is missing");
            }
            json.at += 1;
            member(json, &key)?;
            json.decimals();
            Ok(())
        })
    }

    /// Reads an array; `item` is called for each and must read it.
    pub(crate) fn array(&mut self, item: &mut dyn FnMut(&mut Self) -> Result<(), Wrong>) -> Result<(), Wrong> {
        self.between((b'[', b']'), item)
    }

    /// After the value of a member nothing can be `,5` but decimals.
    fn decimals(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if self.lenient && rest.first() == Some(&b',') && rest.get(1).is_some_and(u8::is_ascii_digit) {
            self.mend("a comma in a number");
            self.at += 1;
            while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
                self.at += 1;
            }
        }
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Result<Cow<'a, str>, Wrong> {
        self.space();
        if self.byte() != Some(b'"') {
            return self.wrong("a text is missing");
        }
        self.at += 1;
        let from = self.at;
        loop {
            match self.byte() {
                None => return self.wrong("the file ends in a text"),
                Some(b'"') => {
                    let plain = self.bytes.get(from..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(String::from_utf8_lossy(plain));
                }
                Some(b'\\') => return self.escaped(from).map(Cow::Owned),
                Some(_) => self.at += 1,
            }
        }
    }

    /// The rest of a text with escapes, from its first character on.
    fn escaped(&mut self, from: usize) -> Result<String, Wrong> {
        let mut text = self.bytes.get(from..self.at).unwrap_or_default().to_vec();
        loop {
            match self.byte() {
                None => return self.wrong("the file ends in a text"),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(String::from_utf8_lossy(&text).into_owned());
                }
                Some(b'\\') => {
                    self.at += 1;
                    let escape = self.byte();
                    self.at += 1;
                    let c = match escape {
                        Some(b'n') => '\n',
                        Some(b't') => '\t',
                        Some(b'r') => '\r',
                        Some(b'b') => '\u{8}',
                        Some(b'f') => '\u{c}',
                        Some(b'u') => self.unicode(),
                        Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
                        _ => return self.wrong("an escape that is none"),
                    };
                    let mut buffer = [0; 4];
                    text.extend(c.encode_utf8(&mut buffer).bytes());
                }
                Some(byte) => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn hexadecimal(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok())?;
        let number = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(number)
    }

    /// What stands behind `\u`; halves of pairs without the other are replaced.
    fn unicode(&mut self) -> char {
        let Some(first) = self.hexadecimal() else { return '\u{fffd}' };
        if (0xd800..0xdc00).contains(&first) && self.bytes.get(self.at..self.at + 2) == Some(b"\\u") {
            self.at += 2;
            let low = self.hexadecimal().unwrap_or(0);
            let both = 0x10000 + ((first - 0xd800) << 10) + low.wrapping_sub(0xdc00);
            return char::from_u32(both).filter(|_| (0xdc00..0xe000).contains(&low)).unwrap_or('\u{fffd}');
        }
        char::from_u32(first).unwrap_or('\u{fffd}')
    }

    /// A number, or a text that is one: `NaN` and `Inf` too.
    pub(crate) fn number(&mut self) -> Result<f64, Wrong> {
        if self.peek() == Next::Text {
            let at = self.at;
            let text = self.text()?;
            return number(&text).ok_or_else(|| Wrong { at, what: format!("{text:?} is no number") });
        }
        let from = self.at;
        let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        while self.byte().is_some_and(belongs) {
            self.at += 1;
        }
        let mut own = Cow::from(std::str::from_utf8(self.bytes.get(from..self.at).unwrap_or_default()).unwrap_or(""));
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        // A comma where a point should be: keys begin with a quotation mark.
        if self.lenient
            && rest.first() == Some(&b',')
            && rest.get(1).is_some_and(u8::is_ascii_digit)
            && !own.contains('.')
        {
            self.mend("a comma in a number");
            let digits = rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
            let decimals = String::from_utf8_lossy(rest.get(1..=digits).unwrap_or_default());
            own = Cow::from(format!("{own}.{decimals}"));
            self.at += 1 + digits;
        }
        match number(&own) {
            Some(number) => Ok(number),
            None => {
                self.at = from;
                self.wrong("a number is missing")
            }
        }
    }

    /// Reads over a value of any kind.
    pub(crate) fn skip(&mut self) -> Result<(), Wrong> {
        match self.peek() {
            Next::Object => self.object(&mut |json, _| json.skip()),
            Next::Array => self.array(&mut |json| json.skip()),
            Next::Text => self.text().map(drop),
            Next::Number => self.number().map(drop),
            Next::Word => {
                while self.byte().is_some_and(|byte| byte.is_ascii_alphabetic()) {
                    self.at += 1;
                }
                Ok(())
            }
            Next::End => self.wrong("the file ends here"),
            Next::Other => self.wrong("this is no JSON"),
        }
    }

    /// A text, or a number as text; none for anything else, which is read over.
    pub(crate) fn word(&mut self) -> Result<Option<Cow<'a, str>>, Wrong> {
        match self.peek() {
            Next::Text => self.text().map(Some),
            Next::Number => {
                let from = self.at;
                self.number()?;
                Ok(Some(String::from_utf8_lossy(self.bytes.get(from..self.at).unwrap_or_default())))
            }
            _ => self.skip().map(|()| None),
        }
    }
}

/// A number as Prometheus and sar write it.
fn number(text: &str) -> Option<f64> {
    match text {
        "null" | "N/A" => Some(f64::NAN),
        _ => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(text: &str, lenient: bool) -> (Vec<(String, f64)>, Option<String>, usize) {
        let mut json = Json::new(text.as_bytes());
        if lenient {
            json = json.lenient();
        }
        let mut found = Vec::new();
        let done = json.object(&mut |json, key| {
            let value = json.number()?;
            found.push((key.to_owned(), value));
            Ok(())
        });
        let said = done.err().map(|wrong| json.said(&wrong));
        (found, said, json.mended.len())
    }

    #[test]
    fn slips_are_read_over_where_that_is_allowed() {
        let of = |list: &[(&str, f64)]| list.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect::<Vec<_>>();
        assert_eq!(numbers("{\"a\": 1.5, \"b\": \"2\"}", false), (of(&[("a", 1.5), ("b", 2.0)]), None, 0));
        assert_eq!(numbers("{\"a\": 1,50, \"b\": 2}", true), (of(&[("a", 1.5), ("b", 2.0)]), None, 1));
        assert_eq!(numbers("{\"a\": 1,, \"b\": 2,}", true), (of(&[("a", 1.0), ("b", 2.0)]), None, 2));
        assert_eq!(numbers("{\"a\": 1\n \"b\": 2}", true), (of(&[("a", 1.0), ("b", 2.0)]), None, 1));
        let (found, said, _) = numbers("{\"a\": 1\n \"b\": 2}", false);
        assert_eq!((found.len(), said.as_deref()), (1, Some("line 2, byte 9: a comma is missing")));
        let (found, said, _) = numbers("{\"a\": 1, \"b\": 2, \"c", false);
        assert_eq!((found.len(), said.as_deref()), (2, Some("line 1, byte 19: the file ends in a text")));
    }

    #[test]
    fn texts_with_escapes() {
        let text = |json: &str| Json::new(json.as_bytes()).text().map(Cow::into_owned);
        assert_eq!(text(r#""a\n\"\\\u00e9\ud83d\ude00""#).unwrap(), "a\n\"\\é😀");
        assert_eq!(text(r#""\ud83d""#).unwrap(), "\u{fffd}");
        assert!(text(r#""\x""#).is_err() && text("\"").is_err() && text("1").is_err());
    }

    #[test]
    fn depth_is_bounded() {
        assert!(Json::new("[".repeat(100_000).as_bytes()).skip().is_err());
    }

    proptest! {
        #[test]
        fn what_others_write_is_read(value in any_json(), cut in 0.0..1.0_f64) {
            let text = value.to_string();
            let mut json = Json::new(text.as_bytes());
            prop_assert_eq!(json.skip(), Ok(()));
            prop_assert_eq!(json.peek(), Next::End);
            let part = text.as_bytes().get(..(cut * text.len() as f64) as usize).unwrap_or_default();
            let _ = Json::new(part).skip();
            let _ = Json::new(part).lenient().skip();
        }
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".*".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(serde_json::Value::Array),
                prop::collection::vec((".*", inner), 0..8)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }
}
