//! The answer of an HTTP/1.1 server, taken as it comes, in pieces of any size (RFC 9112). Its body is counted, not kept.

use std::mem::MaybeUninit;

/// Heads, with those of interim answers before, chunk extensions and trailers: each of these may have as many bytes and no more.
const MOST_HEAD: usize = 64 << 10;
/// Headers of an answer.
const MOST_HEADERS: usize = 256;

/// What a server sent is no answer that can be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(String);

fn broken<T>(why: impl Into<String>) -> Result<T, Broken> {
    Err(Broken(why.into()))
}

/// Where in an answer the next byte belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Head,
    /// As many bytes of the body are missing.
    Body(u64),
    /// The body ends with the connection.
    UntilClosed,
    Chunk(Chunk),
    Whole,
}

/// Where in a chunked body (RFC 9112, section 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    Size {
        value: u64,
        digits: u8,
    },
    Extension,
    /// The line of the size ended with CR.
    SizeEnd(u64),
    Data(u64),
    DataCr,
    DataLf,
    /// At the first byte of a line after the last chunk.
    Trailer,
    TrailerLine,
    TrailerLineEnd,
    End,
}

/// One answer, as far as it came.
#[derive(Clone, Debug)]
pub struct Answer {
    place: Place,
    /// The head so far, where it did not come in one piece.
    head: Vec<u8>,
    /// Bytes of interim answers, and of lines of a chunked body that are not data.
    overhead: usize,
    /// The size of the chunk whose extension is being skipped.
    size: u64,
    to_head: bool,
    status: u16,
    keep: bool,
}

impl Default for Answer {
    fn default() -> Self {
        Answer { place: Place::Head, head: Vec::new(), overhead: 0, size: 0, to_head: false, status: 0, keep: false }
    }
}

impl Answer {
    /// Begins anew, for the answer to the next request; `to_head`: to one of the method HEAD, whose answer never has a body.
    pub fn begin(&mut self, to_head: bool) {
        self.head.clear();
        // What a long head took is given back: there may be thousands of connections.
        self.head.shrink_to(4096);
        let head = std::mem::take(&mut self.head);
        *self = Answer { head, to_head, ..Answer::default() };
    }

    /// Status code, once the head has come; 0 before.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the connection can be used for another request once this answer is whole.
    pub fn keeps_connection(&self) -> bool {
        self.keep
    }

