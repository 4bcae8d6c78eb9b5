// Fleets: what is read, how it is said, and where it is drawn.
import { describe, expect, it } from "vitest";
import {
  axisOfStrip, axisOfValues, bandingOf, courseBands, courseValue, dotsOf, ends, figure, type FleetView, hostInWords, metricParts, momentInWords, nameInLine, nearestDot, pairCommand, partnerOf, quoted, readFleet, standingInWords,
  tellsApart, ticksOf, valuesAt, viewOf,
} from "../../src/model/fleet";
import { place } from "../../src/model/axis";
import { FLEETS, fleetOf, loneFleet } from "../bundle/fleet";
import { HOSTILE } from "../bundle/samples";
import type { FleetCourse, FleetPageGroup } from "../../src/bundle/generated";

const groupOf = (name: string): FleetPageGroup => (FLEETS[name] as () => ReturnType<typeof fleetOf>)().page.groups[0] as FleetPageGroup;
const viewed = (name: string, chosen = 0): FleetView => viewOf(groupOf(name), chosen) as FleetView;

describe("reading", () => {
  it("takes what is whole", () => {
    for (const [name, make] of Object.entries(FLEETS)) if (name !== "large") expect(readFleet(JSON.parse(JSON.stringify(make().page))).groups.length).toBeGreaterThan(0);
  });
  it("names both formats of another version", () => {
    expect(() => readFleet({ ...fleetOf({ hosts: 12 }).page, format: 7 })).toThrow(/has format 7; this page draws format 1/);
    expect(() => readFleet(null)).toThrow(/format null/);
    expect(() => readFleet("no")).toThrow(/format null/);
  });
  it("refuses what is damaged", () => {
    const { page } = fleetOf({ hosts: 12 });
    const [group] = page.groups as [FleetPageGroup];
    const { answer } = group;
    const [banding] = answer.bandings as [FleetPageGroup["answer"]["bandings"][number]];
    const damaged: FleetPageGroup["answer"][] = [
      { ...answer, recordings: answer.recordings.slice(1) },
      { ...answer, bandings: [{ ...banding, by: 9 }] },
      { ...answer, bandings: [{ ...banding, of: banding.of.map(() => 5) }] },
      { ...answer, bandings: [{ ...banding, undecided: [99] }] },
      { ...answer, strays: [{ recording: -1, lines: [], more: 0 }] },
    ];
    for (const of of damaged) expect(() => readFleet({ ...page, groups: [{ ...group, answer: of }] })).toThrow(/damaged/);
    expect(() => readFleet({ ...page, groups: [null] })).toThrow(/damaged/);
  });
});

