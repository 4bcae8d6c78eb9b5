//! One flame graph as a file of its own: an interactive page, or a picture.

mod svg;

pub use svg::svg;

use crate::bundle::{FLAME_FORMAT, FlameData, FlameFrames, FlameRun};
use crate::{Error, html};
use query::profile::Tree;

/// The page as `ui/` builds it.
const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/dist/flame.html"));

/// Where the data go.
const PLACE: &str = "<!--TWINSCOPE-DATA-->";

/// A flame graph with its title. With two runs it is a difference: how the second differs from the first.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'a> {
    /// What is shown, in a line.
    pub title: &'a str,
    /// Sentences under the title.
    pub notes: &'a [String],
    /// Base unit of the weights: `s`, `s/op`, `s/s`, `1/s` …
    pub unit: &'a str,
    /// Names of the runs, one for each column of weights.
    pub runs: &'a [String],
    /// The tree, from the outermost function inward.
    pub tree: &'a Tree,
    /// Whether it is shown turned round: functions first, their callers below.
    pub reverse: bool,
}

/// Seven digits: more than any sample has, and half the bytes.
fn short(weight: f64) -> f64 {
    if weight == 0.0 || !weight.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(6 - weight.abs().log10().floor() as i32);
    (weight * scale).round() / scale
}

/// The page: one file that needs no network.
///
/// # Errors
/// Where the data cannot be compressed.
pub fn flame_html(graph: &Graph<'_>) -> Result<String, Error> {
    let tree = graph.tree;
    let nodes = || 0..tree.len() as u32;
    let column = |of: fn(&query::profile::Frame) -> &str| tree.frames().iter().map(|f| of(f).to_owned()).collect();
    let data = FlameData {
        format: FLAME_FORMAT,
        title: graph.title.into(),
        notes: graph.notes.to_vec(),
        unit: graph.unit.into(),
        reverse: graph.reverse,
        runs: graph.runs.iter().map(|name| FlameRun { name: name.clone() }).collect(),
        frames: FlameFrames {
            name: column(|f| &f.name),
            module: column(|f| &f.module),
            source: column(|f| &f.source),
            kind: column(|f| &f.kind),
        },
        up: nodes().map(|node| node - tree.parent(node)).collect(),
        frame: nodes().map(|node| tree.frame_index(node)).collect(),
        own: (0..tree.runs()).map(|run| tree.own(run).iter().map(|w| short(*w)).collect()).collect(),
    };
    // Names from outside are in compressed base64: no markup can come of them.
    let packed = html::pack(&serde_json::to_vec(&data)?)?;
    let (before, after) = PAGE.split_once(PLACE).unwrap_or((PAGE, ""));
    Ok(format!("{before}<script type=\"text/plain\" id=\"twinscope-flame\">{packed}</script>\n{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::new(1);
        let frames =
            ["main", "</script><img onerror=x>", "sm&ll"].map(|name| tree.intern(name, "/bin/app", "a.c:1", "native"));
        let main = tree.child(0, frames[0]);
        let evil = tree.child(main, frames[1]);
        let small = tree.child(main, frames[2]);
        tree.add(evil, 0, 1.5);
        tree.add(small, 0, 0.5);
        tree
    }

    #[test]
    fn the_page_holds_the_tree() {
        let (tree, runs) = (tree(), ["app".to_owned()]);
        let graph = Graph { title: "CPU time", notes: &[], unit: "s", runs: &runs, tree: &tree, reverse: false };
        let page = flame_html(&graph).unwrap();
        assert!(page.contains("id=\"twinscope-flame\">H4sI"), "gzip in base64");
        assert!(!page.contains(PLACE) && !page.contains("onerror=x"));
        assert!(page.contains("Content-Security-Policy"));
    }

    #[test]
    fn the_picture_is_still() {
        let (tree, runs) = (tree(), ["app".to_owned()]);
        let notes = ["0.0 s to 2.0 s".to_owned()];
        let graph =
            Graph { title: "CPU time of <app>", notes: &notes, unit: "s", runs: &runs, tree: &tree, reverse: false };
        insta::assert_snapshot!(svg(&graph));
    }

    #[test]
    fn a_difference_is_coloured() {
        let mut tree = Tree::new(2);
        let frames = ["more", "less", "same"].map(|name| tree.intern(name, "", "", "native"));
        for (frame, weights) in frames.into_iter().zip([[1.0, 3.0], [3.0, 1.0], [2.0, 2.0]]) {
            let node = tree.child(0, frame);
            tree.add(node, 0, weights[0]);
            tree.add(node, 1, weights[1]);
        }
        let runs = ["fast".to_owned(), "slow".to_owned()];
        insta::assert_snapshot!(svg(&Graph {
            title: "CPU time",
            notes: &[],
            unit: "s/s",
            runs: &runs,
            tree: &tree,
            reverse: false
        }));
    }

    #[test]
    fn weights_are_short() {
        assert_eq!(
            (short(0.000_347_826_086_956_521_7), short(0.0), short(12.0), short(f64::NAN)),
            (0.000_347_826_1, 0.0, 12.0, 0.0)
        );
    }
}
