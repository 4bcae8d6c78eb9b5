// Adds up the rows of a block of columns over the windows of the recordings: call trees, ledgers, tables. Arithmetic only, no page.
import type { Columns, ColumnTable } from "../bundle/columns";
import type { EventsTable, How, Measure, ProfileSpec, Unit } from "../bundle/types";
import { kindOf, TreeBuilder, type Frames, type Tree } from "../view/flame/tree";

/** A stretch of a run in its own time, seconds. */
export interface Span {
  from: number;
  to: number;
}

/** No time at all. */
const NOTHING: Span = { from: 0, to: 0 };

/**
 * For each tick of a block, the share of it that lies in the window of its run: 1 for all of it. What is about a moment is in or out.
 * A row is taken by the share of its tick: what happened within it is spread evenly.
 */
export function sharesOf(columns: Columns, windows: Span[]): Float64Array {
  const ticks = columns.table("tick");
  const runs = ticks.raw("run");
  const from = ticks.numbers("from");
  const length = ticks.numbers("length");
  const out = new Float64Array(ticks.rows);
  for (let i = 0; i < out.length; i++) {
    const w = windows[runs[i] as number];
    if (!w) continue;
    const a = from[i] as number;
    const l = length[i] as number;
    if (l === 0) out[i] = a >= w.from && a < w.to ? 1 : 0;
    else out[i] = Math.max(0, Math.min(w.to, a + l) - Math.max(w.from, a)) / l;
  }
  return out;
}

/** Code of all recordings, as flame graphs want it. */
export function framesOf(columns: Columns, extra: { name: string; kind: string }[] = []): Frames {
  const t = columns.table("frame");
  const text = (column: string) => Array.from({ length: t.rows }, (_, i) => t.text(column, i));
  const kinds = text("kind");
  const kind = Uint8Array.from([...kinds, ...extra.map((e) => e.kind)], kindOf);
  const ran = columns.table("frame_kind");
  const kindIn: Uint8Array[] = [];
  for (let i = 0; i < ran.rows; i++) {
    const of = (kindIn[ran.raw("run")[i] as number] ??= kind.slice());
    of[ran.raw("frame")[i] as number] = kindOf(ran.text("kind", i));
  }
  return {
    name: [...text("function"), ...extra.map((e) => e.name)],
    module: [...text("module"), ...extra.map(() => "")],
    source: [...text("source"), ...extra.map(() => "")],
    kind,
    kindIn,
  };
}

/** Which rows of a measure count, and how they are told apart above their stacks. */
export interface Asked {
  /** Measures that are added up, each with the states of it that count; null for all. */
  measures: { measure: Measure; states: ReadonlySet<string> | null }[];
  process: string;
  thread: string;
  /** Frames put above each stack. */
  group: readonly ("state" | "process" | "thread")[];
  /** The other stack of the rows (the waker's, the holder's) instead of their own. */
  other: boolean;
}

/** What the tree's weights are divided by, for each run: seconds of the window times what there was of it in a second. */
export function divisors(spec: ProfileSpec, windows: Span[]): number[] {
  return windows.map((w, run) => Math.max(1e-9, w.to - w.from) * (spec.per.rate[run] || 1));
}

/** Unit of weights that were divided. */
export function unitOf(spec: ProfileSpec, unit: Unit): string {
  const per = { operation: "/op", run: "", second: "/s" }[spec.per.what];
  return per === "" ? unit : `${unit || "1"}${per}`;
}

/**
 * The call tree of what is asked for, with a weight for each run. `beside` is another stretch of a run, whose weights come after those of the runs.
 */
