//! The `twinscope` program: words, flags and exit codes. What a command does is done by the other crates.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod accesses;
mod asm;
mod compare;
mod doctor;
mod explain;
mod export;
mod flame;
mod fleet;
mod image;
mod import;
mod info;
mod latency;
#[cfg(target_os = "linux")]
mod load;
mod machines;
#[cfg(feature = "mcp")]
mod mcp;
mod next;
mod output;
mod page;
mod progress;
mod reference;
mod resolve;
mod sharing;
mod short;
mod sides;
mod sql;
mod stop;
mod tail;
mod text;
mod threads;
mod top;
mod tune;

use anyhow::Context;
use clap::{CommandFactory, Parser, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The comparison microscope for Linux performance: records a whole system at low cost, compares a slow run with a
/// baseline, and names the cause.
#[derive(Debug, Parser)]
#[command(name = "twinscope", version, max_term_width = 110, after_help = EXAMPLES)]
struct Arguments {
    /// The mode of files that are written, such as 0644; by default only their owner may read them
    #[arg(long, global = true, value_name = "MODE", value_parser = recorder::mode())]
    mode: Option<u32>,

    /// Print only results, errors and what is missing: no progress, no notes
    #[arg(short, long, global = true)]
    quiet: bool,

    /// When results have colours: auto (on a terminal, unless $NO_COLOR is set), always or never
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, hide_possible_values = true)]
    color: text::Colour,

    /// What to do; without one, it is said what makes sense here
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  twinscope record -o fast.twin -- ./server --threads 8     record a run
  twinscope explain slow.twin --against fast.twin           why it is slower, cause first
  twinscope compare fast.twin slow.twin                     everything that differs, in the terminal
  twinscope report fast.twin slow.twin -o report.html       the same as a page
  twinscope                                                 what makes sense next, here and now

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, but something named on the command line is missing;
4 a --fail-on condition holds; 5 with `load --strict`, the client was measured and not the server. `record` passes on
the exit code of its command.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Record this system, and a command if one is given
    #[command(after_help = "Examples:
  twinscope record -- make -j8                        until the command exits; writes make.twin
  twinscope record -o night.twin -d 8h                system-wide data, for eight hours
  twinscope record --keep 10m -o flight.twin          a flight recorder; `twinscope snapshot` saves it
  twinscope record --throughput 'done (\\d+)' -- ./bench    compare per operation, not only per second
  twinscope record -i 10ms --only cpu,kernel -d 5s    short intervals
  twinscope record --pid postgres -d 30s -o db.twin   trace the threads of a running program, or --pid 4711
  twinscope record --cgroup system.slice/nginx.service -d 30s     of a service
  twinscope record --all -d 30s                       all threads of the system
  twinscope record --doctor -o a.twin -- ./server     with figures of this machine, to compare with another

The command can add marks to the recording itself:  echo \"warm-up over\" > \"$TWINSCOPE_MARK\"")]
    Record(Box<machines::Recorded>),

    /// Add a mark to a running recording
    #[command(after_help = "Examples:
  twinscope mark warm-up over
  twinscope mark --pid 4711 'release 1.4 deployed'")]
    Mark(recorder::Mark),

    /// Save what a running recorder holds to a file; recording continues
    #[command(after_help = "Examples:
  twinscope snapshot -o incident.twin")]
    Snapshot(recorder::Snapshot),

    /// Show what triggers of a flight recorder can ask for, or when they would have fired in a recording
    #[command(after_help = "Examples:
  twinscope triggers                                        the metrics, their labels and units
  twinscope triggers --test day.twin --trigger 'busy: cpu.busy > 1.5 for 10s'

A flight recorder takes them with record --keep 10m --trigger '…' (docs/flight-recorder.md).")]
    Triggers(recorder::Triggers),

    /// Show what differs between recordings, most significant and largest first
    #[command(after_help = "Examples:
  twinscope compare fast.twin slow.twin
  twinscope compare fast.twin slow.twin --window 'warm-up over..' --json
  twinscope compare day.twin --window 10:02..10:05 --against-window 9:30..9:35      two stretches of one recording
  twinscope compare a1.twin a2.twin a3.twin -- b1.twin b2.twin b3.twin   repeats: only what holds across runs
  twinscope compare before.twin after.twin --fail-on 'cpu.busy +10%'    exits with 4 if CPU use grew by 10 % or more

