//! A whole recording file: the input itself as the file where its first byte is 0, else a sound recording with bytes written over, each
//! change as a 32-bit place, a length, and the bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(init: common::tolerate_parquet(), |data: &[u8]| {
    drop(common::fresh());
    let path = common::damaged();
    if let Some((0, file)) = data.split_first() {
        std::fs::write(&path, file).expect("room for a small file");
    } else {
        let mut file = common::FINISHED.clone();
        let mut rest = data;
        while let Some((place, after)) = rest.split_first_chunk::<4>() {
            let Some((length, after)) = after.split_first() else { break };
            let (with, after) = after.split_at(usize::from(*length % 32).min(after.len()));
            let place = u32::from_le_bytes(*place) as usize % file.len();
            if with.is_empty() {
                file.truncate(place.max(100));
            }
            for (to, with) in file.iter_mut().skip(place).zip(with) {
                *to = *with;
            }
            rest = after;
        }
        std::fs::write(&path, file).expect("room for a small file");
    }
    common::read_all(&path);
});
