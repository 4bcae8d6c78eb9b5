// Blocks of columns, and what is added up from them.
import { describe, expect, it } from "vitest";
import { Columns } from "../../src/bundle/columns";
import type { EventsTable, Measure, ProfileSpec } from "../../src/bundle/types";
import { concurrency, runningOf, serialIn } from "../../src/model/ledger";
import { offsetsOf } from "../../src/model/offsets";
import { linesOf, ofRun, quantile, sharesOf, treeOf } from "../../src/model/profile";
import { KINDS, pathOf, totals } from "../../src/view/flame/tree";
import { encodeColumns } from "../bundle/encode";

const CPU: Measure = { id: "cpu", title: "CPU time", help: "", table: "sample", weight: "weight", unit: "s", ledger: true, who: "who ran", state: null, other: null, other_title: null };
const WAIT: Measure = { id: "blocked", title: "Off-CPU time", help: "", table: "wait", weight: "time", unit: "s", ledger: true, who: "who waited", state: "state", other: "waker_stack", other_title: "who ended the wait" };
const SPEC: ProfileSpec = { block: "profile", per: { what: "second", rate: [1, 1] }, states: [{ id: "lock", title: "Lock", help: "", metrics: [] }], measures: [CPU, WAIT], tables: ["sample", "wait"], turns: [], notes: [] };

/** main → work → hash; two runs, one sample each at 0.5 s, and a wait from 0 s to 1 s. */
function block(): Columns {
  return new Columns(encodeColumns({
    frame: { function: { values: ["main", "work", "hash"] }, module: { values: ["app", "app", "libc"] }, kind: { values: ["native", "native", "kernel"] }, source: { values: ["", "", ""] } },
    stack: { parent: { values: [0, 1, 2], delta: true }, frame: { values: [0, 1, 2] } },
    thread: { process: { values: ["app", "app"] }, thread: { values: ["w0", "w1"] } },
    tick: { run: { values: [0, 0, 1] }, from: { values: [5000, 0, 5000], scale: 1e-4, delta: true }, length: { values: [0, 10000, 0], scale: 1e-4, delta: true } },
    sample: { tick: { values: [0, 0, 2], delta: true }, stack: { values: [3, 2, 3] }, thread: { values: [0, 1, 0] }, weight: { values: [10, 20, 40], scale: 1e-3 }, count: { values: [1, 1, 1] } },
    wait: { tick: { values: [1, 1] }, stack: { values: [2, 0] }, thread: { values: [0, 1] }, state: { values: ["lock", "idle"] }, time: { values: [800, 100], scale: 1e-3 }, waker_stack: { values: [3, 0] } },
  }));
}

const weights = (t: ReturnType<typeof treeOf>) => {
  const all = totals(t);
  return Object.fromEntries(Array.from(t.parent, (_, n) => [pathOf(t, n).join(";"), all.map((x) => Number((x[n] as number).toFixed(6)))]));
};

describe("a block of columns", () => {
  it("gives numbers, texts and differences back", () => {
    const t = block().table("tick");
    expect([...t.raw("from")]).toEqual([5000, 0, 5000]);
    expect([...t.numbers("length")]).toEqual([0, 1, 0]);
    expect(block().table("wait").text("state", 1)).toBe("idle");
    expect([...block().table("nothing").raw("x")]).toEqual([]);
    expect([...block().table("frame").raw("constructor")]).toEqual([0, 0, 0]);
  });
  it("says what is wrong where it is damaged", () => {
    expect(() => new Columns(new TextEncoder().encode("TWB1...."))).toThrow(/does not start with TWC1/);
    expect(() => new Columns(new TextEncoder().encode("TWC1"))).toThrow(/ends inside/);
    const whole = encodeColumns({ t: { a: { values: [1, 2, 3] } } });
    expect(() => new Columns(whole.subarray(0, whole.length - 4))).toThrow(/more rows than the block/);
    expect(() => new Columns(whole.subarray(0, 20))).toThrow(/longer than the block/);
  });
});

describe("tables of events", () => {
  const table: EventsTable = {
    id: "waits", title: "Waits", help: "", kind: "events", query: "", block: "profile", table: "wait", stacks: [],
    keys: [{ id: "state", title: "state", help: "", key: true }], values: [{ id: "time", title: "waited", unit: "s/s", help: "", how: { rate: "time" } }],
  };
  const windows = [{ from: 0, to: 1 }, { from: 0, to: 1 }];
  it("add up the rows of the window", () => {
    expect(linesOf(block(), table, windows, true).lines.map((l) => l.keys)).toEqual([["lock"], ["idle"]]);
  });
  it("have only their own rows of what others are made of too", () => {
    const { lines, totals: all } = linesOf(block(), { ...table, only: { column: "state", texts: ["lock", "sync"] } }, windows, true);
    expect(lines.map((l) => l.keys)).toEqual([["lock"]]);
    expect(all[0]?.get("time")).toBeCloseTo(0.8);
  });
});

