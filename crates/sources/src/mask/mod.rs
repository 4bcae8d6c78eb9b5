//! Masks secrets in command lines. Everything that stores words which someone typed (command lines of processes, the kernel
//! command line, the recorded command, flags of runtimes, mount options) passes them through here, unless the user asked for
//! them unmasked ([`crate::Scope::unmasked`]).
//!
//! Masked, each by [`MASK`], with the words around it kept:
//! - values of arguments whose name says that they are secret: `--password=x`, `--api-key x`, `-Ddb.password=x`, `TOKEN=x`,
//!   `Authorization: Bearer x`, `{"secret":"x"}`, `…;Password=x;…`, `?sig=x&…`;
//! - options of programs known to take a password there: `mysql -px`, `sshpass -p x`, `curl -u user:x`, `redis-cli -a x` …;
//! - what such options hold in any program: `-u user:x`, `--auth user:x`, and `-px` where x looks like a password;
//! - passwords in URLs and connection strings: `scheme://user:x@host`, `user:x@host`, `jdbc:oracle:thin:user/x@host`;
//! - values with the look of a secret (long, random) after names such as `key`, `auth`, `session`;
//! - tokens known by their shape, wherever they stand: AWS, GitHub, GitLab, Slack, Google, JWT, private keys in PEM …
//!
//! A masked value may have been harmless; where in doubt, it is masked. What cannot be told from an ordinary word
//! (a password given as a bare positional argument to a program that is not known here) is not.

mod names;
mod shapes;

use names::{Name, OPTIONS, Taken};

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// How deep words within words are looked into: `ssh host "sh -c 'mysql -px'"`.
const DEPTH: u8 = 4;

/// The arguments of a process, as `/proc/PID/cmdline` holds them: each ended by a NUL. A process that has overwritten them with a
/// title of its own yields that title as its only argument.
pub fn split(cmdline: &[u8]) -> Vec<String> {
    let trimmed =
        cmdline.iter().rposition(|&b| b != 0).map_or(&[][..], |last| cmdline.get(..=last).unwrap_or_default());
    if trimmed.is_empty() {
        return Vec::new();
    }
    trimmed.split(|&b| b == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// The command line of a process, from the bytes of `/proc/PID/cmdline`: its arguments separated by spaces, with secrets masked
/// unless `unmasked`. Empty for kernel threads and zombies.
pub fn command_line(cmdline: &[u8], unmasked: bool) -> String {
    let words = split(cmdline);
    if unmasked { words.join(" ") } else { arguments(&words).join(" ") }
}

/// The arguments of a command, with secrets masked. As many as were given, in their order.
pub fn arguments<S: AsRef<str>>(words: &[S]) -> Vec<String> {
    let mut reader = Reader::new(DEPTH);
    words.iter().map(|word| reader.word(word.as_ref())).collect()
}

/// A line of words (a kernel command line, a process title, a script given to a shell), with secrets masked. White space is kept.
pub fn text(line: &str) -> String {
    text_within(line, DEPTH)
}

fn text_within(line: &str, depth: u8) -> String {
    let line = shapes::private_keys(line);
    let mut reader = Reader::new(depth);
    let mut masked = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while !rest.is_empty() {
        let start = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        let (space, from_word) = rest.split_at(start);
        masked.push_str(space);
        let (word, after) = from_word.split_at(word_end(from_word));
        if !word.is_empty() {
            masked.push_str(&reader.word(word));
        }
        rest = after;
    }
    masked
}

/// Where the first word of `text` ends: at white space outside quotes. A quote that is never closed is an ordinary character.
fn word_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' => {
                let rest = bytes.get(at + 1..).unwrap_or_default();
                at += memchr::memchr(byte, rest).map_or(1, |length| length + 2);
            }
            b'\\' => at += 2,
            _ if byte.is_ascii_whitespace() => return at,
            _ => at += 1,
        }
    }
    // A backslash may have skipped beyond the end, or into a character of several bytes.
    let mut end = at.min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    end
}

/// What the next word is, as far as the words before it tell.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// Nothing is known.
    Plain,
    /// A secret.
    Secret,
    /// A secret if it looks like one.
    Perhaps,
    /// A secret unless it names a way to log in.
    Auth,
    /// `name:secret` or `name%secret`.
    After(char),
    /// Perhaps `name:secret`, as many programs take it.
    Login,
}

/// Reads the words of one command from left to right.
struct Reader {
    next: Next,
    /// What the last word would make of the next one if `=` or `:` stood between them.
    named: Name,
    /// Options that take secrets, of the last program that was met.
    options: &'static [(&'static str, Taken)],
    /// Whether the program takes `user/password@database`.
    oracle: bool,
    depth: u8,
}

impl Reader {
    fn new(depth: u8) -> Self {
        Reader { next: Next::Plain, named: Name::Harmless, options: &[], oracle: false, depth }
    }

