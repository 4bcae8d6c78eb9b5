// Requests of a service over the windows of the recordings: rates, percentiles, the cells of a heat map, and where followed requests spent
// their time. Arithmetic only.
import type { Columns } from "../bundle/columns";
import type { Requests } from "../bundle/types";
import { quantile, sharesOf, type Span } from "./profile";

/** What is timed of a request. */
export const WHATS = ["service", "queue", "answer"] as const;
export type What = (typeof WHATS)[number];

/** What was counted of a service in the window of a run. */
export interface Sums {
  turns: number;
  opened: number;
  queued: number;
  /** Seconds. */
  queueTime: number;
}

/** By service and run: its counters over the windows; null where the run has nothing of it. */
export function sumsOf(columns: Columns, spec: Requests, windows: Span[]): (Sums | null)[][] {
  const out = spec.services.map(() => windows.map((): Sums | null => null));
  const t = columns.table("turn");
  const shares = sharesOf(columns, windows);
  const tickRun = columns.table("tick").raw("run");
  const [tick, service] = [t.raw("tick"), t.raw("service")];
  const [turns, opened, queued, queueTime] = [t.numbers("turns"), t.numbers("opened"), t.numbers("queued"), t.numbers("queue_time")];
  for (let i = 0; i < t.rows; i++) {
    const share = shares[tick[i] as number] as number;
    const of = out[service[i] as number];
    if (!of || !(share > 0)) continue;
    const sums = (of[tickRun[tick[i] as number] as number] ??= { turns: 0, opened: 0, queued: 0, queueTime: 0 });
    sums.turns += (turns[i] as number) * share;
    sums.opened += (opened[i] as number) * share;
    sums.queued += (queued[i] as number) * share;
    sums.queueTime += (queueTime[i] as number) * share;
  }
  return out;
}

/** By service and run: how many requests were in each range of time, over the windows. */
export function countsOf(columns: Columns, spec: Requests, windows: Span[], what: What): Float64Array[][] {
  const out = spec.services.map(() => windows.map(() => new Float64Array(spec.ranges.length)));
  const t = columns.table("turn_time");
  const shares = sharesOf(columns, windows);
  const tickRun = columns.table("tick").raw("run");
  const [tick, service, range, count] = [t.raw("tick"), t.raw("service"), t.raw("range"), t.numbers("count")];
  const asked = wordIn(columns, t.raw("what"), what);
  for (let i = 0; i < t.rows; i++) {
    const share = shares[tick[i] as number] as number;
    if (!(share > 0) || !asked(i)) continue;
    const counts = out[service[i] as number]?.[tickRun[tick[i] as number] as number];
    const k = range[i] as number;
    if (counts && k < counts.length) counts[k] = (counts[k] as number) + (count[i] as number) * share;
  }
  return out;
}

/** Whether a row of a text column has this text; the text is looked up once. */
function wordIn(columns: Columns, cells: Uint32Array, text: string): (row: number) => boolean {
  const number = columns.strings.indexOf(text) + 1;
  return (row) => cells[row] === number;
}

export const totalOf = (counts: Float64Array) => counts.reduce((a, b) => a + b, 0);

/** The time that so much (0 to 1) of the requests took at most, seconds; NaN where there were none. */
export function percentile(counts: Float64Array, ranges: Requests["ranges"], q: number): number {
  return quantile(ranges.map(([from, to], i) => ({ n: counts[i] as number, from, to })), q);
}

/** Where a quantile lies on the axis of percentiles: each 9 is as wide as the one before. */
export const nines = (q: number) => -Math.log10(Math.max(1e-9, 1 - q));

