// Pauses of JVMs in a window.
import { describe, expect, it } from "vitest";
import type { JvmPause, JvmsOfRun } from "../../src/bundle/types";
import { dips, linesOf, percentileOf, within } from "../../src/model/jvm";

function pause(at: number, time: number, more: Partial<JvmPause> = {}): JvmPause {
  return { pid: 1, comm: "java", kind: "young", operation: null, cause: "Allocation Failure", at, time, to_stop: null, used_after: null, together: 1, ...more };
}

function run(pauses: JvmPause[], running: number[] = []): JvmsOfRun {
  return { running, step: 0.01, heap: [], pauses, left_out: 0 };
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