The first recording is the baseline. docs/method.md says how it decides; docs/compare-json.md describes the JSON.")]
    Compare(compare::Compare),

    /// Explain why a run is slower than a baseline, cause first, or what limits a single run
    #[command(after_help = "Examples:
  twinscope explain slow.twin --against fast.twin
  twinscope explain slow.twin                                            what limits it
  twinscope explain day.twin --window 10:02..10:05 --against-window 9:30..9:35     two stretches of one recording
  twinscope explain flight-20261126T210405Z-busy.twin                    a trigger's snapshot: since it held, and before
  twinscope explain s1.twin s2.twin s3.twin --against f1.twin f2.twin f3.twin     repeats of both sides
  twinscope explain slow.twin --against fast.twin --markdown >> ticket.md
  twinscope explain new.twin --against old.twin --fail-on slower         exits with 4 if it is
  twinscope explain run.twin --machine b.json --machine c.json           how long it would take on other machines

docs/explain.md says how the slowdown is divided; docs/explain-json.md describes the JSON.")]
    Explain(explain::Explain),

    /// List the causes that `explain` looks for, or show one
    #[command(after_help = "Examples:
  twinscope causes
  twinscope causes lock-contention                     its query, how to check it by hand, what to try
  twinscope causes --causes ours/                      checks your own causes, and lists them with the others")]
    Causes(explain::Causes),

    /// Write a report page that shows recordings side by side
    #[command(after_help = "Examples:
  twinscope report fast.twin slow.twin -o report.html --open
  twinscope report one.twin
  twinscope report day.twin --window 10:02..10:05 --against-window 9:30..9:35
  twinscope report prog.tune -o experiment.html        the page of an experiment (twinscope tune)
  twinscope report fast.twin slow.twin --image a.png   its first screen as a picture, for a ticket

The first recording is the baseline. The page is one file that needs no network; mail it, or attach it to a ticket.")]
    Report(page::Report),

    /// Show which code the time goes to: flame graphs, on the terminal or as a file
    #[command(after_help = "Examples:
  twinscope flame slow.twin                                          the heaviest paths, on the terminal
  twinscope flame slow.twin -o slow.html                             an interactive page
  twinscope flame slow.twin --against fast.twin -o differs.html      differential: what takes more time, and less
  twinscope flame slow.twin --state lock --reverse                   which functions wait for locks, and their callers
  twinscope flame slow.twin --window 10s..12s --process nginx -o nginx.svg
  twinscope flame day.twin --window 10:02..10:05 --against-window 9:30..9:35 -o differs.html
  twinscope flame slow.twin -o slow.pb.gz && go tool pprof slow.pb.gz
  twinscope flame slow.twin -o slow.firefox.json      for profiler.firefox.com and ui.perfetto.dev, with times")]
    Flame(flame::Flame),

    /// Show what each thread does, with its stack, what it waits for and who holds that: a thread dump that stops nothing
    #[command(after_help = "Examples:
  twinscope threads 4711                     of a running process, Java or native, after a second of recording
  twinscope threads nginx                    the same by the program's name, where it runs once
  twinscope threads 4711 --thread http-nio --all
  twinscope threads slow.twin                at the end of a recording, and the one busy thread of its serial phases

docs/where-time-goes.md says where it comes from, and describes the JSON.")]
    Threads(threads::Options),

    /// Show cache lines that threads fight over: false and true sharing, what it costs and what the data is
    #[command(after_help = "Examples:
  twinscope sharing slow.twin                            of a recording
  twinscope sharing --pid 4711 -d 10s                    of a running process, with watchpoints
  twinscope sharing -o mine.twin -- ./server --threads 8

