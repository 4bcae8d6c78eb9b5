//! Answers of HTTP servers, in pieces: the first byte says to which method, the second how long the pieces are. Pieces must not matter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use load::{Answer, Broken};

/// What comes of it: how many bytes belong to the answer, its status, and whether the connection lives on.
fn feed<'a>(to_head: bool, pieces: impl Iterator<Item = &'a [u8]>) -> (Result<Option<usize>, Broken>, u16, bool) {
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
    (whole, answer.status(), answer.keeps_connection())
}

fuzz_target!(|data: &[u8]| {
    let [method, length, rest @ ..] = data else { return };
    // So that most inputs get further than the first line.
    let text = [b"HTTP/1.1 200 OK\r\n".as_slice(), rest].concat();
    let bytes = if method & 2 == 0 { rest } else { text.as_slice() };
    let to_head = method & 1 != 0;
    let at_once = feed(to_head, std::iter::once(bytes));
    assert_eq!(feed(to_head, bytes.chunks(usize::from(*length).max(1))), at_once);
    if let Ok(Some(used)) = at_once.0 {
        assert!(used <= bytes.len());
    }
});
