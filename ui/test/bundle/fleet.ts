// Synthetic fleets: two bands with all that can be said of them, three bands, several bandings, groups, none, and names that want to be markup.
import { gzipSync } from "node:zlib";
import {
  FLEET_FORMAT, type FleetAsked, type FleetBanding, type FleetDifference, type FleetLine, type FleetPage, type FleetPageGroup, type FleetSeparated, type FleetSince, type FleetWhy,
} from "../../src/bundle/generated";
import { HOSTILE, random } from "./samples";

export interface FleetSample {
  page: FleetPage;
  blocks: Record<string, Uint8Array>;
}

/** Numbers that are about normal. */
function normal(next: () => number): () => number {
  return () => next() + next() + next() + next() + next() + next() - 3;
}

/** Collects the bytes of a group's block. */
class Bytes {
  private readonly all: number[] = [];
  floats(values: number[]): number {
    const at = this.all.length;
    const bytes = new Uint8Array(Float32Array.from(values).buffer);
    for (let plane = 0; plane < 4; plane++) for (let i = 0; i < values.length; i++) this.all.push(bytes[i * 4 + plane] as number);
    return at;
  }
  bytes(values: Uint8Array): number {
    const at = this.all.length;
    for (const v of values) this.all.push(v);
    return at;
  }
  done(): Uint8Array {
    return Uint8Array.from(this.all);
  }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

function difference(values: number[], is: (i: number) => boolean): FleetDifference {
  const band = median(values.filter((_, i) => is(i)));
  const others = median(values.filter((_, i) => !is(i)));
  const shift = band - others;
  return { band, others, superiority: shift > 0 ? 0.972 : 0.021, p: 1e-9, q: 1e-8, shift: { value: shift, low: shift * (shift > 0 ? 0.9 : 1.1), high: shift * (shift > 0 ? 1.1 : 0.9) } };
}

/** What a sample can be asked for. */
export interface FleetOptions {
  hosts: number;
  bands?: 0 | 2 | 3;
  hostile?: boolean;
  /** Another banding besides. */
  second?: boolean;
  /** Several recordings of each host. */
  several?: boolean;
  seed?: number;
}

const LINES: readonly (readonly [string, string, string, number])[] = [
  ["process.cpu_time{comm=server} per operation", "s/op", "CPU time, user and kernel", 0.4],
  ["run_queue.b5{comm=server} per operation", "1/op", "Waits of 33 µs to 66 µs", 0.35],
  ["memory.resident", "B", "Resident memory of the workload", 1.2],
  ["variation of process.run_wait{comm=server} per operation", "s/op", "Run-queue wait of its threads", 0.3],
  ["syscall.calls{call=futex}", "1/s", "Calls a second", 0.2],
  ["interrupts.count{line=LOC}", "1/s", "Interrupts of the local timer", 1.1],
  ["network.received{device=eth0}", "B/s", "Bytes received", 2.4],
  ["cpu.user", "s/s", "CPU time in user mode", 0.8],
  ["cpu.system", "s/s", "CPU time in the kernel", 0.6],
];

function asked(metric: string, unit: string, values: (number | null)[], more: Partial<FleetAsked> = {}): FleetAsked {
  return {
    metric, unit, help: "Operations done", better: "more", spread: 0.91, values, errors: values.map((v) => (v === null ? null : v * 0.012)), bands: 1, logs: true, strays: [], shown: [], ...more,
  };
}

function group(o: FleetOptions, within: string | null, seed: number): { made: FleetPageGroup; bytes: Uint8Array } {
  const next = random(seed);
  const gauss = normal(next);
  const n = o.hosts;
  const bands = o.bands ?? 2;
  const bad = (text: string) => (o.hostile ? `${text}${HOSTILE}\nsecond line` : text);
  const bytes = new Bytes();
  const every = 8;
  const of = Array.from({ length: n }, (_, i) => (bands === 0 ? 0 : i % every === 3 ? 0 : bands === 3 && i % every === 5 ? 1 : bands - 1));
  const level = bands === 3 ? [3400, 2100, 1200] : bands === 2 ? [3400, 1200] : [1200];
  const values = of.map((band) => (level[band] as number) * Math.exp(gauss() * (band === 0 && bands > 0 ? 0.012 : 0.06)));
  const stray = n >= 8 ? 1 : -1;
  const unsure = bands > 0 && n >= 8 ? 2 : -1;
  if (stray >= 0) values[stray] = bands === 0 ? 500 : 460;
  if (unsure >= 0) values[unsure] = 2030;
  const missing = n >= 12 ? 6 : -1;
  const band: (number | null)[] = of.map((b, i) => (i === stray || i === missing ? null : b));
  const shown = values.map((v, i) => (i === missing ? null : v));
  const strays = stray >= 0 ? [{ recording: stray, deviations: -14.2 }] : [];
  const members = (b: number) => values.flatMap((_, i) => (band[i] === b ? [i] : []));
  const said = (b: number) => members(b).map((i) => values[i] as number);
  const counted = band.filter((b) => b !== null).length;
  const is = (b: number) => (i: number) => band[i] === b;
  const zones = of.map((b, i) => (b === 0 && bands > 0 ? 0 : 1 + (i % 2)));
  const separated = (b: number): { of: FleetSeparated; lines: number[]; functions: number[] } => {
    const lines: FleetLine[] = [];
    const offsets: number[] = [];
    LINES.forEach(([metric, unit, help, factor], k) => {
      const base = unit === "B" ? 3e9 : unit === "B/s" ? 4e6 : unit === "s/op" ? 1.4e-3 : unit === "1/op" ? 0.06 : unit === "s/s" ? 1.1 : 4200;
      const all = values.map((_, i) => base * (band[i] === b ? factor : 1) * Math.exp(0.08 * gauss()));
      lines.push({ metric: k === 0 ? bad(metric) : metric, unit, help, with: k === 0 ? [bad("process.user{comm=server} per operation"), "workload.cpu per operation"] : [], difference: difference(all, is(b)) });
      offsets.push(bytes.floats(all));
    });
    const share = values.map((_, i) => (band[i] === b ? 0.11 : 0.27) + 0.01 * gauss());
    return {
      of: {
        band: b + 1, others: bands === 2 ? "band 2" : "the others",
        says: `What separates band ${b + 1} from ${bands === 2 ? "band 2" : "the others"}: ${lines.length} of 1229 lines, where bands at random would have 1 at most.`,
        brief: `What separates band ${b + 1}: platform.zone = ${bad("a")}, ${lines[0]?.metric}, and 9 more.`,
        not: [`The work is equal: band ${b + 1} does -0.8 to +1.1 % as much (90 % CI).`, "No function's share differs by more than 0.8 points; `add` leaves most open."],
        lines, tested: 1229, by_chance: 1, hosts_needed: null,
        facts: [
          { fact: "platform.zone", value: bad("a"), band: [members(b).length, members(b).length], others: [2, counted - members(b).length], p: 1e-7, q: 1e-6 },
          { fact: "cpu.microcode", value: "0x2b000590", band: [members(b).length, members(b).length], others: [Math.floor(counted / 3), counted - members(b).length], p: 0.001, q: 0.02 },
        ],
        facts_unique: ["platform.serial", "network.address"], facts_same: 260,
        functions: [{ function: bad("std::sync::Mutex<T>::lock"), module: "server", state: "cpu", difference: difference(share, is(b)) }],
        rule: { says: `Rule: band ${b + 1} is where cpu.user below 1.01 s/s: wrong for 0 of ${counted} on other blocks of time (${members(b).length} without a rule).`, cuts: [{ metric: "cpu.user", at: 1.01, above: false }], join: "and", wrong: 0, wrong_elsewhere: 0, hosts: counted, without: members(b).length },
        functions_at_most: null, work: { change: 0.001, low: -0.008, high: 0.011, equal: true },
      },
      lines: offsets, functions: [bytes.floats(share)],
    };
  };
  const all = Array.from({ length: bands }, (_, b) => b);
  const parts = (bands === 2 ? [0] : all).map(separated);
  const columns = n > 1000 ? 60 : 120;
  const [low, high] = [400, 4000];
  const course = new Uint8Array(n * columns);
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < columns; c++) {
      // One host changes its band at 60 %.
      const v = (i === 7 && c > columns * 0.6 ? 3400 : (values[i] as number)) * Math.exp(0.03 * gauss());
      course[i * columns + c] = i === missing || (c === 0 && i % 3 === 0) ? 255 : Math.round(254 * Math.min(1, Math.max(0, Math.log(v / low) / Math.log(high / low))));
    }
  }
  const drawnCourse = { offset: bytes.bytes(course), columns, seconds: 60, low, high, log: true };
  const start = 1_795_000_000_000_000_000;
  const since: FleetSince = {
    says: [`${counted - 1} recordings did not change their bands, in ${n} min of recordings in all.`],
    switches: n > 8 ? [{ recording: 7, at: start + 36e9, up: true, after_start: 8_123e9 }] : [], around: [], steady: counted - 1, watched: 60 * n, decides: null, starts: null,
  };
  const nearest = (b: number) => {
    const middle = median(said(b));
    return members(b).filter((i) => i !== unsure).toSorted((x, y) => Math.abs((values[x] as number) - middle) - Math.abs((values[y] as number) - middle)).slice(0, 5);
  };
  const banding: FleetBanding = {
    title: `The bands are the values of \`platform.zone\`: ${members(0).length} of ${counted} hosts do 2.8× the work per second of the others.`,
    says: ["The bands are the values of platform.zone.", `${bands} bands by work.done: ${members(0).length} of ${counted} at 3.40 k/s, the others at 1.20 k/s: 2.8× between them; p = 0.001.`],
    share_says: ["The smaller band's share may be 1/8, not 1/2, 1/3, 1/4, 1/16."], by: 0, metrics: ["work.done", "cpu.busy per operation"], unit: "1/s", p: 0.001,
    bands: all.map((b) => ({ count: members(b).length, of: counted, share: { low: 0.07, high: 0.25 }, middle: median(said(b)), low: Math.min(...said(b)), high: Math.max(...said(b)), nearest: nearest(b) })),
    valleys: bands === 3 ? [{ at: 1600, depth: 0.1 }, { at: 2700, depth: 0.05 }] : [{ at: 2050, depth: 0.02 }],
    of: band, undecided: unsure >= 0 ? [unsure] : [], strays, lost: 0.41, facts: ["platform.zone"], slow_and_fast: [bands - 1, 0], separated: parts.map((p) => p.of), since,
  };
  const wait = values.map((_, i) => (i % 4 === 1 ? 0.31 : 0.04) * Math.exp(0.1 * gauss()));
  const other: FleetBanding = {
    ...banding, title: "A quarter of the hosts stand apart by `process.run_wait{comm=server} per operation`: 310 ms/op against 40 ms/op on the others.", says: ["2 bands by process.run_wait{comm=server} per operation."], share_says: [],
    by: 1, metrics: ["process.run_wait{comm=server} per operation"], unit: "s/op", of: wait.map((_, i) => (i % 4 === 1 ? 1 : 0)), undecided: [], strays: [], facts: [], slow_and_fast: [1, 0],
    bands: [0, 1].map((b) => {
      const own = wait.flatMap((_, i) => ((i % 4 === 1 ? 1 : 0) === b ? [i] : []));
      return { count: own.length, of: n, share: { low: 0.2, high: 0.3 }, middle: median(own.map((i) => wait[i] as number)), low: 0.03, high: 0.4, nearest: own.slice(0, 5) };
    }),
    valleys: [{ at: 0.11, depth: 0.01 }], separated: [], since: { ...since, says: [], switches: [] },
  };
  const why: FleetWhy = {
    slow: nearest(bands - 1), fast: nearest(0), verdict: "91 % of the slowdown: threads use different data of one cache line in `add()`.",
    explanation: {
      run: 1, against: 0, outcome: "slower", which: null, unexplained: 0.09, notes: [], not_evaluated: [],
      findings: [{
        cause: "false-sharing", title: "threads use different data in one cache line", share: 0.91, low: 0.86, high: 0.96, subject: "add", says: bad("threads use different data of one cache line in `add()`"),
        evidence: ["sampled: waiting for that line takes 52.7 % of the CPU time"], advice: ["give each thread's part a line of its own"], check: ["twinscope sharing SLOW.twin"], experiment: [], references: [], query: "select 1", states: [], pages: [], function: null,
      }],
    },
  };
  const name = (i: number) => bad(`host-${String(i).padStart(5, "0")}`);
  const made: FleetPageGroup = {
    answer: {
      within,
      recordings: values.map((_, i) => ({
        id: `id${i}`, host: o.several ? name(Math.floor(i / 2)) : name(i), run: `run ${i}`, name: o.several ? `${name(Math.floor(i / 2))} run ${i}` : name(i),
        file: `recordings/${bad(`host ${i}`)}.twin`, start: start + i * 1e9, seconds: 60, labels: { zone: "a" },
      })),
      asked: [
        asked("work.done", "1/s", shown, { bands: Math.max(1, bands), strays, shown: bands === 0 ? [{ share: 0.5, ratio: 1.21, difference: 240 }, { share: 0.125, ratio: 1.38, difference: 420 }] : [] }),
        asked("process.run_wait{comm=server} per operation", "s/op", wait, { better: "less", bands: o.second ? 2 : 1, help: "Run-queue wait of its threads" }),
        asked("workload.disk per operation", "s/op", values.map(() => 0), { better: "less", bands: null, spread: 0.02, help: "Blocked on a disk or a file system", logs: false }),
      ],
      bandings: bands === 0 ? [] : o.second ? [banding, other] : [banding],
      says: bands === 0 ? [`No bands among ${n} recordings.`, "Asked by work.done, process.run_wait{comm=server} per operation.", "By work.done it would have shown, with a chance of 80 %: 50 % of them with 1.21× as much; 12 % of them with 1.38× as much."] : [],
      strays: stray < 0 ? [] : [{ recording: stray, lines: [
        { metric: "work.done", unit: "1/s", value: values[stray] as number, middle: 1200, deviations: -14.2 },
        { metric: "disk.await{device=nvme0n1}", unit: "s", value: 0.31, middle: 0.0021, deviations: 212 },
      ], more: 3 }],
    },
    block: "fleet-0",
    drawn: bands === 0 ? [] : [{ course: drawnCourse, strips: parts.map(({ lines, functions }) => ({ lines, functions })) }, ...(o.second ? [{ course: null, strips: [] }] : [])],
    facts: bands === 0 ? [] : [{ fact: "platform.zone", values: [bad("a"), "b", "c"], of: zones }, { fact: "cpu.microcode", values: ["0x2b000590", "0x2b000461"], of: zones.map((z) => (z === 2 ? 1 : z === 1 ? null : 0)) }],
    why: bands === 0 ? null : why, not_explained: null,
  };
  return { made, bytes: bytes.done() };
}

