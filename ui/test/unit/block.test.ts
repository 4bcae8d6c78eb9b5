// Blocks: what was written is read; what is damaged is refused with a reason.
import { describe, expect, it } from "vitest";
import { gzipSync } from "node:zlib";
import { Block } from "../../src/bundle/block";
import { FORMAT } from "../../src/bundle/generated";
import { fromBase64, gunzip, readHead } from "../../src/bundle/load";
import { encodeBlock } from "../bundle/encode";

const times = [{ t: [0.5, 1.5, 2.5] }, { t: [1, 2], widths: [2, 1] }];

describe("Block", () => {
  it("reads every coding, level and bound", () => {
    const b = new Block(
      encodeBlock(times, [
        [{ time: 1, values: [1, 2], min: [0, 1], max: [5, 6] }, { time: 0, values: [0.1, null, -3e9] }],
        [{ time: 0, values: [0, 127, null], coding: "u8", scale: 254 }],
      ]),
    );
    expect(b.count).toBe(2);
    expect(b.depth(0)).toBe(2);
    const coarse = b.level(0, 0);
    expect([...coarse.v]).toEqual([1, 2]);
    expect([...coarse.min]).toEqual([0, 1]);
    expect([...coarse.max]).toEqual([5, 6]);
    expect([...(coarse.widths ?? [])]).toEqual([2, 1]);
    const fine = b.finest(0);
    expect([...fine.t]).toEqual([0.5, 1.5, 2.5]);
    expect([...fine.v]).toEqual([Math.fround(0.1), Number.NaN, Math.fround(-3e9)]);
    expect(fine.max).toBe(fine.v);
    expect(fine.widths).toBeNull();
    expect([...b.finest(1).v]).toEqual([0, 127, Number.NaN]);
  });

  const good = () => encodeBlock(times, [[{ time: 0, values: [1, 2, 3] }]]);
  const reindexed = (change: (index: { times: { n: number; offset: number }[]; series: { levels: Record<string, unknown>[] }[] }) => void) => {
    const bytes = good();
    const length = new DataView(bytes.buffer).getUint32(4, true);
    const start = Math.ceil((8 + length) / 8) * 8;
    const index = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
    change(index);
    const json = new TextEncoder().encode(JSON.stringify(index));
    const begin = Math.ceil((8 + json.length) / 8) * 8;
    const out = new Uint8Array(begin + bytes.length - start);
    out.set(bytes.subarray(0, 4));
    new DataView(out.buffer).setUint32(4, json.length, true);
    out.set(json, 8);
    out.set(bytes.subarray(start), begin);
    return new Block(out);
  };

  it.each([
    ["nothing", () => new Block(new Uint8Array()), /does not start with TWB1/],
    ["another magic", () => new Block(new TextEncoder().encode("ABCD00000000")), /does not start with TWB1/],
    ["an index longer than the block", () => new Block(good().subarray(0, 40)), /longer than the block/],
    ["a cut data section", () => new Block(good().slice(0, -16)).finest(0), /outside the block/],
    ["a missing series", () => new Block(good()).finest(7), /no series 7/],
    ["a missing time axis", () => reindexed((i) => Object.assign(i.series[0]?.levels[0] ?? {}, { time: 9 })).finest(0), /no time axis 9/],
    ["an offset out of range", () => reindexed((i) => Object.assign(i.series[0]?.levels[0] ?? {}, { offset: 1e9 })).finest(0), /outside/],
    ["a negative offset", () => reindexed((i) => Object.assign(i.series[0]?.levels[0] ?? {}, { offset: -8 })).finest(0), /outside/],
    ["an offset that is not aligned", () => reindexed((i) => Object.assign(i.times[0] ?? {}, { offset: 3 })).finest(0), /outside/],
    ["an unknown coding", () => reindexed((i) => Object.assign(i.series[0]?.levels[0] ?? {}, { coding: "zip" })).finest(0), /unknown coding "zip"/],
    ["another length than its times", () => reindexed((i) => Object.assign(i.series[0]?.levels[0] ?? {}, { n: 2 })).finest(0), /2 values for 3 times/],
  ])("refuses %s", (_what, make, why) => {
    expect(make).toThrow(why);
  });

  it("refuses times that go back", () => {
    expect(() => new Block(encodeBlock([{ t: [2, 1] }], [[{ time: 0, values: [1, 2] }]])).finest(0)).toThrow(/not ascending/);
  });
});

describe("loading", () => {
  it("unpacks base64 and gzip, and refuses what is cut off", async () => {
    const text = gzipSync(Buffer.from("hello")).toString("base64");
    expect(new TextDecoder().decode(await gunzip(fromBase64(`\n${text}\n`)))).toBe("hello");
    await expect(gunzip(fromBase64(text.slice(0, 24)))).rejects.toThrow(/cannot be unpacked/);
    expect(() => fromBase64("!!")).toThrow(/not base64/);
  });

  const doc = (text: string | null) => ({ getElementById: () => (text === null ? null : { textContent: text }) }) as unknown as Document;

  it("says plainly which format it does not know", () => {
    expect(() => readHead(doc('{"format":7}'))).toThrow(`This report has format 7; this page draws format ${FORMAT}.`);
    expect(() => readHead(doc("null"))).toThrow(/format null/);
    expect(() => readHead(doc("{"))).toThrow(/damaged/);
    expect(() => readHead(doc(null))).toThrow(/empty template/);
    expect(() => readHead(doc('{"format":2,"runs":[]}'))).toThrow(/names no recording/);
  });
});
