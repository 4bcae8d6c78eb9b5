//! `twinscope tune`: experiments. What a session is and how it is judged is in the crate `tune`; here are the words of the command line,
//! and what is printed.

mod gate;
mod init;
mod print;
mod settings;
mod watch;

use crate::stop;
use crate::text::clean;
use ::tune::file::{
    Amount, Budget, Check, Commands, DesignName, File, MeasureSpec, Parameter, Scalar, Time, VariantSpec, Workload,
};
use ::tune::{About, Drive, End, Event, Experiment, Folder, KeepRecordings, Place, Session, Setter, Tools, drive};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand, ValueEnum};
use host::Host;
use recorder::Usage;
pub(crate) use settings::say_what_is_left;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use watch::Progress;

/// Run an experiment: variants measured in turn, and which is better, by how much, how sure, and why
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Tune {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show what an experiment would run: variants, the order of the first blocks; runs nothing
    Plan(Plan),
    /// Show what a session has come to
    Show(Show),
    /// Hold a new build against an old one, for CI: exit code 4 where it is worse by so much
    #[command(after_help = "Examples:
  twinscope tune gate bench.toml --old base/ --new pr/ --fail-on 'throughput -3%'
  twinscope tune gate bench.toml --old base/ --new pr/ --fail-on 'wall +5%' --confidence 99% --markdown

Both are run in the same blocks; a failure is confirmed by a second session before it counts (docs/ci.md).")]
    Gate(gate::Gate),
    /// Print a file to begin with: the command of a recording, and as steps what `explain` says to try
    Init(init::Init),
    /// Put settings back when standard input ends; a session starts this for itself
    #[command(hide = true)]
    Keep {
        /// Where it is remembered what they were
        file: PathBuf,
    },
}

/// What to run.
#[derive(Args, Debug)]
struct Run {
    /// The experiment's file, or the folder of a session to go on with
    #[arg(value_name = "FILE.toml", conflicts_with_all = ["against", "sweep", "command"])]
    file: Option<PathBuf>,

    /// The baseline: a command for sh, against which the one after -- is measured
    #[arg(long, value_name = "COMMAND", conflicts_with = "sweep", requires = "command")]
    against: Option<String>,

    /// A parameter and its values, such as threads=1..64x2, size=10..100+10 or gc=Serial,Parallel: all combinations are measured. Its
    /// value stands in the command where {NAME} is; one or two may be given
    #[arg(long, value_name = "NAME=VALUES", requires = "command")]
    sweep: Vec<String>,

    /// The command, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// Read the work done so far from the command's output, and judge by work per second: the first group of the regular expression is
    /// the running total. Default: judge by the time that the command takes
    #[arg(long, value_name = "REGEX", conflicts_with = "file")]
    throughput: Option<String>,

    /// What a unit of work is called
    #[arg(long, value_name = "WORD", conflicts_with = "file")]
    unit: Option<String>,

    /// Judge by a number in the output: the first group of the regular expression, where it last matches; see --more-is-better
    #[arg(long, value_name = "REGEX", conflicts_with_all = ["file", "throughput"])]
    measure: Option<String>,

    /// Of --measure: more of it is better. Default: less is
    #[arg(long, requires = "measure")]
    more_is_better: bool,