docs/sharing.md says how lines are found and what it costs, and describes the JSON.")]
    Sharing(sharing::Options),

    /// Show what single instructions of a function cost, what they wait for, and how long rounds of its loops take
    #[command(after_help = "Examples:
  twinscope asm hash_find slow.twin                        its assembly, with CPU time per operation
  twinscope asm hash_find slow.twin --against fast.twin    both versions side by side, with the difference
  twinscope asm 'Map.get' java.twin --json

docs/instructions.md says how times, classes of wait and bounds come about, and describes the JSON.")]
    Asm(asm::Asm),

    /// Convert a profile of perf or another profiler to a recording
    #[command(after_help = "Examples:
  twinscope import perf.data                            writes perf.twin; then: twinscope flame perf.twin
  perf script | gzip > s.gz && twinscope import s.gz -o there.twin
  twinscope import cpu.pb.gz -o go.twin                 pprof, from Go and others
  twinscope import stacks.folded --count 10.1ms         collapsed stacks, sampled at 99 Hz
  twinscope import recording.jfr                        a flight recording of a JVM, or of async-profiler
  twinscope import gc.log -o before.twin                pauses of a JVM, from -Xlog:gc*,safepoint:file=gc.log
  twinscope import cpu.json disk.json -o hosts/         answers of Prometheus: a recording for each instance; then: twinscope fleet add FLEET hosts/")]
    Import(import::Import),

    /// Add function names that were missing where it was recorded, from programs and debug files of this machine
    #[command(after_help = "Examples:
  twinscope resolve slow.twin                           from the programs, /usr/lib/debug and the debuginfod cache of this machine
  twinscope resolve slow.twin --debug build/ --debug libfoo.so.debug
A recording keeps the build id of each file and the addresses in it. If the file, or its debug file, is available, the
functions get their names. The recording is changed in place; nothing else in it changes.")]
    Resolve(resolve::Resolve),

    /// Query recordings with SQL
    #[command(after_help = "Examples:
  twinscope sql slow.twin .schema
  twinscope sql slow.twin .schema cpu_rate
  twinscope sql fast.twin slow.twin 'select run, avg(busy) from cpu_rate group by run'
  twinscope sql slow.twin --format csv 'select * from process_rate' > process.csv
  twinscope sql slow.twin                                      a prompt")]
    Sql(sql::Sql),

    /// Write tables as Parquet, CSV or OpenMetrics, for other tools
    #[command(after_help = "Examples:
  twinscope export parquet fast.twin slow.twin -o lake
  twinscope export csv slow.twin --only cpu,process
  twinscope export openmetrics slow.twin -o slow.om && promtool tsdb create-blocks-from openmetrics slow.om data/

In Python:  pandas.read_parquet('lake/cpu')    In DuckDB:  select * from read_parquet('lake/cpu/**/*.parquet', hive_partitioning = true)")]
    Export(export::Export),

    /// Show what a recording holds
    #[command(after_help = "Examples:
  twinscope info slow.twin
  twinscope info --json fast.twin slow.twin")]
    Info(info::Info),

    /// Show what can be read on this machine, what cannot, and why
    #[command(after_help = "Examples:
  twinscope sources
  sudo twinscope sources --json")]
    Sources(recorder::SourcesArgs),

    /// Show where the time goes, live
    #[command(after_help = "Examples:
  sudo twinscope top
  sudo twinscope top --pid nginx
  sudo twinscope top --cgroup system.slice/nginx.service --by-name
  sudo twinscope top --once -i 5s                    one screen as text
  sudo twinscope top --json | jq .locks")]
    Top(top::Top),

    /// Check whether this machine is configured well, with costs measured on it
    #[command(after_help = "Examples:
  sudo twinscope doctor                                  all checks, in half a minute at most
  twinscope doctor --dir /var/lib/mysql --only fsync,small-read
  twinscope doctor --list                                what is checked, and how
  sudo twinscope doctor --apply clock-source,thp         make the changes that these checks advise; asks first
  sudo twinscope doctor --undo                           restore the previous settings
  twinscope doctor --json > a.json                       on one machine, and on another:
  twinscope doctor --against a.json                      both side by side: figures with intervals, and the set-up

