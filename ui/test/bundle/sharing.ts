// A synthetic block `sharing`: counters of four threads in one line, in all recordings but the first; a second line; and a lock word that all write.
import type { Run, SharedAccess, SharedLine, SharedLines, SharedMoved, SharedOfRun, SharedThing } from "../../src/bundle/types";

const access = (thread: number, first: number, size: number, does: string, more: Partial<SharedAccess> = {}): SharedAccess =>
  ({ thread, first, size, does, function: "account", text: "add dword ptr [rdi+4], 1", source: "stats.c:13", waited: 40, hits: 8, sampled: 0, from_core: 0, ...more });

function counters(bad: (name: string) => string, address: number): SharedLine {
  const of = [0, 1, 2, 3];
  return {
    address, watched: true, source: bad("stats.c:4"),
    fields: of.flatMap((t) => [
      { first: t * 16, size: 4, name: `stats[${t}].limit`, of_type: "unsigned int" },
      { first: t * 16 + 4, size: 4, name: `stats[${t}].packets`, of_type: "unsigned int" },
      { first: t * 16 + 8, size: 8, name: `stats[${t}].bytes`, of_type: bad("unsigned long") },
    ]),
    threads: of.map((t) => ({ tid: 4710 + t, name: bad("worker") })),
    cells: of.flatMap((t) => [
      { first: t * 16, size: 4, writers: [], readers: t === 0 ? [0, 1] : [t] },
      { first: t * 16 + 4, size: 12, writers: t === 3 ? [2, 3] : [t], readers: t === 1 ? [0] : [] },
    ]),
    accesses: of.flatMap((t) => [access(t, t * 16 + 4, 4, "read, write"), access(t, t * 16, 4, "read", { waited: 120, hits: 12, text: bad("and eax, [rdi]") }), access(t, t * 16 + 8, 0, "write", { function: "", source: "" })]),
    left_out: 2,
  };
}

const thing = (lines: SharedLine[], more: Partial<SharedThing>): SharedThing => ({
  kind: "false", name: "stats", memory: "global", pid: 4709, comm: "packet-stats", part: [0.44, 0.42, 0.46], speedup: [1.79, 1.72, 1.85],
  functions: [{ name: "account", part: 0.97 }, { name: "", part: 0.03 }], advice: "give each thread's part a cache line of its own", lines, left_out: 0, ...more,
});

/** A line of two threads of which the CPU has sampled accesses. */
function moved(bad: (name: string) => string): SharedMoved {
  const line: SharedLine = {
    address: 0x7f0000001000, watched: false, source: "", fields: [],
    threads: [{ tid: 101, name: bad("left") }, { tid: 102, name: "right" }],
    cells: [{ first: 8, size: 8, writers: [], readers: [0] }, { first: 16, size: 8, writers: [1], readers: [] }],
    accesses: [
      access(0, 8, 0, "read", { text: "", source: "", waited: 0, hits: 0, sampled: 120, from_core: 90 }),
      access(1, 16, 0, "write", { function: bad("put"), text: "", source: "", waited: 0, hits: 0, sampled: 80 }),
    ],
    left_out: 0,
  };
  return { kind: "false", name: bad("ring"), memory: "heap", pid: 100, comm: "queue", sampled: 200, from_core: 90, modified: 88, cycles: 212.4, part: 0.61, advice: "give each a line.", line };
}

/** What reports of `runs` hold; `none`: it was not looked for shared lines in any. */
export function sharingOf(runs: Run[], bad: (name: string) => string, none = false): SharedLines {
  const empty: SharedOfRun = { missing: null, things: [], left_out: 0, transfer: 58.5, atomic: 4.3, hits: 96, looked: true, sampled: null, moved: [], moved_left_out: 0 };
  const missing = { why: "it was not looked for shared lines: only root may sample registers", remedy: "sudo twinscope record" };
  const word: SharedLine = {
    address: 0x55e7b8059000, watched: false, source: "", fields: [{ first: -8, size: 24, name: bad("queue.head"), of_type: "" }],
    threads: [{ tid: 4710, name: "worker" }, { tid: 4711, name: "worker" }], cells: [{ first: 0, size: 8, writers: [0, 1], readers: [] }],
    accesses: [access(0, 0, 8, "atomic", { text: "lock xadd [rdi], rax" }), access(1, 0, 8, "atomic")], left_out: 0,
  };
  const slow: SharedOfRun = {
    ...empty, left_out: 1, hits: 112, sampled: 5000, moved: [moved(bad)], moved_left_out: 1,
    things: [
      thing([counters(bad, 0x55e7b8056200), counters(bad, 0x55e7b8056240)], { name: bad("stats"), left_out: 3 }),
      thing([word], { kind: "true", name: bad("queue"), memory: "heap", part: [0.031, 0.02, 0.04], speedup: [1.03, 1.02, 1.04], advice: "batches." }),
    ],
  };
  return { runs: runs.map((_, at): SharedOfRun => (none ? { ...empty, missing, transfer: null, atomic: null, hits: null, looked: false } : at > 0 || runs.length === 1 ? slow : { ...empty, hits: null })) };
}
