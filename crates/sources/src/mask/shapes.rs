//! Secrets that are known by their shape or by what stands beside them within one word.

use super::MASK;
use super::names::{self, Name};

/// Masks the values of pairs within a word: `key=value`, `key:value`, `"key":"value"`; after `?`, `&`, `;`, `,` or `{` too.
pub(super) fn pairs(word: &str) -> String {
    let bytes = word.as_bytes();
    let mut masked = String::with_capacity(word.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = memchr::memchr2(b'=', b':', bytes.get(at..).unwrap_or_default()) {
        let separator = at + found;
        at = separator + 1;
        let Some((value, end)) = secret_value(word, copied, separator) else { continue };
        masked.push_str(word.get(copied..value).unwrap_or_default());
        masked.push_str(MASK);
        copied = end;
        at = end;
    }
    masked.push_str(word.get(copied..).unwrap_or_default());
    masked
}

/// Where the secret value after the separator at `separator` begins and ends, if it is one. The key lies after `from`.
fn secret_value(word: &str, from: usize, separator: usize) -> Option<(usize, usize)> {
    let bytes = word.as_bytes();
    let before = word.get(from..separator)?;
    let named = before.trim_end_matches(['"', '\'', '\\', ' ']);
    let key_start = named
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c)))
        .map_or(0, |i| i + named.get(i..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    let name = names::of(named.get(key_start..)?);
    if name == Name::Harmless {
        return None;
    }
    let mut value = separator + 1;
    while matches!(bytes.get(value), Some(b' ' | b'\\')) {
        value += 1;
    }
    let quote = bytes.get(value).copied().filter(|b| matches!(b, b'"' | b'\''));
    let end_at = |from: usize, ends: &[u8]| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().position(|b| ends.contains(b)).unwrap_or(rest.len())
    };
    let end = if let Some(quote) = quote {
        value += 1;
        end_at(value, &[quote])
    } else {
        // The value ends at what also parted the key from what stands before it.
        match named.get(..key_start).unwrap_or_default().trim_end_matches(['"', '\'', '\\', ' ']).bytes().next_back() {
            Some(b'?' | b'&') => end_at(value, b"&#\"'"),
            Some(b';') => end_at(value, b";\"'"),
            Some(b',' | b'{' | b'[' | b'(') => end_at(value, b",}])\"'"),
            _ => word.len(),
        }
    };
    let found = word.get(value..end)?;
    // `secret://name` is a reference.
    let is_secret = match name {
        Name::Secret => true,
        Name::Auth => !names::is_way(found),
        _ => looks_secret(found),
    };
    let masked = is_secret && !found.is_empty() && !found.starts_with("//");
    masked.then_some((value, end))
}

/// Masks the password of `scheme://user:password@host`, `user:password@host` and `…oracle:thin:user/password@host`.
pub(super) fn logins(word: &str) -> String {
    let mut masked = String::with_capacity(word.len());
    let mut rest = word;
    let mut met_url = false;
    while let Some(found) = rest.find("://") {
        met_url = true;
        let (head, tail) = rest.split_at(found + 3);
        masked.push_str(head);
        let end = tail.find(|c: char| matches!(c, '"' | '\'' | '<' | '>' | ',') || c.is_whitespace());
        let whole = tail.get(..end.unwrap_or(tail.len())).unwrap_or_default();
        let authority = whole.get(..whole.find(['/', '?', '#']).unwrap_or(whole.len())).unwrap_or_default();
        let at = authority.rfind('@').or_else(|| {
            // "user:pa/ss@host": what follows the colon is no port, so the slash belongs to the password.
            let (_, port) = authority.split_once(':').filter(|(host, _)| !host.starts_with('['))?;
            if port.bytes().all(|b| b.is_ascii_digit()) { None } else { whole.rfind('@') }
        });
        match at {
            Some(at) => {
                let user = tail.get(..at).unwrap_or_default();
                match user.split_once(':') {
                    Some((name, password)) if !password.is_empty() => {
                        masked.push_str(name);
                        masked.push(':');
                        masked.push_str(MASK);
                    }
                    None if looks_secret(user) => masked.push_str(MASK),
                    _ => masked.push_str(user),
                }
                rest = tail.get(at..).unwrap_or_default();
            }
            None => rest = tail,
        }
    }
    masked.push_str(rest);
    if met_url {
        return masked;
    }
    for driver in ["oracle:thin:", "oracle:oci:"] {
        if let Some(at) = masked.find(driver)
            && let (head, tail) = masked.split_at(at + driver.len())
            && let Some(login) = oracle_login(tail)
        {
            return format!("{head}{login}");
        }
    }
    bare_login(&masked).unwrap_or(masked)
}

