//! Triggers that the kernel watches: it is told a threshold of stalled time, and says when that is passed
//! (Documentation/accounting/psi.rst). Costs nothing until then.

use super::condition::Pressure;
use host::Host;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// Has the kernel watch, and calls `say` from a thread of its own each time that it says so, at most once a window.
///
/// # Errors
/// In words, with what can be done.
pub(crate) fn listen(host: &Host, wanted: &Pressure, say: impl Fn() + Send + 'static) -> Result<(), String> {
    let path = host.path(&format!("/proc/pressure/{}", wanted.resource));
    let at = |why: std::io::Error| match why.raw_os_error() {
        Some(libc::EINVAL | libc::EPERM | libc::EACCES) => format!(
            "{}: {why}: without CAP_SYS_RESOURCE the kernel takes only windows of whole multiples of 2s",
            path.display()
        ),
        Some(libc::EOPNOTSUPP | libc::ENOENT) => {
            format!("{}: {why}: this kernel keeps no pressure; boot it with psi=1", path.display())
        }
        _ => format!("{}: {why}", path.display()),
    };
    let mut file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(&path).map_err(at)?;
    let words = format!("{} {} {}\0", wanted.kind, wanted.stall.as_micros(), wanted.window.as_micros());
    // In one write: the kernel takes no second part.
    let written = file.write(words.as_bytes()).map_err(at)?;
    if written != words.len() {
        return Err(format!("{}: the kernel took only a part of the threshold", path.display()));
    }
    std::thread::Builder::new()
        .name("pressure".into())
        .spawn(move || {
            while wait(&file) {
                say()
            }
        })
        .map(drop)
        .map_err(|why| format!("{}: no thread to wait with: {why}", path.display()))
}

/// Waits until the threshold is passed; false where nothing more will come.
fn wait(file: &File) -> bool {
    loop {
        let mut asked = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLPRI, revents: 0 };
        // SAFETY: one descriptor, with room for what is said of it.
        let ready = unsafe { libc::poll(&mut asked, 1, -1) };
        if asked.revents & libc::POLLERR != 0 {
            return false;
        }
        if ready > 0 && asked.revents & libc::POLLPRI != 0 {
            return true;
        }
        if ready < 0 && std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return false;
        }
    }
}
