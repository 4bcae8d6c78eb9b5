//! A call tree with the weights of one run or several: an arena of nodes, each after its caller; names and frames are held once.

use super::map::Map;
use super::stage::{identity, stage};
use std::collections::HashMap;
use std::sync::Arc;

/// The node that all stacks begin at. It has no frame of its own.
pub const ROOT: u32 = 0;

/// One place in code, or a level above it: state, process, thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Function; for code without a known one the module in brackets.
    pub name: Arc<str>,
    /// Path of the program or library; empty where there is none.
    pub module: Arc<str>,
    /// `file:line`; empty where not known.
    pub source: Arc<str>,
    /// `kernel`, `native`, `jit`, `interpreted`, `inlined` … as recorded; `state`, `process`, `thread`, `lock`, `what`, `waker` for the levels above the code.
    pub kind: Arc<str>,
}

impl Frame {
    /// Whether it is code, not a level above it.
    pub fn is_code(&self) -> bool {
        !matches!(&*self.kind, "state" | "process" | "thread" | "lock" | "what" | "waker")
    }
}

/// One function over a whole tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    /// Index into [`Tree::frames`].
    pub frame: u32,
    /// By run, what the function used itself.
    pub own: Vec<f64>,
    /// By run, with what it called. Recursion counts once.
    pub total: Vec<f64>,
}

/// What makes two frames one: function, the module's file name, kind.
type Identity = (Arc<str>, Arc<str>, Arc<str>);

/// A call tree. Cloning costs its size.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    frames: Vec<Frame>,
    by_frame: HashMap<Identity, u32>,
    texts: HashMap<Arc<str>, ()>,
    parent: Vec<u32>,
    frame: Vec<u32>,
    own: Vec<Vec<f64>>,
    children: Map<(u32, u32), u32>,
}

impl Tree {
    /// An empty tree for so many runs.
    pub fn new(runs: usize) -> Self {
        Tree { parent: vec![ROOT], frame: vec![0], own: vec![vec![0.0]; runs], ..Tree::default() }
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.own.len()
    }

    /// Number of nodes, the root included.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether it holds nothing but its root.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// All frames.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The caller of a node; that of the root is the root.
    pub fn parent(&self, node: u32) -> u32 {
        self.parent.get(node as usize).copied().unwrap_or(ROOT)
    }

    /// Index of a node's frame. Means nothing for the root.
    pub fn frame_index(&self, node: u32) -> u32 {
        self.frame.get(node as usize).copied().unwrap_or(0)
    }

    /// A node's frame; `None` for the root.
    pub fn frame(&self, node: u32) -> Option<&Frame> {
        if node == ROOT { None } else { self.frames.get(self.frame_index(node) as usize) }
    }

    /// By node, the weights of a run without those of callees.
    pub fn own(&self, run: usize) -> &[f64] {
        self.own.get(run).map_or(&[], Vec::as_slice)
    }

    /// By node, the weights of a run with those of callees.
    pub fn totals(&self, run: usize) -> Vec<f64> {
        let mut total = self.own(run).to_vec();
        for node in (1..total.len()).rev() {
            let (up, weight) = (self.parent(node as u32) as usize, total.get(node).copied().unwrap_or(0.0));
            if let Some(into) = total.get_mut(up) {
                *into += weight;
            }
        }
        total
    }

    /// All weight of a run.
    pub fn whole(&self, run: usize) -> f64 {
        self.own(run).iter().sum()
    }

