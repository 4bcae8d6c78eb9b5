// Metrics of hardware counters in words.
import { describe, expect, it } from "vitest";
import { changeOf, cpiInWords, differsIn, judged, perOf, slotsOf, valueInWords } from "../../src/model/counters";

const change = (difference: number, interval: [number, number], ratio: [number, number, number] | null, differs = true) => ({ difference, interval, ratio, differs });

describe("metrics of counters", () => {
  it("have four digits, shares per cent", () => {
    expect(valueInWords(1234.56, { unit: "" })).toBe("1,235");
    expect(valueInWords(1.23456, { unit: "" })).toBe("1.235");
    expect(valueInWords(0.41, { unit: "ratio" })).toBe("41.0 %");
    expect(valueInWords(0.0123, { unit: "ratio" })).toBe("1.23 %");
  });
  it("change as ratios, shares in points, and from 0 as a difference", () => {
    expect(changeOf(change(1, [0.9, 1.1], [1, 0.9, 1.1]), { is_share: false })).toEqual(["2.0×", "1.90–2.10×"]);
    expect(changeOf(change(0.29, [0.28, 0.3], null), { is_share: true })).toEqual(["+29.0 points", "+28.0 to +30.0"]);
    expect(changeOf(change(-0.5, [-0.6, -0.4], null), { is_share: false })).toEqual(["−0.50", "−0.60 to −0.40"]);
  });
  it("are better or worse where they differ", () => {
    expect(judged(change(1, [0.9, 1.1], null), { polarity: "worse" })).toBe("worse");
    expect(judged(change(1, [0.9, 1.1], null), { polarity: "better" })).toBe("better");
    expect(judged(change(1, [-0.9, 1.1], null, false), { polarity: "better" })).toBe(null);
    expect(judged(change(1, [0.9, 1.1], null), { polarity: "neutral" })).toBe(null);
  });
  it("tell cycles per instruction with their interval, and whether they differ", () => {
    expect(cpiInWords([1.0104, 0.9, 1.1345])).toEqual(["1.01", "0.90 to 1.13"]);
    expect(cpiInWords([19.09, 12.4, 29.3])).toEqual(["19.1", "12.4 to 29.3"]);
    expect(cpiInWords([600.2, 590.1, 611])).toEqual(["600", "590 to 611"]);
    expect([differsIn([0.1, 0.02, 0.2]), differsIn([-0.3, -0.4, -0.2]), differsIn([0.1, -0.02, 0.2])]).toEqual(["worse", "better", null]);
  });
  it("say per what they are", () => {
    expect(perOf({ unit: "", help: "Page walks (per 1,000 instructions). More." })).toBe("per 1,000 instructions");
    expect(perOf({ unit: "ratio", help: "Share of the slots (of four)." })).toBe("");
  });
  it("have slots with what was counted of the second level", () => {
    const slots = slotsOf({ retiring: 0.5, bad_speculation: 0.1, frontend_bound: 0.2, backend_bound: 0.2, fetch_latency: 0.15, memory_bound: null });
    expect(slots.map((s) => s.within?.value ?? null)).toEqual([null, null, 0.15, null]);
  });
});
