// What an experiment has come to, read and checked, and in words: `twinscope report NAME.tune` puts it into its page. Nothing is judged here:
// verdicts and intervals come with the data.
import { EXPERIMENT_FORMAT, type Change, type Experiment, type MeasureHead, type Rung, type Trial } from "../bundle/generated";
import { amount } from "./axis";
import { fixed, span } from "./units";

const LISTS = ["measures", "variants", "changes", "rungs", "trials", "cautions", "next"] as const;

/** Reads the data. The error says plainly what is wrong with the file. */
export function readExperiment(data: unknown): Experiment {
  const raw = data as Partial<Experiment> | null;
  if (raw === null || typeof raw !== "object" || raw.format !== EXPERIMENT_FORMAT) {
    throw new Error(`This file has format ${JSON.stringify(raw?.format ?? null)}; this page draws format ${EXPERIMENT_FORMAT}. Make it again with one version of twinscope.`);
  }
  const made = raw as Experiment;
  if (!LISTS.every((name) => Array.isArray(made[name]))) throw new Error("The experiment in this file is damaged.");
  const n = made.variants.length;
  const there = (v: number) => Number.isInteger(v) && v >= 0 && v < n;
  const changes = [...made.changes, ...made.rungs.flatMap((r) => [r.change, r.total])].filter((c): c is Change => c !== null);
  const sound =
    changes.every((c) => there(c.variant) && there(c.against) && Array.isArray(c.pairs) && Array.isArray(c.others) && Array.isArray(c.why)) &&
    made.rungs.every((r) => there(r.variant)) &&
    made.trials.every((t) => there(t.variant) && Array.isArray(t.values) && Array.isArray(t.set)) &&
    (made.search === null || (Array.isArray(made.search.rates) && made.search.rates.every((r) => there(r.variant) && Array.isArray(r.tried) && Array.isArray(r.curve)))) &&
    (made.sweep === null || (Array.isArray(made.sweep.points) && made.sweep.points.every((p) => there(p.variant) && Array.isArray(p.values)))) &&
    (!made.optimum || (Array.isArray(made.optimum.parameters) && Array.isArray(made.optimum.front) && made.trials.every((t) => Array.isArray(t.set)))) &&
    (!made.factorial || (Array.isArray(made.factorial.flags) && made.factorial.effects.every((x) => Array.isArray(x.of) && Array.isArray(x.blocks))));
  if (!sound) throw new Error("The experiment in this file is damaged.");
  return made;
}

/** What is judged: the first measure, or the rate that a search finds. */
export function judged(e: Experiment): MeasureHead {
  if (e.search) return { name: e.search.parameter, unit: "/s", more_is_better: true, limit: null };
  return e.measures[0] ?? { name: "", unit: "", more_is_better: true, limit: null };
}

/** What is judged, of a variant by itself: the median of its trials, or the rate that was found. */
export function levelOf(e: Experiment, variant: number): number | null {
  if (e.search) return e.search.rates.find((r) => r.variant === variant)?.rate ?? null;
  return e.variants[variant]?.medians[0] ?? null;
}

/** What a variant is called. */
export function nameOf(e: Experiment, variant: number): string {
  return e.variants[variant]?.name ?? `variant ${variant}`;
}

/** Decimals that tell a factor from 1. */
function decimals(factor: number): number {
  return Math.abs(factor - 1) < 0.0945 ? 3 : factor < 9.995 ? 2 : factor < 99.95 ? 1 : 0;
}

/** "1.94×"; "1.012×" near 1. */
export function factorInWords(factor: number | null): string {
  return factor === null || !Number.isFinite(factor) ? "–" : `${fixed(factor, factor < 0.0995 ? 3 : decimals(factor))}×`;
}

/** "1.88 to 2.01", with as many decimals as the factor has, or as its own ends need. */
export function rangeInWords(interval: readonly [number, number] | null, factor: number | null): string {
  if (interval === null) return "";
  const most = Math.max(decimals(factor ?? interval[0]), interval[0] < 0.0995 ? 3 : 0);
  return `${fixed(interval[0], most)} to ${fixed(interval[1], most)}`;
}

/** "98.4 % CI". */
export function levelInWords(level: number | null): string {
  return level === null ? "CI" : `${Number(((1 - level) * 100).toFixed(level < 0.001 ? 2 : 1))} % CI`;
}

/** A part of a whole: "64 %", "1.2 %". */
export function shareInWords(share: number): string {
  const p = share * 100;
  return Number.isFinite(p) ? `${fixed(p, Math.abs(p) < 9.95 && p !== 0 ? 1 : 0)} %` : "–";
}

/** "±3 %". */
export function effectInWords(effect: number): string {
  return `±${Number((effect * 100).toFixed(2))} %`;
}

/** How a comparison ended, in words. */
export function verdictInWords(c: Change, effect: number): string {
  const more = c.needs === null ? "" : `about ${c.needs} blocks`;
  switch (c.verdict) {
    case "better": return "better";
    case "worse": return "worse";
    case "same": return `the same (within ${effectInWords(effect)})`;
    case "not_decided": return more ? `not decided; ${more} would probably decide it` : "not decided";
    default: return more ? `open; ${more} will probably decide it` : "open";
  }
}

/** The factor with its interval in one line: "1.94× (98.4 % CI 1.88 to 2.01)". */
export function changeInLine(c: Change): string {
  if (c.factor === null) return "not known yet";
  const range = rangeInWords(c.interval, c.factor);
  return `${factorInWords(c.factor)} (${range ? `${levelInWords(c.level)} ${range}` : "without an interval"})`;
}

