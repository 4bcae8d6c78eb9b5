// A synthetic block `code`: a program whose code lies on a dozen pages in the first recording and all over two regions in the others, and the kernel.
import type { CodeMaps, CodeOfRun, CodeRegion, Run } from "../../src/bundle/types";

const region = (module: string, start: number, step: number, samples: number): CodeRegion =>
  ({ module, start, pages: Array.from({ length: Math.floor(512 / step) }, (_, i) => [i * step, 1 + ((samples * (i % 7)) | 0)] as [number, number]) });

/** What reports of `runs` hold; `few`: with too few samples to compare. */
export function codeOf(runs: Run[], bad: (name: string) => string, few = false): CodeMaps {
  const of = (regions_drawn: CodeRegion[], more: Partial<CodeOfRun>): CodeOfRun => ({
    pid: 4709, samples: regions_drawn.flatMap((r) => r.pages).reduce((sum, [, samples]) => sum + samples, 0),
    lines: 611.4, pages: 34.2, regions: 1, lines_at_least: 1840, pages_at_least: 34, hot_pages: 29, huge: 0, itlb: 576, itlb_2m: 576, regions_drawn, left_out: [0, 0], ...more,
  });
  const none = { lines: null, pages: null, regions: null };
  const program = bad("/usr/bin/engine");
  const fast = of([region(program, 0, 14, 6)], few ? none : {});
  const slow = of(
    [region(program, 0, 1, 1), region(program, 0x200000, 2, 0.5), region("", 0x7f7e40000000, 64, 1)],
    { lines: 702.1, pages: 640.8, regions: 2.9, lines_at_least: 2033, pages_at_least: 1022, hot_pages: 590, huge: 0.12, left_out: [2, 3], ...(few ? none : {}) },
  );
  const kernel = of([region("[kernel]", 0, 40, 2)], few ? none : { lines: 40, pages: 13, huge: null, itlb: null, itlb_2m: null });
  return {
    groups: [
      { comm: bad("engine"), kind: "file", drawn: few ? null : 660, runs: runs.map((_, at) => (at === 0 && runs.length > 1 ? fast : slow)) },
      { comm: bad("engine"), kind: "kernel", drawn: few ? null : 74, runs: runs.map((_, at) => (at === 0 ? kernel : null)) },
    ],
    query: "select run, pid, comm, kind, samples, lines, pages from code_footprint",
  };
}
