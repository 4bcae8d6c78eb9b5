//! `twinscope report`: writes the page.

use crate::compare::Choose;
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;

/// Write a page that lays recordings side by side.
#[derive(Args, Debug)]
pub struct Report {
    #[command(flatten)]
    choose: Choose,

    /// The page to write
    #[arg(short, long, value_name = "FILE.html", default_value = "report.html")]
    output: PathBuf,

    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

/// Writes the page and says where. Returns the exit code.
pub fn report(options: &Report) -> Result<u8> {
    let (runs, comparison, damaged) = options.choose.compare(&[])?;
    let html = report::html(&runs, &comparison)?;
    // Beside its place first: a disk that fills must not leave half a page where a whole one was.
    let mut part = options.output.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = std::fs::write(&part, &html).and_then(|()| std::fs::rename(&part, &options.output));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written.with_context(|| format!("{}: the report could not be written", options.output.display()))?;
    println!("{}", comparison.headline.headline);
    println!("{} ({})", options.output.display(), query::human(html.len() as f64, "B"));
    if options.open {
        let opened = std::process::Command::new("xdg-open").arg(&options.output).status();
        if !opened.is_ok_and(|s| s.success()) {
            eprintln!("twinscope: no browser could be started with xdg-open; open the file yourself");
        }
    }
    Ok(if damaged { 3 } else { 0 })
}
