//! Archives as `tar` writes them: names and contents of plain files.

/// A block of an archive.
const BLOCK: usize = 512;

/// Most files that are looked at.
const MOST: usize = 10_000;

pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

/// The files of an archive, up to where it is damaged.
pub(crate) fn files(bytes: &[u8]) -> Vec<(String, &[u8])> {
    let mut found = Vec::new();
    let mut rest = bytes;
    // A name that does not fit into the head of its file comes before it.
    let mut long: Option<String> = None;
    while found.len() < MOST {
        let Some((head, after)) = rest.split_at_checked(BLOCK) else { break };
        let Some(size) = octal(head.get(124..136).unwrap_or_default()) else { break };
        let Some(content) = after.get(..size) else { break };
        if head.iter().all(|byte| *byte == 0) {
            break;
        }
        match head.get(156) {
            Some(b'L') => long = Some(text(content)),
            Some(b'0' | 0) => {
                let name = long.take().unwrap_or_else(|| text(head.get(..100).unwrap_or_default()));
                found.push((name, content));
            }
            _ => {}
        }
        rest = after.get(size.next_multiple_of(BLOCK)..).unwrap_or_default();
    }
    found
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned()
}

fn octal(bytes: &[u8]) -> Option<usize> {
    let digits = std::str::from_utf8(bytes).ok()?.trim_matches(['\0', ' ']);
    if digits.is_empty() { Some(0) } else { usize::from_str_radix(digits, 8).ok().filter(|size| *size < 1 << 32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(name: &str, size: usize, kind: u8) -> Vec<u8> {
        let mut head = vec![0; BLOCK];
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
        head[156] = kind;
        head[257..262].copy_from_slice(b"ustar");
        head
    }

    #[test]
    fn plain_files_with_long_names_too() {
        let mut bytes = head("run/", 0, b'5');
        bytes.extend(head("run/a", 3, b'0'));
        bytes.extend(b"abc");
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes.extend(head("././@LongLink", 5, b'L'));
        bytes.extend(b"long\0");
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes.extend(head("lo", 0, b'0'));
        bytes.extend([0; 2 * BLOCK]);
        assert!(looks_like(&bytes));
        let names: Vec<(String, usize)> = files(&bytes).into_iter().map(|(name, c)| (name, c.len())).collect();
        assert_eq!(names, [("run/a".to_owned(), 3), ("long".to_owned(), 0)]);
        // One that was cut off.
        assert_eq!(files(&bytes[..2 * BLOCK + 1]).len(), 0);
    }
}
