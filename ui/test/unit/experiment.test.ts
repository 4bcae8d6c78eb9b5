// Experiments: what is read, how it is said, and where it is drawn.
import { describe, expect, it } from "vitest";
import { amount, amountRange, amounts, axisOf, labelled, place, ticks } from "../../src/model/axis";
import { changeInLine, factorInWords, levelInWords, momentInWords, pairedOf, placed, rangeInWords, readExperiment, stepsOf, trialInWords, verdictInWords } from "../../src/model/experiment";
import { curveOf, gridOf, kneeOf, lawAt, parameterAxis, statesOf } from "../../src/model/sweep";
import { abExperiment, EXPERIMENTS, factorialExperiment, gridExperiment, ladderExperiment, sweepExperiment } from "../bundle/experiment";
import { effectInLine, probabilityInWords } from "../../src/view/experiment/FactorialView";
import type { Change, Law, Trial } from "../../src/bundle/generated";

describe("reading", () => {
  it("takes what is whole", () => {
    for (const make of Object.values(EXPERIMENTS)) expect(readExperiment(JSON.parse(JSON.stringify(make()))).name).not.toBe("");
  });
  it("names both formats of another version", () => {
    expect(() => readExperiment({ ...abExperiment(), format: 7 })).toThrow(/has format 7; this page draws format 1/);
    expect(() => readExperiment(null)).toThrow(/format null/);
    expect(() => readExperiment("no")).toThrow(/format null/);
  });
  it("refuses what is damaged", () => {
    const e = abExperiment();
    expect(() => readExperiment({ ...e, trials: undefined })).toThrow(/damaged/);
    expect(() => readExperiment({ ...e, changes: [{ ...(e.changes[0] as Change), variant: 9 }] })).toThrow(/damaged/);
    expect(() => readExperiment({ ...e, trials: [{ ...(e.trials[0] as Trial), variant: -1 }] })).toThrow(/damaged/);
  });
});

describe("a factorial", () => {
  it("says effects in a line", () => {
    const effects = factorialExperiment().factorial?.effects ?? [];
    expect(effects.slice(0, 3).map(effectInLine)).toEqual([
      "gc · 1.42× (95 % CI 1.40 to 1.44) · told from nothing",
      "log · 0.910× (95 % CI 0.898 to 0.922) · told from nothing",
      "arenas × gc or inline × pool · 1.062× (95 % CI 1.048 to 1.076) · told from nothing",
    ]);
    expect([2e-9, 0.0412, 0.62, null].map(probabilityInWords)).toEqual(["< 0.0001", "0.0412", "0.62", "–"]);
  });
});