describe("the hosts of a fleet", () => {
  it("stand by band and value, the best first, those of no band at the end", () => {
    const v = viewed("banded");
    const bands = v.order.map((i) => v.band[i]);
    expect(bands.slice(0, 8)).toEqual(Array(8).fill(0));
    expect(bands.at(-1)).toBe(-1);
    expect(v.standing[v.order.at(-1) as number]).toBe("missing");
    const own = v.order.slice(0, 8).map((i) => v.values[i] as number);
    expect(own).toEqual(own.toSorted((a, b) => b - a));
    expect(v.order.map((i) => v.rank[i])).toEqual(v.order.map((_, at) => at));
    expect(v.one).toBe("host");
    expect(viewed("starts").one).toBe("recording");
  });
  it("are told in words", () => {
    const v = viewed("banded");
    expect([1, 2, 3, 4, 6].map((i) => standingInWords(v, i))).toEqual(["stray", "undecided, nearer to band 2", "band 1", "band 2", "not measured"]);
    expect(hostInWords(v, 1)).toBe("host-00001 · 460/s ± 10.8/s · stray");
    expect(hostInWords(v, 6)).toBe("host-00006 · not measured");
    expect(standingInWords(viewed("none"), 3)).toBe("");
  });
  it("follow another banding, and metrics where there is none", () => {
    const v = viewed("bandings", 1);
    expect([v.asked.metric, v.asked.unit, bandingOf(v)?.metrics[0]]).toEqual(["process.run_wait{comm=server} per operation", "s/op", "process.run_wait{comm=server} per operation"]);
    // Less is better: the least first.
    expect(v.values[v.order[0] as number]).toBeLessThan(v.values[v.order[1] as number] as number);
    expect(viewed("bandings", 99).banding).toBe(1);
    expect([viewed("none").banding, viewed("none", 1).asked.unit]).toEqual([null, "s/op"]);
    expect(viewOf(loneFleet().page.groups[0] as FleetPageGroup, 0)).toBeNull();
  });
  it("are held against the middle of the other band, the faster one as the baseline", () => {
    const v = viewed("banded");
    const [slow, fast] = [v.order[20] as number, v.order[0] as number];
    const banding = bandingOf(v);
    expect(partnerOf(v, slow)).toBe(banding?.bands[0]?.nearest[0]);
    expect(partnerOf(v, fast)).toBe(banding?.bands[1]?.nearest[0]);
    expect(partnerOf(v, 1)).toBe(banding?.bands[0]?.nearest[0]);
    const of = (i: number) => `'recordings/host ${i}.twin'`;
    expect(pairCommand(v, slow)).toBe(`twinscope report ${of(partnerOf(v, slow))} ${of(slow)} -o pair.html`);
    expect(pairCommand(v, fast)).toBe(`twinscope report ${of(fast)} ${of(partnerOf(v, fast))} -o pair.html`);
    expect(pairCommand(viewed("none"), 3)).toMatch(/^twinscope report /);
  });
  it("keep what a shell would read", () => {
    expect(["a.twin", "/x/y-1.twin", "", "it's", "$(rm -rf ~)", "a b"].map(quoted)).toEqual(["a.twin", "/x/y-1.twin", "''", "'it'\\''s'", "'$(rm -rf ~)'", "'a b'"]);
    const v = viewed("hostile");
    expect(pairCommand(v, 4).replaceAll(/'(?:[^']|'\\'')*'/gs, "Q")).toBe("twinscope report Q Q -o pair.html");
    expect(nameInLine(`host${HOSTILE}\nx\u202e`)).toBe(`host${HOSTILE}␤x␤`);
    expect(nameInLine("")).toBe("(no name)");
  });
});

describe("the strip", () => {
  it("has a dot for each host that was measured, within its box, none on another", () => {
    for (const name of ["small", "banded", "three", "none"]) {
      const v = viewed(name);
      const dots = dotsOf(v, axisOfValues(v.values, true), 1200, 168);
      const at = new Set<string>();
      v.values.forEach((value, i) => {
        const [x, y] = [dots.x[i] as number, dots.y[i] as number];
        expect(Number.isNaN(x)).toBe(Number.isNaN(value));
        if (Number.isNaN(x)) return;
        expect(x >= 0 && x <= 1213 && y > 0 && y < 168).toBe(true);
        at.add(`${x} ${y}`);
      });
      expect(at.size).toBe(v.values.filter((x) => !Number.isNaN(x)).length);
    }
  });
  it("holds 10,000 hosts in its height, and finds the one under the pointer", () => {
    const v = viewed("large");
    const dots = dotsOf(v, axisOfValues(v.values, true), 1280, 168);
    expect(dots.size).toBe(3);
    expect(Math.max(...dots.y.filter((y) => !Number.isNaN(y)))).toBeLessThan(168);
    expect(nearestDot(dots, dots.x[77] as number, dots.y[77] as number, 16)).toBe(77);
    expect(nearestDot(dots, -500, 0, 16)).toBe(-1);
  });
  it("has axes without what lies far out, round in their unit", () => {
    const values = Float32Array.from({ length: 400 }, (_, i) => (i === 0 ? 1e9 : 1 + i / 400));
    expect(axisOfStrip(values).high).toBeLessThan(3);
    expect(axisOfStrip(Float32Array.from([Number.NaN])).high).toBeGreaterThan(0);
    expect(axisOfStrip(Float32Array.from([1, 100])).log).toBe(true);
    expect(place(axisOfValues([Number.NaN], true), 1)).toBeGreaterThanOrEqual(0);
    expect(ticksOf({ low: 2.4e9, high: 3.8e9, log: false }, 4, "B")).toEqual({ marks: [2.5, 3, 3.5].map((v) => v * 2 ** 30), labels: ["2.5", "3", "3.5"], symbol: "GiB" });
    expect(ticksOf({ low: 0, high: 0.004, log: false }, 4, "s/op")).toEqual({ marks: [0, 0.001, 0.002, 0.003, 0.004], labels: ["0", "1", "2", "3", "4"], symbol: "ms/op" });
  });
});

