//! Measures what a question costs: an hour of 192 CPUs, ten counters each, read as series and asked by SQL.
//! `cargo run --release -p twinscope-query --example measure`

use clap::Parser;
use model::{Column, Compare, Den, Derived, Manifest, Polarity, Rows, Symbols, Table, Unit};
use query::series::{Grid, metric, metrics};
use query::{Run, Session};
use std::time::Instant;
use store::{Recording, Select, Writer};

const CPUS: i64 = 192;
const TICKS: i64 = 3600;

const fn time(name: &'static str) -> Column {
    Column::counter(name, Unit::ClockTicks, "time")
}

static CPU: Table = Table::wide(
    "cpu",
    "time of each CPU",
    &[
        Column::number("cpu", "CPU number"),
        time("user"),
        time("nice"),
        time("system"),
        time("idle"),
        time("iowait"),
        time("irq"),
        time("softirq"),
        time("steal"),
        time("guest"),
        time("guest_nice"),
    ],
)
.derived(&[Derived {
    name: "busy",
    unit: "s/s",
    help: "in use",
    num: &[("user", 1.0), ("nice", 1.0), ("system", 1.0), ("irq", 1.0), ("softirq", 1.0), ("steal", 1.0)],
    den: Den::Time,
    polarity: Polarity::Neutral,
    compare: Compare::Ratio,
    floor: 0.02,
}]);

/// Measures what a question costs
#[derive(Parser)]
struct Options {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Options::parse();
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("hour.twin");
    let mut writer = Writer::create(&path, false, 60_000_000_000)?;
    let id = writer.define("cpu", &CPU);
    let mut totals = vec![0i64; (CPUS * 10) as usize];
    let mut random = 1u64;
    for tick in 0..TICKS {
        let mut cells = Vec::with_capacity(totals.len() + CPUS as usize);
        for cpu in 0..CPUS {
            cells.push(cpu);
            for column in 0..10 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let total = &mut totals[(cpu * 10 + column) as usize];
                *total += if column < 4 || column == 6 { (random >> 60) as i64 } else { 0 };
                cells.push(*total);
            }
        }
        writer.put(id, tick * 1_000_000_000 + (random >> 44) as i64, &Rows { width: 11, cells });
        if tick % 60 == 59 {
            writer.commit(&Symbols::default())?;
        }
    }
    writer.finish(
        &Manifest { name: "hour".into(), ended: Some("done".into()), ..Manifest::default() },
        &Symbols::default(),
    )?;
    println!("{CPUS} CPUs, {TICKS} reads, {} KB", std::fs::metadata(&path)?.len() / 1024);

    let timed = |what: &str, start: Instant| println!("{:8.0} ms  {what}", start.elapsed().as_secs_f64() * 1e3);
    let recording = Recording::open(&path)?;
    let start = Instant::now();
    let frame = recording.load("cpu", &Select::default()).ok_or("no table")?;
    timed("decode all columns", start);
    let start = Instant::now();
    let points: usize = metrics(&CPU)
        .iter()
        .map(|m| Grid::new(&frame, m, &["cpu"], None).map_or(0, |g| g.len() * g.series.len()))
        .sum();
    timed(&format!("all {} metrics of each CPU: {points} values", metrics(&CPU).len()), start);
    let start = Instant::now();
    let busy = metric(&CPU, "busy").ok_or("no metric")?;
    let total = Grid::new(&frame, &busy, &[], None)?;
    timed(&format!("busy, all CPUs: mean {:?}", total.series[0].mean(total.all())), start);
    drop(frame);

    for sql in [
        "select count(*) from cpu",
        "select cpu, max(user) - min(user) from cpu group by cpu",
        "select t, sum(busy) from cpu_rate group by t",
        "select * from cpu_rate",
        "select * from cpu_rate where cpu = 17",
        "select sum(busy) from cpu_rate where t between 1800000000000 and 1810000000000",
        "select count(*) from cpu_total",
        "select a.cpu, avg(b.busy - a.busy) from cpu_rate a join cpu_rate b on b.t = a.t and b.cpu = a.cpu + 1 where a.cpu < 8 group by 1",
    ] {
        let session =
            Session::of(vec![Run { name: "hour".into(), recording: Recording::open(&path)?, stretch: None }])?;
        let start = Instant::now();
        let mut query = session.query(sql)?;
        let rows = query.rows()?.collect::<Result<Vec<_>, _>>()?.len();
        timed(&format!("{rows:7} rows  {sql}"), start);
    }
    Ok(())
}