describe("words", () => {
  it("says factors with as many digits as tell them from 1", () => {
    expect([1.94, 1.0123, 0.86, 12.34, 340, 0.052, null].map(factorInWords)).toEqual(["1.94×", "1.012×", "0.86×", "12.3×", "340×", "0.052×", "–"]);
    expect(rangeInWords([1.88, 2.01], 1.94)).toBe("1.88 to 2.01");
    expect(rangeInWords([0.991, 1.017], 1.004)).toBe("0.991 to 1.017");
    expect(rangeInWords(null, 1)).toBe("");
    expect([0.0164, 0.05, 0.0005].map(levelInWords)).toEqual(["98.4 % CI", "95 % CI", "99.95 % CI"]);
  });
  it("says how comparisons ended", () => {
    const e = abExperiment();
    expect(e.changes.map((c) => verdictInWords(c, e.effect))).toEqual(["better", "the same (within ±3 %)", "worse", "not decided; about 44 blocks would probably decide it"]);
    expect(changeInLine(e.changes[0] as Change)).toBe("1.94× (98.4 % CI 1.86 to 2.02)");
    expect(changeInLine({ ...(e.changes[0] as Change), interval: null })).toBe("1.94× (without an interval)");
  });
  it("says a trial in a line", () => {
    const e = abExperiment();
    expect(trialInWords(e, e.trials[13] as Trial)).toMatch(/^trial 14 · mutex · block 3 · failed · took \d.* s · stolen .* %.*a wrong answer/);
  });
  it("gives prefixes to units that it does not know", () => {
    expect([630123, 14023511].map((v) => amount(v, "operations/s"))).toEqual(["630,123 operations/s", "14.0 M operations/s"]);
    expect(amount(0.0125, "s")).toBe("12.5 ms");
    expect(amountRange([14553, 15608], "operations/s")).toBe("14,553 to 15,608 operations/s");
    expect(amountRange([0.9, 1.2], "s")).toBe("900 ms to 1.20 s");
    expect(amountRange([3, 5], "")).toBe("3 to 5");
    expect(amounts([14000, 90972.4], "operations/s")).toEqual({ texts: ["14,000", "90,972"], symbol: "operations/s" });
    expect(amounts([0.9, 1.2], "s")).toEqual({ texts: ["900 ms", "1.20 s"], symbol: "" });
    expect(labelled([0, 5e5, 1e6, 1.5e6], "operations/s")).toEqual({ labels: ["0", "0.5", "1", "1.5"], symbol: "M operations/s" });
    expect(labelled([0, 0.05, 0.1], "s")).toEqual({ labels: ["0", "50", "100"], symbol: "ms" });
  });
  it("says moments in UTC", () => {
    expect(momentInWords(0)).toBe("1970-01-01 00:00 UTC");
    expect(momentInWords(1e30)).toMatch(/not known/);
  });
});

describe("axes", () => {
  it("has round ticks within", () => {
    expect(ticks({ low: 0.9, high: 10, log: true }, 7)).toEqual([1, 2, 3, 5, 10]);
    expect(ticks({ low: 0.95, high: 1.06, log: true }, 6)).toEqual([0.96, 0.98, 1, 1.02, 1.04, 1.06]);
    expect(ticks({ low: 0, high: 150000, log: false }, 6)).toEqual([0, 50000, 100000, 150000]);
    expect(ticks(axisOf([0, 3 * 1024 ** 3], { zero: true }), 4, "B").map((v) => v / 1024 ** 3)).toEqual([0, 1, 2, 3]);
    expect(ticks({ low: 1e-9, high: 1e9, log: true }, 7).length).toBeLessThanOrEqual(7);
  });
  it("has room for what is all the same, or nothing", () => {
    for (const values of [[], [null], [5, 5], [0], [-2, -2]]) {
      const a = axisOf(values);
      expect(a.high).toBeGreaterThan(a.low);
      expect(place(a, Number.NaN)).toBe(0);
    }
    expect(axisOf([3, 9], { zero: true }).low).toBe(0);
  });
});

describe("a ladder", () => {
  it("stands on what was kept", () => {
    const s = stepsOf(ladderExperiment());
    expect(s.map((x) => x.climbing)).toEqual([false, false, false, false, false, false]);
    expect(s.map((x) => Number(x.at?.toFixed(2)))).toEqual([1.36, 1.47, 2.85, 7.47, 7.4, 9.11]);
    // The step that was not kept moves nothing.
    expect(s[5]?.from).toBe(s[3]?.at);
  });
  it("shows the climb until the whole ladder has been run", () => {
    const s = stepsOf(ladderExperiment(false));
    expect(s.every((x) => x.climbing)).toBe(true);
    expect(s[3]?.at).toBeCloseTo(1.36 * 1.08 * 1.94 * 2.62);
    expect(s[1]?.interval?.[1]).toBeCloseTo(1.36 * 1.08 * 1.06);
  });
  it("names its comparisons, those to quote first", () => {
    expect(pairedOf(ladderExperiment()).map((p) => p.id)).toEqual([
      ...[1, 2, 3, 4, 5, 6].map((i) => `step-${i}`), ...[1, 2, 3, 4, 6].map((i) => `total-${i}`), ...[1, 2, 3, 4, 5, 6].map((i) => `climb-${i}`),
    ]);
    expect(pairedOf(sweepExperiment())).toEqual([]);
  });
});

