// Synthetic experiments: two variants against a baseline, a ladder (climbed, and with its whole-ladder blocks), and sweeps.
import { gzipSync } from "node:zlib";
import { EXPERIMENT_FORMAT, type Change, type Experiment, type FlagEffect, type MeasureHead, type Pair, type Point, type Rung, type Trial, type Variant } from "../../src/bundle/generated";
import { HOSTILE } from "./samples";

/** Numbers that look random and are the same each time. */
function noise(seed: number): () => number {
  let x = seed;
  return () => {
    x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
    return x / 2 ** 32 - 0.5;
  };
}

const RATE: MeasureHead = { name: "throughput", unit: "operations/s", more_is_better: true, limit: null };
const CPU: MeasureHead = { name: "cpu", unit: "s", more_is_better: false, limit: null };
const RSS: MeasureHead = { name: "rss", unit: "B", more_is_better: false, limit: "<= 1 GiB" };

const variant = (name: string, at: number, median: number, more: Partial<Variant> = {}): Variant => ({
  name, set: at === 0 ? [] : [["lock", name]], command: `java -XX:+UseParallelGC -cp build Explorer --lock ${name} --threads 2`, trials: 10, failed: 0, medians: [median, 12.5 + at, 3.2e8], recording_costs: 1.031, ...more,
});

function pairs(blocks: number, base: number, factor: number, spread: number, seed: number): Pair[] {
  const next = noise(seed);
  return Array.from({ length: blocks }, (_, block) => {
    const against = base * (1 + 0.05 * next() + 0.002 * block);
    return { block, against, variant: against * factor * Math.exp(spread * next()) };
  });
}

const change = (of: number, factor: number, more: Partial<Change> = {}, spread = 0.04): Change => ({
  variant: of, against: 0, verdict: "better", factor, interval: [factor * (1 - spread), factor * (1 + spread)], level: 0.0164, by: "signed ranks", blocks: 11, needs: null,
  others: [[1.021, [1.002, 1.041]], [0.874, [0.861, 0.889]]], pairs: pairs(11, 14000, factor, spread, of), why: [], report: null, ...more,
});

/** Trials in blocks of all variants in turn, with what befalls a shared machine. */
function trials(variants: number, blocks: number, value: (variant: number) => number, stages = 1): Trial[] {
  const next = noise(99);
  const out: Trial[] = [];
  let at = 2;
  for (let stage = 0; stage < stages; stage++) {
    for (let block = 0; block < blocks; block++) {
      for (let k = 0; k < variants; k++) {
        const of = (k + block) % variants;
        const busy = block === 3;
        const seconds = 9 + 2 * next();
        out.push({
          number: out.length + 1, stage, block, variant: of, set: [], explained: block === blocks - 1, end: "measured", reason: null, at, seconds, values: [value(of) * (1 + 0.04 * next()), 12.5 + next(), 3.2e8],
          stolen: busy ? 0.11 : 0.008 + 0.006 * next(), others: busy ? 0.23 : 0.02 + 0.02 * next(), cpu: null, cpus_used: 1.9, output: null,
        });
        at += seconds + 0.6;
      }
    }
  }
  return out;
}

const spoil = (t: Trial | undefined, more: Partial<Trial>) => t && Object.assign(t, more);

function base(design: Experiment["design"], name: string): Omit<Experiment, "verdict" | "variants"> {
  return {
    format: EXPERIMENT_FORMAT, name, design, began: 1795623482, host: "bench-3, Linux 6.12.4, 2 CPUs (AMD EPYC 7B13)", command: "java {gc} -cp build Explorer --lock {lock} --threads 2",
    finished: true, measures: [RATE, CPU, RSS], effect: 0.03, together: false, blocks: 30, changes: [], rungs: [], sweep: null, search: null, factorial: null, optimum: null, trials: [],
    cautions: ["In block 4 the hypervisor gave 11 % of the CPU time to others; pairs in random order bear that, with wider intervals."],
    next: [{ says: "What limits `atomic` now is one lock. Try more stripes:", command: "twinscope tune explorer.toml --set lock=striped-4096" }, { says: "Or look at the whole report of both.", command: null }],
  };
}

