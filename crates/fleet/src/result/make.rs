//! Makes what is shown of what the fleet answered.

use super::{
    FORMAT, FleetAnswer, FleetAround, FleetAsked, FleetAtMost, FleetBand, FleetBanding, FleetCut, FleetDifference,
    FleetFact, FleetFunction, FleetGroup, FleetLine, FleetRecording, FleetRule, FleetSeparated, FleetShare, FleetShift,
    FleetShown, FleetSince, FleetStarts, FleetStray, FleetStrayLine, FleetStraying, FleetSwitch, FleetValley,
    FleetWork, NEAREST, words,
};
use crate::ask::{Answer, Asked, Banding, Group};
use crate::separate::{Of, Separated};
use crate::since::{Anchor, Around};
use crate::statistics::bands::Stray;
use crate::statistics::rule::{Join, Rule};
use crate::statistics::separate::Difference;
use query::human;
use std::collections::BTreeSet;

/// What a fleet answers, as it is shown.
pub fn result(answer: &Answer) -> FleetAnswer {
    FleetAnswer { format: FORMAT, groups: answer.groups.iter().map(group).collect() }
}

fn group(group: &Group) -> FleetGroup {
    let strays = group.strays.iter().map(|of| FleetStraying {
        recording: of.recording,
        lines: of
            .lines
            .iter()
            .map(|line| FleetStrayLine {
                metric: line.metric.clone(),
                unit: line.unit.clone(),
                value: line.value,
                middle: line.middle,
                deviations: line.deviations,
            })
            .collect(),
        more: of.more,
    });
    FleetGroup {
        within: group.within.clone(),
        recordings: recordings(group),
        asked: group.asked.iter().map(asked).collect(),
        bandings: group.bandings.iter().filter_map(|of| banding(group, of)).collect(),
        says: if group.bandings.is_empty() { words::none(group) } else { Vec::new() },
        strays: strays.collect(),
    }
}

fn recordings(group: &Group) -> Vec<FleetRecording> {
    // They are in the order of their hosts.
    let host = |at: Option<usize>| group.recordings.get(at?).map(|of| &of.host);
    let several = |at: usize| {
        let own = host(Some(at));
        own == host(at.checked_sub(1)) || own == host(Some(at + 1))
    };
    // Of one host alone it is the names of its recordings that tell them apart.
    let runs: BTreeSet<&str> = group.recordings.iter().map(|of| &*of.run).collect();
    let alone =
        runs.len() == group.recordings.len() && group.recordings.windows(2).all(|pair| pair[0].host == pair[1].host);
    let made = group.recordings.iter().enumerate().map(|(at, of)| FleetRecording {
        id: of.id.clone(),
        host: of.host.clone(),
        run: of.run.clone(),
        name: if alone && several(at) {
            of.run.clone()
        } else if several(at) {
            format!("{} {}", of.host, of.run)
        } else {
            of.host.clone()
        },
        file: of.file.clone(),
        start: of.start,
        seconds: known(of.seconds),
        labels: of.labels.clone(),
    });
    made.collect()
}