    /// Work before this time does not count
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "file")]
    warm_up: Option<Time>,

    /// A trial whose output does not match this failed
    #[arg(long, value_name = "REGEX", conflicts_with = "file")]
    check: Option<String>,

    /// Run by sh before each trial
    #[arg(long, value_name = "COMMAND", conflicts_with = "file")]
    prepare: Option<String>,

    /// A trial that takes longer failed [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "file")]
    timeout: Option<Time>,

    /// The least change that matters [default: 3%]
    #[arg(long, value_name = "N%", value_parser = amount, conflicts_with = "file")]
    effect: Option<Amount>,

    /// The most blocks, each one trial of every variant [default: 30; of a sweep 10]
    #[arg(long, value_name = "N", conflicts_with = "file")]
    blocks: Option<usize>,

    /// No block begins after this time; also for a file, and for a session that goes on
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Time>,

    /// Four blocks and Student's t: quicker, and less sure
    #[arg(long, conflicts_with_all = ["file", "sweep"])]
    quick: bool,

    /// In how many blocks each variant has a second trial, recorded in full, which says why; 0: none [default: 3]
    #[arg(long, value_name = "N", conflicts_with = "file")]
    explained: Option<usize>,

    /// What the random orders are drawn from [default: drawn itself]
    #[arg(long, value_name = "N", conflicts_with = "file")]
    seed: Option<u64>,

    /// After its end: go on by at most so many blocks
    #[arg(long, value_name = "N")]
    more: Option<usize>,

    /// Which recordings of trials are kept
    #[arg(long, value_name = "WHICH", value_enum, default_value_t)]
    keep: Keep,

    /// The folder of the session [default: the name of the file or the program]
    #[arg(short, long, value_name = "NAME.tune", value_parser = recorder::output())]
    output: Option<PathBuf>,

    /// Change the settings of the machine that the experiment names without asking
    #[arg(long)]
    yes: bool,

    /// Put back settings that a session has left changed which was killed together with all that would put them back
    #[arg(long, exclusive = true)]
    restore: bool,

    /// Print JSON at the end
    #[arg(long)]
    json: bool,

    /// Say nothing but errors and the result
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Args, Debug)]
struct Plan {
    /// The experiment's file
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
}

#[derive(Args, Debug)]
struct Show {
    /// The folder of the session; it may be running
    #[arg(value_name = "NAME.tune")]
    folder: PathBuf,

    /// Print JSON (docs/tune-json.md)
    #[arg(long)]
    json: bool,

