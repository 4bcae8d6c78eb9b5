// Numbers, words, statistics and drawing data: what the page says must be what the data hold.
import { describe, expect, it } from "vitest";
import type { Level } from "../../src/bundle/block";
import type { Chart, Difference } from "../../src/bundle/types";
import { align, heatColumns, linesOf, pointsOf, rangeOf, stack, type Points } from "../../src/model/chart";
import { csv } from "../../src/model/csv";
import { edgesOf, lowerBound, nearest, statOf, valueAt } from "../../src/model/stats";
import { clock, columnScale, human, inScale, scaleFor, span, timeStep } from "../../src/model/units";
import { changeInWords, intervalInWords, judgement, once } from "../../src/model/words";

const level = (t: number[], v: number[], widths: number[] | null = null): Level => {
  const values = Float32Array.from(v);
  return { t: Float64Array.from(t), v: values, min: values, max: values, widths: widths ? Float64Array.from(widths) : null };
};

describe("units", () => {
  it.each([
    [0, "B", "0 B"],
    [1536, "B/s", "1.50 KiB/s"],
    [25769803776, "B", "24.0 GiB"],
    [0.00021, "s", "210 µs"],
    [0.0000000042, "s/op", "4.20 ns/op"],
    [0.11, "s/s", "110 ms/s"],
    [1.31, "s/s", "1.31 s/s"],
    [7200, "s", "2.00 h"],
    [0.1234, "ratio", "12.3 %"],
    [43, "%", "43.0 %"],
    [3.1e9, "Hz", "3.10 GHz"],
    [310, "1/s", "310/s"],
    [51_800, "1/s", "51.8 k/s"],
    [9730, "", "9,730"],
    [-2048, "B", "−2.00 KiB"],
    [0.25, "W", "250 mW"],
    [61.2, "°C", "61.2 °C"],
    [null, "B", "not measured"],
    [Number.NaN, "B", "not measured"],
  ])("says %s %s as %s", (value, unit, text) => {
    expect(human(value, unit)).toBe(text);
  });

  it("keeps one scale in a column, and never shows something as nothing", () => {
    const scale = columnScale("B/s", 5e6, false);
    expect(inScale(5e6, scale)).toBe("4.77");
    expect(inScale(100, scale)).toBe("<0.01");
    expect(inScale(0, scale)).toBe("0.00");
    expect(inScale(null, scale)).toBe("–");
    expect(columnScale("1/s", 1080, false, 3.2)).toEqual({ factor: 1, symbol: "/s", decimals: 1 });
    expect(columnScale("B", 5e9, false, 1).symbol).toBe("MiB");
    expect(columnScale("B", 5e10, false, 1).symbol).toBe("GiB");
    expect(scaleFor("1/s", 999.9).symbol).toBe("/s");
  });

  it("says times", () => {
    expect(clock(12.5, 0.1)).toBe("12.5 s");
    expect(clock(125)).toBe("2:05");
    expect(clock(3725)).toBe("1:02:05");
    expect(clock(1439.97, 0.1)).toBe("24:00.0");
    expect(clock(-5)).toBe("−5 s");
    expect(clock(65, 60)).toBe("1:05");
    expect(span(200)).toBe("3 min 20 s");
    expect(span(3840)).toBe("1 h 4 min");
    expect(timeStep(60, 7)).toBe(10);
    expect(timeStep(1e7, 5)).toBeGreaterThanOrEqual(2e6);
  });
});

describe("words", () => {
  const d = (change: number | null, low: number | null, high: number | null) => ({ change, low, high }) as Difference;
  it("says a change as people do", () => {
    expect(changeInWords(1.9)).toBe("2.9×");
    expect(changeInWords(0.18)).toBe("+18 %");
    expect(changeInWords(-0.063)).toBe("−6.3 %");
    expect(changeInWords(-0.63)).toBe("0.37× (−63 %)");
    expect(changeInWords(-0.999)).toBe("<0.01×");
    expect(changeInWords(-1)).toBe("gone");
    expect(changeInWords(null)).toBe("new");
    expect(changeInWords(11.57)).toBe("12.6×");
  });
  it("says how sure", () => {
    expect(intervalInWords(d(1.9, 1.7, 2.1))).toBe("95 % CI 2.70–3.10×");
    expect(intervalInWords(d(0.18, 0.12, 0.24))).toBe("95 % CI +12 to +24 %");
    expect(intervalInWords(d(-0.8, -0.85, -0.75))).toBe("95 % CI 0.15–0.25×");
    expect(intervalInWords(d(-0.02, -0.05, 0.01))).toBe("95 % CI −5.0 to +1.0 %");
    expect(intervalInWords(d(null, null, null))).toMatch(/baseline is 0/);
  });
  it("judges by what more means", () => {
    expect(judgement({ difference: 1, polarity: "worse" })).toBe("worse");
    expect(judgement({ difference: -1, polarity: "worse" })).toBe("better");
    expect(judgement({ difference: -1, polarity: "better" })).toBe("worse");
    expect(judgement({ difference: 1, polarity: "neutral" })).toBeNull();
  });
});

