//! Tests against a child that talks to itself on the loopback.

use super::SOURCE;
use crate::tally::testing::{Live, child, is_child};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const CONNECTS: i64 = 50;
const ROUNDS: i64 = 20;

/// A server that answers when it has both halves of a question; a client that writes them one by one.
fn asks_in_halves() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..CONNECTS + 2 {
                let (mut stream, _) = listener.accept().unwrap();
                let mut question = [0; 200];
                while stream.read_exact(&mut question).is_ok() {
                    stream.write_all(&[1]).unwrap();
                }
            }
        });
        for _ in 0..CONNECTS {
            drop(TcpStream::connect(address).unwrap());
        }
        for forbidden in [true, false] {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(forbidden).unwrap();
            for _ in 0..ROUNDS {
                stream.write_all(&[0; 100]).unwrap();
                stream.write_all(&[0; 100]).unwrap();
                stream.read_exact(&mut [0]).unwrap();
            }
        }
    });
}

#[test]
fn connects_and_stalls_of_a_child_are_counted() {
    if is_child("asks_in_halves") {
        return asks_in_halves();
    }
    let Some(mut live) = Live::open(&SOURCE) else { return };
    live.read();
    let mut run = child("tcp::tests::connects_and_stalls_of_a_child_are_counted", "asks_in_halves");
    while run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(50));
        live.read();
    }
    live.read();
    let of = |column: &str| live.reached("tcp", column, &[("comm", "asks_in_halves")], |_| true);
    assert_eq!(of("connects"), CONNECTS + 2);
    assert!(of("connect_time") > 0);
    let (stalls, time) = (of("delayed_ack_stalls"), of("stall_time"));
    eprintln!("{stalls} stalls of {ROUNDS} rounds, {} ms", time / 1_000_000);
    if live.coverage.iter().any(|c| c.item == "delayed_ack_stalls") {
        eprintln!("SKIPPED: delayed acknowledgements: {:?}", live.coverage);
        return;
    }
    // A new connection acknowledges the first segments at once (tcp(7), quick acknowledgements); with TCP_NODELAY nothing is kept back.
    assert!((1..=ROUNDS).contains(&stalls), "{stalls}");
    assert!(time >= stalls * 35_000_000, "{time}");
}

/// A listening socket with a queue of one that nobody asks for connections.
fn listens_only() {
    // SAFETY: plain calls on sockets of our own.
    unsafe {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        libc::listen(std::os::fd::AsRawFd::as_raw_fd(&listener), 0);
        let address = listener.local_addr().unwrap();
        let timeout = Duration::from_millis(100);
        let made: Vec<_> = (0..4).map(|_| TcpStream::connect_timeout(&address, timeout)).collect();
        assert!(made.iter().any(Result::is_err), "the queue never fills");
    }
}

#[test]
fn connections_that_are_never_made_count_as_none() {
    if is_child("listens_only") {
        return listens_only();
    }
    let Some(mut live) = Live::open(&SOURCE) else { return };
    live.read();
    let ended = child("tcp::tests::connections_that_are_never_made_count_as_none", "listens_only").wait().unwrap();
    live.read();
    if !ended.success() {
        eprintln!("SKIPPED: a full listen queue: this kernel let all connections in");
        return;
    }
    let of = |column: &str| live.reached("tcp", column, &[("comm", "listens_only")], |_| true);
    eprintln!("{} connections, {} overflows", of("connects"), of("listen_overflows"));
    assert!((1..4).contains(&of("connects")));
}

#[test]
fn a_recorded_host_has_none() {
    let why = crate::testing::play(&SOURCE, &crate::testing::fixture("vm-2cpu"), 1).err().unwrap();
    assert_eq!(why.status, model::Status::NotApplicable);
}