/** Four variants against a baseline: better, the same, worse, not decided. */
export function abExperiment(): Experiment {
  const names = ["mutex", "atomic", "spin", "fair", "striped-16"];
  const factors = [1, 1.94, 1.004, 0.86, 1.021];
  const all = trials(5, 11, (v) => 14000 * (factors[v] ?? 1));
  spoil(all[13], { end: "failed", reason: "a wrong answer: states: 1048575, not 1048576", values: [null, null, null], output: "explored 1048575 states\nlock: lost update in shard 3\nexit 1" });
  spoil(all[17], { end: "void", reason: "the load generator was late", values: [null, null, null] });
  spoil(all[27], { end: "cut", reason: "the session was ended within its block", values: [null, null, null] });
  return {
    ...base("ab", "explorer locks"),
    verdict: "`atomic` does 1.94× the work of `mutex` (1.86 to 2.02; 11 blocks). 64 % of the gain: no more waiting for the lock taken in `Counter.next`.",
    variants: names.map((n, i) => variant(n, i, 14000 * (factors[i] ?? 1), i === 3 ? { failed: 1 } : {})),
    changes: [
      change(1, 1.94, { why: [{ cause: "lock-contention", says: "waiting for the lock taken in `Counter.next`", share: 0.64 }, { cause: "run-queue", says: "waiting for a CPU", share: 0.12 }] }),
      change(2, 1.004, { verdict: "same" }, 0.018),
      change(3, 0.86, { verdict: "worse", why: [{ cause: "handover", says: "handing the lock over by sleeping threads", share: 0.41 }] }, 0.05),
      change(4, 1.021, { verdict: "not_decided", needs: 44, others: [null, [1, [0.99, 1.01]]] }, 0.045),
    ],
    trials: all,
  };
}

const rung = (of: number, name: string, kept: boolean | null, more: Partial<Rung> = {}): Rung => ({ name, variant: of, why: null, kept, change: null, total: null, ...more });

/** A ladder of six steps; `whole`: with the blocks of the whole ladder. */
export function ladderExperiment(whole = true): Experiment {
  const names = ["start", "2 threads", "larger heap", "atomic counter", "1,024 stripes", "logging switched off", "queue by 32"];
  const steps = [1, 1.36, 1.08, 1.94, 2.62, 0.991, 1.22];
  const kept = [true, true, true, true, true, false, true];
  const totals: number[] = [];
  steps.reduce((level, f, i) => { totals[i] = level * f; return kept[i] ? level * f : level; }, 1);
  const before = (i: number) => { for (let k = i - 1; k > 0; k--) if (kept[k]) return k; return 0; };
  const why = (i: number) => (i === 3 ? [{ cause: "lock-contention", says: "waiting for the lock taken in `Counter.next`", share: 0.61 }] : []);
  const of = (i: number, spread: number) => change(i, steps[i] ?? 1, { against: before(i), verdict: kept[i] ? "better" : "same", why: why(i), others: [[0.98, [0.96, 1]], null] }, spread);
  return {
    ...base("ladder", "explorer ladder"),
    finished: whole,
    verdict: whole ? "Five of six steps were kept; together they do 9.1× the work of `start` (8.6 to 9.6; 12 blocks)." : "Five of six steps were kept while climbing; the whole ladder has not been run.",
    variants: names.map((n, i) => variant(n, i, 14000 * (totals[i] ?? 1))),
    changes: names.slice(1).map((_, i) => of(i + 1, 0.06)),
    rungs: names.slice(1).map((n, i) => rung(i + 1, n, kept[i + 1] ?? null, {
      why: i === 2 ? "`explain` says that the counter's lock is what threads wait for" : null,
      ...(whole ? { change: of(i + 1, 0.03), total: kept[i + 1] ? change(i + 1, totals[i + 1] ?? 1, { blocks: 12 }, 0.05) : null } : {}),
    })),
    trials: trials(7, 6, (v) => 14000 * (totals[v] ?? 1), 2),
  };
}

