//! `record` and `doctor`, where they are allowed: they run this program. Neither takes a command to run, and what they take reaches the program as
//! one word after its option, which cannot become another option.

use super::{Context, Tool, schema_of};
use crate::answer::{Answer, Page};
use crate::args::{Failure, read};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const RECORD: Tool = Tool {
    name: "record",
    title: "Record",
    description: "Records what runs on this machine now, for some seconds, into a new recording; with `pid` or `cgroup`, the threads of a \
process or service in detail. It starts no command. Record twice, in both conditions, to compare.",
    only_reads: false,
    schema: schema_of::<RecordArgs>,
    call: record,
};

pub(crate) const DOCTOR: Tool = Tool {
    name: "doctor",
    title: "Doctor",
    description: "Checks whether this machine is set up well for performance, with costs measured on it: half a minute at most. It changes \
nothing.",
    only_reads: false,
    schema: schema_of::<DoctorArgs>,
    call: doctor,
};

/// The longest recording, and how much longer than it should take the program is waited for.
const MOST_SECONDS: u32 = 600;
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordArgs {
    /// Name of the new recording: letters, digits, dots, dashes and underscores; .twin is added where it is missing
    name: String,
    /// How long to record, 1 to 600
    seconds: u32,
    /// The process whose threads are traced (0: none)
    #[serde(default)]
    pid: u32,
    /// The control group whose threads are traced, such as system.slice/nginx.service
    #[serde(default)]
    cgroup: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DoctorArgs {
    /// Only these checks, by their names; empty: all
    #[serde(default)]
    only: Vec<String>,
    /// Leave out so many lines at the beginning
    #[serde(default)]
    offset: u32,
    /// Show so many lines at most (0: all that fit)
    #[serde(default)]
    limit: u32,
}

/// Names that are a file of the folder and nothing else.
fn file_name(name: &str) -> Result<String, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if name.is_empty() || name.starts_with(['.', '-']) || name.len() > 100 || !name.chars().all(is_plain) {
        return Err("name: letters, digits, dots, dashes and underscores only, and no dot or dash first".into());
    }
    Ok(if name.ends_with(".twin") { name.to_owned() } else { format!("{name}.twin") })
}

fn record(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: RecordArgs = read(arguments)?;
    let name = file_name(&args.name)?;
    if !(1..=MOST_SECONDS).contains(&args.seconds) {
        return Err(format!("seconds: 1 to {MOST_SECONDS}"));
    }
    let path = context.place.first().join(&name);
    if path.symlink_metadata().is_ok() {
        return Err(format!("{name} is there already: choose another name"));
    }
    let mut command = Command::new(&context.program);
    command.args(["record", "--quiet", &format!("--duration={}s", args.seconds)]);
    if args.pid > 0 {
        command.arg(format!("--pid={}", args.pid));
    }
    if !args.cgroup.is_empty() {
        command.arg(format!("--cgroup={}", args.cgroup));
    }
    command.arg("--output").arg(&path);
    let done = run(command, Duration::from_secs(u64::from(args.seconds)) + PATIENCE)?;
    if !path.exists() {
        return Err(format!("nothing was recorded: {}", done.said.trim()));
    }
    let shown = context.place.name(&path);
    let answer = Answer::text("said", Page { offset: 0, limit: 100 }, done.said.trim());
    Ok(answer.line(format!("recorded {} s into {shown}", args.seconds)).field("recording", shown))
}

fn doctor(context: &Context, arguments: Map<String, Value>) -> Result<Answer, Failure> {
    let args: DoctorArgs = read(arguments)?;
    let mut command = Command::new(&context.program);
    command.arg("doctor");
    if !args.only.is_empty() {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !args
            .only
            .iter()
            .all(|name| name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain))
        {
            return Err("only: names of checks, of letters, digits and dashes".into());
        }
        command.arg(format!("--only={}", args.only.join(",")));
    }
    command.arg(format!("--dir={}", context.place.first().display()));
    let done = run(command, PATIENCE * 2)?;
    if done.printed.trim().is_empty() {
        return Err(format!("the doctor said nothing: {}", done.said.trim()));
    }
    let page = Page::new(args.offset, args.limit, usize::MAX, usize::MAX);
    Ok(Answer::text("checks", page, done.printed.trim_end()))
}

/// What a program said: on standard output, and on standard error.
struct Done {
    printed: String,
    said: String,
}

/// Bytes that are kept of what a program says.
const MOST_SAID: u64 = 1 << 20;

/// Runs a program to its end, or for so long.
fn run(mut command: Command, most: Duration) -> Result<Done, Failure> {
    let program = command.get_program().to_owned();
    let failed = |error: std::io::Error| format!("{}: {error}", Path::new(&program).display());
    // Standard input and output are the protocol's.
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let read = |from: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What cannot be read of it is left out: its end says whether it did its work.
            let _ = from.map(|from| from.take(MOST_SAID).read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let printed = read(child.stdout.take().map(|out| Box::new(out) as Box<dyn Read + Send>));
    let said = read(child.stderr.take().map(|err| Box::new(err) as Box<dyn Read + Send>));
    let over = wait(&mut child, most).map_err(failed)?;
    let text = |from: std::thread::JoinHandle<String>| from.join().unwrap_or_default();
    let done = Done { printed: text(printed), said: text(said) };
    if over { Err(format!("it was stopped after {} s", most.as_secs())) } else { Ok(done) }
}

/// Waits for a program, and ends it where that takes too long; says whether it did.
fn wait(child: &mut Child, most: Duration) -> std::io::Result<bool> {
    let until = Instant::now() + most;
    loop {
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        if Instant::now() >= until {
            child.kill()?;
            child.wait()?;
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_recordings_are_files_of_the_folder() {
        assert_eq!((file_name("a"), file_name("b-1.twin")), (Ok("a.twin".into()), Ok("b-1.twin".into())));
        for bad in ["", "../a", "/a", "a/b", ".a", "-o", "a b", "a\nb", "é", "a\0", &"x".repeat(101)] {
            assert!(file_name(bad).is_err(), "{bad:?}");
        }
    }
}
