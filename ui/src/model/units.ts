// Numbers as people read them. A value is shown in a scale (factor, symbol, decimals); all numbers of one table column
// or axis share a scale, so that digits can be compared by their place.

/** How values of one unit are written. */
export interface Scale {
  /** A value is divided by this. */
  factor: number;
  /** Symbol after the number, "" for none. */
  symbol: string;
  /** Fixed decimals. */
  decimals: number;
}

type Step = readonly [factor: number, symbol: string];

const binary = (tail: string): Step[] => [
  [1, `B${tail}`],
  [1024, `KiB${tail}`],
  [1024 ** 2, `MiB${tail}`],
  [1024 ** 3, `GiB${tail}`],
  [1024 ** 4, `TiB${tail}`],
  [1024 ** 5, `PiB${tail}`],
];

const thousands = (unit: string, tail = ""): Step[] => [
  [1, `${unit}${tail}`],
  [1e3, `k${unit}${tail}`],
  [1e6, `M${unit}${tail}`],
  [1e9, `G${unit}${tail}`],
  [1e12, `T${unit}${tail}`],
];

const milli = (unit: string, tail = ""): Step[] => [
  [1e-9, `n${unit}${tail}`],
  [1e-6, `µ${unit}${tail}`],
  [1e-3, `m${unit}${tail}`],
  [1, `${unit}${tail}`],
  [1e3, `k${unit}${tail}`],
  [1e6, `M${unit}${tail}`],
];

const secondSteps = (tail: string): Step[] => [
  [1e-9, `ns${tail}`],
  [1e-6, `µs${tail}`],
  [1e-3, `ms${tail}`],
  [1, `s${tail}`],
];

const STEPS: Record<string, Step[]> = {
  "": thousands(""),
  "1/s": thousands("", "/s"),
  "1/op": thousands("", "/op"),
  B: binary(""),
  "B/s": binary("/s"),
  "B/op": binary("/op"),
  s: [...secondSteps(""), [3600, "h"]],
  "s/op": secondSteps("/op"),
  "s/s": secondSteps("/s"),
  Hz: thousands("Hz"),
  W: milli("W"),
  J: milli("J"),
  "J/op": milli("J", "/op"),
  "°C": [[1, "°C"]],
  "%": [[1, "%"]],
  ratio: [[0.01, "%"]],
};

const UNKNOWN: Step[] = [[1, ""]];

/** What a unit stands for, in words, for the caption of a chart. */
export function unitInWords(unit: string): string {
  const words: Record<string, string> = {
    "": "count",
    "1/s": "per second",
    "1/op": "per operation",
    B: "bytes",
    "B/s": "bytes per second",
    "B/op": "bytes per operation",
    s: "seconds",
    "s/op": "seconds per operation",
    "s/s": "seconds per second; 1 s/s is one CPU (or one waiter) all the time",
    Hz: "hertz",
    W: "watts",
    J: "joules",
    "J/op": "joules per operation",
    "°C": "degrees Celsius",
    "%": "per cent",
    ratio: "per cent",
  };
  return words[unit] ?? unit;
}

function step(unit: string, size: number): Step {
  const steps = STEPS[unit] ?? [[1, unit] as Step, ...UNKNOWN].slice(0, 1);
  let chosen = steps.find((s) => s[0] >= 1) ?? (steps[0] as Step);
  if (unit === "ratio") return steps[0] as Step;
  if (!(size > 0) || !Number.isFinite(size)) return chosen;
  // Plain counts stay whole up to five digits: "9,730" reads better than "9.73 k".
  const slack = unit === "" ? 10 : 1;
  chosen = steps[0] as Step;
  for (const s of steps) {
    if (size >= s[0] * (s[0] > 1 ? slack : 1) * 0.99995) chosen = s;
  }
  return chosen;
}

/** The scale for values up to `size`, with decimals that keep about three significant digits of the greatest. */
export function scaleFor(unit: string, size: number): Scale {
  const abs = Math.abs(size);
  const [factor, symbol] = step(unit, abs);
  const shown = abs / factor;
  const whole = size === 0 || (unit === "" && Number.isInteger(size) && shown < 1e5);
  const decimals = whole || !Number.isFinite(shown) ? 0 : shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
  return { factor, symbol, decimals };
}

/**
 * The scale of a column: with one more decimal, and one prefix smaller where the least value would vanish in that of the
 * greatest ("1,080" and "3.2" per second say more than "1.08 k" and "<0.01 k").
 */