    /// Print each trial as a line of CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Print Markdown, for a ticket
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    markdown: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Keep {
    #[default]
    All,
    Measured,
    Explained,
    None,
}

fn time(text: &str) -> Result<Time, String> {
    Time::parse(text).map(Time).ok_or("expected a time such as 500ms, 10s, 30m or 1h".into())
}

fn amount(text: &str) -> Result<Amount, String> {
    let percent = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    let share = percent.map(|p| p / 100.0).filter(|share| *share > 0.0 && *share < 1.0);
    share.map(Amount).ok_or("expected a share such as 3%".into())
}

/// Does it. Returns the exit code.
pub fn tune(asked: &Tune) -> Result<u8> {
    match &asked.what {
        Some(What::Plan(plan)) => print::plan(&read(&plan.file)?.0),
        Some(What::Show(asked)) => show(asked),
        Some(What::Gate(asked)) => gate::gate(asked),
        Some(What::Init(asked)) => init::init(asked),
        Some(What::Keep { file }) => settings::keep(file),
        None if asked.run.restore => settings::restore(),
        None => run(&asked.run),
    }
}

fn usage(what: impl Into<String>) -> anyhow::Error {
    Usage(what.into()).into()
}

/// An experiment's file, and its text.
fn read(path: &Path) -> Result<(Experiment, String)> {
    let text = files::foreign::text(path).with_context(|| path.display().to_string())?;
    let called = path.display().to_string();
    let base = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let base = std::path::absolute(base).with_context(|| base.display().to_string())?;
    let file = File::parse(&text, &called).map_err(|e| usage(clean(&e.to_string())))?;
    let made = Experiment::new(file, &text, &called, base).map_err(|e| usage(clean(&e.to_string())))?;
    Ok((made, text))
}

/// A session's experiment, by its folder.
fn of_folder(path: &Path) -> Result<(Experiment, String)> {
    let text = Folder::text(path)?;
    let about = Folder::about(path);
    let file = File::parse(&text, &about.called).map_err(|e| anyhow::anyhow!("{}: {e}", path.display()))?;
    let made = Experiment::new(file, &text, &about.called, about.base)
        .map_err(|e| anyhow::anyhow!("{}: {e}", path.display()))?;
    Ok((made, text))
}

/// The experiment that the command line asks for, as a file.
fn of_words(asked: &Run) -> Result<(Experiment, String)> {
    let word = |text: &String| Commands::Shell(text.clone());
    let workload = Workload {
        command: Commands::Words(asked.command.clone()),
        throughput: asked.throughput.clone(),
        unit: asked.unit.clone(),
        warm_up: asked.warm_up,
        timeout: asked.timeout,
        prepare: asked.prepare.as_ref().map(word),
        check: asked.check.clone().map(|regex| Check { regex: Some(regex), ..Check::default() }),
        ..Workload::default()
    };
    let measure = asked.measure.as_ref().map(|regex| MeasureSpec {
        name: Some("measure".into()),
        regex: Some(regex.clone()),
        better: Some(if asked.more_is_better { ::tune::Better::More } else { ::tune::Better::Less }),
        ..MeasureSpec::default()
    });
    let mut parameters = BTreeMap::new();
    for sweep in &asked.sweep {
        let (name, values) = sweep
            .split_once('=')
            .ok_or_else(|| usage(format!("--sweep {sweep}: NAME=VALUES, such as threads=1..64x2")))?;
        let of = match values.contains(',') {
            true => Parameter::List(values.split(',').map(|v| Scalar::Text(v.to_owned())).collect()),
            false => Parameter::Range(values.to_owned()),
        };
        parameters.insert(name.to_owned(), of);
    }
    let program = asked.command.first().map_or("experiment", String::as_str);
    let name = Path::new(program).file_name().map_or("experiment".into(), |n| n.to_string_lossy().into_owned());
    let mut variant = Vec::new();
    if let Some(against) = &asked.against {
        // In a command of words braces are names, which nobody means here who asks for no sweep.
        let plain = |text: &str| text.replace('{', "{{").replace('}', "}}");
        let baseline = VariantSpec {
            name: "baseline".into(),
            command: Some(Commands::Shell(plain(against))),
            ..VariantSpec::default()
        };
        let new = asked.command.iter().map(|word| plain(word)).collect();
        variant = vec![
            baseline,
            VariantSpec { name: "new".into(), command: Some(Commands::Words(new)), ..VariantSpec::default() },
        ];
    }
    let file = File {
        name: Some(name.trim_start_matches('.').to_owned()),
        design: if asked.sweep.is_empty() { DesignName::Ab } else { DesignName::Sweep },
        effect: asked.effect,
        seed: asked.seed,
        quick: asked.quick,
        explained: asked.explained,
        budget: Budget { time: asked.time, blocks: asked.blocks, ..Budget::default() },
        workload,
        measure: measure.into_iter().collect(),
        parameters,
        variant,
        ..File::default()
    };
    let text = file.text();
    let base = std::env::current_dir().context("the current folder")?;
    let made = Experiment::new(file, &text, "tune", base).map_err(|e| {
        let what = e.what.trim_start().to_owned();
        usage(clean(&what))
    })?;
    Ok((made, text))
}

/// Where the session of a command line is: a new folder, but for one that was begun with the same words and has not ended.
fn place(experiment: &Experiment, text: &str) -> Result<PathBuf> {
    for number in 1..10_000 {
        let name = if number == 1 { String::new() } else { format!("-{number}") };
        let path = PathBuf::from(format!("{}{name}.tune", experiment.name));
        if !path.exists() {
            return Ok(path);
        }
        let same = Folder::text(&path).is_ok_and(|kept| kept == text);
        let ended = Folder::events(&path).map_or(true, |events| has_ended(&events));
        if same && !ended {
            return Ok(path);
        }
    }
    bail!("{}.tune: there are 10,000 of them; choose another name with -o", experiment.name)
}

/// Whether a session has nothing left to run; of one that cannot be read too.
fn has_ended(events: &[Event]) -> bool {
    Session::resume(events).map_or(true, |session| session.finished())
}

fn run(asked: &Run) -> Result<u8> {
    let mut folder = None;
    let (mut experiment, text) = match &asked.file {
        Some(path) if path.is_dir() => {
            folder = Some(path.clone());
            of_folder(path)?
        }
        Some(path) => read(path)?,
        None if asked.command.is_empty() => {
            return Err(usage(
                "name a FILE.toml, or give --against COMMAND or --sweep NAME=VALUES and a command after --",
            ));
        }
        None if asked.against.is_none() && asked.sweep.is_empty() => {
            return Err(usage(
                "a command alone is no experiment: what is it held against? --against COMMAND, or --sweep NAME=VALUES",
            ));
        }
        None => of_words(asked)?,
    };
    if asked.file.is_some() && asked.time.is_some() {
        experiment.file.budget.time = asked.time;
    }
    let path = match (folder, &asked.output, &asked.file) {
        (Some(folder), ..) => folder,
        (None, Some(output), _) => output.clone(),
        (None, None, Some(_)) => PathBuf::from(format!("{}.tune", experiment.name)),
        (None, None, None) => place(&experiment, &text)?,
    };
    let about = about(&experiment, &asked.file.as_ref().map_or("tune".into(), |f| f.display().to_string()));
    let machine = Host::live();
    let over = asked.more.is_none() && path.exists() && Folder::events(&path).is_ok_and(|events| has_ended(&events));
    if !over {
        settings::refuse_what_is_left(&machine)?;
    }
    let groups = (!over).then(|| Place::open(&machine, &experiment)).transpose();
    let groups = groups.map_err(|why| anyhow::anyhow!(clean(&why)))?;
    let keeping = match over {
        true => None,
        false => settings::keeping(&machine, &experiment, &path, asked.yes)?,
    };
    let mut tools = tools(match asked.keep {
        Keep::All => KeepRecordings::All,
        Keep::Measured => KeepRecordings::Measured,
        Keep::Explained => KeepRecordings::Explained,
        Keep::None => KeepRecordings::None,
    })?;
    tools.settings = keeping.as_ref().map(|keeping| keeping as &dyn Setter);
    tools.place = groups.as_ref();
    heed();
    let mut progress = Progress::new(&experiment, &path, asked.quiet);
    let what = Drive { experiment: &experiment, text: &text, path: &path, about: &about, more: asked.more };
    let driven = drive(&what, &tools, &mut progress);
    progress.over();
    let put_back = keeping.map_or(Ok(()), settings::Keeping::over);
    drop(groups);
    let (_, end) = driven?;
    put_back?;
    stop::leave_signals_unless_stopped(|| {
        eprintln!("twinscope: stopped; to go on where it was: twinscope tune {}", path.display());
    });
    let shown = shown(&path, &experiment)?;
    if asked.json {
        println!("{}", serde_json::to_string_pretty(&shown)?);
    } else {
        print::result(&shown, &path);
    }
    let measured = shown.trials.iter().any(|t| t.end == ::tune::result::TrialEnd::Measured);
    Ok(if measured && end == End::Finished { 0 } else { 1 })
}

/// From here on signals stop the session in good order.
fn heed() {
    stop::heed_signals();
}

/// What is kept of where a session began. `called` is what errors call its file.
fn about(experiment: &Experiment, called: &str) -> About {
    About {
        tool: env!("CARGO_PKG_VERSION").into(),
        began: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64()),
        host: host(),
        base: experiment.base.clone(),
        called: called.to_owned(),
    }
}

