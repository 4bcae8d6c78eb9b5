//! Names from outside as text that is safe to show.

/// The text with a replacement for each control character: names from recordings must not drive a terminal, nor begin lines of their own.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_drive_the_terminal() {
        assert_eq!(clean("a\x1b[31mb"), "a\u{fffd}[31mb");
    }
}
