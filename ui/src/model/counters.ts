// Hardware counters: how metrics, their changes and the parts of slots are put in words.
import type { CounterChange, CounterMetric, TopDown } from "../bundle/types";
import { fixed } from "./units";
import { changeInWords, rangeInWords } from "./words";

/** A part of the slots; those of the second level are within the one before. */
export interface Slots {
  id: string;
  title: string;
  value: number;
  /** What of it is of the second level. */
  within: { title: string; value: number } | null;
}

/** What slots were used for or lost to, in the order in which they are drawn. */
export function slotsOf(t: TopDown): Slots[] {
  const within = (title: string, value: number | null) => (value === null ? null : { title, value });
  return [
    { id: "retiring", title: "work that was kept", value: t.retiring, within: null },
    { id: "bad_speculation", title: "wrong predictions", value: t.bad_speculation, within: null },
    { id: "frontend_bound", title: "waiting for instructions", value: t.frontend_bound, within: within("for the first of them", t.fetch_latency) },
    { id: "backend_bound", title: "waiting for data or units", value: t.backend_bound, within: within("for loads and stores", t.memory_bound) },
  ];
}

/** A value of a metric: shares as per cent, all else with four digits. */
export function valueInWords(value: number, m: Pick<CounterMetric, "unit">): string {
  if (m.unit === "ratio") return `${fixed(100 * value, Math.abs(value) < 0.0995 ? 2 : 1)} %`;
  const size = Math.abs(value);
  return fixed(value, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

/** A change and its interval: of shares in points, of all else as a ratio. */
export function changeOf(c: CounterChange, m: Pick<CounterMetric, "is_share">): [change: string, interval: string] {
  if (m.is_share || c.ratio === null) {
    const unit = m.is_share ? " points" : "";
    const of = (x: number) => {
      const shown = m.is_share ? 100 * x : x;
      return `${shown > 0 ? "+" : ""}${fixed(shown, Math.abs(shown) >= 10 ? 1 : 2)}`;
    };
    return [`${of(c.difference)}${unit}`, `${of(c.interval[0])} to ${of(c.interval[1])}`];
  }
  const [change, low, high] = c.ratio;
  return [changeInWords(change), rangeInWords({ change, low, high })];
}

/** Whether a change is for better or worse; null where it is neither, or may be none. */
export function judged(c: CounterChange, m: Pick<CounterMetric, "polarity">): "better" | "worse" | null {
  if (!c.differs || m.polarity === "neutral") return null;
  return c.difference > 0 === (m.polarity === "better") ? "better" : "worse";
}

/** Cycles per instruction, and the interval. */
export function cpiInWords([cpi, low, high]: [number, number, number]): [cpi: string, interval: string] {
  const digits = cpi >= 99.5 ? 0 : cpi >= 9.95 ? 1 : 2;
  return [fixed(cpi, digits), `${fixed(low, digits)} to ${fixed(high, digits)}`];
}

/** Whether a change of cycles per instruction is for better or worse: its interval leaves out 0. */
export function differsIn([, low, high]: [number, number, number]): "better" | "worse" | null {
  return low > 0 ? "worse" : high < 0 ? "better" : null;
}

/** Per what a metric is, from its help: "(per 1,000 instructions)". */
export function perOf(m: Pick<CounterMetric, "help" | "unit">): string {
  return /\((per [^)]+)\)/.exec(m.help)?.[1] ?? "";
}

/** Instances of EC2 that have all counters: family, and from which size on. */
export const INSTANCES: [families: string, from: string][] = [
  ["6g, 7g, 6i", "16xlarge"],
  ["8g, 7a, 7i", "24xlarge"],
  ["8i, 9g", "48xlarge"],
  ["metal", "any"],
];
