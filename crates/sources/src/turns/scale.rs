//! The ranges by which times are counted: sixteen to each power of two, so that a quantile is known to some per cent of itself, from a microsecond to a minute.

/// `LOWEST`, `OCTAVES`, `PARTS_BITS` of turns.h.
const LOWEST: u32 = 10;
const OCTAVES: u32 = 26;
const PARTS_BITS: u32 = 4;
const PARTS: u32 = 1 << PARTS_BITS;
/// How many there are: `TIMES` of turns.h.
pub(super) const TIMES: usize = (OCTAVES * PARTS + 2) as usize;

/// The range of bucket `at`, nanoseconds. The last one is open: what is given as its end is twice its beginning.
pub(super) fn range(at: usize) -> (u64, u64) {
    let Some(place) = u32::try_from(at).ok().and_then(|at| at.checked_sub(1)) else { return (0, 1 << LOWEST) };
    let (octave, part) = ((place / PARTS).min(OCTAVES), u64::from(place % PARTS));
    let begin = 1_u64 << (LOWEST + octave);
    if octave == OCTAVES {
        return (begin, begin * 2);
    }
    let width = begin >> PARTS_BITS;
    (begin + part * width, begin + (part + 1) * width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lie_side_by_side_and_are_narrow() {
        let mut end = 0;
        for at in 0..TIMES {
            let (low, high) = range(at);
            assert!(low == end && high > low, "{at}: {low} to {high} after {end}");
            assert!(at == 0 || at == TIMES - 1 || (high - low) * 16 <= low, "{at}: {low} to {high}");
            end = high;
        }
        assert_eq!(range(TIMES - 1).0, 1 << 36);
        assert_eq!(range(1), (1024, 1088));
    }
}