fn known(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn stray(of: &Stray) -> FleetStray {
    FleetStray { recording: of.host, deviations: of.deviations }
}

fn asked(of: &Asked) -> FleetAsked {
    let found = of.found.as_ref();
    let shown = found.iter().flat_map(|found| &found.shown).map(|shown| FleetShown {
        share: shown.share,
        ratio: shown.ratio,
        difference: shown.difference,
    });
    FleetAsked {
        metric: of.metric.key.to_string(),
        unit: of.metric.unit().to_owned(),
        help: of.metric.declared.help.clone(),
        better: of.metric.declared.better.clone(),
        spread: of.spread,
        values: of.metric.mean.iter().map(|v| known(*v)).collect(),
        errors: of.metric.error.iter().map(|v| v.is_finite().then_some(*v)).collect(),
        bands: found.map(|found| found.bands.len()),
        logs: found.is_some_and(|found| found.logs),
        strays: found.iter().flat_map(|found| &found.strays).map(stray).collect(),
        shown: shown.collect(),
    }
}

fn banding(group: &Group, of: &Banding) -> Option<FleetBanding> {
    let (asked, found) = group.named(of)?;
    let in_order = of.order.iter().enumerate().filter_map(|(at, band)| Some((at, found.bands.get(*band)?)));
    let bands: Vec<FleetBand> = in_order
        .map(|(at, band)| FleetBand {
            count: band.share.count,
            of: band.share.of,
            share: FleetShare { low: band.share.low, high: band.share.high },
            middle: band.middle,
            low: band.low,
            high: band.high,
            nearest: group.middle(of, at, NEAREST),
        })
        .collect();
    let names = of.metrics.iter().filter_map(|at| group.asked.get(*at)).map(|asked| asked.metric.key.to_string());
    let (slow, fast) = group.slow_and_fast(of)?;
    Some(FleetBanding {
        title: words::title(group, of, asked, &bands),
        says: words::headline(of, asked, &bands),
        share_says: if of.facts.is_empty() { words::shares(found) } else { Vec::new() },
        by: *of.metrics.first()?,
        metrics: names.collect(),
        unit: asked.metric.unit().to_owned(),
        p: of.p,
        valleys: found.valleys.iter().map(|valley| FleetValley { at: valley.at, depth: valley.depth }).collect(),
        of: of.of.clone(),
        undecided: found.undecided.clone(),
        strays: found.strays.iter().map(stray).collect(),
        lost: of.lost,
        facts: words::facts(of),
        slow_and_fast: [slow, fast],
        separated: of.separated.iter().map(|separated| separates(group, of, separated)).collect(),
        since: since(of),
        bands,
    })
}

fn since(banding: &Banding) -> FleetSince {
    let of = &banding.since;
    let switches = of.switches.iter().map(|switch| FleetSwitch {
        recording: switch.recording,
        at: switch.at,
        up: switch.up,
        after_start: switch.after_start,
    });
    FleetSince {
        says: words::since(of, &words::facts(banding)),
        switches: switches.collect(),
        around: of.around.iter().map(around).collect(),
        steady: of.steady,
        watched: of.watched,
        // What is drawn is the fact, where one is what the bands are.
        decides: of.decides().filter(|decides| *decides != "start" || banding.facts.is_empty()),
        starts: of.starts.map(|starts| FleetStarts { same: starts.same, by_chance: starts.by_chance, p: starts.p }),
    }
}

fn around(of: &Around) -> FleetAround {
    let (what, mark) = match &of.what {
        Anchor::Mark(text) => ("mark", Some(text.clone())),
        Anchor::Start => ("start", None),
        Anchor::Boot => ("boot", None),
        Anchor::Clock => ("time", None),
    };
    FleetAround { what, mark, switches: (of.switches, of.of), after: of.after, p: of.p }
}

/// What a line is of.
fn name(group: &Group, (metric, of): (usize, Of)) -> String {
    let name = group.metrics.get(metric).map_or_else(String::new, |metric| metric.key.to_string());
    if of == Of::Deviation { format!("variation of {name}") } else { name }
}

/// Its unit.
fn unit(group: &Group, metric: usize) -> &str {
    group.metrics.get(metric).map_or("", |metric| metric.unit())
}

fn difference(of: &Difference) -> FleetDifference {
    FleetDifference {
        band: of.middles.0,
        others: of.middles.1,
        superiority: of.superiority,
        p: of.p,
        q: of.q,
        shift: FleetShift { value: of.shift.estimate, low: of.shift.low, high: of.shift.high },
    }
}

fn separates(group: &Group, banding: &Banding, of: &Separated) -> FleetSeparated {
    let (band, others) = (of.band + 1, if banding.order.len() == 2 { "band 2" } else { "the others" });
    let lines = of.lines.iter().map(|line| FleetLine {
        metric: name(group, line.metric),
        unit: unit(group, line.metric.0).to_owned(),
        help: group.metrics.get(line.metric.0).map_or_else(String::new, |metric| metric.declared.help.clone()),
        with: line.with.iter().map(|of| name(group, *of)).collect(),
        difference: difference(&line.difference),
    });
    let fact_name =
        |at: usize| group.facts.get(at).map_or_else(String::new, |of| format!("{}.{}", of.name.0, of.name.1));
    let facts = of.facts.listed.iter().map(|fact| FleetFact {
        fact: fact_name(fact.fact),
        value: fact.value.clone(),
        band: fact.one,
        others: fact.rest,
        p: fact.p,
        q: fact.q,
    });
    let functions = of.places.iter().filter_map(|line| {
        let place = group.places.get(line.place)?;
        Some(FleetFunction {
            function: place.function.to_string(),
            module: place.module.to_string(),
            state: place.state.to_string(),
            difference: difference(&line.difference),
        })
    });
    let at_most = of.places_at_most.map(|(by, place)| FleetAtMost {
        by,
        function: group.places.get(place).map(|place| place.function.to_string()),
    });
    let work = of.work.as_ref().map(|work| FleetWork {
        change: work.change,
        low: work.low,
        high: work.high,
        equal: work.equal,
    });
    let (facts, lines): (Vec<FleetFact>, Vec<FleetLine>) = (facts.collect(), lines.collect());
    FleetSeparated {
        band,
        others: others.to_owned(),
        says: words::separates(band, others, of),
        brief: words::brief(band, &facts, &lines),
        not: words::not(band, work.as_ref(), at_most.as_ref()),
        lines,
        tested: of.tested,
        by_chance: of.by_chance,
        hosts_needed: of.hosts_needed,
        facts,
        facts_unique: of.facts.unique.iter().map(|at| fact_name(*at)).collect(),
        facts_same: of.facts.same.len(),
        functions: functions.collect(),
        rule: of.rule.as_ref().map(|(found, metrics)| rule(group, band, found, metrics)),
        functions_at_most: at_most,
        work,
    }
}

fn rule(group: &Group, band: usize, rule: &Rule, metrics: &[(usize, Of)]) -> FleetRule {
    let cuts = rule.cuts.iter().zip(metrics);
    let said: Vec<String> = cuts
        .clone()
        .map(|(cut, of)| {
            let side = if cut.above { "above" } else { "below" };
            format!("{} {side} {}", name(group, *of), human(cut.at, unit(group, of.0)))
        })
        .collect();
    let mut made = FleetRule {
        says: String::new(),
        cuts: cuts.map(|(cut, of)| FleetCut { metric: name(group, *of), at: cut.at, above: cut.above }).collect(),
        join: if rule.join == Join::And { "and" } else { "or" },
        wrong: rule.wrong,
        wrong_elsewhere: rule.wrong_elsewhere,
        hosts: rule.hosts,
        without: rule.without,
    };
    made.says = words::rule(band, &said, &made);
    made
}
