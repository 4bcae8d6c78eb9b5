// Two stretches of one recording: the state, its link, the command, and what differs.
import { beforeEach, describe, expect, it } from "vitest";
import { Block } from "../../src/bundle/block";
import { Columns } from "../../src/bundle/columns";
import { fileOf, withFiles } from "../../src/model/files";
import { changeInWords, meansOf, overlap, stretchCommand, windowOption } from "../../src/model/stretches";
import { ledgerOf, treeOf } from "../../src/model/profile";
import { against, align, choose, chosen, fromHash, holdAgainst, proposeAgainst, setAlign, setReport, type Side, stretches, toHash } from "../../src/state";
import { SAMPLES } from "../bundle/samples";

const threads = SAMPLES["threads"]?.();
if (!threads) throw new Error("no sample");
const { head, blocks } = threads;

beforeEach(() => {
  setReport(head);
  fromHash("");
});

const side = (from: number, to: number, run = 1): Side => ({ run, window: { from, to } });

describe("the state", () => {
  it("goes round in the link", () => {
    choose({ from: 30, to: 40.5 });
    holdAgainst({ run: 1, from: 10.25, to: 20 });
    const hash = toHash();
    expect(hash).toBe("overview?w=30_40.5&against=1_10.25_20");
    fromHash("");
    expect([against.value, stretches.value]).toEqual([null, null]);
    fromHash(`#${hash}`);
    expect(against.value).toEqual({ run: 1, from: 10.25, to: 20 });
    expect(stretches.value).toEqual([side(10.25, 20), side(30, 40.5)]);
  });
  it.each(["against=9_1_2", "against=-1_1_2", "against=0.5_1_2", "against=1_5_2", "against=x_y_z", "against=1_2", "against="])("survives %s", (text) => {
    fromHash(`#cpu?${text}`);
    expect(against.value).toBeNull();
  });
  it("is kept inside what was recorded", () => {
    holdAgainst({ run: 0, from: -20, to: -5 });
    expect(against.value).toEqual({ run: 0, from: 0, to: 15 });
    holdAgainst({ run: 0, from: 50, to: 900 });
    expect(against.value).toEqual({ run: 0, from: 0, to: 60 });
  });
  it("goes with another alignment, as the window does", () => {
    choose({ from: 30, to: 40 });
    holdAgainst({ run: 1, from: 10, to: 20 });
    setAlign("mark:warm-up over");
    expect([align.value, chosen.value, against.value]).toEqual(["mark:warm-up over", null, null]);
    holdAgainst({ run: 1, from: 0, to: 10 });
    choose({ from: 20, to: 30 });
    expect(stretches.value?.map((s) => s.window)).toEqual([{ from: 7, to: 17 }, { from: 27, to: 37 }]);
  });
});

describe("what is proposed", () => {
  it("is as long as the window, before it if there is room", () => {
    choose({ from: 30, to: 40 });
    proposeAgainst(1);
    expect(against.value).toEqual({ run: 1, from: 20, to: 30 });
    choose({ from: 2, to: 12 });
    proposeAgainst(1);
    expect(against.value).toEqual({ run: 1, from: 12, to: 22 });
    choose({ from: 20, to: 60 });
    proposeAgainst(0);
    expect([against.value, chosen.value]).toEqual([{ run: 0, from: 0, to: 20 }, { from: 20, to: 60 }]);
  });
  it("is half of the window where none is chosen, or it leaves no room", () => {
    proposeAgainst(0);
    expect([against.value, chosen.value]).toEqual([{ run: 0, from: 3, to: 30.5 }, { from: 30.5, to: 58 }]);
    choose({ from: 0, to: 60 });
    proposeAgainst(0);
    expect([against.value, chosen.value]).toEqual([{ run: 0, from: 0, to: 30 }, { from: 30, to: 60 }]);
  });
});