describe("the heat map", () => {
  const course: FleetCourse = { offset: 0, columns: 60, seconds: 60, low: 400, high: 4000, log: true };
  it("knows values by their bytes", () => {
    expect([0, 127, 254, 255].map((b) => courseValue(course, b))).toEqual([400, expect.closeTo(1264.9, 1), 4000, Number.NaN]);
    expect(courseValue({ ...course, log: false }, 127)).toBe(2200);
  });
  it("tells the band of each, palest at the valley", () => {
    const { band, depth } = courseBands(course, bandingOf(viewed("banded")), "more");
    expect([band[0], band[254], band[255]]).toEqual([1, 0, -1]);
    const valley = band.indexOf(0);
    expect(depth[valley]).toBeLessThan(0.05);
    expect(depth[0]).toBe(1);
    expect(courseBands(course, null, "more").band[10]).toBe(0);
  });
});

describe("values of what separates", () => {
  it("are read from byte planes, and checked", () => {
    const { page, blocks } = fleetOf({ hosts: 64 });
    const strips = page.groups[0]?.drawn[0]?.strips[0];
    const bytes = blocks["fleet-0"] as Uint8Array;
    const values = valuesAt(bytes, strips?.lines[0] ?? -1, 64);
    const d = page.groups[0]?.answer.bandings[0]?.separated[0]?.lines[0]?.difference;
    expect(values.some((v) => Math.abs(v - (d?.band ?? 0)) < 1e-9)).toBe(true);
    expect(() => valuesAt(bytes, bytes.length - 8, 64)).toThrow(/outside/);
    expect(() => valuesAt(bytes, -1, 64)).toThrow(/outside/);
  });
  it("are said with three digits", () => {
    expect([0.022, 0.00107, 1.5, 0, 9730].map((v) => figure(v, "1/op"))).toEqual(["0.0220/op", "0.00107/op", "1.50/op", "0/op", "9.73 k/op"]);
    expect([null, Number.NaN].map((v) => figure(v, "s"))).toEqual(["not measured", "not measured"]);
    expect(figure(3e-10, "s")).toBe("0.300 ns");
    expect(ends(-1.09e-3, -0.889e-3, "s/op")).toBe("−1.09 to −0.889 ms/op");
    expect(ends(-2, 310, "1/s")).toBe("−2.00 to +310/s");
    expect([0.972, 0.021].map((superiority) => tellsApart({ superiority } as Parameters<typeof tellsApart>[0]))).toEqual([0.972, 0.979]);
    expect(metricParts("variation of process.user{comm=a b} per operation")).toEqual({ name: "process.user", labels: "comm=a b", per: "per operation", variation: true });
    expect(metricParts("cpu.busy")).toEqual({ name: "cpu.busy", labels: "", per: "", variation: false });
    expect(momentInWords(1_795_000_000_000_000_000)).toBe("2026-11-18 11:06:40 UTC");
    expect(momentInWords(Number.NaN)).toMatch(/not known/);
  });
});
