// Statistics of a series over a window, exactly as tables and legends show them.
import type { Level } from "../bundle/block";

/** Mean, least and greatest measured value of a window. `n` is 0 and the rest NaN where nothing was measured. */
export interface Stat {
  n: number;
  mean: number;
  min: number;
  max: number;
}

/** The first index whose time is at or after `t`. */
export function lowerBound(times: Float64Array, t: number): number {
  let lo = 0;
  let hi = times.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((times[mid] as number) < t) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** Begin and end of each interval of a level. */
export interface Edges {
  begin: Float64Array;
  end: Float64Array;
}

const known = new WeakMap<Float64Array, Edges>();

/**
 * The intervals that the values stand for: as given by widths, else up to half-way to the neighbours. Intervals may change in
 * length within a recording. Where two times are more than four times as far apart as their neighbours, nothing was read
 * between them: there the intervals are as long as on the other side.
 */
export function edgesOf(level: Pick<Level, "t" | "widths">): Edges {
  const { t, widths } = level;
  const cached = known.get(t);
  if (cached) return cached;
  const n = t.length;
  const begin = new Float64Array(n);
  const end = new Float64Array(n);
  const at = (i: number) => t[i] as number;
  const step = (i: number) => (i >= 1 && i < n ? at(i) - at(i - 1) : 0);
  // Half of the distance before the ith time, or 0 where that is a hole or the edge.
  const half = (i: number) => {
    const d = step(i);
    const beside = Math.max(step(i - 1), step(i + 1));
    return n > 2 && d > 4 * beside ? 0 : d / 2;
  };
  for (let i = 0; i < n; i++) {
    const before = widths ? (widths[i] as number) / 2 : half(i) || half(i + 1) || 0.5;
    const after = widths ? before : half(i + 1) || half(i) || 0.5;
    begin[i] = at(i) - before;
    end[i] = at(i) + after;
  }
  const edges = { begin, end };
  known.set(t, edges);
  return edges;
}

/**
 * Statistics over the intervals whose middle lies in [from, to]. The mean weights each interval with its length, so that a
 * late read counts for the time it covers. In a window that holds no middle, the intervals that reach into it count, as for what is
 * read once a minute. What was not measured counts for nothing, in particular not as zero.
 */
export function statOf(level: Level, from: number, to: number): Stat {
  const { t, v, min, max } = level;
  const { begin, end } = edgesOf(level);
  let n = 0;
  let sum = 0;
  let weight = 0;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let i = lowerBound(t, from); i < t.length && (t[i] as number) <= to; i++) {
    const x = v[i] as number;
    if (Number.isNaN(x)) continue;
    const w = (end[i] as number) - (begin[i] as number);
    n++;
    sum += x * w;
    weight += w;
    const lo = min[i] as number;
    const hi = max[i] as number;
    if (lo < least) least = lo;
    if (hi > greatest) greatest = hi;
  }
  if (n === 0) {
    // A window between two reads: the intervals that reach into it, each for as long as it does.
    for (let i = Math.max(0, lowerBound(t, from) - 1); i < t.length && (begin[i] as number) < to; i++) {
      const x = v[i] as number;
      const w = Math.min(to, end[i] as number) - Math.max(from, begin[i] as number);
      if (Number.isNaN(x) || w <= 0) continue;
      n++;
      sum += x * w;
      weight += w;
      least = Math.min(least, min[i] as number);
      greatest = Math.max(greatest, max[i] as number);
    }
  }
  if (n === 0 || weight === 0) return { n: 0, mean: Number.NaN, min: Number.NaN, max: Number.NaN };
  return { n, mean: sum / weight, min: least, max: greatest };
}

/** The value of the interval that holds `t`, or NaN where there is none. */
export function valueAt(level: Level, t: number): number {
  const i = nearest(level.t, t);
  const { begin, end } = edgesOf(level);
  for (const k of [i, i - 1, i + 1]) {
    if (k >= 0 && k < level.t.length && t >= (begin[k] as number) && t <= (end[k] as number)) return level.v[k] as number;
  }
  return Number.NaN;
}

/** The index whose time is nearest to `t`; −1 where there is none. */
export function nearest(times: Float64Array, t: number): number {
  if (times.length === 0) return -1;
  const i = lowerBound(times, t);
  if (i === 0) return 0;
  if (i === times.length) return i - 1;
  return t - (times[i - 1] as number) <= (times[i] as number) - t ? i - 1 : i;
}
