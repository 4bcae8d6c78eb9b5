// A synthetic block `profile` and its pages: a program with a hot lock, a serial phase, and threads that sleep and wait for a disk.
import type { Budget, EventsTable, Explanation, Finding, PageSpec, ProfileSpec, Run, State } from "../../src/bundle/types";
import { type ColumnSpec, encodeColumns } from "./encode";
import { random } from "./samples";

export const STATES: State[] = ([
  ["user", "Running, user code", "on-cpu", "#2f6fb3", "#6fa8e6"], ["kernel", "Running, kernel", "on-cpu", "#8db8de", "#3b6ea5"], ["stolen", "Stolen", "stretch", "#5b6b7b", "#8c9aa8"],
  ["runnable", "Run-queue wait", "stretch", "#7d5ba6", "#b79be6"], ["throttled", "Throttled", "stretch", "#b9a2d8", "#725a9c"], ["lock", "Lock", "wait", "#c25a1c", "#f08a4b"],
  ["disk", "Disk", "wait", "#2f8f73", "#57c7a3"], ["network", "Network", "wait", "#8fcbb4", "#2f7f66"], ["pipe", "Pipe", "wait", "#55702a", "#a5c46a"],
  ["fault", "Page fault", "wait", "#d99a3d", "#b8802f"], ["sleep", "Sleep", "sleep", "#d6c98a", "#857a45"], ["idle", "Idle", "rest", "#c9cfd6", "#48515c"], ["other", "Other", "wait", "#9aa4af", "#66717d"],
] as const).map(([id, title, kind, light, dark]): State => ({ id, title, help: `${title}: what threads did.`, quiet: kind === "rest", metrics: [`thread_time.${id}`], kind, color: [light, dark] }));

/** The states of an explanation: two ways to wait for a CPU, and threads that were not there. */
const EXPLAINED: State[] = [
  ...STATES.map((s) => ({ ...s, ledger: s.id })).flatMap((s) => (s.id !== "runnable" ? [s] : [
    { ...s, title: "CPU taken by own threads" }, { ...s, id: "neighbours", title: "CPU taken by others", color: ["#a8438f", "#dd82c9"] as [string, string] },
  ])),
  { id: "fewer_threads", title: "Fewer threads", help: "threads that were not there", metrics: [], quiet: false, ledger: null },
];

const finding = (cause: string, share: number, title: string, says: string, states: [string, number][], pages: string[], bad: (name: string) => string): Finding => ({
  cause, title, share, low: share - 0.07, high: share + 0.07, subject: bad("a lock"), says,
  evidence: [bad("waited per unit of work: 6.9 µs, against 0.9 µs"), "at most 5 threads at once"],
  advice: [bad("hold it for less time"), "split it"], check: ["twinscope flame SLOW.twin --state contended"], experiment: ["number of threads"], references: ["futex(2)"],
  query: `select cell, 1.0 as part from budget where state = '${cause}'`, states: states.map(([state, part]) => ({ state, share: part })), pages, function: null,
});

/** Rows of a table, put together column by column. */
export class Rows {
  readonly columns: Record<string, ColumnSpec> = {};
  constructor(private readonly spec: Record<string, { scale?: number; delta?: boolean }>) {
    for (const [name, s] of Object.entries(spec)) this.columns[name] = { values: [], ...s };
  }
  add(row: Record<string, number | string>): number {
    for (const name of Object.keys(this.spec)) this.columns[name]?.values.push(row[name] ?? 0);
    return (Object.values(this.columns)[0]?.values.length ?? 0) - 1;
  }
}

export interface ProfileSample {
  explanation: Explanation;
  spec: ProfileSpec;
  bytes: Uint8Array;
  pages: PageSpec[];
  budget: Budget;
  calls: Uint8Array;
}

