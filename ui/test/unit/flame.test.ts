// Flame graphs: what is drawn where, what a search finds, what a reversed tree says.
import { describe, expect, it } from "vitest";
import { Layout } from "../../src/view/flame/layout";
import { fromPage } from "../../src/view/flame/page";
import { changeStep, STEPS } from "../../src/view/flame/palette";
import { matchedWeight, matching } from "../../src/view/flame/search";
import { kindOf, nodeAt, pathOf, reversed, top, totals, TreeBuilder, type Frames, type Tree } from "../../src/view/flame/tree";

/** A tree from lines "a;b;c 3" or, of two runs, "a;b;c 3 5". */
function tree(text: string): Tree {
  const lines = text.trim().split("\n").map((l) => l.trim().split(" "));
  const names = [...new Set(lines.flatMap((l) => (l[0] as string).split(";")))];
  const frames: Frames = { name: names, module: names.map(() => "prog"), source: names.map(() => ""), kind: Uint8Array.from(names, () => kindOf("native")) };
  const runs = (lines[0]?.length ?? 2) - 1;
  const out = new TreeBuilder(frames, runs);
  const place = new Map(names.map((n, i) => [n, i]));
  for (const [stack = "", ...weights] of lines) {
    weights.forEach((w, run) => out.stack(stack.split(";").map((n) => place.get(n) ?? 0), run, Number(w)));
  }
  return out.finish();
}

/** The tree as lines again, with self weights. */
function text(t: Tree): string[] {
  return [...t.parent.keys()].slice(1).filter((n) => t.self.some((s) => s[n] !== 0)).map((n) => `${pathOf(t, n).join(";")} ${t.self.map((s) => s[n]).join(" ")}`).sort();
}

const SMALL = `
main;parse 2
main;run;hash 5
main;run 1
main;run;copy 2
idle 10`;

describe("trees", () => {
  it("adds up", () => {
    const t = tree(SMALL);
    const at = (path: string) => totals(t)[0]?.[nodeAt(t, path.split(";"))];
    expect([at("main"), at("main;run"), at("idle"), totals(t)[0]?.[0]]).toEqual([10, 8, 10, 20]);
    expect(text(t)).toEqual(SMALL.trim().split("\n").map((l) => l.trim()).sort());
  });

  it("is reversed", () => {
    const r = reversed(tree(`main;a;lock 3\nmain;b;lock 4\nmain;b 1`));
    expect(text(r)).toEqual(["b;main 1", "lock;a;main 3", "lock;b;main 4"]);
    expect(totals(r)[0]?.[nodeAt(r, ["lock"])]).toBe(7);
  });

  it("counts a recursive function once a stack", () => {
    const rows = top(tree(`f;f;f 3\nf;g;f 2\ng 1`));
    const t = tree(`f;f;f 3\nf;g;f 2\ng 1`);
    const row = (name: string) => rows.find((r) => t.frames.name[r.frame] === name);
    expect(row("f")).toMatchObject({ self: [5], total: [5] });
    expect(row("g")).toMatchObject({ self: [1], total: [3] });
  });

  it("follows a path as far as it goes", () => {
    const t = tree(SMALL);
    expect(pathOf(t, nodeAt(t, ["main", "run", "gone"]))).toEqual(["main", "run"]);
    expect(nodeAt(t, [])).toBe(0);
  });
});

function drawn(l: Layout, zoom: number, width: number, from = 0, to = 99): Record<string, [number, number, number]> {
  const out: Record<string, [number, number, number]> = {};
  l.walk(zoom, width, from, to, (node, x, w, row) => {
    out[pathOf(l.tree, node).join(";")] = [Math.round(x * 100) / 100, Math.round(w * 100) / 100, row];
  });
  return out;
}

