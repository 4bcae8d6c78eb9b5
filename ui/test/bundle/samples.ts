// Synthetic reports that look like real ones, by name. Values follow from a seed, so that tests can say what the page must show.
import type { Chart, Column, Difference, Head, PageSpec, Row, Run, SeriesRef, SetUp } from "../../src/bundle/types";
import { IPI_TABLE, profileOf } from "./profile";
import { instructionsOf } from "./instructions";
import { countersOf } from "./counters";
import { codeOf } from "./code";
import { machineOf } from "./machine";
import { sharingOf } from "./sharing";
import { requestsOf } from "./requests";
import { encodeBlock, type Blocks, type LevelSpec, type TimeSpec } from "./encode";

export interface Sample {
  head: Head;
  blocks: Blocks;
}

/** A small seeded generator (mulberry32). */
export function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Collects the series of a page's block. */
class BlockMaker {
  private readonly times: TimeSpec[] = [];
  private readonly series: LevelSpec[][] = [];
  time(t: number[], widths?: number[]): number {
    return this.times.push(widths ? { t, widths } : { t }) - 1;
  }
  add(time: number, values: (number | null)[], more: Partial<LevelSpec> = {}): number {
    return this.series.push([{ time, values, ...more }]) - 1;
  }
  /** A value of the finest level, as it was put in. */
  value(series: number, k: number): number | null {
    return this.series[series]?.at(-1)?.values[k] ?? null;
  }
  bytes(): Uint8Array {
    return encodeBlock(this.times, this.series);
  }
}

const HOSTS = ["Intel(R) Xeon(R) Platinum 8488C", "AMD EPYC 9R14", "Neoverse-V2"];

function run(i: number, name: string, seconds: number, cpus: number, load: (t: number) => number | null): Run {
  const n = Math.min(600, Math.round(seconds));
  const step = seconds / n;
  const t = Array.from({ length: n }, (_, k) => (k + 0.5) * step);
  return {
    name,
    short: name,
    file: i === 0 ? `${name}.twin` : `/var/lib/runs of ${name}/${name}.twin`,
    role: i === 0 ? "baseline" : "other",
    host: `db-${i + 1}`,
    kernel: i === 0 ? "6.1.0-28-amd64" : "6.12.48+deb13-amd64",
    cpus,
    cpu_model: HOSTS[i % HOSTS.length] as string,
    memory_bytes: 25769803776,
    start: 1795000000 + i * 600,
    duration: seconds,
    interval: 1,
    sprint: null,
    command: ["./counter", "--threads", "8", "--mode", name],
    exit: { code: 0 },
    wall: seconds - 2.8 + i,
    work: { unit: "operations", total: 1.2e7 / (1 + i), per_second: 204_800 / (1 + i * 0.9) },
    labels: i === 0 ? { release: "1.4" } : { release: "1.5" },
    window: { from: 3, to: seconds - 2, why: "busy window found: CPU use above 12 %" },
    marks: [{ t: 5 + i * 2, text: "warm-up over" }],
    output: { stdout: "threads 8\ndone: 12000000 operations", stderr: "" },
    incomplete: null,
    strip: { t, busy: t.map(load) },
  };
}

function difference(page: string, title: string, unit: string, a: number, b: number, more: Partial<Difference> = {}): Difference {
  const next = random(title.length * 7 + 1);
  const noisy = (v: number) => Array.from({ length: 58 }, () => Math.max(0, v * (0.85 + next() * 0.3)));
  const change = a === 0 ? null : b / a - 1;
  const width = 0.04 + next() * 0.1;
  return {
    metric: `${page}.${title.toLowerCase().replaceAll(/[^a-z]+/g, "_")}`, labels: {}, unit, title, run: 1, baseline: a, other: b, change,
    low: change === null ? null : change - width * (1 + change), high: change === null ? null : change + width * (1 + change),
    difference: b - a, q: 1e-7 / (1 + next()), per: "second", polarity: "worse", page, chart: null, median: [a, b], p99: [a * 1.3, b * 1.4],
    query: `select run, t, value\nfrom rate('${page}', '${title}')\nwhere t between 3 and 58`, spark: [noisy(a), noisy(b)], ...more,
  };
}

const line = (run: number, name: string, data: number, labels: Record<string, string> = {}): SeriesRef => ({ run, name, title: name, labels, data });