Nothing is changed without --apply. docs/doctor.md describes each check.")]
    Doctor(doctor::Doctor),

    /// Run an experiment: variants measured in turn, and which is better, by how much, how sure, and why
    #[command(after_help = "Examples:
  twinscope tune --against './old --bench' -- ./new --bench               is it faster?
  twinscope tune --sweep threads=1..64x2 --throughput 'done (\\d+)' -- ./prog -t {threads}
  twinscope tune experiment.toml                                          a ladder of steps, and all else; goes on where it was
  twinscope tune plan experiment.toml                                     what it would run
  twinscope tune show prog.tune --markdown >> ticket.md
  twinscope report prog.tune -o experiment.html

docs/tune.md describes the file and how it is judged, docs/tune-json.md the JSON.")]
    Tune(Box<tune::Tune>),

    /// Many hosts: reduce recordings to summaries, and ask which bands hosts fall into and what separates these
    #[command(after_help = "Examples:
  twinscope fleet add fleet/ recordings/                 reduce recordings, each once
  twinscope fleet bands fleet/                           how many bands, which host is in which, what separates them
  twinscope fleet explain fleet/                         why one band is slower

docs/fleet.md says how it is done, docs/fleet-format.md describes the folder.")]
    Fleet(fleet::Fleet),

    /// Ask an HTTP/1.1 server at a constant rate, and measure latency from when each request was due
    #[command(after_help = "Examples:
  twinscope load --rate 20000 --connections 32 --duration 10s http://127.0.0.1:8080/
  twinscope load --rate 500 --poisson --connections 64 --duration 1m --warm-up 5s --cpus 1 URL
  twinscope load --rate 100 --connections 8 --duration 30s --body-file order.json --header 'Content-Type: application/json' URL
  twinscope load --rate max --connections 32 --duration 10s URL      a closed loop: what the server can do at most
  twinscope load --rate 2000 --connections 16 --duration 10s --json URL/a URL/b > load.json

Only http, no TLS and no HTTP/2. Exit code 1 where no request was done. docs/load.md says what is measured, when it is
void, and describes the JSON.")]
    #[cfg(target_os = "linux")]
    Load(load::Load),

    /// Serve recordings to agents, by the Model Context Protocol over standard input and output
    #[cfg(feature = "mcp")]
    #[command(after_help = "Examples:
  claude mcp add twinscope -- twinscope mcp --dir ~/recordings      sets it up in a client, which then starts it
  twinscope mcp --dir recordings --dir fleet --allow record

Its tools only read, and only below these folders. docs/mcp.md has the lines for other clients, and describes the tools.")]
    Mcp(mcp::Mcp),

    /// Print a shell's completions
    #[command(after_help = "Examples:
  twinscope completions bash > /etc/bash_completion.d/twinscope
  twinscope completions zsh > \"${fpath[1]}/_twinscope\"")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },

    /// Write the manual pages into a folder
    #[command(after_help = "Examples:
  twinscope man /usr/local/share/man/man1")]
    Man {
        /// The folder; created if needed
        #[arg(value_parser = recorder::output())]
        folder: PathBuf,
    },

    /// Write the reference of commands, sources and tables as Markdown
    #[command(hide = true)]
    Reference {
        /// The folder; created if needed
        #[arg(value_parser = recorder::output())]
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    recorder::begin_program("twinscope");
    let arguments = Arguments::parse();
    arguments.mode.into_iter().for_each(files::set_mode);
    text::set_colour(arguments.color);
    if arguments.quiet {
        text::set_quiet();
    }
    let Some(command) = arguments.command else {
        next::overview(std::path::Path::new(".")).iter().for_each(|line| println!("{}", text::clean(line)));
        return ExitCode::SUCCESS;
    };
    match run(command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("twinscope: {}", text::error(&error));
            ExitCode::from(if error.is::<recorder::Usage>() { 2 } else { 1 })
        }
    }
}

