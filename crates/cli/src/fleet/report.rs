//! `twinscope fleet report`: a fleet as a page of its own.

use super::bands::{Asking, headline, none};
use super::explain::Looking;
use super::info::say_damage;
use crate::image::Image;
use crate::output;
use crate::text::clean;
use ::fleet::result::result;
use anyhow::Result;
use clap::Args;
use report::{AboutFleet, Why};
use std::path::{Path, PathBuf};

/// Write the page of a fleet.
#[derive(Args, Debug)]
pub struct Report {
    #[command(flatten)]
    asking: Asking,

    #[command(flatten)]
    looking: Looking,

    /// The page to write [default: fleet.html]
    #[arg(short, long, value_name = "FILE.html", value_parser = recorder::result())]
    output: Option<PathBuf>,

    #[command(flatten)]
    image: Image,

    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

/// Asks, looks for the cause where the recordings are at hand, and writes. Exit code 3 where a part of the folder or of a recording could not be
/// read, or no cause can be looked for where it was said that the recordings are.
pub fn report(options: &Report) -> Result<u8> {
    let drawing = options.image.prepare()?;
    let page = options.image.page(options.output.as_deref(), options.open, "fleet.html");
    if options.open
        && let Some(page) = &page
    {
        output::must_be_file(page, "--open")?;
    }
    let answer = options.asking.ask()?;
    let mut damaged = say_damage(&answer.damage);
    let mut shown = result(&answer);
    let finder = options.looking.finder()?;
    let mut whys: Vec<Why> = Vec::new();
    for group in &mut shown.groups {
        none(group);
        let Some(banding) = group.bandings.first() else {
            whys.push(None);
            continue;
        };
        headline(banding, false);
        let why = finder.explain(group, banding).map_err(|error| clean(&format!("{error:#}")));
        match &why {
            Ok((explanation, _)) => {
                println!("{}", clean(&explanation.verdict));
                for damage in &explanation.damage {
                    damaged = 3;
                    eprintln!("twinscope: {}", clean(damage));
                }
            }
            Err(error) => {
                if finder.was_told() {
                    damaged = 3;
                }
                eprintln!("twinscope: no cause is named: {}", crate::text::clean(&error.to_string()));
            }
        }
        whys.push(Some(why));
        // Commands of the page name the files where they are by now.
        for recording in &mut group.recordings {
            if let Ok(file) = finder.find(Path::new(&recording.file)) {
                recording.file = file.display().to_string();
            }
        }
    }
    let about = AboutFleet {
        folder: options.asking.folder.display().to_string(),
        command: options.asking.command(),
        within: options.asking.within.clone(),
    };
    let html = report::fleet_html(about, &answer, shown, whys)?;
    if let Some(page) = page {
        output::write(&page, html.as_bytes(), "report")?;
        output::written(&page, html.len(), options.open);
    }
    if let Some(drawing) = drawing {
        drawing.write(&html)?;
    }
    Ok(options.asking.failed(&answer).unwrap_or(damaged))
}
