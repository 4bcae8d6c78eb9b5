//! `twinscope fleet explain`: why one band is slower than another. Some recordings of each are repeats of the two sides of `explain`.

use super::bands::{Asking, none};
use super::info::say_damage;
use super::separated;
use crate::compare::window;
use crate::explain::Own;
use crate::text::clean;
use ::fleet::words::{headline, name};
use ::fleet::{Banding, Group};
use anyhow::{Result, bail};
use clap::Args;
use compare::Choice;
use explain::Explanation;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Recordings of each band, those nearest to its middle.
const REPEATS: usize = 5;

/// Explain why one band is slower.
#[derive(Args, Debug)]
pub struct Explain {
    #[command(flatten)]
    asking: Asking,

    /// Where the recordings are by now, by the names of their files; else where `add` read them
    #[arg(long, value_name = "DIR")]
    recordings: Option<PathBuf>,

    /// The window to explain, as of `explain`
    #[arg(long, value_name = "WINDOW", default_value = "auto", value_parser = window)]
    window: Choice,

    #[command(flatten)]
    own: Own,

    /// Print JSON: what `fleet bands --json` prints, and `explanation` (docs/explain-json.md)
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown, for a ticket
    #[arg(long)]
    markdown: bool,
}

/// Explains and prints. Exit code 3 where a part of the folder or of a recording could not be read, or no cause can be looked for.
pub fn explain(options: &Explain) -> Result<u8> {
    let answer = options.asking.ask()?;
    let mut damaged = say_damage(&answer.damage);
    let mut explanations = Vec::new();
    for group in &answer.groups {
        if let (Some(fact), Some(value), false) = (&options.asking.within, &group.within, options.json) {
            println!("{} = {}", clean(fact), clean(value));
        }
        let Some(banding) = group.bandings.first() else {
            if !options.json {
                none(group);
            }
            explanations.push(None);
            continue;
        };
        if !options.json {
            say_bands(group, banding, options.markdown);
        }
        let (explanation, sides) = match of_banding(group, banding, options) {
            Ok(explained) => explained,
            Err(error) => {
                damaged = 3;
                eprintln!("twinscope: no cause can be looked for: {}", clean(&format!("{error:#}")));
                explanations.push(None);
                continue;
            }
        };
        for damage in &explanation.damage {
            damaged = 3;
            eprintln!("twinscope: {}", clean(damage));
        }
        if !options.json {
            print(group, &explanation, &sides, options.markdown);
        }
        explanations.push(Some(explanation));
    }
    if options.json {
        let mut all = answer.to_json();
        let explanations: Vec<_> = explanations.iter().map(|e| e.as_ref().map(Explanation::to_json)).collect();
        if let Some(all) = all.as_object_mut() {
            all.insert("explanations".into(), json!(explanations));
        }
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(options.asking.failed(&answer).unwrap_or(damaged))
}

/// Recordings of the slow and of the fast band.
type Sides = [Vec<usize>; 2];

fn of_banding(group: &Group, banding: &Banding, options: &Explain) -> Result<(Explanation, Sides)> {
    let Some((slow, fast)) = group.slow_and_fast(banding) else { bail!("there are no two bands") };
    let sides = [slow, fast].map(|band| group.middle(banding, band, REPEATS));
    let mut files = Vec::new();
    for at in sides.iter().flatten() {
        let Some(recording) = group.recordings.get(*at) else { continue };
        files.push(find(Path::new(&recording.file), options.recordings.as_deref())?);
    }
    let runs = query::open(&files)?;
    let settings = explain::Explain {
        window: options.window.clone(),
        least: None,
        causes: options.own.known()?,
        machines: Vec::new(),
    };
    Ok((explain::explain(runs, sides[0].len(), &settings)?, sides))
}

/// Where a recording is.
fn find(file: &Path, below: Option<&Path>) -> Result<PathBuf> {
    let Some(folder) = below else {
        if !file.exists() {
            bail!("{}: not there; name the folder where the recordings are by now: --recordings DIR", file.display());
        }
        return Ok(file.to_owned());
    };
    let mut files = Vec::new();
    super::add::gather(folder, &mut files)?;
    match files.into_iter().find(|found| found.file_name() == file.file_name()) {
        Some(found) => Ok(found),
        None => bail!("{}: no {} below it", folder.display(), file.file_name().unwrap_or_default().display()),
    }
}

/// The bands, since when, and what separates them in a line.
fn say_bands(group: &Group, banding: &Banding, markdown: bool) {
    let mark = if markdown { "**" } else { "" };
    for line in headline(group, banding) {
        println!("{mark}{line}{mark}");
    }
    separated::since(group, banding);
    for of in &banding.separated {
        separated::brief(group, of);
    }
}

fn print(group: &Group, explanation: &Explanation, sides: &Sides, markdown: bool) {
    let [slow, fast] =
        sides.each_ref().map(|side| side.iter().map(|at| name(group, *at)).collect::<Vec<_>>().join(", "));
    println!("\nThe slow band ({slow}) against the fast one ({fast}):\n");
    if markdown {
        print!("{}", explanation.to_markdown());
    } else {
        crate::explain::print(explanation);
    }
}
