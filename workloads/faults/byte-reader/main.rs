// Reads a file of words byte by byte, straight from the file, against through a buffer.
#[path = "../common/frame.rs"]
mod frame;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

fn words(input: &mut impl Read) -> std::io::Result<u64> {
    let (mut count, mut hash) = (0, 0u64);
    for byte in input.by_ref().bytes() {
        let byte = byte?;
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        count += u64::from(byte == b' ');
    }
    Ok(count + hash % 2)
}

fn main() -> std::io::Result<()> {
    let frame = frame::begin();
    let mut file = File::open(std::env::current_exe()?)?;
    let (bytes, total) = (2048, AtomicU64::new(0));
    file.seek(SeekFrom::Start(0))?;
    let file = Mutex::new(file);
    frame.run("reader", 1, |_| {
        let mut file = file.lock().expect("one thread");
        file.seek(SeekFrom::Start(4096)).expect("seek");
        let part = (&mut *file).take(bytes);
        let count = if frame.slow {
            let mut part = part;
            words(&mut part)
        } else {
            words(&mut BufReader::new(part))
        };
        total.fetch_add(count.expect("read"), Relaxed);
    });
    println!("truth: words {}", total.load(Relaxed));
    frame.lost_share(1.0);
    Ok(())
}
