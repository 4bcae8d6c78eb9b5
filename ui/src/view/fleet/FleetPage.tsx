// The page of a fleet: the verdict, all hosts in one strip, why and what separates the bands; then each host over time, the table, strays.
import { useEffect } from "preact/hooks";
import type { FleetPage } from "../../bundle/generated";
import { setTheme, theme } from "../../model/color";
import { bandingOf, type FleetView, nameInLine } from "../../model/fleet";
import { momentInWords } from "../../model/experiment";
import { Help, helpOpen } from "../Help";
import { picture } from "../../picture";
import { CopyButton, Guard, Words } from "../parts";
import { PictureEnd } from "../PictureEnd";
import { byAt, choose, chosen, groupAt, show, step, view } from "./choice";
import { Chosen } from "./Chosen";
import { FleetHeat } from "./FleetHeat";
import { Hosts } from "./Hosts";
import { HostStrip } from "./HostStrip";
import { Separates } from "./Separates";
import { Asked, Since } from "./Since";
import { Strays } from "./Strays";
import { Why } from "./Why";

const KEYS: readonly (readonly [string, string])[] = [
  ["←  →", "the host before and after, by band and value (also ↑ ↓; with Shift: ten at a time)"],
  ["Home  End", "the first and the last host"],
  ["click", "on a dot, a line of a strip, a row, a name: marks that host everywhere"],
  ["/", "to the filter of the table"],
  ["t", "light or dark"],
  ["?", "this help"],
  ["Esc", "choose no host, or leave a field"],
];

function onKey(e: KeyboardEvent): void {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  const at = e.target as HTMLElement;
  if (at.closest("input, select, textarea")) {
    if (e.key === "Escape") at.blur();
    return;
  }
  if (helpOpen.value && e.key !== "?") return;
  const by = e.shiftKey ? 10 : 1;
  const keys: Record<string, () => void> = {
    "/": () => document.querySelector<HTMLInputElement>("main [data-filter]")?.focus(),
    t: () => setTheme(),
    "?": () => (helpOpen.value = !helpOpen.value),
    Escape: () => choose(null),
  };
  // A table that scrolls keeps its arrow keys.
  if (!at.closest(".scroll")) {
    keys["ArrowLeft"] = keys["ArrowUp"] = () => step(-by);
    keys["ArrowRight"] = keys["ArrowDown"] = () => step(by);
    keys["Home"] = () => step(-Number.MAX_SAFE_INTEGER);
    keys["End"] = () => step(Number.MAX_SAFE_INTEGER);
    // Without a chosen host the page scrolls as any other.
    if (chosen.value === null && !at.closest("[role=application]")) for (const key of ["ArrowUp", "ArrowDown", "Home", "End"]) delete keys[key];
  }
  const act = keys[e.key];
  if (!act) return;
  e.preventDefault();
  act();
}

/** One of several, each a button. */
function Choice({ label, of, at, name }: { label: string; of: string[]; at: number; name: "group" | "by" }) {
  if (of.length < 2) return null;
  return (
    <div class="fleet-choice">
      <span class="quiet">{label}</span>
      <span class="chips">{of.map((text, i) => <button key={i} type="button" aria-pressed={i === at} onClick={() => show(name, i)}>{nameInLine(text)}</button>)}</span>
    </div>
  );
}

function Verdict({ of }: { of: FleetView }) {
  const banding = bandingOf(of);
  const { why, answer } = of.group;
  // Where the title has said what fact the bands are, once is enough; several facts are a sentence of their own.
  const title = banding?.title.replaceAll("`", "") ?? "";
  const says = banding?.says.filter((line) => !title.startsWith(line.slice(0, -1))) ?? [];
  const [first] = banding?.separated ?? [];
  const separates = first === undefined ? [] : [first.brief, ...first.not].filter(Boolean);
  const said = banding ? [...says, ...banding.since.says, ...separates, ...banding.share_says] : answer.says.slice(1);
  return (
    <section class="xp-verdict fleet-verdict" aria-label="Verdict">
      <p class="said"><Words text={banding?.title ?? answer.says[0] ?? ""} /></p>
      {of.banding === 0 && why && <p class="said cause"><Words text={why.verdict} /></p>}
      <ul class="quiet said-lines">{said.map((line) => <li key={line}><Words text={nameInLine(line)} /></li>)}</ul>
    </section>
  );
}

/** How many recordings, of how many hosts. */
function counted(of: FleetPage["groups"][number]): string {
  const { recordings } = of.answer;
  const hosts = new Set(recordings.map((r) => r.host)).size;
  const n = (count: number, what: string) => `${count.toLocaleString("en-GB")} ${what}${count === 1 ? "" : "s"}`;
  return hosts === recordings.length ? n(hosts, "host") : `${n(recordings.length, "recording")} of ${n(hosts, "host")}`;
}

/** What stands below the first screen. */
function Rest({ of }: { of: FleetView }) {
  return (
    <>
      <Guard what="What separates"><Separates view={of} /></Guard>
      <Guard what="Strays"><Strays view={of} /></Guard>
      <Guard what="The heat map"><FleetHeat view={of} /></Guard>
      <Guard what="Since when"><Since view={of} /></Guard>
      <Guard what="The table"><Hosts view={of} /></Guard>
      <Guard what="What was asked"><Asked view={of} /></Guard>
    </>
  );
}

/** The page. */
export function FleetPageView({ fleet }: { fleet: FleetPage }) {
  useEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const group = fleet.groups[groupAt.value];
  const of = view.value;
  const bandings = group?.answer.bandings ?? [];
  const choices = bandings.length > 0 ? bandings.map((b) => b.metrics[0] ?? "") : (group?.answer.asked.map((a) => a.metric) ?? []);
  return (
    <>
      <main class="experiment-page fleet-page" tabIndex={-1}>
        <header class="xp-head">
          <h1>{nameInLine(fleet.folder)}</h1>
          <span class="quiet">fleet{group && ` of ${counted(group)}`}</span>
          <span class="spacer" />
          <button type="button" class="plain" onClick={() => (helpOpen.value = true)}>Keys</button>
          <button type="button" onClick={() => setTheme()}>{theme() === "dark" ? "Light" : "Dark"}</button>
        </header>
        <Choice label={fleet.within ?? "within"} of={fleet.groups.map((g) => g.answer.within ?? "all")} at={groupAt.value} name="group" />
        <Choice label={bandings.length > 0 ? `${bandings.length} ways in which they divide, by` : "by"} of={choices} at={Math.min(byAt.value, choices.length - 1)} name="by" />
        {group && !of && <section class="fleet-verdict" aria-label="Verdict">{group.answer.says.map((line) => <p key={line} class="said">{nameInLine(line)}</p>)}</section>}
        {of && (
          <>
            <Verdict of={of} />
            <Guard what="The strip of hosts"><HostStrip view={of} /></Guard>
            <Guard what="The cause"><Why view={of} /></Guard>
            {!picture && <Rest of={of} />}
          </>
        )}
        <footer class="quiet small fleet-foot">
          <span>Made {momentInWords(fleet.made)} by twinscope {fleet.version}. The same as text:</span> <code>{nameInLine(fleet.command)}</code> <CopyButton text={() => fleet.command} label="Copy" title="Copy the command" />
        </footer>
      </main>
      <PictureEnd />
      {of && <Chosen view={of} />}
      <Help keys={KEYS}>The address in the browser holds the chosen host, the filter and the order: send it with the file, and a colleague sees the same.</Help>
    </>
  );
}
