// Maps of code: a region of 2 MiB is a grid of its 512 pages, by rows.
import type { CodeGroup, CodeOfRun, CodeRegion } from "../bundle/types";
import { fixed, human } from "./units";

export const PAGES = 512;
/** Pages in a row of the grid. */
export const COLUMNS = 128;

/** What a kind of code is called. */
export const KINDS: Record<string, string> = { file: "program and libraries", jit: "code made at run time", kernel: "kernel" };

/** The greatest share of the samples that a page of any recording has: all maps of a group have one scale. */
export function greatest(group: CodeGroup): number {
  const of = (run: CodeOfRun | null) =>
    run === null || run.samples === 0 ? 0 : Math.max(0, ...run.regions_drawn.flatMap((region) => region.pages.map(([, samples]) => samples / run.samples)));
  return Math.max(0, ...group.runs.map(of));
}

/** How dark a page is, 0 to 1: by the logarithm, from a thousandth of the greatest on. A page with samples is never as empty. */
export function shade(share: number, most: number): number {
  if (!(share > 0) || !(most > 0)) return 0;
  return Math.min(1, Math.max(0.2, 1 + Math.log10(share / most) / 3));
}

/** Whether the code of a run fits the instruction TLB; null where that is not known. */
export function fits(run: CodeOfRun): boolean | null {
  if (run.pages === null || run.itlb === null) return null;
  return run.pages <= run.itlb;
}

/** Where a region lies, in words. */
export function placeOf(region: CodeRegion): string {
  const file = region.module.slice(region.module.lastIndexOf("/") + 1);
  const at = `0x${region.start.toString(16)}`;
  return file === "" ? at : `${file} +${at}`;
}

/** A page of a region, in words. */
export function pageInWords(region: CodeRegion, page: number, run: CodeOfRun): string {
  const samples = region.pages.find(([at]) => at === page)?.[1] ?? 0;
  const place = placeOf({ ...region, start: region.start + page * 4096 });
  return samples === 0 ? `${place}: no sample` : `${place}: ${samples === 1 ? "1 sample" : `${samples} samples`}, ${fixed((100 * samples) / run.samples, 2)} %`;
}

/** What a screen reader says of the map of a run. */
export function mapInWords(run: CodeOfRun): string {
  const pages = run.regions_drawn.reduce((sum, region) => sum + region.pages.length, 0);
  return `Map of code: ${pages} pages with samples in ${run.regions_drawn.length === 1 ? "1 region" : `${run.regions_drawn.length} regions`} of 2 MiB; ${run.hot_pages} pages hold 90 % of the samples`;
}

export interface CodeRow {
  title: string;
  help: string;
  cells: (string | null)[];
  /** Of two recordings, the second over the first; null where there is none. */
  ratio: number | null;
}

/** Numbers of a group: a row for each, a cell for each recording. */
export function rowsOf(group: CodeGroup): CodeRow[] {
  const row = (title: string, help: string, unit: string, value: (run: CodeOfRun) => number | null, compared = false): CodeRow => {
    const values = group.runs.map((run) => (run === null ? null : value(run)));
    const [first, second] = values;
    const ratio = compared && values.length === 2 && first && second !== null && second !== undefined ? second / first : null;
    const text = (x: number | null) => (x === null ? null : unit === "%" ? `${fixed(100 * x, 0)} %` : x < 1000 ? fixed(x, x < 10 && x % 1 !== 0 ? 1 : 0) : human(x, ""));
    return { title, help, cells: values.map(text), ratio };
  };
  const drawn = group.drawn === null ? "" : ` in ${group.drawn.toLocaleString("en")} samples`;
  const same = group.drawn === null ? "one recording has too few samples to compare" : `how many a random part of ${group.drawn} samples finds, on average; as many for each recording, for a longer one finds more`;
  return [
    row("samples", "samples in this code, of the process that has most", "", (run) => run.samples),
    row(`lines of 64 B${drawn}`, same, "", (run) => run.lines, true),
    row(`pages of 4 KiB${drawn}`, same, "", (run) => run.pages, true),
    row(`regions of 2 MiB${drawn}`, same, "", (run) => run.regions, true),
    row("pages at least", "with pages that no sample met (Chao's estimate); grows with the number of samples", "", (run) => run.pages_at_least),
    row("pages that hold 90 %", "pages that hold 90 % of the samples; grows with the number of samples", "", (run) => run.hot_pages),
    row("on huge pages", "share of the samples on huge pages of 2 MiB", "%", (run) => run.huge),
    row("instruction TLB, 4 KiB", "entries of the instruction TLB of this CPU for pages of 4 KiB, both levels; the second holds data too on most CPUs", "", (run) => run.itlb),
    row("instruction TLB, 2 MiB", "entries for pages of 2 MiB", "", (run) => run.itlb_2m),
  ].filter((r) => r.cells.some((cell) => cell !== null));
}

/** What the numbers say, in one sentence; null where nothing can be said. */
export function saysOf(group: CodeGroup): string | null {
  const [first, second] = group.runs;
  if (group.drawn === null || !first || !second || group.runs.length !== 2 || !first.pages || second.pages === null) return null;
  const ratio = second.pages / first.pages;
  if (ratio > 0.8 && ratio < 1.25) return null;
  return `The code lies on ${fixed(ratio, 1)}× as many pages as in the baseline.`;
}
