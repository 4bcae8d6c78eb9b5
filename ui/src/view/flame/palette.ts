// Colours of frames: by kind of code, shades by name; or by how two runs differ.
import type { Theme } from "../../model/color";
import { KINDS, type Frames } from "./tree";

const SHADES = 6;

/** Hue and saturation of each kind. Those that are no code are grey. */
const TINTS: Record<(typeof KINDS)[number], readonly [number, number]> = {
  other: [40, 25],
  root: [210, 8],
  state: [210, 14],
  process: [210, 10],
  thread: [210, 8],
  native: [36, 82],
  kernel: [214, 66],
  jit: [128, 44],
  c1: [88, 40],
  interpreted: [168, 46],
  inlined: [54, 70],
  python: [168, 46],
  class: [286, 38],
};

/** In words, for the legend. */
export const KIND_WORDS: Record<(typeof KINDS)[number], string> = {
  other: "other", root: "all", state: "state", process: "process", thread: "thread", native: "native", kernel: "kernel", jit: "compiled at run time", c1: "compiled by C1 only",
  interpreted: "interpreted", inlined: "inlined", python: "Python", class: "class of what is allocated",
};

/** The fills of a theme: kind after kind, each in several shades. */
export function fills(theme: Theme): string[] {
  return KINDS.flatMap((kind) => {
    const [hue, saturation] = TINTS[kind];
    return Array.from({ length: SHADES }, (_, i) => {
      const light = theme === "light" ? 72 + i * 2.4 : 24 + i * 1.8;
      const strong = theme === "light" ? saturation : saturation * 0.62;
      return `hsl(${hue + (i - SHADES / 2) * (strong > 30 ? 2.5 : 0)} ${strong}% ${light}%)`;
    });
  });
}

/** The colour of a kind in the legend. */
export function kindFill(kind: number, theme: Theme): string {
  return fills(theme)[kind * SHADES + 2] ?? "";
}

/** FNV-1a, so that a function has the same shade in every graph. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** For each frame, its place in `fills`. */
export function shades(frames: Frames): Uint8Array {
  return Uint8Array.from(frames.name, (name, i) => (frames.kind[i] ?? 0) * SHADES + (hash(name) % SHADES));
}

/** Steps of the scale of differences to either side. */
export const STEPS = 8;

/** From much less (blue) over equal (grey) to much more (orange-red); 2 × STEPS + 1 fills. */
export function changeFills(theme: Theme): string[] {
  return Array.from({ length: 2 * STEPS + 1 }, (_, i) => {
    const by = (i - STEPS) / STEPS;
    const size = Math.abs(by);
    const hue = by < 0 ? 212 : 12;
    return theme === "light" ? `hsl(${hue} ${size * 78}% ${91 - size * 23}%)` : `hsl(${hue} ${size * 58}% ${23 + size * 13}%)`;
  });
}

/** The place in `changeFills` for a weight before and after: the change as a share of the greater. */
export function changeStep(before: number, after: number): number {
  const greater = Math.max(before, after);
  return greater > 0 ? Math.round(((after - before) / greater) * STEPS) + STEPS : STEPS;
}

/** Fills of what a search found, and of all else meanwhile. */
export const MATCH: Record<Theme, { found: string; rest: string }> = {
  light: { found: "hsl(305 62% 78%)", rest: "hsl(210 8% 91%)" },
  dark: { found: "hsl(305 42% 38%)", rest: "hsl(210 8% 22%)" },
};
