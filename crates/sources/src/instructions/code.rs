//! The code of what was sampled. Of functions that a process made, as they were when they were sampled; of files, the functions with most samples, at the
//! end of the recording. Each content once, up to a megabyte in all.

use crate::stacks::{Function, Stacks};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// A function has no more, bytes: of a larger one the stretch that holds most samples. Interpreters' loops have as many.
const LONGEST: u64 = 32 << 10;
/// All together, bytes. Half of it for made code, of which there may be many versions.
const MOST: usize = 1 << 20;
/// Functions of files, the hottest ones.
const FUNCTIONS: usize = 200;
/// Where no one knows the bounds of a function, so far before and after what was sampled, bytes.
const REACH: u64 = 512;

/// A row of the table `code`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub number: i64,
    /// The process, of made code.
    pub pid: Option<u32>,
    pub function: Option<Arc<str>>,
    pub module: Option<Arc<str>>,
    pub build_id: Option<Arc<str>>,
    /// Where the first byte lies: in the file, or in the process.
    pub start: u64,
    /// Whether that is where the function begins.
    pub whole: bool,
    pub bytes: Vec<u8>,
}

/// A function of a file, and where in it samples were.
struct Hot {
    samples: u64,
    file: u32,
    range: Range<u64>,
    function: Option<Function>,
    places: Vec<u64>,
}

/// What was kept so far.
#[derive(Debug, Default)]
pub(super) struct Kept {
    last: i64,
    /// Bytes that were kept.
    size: usize,
    /// Made code by process and place, with its content, and the number it has.
    made: HashMap<(u32, u64, Vec<u8>), i64>,
    rows: Vec<Row>,
    /// What found no room.
    pub(super) refused: u64,
}

impl Kept {
    /// Rows since the last call.
    pub(super) fn new_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    fn number(&mut self, size: usize, most: usize) -> Option<i64> {
        if self.size + size > most {
            self.refused += 1;
            return None;
        }
        self.size += size;
        self.last += 1;
        Some(self.last)
    }

    /// Reads the code at sampled addresses of a process (each with the process's number): by address, the number of its row.
    pub(super) fn made(&mut self, stacks: &Stacks, pid: u32, mut sampled: Vec<(u32, u64)>) -> HashMap<u64, i64> {
        sampled.sort_unstable();
        let mut found = HashMap::new();
        // Functions as their maker tells them, and else neighbours together.
        let mut stretches: Vec<(Range<u64>, Option<Function>, Vec<u64>)> = Vec::new();
        for &(process, address) in &sampled {
            if let Some((range, Some(_), addresses)) = stretches.last_mut()
                && range.contains(&address)
            {
                addresses.push(address);
                continue;
            }
            let function = stacks.made(process, address);
            if let (None, Some((range, None, addresses))) = (&function, stretches.last_mut())
                && address < range.end.saturating_add(REACH)
                && address.saturating_add(REACH).saturating_sub(range.start) <= LONGEST
            {
                range.end = address.saturating_add(REACH);
                addresses.push(address);
                continue;
            }
            let around = address.saturating_sub(REACH)..address.saturating_add(REACH);
            let range = function.as_ref().map_or(around, |function| function.range.clone());
            stretches.push((range, function, vec![address]));
        }
        for (range, function, addresses) in stretches {
            let Some(within) = addresses.first().and_then(|&address| stacks.mapping(pid, address)) else { continue };
            let range = range.start.max(within.start)..range.end.min(within.end);
            let range = cut(range, &addresses);
            let Some(bytes) = stacks.memory(pid, &range) else { continue };
            let key = (pid, range.start, bytes);
            let number = match self.made.get(&key) {
                Some(&number) => number,
                None => {
                    let Some(number) = self.number(key.2.len(), MOST / 2) else { continue };
                    let whole = function.as_ref().is_some_and(|f| f.range.start == range.start);
                    self.rows.push(Row {
                        number,
                        pid: Some(pid),
                        function: function.map(|f| f.name),
                        module: None,
                        build_id: None,
                        start: range.start,
                        whole,
                        bytes: key.2.clone(),
                    });
                    self.made.insert(key, number);
                    number
                }
            };
            found.extend(addresses.into_iter().filter(|a| range.contains(a)).map(|address| (address, number)));
        }
        found
    }