/** Points of the curve of percentiles, `[nines, seconds]`: up to where one request makes the difference. */
export function curveOf(counts: Float64Array, ranges: Requests["ranges"], most: number, steps = 160): [number, number][] {
  const total = totalOf(counts);
  if (!(total >= 1)) return [];
  const buckets = ranges.map(([from, to], i) => ({ n: counts[i] as number, from, to }));
  const end = Math.min(most, Math.log10(Math.max(2, total)));
  return Array.from({ length: steps + 1 }, (_, i) => {
    const x = (i / steps) * end;
    return [x, quantile(buckets, 1 - 10 ** -x)];
  });
}

/** Rows of a heat map of times: parts of powers of two of a nanosecond, from the least to the greatest. */
export interface Bands {
  /** Parts of each power of two. */
  parts: number;
  /** Number of the first, and how many there are. */
  first: number;
  count: number;
}

const NS = 1e9;

/** The band of a time in seconds. */
function bandAt(seconds: number, parts: number): number {
  const ns = Math.max(1, seconds * NS);
  const octave = Math.floor(Math.log2(ns));
  return octave * parts + Math.min(parts - 1, Math.floor((ns / 2 ** octave - 1) * parts));
}

/** Where the band begins, seconds. */
export function bandStart(bands: Bands, row: number): number {
  const at = bands.first + row;
  const octave = Math.floor(at / bands.parts);
  return (2 ** octave * (1 + (at - octave * bands.parts) / bands.parts)) / NS;
}

/** Where a time lies among the bands, 0 at the lower edge of the first: even between powers of two, which is close to a log scale. */
export function bandPlace(bands: Bands, seconds: number): number {
  const ns = Math.max(1, seconds * NS);
  const octave = Math.floor(Math.log2(ns));
  return (octave + ns / 2 ** octave - 1) * bands.parts - bands.first;
}

/** The middle of a range; of the first, which begins at 0, half its end. */
const middle = ([from, to]: [number, number]) => (from + to) / 2;

/** The bands that hold all of some counts, with as many parts as fit: `least` pixels for each on the average. Null where all counts are 0. */
export function bandsOf(all: Float64Array[], ranges: Requests["ranges"], height: number, least = 3): Bands | null {
  const used = ranges.filter((_, i) => all.some((counts) => (counts[i] as number) > 0));
  const [low, high] = [used[0], used.at(-1)];
  if (!low || !high) return null;
  for (const parts of [16, 8, 4, 2, 1]) {
    const first = bandAt(middle(low), parts);
    const count = bandAt(middle(high), parts) - first + 1;
    if (count * least <= height || parts === 1) return { parts, first, count };
  }
  return null;
}

/** A column of a heat map: a stretch of a run, and how many requests were in each band. */
export interface HeatColumn extends Span {
  counts: Float64Array;
  total: number;
}

/** The columns of a run, in time. */
export function heatOf(columns: Columns, spec: Requests, run: number, service: number, what: What, bands: Bands): HeatColumn[] {
  const t = columns.table("turn_time");
  const ticks = columns.table("tick");
  const [tickRun, from, length] = [ticks.raw("run"), ticks.numbers("from"), ticks.numbers("length")];
  const [tick, of, range, count] = [t.raw("tick"), t.raw("service"), t.raw("range"), t.numbers("count")];
  const asked = wordIn(columns, t.raw("what"), what);
  const rows = spec.ranges.map((r) => bandAt(middle(r), bands.parts) - bands.first);
  const found = new Map<number, HeatColumn>();
  for (let i = 0; i < t.rows; i++) {
    const k = tick[i] as number;
    if (of[i] !== service || tickRun[k] !== run || !asked(i)) continue;
    let column = found.get(k);
    if (!column) {
      column = { from: from[k] as number, to: (from[k] as number) + (length[k] as number), counts: new Float64Array(bands.count), total: 0 };
      found.set(k, column);
    }
    const row = rows[range[i] as number];
    if (row === undefined || row < 0 || row >= bands.count) continue;
    column.counts[row] = (column.counts[row] as number) + (count[i] as number);
    column.total += count[i] as number;
  }
  return [...found.values()].toSorted((a, b) => a.from - b.from);
}