    /// Takes bytes as they came. Returns how many of them belong to the answer if it is whole with them, None if more of it must come.
    ///
    /// # Errors
    /// [`Broken`] where this is no answer; nothing can be said about the bytes that follow.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<usize>, Broken> {
        let mut used = 0;
        loop {
            let rest = bytes.get(used..).unwrap_or_default();
            if self.place == Place::Whole {
                return Ok(Some(used));
            }
            if rest.is_empty() {
                return Ok(None);
            }
            used += match self.place {
                Place::Head => self.feed_head(rest)?,
                Place::Body(missing) => {
                    let (taken, missing) = take(rest, missing);
                    self.place = if missing == 0 { Place::Whole } else { Place::Body(missing) };
                    taken
                }
                Place::Chunk(chunk) => self.feed_chunk(chunk, rest)?,
                Place::UntilClosed => rest.len(),
                Place::Whole => 0,
            };
        }
    }

    /// The server closed the connection. Whether the answer is whole with that.
    pub fn close(&mut self) -> bool {
        if self.place == Place::UntilClosed {
            self.place = Place::Whole;
        }
        self.place == Place::Whole
    }

    /// Reads the head once its lines are whole. Returns how many bytes it took.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<usize, Broken> {
        const BEGINS: &[u8] = b"HTTP/1.";
        let before = self.head.len();
        let room = MOST_HEAD.saturating_sub(self.overhead + before);
        let window = bytes.get(..room).unwrap_or(bytes);
        let expected = BEGINS.get(before..).unwrap_or_default();
        if expected.iter().zip(window).any(|(expected, byte)| expected != byte) {
            return broken("it does not begin with HTTP/1.");
        }
        let taken = if before == 0 {
            // As a rule it comes in one piece, and is read where it is.
            self.read_head(window)?
        } else {
            let mut head = std::mem::take(&mut self.head);
            head.extend_from_slice(window);
            let read = if window.contains(&b'\n') { self.read_head(&head) } else { Ok(None) };
            self.head = head;
            read?
        };
        match taken {
            Some(taken) => {
                self.head.clear();
                Ok(taken.saturating_sub(before))
            }
            None if window.len() == room => broken(format!("its head has more than {} KiB", MOST_HEAD >> 10)),
            None => {
                if before == 0 {
                    self.head.extend_from_slice(window);
                }
                Ok(window.len())
            }
        }
    }

    /// Reads the whole lines at the beginning of `bytes`. Returns how many the head has, None if there is more of it.
    fn read_head(&mut self, bytes: &[u8]) -> Result<Option<usize>, Broken> {
        let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let config = httparse::ParserConfig::default();
        let mut parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        if !matches!(parsed, Ok(httparse::Status::Complete(_))) {
            // Only whole lines are judged, so that it does not matter in which pieces they came.
            let lines = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
            let bytes = bytes.get(..lines).unwrap_or_default();
            response = httparse::Response::new(&mut []);
            parsed = config.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        }
        let length = match parsed {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return broken(format!("it has more than {MOST_HEADERS} headers")),
            Err(why) => return broken(format!("its head cannot be read: {why}")),
        };
        let (status, version) = (response.code.unwrap_or(0), response.version.unwrap_or(0));
        match status {
            101 => return broken("status 101: it would speak another protocol"),
            // An interim answer, which another follows.
            100..=199 => self.overhead += length,
            200..=999 => {
                self.status = status;
                self.place = self.begin_body(status, version, response.headers)?;
                if self.place == Place::UntilClosed {
                    self.keep = false;
                }
            }
            _ => return broken(format!("status {status:03}")),
        }
        Ok(Some(length))
    }

    /// Where the body ends (RFC 9112, section 6.3), and whether the connection lives on (section 9.3).
    fn begin_body(&mut self, status: u16, version: u8, headers: &[httparse::Header<'_>]) -> Result<Place, Broken> {
        let (mut length, mut chunked, mut coded) = (None, false, false);
        self.keep = version >= 1;
        let (mut close, mut keep_alive) = (false, false);
        for header in headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            if is("content-length") {
                for word in words(header.value) {
                    let Some(value) = number(word) else {
                        let shown = String::from_utf8_lossy(word.get(..40).unwrap_or(word));
                        return broken(format!("Content-Length: {shown:?} is no length"));
                    };
                    if length.is_some_and(|length| length != value) {
                        return broken("it has two lengths");
                    }
                    length = Some(value);
                }
            } else if is("transfer-encoding") {
                for word in words(header.value) {
                    coded = true;
                    chunked = word.eq_ignore_ascii_case(b"chunked");
                }
            } else if is("connection") {
                for word in words(header.value) {
                    close |= word.eq_ignore_ascii_case(b"close");
                    keep_alive |= word.eq_ignore_ascii_case(b"keep-alive");
                }
            }
        }
        self.keep = !close && (version >= 1 || keep_alive);
        Ok(match length {
            _ if self.to_head || status == 204 || status == 304 => Place::Whole,
            _ if chunked => Place::Chunk(Chunk::Size { value: 0, digits: 0 }),
            _ if coded => Place::UntilClosed,
            Some(0) => Place::Whole,
            Some(length) => Place::Body(length),
            None => Place::UntilClosed,
        })
    }

    /// Takes what belongs to one place of a chunked body. Returns how many bytes it took, at least 1.
    fn feed_chunk(&mut self, chunk: Chunk, bytes: &[u8]) -> Result<usize, Broken> {
        if let Chunk::Data(missing) = chunk {
            let (taken, missing) = take(bytes, missing);
            self.place = Place::Chunk(if missing == 0 { Chunk::DataCr } else { Chunk::Data(missing) });
            return Ok(taken);
        }
        let Some(&byte) = bytes.first() else { return Ok(0) };
        if matches!(chunk, Chunk::Extension | Chunk::Trailer | Chunk::TrailerLine) {
            self.overhead += 1;
            if self.overhead > MOST_HEAD {
                return broken(format!("its chunks have more than {} KiB beside their data", MOST_HEAD >> 10));
            }
        }
        let next = match (chunk, byte) {
            (Chunk::Size { value, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if digits == 16 {
                    return broken("the size of a chunk has more than 16 digits");
                }
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                Chunk::Size { value: value << 4 | u64::from(digit), digits: digits + 1 }
            }
            (Chunk::Size { value, digits: 1.. }, b'\r') => Chunk::SizeEnd(value),
            (Chunk::Size { value, digits: 1.. }, b';' | b' ' | b'\t') => {
                self.size = value;
                Chunk::Extension
            }
            (Chunk::Extension, b'\r') => Chunk::SizeEnd(self.size),
            (Chunk::Extension, byte) if byte != b'\n' => Chunk::Extension,
            (Chunk::SizeEnd(0), b'\n') => Chunk::Trailer,
            (Chunk::SizeEnd(size), b'\n') => Chunk::Data(size),
            (Chunk::DataCr, b'\r') => Chunk::DataLf,
            (Chunk::DataLf, b'\n') => Chunk::Size { value: 0, digits: 0 },
            (Chunk::Trailer, b'\r') => Chunk::End,
            (Chunk::Trailer | Chunk::TrailerLine, byte) if byte != b'\n' && byte != b'\r' => Chunk::TrailerLine,
            (Chunk::TrailerLine, b'\r') => Chunk::TrailerLineEnd,
            (Chunk::TrailerLineEnd, b'\n') => Chunk::Trailer,
            (Chunk::End, b'\n') => {
                self.place = Place::Whole;
                return Ok(1);
            }
            _ => return broken("its chunks cannot be read"),
        };
        self.place = Place::Chunk(next);
        Ok(1)
    }
}

