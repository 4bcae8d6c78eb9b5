//! The innermost frame of compiled code: it may not be there yet, or not any more. Which instructions have been executed is told by the code before and at
//! the place where the thread was.

/// Bytes of code before a place, and from it on, that are looked at.
pub(super) const BEFORE: u64 = 16;
pub(super) const BEHIND: usize = 32;
/// The first instructions of a method that make its frame are shorter.
pub(super) const LONGEST_ENTRY: u64 = 96;

/// What lies between the stack pointer and the return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// The whole frame.
    Frame,
    /// So many bytes; and where in them the caller's frame pointer lies, if it is there.
    Bytes { size: u64, saved: Option<u64> },
}

/// Nothing.
pub(super) const TOP: Leave = Leave::Bytes { size: 0, saved: None };
/// The caller's frame pointer.
pub(super) const POINTER: Leave = Leave::Bytes { size: 8, saved: Some(0) };

/// Behind the making of the frame: whether the place is among the last instructions, which take it away: `add rsp, N`, `pop rbp`, a poll whether the thread
/// is to stop, `ret`. `before` are [`BEFORE`] bytes before the place.
pub(super) fn of_last(before: &[u8], code: &[u8]) -> Leave {
    let popped = before.last() == Some(&0x5d);
    match code {
        [0xc3, ..] => TOP,
        [0x5d, ..] => POINTER,
        // cmp rsp, [r15 + N]: polls since 16.
        [0x49, 0x3b, 0x67 | 0xa7, ..] if popped => TOP,
        // ja, past which lies the return.
        [0x0f, 0x87, _, _, _, _, 0xc3, ..] => TOP,
        // mov r10, [r15 + N]; test [r10], eax: polls since 10.
        [0x4d, 0x8b, 0x97, ..] if popped => TOP,
        [0x41, 0x85, 0x02, 0xc3, ..] => TOP,
        // test [rip + N], eax: polls before.
        [0x85, 0x05, _, _, _, _, 0xc3, ..] => TOP,
        // vzeroupper before one of these.
        [0xc5, 0xf8, 0x77, 0x5d, ..] => POINTER,
        _ => Leave::Frame,
    }
}

/// Where the frame is being made: what the instructions from the entry up to a place `until` bytes behind it have done. `None` where one of them is not known.
pub(super) fn of_first(entry: &[u8], until: usize) -> Option<Leave> {
    let (mut at, mut size, mut saved) = (0, 0u64, None);
    while at < until {
        let code = entry.get(at..)?;
        let int = |from: usize| code.get(from..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        let moved = |saved: Option<u64>, by: u64| saved.map(|place| place + by);
        at += match code {
            // push rbp
            [0x55, ..] => {
                (size, saved) = (size + 8, Some(0));
                1
            }
            // mov rbp, rsp
            [0x48, 0x8b, 0xec, ..] | [0x48, 0x89, 0xe5, ..] => 3,
            // sub rsp, N
            [0x48, 0x83, 0xec, by, ..] => {
                (size, saved) = (size + u64::from(*by), moved(saved, (*by).into()));
                4
            }
            [0x48, 0x81, 0xec, ..] => {
                let by = u64::from(int(3)?);
                (size, saved) = (size + by, moved(saved, by));
                7
            }
            // mov [rsp + N], rbp
            [0x48, 0x89, 0x6c, 0x24, place, ..] => {
                saved = Some(u64::from(*place));
                5
            }
            [0x48, 0x89, 0xac, 0x24, ..] => {
                saved = Some(u64::from(int(4)?));
                8
            }
            // mov [rsp - N], eax: makes sure that there is room on the stack.
            [0x89, 0x84, 0x24, ..] => 7,
            // Nothing, in various lengths, and landing pads for indirect calls.
            [0x90, ..] => 1,
            [0x66, 0x90, ..] => 2,
            [0xf3, 0x0f, 0x1e, 0xfa, ..] => 4,
            [0x0f, 0x1f, 0x00, ..] => 3,
            [0x0f, 0x1f, 0x40, ..] => 4,
            [0x0f, 0x1f, 0x44, ..] => 5,
            [0x66, 0x0f, 0x1f, 0x44, ..] => 6,
            [0x0f, 0x1f, 0x80, ..] => 7,
            [0x0f, 0x1f, 0x84, ..] => 8,
            _ => return None,
        };
    }
    // A place within an instruction is none.
    (at == until).then_some(Leave::Bytes { size, saved })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_that_are_being_made() {
        // C1 and C2: mov [rsp - 0x14000], eax; push rbp; sub rsp, 0x30.
        let code = [0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x30, 0x90];
        assert_eq!(of_first(&code, 0), Some(TOP));
        assert_eq!(of_first(&code, 7), Some(TOP));
        assert_eq!(of_first(&code, 8), Some(POINTER));
        assert_eq!(of_first(&code, 12), Some(Leave::Bytes { size: 0x38, saved: Some(0x30) }));
        assert_eq!((of_first(&code, 9), of_first(&code, 20)), (None, None));
        // Small frames of C2: sub rsp, 0x18; mov [rsp + 0x10], rbp.
        let code = [0x48, 0x81, 0xec, 0x18, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x10];
        assert_eq!(of_first(&code, 7), Some(Leave::Bytes { size: 0x18, saved: None }));
        assert_eq!(of_first(&code, 12), Some(Leave::Bytes { size: 0x18, saved: Some(0x10) }));
        // Something else.
        assert_eq!(of_first(&[0xe8, 0, 0, 0, 0], 5), None);
    }

    #[test]
    fn frames_that_are_taken_away() {
        assert_eq!(of_last(&[0x90, 0x5d], &[0xc3]), TOP);
        assert_eq!(of_last(&[0x48], &[0x5d, 0xc3]), POINTER);
        assert_eq!(of_last(&[0x5d], &[0x49, 0x3b, 0xa7, 0x40, 3, 0, 0, 0x0f, 0x87]), TOP);
        // A poll within a loop.
        assert_eq!(of_last(&[0x01], &[0x49, 0x3b, 0xa7, 0x40, 3, 0, 0, 0x0f, 0x87]), Leave::Frame);
        assert_eq!(of_last(&[], &[]), Leave::Frame);
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(before: Vec<u8>, code: Vec<u8>, until in 0usize..200) {
            let _ = (of_last(&before, &code), of_first(&code, until));
        }
    }
}
