// A search for the best values: its trials in order, and what is on the front.
import type { Experiment, FrontPoint, Optimum, Trial } from "../bundle/generated";

/** A trial of the search. */
export interface Searched {
  t: Trial;
  /** Its place in the search, from 1. */
  n: number;
  value: number | null;
  /** The best value so far, its own among them; null before the first. */
  best: number | null;
}

/** The trials of the search that ended. */
export function searchedOf(e: Experiment): Searched[] {
  const more = e.measures[0]?.more_is_better ?? true;
  let best: number | null = null;
  return e.trials
    .filter((t) => t.stage === 0 && (t.end === "measured" || t.end === "failed"))
    .map((t, i) => {
      const x = t.values[0];
      const value = t.end === "measured" && typeof x === "number" && x > 0 ? x : null;
      if (value !== null && (best === null || (more ? value > best : value < best))) best = value;
      return { t, n: i + 1, value, best };
    });
}

/** The values that a trial was run with: "heap=2048 gc=par"; of the default its own. */
export function setInWords(t: Trial): string {
  return t.set.length > 0 ? t.set.map(([name, value]) => `${name}=${value}`).join(" ") : "the default";
}

/** The values of a point of the front. */
export function frontInWords(o: Optimum, p: FrontPoint): string {
  return o.parameters.map((name, i) => `${name}=${p.set[i] ?? ""}`).join(" ");
}
