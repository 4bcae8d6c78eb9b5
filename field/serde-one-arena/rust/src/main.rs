use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

static DONE: AtomicU64 = AtomicU64::new(0);

fn main() {
    let seconds: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut text = String::from("[");
    for i in 0..1000 {
        text += &format!("{{\"id\":{i},\"name\":\"someone called number {i}\",\"tags\":[\"red and green {i}\",\"blue\"],\"at\":{{\"x\":1.5,\"y\":{i}}}}},");
    }
    text += "null]";
    for _ in 0..4 {
        let text = text.clone();
        std::thread::spawn(move || loop {
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(value.as_array().unwrap().len(), 1001);
            drop(value);
            DONE.fetch_add(1, Ordering::Relaxed);
        });
    }
    for _ in 0..seconds * 2 {
        std::thread::sleep(Duration::from_millis(500));
        println!("done {}", DONE.load(Ordering::Relaxed));
    }
}
