//! Texts from outside, made safe to show. Every text that a file, a program or a host can choose goes through here before anybody sees it.

/// The text with a replacement for each character that drives a terminal, begins a line of its own, hides text or turns it round (Unicode's controls,
/// formats and separators, UAX #9): names must not forge what people read, nor what language models do.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// The same for a text of several lines, which may keep them.
pub fn clean_lines(text: &str) -> String {
    text.chars().map(|c| if is_harmful(c) && c != '\n' { '\u{fffd}' } else { c }).collect()
}

/// The text as a cell of CSV: clean, and with an apostrophe where a spreadsheet would take it for a formula
/// (OWASP, "CSV Injection"). What is a number stays one.
pub fn csv_cell(text: &str) -> String {
    // The first character counts before it is replaced: a spreadsheet removes some.
    let formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}']);
    if formula && text.parse::<f64>().is_err() { format!("'{}", clean(text)) } else { clean(text) }
}

/// Whether a character is one that [`clean`] replaces.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_drive_a_terminal_or_forge_or_hide_text() {
        assert_eq!(clean("a\x1b[31mb\u{9b}c"), "a\u{fffd}[31mb\u{fffd}c");
        assert_eq!(
            clean("a\nb\u{202e}c\u{2066}d\u{200b}e\u{e0041}f\u{2028}é 漢"),
            "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}f\u{fffd}é 漢"
        );
        assert_eq!(clean_lines("a\n\x07\u{202e}b"), "a\n\u{fffd}\u{fffd}b");
    }

    #[test]
    fn a_spreadsheet_runs_no_cell() {
        for formula in ["=cmd|' /C calc'!A0", "+1+2", "-bash", "@SUM(A1)", "\t=1", "\r=1", "\u{ff1d}1"] {
            assert!(csv_cell(formula).starts_with('\''), "{formula:?}");
        }
        assert_eq!(["a=b", "", "java", "a\x1bb", "-1.5"].map(csv_cell), ["a=b", "", "java", "a\u{fffd}b", "-1.5"]);
    }
}