/// Masks `user:password@host` without a scheme. `image:tag@sha256:…` is none.
fn bare_login(word: &str) -> Option<String> {
    let (user, rest) = word.split_once(':')?;
    let (password, host) = rest.rsplit_once('@')?;
    let user_name = user.rsplit(['=', ',', ';']).next().unwrap_or(user);
    let plain = |s: &str| !s.is_empty() && !s.contains(['/', '@']) && !s.contains(char::is_whitespace);
    let host_like = host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
    if !plain(user_name)
        || user_name.starts_with('-')
        || password.is_empty()
        || !host_like
        || host.starts_with("sha256:")
    {
        return None;
    }
    Some(format!("{user}:{MASK}@{host}"))
}

/// Masks `user/password@database`, and `user/password` without a database.
pub(super) fn oracle_login(word: &str) -> Option<String> {
    let (user, rest) = word.split_once('/')?;
    let plain = !user.is_empty() && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$#=".contains(&b));
    if !plain || rest.is_empty() {
        return None;
    }
    let database = rest.find('@').and_then(|at| rest.get(at..)).unwrap_or_default();
    Some(format!("{user}/{MASK}{database}"))
}

/// Beginnings of tokens, and how many characters follow at the least. From the providers' documentation of their formats, as secret
/// scanners use them.
const TOKENS: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxa-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AIza", 30),
    ("ya29.", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("sk-live-", 6),
    ("sk-test-", 6),
    ("sk-proj-", 6),
    ("sk-ant-", 6),
    ("rk-live-", 6),
    ("sk-", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 28),
    ("hvs.", 20),
    ("dop_v1_", 30),
    ("dckr_pat_", 20),
    ("shpat_", 30),
    ("SG.", 30),
    ("eyJ", 20),
];

/// Paths of web hooks: whoever knows the rest may post there.
const HOOKS: &[&str] =
    &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "/api/webhooks/", "webhook.office.com/"];

/// Masks what follows the path of a web hook.
pub(super) fn hooks(word: &str) -> String {
    let found = HOOKS.iter().find_map(|hook| word.find(hook).map(|at| at + hook.len()));
    let Some((head, tail)) = found.and_then(|at| word.split_at_checked(at)).filter(|(_, tail)| !tail.is_empty()) else {
        return word.to_owned();
    };
    let end = tail.find(|c: char| matches!(c, '"' | '\'' | '<' | '>') || c.is_whitespace()).unwrap_or(tail.len());
    format!("{head}{MASK}{}", tail.get(end..).unwrap_or_default())
}

/// Masks `user:password`, as an option of any program holds it. `1000:1000` is a user and a group, `host:port` no user.
pub(super) fn login(word: &str) -> Option<String> {
    let (user, password) = word.split_once(':')?;
    let plain = !user.is_empty() && user.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-@+\\".contains(&b));
    let is_number = password.bytes().all(|b| b.is_ascii_digit());
    let is_secret = plain && !user.starts_with('-') && !is_number && !password.starts_with("//");
    is_secret.then(|| format!("{user}:{MASK}"))
}