describe("call trees", () => {
  const windows = [{ from: 0, to: 1 }, { from: 0, to: 2 }];
  const asked = { measures: [{ measure: CPU, states: null }], process: "", thread: "", group: [], other: false };
  it("colour code as the run had it that is shown", () => {
    const frame = { function: { values: ["main", "get"] }, module: { values: ["app", "[jit]"] }, kind: { values: ["native", "jit"] }, source: { values: ["", ""] } };
    const tables = { frame, frame_kind: { run: { values: [1] }, frame: { values: [1], delta: true }, kind: { values: ["c1"] } } };
    const tree = treeOf(new Columns(encodeColumns(tables)), SPEC, windows, asked);
    const kinds = [tree, ofRun(tree, 0), ofRun(tree, 1)].map((t) => KINDS[t.frames.kind[1] as number]);
    expect(kinds).toEqual(["jit", "jit", "c1"]);
  });
  it("hold the weight of each run per second of its window", () => {
    expect(weights(treeOf(block(), SPEC, windows, asked))).toEqual({ "": [0.03, 0.02], main: [0.03, 0.02], "main;work": [0.03, 0.02], "main;work;hash": [0.01, 0.02] });
  });
  it("are per operation where that is known, filtered by thread, and leave out what is not in the window", () => {
    const per = { ...SPEC, per: { what: "operation" as const, rate: [10, 10] } };
    expect(weights(treeOf(block(), per, windows, { ...asked, thread: "w1" }))["main;work"]).toEqual([0.002, 0]);
    expect(weights(treeOf(block(), SPEC, [{ from: 0, to: 0.5 }, { from: 0, to: 0.5 }], asked))).toEqual({ "": [0, 0] });
  });
  it("take a wait by the share of its stretch, by state, with the waker's stack if asked", () => {
    const waits = { ...asked, measures: [{ measure: WAIT, states: new Set(["lock"]) }], group: ["state" as const] };
    const half = [{ from: 0.5, to: 1 }, { from: 0, to: 1 }];
    expect(weights(treeOf(block(), SPEC, half, waits))).toEqual({ "": [0.8, 0], Lock: [0.8, 0], "Lock;main": [0.8, 0], "Lock;main;work": [0.8, 0] });
    expect(weights(treeOf(block(), SPEC, half, { ...waits, other: true }))["Lock;main;work;hash"]).toEqual([0.8, 0]);
    const all = weights(treeOf(block(), SPEC, half, { ...waits, measures: [{ measure: WAIT, states: null }] }));
    expect(all["idle;[no stack]"]).toEqual([0.1, 0]);
  });
  it("share out ticks", () => {
    expect([...sharesOf(block(), [{ from: 0.25, to: 0.5 }, { from: 0.5, to: 0.6 }])]).toEqual([0, 0.25, 1]);
  });
});

describe("threads at once", () => {
  const columns = new Columns(encodeColumns({
    running: {
      run: { values: Array(300).fill(0) }, slot: { values: Array.from({ length: 300 }, (_, i) => (i < 200 ? i : i + 100)), scale: 0.01, delta: true },
      running: { values: Array.from({ length: 300 }, (_, i) => (i < 100 ? 400 : i < 200 ? (i === 150 ? 300 : 100) : 250)), scale: 0.01 }, runnable: { values: Array(300).fill(0) },
    },
  }));
  const r = runningOf(columns, 0, 4);
  it("are shares of the window, with what was not recorded as none", () => {
    expect(r.running.length).toBe(400);
    const shares = concurrency(r, { from: 0, to: 4 });
    expect(shares[0]).toBeCloseTo(0.25);
    expect(shares[1]).toBeCloseTo(99 / 400);
    expect(shares[4]).toBeCloseTo(0.25);
    expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(1);
  });
  it("have serial phases, cut to the window", () => {
    const phase = { from: 1, to: 2, process: "job", thread: "job", function: null };
    expect(serialIn([phase], { from: 0, to: 4 })).toEqual([phase]);
    expect(serialIn([phase], { from: 1.5, to: 4 })).toEqual([{ ...phase, from: 1.5 }]);
    expect(serialIn([phase], { from: 2, to: 4 })).toEqual([]);
  });
});

describe("statistics", () => {
  it("quantiles of a histogram lie within their bucket", () => {
    const buckets = [{ n: 90, from: 0, to: 2 }, { n: 10, from: 1024, to: 2048 }];
    expect(quantile(buckets, 0.5)).toBeLessThanOrEqual(2);
    expect(quantile(buckets, 0.95)).toBeCloseTo(1536);
    expect(quantile([], 0.5)).toBeNaN();
  });
  it("the heat map of samples is in CPUs, and keeps all weight", () => {
    const [a] = offsetsOf(block(), CPU, [2, 2], "", "");
    expect([a?.column, a?.columns, a?.rows]).toEqual([0.1, 20, 10]);
    expect(offsetsOf(block(), CPU, [60, 30], "", "").map((o) => [o.column, o.columns, o.rows])).toEqual([[1, 60, 50], [1, 30, 50]]);
    expect(offsetsOf(block(), CPU, [3600, 30], "", "")[0]?.columns).toBe(120);
    // 30 ms of CPU time at 0.5 s, in a cell of 20 ms or 1 s as the stretches allow.
    expect((a?.values.reduce((x, y) => x + y, 0) ?? 0) * (a?.cell ?? 0)).toBeCloseTo(0.03);
    expect(a?.values[Math.floor(0.5 / (a?.cell ?? 1))]).toBeGreaterThan(0);
  });
});
