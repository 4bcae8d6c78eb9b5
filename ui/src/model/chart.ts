// Turns the series of a chart into what is drawn: lines that belong together over the runs, levels that fit the width, stacks.
import type { Block, Level } from "../bundle/block";
import type { Chart, SeriesRef } from "../bundle/types";
import { edgesOf, lowerBound, nearest } from "./stats";

/** One line of a chart, in each run that has it. */
export interface Line {
  key: string;
  name: string;
  /** The kernel's own name, where the name is in words. */
  kernel: string | null;
  /** The name of the metric, which decides the colour of well-known ones. */
  metric: string;
  /** Series of the block by run; absent where the run does not have it. */
  runs: Map<number, number>;
}

const collator = new Intl.Collator("en", { numeric: true });

const keyOf = (s: SeriesRef) => JSON.stringify([s.name, Object.entries(s.labels).toSorted()]);

/** A label as part of a name: bare numbers say what they number. */
const labelInName = ([label, value]: [string, string]) => (/^[\d.,-]*$/.test(value) ? `${label} ${value}` : value);

/**
 * The names of lines. Names that tell the lines apart are used as they are. Else the labels that differ are added, and where all
 * lines have one name (a metric by CPU), the labels alone are the name.
 */
function namesOf(series: SeriesRef[]): Map<string, string> {
  const byKey = new Map(series.map((s) => [keyOf(s), s]));
  const all = [...byKey.values()];
  const names = new Set(all.map((s) => s.name));
  // Titles that two metrics share do not tell them apart.
  const titled = new Set(all.map((s) => s.title)).size === names.size;
  const called = (s: SeriesRef) => (titled ? s.title : s.name);
  if (names.size === all.length && (all.length > 1 || !names.has(""))) return new Map([...byKey].map(([k, s]) => [k, called(s)]));
  const values = new Map<string, Set<string>>();
  for (const s of all) for (const [k, v] of Object.entries(s.labels)) values.set(k, (values.get(k) ?? new Set()).add(v));
  const telling = (s: SeriesRef) => Object.entries(s.labels).filter(([k, v]) => v !== "" && ((values.get(k)?.size ?? 0) > 1 || all.length === 1));
  return new Map([...byKey].map(([k, s]) => [k, [...(names.size > 1 ? [called(s)] : []), ...telling(s).map(labelInName)].join(" · ") || called(s)]));
}

/** The lines of a chart, matched over the runs by name and labels. Heat map rows are in natural order. */
export function linesOf(chart: Chart): Line[] {
  const names = namesOf(chart.series);
  const lines = new Map<string, Line>();
  for (const s of chart.series) {
    const key = keyOf(s);
    const name = names.get(key) ?? s.name;
    const kernel = s.title !== s.name && name.startsWith(s.title) ? s.name : null;
    const line = lines.get(key) ?? { key, name, kernel, metric: s.name, runs: new Map<number, number>() };
    line.runs.set(s.run, s.data);
    lines.set(key, line);
  }
  const list = [...lines.values()];
  return chart.kind === "heat" ? list.toSorted((a, b) => collator.compare(a.name, b.name)) : list;
}

/** The coarsest level with at least `wanted` points between the times, or the finest. */
export function levelFor(block: Block, series: number, from: number, to: number, wanted: number): Level {
  const depth = block.depth(series);
  for (let k = 0; k < depth - 1; k++) {
    const span = block.span(series, k);
    if (!span) continue;
    const length = Math.max(span[1] - span[0], 1e-9);
    const share = Math.min(1, Math.max(0, Math.min(to, span[1]) - Math.max(from, span[0])) / length);
    if (block.points(series, k) * share >= wanted) return block.level(series, k);
  }
  return block.level(series, depth - 1);
}

/** Points of one line in view. Null is a gap. */
export interface Points {
  x: number[];
  y: (number | null)[];
  min: (number | null)[];
  max: (number | null)[];
  exact: boolean;
}

const gap = (x: number | undefined) => (x === undefined || Number.isNaN(x) ? null : x);

/** The points of a level between two run times (and one beyond each end, so that lines reach the edge), in display time. */
export function pointsOf(level: Level, from: number, to: number, offset: number): Points {
  const a = Math.max(0, lowerBound(level.t, from) - 1);
  const b = Math.min(level.t.length, lowerBound(level.t, to) + 1);
  const out: Points = { x: [], y: [], min: [], max: [], exact: level.min === level.v && level.max === level.v };
  const { begin, end } = edgesOf(level);
  for (let i = a; i < b; i++) {
    const t = level.t[i] as number;
    // A hole in the time axis is a gap too, as when the recorder stood still.
    const hole = i > a ? (begin[i] as number) - (end[i - 1] as number) : 0;
    if (hole > ((end[i] as number) - (begin[i] as number)) / 2) {
      out.x.push((end[i - 1] as number) + hole / 2 - offset);
      out.y.push(null);
      out.min.push(null);
      out.max.push(null);
    }
    out.x.push(t - offset);
    out.y.push(gap(level.v[i]));
    out.min.push(gap(level.min[i]));
    out.max.push(gap(level.max[i]));
  }
  return out;
}

