// What the page of instructions shows of a function, without a page: which rows are hot, where loops and lines of source begin, and all of it as text.
import type { Listed, ListedCell, ListedFunction, ListedLoop, ListedRow } from "../bundle/types";
import { fixed, human } from "./units";

/** The sides, from left to right. */
export const SIDES = ["against", "slow"] as const;
export type Side = (typeof SIDES)[number];

/** What each class of wait means, in a sentence. */
export const WAITS: Record<string, string> = {
  load: "it reads memory",
  store: "it writes memory",
  atomic: "it reads, changes and writes memory in one step",
  long: "a division or a root, a string instruction, a gather, a clock",
  fetch: "the target of a jump: the CPU waited for instructions, or had guessed the jump wrong",
  serialising: "a fence, cpuid, a system call",
  spin: "a pause in a loop that waits for another thread",
  core: "none of the others: it needs results of other instructions, or nothing in particular",
  unknown: "where samples land was not told, or the code does not tell which instruction came before",
};

/** Rows shown before and after one with samples. */
export const AROUND = 3;

/** Whether a sample was given to it, or landed on it. */
const isSampled = (cell: ListedCell | undefined) => (cell?.samples ?? 0) > 0 || (cell?.landed ?? 0) > 0;

/** Loops with less of the samples are not spoken of. */
const WORTH = 0.005;

/** Loops of a side that are worth their line, the outermost first. */
export function loopsOf(of: ListedFunction | null): ListedLoop[] {
  return (of?.loops ?? []).filter((l) => l.share >= WORTH);
}

/** A loop's letter, as `twinscope asm` has it. */
export const letterOf = (of: ListedFunction, loop: ListedLoop) => String.fromCodePoint(65 + (of.loops.indexOf(loop) % 26));

/** A part of a listing: a row, or rows without samples that are folded. */
export type Part = { row: number } | { from: number; to: number };

/** The rows to show. `opened` are first rows of stretches that are folded otherwise. */
export function partsOf(listed: Listed, all: boolean, opened: ReadonlySet<number>): Part[] {
  const { rows } = listed;
  const near = rows.map(() => all);
  const show = (at: number, around: number) => {
    for (let i = Math.max(0, at - around); i <= Math.min(rows.length - 1, at + around); i++) near[i] = true;
  };
  const ends = SIDES.map((side) => new Set(loopsOf(listed.of[side]).flatMap((l) => [l.from, l.to])));
  rows.forEach((row, at) => {
    if (SIDES.some((side) => isSampled(row[side]))) show(at, AROUND);
    if (SIDES.some((side, i) => row[side] && ends[i]?.has((row[side] as ListedCell).address))) show(at, 0);
  });
  const parts: Part[] = [];
  for (let at = 0; at < rows.length; at++) {
    if (near[at]) {
      parts.push({ row: at });
      continue;
    }
    let to = at;
    while (to < rows.length && !near[to]) to++;
    // One row takes as much room as the line that says it is folded.
    if (to - at < 2 || opened.has(at)) for (let i = at; i < to; i++) parts.push({ row: i });
    else parts.push({ from: at, to });
    at = to - 1;
  }
  return parts;
}

/** How a row lies in a loop: where it begins, within, where it ends, all of it, or not. */
export type Bracket = "begin" | "within" | "end" | "only" | "none";

/** By row, how it lies in the loops of each depth, outermost first. */
export function bracketsOf(listed: Listed, side: Side): Bracket[][] {
  const loops = loopsOf(listed.of[side]);
  const depth = Math.max(0, ...loops.map((l) => l.depth));
  let before: number | null = null;
  return listed.rows.map((row) => {
    const at = row[side]?.address ?? null;
    const found = Array.from({ length: depth }, (): Bracket => "none");
    for (const l of loops) {
      if (at === null) {
        // Only the other side has it: the bracket goes on beside it.
        if (before !== null && before >= l.from && before < l.to) found[l.depth - 1] = "within";
      } else if (at >= l.from && at <= l.to) {
        found[l.depth - 1] = l.from === l.to ? "only" : at === l.from ? "begin" : at === l.to ? "end" : "within";
      }
    }
    if (at !== null) before = at;
    return found;
  });
}

