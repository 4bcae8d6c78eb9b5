//! Names of hosts, which come from outside: what may be one, what its file is called, and how a word is quoted for a shell.

use std::path::Path;

/// The longest name of a host, bytes: that of a DNS name, with a user and a port.
const LONGEST: usize = 320;

/// Checks the name of a host: what ssh takes (`host`, `user@host`, `ssh://user@host:port`, an address). A name that begins with a minus would be
/// an option; other characters mean something to the shell that ssh starts for a ProxyCommand.
///
/// # Errors
/// In words, for anything else.
pub fn host_name(text: &str) -> Result<&str, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-@:/[]%+=".contains(c);
    let bare = text.strip_prefix("ssh://").unwrap_or(text);
    let place = bare.rsplit_once('@').map_or(bare, |(_, host)| host);
    if text.is_empty() || text.len() > LONGEST || !text.chars().all(fits) {
        return Err("is no name of a host: letters, digits and ._-@:/[]%+= can be in one".into());
    }
    if bare.starts_with('-') || place.starts_with('-') || place.is_empty() {
        return Err("is no name of a host: it begins with a minus, or there is nothing after @".into());
    }
    Ok(text)
}

/// Reads the names of hosts from a word of the command line: names separated by commas, `@FILE` for a file with one a line.
///
/// # Errors
/// In words: a file that cannot be read, or what is no name.
pub fn host_names(word: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for part in word.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Some(file) = part.strip_prefix('@') else {
            found.push(host_name(part).map_err(|why| format!("{part:?} {why}"))?.to_owned());
            continue;
        };
        let text = files::foreign::text(Path::new(file)).map_err(|why| format!("{file}: {why}"))?;
        for (number, line) in text.lines().enumerate() {
            let name = line.split('#').next().unwrap_or_default().trim();
            if !name.is_empty() {
                found.push(host_name(name).map_err(|why| format!("{file}:{}: {name:?} {why}", number + 1))?.to_owned());
            }
        }
    }
    Ok(found)
}

/// The name of a host's file, without its ending: letters, digits and `.-_@` stay, anything else is `%` and its number.
pub(crate) fn file_name(host: &str) -> String {
    let mut name = String::new();
    for byte in host.bytes() {
        match byte {
            b'.' if name.is_empty() => name.push_str("%2E"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'@' => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    // File systems take 255 bytes, of which the ending and the parts of a name that is not complete take some.
    if name.len() > 200 {
        let hash = crate::sha256::hex(host.as_bytes());
        name = format!("{}-{}", name.get(..180).unwrap_or_default(), hash.get(..16).unwrap_or_default());
    }
    name
}

/// A word as a POSIX shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts() {
        for good in ["a", "web-1.example.org", "root@10.0.0.1", "ssh://u@h:2222", "[::1]", "fe80::1%eth0"] {
            assert_eq!(host_name(good), Ok(good));
        }
        for bad in [
            "",
            "-oProxyCommand=x",
            "u@-x",
            "u@",
            "a b",
            "a;b",
            "$(x)",
            "`x`",
            "a\nb",
            "a'b",
            "ssh://-x",
            "ä",
            "|x",
            "~x",
        ] {
            assert!(host_name(bad).is_err(), "{bad}");
        }
        let dir = tempfile::tempdir().unwrap();
        let list = dir.path().join("list");
        std::fs::write(&list, "# web\nw1\n w2 # the second\n\n").unwrap();
        assert_eq!(host_names(&format!("a,@{},b", list.display())).unwrap(), ["a", "w1", "w2", "b"]);
        std::fs::write(&list, "w1\nrm -rf\n").unwrap();
        assert!(host_names(&format!("@{}", list.display())).unwrap_err().contains("list:2: \"rm -rf\""));
        assert!(host_names("@/no/such").unwrap_err().contains("/no/such"));
    }

    #[test]
    fn names_of_files() {
        assert_eq!(file_name("root@web-1.x"), "root@web-1.x");
        assert_eq!(file_name("ssh://h:22"), "ssh%3A%2F%2Fh%3A22");
        assert_eq!(file_name(".."), "%2E.");
        let long = "x".repeat(300);
        assert!(file_name(&long).len() < 210 && file_name(&long) != file_name(&"x".repeat(299)));
    }

    #[test]
    fn words_for_a_shell() {
        for word in ["a", "", "a b", "it's", "$(x) `y` \\", "new\nline", "-", "*"] {
            let done =
                std::process::Command::new("sh").arg("-c").arg(format!("printf %s {}", quoted(word))).output().unwrap();
            assert_eq!(String::from_utf8(done.stdout).unwrap(), word);
        }
    }
}