export function treeOf(columns: Columns, spec: ProfileSpec, windows: Span[], asked: Asked, beside?: { run: number; window: Span }): Tree {
  const shares = sharesOf(columns, windows);
  const besides = beside ? sharesOf(columns, windows.map((_, run) => (run === beside.run ? beside.window : NOTHING))) : null;
  const by = divisors(spec, windows);
  const besideBy = beside ? Math.max(1e-9, beside.window.to - beside.window.from) * (spec.per.rate[beside.run] || 1) : 1;
  const width = windows.length + (beside ? 1 : 0);
  const tickRun = columns.table("tick").raw("run");
  const threads = columns.table("thread");
  const processOf = threads.raw("process");
  const threadOf = threads.raw("thread");
  const wanted = Uint8Array.from({ length: threads.rows }, (_, i) =>
    (asked.process === "" || threads.text("process", i) === asked.process) && (asked.thread === "" || threads.text("thread", i) === asked.thread) ? 1 : 0);
  const stacks = columns.table("stack");
  const parents = stacks.raw("parent");
  const frames = stacks.raw("frame");
  const known = columns.table("frame").rows;
  // Frames that are no code: groups, and what stands for a stack that was not taken.
  const extra: { name: string; kind: string }[] = [];
  const extras = new Map<string, number>();
  const extraFrame = (name: string, kind: string) => {
    const key = `${name}\u0000${kind}`;
    let at = extras.get(key);
    if (at === undefined) {
      at = known + extra.length;
      extra.push({ name, kind });
      extras.set(key, at);
    }
    return at;
  };
  // By group: its frames, and by run the weight of each stack.
  interface Group { path: number[]; weights: Float64Array[] }
  const groups = new Map<string, Group>();
  for (const { measure, states } of asked.measures) {
    const t = columns.table(measure.table);
    const tick = t.raw("tick");
    const weight = t.numbers(measure.weight);
    const thread = t.raw("thread");
    const stack = t.raw(asked.other && measure.other ? measure.other : "stack");
    const state = measure.state ? t.raw(measure.state) : null;
    const stateWanted = new Map<number, boolean>();
    for (let i = 0; i < t.rows; i++) {
      const share = shares[tick[i] as number] as number;
      const also = besides ? (besides[tick[i] as number] as number) : 0;
      if (!(share > 0 || also > 0) || wanted[thread[i] as number] !== 1) continue;
      const s = state ? (state[i] as number) : 0;
      if (states && state) {
        let w = stateWanted.get(s);
        if (w === undefined) {
          w = states.has(t.word(s));
          stateWanted.set(s, w);
        }
        if (!w) continue;
      }
      let key = "";
      for (const g of asked.group) key += `${g === "state" ? `${measure.id}${s}` : g === "process" ? processOf[thread[i] as number] : thread[i]}|`;
      let group = groups.get(key);
      if (!group) {
        const path = asked.group.map((g) => {
          if (g === "state") return extraFrame(state ? titleOf(spec, t.word(s)) : measure.title, "state");
          const number = (g === "process" ? processOf : threadOf)[thread[i] as number] as number;
          return extraFrame(threads.word(number) || (g === "process" ? "[process not known]" : "[all threads]"), g);
        });
        group = { path, weights: Array.from({ length: width }, () => new Float64Array(stacks.rows + 1)) };
        groups.set(key, group);
      }
      const run = tickRun[tick[i] as number] as number;
      const sums = group.weights[run];
      const at = stack[i] as number;
      if (sums && at < sums.length) sums[at] = (sums[at] as number) + ((weight[i] as number) * share) / (by[run] as number);
      const other = also > 0 ? group.weights[windows.length] : undefined;
      if (other && at < other.length) other[at] = (other[at] as number) + ((weight[i] as number) * also) / besideBy;
    }
  }
  const none = [...groups.values()].some((g) => g.weights.some((w) => w[0] !== 0)) ? extraFrame("[no stack]", "other") : 0;
  const all = framesOf(columns, extra);
  const builder = new TreeBuilder(all, width);
  const nodes = new Int32Array(stacks.rows + 1);
  const used = new Uint8Array(stacks.rows + 1);
  for (const { path, weights } of groups.values()) {
    let top = 0;
    for (const frame of path) top = builder.child(top, frame);
    used.fill(0);
    for (const w of weights) for (let i = 0; i < w.length; i++) if (w[i] !== 0) used[i] = 1;
    // Callers of what is used; a caller has a smaller number.
    for (let i = stacks.rows; i > 0; i--) if (used[i] === 1) used[parents[i - 1] as number] = Math.max(1, used[parents[i - 1] as number] as number);
    nodes[0] = top;
    for (let i = 1; i <= stacks.rows; i++) if (used[i] === 1) nodes[i] = builder.child(nodes[parents[i - 1] as number] as number, frames[i - 1] as number);
    weights.forEach((w, run) => {
      for (let i = 1; i < w.length; i++) if (w[i] !== 0) builder.add(nodes[i] as number, run, w[i] as number);
      if (w[0] !== 0) builder.add(builder.child(top, none), run, w[0] as number);
    });
  }
  return builder.finish();
}

/** What a state is called. */
export function titleOf(spec: ProfileSpec, state: string): string {
  return spec.states.find((s) => s.id === state)?.title ?? state;
}

