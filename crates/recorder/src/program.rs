//! What the programs do first: standard output that is closed or full is no error in them. And how they start others beside a recording.

use crate::{last, signals};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts a program beside a recording: without a shell, in a process group of its own, with nothing to read, and what it writes goes to standard
/// error.
///
/// # Errors
/// Where it cannot be started.
pub(crate) fn spawn(words: &[OsString]) -> std::io::Result<Child> {
    let (program, arguments) = words.split_first().ok_or(std::io::ErrorKind::NotFound)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(std::io::stderr()).process_group(0);
    // SAFETY: what is done between fork and exec is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            signals::unblock();
            Ok(())
        });
    }
    command.spawn()
}

/// To be called before any thread is started. A reader of standard output that has seen enough (`| head`) ends the program quietly, as it
/// does others. `println!` panics where standard output cannot be written, such as on a full disk: that is a failure of the
/// surroundings, and is said in a line that begins with `name`, with exit code 1.
pub fn begin_program(name: &'static str) {
    extern "C" fn nothing(_: libc::c_int) {}
    // A file that may not grow any more (RLIMIT_FSIZE) is an error like a full disk. Caught and not ignored, for a program that is started
    // gets the default back.
    // SAFETY: no thread has been started; the handler does nothing.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::signal(libc::SIGXFSZ, nothing as *const () as libc::sighandler_t);
    }
    last::prepare();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if files::foreign::is_caught() {
            return;
        }
        let text = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if let Some(why) = text.strip_prefix("failed printing to stdout: ") {
            eprintln!("{name}: standard output: {why}");
            std::process::exit(1);
        } else if text.starts_with("failed to spawn thread") || text.starts_with("failed to allocate") {
            // A limit of memory or of threads, as the standard library says it; what becomes of a recording and its command says `last`.
            eprintln!("{name}: no further thread could be started");
        } else {
            usual(panic);
        }
    }));
}

/// Like `eprintln!`, but nobody has to be there to read it: a recording goes on where standard error is closed. Names of programs and what
/// a JVM answers are among the words, so they are cleaned.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "{}", model::clean_lines(&format!($($words)*)));
    }};
}
pub(crate) use say;