/** A line of source: where it is, and which function it was put into, innermost first. */
export interface Source {
  key: string;
  source: string;
  /** The function of the line, where it was put into another; else "". */
  inlined: string;
}

export function sourceOf(cell: ListedCell | undefined): Source | null {
  const lines = cell?.lines ?? [];
  const inner = lines[0];
  if (!inner) return null;
  return { key: lines.map((l) => `${l.function} ${l.source}`).join("\n"), source: inner.source, inlined: lines.length > 1 ? inner.function : "" };
}

/** By row, the line of source that begins there: of rows whose line is known, those with another than the one before. */
export function sourcesOf(listed: Listed, side: Side): (Source | null)[] {
  let last = "";
  return listed.rows.map((row) => {
    const found = sourceOf(row[side]);
    if (!found || found.key === last) return null;
    last = found.key;
    return found;
  });
}

/** The row to look at first: with the greatest difference, or the most time. Null where there are no rows. */
export function hottest(rows: ListedRow[]): number | null {
  const weight = (r: ListedRow) => (r.difference ? Math.abs(r.difference[0]) : Math.max(r.slow?.ns ?? 0, r.against?.ns ?? 0));
  const has = rows.some((r) => r.difference);
  let best: number | null = null;
  rows.forEach((r, i) => {
    if (has && !r.difference) return;
    if (best === null || weight(r) > weight(rows[best] as ListedRow)) best = i;
  });
  return best;
}

/** ns as people read it: "12.5 ns", "1.20 µs". */
export const time = (ns: number) => human(ns / 1e9, "s");

/** The same with its sign. */
export const signed = (ns: number) => `${ns < 0 ? "−" : ns > 0 ? "+" : ""}${time(Math.abs(ns))}`;

const percent = (part: number) => `${fixed(part * 100, 0)} %`;

/** "load 83 %, fetch 17 %": those from a twentieth on. */
export function waitsInWords(waits: { wait: string; part: number }[]): string {
  return waits.filter((w) => w.part >= 0.05).map((w) => `${w.wait} ${percent(w.part)}`).join(", ");
}

const digits = (x: number) => fixed(x, x >= 99.5 ? 0 : x >= 9.95 ? 1 : 2);

const BY: Record<string, string> = { chain: "chain of results", width: "width", unit: "one unit" };
const BOUND = "bound";
const VERDICTS: Record<string, string> = {
  core: `core-${BOUND}`,
  memory: `memory-${BOUND}`,
  between: "neither plainly core-bound nor memory-bound",
};

/** What is known of a loop, the time of a round first, and its verdict apart. What is not known is said, with the reason. */
export function loopInWords(loop: ListedLoop, of: ListedFunction): { round: string; facts: string[]; verdict: string } {
  const { round, bound } = loop;
  const facts: string[] = [];
  if (round) facts.push(`95 % CI ${time(round.low)} to ${time(round.high)}`);
  if (loop.instructions === null) facts.push(`instructions a round${bound === null ? " and bound" : ""} unknown: its ways part, or the code does not tell`);
  else facts.push(`${loop.instructions} instructions a round${loop.likely ? " on the way with most samples" : ""}`);
  if (loop.cpi !== null) facts.push(`CPI ${digits(loop.cpi)}`);
  if (bound !== null) facts.push(`${loop.cycles === null ? "" : `${digits(loop.cycles)} cycles, `}bound ${digits(bound)} (${BY[loop.bound_by] ?? loop.bound_by})`);
  else if (loop.instructions !== null) facts.push("no bound: it has calls, fences or string instructions");
  if (round && of.frequency === null) facts.push("cycles unknown: the CPU’s frequency was not measured");
  return {
    round: round ? `${time(round.ns)} a round` : `time of a round unknown: ${loop.unknown}`,
    facts,
    verdict: VERDICTS[loop.verdict] ?? "",
  };
}