/** How an interval was made, for its tooltip. */
export function madeOf(c: Change): string {
  if (c.blocks === 0) return "no block yet";
  return `${c.blocks === 1 ? "1 block" : `${c.blocks} blocks`}${c.by ? `, by ${c.by}` : ""}`;
}

/** The measures other than the judged one. */
export function otherMeasures(e: Experiment): MeasureHead[] {
  return e.measures.slice(1);
}

/** What the title of a measure's column says: its name and which way is better. */
export function measureInWords(m: MeasureHead): string {
  return `${m.name} (${m.more_is_better ? "more" : "less"} is better${m.limit ? `; condition ${m.limit}` : ""})`;
}

/** A step of a ladder as it is drawn. */
export interface Step {
  rung: Rung;
  /** Its comparison with what was kept before it; of the climb where the whole ladder has not been run. */
  change: Change | null;
  climbing: boolean;
  /** Factor of what was kept before it, over the baseline. */
  from: number;
  /** Where it stands over the baseline: of a step that was not kept, where it would. */
  at: number | null;
  interval: [number, number] | null;
}

/** The steps of a ladder. */
export function stepsOf(e: Experiment): Step[] {
  let level = 1;
  return e.rungs.map((rung) => {
    const change = rung.change ?? e.changes.find((c) => c.variant === rung.variant) ?? null;
    const from = level;
    const told = rung.total?.factor ?? null;
    const at = told ?? (change?.factor == null ? null : from * change.factor);
    const low = told === null ? (change?.interval ?? null) : (rung.total?.interval ?? null);
    const by = told === null ? from : 1;
    if (rung.kept === true && at !== null) level = at;
    return { rung, change, climbing: rung.change === null && change !== null, from, at, interval: low && [low[0] * by, low[1] * by] };
  });
}

/** A comparison whose blocks can be looked at. */
export interface Paired {
  id: string;
  title: string;
  change: Change;
}

/** All comparisons that have pairs, those to quote first. */
export function pairedOf(e: Experiment): Paired[] {
  const title = (c: Change) => `${nameOf(e, c.variant)} against ${nameOf(e, c.against)}`;
  const climb = e.design === "ladder";
  const all: Paired[] = [
    ...e.rungs.flatMap((r, i) => (r.change ? [{ id: `step-${i + 1}`, title: `${r.name}: ${title(r.change)}`, change: r.change }] : [])),
    ...e.rungs.flatMap((r, i) => (r.total ? [{ id: `total-${i + 1}`, title: `up to ${r.name}: ${title(r.total)}`, change: r.total }] : [])),
    ...e.changes.map((c, i) => ({ id: `${climb ? "climb" : "change"}-${i + 1}`, title: `${climb ? "climbing: " : ""}${title(c)}`, change: c })),
  ];
  return all.filter((p) => p.change.pairs.some((x) => x.against > 0 && x.variant > 0));
}

/** How a trial ended, in words. */
export const ENDS: Record<Trial["end"], string> = {
  measured: "measured",
  failed: "failed",
  void: "void: it tells nothing, and its block was run again",
  cut: "cut: its block was run again",
  open: "not ended",
};

/** A trial in one line. */
export function trialInWords(e: Experiment, t: Trial): string {
  const value = t.values[0];
  const parts = [
    `trial ${t.number}`,
    nameOf(e, t.variant),
    e.design === "ladder" || e.design === "optimise" ? `stage ${t.stage + 1}, block ${t.block + 1}` : `block ${t.block + 1}`,
    t.end === "measured" ? "" : ENDS[t.end],
    t.explained ? "recorded for explaining" : "",
    ...t.set.map(([name, set]) => `${name} ${set}`),
    typeof value === "number" && e.measures[0] ? `${e.measures[0].name} ${amount(value, e.measures[0].unit)}` : "",
    t.seconds === null ? "" : `took ${span(t.seconds)}`,
    t.stolen === null ? "" : `stolen ${shareInWords(t.stolen)}`,
    t.others === null ? "" : `others ${shareInWords(t.others)}`,
    t.cpu === null ? "" : `on CPU ${t.cpu}`,
    t.reason ?? "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Where trials lie on the axis of the strip, in seconds or by their order. */
export interface Placed {
  /** Whether the axis is time. */
  timed: boolean;
  end: number;
  /** By trial: where it begins, and how wide it is. */
  at: { from: number; to: number }[];
}

/** Places trials. By order where times are not known, or where most of the time is a gap: a session that went on days later. */
export function placed(trials: Trial[]): Placed {
  const sure = trials.every((t) => t.at !== null && Number.isFinite(t.at));
  const last = Math.max(0, ...trials.map((t) => (t.at ?? 0) + (t.seconds ?? 0)));
  const busy = trials.reduce((sum, t) => sum + (t.seconds ?? 0), 0);
  const timed = sure && trials.length > 0 && last > 0 && busy >= last * 0.5;
  if (!timed) return { timed, end: Math.max(1, trials.length), at: trials.map((_, i) => ({ from: i, to: i + 1 })) };
  return {
    timed,
    end: last,
    at: trials.map((t, i) => {
      const from = t.at ?? 0;
      // One that has not ended reaches to the next.
      const to = t.seconds === null ? (trials[i + 1]?.at ?? last) : from + t.seconds;
      return { from, to: Math.max(from, to) };
    }),
  };
}

/** "2026-11-25 16:18 UTC". */
export function momentInWords(unix: number): string {
  const date = new Date(unix * 1000);
  return Number.isNaN(date.getTime()) ? "at a time that is not known" : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
