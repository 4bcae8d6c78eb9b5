//! What a worker needs of the machine: sockets, and a clock to wait by. The real one is [`crate::epoll::Epoll`]; tests have one whose time only
//! goes on when they say so.

use rustix::io::Errno;

/// Something that happened at a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The connection's number.
    pub slot: usize,
    /// There may be something to read.
    pub readable: bool,
    /// It is open, or takes bytes again.
    pub writable: bool,
    /// The other side has closed it, or it failed: reading says which, after what there is to read.
    pub hung_up: bool,
}

/// Sockets by number, none of which blocks, and time. Events are told once, when they happen: what was not read then has to be remembered.
pub(crate) trait Net {
    /// Nanoseconds of a clock that only goes forward.
    fn now(&self) -> u64;
    /// CPU time of the calling thread, nanoseconds.
    fn cpu_time(&self) -> u64;
    /// Waits until something happens or it is `until`, whichever is first. Appends what happened.
    fn wait(&mut self, until: u64, events: &mut Vec<Event>) -> Result<(), Errno>;
    /// Begins to open a connection; once it is open or has failed, it is writable.
    fn connect(&mut self, slot: usize) -> Result<(), Errno>;
    /// Whether a connection that was being opened is open.
    fn connected(&mut self, slot: usize) -> Result<(), Errno>;
    /// Writes as many bytes as it takes now.
    fn write(&mut self, slot: usize, bytes: &[u8]) -> Result<usize, Errno>;
    /// Reads what is there now; 0 at the end.
    fn read(&mut self, slot: usize, buffer: &mut [u8]) -> Result<usize, Errno>;
    /// Closes a connection, if there is one.
    fn close(&mut self, slot: usize);
}
