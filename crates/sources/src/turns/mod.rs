//! Turns: how much servers did and how long each answer took, counted from outside. A turn of a connection is: something was received, then something is
//! sent. That is exact for every protocol in which one side asks and the other answers (HTTP/1.1, PostgreSQL, MySQL, Redis, memcached …), whatever
//! the program is written in, and whether or not what goes through is encrypted.
//!
//! Of a server's connection the service time is from when the first byte of the question was read until the first byte of the answer was sent; before that the
//! question lay in the socket, after it the rest of the answer follows. The answer ends when its last byte is sent, which can be long after it was written: Nagle's
//! algorithm holds small writes back, and large answers wait for the other side to make room. A client's connection has its turns the other way round: its service time is how
//! long the other side took to answer, with the way there and back.
//!
//! What is no turn of one question: a client that sends several questions at once (pipelining) has them answered in one turn; the handshake of TLS is one or two
//! turns more for each connection; protocols that send whenever they have something (WebSocket, streams of gRPC) have few turns and many sends. Of UDP,
//! what is received and sent is datagrams. Pairs of sockets without a name (socketpair(2)) and sockets of the kernel are not looked at.

#[cfg(feature = "bpf")]
mod bpf;
#[cfg(feature = "bpf")]
mod follow;
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod scale;
#[cfg(feature = "bpf")]
mod service;
#[cfg(all(test, feature = "bpf"))]
mod tests;

use crate::tally::collector;
use crate::{Pace, Reader, Scope, Source};
use host::Host;
use model::{Chart, ChartKind, Column, Compare, Den, Derived, Page, Polarity, Table, Unavailable, Unit};

const fn count(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::None, help)
}

const fn time(name: &'static str, help: &'static str) -> Column {
    Column::counter(name, Unit::Nanoseconds, help)
}

const ROLE: Column =
    Column::label("role", "`server`: of connections that it accepted; `client`: of connections that it made");
const PROTOCOL: Column = Column::label("protocol", "tcp, udp or unix");
const PORT: Column = Column::number("port", "of the server: its own, or that of the other side; 0 for a Unix socket");
const PEER: Column =
    Column::label("peer", "of a client: address of the other side; of a Unix socket: the end of its path; else empty");
const COMM: Column = Column::label("comm", "name of the process");

