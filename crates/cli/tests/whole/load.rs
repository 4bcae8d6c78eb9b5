//! `load`: what it prints, and how it ends. Servers live in the test.

use crate::common::Folder;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

/// Answers each request with these bytes, for as long as the tests run. Bodies must have no line that is empty.
fn answers(answer: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let work = move |mut stream: TcpStream| {
        let mut reader = BufReader::new(stream.try_clone().expect("the same"));
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
            if line == "\r\n" && stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
            line.clear();
        }
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || work(stream));
        }
    });
    address
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn load(folder: &Folder, address: SocketAddr, more: &[&str]) -> crate::common::Done {
    let url = format!("http://{address}/");
    let words = ["load", "--rate", "200", "--connections", "4", "--duration", "500ms", &url];
    folder.run([&words, more].concat())
}

#[test]
fn a_server_is_asked() {
    let folder = Folder::new();
    let address = answers(OK);
    let done = load(&folder, address, &["--threads", "2", "--poisson", "--seed", "7"]);
    assert_eq!(done.status.code(), Some(0), "{done}");
    let done = load(&folder, address, &["--header", "X: y", "--body", "abc\n"]);
    assert_eq!(done.status.code(), Some(0), "{done}");
    for part in
        ["\ndone 100 of 100 due", "latency, from when due", "service time", "errors       0\n", "client       1 thread"]
    {
        assert!(done.stdout.contains(part), "{part}: {done}");
    }
    let json = load(&folder, address, &["--json", "--warm-up", "100ms"]).json();
    assert_eq!((&json["done"], &json["due"], &json["asked_rate"]), (&100.into(), &100.into(), &200.0.into()), "{json}");
    assert!(json["latency"]["p99"].is_number() && json["own"]["late"]["p50"].is_number(), "{json}");
    assert_eq!(folder.files(), Vec::<String>::new());
}

#[test]
fn a_closed_loop_is_said_to_be_one() {
    let folder = Folder::new();
    let url = format!("http://{}/", answers(OK));
    let done = folder.run(["load", "--rate", "max", "-c", "2", "-d", "300ms", "--json", &url]);
    let json = done.json();
    assert!(json["asked_rate"].is_null() && json["arrivals"] == "closed" && json["done"].as_i64() > Some(2), "{done}");
}

/// Where nothing was done it is a failure, as is a server that is not there.
#[test]
fn servers_that_do_nothing() {
    let folder = Folder::new();
    let done = load(&folder, answers("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), &[]);
    assert_eq!(done.status.code(), Some(1), "{done}");
    assert!(
        done.stdout.contains("None of 100 requests was done") && done.stdout.contains("100 with status 404"),
        "{done}"
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    drop(listener);
    let done = load(&folder, address, &[]);
    assert_eq!(done.status.code(), Some(1), "{done}");
    done.says("nothing listens there");
}

/// A client that was late says so, and only fails where it is told to.
#[test]
fn a_client_that_is_measured_itself() {
    let folder = Folder::new();
    let url = format!("http://{}/", answers(OK));
    let stopped_for_a_while = |more: &[&str]| {
        let words = ["load", "--rate", "100", "-c", "2", "-d", "4s", &url];
        let running = folder.start(folder.command([&words, more].concat()));
        std::thread::sleep(Duration::from_millis(1_500));
        running.signal(libc::SIGSTOP);
        std::thread::sleep(Duration::from_millis(500));
        running.signal(libc::SIGCONT);
        running.wait()
    };
    let done = stopped_for_a_while(&[]);
    assert_eq!(done.status.code(), Some(0), "{done}");
    assert!(
        done.stdout.starts_with("Void: the client and not the server was measured, for the client was late"),
        "{done}"
    );
    let done = stopped_for_a_while(&["--strict", "--json"]);
    assert_eq!(done.status.code(), Some(5), "{done}");
    assert!(done.json()["void"].is_string(), "{done}");
}

#[test]
fn it_can_be_stopped() {
    let folder = Folder::new();
    let url = format!("http://{}/", answers(OK));
    let running = folder.start(folder.command(["load", "--rate", "100", "-c", "2", "-d", "1h", &url]));
    std::thread::sleep(Duration::from_secs(1));
    running.signal(libc::SIGINT);
    let done = running.wait();
    assert_eq!(done.status.code(), Some(0), "{done}");
    assert!(done.stdout.contains("done ") && done.stdout.contains("Ended early"), "{done}");
}
