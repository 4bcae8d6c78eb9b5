// A sweep: where its points lie, the curve of its law, and its knee. Arithmetic only.
import type { Law, MeasureHead, Point, Sweep } from "../bundle/generated";
import { type Axis, axisOf, place, trimmed } from "./axis";

const number = (text: string): number => (/^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : Number.NaN);

/** The axis of a parameter. */
export interface ParameterAxis {
  kind: "log" | "linear" | "names";
  /** Different values in order: numbers by size, names as the file has them. */
  values: string[];
  /** By value, its place between 0 and 1. */
  at: number[];
  /** Of numbers. */
  axis: Axis | null;
}

/** Spread over mean; 0 for what is all the same. */
function unevenness(values: number[]): number {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const square = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
  return mean === 0 ? 0 : Math.sqrt(square) / Math.abs(mean);
}

const steps = (values: number[]): number[] => values.slice(1).map((v, i) => v - (values[i] as number));

/** The axis for values: by their logarithm where they are nearer to a geometric series than to an arithmetic one. */
export function parameterAxis(values: string[]): ParameterAxis {
  const all = [...new Set(values)];
  const numbers = all.map(number);
  if (all.length === 0 || numbers.some(Number.isNaN)) {
    return { kind: "names", values: all, at: all.map((_, i) => (i + 0.5) / Math.max(1, all.length)), axis: null };
  }
  const sorted = numbers.map((n, i) => ({ n, text: all[i] as string })).toSorted((a, b) => a.n - b.n);
  const ordered = sorted.map((s) => s.n);
  const positive = (ordered[0] as number) > 0;
  const log = positive && ordered.length > 2 && unevenness(steps(ordered.map(Math.log))) < unevenness(steps(ordered));
  const axis = axisOf(ordered, { log });
  return { kind: log ? "log" : "linear", values: sorted.map((s) => s.text), at: ordered.map((n) => place(axis, n)), axis };
}

/** What a point is called: "threads = 16, pool = 8". */
export function pointInWords(sweep: Sweep, point: Point): string {
  return sweep.parameters.map((p, i) => `${p} = ${point.values[i] ?? ""}`).join(", ");
}

/** Throughput of N by the law. */
export function lawAt(law: Law, n: number): number {
  const [lambda, sigma, kappa] = [law.lambda.estimate, law.sigma.estimate, law.kappa?.estimate ?? 0];
  if (law.name === "Gustafson") return lambda * (n - sigma * (n - 1));
  return (lambda * n) / (1 + sigma * (n - 1) + kappa * n * (n - 1));
}

const near = (a: number, b: number) => Math.abs(Math.log(a / b)) < 0.02;

/** The law as it is drawn, in the unit of the measure. */
export interface Curve {
  line: [number, number][];
  /** Perfect scaling: the throughput of one, N times. Null where the measure is a time. */
  perfect: [number, number][] | null;
}

/**
 * The curve. Between its points it is drawn by the law's own numbers where those give what the points say; a law of throughput of which a time
 * is measured is turned round. What fits in neither way is not drawn.
 */
export function curveOf(law: Law, measure: MeasureHead, means: Map<number, number>): Curve {
  const points = law.points.filter((p) => p.every((v) => Number.isFinite(v)) && p[1] > 0).toSorted((a, b) => a[0] - b[0]);
  const measured = points.flatMap(([n, says]) => (means.has(n) ? [{ says, mean: means.get(n) as number }] : []));
  // The typical quotient of what was measured and what the law says: 1, give or take its residuals, in the measure's own unit.
  const typical = (turn: (says: number) => number) => {
    const all = measured.map((m) => Math.abs(Math.log(m.mean / turn(m.says)))).toSorted((a, b) => a - b);
    return all[Math.floor(all.length / 2)] ?? Number.POSITIVE_INFINITY;
  };
  const direct = typical((v) => v);
  const turned = measure.more_is_better ? Number.POSITIVE_INFINITY : typical((v) => 1 / v);
  if (Math.min(direct, turned) > 1) return { line: [], perfect: null };
  const turn = direct <= turned ? (v: number) => v : (v: number) => 1 / v;
  const first = points[0];
  const last = points.at(-1);
  if (!first || !last) return { line: [], perfect: null };
  const own = [(n: number) => lawAt(law, n), (n: number) => 1 / lawAt(law, n)].find((f) => points.every(([n, says]) => near(f(n), says)));
  const between = (n: number) => (own ? turn(own(n)) : Number.NaN);
  const line: [number, number][] = own
    ? Array.from({ length: 81 }, (_, i) => {
        const share = i / 80;
        // Even on either axis would do; this has enough points at both ends.
        const n = first[0] > 0 ? first[0] * (last[0] / first[0]) ** share : first[0] + (last[0] - first[0]) * share;
        return [n, between(n)];
      })
    : points.map(([n, says]) => [n, turn(says)]);
  const perfect: [number, number][] | null =
    measure.more_is_better && law.name !== "Gustafson" && law.name !== "linear" ? line.map(([n]) => [n, law.lambda.estimate * n]) : null;
  return { line, perfect };
}

/** Where perfect scaling meets the highest throughput of the law: from there on more brings little. Null where the sweep does not reach it. */
export function kneeOf(law: Law): number | null {
  if (law.does_not_fit || law.name === "Gustafson" || law.name === "linear") return null;
  const [sigma, kappa] = [law.sigma.estimate, law.kappa?.estimate ?? 0];
  const most = kappa > 0 ? lawAt(law, Math.max(1, Math.sqrt(Math.max(0, 1 - sigma) / kappa))) / law.lambda.estimate : sigma > 0 ? 1 / sigma : Number.NaN;
  const ends = law.points.map((p) => p[0]);
  return Number.isFinite(most) && most > Math.min(...ends) && most < Math.max(...ends) ? most : null;
}

/** The names of states in the ledgers of points, those with the most time first. */
export function statesOf(points: Point[]): string[] {
  const sums = new Map<string, number>();
  for (const p of points) for (const [state, seconds] of p.ledger) sums.set(state, (sums.get(state) ?? 0) + seconds);
  return [...sums].toSorted((a, b) => b[1] - a[1]).map(([state]) => state);
}

/** Of two parameters: the mean at each pair of values, by row (second parameter) and column (first). */
export function gridOf(sweep: Sweep): { columns: string[]; rows: string[]; cells: (Point | null)[][] } {
  const columns = parameterAxis(sweep.points.map((p) => p.values[0] ?? "")).values;
  const rows = parameterAxis(sweep.points.map((p) => p.values[1] ?? "")).values;
  const at = new Map(sweep.points.map((p) => [JSON.stringify(p.values.slice(0, 2)), p]));
  return { columns, rows, cells: rows.map((r) => columns.map((c) => at.get(JSON.stringify([c, r])) ?? null)) };
}

/** "8", "6.3": where a curve turns need not be a whole number. */
export function numberInWords(n: number): string {
  return n >= 20 ? trimmed(Math.round(n)) : trimmed(Number(n.toFixed(1)));
}
