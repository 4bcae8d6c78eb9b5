// What the page of requests computes: rates, percentiles and heat maps of any window, and which followed requests are the slowest.
import { describe, expect, it } from "vitest";
import { Columns } from "../../src/bundle/columns";
import type { Run } from "../../src/bundle/types";
import {
  bandPlace, bandsOf, bandStart, columnAt, countsOf, curveOf, type Followed, followedOf, heatOf, meanOf, nines, percentile, ratesOf, sumsOf, totalOf, usualAndSlowest,
} from "../../src/model/requests";
import { finer, inScale, scaleFor } from "../../src/model/units";
import { BURST, RATE, rangeOf, requestsOf } from "../bundle/requests";

const RUNS = [0, 1].map(() => ({ duration: 60 }) as Run);
const { spec, bytes } = requestsOf(RUNS, (name) => name);
const columns = new Columns(bytes);
const both = (from: number, to: number) => RUNS.map(() => ({ from, to }));

describe("services", () => {
  it("are counted over the window, cut intervals by their part", () => {
    const [server, , cache] = sumsOf(columns, spec, both(10, 20.5));
    expect(server?.[1]?.turns).toBeCloseTo(RATE * 10.5, 6);
    expect((server?.[1]?.queueTime ?? 0) / (server?.[1]?.queued ?? 1)).toBeCloseTo(80e-6, 9);
    expect(server?.[0]?.opened).toBeCloseTo((RATE / 50) * 10.5, 6);
    expect(cache?.[1]).toBeNull();
  });
});

describe("percentiles", () => {
  const of = (from: number, to: number, run: number) => countsOf(columns, spec, both(from, to), "service")[0]?.[run] as Float64Array;
  it("are those of the window", () => {
    const calm = of(0, 20, 1);
    const burst = of(BURST.from, BURST.to, 1);
    expect(totalOf(calm)).toBeCloseTo(RATE * 20, 6);
    expect(percentile(calm, spec.ranges, 0.5)).toBeGreaterThan(0.0006);
    expect(percentile(calm, spec.ranges, 0.5)).toBeLessThan(0.0013);
    expect(percentile(burst, spec.ranges, 0.1)).toBeGreaterThan(0.1);
    expect(percentile(burst, spec.ranges, 1)).toBeCloseTo(spec.ranges[rangeOf(0.21)]?.[1] as number, 9);
    // Of 4 s, 1 s is in the burst: a quarter of the requests.
    expect(percentile(of(BURST.from - 3, BURST.from + 1, 1), spec.ranges, 0.76)).toBeGreaterThan(0.1);
    expect(percentile(of(BURST.from - 3, BURST.from + 1, 1), spec.ranges, 0.7)).toBeLessThan(0.002);
    expect(percentile(of(BURST.from, BURST.to, 0), spec.ranges, 0.9)).toBeLessThan(0.002);
  });
  it("of nothing are not measured", () => {
    expect(percentile(new Float64Array(spec.ranges.length), spec.ranges, 0.5)).toBeNaN();
    expect(curveOf(new Float64Array(spec.ranges.length), spec.ranges, 5)).toEqual([]);
  });
  it("rise along the curve, which ends where one request is left", () => {
    const curve = curveOf(of(0, 20, 0), spec.ranges, 5);
    expect(curve[0]?.[0]).toBe(0);
    expect(curve.at(-1)?.[0]).toBeCloseTo(Math.log10(RATE * 20), 6);
    for (let i = 1; i < curve.length; i++) expect(curve[i]?.[1]).toBeGreaterThanOrEqual(curve[i - 1]?.[1] as number);
    expect([0, 0.9, 0.99, 0.999].map(nines).map((x) => Number(x.toFixed(9)))).toEqual([0, 1, 2, 3]);
  });
});

