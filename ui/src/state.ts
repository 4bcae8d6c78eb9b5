// What the reader has chosen: page, window, alignment, filters. All of it lives in the URL hash (the theme apart), so that a
// link shows a colleague the same. Everything drawn follows from these signals and the head of the report.
import { batch, computed, effect, signal } from "@preact/signals";
import type { Head, Run } from "./bundle/types";

/** A stretch of time in seconds, in display time: run time minus the offset of the run's alignment. */
export interface Stretch {
  from: number;
  to: number;
}

/** A stretch of one recording, the baseline that its window is held against. */
export interface Against extends Stretch {
  run: number;
}

const head = signal<Head | null>(null);

/** Hands the head over, once, before anything is drawn. */
export function setReport(h: Head): void {
  head.value = h;
}

/** The head of the report. */
export function report(): Head {
  if (!head.value) throw new Error("the report is not read yet");
  return head.value;
}

/** Page shown: "overview", "set-up" or the id of a page of the head. */
export const page = signal("overview");
/** A chart or table of the page to scroll to. */
export const anchor = signal<string | null>(null);
/** The chosen window in display time; null: each run's own busy window. */
export const chosen = signal<Stretch | null>(null);
/** The other stretch that the window of a recording is held against, in display time; null: none. */
export const against = signal<Against | null>(null);
/** How the time axes of the runs are laid on each other: "start", "busy", or "mark:TEXT". */
export const align = signal("start");
/** Whether runs are drawn over each other instead of side by side. */
export const overlay = signal(false);
/** Filters and sort orders by name. */
export const params = signal<Readonly<Record<string, string>>>({});
/** Display time under the pointer, for the cursor on all charts. */
export const cursor = signal<number | null>(null);
/** True while the page is printed: then everything is drawn, also what is out of view. */
export const printing = signal(false);

/** Texts of marks that the runs can be aligned at: the ones every run has first. */
export const markTexts = computed(() => {
  const counts = new Map<string, number>();
  for (const run of report().runs) {
    for (const text of new Set(run.marks.map((m) => m.text))) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([text, n]) => ({ text, everywhere: n === report().runs.length }));
});

function offsetOf(run: Run, how: string): number {
  if (how === "busy") return run.window.from;
  if (how.startsWith("mark:")) return run.marks.find((m) => m.text === how.slice(5))?.t ?? 0;
  return 0;
}

/** Per run: run time minus this is display time. */
export const offsets = computed(() => report().runs.map((r) => offsetOf(r, align.value)));

/** All of the recorded time, in display time. */
export const extent = computed<Stretch>(() => {
  const from = Math.min(...report().runs.map((_, i) => 0 - (offsets.value[i] ?? 0)));
  const to = Math.max(...report().runs.map((r, i) => r.duration - (offsets.value[i] ?? 0)));
  return { from, to: Math.max(to, from + 1e-3) };
});

/** What charts show: the chosen window, or everything. */
export const view = computed<Stretch>(() => chosen.value ?? extent.value);

/** The window of a run that statistics are about, in the run's own time. */
export function windowOf(run: number): Stretch {
  const r = report().runs[run];
  if (!r) return { from: 0, to: 0 };
  const w = chosen.value;
  if (!w) return r.window;
  const offset = offsets.value[run] ?? 0;
  return { from: w.from + offset, to: w.to + offset };
}

/** The windows of all runs in their own time, as far as they were recorded. */
export const windows = computed<Stretch[]>(() =>
  report().runs.map((run, i) => {
    const w = windowOf(i);
    const from = Math.min(Math.max(w.from, 0), run.duration);
    return { from, to: Math.min(Math.max(w.to, from), run.duration) };
  }),
);

/** The least window: a thousandth of the whole, so that the handles never meet. */
export function least(): number {
  return Math.max((extent.value.to - extent.value.from) / 2000, 1e-3);
}

