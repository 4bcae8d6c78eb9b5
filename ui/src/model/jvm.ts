// JVMs. Pauses in a window: sums by what they were for, percentiles, and how far the threads that run go down while they last. And what their code is.
import type { JvmCodeHeap, JvmMethod, JvmPause, JvmsOfRun } from "../bundle/types";
import type { Stretch } from "../state";

export const KINDS = ["young", "full", "concurrent", "operation"] as const;
export type Kind = (typeof KINDS)[number];

/** What a kind is called, and what it is. */
export const KIND_WORDS: Record<Kind, { title: string; help: string }> = {
  young: { title: "young collection", help: "collects what was allocated last; short where little of it is still used" },
  full: { title: "full collection", help: "collects the whole heap while all threads stand: the longest kind" },
  concurrent: { title: "pause of a concurrent cycle", help: "a short stop of a collector that else runs beside the program" },
  operation: { title: "other operation", help: "thread dumps, deoptimization, class redefinition, heap walks …" },
};

export function kindOf(pause: JvmPause): Kind {
  return KINDS.find((k) => k === pause.kind) ?? "operation";
}

/** The pauses that begin in a window. */
export function within(run: JvmsOfRun, w: Stretch): JvmPause[] {
  return run.pauses.filter((p) => p.at >= w.from && p.at < w.to);
}

/** The length of a pause that stands for several is their mean. */
export function lengthOf(pause: JvmPause): number {
  return pause.time / Math.max(1, pause.together);
}

/** The length that a share of the pauses does not exceed; NaN without pauses. */
export function percentileOf(pauses: JvmPause[], q: number): number {
  const sorted = pauses.toSorted((a, b) => lengthOf(a) - lengthOf(b));
  const all = sorted.reduce((sum, p) => sum + p.together, 0);
  let left = q * all;
  for (const p of sorted) {
    left -= p.together;
    if (left <= 1e-9) return lengthOf(p);
  }
  return Number.NaN;
}

/** What pauses of one kind, operation and cause came to in a run. */
export interface Sum {
  count: number;
  time: number;
  longest: number;
  toStop: number;
}

/** One line of the table: the same kind and reason in all runs. */
export interface Line {
  kind: Kind;
  /** Of collections their cause, of others the operation; of pauses beside a concurrent collector that too. */
  reason: string;
  runs: (Sum | null)[];
}

/** Sums by kind and reason, those with most time first. */
export function linesOf(runs: JvmPause[][]): Line[] {
  const lines = new Map<string, Line>();
  runs.forEach((pauses, r) => {
    for (const p of pauses) {
      const [kind, reason] = [kindOf(p), p.cause ?? p.operation ?? ""];
      const key = JSON.stringify([kind, reason]);
      const line = lines.get(key) ?? { kind, reason, runs: runs.map(() => null) };
      lines.set(key, line);
      const sum = line.runs[r] ?? { count: 0, time: 0, longest: 0, toStop: 0 };
      line.runs[r] = { count: sum.count + p.together, time: sum.time + p.time, longest: Math.max(sum.longest, lengthOf(p)), toStop: sum.toStop + (p.to_stop ?? 0) };
    }
  });
  const time = (l: Line) => Math.max(...l.runs.map((s) => s?.time ?? 0));
  return [...lines.values()].toSorted((a, b) => time(b) - time(a));
}

