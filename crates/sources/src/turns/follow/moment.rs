//! The records of `follow.h`.

use crate::tally::Fields;

/// `enum state` of ledger.h, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(usize)]
pub(super) enum State {
    Running,
    Runnable,
    Throttled,
    Lock,
    Disk,
    Network,
    Pipe,
    Fault,
    Sleep,
    Idle,
    Other,
    /// A futex: for a lock or for work.
    Undecided,
}

impl State {
    const ALL: [State; 12] = [
        State::Running,
        State::Runnable,
        State::Throttled,
        State::Lock,
        State::Disk,
        State::Network,
        State::Pipe,
        State::Fault,
        State::Sleep,
        State::Idle,
        State::Other,
        State::Undecided,
    ];

    fn of(number: u32) -> State {
        State::ALL.get(number as usize).copied().unwrap_or(State::Other)
    }

    pub fn is_blocked(self) -> bool {
        self >= State::Lock
    }
}

/// What goes through a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    /// A server read the first of a question.
    Asked,
    /// A server sent the first of its answer.
    Answered,
    /// A client sent the first of a question.
    Asks,
    /// A client read the first of the answer.
    Got,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// `thread` left its CPU in this state at this place, and `other` came; 0: nobody who is followed.
    Switch { thread: u32, state: State, place: u64, other: u32 },
    /// `thread` is woken by `waker`; 0: by an interrupt, or by somebody who is not followed.
    Waking { thread: u32, waker: u32 },
    /// Something went through a connection.
    Connection(Connection),
}

/// What went through a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Connection {
    pub thread: u32,
    pub through: Through,
    /// Which connection: a number that means nothing else.
    pub socket: u64,
    /// Its service.
    pub service: u32,
    /// How long what was read had lain there.
    pub waited: u64,
    /// When the question was asked.
    pub since: u64,
}

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// CLOCK_MONOTONIC, nanoseconds.
    pub at: u64,
    pub what: What,
}

impl Moment {
    /// Reads `struct moment`; `None` of a kind that is not known.
    pub fn read(record: &[u8]) -> Option<Moment> {
        let mut fields = Fields::of(record);
        let (at, kind) = (fields.u64(), fields.u32());
        let (thread, other, state, about) = (fields.u32(), fields.u32(), State::of(fields.u32()), fields.u64());
        let service = fields.u32();
        fields.u32();
        let (waited, since) = (fields.u64(), fields.u64());
        let connection = |through| {
            let since = since.min(at);
            Some(What::Connection(Connection { thread, through, socket: about, service, waited, since }))
        };
        let what = match kind {
            0 => Some(What::Switch { thread, state, place: about, other }),
            1 => Some(What::Waking { thread, waker: other }),
            2 => connection(Through::Asked),
            3 => connection(Through::Answered),
            4 => connection(Through::Asks),
            5 => connection(Through::Got),
            _ => None,
        };
        Some(Moment { at, what: what? })
    }
}