/** A fleet. */
export function fleetOf(o: FleetOptions): FleetSample {
  const { made, bytes } = group(o, null, o.seed ?? 11);
  const folder = o.hostile ? `fleet${HOSTILE}` : "fleet/";
  return { page: { format: FLEET_FORMAT, version: "0.1.0", made: 1_795_000_400, folder, command: "twinscope fleet bands fleet/", within: null, groups: [made] }, blocks: { "fleet-0": bytes } };
}

/** Two groups, of which the second has no bands. */
export function groupedFleet(): FleetSample {
  const { page, blocks } = fleetOf({ hosts: 64 });
  const other = group({ hosts: 32, bands: 0 }, "Neoverse-V2", 23);
  const [first] = page.groups;
  if (!first) throw new Error("a fleet has a group");
  return { page: { ...page, within: "cpu.model", groups: [{ ...first, answer: { ...first.answer, within: "EPYC 9R14" } }, { ...other.made, block: "fleet-1" }] }, blocks: { ...blocks, "fleet-1": other.bytes } };
}

/** A single recording: nothing was measured that could be drawn. */
export function loneFleet(): FleetSample {
  const { page } = fleetOf({ hosts: 1, bands: 0 });
  const [first] = page.groups;
  if (!first) throw new Error("a fleet has a group");
  const answer = { ...first.answer, asked: [], says: ["No bands: 1 recording asked, fewer than three recordings."] };
  return { page: { ...page, groups: [{ ...first, answer, block: null }] }, blocks: {} };
}

