//! `twinscope fleet explain`: why one band is slower than another. Some recordings of each are repeats of the two sides of `explain`.

use super::bands::{Asking, headline, none};
use super::info::say_damage;
use super::separated;
use crate::compare::window;
use crate::explain::Own;
use crate::progress::{Progress, names};
use crate::text::clean;
use ::fleet::result::{FleetBanding, FleetGroup, result};
use anyhow::{Result, bail};
use clap::Args;
use compare::Choice;
use explain::Explanation;
use explain::cause::Cause;
use serde_json::json;
use std::path::{Path, PathBuf};

/// How a cause is looked for: shared by `explain` and `report`.
#[derive(Args, Debug)]
pub(super) struct Looking {
    /// Where the recordings are by now, by the names of their files; else where `add` read them
    #[arg(long, value_name = "DIR")]
    recordings: Option<PathBuf>,

    /// The window to explain, as of `explain`
    #[arg(long, value_name = "WINDOW", default_value = "auto", value_parser = window)]
    window: Choice,

    #[command(flatten)]
    own: Own,
}

/// Explain why one band is slower.
#[derive(Args, Debug)]
pub struct Explain {
    #[command(flatten)]
    asking: Asking,

    #[command(flatten)]
    looking: Looking,

    /// Print JSON: what `fleet bands --json` prints, and `explanations` (docs/explain-json.md)
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
    let shown = result(&answer);
    let finder = options.looking.finder()?;
    let mut explanations = Vec::new();
    for group in &shown.groups {
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
        let (explanation, sides) = match finder.explain(group, banding) {
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
        let mut all = serde_json::to_value(&shown)?;
        let explanations: Vec<_> = explanations.iter().map(|e| e.as_ref().map(Explanation::to_json)).collect();
        if let Some(all) = all.as_object_mut() {
            all.insert("explanations".into(), json!(explanations));
        }
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(options.asking.failed(&answer).unwrap_or(damaged))
}

/// Recordings of the slow and of the fast band.
pub(super) type Sides = [Vec<usize>; 2];

impl Looking {
    /// What finds recordings, and causes in them.
    pub(super) fn finder(&self) -> Result<Finder<'_>> {
        let mut below = Vec::new();
        if let Some(folder) = &self.recordings {
            super::add::gather(folder, &mut below)?;
        }
        Ok(Finder { looking: self, below, causes: self.own.known()? })
    }
}

/// Finds recordings by their names, and causes in them.
pub(super) struct Finder<'a> {
    looking: &'a Looking,
    /// The recordings of the folder that was named.
    below: Vec<PathBuf>,
    causes: Vec<Cause>,
}

impl Finder<'_> {
    /// Why the slow band of a banding is slower than the fast one.
    pub(super) fn explain(&self, group: &FleetGroup, banding: &FleetBanding) -> Result<(Explanation, Sides)> {
        let sides = banding.slow_and_fast.map(|band| banding.bands.get(band).map_or(Vec::new(), |b| b.nearest.clone()));
        if sides.iter().any(Vec::is_empty) {
            bail!("no recording stands for one of the bands");
        }
        let mut files = Vec::new();
        for at in sides.iter().flatten() {
            let Some(recording) = group.recordings.get(*at) else { continue };
            files.push(self.find(Path::new(&recording.file))?);
        }
        let settings = explain::Explain {
            window: self.looking.window.clone(),
            least: None,
            causes: self.causes.clone(),
            machines: Vec::new(),
        };
        let _progress = Progress::new(&format!("explaining {}", names(&files)));
        Ok((explain::explain(query::open(&files)?, sides[0].len(), &settings)?, sides))
    }

    /// Where a recording is.
    pub(super) fn find(&self, file: &Path) -> Result<PathBuf> {
        let Some(folder) = &self.looking.recordings else {
            if !file.exists() {
                bail!(
                    "{}: not there; name the folder where the recordings are by now: --recordings DIR",
                    file.display()
                );
            }
            return Ok(file.to_owned());
        };
        match self.below.iter().find(|found| found.file_name() == file.file_name()) {
            Some(found) => Ok(found.clone()),
            None => bail!("{}: no {} below it", folder.display(), file.file_name().unwrap_or_default().display()),
        }
    }

    /// Whether it was said where the recordings are.
    pub(super) fn was_told(&self) -> bool {
        self.looking.recordings.is_some()
    }
}

/// The bands, since when, and what separates them in a line.
fn say_bands(group: &FleetGroup, banding: &FleetBanding, markdown: bool) {
    headline(banding, markdown);
    separated::since(group, banding);
    banding.separated.iter().for_each(separated::brief);
}

fn print(group: &FleetGroup, explanation: &Explanation, sides: &Sides, markdown: bool) {
    let [slow, fast] =
        sides.each_ref().map(|side| side.iter().map(|at| clean(group.name(*at))).collect::<Vec<_>>().join(", "));
    println!("\nThe slow band ({slow}) against the fast one ({fast}):\n");
    if markdown {
        print!("{}", explanation.to_markdown());
    } else {
        crate::explain::print(explanation);
    }
}
