//! Parsers of words and lines: what the kernel writes, command lines with secrets, and the options of the program. The first byte
//! chooses which.
#![no_main]

use compare::{Choice, Condition};
use libfuzzer_sys::fuzz_target;
use sources::{mask, parse};

fn kernel_text(bytes: &[u8]) {
    parse::unescape(bytes);
    parse::list(bytes);
    for line in parse::lines(bytes) {
        if let Some((_, _, words)) = parse::zone(line) {
            words.rest();
        }
        let mut cells = [0; 4];
        parse::fill(&mut parse::words(line), &mut cells);
        for word in parse::words(line) {
            assert!(!word.is_empty());
            parse::number(word);
            parse::hex(word);
            parse::fixed(word, 3);
        }
    }
}

fn secrets(bytes: &[u8]) {
    let words = mask::split(bytes);
    assert_eq!(mask::arguments(&words).len(), words.len());
    mask::command_line(bytes, false);
    mask::text(&String::from_utf8_lossy(bytes));
}

fuzz_target!(|data: &[u8]| {
    let Some((which, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    match which % 4 {
        0 => kernel_text(rest),
        1 => secrets(rest),
        2 => {
            if let Ok(Condition::Change { fraction, metric, .. }) = Condition::parse(&text) {
                assert!(fraction.is_finite() && fraction >= 0.0 && !metric.is_empty());
            }
        }
        _ => {
            let _ = Choice::parse(&text, |t| recorder::duration(t).ok().map(|d| d.as_secs_f64()));
            if let Ok(time) = recorder::duration(&text) {
                assert!(time.as_nanos() >= 1_000_000 && u64::try_from(time.as_nanos()).is_ok());
            }
        }
    }
});
