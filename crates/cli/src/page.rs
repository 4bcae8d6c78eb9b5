//! `twinscope report`: writes the page, of recordings or of an experiment.

use crate::compare::Choose;
use crate::explain::Own;
use crate::image::{Drawing, Image};
use crate::progress::{Progress, names};
use crate::{output, text};
use ::tune::Folder;
use ::tune::result::{Experiment, TrialEnd};
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

    /// The page to write [default: report.html]
    #[arg(short, long, value_name = "FILE.html", value_parser = recorder::result())]
    output: Option<PathBuf>,

    #[command(flatten)]
    image: Image,

    /// Of an experiment: also a page for each change, with a trial of each side in full, beside it and linked
    #[arg(long)]
    pairs: bool,

    /// Open it in the browser
    #[arg(long)]
    open: bool,
}

impl Report {
    /// Where the page goes, if one is written.
    fn page(&self) -> Option<PathBuf> {
        self.image.page(self.output.as_deref(), self.open || self.pairs, "report.html")
    }

    /// Writes the page, and its picture, and says where, after what came out.
    fn write(&self, html: &str, verdict: &str, drawing: Option<&Drawing>) -> Result<()> {
        let page = self.page();
        if let Some(page) = &page {
            output::write(page, html.as_bytes(), "report")?;
        }
        match &page {
            Some(page) => output::tell(page, &text::clean(verdict)),
            None => println!("{}", text::clean(verdict)),
        }
        if let Some(page) = &page {
            output::written(page, html.len(), self.open);
        }
        drawing.map_or(Ok(()), |drawing| drawing.write(html))
    }
}

/// Writes the page and says where. Returns the exit code.
pub fn report(options: &Report) -> Result<u8> {
    if let [session] = options.choose.recordings.as_slice()
        && Folder::is_one(session)
    {
        return experiment(options, session);
    }
    if options.open
        && let Some(page) = options.page()
    {
        output::must_be_file(&page, "--open")?;
    }
    if options.pairs {
        let what = "--pairs is for the session of an experiment (NAME.tune); recordings are side by side anyway";
        return Err(recorder::Usage(what.into()).into());
    }
    let drawing = options.image.prepare()?;
    let causes = options.own.known()?;
    let progress = Progress::new(&format!("writing the report of {}", names(&options.choose.recordings)));
    let (runs, comparison) = options.choose.compare(&[])?;
    let settings = explain::Explain { window: options.choose.window.clone(), causes, ..explain::Explain::default() };
    let report::Report { html, explained } = report::report(&runs, &comparison, &settings)?;
    drop(progress);
    let damaged = text::say_damage(&runs);
    let verdict = explained.as_ref().map_or(&comparison.headline.headline, |e| &e.explanation.verdict);
    options.write(&html, verdict, drawing.as_ref())?;
    Ok(if damaged { 3 } else { 0 })
}

/// The page of an experiment, from the folder of its session.
fn experiment(options: &Report, session: &Path) -> Result<u8> {
    let drawing = options.image.prepare()?;
    let progress = Progress::new(&format!("writing the page of {}", names(&[session])));
    let mut experiment = crate::tune::experiment_of(session)?;
    if options.pairs {
        pairs(options, session, &mut experiment)?;
    }
    let html = report::experiment_html(&experiment)?;
    drop(progress);
    options.write(&html, &experiment.verdict, drawing.as_ref())?;
    Ok(0)
}

/// Writes a page for each change of which both sides have a trial for explaining whose recording was kept.
fn pairs(options: &Report, session: &Path, experiment: &mut Experiment) -> Result<()> {
    let trial = |variant: usize| {
        let of =
            experiment.trials.iter().filter(|t| t.variant == variant && t.explained && t.end == TrialEnd::Measured);
        let mut recordings = of.map(|t| Folder::trial(session, t.number).join("run.twin"));
        recordings.find(|path| path.exists())
    };
    let recordings: Vec<Option<PathBuf>> = (0..experiment.variants.len()).map(trial).collect();
    let names: Vec<String> = experiment.variants.iter().map(|v| v.name.clone()).collect();
    let output = options.page().unwrap_or_else(|| "report.html".into());
    output::must_be_file(&output, "--pairs")?;
    let stem = output.file_stem().map_or("report".into(), |stem| stem.to_string_lossy().into_owned());
    // Of a ladder those of its rungs: what was climbed is held against the same.
    let rungs = experiment.rungs.iter_mut().filter_map(|rung| rung.change.as_mut());
    for change in rungs.chain(&mut experiment.changes) {
        let side = |variant: usize| recordings.get(variant)?.as_ref().zip(names.get(variant));
        let (Some((before, old)), Some((after, new))) = (side(change.against), side(change.variant)) else { continue };
        let name = format!("{stem}-{}-{}.html", change.against, change.variant);
        let path = output.with_file_name(&name);
        let mut runs = query::open_by(&[before, after], &options.choose.work.work)?;
        for (run, name) in runs.iter_mut().zip([old, new]) {
            run.name.clone_from(name);
        }
        let comparison = compare::compare(&runs, &options.choose.options())?;
        let settings = explain::Explain { causes: options.own.known()?, ..explain::Explain::default() };
        let page = report::report(&runs, &comparison, &settings)?;
        output::write(&path, page.html.as_bytes(), "report")?;
        change.report = Some(name);
    }
    Ok(())
}
