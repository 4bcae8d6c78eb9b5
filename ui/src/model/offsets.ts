// The heat map of samples: columns of equal length in time, and where in that length the samples lie. Arithmetic only.
import type { Columns } from "../bundle/columns";
import type { Measure } from "../bundle/types";

/** Cells of a heat map of one run: column by column, each with its rows from the start of its stretch of time to the end. */
export interface Offsets {
  /** Length of a column and of a cell, seconds. */
  column: number;
  cell: number;
  rows: number;
  columns: number;
  values: Float64Array;
  /** The greatest value of a cell. */
  most: number;
}

/** Seconds, and for what is over sooner, parts of one. */
const LENGTHS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Least number of columns of what lasts less than so many seconds. */
const FEW = 15;

/** Samples are stored to the millisecond, and seldom taken more often than this. */
const LEAST_CELL = 0.01;

/** Columns at most: more cannot be told apart. */
const COLUMNS = 240;

const ROWS = 50;

/** Weight of the samples of each run, cell by cell, in CPUs; all runs have the same cells. */
export function offsetsOf(columns: Columns, measure: Measure, durations: number[], process: string, thread: string): Offsets[] {
  const longest = Math.max(0.1, ...durations);
  const fits = LENGTHS.filter((l) => longest / l <= COLUMNS && (l >= 1 ? true : longest / l >= FEW || l === 0.1));
  // A second, where there are enough of them.
  const column = (longest >= FEW ? fits.find((l) => l >= 1) : fits.findLast((l) => l < 1)) ?? Math.ceil(longest / COLUMNS);
  const ticks = columns.table("tick");
  const [run, from, length] = [ticks.raw("run"), ticks.numbers("from"), ticks.numbers("length")];
  const t = columns.table(measure.table);
  const [tick, weight, of] = [t.raw("tick"), t.numbers(measure.weight), t.raw("thread")];
  // Samples that were put together over stretches cannot be told apart within them.
  let slot = 0;
  for (let i = 0; i < t.rows; i++) slot = Math.max(slot, length[tick[i] as number] as number);
  const rows = Math.max(1, Math.min(ROWS, Math.floor(column / Math.max(slot, LEAST_CELL) + 1e-6)));
  const cell = column / rows;
  const threads = columns.table("thread");
  const wanted = Uint8Array.from({ length: threads.rows }, (_, i) =>
    (process === "" || threads.text("process", i) === process) && (thread === "" || threads.text("thread", i) === thread) ? 1 : 0);
  const out = durations.map((d): Offsets => {
    const n = Math.max(1, Math.ceil(d / column - 1e-9));
    return { column, cell, rows, columns: n, values: new Float64Array(n * rows), most: 0 };
  });
  for (let i = 0; i < t.rows; i++) {
    const k = tick[i] as number;
    const o = out[run[k] as number];
    if (!o || wanted[of[i] as number] !== 1) continue;
    // In the middle of its stretch: a stretch is never longer than a cell.
    const at = Math.floor(((from[k] as number) + (length[k] as number) / 2) / cell + 1e-9);
    if (at < o.values.length) o.values[at] = (o.values[at] as number) + (weight[i] as number) / cell;
  }
  for (const o of out) o.most = o.values.reduce((a, b) => Math.max(a, b), 0);
  return out;
}
