//! Tests against children that serve and ask on the loopback.

use super::bpf::Turns;
use super::service::Key;
use super::{SOURCE, scale};
use crate::tally::testing::{Live, child, follow, is_child};
use crate::{Reader, Scope};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
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

/// Answers in two small writes, of which the second waits until the client acknowledges the first: it does so late (RFC 1122, 4.2.3.2).
fn held_back() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let mut question = [0; 100];
            while stream.read_exact(&mut question).is_ok() {
                (0..2).for_each(|_| stream.write_all(&[1; 10]).unwrap());
            }
        });
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        for _ in 0..TURNS / 5 {
            stream.write_all(&[0; 100]).unwrap();
            stream.read_exact(&mut [0; 20]).unwrap();
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

/// Asks a second question while the first is not answered: it lies there for as long as the server thinks, at least.
fn held_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (has_read, reads) = std::sync::mpsc::channel();
    let (has_asked, asks) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let mut question = [0; 100];
            for turn in 0..TURNS {
                stream.read_exact(&mut question).unwrap();
                if turn % 2 == 0 {
                    has_read.send(()).unwrap();
                    asks.recv().unwrap();
                    std::thread::sleep(THINKS);
                }
                stream.write_all(&[1; 10]).unwrap();
            }
        });
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        for _ in 0..TURNS / 2 {
            stream.write_all(&[0; 100]).unwrap();
            reads.recv().unwrap();
            stream.write_all(&[0; 100]).unwrap();
            has_asked.send(()).unwrap();
            stream.read_exact(&mut [0; 20]).unwrap();
        }
    });
}

/// Every call that reads or writes a socket, in turn; of them splice(2) of what comes only where `by_calls`, for the tracepoints do not see it.
fn calls(by_calls: bool) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            let pipe = Pipe::new();
            for turn in 0..TURNS {
                looks_ahead(stream.as_raw_fd());
                receives(stream.as_raw_fd(), turn % if by_calls { 6 } else { 5 }, &pipe);
                std::thread::sleep(THINKS);
                stream.write_all(&[1; 10]).unwrap();
            }
        });
        let mut stream = TcpStream::connect(address).unwrap();
        let (mut file, pipe) = (tempfile::tempfile().unwrap(), Pipe::new());
        file.write_all(&[0; 100]).unwrap();
        for turn in 0..TURNS {
            sends(stream.as_raw_fd(), turn % 7, file.as_raw_fd(), &pipe);
            stream.read_exact(&mut [0; 10]).unwrap();
        }
    });
}

/// Descriptors of one that is read, and one that is written.
struct Pipe(OwnedFd, OwnedFd);

impl Pipe {
    fn new() -> Self {
        let mut ends = [0; 2];
        // SAFETY: two descriptors that the kernel gives.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            Pipe(OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
        }
    }
}

/// Messages of so many bytes each in `bytes`; what they point to lives as long as that and `parts`.
fn messages(bytes: &mut [u8], each: usize, parts: &mut Vec<libc::iovec>) -> Vec<libc::mmsghdr> {
    parts.extend(bytes.chunks_mut(each).map(|b| libc::iovec { iov_base: b.as_mut_ptr().cast(), iov_len: b.len() }));
    let message = |part: &mut libc::iovec| {
        // SAFETY: all zero is a message of nothing.
        let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
        message.msg_hdr.msg_iov = part;
        message.msg_hdr.msg_iovlen = 1;
        message
    };
    parts.iter_mut().map(message).collect()
}

/// Waits until the question is there, and looks at it without taking it.
fn looks_ahead(socket: i32) {
    let (mut bytes, mut parts) = ([0; 100], Vec::new());
    let all = libc::MSG_PEEK | libc::MSG_WAITALL;
    let mut vector = messages(&mut bytes, 100, &mut parts);
    // SAFETY: messages of memory that is there.
    unsafe {
        assert_eq!(libc::recvmsg(socket, &raw mut vector[0].msg_hdr, all), 100);
        let nobody = std::ptr::null_mut();
        assert_eq!(libc::recvmmsg(socket, vector.as_mut_ptr(), 1, all, nobody), 1);
        assert_eq!(libc::recv(socket, bytes.as_mut_ptr().cast(), 100, all), 100);
    }
}

