// Synthetic hardware counters: the second waits for instructions; `none`: only the first has counters; `other`: the second is of another kind.
import type { CounterMetric, Counters, CountersOfRun, FunctionCyclesOfRun, FunctionsCycles, Run } from "../../src/bundle/types";

const METRICS: [name: string, unit: string, help: string, polarity: CounterMetric["polarity"], share: boolean, own: boolean, value: number, other: number][] = [
  ["ipc", "", "Instructions in a cycle. Other code can need more instructions for the same work: compare it only where the code is the same (per cycle).", "better", false, false, 1.92, 1.21],
  ["branch_mpki", "", "Branches predicted wrongly. Each costs 10 to 25 cycles (per 1,000 instructions).", "worse", false, false, 3.1, 3.14],
  ["itlb_walks_pki", "", "Page walks for code. Each costs 20 to 200 cycles (per 1,000 instructions).", "worse", false, false, 0.021, 1.33],
  ["frontend_bound", "ratio", "Share of the slots left empty because instructions did not come fast enough. Only comparable between CPUs of one kind.", "worse", true, true, 0.12, 0.41],
  ["code_sparsity_pki", "", "AWS calls it code sparsity (per 1,000 instructions). Only comparable between CPUs of one kind.", "worse", false, true, 0.2, 2.4],
];

const FUNCTIONS: [name: string, module: string, cycles: [number, number], instructions: [number, number]][] = [
  ["aggregate_rows", "counter", [3100, 3000], [2900, 900]],
  ["hash_join::probe<std::string, std::pmr::polymorphic_allocator<std::byte>, 16>(std::span<const row>)", "counter", [1400, 1500], [2100, 2200]],
  ["java.util.HashMap.getNode", "[jit]", [900, 400], [300, 190]],
  ["clear_page_erms", "[kernel]", [60, 420], [0, 22]],
  ["[libx.so]", "libx.so", [0, 40], [0, 31]],
];

/** Functions, each with as many samples as it has units; `none`: the second has no samples by instructions. */
function functionsOf(runs: Run[], bad: (text: string) => string, how: "both" | "none" | "other"): FunctionsCycles {
  const has = (run: number) => how !== "none" || run === 0;
  const all = [0, 1].map((run) => FUNCTIONS.reduce((sum, f) => sum + (f[2][run] as number), 0));
  const of = (f: (typeof FUNCTIONS)[number], run: number): FunctionCyclesOfRun | null => {
    const at = Math.min(run, 1), [c, i] = [f[2][at] as number, f[3][at] as number];
    if (!has(run) || c === 0) return null;
    const factor = (...counts: number[]) => Math.exp(1.96 * Math.sqrt(counts.reduce((sum, n) => sum + 1 / n, 0)));
    const around = (x: number, by: number): [number, number, number] => [x, x / by, x * by];
    const [c0, i0] = [f[2][0], f[3][0]];
    const change = run > 0 && i > 0 && i0 > 0 ? around(c / i / (c0 / i0), factor(c, i, c0, i0)).map((x) => x - 1) as [number, number, number] : null;
    return { share: c / (all[at] as number), cycle_samples: c, instruction_samples: i, cpi: i > 0 ? around(c / i, factor(c, i)) : null, change };
  };
  return {
    missing: runs.map((_, run) => (has(run) ? null : { why: bad("this machine has no PMU of its CPUs, or is shown none"), remedy: "an instance m7g.16xlarge, or metal" })),
    functions: FUNCTIONS.map((f, at) => ({ name: at === 0 ? bad(f[0]) : f[0], module: f[1], runs: runs.map((_, run) => of(f, run)) })),
    left_out: 214,
    query: "select run, comm, function, module, cycles, instructions, cpi, cpi_low, cpi_high\nfrom function_cycles",
  };
}

/** What a report of `runs` holds. */
export function countersOf(runs: Run[], bad: (text: string) => string, how: "both" | "none" | "other"): Uint8Array {
  const has = (run: number) => how !== "none" || run === 0;
  const metrics = METRICS.map(([name, unit, help, polarity, is_share, own, value, other]): CounterMetric => {
    const not_comparable = runs.length > 1 && own && how === "other" ? "not comparable: each maker counts it in another way" : null;
    return {
      name: name === "branch_mpki" ? bad(name) : name, unit, help: bad(help), polarity, is_share, floor: 0.02, not_comparable,
      values: runs.map((_, run) => {
        if (!has(run)) return null;
        const mean = run === 0 ? value : other;
        const d = mean - value;
        const change = run === 0 || not_comparable ? null : { difference: d, interval: [d - 0.03 * value, d + 0.03 * value] as [number, number], ratio: is_share ? null : [d / value, d / value - 0.03, d / value + 0.03] as [number, number, number], differs: Math.abs(d) > 0.05 * value };
        return { mean, group: "core", spark: Array.from({ length: 60 }, (_, i) => (i === 30 ? null : mean * (1 + 0.1 * Math.sin(i / 3)))), change };
      }),
    };
  });
  const of = (run: number): CountersOfRun => ({
    kind: how === "other" && run > 0 ? "zen4" : "neoverse-v2",
    missing: has(run) ? null : { why: bad("this machine has no PMU of its CPUs, or is shown none"), remedy: "an instance m7g.16xlarge, or metal" },
    topdown: has(run) ? { retiring: run === 0 ? 0.55 : 0.33, bad_speculation: 0.05, frontend_bound: run === 0 ? 0.12 : 0.41, backend_bound: run === 0 ? 0.28 : 0.21, fetch_latency: run === 0 ? 0.07 : 0.35, memory_bound: null } : null,
    groups: has(run) ? [
      { group: "core", share: 1, events: "cycles instructions ref_cycles cycles_kernel", absent: "" },
      { group: "fetch", share: run === 0 ? 0.5 : 0.33, events: bad("cycles instructions l1i_misses itlb_walks"), absent: run === 0 ? "" : "code_sparsity: opens, but does not count" },
    ] : [],
  });
  const counters: Counters = { runs: runs.map((_, run) => of(run)), alike: how !== "other", metrics, functions: how === "other" ? null : functionsOf(runs, bad, how) };
  return new TextEncoder().encode(JSON.stringify(counters));
}
