//! Addresses such as `http://127.0.0.1:8080/path?query`.

use crate::Error;

/// What is asked, and of whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// Name or address of the host; that of version 6 without brackets.
    pub host: String,
    /// Port; 80 where none is given.
    pub port: u16,
    /// Path and query, as they are sent; at least "/".
    pub target: String,
}

impl Url {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Url`] where it is not an `http` address, or has what cannot be sent.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::Url { url: text.into(), why: why.into() };
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(wrong("expected an address such as http://127.0.0.1:8080/"));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "http" => {}
            "https" => {
                return Err(wrong(
                    "https is not supported, there is no TLS here: ask a port of the server that speaks plain HTTP",
                ));
            }
            _ => return Err(wrong("only http is supported")),
        }
        // A fragment is never sent.
        let rest = rest.split('#').next().unwrap_or(rest);
        let (authority, target) = rest.find(['/', '?']).map_or((rest, ""), |at| rest.split_at(at));
        if authority.contains('@') {
            return Err(wrong("a user and password cannot be part of it: give the header Authorization"));
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or_else(|| wrong("the address in brackets has no end"))?,
            None => authority.find(':').map_or((authority, ""), |at| authority.split_at(at)),
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => 80,
            None => return Err(wrong("expected a port after the address in brackets, such as [::1]:8080")),
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|&port| port > 0 && digits.bytes().all(|b| b.is_ascii_digit()))
                .ok_or_else(|| wrong("expected a port between 1 and 65535 after the host"))?,
        };
        if host.is_empty() {
            return Err(wrong("the host is missing"));
        }
        let bytes = host.bytes().chain(target.bytes());
        if bytes.into_iter().any(|byte| !(0x21..=0x7e).contains(&byte)) {
            return Err(wrong("blanks, control characters and letters beyond ASCII must be written as %XX"));
        }
        let target = if target.starts_with('/') { target.into() } else { format!("/{target}") };
        Ok(Url { host: host.into(), port, target })
    }

    /// What the header `Host` says (RFC 9110, section 7.2).
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == 80 { host } else { format!("{host}:{}", self.port) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn addresses_are_read() {
        for (text, host, port, target, authority) in [
            ("http://localhost", "localhost", 80, "/", "localhost"),
            ("HTTP://127.0.0.1:8080/", "127.0.0.1", 8080, "/", "127.0.0.1:8080"),
            ("http://a.b:81/x/y?z=1#part", "a.b", 81, "/x/y?z=1", "a.b:81"),
            ("http://a?q", "a", 80, "/?q", "a"),
            ("http://[::1]:9/p", "::1", 9, "/p", "[::1]:9"),
            ("http://[fe80::1]/", "fe80::1", 80, "/", "[fe80::1]"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.host.as_str(), url.port, url.target.as_str()), (host, port, target), "{text}");
            assert_eq!(url.authority(), authority);
        }
    }

    #[test]
    fn what_cannot_be_asked_says_why() {
        for (text, why) in [
            ("localhost:80", "expected an address such as"),
            ("https://localhost/", "https is not supported"),
            ("ftp://localhost/", "only http"),
            ("http://", "host is missing"),
            ("http:///x", "host is missing"),
            ("http://:80/", "host is missing"),
            ("http://a:0/", "between 1 and 65535"),
            ("http://a:+80/", "between 1 and 65535"),
            ("http://a:/", "between 1 and 65535"),
            ("http://[::1/", "no end"),
            ("http://[::1]x/", "expected a port"),
            ("http://me:secret@a/", "Authorization"),
            ("http://a/b c", "%XX"),
            ("http://a/\r\nX: y", "%XX"),
            ("http://ä/", "%XX"),
        ] {
            let said = Url::parse(text).unwrap_err();
            assert!(said.is_usage() && said.to_string().contains(why), "{text:?}: {said}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(http://)?\\PC{0,40}") {
            if let Ok(url) = Url::parse(&text) {
                prop_assert!(url.target.starts_with('/') && !url.target.contains(char::is_whitespace) && url.port > 0);
            }
        }
    }
}