export const FLEETS: Record<string, () => FleetSample> = {
  small: () => fleetOf({ hosts: 12 }), banded: () => fleetOf({ hosts: 64 }), three: () => fleetOf({ hosts: 128, bands: 3 }), bandings: () => fleetOf({ hosts: 64, second: true }), none: () => fleetOf({ hosts: 64, bands: 0 }),
  grouped: groupedFleet, starts: () => fleetOf({ hosts: 64, several: true }), hostile: () => fleetOf({ hosts: 24, hostile: true }), lone: loneFleet, large: () => fleetOf({ hosts: 10_000 }),
};

/** The html file: the template with the data and the blocks at its marker. */
export function assembleFleet(template: string, { page, blocks }: { page: object; blocks: Record<string, Uint8Array> }): string {
  const parts = template.split("<!--TWINSCOPE-DATA-->");
  if (parts.length !== 2) throw new Error("the template has no single marker <!--TWINSCOPE-DATA-->");
  const script = (id: string, bytes: Uint8Array | string) => `<script type="text/plain" id="${id}">${gzipSync(bytes).toString("base64")}</script>`;
  return parts.join([script("twinscope-fleet", JSON.stringify(page)), ...Object.entries(blocks).map(([id, bytes]) => script(`block-${id}`, bytes))].join("\n"));
}
