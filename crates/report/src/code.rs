//! The block `code`: over how much memory the code is spread that programs ran, with a map of its pages. It is made for the compared window, and the page
//! does not compute it anew for another one.

use crate::bundle::{CodeGroup, CodeMaps, CodeOfRun, CodeRegion};
use compare::Comparison;
use query::Run;
use query::footprint::{self, Footprint, Space};
use query::stats::distinct::{at_least, holding};
use std::collections::{BTreeMap, HashMap};

/// The name of the block.
pub(crate) const BLOCK: &str = "code";

/// Kinds of code of programs that are shown, and samples that one has in some run at least.
const GROUPS: usize = 6;
const FEWEST: u64 = 50;
/// Regions of a run that are drawn of each: with pages of 512 each that bounds the block.
const REGIONS: usize = 24;

/// What is known of the code that ran; `None` where no run tells.
pub(crate) fn code(runs: &[Run], comparison: &Comparison) -> Option<CodeMaps> {
    let mut groups: BTreeMap<(String, String), Vec<Option<CodeOf>>> = BTreeMap::new();
    for (at, (run, window)) in runs.iter().zip(&comparison.windows).enumerate() {
        let spaces = footprint::spaces(run);
        for of in footprint::footprints(run, window, &spaces) {
            let group =
                groups.entry((of.comm.clone(), of.kind.clone())).or_insert_with(|| vec![const { None }; runs.len()]);
            if let Some(place) = group.get_mut(at) {
                *place = Some(CodeOf { regions: regions(&of, &spaces), of });
            }
        }
    }
    let most = |of: &[Option<CodeOf>]| of.iter().flatten().map(|of| of.of.samples()).max().unwrap_or(0);
    let mut groups: Vec<_> = groups.into_iter().filter(|(_, of)| most(of) >= FEWEST).collect();
    groups.sort_by_key(|(_, of)| std::cmp::Reverse(most(of)));
    groups.truncate(GROUPS);
    let tlbs: Vec<[Option<u32>; 2]> = runs.iter().map(footprint::tlb).collect();
    let groups: Vec<CodeGroup> = groups.into_iter().map(|(name, of)| group(name, of, &tlbs)).collect();
    let query = "select run, pid, comm, kind, samples, lines, pages, regions, pages_at_least, hot_pages, huge, itlb\nfrom code_footprint";
    (!groups.is_empty()).then(|| CodeMaps { groups, query: query.into() })
}

/// The code of a run, and what of it is drawn.
#[derive(Clone)]
struct CodeOf {
    of: Footprint,
    regions: (Vec<CodeRegion>, [u64; 2]),
}

fn group((comm, kind): (String, String), of: Vec<Option<CodeOf>>, tlbs: &[[Option<u32>; 2]]) -> CodeGroup {
    let drawn = footprint::drawn(of.iter().flatten().map(|of| &of.of));
    let runs = of.into_iter().zip(tlbs).map(|(of, &[itlb, itlb_2m])| {
        let CodeOf { of, regions: (regions_drawn, left_out) } = of?;
        let [lines, pages, regions] = drawn.map_or([None; 3], |drawn| footprint::found(&of, drawn));
        let of_pages = of.of_pages();
        Some(CodeOfRun {
            pid: of.pid,
            samples: of.samples(),
            lines,
            pages,
            regions,
            lines_at_least: at_least(&of.of_lines()),
            pages_at_least: at_least(&of_pages),
            hot_pages: holding(&of_pages, 0.9),
            huge: of.huge,
            itlb,
            itlb_2m,
            regions_drawn,
            left_out,
        })
    });
    CodeGroup { runs: runs.collect(), comm, kind, drawn }
}

/// The regions with most samples, in the order of their addresses; how many are left out, with how many samples.
fn regions(of: &Footprint, spaces: &HashMap<i64, Space>) -> (Vec<CodeRegion>, [u64; 2]) {
    let mut all: Vec<((i64, i64), u64)> = of.regions().into_iter().collect();
    all.sort_by_key(|(_, samples)| std::cmp::Reverse(*samples));
    let left_out = all.iter().skip(REGIONS).fold([0, 0], |[count, sum], (_, samples)| [count + 1, sum + samples]);
    all.truncate(REGIONS);
    let module = |space: i64| spaces.get(&space).map_or_else(String::new, |space| space.module.clone());
    let mut drawn: Vec<CodeRegion> = all
        .into_iter()
        .map(|((space, region), _)| {
            let first = region.saturating_mul(512);
            let inside = of.pages.range((space, first)..(space, first.saturating_add(512)));
            let pages = inside.map(|(&(_, page), &samples)| [(page - first) as u64, samples]).collect();
            CodeRegion { module: module(space), start: first.saturating_mul(4096), pages }
        })
        .collect();
    drawn.sort_by(|a, b| (&a.module, a.start).cmp(&(&b.module, b.start)));
    (drawn, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_regions_with_most_samples_are_drawn() {
        let mut of = Footprint { comm: "app".into(), kind: "jit".into(), pid: 7, ..Footprint::default() };
        for region in 0..30i64 {
            of.pages.insert((1, region * 512 + 3), 100 - region as u64);
            of.pages.insert((1, region * 512 + 511), 1);
        }
        let spaces = HashMap::from([(1, Space { kind: "jit".into(), module: String::new() })]);
        let (drawn, left_out) = regions(&of, &spaces);
        assert_eq!((drawn.len(), left_out), (REGIONS, [6, 6 * 101 - (24..30).sum::<u64>()]));
        assert_eq!((drawn[2].start, &drawn[2].pages), (2 * 512 * 4096, &vec![[3, 98], [511, 1]]));

        let one = CodeOf { regions: regions(&of, &spaces), of };
        let made = group(("app".into(), "jit".into()), vec![None, Some(one)], &[[None, None], [Some(576), None]]);
        let run = made.runs[1].as_ref().unwrap();
        assert_eq!((made.drawn, made.runs[0].is_none(), run.itlb), (Some(1000), true, Some(576)));
        assert!(run.pages.is_some_and(|pages| pages > 30.0 && pages < 60.0) && run.hot_pages <= 30);
    }
}
