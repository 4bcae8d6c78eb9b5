//! `twinscope report`: writes the page, of recordings or of an experiment.

use crate::compare::Choose;
use crate::explain::Own;
use crate::{output, text};
use anyhow::Result;
use clap::Args;
use std::path::{Path, PathBuf};

/// Write a page that lays recordings side by side.
#[derive(Args, Debug)]
pub struct Report {
    #[command(flatten)]
    choose: Choose,

    #[command(flatten)]
    own: Own,

    /// The page to write
    #[arg(short, long, value_name = "FILE.html", default_value = "report.html")]
    output: PathBuf,

    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

/// Writes the page and says where. Returns the exit code.
pub fn report(options: &Report) -> Result<u8> {
    if let [session] = options.choose.recordings.as_slice()
        && ::tune::Folder::is_one(session)
    {
        return experiment(options, session);
    }
    let causes = options.own.known()?;
    let (runs, comparison, damaged) = options.choose.compare(&[])?;
    let settings = explain::Explain { window: options.choose.window.clone(), causes, ..explain::Explain::default() };
    let report::Report { html, explained } = report::report(&runs, &comparison, &settings)?;
    output::write(&options.output, html.as_bytes(), "report")?;
    println!("{}", text::clean(explained.as_ref().map_or(&comparison.headline.headline, |e| &e.explanation.verdict)));
    written(options, html.len());
    Ok(if damaged { 3 } else { 0 })
}

/// The page of an experiment, from the folder of its session.
fn experiment(options: &Report, session: &Path) -> Result<u8> {
    let experiment = crate::tune::experiment_of(session)?;
    let html = report::experiment_html(&experiment)?;
    output::write(&options.output, html.as_bytes(), "report")?;
    println!("{}", text::clean(&experiment.verdict));
    written(options, html.len());
    Ok(0)
}

/// Says where it is, and opens it where that is asked for.
fn written(options: &Report, bytes: usize) {
    println!("{} ({})", options.output.display(), query::human(bytes as f64, "B"));
    if options.open {
        let opened = std::process::Command::new("xdg-open").arg(&options.output).status();
        if !opened.is_ok_and(|s| s.success()) {
            eprintln!("twinscope: no browser could be started with xdg-open; open the file yourself");
        }
    }
}
