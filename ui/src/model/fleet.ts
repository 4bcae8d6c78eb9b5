// What a fleet answers, read and checked, in words, and where it is drawn: `twinscope fleet report` puts it into its page. Nothing is judged here:
// bands, intervals and what separates come with the data.
import { FLEET_FORMAT, type FleetAsked, type FleetBanding, type FleetCourse, type FleetDifference, type FleetPage, type FleetPageGroup } from "../bundle/generated";
import { type Axis, amount, axisOf, labelled, place, ticks, trimmed } from "./axis";
import { fixed, scaleFor } from "./units";

/** Reads the data. The error says plainly what is wrong with the file. */
export function readFleet(data: unknown): FleetPage {
  const raw = data as Partial<FleetPage> | null;
  if (raw === null || typeof raw !== "object" || raw.format !== FLEET_FORMAT) {
    throw new Error(`This file has format ${JSON.stringify(raw?.format ?? null)}; this page draws format ${FLEET_FORMAT}. Make it again with one version of twinscope.`);
  }
  const made = raw as FleetPage;
  if (!Array.isArray(made.groups) || !made.groups.every(isSound)) throw new Error("The fleet in this file is damaged.");
  return made;
}

function isSound(of: FleetPageGroup): boolean {
  const { answer, drawn, facts } = of ?? {};
  const lists = [answer?.recordings, answer?.asked, answer?.bandings, answer?.says, answer?.strays, drawn, facts];
  if (!lists.every(Array.isArray)) return false;
  const n = answer.recordings.length;
  const there = (at: number) => Number.isInteger(at) && at >= 0 && at < n;
  const bands = (b: FleetBanding) =>
    [b.bands, b.undecided, b.strays, b.separated, b.valleys, b.says, b.since?.switches].every(Array.isArray) && b.of?.length === n && b.by < answer.asked.length
    && b.of.every((band) => band === null || (band >= 0 && band < b.bands.length))
    && [...b.undecided, ...b.strays.map((s) => s.recording), ...b.since.switches.map((s) => s.recording), ...b.bands.flatMap((band) => band.nearest)].every(there);
  return answer.asked.every((a) => a.values?.length === n && a.errors?.length === n) && answer.bandings.every(bands)
    && answer.strays.every((s) => there(s.recording) && Array.isArray(s.lines)) && facts.every((f) => f.of?.length === n && Array.isArray(f.values));
}

/** How a recording lies. */
export type Standing = "band" | "undecided" | "stray" | "missing";

/** The recordings of a group by one metric, as the page draws them. */
export interface FleetView {
  group: FleetPageGroup;
  /** The place of the banding; null where there are no bands. */
  banding: number | null;
  asked: FleetAsked;
  /** By recording; NaN: it lacks the metric. */
  values: Float64Array;
  errors: Float64Array;
  /** By recording, its band from 0; −1: none. */
  band: Int8Array;
  standing: Standing[];
  /** All recordings by band and value, those of no band by value at the end, those that lack the metric last. */
  order: number[];
  /** By recording, its place in `order`. */
  rank: Int32Array;
  /** What a recording is called in general: a host, or a recording where a host has several. */
  one: string;
}

