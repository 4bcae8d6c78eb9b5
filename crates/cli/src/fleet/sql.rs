//! `twinscope fleet sql`: SQL over a folder of summaries.

use super::info::say_damage;
use crate::sql::{Format, TimeLimit, print};
use crate::text;
use ::fleet::Folder;
use ::fleet::folder::{DATASETS, Type};
use ::fleet::sql::Session;
use anyhow::Result;
use clap::Args;
use recorder::Usage;
use std::path::PathBuf;

/// Ask a folder of summaries in SQL.
#[derive(Args, Debug)]
pub struct Sql {
    /// The folder of summaries
    #[arg(value_name = "FLEET")]
    folder: PathBuf,

    /// A select statement, or .schema [DATASET]
    #[arg(value_name = "STATEMENT")]
    statement: String,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    format: Format,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    #[command(flatten)]
    time: TimeLimit,
}

/// Answers. Exit code 3 where a part of the folder could not be read.
pub fn sql(options: &Sql) -> Result<u8> {
    let folder = Folder::open(&options.folder)?;
    let statement = options.statement.trim();
    if let Some(word) = statement.strip_prefix('.') {
        return schema(word);
    }
    options.time.set()?;
    let session = Session::new(&folder)?;
    let format = if options.json { Format::Json } else { options.format };
    session.ask(statement, |columns, rows| -> Result<()> { print(columns, rows, format) })?;
    Ok(say_damage(&session.damage()))
}

/// `.schema`: the datasets; `.schema DATASET`: its columns.
fn schema(word: &str) -> Result<u8> {
    let mut words = word.split_whitespace();
    let (Some("schema"), name, None) = (words.next(), words.next(), words.next()) else {
        return Err(Usage(format!(".{word}: there is .schema [DATASET]")).into());
    };
    let mut out;
    match name {
        None => {
            out = text::table(&["dataset", "a row is"], &[false, false]);
            for dataset in DATASETS {
                out.add_row([dataset.name, dataset.help]);
            }
        }
        Some(name) => {
            let Some(dataset) = DATASETS.iter().find(|dataset| dataset.name == name) else {
                return Err(Usage(format!("there is no dataset {name:?}; .schema lists them")).into());
            };
            out = text::table(&["column", "type", "what it says"], &[false, false, false]);
            for column in dataset.columns {
                let ty = match column.ty {
                    Type::Text => "text",
                    Type::Int => "integer",
                    Type::Real | Type::Single => "real",
                };
                out.add_row([column.name, ty, column.help]);
            }
        }
    }
    println!("{}", text::trimmed(&out));
    Ok(0)
}