describe("a sweep", () => {
  it("tells geometric values, even ones and names apart", () => {
    expect(parameterAxis(["8", "1", "2", "4"])).toMatchObject({ kind: "log", values: ["1", "2", "4", "8"] });
    expect(parameterAxis(["10", "20", "30", "40"]).kind).toBe("linear");
    expect(parameterAxis(["0", "1", "10"]).kind).toBe("linear");
    expect(parameterAxis(["parallel", "g1"])).toEqual({ kind: "names", values: ["parallel", "g1"], at: [0.25, 0.75], axis: null });
    expect(parameterAxis(["1", "", "3"]).kind).toBe("names");
  });
  const of = () => sweepExperiment().sweep?.law as Law;
  it("draws the law by its own numbers", () => {
    const { line, perfect } = curveOf(of(), { name: "x", unit: "/s", more_is_better: true, limit: null }, new Map([[1, 15200], [2, 29400]]));
    expect(line.length).toBe(81);
    expect(line[80]?.[1]).toBeCloseTo(lawAt(of(), 64));
    expect(perfect?.[80]).toEqual([64, 15200 * 64]);
  });
  it("turns a law of throughput round where a time was measured", () => {
    const { line, perfect } = curveOf(of(), { name: "wall", unit: "s", more_is_better: false, limit: null }, new Map([[1, 1 / 15200], [64, 1 / lawAt(of(), 64)]]));
    expect(line[0]?.[1]).toBeCloseTo(1 / 15200, 9);
    expect(perfect).toBeNull();
    // Neither the measure nor its reciprocal: not drawn.
    expect(curveOf(of(), { name: "wall", unit: "s", more_is_better: false, limit: null }, new Map([[1, 40], [64, 9]])).line).toEqual([]);
  });
  it("finds the knee where perfect scaling meets the highest throughput", () => {
    expect(kneeOf(of())).toBeCloseTo(lawAt(of(), Math.sqrt((1 - 0.031) / 0.0011)) / 15200);
    expect(kneeOf({ ...of(), kappa: null, sigma: { estimate: 0.1, low: 0, high: 0 } })).toBe(10);
    expect(kneeOf({ ...of(), kappa: null, sigma: { estimate: 0.001, low: 0, high: 0 } })).toBeNull();
    expect(kneeOf({ ...of(), does_not_fit: true })).toBeNull();
  });
  it("lays two parameters out as a grid", () => {
    const g = gridOf(gridExperiment().sweep as NonNullable<ReturnType<typeof gridExperiment>["sweep"]>);
    expect([g.columns, g.rows]).toEqual([["1", "2", "4", "8"], ["mutex", "atomic", "striped"]]);
    expect(g.cells[2]?.[3]?.is_best).toBe(true);
  });
  it("lists states by their time", () => {
    expect(statesOf(sweepExperiment().sweep?.points ?? [])).toEqual(["lock", "on-cpu", "runnable", "sleep"]);
  });
});

describe("the strip of trials", () => {
  const trial = (at: number | null, seconds: number | null) => ({ at, seconds }) as Trial;
  it("is over time", () => {
    expect(placed([trial(0, 5), trial(6, 4)])).toEqual({ timed: true, end: 10, at: [{ from: 0, to: 5 }, { from: 6, to: 10 }] });
    // One that has not ended reaches to the end.
    expect(placed([trial(0, 5), trial(5, null), trial(9, 1)]).at[1]).toEqual({ from: 5, to: 9 });
  });
  it("is by order where times are not known, or most of the time is a gap", () => {
    expect(placed([trial(0, 5), trial(null, 4)])).toMatchObject({ timed: false, end: 2 });
    expect(placed([trial(0, 5), trial(86400, 5)]).timed).toBe(false);
    expect(placed([])).toEqual({ timed: false, end: 1, at: [] });
  });
});
