// Cache lines that threads fight over: findings of all recordings by name, the 64 cells of a line, its fields in lanes, and their words.
import type { SharedAccess, SharedCells, SharedField, SharedLine, SharedLines, SharedMoved, SharedThing } from "../bundle/types";
import { fixed } from "./units";

export const BYTES = 64;

/** A finding of some of the recordings. */
export interface Found {
  name: string;
  comm: string;
  /** By run; empty where nothing waits for it. */
  of: SharedThing[][];
}

/** Findings of one name and one program are one, those that take most of the CPU time first. */
export function foundOf(lines: SharedLines): Found[] {
  const found: Found[] = [];
  lines.runs.forEach((run, at) => {
    for (const thing of run.things) {
      let known = found.find((f) => f.name === thing.name && f.comm === thing.comm);
      if (!known) {
        known = { name: thing.name, comm: thing.comm, of: lines.runs.map(() => []) };
        found.push(known);
      }
      known.of[at]?.push(thing);
    }
  });
  const most = (f: Found) => Math.max(...f.of.flat().map((t) => t.part[0]));
  return found.toSorted((a, b) => most(b) - most(a));
}

/** The digit of a thread: 1 to 9, then letters. */
export const digitOf = (thread: number) => (thread < 35 ? (thread + 1).toString(36).toUpperCase() : "+");

/** A cell: what stands in it, whose colours it has (null: of several, or of none), and what it says. */
export interface Cell {
  mark: string;
  kind: "unused" | "read" | "written";
  /** Filled with the colour of this one. */
  writer: number | null;
  /** A hollow frame with the colour of this one. */
  reader: number | null;
  /** Several write it, or several read it that no one writes. */
  several: boolean;
  /** Somebody only reads it. */
  isRead: boolean;
}

const UNUSED: Cell = { mark: "", kind: "unused", writer: null, reader: null, several: false, isRead: false };

const one = (all: number[]) => (all.length === 1 ? (all[0] ?? null) : null);

function cell({ writers, readers }: SharedCells): Cell {
  const users = writers.length > 0 ? writers : readers;
  const alone = one(users);
  return {
    mark: alone === null ? "*" : digitOf(alone), kind: writers.length > 0 ? "written" : "read",
    writer: one(writers), reader: one(readers), several: alone === null, isRead: readers.length > 0,
  };
}

/** The 64 cells of a line. */
export function cellsOf(line: SharedLine): Cell[] {
  const cells = Array.from({ length: BYTES }, () => UNUSED);
  for (const stretch of line.cells) cells.fill(cell(stretch), Math.max(0, stretch.first), Math.min(BYTES, stretch.first + stretch.size));
  return cells;
}

const bytes = (first: number, size: number) => (size === 1 ? `byte ${first}` : `bytes ${first} to ${first + size - 1}`);

/** Who uses which bytes, in words: what the drawing says to those who do not see it. */
export function lineInWords(line: SharedLine): string {
  const by = (threads: number[]) => `thread${threads.length > 1 ? "s" : ""} ${threads.map(digitOf).join(", ")}`;
  const said = line.cells.map((c) => {
    const does = [c.writers.length > 0 ? `written by ${by(c.writers)}` : "", c.readers.length > 0 ? `read by ${by(c.readers)}` : ""];
    return `${bytes(c.first, c.size)} ${does.filter(Boolean).join(", ")}`;
  });
  return said.length === 0 ? "Which bytes are used is not known" : said.join("; ");
}

/** What a byte says on its own. */
export function byteInWords(line: SharedLine, at: number): string {
  const stretch = line.cells.find((c) => at >= c.first && at < c.first + c.size);
  const fields = fieldsAt(line, at, 1);
  const words = stretch ? lineInWords({ ...line, cells: [{ ...stretch, first: at, size: 1 }] }) : `byte ${at}: nobody was seen to use it`;
  return fields === "" ? words : `${words}; ${fields}`;
}

