//! Runs of APerf: bytes as one of their files, and archives. The texts are replayed to the sources, which `sources` fuzzes too.
#![no_main]

use import::{Options, Profile, parse};
use libfuzzer_sys::fuzz_target;

/// An archive with one file.
fn archive(name: &str, content: &[u8]) -> Vec<u8> {
    let mut head = vec![0; 512];
    head[..name.len()].copy_from_slice(name.as_bytes());
    head[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    head[156] = b'0';
    head[257..262].copy_from_slice(b"ustar");
    head.extend(content);
    head.resize(head.len().next_multiple_of(512), 0);
    head
}

/// Records whose texts are these.
fn records(texts: &[u8], count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (second, text) in texts.split(|byte| *byte == 0xff).take(3).enumerate() {
        bytes.extend([0; 8]);
        bytes.extend(20_u64.to_le_bytes());
        bytes.extend(format!("2026-01-30T08:25:{second:02}Z").bytes());
        for _ in 0..count {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text);
        }
    }
    bytes
}

const NAMES: [&str; 8] =
    ["cpu_utilization", "vmstat", "diskstats", "interrupts", "meminfo", "netstat", "memalloc", "numastat"];

fuzz_target!(|data: &[u8]| {
    let Some((which, rest)) = data.split_first() else { return };
    let mut profile = Profile::new(Options { symbols: false, ..Options::default() });
    let name = NAMES[usize::from(which % 8)];
    let content = if which & 0x40 == 0 { rest.to_vec() } else { records(rest, if name == "memalloc" { 3 } else { 1 }) };
    let bytes = if which & 0x80 == 0 { archive(&format!("run/{name}.bin"), &content) } else { rest.to_vec() };
    drop(parse(&bytes, &mut profile));
});