    fn text(&mut self, text: &str) -> Arc<str> {
        if let Some((known, ())) = self.texts.get_key_value(text) {
            return Arc::clone(known);
        }
        let made: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&made), ());
        made
    }

    /// The index of a frame. Two are one where function, kind and the module's file name are the same: paths and lines differ between builds and hosts.
    /// A function that a virtual machine ran in several ways is one, too, and has the kind of the last [`stage`] that it was seen in.
    pub fn intern(&mut self, name: &str, module: &str, source: &str, kind: &str) -> u32 {
        let key = (self.text(name), self.text(file_name(module)), self.text(identity(kind)));
        if let Some(&found) = self.by_frame.get(&key) {
            let is_later = self.frames.get(found as usize).is_some_and(|frame| stage(kind) > stage(&frame.kind));
            if is_later && let (kind, Some(frame)) = (self.text(kind), self.frames.get_mut(found as usize)) {
                frame.kind = kind;
            }
            return found;
        }
        let frame = Frame {
            name: Arc::clone(&key.0),
            module: self.text(module),
            source: self.text(source),
            kind: self.text(kind),
        };
        let index = self.frames.len() as u32;
        self.frames.push(frame);
        self.by_frame.insert(key, index);
        index
    }

    /// The node of `frame` called by `parent`.
    pub fn child(&mut self, parent: u32, frame: u32) -> u32 {
        let next = self.parent.len() as u32;
        let node = *self.children.entry((parent, frame)).or_insert(next);
        if node == next {
            self.parent.push(parent);
            self.frame.push(frame);
            self.own.iter_mut().for_each(|own| own.push(0.0));
        }
        node
    }

    /// Adds weight to a node.
    pub fn add(&mut self, node: u32, run: usize, weight: f64) {
        if let Some(cell) = self.own.get_mut(run).and_then(|own| own.get_mut(node as usize)) {
            *cell += weight;
        }
    }

    /// Multiplies all weights of a run, to bring runs to one scale.
    pub fn scale(&mut self, run: usize, by: f64) {
        if let Some(own) = self.own.get_mut(run) {
            own.iter_mut().for_each(|w| *w *= by);
        }
    }

    /// Runs added up: that at place `i` becomes part of the run `groups[i]` of the result.
    pub fn grouped(mut self, groups: &[usize]) -> Self {
        let count = groups.iter().max().map_or(0, |most| most + 1);
        let mut sums = vec![vec![0.0; self.parent.len()]; count];
        for (run, group) in std::mem::take(&mut self.own).into_iter().zip(groups) {
            if let Some(sum) = sums.get_mut(*group) {
                sum.iter_mut().zip(run).for_each(|(into, w)| *into += w);
            }
        }
        self.own = sums;
        self
    }

    /// The same weights seen from where they were spent: below the root the functions that ran, below each its callers.
    pub fn reversed(&self) -> Self {
        let mut out = Tree {
            frames: self.frames.clone(),
            by_frame: self.by_frame.clone(),
            texts: self.texts.clone(),
            ..Tree::new(self.runs())
        };
        for node in 1..self.len() as u32 {
            if (0..self.runs()).all(|run| self.own(run).get(node as usize).is_none_or(|w| *w == 0.0)) {
                continue;
            }
            let (mut at, mut up) = (ROOT, node);
            while up != ROOT {
                at = out.child(at, self.frame_index(up));
                up = self.parent(up);
            }
            for run in 0..self.runs() {
                out.add(at, run, self.own(run).get(node as usize).copied().unwrap_or(0.0));
            }
        }
        out
    }

    /// The frames from the outermost to a node.
    pub fn path(&self, node: u32) -> Vec<u32> {
        let (mut path, mut at) = (Vec::new(), node);
        while at != ROOT {
            path.push(self.frame_index(at));
            at = self.parent(at);
        }
        path.reverse();
        path
    }

    /// By node, its callees by weight (the greatest of the runs), the heaviest first.
    pub fn callees(&self, totals: &[Vec<f64>]) -> Vec<Vec<u32>> {
        let mut callees = vec![Vec::new(); self.len()];
        for node in 1..self.len() as u32 {
            if let Some(list) = callees.get_mut(self.parent(node) as usize) {
                list.push(node);
            }
        }
        for list in &mut callees {
            list.sort_by(|&a, &b| most(totals, b).total_cmp(&most(totals, a)).then(a.cmp(&b)));
        }
        callees
    }

    /// Every function with its weights, the greatest own weight first.
    pub fn top(&self) -> Vec<Top> {
        let totals: Vec<Vec<f64>> = (0..self.runs()).map(|run| self.totals(run)).collect();
        let mut rows: Vec<Option<Top>> = vec![None; self.frames.len()];
        for node in 1..self.len() as u32 {
            let frame = self.frame_index(node);
            if !self.frames.get(frame as usize).is_some_and(Frame::is_code) {
                continue;
            }
            // Only the outermost place of a function that calls itself counts for the total.
            let mut up = self.parent(node);
            while up != ROOT && self.frame_index(up) != frame {
                up = self.parent(up);
            }
            let Some(row) = rows.get_mut(frame as usize) else { continue };
            let row =
                row.get_or_insert_with(|| Top { frame, own: vec![0.0; self.runs()], total: vec![0.0; self.runs()] });
            for (run, totals) in totals.iter().enumerate() {
                let at = node as usize;
                if let (Some(into), Some(w)) = (row.own.get_mut(run), self.own(run).get(at)) {
                    *into += w;
                }
                if let (Some(into), Some(w), ROOT) = (row.total.get_mut(run), totals.get(at), up) {
                    *into += w;
                }
            }
        }
        let mut rows: Vec<Top> = rows.into_iter().flatten().collect();
        let greatest = |w: &[f64]| w.iter().copied().fold(0.0, f64::max);
        rows.sort_by(|a, b| {
            let by = |of: fn(&Top) -> &[f64]| greatest(of(b)).total_cmp(&greatest(of(a)));
            by(|r| &r.own).then(by(|r| &r.total)).then(a.frame.cmp(&b.frame))
        });
        rows
    }
}

/// The greatest total of a node over the runs.
pub(crate) fn most(totals: &[Vec<f64>], node: u32) -> f64 {
    totals.iter().filter_map(|t| t.get(node as usize)).copied().fold(0.0, f64::max)
}

/// The file name of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
