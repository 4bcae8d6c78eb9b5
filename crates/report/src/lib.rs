//! The report: one self-contained HTML file. What it holds is described in docs/report-bundle.md. Knows nothing of how anything was
//! collected: charts, units and help come with the recordings.

mod block;
mod budget;
mod charts;
mod head;
mod html;
mod tables;

use explain::Comparison;
use query::Run;
use std::path::PathBuf;

/// What can go wrong when a report is made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tables could not be asked.
    #[error(transparent)]
    Query(#[from] query::Error),
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

/// Makes the report of `runs`, of which the first is the baseline.
///
/// # Errors
/// See [`Error`].
pub fn html(runs: &[Run], comparison: &Comparison) -> Result<String, Error> {
    let mut pages = charts::pages(runs, comparison)?;
    tables::add(runs, comparison, &mut pages)?;
    let head = head::head(runs, comparison, &pages)?;
    let mut blocks = Vec::with_capacity(pages.len() + 1);
    for page in pages {
        blocks.push((page.block_id(), html::pack(&page.block.finish())?));
    }
    blocks.push(("set-up".to_owned(), html::pack(head::set_up(runs).to_string().as_bytes())?));
    Ok(html::assemble(&head, &blocks))
}
