// A synthetic block `instructions`: a lookup that waits for memory in the other runs, with a loop whose rounds are counted, one whose are not, cold code
// between them, instructions that one side lacks; and a function that a process made in the slow run only.
import type { Instructions, Listed, ListedCell, ListedFunction, ListedLoop, ListedRow, Listings, Run } from "../../src/bundle/types";

export interface InstructionsSample {
  spec: Instructions;
  listings: Listings;
}

/** ns per operation of the hottest load, of the slow side and of the other. */
export const LOAD = { slow: 163.4, against: 5.06 };
/** Instructions of `find` between its two loops, which no sample is near. */
export const COLD = 40;

const loop = (from: number, to: number, depth: number, more: Partial<ListedLoop>): ListedLoop => ({
  from, to, depth, share: 0.9, ns: 150, round: null, unknown: "no register counts its rounds", instructions: 4, likely: false, cycles: null, cpi: null,
  bound: 4, bound_by: "chain", verdict: "", waits: [{ wait: "load", part: 0.97 }, { wait: "core", part: 0.03 }], ...more,
});

/** Makes rows of two sides whose addresses are apart. */
class Code {
  readonly rows: ListedRow[] = [];
  private at = { slow: 0x1200, against: 0x1100 };
  private cell(side: "slow" | "against", text: string, length: number, more: Partial<ListedCell>): ListedCell {
    const address = this.at[side];
    this.at[side] += length;
    return { address, text, ...more };
  }
  /** An instruction; `null` for a side that lacks it. */
  put(slow: [string, Partial<ListedCell>?] | null, against: [string, Partial<ListedCell>?] | null, more: Partial<ListedRow> = {}): { slow: number; against: number } {
    const before = { ...this.at };
    this.rows.push({
      ...(slow ? { slow: this.cell("slow", slow[0], 4, slow[1] ?? {}) } : {}),
      ...(against ? { against: this.cell("against", against[0], 4, against[1] ?? {}) } : {}),
      same: slow?.[0] === against?.[0], ...more,
    });
    return before;
  }
}

const hot = (ns: number, samples: number, wait: string, line: number, more: Partial<ListedCell> = {}): Partial<ListedCell> =>
  ({ ns, samples, landed: samples, wait, lines: [{ function: "find", source: `map.cpp:${line}` }], ...more });

function find(bad: (name: string) => string): Listed {
  const code = new Code();
  const inlined = { lines: [{ function: bad("mix"), source: bad("mix.h:7") }, { function: "find", source: "map.cpp:16" }] };
  code.put(["mov rax, rsi"], ["mov rax, rsi"]);
  const outer = code.put(["imul rax, rdx", { ...hot(1.2, 12, "core", 7), ...inlined }], ["imul rax, rdx", { ...hot(1.1, 30, "core", 7), ...inlined }], { difference: [0.1, -0.7, 0.9] });
  code.put(["xor edx, edx"], null);
  code.put(["div qword ptr [rdi+0x18]", hot(4.1, 41, "long", 16)], null, { difference: [4.1, 2.8, 5.4] });
  code.put(null, ["and rax, rdx"]);
  const inner = code.put([bad("add rax, 1")], [bad("add rax, 1")]);
  code.put(["mov rdx, [rdx]", hot(LOAD.slow, 1634, "load", 19, { landed: 3 })], ["mov rdx, [rdx]", hot(LOAD.against, 138, "load", 19)], { difference: [158.3, 150.3, 166.4] });
  code.put(["cmp rdi, rdx", { landed: 1631, lines: [{ function: "find", source: "map.cpp:19" }] }], ["cmp rdi, rcx", { landed: 5 }], { same: false });
  const end = code.put(["jne 0x1214"], ["jne 0x1110"]);
  for (let i = 0; i < COLD; i++) code.put([`mov [rsp+${i * 8}], rax`], [`mov [rsp+${i * 8}], rax`], i === COLD / 2 ? { skipped: 500 } : {});
  code.put(["mov rax, [rcx]", hot(0.9, 9, "fetch", 31, { entering: 8 })], ["mov rax, [rcx]"], { difference: [0.9, 0.2, 1.6] });
  const last = code.put(["jmp 0x1204"], ["jmp 0x1104"]);
  const loops = (side: "slow" | "against", ns: number): ListedLoop[] => [
    loop(outer[side], last[side], 1, { instructions: null, bound: null, bound_by: "", unknown: "its counters begin anew between samples" }),
    loop(inner[side], end[side], 2, {
      round: { ns, low: ns * 0.99, high: ns * 1.01, pairs: 700, register: "rax", step: 1 }, unknown: "", cycles: ns * 4, cpi: ns, verdict: "memory",
    }),
  ];
  const of = (side: "slow" | "against", ns: number, samples: number): ListedFunction => ({
    function: bad("Map::find"), module: bad("/opt/shop/lib/_map.cpython-311-x86_64-linux-gnu.so"), pid: null, whole: true, ns, share: side === "slow" ? 0.93 : 0.4, samples, with_registers: samples - 20, skid: 1,
    frequency: 4e9, waits: [{ wait: "load", part: 0.95 }, { wait: "long", part: 0.03 }, { wait: "core", part: 0.02 }], loops: loops(side, ns * 0.9), versions: 0, versions_samples: 0,
    calls: { ns, low: ns * 0.95, high: ns * 1.05, between: ns * 1.1, even: side === "slow", looks: 3, at_most: side === "slow" },
  });
  return { of: { slow: of("slow", 169.6, 1696), against: of("against", 6.2, 168) }, difference: [163.4, 155.2, 171.6], rows: code.rows };
}

function made(bad: (name: string) => string): Listed {
  const base = 0x7f25e4ed3900;
  const rows = Array.from({ length: 12 }, (_, i): ListedRow => ({
    slow: { address: base + i * 5, text: i % 3 === 0 ? "mov edx, [rsi+rdx*4+0x10]" : "cmp edx, r10d", ...(i === 4 ? { ns: 3.5, samples: 35, landed: 35, wait: "unknown" } : {}) }, same: false,
  }));
  const slow: ListedFunction = {
    function: bad("com.example.follow.AbstractLinkedChain$Follower.advanceToNext"), module: "", pid: 4711, whole: false, ns: 3.5, share: 0.02, samples: 35, with_registers: 35, skid: null, frequency: null,
    waits: [{ wait: "unknown", part: 1 }], loops: [], versions: 2, versions_samples: 12, calls: null,
  };
  return { of: { slow, against: null }, difference: [3.5, 2.3, 4.7], rows };
}

/** One run alone has no other side, and no differences. */
function alone(listed: Listed): Listed {
  const rows = listed.rows.flatMap(({ slow, skipped }): ListedRow[] => (slow ? [{ slow, same: false, ...(skipped ? { skipped } : {}) }] : []));
  return { of: { slow: listed.of.slow, against: null }, difference: null, rows };
}

/** With `lacks`, no recording has any code. */
export function instructionsOf(runs: Run[], bad: (name: string) => string, lacks = false): InstructionsSample {
  const several = runs.length > 1;
  const functions = [made(bad), find(bad)].map((l) => (several ? l : alone(l)));
  const why = { why: "it has no machine code: only root may sample registers", remedy: "sudo twinscope record" };
  return {
    spec: { block: lacks ? null : "instructions", run: several ? 1 : 0, against: several ? 0 : null, missing: runs.map(() => (lacks ? why : null)) },
    listings: { per: "operation", functions, left_out: 3 },
  };
}
