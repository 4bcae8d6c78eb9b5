// Where each node of a flame graph lies. Done once for a tree and an order; zooming only changes the scale.
import { totals, type Tree } from "./tree";

/** Order of siblings: by name, so that two graphs can be laid side by side, or the heaviest at the left. */
export type Order = "name" | "heavy";

/** What gives a node its width: one run's weight, or the mean of both, which shows also what only one of them has. */
export type Widths = number | "both";

/** What is narrower than this is not drawn, nor is what lies below it. CSS pixels. */
export const LEAST = 0.5;

/** Called for each node in view. */
export type Draw = (node: number, x: number, width: number, row: number) => void;

export class Layout {
  /** By run, the weight of each node with all below it. */
  readonly total: Float64Array[];
  /** Width and left edge of each node, in the unit of the weights. */
  readonly width: Float64Array;
  readonly start: Float64Array;
  /** Depth of a node (the root has 0), and the greatest depth in or below it. */
  readonly depth: Uint16Array;
  readonly deepest: Uint16Array;
  /** The children of node n, from left to right: `children[first[n]] … children[first[n + 1] - 1]`. */
  readonly first: Uint32Array;
  readonly children: Uint32Array;

  constructor(readonly tree: Tree, readonly order: Order = "name", readonly widths: Widths = 0) {
    const { parent, frame } = tree;
    const count = parent.length;
    this.total = totals(tree);
    this.width = widthsOf(this.total, widths, count);
    this.start = new Float64Array(count);
    this.depth = new Uint16Array(count);
    this.deepest = new Uint16Array(count);
    this.first = new Uint32Array(count + 1);
    this.children = new Uint32Array(Math.max(0, count - 1));
    for (let node = 1; node < count; node++) {
      const p = parent[node] as number;
      this.first[p + 1] = (this.first[p + 1] as number) + 1;
      this.depth[node] = Math.min(65535, (this.depth[p] as number) + 1);
    }
    for (let node = 0; node < count; node++) this.first[node + 1] = (this.first[node + 1] as number) + (this.first[node] as number);
    const next = this.first.slice(0, count);
    for (let node = 1; node < count; node++) {
      const p = parent[node] as number;
      this.children[next[p] as number] = node;
      next[p] = (next[p] as number) + 1;
    }
    const rank = ranks(tree);
    const byName = (a: number, b: number) => (rank[frame[a] as number] as number) - (rank[frame[b] as number] as number) || a - b;
    const byWeight = (a: number, b: number) => (this.width[b] as number) - (this.width[a] as number) || byName(a, b);
    const compare = order === "heavy" ? byWeight : byName;
    for (let node = 0; node < count; node++) {
      const [from, to] = [this.first[node] as number, this.first[node + 1] as number];
      if (to - from > 1) this.children.subarray(from, to).sort(compare);
      let x = this.start[node] as number;
      for (let i = from; i < to; i++) {
        const child = this.children[i] as number;
        this.start[child] = x;
        x += this.width[child] as number;
      }
    }
    for (let node = count - 1; node >= 0; node--) {
      const deepest = Math.max(this.deepest[node] as number, this.depth[node] as number);
      this.deepest[node] = deepest;
      if (node > 0) {
        const p = parent[node] as number;
        this.deepest[p] = Math.max(this.deepest[p] as number, deepest);
      }
    }
  }

  /** Rows of the picture when zoomed to a node: from the root down to what is deepest below the node. */
  rows(zoom: number): number {
    return (this.deepest[zoom] ?? 0) + 1;
  }

