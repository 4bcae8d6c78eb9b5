// Figures of machines: how ratios are written, and where their ranges lie on one axis.
import type { MachineFigure, MachineRatio } from "../bundle/types";
import { fixed } from "./units";

/** The axis goes from a quarter of the baseline to four times it, by default. */
const WIDEST = 4;

/** The factor that the axis reaches either way: enough for all ranges, and no more than 64. */
export function reach(figures: MachineFigure[]): number {
  let most = WIDEST;
  for (const f of figures) {
    const middle = f.values[0]?.value ?? f.values.find((v) => v !== null)?.value;
    if (!middle) continue;
    for (const v of f.values) {
      if (v) most = Math.max(most, v.high / middle, middle / v.low);
    }
  }
  return Math.min(64, most);
}

/** Where a value lies on the axis, 0 to 1: in the middle where it is the baseline's, by its logarithm. */
export function place(value: number, baseline: number, to: number): number {
  const at = 0.5 + Math.log(value / baseline) / (2 * Math.log(to));
  return Number.isFinite(at) ? Math.min(1, Math.max(0, at)) : 0.5;
}

const digits = (x: number) => (x >= 100 ? 0 : x >= 10 ? 1 : 2);

/** A ratio as docs/glossary.md writes it: `1.60×`. */
export function timesOf(x: number): string {
  return `${fixed(x, digits(x))}×`;
}

/** Its interval: `1.41–1.82×`. */
export function intervalOf(r: MachineRatio): string {
  return `${fixed(r.low, digits(r.high))}–${fixed(r.high, digits(r.high))}×`;
}

/** Whether more than one is good news: `better`, `worse`, or nothing where it does not differ. */
export function judged(f: MachineFigure, run: number): "better" | "worse" | null {
  const r = f.ratios[run];
  if (!r || !(r.low > 1 || r.high < 1) || Math.abs(r.value - 1) < 0.05) return null;
  return r.value > 1 === f.more ? "better" : "worse";
}

/** Where a difference comes from, in words. */
export function originOf(f: MachineFigure): string {
  const facts = f.facts.slice(0, 3).join(", ");
  switch (f.origin) {
    case "machine": return "the hardware";
    case "set-up": return `set-up: ${facts}`;
    case "either": return `the hardware, or ${facts}`;
    case "unknown": return "nothing recorded tells";
    default: return "";
  }
}
