//! Runs against real sockets: a server that works, and hostile ones. Counts decide, not timings; the one test of timings says SKIPPED where the
//! machine was late.

use load::{Arrivals, Error, Options, Outcome, Url, run, run_until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Does `work` with each connection, on a thread of its own, for as long as the test's process lives.
fn serve(work: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let work = Arc::new(work);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let work = work.clone();
            std::thread::spawn(move || work(stream));
        }
    });
    address
}

/// Reads a request: its first line, its headers as they are, its body. None at the end.
fn request(reader: &mut BufReader<TcpStream>) -> Option<(String, String, Vec<u8>)> {
    let (mut first, mut headers, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut first).ok().filter(|count| *count > 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok()?;
        }
        headers += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first.trim_end().into(), headers, body))
}

/// Answers each request with these bytes.
fn answers(answer: impl Into<Vec<u8>>) -> SocketAddr {
    let answer = answer.into();
    serve(move |stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        while request(&mut reader).is_some() && stream.write_all(&answer).is_ok() {}
    })
}

/// So many requests in a fifth of a second.
fn options(address: SocketAddr, count: u32) -> Options {
    let url = Url::parse(&format!("http://{address}/")).unwrap();
    let mut options = Options::new(url, Arrivals::Even(f64::from(count) * 5.0), 4, Duration::from_millis(200));
    options.timeout = Duration::from_secs(20);
    options
}

fn outcome(options: &Options) -> Outcome {
    let outcome = run(options).unwrap();
    assert_eq!(outcome.due, outcome.done + outcome.errors.total(), "{outcome:?}");
    outcome
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

#[test]
fn a_server_that_works() {
    for (arrivals, threads) in
        [(Arrivals::Even(1_000.0), 1), (Arrivals::Even(1_000.0), 3), (Arrivals::Poisson(1_000.0), 2)]
    {
        let mut options = options(answers(OK), 1);
        (options.arrivals, options.threads) = (arrivals, threads);
        let outcome = outcome(&options);
        assert_eq!((outcome.errors.total(), outcome.reconnects, outcome.interrupted), (0, 0, false));
        let due = if arrivals == Arrivals::Even(1_000.0) { 200..=200 } else { 100..=300 };
        assert!(due.contains(&outcome.done), "{outcome:?}");
        // What came after the last request was due does not count.
        let all = outcome.done * OK.len() as u64;
        assert!(outcome.received > 0 && outcome.received <= all, "{} of {all}", outcome.received);
        let (latency, service) = (outcome.latency.unwrap(), outcome.service.unwrap());
        assert!(latency.mean >= service.mean && service.p50 > 0.0 && latency.max < 21.0);
    }
}

#[test]
fn a_closed_loop() {
    let mut options = options(answers(OK), 1);
    options.arrivals = Arrivals::Closed;
    let outcome = outcome(&options);
    assert!(outcome.done > 4 && outcome.errors.total() == 0 && outcome.asked_rate.is_none(), "{outcome:?}");
    assert_eq!((outcome.arrivals.as_str(), outcome.own.late), ("closed", None));
}

#[test]
fn requests_are_as_asked() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let address = serve(move |stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        while let Some(request) = request(&mut reader) {
            log.lock().unwrap().push(request);
            stream.write_all(OK.as_bytes()).unwrap();
        }
    });
    let mut options = options(address, 30);
    options.urls = ["/a", "/b?c=d", "/e"].map(|at| Url::parse(&format!("http://{address}{at}")).unwrap()).into();
    options.method = "PUT".into();
    options.headers = vec![("X-One".into(), "1".into()), ("User-Agent".into(), "me".into())];
    // More than a socket takes at once.
    options.body = vec![b'y'; 4 << 20];
    options.connections = 1;
    assert_eq!(outcome(&options).done, 30);
    let seen = seen.lock().unwrap();
    let firsts: Vec<&str> = seen.iter().map(|(first, ..)| first.as_str()).collect();
    assert_eq!(firsts, ["PUT /a HTTP/1.1", "PUT /b?c=d HTTP/1.1", "PUT /e HTTP/1.1"].repeat(10));
    let (_, headers, body) = seen.first().unwrap();
    assert!(headers.contains(&format!("Host: {address}\r\n")) && headers.contains("X-One: 1\r\nUser-Agent: me\r\n"));
    assert!(*body == options.body);
}

