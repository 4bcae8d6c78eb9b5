//! What is asked, how often, and by whom; and whether that can be.

use crate::{Error, Url};
use std::time::Duration;

/// No run has more connections: there are no more ports for them to one address of a server.
pub const MOST_CONNECTIONS: u32 = 65_000;

/// No run asks more often, requests per second: no client could.
const MOST_RATE: f64 = 1e7;

/// When requests are due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// As many each second, at even distances.
    Even(f64),
    /// As many each second on average, at times that do not depend on each other (a Poisson process), as those of many users do.
    Poisson(f64),
    /// Each connection asks as soon as it has its answer: a closed loop, of as many requests at once as there are connections. The slower the
    /// server the fewer requests, so the latencies are not those of users.
    Closed,
}

impl Arrivals {
    /// Requests per second that are asked for.
    pub fn rate(self) -> Option<f64> {
        match self {
            Arrivals::Even(rate) | Arrivals::Poisson(rate) => Some(rate),
            Arrivals::Closed => None,
        }
    }
}

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is asked, in turn; all of one host and port.
    pub urls: Vec<Url>,
    /// The method, such as GET.
    pub method: String,
    /// Headers beside those that are needed. One named as a default (Host, User-Agent, Accept) takes its place.
    pub headers: Vec<(String, String)>,
    /// What each request carries.
    pub body: Vec<u8>,
    /// When requests are due.
    pub arrivals: Arrivals,
    /// Connections, 1 to [`MOST_CONNECTIONS`]. Each has one request at a time.
    pub connections: u32,
    /// How long requests count.
    pub duration: Duration,
    /// How long requests are made before that, which do not count.
    pub warm_up: Duration,
    /// How long a request may wait for a connection to be free, and how long its answer is waited for once it was sent. So a run takes twice this
    /// longer than it counts, at most.
    pub timeout: Duration,
    /// Threads, each with its part of the connections and of the requests. 0: one for each of `cpus`, or one.
    pub threads: u32,
    /// The CPUs that the threads run on, in turn. Empty: wherever the kernel puts them.
    pub cpus: Vec<usize>,
    /// What times of [`Arrivals::Poisson`] are drawn from: the same seed, the same times.
    pub seed: u64,
}

impl Options {
    /// GET of one address, with a time-out of 10 s, no warm-up, one thread.
    pub fn new(url: Url, arrivals: Arrivals, connections: u32, duration: Duration) -> Self {
        Options {
            urls: vec![url],
            method: "GET".into(),
            headers: Vec::new(),
            body: Vec::new(),
            arrivals,
            connections,
            duration,
            warm_up: Duration::ZERO,
            timeout: Duration::from_secs(10),
            threads: 0,
            cpus: Vec::new(),
            seed: 1,
        }
    }

    /// How many threads there will be.
    pub fn thread_count(&self) -> u32 {
        let default = u32::try_from(self.cpus.len()).unwrap_or(u32::MAX).clamp(1, self.connections.max(1));
        if self.threads == 0 { default } else { self.threads }
    }

    /// Whether this can be done.
    ///
    /// # Errors
    /// [`Error::Option`] or [`Error::Url`], which names what cannot, and what can.
    pub fn check(&self) -> Result<(), Error> {
        let Some(first) = self.urls.first() else {
            return Err(Error::option("URL", "at least one address is needed"));
        };
        if let Some(other) = self.urls.iter().find(|url| (&url.host, url.port) != (&first.host, first.port)) {
            return Err(Error::Url {
                url: format!("http://{}{}", other.authority(), other.target),
                why: format!("all addresses must be of one host and port, and the first is of {}", first.authority()),
            });
        }
        if !(1..=MOST_CONNECTIONS).contains(&self.connections) {
            return Err(Error::option("connections", format!("expected between 1 and {MOST_CONNECTIONS}")));
        }
        if let Some(rate) = self.arrivals.rate()
            && !(rate > 0.0 && rate <= MOST_RATE)
        {
            return Err(Error::option("rate", format!("expected requests per second, above 0 and up to {MOST_RATE}")));
        }
        if self.thread_count() > self.connections {
            let why = format!("{} threads for {} connections: each needs one", self.thread_count(), self.connections);
            return Err(Error::option("threads", why));
        }
        const DAY: Duration = Duration::from_secs(86_400);
        if self.duration.is_zero() || self.duration > 30 * DAY {
            return Err(Error::option("duration", "expected a time above 0 and up to 30 days"));
        }
        if self.warm_up > DAY {
            return Err(Error::option("warm-up", "expected up to a day"));
        }
        if self.timeout.is_zero() || self.timeout > DAY {
            return Err(Error::option("timeout", "expected a time above 0 and up to a day"));
        }
        crate::request::check(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Options {
        let url = Url::parse("http://127.0.0.1:1/").unwrap();
        Options::new(url, Arrivals::Even(10.0), 4, Duration::from_secs(1))
    }

    #[test]
    fn what_cannot_be_done_says_why() {
        let refused = |change: fn(&mut Options), why: &str| {
            let mut options = usual();
            change(&mut options);
            let said = options.check().unwrap_err();
            assert!(said.is_usage() && said.to_string().contains(why), "{said}");
        };
        usual().check().unwrap();
        refused(|o| o.urls.clear(), "at least one address");
        refused(|o| o.urls.push(Url::parse("http://127.0.0.1:2/").unwrap()), "one host and port");
        refused(|o| o.connections = 0, "between 1 and 65000");
        refused(|o| o.connections = 65_001, "between 1 and 65000");
        refused(|o| o.arrivals = Arrivals::Even(0.0), "above 0");
        refused(|o| o.arrivals = Arrivals::Poisson(f64::NAN), "above 0");
        refused(|o| o.arrivals = Arrivals::Even(f64::INFINITY), "above 0");
        refused(|o| o.threads = 5, "5 threads for 4 connections");
        refused(|o| o.duration = Duration::ZERO, "duration");
        refused(|o| o.timeout = Duration::ZERO, "timeout");
        refused(|o| o.warm_up = Duration::from_secs(1_000_000), "warm-up");
        refused(|o| o.method = "GE T".into(), "method");
        refused(|o| o.method = "CONNECT".into(), "CONNECT");
        refused(|o| o.headers.push(("X Y".into(), "1".into())), "X Y");
        refused(|o| o.headers.push(("X".into(), "1\r\nY: 2".into())), "header");
        refused(|o| o.headers.push(("content-length".into(), "1".into())), "content-length");
        refused(|o| o.headers.push(("Transfer-Encoding".into(), "chunked".into())), "Transfer-Encoding");
        refused(|o| o.headers.push(("Upgrade".into(), "h2c".into())), "Upgrade");
    }

    #[test]
    fn threads_follow_cpus() {
        let mut options = usual();
        assert_eq!(options.thread_count(), 1);
        options.cpus = vec![0, 1];
        assert_eq!(options.thread_count(), 2);
        options.cpus = (0..9).collect();
        assert_eq!(options.thread_count(), 4);
        options.threads = 3;
        assert_eq!(options.thread_count(), 3);
    }
}
