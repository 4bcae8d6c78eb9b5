//! The stacks of all recordings as one tree: equal functions of two recordings are one node, so that their weights can be compared.

use crate::columns::{Column, Columns};
use crate::rows::Rows;
use model::NULL;
use query::Run;
use query::profile::{identity, of_tier, stage};
use std::collections::{BTreeMap, HashMap};

/// Callers beyond this depth are cut off: a stack in a damaged dictionary could be endless.
const DEEPEST: usize = 2000;

/// The dictionary of one recording.
#[derive(Debug, Default)]
struct Dictionary {
    /// By stack: its caller's stack, and its frame.
    stacks: HashMap<i64, (i64, i64)>,
    /// By frame: its number among all recordings' frames.
    frames: HashMap<i64, u32>,
    /// Of functions that a virtual machine runs, by that number: the last stage in this recording, and its kind.
    stages: BTreeMap<u32, (u32, u32)>,
    /// By stack: its node, once it was asked for.
    nodes: HashMap<i64, u32>,
}

/// The tree, with what was asked for so far.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    dictionaries: Vec<Dictionary>,
    /// Function, module, kind, file and line, and the stage of the kind; by frame.
    frames: Vec<[u32; 5]>,
    frame_numbers: HashMap<[u32; 3], u32>,
    /// Caller's node (0 for none) and frame, by node − 1.
    nodes: Vec<(u32, u32)>,
    node_numbers: HashMap<(u32, u32), u32>,
    /// What stands for a frame that is missing from a dictionary.
    unknown: [u32; 3],
}

impl Stacks {
    /// Reads the dictionaries of all recordings.
    pub(crate) fn load(runs: &[Run], columns: &mut Columns) -> Self {
        let unknown = [columns.string("[unknown]"), 0, columns.string("other")];
        let mut all = Stacks { unknown, ..Stacks::default() };
        for run in runs {
            let mut dictionary = Dictionary::default();
            if let Some(frames) = Rows::load(run, "frame") {
                let ids = frames.ids();
                let (functions, modules) = (frames.cells("function"), frames.cells("module"));
                let (kinds, tiers) = (frames.cells("kind"), frames.cells("tier"));
                let sources = frames.texts("source", columns);
                for (i, &id) in ids.iter().enumerate() {
                    let text = |cells: &[i64]| cells.get(i).and_then(|&c| frames.text(c)).unwrap_or("");
                    let module = text(&modules);
                    let module = module.rsplit('/').next().unwrap_or(module);
                    // Code without a known function is called after its module.
                    let name = match text(&functions) {
                        "" if module.is_empty() => "[unknown]".to_owned(),
                        "" if module.starts_with('[') => module.to_owned(),
                        "" => format!("[{module}]"),
                        function => function.to_owned(),
                    };
                    let kind = of_tier(text(&kinds), tiers.get(i).copied().unwrap_or(NULL));
                    let key = [&name, module, identity(kind)].map(|text| columns.string(text));
                    let number = number(&mut all.frames, &mut all.frame_numbers, key, sources.get(i).copied());
                    let now = (stage(kind), columns.string(kind));
                    if now.0 > 0 {
                        let of_run = dictionary.stages.entry(number).or_insert(now);
                        *of_run = (*of_run).max(now);
                        if let Some([_, _, shown, _, at]) = all.frames.get_mut(number as usize).filter(|f| f[4] < now.0)
                        {
                            (*at, *shown) = now;
                        }
                    }
                    dictionary.frames.insert(id, number);
                }
            }
            if let Some(stacks) = Rows::load(run, "stack") {
                let (ids, parents, frames) = (stacks.ids(), stacks.cells("parent"), stacks.cells("frame"));
                for ((&id, &parent), &frame) in ids.iter().zip(&parents).zip(&frames) {
                    dictionary.stacks.insert(id, (parent, frame));
                }
            }
            all.dictionaries.push(dictionary);
        }
        all
    }

    /// The node of a recording's stack, from 1; 0 for none.
    pub(crate) fn node(&mut self, run: usize, stack: i64) -> u32 {
        let Some(dictionary) = self.dictionaries.get_mut(run) else { return 0 };
        // Up to a stack that is known, then down again.
        let mut path: Vec<(i64, Option<u32>)> = Vec::new();
        let mut at = stack;
        let mut node = loop {
            if at == NULL || path.len() >= DEEPEST {
                break 0;
            }
            if let Some(&known) = dictionary.nodes.get(&at) {
                break known;
            }
            let Some(&(parent, frame)) = dictionary.stacks.get(&at) else { break 0 };
            path.push((at, dictionary.frames.get(&frame).copied()));
            if parent == at {
                break 0;
            }
            at = parent;
        };
        for (id, frame) in path.into_iter().rev() {
            let frame = match frame {
                Some(frame) => frame,
                None => number(&mut self.frames, &mut self.frame_numbers, self.unknown, None),
            };
            let nodes = &mut self.nodes;
            node = *self.node_numbers.entry((node, frame)).or_insert_with(|| {
                nodes.push((node, frame));
                nodes.len() as u32
            });
            dictionary.nodes.insert(id, node);
        }
        node
    }

    /// The string numbers of function, module and kind of each frame of a stack, innermost first.
    pub(crate) fn walk(&self, node: u32) -> impl Iterator<Item = [u32; 3]> + use<'_> {
        let mut at = node;
        std::iter::from_fn(move || {
            let &(parent, frame) = self.nodes.get((at as usize).checked_sub(1)?)?;
            at = parent;
            self.frames.get(frame as usize).map(|&[function, module, kind, ..]| [function, module, kind])
        })
    }

    /// Writes the tables `frame`, `frame_kind` and `stack`.
    pub(crate) fn finish(self, columns: &mut Columns) {
        let of = |part: usize| self.frames.iter().filter_map(|f| f.get(part)).copied().collect::<Vec<u32>>();
        let names = [("function", 0), ("module", 1), ("kind", 2), ("source", 3)];
        columns.table("frame", &names.map(|(name, part)| Column::text(name, of(part))));
        let mut ran = [Vec::new(), Vec::new(), Vec::new()];
        for (run, dictionary) in (0..).zip(&self.dictionaries) {
            for (&frame, &(at, kind)) in &dictionary.stages {
                if self.frames.get(frame as usize).is_some_and(|f| f[4] != at) {
                    ran.iter_mut().zip([run, frame, kind]).for_each(|(column, cell)| column.push(cell));
                }
            }
        }
        let [runs, frames, kinds] = ran;
        columns.table(
            "frame_kind",
            &[Column::exact("run", runs), Column::rising("frame", frames), Column::text("kind", kinds)],
        );
        columns.table(
            "stack",
            &[
                Column::rising("parent", self.nodes.iter().map(|n| n.0).collect()),
                Column::exact("frame", self.nodes.iter().map(|n| n.1).collect()),
            ],
        );
    }
}

/// The number of a frame, from function, module and kind.
fn number(frames: &mut Vec<[u32; 5]>, known: &mut HashMap<[u32; 3], u32>, key: [u32; 3], source: Option<u32>) -> u32 {
    *known.entry(key).or_insert_with(|| {
        frames.push([key[0], key[1], key[2], source.unwrap_or(0), 0]);
        frames.len() as u32 - 1
    })
}