/** A field where it is drawn. */
export interface Placed {
  field: SharedField;
  /** Its name without that of what it is of, which stands above. */
  label: string;
  lane: number;
  from: number;
  to: number;
}

/** Fields under the cells; those that overlap are in lanes of their own. */
export function placed(line: SharedLine, thing: string): Placed[] {
  const lanes: number[] = [];
  const found: Placed[] = [];
  for (const field of line.fields) {
    const from = Math.max(0, field.first);
    const to = Math.min(BYTES, field.first + Math.max(1, field.size));
    if (to <= from) continue;
    let lane = lanes.findIndex((end) => end <= from);
    if (lane < 0) lane = lanes.push(0) - 1;
    lanes[lane] = to;
    const rest = field.name.startsWith(thing) ? field.name.slice(thing.length) : field.name;
    found.push({ field, label: rest.replace(/^(\.|::|->)/, "") || field.name, lane, from, to });
  }
  return found;
}

/** Names of the fields that bytes lie in. Of members of a union only one has them: that which is exactly these bytes, else the largest. */
export function fieldsAt(line: SharedLine, first: number, size: number): string {
  const end = (f: SharedField) => f.first + Math.max(1, f.size);
  const isExact = (f: SharedField) => f.first === first && end(f) === first + size;
  const candidates = line.fields.filter((f) => f.first < first + size && first < end(f));
  candidates.sort((a, b) => Number(isExact(b)) - Number(isExact(a)) || b.size - a.size);
  const found: SharedField[] = [];
  for (const f of candidates) {
    if (found.every((other) => end(other) <= f.first || end(f) <= other.first)) found.push(f);
  }
  return found.sort((a, b) => a.first - b.first).map((f) => f.name).join(", ");
}

/** The fields that an access goes to. */
export const fieldsOf = (line: SharedLine, access: SharedAccess) => (access.size === 0 ? fieldsAt(line, access.first - (access.first % 8), 8) : fieldsAt(line, access.first, access.size));

/** "4–7", "4", "in 0–7": which bytes an access uses. */
export function placeOf({ first, size }: SharedAccess): string {
  if (size === 0) return `in ${first - (first % 8)}–${first - (first % 8) + 7}`;
  return size === 1 ? String(first) : `${first}–${first + size - 1}`;
}

const percent = (part: number) => `${fixed(part * 100, part < 0.0995 ? 1 : 0)} %`;
const times = (factor: number) => `${fixed(factor, factor < 1.095 ? 2 : factor < 9.95 ? 1 : 0)}×`;

/** What a finding takes, and what it would give. */
export function costInWords(thing: SharedThing): { part: string; interval: string; speedup: string; speedups: string } {
  const [part, low, high] = thing.part;
  const [speedup, least, most] = thing.speedup;
  return { part: percent(part), interval: `${percent(low)} to ${percent(high)}`, speedup: times(speedup), speedups: `${times(least)} to ${times(most)}` };
}

/** Functions that wait, with their parts. */
export const functionsInWords = (thing: SharedThing) => thing.functions.map((f) => `${f.name || "unknown code"} ${percent(f.part)}`).join(", ");

/** What the CPU has sampled of a line, in a sentence. */
export function movedInWords(moved: SharedMoved): string {
  const kind = moved.kind === null ? "" : moved.kind === "false" ? "False sharing: " : "True sharing: ";
  const changed = moved.modified > 0 ? `, changed there in ${moved.modified}` : "";
  const cycles = moved.cycles === null ? "" : `; ${fixed(moved.cycles, 0)} cycles each`;
  const part = moved.part === null ? "" : `, ${percent(moved.part)} of the cycles of all accesses that were sampled of ${moved.comm}`;
  return `${kind}${moved.from_core} of ${moved.sampled} sampled accesses came from the cache of another core${changed}${cycles}${part}.`;
}