fn run(command: Command) -> anyhow::Result<u8> {
    if matches!(command, Command::Record(_) | Command::Doctor(_)) {
        // What is measured now is not the machine as its owner set it up.
        tune::say_what_is_left();
    }
    #[cfg(not(target_os = "linux"))]
    if let Command::Record(_)
    | Command::Mark(_)
    | Command::Snapshot(_)
    | Command::Sources(_)
    | Command::Top(_)
    | Command::Doctor(_)
    | Command::Tune(_) = &command
    {
        anyhow::bail!("this command needs Linux. Recordings can be read here: see `twinscope --help`");
    }
    match command {
        Command::Record(options) => machines::record(&options),
        Command::Mark(options) => recorder::mark(&options).map(|()| 0),
        Command::Snapshot(options) => {
            println!("{}", text::path(&recorder::snapshot(&options)?));
            Ok(0)
        }
        Command::Triggers(options) => recorder::replay(&options).map(|()| 0),
        Command::Compare(options) => compare::compare(&options),
        Command::Explain(options) => explain::explain(&options),
        Command::Causes(options) => explain::causes(&options),
        #[cfg(feature = "mcp")]
        Command::Mcp(options) => mcp::mcp(&options),
        Command::Report(options) => page::report(&options),
        Command::Flame(options) => flame::flame(&options),
        Command::Threads(options) => threads::threads(&options),
        Command::Sharing(options) => sharing::sharing(&options),
        Command::Asm(options) => asm::asm(&options),
        Command::Import(options) => import::import(&options),
        Command::Resolve(options) => resolve::resolve(&options),
        Command::Sql(options) => sql::sql(&options),
        Command::Export(options) => export::export(&options),
        Command::Info(options) => info::info(&options),
        Command::Sources(options) => recorder::list(&options),
        Command::Top(options) => top::top(&options),
        Command::Doctor(options) => doctor::doctor(&options),
        Command::Fleet(options) => fleet::fleet(&options),
        #[cfg(target_os = "linux")]
        Command::Load(options) => load::load(&options),
        Command::Tune(options) => tune::tune(&options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "twinscope", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(0)
        }
        Command::Man { folder } => {
            std::fs::create_dir_all(&folder)
                .and_then(|()| clap_mangen::generate_to(Arguments::command(), &folder))
                .with_context(|| format!("{}: the manual pages could not be written", folder.display()))?;
            Ok(0)
        }
        Command::Reference { folder } => reference::write(Arguments::command(), &folder).map(|()| 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command lines that give `name` to what a command writes: `-o` of each, pictures, and the folders that are made.
    fn outputs(command: &clap::Command, words: &[String], name: &str, found: &mut Vec<Vec<String>>) {
        let line = |more: &[String]| [words, more].concat();
        // Elsewhere than in `report`, an image is that of a container.
        let writes = |id: &str| id == "output" || id == "image" && words.last().is_some_and(|word| word == "report");
        for option in command.get_arguments().filter(|argument| writes(argument.get_id().as_str())) {
            found.push(line(&[format!("--{}={name}", option.get_long().unwrap())]));
        }
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["twinscope", "man" | "reference"] => found.push(line(&["--".into(), name.into()])),
            ["twinscope", "fleet", "add"] => found.push(line(&["--".into(), name.into(), "a.twin".into()])),
            _ => {}
        }
        for below in command.get_subcommands() {
            outputs(below, &line(&[below.get_name().into()]), name, found);
        }
    }

    #[test]
    fn what_is_written_is_not_called_like_an_option() {
        let mut lines = Vec::new();
        outputs(&Arguments::command(), &["twinscope".into()], "--help", &mut lines);
        assert!(lines.len() >= 14, "{lines:?}");
        for line in lines {
            let why = Arguments::try_parse_from(&line).err().map_or_else(String::new, |error| error.to_string());
            assert!(why.contains("if it is meant, write ./--help"), "{line:?}: {why}");
        }
    }
}
