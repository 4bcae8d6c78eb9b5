// What the page of instructions shows of a function: what is folded, brackets, lines of source, words of loops.
import { describe, expect, it } from "vitest";
import type { ListedFunction, ListedLoop, Run } from "../../src/bundle/types";
import { AROUND, bracketsOf, hottest, landedIn, loopInWords, loopsOf, markOf, partsOf, signed, sourcesOf } from "../../src/model/instructions";
import { COLD, instructionsOf } from "../bundle/instructions";

const runs = [{}, {}] as Run[];
const find = instructionsOf(runs, (name) => name).listings.functions[1]!;
const texts = find.rows.map((r) => (r.slow ?? r.against)?.text);
const at = (text: string) => texts.indexOf(text);

describe("folding", () => {
  it("keeps what is near samples, on either side", () => {
    const parts = partsOf(find, false, new Set());
    const folded = parts.filter((p) => !("row" in p));
    expect(folded).toEqual([{ from: at("cmp rdi, rdx") + AROUND + 1, to: at("mov rax, [rcx]") - AROUND }]);
    expect(partsOf(find, true, new Set()).length).toBe(find.rows.length);
    expect(partsOf(find, false, new Set([at("cmp rdi, rdx") + AROUND + 1])).length).toBe(find.rows.length);
  });
  it("keeps ends of loops, and folds no single row", () => {
    const cold = { ...find, rows: find.rows.map(({ slow, against, same }) => ({ ...(slow ? { slow: { address: slow.address, text: slow.text } } : {}), ...(against ? { against: { address: against.address, text: against.text } } : {}), same })) };
    const shown = partsOf(cold, false, new Set()).flatMap((p) => ("row" in p ? [texts[p.row]] : []));
    // The first row is cold and alone: folding it would take as much room.
    expect(shown).toEqual(["mov rax, rsi", "imul rax, rdx", "add rax, 1", "jne 0x1214", "jmp 0x1204"]);
    expect(COLD).toBeGreaterThan(2 * AROUND);
  });
});

describe("brackets", () => {
  it("hold on both sides, and go on beside rows that only the other side has", () => {
    const [slow, against] = [bracketsOf(find, "slow"), bracketsOf(find, "against")];
    expect(slow[at("imul rax, rdx")]).toEqual(["begin", "none"]);
    expect(slow[at("add rax, 1")]).toEqual(["within", "begin"]);
    expect(against[at("jne 0x1214")]).toEqual(["within", "end"]);
    expect(against[at("xor edx, edx")]).toEqual(["within", "none"]);
    expect(against[at("jmp 0x1204")]).toEqual(["end", "none"]);
  });
  it("are of loops with samples", () => {
    const of = find.of.slow as ListedFunction;
    expect(loopsOf({ ...of, loops: of.loops.map((l, i) => ({ ...l, share: i === 0 ? 0.001 : 0.5 })) }).length).toBe(1);
    expect(loopsOf(null)).toEqual([]);
  });
});

describe("rows", () => {
  it("begin lines of source where another is known", () => {
    const begins = sourcesOf(find, "slow").flatMap((s, i) => (s ? [[texts[i], s.source, s.inlined]] : []));
    expect(begins).toEqual([
      ["imul rax, rdx", "mix.h:7", "mix"], ["div qword ptr [rdi+0x18]", "map.cpp:16", ""], ["mov rdx, [rdx]", "map.cpp:19", ""], ["mov rax, [rcx]", "map.cpp:31", ""],
    ]);
  });
  it("are marked where only one side has them", () => {
    expect([at("xor edx, edx"), at("and rax, rdx"), at("cmp rdi, rdx"), at("add rax, 1")].map((i) => markOf(find.rows[i]!, true))).toEqual(["+", "−", "~", ""]);
    expect(markOf(find.rows[at("xor edx, edx")]!, false)).toBe("");
  });
  it("are looked at by their difference, or by their time", () => {
    expect(texts[hottest(find.rows) as number]).toBe("mov rdx, [rdx]");
    expect(hottest([])).toBeNull();
    const alone = find.rows.flatMap(({ slow }) => (slow ? [{ slow, same: false }] : []));
    expect(alone[hottest(alone) as number]?.slow.text).toBe("mov rdx, [rdx]");
    expect(landedIn(find, "against")).toBe(30 + 138 + 5);
  });
});

describe("words of loops", () => {
  const loop = find.of.slow?.loops[1] as ListedLoop;
  const of = find.of.slow as ListedFunction;
  it("say what is known", () => {
    const said = loopInWords(loop, of);
    expect([said.round, said.verdict]).toEqual(["153 ns a round", "memory-bound"]);
    expect(said.facts).toEqual(["95 % CI 151 ns to 154 ns", "4 instructions a round", "CPI 153", "611 cycles, bound 4.00 (chain of results)"]);
  });
  it("say why the rest is not", () => {
    expect(loopInWords({ ...loop, round: null, unknown: "no register counts its rounds", cycles: null, cpi: null, verdict: "" }, of)).toEqual({
      round: "time of a round unknown: no register counts its rounds", facts: ["4 instructions a round", "bound 4.00 (chain of results)"], verdict: "",
    });
    expect(loopInWords({ ...loop, instructions: null, bound: null }, of).facts[1]).toBe("instructions a round and bound unknown: its ways part, or the code does not tell");
    expect(loopInWords({ ...loop, likely: true, bound: null, cycles: null, cpi: null }, { ...of, frequency: null }).facts).toEqual([
      "95 % CI 151 ns to 154 ns", "4 instructions a round on the way with most samples", "no bound: it has calls, fences or string instructions", "cycles unknown: the CPU’s frequency was not measured",
    ]);
  });
  it("give differences a sign", () => {
    expect([signed(158.3), signed(-1200), signed(0)]).toEqual(["+158 ns", "−1.20 µs", "0 s"]);
  });
});
