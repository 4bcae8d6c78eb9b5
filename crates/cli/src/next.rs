//! Which command makes sense next, with real names: after a recording, and where `twinscope` is called without a command.

use model::{Manifest, whose};
use recorder::{Lack, Rights};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use store::Recording;
use tune::shell;

/// Recordings that are looked at, the latest, and for how long: a folder may hold thousands, and be on a slow disk.
const MOST: usize = 20;
const LONGEST: Duration = Duration::from_millis(30);

/// A command as one would type it, with its file names quoted where they must be.
pub(crate) fn command(words: &[&str]) -> String {
    shell(&std::iter::once("twinscope").chain(words.iter().copied()).map(str::to_owned).collect::<Vec<_>>())
}

/// The recordings in a folder, the latest first, without those that are being made.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let busy: Vec<PathBuf> = recorder::recorders().into_iter().map(|(_, path)| path).collect();
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "twin"))
        .filter(|entry| std::path::absolute(entry.path()).is_ok_and(|path| !busy.contains(&path)))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, path)| path).collect()
}

fn manifest(path: &Path) -> Option<Manifest> {
    Recording::about(path).ok()
}

/// The program of a recording's command, without its folder.
fn program(manifest: &Manifest) -> Option<&str> {
    manifest.command.as_ref()?.first()?.rsplit('/').next()
}

/// The latest of `others` that is of the same program, and not a part of the same recording, as snapshots are.
fn fellow<'a>(of: &Manifest, others: &'a [PathBuf]) -> Option<&'a PathBuf> {
    let wanted = program(of)?;
    let began = Instant::now();
    let is_one = |other: &Manifest| program(other) == Some(wanted) && other.start_unix != of.start_unix;
    let mut latest = others.iter().take(MOST).take_while(|_| began.elapsed() < LONGEST);
    latest.find(|path| manifest(path).is_some_and(|other| is_one(&other)))
}

/// As one types it from here: without the folder where it is this one.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix("./").unwrap_or(path).display().to_string();
    // What begins like an option is none.
    if path.starts_with('-') { format!("./{path}") } else { path }
}

fn page_of(path: &Path) -> String {
    shown(&path.with_extension("html"))
}

/// What to do with a recording: at most three lines.
pub(crate) fn after(path: &Path) -> Vec<String> {
    let Some(of) = manifest(path) else { return Vec::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let same = |other: &PathBuf| other.file_name() == path.file_name();
    let others: Vec<PathBuf> = recordings(folder).into_iter().filter(|other| !same(other)).collect();
    let file = shown(path);
    if of.scope == whose::NOBODY || of.scope.is_empty() {
        // Without threads nothing is explained.
        return vec![
            format!("{}   what is in it, as a page", command(&["report", &file, "-o", &page_of(path), "--open"])),
            "To have causes named, record a command, or use --pid, --cgroup or --all".into(),
        ];
    }
    if of.labels.contains_key("trigger") {
        return vec![format!("{}   since the trigger held, against before", command(&["explain", &file]))];
    }
    if let Some(before) = fellow(&of, &others) {
        let before = shown(before);
        return vec![
            format!("{}   why it is slower, if it is", command(&["explain", &file, "--against", &before])),
            format!("{}   both as a page", command(&["report", &before, &file, "-o", &page_of(path), "--open"])),
        ];
    }
    let mut lines = vec![format!("{}   what limits it", command(&["explain", &file]))];
    if let Some(program) = of.command.as_ref().and_then(|command| command.first()) {
        let free = |name: &String| !Path::new(name).exists();
        let name = (2..).map(|n| format!("{}-{n}.twin", file.trim_end_matches(".twin"))).find(free);
        let begin = command(&["record", "-o", &name.unwrap_or_default(), "--", program]);
        // Who had to ask for rights will have to again.
        let sudo = if std::env::var_os("SUDO_USER").is_some() { "sudo " } else { "" };
        lines.push(format!("Or record a second run, to compare: {sudo}{begin} …"));
    }
    lines
}

/// The name of this program with the rights that it needs.
fn sudo(rights: &Rights) -> &'static str {
    if rights.has_bpf { "" } else { "sudo " }
}

/// What to do, in at most twenty lines: by what this process may record, by the recordings in `folder`, and by whether a flight recorder runs.
pub(crate) fn overview(folder: &Path) -> Vec<String> {
    let rights = Rights::look();
    let mut lines = vec![
        "Twinscope records a whole system, compares a slow run with a good one, and names the cause.".to_owned(),
        String::new(),
    ];
    if cfg!(target_os = "linux") {
        lines.extend(may(&rights));
    } else {
        lines.push("Recordings are made on Linux; here they can be read.".into());
    }
    let here = recordings(folder);
    if let Some(latest) = here.first() {
        lines.push(String::new());
        let count = here.len();
        let many = if count == 1 { "is a recording".into() } else { format!("are {count} recordings") };
        lines.push(format!("Here {many}, the latest {}:", shown(latest)));
        for line in after(latest) {
            lines.push(format!("  {line}"));
        }
    } else {
        let sudo = sudo(&rights);
        lines.push(String::new());
        lines.push("Record a good run and a slow one, then ask:".into());
        lines.push(format!("  {sudo}twinscope record -o good.twin -- ./server --bench"));
        lines.push(format!("  {sudo}twinscope record -o slow.twin -- ./server --bench --new"));
        lines.push("  twinscope explain slow.twin --against good.twin".into());
    }
    let running = recorder::recorders();
    if let Some((pid, path)) = running.first() {
        let of = if running.len() > 1 { format!(" --pid {pid}") } else { String::new() };
        lines.push(String::new());
        lines.push(format!("A recorder is running (process {pid}, {}); to save what it holds:", path.display()));
        lines.push(format!("  twinscope snapshot{of} -o incident.twin"));
    }
    lines.push(String::new());
    lines.push("All commands: twinscope --help   What this machine lets record: twinscope sources".into());
    lines
}

/// What will be recorded, and what is missing.
fn may(rights: &Rights) -> Vec<String> {
    let who = if rights.is_root {
        "As root"
    } else if rights.has_bpf {
        "With these capabilities"
    } else {
        "Without root"
    };
    if rights.lacks.is_empty() {
        return vec![format!("{who} everything is recorded that this machine exposes.")];
    }
    let mut lines = vec![format!("{who} everything is recorded that this machine exposes, but for:")];
    for Lack { what, why, remedy } in &rights.lacks {
        lines.push(format!("  {what}: {why} ({remedy})"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_fits_a_screen() {
        let folder = tempfile::tempdir().unwrap();
        let lines = overview(folder.path());
        assert!(lines.len() <= 20 && lines.iter().any(|line| line.contains("record -o good.twin")), "{lines:#?}");
        // A file that is no recording is no reason to fail.
        std::fs::write(folder.path().join("it's.twin"), "x").unwrap();
        assert!(overview(folder.path()).len() <= 20);
    }

    #[test]
    fn names_are_quoted_for_the_shell() {
        assert_eq!(command(&["explain", "it is.twin"]), "twinscope explain 'it is.twin'");
        assert_eq!((shown(Path::new("./a.twin")), shown(Path::new("-x.twin"))), ("a.twin".into(), "./-x.twin".into()));
    }
}