/** How the rounds were timed, for a tooltip. */
export function roundInWords(loop: ListedLoop): string {
  const { round } = loop;
  return round ? `Median of ${fixed(round.pairs, 0)} pairs of samples; ${round.register} changes by ${round.step} a round` : "";
}

/** What marks a row of two sides. */
export function markOf(row: ListedRow, both: boolean): "" | "~" | "+" | "−" {
  if (!both) return "";
  if (!row.against) return "+";
  if (!row.slow) return "−";
  return row.same ? "" : "~";
}

const hex = (address: number) => address.toString(16);

/** Samples that landed in a function: what shares of raw landing are of. */
export const landedIn = (listed: Listed, side: Side) => listed.rows.reduce((sum, r) => sum + (r[side]?.landed ?? 0), 0);

/** The listing as text, in columns: what is shown, or all of it. */
export function asText(listed: Listed, parts: Part[], per: string, names: Record<Side, string>, raw: boolean): string {
  const sides = SIDES.filter((s) => listed.of[s]);
  const both = sides.length > 1;
  const lines: string[] = [];
  for (const side of sides) {
    const of = listed.of[side] as ListedFunction;
    lines.push(`${names[side]}: ${of.function} in ${of.module || "code made while the program ran"}: ${time(of.ns)} per ${per}; ${of.samples} samples (${of.with_registers} with registers), waits for ${waitsInWords(of.waits)}`);
    for (const loop of loopsOf(of)) {
      const { round, facts, verdict } = loopInWords(loop, of);
      lines.push(`${"  ".repeat(loop.depth)}${letterOf(of, loop)} ${hex(loop.from)}–${hex(loop.to)}, ${percent(loop.share)} of the samples (${waitsInWords(loop.waits)}): ${[round, ...facts, verdict].filter(Boolean).join(", ")}`);
    }
  }
  lines.push("");
  const table: string[][] = [[]];
  const head = table[0] as string[];
  for (const side of sides) head.push(both ? names[side] : `${raw ? "landed" : `per ${per}`}`, ...(raw ? [] : ["waits for"]));
  if (both && !raw) head.push("difference", "95 % CI");
  head.push("address", "instruction", "source");
  for (const part of parts) {
    if (!("row" in part)) {
      table.push([`… ${part.to - part.from} instructions without samples`]);
      continue;
    }
    const row = listed.rows[part.row] as ListedRow;
    const cells: string[] = [];
    for (const side of sides) {
      const cell = row[side];
      if (raw) cells.push(cell ? String(cell.landed ?? 0) : "");
      else cells.push(cell?.ns === undefined ? "" : time(cell.ns), cell?.wait ?? "");
    }
    if (both && !raw) cells.push(row.difference ? signed(row.difference[0]) : "", row.difference ? `${signed(row.difference[1])} … ${signed(row.difference[2])}` : "");
    const shown = row.slow ?? row.against;
    const mark = markOf(row, both);
    const source = sourceOf(shown);
    cells.push(hex(shown?.address ?? 0), `${both ? `${mark || " "} ` : ""}${shown?.text ?? ""}`, source ? `${source.source}${source.inlined ? ` in ${source.inlined}` : ""}` : "");
    table.push(cells);
  }
  const widths: number[] = [];
  for (const cells of table.filter((c) => c.length > 1)) cells.forEach((c, i) => (widths[i] = Math.max(widths[i] ?? 0, c.length)));
  for (const cells of table) lines.push(cells.length > 1 ? cells.map((c, i) => c.padEnd(widths[i] ?? 0)).join("  ").trimEnd() : (cells[0] ?? ""));
  if (both) lines.push("", `~ only alike; + only in ${names.slow}; − only in ${names.against}.`);
  return `${lines.join("\n")}\n`;
}
