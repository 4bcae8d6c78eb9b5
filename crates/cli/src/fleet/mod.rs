//! `twinscope fleet`: many hosts. What is asked is answered in the crate `fleet`; here are the words of the command line, and what is printed.

mod add;
mod ask;
mod bands;
mod engine;
mod explain;
mod info;
mod record;
mod report;
mod separated;
mod sql;
mod summary;
mod way;

use anyhow::Result;
use clap::{Args, Subcommand};

/// Many hosts: which bands they fall into, and what separates these
#[derive(Args, Debug)]
pub struct Fleet {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Record many hosts together, by ssh or in Kubernetes, and bring the recordings here
    #[command(after_help = "Examples:
  twinscope fleet record -o monday/ -d 60s --hosts web-1,web-2,@more.txt
  twinscope fleet record -o monday/ -d 60s --hosts @all.txt --ssh 'ssh -F config' --no-sudo --at 14:00
  twinscope fleet record -o bench/ --hosts a,b --throughput 'done (\\d+)' -- ./bench
  twinscope fleet record -o nodes/ -d 60s --kubernetes -l pool=web --image registry.example/twinscope-recorder:0.1.0
  twinscope fleet record -o pods/ -d 60s --kubernetes --pods-of deployment/web -n shop --image IMAGE
  twinscope fleet record -o flight/ --keep 10m --detach --hosts @all.txt        flight recorders on all of them

The same command again does only what is missing. docs/remote.md says how hosts are reached and what is left there.")]
    Record(Box<record::Recorded>),
    /// Fetch what hosts have recorded, after `fleet record --detach`
    #[command(after_help = "Examples:
  twinscope fleet fetch monday/
  twinscope fleet fetch flight/ --stop --clean                                  end the flight recorders")]
    Fetch(record::Fetch),
    /// Have running flight recorders of many hosts save what they hold, and bring it here
    #[command(after_help = "Examples:
  twinscope fleet snapshot flight/ -o incident/                                 those of `fleet record --keep --detach`
  twinscope fleet snapshot -o incident/ --hosts web-1,web-2                     services of these hosts
  twinscope fleet snapshot -o incident/ --kubernetes --pods-of daemonset/twinscope -n twinscope")]
    Snapshot(ask::Snapshot),
    /// Put a mark into the recordings of running recorders of many hosts
    #[command(after_help = "Examples:
  twinscope fleet mark 'release 1.4 deployed' --of flight/
  twinscope fleet mark 'release 1.4 deployed' --hosts web-1,web-2")]
    Mark(ask::Mark),
    /// Reduce recordings to summaries, and add these to a folder
    #[command(after_help = "Examples:
  twinscope fleet add fleet/ recordings/                 all .twin files below a folder
  twinscope fleet add fleet/ a.twin b.twin @more.txt     files, and those that a list names, one a line
  twinscope fleet add fleet/ recordings/ --window 10s..70s

A recording that is there already is passed over: the same command again goes on where it was.")]
    Add(add::Add),
    /// Show what a folder of summaries holds
    #[command(after_help = "Examples:
  twinscope fleet info fleet/
  twinscope fleet info fleet/ --json")]
    Info(info::Info),
    /// Show which bands hosts fall into, and which host is in which
    #[command(after_help = "Examples:
  twinscope fleet bands fleet/
  twinscope fleet bands fleet/ --by 'process.run_wait{comm=server}' --where zone=a
  twinscope fleet bands fleet/ --within cpu.model --json
  twinscope fleet bands s3://recordings/fleet --engine 'python3 engines/spark.py'")]
    Bands(bands::Bands),
    /// Explain why one band is slower than another, with some recordings of each as repeats
    #[command(after_help = "Examples:
  twinscope fleet explain fleet/
  twinscope fleet explain fleet/ --recordings downloads/ --markdown >> ticket.md")]
    Explain(Box<explain::Explain>),
    /// Write a page of the fleet: its bands, what separates them, each host over time, and the cause
    #[command(after_help = "Examples:
  twinscope fleet report fleet/ -o fleet.html
  twinscope fleet report fleet/ --by 'process.run_wait{comm=server}' --within cpu.model
  twinscope fleet report fleet/ --recordings downloads/")]
    Report(Box<report::Report>),
    /// Query a folder of summaries with SQL
    #[command(after_help = "Examples:
  twinscope fleet sql fleet/ .schema
  twinscope fleet sql fleet/ \"select host, mean from metric where metric = 'work.done' order by mean\"
  twinscope fleet sql fleet/ 'select value, count(*) from fact where name = \"cpu.model\" group by value' --json")]
    Sql(sql::Sql),
    /// Reduce one recording to the rows of its summary, for other programs
    #[command(after_help = "Examples:
  twinscope fleet summary a.twin
  aws s3 cp s3://recordings/a.twin - | twinscope fleet summary - --file s3://recordings/a.twin")]
    Summary(summary::Summary),
}

/// Does what is asked. Returns the exit code.
pub fn fleet(options: &Fleet) -> Result<u8> {
    match &options.what {
        What::Record(options) => record::record(options),
        What::Fetch(options) => record::fetch(options),
        What::Snapshot(options) => ask::snapshot(options),
        What::Mark(options) => ask::mark(options),
        What::Add(options) => add::add(options),
        What::Info(options) => info::info(options),
        What::Bands(options) => bands::bands(options),
        What::Explain(options) => explain::explain(options),
        What::Report(options) => report::report(options),
        What::Sql(options) => sql::sql(options),
        What::Summary(options) => summary::summary(options),
    }
}
