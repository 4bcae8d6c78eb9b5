//! What is done for a command when its recorder cannot go on: it is started all the same, and its end is waited for, so that its exit code is that of this
//! program. There may be no memory any more by then, so this program is replaced by another one, and all that needs is made when it begins.

use crate::program::say;
use crate::signals::{self, Wake};
use std::ffi::{CStr, CString, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// The first word of this program where it only waits for a command that another recorder has left; the next one is the number of its process.
const AWAIT: &CStr = c"await-command";

/// Words as exec(3) takes them.
struct Words {
    _texts: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

// SAFETY: the pointers are into texts that are never changed.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    fn new(words: impl IntoIterator<Item = OsString>) -> Option<Words> {
        let texts: Vec<CString> =
            words.into_iter().map(|word| CString::new(word.into_vec())).collect::<Result<_, _>>().ok()?;
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        (!texts.is_empty()).then_some(Words { _texts: texts, pointers })
    }

    fn first(&self) -> *const libc::c_char {
        self.pointers.first().copied().unwrap_or(std::ptr::null())
    }
}

static COMMAND: OnceLock<Option<Words>> = OnceLock::new();
/// The process of the command; 0 before it was started. A number, because there may be no memory for a word when it is needed.
static STARTED: AtomicI32 = AtomicI32::new(0);
/// The exit code of the command once it has ended; -1 before.
static CODE: AtomicI32 = AtomicI32::new(-1);

/// To be called before anything else. Where this program was started to wait for a command it does that, and does not come back.
pub(crate) fn prepare() {
    let mut words = std::env::args_os().skip(1);
    let first = words.next();
    if first.as_ref().is_some_and(|word| word.as_bytes() == AWAIT.to_bytes())
        && let Some(pid) = words.next().and_then(|word| word.to_str()?.parse().ok())
    {
        await_command(pid);
    }
    if first.as_ref().is_some_and(|word| word == "record") {
        let command = words.skip_while(|word| word != "--").skip(1);
        let _ = COMMAND.set(Words::new(command));
        // SAFETY: the handler makes system calls only.
        unsafe { libc::signal(libc::SIGABRT, aborted as *const () as libc::sighandler_t) };
    }
}

/// The command was started.
pub(crate) fn started(pid: u32) {
    STARTED.store(pid.cast_signed(), Ordering::Relaxed);
}

/// Whether the command was started.
pub(crate) fn has_started() -> bool {
    STARTED.load(Ordering::Relaxed) != 0
}

/// The command has ended, with this exit code.
pub(crate) fn ended(code: u8) {
    CODE.store(i32::from(code), Ordering::Relaxed);
}

/// Goes on with the command alone, and so does not come back; where there is none it does.
pub(crate) fn go_on() {
    let code = CODE.load(Ordering::Relaxed);
    // SAFETY: system calls; all words end with a zero, and their lists with a null pointer.
    unsafe {
        if code >= 0 {
            libc::_exit(code);
        }
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        signals::restore();
        host::restore_open_files();
        let pid = STARTED.load(Ordering::Relaxed);
        if pid != 0 {
            let number = digits(pid.cast_unsigned());
            let words = [c"twinscope".as_ptr(), AWAIT.as_ptr(), number.as_ptr().cast(), std::ptr::null()];
            libc::execv(c"/proc/self/exe".as_ptr(), words.as_ptr());
        } else if let Some(Some(command)) = COMMAND.get() {
            libc::execvp(command.first(), command.pointers.as_ptr());
        }
    }
}

/// A number in decimal digits, with a zero after it, made without memory from the heap.
fn digits(mut number: u32) -> [u8; 11] {
    let mut text = [0; 11];
    let length = number.checked_ilog10().map_or(1, |log| log as usize + 1);
    for digit in text.iter_mut().take(length).rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text
}

/// There is no memory, or something else that Rust ends a program for by abort(3).
extern "C" fn aborted(_: libc::c_int) {
    const WORDS: &str = "twinscope: the recorder had to stop; where it was for memory, its address space may be limited (ulimit -v, RLIMIT_AS). \
                         What was recorded before is kept, and the command runs to its end\n";
    const ALONE: &str = "twinscope: the recorder had to stop; where it was for memory, its address space may be limited (ulimit -v, RLIMIT_AS). \
                         What was recorded before is kept\n";
    let has_command = matches!(COMMAND.get(), Some(Some(_)));
    let words = if has_command { WORDS } else { ALONE };
    // SAFETY: system calls only. Where nothing could be gone on with the signal does what it does by default.
    unsafe {
        libc::write(2, words.as_ptr().cast(), words.len());
        go_on();
        libc::signal(libc::SIGABRT, libc::SIG_DFL);
    }
}

/// Goes on with the command alone where it is dropped by a panic.
pub(crate) struct Otherwise;

impl Drop for Otherwise {
    fn drop(&mut self) {
        if std::thread::panicking() {
            aborted(libc::SIGABRT);
        }
    }
}

/// Waits for a child that this process was replaced under, and ends as it does.
fn await_command(pid: libc::pid_t) -> ! {
    signals::block();
    let mut status = 0;
    loop {
        // SAFETY: the status is ours.
        match unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } {
            0 => {}
            -1 => {
                say!("twinscope: process {pid}: how it ended is not known");
                std::process::exit(1);
            }
            _ if libc::WIFSIGNALED(status) => std::process::exit(128 + libc::WTERMSIG(status)),
            _ => std::process::exit(libc::WEXITSTATUS(status)),
        }
        if let Wake::Stop(signal) = signals::wait(1_000_000_000)
            && (signal != libc::SIGINT || !rustix::termios::isatty(std::io::stdin()))
        {
            // SAFETY: plain system call; the child was not waited for, so the number is still its own.
            unsafe { libc::kill(pid, signal) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_to_string_does() {
        for number in [0, 7, 10, 99, 100, 4_194_304, u32::MAX] {
            let text = digits(number);
            assert_eq!(CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap(), number.to_string());
        }
    }
}