/** The recordings of a group by the metric of a banding, or by one that was asked where there are no bands. */
export function viewOf(group: FleetPageGroup, chosen: number): FleetView | null {
  const { recordings, asked, bandings } = group.answer;
  const banding = bandings.length > 0 ? Math.min(Math.max(0, chosen), bandings.length - 1) : null;
  const of = banding === null ? null : (bandings[banding] as FleetBanding);
  const metric = asked[of ? of.by : Math.min(Math.max(0, chosen), asked.length - 1)];
  if (!metric) return null;
  const n = recordings.length;
  const values = Float64Array.from(metric.values, (v) => v ?? Number.NaN);
  const errors = Float64Array.from(metric.errors, (v) => v ?? Number.NaN);
  const band = Int8Array.from({ length: n }, (_, i) => (of ? (of.of[i] ?? -1) : Number.isNaN(values[i]) ? -1 : 0));
  const undecided = new Set(of?.undecided);
  const strays = new Set((of?.strays ?? metric.strays).map((s) => s.recording));
  const standing = Array.from({ length: n }, (_, i): Standing =>
    Number.isNaN(values[i]) ? "missing" : strays.has(i) ? "stray" : undecided.has(i) || (of !== null && band[i] === -1) ? "undecided" : "band");
  const key = (i: number) => (band[i] === -1 ? 99 : (band[i] as number)) + (standing[i] === "missing" ? 1000 : 0);
  const down = metric.better === "more" ? -1 : 1;
  const order = Array.from({ length: n }, (_, i) => i).toSorted((a, b) => key(a) - key(b) || down * ((values[a] as number) - (values[b] as number) || 0) || a - b);
  const rank = new Int32Array(n);
  order.forEach((i, at) => (rank[i] = at));
  const several = recordings.some((r, i) => i > 0 && r.host === recordings[i - 1]?.host);
  return { group, banding, asked: metric, values, errors, band, standing, order, rank, one: several ? "recording" : "host" };
}

/** The banding that is shown. */
export function bandingOf(view: FleetView): FleetBanding | null {
  return view.banding === null ? null : (view.group.answer.bandings[view.banding] ?? null);
}

