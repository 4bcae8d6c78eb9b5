// Call trees as columns: what a flame graph is drawn from. Arithmetic only, no page.

/** What kind of code a frame is. The recording's own words; what is not listed is drawn as `other`. */
export const KINDS = [
  "other", "root", "state", "process", "thread", "native", "kernel", "jit", "c1", "interpreted", "inlined", "python", "class",
] as const;

/** The number of a kind in `Frames.kind`. */
export function kindOf(name: string): number {
  return Math.max(0, (KINDS as readonly string[]).indexOf(name));
}

/** Code that trees refer to; one set can serve many trees. */
export interface Frames {
  /** Function, or what stands for one that is not known ("libc.so.6+0x91f2a"). Never markup. */
  name: string[];
  /** Program or library, "" where there is none. */
  module: string[];
  /** File and line, "" where not known. */
  source: string[];
  /** Index into `KINDS`. */
  kind: Uint8Array;
  /** The same by run, where one ran code in another way than others did. */
  kindIn?: Uint8Array[];
}

/** A call tree of one run, or of two on the same scale. Node 0 is the root; a parent comes before its children. */
export interface Tree {
  frames: Frames;
  parent: Uint32Array;
  /** Index into `frames`; that of the root is not used. */
  frame: Uint32Array;
  /** By run, the weight of each node without its children, in the unit that is shown (per second, per operation). */
  self: Float64Array[];
}

/** Builds a tree from stacks. */
export class TreeBuilder {
  private readonly parents: number[] = [0];
  private readonly framesOf: number[] = [0];
  private readonly weights: number[][];
  private readonly known = new Map<number, number>();
  private readonly step: number;

  constructor(private readonly frames: Frames, runs: number) {
    this.step = frames.name.length + 1;
    this.weights = Array.from({ length: runs }, () => [0]);
  }

  /** The node of `frame` called by `parent`; 0 is the root. */
  child(parent: number, frame: number): number {
    const key = parent * this.step + frame;
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const node = this.parents.length;
    this.parents.push(parent);
    this.framesOf.push(frame);
    for (const w of this.weights) w.push(0);
    this.known.set(key, node);
    return node;
  }

  /** Adds weight to a node. */
  add(node: number, run: number, weight: number): void {
    const of = this.weights[run];
    if (of) of[node] = (of[node] ?? 0) + weight;
  }

  /** Adds a stack, the outermost frame first. */
  stack(frames: ArrayLike<number>, run: number, weight: number): void {
    let node = 0;
    for (let i = 0; i < frames.length; i++) node = this.child(node, frames[i] as number);
    this.add(node, run, weight);
  }

  finish(): Tree {
    return {
      frames: this.frames,
      parent: Uint32Array.from(this.parents),
      frame: Uint32Array.from(this.framesOf),
      self: this.weights.map((w) => Float64Array.from(w)),
    };
  }
}

/** By run, the weight of each node with all below it. */
export function totals(tree: Tree): Float64Array[] {
  return tree.self.map((self) => {
    const total = Float64Array.from(self);
    for (let node = total.length - 1; node > 0; node--) {
      const parent = tree.parent[node] as number;
      total[parent] = (total[parent] as number) + (total[node] as number);
    }
    return total;
  });
}

/** The same weights seen from where they were spent: below the root the functions that ran, below each its callers. */
export function reversed(tree: Tree): Tree {
  const out = new TreeBuilder(tree.frames, tree.self.length);
  for (let node = 1; node < tree.parent.length; node++) {
    if (tree.self.every((self) => self[node] === 0)) continue;
    let at = 0;
    for (let up = node; up !== 0; up = tree.parent[up] as number) at = out.child(at, tree.frame[up] as number);
    for (let run = 0; run < tree.self.length; run++) out.add(at, run, tree.self[run]?.[node] ?? 0);
  }
  return out.finish();
}

/** One function over the whole tree. */
export interface Top {
  frame: number;
  /** By run: weight on top of the stack, and anywhere in it (a recursive function counts once a stack). */
  self: number[];
  total: number[];
}

/** Every function with its weights, the greatest self weight first. */
export function top(tree: Tree): Top[] {
  const found = new Map<number, Top>();
  const all = totals(tree);
  // How often a frame lies on the path to the node at hand: only its outermost place counts for the total.
  const outermost = outermostOf(tree);
  for (let node = 1; node < tree.parent.length; node++) {
    const frame = tree.frame[node] as number;
    let row = found.get(frame);
    if (!row) {
      row = { frame, self: tree.self.map(() => 0), total: tree.self.map(() => 0) };
      found.set(frame, row);
    }
    for (let run = 0; run < tree.self.length; run++) {
      row.self[run] = (row.self[run] ?? 0) + (tree.self[run]?.[node] ?? 0);
      if (outermost[node] === 1) row.total[run] = (row.total[run] ?? 0) + (all[run]?.[node] ?? 0);
    }
  }
  const most = (r: Top) => Math.max(...r.self);
  return [...found.values()].sort((a, b) => most(b) - most(a) || Math.max(...b.total) - Math.max(...a.total));
}

/** For each node, 1 where no node above it has the same frame. */
function outermostOf(tree: Tree): Uint8Array {
  const out = new Uint8Array(tree.parent.length);
  for (let node = 1; node < out.length; node++) {
    const frame = tree.frame[node];
    let up = tree.parent[node] as number;
    while (up !== 0 && tree.frame[up] !== frame) up = tree.parent[up] as number;
    out[node] = up === 0 ? 1 : 0;
  }
  return out;
}

/** The names on the way from the root to a node, for links. */
export function pathOf(tree: Tree, node: number): string[] {
  const path: string[] = [];
  for (let at = node; at !== 0; at = tree.parent[at] as number) path.push(tree.frames.name[tree.frame[at] as number] ?? "");
  return path.reverse();
}

/** The node at the end of a path, as far as the tree goes along with it. */
export function nodeAt(tree: Tree, path: readonly string[]): number {
  if (path.length === 0) return 0;
  const below = new Map<number, number[]>();
  for (let node = 1; node < tree.parent.length; node++) {
    const parent = tree.parent[node] as number;
    const list = below.get(parent);
    if (list) list.push(node);
    else below.set(parent, [node]);
  }
  let node = 0;
  for (const name of path) {
    const next = below.get(node)?.find((n) => tree.frames.name[tree.frame[n] as number] === name);
    if (next === undefined) break;
    node = next;
  }
  return node;
}
