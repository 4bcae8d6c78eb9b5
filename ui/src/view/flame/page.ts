// What `twinscope flame` puts into its page, read and checked.
import { FLAME_FORMAT, type FlameData } from "../../bundle/generated";
import { kindOf, type Frames, type Tree } from "./tree";

/** A flame graph with its title. */
export interface FlamePage {
  title: string;
  /** Sentences under the title: windows, filters, what is missing. */
  notes: string[];
  /** Unit of the weights. */
  unit: string;
  runs: FlameData["runs"];
  /** Whether it opens with callers below the functions. */
  reverse: boolean;
  tree: Tree;
}

const numbers = (x: unknown): x is number[] => Array.isArray(x) && x.every((n) => typeof n === "number");

/** Reads the data. The error says plainly what is wrong with the file. */
export function fromPage(data: unknown): FlamePage {
  const raw = data as Partial<FlameData> | null;
  if (raw === null || typeof raw !== "object" || raw.format !== FLAME_FORMAT) {
    throw new Error(`This file has format ${JSON.stringify(raw?.format ?? null)}; this page draws format ${FLAME_FORMAT}. Make it again with one version of twinscope.`);
  }
  const { up, frame, self, frames, runs } = raw;
  if (!numbers(up) || !numbers(frame) || !Array.isArray(self) || !frames || !Array.isArray(runs) || runs.length === 0) {
    throw new Error("The flame graph in this file is damaged.");
  }
  const whole = up.length === frame.length && self.length === runs.length && self.every((s) => numbers(s) && s.length === up.length);
  const sound = whole && up.every((n, i) => (i === 0 ? n === 0 : n > 0 && n <= i)) && frame.every((f, i) => i === 0 || (f >= 0 && f < frames.name.length));
  if (!sound) throw new Error("The flame graph in this file is damaged.");
  const made: Frames = { name: frames.name, module: frames.module, source: frames.source, kind: Uint8Array.from(frames.kind, kindOf) };
  return {
    title: raw.title ?? "Flame graph",
    notes: raw.notes ?? [],
    unit: raw.unit ?? "",
    runs,
    reverse: raw.reverse === true,
    tree: {
      frames: made,
      parent: Uint32Array.from(up, (n, i) => i - n),
      frame: Uint32Array.from(frame),
      self: self.map((s) => Float64Array.from(s)),
    },
  };
}
