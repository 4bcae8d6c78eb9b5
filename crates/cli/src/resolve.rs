//! `twinscope resolve`: names for code that had none where it was recorded.

use crate::progress::{Progress, names};
use crate::text;
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Name code that had no names where it was recorded, by the programs and debug files of this machine.
#[derive(Args, Debug)]
pub struct Resolve {
    /// Recordings; they are changed in place
    #[arg(required = true, value_name = "NAME.twin")]
    recordings: Vec<PathBuf>,

    /// Also look here: a program, a debug file, or a folder of them; they are matched by build id
    #[arg(long, value_name = "PATH")]
    debug: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Files that are listed for each recording, at most.
const MOST: usize = 10;

/// Names what can be named, and says what is left.
pub fn resolve(options: &Resolve) -> Result<u8> {
    let mut all = Vec::new();
    for path in &options.recordings {
        let progress = Progress::new(&format!("looking for the names of {}", names(&[path])));
        let done = ::import::resolve(path, &options.debug);
        drop(progress);
        let done = done?;
        let left =
            |l: &::import::Left| json!({"module": l.module, "build_id": l.build_id, "places": l.places, "why": l.why});
        if options.json {
            let left: Vec<_> = done.left.iter().map(left).collect();
            all.push(
                json!({"file": path.display().to_string(), "unnamed": done.unnamed, "named": done.named, "left": left}),
            );
            continue;
        }
        let file = path.display();
        match done.unnamed {
            0 => println!("{file}: every place in a file has its name"),
            unnamed => println!("{file}: {} of {unnamed} places without a name were named", done.named),
        }
        for l in done.left.iter().take(MOST) {
            let id = if l.build_id.is_empty() { String::new() } else { format!(" ({})", l.build_id) };
            println!("  {} in {}{id}: {}", l.places, text::clean(&l.module), text::clean(&l.why));
        }
        if done.left.len() > MOST {
            println!("  and {} files more: --json lists them", done.left.len() - MOST);
        }
    }
    if options.json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(0)
}
