// A link checker: a pool of threads asks for the pages of a site on the loopback, whose server takes a few milliseconds for an
// answer, and looks through each for links. The slow variant's pool has a thread per CPU, the fast one's enough to wait.
#[path = "../common/pace.rs"]
mod pace;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const MOST: usize = 12;

/// What the site sends for a path: a page of text with links.
fn page(path: &str) -> String {
    let mut seed = path.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let mut text = String::from("<html>");
    for _ in 0..40 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        text.push_str(&format!("<p>lorem ipsum dolor <a href=\"/article/{}\">more</a></p>", (seed >> 33) % 20_000));
    }
    text
}

/// Serves one connection: a path per line, an answer after 4 ms.
fn serve(connection: TcpStream) -> std::io::Result<()> {
    let mut paths = BufReader::new(connection.try_clone()?);
    let mut out = connection;
    let mut path = String::new();
    while paths.read_line(&mut path)? > 0 {
        std::thread::sleep(Duration::from_millis(4)); // the database of the site
        let text = page(path.trim());
        out.write_all(format!("{:08}{text}", text.len()).as_bytes())?;
        path.clear();
    }
    Ok(())
}

fn site() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            connection.set_nodelay(true).ok();
            // A checker that is gone ends its connection, no more.
            std::thread::spawn(move || serve(connection).ok());
        }
    });
    Ok(address)
}

fn fetch(connection: &mut TcpStream, path: &str) -> std::io::Result<String> {
    connection.write_all(format!("{path}\n").as_bytes())?;
    let mut length = [0; 8];
    connection.read_exact(&mut length)?;
    let mut body = vec![0; std::str::from_utf8(&length).ok().and_then(|text| text.parse().ok()).unwrap_or(0)];
    connection.read_exact(&mut body)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn links(text: &str) -> impl Iterator<Item = u32> + '_ {
    text.split("href=\"/article/").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok())
}

fn check(site: SocketAddr, next: &AtomicU64, known: &Mutex<HashSet<u32>>) -> std::io::Result<()> {
    let mut connection = TcpStream::connect(site)?;
    connection.set_nodelay(true)?;
    while !pace::over() {
        let path = format!("/article/{}", next.fetch_add(1, Relaxed) % 20_000);
        let found: Vec<u32> = links(&fetch(&mut connection, &path)?).collect();
        known.lock().expect("no checker panics").extend(found);
        pace::did(1);
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let mut pace = pace::read();
    let address = site()?;
    let cpus = std::thread::available_parallelism().map_or(2, usize::from);
    let pool = if pace.slow { cpus.min(MOST / 4) } else { MOST };
    let (next, known) = (AtomicU64::new(0), Mutex::new(HashSet::new()));
    pace.start();
    std::thread::scope(|scope| {
        for _ in 0..pool {
            let body = || check(address, &next, &known).expect("the site answers");
            std::thread::Builder::new().name("checker".into()).spawn_scoped(scope, body).expect("a thread");
        }
    });
    pace.finish(1.0);
    println!("truth: pool threads {pool}");
    Ok(())
}
