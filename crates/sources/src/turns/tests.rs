//! Tests against children that serve and ask on the loopback.

use super::bpf::{Key, Turns};
use super::{SOURCE, scale};
use crate::Scope;
use crate::tally::testing::{Live, child, follow, is_child};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

const TURNS: i64 = 300;
const CONNECTIONS: i64 = 5;
/// How long the server thinks about each question.
const THINKS: Duration = Duration::from_millis(2);

/// Answers questions of 100 bytes with `parts` writes, until the other side hangs up.
fn serves(mut stream: impl Read + Write, parts: usize) {
    let mut question = [0; 100];
    while stream.read_exact(&mut question).is_ok() {
        std::thread::sleep(THINKS);
        for _ in 0..parts {
            stream.write_all(&[1; 10]).unwrap();
        }
    }
}

fn asks(mut stream: impl Read + Write, parts: usize) {
    for _ in 0..TURNS / CONNECTIONS {
        stream.write_all(&[0; 100]).unwrap();
        stream.read_exact(&mut vec![0; 10 * parts]).unwrap();
    }
}

fn tcp(address: &str, parts: usize) {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..CONNECTIONS {
                let stream = listener.accept().unwrap().0;
                stream.set_nodelay(true).unwrap();
                serves(stream, parts);
            }
        });
        for _ in 0..CONNECTIONS {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(true).unwrap();
            asks(stream, parts);
        }
    });
}

fn unix() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a-server.sock");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || (0..CONNECTIONS).for_each(|_| serves(listener.accept().unwrap().0, 1)));
        (0..CONNECTIONS).for_each(|_| asks(UnixStream::connect(&path).unwrap(), 1));
    });
}

fn udp() {
    let (server, client) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    client.connect(server.local_addr().unwrap()).unwrap();
    let mut datagram = [0; 100];
    for _ in 0..TURNS {
        client.send(&[0; 100]).unwrap();
        let (_, from) = server.recv_from(&mut datagram).unwrap();
        server.send_to(&[1], from).unwrap();
        client.recv(&mut datagram).unwrap();
    }
}

fn works(kind: &str) {
    match kind {
        "turns_tcp" => tcp("127.0.0.1:0", 1),
        "turns_ipv6" => tcp("[::1]:0", 3),
        "turns_unix" => unix(),
        "turns_udp" => udp(),
        _ => unreachable!("{kind}"),
    }
    crate::tally::testing::done();
}

/// Runs the test `test` as a child that does what `kind` says, and gives what was seen of it; `None` where it cannot be.
fn seen(test: &str, kind: &str) -> Option<Live> {
    let mut live = Live::open(&SOURCE)?;
    live.read();
    follow(&mut live, child(&format!("turns::tests::{test}"), kind));
    Some(live)
}

fn of(live: &Live, comm: &str, side: &str, column: &str) -> i64 {
    live.reached("turn", column, &[("comm", comm), ("role", side)], |_| true)
}

/// The turns of both sides, and the times of the server's.
fn are_counted(live: &Live, comm: &str, parts: i64) {
    for side in ["server", "client"] {
        assert_eq!(of(live, comm, side, "turns"), TURNS, "{comm}, {side}");
    }
    assert_eq!(of(live, comm, "server", "sends"), TURNS * parts);
    assert_eq!(of(live, comm, "server", "received"), TURNS * 100);
    let time = of(live, comm, "server", "service_time");
    let least = THINKS.as_nanos() as i64 * TURNS;
    assert!((least..3 * least).contains(&time), "{time}");
    assert!(of(live, comm, "client", "service_time") >= time, "the other side cannot have taken less");
    let counted = |what: &str| {
        live.reached("turn_time", "count", &[("comm", comm), ("role", "server"), ("what", what)], |_| true)
    };
    assert_eq!(counted("service"), TURNS);
    assert!(counted("answer") >= TURNS - CONNECTIONS, "{}", counted("answer"));
}

#[test]
fn turns_of_tcp_are_counted() {
    if is_child("turns_tcp") {
        return works("turns_tcp");
    }
    let Some(live) = seen("turns_of_tcp_are_counted", "turns_tcp") else { return };
    are_counted(&live, "turns_tcp", 1);
    assert_eq!(of(&live, "turns_tcp", "server", "opened"), CONNECTIONS);
    assert_eq!(of(&live, "turns_tcp", "client", "opened"), CONNECTIONS);
    assert_eq!(of(&live, "turns_tcp", "server", "closed"), CONNECTIONS);
    if live.coverage.iter().all(|c| c.item != "turn.queue_time") {
        assert!(of(&live, "turns_tcp", "server", "queued") >= TURNS - CONNECTIONS);
    }
}

#[test]
fn answers_in_parts_are_one_turn() {
    if is_child("turns_ipv6") {
        return works("turns_ipv6");
    }
    let Some(live) = seen("answers_in_parts_are_one_turn", "turns_ipv6") else { return };
    are_counted(&live, "turns_ipv6", 3);
}

#[test]
fn turns_of_unix_sockets_are_counted_by_path() {
    if is_child("turns_unix") {
        return works("turns_unix");
    }
    let Some(live) = seen("turns_of_unix_sockets_are_counted_by_path", "turns_unix") else { return };
    are_counted(&live, "turns_unix", 1);
    let named =
        live.reached("turn", "turns", &[("comm", "turns_unix")], |label| label("peer").ends_with("a-server.sock"));
    assert_eq!(named, 2 * TURNS);
}

#[test]
fn datagrams_are_counted() {
    if is_child("turns_udp") {
        return works("turns_udp");
    }
    let Some(live) = seen("datagrams_are_counted", "turns_udp") else { return };
    for (side, column) in [("server", "receives"), ("server", "sends"), ("client", "receives"), ("client", "sends")] {
        assert_eq!(of(&live, "turns_udp", side, column), TURNS, "{side}: {column}");
    }
}

#[test]
fn a_recorded_host_has_none() {
    let why = crate::testing::play(&SOURCE, &crate::testing::fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
}

#[test]
fn the_programs_for_older_kernels_load() {
    match Turns::open_by(&host::Host::live(), &Scope { exact: true, ..Scope::default() }, Some("sock_recv_length")) {
        Ok(_) => {}
        Err(why) => eprintln!("SKIPPED: turns by system calls: {why}"),
    }
}

#[test]
fn keys_of_any_bytes_do_no_harm() {
    let mut bytes = vec![0; 96];
    assert!(Key::of(&bytes[..79]).is_none());
    bytes[24] = 0;
    bytes[25..28].copy_from_slice(b"abc");
    assert_eq!(Key::of(&bytes).unwrap().peer(), "@abc");
    bytes = vec![0; 96];
    assert_eq!(Key::of(&bytes).unwrap().peer(), "");
    bytes[18..24].copy_from_slice(&[0xff, 0xff, 127, 0, 0, 1]);
    assert_eq!(Key::of(&bytes).unwrap().peer(), "127.0.0.1");
    assert!(scale::range(usize::MAX).1 > 0);
}