/** Chooses a window, kept inside the recorded time. */
export function choose(w: Stretch | null): void {
  if (!w) {
    chosen.value = null;
    return;
  }
  const { from: lo, to: hi } = extent.value;
  const length = Math.min(Math.max(w.to - w.from, least()), hi - lo);
  const from = Math.min(Math.max(w.from, lo), hi - length);
  chosen.value = { from, to: from + length };
}

/** Holds the window of a recording against another stretch of it, kept inside what was recorded; null: no longer. */
export function holdAgainst(w: Against | null): void {
  const r = w && report().runs[w.run];
  if (!w || !r) {
    against.value = null;
    return;
  }
  const lo = 0 - (offsets.value[w.run] ?? 0);
  const length = Math.min(Math.max(w.to - w.from, least()), r.duration);
  const from = Math.min(Math.max(w.from, lo), lo + r.duration - length);
  against.value = { run: w.run, from, to: from + length };
}

/**
 * Proposes a stretch to hold the window of a recording against: as long, just before it, else after it. Where none is chosen, or
 * there is no room, the two halves of the window.
 */
export function proposeAgainst(run: number): void {
  const r = report().runs[run];
  if (!r) return;
  const offset = offsets.value[run] ?? 0;
  const w = windowOf(run);
  const [from, to] = [Math.max(w.from, 0), Math.min(w.to, r.duration)];
  const [before, after] = [from, r.duration - to];
  const length = Math.min(to - from, Math.max(before, after));
  batch(() => {
    if (!chosen.value || length < (to - from) / 4) {
      const middle = (from + to) / 2 - offset;
      choose({ from: middle, to: to - offset });
      holdAgainst({ run, from: from - offset, to: middle });
      return;
    }
    choose({ from: from - offset, to: to - offset });
    const start = before >= length ? from - length : to;
    holdAgainst({ run, from: start - offset, to: start + length - offset });
  });
}

/** A stretch of time and the recording it is of, in the recording's own time. */
export interface Side {
  run: number;
  window: Stretch;
}

/** The two stretches of a recording that are held against each other, as far as they were recorded: the baseline, then the window. */
export const stretches = computed<readonly [Side, Side] | null>(() => {
  const a = against.value;
  const w = a && windows.value[a.run];
  if (!a || !w) return null;
  const offset = offsets.value[a.run] ?? 0;
  return [{ run: a.run, window: { from: a.from + offset, to: a.to + offset } }, { run: a.run, window: w }];
});

/** Zooms about the cursor, or the middle of what is shown. Factors above 1 zoom in. */
export function zoom(factor: number): void {
  const { from, to } = view.value;
  const at = cursor.value !== null && cursor.value > from && cursor.value < to ? cursor.value : (from + to) / 2;
  const next = { from: at - (at - from) / factor, to: at + (to - at) / factor };
  const all = extent.value;
  choose(next.to - next.from >= (all.to - all.from) * 0.999 ? null : next);
}

/** Moves the window by a share of its length. */
export function pan(share: number): void {
  if (!chosen.value) return;
  const { from, to } = chosen.value;
  const by = (to - from) * share;
  choose({ from: from + by, to: to + by });
}

/** Changes the alignment. A chosen window names other moments then, so it is dropped, and what it is held against. */
export function setAlign(how: string): void {
  batch(() => {
    chosen.value = null;
    against.value = null;
    align.value = how;
  });
}

/** Reads a filter. */
export function param(name: string): string {
  return params.value[name] ?? "";
}

/** The state that is chosen, as pages of threads and stacks know it: the first screen tells some apart that these do not. */
export function ledgerState(): string {
  const id = param("state");
  return report().budget?.states.find((s) => s.id === id)?.ledger ?? id;
}

/** Sets a filter; "" takes it out of the link. */
export function setParam(name: string, value: string): void {
  const next: Record<string, string> = { ...params.value };
  if (value === "") delete next[name];
  else next[name] = value;
  params.value = next;
}