#[test]
fn heads_and_closes() {
    let mut head = options(answers("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), 20);
    head.method = "HEAD".into();
    assert_eq!(outcome(&head).done, 20);
    let closes = serve(|stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        request(&mut reader);
        let mut stream = stream;
        let _ = stream.write_all(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        );
    });
    let outcome = outcome(&options(closes, 20));
    assert_eq!((outcome.done, outcome.reconnects), (20, 16), "{outcome:?}");
}

/// Answers that are none, each for every request.
#[test]
fn hostile_servers() {
    let broken = [
        "SSH-2.0-OpenSSH_9.2\r\n".to_owned(),
        "\0\u{1}\u{2}\u{3}".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".into(),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n".into(),
        format!("{OK}{OK}"),
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n".into(),
    ];
    for answer in broken {
        let outcome = outcome(&options(answers(answer.clone()), 20));
        assert_eq!((outcome.errors.broken, outcome.done), (20, 0), "{answer:?}: {outcome:?}");
        assert!(outcome.errors.examples.contains_key("broken") && outcome.latency.is_none());
    }
    for endless in ["HTTP/1.1 200 OK\r\nA: b\r\n", "HTTP/1.1 200 OK\r\nA: bbbbb", "HTTP/1.1 100 Continue\r\n\r\n"] {
        let address = serve(move |mut stream| {
            let _ = stream.write_all(endless.as_bytes());
            while stream.write_all(&endless.as_bytes()[17..]).is_ok() {}
        });
        // It speaks before it is asked, or after: either is no answer.
        let outcome = outcome(&options(address, 20));
        assert_eq!((outcome.done, outcome.errors.broken + outcome.errors.closed), (0, 20), "{endless:?}: {outcome:?}");
    }
    for half in ["", "HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"] {
        let address = serve(move |stream| {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            request(&mut reader);
            let mut stream = stream;
            let _ = stream.write_all(half.as_bytes());
        });
        let outcome = outcome(&options(address, 20));
        assert_eq!((outcome.done, outcome.errors.closed), (0, 20), "{half:?}: {outcome:?}");
    }
    // Closes before it was asked.
    let outcome = outcome(&options(serve(drop), 20));
    assert_eq!((outcome.done, outcome.errors.closed), (0, 20), "{outcome:?}");
}

/// What never comes to its end is given up.
#[test]
fn servers_that_never_end() {
    let never: [fn(TcpStream); 3] = [
        |stream| {
            std::thread::sleep(Duration::from_secs(60));
            drop(stream);
        },
        |mut stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n");
            while stream.write_all(&[b'x'; 1000]).is_ok() {}
        },
        |mut stream| {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            request(&mut reader);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n");
            while stream.write_all(&[b'x'; 100_000]).is_ok() {}
        },
    ];
    for work in never {
        let mut options = options(serve(work), 20);
        options.timeout = Duration::from_millis(400);
        let outcome = outcome(&options);
        assert_eq!((outcome.done, outcome.due), (0, 20), "{outcome:?}");
        // One that speaks before it is asked is closed before, or breaks the answer.
        assert!(outcome.errors.timed_out + outcome.errors.broken + outcome.errors.closed == 20, "{outcome:?}");
    }
}