/** The axis of the metric, with room for all values. */
export function axisOfValues(values: ArrayLike<number>, logs: boolean): Axis {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < values.length; i++) {
    const v = values[i] as number;
    if (!Number.isFinite(v) || (logs && v <= 0)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return axisOf(low <= high ? [low, high] : [], { log: logs });
}

/** The axis of a small strip: without the farthest half per cent on both sides, which lie on its edges. Logarithmic where values reach over powers of ten. */
export function axisOfStrip(values: Float32Array): Axis {
  const known = values.filter((v) => Number.isFinite(v)).toSorted();
  if (known.length === 0) return axisOf([]);
  const at = (q: number) => known[Math.round((known.length - 1) * q)] as number;
  const far = known.length >= 200 ? 0.005 : 0;
  const [low, high] = [at(far), at(1 - far)];
  return axisOf([low, high], { log: low > 0 && high / low >= 8 });
}

/** Ticks of an axis that are round in the unit that they are written in, and their labels. */
export function ticksOf(axis: Axis, most: number, unit: string): { marks: number[]; labels: string[]; symbol: string } {
  if (!unit.startsWith("B")) {
    const marks = ticks(axis, most, unit);
    return { marks, ...labelled(marks, unit) };
  }
  const { factor, symbol } = scaleFor(unit, axis.high);
  const marks = ticks({ ...axis, low: axis.low / factor, high: axis.high / factor }, most);
  return { marks: marks.map((v) => v * factor), labels: marks.map(trimmed), symbol };
}

/** Where hosts stand in the strip: in columns of dots over their values, stacked upwards. */
export interface Dots {
  x: Float32Array;
  /** From the base line upwards, px. */
  y: Float32Array;
  /** Width of a dot, and its height, which is less where many stand in one column. */
  size: number;
  height: number;
  /** How many stand in the fullest column. */
  most: number;
}

/** Stacks the hosts: as large dots as the height allows. Hosts of one column lie in the order of their bands. */
export function dotsOf(view: FleetView, axis: Axis, width: number, height: number): Dots {
  const n = view.values.length;
  const known = view.order.filter((i) => Number.isFinite(view.values[i]));
  const stack = (size: number) => {
    const counts = new Map<number, number>();
    let most = 0;
    for (const i of known) {
      const column = Math.floor((place(axis, view.values[i] as number) * width) / size);
      const count = (counts.get(column) ?? 0) + 1;
      counts.set(column, count);
      if (count > most) most = count;
    }
    return most;
  };
  let size = n <= 100 ? 13 : 10;
  let most = stack(size);
  while (size > 3 && most * size > height) most = stack(--size);
  const cell = Math.min(size, height / Math.max(1, most));
  const dots: Dots = { x: new Float32Array(n).fill(Number.NaN), y: new Float32Array(n).fill(Number.NaN), size, height: cell, most };
  const counts = new Map<number, number>();
  for (const i of known) {
    const column = Math.floor((place(axis, view.values[i] as number) * width) / size);
    const at = counts.get(column) ?? 0;
    counts.set(column, at + 1);
    dots.x[i] = (column + 0.5) * size;
    dots.y[i] = (at + 0.5) * cell;
  }
  return dots;
}

/** The host whose dot is nearest to a place, not farther than `most` px; −1 where there is none. */
export function nearestDot(dots: Dots, x: number, y: number, most: number): number {
  let best = -1;
  let least = most * most;
  for (let i = 0; i < dots.x.length; i++) {
    const d = ((dots.x[i] as number) - x) ** 2 + ((dots.y[i] as number) - y) ** 2;
    if (d < least) [best, least] = [i, d];
  }
  return best;
}

/** The value that a byte of a course stands for; NaN: not measured. */
export function courseValue(course: FleetCourse, byte: number): number {
  if (byte === 255) return Number.NaN;
  const share = byte / 254;
  return course.log ? course.low * (course.high / course.low) ** share : course.low + share * (course.high - course.low);
}

/** By byte of a course, the band that the value lies in and how far from the valleys, 0 to 1. */
export function courseBands(course: FleetCourse, banding: FleetBanding | null, better: string): { band: Int8Array; depth: Float32Array } {
  const band = new Int8Array(256).fill(-1);
  const depth = new Float32Array(256);
  const shown = (v: number) => (course.log ? Math.log(Math.max(v, 1e-300)) : v);
  const valleys = (banding?.valleys ?? []).map((v) => shown(v.at)).toSorted((a, b) => a - b);
  const count = valleys.length + 1;
  const reach = shown(course.high) - shown(course.low) || 1;
  const middles = (banding?.bands ?? []).map((b) => shown(b.middle));
  for (let byte = 0; byte < 255; byte++) {
    const v = shown(courseValue(course, byte));
    const at = valleys.filter((valley) => valley < v).length;
    band[byte] = better === "more" ? count - 1 - at : at;
    const middle = middles[band[byte] as number] ?? v;
    const nearest = Math.min(...valleys.map((valley) => Math.abs(valley - v)), Number.POSITIVE_INFINITY);
    const whole = Math.min(...valleys.map((valley) => Math.abs(valley - middle)), Number.POSITIVE_INFINITY);
    depth[byte] = Number.isFinite(nearest) ? Math.min(1, nearest / (whole || reach)) : (v - shown(course.low)) / reach;
  }
  return { band, depth };
}

/** Values of all recordings from the block of a page: f32, byte planes shuffled. */
export function valuesAt(bytes: Uint8Array, offset: number, n: number): Float32Array {
  if (!(offset >= 0 && offset + 4 * n <= bytes.length)) throw new Error("its values lie outside the block");
  const out = new Float32Array(n);
  const to = new Uint8Array(out.buffer);
  for (let plane = 0; plane < 4; plane++) {
    for (let i = 0; i < n; i++) to[i * 4 + plane] = bytes[offset + plane * n + i] as number;
  }
  return out;
}

/** A word as one would type it in a shell. */
export function quoted(word: string): string {
  return /^[\w\-./=:,+@%]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The recording that a host is best held against: the middle one of the other band; of a host in no band that of the fast one. −1: there is none. */
export function partnerOf(view: FleetView, host: number): number {
  const banding = bandingOf(view);
  if (banding) {
    const [slow, fast] = banding.slow_and_fast;
    const other = view.band[host] === fast ? slow : fast;
    return banding.bands[other]?.nearest.find((i) => i !== host) ?? -1;
  }
  const known = view.order.filter((i) => view.standing[i] !== "missing" && i !== host);
  return known[Math.floor(known.length / 2)] ?? -1;
}

/** The command that opens a host beside its partner, the faster one as the baseline; "" where there is none. */
export function pairCommand(view: FleetView, host: number): string {
  const partner = partnerOf(view, host);
  const file = (i: number) => view.group.answer.recordings[i]?.file ?? "";
  if (partner < 0 || file(host) === "" || file(partner) === "") return "";
  const fast = bandingOf(view)?.slow_and_fast[1];
  const pair = fast !== undefined && view.band[host] === fast ? [host, partner] : [partner, host];
  return `twinscope report ${pair.map((i) => quoted(file(i))).join(" ")} -o pair.html`;
}

/** "band 1", "undecided", "stray". */
export function standingInWords(view: FleetView, host: number): string {
  const band = view.band[host] as number;
  switch (view.standing[host]) {
    case "missing": return "not measured";
    case "stray": return "stray";
    case "undecided": return band >= 0 ? `undecided, nearer to band ${band + 1}` : "in no band";
    default: return view.banding === null ? "" : `band ${band + 1}`;
  }
}

/** A value with its unit and three digits, also where it is small: "0.0220/op". */
export function figure(value: number | null | undefined, unit: string): string {
  const text = amount(value, unit);
  if (value === null || value === undefined || !Number.isFinite(value) || value === 0) return text;
  const { factor, symbol } = scaleFor(unit, value);
  const shown = Math.abs(value / factor);
  if (shown >= 0.9995) return text;
  const number = shown < 1e-6 ? (value / factor).toExponential(2).replace("-", "−") : fixed(value / factor, Math.min(8, 2 - Math.floor(Math.log10(shown))));
  return symbol === "" || symbol.startsWith("/") ? `${number}${symbol}` : `${number} ${symbol}`;
}

/** Both ends of an interval with their unit said once: "−1.09 to −0.889 ms/op". */
export function ends(low: number, high: number, unit: string): string {
  const { factor, symbol } = scaleFor(unit, Math.max(Math.abs(low), Math.abs(high)));
  const digits = (v: number) => {
    const size = Math.abs(v / factor);
    return `${v > 0 ? "+" : ""}${fixed(v / factor, size === 0 || size >= 99.95 ? 0 : Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(size)))))}`;
  };
  return `${digits(low)} to ${digits(high)}${symbol === "" || symbol.startsWith("/") ? symbol : ` ${symbol}`}`;
}

/** The 95 % interval of a host's value: "± 3.1 ms"; "" where it is not known. */
export function errorInWords(view: FleetView, host: number): string {
  const error = 1.96 * (view.errors[host] as number);
  return Number.isFinite(error) ? `± ${figure(error, view.asked.unit)}` : "";
}

/** A host in a line: its name, value and band. */
export function hostInWords(view: FleetView, host: number): string {
  const name = view.group.answer.recordings[host]?.name ?? "";
  const value = view.values[host] as number;
  const parts = [nameInLine(name), Number.isNaN(value) ? "" : `${figure(value, view.asked.unit)} ${errorInWords(view, host)}`.trim(), standingInWords(view, host)];
  return parts.filter(Boolean).join(" · ");
}

/** A name in one line: what would break it is shown as a sign. */
export function nameInLine(name: string): string {
  // oxlint-disable-next-line no-control-regex
  return name.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+/g, "␤") || "(no name)";
}

/** How surely a line tells the band from the others: 0.5 to 1. */
export const tellsApart = (d: FleetDifference): number => Math.max(d.superiority, 1 - d.superiority);

/** The shift of a line with its sign: "+3.10 ms". */
export function signed(value: number, unit: string): string {
  return `${value > 0 ? "+" : ""}${figure(value, unit)}`;
}

/** "14.1 %". */
export const shareInWords = (share: number): string => `${fixed(100 * share, 1)} %`;

/** Moments in UTC from ns since 1970. */
export function momentInWords(ns: number): string {
  const at = new Date(ns / 1e6);
  return Number.isNaN(at.getTime()) ? "at a time that is not known" : `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** A part of a metric's name that says what it is of: `process.user{comm=java} per operation` in three. */
export function metricParts(metric: string): { name: string; labels: string; per: string; variation: boolean } {
  const variation = metric.startsWith("variation of ");
  const [, name = "", labels = "", per = ""] = /^(.*?)(\{.*\})?((?: per operation)?)$/s.exec(variation ? metric.slice("variation of ".length) : metric) ?? [];
  return { name, labels: labels.slice(1, -1), per: per.trim(), variation };
}
