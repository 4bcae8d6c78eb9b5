// Axes of charts that are drawn as SVG: where a value lies, which ticks there are, and how they are labelled.
import { BINARY_INCREMENTS, DECIMAL_INCREMENTS, fixed, human, scaleFor } from "./units";

/** From values to places, 0 at the low end and 1 at the high one. */
export interface Axis {
  low: number;
  high: number;
  log: boolean;
}

const known = (values: (number | null | undefined)[]): number[] => values.filter((v): v is number => typeof v === "number" && Number.isFinite(v));

/** An axis that has room for all values; what is not known counts for nothing. `zero`: it begins at 0. */
export function axisOf(values: (number | null | undefined)[], { log = false, zero = false }: { log?: boolean; zero?: boolean } = {}): Axis {
  const all = known(values).filter((v) => !log || v > 0);
  let [low, high] = all.length > 0 ? [Math.min(...all), Math.max(...all)] : [1, 1];
  if (log) {
    if (high / low < 1.02) [low, high] = [low / 1.05, high * 1.05];
    const room = (high / low) ** 0.06;
    return { low: low / room, high: high * room, log };
  }
  if (zero && low >= 0) low = 0;
  if (high <= low) [low, high] = [low - Math.max(1e-9, Math.abs(low) * 0.05), high + Math.max(1e-9, Math.abs(high) * 0.05)];
  const room = (high - low) * 0.06;
  return { low: zero && low === 0 ? 0 : low - room, high: high + room, log };
}

/** Where a value lies, kept within the axis. */
export function place(axis: Axis, value: number): number {
  const { low, high, log } = axis;
  const at = log ? Math.log(Math.max(value, 1e-300) / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.min(1, Math.max(0, Number.isNaN(at) ? 0 : at));
}

function linear(low: number, high: number, most: number, unit: string): number[] {
  const steps = /^B(\/|$)/.test(unit) && high >= 1024 ? BINARY_INCREMENTS : DECIMAL_INCREMENTS;
  const step = steps.find((s) => (high - low) / s <= most);
  if (step === undefined) return [];
  const out: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

/** Round values within the axis, at most about `most` of them. */
export function ticks(axis: Axis, most: number, unit = ""): number[] {
  const { low, high, log } = axis;
  if (!log || high / low < 3.5) return linear(low, high, most, unit);
  const decades = Array.from({ length: 34 }, (_, k) => k - 17);
  for (const digits of [[1, 2, 3, 5], [1, 2, 5], [1, 3], [1]]) {
    const all = decades.flatMap((k) => digits.map((d) => Number(`${d}e${k}`))).filter((v) => v >= low * 0.9999 && v <= high * 1.0001);
    if (all.length <= most) return all;
  }
  const all = decades.map((k) => Number(`1e${k}`)).filter((v) => v >= low && v <= high);
  const every = Math.ceil(all.length / Math.max(1, most));
  return all.filter((_, i) => i % every === 0);
}

/** A unit that has no prefixes of its own, such as `operations/s`. */
function isForeign(unit: string): boolean {
  const { factor, symbol } = scaleFor(unit, 1e9);
  return unit !== "" && factor === 1 && symbol === unit && unit !== "%" && unit !== "°C";
}

const PREFIXES: readonly [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"]];

/** A value with its unit. Units that are not known here get prefixes from a million up: "14.0 M operations/s". */
export function amount(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || Number.isNaN(value) || !isForeign(unit)) return human(value, unit);
  const [factor, prefix] = PREFIXES.find(([f]) => Math.abs(value) >= f) ?? [1, ""];
  if (factor === 1) return human(value, unit);
  const shown = value / factor;
  return `${fixed(shown, shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2)} ${prefix} ${unit}`;
}

/** Two values with their unit said once where it is the same: "14,553 to 15,608 operations/s". */
export function amountRange(range: readonly [number, number], unit: string): string {
  const [a, b] = [amount(range[0], unit), amount(range[1], unit)];
  const tail = (text: string) => text.replace(/^[^ /]+/, "");
  return tail(a) !== "" && tail(a) === tail(b) ? `${a.slice(0, a.length - tail(a).length)} to ${b}` : `${a} to ${b}`;
}

/** Values with their unit apart where it is the same for all; "" where each says its own. */
export function amounts(values: number[], unit: string): { texts: string[]; symbol: string } {
  const texts = values.map((v) => amount(v, unit));
  const tails = new Set(texts.map((t) => t.replace(/^[^ /]+/, "")));
  const tail = tails.size === 1 ? ([...tails][0] as string) : "";
  return { texts: texts.map((t) => t.slice(0, t.length - tail.length)), symbol: tail.trim() };
}

/** As few decimals as the number needs, four at most. */
export function trimmed(value: number): string {
  const text = fixed(value, 4);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Labels of ticks without their unit, and the unit that they all are in. */
export function labelled(values: number[], unit: string): { labels: string[]; symbol: string } {
  const most = Math.max(0, ...values.map(Math.abs));
  const scale = scaleFor(unit, most);
  let { factor, symbol } = scale;
  if (isForeign(unit)) {
    const found = PREFIXES.find(([f]) => most >= f);
    if (found) [factor, symbol] = [found[0], `${found[1]} ${unit}`];
  }
  return { labels: values.map((v) => trimmed(v / factor)), symbol };
}