describe("layout", () => {
  it("orders by name or by weight", () => {
    const t = tree(SMALL);
    expect(drawn(new Layout(t, "name"), 0, 200)).toMatchObject({ "": [0, 200, 0], idle: [0, 100, 1], main: [100, 100, 1], "main;run;copy": [120, 20, 3], "main;run;hash": [140, 50, 3] });
    expect(drawn(new Layout(t, "heavy"), 0, 200)).toMatchObject({ "main;run": [100, 80, 2], "main;run;hash": [100, 50, 3], "main;run;copy": [150, 20, 3] });
  });

  it("zooms, with callers above", () => {
    const t = tree(SMALL);
    const l = new Layout(t);
    const zoom = nodeAt(t, ["main", "run"]);
    expect(drawn(l, zoom, 80)).toEqual({ "": [0, 80, 0], main: [0, 80, 1], "main;run": [0, 80, 2], "main;run;copy": [0, 20, 3], "main;run;hash": [20, 50, 3] });
    expect(l.hit(zoom, 80, 30, 3)).toBe(nodeAt(t, ["main", "run", "hash"]));
    expect(l.hit(zoom, 80, 75, 3)).toBe(-1);
    expect(l.hit(zoom, 80, 75, 1)).toBe(nodeAt(t, ["main"]));
    expect(l.rows(zoom)).toBe(4);
  });

  it("draws only rows in view, and nothing that cannot be seen", () => {
    const l = new Layout(tree(SMALL));
    expect(Object.keys(drawn(l, 0, 200, 2, 2)).sort()).toEqual(["main;parse", "main;run"]);
    const many = tree(Array.from({ length: 5000 }, (_, i) => `f${i};g${i} 1`).join("\n") + "\nbig 5000");
    for (const order of ["name", "heavy"] as const) {
      let count = 0;
      new Layout(many, order).walk(0, 1000, 0, 9, (_node, _x, w) => {
        expect(w).toBeGreaterThanOrEqual(0.5);
        count++;
      });
      expect(count).toBe(2);
    }
  });

  it("is as wide as the run asked for, or as both", () => {
    const t = tree(`a 4 0\nb 0 8`);
    expect(drawn(new Layout(t, "name", 1), 0, 80)).toEqual({ "": [0, 80, 0], b: [0, 80, 1] });
    expect(drawn(new Layout(t, "name", "both"), 0, 60)).toEqual({ "": [0, 60, 0], a: [0, 20, 1], b: [20, 40, 1] });
  });

  it("walks by key", () => {
    const t = tree(SMALL);
    const l = new Layout(t);
    const path = (n: number) => pathOf(t, n).join(";");
    const main = nodeAt(t, ["main"]);
    expect(path(l.step(main, "down"))).toBe("main;run");
    expect(path(l.step(main, "left"))).toBe("idle");
    expect(l.step(main, "right")).toBe(main);
    expect(l.step(main, "up")).toBe(0);
    expect(l.step(0, "left")).toBe(0);
  });

  it("lays out 100,000 nodes, and draws them far below a frame's time of work", () => {
    const names = Array.from({ length: 2000 }, (_, i) => `function_${i}`);
    const out = new TreeBuilder({ name: names, module: names, source: names, kind: new Uint8Array(2000) }, 1);
    let seed = 1;
    const random = (n: number) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % n;
    let nodes = 0;
    for (let i = 0; nodes < 100_000; i++) {
      const stack = Array.from({ length: 5 + random(40) }, () => random(60));
      nodes += stack.length;
      out.stack(stack, 0, 1 + random(100));
    }
    const t = out.finish();
    const l = new Layout(t, "name");
    let count = 0;
    l.walk(0, 1900, 0, 60, () => count++);
    // The picture has no more boxes than half-pixels in view, whatever the tree has.
    expect(t.parent.length).toBeGreaterThan(50_000);
    expect(count).toBeLessThan(1900 * 2 * 61);
  });
});

describe("search", () => {
  it("finds text in any case, and expressions", () => {
    const t = tree(SMALL);
    const l = new Layout(t);
    const share = (query: string, zoom = 0) => {
      const m = matching(t.frames, query);
      return m instanceof Uint8Array ? matchedWeight(l, m, zoom)[0] : m;
    };
    expect(share("HASH")).toBe(5);
    expect(share("/^(run|hash)$/")).toBe(8);
    expect(share("prog")).toBe(20);
    expect(share("copy", nodeAt(t, ["idle"]))).toBe(0);
    expect(share("  ")).toBeNull();
    expect(typeof share("/(/")).toBe("string");
  });
});

describe("differences", () => {
  it("colours by the share of the greater", () => {
    expect(changeStep(1, 1)).toBe(STEPS);
    expect(changeStep(0, 5)).toBe(2 * STEPS);
    expect(changeStep(5, 0)).toBe(0);
    expect(changeStep(0, 0)).toBe(STEPS);
    expect(changeStep(1, 2)).toBe(STEPS * 1.5);
  });
});

describe("the data of a page", () => {
  const page = { format: 1, title: "t", notes: [], unit: "s", runs: [{ name: "a" }], frames: { name: ["f"], module: [""], source: [""], kind: ["native"] }, up: [0, 1, 1], frame: [0, 0, 0], self: [[0, 1, 2]] };
  it("is read", () => {
    expect([...fromPage(page).tree.parent]).toEqual([0, 0, 1]);
  });
  it.each([
    ["another format", { ...page, format: 2 }],
    ["a parent after its child", { ...page, up: [0, -1, 1] }],
    ["no parent", { ...page, up: [0, 0, 1] }],
    ["a frame that is not there", { ...page, frame: [0, 7, 0] }],
    ["columns that differ in length", { ...page, self: [[0]] }],
    ["nothing", null],
  ])("is refused with %s", (_what, data) => {
    expect(() => fromPage(data)).toThrow();
  });
});
