//! What the service manager is told: that the recorder is ready, that it lives, that it stops. A datagram to the socket that the manager names
//! (sd_notify(3)); nothing where it names none.

#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The way to the service manager.
#[derive(Debug, Default)]
pub(crate) struct Notify {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// How often it wants to hear that the recorder lives: half of what it waits for, in nanoseconds.
    every: Option<u64>,
    told: u64,
}

impl Notify {
    /// As `$NOTIFY_SOCKET` and `$WATCHDOG_USEC` say. A socket that is gone is nobody to tell.
    pub(crate) fn of_environment() -> Self {
        let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return Notify::default() };
        let bytes = name.clone().into_vec();
        let address = match bytes.split_first() {
            #[cfg(target_os = "linux")]
            Some((b'@', name)) => SocketAddr::from_abstract_name(name),
            _ => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(&bytes)),
        };
        let ours = std::env::var("WATCHDOG_PID").ok().is_none_or(|pid| pid == std::process::id().to_string());
        let every = std::env::var("WATCHDOG_USEC").ok().and_then(|time| time.parse::<u64>().ok()).filter(|_| ours);
        let socket = UnixDatagram::unbound().and_then(|socket| {
            // A manager that does not listen must not hold the recording up.
            socket.set_write_timeout(Some(Duration::from_millis(100)))?;
            Ok((socket, address?))
        });
        Notify { socket: socket.ok(), every: every.map(|micros| micros.saturating_mul(500)), told: 0 }
    }

    /// Tells a state, such as `READY=1`.
    pub(crate) fn tell(&self, state: &str) {
        if let Some((socket, address)) = &self.socket {
            // Nothing depends on whether it arrives.
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
    }

    /// Tells that the recorder lives, if it is time to; `now` in nanoseconds.
    pub(crate) fn alive(&mut self, now: u64) {
        if self.every.is_some_and(|every| now.saturating_sub(self.told) >= every) {
            self.told = now;
            self.tell("WATCHDOG=1");
        }
    }

    /// When it is to be told next.
    pub(crate) fn deadline(&self) -> u64 {
        self.every.map_or(u64::MAX, |every| self.told.saturating_add(every))
    }
}
