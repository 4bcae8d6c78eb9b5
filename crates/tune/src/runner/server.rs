//! The server of a trial: started, waited for until it is ready, and ended.

use super::attempt::{Fault, TIMEOUT};
use super::process::{Service, Start};
use super::used::{self, Count};
use crate::experiment::{Invocation, words};
use crate::file::Server;
use crate::measure::{Used, lines};
use crate::place::Placed;
use crate::space::fill;
use host::Host;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// It must be ready within this time, where the file does not say.
const READY: Duration = Duration::from_secs(60);

/// It is asked whether it is ready this often.
const POLL: Duration = Duration::from_millis(20);

/// One that runs. When it is dropped it is ended first, then whatever else is in its group.
#[derive(Debug)]
pub(super) struct Running<'a> {
    pub(super) service: Service,
    pub(super) placed: Placed<'a>,
    /// What it had used when it was ready.
    ready: Count,
}

impl Running<'_> {
    /// What it has used since it was ready.
    pub(super) fn used(&self, host: &Host, used: &mut Used) {
        let now = used::count(host, &self.placed, self.service.pid());
        let since = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        used.server_cpu = since(now.cpu, self.ready.cpu);
        used.server_throttled = since(now.throttled, self.ready.throttled);
        used.server_rss = used::peak(host, &self.placed, self.service.pid());
    }

    /// Why the trial failed, where it is the server.
    pub(super) fn failed(&mut self) -> Option<String> {
        if let Some(why) = self.placed.killed_for_memory() {
            return Some(format!("the server was {why}"));
        }
        self.service.ended().map(|how| format!("the server ended before its time: {how}"))
    }
}

/// Starts it there, and waits until it is ready.
pub(super) fn start<'a>(
    server: &Server,
    mut placed: Placed<'a>,
    made: &Invocation,
    env: &BTreeMap<String, String>,
    base: &Path,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Running<'a>, Fault> {
    let plain = |text: &str| fill(text, &made.values, str::to_owned).map_err(Fault::Failed);
    let words = words(&server.command, &made.values).map_err(Fault::Failed)?;
    let dir = server.dir.as_deref().map(plain).transpose()?.map_or(made.dir.clone(), |dir| base.join(dir));
    let (cpus, joins) = (placed.numbers(), placed.joins());
    let (out, err) = (folder.join("server.out"), folder.join("server.err"));
    let output = Some((out.as_path(), err.as_path()));
    let start = Start { words: &words, dir: &dir, env, cpus: &cpus, joins: &joins, input: None, output };
    let mut service = Service::start(&start).map_err(|why| Fault::Failed(format!("server: {why}")))?;
    let ready = Ready {
        http: server.ready.http.as_deref().map(plain).transpose()?,
        port: server.ready.port.as_ref().map(|port| plain(&port.to_string())).transpose()?,
        regex: server.ready.regex.as_deref().map(plain).transpose()?,
    };
    let began = Instant::now();
    let timeout = server.timeout.map_or(READY, |t| t.0).min(TIMEOUT);
    loop {
        if let Some(how) = service.ended() {
            let why = placed.killed_for_memory().map(|why| format!(", {why}")).unwrap_or_default();
            return Err(Fault::Failed(format!("the server ended before it was ready: {how}{why}")));
        }
        match ready.is(&out, &err) {
            Ok(()) => {
                let ready = used::begin(&Host::live(), &mut placed, service.pid());
                return Ok(Running { service, placed, ready });
            }
            Err(_) if stop.load(Ordering::Relaxed) => return Err(Fault::Stopped),
            Err(why) if began.elapsed() > timeout => {
                return Err(Fault::Failed(format!(
                    "the server was not ready after {} s: {why}",
                    timeout.as_secs_f64()
                )));
            }
            Err(_) => std::thread::sleep(POLL),
        }
    }
}

struct Ready {
    http: Option<String>,
    port: Option<String>,
    regex: Option<String>,
}

impl Ready {
    fn is(&self, out: &Path, err: &Path) -> Result<(), String> {
        if let Some(text) = &self.regex {
            let regex = lines(text).map_err(|e| format!("ready: {text:?}: {e}"))?;
            let said = |file: &Path| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned();
            if !regex.is_match(&said(out)) && !regex.is_match(&said(err)) {
                return Err(format!("nothing in its output matches {text:?}"));
            }
        }
        if let Some(port) = &self.port {
            let port: u16 = port.parse().map_err(|_| format!("ready: {port:?} is no port"))?;
            connect(SocketAddr::from(([127, 0, 0, 1], port))).map_err(|e| format!("port {port}: {e}"))?;
        }
        self.http.as_deref().map_or(Ok(()), answers)
    }
}

fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    Ok(stream)
}

/// Whether a server answers with a status below 500.
fn answers(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("http://").ok_or_else(|| format!("ready: {url}: only http:// can be asked"))?;
    let (host, path) = rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, path.to_owned()));
    let named = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    let failed = |e: std::io::Error| format!("{url}: {e}");
    let address = named.to_socket_addrs().map_err(failed)?.next().ok_or_else(|| format!("{url}: no address"))?;
    let mut stream = connect(address).map_err(failed)?;
    let asked = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes()).map_err(failed)?;
    let mut line = String::new();
    BufReader::new(std::io::Read::take(stream, 1000)).read_line(&mut line).map_err(failed)?;
    let status = line.split_whitespace().nth(1).and_then(|word| word.parse::<u16>().ok());
    match status {
        Some(status) if status < 500 => Ok(()),
        Some(status) => Err(format!("{url}: status {status}")),
        None => Err(format!("{url}: no answer of HTTP")),
    }
}
