//! Lines of `/proc/PID/maps` (proc_pid_maps(5)).

use super::kernel::hexadecimal;

/// A stretch of a process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub start: u64,
    pub end: u64,
    /// Where it begins in its file.
    pub offset: u64,
    pub major: u32,
    pub minor: u32,
    /// 0 where there is no file.
    pub inode: u64,
    /// Path or name; empty for anonymous memory.
    pub path: &'a [u8],
}

/// The executable stretches in the text of `/proc/PID/maps`.
pub(super) fn executable(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    text.split(|&b| b == b'\n').filter_map(|text| line(text, |permissions| permissions.get(2) == Some(&b'x')))
}

/// All stretches in that text, and whether what is written there is written for all who have mapped it.
pub(super) fn all(text: &[u8]) -> impl Iterator<Item = (Line<'_>, bool)> {
    text.split(|&b| b == b'\n').filter_map(|text| {
        let mut shared = false;
        let line = line(text, |permissions| {
            shared = permissions.get(3) == Some(&b's');
            true
        })?;
        Some((line, shared))
    })
}

fn line(text: &[u8], wanted: impl FnOnce(&[u8]) -> bool) -> Option<Line<'_>> {
    let (mut rest, mut words) = (text, [&text[..0]; 5]);
    for word in &mut words {
        let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        (*word, rest) = rest.split_at_checked(end)?;
        rest = rest.trim_ascii_start();
    }
    let [range, permissions, offset, device, inode] = words;
    if !wanted(permissions) {
        return None;
    }
    let pair = |text: &[u8], by: u8| -> Option<(u64, u64)> {
        let at = memchr::memchr(by, text)?;
        Some((hexadecimal(text.get(..at)?)?, hexadecimal(text.get(at + 1..)?)?))
    };
    let (start, end) = pair(range, b'-').filter(|(start, end)| start < end)?;
    let (major, minor) = pair(device, b':')?;
    let inode = std::str::from_utf8(inode).ok()?.parse().ok()?;
    Some(Line { start, end, offset: hexadecimal(offset)?, major: major as u32, minor: minor as u32, inode, path: rest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_understood() {
        let text = b"55d0c0a00000-55d0c0a02000 r--p 00000000 fe:00 1234                       /usr/bin/a b\n\
            55d0c0a02000-55d0c0a06000 r-xp 00002000 fe:00 1234                       /usr/bin/a b (deleted)\n\
            7ffd8f3c1000-7ffd8f3c3000 r-xp 00000000 00:00 0                          [vdso]\n\
            7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \nff\n";
        let lines: Vec<_> = executable(text).collect();
        assert_eq!(lines.len(), 3);
        assert_eq!((lines[0].start, lines[0].offset, lines[0].inode), (0x55d0_c0a0_2000, 0x2000, 1234));
        assert_eq!((lines[0].major, lines[0].path), (0xfe, &b"/usr/bin/a b (deleted)"[..]));
        assert_eq!((lines[1].path, lines[2].path), (&b"[vdso]"[..], &b""[..]));
        assert_eq!(all(text).count(), 4);
        let shared = b"7f0000000000-7f0000010000 rw-s 00001000 00:1a 77   /dev/shm/x\n";
        let shared: Vec<_> = all(shared).map(|(line, shared)| (line.inode, line.offset, shared)).collect();
        assert_eq!(shared, [(77, 0x1000, true)]);
    }

    proptest! {
        #[test]
        fn foreign_bytes_never_panic(bytes: Vec<u8>) {
            executable(&bytes).for_each(drop);
        }
        #[test]
        fn foreign_lines_never_panic(text in "([0-9a-f-]{0,30}[ \n]{0,2}[r-][w-][x-]p?[ 0-9a-f:]{0,30}){0,8}") {
            executable(text.as_bytes()).for_each(drop);
        }
    }
}
