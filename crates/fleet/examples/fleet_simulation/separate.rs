//! Tables of what separates and of since when; and the time that many hosts take.

use crate::{Options, percent, seed};
use fleet::statistics::bands::{self, Ask};
use fleet::statistics::since::{self, Drawn};
use fleet::statistics::synthetic::{self, Metric, Shape};
use fleet::statistics::{rule, separate};
use std::time::Instant;

fn sides(one: usize, hosts: usize) -> Vec<Option<bool>> {
    (0..hosts).map(|i| Some(i < one)).collect()
}

fn slices(x: &[Vec<f64>]) -> Vec<&[f64]> {
    x.iter().map(Vec::as_slice).collect()
}

/// Metrics that differ, of many.
pub fn separation(options: &Options) {
    const METRICS: usize = 1229;
    println!(
        "{METRICS} metrics in groups of ten that share a cause. Of 10 that differ found, in %; of the lines listed false, in %; fleets where a false one \
         is listed, in %.\n"
    );
    println!("| hosts | shift | correlation in a group | found | false | fleets |\n|---|---|---|---|---|---|");
    for (one, rest, planted, shift, correlation) in [
        (8, 56, 0, 0.0, 0.7),
        (8, 56, 0, 0.0, 0.95),
        (8, 56, 10, 1.2, 0.95),
        (8, 56, 10, 1.7, 0.7),
        (8, 56, 10, 1.7, 0.95),
        (8, 56, 10, 2.0, 0.7),
        (8, 56, 10, 2.5, 0.7),
        (16, 112, 10, 1.2, 0.95),
        (64, 448, 10, 0.6, 0.95),
        (32, 32, 10, 1.1, 0.95),
    ] {
        let sides = sides(one, one + rest);
        let (mut found, mut wrong, mut any) = (0, 0, 0);
        for f in 0..options.fleets {
            let mut rng = seed(options, one + rest, f);
            let made = synthetic::many(METRICS, planted, shift, correlation, &sides, &mut rng);
            let s = separate::metrics(&slices(&made), &sides, options.seed);
            let (mut right, mut not) = (0, 0);
            for m in s.listed.iter().map(|d| d.metric) {
                if m % 100 == 5 && m / 100 < planted { right += 1 } else { not += 1 }
            }
            found += right;
            wrong += not;
            any += usize::from(not > 0);
        }
        println!(
            "| {one} against {rest} | {} | {correlation} | {} | {} | {} |",
            if planted == 0 { "none".to_string() } else { format!("{shift} SD") },
            if planted == 0 { "–".to_string() } else { percent(found, options.fleets * planted) },
            if found + wrong == 0 { "–".to_string() } else { percent(wrong, found + wrong) },
            percent(any, options.fleets)
        );
    }
}

/// Switches within a recording, and starts.
pub fn since(options: &Options) {
    println!(
        "Hosts of 100 and 250 with the valley at 160, 120 slices; noise is a fraction of the level. In %: a switch at slice 72 dated within one slice \
         (alone); steady hosts, of either band, of which none is claimed.\n"
    );
    println!("| noise, dependence | switch down | switch up | steady |\n|---|---|---|---|");
    let hosts = 10 * options.fleets;
    for (noise, phi) in [(0.05, 0.0), (0.1, 0.5), (0.2, 0.0), (0.2, 0.5), (0.2, 0.8), (0.3, 0.5)] {
        let mut rng = seed(options, 120, 0);
        let mut count = |at: usize, levels: (f64, f64)| {
            (0..hosts)
                .filter(|_| {
                    let x = synthetic::course(120, at, levels, noise, phi, &mut rng);
                    let switches = since::path(&x, 160.0, 100.0, 250.0).switches;
                    if at < 120 { switches.len() == 1 && switches[0].abs_diff(at) <= 1 } else { switches.is_empty() }
                })
                .count()
        };
        let (down, up) = (count(72, (250.0, 100.0)), count(72, (100.0, 250.0)));
        let steady = count(120, (100.0, 0.0)) + count(120, (250.0, 0.0));
        println!(
            "| {:.0} %, {phi} | {} | {} | {} |",
            100.0 * noise,
            percent(down, hosts),
            percent(up, hosts),
            percent(steady, 2 * hosts)
        );
    }
    println!(
        "\nOne start in eight is fast. In %, of {} fleets: with the host; partly; each start; not known.\n",
        options.fleets
    );
    println!("| hosts × starts | the host decides | each start draws |\n|---|---|---|");
    for (hosts, starts) in [(8, 4), (16, 2), (16, 4), (64, 2), (64, 4)] {
        let cell = |host: bool| {
            let mut counts = [0; 4];
            for f in 0..options.fleets {
                let mut rng = seed(options, hosts * starts, f);
                let own: Vec<usize> = (0..hosts).map(|_| rng.below(8)).collect();
                let all: Vec<(usize, usize)> = (0..hosts * starts)
                    .map(|i| (i % hosts, usize::from(if host { own[i % hosts] } else { rng.below(8) } == 0)))
                    .collect();
                let place = match since::drawn(&all, options.seed).drawn {
                    Drawn::WithHost => 0,
                    Drawn::Partly => 1,
                    Drawn::EachStart => 2,
                    Drawn::NotKnown => 3,
                };
                counts[place] += 1;
            }
            counts.map(|c| percent(c, options.fleets)).join("; ")
        };
        println!("| {hosts} × {starts} | {} | {} |", cell(true), cell(false));
    }
}

/// CPU time of this process, all threads: fields 14 and 15 of `/proc/self/stat`, in hundredths of a second (proc(5)).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or("").split(' ');
    fields.skip(11).take(2).filter_map(|f| f.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// How long it takes.
pub fn time(options: &Options) {
    println!("Seconds; seconds of CPU time, for 1,200 metrics: bands by 12 of them; by any; what separates; a rule.\n");
    println!("| hosts | bands | by any | separates | rule |\n|---|---|---|---|---|");
    for hosts in [500, 5000, 10_000] {
        let mut rng = seed(options, hosts, 0);
        let truth = Shape::OneInEight.bands(hosts);
        let asked: Vec<Metric> = (0..1200)
            .map(|m| synthetic::metric(if m < 12 { Shape::OneInEight } else { Shape::Normal }, hosts, 0.05, &mut rng))
            .collect();
        let values: Vec<_> = asked.iter().map(|m| m.values("")).collect();
        let sides: Vec<Option<bool>> = truth.iter().map(|b| Some(*b == 0)).collect();
        let (even, odd): (Vec<&[f64]>, Vec<&[f64]>) =
            (asked.iter().map(|m| m.even.as_slice()).collect(), asked.iter().map(|m| m.odd.as_slice()).collect());
        let took = |work: &dyn Fn()| {
            let (begin, used) = (Instant::now(), cpu_seconds());
            work();
            format!("{:.2}; {:.2}", begin.elapsed().as_secs_f64(), cpu_seconds() - used)
        };
        let cells = [
            took(&|| drop(bands::ask(&values[..12], &Ask::default()))),
            took(&|| drop(bands::ask(&values, &Ask { by_any: true, ..Ask::default() }))),
            took(&|| drop(separate::metrics(&odd, &sides, 1))),
            took(&|| drop(rule::find(&even, &odd, &sides))),
        ];
        println!("| {hosts} | {} |", cells.join(" | "));
    }
}
