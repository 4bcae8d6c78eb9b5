// Synthetic figures of machines: the second takes 1.6 times as long for a load from DRAM and has the clock of another source; the rest wavers.
import type { MachineFigure, Machines, Run } from "../../src/bundle/types";

const FIGURES: [id: string, title: string, unit: string, more: boolean, value: number, slower: number][] = [
  ["memory.dram", "a load from DRAM", "s", false, 102e-9, 1.6],
  ["clock", "a read of the clock (CLOCK_MONOTONIC)", "s", false, 28e-9, 9.5],
  ["frequency", "frequency, one CPU busy", "Hz", true, 3.6e9, 0.99],
  ["call", "a system call that does nothing (getppid)", "s", false, 92e-9, 1.02],
  ["bandwidth", "bytes that one CPU reads from memory", "B/s", true, 12.1e9, 1.01],
  ["fsync", "a write of 4 KiB that is made safe (fdatasync)", "s", false, 0.31e-3, 1.1],
];

/** What a report of `runs` holds; `same`: all of one machine. */
export function machineOf(runs: Run[], bad: (text: string) => string, same = false): Machines {
  const wide = (id: string) => (id === "fsync" ? 0.3 : 0.04);
  const figures = FIGURES.map(([id, title, unit, more, value, slower]): MachineFigure => {
    const of = (run: number) => value * (run === 0 || same ? 1 : slower);
    const [low, high] = [1 - wide(id), 1 + wide(id)];
    const ratio = (run: number) => ({ value: of(run) / value, low: ((of(run) / value) * low) / high, high: ((of(run) / value) * high) / low });
    const differs = runs.length > 1 && !same && ["memory.dram", "clock"].includes(id);
    return {
      id, title: bad(title), unit, more, differs,
      values: runs.map((_, run) => ({ value: of(run), low: of(run) * low, high: of(run) * high })),
      ratios: runs.map((_, run) => (run === 0 ? null : ratio(run))),
      origin: !differs ? null : id === "clock" ? "set-up" : "machine",
      facts: differs && id === "clock" ? [bad("clock.source")] : [],
    };
  });
  const rank = (f: MachineFigure) => (f.differs ? Math.abs(Math.log(f.ratios[1]?.value ?? 1)) : 0);
  figures.sort((a, b) => rank(b) - rank(a));
  const several = runs.length > 1;
  const differ = several && !same;
  return {
    figures,
    says: differ ? [bad("a load from DRAM: 1.60× as long on slow as on fast (1.48–1.73×); 70 % of this program's time waits for such loads (sampled)"), "By these figures slow would take 1.42× as long as fast (1.34–1.51×); it takes 1.50×: of the difference, 84 % is the machine"] : [],
    parts: several
      ? [
          { title: "waiting for memory", evidence: "sampled", share: 0.7, figure: "memory.dram", times: differ ? { value: 1.6, low: 1.48, high: 1.73 } : null },
          { title: "computing", evidence: "sampled", share: 0.25, figure: "frequency", times: null },
          { title: "waiting for locks, peers, timers", evidence: "counted", share: 0.05, figure: null, times: null },
        ]
      : [],
    forecast: several ? (differ ? { value: 1.42, low: 1.34, high: 1.51 } : { value: 1, low: 1, high: 1 }) : null,
    disturbed: runs.map((_, run) => (run === 1 && differ ? bad("other programs kept 1.0 of 2 CPUs busy meanwhile") : null)),
  };
}
