//! Short recordings that a command makes for itself.

use anyhow::Result;
use clap::Parser;
use std::ffi::OsString;
use std::path::Path;

/// `twinscope record`, to have its options read.
#[derive(Parser)]
struct Recorded {
    #[command(flatten)]
    options: recorder::Record,
}

/// Records to a file with these options of `twinscope record`. The exit code of the command, if there is one.
pub(crate) fn record(to: &Path, options: &[OsString]) -> Result<u8> {
    let mut words: Vec<OsString> = ["record", "--quiet", "--force", "-o"].into_iter().map(Into::into).collect();
    words.push(to.into());
    words.extend_from_slice(options);
    Ok(recorder::record(&Recorded::try_parse_from(words)?.options, None)?.code)
}