export function columnScale(unit: string, greatest: number, allWhole: boolean, smallest = greatest): Scale {
  let scale = scaleFor(unit, greatest);
  if (smallest > 0 && smallest / scale.factor < 0.05) {
    const steps = STEPS[unit] ?? [];
    const smaller = steps[steps.findIndex((s) => s[0] === scale.factor) - 1];
    if (smaller && greatest / smaller[0] < 1e4) scale = { factor: smaller[0], symbol: smaller[1], decimals: 1 };
  }
  if (allWhole && scale.factor === 1) return { ...scale, decimals: 0 };
  return { ...scale, decimals: Math.max(1, scale.decimals) };
}

/** A scale with as many decimals, three at most, as keep two digits of the least value: for times that are compared over powers of ten. */
export function finer(scale: Scale, least: number): Scale {
  const shown = least / scale.factor;
  const needed = shown > 0 && Number.isFinite(shown) ? Math.ceil(-Math.log10(shown) - 1e-9) + 1 : 0;
  return { ...scale, decimals: Math.max(scale.decimals, Math.min(3, needed)) };
}

/** Distances between the labels of an axis of bytes, round in the unit that the labels are written in. */
export const BINARY_INCREMENTS: number[] = [0, 1, 2, 3, 4, 5].flatMap((k) => [1, 2, 5, 10, 20, 50, 100, 200, 500].map((m) => m * 1024 ** k));

/** Steps of axes that are read as decimal numbers: 1, 2 and 5 of each power of ten, so that each is written with as few digits as it has. */
export const DECIMAL_INCREMENTS: number[] = Array.from({ length: 28 }, (_, k) => k - 12).flatMap((k) => [1, 2, 5].map((m) => Number(`${m}e${k}`)));

const formats = new Map<number, Intl.NumberFormat>();

/** A number with fixed decimals, thousands separated. The same text in every locale, so that reports can be compared. */
export function fixed(value: number, decimals: number): string {
  let format = formats.get(decimals);
  if (!format) {
    format = new Intl.NumberFormat("en-GB", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    formats.set(decimals, format);
  }
  const text = format.format(value);
  return (/^-[0.,]*$/.test(text) ? text.slice(1) : text).replace("-", "−");
}

/** A value in a scale, without the symbol. What is too small to show but not zero says so. */
export function inScale(value: number | null | undefined, scale: Scale): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const shown = value / scale.factor;
  const least = 10 ** -scale.decimals;
  if (shown !== 0 && Math.abs(shown) < least / 2) return `<${fixed(least, scale.decimals)}`;
  return fixed(shown, scale.decimals);
}

/** A value with its unit, on its own: "1.25 GiB/s". Null is "not measured". */
export function human(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "not measured";
  const scale = scaleFor(unit, value);
  const number = inScale(value, scale);
  if (scale.symbol === "") return number;
  return scale.symbol.startsWith("/") ? `${number}${scale.symbol}` : `${number} ${scale.symbol}`;
}

/** Seconds into a recording: "12.5 s", "2:05", "1:02:05". `step` is the distance between labels. */
export function clock(t: number, stepSize = 1): string {
  const sign = t < 0 ? "−" : "";
  const abs = Math.abs(t);
  const decimals = stepSize >= 1 ? 0 : Math.min(3, Math.ceil(-Math.log10(stepSize)));
  if (abs < 120 && stepSize < 60) return `${sign}${fixed(abs, decimals)} s`;
  const total = Number(abs.toFixed(decimals));
  const h = Math.floor(total / 3600);
  const m = Math.floor((total % 3600) / 60);
  const s = total % 60;
  const ss = s.toFixed(decimals).padStart(decimals === 0 ? 2 : 3 + decimals, "0");
  return h > 0 ? `${sign}${h}:${String(m).padStart(2, "0")}:${ss}` : `${sign}${m}:${ss}`;
}

/** A length of time: "22.5 s", "3 min 20 s", "1 h 4 min". */
export function span(seconds: number): string {
  if (seconds < 120) return human(seconds, "s");
  const s = Math.round(seconds);
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`;
  const m = Math.round(seconds / 60);
  return `${Math.floor(m / 60)} h${m % 60 ? ` ${m % 60} min` : ""}`;
}

const NICE = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

/** A step between time labels such that at most `most` fit into `length` seconds. */
export function timeStep(length: number, most: number): number {
  return NICE.find((s) => length / s <= most) ?? 86400 * Math.ceil(length / 86400 / most);
}

/** Bytes written out for CSV and for aria labels: full precision without exponent noise. */
export function plain(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(9))) : "";
}
