import { describe, expect, it } from "vitest";
import { codeOf } from "../bundle/code";
import type { CodeGroup, Run } from "../../src/bundle/types";
import { fits, greatest, pageInWords, placeOf, rowsOf, saysOf, shade } from "../../src/model/code";

const maps = (runs: number, few = false) => codeOf(Array.from({ length: runs }, () => ({}) as Run), (name) => name, few);

describe("maps of code", () => {
  it("are shaded by the logarithm of the share", () => {
    expect([shade(0, 1), shade(1, 1), shade(0.1, 1).toFixed(3), shade(1e-9, 1), shade(1, 0)]).toEqual([0, 1, "0.667", 0.2, 0]);
    const [group] = maps(2).groups;
    expect(greatest(group as CodeGroup)).toBeGreaterThan(0);
    expect(greatest({ comm: "a", kind: "file", drawn: null, runs: [null] })).toBe(0);
  });
  it("say what they show", () => {
    const group = maps(2).groups[0] as CodeGroup;
    const [fast, slow] = group.runs;
    if (!fast || !slow) throw new Error("both are there");
    expect([fits(fast), fits(slow), fits({ ...fast, itlb: null })]).toEqual([true, false, null]);
    const region = { module: "/usr/bin/engine", start: 0x200000, pages: [[1, 3]] as [number, number][] };
    expect([placeOf(region), placeOf({ ...region, module: "" })]).toEqual(["engine +0x200000", "0x200000"]);
    expect([pageInWords(region, 1, { ...fast, samples: 300 }), pageInWords(region, 2, fast)]).toEqual(["engine +0x201000: 3 samples, 1.00 %", "engine +0x202000: no sample"]);
    expect(saysOf(group)).toBe("The code lies on 18.7× as many pages as in the baseline.");
    expect(saysOf({ ...group, runs: [fast, fast] })).toBeNull();
    expect(rowsOf(maps(1, true).groups[0] as CodeGroup).map((row) => row.title)).not.toContain("pages of 4 KiB");
  });
});