describe("the command", () => {
  it("names the recording and both, quoted", () => {
    expect(stretchCommand({ name: "slow", file: "runs/slow.twin" }, [side(3, 9.1234), side(12, 18)])).toBe("twinscope explain runs/slow.twin --window 12s..18s --against-window 3s..9.123s");
    expect(stretchCommand({ name: "x", file: "it's; rm -rf.twin" }, [side(0, 1), side(2, 3)])).toBe("twinscope explain 'it'\\''s; rm -rf.twin' --window 2s..3s --against-window 0s..1s");
    expect(windowOption({ from: 0.1 + 0.2, to: 1e3 })).toBe("0.3s..1000s");
  });
  it("has a name for recordings of older reports", () => {
    expect(fileOf({ name: "a b", file: null })).toBe("'a b.twin'");
  });
  it("of a finding names its recordings", () => {
    const finding = head.explanation?.findings[0];
    if (!finding) throw new Error("no finding");
    const lines = { ...finding, check: ["twinscope asm FUNCTION SLOW.twin --against FAST.twin"], advice: ["no SLOW.twins", "SLOW.twin"] };
    const runs = head.runs.map((run, i) => ({ ...run, file: `/r/${i} ${run.name}.twin` }));
    const at = (run: number, against: number | null) => withFiles(lines, { run, against }, runs);
    expect(at(1, 0).check).toEqual([`twinscope asm FUNCTION '${runs[1]?.file}' --against '${runs[0]?.file}'`]);
    expect(at(1, 0).advice).toEqual(["no SLOW.twins", `'${runs[1]?.file}'`]);
    expect(at(0, null).check).toEqual([`twinscope asm FUNCTION '${runs[0]?.file}' --against FAST.twin`]);
    // Two stretches of one recording.
    expect(at(1, 1).check).toEqual(lines.check);
  });
  it("is for stretches that have no part in common", () => {
    expect(overlap({ from: 0, to: 10 }, { from: 9.9, to: 20 })).toBe(true);
    expect(overlap({ from: 0, to: 10.0001 }, { from: 10, to: 20 })).toBe(false);
  });
});

describe("what differs", () => {
  it("are the means of the lines of a page, what changed most first by weight", () => {
    const spec = head.pages.find((p) => p.id === "cpu");
    if (!spec) throw new Error("no page");
    const block = new Block(blocks["page-cpu"] as Uint8Array);
    const both = [side(5, 15), side(30, 40)] as const;
    const rows = meansOf(spec, block, both);
    expect(rows.length).toBeGreaterThan(2);
    for (const row of rows) {
      expect(row.weight).toBeGreaterThanOrEqual(0);
      expect(row.weight).toBeLessThanOrEqual(1);
    }
    expect(meansOf(spec, block, [side(5, 15), side(5, 15)]).every((row) => row.weight === 0)).toBe(true);
    expect(meansOf(spec, block, [side(500, 600), side(5, 15)])).toEqual([]);
  });
  it("is said as a ratio, or as a difference where there is none", () => {
    expect(changeInWords(2, 5, "s")).toBe("2.50×");
    expect(changeInWords(1, 250, "")).toBe("250×");
    expect(changeInWords(4, 0, "B")).toBe("0.00×");
    expect(changeInWords(0, 2, "s")).toBe("+2.00 s");
    expect(changeInWords(-1, -3, "W")).toBe("−2.00 W");
  });
  it("is in the tree as one more run", () => {
    const columns = new Columns(blocks["profile"] as Uint8Array);
    const spec = head.profile;
    const cpu = spec?.measures.find((m) => m.ledger && !m.state);
    if (!spec || !cpu) throw new Error("no stacks");
    const asked = { measures: [{ measure: cpu, states: null }], process: "", thread: "", group: [], other: false };
    const sum = (values: Float64Array | undefined) => values?.reduce((a, b) => a + b, 0) ?? 0;
    const windows = [{ from: 30, to: 40 }, { from: 30, to: 40 }];
    const tree = treeOf(columns, spec, windows, asked, { run: 1, window: { from: 5, to: 15 } });
    const alone = treeOf(columns, spec, [{ from: 0, to: 1 }, { from: 5, to: 15 }], asked);
    expect(tree.self.length).toBe(3);
    expect(sum(tree.self[2])).toBeGreaterThan(0);
    expect(sum(tree.self[2])).toBeCloseTo(sum(alone.self[1]), 9);
    expect(sum(tree.self[1])).toBeCloseTo(sum(treeOf(columns, spec, windows, asked).self[1]), 9);
    // The ledger of a stretch knows nothing of the other run.
    const of = ledgerOf(columns, [{ from: 0, to: 0 }, { from: 5, to: 15 }], false).get("");
    expect(of?.runs[0]?.size).toBe(0);
  });
});
