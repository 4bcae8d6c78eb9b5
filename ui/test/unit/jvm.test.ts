// Pauses of JVMs in a window.
import { describe, expect, it } from "vitest";
import type { JvmCodeHeap, JvmMethod, JvmPause, JvmsOfRun } from "../../src/bundle/types";
import { codeOf, dips, linesOf, percentileOf, tierOf, tierShares, within } from "../../src/model/jvm";

function pause(at: number, time: number, more: Partial<JvmPause> = {}): JvmPause {
  return { pid: 1, comm: "java", kind: "young", operation: null, cause: "Allocation Failure", at, time, to_stop: null, used_after: null, together: 1, ...more };
}

function run(pauses: JvmPause[], running: number[] = []): JvmsOfRun {
  return { running, step: 0.01, heap: [], pauses, left_out: 0, code: [], methods: [] };
}

describe("pauses of JVMs", () => {
  it("counts those that begin in the window", () => {
    const all = run([pause(0.5, 0.1), pause(1, 0.2), pause(2, 0.3)]);
    expect(within(all, { from: 0.6, to: 2 }).map((p) => p.at)).toEqual([1]);
  });

  it("takes several for as many of their mean length", () => {
    const pauses = [pause(0, 0.001), pause(1, 0.004), pause(2, 0.016, { together: 8 })];
    expect(percentileOf(pauses, 0.05)).toBe(0.001);
    expect(percentileOf(pauses, 0.5)).toBe(0.002);
    expect(percentileOf(pauses, 1)).toBe(0.004);
    expect(percentileOf([], 0.5)).toBeNaN();
  });

  it("adds up by kind and reason, those with most time first", () => {
    const operation = { kind: "operation", operation: "ThreadDump", cause: null, to_stop: 0.001 };
    const lines = linesOf([[pause(0, 0.1), pause(1, 0.2, { operation: "G1CollectForAllocation" })], [pause(0, 0.5, operation), pause(2, 0.1, operation)]]);
    expect(lines.map((l) => [l.kind, l.reason])).toEqual([["operation", "ThreadDump"], ["young", "Allocation Failure"]]);
    expect(lines[0]?.runs).toEqual([null, { count: 2, time: 0.6, longest: 0.5, toStop: 0.002 }]);
    expect(lines[1]?.runs[0]?.count).toBe(2);
  });

  it("says how many threads run in pauses and between them", () => {
    const running = Array.from({ length: 100 }, (_, i) => (i >= 40 && i < 50 ? 0.5 : 2));
    const found = dips(run([pause(0.4, 0.1)], running), { from: 0, to: 1 });
    expect(found?.during).toBeCloseTo(0.5);
    expect(found?.else).toBeCloseTo(2);
    expect(dips(run([pause(0.4, 0.1)]), { from: 0, to: 1 })).toBeNull();
  });
});

describe("code of JVMs", () => {
  const heap = (name: string, more: Partial<JvmCodeHeap>): JvmCodeHeap => ({ pid: 1, comm: "java", heap: name, most: 100, used: 10, peak: null, methods: null, samples: null, hot_bytes: null, hot_pages: null, hot_huge_pages: null, huge: null, ...more });
  const method = (tier: number, time: number, more: Partial<JvmMethod> = {}): JvmMethod => ({ method: "Main.work", tier, time, bytes: 100, bytecode: 10, compilations: 1, state: tier > 0 ? "in use" : null, why_not: null, ...more });

  it("is that of the busiest, of which methods have a part", () => {
    const heaps = [heap("code profiled", { peak: 90, samples: 5, hot_pages: 3 }), heap("code non-profiled", { used: 20, samples: 1, hot_pages: 2 }), heap("code non-nmethods", { used: 5 }), heap("code", { pid: 2, used: 99 })];
    expect(codeOf(heaps)).toEqual({ used: 35, filled: 110 / 200, hot: null, pages: 5, hugePages: null, huge: null });
    expect(codeOf([])).toBeNull();
  });

  it("is divided by how it ran", () => {
    expect(tierShares([method(0, 1), method(3, 1), method(1, 1), method(4, 1)])).toEqual({ interpreted: 0.25, c1: 0.5, c2: 0.25 });
    expect(tierShares([])).toBeNull();
    expect([method(0, 1), method(3, 1), method(4, 1, { state: "OSR" })].map(tierOf)).toEqual(["interpreted", "C1, tier 3", "C2, OSR"]);
  });
});
