//! How often sessions are wrong, how much they find and what that takes, on simulated machines: the tables of docs/method.md.
//! `cargo run --release -p twinscope-tune --example simulate`, some minutes on one CPU. Everything is drawn from fixed seeds.
//!
//! `… --example simulate -- --divide 10` for a first look, with a tenth of the sessions. `search`, `factorial` and `optimise` run these
//! parts alone.

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use clap::{Parser, ValueEnum};
use simulation::{Compare, compare, flags, ladders, optima, predicted, scaling, searches};
use tune::simulated::{KINDS, Noise};

fn name(noise: Noise) -> &'static str {
    match noise {
        Noise::White => "white, 3 %",
        Noise::Moods => "moods",
        Noise::Ramp => "ramp of 12 %",
        Noise::Neighbour => "a neighbour for minutes",
        Noise::Bursts => "bursts",
        Noise::All => "all of these",
    }
}

fn search(sessions: usize) {
    println!(
        "Searches of two servers, the second with 5 % more capacity, {sessions} each: the ratio is off by (root mean square);"
    );
    println!("its interval holds the truth; a rate is off by; its interval holds the truth; trials of both\n");
    println!("| bend of the curve, drift, and each trial | 8 pairs | 12 pairs | 30 pairs |\n|---|---|---|---|");
    for (bend, drift, own) in
        [(1.0, 0.0, 0.02), (1.0, 0.05, 0.02), (1.0, 0.08, 0.04), (4.0, 0.05, 0.02), (4.0, 0.08, 0.04)]
    {
        let with = |pairs| {
            let s = searches(bend, drift, own, 1.05, pairs, sessions);
            format!(
                "{:.2} %; {:.1} %; {:.1} %; {:.1} %; {:.0}",
                s.ratio_off, s.ratio_held, s.rate_off, s.rate_held, s.trials
            )
        };
        println!("| {bend}, {} %, {} % | {} |", drift * 100.0, own * 100.0, [8, 12, 30].map(with).join(" | "));
    }
    println!();
}

fn factorials(sessions: usize) {
    println!(
        "\nFactorials of 10 blocks (of 2 flags 20), {} sessions each: something is told that does nothing; an interval leaves out the truth; where",
        sessions
    );
    println!("one flag takes 3 % off: it is told\n");
    println!(
        "| noise | 2 flags | 3 flags | 4 flags | 6 flags in 16 runs | 8 flags in 16 runs |\n|---|---|---|---|---|---|"
    );
    for noise in KINDS {
        let with = |n: usize| {
            let blocks = if n == 2 { 20 } else { 10 };
            let with = |effect: f64| flags(noise, n, effect, blocks, sessions);
            let (equal, one) = (with(0.0), with(0.97f64.ln()));
            format!("{:.1} %; {:.1} %; {:.1} %", equal.called, equal.left_out, one.found)
        };
        println!("| {} | {} |", name(noise), [2, 3, 4, 6, 8].map(with).join(" | "));
    }
}

fn optimise(sessions: usize) {
    println!(
        "\nSearches for the best of six mixed parameters, {} each: what is to be taken falls short of the best (median, worst tenth);",
        sessions
    );
    println!(
        "its gain is overstated by the blocks (mean, mean size of the error), and would be by the search; intervals that leave out"
    );
    println!("the truth; called better, in %\n");
    println!(
        "| drift, noise of a trial | trials | short | worst tenth | overstated | off | by the search | left out | better |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (sd, own) in [(0.0, 0.02), (0.05, 0.02), (0.08, 0.04)] {
        for trials in [40, 80] {
            let s = optima(trials, sd, own, sessions);
            println!(
                "| {:.0} %, {:.0} % | {trials} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
                sd * 100.0,
                own * 100.0,
                s.short,
                s.worst,
                s.overstated,
                s.off,
                s.seen,
                s.left_out,
                s.better
            );
        }
    }
}

/// A part that runs alone.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    Search,
    Factorial,
    Optimise,
}

/// How often sessions are wrong, how much they find and what that takes, on simulated machines
#[derive(Parser)]
struct Options {
    /// Divide how many sessions there are
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    divide: u16,

    /// Only these parts
    #[arg(value_enum)]
    parts: Vec<Part>,
}