describe("the heat map", () => {
  const whole = countsOf(columns, spec, both(0, 61), "service")[0] ?? [];
  const bands = bandsOf(whole, spec.ranges, 216);
  if (!bands) throw new Error("there are requests");
  const heat = heatOf(columns, spec, 1, 0, "service", bands);
  it("has every request in one cell", () => {
    expect(heat.length).toBe(60);
    expect(heat.reduce((a, c) => a + c.total, 0)).toBe(RATE * 60);
    for (const c of heat) expect(c.counts.reduce((a, b) => a + b, 0)).toBe(c.total);
  });
  it("puts them into the band of their time", () => {
    const column = columnAt(heat, BURST.from + 1.5);
    expect(column?.total).toBe(RATE);
    const row = Math.floor(bandPlace(bands, 0.121));
    expect(column?.counts[row]).toBe(RATE / 2);
    expect(bandStart(bands, row)).toBeLessThanOrEqual(0.121);
    expect(bandStart(bands, row + 1)).toBeGreaterThan(0.121);
    expect(columnAt(heat, 99)).toBeUndefined();
    expect(ratesOf([heat])).toEqual({ least: 1, most: RATE / 2 });
  });
  it("has rows that can be seen, and none without data", () => {
    expect(bands.count * 3).toBeLessThanOrEqual(216);
    for (let r = 0; r < bands.count; r++) expect(bandPlace(bands, bandStart(bands, r))).toBeCloseTo(r, 6);
    expect(bandsOf([new Float64Array(spec.ranges.length)], spec.ranges, 216)).toBeNull();
  });
});

describe("followed requests", () => {
  const one = (time: number, weight: number): Followed => ({ run: 0, at: 0, weight, time, queued: 0, states: [time, 0], thread: "", helper: "", backend: "", backendTime: 0, backendTurns: 0, handed: 0 });
  it("are those of the service and the window, the slowest first", () => {
    const found = followedOf(columns, spec, 1, 0, { from: 10, to: 20 });
    expect(found.length).toBe(60);
    expect(found.every((f) => f.at >= 10 && f.at < 20)).toBe(true);
    for (let i = 1; i < found.length; i++) expect(found[i]?.time).toBeLessThanOrEqual(found[i - 1]?.time as number);
    expect(found[0]?.helper).toBe("flusher");
    for (const f of found) expect(f.states.reduce((a, b) => a + b, 0) / f.time).toBeCloseTo(1, 3);
    expect(followedOf(columns, spec, 1, 1, { from: 0, to: 60 })).toEqual([]);
  });
  it("are the usual and the slowest by what they stand for", () => {
    const evenly = Array.from({ length: 1000 }, (_, i) => one(1000 - i, 1));
    const { usual, slowest } = usualAndSlowest(evenly);
    expect(slowest.map((f) => f.time)).toEqual(Array.from({ length: 10 }, (_, i) => 1000 - i));
    expect([usual.length, usual[0]?.time, usual.at(-1)?.time]).toEqual([200, 600, 401]);
    // Ten slow ones stand for one request each, ninety for a hundred: the middle of the first of these is within the slowest 1 % of 9,010.
    const weighted = [...Array.from({ length: 10 }, (_, i) => one(500 - i, 1)), ...Array.from({ length: 90 }, (_, i) => one(90 - i, 100))];
    expect(usualAndSlowest(weighted).slowest.length).toBe(11);
    expect(meanOf([one(10, 3), one(2, 1)], 2)).toEqual({ states: [8, 0], time: 8, queued: 0 });
  });
  it("are at least five, where there are enough", () => {
    expect(usualAndSlowest(Array.from({ length: 100 }, (_, i) => one(100 - i, 1))).slowest.length).toBe(5);
    expect(usualAndSlowest([one(9, 1), one(5, 1), one(1, 1)]).slowest.length).toBe(2);
    expect(usualAndSlowest([one(9, 1), one(1, 1e6)]).usual.map((f) => f.time)).toEqual([1]);
    expect(usualAndSlowest([])).toEqual({ usual: [], slowest: [] });
  });
});

describe("times over powers of ten", () => {
  it("keep two digits of the least", () => {
    const scale = scaleFor("s", 0.2134);
    expect([0.2134, 0.000_926].map((v) => inScale(v, finer(scale, 0.000_926)))).toEqual(["213.40", "0.93"]);
    expect(finer(scale, 0).decimals).toBe(0);
  });
});