/** The column that holds a moment. */
export function columnAt(heat: HeatColumn[], t: number): HeatColumn | undefined {
  return heat.find((c) => t >= c.from && t < c.to);
}

/** The greatest number of requests per second of a band, and the least that is not 0. */
export function ratesOf(heat: HeatColumn[][]): { least: number; most: number } {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const c of heat.flat()) {
    for (const n of c.counts) {
      if (n === 0) continue;
      const rate = n / Math.max(1e-6, c.to - c.from);
      most = Math.max(most, rate);
      least = Math.min(least, rate);
    }
  }
  return { least: Math.min(least, most), most };
}

/** A request that was followed. Times in seconds. */
export interface Followed {
  run: number;
  at: number;
  /** How many requests it stands for. */
  weight: number;
  time: number;
  queued: number;
  /** Its time by state, in the order of the head. */
  states: number[];
  thread: string;
  helper: string;
  backend: string;
  backendTime: number;
  backendTurns: number;
  handed: number;
}

/** Those of a service in the window of a run, the slowest first. */
export function followedOf(columns: Columns, spec: Requests, run: number, service: number, window: Span): Followed[] {
  const t = columns.table("turn_followed");
  const [runs, services, at, weight, time, queued] = [t.raw("run"), t.raw("service"), t.numbers("at"), t.numbers("weight"), t.numbers("time"), t.numbers("queued")];
  const [backendTime, backendTurns, handed] = [t.numbers("backend_time"), t.raw("backend_turns"), t.raw("handed")];
  const states = spec.states.map((s) => t.numbers(s.id));
  const out: Followed[] = [];
  for (let i = 0; i < t.rows; i++) {
    const moment = at[i] as number;
    if (runs[i] !== run || services[i] !== service || moment < window.from || moment >= window.to) continue;
    out.push({
      run, at: moment, weight: weight[i] as number, time: time[i] as number, queued: queued[i] as number, states: states.map((s) => s[i] as number),
      thread: t.text("thread", i), helper: t.text("helper", i), backend: t.text("backend", i),
      backendTime: backendTime[i] as number, backendTurns: backendTurns[i] as number, handed: handed[i] as number,
    });
  }
  return out.toSorted((a, b) => b.time - a.time);
}

/** Least number of followed requests that are called the slowest, where there are so many. */
const FEW = 5;

/** Of requests in order, the slowest first: those between the 40th and the 60th percentile, and the slowest 1 % (five, where that is fewer). */
export function usualAndSlowest(all: Followed[]): { usual: Followed[]; slowest: Followed[] } {
  const total = all.reduce((a, f) => a + f.weight, 0);
  let above = 0;
  const usual: Followed[] = [];
  const slowest: Followed[] = [];
  let nearest: { f: Followed; off: number } | null = null;
  all.forEach((f, i) => {
    // The place of the middle of what it stands for, from the fastest.
    const place = 1 - (above + f.weight / 2) / total;
    above += f.weight;
    if (place >= 0.4 && place <= 0.6) usual.push(f);
    if (place >= 0.99 || (i < FEW && i < all.length / 2)) slowest.push(f);
    const off = Math.abs(place - 0.5);
    if (!nearest || off < nearest.off) nearest = { f, off };
  });
  // Where one stands for very many, none may have its middle there.
  if (usual.length === 0 && nearest) usual.push((nearest as { f: Followed; off: number }).f);
  return { usual, slowest };
}

/** The mean request of some: its time by state, and in all. */
export function meanOf(some: Followed[], states: number): { states: number[]; time: number; queued: number } {
  const total = Math.max(1e-12, some.reduce((a, f) => a + f.weight, 0));
  const mean = (of: (f: Followed) => number) => some.reduce((a, f) => a + of(f) * f.weight, 0) / total;
  return { states: Array.from({ length: states }, (_, s) => mean((f) => f.states[s] as number)), time: mean((f) => f.time), queued: mean((f) => f.queued) };
}
