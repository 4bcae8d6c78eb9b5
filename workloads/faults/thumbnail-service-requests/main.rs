// A thumbnail service: a listener receives requests and has each answered: in the slow variant by a thread that it starts for
// the request, in the fast one by a pool of threads that stay.
#[path = "../common/pace.rs"]
mod pace;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;

const SIDE: usize = 96;

struct Request {
    picture: u32,
    answer: SyncSender<[u8; 12]>,
}

/// Takes the mean of each block of a picture, and packs a few of them.
#[inline(never)]
fn shrink(picture: u32) -> [u8; 12] {
    let mut value = u64::from(picture) | 1;
    let mut small = [0u8; 12];
    let mut blocks = [0u32; SIDE];
    for row in 0..SIDE {
        for block in &mut blocks {
            value = value.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *block += (value >> 56) as u32;
        }
        small[row % 12] ^= (blocks[row] / SIDE as u32) as u8;
    }
    small
}

fn answer(request: Request) {
    // A client that has left needs no answer.
    request.answer.send(shrink(request.picture)).ok();
}

/// Who answers: a pool, or a new thread each time.
enum Staff {
    Pool(SyncSender<Request>),
    New,
}

impl Staff {
    fn hand(&self, request: Request) {
        match self {
            Staff::Pool(queue) => queue.send(request).expect("the pool works"),
            Staff::New => {
                Builder::new().name("answer".into()).spawn(move || answer(request)).expect("a thread");
            }
        }
    }
}

fn hire(count: usize) -> Staff {
    let (queue, requests) = sync_channel(64);
    let requests: Arc<Mutex<Receiver<Request>>> = Arc::new(Mutex::new(requests));
    for _ in 0..count {
        let requests = requests.clone();
        let work = move || loop {
            let request = requests.lock().expect("no worker panics").recv();
            match request {
                Ok(request) => answer(request),
                Err(_) => return,
            }
        };
        Builder::new().name("answer".into()).spawn(work).expect("a thread");
    }
    Staff::Pool(queue)
}

/// A client and the listener's side of it, over a socket: groups of requests, and their answers.
fn browse(staff: &Staff, client: u32) -> std::io::Result<()> {
    let (mut browser, mut service) = UnixStream::pair()?;
    let (sender, answers) = sync_channel(16);
    let mut picture = client << 24;
    while !pace::over() {
        browser.write_all(&picture.to_le_bytes())?;
        let mut wanted = [0; 4];
        service.read_exact(&mut wanted)?;
        for number in 0..8 {
            staff.hand(Request { picture: u32::from_le_bytes(wanted) + number, answer: sender.clone() });
        }
        for _ in 0..8 {
            service.write_all(&answers.recv().expect("an answer"))?;
        }
        let mut page = [0; 96];
        browser.read_exact(&mut page)?;
        picture += 8;
        pace::did(8);
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let mut pace = pace::read();
    let staff = if pace.slow { Staff::New } else { hire(4) };
    pace.start();
    std::thread::scope(|scope| {
        for client in 0..2 {
            let staff = &staff;
            let body = move || browse(staff, client).expect("the service answers");
            Builder::new().name("listener".into()).spawn_scoped(scope, body).expect("a thread");
        }
    });
    pace.finish(1.0);
    Ok(())
}