const chart = (id: string, title: string, kind: Chart["kind"], unit: string, series: Chart["series"], more: Partial<Chart> = {}): Chart => ({
  id, title, kernel: null, kind, unit, series, help: `${title}, from the kernel's own counters`, max: null, note: null,
  read: "A rise that the other recording does not have is where to look. Read it together with the run queue.",
  query: `select run, t, name, value from chart('${id}')`, ...more,
});

const col = (id: string, title: string, unit: string, text = false): Column => ({ id, title, unit, text, help: `${title} of the process` });

/** What a sample can be asked for. */
export interface Options {
  runs: string[];
  seconds: number;
  cpus: number;
  /** Names of a hostile host in every place where a name can be. */
  hostile?: boolean;
  /** Holes in the data: a stretch not read, a series never measured. */
  holes?: boolean;
  same?: boolean;
  facts?: boolean;
  /** With stacks, locks, a thread ledger and system calls. */
  threads?: boolean;
  /** With what single instructions cost; `none`: no machine code was recorded. */
  instructions?: boolean | "none";
  /** With cache lines that threads fight over; `none`: it was not looked for them. */
  sharing?: boolean | "none";
  /** With hardware counters; `none`: only the first has them; `other`: the second is of another kind. */
  counters?: "both" | "none" | "other";
  /** With maps of code; `few`: too few samples to compare. */
  code?: boolean | "few";
  /** With figures of the machines; `same`: of one machine. */
  machine?: boolean | "same";
  /** With requests that servers answered. */
  requests?: boolean;
}

export const HOSTILE = `</script><img src=x onerror="window.pwned=1"><b>bold</b>"'&amp;`;