fn receives(socket: i32, how: i64, pipe: &Pipe) {
    let (mut bytes, mut parts) = ([0; 100], Vec::new());
    let place = bytes.as_mut_ptr().cast();
    let mut vector = messages(&mut bytes, 25, &mut parts);
    // SAFETY: memory that is there, and descriptors that are open.
    let got = unsafe {
        match how {
            0 => libc::read(socket, place, 100),
            1 => libc::readv(socket, vector[0].msg_hdr.msg_iov, 4),
            2 => libc::recv(socket, place, 100, 0),
            3 => {
                vector[0].msg_hdr.msg_iovlen = 4;
                libc::recvmsg(socket, &raw mut vector[0].msg_hdr, 0)
            }
            4 => 25 * libc::recvmmsg(socket, vector.as_mut_ptr(), 4, 0, std::ptr::null_mut()) as isize,
            _ => {
                let null = std::ptr::null_mut();
                let got = libc::splice(socket, null, pipe.1.as_raw_fd(), null, 100, 0);
                assert_eq!(libc::read(pipe.0.as_raw_fd(), place, 100), got);
                got
            }
        }
    };
    assert_eq!(got, 100, "{how}");
}

fn sends(socket: i32, how: i64, file: i32, pipe: &Pipe) {
    let (mut bytes, mut parts) = ([0; 100], Vec::new());
    let place = bytes.as_mut_ptr().cast();
    let mut vector = messages(&mut bytes, 25, &mut parts);
    // SAFETY: memory that is there, and descriptors that are open.
    let put = unsafe {
        match how {
            0 => libc::write(socket, place, 100),
            1 => libc::writev(socket, vector[0].msg_hdr.msg_iov, 4),
            2 => libc::send(socket, place, 100, 0),
            3 => {
                vector[0].msg_hdr.msg_iovlen = 4;
                libc::sendmsg(socket, &raw const vector[0].msg_hdr, 0)
            }
            4 => 25 * libc::sendmmsg(socket, vector.as_mut_ptr(), 4, 0) as isize,
            5 => {
                let mut from = 0;
                libc::sendfile(socket, file, &raw mut from, 100)
            }
            _ => {
                let null = std::ptr::null_mut();
                assert_eq!(libc::write(pipe.1.as_raw_fd(), place, 100), 100);
                libc::splice(pipe.0.as_raw_fd(), null, socket, null, 100, 0)
            }
        }
    };
    assert_eq!(put, 100, "{how}");
}

fn works(kind: &str, by_calls: bool) {
    match kind {
        "tcp" => tcp("127.0.0.1:0", 1),
        "ipv6" => tcp("[::1]:0", 3),
        "unix" => unix(),
        "udp" => udp(),
        "kinds" => calls(by_calls),
        "late" => held_up(),
        "held" => held_back(),
        _ => unreachable!("{kind}"),
    }
    crate::tally::testing::done();
}

/// Runs the test `test` as children that do what `kind` says, and checks what was seen of them, by name: once by the tracepoints of sockets, as far as this
/// kernel has them, and once by the ends of system calls.
fn each(test: &str, kind: &str, check: impl Fn(&Live, &str)) {
    let ways = [("turns", false), ("calls", true)].map(|(way, by_calls)| (format!("{way}_{kind}"), by_calls));
    if let Some((_, by_calls)) = ways.iter().find(|(comm, _)| is_child(comm)) {
        return works(kind, *by_calls);
    }
    for (comm, by_calls) in ways {
        let (host, scope) = (host::Host::live(), Scope { exact: true, ..Scope::default() });
        let opened =
            if by_calls { Turns::open_by(&host, &scope, Some("sock_recv_length")) } else { Turns::open(&host, &scope) };
        let Some(mut live) = Live::with(&SOURCE, opened.map(|reader| Box::new(reader) as Box<dyn Reader>)) else {
            return;
        };
        live.read();
        follow(&mut live, child(&format!("turns::tests::{test}"), &comm));
        check(&live, &comm);
    }
}

fn of(live: &Live, comm: &str, side: &str, column: &str) -> i64 {
    live.reached("turn", column, &[("comm", comm), ("role", side)], |_| true)
}