/** Several lines on one x axis: the union of their times; `undefined` where a line has no point of its own. */
export function align(lines: Points[]): { x: number[]; y: (number | null | undefined)[][] } {
  const [first] = lines;
  if (!first) return { x: [], y: [] };
  const same = lines.every((l) => l.x.length === first.x.length && l.x.every((x, i) => x === first.x[i]));
  if (same) return { x: first.x, y: lines.map((l) => l.y) };
  const x = [...new Set(lines.flatMap((l) => l.x))].toSorted((a, b) => a - b);
  const at = new Map(x.map((v, i) => [v, i]));
  const y = lines.map((l) => {
    const column = Array.from<number | null | undefined>({ length: x.length });
    l.x.forEach((v, i) => {
      column[at.get(v) as number] = l.y[i] ?? null;
    });
    return column;
  });
  return { x, y };
}

/** A stack: for each line the lower and upper edge at each x. A line that was not measured at an x adds nothing there and is a gap. */
export function stack(lines: Points[]): { x: number[]; lower: (number | null)[][]; upper: (number | null)[][] } {
  const base = lines.reduce<Points | null>((a, l) => (!a || l.x.length > a.x.length ? l : a), null);
  if (!base) return { x: [], lower: [], upper: [] };
  const { x } = base;
  const sum = x.map(() => 0);
  const lower: (number | null)[][] = [];
  const upper: (number | null)[][] = [];
  for (const line of lines) {
    const times = Float64Array.from(line.x);
    const near = (k: number, at: number) => {
      const here = times[k] as number;
      const reach = 0.75 * Math.max(here - (times[k - 1] ?? here), (times[k + 1] ?? here) - here);
      return Math.abs(here - at) <= reach;
    };
    const same = line.x === base.x;
    const lo: (number | null)[] = [];
    const up: (number | null)[] = [];
    x.forEach((at, i) => {
      let k = i;
      if (!same) {
        k = nearest(times, at);
        if (k >= 0 && !near(k, at)) k = -1;
      }
      const value = k < 0 ? null : (line.y[k] ?? null);
      if (value === null) {
        lo.push(null);
        up.push(null);
      } else {
        lo.push(sum[i] as number);
        sum[i] = (sum[i] as number) + value;
        up.push(sum[i] as number);
      }
    });
    lower.push(lo);
    upper.push(up);
  }
  return { x, lower, upper };
}

/**
 * The y range that all runs of a chart share. Axes start at zero, unless a gauge moves so little that it would be a flat
 * line; the natural bound is used where the values come near enough for it to say something.
 */
export function rangeOf(least: number, greatest: number, bound: number | null, mayFloat: boolean): [number, number] {
  if (!Number.isFinite(least) || !Number.isFinite(greatest)) return [0, bound ?? 1];
  let lo = Math.min(0, least);
  if (mayFloat && least > 0 && greatest > least && (greatest - least) / greatest < 0.2) lo = least - (greatest - least) * 0.2;
  let hi = greatest + (greatest - lo) * 0.05;
  if (bound !== null && bound > 0 && greatest <= bound * 1.001 && greatest >= bound * 0.25) hi = bound;
  if (!(hi > lo)) hi = lo + (Math.abs(lo) || 1);
  return [lo, hi];
}

/** The pixels of a heat map: for each row and pixel column the mean of what was measured there; NaN where nothing was. */
export function heatColumns(level: Level, from: number, to: number, columns: number): Float32Array {
  const out = new Float32Array(columns).fill(Number.NaN);
  const { t, v } = level;
  if (t.length === 0 || columns === 0) return out;
  const { begin: begins, end: ends } = edgesOf(level);
  const perSecond = columns / (to - from);
  const sums = new Float64Array(columns);
  const counts = new Float64Array(columns);
  for (let i = Math.max(0, lowerBound(t, from) - 1); i < t.length; i++) {
    const begin = ((begins[i] as number) - from) * perSecond;
    if (begin >= columns) break;
    const x = v[i] as number;
    if (Number.isNaN(x)) continue;
    const end = ((ends[i] as number) - from) * perSecond;
    const a = Math.max(0, Math.floor(begin + 1e-6));
    const b = Math.min(columns - 1, Math.max(a, Math.ceil(end - 1e-6) - 1));
    for (let c = a; c <= b; c++) {
      // Weighted by how much of the pixel the interval covers.
      const share = Math.min(end, c + 1) - Math.max(begin, c);
      if (share <= 0) continue;
      sums[c] = (sums[c] as number) + x * share;
      counts[c] = (counts[c] as number) + share;
    }
  }
  for (let c = 0; c < columns; c++) {
    const n = counts[c] as number;
    if (n > 0) out[c] = (sums[c] as number) / n;
  }
  return out;
}