/** A report of CPU, scheduler, memory, disk, network and process pages. */
export function sample(o: Options): Sample {
  const { runs, seconds, cpus } = o;
  const bad = (name: string) => (o.hostile ? `${name}${HOSTILE}` : name);
  const next = random(runs.length * 1000 + cpus);
  const level = (i: number) => (o.same ? 0.5 : 0.42 + i * 0.22);
  const hole = (t: number) => o.holes === true && t > 20 && t < 26;
  const busy = (i: number) => (t: number) => (hole(t) ? null : t < 3 || t > seconds - 2 ? 0.04 : Math.min(1, level(i) * (0.85 + 0.3 * next())));
  const all = runs.map((name, i) => run(i, bad(name), seconds, cpus, busy(i)));
  const every = Math.max(1, seconds / 3600);
  const t = Array.from({ length: Math.round(seconds / every) }, (_, k) => (k + 0.5) * every);
  const blocks: Blocks = {};
  const pages: PageSpec[] = [];
  const noisy = (i: number, base: number, wobble = 0.3) =>
    t.map((x) => (hole(x) ? null : base * (x < 3 || x > seconds - 2 ? 0.05 : level(i) * 2 * (1 - wobble / 2 + wobble * next()))));

  const page = (id: string, title: string, differences: number, make: (b: BlockMaker, times: number[]) => { charts: Chart[]; tables?: PageSpec["tables"] }) => {
    const b = new BlockMaker();
    const made = make(b, all.map(() => b.time(t)));
    blocks[`page-${id}`] = b.bytes();
    pages.push({ id, title, block: `page-${id}`, differences: o.same || runs.length < 2 ? 0 : differences, view: null, charts: made.charts, tables: made.tables ?? [] });
  };
  const lines = (b: BlockMaker, times: number[], of: [string, number][]) =>
    all.flatMap((_, i) => of.map(([name, base]) => line(i, bad(name), b.add(times[i] as number, noisy(i, base)))));

  page("cpu", "CPU", 3, (b, times) => {
    const states: [string, number][] = [["user", 0.5 * cpus], ["system", 0.2 * cpus], ["softirq", 0.04 * cpus], ["steal", 0.02 * cpus]];
    const stack = lines(b, times, states);
    all.forEach((_, i) => {
      const used = t.map((_x, k) => states.reduce<number | null>((a, _s, s) => {
        const v = b.value(stack[i * states.length + s]?.data ?? 0, k);
        return a === null || v === null ? null : a + v;
      }, 0));
      stack.push(line(i, "idle", b.add(times[i] as number, used.map((v) => (v === null ? null : Math.max(0, cpus - v))))));
    });
    const heat = all.flatMap((_, i) => Array.from({ length: cpus }, (_c, c) => line(
      i, `cpu ${c}`,
      b.add(times[i] as number, t.map((x) => (hole(x) || (o.holes && c === 1) ? null : Math.min(1, Math.max(0, level(i) * (0.5 + 0.5 * Math.sin(x / (6 + c % 7) + c)) + 0.25 * next() + (c % 16 === 0 ? 0.3 : 0))))), { coding: "u8", scale: 1 }),
      { cpu: String(c) },
    )));
    const clockRate = lines(b, times, [["scaling_cur_freq", 1]]).map((s, i) => ({ ...s, data: b.add(times[i] as number, t.map(() => 3.1e9 + next() * 1e8 - i * 2e8)) }));
    return {
      charts: [
        chart("cpu-total", "CPU time by state", "stack", "s/s", stack, { max: cpus }),
        chart("cpu-heat", "Busy by CPU", "heat", "ratio", heat, { max: 1, read: "One row for each CPU. A dark row is one busy CPU among idle ones; a diagonal pattern is a thread that wanders." }),
        chart("cpu-freq", "Clock frequency", "line", "Hz", clockRate),
      ],
    };
  });
  page("scheduler", "Scheduler", 2, (b, times) => ({
    charts: [
      chart("sched-switches", "Context switches", "line", "1/s", lines(b, times, [["ctxt", 48_000]])),
      chart("sched-queue", "Run queue", "line", "", lines(b, times, [["running", 3.2], ["blocked", 0.6]])),
      chart("sched-late", "Late ticks", "line", "1/s", lines(b, times, [["late", 0]])),
      chart("psi-cpu", "Pressure", "line", "ratio", lines(b, times, [["cpu some", 0.12], ["io some", 0.01], ["memory some", 0.001]]), { max: 1 }),
    ],
  }));
  page("interrupts", "Interrupts", 1, (b, times) => ({
    charts: [chart("irq-lines", "Interrupts by line", "line", "1/s", lines(b, times, [["LOC", 800], ["RES", 5200], ["CAL", 900], ["TLB", 300], ["27 virtio0-input", 1500], ["28 virtio0-output", 90]]), { note: "the 6 busiest of 41 are drawn" })],
  }));
  page("memory", "Memory", 0, (b, times) => ({
    charts: [
      chart("mem-use", "Memory by use", "stack", "B", lines(b, times, [["anonymous", 4.1e9], ["page cache", 6.2e9], ["slab", 4e8]])),
      chart("mem-free", "Free memory", "line", "B", all.map((_, i) => line(i, "MemFree", b.add(times[i] as number, t.map((x) => (hole(x) ? null : 9.1e9 + 4e8 * Math.sin(x / 9 + i))))))),
      chart("mem-faults", "Page faults", "line", "1/s", lines(b, times, [["minor", 22_000], ["major", 3]])),
    ],
  }));
  page("disks", "Disks", 1, (b, times) => ({
    charts: [
      chart("disk-bytes", "Throughput", "line", "B/s", lines(b, times, [["nvme0n1 read", 3.2e7], ["nvme0n1 write", 1.1e8]])),
      chart("disk-await", "Time of a request", "line", "s", lines(b, times, [["nvme0n1 read", 0.00021], ["nvme0n1 write", 0.0014]])),
    ],
  }));
  page("network", "Network", 0, (b, times) => ({
    charts: [chart("net-bytes", "Throughput by interface", "line", "B/s", lines(b, times, [["eth0 received", 1.2e7], ["eth0 sent", 4.4e6]]))],
  }));
  page("processes", "Processes", 1, (b, times) => {
    const names = ["counter", "postgres", "kworker/0:1-events", "sshd", "systemd-journald", "twinscope", "node_exporter", "java", "(sd-pam)", "rcu_preempt"];
    const rows: Row[] = all.flatMap((_, i) => names.flatMap((name, p) => Array.from({ length: name === "postgres" ? 3 : 1 }, (_r, k): Row => ({
      run: i,
      text: { name: bad(name), pid: String(1000 * (i + 1) + p * 10 + k), command: bad(p === 0 ? "./counter --threads 8" : `/usr/bin/${name}`) },
      data: {
        cpu: b.add(times[i] as number, noisy(i, 1.2 / (p + 1) ** 1.6)),
        rss: b.add(times[i] as number, t.map((x) => (hole(x) || (k === 1 && x > 30) ? null : 1.3e9 / (p + 1) + x * 1e5))),
        switches: b.add(times[i] as number, noisy(i, 9000 / (p + 1))),
        // Not readable for other users' processes: a column of nothing for some rows.
        read: b.add(times[i] as number, p % 3 === 2 ? t.map(() => null) : noisy(i, 2e6 / (p + 1))),
      },
    }))));
    return {
      charts: [chart("proc-cpu", "CPU time of the busiest processes", "stack", "s/s", all.flatMap((_, i) => names.slice(0, 5).map((name, p) => line(i, bad(name), rows.find((r) => r.run === i && r.text["name"] === bad(name))?.data["cpu"] ?? p))))],
      tables: [{ id: "process-top", title: "Processes", help: "Every process seen, with means over the window.", kind: "window", query: "select * from processes",
        columns: [{ ...col("name", "Process", "", true), key: true }, col("pid", "PID", "", true), col("command", "Command", "", true), col("cpu", "CPU", "s/s"), col("rss", "Resident memory", "B"), col("switches", "Switches", "1/s"), col("read", "Read", "B/s")], rows }],
    };
  });

  const differences = o.same || runs.length < 2 ? [] : [
    difference("scheduler", "Context switches", "1/s", 4120, 51_800, { chart: "sched-switches", polarity: "worse" }),
    difference("cpu", "CPU time, system", "s/s", 0.11, 0.52, { chart: "cpu-total", metric: "cpu.system" }),
    difference("scheduler", "Time waiting for a CPU", "s/s", 0.02, 0.31, {}),
    difference("disks", "Write throughput", "B/s", 1.2e8, 4.4e7, { polarity: "better", labels: { device: bad("nvme0n1") }, chart: "disk-bytes" }),
    difference("cpu", "CPU time, user", "s/s", 1.31, 1.12, { polarity: "neutral", chart: "cpu-total", metric: "cpu.user" }),
    difference("interrupts", "Interrupts, rescheduling (RES)", "1/s", 310, 5240, { labels: { line: "RES" }, chart: "irq-lines" }),
    difference("cpu", "Stolen time", "s/s", 0, 0.021, { chart: "cpu-total" }),
    difference("memory", "Page faults, minor", "1/s", 21_900, 24_700, { polarity: "neutral", chart: "mem-faults" }),
    difference("processes", "CPU time of counter", "s/op", 1.2e-6, 4.7e-6, { per: "operation", labels: { process: bad("counter") } }),
  ];
  if (runs.length > 2) for (const d of [...differences].slice(0, 4)) differences.push({ ...d, run: 2, other: d.other * 0.6, change: d.change === null ? null : (1 + d.change) * 0.6 - 1, low: null, high: null, labels: { ...d.labels } });
  const fact = (category: string, name: string, values: string[], known: boolean, why: string | null) => ({ fact: name, category, baseline: values[0] ?? null, others: runs.slice(1).map((_, i) => values[i + 1] ?? null), known, why });
  const facts = o.same || runs.length < 2 || o.facts === false ? [] : [
    fact("net", "eth0.mac", ["02:42:ac:11:00:02", "02:42:ac:11:00:07"], false, null),
    fact("kernel", "release", ["6.1.0-28-amd64", "6.12.48+deb13-amd64"], true, "another kernel: scheduler, memory management, drivers and mitigations differ"),
    fact("cpu", "governor", ["performance", "powersave"], true, "a governor that lowers the clock makes everything slower, or slow to start"),
    fact("memory", bad("thp.enabled"), [bad("madvise"), "always"], true, "huge pages save TLB misses; making them can stall the thread that allocates"),
    fact("sysctl", "kernel.random.boot_id", ["d3b0…", "7aa1…"], false, null),
    fact("cpu", "mitigation.spectre_v2", ["Mitigation: Enhanced IBRS", "not read"], true, "a mitigation adds cost to each system call, context switch or indirect branch"),
  ];
  blocks["set-up"] = {
    facts: [
      ...facts.map((f) => ({ fact: f.fact, category: f.category, values: [f.baseline, ...f.others], why: f.why })),
      ...Array.from({ length: 900 }, (_, i) => ({ fact: `net.ipv4.conf.all.option_${i}`, category: "sysctl", values: runs.map(() => String(i % 5)), why: null })),
      ...Array.from({ length: 20 }, (_, i) => ({ fact: `cache.L${i}`, category: "cpu", values: runs.map((_r, r) => (o.holes && r === 0 && i === 3 ? null : `${i * 32} KiB`)), why: null })),
    ],
  } satisfies SetUp;
  const head: Head = {
    format: 2,
    tool: { name: "twinscope", version: "0.1.0" },
    generated: 1795001000,
    runs: all,
    verdict: runs.length < 2
      ? { level: "single", headline: "One recording: what was recorded", detail: "With a second recording, this page says what differs. CPU use was 43 % over the busy window; nothing waited for memory or disk." }
      : o.same
        ? { level: "same", headline: `“${all[1]?.name}” and “${all[0]?.name}” do not differ by more than chance`, detail: "412 metrics were compared; none changed beyond what two equal runs show." }
        : { level: "differs", headline: `“${all[1]?.name}” does 1.9× less work per second than “${all[0]?.name}”`, detail: "Context switches are 12.6 times as many, and system time is 4.7 times as much. The kernel, the governor and huge pages differ." },
    explanation: null,
    not_explained: null,
    comparison: { headline: "", detail: "" },
    cautions: runs.length < 2 || o.same ? [] : [{ what: "others", run: 1, text: `Other programs used 34 % of the CPUs while ${all[1]?.name} ran, first of all rustc.` }],
    budget: {
      title: "CPU time", unit: "s/s", note: null, source: "cpu",
      states: [["user", "User code"], ["system", "Kernel"], ["softirq", "Soft interrupts"], ["steal", "Stolen by the hypervisor"], ["wait", "Waiting for a CPU"], ["idle", "Idle"]].map(([id, title]) => ({ id: id as string, title: title as string, help: `${title}: CPU-seconds in each second.`, metrics: [`cpu.${id}`] })),
      values: all.map((_, i) => [1.31 - i * 0.19, 0.11 + i * 0.41, 0.03, i === 0 && o.holes ? null : 0.02 * i, 0.02 + 0.29 * i, Math.max(0.1, 0.55 - i * 0.3)]),
    },
    differences,
    compared: 412,
    facts,
    set_up: { block: "set-up" },
    missing: [
      ...all.map((_, i) => ({ run: i, source: "perf", item: "cycles", status: "absent" as const, why: "this virtual machine has no hardware counters", remedy: null, matters: false })),
      ...all.map((_, i) => ({ run: i, source: "pagetypeinfo", item: "/proc/pagetypeinfo", status: "denied" as const, why: "only root may read it", remedy: "sudo twinscope record", matters: false })),
      ...(o.holes ? [{ run: 0, source: "schedstat", item: "run-queue wait", status: "failed" as const, why: bad("the file ended in the middle of a line"), remedy: null, matters: true }] : []),
    ],
    profile: null,
    requests: null,
    instructions: null,
    sharing: null,
    jvm: null,
    counters: null,
    code: null,
    machine: null,
    pages,
  };
  if (o.threads) {
    const made = profileOf(all, bad);
    head.profile = made.spec;
    head.budget = made.budget;
    head.explanation = made.explanation;
    head.comparison = { headline: head.verdict.headline, detail: head.verdict.detail };
    head.verdict = { ...head.verdict, detail: "", headline: runs.length > 1 ? bad("slow takes 1.9× as long per operation as fast. 71 % of the slowdown: threads wait for the lock taken in Table::insert.") : "71 % of the time: threads wait for the lock taken in Table::insert." };
    blocks["profile"] = made.bytes;
    blocks["sums-syscall"] = made.calls;
    const empty = encodeBlock([], []);
    const [time, ...others] = made.pages;
    if (time) pages.unshift(time);
    pages.push(...others);
    for (const p of made.pages) blocks[p.block] = empty;
    pages.find((p) => p.id === "interrupts")?.tables.push(IPI_TABLE);
  }
  if (o.requests) {
    const made = requestsOf(all, bad);
    head.requests = made.spec;
    blocks["requests"] = made.bytes;
    page("requests", "Requests", 1, (b, times) => ({ charts: [chart("turns-rate", "Requests answered", "line", "1/s", lines(b, times, [["turns", 900]]))] }));
    const last = pages.pop();
    if (last) pages.unshift({ ...last, view: "requests" });
  }
  if (o.instructions) {
    const made = instructionsOf(all, bad, o.instructions === "none");
    head.instructions = made.spec;
    if (made.spec.block !== null) blocks[made.spec.block] = made.listings;
    blocks["page-instructions"] = encodeBlock([], []);
    pages.push({ id: "instructions", title: "Instructions", block: "page-instructions", differences: 0, view: "instructions", charts: [], tables: [] });
    const [first] = head.explanation?.findings ?? [];
    if (first && made.spec.block !== null) Object.assign(first, { function: 1, pages: ["instructions", ...first.pages] });
  }
  if (o.sharing) {
    blocks["sharing"] = sharingOf(all, bad, o.sharing === "none");
    head.sharing = { block: "sharing" };
    blocks["page-sharing"] = encodeBlock([], []);
    pages.push({ id: "sharing", title: "Sharing", block: "page-sharing", differences: 0, view: "sharing", charts: [], tables: [] });
  }
  if (o.counters) {
    blocks["counters"] = countersOf(all, bad, o.counters);
    head.counters = { block: "counters" };
    blocks["page-counters"] = encodeBlock([], []);
    pages.push({ id: "counters", title: "Counters", block: "page-counters", differences: 0, view: "counters", charts: [], tables: [] });
  }
  if (o.code) {
    blocks["code"] = codeOf(all, bad, o.code === "few");
    head.code = { block: "code" };
    blocks["page-code"] = encodeBlock([], []);
    pages.push({ id: "code", title: "Code", block: "page-code", differences: 0, view: "code", charts: [], tables: [] });
  }
  if (o.machine) {
    head.machine = machineOf(all, bad, o.machine === "same");
    blocks["page-machine"] = encodeBlock([], []);
    pages.push({ id: "machine", title: "Machine", block: "page-machine", differences: 0, view: "machine", charts: [], tables: [] });
  }
  return { head, blocks };
}