const STATES: [string, (n: number) => number][] = [["on-cpu", () => 6e-5], ["lock", (n) => 1.2e-6 * n * n], ["runnable", (n) => 2e-6 * n], ["sleep", () => 4e-6]];

/** A sweep over threads with a law; `fits`: whether it holds. */
export function sweepExperiment(fits = true): Experiment {
  const ns = [1, 2, 4, 8, 16, 32, 64];
  const [lambda, sigma, kappa] = [15200, 0.031, 0.0011];
  const law = (n: number) => (lambda * n) / (1 + sigma * (n - 1) + kappa * n * (n - 1));
  const next = noise(5);
  const residual = ns.map((_, i) => (fits ? 1 + 0.03 * next() : i === 4 ? 1.3 : 0.92));
  const means = ns.map((n, i) => law(n) * (residual[i] ?? 1));
  const best = means.indexOf(Math.max(...means));
  const points = ns.map((n, i): Point => {
    const mean = means[i] as number;
    return {
      variant: i, values: [String(n)], mean, interval: [mean * 0.965, mean * 1.035], of_best: i === best ? null : [mean / (means[best] as number), [(mean / (means[best] as number)) * 0.97, (mean / (means[best] as number)) * 1.03]],
      is_best: i === best, may_be_best: i === best || Math.abs(mean / (means[best] as number) - 1) < 0.08, ledger: STATES.map(([s, f]) => [s, f(n)]),
    };
  });
  return {
    ...base("sweep", "explorer threads"),
    verdict: fits ? "Most work is done with 32 threads: 148,000 operations/s. Up to 8 threads it scales well; what grows is waiting for locks." : "Most work is done with 16 threads. No scaling law holds.",
    variants: ns.map((n, i) => variant(`threads=${n}`, i + 1, means[i] as number, { set: [["threads", String(n)]] })),
    sweep: {
      parameters: ["threads"], points,
      law: {
        name: "Universal Scalability Law", does_not_fit: !fits, lambda: { estimate: lambda, low: 14800, high: 15700 }, sigma: { estimate: sigma, low: 0.026, high: 0.037 }, kappa: { estimate: kappa, low: 0.0009, high: 0.0013 },
        peak: { estimate: 29.7, low: 26, high: 35 }, peak_says: "throughput is highest at 29.7 threads", points: ns.map((n, i) => [n, law(n), residual[i] as number]), grows: "lock",
      },
    },
    trials: trials(7, 8, (v) => means[v] as number),
  };
}

/** A sweep of two parameters, one of names. */
export function gridExperiment(): Experiment {
  const [threads, locks] = [["1", "2", "4", "8"], ["mutex", "atomic", "striped"]];
  const points = locks.flatMap((l, k) => threads.map((t, i): Point => {
    const mean = 14000 * Number(t) ** (0.3 + 0.3 * k);
    const best = k === 2 && i === 3;
    return { variant: k * threads.length + i, values: [t, l], mean: k === 0 && i === 0 ? null : mean, interval: null, of_best: best ? null : [0.5, [0.4, 0.6]], is_best: best, may_be_best: best || (k === 2 && i === 2), ledger: [] };
  }));
  return {
    ...base("sweep", "threads by lock"), verdict: "Most work is done with 8 threads and `striped`.", cautions: [], next: [],
    variants: points.map((p, i) => variant(p.values.join(" "), i, p.mean ?? 0)), sweep: { parameters: ["threads", "lock"], points, law: null }, trials: trials(12, 3, (v) => points[v]?.mean ?? 1),
  };
}