static TURN: Table = Table::wide(
    "turn",
    "requests that a process answered on one port, or made to one other side",
    &[
        Column::number("pid", "process; of `opened` the one that listens, where others accept"),
        COMM,
        ROLE,
        PROTOCOL,
        PORT,
        PEER,
        count("turns", "questions that were answered").better(),
        count("receives", "reads that got something; of UDP: datagrams"),
        count("sends", "writes; of UDP: datagrams"),
        Column::counter("received", Unit::Bytes, "bytes read"),
        Column::counter("sent", Unit::Bytes, "bytes written"),
        count("timed", "questions whose times were taken, with those that these stand for; what follows is of them")
            .compared(Compare::Never),
        time("service_time", "time from the first byte of a question to the first of its answer").worse().floor(1e-3),
        count("queued", "questions of which is known how long they lay there before they were read"),
        time("queue_time", "time from when their first byte came to when it was read").worse().floor(1e-3),
        count("answers", "answers that are over: the next question came, or the connection ended"),
        time("answer_time", "time from the first byte of their question until the last of the answer is sent")
            .worse()
            .floor(1e-3),
        count("accept_waits", "questions that came before their connection was accepted").worse(),
        time("accept_wait_time", "time from when these connections were made to when the question was read")
            .worse()
            .floor(1e-3),
        count("held_up", "questions that came while an earlier one of their connection was not answered").worse(),
        time("held_up_time", "time that these lay there before they were read").worse().floor(1e-3),
        count("opened", "connections made"),
        count("closed", "connections ended"),
        count("used", "connections that something went through, each counted once"),
    ],
)
.derived(&[
    Derived {
        name: "mean_service_time",
        unit: "s",
        help: "mean time from the first byte of a question to the first of its answer",
        num: &[("service_time", 1.0)],
        den: Den::Columns(&[("timed", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Ratio,
        floor: 5e-6,
    },
    Derived {
        name: "mean_answer_time",
        unit: "s",
        help: "mean time from the first byte of a question until the last of its answer is sent",
        num: &[("answer_time", 1.0)],
        den: Den::Columns(&[("answers", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Ratio,
        floor: 5e-6,
    },
    Derived {
        name: "mean_queue_time",
        unit: "s",
        help: "mean time that a question lay there before it was read",
        num: &[("queue_time", 1.0)],
        den: Den::Columns(&[("queued", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Ratio,
        floor: 5e-6,
    },
    Derived {
        name: "sends_per_turn",
        unit: "",
        help: "writes for each question; many small ones are a stream",
        num: &[("sends", 1.0)],
        den: Den::Columns(&[("turns", 1.0)]),
        polarity: Polarity::Neutral,
        compare: Compare::Ratio,
        floor: 0.2,
    },
    Derived {
        name: "opened_per_turn",
        unit: "",
        help: "connections made for each question; 1: none is used again",
        num: &[("opened", 1.0)],
        den: Den::Columns(&[("turns", 1.0)]),
        polarity: Polarity::Worse,
        compare: Compare::Ratio,
        floor: 0.02,
    },
])
.titled("Requests")
.on(Page::Requests)
.grouped(&[&["comm", "role", "protocol", "port"]])
.from_zero()
.scoped();

static TURN_TIME: Table = Table::wide(
    "turn_time",
    "how long turns took since the read before: how many in each of the ranges that had any; sixteen ranges to each power of two",
    &[
        COMM,
        ROLE,
        PROTOCOL,
        PORT,
        PEER,
        Column::label(
            "what",
            "`service`: first byte of the question read (of a client: sent) to first of the answer; `queue`: first byte come to first byte \
             read; `answer`: first byte of the question until the last of the answer is sent",
        ),
        Column::gauge("low", Unit::Nanoseconds, "the range from here"),
        Column::gauge("high", Unit::Nanoseconds, "to here; the last, from 69 s on, is open"),
        Column::gauge("count", Unit::None, "turns in it"),
    ],
)
.of_events()
.scoped();

const fn went(name: &'static str, help: &'static str) -> Column {
    Column::gauge(name, Unit::Nanoseconds, help)
}

static TURN_FOLLOWED: Table = Table::wide(
    "turn_followed",
    "turns of servers that were followed through threads: where the time between question and answer went. Of slow ones a greater part is followed than of \
     fast ones; `weight` makes up for that",
    &[
        Column::number("pid", "process"),
        COMM,
        ROLE,
        PROTOCOL,
        PORT,
        PEER,
        Column::number("tid", "the thread that answered"),
        Column::label("thread", "its name"),
        Column::label("helper", "of the other threads that it went through, or that held what it waited for, the one with most of its time"),
        Column::label("backend", "the other server that it waited for most"),
        Column::gauge("at", Unit::Nanoseconds, "when the first byte of the question was read, since the start of the recording"),
        Column::real("weight", Unit::None, "how many turns it stands for"),
        went("time", "service time: what follows adds up to it"),
        went("queued", "how long the question had lain there before it was read; not part of the service time"),
        went("running", "on a CPU"),
        went("runnable", "waiting for a CPU"),
        went("throttled", "held back by a quota"),
        went("lock", "waiting for a lock"),
        went("disk", "waiting for a disk"),
        went("network", "waiting for what another server answers, or for a socket"),
        went("pipe", "waiting for a pipe"),
        went("fault", "waiting in a page fault"),
        went("sleep", "asleep by its own wish"),
        went("other", "blocked for another reason"),
        went("unknown", "nobody can tell: it waited for what no thread in scope did, or moved between threads unseen"),
        went("others", "the threads that had it did something for other requests"),
        Column::gauge("handed", Unit::None, "threads that it went through, or that held what it waited for, beyond the one that answered"),
        went("queued_running", "of `queued`: the thread that read it ran something else"),
        went("queued_runnable", "of `queued`: the thread that read it waited for a CPU"),
        went("queued_blocked", "of `queued`: the thread that read it was blocked or stood still; the rest was not seen"),
        went("helper_time", "time of the helper, with that before the question was read"),
        went("backend_time", "how long it waited for the back-end"),
        Column::gauge("backend_turns", Unit::None, "answers that it waited for there"),
    ],
)
.of_events()
.scoped();

static COLLECTOR: Table = collector("turns_collector");

static CHARTS: &[Chart] = &[
    Chart::new(
        "turns-rate",
        Page::Requests,
        ChartKind::Line,
        "Requests answered",
        "Turns of connections: something was received, then something sent. Of a client: something sent, then received.",
        "turn",
        &["turns"],
    )
    .by(&["comm", "role", "port"], 8),
    Chart::new(
        "turns-service-time",
        Page::Requests,
        ChartKind::Line,
        "Mean service time",
        "From the first byte of a question to the first byte of its answer. For a client that is how long the other side took, the network included.",
        "turn",
        &["mean_service_time"],
    )
    .by(&["comm", "role", "port"], 8),
    Chart::new(
        "turns-queue-time",
        Page::Requests,
        ChartKind::Line,
        "Mean time before a question is read",
        "How long a question lay in the socket: the threads that read were busy, asleep, or too few.",
        "turn",
        &["mean_queue_time"],
    )
    .by(&["comm", "port"], 8),
    Chart::new(
        "turns-connections",
        Page::Requests,
        ChartKind::Line,
        "Connections made",
        "As many as requests: no connection is used again.",
        "turn",
        &["opened"],
    )
    .by(&["comm", "role", "port"], 8),
];

/// Turns.
pub static SOURCE: Source = Source {
    name: "turns",
    title: "requests that servers answered and clients made, and how long they took",
    documented: "include/trace/events/sock.h (sock_recv_length, sock_send_length, sk_data_ready, inet_sock_set_state)",
    reads: &[],
    needs: "CAP_BPF and CAP_PERFMON; Linux 6.3 or newer for how long questions lay there, and for what goes by io_uring",
    pace: Pace::Tick,
    tables: &[&TURN, &TURN_TIME, &TURN_FOLLOWED, &COLLECTOR],
    charts: CHARTS,
    open,
};

#[cfg(feature = "bpf")]
fn open(host: &Host, scope: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    scope.target.somebody()?;
    Ok(Box::new(bpf::Turns::open(host, scope)?))
}

#[cfg(not(feature = "bpf"))]
fn open(_: &Host, _: &Scope) -> Result<Box<dyn Reader>, Unavailable> {
    Err(crate::without_bpf())
}
