// How many threads ran at once: shares of the time, and the stretches in which only one did, as the report says them. Arithmetic only.
import type { Columns } from "../bundle/columns";
import type { Serial } from "../bundle/types";
import type { Span } from "./profile";

/** Threads running over time in one run: what was not recorded in a slot ran nothing. */
export interface Running {
  /** Length of a slot, seconds. */
  slot: number;
  /** Mean number of threads on a CPU, and waiting for one, slot by slot from the start. */
  running: Float64Array;
  runnable: Float64Array;
}

export function runningOf(columns: Columns, run: number, duration: number): Running {
  const t = columns.table("running");
  const slot = t.rows > 0 ? t.scale("slot") : 0.01;
  const n = Math.max(0, Math.ceil(duration / slot - 1e-9));
  const out: Running = { slot, running: new Float64Array(n), runnable: new Float64Array(n) };
  const [runs, at, running, runnable] = [t.raw("run"), t.raw("slot"), t.numbers("running"), t.numbers("runnable")];
  for (let i = 0; i < t.rows; i++) {
    const k = at[i] as number;
    if (runs[i] !== run || k >= n) continue;
    out.running[k] = (out.running[k] as number) + (running[i] as number);
    out.runnable[k] = (out.runnable[k] as number) + (runnable[i] as number);
  }
  return out;
}

const within = (r: Running, w: Span): [number, number] => [Math.max(0, Math.ceil(w.from / r.slot - 1e-6)), Math.min(r.running.length, Math.floor(w.to / r.slot + 1e-6))];

/** By number of threads (0, 1, 2 …), the share of the window in which so many ran at once; a slot with a mean between two numbers is shared out among them. */
export function concurrency(r: Running, w: Span): number[] {
  const [a, b] = within(r, w);
  const out: number[] = [];
  for (let i = a; i < b; i++) {
    const x = r.running[i] as number;
    const low = Math.floor(x);
    const part = x - low;
    out[low] = (out[low] ?? 0) + 1 - part;
    if (part > 0) out[low + 1] = (out[low + 1] ?? 0) + part;
  }
  return Array.from(out, (v) => (v ?? 0) / Math.max(1, b - a));
}

/** The serial phases of a run, as far as they lie in a window. */
export function serialIn(all: Serial[], w: Span): Serial[] {
  return all.flatMap((s) => {
    const [from, to] = [Math.max(s.from, w.from), Math.min(s.to, w.to)];
    return to > from ? [{ ...s, from, to }] : [];
  });
}