describe("statistics", () => {
  it("takes the mean of what was measured in the window, and nothing else", () => {
    const l = level([0.5, 1.5, 2.5, 3.5, 4.5], [9, 1, Number.NaN, 3, 9]);
    expect(statOf(l, 1, 4)).toEqual({ n: 2, mean: 2, min: 1, max: 3 });
    expect(statOf(l, 1.5, 3.5).n).toBe(2);
    expect(statOf(level([0, 60, 120], [1, 3, 9]), 25, 35)).toEqual({ n: 2, mean: 2, min: 1, max: 3 });
    const none = statOf(l, 2, 3);
    expect(none.n).toBe(0);
    expect(none.mean).toBeNaN();
    expect(statOf(level([], []), 0, 1).mean).toBeNaN();
  });
  it("weights late reads with the time they cover", () => {
    expect(statOf(level([0.5, 2.5], [1, 4], [1, 3]), 0, 9).mean).toBe((1 * 1 + 4 * 3) / 4);
  });
  it("weights by the time to the neighbours where intervals change in length", () => {
    // Five reads a second, then one: each second counts the same.
    const t = [0.1, 0.3, 0.5, 0.7, 0.9, 1.5, 2.5, 3.5];
    const values = [10, 10, 10, 10, 10, 0, 0, 0];
    expect(statOf(level(t, values, [0.2, 0.2, 0.2, 0.2, 0.2, 1, 1, 1]), 0, 4).mean).toBeCloseTo(2.5, 9);
    // Without widths the one interval where the pace changes is taken for longer than it was.
    expect(statOf(level(t, values), 0, 4).mean).toBeCloseTo(3, 9);
    const holed = edgesOf(level([1, 2, 3, 50, 51, 52], [1, 1, 1, 1, 1, 1]));
    expect([...holed.end].slice(2, 4)).toEqual([3.5, 50.5]);
    expect([...holed.begin].slice(2, 4)).toEqual([2.5, 49.5]);
    expect(valueAt(level([1, 2, 3, 50, 51, 52], [1, 1, 1, 1, 1, 1]), 20)).toBeNaN();
  });
  it("finds times", () => {
    const t = Float64Array.of(1, 2, 4);
    expect([lowerBound(t, 0), lowerBound(t, 2), lowerBound(t, 5)]).toEqual([0, 1, 3]);
    expect([nearest(t, 0), nearest(t, 2.9), nearest(t, 3.1), nearest(t, 9)]).toEqual([0, 1, 2, 2]);
    expect(nearest(Float64Array.of(), 1)).toBe(-1);
    expect(valueAt(level([1, 2], [10, 20]), 2.4)).toBe(20);
    expect(valueAt(level([1, 2], [10, 20]), 5)).toBeNaN();
  });
});

