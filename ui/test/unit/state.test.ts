// The link: what is chosen goes into the hash and comes back the same.
import { beforeEach, describe, expect, it } from "vitest";
import { align, anchor, choose, chosen, extent, fromHash, go, least, offsets, overlay, page, pan, params, setAlign, setParam, setReport, toHash, windowOf, zoom } from "../../src/state";
import { SAMPLES } from "../bundle/samples";

beforeEach(() => {
  const pair = SAMPLES["pair"];
  if (!pair) throw new Error("no sample");
  setReport(pair().head);
  fromHash("");
});

describe("the hash", () => {
  it("goes round", () => {
    go("cpu", "cpu-total");
    setAlign("mark:warm-up over");
    choose({ from: 3.25, to: 17.5 });
    overlay.value = true;
    setParam("process-top.filter", "a&b=c #é/?");
    setParam("process-top.sort", "cpu.1:down");
    const hash = toHash();
    fromHash("overview");
    expect([page.value, anchor.value, chosen.value, overlay.value, align.value, params.value]).toEqual(["overview", null, null, false, "start", {}]);
    fromHash(`#${hash}`);
    expect(page.value).toBe("cpu");
    expect(anchor.value).toBe("cpu-total");
    expect(chosen.value).toEqual({ from: 3.25, to: 17.5 });
    expect(overlay.value).toBe(true);
    expect(align.value).toBe("mark:warm-up over");
    expect(params.value).toEqual({ "process-top.filter": "a&b=c #é/?", "process-top.sort": "cpu.1:down" });
    expect(toHash()).toBe(hash);
  });
  it.each(["nowhere", "cpu?w=9_3", "cpu?w=x_y", "cpu?align=mark:none", "%E0%A4%A", "?", "/?w=_"])("survives %s", (hash) => {
    fromHash(`#${hash}`);
    expect(chosen.value).toBeNull();
    expect(align.value).toBe("start");
  });
});

describe("the window", () => {
  it("is each run's own where none is chosen", () => {
    expect(windowOf(0)).toMatchObject({ from: 3, to: 58 });
  });
  it("follows the alignment", () => {
    setAlign("mark:warm-up over");
    expect(offsets.value).toEqual([5, 7]);
    expect(extent.value).toEqual({ from: -7, to: 55 });
    choose({ from: 0, to: 10 });
    expect(windowOf(0)).toEqual({ from: 5, to: 15 });
    expect(windowOf(1)).toEqual({ from: 7, to: 17 });
  });
  it("stays inside the recording and never vanishes", () => {
    choose({ from: -50, to: 500 });
    expect(chosen.value).toEqual({ from: 0, to: 60 });
    choose({ from: 70, to: 80 });
    expect(chosen.value).toEqual({ from: 50, to: 60 });
    choose({ from: 5, to: 5 });
    expect((chosen.value?.to ?? 0) - (chosen.value?.from ?? 0)).toBeCloseTo(least());
  });
  it("zooms and moves", () => {
    zoom(2);
    expect(chosen.value).toEqual({ from: 15, to: 45 });
    pan(0.5);
    expect(chosen.value).toEqual({ from: 30, to: 60 });
    zoom(0.5);
    expect(chosen.value).toBeNull();
  });
});
