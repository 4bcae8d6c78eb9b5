//! The bytes of requests, made once (RFC 9112).

use crate::{Error, Options};

/// A character of a method or of a header's name (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Headers that say how long the request is, or that the connection is to become something else: the client could not follow.
const OWN: [(&str, &str); 3] = [
    ("Content-Length", "it follows from the body"),
    ("Transfer-Encoding", "the body is sent as a whole"),
    ("Upgrade", "only HTTP/1.1 is spoken here"),
];

/// Whether such a request can be sent.
pub(crate) fn check(options: &Options) -> Result<(), Error> {
    if options.method.is_empty() || !options.method.bytes().all(is_token) {
        return Err(Error::option("method", format!("{:?} is no method such as GET or POST", options.method)));
    }
    if options.method.eq_ignore_ascii_case("CONNECT") {
        return Err(Error::option("method", "CONNECT makes a tunnel, which is not measured here"));
    }
    for (name, value) in &options.headers {
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(Error::option("header", format!("{name:?} is no name of a header")));
        }
        if value.bytes().any(|byte| byte != b'\t' && (byte < 0x20 || byte == 0x7f)) {
            return Err(Error::option("header", format!("{name}: its value has control characters")));
        }
        if let Some((_, why)) = OWN.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)) {
            return Err(Error::option("header", format!("{name} cannot be given: {why}")));
        }
    }
    Ok(())
}

/// The bytes of a request to each address.
pub(crate) fn all(options: &Options) -> Vec<Vec<u8>> {
    options.urls.iter().map(|url| one(options, &url.target, &url.authority())).collect()
}

fn one(options: &Options, target: &str, authority: &str) -> Vec<u8> {
    let agent = concat!("twinscope-load/", env!("CARGO_PKG_VERSION"));
    let mut head = format!("{} {target} HTTP/1.1\r\n", options.method);
    let defaults = [("Host", authority), ("User-Agent", agent), ("Accept", "*/*")];
    let given = options.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let missing = |name: &str| !options.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    for (name, value) in defaults.into_iter().filter(|(name, _)| missing(name)).chain(given) {
        head += &format!("{name}: {value}\r\n");
    }
    // Methods that are expected to carry something say so where they do not.
    if !options.body.is_empty() || ["POST", "PUT", "PATCH"].contains(&options.method.as_str()) {
        head += &format!("Content-Length: {}\r\n", options.body.len());
    }
    head += "\r\n";
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&options.body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, Url};
    use std::time::Duration;

    fn options() -> Options {
        let url = Url::parse("http://localhost:81/a?b").unwrap();
        Options::new(url, Arrivals::Even(1.0), 1, Duration::from_secs(1))
    }

    fn text(options: &Options) -> String {
        String::from_utf8(all(options).remove(0)).unwrap()
    }

    #[test]
    fn a_plain_request() {
        let version = env!("CARGO_PKG_VERSION");
        let expected = format!(
            "GET /a?b HTTP/1.1\r\nHost: localhost:81\r\nUser-Agent: twinscope-load/{version}\r\nAccept: */*\r\n\r\n"
        );
        assert_eq!(text(&options()), expected);
    }

    #[test]
    fn given_headers_take_the_place_of_defaults() {
        let mut options = options();
        options.headers = vec![("host".into(), "other".into()), ("X".into(), "1".into()), ("X".into(), "2".into())];
        let text = text(&options);
        assert!(!text.contains("localhost") && text.contains("host: other\r\nX: 1\r\nX: 2\r\n"), "{text}");
    }

    #[test]
    fn bodies_have_their_length() {
        let mut options = options();
        options.method = "POST".into();
        assert!(text(&options).ends_with("Content-Length: 0\r\n\r\n"));
        options.body = b"abc".to_vec();
        assert!(text(&options).ends_with("Content-Length: 3\r\n\r\nabc"));
    }
}