fn tools<'a>(keep: KeepRecordings) -> Result<Tools<'a>> {
    Ok(Tools {
        twinscope: std::env::current_exe().context("this program")?,
        stop: &stop::STOP,
        source_of: |table| sources::ALL.iter().find(|s| s.tables.iter().any(|t| t.name == table)).map(|s| s.name),
        keep,
        settings: None,
        place: None,
    })
}

fn shown(path: &Path, experiment: &Experiment) -> Result<::tune::result::Experiment> {
    let events = Folder::events(path)?;
    ::tune::show(experiment, &events, path, true).with_context(|| path.display().to_string())
}

/// The session of a folder, as it is shown.
pub(crate) fn experiment_of(path: &Path) -> Result<::tune::result::Experiment> {
    shown(path, &of_folder(path)?.0)
}

fn show(asked: &Show) -> Result<u8> {
    let shown = experiment_of(&asked.folder)?;
    if asked.json {
        println!("{}", serde_json::to_string_pretty(&shown)?);
    } else if asked.csv {
        print::csv(&shown)?;
    } else if asked.markdown {
        print::markdown(&shown);
    } else {
        print::result(&shown, &asked.folder);
    }
    Ok(0)
}

/// This host in a few words.
fn host() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let (name, kernel) = (read("/proc/sys/kernel/hostname"), read("/proc/sys/kernel/osrelease"));
    format!("{name}, Linux {kernel} {}, {cpus} CPUs", std::env::consts::ARCH)
}