/** Six flags in 16 runs: some do something, pairs share contrasts. */
export function factorialExperiment(): Experiment {
  const names = ["arenas", "gc", "inline", "log", "pool", "thp"];
  const next = noise(17);
  const effect = (of: number[][], factor: number, p: number): FlagEffect => ({
    of, name: of.map((x) => x.map((i) => names[i]).join(" × ")).join(" or "), factor, interval: [factor * 0.987, factor * 1.013], p, told: p <= 0.05, blocks: Array.from({ length: 8 }, () => factor * (1 + 0.03 * next())),
  });
  const on = (run: number): number[] => {
    const [a, b, c, d] = [run & 1, (run >> 1) & 1, (run >> 2) & 1, (run >> 3) & 1] as const;
    return [a, b, c, d, a ^ b ^ c, b ^ c ^ d].flatMap((x, i) => (x ? [i] : []));
  };
  const called = (flags: number[]) => flags.map((i) => names[i]).join(" + ") || "all off";
  const set = (flags: number[]): [string, string][] => names.map((n, i) => [n, flags.includes(i) ? "yes" : "no"]);
  const value = (run: number) => 14000 * (on(run).includes(1) ? 1.42 : 1) * (on(run).includes(3) ? 0.91 : 1);
  return {
    ...base("factorial", "explorer flags"), blocks: 8,
    verdict: "`gc=yes` does 1.42× the work of `gc=no` (1.40 to 1.44); `log=yes` does 0.91× the work of `log=no` (0.90 to 0.92). Throughput is highest by the effects with `gc`: 1.42× (1.40 to 1.44) of all off.",
    variants: Array.from({ length: 16 }, (_, run) => variant(called(on(run)), run, value(run), { set: set(on(run)) })),
    factorial: {
      flags: names.map((name) => ({ name, off: "no", on: "yes" })), resolution: "IV", blocks: 8,
      aliased: "16 of 64 combinations are run (resolution IV): pool is on where an odd number of arenas, gc, inline is. Flags are told from pairs, but these pairs not from each other: arenas × gc or inline × pool.",
      effects: [
        effect([[1]], 1.42, 2e-9), effect([[3]], 0.91, 1e-6), effect([[0, 1], [2, 4]], 1.062, 0.041), effect([[2]], 1.011, 0.62), effect([[0]], 0.994, 1), effect([[4]], 1.003, 1), effect([[5]], 0.999, 1),
        effect([[0, 2], [1, 4]], 1.002, 1),
      ],
      predicted: { name: "gc", set: set([1]), variant: null, factor: 1.42, interval: [1.4, 1.44] },
      measured: { name: called(on(6)), set: set(on(6)), variant: 6, factor: 1.45, interval: [1.41, 1.49] },
    },
    trials: trials(16, 8, value),
  };
}