/** Every sample by name. */
export const SAMPLES: Record<string, () => Sample> = {
  pair: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2 }),
  threads: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, threads: true }),
  "threads-one": () => sample({ runs: ["only"], seconds: 60, cpus: 2, threads: true }),
  "threads-three": () => sample({ runs: ["fast", "slow", "slow, pinned"], seconds: 60, cpus: 2, threads: true }),
  "threads-hostile": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, threads: true, hostile: true }),
  requests: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, requests: true }),
  "requests-one": () => sample({ runs: ["only"], seconds: 60, cpus: 2, requests: true }),
  "requests-three": () => sample({ runs: ["fast", "slow", "slow, pinned"], seconds: 60, cpus: 2, requests: true }),
  "requests-hostile": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, requests: true, hostile: true }),
  instructions: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, threads: true, instructions: true }),
  "instructions-one": () => sample({ runs: ["only"], seconds: 60, cpus: 2, threads: true, instructions: true }),
  "instructions-three": () => sample({ runs: ["fast", "slow", "slow, pinned"], seconds: 60, cpus: 2, threads: true, instructions: true }),
  "instructions-none": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, instructions: "none" }),
  "instructions-hostile": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, threads: true, hostile: true, instructions: true }),
  code: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, code: true }),
  "code-one": () => sample({ runs: ["only"], seconds: 60, cpus: 2, code: "few" }),
  "code-hostile": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, hostile: true, code: true }),
  sharing: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, threads: true, sharing: true }),
  "sharing-one": () => sample({ runs: ["only"], seconds: 60, cpus: 2, sharing: true }),
  "sharing-none": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, sharing: "none" }),
  "sharing-hostile": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, hostile: true, sharing: true }),
  counters: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, counters: "both" }),
  "counters-none": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, counters: "none" }),
  "counters-other": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, counters: "other" }),
  "counters-hostile": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, hostile: true, counters: "both" }),
  machine: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, facts: true, machine: true }),
  "machine-one": () => sample({ runs: ["only"], seconds: 60, cpus: 2, machine: true }),
  "machine-same": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, machine: "same" }),
  "machine-hostile": () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, hostile: true, machine: true }),
  three: () => sample({ runs: ["fast", "slow", "slow, pinned"], seconds: 60, cpus: 8 }),
  eight: () => sample({ runs: Array.from({ length: 8 }, (_, i) => `node-${i + 1}`), seconds: 60, cpus: 4 }),
  one: () => sample({ runs: ["only"], seconds: 60, cpus: 2 }),
  same: () => sample({ runs: ["first", "second"], seconds: 60, cpus: 2, same: true }),
  holes: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 4, holes: true }),
  hostile: () => sample({ runs: ["fast", "slow"], seconds: 60, cpus: 2, hostile: true, holes: true }),
  large: () => sample({ runs: ["c7i.48xlarge"], seconds: 3600, cpus: 192 }),
  "large-pair": () => sample({ runs: ["c7i.48xlarge", "c8i.48xlarge"], seconds: 3600, cpus: 192 }),
};