describe("charts", () => {
  const points = (x: number[], y: (number | null)[]): Points => ({ x, y, min: y, max: y, exact: true });
  it("turns what was not measured, and holes in time, into gaps", () => {
    const p = pointsOf(level([0.5, 1.5, 2.5, 3.5, 100, 101, 102, 103], [1, Number.NaN, 3, 4, 5, 6, 7, 8]), 0, 200, 0.5);
    expect(p.y.slice(0, 3)).toEqual([1, null, 3]);
    expect(p.x[0]).toBe(0);
    expect(p.y).toContain(null);
    const hole = pointsOf(level([...Array.from({ length: 50 }, (_, i) => i), 300], Array.from({ length: 51 }, () => 1)), 0, 400, 0);
    expect(hole.y[50]).toBeNull();
  });
  it("takes one point beyond each edge", () => {
    expect(pointsOf(level([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]), 2.5, 3.5, 0).x).toEqual([2, 3, 4]);
  });
  it("lays lines of different times on one axis without inventing points", () => {
    const { x, y } = align([points([1, 3], [10, null]), points([2, 3], [5, 6])]);
    expect(x).toEqual([1, 2, 3]);
    expect(y).toEqual([[10, undefined, null], [undefined, 5, 6]]);
  });
  it("stacks what was measured; the rest is a gap, not zero", () => {
    const s = stack([points([1, 2, 3], [1, null, 3]), points([1, 2, 3], [10, 20, null])]);
    expect(s.lower).toEqual([[0, null, 0], [1, 0, null]]);
    expect(s.upper).toEqual([[1, null, 3], [11, 20, null]]);
  });
  it("starts axes at zero, and says where not", () => {
    expect(rangeOf(1, 10, null, true)[0]).toBe(0);
    expect(rangeOf(90, 100, null, true)[0]).toBeGreaterThan(80);
    expect(rangeOf(90, 100, null, false)[0]).toBe(0);
    expect(rangeOf(0, 0.9, 1, false)[1]).toBe(1);
    expect(rangeOf(0, 0.01, 1, false)[1]).toBeLessThan(0.02);
    expect(rangeOf(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null, false)).toEqual([0, 1]);
  });
  it("averages heat map columns by the time they cover, leaving out what was not measured", () => {
    const cells = heatColumns(level([0.5, 1.5, 2.5, 3.5], [1, 3, Number.NaN, 5]), 0, 4, 2);
    expect([...cells]).toEqual([2, 5]);
    const wide = heatColumns(level([0.5, 1.5], [1, Number.NaN]), 0, 2, 4);
    expect([...wide]).toEqual([1, 1, Number.NaN, Number.NaN]);
    expect([...heatColumns(level([0.5, 1.5], [1, 1]), 10, 12, 2)]).toEqual([Number.NaN, Number.NaN]);
  });
  it("matches lines over runs by name and labels, rows in natural order", () => {
    const s = (run: number, cpu: string, data: number) => ({ run, name: `cpu ${cpu}`, title: `cpu ${cpu}`, labels: { cpu }, data });
    const lines = linesOf({ kind: "heat", series: [s(0, "10", 0), s(0, "2", 1), s(1, "2", 2)] } as unknown as Chart);
    expect(lines.map((l) => l.name)).toEqual(["cpu 2", "cpu 10"]);
    expect([...(lines[0]?.runs ?? [])]).toEqual([[0, 1], [1, 2]]);
    const same = linesOf({ kind: "line", series: [{ run: 0, name: "read", title: "read", labels: { device: "a" }, data: 0 }, { run: 0, name: "read", title: "read", labels: { device: "b" }, data: 1 }] } as unknown as Chart);
    expect(same.map((l) => l.name)).toEqual(["a", "b"]);
    const two = ["read", "write"].flatMap((name) => ["a", "b"].map((device, data) => ({ run: 0, name, title: name, labels: { kind: "disk", device }, data })));
    expect(linesOf({ kind: "line", series: two } as unknown as Chart).map((l) => l.name)).toEqual(["read · a", "read · b", "write · a", "write · b"]);
    const cpus = ["1", "0"].map((cpu, data) => ({ run: 0, name: "count", title: "count", labels: { cpu }, data }));
    expect(linesOf({ kind: "heat", series: cpus } as unknown as Chart).map((l) => l.name)).toEqual(["cpu 0", "cpu 1"]);
  });
});

describe("csv", () => {
  it("quotes, and makes formulas of foreign names inert", () => {
    expect(csv([["a,b", 'say "x"', 1.5, null, "=cmd()", "-1"]])).toBe('"a,b","say ""x""",1.5,,\'=cmd(),\'-1\r\n');
  });
});

describe("the list of differences", () => {
  it("has each metric of an entity once, as it comes first", () => {
    const d = (metric: string, per: Difference["per"], labels: Record<string, string> = {}) => ({ metric, per, labels, run: 1 }) as Difference;
    const all = [d("disks.writes", "operation"), d("disks.writes", "second"), d("disks.writes", "second", { device: "vda" }), d("cpu.busy", "second")];
    expect(once(all)).toEqual([all[0], all[2], all[3]]);
  });
});