/** `per`: what weights are divided by. */
export function profileOf(runs: Run[], bad: (name: string) => string): ProfileSample {
  const next = random(77);
  const frames = new Rows({ function: {}, module: {}, kind: {}, source: {} });
  const stacks = new Rows({ parent: { delta: true }, frame: {} });
  const threads = new Rows({ process: {}, thread: {} });
  const ticks = new Rows({ run: {}, from: { scale: 1e-4, delta: true }, length: { scale: 1e-4, delta: true } });
  const frameOf = new Map<string, number>();
  const stackOf = new Map<string, number>();
  const stack = (text: string): number => {
    let at = 0;
    for (const part of text.split(";")) {
      const [name = "", kind = "native", module = "counter"] = part.split("@");
      const frame = frameOf.get(part) ?? frames.add({ function: bad(name), module, kind, source: "" });
      frameOf.set(part, frame);
      const key = `${at}/${frame}`;
      const known = stackOf.get(key);
      if (known !== undefined) at = known;
      else {
        const parent = at;
        at = stacks.add({ parent, frame }) + 1;
        stackOf.set(key, at);
      }
    }
    return at;
  };
  const MAIN = "_start;main;run_workers";
  const hash = stack(`${MAIN};worker;Table::insert;hash_key`);
  const insert = stack(`${MAIN};worker;Table::insert;memcpy@native@libc.so.6`);
  const syscall = stack(`${MAIN};worker;write_log;write@native@libc.so.6;entry_SYSCALL_64@kernel@[kernel];ksys_write@kernel@[kernel];ext4_file_write_iter@kernel@[kernel]`);
  const merge = stack(`${MAIN};merge_results;std::sort;std::less@inlined@counter`);
  const lockWait = stack(`${MAIN};worker;Table::insert;pthread_mutex_lock@native@libc.so.6;__lll_lock_wait@native@libc.so.6;entry_SYSCALL_64@kernel@[kernel];futex_wait@kernel@[kernel]`);
  const holder = stack(`${MAIN};worker;Table::insert;Table::grow;memcpy@native@libc.so.6`);
  const idleWait = stack(`${MAIN};worker;Queue::pop;pthread_cond_wait@native@libc.so.6;entry_SYSCALL_64@kernel@[kernel];futex_wait@kernel@[kernel]`);
  const diskWait = stack(`${MAIN};worker;write_log;fsync@native@libc.so.6;entry_SYSCALL_64@kernel@[kernel];jbd2_log_wait_commit@kernel@[kernel]`);
  const unmap = stack(`${MAIN};worker;Arena::reset;munmap@native@libc.so.6;entry_SYSCALL_64@kernel@[kernel];flush_tlb_mm_range@kernel@[kernel]`);
  const python = stack("_start;Py_RunMain@native@python3.11;report.py:render@python@report.py");
  const workers = [0, 1, 2, 3].map((i) => threads.add({ process: bad("counter"), thread: bad(`worker-${i}`) }));
  const main = threads.add({ process: bad("counter"), thread: "counter" });
  const script = threads.add({ process: "report.py", thread: "report.py" });
  const sample = new Rows({ tick: { delta: true }, stack: {}, thread: {}, weight: { scale: 1e-6 }, count: {} });
  const wait = new Rows({ tick: { delta: true }, stack: {}, thread: {}, state: {}, what: {}, waker: {}, waker_stack: {}, time: { scale: 1e-6 }, count: {}, longest: { scale: 1e-6 } });
  const lock = new Rows({ tick: { delta: true }, stack: {}, thread: {}, kind: {}, lock: {}, address: {}, holder: {}, holder_stack: {}, process: {}, time: { scale: 1e-6 }, count: {}, longest: { scale: 1e-6 }, waiters: {} });
  const ipi = new Rows({ tick: { delta: true }, stack: {}, thread: {}, kind: {}, function: {}, process: {}, count: {}, targets: {}, pages: {} });
  const ledger = new Rows({ tick: { delta: true }, thread: {}, state: {}, time: { scale: 1e-6 } });
  const running = new Rows({ run: {}, slot: { scale: 0.01, delta: true }, running: { scale: 0.01 }, runnable: { scale: 0.01 } });
  const calls = new Rows({ tick: { delta: true }, comm: {}, call: {}, count: {}, errors: {}, time: { scale: 1e-9 }, bytes: {}, longest: { scale: 1e-9 }, b9: {}, b12: {}, b20: {} });
  const callTicks = new Rows({ run: {}, from: { scale: 1e-4, delta: true }, length: { scale: 1e-4, delta: true } });
  const us = (seconds: number) => Math.round(seconds * 1e6);
  runs.forEach((run, r) => {
    const seconds = Math.min(120, Math.floor(run.duration));
    // The other runs wait for the lock more; all have a serial phase from 40 s to 46 s, and sleep at the end of each second.
    const held = 0.05 + r * 0.5;
    const serial = (t: number) => t >= 40 && t < 46;
    for (let k = 0; k < seconds * 50; k++) {
      const t = k * 0.02 + 0.004;
      const tick = ticks.add({ run: r, from: Math.round(t * 1e4), length: 0 });
      const pause = t % 1 > 0.8;
      if (serial(t)) {
        sample.add({ tick, stack: merge, thread: main, weight: us(0.02), count: 1 });
      } else if (!pause) {
        for (const w of workers.slice(0, 2)) {
          const x = next();
          sample.add({ tick, stack: x < 0.55 ? hash : x < 0.8 ? insert : x < 0.95 ? syscall : unmap, thread: w, weight: us(0.02 * (1 - held / 2)), count: 2 });
        }
        if (k % 10 === 0) sample.add({ tick, stack: python, thread: script, weight: us(0.01), count: 1 });
      }
      for (let s = 0; s < 2; s++) {
        const n = serial(t) ? 1 : pause ? 0.1 : 2 - held + 0.3 * next();
        running.add({ run: r, slot: k * 2 + s, running: Math.round(n * 100), runnable: serial(t) ? 0 : Math.round(next() * 40) });
      }
    }
    for (let s = 0; s < seconds; s++) {
      const tick = ticks.add({ run: r, from: s * 1e4, length: 1e4 });
      const callTick = callTicks.add({ run: r, from: s * 1e4, length: 1e4 });
      workers.forEach((w, i) => {
        const waited = serial(s) ? 0 : held * (0.8 + 0.2 * next());
        const disk = serial(s) ? 0 : 0.04;
        wait.add({ tick, stack: lockWait, thread: w, state: "lock", what: "futex", waker: "worker-0", waker_stack: holder, time: us(waited), count: Math.round(waited * 9000), longest: us(0.004 * (r + 1)) });
        wait.add({ tick, stack: diskWait, thread: w, state: "disk", what: "fsync", waker: "kworker/0:1", waker_stack: 0, time: us(disk), count: 4, longest: us(0.02) });
        wait.add({ tick, stack: idleWait, thread: w, state: "idle", what: "futex", waker: "counter", waker_stack: 0, time: us(Math.max(0, 0.5 - waited / 2)), count: 20, longest: us(0.2) });
        lock.add({ tick, stack: lockWait, thread: w, kind: "pthread mutex", lock: bad("taken in Table::insert"), address: "0x55d0c0ffee40", holder: `worker-${(i + 1) % 4}`, holder_stack: holder, process: bad("counter"), time: us(waited), count: Math.round(waited * 9000), longest: us(0.004 * (r + 1)), waiters: 2 + r });
        const on = serial(s) ? 0 : 0.4 * (1 - held / 2);
        for (const [state, time] of [["user", on * 0.8], ["kernel", on * 0.2], ["runnable", 0.03], ["lock", waited], ["disk", disk], ["idle", Math.max(0, 1 - on - waited - disk - 0.03)]] as const) ledger.add({ tick, thread: w, state, time: us(time) });
      });
      for (const [state, time] of [["user", serial(s) ? 0.98 : 0.01], ["sleep", serial(s) ? 0 : 0.9]] as const) ledger.add({ tick, thread: main, state, time: us(time) });
      ledger.add({ tick, thread: script, state: "user", time: us(0.05) });
      lock.add({ tick, stack: 0, thread: main, kind: "rwsem", lock: "mmap_lock", address: "", holder: "", holder_stack: 0, process: bad("counter"), time: us(0.004), count: 40, longest: us(0.0004), waiters: 1 });
      ipi.add({ tick, stack: unmap, thread: workers[0] ?? 0, kind: "tlb", function: "flush_tlb_mm_range", process: bad("counter"), count: 400 + r * 3000, targets: 400 + r * 3000, pages: 12_000 });
      ipi.add({ tick, stack: 0, thread: script, kind: "reschedule", function: "ttwu_queue_wakelist", process: "report.py", count: 90, targets: 90, pages: 0 });
      calls.add({ tick: callTick, comm: bad("counter"), call: "futex", count: 2000 * (r + 1), errors: 30, time: Math.round(held * 4e9 * 0.9), bytes: 0, longest: 4e6 * (r + 1), b9: 1000, b12: 900, b20: 100 + r * 1000 });
      calls.add({ tick: callTick, comm: bad("counter"), call: "write", count: 800, errors: 0, time: 4e6, bytes: 800 * 512, longest: 9e4, b9: 100, b12: 700, b20: 0 });
      calls.add({ tick: callTick, comm: "report.py", call: "read", count: 5000, errors: 2, time: 3e6, bytes: 5000, longest: 1e4, b9: 5000, b12: 0, b20: 0 });
    }
  });
  const bytes = encodeColumns({
    frame: frames.columns, stack: stacks.columns, thread: threads.columns, tick: ticks.columns, sample: sample.columns, wait: wait.columns, lock: lock.columns, ipi: ipi.columns,
    ledger: ledger.columns, running: running.columns,
  });
  const measure = (id: string, title: string, table: string, weight: string, more: object = {}) => ({ id, title, help: `${title} by stack`, table, weight, unit: weight === "targets" ? "" : "s", ledger: false, who: "who waited", state: null, other: null, other_title: null, ...more });
  const spec: ProfileSpec = {
    block: "profile",
    per: { what: "operation", rate: runs.map((run) => run.work?.per_second ?? 1) },
    states: STATES,
    measures: [
      measure("cpu", "CPU time", "sample", "weight", { ledger: true, who: "who ran" }),
      measure("blocked", "Off-CPU time", "wait", "time", { ledger: true, state: "state", other: "waker_stack", other_title: "who ended the wait" }),
      measure("contended", "Lock waits", "lock", "time", { other: "holder_stack", other_title: "who held the lock" }),
      measure("ipis", "IPIs", "ipi", "targets"),
    ],
    tables: ["sample", "wait", "lock", "ipi", "ledger", "running"],
    turns: runs.map((run, r) => ({
      serial: run.duration > 46 ? [{ from: 40, to: 46, process: bad("counter"), thread: bad("counter"), function: bad("merge_results") }] : [],
      sawtooth: r === 0 ? null : { period: 0.24, swing: 1.53, share: 0.61, p: 2e-9 },
    })),
    notes: runs.map((_, r) => (r === 1 ? ["off CPU: stacks were taken of down to 1 in 8 events"] : [])),
  };
  const key = (id: string, title = id) => ({ id, title, help: `${title} of the row`, key: true });
  const events = (id: string, title: string, table: string, keys: EventsTable["keys"], values: EventsTable["values"], stacksOf: EventsTable["stacks"], block = "profile"): EventsTable => ({
    id, title, help: `${title}: what happened in the window`, kind: "events", query: `select * from ${table}`, block, table, keys, values, stacks: stacksOf,
  });
  const value = (id: string, title: string, unit: string, how: EventsTable["values"][number]["how"]) => ({ id, title, unit, help: `${title} of the row`, how });
  const buckets: [string, number, number][] = [["b9", 512e-9, 1024e-9], ["b12", 4096e-9, 8192e-9], ["b20", 1048576e-9, 2097152e-9]];
  const page = (id: string, title: string, view: PageSpec["view"], tables: EventsTable[]): PageSpec => ({ id, title, block: `page-${id}`, differences: 0, view: view ?? null, charts: [], tables });
  return {
    spec,
    bytes,
    calls: encodeColumns({ syscall: calls.columns, tick: callTicks.columns }),
    budget: {
      title: "Time of the threads that do the work, per operation", unit: "s/op", note: null, source: "ledger", per: "operation", states: EXPLAINED,
      values: runs.map((_, r) => EXPLAINED.map((s) => ({ user: 3e-6, kernel: 8e-7, runnable: 3e-7, neighbours: 3e-7 + r * 1e-6, lock: 9e-7 + r * 6e-6, disk: 4e-7, sleep: 1.1e-6, idle: 8e-6 } as Record<string, number>)[s.id] ?? 0)),
      shares: EXPLAINED.map((s) => ({ lock: 0.71, neighbours: 0.18, fewer_threads: 0.06, kernel: -0.03 } as Record<string, number>)[s.id] ?? 0).map((share) => ({ share, low: share - 0.05, high: share + 0.05 })),
      elapsed: runs.map((_, r) => 4.9e-6 * (1 + r * 0.9)),
      done: runs.map((run) => [run.work?.total ?? 1, run.wall ?? 1]),
    },
    explanation: {
      run: runs.length > 1 ? 1 : 0, against: runs.length > 1 ? 0 : null, outcome: runs.length > 1 ? "slower" : "alone",
      which: runs.length > 2 ? `Explained is ${runs[1]?.name}, the first that is slower than ${runs[0]?.name}, the baseline.` : null,
      findings: [
        finding("lock-contention", 0.71, "threads wait for a lock that another thread holds", bad("threads wait for the lock taken in Table::insert"), [["lock", 0.69], ["kernel", 0.01]], ["locks"], bad),
        finding("noisy-neighbour", 0.18, "other programs use the CPUs", bad("other programs use 0.98 CPUs, against 0.2, first of all rustc"), [["neighbours", 0.18]], ["processes", "cpu"], bad),
      ],
      unexplained: 0.11,
      notes: [{ cause: "set-up", text: bad("vm.swappiness differs: 60 against 10"), pages: ["set-up"] }],
      not_evaluated: [{ causes: ["back-pressure", "nagle"], needs: bad("table wait in fast; table wait in slow") }, { causes: ["numa"], needs: "table numastat in fast" }],
    },
    pages: [
      page("time-budget", "Time budget", "time-budget", []),
      page("profiles", "Profiles", "profiles", []),
      page("locks", "Locks", null, [events("lock-table", "Contended locks", "lock", [key("lock"), key("kind"), key("process"), { ...key("address"), key: false }, { ...key("holder", "held by"), key: false }], [
        value("time", "waited", "s/s", { rate: "time" }), value("share", "share", "ratio", { share: "time" }), value("count", "blocked", "1/s", { rate: "count" }), value("mean", "mean wait", "s", { mean: ["time", "count"] }),
        value("longest", "longest", "s", { max: "longest" }), value("waiters", "at once", "", { max: "waiters" }),
      ], [{ column: "stack", title: "Waiting" }, { column: "holder_stack", title: "Holding, while others waited" }])]),
      page("calls", "System calls", null, [events("syscall-table", "System calls", "syscall", [key("comm", "process"), key("call")], [
        value("count", "calls", "1/s", { rate: "count" }), value("errors", "errors", "1/s", { rate: "errors" }), value("time", "time", "s/s", { rate: "time" }), value("mean", "mean time", "s", { mean: ["time", "count"] }),
        value("p50", "p50", "s", { quantile: 0.5, buckets }), value("p99", "p99", "s", { quantile: 0.99, buckets }), value("longest", "longest", "s", { max: "longest" }), value("size", "bytes each", "B", { mean: ["bytes", "count"] }),
      ], [], "sums-syscall")]),
    ],
  };
}

/** The table of interrupts sent, for the page of interrupts. */
export const IPI_TABLE: EventsTable = {
  id: "ipi-table", title: "Interrupts sent, by cause", help: "who sends interrupts to other CPUs", kind: "events", query: "select * from ipi", block: "profile", table: "ipi",
  keys: [{ id: "kind", title: "kind", help: "", key: true }, { id: "function", title: "function", help: "", key: true }, { id: "process", title: "process", help: "", key: true }],
  values: [
    { id: "count", title: "sent", unit: "1/s", help: "", how: { rate: "count" } }, { id: "targets", title: "CPUs hit", unit: "1/s", help: "", how: { rate: "targets" } },
    { id: "each", title: "CPUs each", unit: "", help: "", how: { mean: ["targets", "count"] } },
  ],
  stacks: [{ column: "stack", title: "Sent from" }],
};
