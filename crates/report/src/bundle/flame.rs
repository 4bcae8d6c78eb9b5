//! The data of the page that `twinscope flame -o x.html` writes: one flame graph, apart from any report.

use super::Unit;
use serde::Serialize;

/// The version of the flame page's data. A page draws data of its own version only.
pub const FLAME_FORMAT: u32 = 1;

/// A flame graph with its title.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameData {
    /// Version of these data.
    pub format: u32,
    /// What is shown, in a line.
    pub title: String,
    /// Sentences under the title: windows, filters, what is missing.
    pub notes: Vec<String>,
    /// Unit of the weights.
    pub unit: Unit,
    /// Whether it opens with callers below the functions.
    pub reverse: bool,
    /// The runs; with two, the graph shows how the second differs from the first.
    pub runs: Vec<FlameRun>,
    /// What nodes are of.
    pub frames: FlameFrames,
    /// By node, how far before it its parent lies; 0 for the root.
    pub up: Vec<u32>,
    /// By node, its place in the frames.
    pub frame: Vec<u32>,
    /// By run and node, the node's own weight, to seven digits.
    #[serde(rename = "self")]
    pub own: Vec<Vec<f64>>,
}

/// A run of a flame graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameRun {
    /// Its name.
    pub name: String,
}

/// Functions, column by column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FlameFrames {
    /// Names; code without a known function is named after its module, in brackets.
    pub name: Vec<String>,
    /// Paths of the files that hold the code.
    pub module: Vec<String>,
    /// Source files with lines; empty where they are not known.
    pub source: Vec<String>,
    /// Kinds: native, inlined, kernel, java …
    pub kind: Vec<String>,
}