#[test]
fn statuses_are_counted() {
    let outcome = outcome(&options(answers("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), 20));
    assert_eq!((outcome.done, outcome.errors.status.get(&503), outcome.reconnects), (0, Some(&20), 0));
}

#[test]
fn what_keeps_it_from_beginning() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let said = run(&options(address, 1)).unwrap_err();
    assert!(matches!(said, Error::Connect { opened: 0, asked: 4, .. }), "{said}");
    let why = std::error::Error::source(&said).unwrap().to_string();
    assert!(why.contains("refused") && said.to_string().contains("nothing listens there"), "{said}: {why}");
    let address = answers(OK);
    let mut nowhere = options(address, 1);
    nowhere.cpus = vec![1023];
    assert!(run(&nowhere).unwrap_err().to_string().contains("CPU 1023"));
    let mut unknown = options(address, 1);
    unknown.urls = vec![Url::parse("http://no.such.host.invalid/").unwrap()];
    assert!(run(&unknown).unwrap_err().to_string().starts_with("no.such.host.invalid: no address was found"));
    // Both addresses of a name are tried.
    let mut by_name = options(address, 20);
    by_name.urls = vec![Url::parse(&format!("http://localhost:{}/", address.port())).unwrap()];
    assert_eq!(outcome(&by_name).done, 20);
}

#[test]
fn it_can_be_interrupted() {
    let stop = AtomicBool::new(false);
    let mut options = options(answers(OK), 100);
    options.duration = Duration::from_secs(3600);
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(500));
            stop.store(true, Ordering::Relaxed);
        });
        run_until(&options, &stop).unwrap()
    });
    assert!(outcome.interrupted && outcome.done > 0 && outcome.duration < 60.0, "{outcome:?}");
    assert_eq!(outcome.due, outcome.done + outcome.unfinished);
    // Also before it began.
    let outcome = run_until(&options, &stop).unwrap();
    assert_eq!((outcome.interrupted, outcome.due), (true, 0));
}

#[test]
fn many_connections() {
    let mut options = options(answers(OK), 2_000);
    options.connections = 500;
    options.threads = 2;
    let outcome = outcome(&options);
    assert_eq!((outcome.done, outcome.reconnects), (2_000, 0), "{outcome:?}");
}

/// The figure of the design on a real clock, in small: a server that stands still for a tenth of each second.
#[test]
fn a_real_server_that_stands_still() {
    let start = Instant::now();
    let worst = Arc::new(Mutex::new(Duration::ZERO));
    let late = worst.clone();
    let address = serve(move |stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut stream = stream;
        while request(&mut reader).is_some() {
            let since = start.elapsed().as_millis() % 1_000;
            if since < 100 {
                let asleep = Duration::from_millis(100 - since as u64);
                let before = Instant::now();
                std::thread::sleep(asleep);
                let mut late = late.lock().unwrap();
                *late = late.max(before.elapsed() - asleep);
            }
            if stream.write_all(OK.as_bytes()).is_err() {
                break;
            }
        }
    });
    let mut options = options(address, 200);
    // Whole periods, wherever they begin.
    options.duration = Duration::from_secs(4);
    options.connections = 200;
    let outcome = outcome(&options);
    assert_eq!((outcome.done, outcome.errors.total()), (4_000, 0));
    let (latency, own) = (outcome.latency.unwrap(), outcome.own.late.unwrap());
    let worst = *worst.lock().unwrap();
    if worst > Duration::from_millis(2) || own.max > 0.002 || latency.p50 > 0.000_25 {
        eprintln!(
            "SKIPPED: a real server that stands still: the machine was late by {worst:?}, the client by {:.1} ms; half of the answers took {:.0} µs",
            own.max * 1e3,
            latency.p50 * 1e6
        );
        return;
    }
    // A tenth of the requests waits for 50 ms on average, and a hundredth for 90 ms and more.
    assert!((latency.mean / 0.005 - 1.0).abs() < 0.1, "{latency:?}");
    assert!((latency.p99 / 0.090 - 1.0).abs() < 0.05, "{latency:?}");
}