/// How many of `missing` bytes are here, and how many are missing then.
fn take(bytes: &[u8], missing: u64) -> (usize, u64) {
    let taken = usize::try_from(missing).map_or(bytes.len(), |missing| missing.min(bytes.len()));
    (taken, missing - taken as u64)
}

/// The members of a list of a header.
fn words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|word| !word.is_empty())
}

fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(word).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What comes of an answer, fed in these pieces.
    #[derive(Debug, PartialEq)]
    struct Came {
        /// Bytes of it, None while more must come.
        whole: Result<Option<usize>, Broken>,
        whole_when_closed: bool,
        status: u16,
        keep: bool,
    }

    fn feed<'a>(to_head: bool, pieces: impl Iterator<Item = &'a [u8]>) -> Came {
        let mut answer = Answer::default();
        answer.begin(to_head);
        let mut before = 0;
        let mut whole = Ok(None);
        for piece in pieces {
            whole = answer.feed(piece);
            match whole {
                Ok(None) => before += piece.len(),
                Ok(Some(used)) => whole = Ok(Some(before + used)),
                Err(_) => {}
            }
            if whole != Ok(None) {
                break;
            }
        }
        let (status, keep) = (answer.status(), answer.keeps_connection());
        Came { whole_when_closed: whole.is_ok() && answer.close(), whole, status, keep }
    }

    fn came(text: &str) -> Came {
        let pieces = feed(false, text.as_bytes().chunks(1));
        let at_once = feed(false, std::iter::once(text.as_bytes()));
        assert_eq!(pieces, at_once, "{text:?}");
        at_once
    }

    #[test]
    fn whole_answers() {
        for (text, more, status, keep) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "HTTP", 200, true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 3, 3\r\nContent-Length:3\r\n\r\nabc", "", 200, true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "x", 200, false),
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\nConnection: x, Close\r\n\r\n!", "", 404, false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n!", "", 200, false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\n!", "", 200, true),
            ("HTTP/1.1 204 No Content\r\n\r\n", "x", 204, true),
            ("HTTP/1.1 304\r\nContent-Length: 100\r\n\r\n", "", 304, true),
            (
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                "",
                200,
                true,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n",
                "y",
                200,
                true,
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 9\r\n\r\n00 \r\nA: b\r\nC: d\r\n\r\n",
                "",
                200,
                true,
            ),
        ] {
            let of = came(&format!("{text}{more}"));
            assert_eq!((of.whole, of.status, of.keep), (Ok(Some(text.len())), status, keep), "{text:?}");
        }
    }

    #[test]
    fn answers_to_head_have_no_body() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
        assert_eq!(feed(true, text.chunks(7)).whole, Ok(Some(text.len())));
    }

    #[test]
    fn some_end_with_the_connection() {
        for text in [
            "HTTP/1.1 200 OK\r\n\r\nsome",
            "HTTP/1.0 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 2\r\n\r\nabcd",
        ] {
            let of = came(text);
            assert_eq!((of.whole, of.whole_when_closed, of.keep), (Ok(None), true, false), "{text:?}");
        }
    }

    #[test]
    fn halves_are_no_answers() {
        for text in [
            "",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nab",
        ] {
            let of = came(text);
            assert_eq!((of.whole, of.whole_when_closed), (Ok(None), false), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_answer_says_why() {
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(257));
        let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "b".repeat(70_000));
        let interim = "HTTP/1.1 100 Continue\r\n\r\n".repeat(3_000);
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let extension = format!("{chunked}1;{}", "x".repeat(70_000));
        let trailers = format!("{chunked}0\r\n{}", "A: b\r\n".repeat(20_000));
        for (text, why) in [
            ("garbage", "does not begin"),
            ("\r\nHTTP/1.1 200 OK\r\n\r\n", "does not begin"),
            ("HTTP/2 200\r\n\r\n", "does not begin"),
            ("HTTP/1.1 abc\r\n", "cannot be read"),
            ("HTTP/1.1 200 OK\r\nA\u{0}: b\r\n\r\n", "cannot be read"),
            ("HTTP/1.1 099 No\r\n\r\n", "status 099"),
            ("HTTP/1.1 101 Switching\r\n\r\n", "status 101"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "two lengths"),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "no length"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "no length"),
            (&many, "more than 256 headers"),
            (&long, "more than 64 KiB"),
            (&interim, "more than 64 KiB"),
            (&format!("{chunked}\r\n"), "chunks cannot be read"),
            (&format!("{chunked}x\r\n"), "chunks cannot be read"),
            (&format!("{chunked}1\r\nabc"), "chunks cannot be read"),
            (&format!("{chunked}1\nabc"), "chunks cannot be read"),
            (&format!("{chunked}00000000000000001\r\n"), "16 digits"),
            (&extension, "more than 64 KiB beside"),
            (&trailers, "more than 64 KiB beside"),
        ] {
            let said = came(text).whole.unwrap_err().to_string();
            assert!(said.contains(why), "{text:.60}: {said}");
        }
    }

    #[test]
    fn one_answer_follows_another() {
        let mut answer = Answer::default();
        for text in ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"] {
            answer.begin(false);
            let (first, second) = text.split_at(9);
            assert_eq!(answer.feed(first.as_bytes()), Ok(None));
            assert_eq!(answer.feed(second.as_bytes()), Ok(Some(second.len())));
        }
        assert_eq!((answer.status(), answer.keeps_connection()), (500, true));
    }

    /// Text of answers that are nearly right, so that all places are reached.
    fn nearly() -> impl Strategy<Value = Vec<u8>> {
        let parts = prop::sample::select(vec![
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 200 OK\r\n",
            "HTTP/1.1 100 C\r\n\r\n",
            "HTTP/1.1 304 N\r\n",
            "Content-Length: 5\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "A: b\r\n",
            "\r\n",
            "\n",
            "5\r\nabcde\r\n",
            "5;x\r\nabcde\r\n",
            "0\r\n",
            "abcde",
            "F",
            "\u{0}",
        ]);
        prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat().into_bytes())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn pieces_do_not_matter(
            bytes in prop_oneof![nearly(), prop::collection::vec(any::<u8>(), 0..200)],
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
            to_head in any::<bool>(),
        ) {
            let at_once = feed(to_head, std::iter::once(bytes.as_slice()));
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(&feed(to_head, pieces), &at_once);
            prop_assert_eq!(&feed(to_head, bytes.chunks(1)), &at_once);
            if let Ok(Some(used)) = at_once.whole {
                prop_assert!(used <= bytes.len());
            }
        }
    }
}