/** Threads that run, on average: during pauses of 5 ms and more, and at other times of the window. `null` where that was not recorded. */
export function dips(run: JvmsOfRun, w: Stretch): { during: number; else: number; covered: number } | null {
  const { running, step } = run;
  if (running.length === 0 || step <= 0) return null;
  const covered = new Float64Array(running.length);
  for (const p of within(run, w)) {
    if (p.together > 1 || p.time < 0.005) continue;
    for (let i = Math.floor(p.at / step); i <= Math.floor((p.at + p.time) / step) && i < running.length; i++) {
      const part = Math.min(p.at + p.time, (i + 1) * step) - Math.max(p.at, i * step);
      covered[i] = Math.min(1, (covered[i] as number) + Math.max(0, part) / step);
    }
  }
  let [inside, insideTime, outside, outsideTime] = [0, 0, 0, 0];
  for (let i = Math.max(0, Math.ceil(w.from / step)); i < Math.min(running.length, Math.floor(w.to / step)); i++) {
    const c = covered[i] as number;
    // Only stretches that are wholly one or the other tell.
    if (c > 0.95) [inside, insideTime] = [inside + (running[i] as number), insideTime + 1];
    else if (c === 0) [outside, outsideTime] = [outside + (running[i] as number), outsideTime + 1];
  }
  if (insideTime === 0 || outsideTime === 0) return null;
  return { during: inside / insideTime, else: outside / outsideTime, covered: insideTime * step };
}

/** The code cache of a JVM in numbers; `null` where that is not known. */
export interface Code {
  used: number | null;
  /** The most that was in use, of what methods may have. */
  filled: number | null;
  hot: number | null;
  pages: number | null;
  hugePages: number | null;
  huge: number | null;
}

const sumOf = (values: (number | null)[]) => (values.some((x) => x !== null) ? values.reduce<number>((sum, x) => sum + (x ?? 0), 0) : null);

/** That of the JVM whose code was sampled most, or that has most. */
export function codeOf(heaps: JvmCodeHeap[]): Code | null {
  const byPid = new Map<number, JvmCodeHeap[]>();
  for (const h of heaps) byPid.set(h.pid, [...(byPid.get(h.pid) ?? []), h]);
  const weight = (all: JvmCodeHeap[]) => [sumOf(all.map((h) => h.samples)) ?? 0, sumOf(all.map((h) => h.used)) ?? 0] as const;
  const [first] = [...byPid.values()].toSorted((a, b) => weight(b)[0] - weight(a)[0] || weight(b)[1] - weight(a)[1]);
  if (!first) return null;
  // Stubs and the interpreter have a heap of their own, which does not grow.
  const ofMethods = first.filter((h) => h.heap !== "code non-nmethods");
  const [peak, most] = [sumOf(ofMethods.map((h) => h.peak ?? h.used)), sumOf(ofMethods.map((h) => h.most))];
  return {
    used: sumOf(first.map((h) => h.used)),
    filled: peak !== null && most !== null && most > 0 ? peak / most : null,
    hot: sumOf(first.map((h) => h.hot_bytes)),
    pages: sumOf(first.map((h) => h.hot_pages)),
    hugePages: sumOf(first.map((h) => h.hot_huge_pages)),
    huge: sumOf(first.map((h) => h.huge)),
  };
}

export type TierKind = "interpreted" | "c1" | "c2";

export const TIER_WORDS: Record<TierKind, { title: string; help: string }> = {
  interpreted: { title: "interpreted", help: "not compiled" },
  c1: { title: "compiled by C1", help: "compiled fast, and not optimised much; tiers 2 and 3 count what they do as well" },
  c2: { title: "compiled by C2", help: "optimised" },
};

export const kindOfTier = (tier: number): TierKind => (tier === 0 ? "interpreted" : tier < 4 ? "c1" : "c2");

/** How a method ran, in words. */
export function tierOf(method: JvmMethod): string {
  if (method.tier === 0) return "interpreted";
  const by = method.tier < 4 ? `C1, tier ${method.tier}` : "C2";
  return method.state === null || method.state === "in use" ? by : `${by}, ${method.state}`;
}

/** Shares of the CPU time of methods by how they ran; `null` without any. */
export function tierShares(methods: JvmMethod[]): Record<TierKind, number> | null {
  const all = methods.reduce((sum, m) => sum + m.time, 0);
  if (all <= 0) return null;
  const share = (kind: TierKind) => methods.reduce((sum, m) => sum + (kindOfTier(m.tier) === kind ? m.time : 0), 0) / all;
  return { interpreted: share("interpreted"), c1: share("c1"), c2: share("c2") };
}