    /// Reads the functions of files that have most samples: `sampled` are counts by file and address.
    pub(super) fn files(&mut self, stacks: &Stacks, sampled: &HashMap<(u32, u64), u64>) {
        let mut by_file: BTreeMap<u32, BTreeMap<u64, u64>> = BTreeMap::new();
        for (&(file, address), &count) in sampled {
            *by_file.entry(file).or_default().entry(address).or_default() += count;
        }
        let mut functions: Vec<Hot> = Vec::new();
        for (file, addresses) in by_file {
            for (address, count) in addresses {
                if let Some(hot) = functions.last_mut().filter(|hot| hot.file == file && hot.range.contains(&address)) {
                    hot.samples += count;
                    hot.places.push(address);
                    continue;
                }
                let function = stacks.function(file, address);
                let around = address.saturating_sub(REACH)..address.saturating_add(REACH);
                let range = function.as_ref().map_or(around, |function| function.range.clone());
                functions.push(Hot { samples: count, file, range, function, places: vec![address] });
            }
        }
        functions.sort_by_key(|hot| (std::cmp::Reverse(hot.samples), hot.file, hot.range.start));
        for Hot { file, range, function, places, .. } in functions.into_iter().take(FUNCTIONS) {
            let range = cut(range, &places);
            let Some((module, build_id)) = stacks.file(file) else { continue };
            let Some(bytes) = stacks.code(file, &range) else { continue };
            let Some(number) = self.number(bytes.len(), MOST) else { continue };
            let whole = function.as_ref().is_some_and(|f| f.range.start == range.start);
            self.rows.push(Row {
                number,
                pid: None,
                function: function.map(|f| f.name),
                module: Some(module),
                build_id,
                start: range.start,
                whole,
                bytes,
            });
        }
    }
}

/// Of what is too long, the beginning if that holds the places, or else a stretch around the middle one of them.
pub(super) fn cut(range: Range<u64>, places: &[u64]) -> Range<u64> {
    if range.end - range.start <= LONGEST {
        return range;
    }
    let begin = range.start..range.start + LONGEST;
    if places.iter().all(|place| begin.contains(place)) {
        return begin;
    }
    let middle = places.get(places.len() / 2).copied().unwrap_or(range.start);
    let start = middle.saturating_sub(LONGEST / 2).clamp(range.start, range.end - LONGEST);
    start..start + LONGEST
}

/// As text.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut_around_its_samples() {
        assert_eq!(cut(100..200, &[150]), 100..200);
        assert_eq!(cut(0..100_000, &[10, 4000]), 0..LONGEST);
        assert_eq!(cut(0..100_000, &[90_000]), 100_000 - LONGEST..100_000);
        assert_eq!(cut(0..1_000_000, &[10, 500_000, 600_000]), 500_000 - LONGEST / 2..500_000 + LONGEST / 2);
    }

    #[test]
    fn code_of_this_process_is_read_from_its_memory_and_its_file() {
        let stacks = Stacks::default();
        let pid = std::process::id();
        let address = hexadecimal as fn(&[u8]) -> String as usize as u64;
        // As if it were made: nobody tells its bounds.
        let mut kept = Kept::default();
        stacks.site(pid, address);
        let found = kept.made(&stacks, pid, vec![(u32::MAX, address), (u32::MAX, address + 40)]);
        assert_eq!(found.len(), 2);
        assert_eq!(kept.made(&stacks, pid, vec![(u32::MAX, address), (u32::MAX, address + 40)]), found, "kept once");
        let rows = kept.new_rows();
        assert_eq!(rows.len(), 1);
        assert!(!rows[0].whole && rows[0].start == address - REACH && rows[0].bytes.len() == 2 * REACH as usize + 40);
        let crate::stacks::Site::File(file, place) = stacks.site(pid, address).1 else { panic!("a file") };
        kept.files(&stacks, &HashMap::from([((file, place + 1), 5), ((file, place + 3), 2)]));
        let rows = kept.new_rows();
        assert_eq!(rows.len(), 1);
        assert!(rows[0].whole && rows[0].function.as_deref().is_some_and(|name| name.contains("hexadecimal")));
        assert_eq!(rows[0].number, 2);
    }

    #[test]
    fn a_megabyte_is_the_most() {
        let mut kept = Kept::default();
        assert_eq!(kept.number(MOST, MOST), Some(1));
        assert_eq!((kept.number(1, MOST), kept.refused), (None, 1));
    }
}
