// A synthetic block `requests`: a server whose slow requests wait for a lock and for a database, the database that it asks, and a cache.
import type { Requests, Run, Service, State } from "../../src/bundle/types";
import { encodeColumns } from "./encode";
import { Rows, STATES } from "./profile";
import { random } from "./samples";

/** Eight ranges for each power of two from 1 µs to 2 s; nothing is below. */
const RANGES = Array.from({ length: 21 * 8 }, (_, i): [number, number] => {
  const begin = 2 ** (10 + Math.floor(i / 8));
  return [(begin * (1 + (i % 8) / 8)) / 1e9, (begin * (1 + ((i % 8) + 1) / 8)) / 1e9];
});

export const rangeOf = (seconds: number) => Math.max(0, RANGES.findIndex(([, to]) => seconds < to));

const NAMES: Record<string, string> = { running: "user", unknown: "stolen" };
const FOLLOWED: [string, string][] = [["running", "Running"], ["runnable", "Run-queue wait"], ["lock", "Lock"], ["network", "Network"], ["others", "Behind other requests"], ["unknown", "Not followed"]];

/** Requests per second of the server. */
export const RATE = 800;
/** Seconds in which the slow requests of the other runs are. */
export const BURST = { from: 30, to: 34 };

export interface RequestsSample {
  spec: Requests;
  bytes: Uint8Array;
}

export function requestsOf(runs: Run[], bad: (name: string) => string): RequestsSample {
  const next = random(4711);
  const ticks = new Rows({ run: {}, from: { scale: 1e-4, delta: true }, length: { scale: 1e-4, delta: true } });
  const turn = new Rows({ tick: { delta: true }, service: {}, turns: {}, opened: {}, queued: {}, queue_time: { scale: 1e-9 }, service_time: { scale: 1e-9 } });
  const time = new Rows({ tick: { delta: true }, service: {}, what: {}, range: { delta: true }, count: {} });
  const columns = Object.fromEntries(["time", "queued", "backend_time", ...FOLLOWED.map(([id]) => id)].map((id) => [id, { scale: 1e-9 }]));
  const followed = new Rows({ run: {}, service: {}, at: { scale: 1e-4 }, weight: { scale: 1e-3 }, ...columns, backend_turns: {}, handed: {}, thread: {}, helper: {}, backend: {} });
  const ns = (seconds: number) => Math.round(seconds * 1e9);
  runs.forEach((run, r) => {
    for (let t = 0; t < Math.floor(run.duration); t++) {
      const tick = ticks.add({ run: r, from: t * 1e4, length: 1e4 });
      turn.add({ tick, service: 0, turns: RATE, opened: RATE / 50, queued: RATE, queue_time: ns(RATE * 40e-6 * (1 + r)), service_time: ns(RATE * 0.9e-3) });
      turn.add({ tick, service: 1, turns: RATE * 3, opened: 0, queued: 0, queue_time: 0, service_time: ns(RATE * 3 * 0.2e-3) });
      if (r === 0) turn.add({ tick, service: 2, turns: RATE / 100, opened: 1, queued: 0, queue_time: 0, service_time: ns(8e-5) });
      const put = (service: number, what: string, times: [number, number][]) => {
        for (const [at, count] of times.toSorted((a, b) => a[0] - b[0])) if (count > 0) time.add({ tick, service, what, range: rangeOf(at), count });
      };
      const burst = r > 0 && t >= BURST.from && t < BURST.to;
      // The bulk, spread over an octave; a tail; and in the other runs a burst that nobody escapes.
      const bulk = Array.from({ length: 10 }, (_, k): [number, number] => [0.0006 * 2 ** (k / 8), burst ? 0 : (RATE - 20) / 10]);
      const tail: [number, number][] = burst ? [[0.12, RATE / 2], [0.21, RATE / 2]] : [[0.003 * (1 + 3 * r), 12], [0.011 * (1 + 3 * r), 7], [0.03 * (1 + 2 * r), 1]];
      put(0, "service", [...bulk, ...tail]);
      put(0, "queue", [[0.00003, RATE - 10], [0.0004, 10]]);
      put(0, "answer", [...bulk, ...tail].map(([s, n]) => [s * 1.3, n]));
      put(1, "service", [[0.00015, RATE * 2], [0.0003, RATE - 4], [0.004 * (1 + r), 4]]);
      if (r === 0) put(2, "service", [[0.00008, RATE / 100]]);
      for (let k = 0; k < 6; k++) {
        const slow = k === 5 && t % 3 === 0;
        const all = slow ? (0.02 + 0.02 * next()) * (1 + 2 * r) : 0.0006 * (1 + next());
        const parts: Record<string, number> = slow ? { lock: r > 0 ? 0.75 : 0.2, network: r > 0 ? 0.2 : 0.75, running: 0.04, unknown: 0.01 } : { running: 0.6, network: 0.3, runnable: 0.08, others: 0.02 };
        followed.add({
          run: r, service: 0, at: Math.round((t + k / 6) * 1e4), weight: slow ? 1000 : (RATE / 5.3) * 1000, time: ns(all), queued: ns(3e-5),
          ...Object.fromEntries(Object.entries(parts).map(([id, part]) => [id, ns(all * part)])),
          backend_time: ns(all * (parts["network"] ?? 0)), backend_turns: 3, handed: slow ? 1 : 0, thread: bad(`worker-${k}`), helper: slow ? bad("flusher") : "", backend: "10.0.0.2:5432",
        });
      }
    }
  });
  const service = (process: string, role: string, protocol: string, port: number, peer: string, has: (run: number) => boolean): Service => ({
    process: bad(process), role, protocol, places: runs.map((_, r) => (has(r) ? { port, peer } : null)),
  });
  const states = FOLLOWED.map(([id, title]): State => {
    const like = STATES.find((s) => s.id === (NAMES[id] ?? id));
    return { id, title, help: `${title}: of the service time`, metrics: [], color: like?.color ?? ["#a8438f", "#dd82c9"] };
  });
  return {
    spec: {
      block: "requests", left_out: 0, ranges: RANGES, states,
      services: [
        service("shop", "server", "tcp", 8080, "", () => true), service("shop", "client", "tcp", 5432, "10.0.0.2", () => true), service("cached", "server", "unix", 0, bad("/run/cache.sock"), (r) => r === 0),
      ],
      queries: { services: "select run, comm from turn_rate", times: "select run, low, high from turn_time", followed: "select * from turn_followed" },
      notes: runs.map((_, r) => (r === 1 ? ["turns: counted in down to 1/4 of the time, and scaled up"] : [])),
    },
    bytes: encodeColumns({ tick: ticks.columns, turn: turn.columns, turn_time: time.columns, turn_followed: followed.columns }),
  };
}
