// Which host the reader has chosen: marked wherever it is drawn. It is in the link, by the identifier of its recording.
import { computed, signal } from "@preact/signals";
import type { FleetPage } from "../../bundle/generated";
import { type FleetView, viewOf } from "../../model/fleet";
import { param, params, setParam } from "../../state";

const fleet = signal<FleetPage | null>(null);

/** Hands the data over, once, before anything is drawn. */
export function setFleet(of: FleetPage): void {
  fleet.value = of;
}

const numbered = (name: string) => Math.max(0, Number.parseInt(param(name), 10) || 0);

/** The place of the group that is shown. */
export const groupAt = computed(() => Math.min(numbered("group"), Math.max(0, (fleet.value?.groups.length ?? 1) - 1)));

/** The place of the banding that is shown, or of the metric where there are no bands. */
export const byAt = computed(() => numbered("by"));

/** What is shown; null where nothing was measured. Made anew only where another group or banding is chosen. */
export const view = computed<FleetView | null>(() => {
  const group = fleet.value?.groups[groupAt.value];
  return group ? viewOf(group, byAt.value) : null;
});

const byId = computed(() => new Map(view.value?.group.answer.recordings.map((r, i) => [r.id, i])));

/** The chosen host; null: none. */
export const chosen = computed<number | null>(() => byId.value.get(param("host")) ?? null);

/** Chooses a host, or none. */
export function choose(host: number | null): void {
  setParam("host", host === null ? "" : (view.value?.group.answer.recordings[host]?.id ?? ""));
}

/** Chooses a host, or none if it is the chosen one. */
export function toggle(host: number): void {
  choose(chosen.value === host ? null : host);
}

/** Moves the choice through the hosts in their order. */
export function step(by: number): void {
  const of = view.value;
  if (!of || of.order.length === 0) return;
  const last = of.order.length - 1;
  const at = chosen.value === null ? (by > 0 ? 0 : last) : Math.min(last, Math.max(0, (of.rank[chosen.value] as number) + by));
  choose(of.order[at] ?? null);
}

/** Shows another group, or another banding. */
export function show(name: "group" | "by", at: number): void {
  const next: Record<string, string> = { ...params.value };
  if (name === "group") for (const of of ["host", "by"]) delete next[of];
  if (at === 0) delete next[name];
  else next[name] = String(at);
  params.value = next;
}