/** A search of 52 trials and seven blocks; of two measures with their front. */
export function optimiseExperiment(objectives = 1): Experiment {
  const next = noise(23);
  const heaps = ["256", "512", "1024", "2048", "4096"];
  const gcs = ["-XX:+UseG1GC", "-XX:+UseParallelGC"];
  const set = (heap: number, gc: number, threads: number): [string, string][] => [["gc", gcs[gc] ?? ""], ["heap", heaps[heap] ?? ""], ["threads", String(threads)]];
  const search = Array.from({ length: 52 }, (_, i): Trial => {
    const of = i === 0 ? [1, 0, 4] : [Math.floor(2.5 + 2.4 * next() * 2 * (1 - i / 70)), i % 3 === 0 ? 0 : 1, 2 ** Math.floor(3 + 6 * next() * (1 - i / 70))];
    const rate = 14000 * (1 + 0.012 * i) * Math.exp(0.14 * next());
    const failed = i === 9 || i === 30;
    return {
      number: i + 1, stage: 0, block: i, variant: i === 0 ? 0 : 1, set: i === 0 ? [] : set(Math.min(4, Math.max(0, of[0] as number)), of[1] as number, Math.max(1, of[2] as number)), explained: false,
      end: failed ? "failed" : "measured", reason: failed ? "exit code 1" : null, at: 10 * i, seconds: 9, values: failed ? [] : [rate, 12 + (rate / 14000) ** 2 * 3 + 4 * next(), 3.2e8], stolen: 0.01, others: 0.02, cpu: null, cpus_used: 0.8, output: null,
    };
  });
  const factors = [1, 1, 1.46, 1.41, 1.38];
  const confirm = trials(5, 7, (v) => 14000 * (factors[v] ?? 1)).filter((t) => t.variant !== 1)
    .map((t, i) => ({ ...t, stage: 1, number: 53 + i, at: 520 + 10 * i, explained: false, set: t.variant === 0 ? [] : set(3, 1, 8 * t.variant) }));
  const sets = [set(1, 0, 4), [], set(3, 1, 16), set(3, 1, 24), set(3, 1, 32)];
  const at = [50, 44, 12];
  return {
    ...base("optimise", "service"), blocks: 7, cautions: [], next: [],
    verdict: "`best 1` does 1.46× the work of `default` (1.40 to 1.52; 7 blocks). While searching it looked like 1.58×. It sets gc=-XX:+UseParallelGC heap=2048 threads=16.",
    variants: ["default", "search", "best 1", "best 2", "best 3"].map((n, i) => variant(n, i, 14000 * (factors[i] ?? 1), { set: sets[i] ?? [] })),
    changes: [2, 3, 4].map((v) => change(v, factors[v] ?? 1, { level: 0.0167, blocks: 7, pairs: pairs(7, 14000, factors[v] ?? 1, 0.04, v) })),
    optimum: {
      parameters: ["gc", "heap", "threads"], searched: 52, search: 52, blocks: 7, asked: objectives === 2 ? "python3 ask.py" : null, take: 2, seen: 1.58, objectives,
      front: objectives === 2 ? at.map((i, k) => ({ set: search[i]?.set.map((x) => x[1]) ?? [], values: (search[i]?.values ?? []).slice(0, 2) as number[], trials: [i + 1], variant: k < 2 ? 2 + k : null })) : [],
    },
    trials: [...search, ...confirm],
  };
}

/** A search of two variants, and of a third that takes no rate; `found`: with trials around the limit. */
export function searchExperiment(found = true): Experiment {
  const capacities = [5200, 8900];
  const rates = [500, 1000, 2000, 4000, 8000, 5600, 4700, 4300, 4500, 4700, 4500, 4640, 4500, 4370];
  const next = noise(7);
  const out: Trial[] = [];
  const tried = capacities.map((c, v) => rates.slice(0, found ? rates.length : 3).map((r, i) => {
    const rate = v === 0 ? r : Math.round(r * 1.7);
    const used = rate / c;
    const failed = v === 1 && i === 4;
    const value = failed ? null : (used < 0.99 ? 0.0003 / (1 - used) : 0.09) * (1 + 0.1 * next());
    const broke = failed ? "trials failed" : (value ?? 0) <= 0.0015 ? null : "mean <= 1.5ms";
    const t: Trial = { ...(trials(1, 1, () => 1)[0] as Trial), number: out.length + 1, block: i, variant: v, set: [["rate", `${rate}`]], explained: false, at: out.length * 9, values: [value, value && value * 4, rate], end: failed ? "failed" : "measured", reason: failed ? "exit code 1" : null };
    out.push(t);
    return { trial: t.number, rate, value, broke, around: i > 8 };
  }));
  const curve = (c: number): [number, number][] => Array.from({ length: 40 }, (_, i): [number, number] => { const r = 500 * (c * 0.98 / 500) ** (i / 39); return [r, 0.0003 / (1 - r / c)]; });
  const rate = (v: number, at: number) => ({
    variant: v, rate: found ? at : null, interval: found ? ([at * 0.96, at * 1.05] as [number, number]) : null, around: found ? 5 : 0, says: null, limited_by: found ? "mean <= 1.5ms" : null, curve: found ? curve(capacities[v] ?? 1) : [], tried: tried[v] ?? [],
  });
  const measures: MeasureHead[] = [{ name: "mean", unit: "s", more_is_better: false, limit: "<= 1.5ms" }, { name: "p99", unit: "s", more_is_better: false, limit: null }, { name: "rate", unit: "/s", more_is_better: true, limit: null }];
  return {
    ...base("search", "orders"), measures, finished: found, command: "twinscope load --rate {rate} --connections 8 http://127.0.0.1:8080/orders",
    verdict: "`heap=256m` takes 7.1 k/s (6.8 k/s to 7.5 k/s; 5 trials) within its limits: mean <= 1.5ms, 99 % of the asked rate done.",
    variants: ["heap=24m", "heap=256m", "nodelay=false"].map((n, i) => variant(n, i, 0, { medians: [0.00148, 0.0061, 4500], recording_costs: null })),
    changes: [
      change(1, 1.71, { pairs: found ? pairs(8, 4160, 1.71, 0.05, 3) : [], others: [null, null], why: [{ cause: "jvm-gc", says: "garbage collections took 31 % of the CPU time", share: 0.61 }] }),
      change(2, 1, { factor: null, interval: null, level: null, verdict: "worse", blocks: 0, pairs: [], others: [null, null] }),
    ],
    search: {
      parameter: "rate", limits: ["mean <= 1.5ms", "99 % of the asked rate done"], measure: 0, limit: 0.0015,
      rates: [rate(0, 4160), rate(1, 7120), { ...rate(1, 0), variant: 2, rate: null, interval: null, around: 0, says: "does not meet the limits even at 3.1 /s", curve: [], tried: [] }],
    },
    trials: out,
  };
}