/// The turns of both sides, and the times of the server's.
fn are_counted(live: &Live, comm: &str, parts: i64) {
    for side in ["server", "client"] {
        assert_eq!(of(live, comm, side, "turns"), TURNS, "{comm}, {side}");
    }
    assert_eq!(of(live, comm, "server", "sends"), TURNS * parts, "{comm}");
    assert_eq!(of(live, comm, "server", "received"), TURNS * 100, "{comm}");
    assert_eq!(of(live, comm, "client", "sent"), TURNS * 100, "{comm}");
    let time = of(live, comm, "server", "service_time");
    let least = THINKS.as_nanos() as i64 * TURNS;
    assert!((least..3 * least).contains(&time), "{comm}: {time}");
    let counted = |what: &str| {
        live.reached("turn_time", "count", &[("comm", comm), ("role", "server"), ("what", what)], |_| true)
    };
    assert_eq!(counted("service"), TURNS, "{comm}");
    assert!(counted("answer") >= TURNS - CONNECTIONS, "{comm}: {}", counted("answer"));
}

/// The other side cannot have taken less. Where calls are seen when they end, it may have been asked by then.
fn client_waits_longer(live: &Live, comm: &str) {
    if live.coverage.iter().all(|c| c.item != "turn.queue_time") {
        let [server, client] = ["server", "client"].map(|side| of(live, comm, side, "service_time"));
        assert!(client >= server, "{comm}: {client} {server}");
    }
}

#[test]
fn turns_of_tcp_are_counted() {
    each("turns_of_tcp_are_counted", "tcp", |live, comm| {
        are_counted(live, comm, 1);
        client_waits_longer(live, comm);
        for side in ["server", "client"] {
            assert_eq!(of(live, comm, side, "opened"), CONNECTIONS, "{comm}: {side}");
            assert_eq!(of(live, comm, side, "closed"), CONNECTIONS, "{comm}: {side}");
        }
        if live.coverage.iter().all(|c| c.item != "turn.queue_time") {
            assert!(of(live, comm, "server", "queued") >= TURNS - CONNECTIONS, "{comm}");
        }
    });
}

/// The other side delays its acknowledgement by 40 ms, once a connection is no longer new.
#[test]
fn an_answer_ends_when_its_last_byte_is_sent() {
    each("an_answer_ends_when_its_last_byte_is_sent", "held", |live, comm| {
        // System calls do not tell when bytes leave.
        if comm.starts_with("calls") {
            return;
        }
        let [answers, services] = ["answer_time", "service_time"].map(|time| of(live, comm, "server", time));
        let late = 10 * Duration::from_millis(40).as_nanos() as i64;
        assert!(answers - services > late, "{comm}: {answers} {services}");
    });
}

#[test]
fn answers_in_parts_are_one_turn() {
    each("answers_in_parts_are_one_turn", "ipv6", |live, comm| {
        are_counted(live, comm, 3);
        client_waits_longer(live, comm);
    });
}

#[test]
fn turns_of_unix_sockets_are_counted_by_path() {
    each("turns_of_unix_sockets_are_counted_by_path", "unix", |live, comm| {
        are_counted(live, comm, 1);
        client_waits_longer(live, comm);
        let named = live.reached("turn", "turns", &[("comm", comm)], |label| label("peer").ends_with("a-server.sock"));
        assert_eq!(named, 2 * TURNS, "{comm}");
    });
}

#[test]
fn datagrams_are_counted() {
    each("datagrams_are_counted", "udp", |live, comm| {
        for (side, column) in [("server", "receives"), ("server", "sends"), ("client", "receives"), ("client", "sends")]
        {
            assert_eq!(of(live, comm, side, column), TURNS, "{comm}: {side}: {column}");
        }
    });
}

#[test]
fn every_call_that_reads_and_writes_is_counted() {
    each("every_call_that_reads_and_writes_is_counted", "kinds", |live, comm| are_counted(live, comm, 1));
}

#[test]
fn a_question_that_an_earlier_one_holds_up_is_told() {
    each("a_question_that_an_earlier_one_holds_up_is_told", "late", |live, comm| {
        assert_eq!(of(live, comm, "server", "turns"), TURNS, "{comm}");
        if live.coverage.iter().all(|c| c.item != "turn.queue_time") {
            assert_eq!(of(live, comm, "server", "held_up"), TURNS / 2, "{comm}");
            let (time, least) = (of(live, comm, "server", "held_up_time"), THINKS.as_nanos() as i64 * TURNS / 2);
            assert!(time >= least, "{comm}: {time} of {least}");
        }
    });
}

#[test]
fn a_recorded_host_has_none() {
    let why = crate::testing::play(&SOURCE, &crate::testing::fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
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
