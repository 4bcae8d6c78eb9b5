//! `--engine`: a fleet whose summaries another program reads.

use ::fleet::engine::{Elsewhere, Session, Where};
use ::fleet::{Answer, Fleet, Folder, Question};
use anyhow::Result;
use clap::Args;
use std::path::Path;
use std::time::Duration;

/// Who reads the summaries.
#[derive(Args, Debug)]
pub(super) struct With {
    /// A program that reads the summaries, such as 'python3 engines/spark.py' or 'python3 engines/duckdb.py'
    /// (docs/engines.md); FLEET may then be an address that it knows: s3://bucket/fleet. Without it: twinscope itself
    #[arg(long, value_name = "COMMAND")]
    engine: Option<String>,

    /// How long to wait for each answer of the engine, s
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    engine_timeout: u64,
}

impl With {
    /// Asks a fleet.
    pub(super) fn ask(&self, fleet: &Path, question: &Question) -> Result<Answer> {
        let Some(command) = &self.engine else {
            let folder = Folder::open(fleet)?;
            return Ok(::fleet::ask(Fleet::load(&folder, &question.labels)?, question)?);
        };
        let summaries = Where::new(fleet)?;
        let session = Session::start(command, Duration::from_secs(self.engine_timeout))?;
        Ok(::fleet::ask(Elsewhere::open(session, &summaries, &question.labels)?, question)?)
    }
}