/// Masks `-pPASSWORD`, as clients of MySQL and many others take it, where what follows looks like a password and not like a word,
/// a port, a path or a pair.
pub(super) fn attached_password(word: &str) -> Option<String> {
    let value = word.strip_prefix("-p")?;
    let first = value.bytes().next()?;
    let has = |test: fn(&u8) -> bool| value.bytes().any(|b| test(&b));
    let odd = has(|b| b"!@#$%^&?~".contains(b));
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_password = value.len() >= 4 && (odd || mixed || has(u8::is_ascii_uppercase));
    let is_other = b"/.-:=".contains(&first)
        || value.contains(['=', ':', '/'])
        || value.contains(MASK)
        || value.contains(char::is_whitespace);
    (is_password && !is_other).then(|| format!("-p{MASK}"))
}

/// Masks tokens that are known by how they begin.
pub(super) fn tokens(word: &str) -> String {
    let part_of = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let mut masked = String::with_capacity(word.len());
    let mut rest = word;
    while !rest.is_empty() {
        let start = rest.find(part_of).unwrap_or(rest.len());
        let (before, from_run) = rest.split_at(start);
        masked.push_str(before);
        let (run, after) = from_run.split_at(from_run.find(|c| !part_of(c)).unwrap_or(from_run.len()));
        match token_in(run) {
            Some(at) => {
                masked.push_str(run.get(..at).unwrap_or_default());
                masked.push_str(MASK);
            }
            None => masked.push_str(run),
        }
        rest = after;
    }
    masked
}

/// Where in a run of characters a token begins: at its start, or after a character that is neither letter nor digit.
fn token_in(run: &str) -> Option<usize> {
    TOKENS.iter().find_map(|(prefix, least)| {
        run.match_indices(prefix).map(|(at, _)| at).find(|&at| {
            let boundary = at == 0 || run.as_bytes().get(at - 1).is_some_and(|b| !b.is_ascii_alphanumeric());
            let tail = run.get(at + prefix.len()..).unwrap_or_default();
            let shape = match *prefix {
                // Words such as "sk-learn-examples-…" begin the same way.
                "sk-" => looks_secret(tail),
                // A JSON web token: three parts.
                "eyJ" => tail.matches('.').count() >= 2,
                "AKIA" | "ASIA" => tail.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()),
                _ => true,
            };
            boundary && tail.len() >= *least && shape
        })
    })
}

/// Masks private keys in PEM.
pub(super) fn private_keys(text: &str) -> String {
    const BEGIN: &str = "-----BEGIN ";
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        let (before, block) = rest.split_at(start);
        masked.push_str(before);
        let body = block.get(BEGIN.len()..).unwrap_or_default();
        let title = body.split("-----").next().unwrap_or_default();
        if !title.contains("PRIVATE KEY") {
            masked.push_str(BEGIN);
            rest = body;
            continue;
        }
        masked.push_str(MASK);
        // Up to the line that ends the key, or all that is left.
        rest = match body.find("-----END ") {
            Some(end) => {
                let after = body.get(end + "-----END ".len()..).unwrap_or_default();
                after.find("-----").and_then(|dashes| after.get(dashes + 5..)).unwrap_or_default()
            }
            None => "",
        };
    }
    masked.push_str(rest);
    masked
}

/// Whether a value looks random: long, of the characters of hex, base64 or a UUID, with digits among letters, and of an entropy
/// that words and paths do not reach.
pub(super) fn looks_secret(value: &str) -> bool {
    let value = value.trim_matches(|c| matches!(c, '"' | '\''));
    let bytes = value.as_bytes();
    if bytes.len() < 16 || !bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"+/=_-".contains(b)) {
        return false;
    }
    let path = value.starts_with('/') || bytes.iter().filter(|&&b| b == b'/').count() * 8 > bytes.len();
    let mixed = bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic);
    let hex = bytes.iter().all(u8::is_ascii_hexdigit);
    // Sixteen random hex digits have 3 bits a character on average, random base64 of that length 3.7; English words 2.5 to 3.3.
    !path && mixed && entropy(bytes) >= if hex { 2.6 } else { 3.3 }
}

/// Shannon entropy in bits per byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for &b in bytes {
        if let Some(count) = counts.get_mut(usize::from(b)) {
            *count += 1;
        }
    }
    let total = bytes.len() as f64;
    counts.iter().filter(|&&n| n > 0).map(|&n| f64::from(n) / total).map(|p| -p * p.log2()).sum()
}