/** Shows a page, and a chart of it. */
export function go(to: string, chart: string | null = null): void {
  batch(() => {
    page.value = to;
    anchor.value = chart;
  });
}

const seconds = (x: number) => String(Number(x.toFixed(3)));

/** The state as the text after "#". */
export function toHash(): string {
  const q = new URLSearchParams();
  if (chosen.value) q.set("w", `${seconds(chosen.value.from)}_${seconds(chosen.value.to)}`);
  const a = against.value;
  if (a) q.set("against", `${a.run}_${seconds(a.from)}_${seconds(a.to)}`);
  if (align.value !== "start") q.set("align", align.value);
  if (overlay.value) q.set("overlay", "1");
  for (const [k, v] of Object.entries(params.value)) q.set(`.${k}`, v);
  const query = q.toString();
  const place = anchor.value ? `${page.value}/${anchor.value}` : page.value;
  return `${place.split("/").map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
}

/** Takes the state from the text after "#". What names nothing in this report is ignored. */
export function fromHash(hash: string): void {
  const [place = "", query = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const [id = "", chart] = place.split("/").map(decode);
  const q = new URLSearchParams(query);
  const known = id === "overview" || (id === "set-up" && report().set_up !== null) || report().pages.some((p) => p.id === id);
  const how = q.get("align") ?? "start";
  const alignable = how === "busy" || markTexts.value.some((m) => `mark:${m.text}` === how);
  const [from, to] = (q.get("w") ?? "").split("_").map(Number.parseFloat);
  const [run, begin, end] = (q.get("against") ?? "").split("_").map(Number.parseFloat);
  batch(() => {
    page.value = known ? id : "overview";
    anchor.value = known && chart ? chart : null;
    align.value = alignable ? how : "start";
    overlay.value = q.get("overlay") === "1";
    params.value = Object.fromEntries([...q].filter(([k]) => k.startsWith(".")).map(([k, v]) => [k.slice(1), v]));
    const valid = from !== undefined && to !== undefined && Number.isFinite(from) && Number.isFinite(to) && to > from;
    choose(valid ? { from, to } : null);
    const holds = run !== undefined && begin !== undefined && end !== undefined && Number.isFinite(begin) && Number.isFinite(end) && end > begin;
    holdAgainst(holds ? { run, from: begin, to: end } : null);
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Keeps the hash and the state the same. Pages are steps in the history; windows and filters replace the last step. */
export function followHash(): void {
  let shown = "";
  let written = "";
  addEventListener("hashchange", () => {
    if (location.hash.slice(1) !== written) fromHash(location.hash);
  });
  fromHash(location.hash);
  let timer = 0;
  effect(() => {
    const hash = toHash();
    const place = page.value;
    clearTimeout(timer);
    const write = () => {
      written = hash;
      if (location.hash.slice(1) === hash) return;
      if (shown !== "" && shown !== place) history.pushState(null, "", `#${hash}`);
      else history.replaceState(null, "", `#${hash}`);
      shown = place;
    };
    // Dragging changes the window many times a second; browsers limit how often the hash may change.
    if (shown === place) timer = window.setTimeout(write, 150);
    else write();
    shown ||= place;
  });
}

/** Keeps the text after # and the filters the same, where a page has nothing else in its link. */
export function followParams(): void {
  const read = () => (params.value = Object.fromEntries(new URLSearchParams(location.hash.replace(/^#/, ""))));
  read();
  addEventListener("hashchange", read);
  let timer = 0;
  effect(() => {
    const hash = new URLSearchParams(params.value).toString();
    clearTimeout(timer);
    // Typing changes it often; browsers limit how often the address may change.
    timer = window.setTimeout(() => {
      if (location.hash.replace(/^#/, "") !== hash) history.replaceState(null, "", `#${hash}`);
    }, 150);
  });
}