/** Names that want to be markup, everywhere. */
export function hostileExperiment(): Experiment {
  const e = abExperiment();
  const bad = (text: string) => `${text}${HOSTILE}`;
  return {
    ...e, name: bad("name"), host: bad("host"), command: bad("command"), verdict: bad("verdict"), cautions: [bad("caution")], next: [{ says: bad("says"), command: bad("run") }],
    measures: e.measures.map((m) => ({ ...m, name: bad(m.name) })),
    variants: e.variants.map((v) => ({ ...v, name: bad(v.name), command: bad(v.command), set: [[bad("p"), bad("v")]] })),
    changes: e.changes.map((c) => ({ ...c, why: c.why.map((w) => ({ ...w, says: bad(w.says) })) })),
    trials: e.trials.map((t) => ({ ...t, ...(t.reason === null ? {} : { reason: bad(t.reason) }), ...(t.output === null ? {} : { output: bad(t.output) }) })),
  };
}

/** Before the first trial: nothing is known. */
export function emptyExperiment(): Experiment {
  return {
    ...base("ab", "not begun"), began: null, finished: false, verdict: "Nothing was measured yet.", cautions: [], next: [],
    variants: ["old", "new"].map((n, i) => variant(n, i, 0, { trials: 0, medians: [null, null, null], recording_costs: null })),
    changes: [change(1, 1, { factor: null, interval: null, level: null, verdict: "open", blocks: 0, pairs: [], others: [null, null] })],
  };
}

export const EXPERIMENTS: Record<string, () => Experiment> = {
  ab: abExperiment, ladder: ladderExperiment, climbing: () => ladderExperiment(false), sweep: sweepExperiment, unfit: () => sweepExperiment(false), grid: gridExperiment, search: searchExperiment, searching: () => searchExperiment(false), factorial: factorialExperiment, optimise: optimiseExperiment, front: () => optimiseExperiment(2), hostile: hostileExperiment, empty: emptyExperiment,
};

/** The html file: the template with the data at its marker. */
export function assembleExperiment(template: string, data: object): string {
  const parts = template.split("<!--TWINSCOPE-DATA-->");
  if (parts.length !== 2) throw new Error("the template has no single marker <!--TWINSCOPE-DATA-->");
  return parts.join(`<script type="text/plain" id="twinscope-experiment">${gzipSync(JSON.stringify(data)).toString("base64")}</script>`);
}