/** The tree of one run alone. Nodes that only others have are left out. */
export function ofRun(tree: Tree, run: number): Tree {
  const kind = tree.frames.kindIn?.[run];
  const frames = kind ? { ...tree.frames, kind } : tree.frames;
  return { ...tree, frames, self: [tree.self[run] ?? new Float64Array(tree.parent.length)] };
}

/** Processes and their threads that a measure names, those with the most weight first. */
export function threadsOf(columns: Columns, measures: Measure[]): { process: string; thread: string; weight: number }[] {
  const threads = columns.table("thread");
  const sums = new Float64Array(threads.rows);
  for (const measure of measures) {
    const t = columns.table(measure.table);
    const weight = t.numbers(measure.weight);
    const thread = t.raw("thread");
    for (let i = 0; i < t.rows; i++) sums[thread[i] as number] = (sums[thread[i] as number] ?? 0) + (weight[i] as number);
  }
  return Array.from(sums, (weight, i) => ({ process: threads.text("process", i), thread: threads.text("thread", i), weight }))
    .filter((x) => x.weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
}

/** One line of an events table: what it is about, and by run what its values follow from. */
export interface Line {
  keys: string[];
  /** By key column that is not part of the match: the texts found. */
  more: Map<string, Set<string>>;
  runs: (Sums | null)[];
}

interface Sums {
  sum: Map<string, number>;
  max: Map<string, number>;
  rows: number[];
}

function columnsOf(how: How): { sum: string[]; max: string[] } {
  if ("rate" in how) return { sum: [how.rate], max: [] };
  if ("share" in how) return { sum: [how.share], max: [] };
  if ("mean" in how) return { sum: [...how.mean], max: [] };
  if ("max" in how) return { sum: [], max: [how.max] };
  return { sum: how.buckets.map((b) => b[0]), max: [] };
}

/** Adds up the rows of a table over the windows, line by line; with a run for a key where runs are not matched. */
export function linesOf(columns: Columns, table: EventsTable, windows: Span[], matched: boolean): { lines: Line[]; totals: Map<string, number>[] } {
  const t = columns.table(table.table);
  const shares = sharesOf(columns, windows);
  const tickRun = columns.table("tick").raw("run");
  const tick = t.raw("tick");
  const keys = table.keys.filter((k) => k.key).map((k) => t.raw(k.id));
  const more = table.keys.filter((k) => !k.key).map((k) => [k.id, t.raw(k.id)] as const);
  const needed = table.values.map((v) => columnsOf(v.how));
  const sums = [...new Set(needed.flatMap((n) => n.sum))].map((c) => [c, t.numbers(c)] as const);
  const maxes = [...new Set(needed.flatMap((n) => n.max))].map((c) => [c, t.numbers(c)] as const);
  const found = new Map<string, Line>();
  const totals = windows.map(() => new Map<string, number>());
  const { only } = table;
  const marks = only && t.raw(only.column);
  const isOwn = (i: number) => !only || !marks || only.texts.includes(t.word(marks[i] as number));
  for (let i = 0; i < t.rows; i++) {
    if (!isOwn(i)) continue;
    const share = shares[tick[i] as number] as number;
    if (!(share > 0)) continue;
    const run = tickRun[tick[i] as number] as number;
    let key = matched ? "" : `${run}|`;
    for (const k of keys) key += `${k[i]}|`;
    let line = found.get(key);
    if (!line) {
      line = { keys: keys.map((k) => t.word(k[i] as number)), more: new Map(more.map(([id]) => [id, new Set<string>()])), runs: windows.map(() => null) };
      found.set(key, line);
    }
    const of: Sums = (line.runs[run] ??= { sum: new Map<string, number>(), max: new Map<string, number>(), rows: [] });
    of.rows.push(i);
    for (const [id, cells] of more) {
      const text = t.word(cells[i] as number);
      if (text !== "") line.more.get(id)?.add(text);
    }
    const total = totals[run] as Map<string, number>;
    for (const [c, cells] of sums) {
      const add = (cells[i] as number) * share;
      if (add === 0) continue;
      of.sum.set(c, (of.sum.get(c) ?? 0) + add);
      total.set(c, (total.get(c) ?? 0) + add);
    }
    for (const [c, cells] of maxes) of.max.set(c, Math.max(of.max.get(c) ?? 0, cells[i] as number));
  }
  return { lines: [...found.values()], totals };
}

/** A value of a line in a run; NaN where the run does not have the line, or there is nothing to divide by. */
export function valueOf(line: Line, how: How, run: number, windows: Span[], totals: Map<string, number>[]): number {
  const of = line.runs[run];
  const w = windows[run];
  if (!of || !w) return Number.NaN;
  if ("rate" in how) return (of.sum.get(how.rate) ?? 0) / Math.max(1e-9, w.to - w.from);
  if ("share" in how) {
    const total = totals[run]?.get(how.share) ?? 0;
    return total > 0 ? (of.sum.get(how.share) ?? 0) / total : Number.NaN;
  }
  if ("mean" in how) {
    const count = of.sum.get(how.mean[1]) ?? 0;
    return count > 0 ? (of.sum.get(how.mean[0]) ?? 0) / count : Number.NaN;
  }
  if ("max" in how) return of.max.get(how.max) ?? 0;
  return quantile(how.buckets.map(([c, from, to]) => ({ n: of.sum.get(c) ?? 0, from, to })), how.quantile);
}

/** A quantile of a histogram: linear within a bucket, as `query::stats::histogram::quantile` has it, so that the page and `compare` show one number. NaN for an empty one. */
export function quantile(buckets: { n: number; from: number; to: number }[], q: number): number {
  const total = buckets.reduce((a, b) => a + b.n, 0);
  if (!(total > 0)) return Number.NaN;
  let below = 0;
  for (const { n, from, to } of buckets) {
    if (n > 0 && below + n >= q * total) {
      const part = Math.min(1, Math.max(0, (q * total - below) / n));
      return from + (to - from) * part;
    }
    below += n;
  }
  return buckets.at(-1)?.to ?? Number.NaN;
}

/** The stacks of a line in a run by a column of weights, the heaviest first. */
export function stacksOf(columns: Columns, table: EventsTable, line: Line, run: number, windows: Span[], column: string): { stack: number; weight: number }[] {
  const t = columns.table(table.table);
  const shares = sharesOf(columns, windows);
  const first = table.values[0]?.how;
  const weights = t.numbers(first && "rate" in first ? first.rate : "count");
  const cells = t.raw(column);
  const tick = t.raw("tick");
  const sums = new Map<number, number>();
  for (const i of line.runs[run]?.rows ?? []) {
    const stack = cells[i] as number;
    sums.set(stack, (sums.get(stack) ?? 0) + (weights[i] as number) * (shares[tick[i] as number] as number));
  }
  return [...sums].map(([stack, weight]) => ({ stack, weight })).toSorted((a, b) => b.weight - a.weight);
}

/** The frames of a stack, innermost first. */
export function pathOf(columns: Columns, stack: number): { name: string; module: string; kind: string }[] {
  const stacks = columns.table("stack");
  const frames = columns.table("frame");
  const parent = stacks.raw("parent");
  const frame = stacks.raw("frame");
  const out: { name: string; module: string; kind: string }[] = [];
  for (let at = stack; at > 0 && at <= stacks.rows && out.length < 4096; at = parent[at - 1] as number) {
    const f = frame[at - 1] as number;
    out.push({ name: frames.text("function", f), module: frames.text("module", f), kind: frames.text("kind", f) });
  }
  return out;
}

/** Ledger of the windows: by line (process and thread; "" for one of all) and state, seconds of each run, not divided. */
export function ledgerOf(columns: Columns, windows: Span[], lined: boolean): Map<string, { process: string; thread: string; runs: Map<string, number>[] }> {
  const t: ColumnTable = columns.table("ledger");
  const shares = sharesOf(columns, windows);
  const tickRun = columns.table("tick").raw("run");
  const threads = columns.table("thread");
  const [tick, thread, state, time] = [t.raw("tick"), t.raw("thread"), t.raw("state"), t.numbers("time")];
  const out = new Map<string, { process: string; thread: string; runs: Map<string, number>[] }>();
  for (let i = 0; i < t.rows; i++) {
    const share = shares[tick[i] as number] as number;
    if (!(share > 0)) continue;
    const key = lined ? String(thread[i]) : "";
    let line = out.get(key);
    if (!line) {
      const at = thread[i] as number;
      line = { process: lined ? threads.text("process", at) : "", thread: lined ? threads.text("thread", at) : "", runs: windows.map(() => new Map<string, number>()) };
      out.set(key, line);
    }
    const run = line.runs[tickRun[tick[i] as number] as number];
    const id = t.word(state[i] as number);
    run?.set(id, (run.get(id) ?? 0) + (time[i] as number) * share);
  }
  return out;
}