fn main() {
    let Options { divide, parts } = Options::parse();
    let of = |sessions: usize| (sessions / usize::from(divide)).max(1);
    let asked = |part: Part| parts.is_empty() || parts.contains(&part);
    if asked(Part::Search) {
        search(of(2000));
    }
    if asked(Part::Factorial) {
        factorials(of(2000));
    }
    if asked(Part::Optimise) {
        optimise(of(400));
    }
    if !parts.is_empty() {
        return;
    }

    println!(
        "Equal variants, {} sessions each: a difference called; interval leaves out the truth; blocks\n",
        of(4000)
    );
    println!(
        "| noise | 30 blocks | 60 blocks | quick: 4 | 30, then up to 90 more by the wager |\n|---|---|---|---|---|"
    );
    for noise in KINDS {
        let with = |blocks, quick, more, sessions| {
            let r = compare(Compare { noise, truth: &[0.0], blocks, quick, more }, of(sessions));
            format!("{:.1} %; {:.1} %; {:.0}", r.called, r.left_out, r.blocks)
        };
        let (short, long) = (with(30, false, 0, 4000), with(60, false, 0, 4000));
        println!(
            "| {} | {short} | {long} | {} | {} |",
            name(noise),
            with(30, true, 0, 4000),
            with(30, false, 90, 1000)
        );
    }

    println!("\nReal differences, {} sessions each: found; interval leaves out the truth; blocks\n", of(4000));
    println!("| noise | 3 %, 30 blocks | 3 %, 60 blocks | 10 %, 30 blocks | 30 %, 30 blocks |\n|---|---|---|---|---|");
    for noise in KINDS {
        let with = |truth: f64, blocks| {
            let r = compare(Compare { noise, truth: &[truth.ln_1p()], blocks, quick: false, more: 0 }, of(4000));
            format!("{:.1} %; {:.1} %; {:.1}", r.called, r.left_out, r.blocks)
        };
        let all = [with(0.03, 30), with(0.03, 60), with(0.1, 30), with(0.3, 30)];
        println!("| {} | {} |", name(noise), all.join(" | "));
    }

    println!(
        "\nBlocks that are predicted after 8, where it is not decided by then, {} sessions each, 60 blocks: they suffice;",
        of(2000)
    );
    println!("median told, median used (of how many sessions)\n");
    println!("| noise | equal | 1.5 % | 3 % | 5 % |\n|---|---|---|---|---|");
    for noise in KINDS {
        let with = |truth: f64| {
            let p = predicted(noise, truth.ln_1p(), 60, of(2000));
            format!("{:.0} %; {}, {} ({})", p.sufficed, p.median, p.used, p.told)
        };
        let all = [with(0.0), with(0.015), with(0.03), with(0.05)];
        println!("| {} | {} |", name(noise), all.join(" | "));
    }

    println!(
        "\nSeveral equal variants, {} sessions each: any difference called; any interval leaves out the truth\n",
        of(2000)
    );
    println!(
        "| noise | 5 variants beside a baseline | ladder of 6 rungs: table; with climbing; intervals |\n|---|---|---|"
    );
    for noise in KINDS {
        let five = compare(Compare { noise, truth: &[0.0; 5], blocks: 30, quick: false, more: 0 }, of(2000));
        let l = ladders(noise, &[0.0; 5], of(2000));
        println!(
            "| {} | {:.1} %; {:.1} % | {:.1} %; {:.1} %; {:.1} % |",
            name(noise),
            five.called,
            five.left_out,
            l.table,
            l.any,
            l.left_out
        );
    }

    println!(
        "\nA ladder of 5 steps of which each takes 2 % off, {} sessions each: gain overstated, in points, as seen while",
        of(500)
    );
    println!("climbing and by the table; an interval of the table leaves out the truth\n");
    println!("| noise | climbing | table | intervals |\n|---|---|---|---|");
    for noise in KINDS {
        let l = ladders(noise, &[-0.02; 5], of(500));
        println!(
            "| {} | {:.2} | {:.2} | {:.1} % |",
            name(noise),
            l.overstated_climbing,
            l.overstated_table,
            l.left_out
        );
    }

    println!(
        "\nScaling law, 10 blocks, 3 % a trial, {} sweeps each: intervals of σ and of κ hold the truth; a peak below 2N",
        of(2000)
    );
    println!(
        "is named with its interval; none up to 2N is said; either is false; the law is refused; width of the interval of σ\n"
    );
    println!(
        "| σ, κ (peak) | N | σ | κ | named | none | false | refused | width |\n|---|---|---|---|---|---|---|---|---|"
    );
    let sweeps: [&[f64]; 5] = [
        &[1.0, 2.0, 4.0],
        &[1.0, 2.0, 3.0, 4.0],
        &[1.0, 2.0, 4.0, 8.0],
        &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0],
        &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0],
    ];
    for (sigma, kappa) in [(0.03, 0.0), (0.05, 0.001), (0.2, 0.005), (0.5, 0.0), (0.1, 0.02)] {
        for n in sweeps {
            let s = scaling(sigma, kappa, n, of(2000));
            let peak = if kappa > 0.0 { format!("{:.1}", ((1.0 - sigma) / kappa).sqrt()) } else { "none".into() };
            println!(
                "| {sigma}, {kappa} ({peak}) | to {:.0}, {} points | {:.1} % | {:.1} % | {:.0} % | {:.0} % | {:.1} % | {:.1} % | {:.3} |",
                n.last().unwrap_or(&0.0),
                n.len(),
                s.sigma,
                s.kappa,
                s.named,
                s.none,
                s.false_peak,
                s.refused,
                s.width
            );
        }
    }
}