    fn word(&mut self, word: &str) -> String {
        let named = std::mem::replace(&mut self.named, Name::Harmless);
        let next = std::mem::replace(&mut self.next, Next::Plain);
        if matches!(next, Next::Login | Next::Auth)
            && let Some(masked) = shapes::login(word)
        {
            return masked;
        }
        match next {
            Next::Secret if names::is_scheme(word) || is_separator(word) => {
                self.next = Next::Secret;
                return word.to_owned();
            }
            // A word that begins with a dash is an option, unless it is as random as a key.
            Next::Secret if !word.starts_with('-') || shapes::looks_secret(word) => return MASK.to_owned(),
            // An option with a value of its own is looked at by itself.
            Next::Perhaps if shapes::looks_secret(word) && !is_option_with_value(word) => return MASK.to_owned(),
            Next::Auth if !word.starts_with('-') && !names::is_way(word) => return MASK.to_owned(),
            Next::After(separator) if !word.starts_with('-') => {
                return match word.split_once(separator) {
                    Some((name, _)) => format!("{name}{separator}{MASK}"),
                    None => word.to_owned(),
                };
            }
            _ => {}
        }
        if is_separator(word) {
            self.next = named.next();
            return word.to_owned();
        }
        if let Some(quoted) = quoted(word) {
            return self.quoted(word, quoted);
        }
        self.meet_program(word);
        if let Some(masked) = self.known_option(word) {
            return masked;
        }
        if let Some(masked) = shapes::attached_password(word).or_else(|| header(word)) {
            return masked;
        }
        if word.contains(char::is_whitespace) && self.depth > 0 {
            return text_within(word, self.depth - 1);
        }
        if self.oracle
            && let Some(masked) = shapes::oracle_login(word)
        {
            return masked;
        }
        self.expect_value(word);
        shapes::tokens(&shapes::hooks(&shapes::logins(&shapes::pairs(&shapes::private_keys(word)))))
    }

    /// Looks into a quoted word, which may be a command of its own.
    fn quoted(&mut self, word: &str, inner: &str) -> String {
        let quote = word.get(..1).unwrap_or_default();
        if self.depth == 0 {
            return shapes::tokens(&shapes::logins(&shapes::pairs(word)));
        }
        self.depth -= 1;
        let masked = self.word(inner);
        self.depth += 1;
        format!("{quote}{masked}{quote}")
    }

    /// Remembers the options of a program. It need not be the first word: `sudo -u db mysql -px`.
    fn meet_program(&mut self, word: &str) {
        let name = word.rsplit('/').next().unwrap_or(word);
        if let Some((_, options)) = OPTIONS.iter().find(|(programs, _)| programs.contains(&name)) {
            self.options = options;
        }
        self.oracle |= names::ORACLE.contains(&name);
    }

    /// Masks an option that is known to take a secret for this program.
    fn known_option(&mut self, word: &str) -> Option<String> {
        let (option, taken) = self.options.iter().find(|(option, _)| word.starts_with(option))?;
        let attached = word.get(option.len()..)?;
        if attached.is_empty() {
            self.next = match taken {
                Taken::AttachedOnly => Next::Plain,
                Taken::Whole => Next::Secret,
                Taken::After(separator) => Next::After(*separator),
            };
            return Some(word.to_owned());
        }
        if option.starts_with("--") && !attached.starts_with('=') {
            return None;
        }
        let equals = if attached.starts_with('=') { "=" } else { "" };
        match taken {
            Taken::After(separator) => {
                let (name, _) = attached.split_once(*separator)?;
                Some(format!("{option}{name}{separator}{MASK}"))
            }
            _ => Some(format!("{option}{equals}{MASK}")),
        }
    }

    /// Decides what the word makes of the next one.
    fn expect_value(&mut self, word: &str) {
        if names::LOGINS.contains(&word) && names::of(word) != Name::Secret {
            self.next = if names::of(word) == Name::Auth { Next::Auth } else { Next::Login };
            return;
        }
        let name = word.trim_matches(|c| matches!(c, '"' | '\'' | '{' | '[' | '('));
        if let Some(name) = name.strip_suffix([':', '=']) {
            self.next = names::of(name.trim_end_matches(['"', '\''])).next();
        } else if name.starts_with('-') {
            if !name.contains(['=', ':']) {
                self.next = names::of(name).next();
            }
        } else if names::is_scheme(name) || matches!(name, "password" | "passwd" | "passphrase") {
            self.next = if names::is_scheme(name) { Next::Perhaps } else { Next::Secret };
        } else if !name.contains(['=', ':', '/']) {
            self.named = names::of(name);
        }
    }
}

impl Name {
    fn next(self) -> Next {
        match self {
            Name::Secret => Next::Secret,
            Name::Perhaps => Next::Perhaps,
            Name::Auth => Next::Auth,
            Name::Harmless => Next::Plain,
        }
    }
}

/// Whether the word is `--name=value`; padding at the end of base64 is no value.
fn is_option_with_value(word: &str) -> bool {
    word.starts_with('-') && word.split_once('=').is_some_and(|(_, value)| !value.trim_matches('=').is_empty())
}

/// Whether the word stands between a name and its value.
fn is_separator(word: &str) -> bool {
    matches!(word, "=" | ":" | "=>")
}

/// What is between the quotes of a word that is quoted as a whole.
fn quoted(word: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| {
        let inner = word.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    })
}

/// Masks the value of a header such as `Authorization: Bearer x` or `X-Api-Key: x`.
fn header(word: &str) -> Option<String> {
    let (name, value) = word.split_once(':')?;
    let simple = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    let value = value.trim_start();
    if !simple || value.is_empty() || value.starts_with("//") || names::of(name) != Name::Secret {
        return None;
    }
    let space = word.get(name.len() + 1..word.len() - value.len())?;
    Some(format!("{name}:{space}{MASK}"))
}

#[cfg(test)]
mod tests;
