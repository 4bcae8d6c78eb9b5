//! The report: one self-contained HTML file. What it holds is described in docs/report-bundle.md. Knows nothing of how anything was
//! collected: charts, units and help come with the recordings.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod block;
mod budget;
mod bundle;
mod charts;
mod code;
mod columns;
mod counters;
mod events;
mod experiment;
mod explained;
mod flame;
mod fleet;
mod head;
mod html;
mod jvm;
mod ledger;
mod listings;
mod locks;
mod machine;
mod profile;
mod requests;
mod rows;
mod sharing;
mod stacks;
mod summed;
mod tables;
#[cfg(test)]
mod tests;
mod words;

pub use experiment::experiment_html;
pub use explained::Explained;
pub use flame::{Graph, flame_html, svg};
pub use fleet::{AboutFleet, Why, fleet_html};

use bundle::{PageTable, View};
use compare::Comparison;
use explain::Explain;
use model::Page;
use query::Run;
use std::path::PathBuf;

/// What can go wrong when a report is made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tables could not be asked.
    #[error(transparent)]
    Query(#[from] query::Error),
    /// Data could not be written as JSON.
    #[error("the report's data could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Data could not be compressed.
    #[error("the report's data could not be compressed: {0}")]
    Compress(std::io::Error),
    /// The file could not be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A report.
#[derive(Debug)]
pub struct Report {
    /// The page.
    pub html: String,
    /// What its first screen says: an explanation, or why there is none.
    pub explained: Result<Explained, String>,
}

/// Makes the report of `runs`, of which the first is the baseline: their comparison, and an explanation of what is slower.
///
/// # Errors
/// See [`Error`].
pub fn report(runs: &[Run], comparison: &Comparison, options: &Explain) -> Result<Report, Error> {
    let sources = explained::sources(runs);
    std::thread::scope(|scope| {
        // It takes about as long as the charts do. Its judgement of waits is that of the thread ledger, too.
        let explained = scope.spawn(|| explained::explained(&sources, options));
        let mut pages = charts::pages(runs, comparison)?;
        tables::add(runs, comparison, &mut pages)?;
        let mut columns = summed::add(runs, &mut pages)?;
        let explained = explained.join().unwrap_or_else(|_| Err("looking for causes failed".into()));
        let profile = profile::profile(runs, comparison, explained.as_ref().ok())?;
        if let Some(profile) = &profile {
            show(&mut pages, profile);
        }
        let requests = requests::requests(runs)?;
        if requests.is_some() {
            summed::page(&mut pages, Page::Requests).view = Some(View::Requests);
        }
        let instructions = listings::listings(runs, comparison, explained.as_ref().ok());
        if instructions.is_some() {
            summed::page(&mut pages, Page::Instructions).view = Some(View::Instructions);
        }
        let shared = sharing::sharing(runs, comparison);
        if shared.is_some() {
            summed::page(&mut pages, Page::Sharing).view = Some(View::Sharing);
        }
        let jvms = jvm::jvms(runs);
        if jvms.is_some() {
            summed::page(&mut pages, Page::Jvm).view = Some(View::Jvm);
        }
        let counted = counters::counters(runs, comparison);
        if counted.is_some() {
            summed::page(&mut pages, Page::Counters).view = Some(View::Counters);
        }
        let code = code::code(runs, comparison);
        if code.is_some() {
            summed::page(&mut pages, Page::Code).view = Some(View::Code);
        }
        let machine = machine::machines(runs, explained.as_ref().ok());
        if machine.is_some() {
            summed::page(&mut pages, Page::Machine).view = Some(View::Machine);
        }
        let (requests, block) = requests.map(|r| (r.spec, (requests::BLOCK.to_owned(), r.block))).unzip();
        columns.extend(block);
        let mut blocks = Vec::with_capacity(pages.len() + columns.len() + 2);
        let (spec, block) = profile.map(|p| (p.spec, (profile::BLOCK.to_owned(), p.block))).unzip();
        columns.extend(block);
        for (id, block) in columns {
            blocks.push((id, html::pack(&block.finish()?)?));
        }
        for page in &mut pages {
            blocks.push((page.block_id(), html::pack(&std::mem::take(&mut page.block).finish()?)?));
        }
        if let Some(listings) = instructions.as_ref().and_then(|made| made.listings.as_ref()) {
            blocks.push((listings::BLOCK.to_owned(), html::pack(&serde_json::to_vec(listings)?)?));
        }
        if let Some(shared) = &shared {
            blocks.push((sharing::BLOCK.to_owned(), html::pack(&serde_json::to_vec(shared)?)?));
        }
        if let Some(jvms) = &jvms {
            blocks.push((jvm::BLOCK.to_owned(), html::pack(&serde_json::to_vec(jvms)?)?));
        }
        if let Some(counted) = &counted {
            blocks.push((counters::BLOCK.to_owned(), html::pack(&serde_json::to_vec(counted)?)?));
        }
        if let Some(code) = &code {
            blocks.push((code::BLOCK.to_owned(), html::pack(&serde_json::to_vec(code)?)?));
        }
        blocks.push((head::SET_UP.to_owned(), html::pack(&serde_json::to_vec(&head::set_up(runs))?)?));
        let mut head = head::head(runs, comparison, &explained, &mut pages, (spec, requests, instructions.as_ref()))?;
        head.sharing = shared.map(|_| bundle::BlockRef { block: sharing::BLOCK.into() });
        head.counters = counted.map(|_| bundle::BlockRef { block: counters::BLOCK.into() });
        head.code = code.map(|_| bundle::BlockRef { block: code::BLOCK.into() });
        head.machine = machine;
        head.jvm = jvms.map(|_| bundle::BlockRef { block: jvm::BLOCK.into() });
        Ok(Report { html: html::assemble(&head, &blocks)?, explained })
    })
}

/// Puts what the block `profile` holds onto its pages, each table that declares one before those that are there.
fn show(pages: &mut Vec<charts::PageData>, profile: &profile::Profile) {
    if ledger::TABLES.iter().any(|t| profile.block.has(t)) {
        summed::page(pages, Page::TimeBudget).view = Some(View::TimeBudget);
    }
    if !profile.measured.is_empty() {
        summed::page(pages, Page::Profiles).view = Some(View::Profiles);
    }
    for measured in profile.measured.iter().rev().filter(|measured| measured.is_listed) {
        if let Some(page) = measured.table.page {
            summed::page(pages, page).tables.insert(0, PageTable::Events(summed::events(measured)));
        }
    }
}
