//! What load generators and benchmark runners print, for the readers of all of them. Numbers that come of it are some.
#![no_main]

use libfuzzer_sys::fuzz_target;
use formats::{Format, read};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    for format in Format::ALL {
        let Ok(numbers) = read(format, &text) else { continue };
        for name in numbers.names() {
            let (value, _) = numbers.value(&name).expect("what is named is there");
            assert!(value.is_finite() && value >= 0.0);
        }
        assert!(numbers.quantiles.is_sorted_by(|a, b| a.0 < b.0));
        assert!(numbers.quantiles.iter().all(|(share, time)| *share <= 1.0 && time.is_finite() && *time >= 0.0));
    }
});