  /** Calls `draw` for what is seen of the rows `from` to `to` in a picture `width` wide, zoomed to a node. Its callers lie above it over the whole width. */
  walk(zoom: number, width: number, from: number, to: number, draw: Draw): void {
    const { parent } = this.tree;
    for (let up = zoom; ; up = parent[up] as number) {
      const row = this.depth[up] as number;
      if (row >= from && row <= to) draw(up, 0, width, row);
      if (up === 0) break;
    }
    const whole = this.width[zoom] as number;
    if (!(whole > 0)) return;
    const scale = width / whole;
    const left = this.start[zoom] as number;
    const least = LEAST / scale;
    const stack = [zoom];
    while (stack.length > 0) {
      const node = stack.pop() as number;
      const row = (this.depth[node] as number) + 1;
      if (row > to) continue;
      for (let i = this.first[node] as number; i < (this.first[node + 1] as number); i++) {
        const child = this.children[i] as number;
        const w = this.width[child] as number;
        if (w < least) {
          if (this.order === "heavy") break;
          continue;
        }
        if (row >= from) draw(child, ((this.start[child] as number) - left) * scale, w * scale, row);
        stack.push(child);
      }
    }
  }

  /** The node at a place of the picture, -1 where there is none. */
  hit(zoom: number, width: number, x: number, row: number): number {
    const { parent } = this.tree;
    if (row < 0 || x < 0 || x >= width) return -1;
    let node = zoom;
    if (row <= (this.depth[zoom] as number)) {
      while ((this.depth[node] as number) > row) node = parent[node] as number;
      return node;
    }
    const whole = this.width[zoom] as number;
    if (!(whole > 0)) return -1;
    const at = (this.start[zoom] as number) + (x / width) * whole;
    while ((this.depth[node] as number) < row) {
      const child = this.childAt(node, at);
      if (child < 0) return -1;
      node = child;
    }
    return (this.width[node] as number) * (width / whole) < LEAST ? -1 : node;
  }

  /** The child of a node that lies over a weight. */
  private childAt(node: number, at: number): number {
    let low = this.first[node] as number;
    let high = (this.first[node + 1] as number) - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const child = this.children[middle] as number;
      const start = this.start[child] as number;
      if (at < start) high = middle - 1;
      else if (at >= start + (this.width[child] as number)) low = middle + 1;
      else return child;
    }
    return -1;
  }

  /** The node that a key leads to: its caller, its widest callee, or the sibling beside it. The node itself where there is none. */
  step(node: number, way: "up" | "down" | "left" | "right"): number {
    const { parent } = this.tree;
    const p = parent[node] as number;
    if (way === "up") return p;
    if (way === "down") {
      let widest = -1;
      for (let i = this.first[node] as number; i < (this.first[node + 1] as number); i++) {
        const child = this.children[i] as number;
        if ((this.width[child] as number) > 0 && (widest < 0 || (this.width[child] as number) > (this.width[widest] as number))) widest = child;
      }
      return widest < 0 ? node : widest;
    }
    if (node === 0) return node;
    const [from, to] = [this.first[p] as number, this.first[p + 1] as number];
    const place = this.children.subarray(from, to).indexOf(node) + from;
    for (let i = way === "left" ? place - 1 : place + 1; i >= from && i < to; i += way === "left" ? -1 : 1) {
      const sibling = this.children[i] as number;
      if ((this.width[sibling] as number) > 0) return sibling;
    }
    return node;
  }
}

function widthsOf(total: Float64Array[], widths: Widths, count: number): Float64Array {
  if (widths !== "both") return total[widths] ?? new Float64Array(count);
  const out = new Float64Array(count);
  for (const of of total) for (let node = 0; node < count; node++) out[node] = (out[node] as number) + (of[node] as number) / total.length;
  return out;
}

/** The place of each frame in the order of names. */
function ranks(tree: Tree): Uint32Array {
  const { name } = tree.frames;
  const order = Array.from(name, (_, i) => i).sort((a, b) => {
    const [x, y] = [name[a] as string, name[b] as string];
    return x < y ? -1 : x > y ? 1 : a - b;
  });
  const rank = new Uint32Array(name.length);
  order.forEach((frame, place) => {
    rank[frame] = place;
  });
  return rank;
}
