import { describe, expect, it } from "vitest";
import { machineOf } from "../bundle/machine";
import { intervalOf, judged, originOf, place, reach, timesOf } from "../../src/model/machine";
import type { MachineFigure, Run } from "../../src/bundle/types";

const runs = [{ name: "fast" }, { name: "slow" }] as Run[];
const figures = machineOf(runs, (text) => text).figures;
const by = (id: string) => figures.find((f) => f.id === id) as MachineFigure;

describe("figures of machines", () => {
  it("writes ratios and intervals", () => {
    expect([timesOf(1.6), timesOf(12.34), timesOf(0.5)]).toEqual(["1.60×", "12.3×", "0.50×"]);
    expect(intervalOf({ value: 1.6, low: 1.481, high: 1.733 })).toBe("1.48–1.73×");
  });
  it("judges by the interval and by which way is better", () => {
    expect(judged(by("memory.dram"), 1)).toBe("worse");
    expect([judged(by("frequency"), 1), judged(by("fsync"), 1), judged(by("call"), 0)]).toEqual([null, null, null]);
    const faster = { ...by("frequency"), ratios: [null, { value: 1.3, low: 1.2, high: 1.4 }] };
    expect(judged(faster, 1)).toBe("better");
  });
  it("places values on an axis of logarithms", () => {
    expect([place(1, 1, 4), place(4, 1, 4), place(0.25, 1, 4), place(100, 1, 4)]).toEqual([0.5, 1, 0, 1]);
    expect(place(Number.NaN, 1, 4)).toBe(0.5);
    expect(reach(figures)).toBeCloseTo(9.5 * 1.04, 6);
    expect(reach([])).toBe(4);
  });
  it("says where a difference comes from", () => {
    expect([originOf(by("clock")), originOf(by("memory.dram")), originOf(by("call"))]).toEqual(["set-up: clock.source", "the hardware", ""]);
  });
});
