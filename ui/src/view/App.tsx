// The frame of the page: rail, time strip, the page shown, keys.
import { useEffect } from "preact/hooks";
import { setTheme, theme } from "../model/color";
import { marks } from "../model/explained";
import { momentInWords } from "../model/experiment";
import { against, anchor, choose, go, holdAgainst, overlay, page, pan, printing, report, zoom } from "../state";
import { Help, helpOpen } from "./Help";
import { Overview } from "./Overview";
import { Page } from "./Page";
import { Guard } from "./parts";
import { PictureEnd } from "./PictureEnd";
import { SetUp } from "./SetUp";
import { Stretches } from "./Stretches";
import { Strip } from "./Strip";

interface Entry {
  id: string;
  title: string;
  differences: number;
  /** Findings that point to it, by rank. */
  findings: number[];
}

function entries(): Entry[] {
  const { pages, set_up, facts, runs, explanation } = report();
  const findings = marks(explanation);
  const entry = (id: string, title: string, differences: number): Entry => ({ id, title, differences, findings: findings.get(id) ?? [] });
  return [
    entry("overview", "Overview", 0),
    ...pages.map((p) => entry(p.id, p.title, runs.length > 1 ? p.differences : 0)),
    ...(set_up ? [entry("set-up", "Set-up", facts.filter((f) => f.known).length)] : []),
  ];
}

/** An entry in words: its title, the findings that point to it, and how many differences it holds. */
function entryInWords(e: Entry): string {
  const pointing = e.findings.length === 0 ? "" : `, ${e.findings.length === 1 ? "finding" : "findings"} ${e.findings.join(" and ")}`;
  return `${e.title}${pointing}${e.differences > 0 ? `, ${e.differences} ${e.differences === 1 ? "difference" : "differences"}` : ""}`;
}

function Rail() {
  const { tool } = report();
  return (
    <nav class="rail" aria-label="Pages">
      <div class="brand">Twinscope</div>
      <ul>
        {entries().map((e) => (
          <li key={e.id}>
            <a
              href={`#${encodeURIComponent(e.id)}`}
              aria-current={page.value === e.id ? "page" : undefined}
              aria-label={entryInWords(e)}
              onClick={(ev) => {
                if (ev.ctrlKey || ev.metaKey || ev.shiftKey) return;
                ev.preventDefault();
                go(e.id);
              }}
            >
              <span>{e.title}</span>
              {e.findings.length > 0 && <span class="marks" title={entryInWords(e)}>{e.findings.slice(0, 3).map((rank) => <span key={rank} class="rank">{rank}</span>)}</span>}
              {e.differences > 0 && <span class="count">{e.differences}</span>}
            </a>
          </li>
        ))}
      </ul>
      <div class="rail-foot">
        <button type="button" class="plain" onClick={() => setTheme()}>{theme() === "dark" ? "Light" : "Dark"}</button>
        <button type="button" class="plain" onClick={() => (helpOpen.value = true)}>Keys</button>
        <button type="button" class="plain" onClick={print}>Print</button>
        <p class="quiet small">{tool.name} {tool.version}</p>
      </div>
    </nav>
  );
}

/** Prints the page. Charts out of view, and the colours for paper, are drawn first: browsers do not wait for that by themselves. */
function print(): void {
  printing.value = true;
  setTimeout(() => {
    window.print();
    printing.value = false;
  }, 400);
}

function step(by: number): void {
  const all = entries();
  const at = all.findIndex((e) => e.id === page.value);
  const next = all[(at + by + all.length) % all.length];
  if (next) go(next.id);
}

function onKey(e: KeyboardEvent): void {
  if ((e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && e.key === "p") {
    e.preventDefault();
    print();
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  const at = e.target as HTMLElement;
  if (at.closest("input, select, textarea")) {
    if (e.key === "Escape") at.blur();
    return;
  }
  if (helpOpen.value && e.key !== "?") return;
  const keys: Record<string, () => void> = {
    "+": () => zoom(2),
    "=": () => zoom(2),
    "-": () => zoom(0.5),
    "0": () => choose(null),
    o: () => {
      if (report().runs.length > 1) overlay.value = !overlay.value;
    },
    "[": () => step(-1),
    "]": () => step(1),
    "/": () => document.querySelector<HTMLInputElement>("main [data-filter]")?.focus(),
    t: () => setTheme(),
    "?": () => (helpOpen.value = !helpOpen.value),
  };
  // A table that scrolls sideways keeps its arrow keys.
  if (!at.closest(".scroll, .query, [role=application]")) {
    keys["ArrowLeft"] = () => pan(-0.25);
    keys["ArrowRight"] = () => pan(0.25);
  }
  if (against.value) keys["Escape"] = () => holdAgainst(null);
  const act = keys[e.key];
  if (!act) return;
  e.preventDefault();
  act();
}

function Shown() {
  const id = page.value;
  if (id === "overview") return <Overview />;
  const { set_up, pages } = report();
  if (id === "set-up" && set_up) return <SetUp block={set_up.block} />;
  const spec = pages.find((p) => p.id === id);
  return spec ? <Page spec={spec} /> : <Overview />;
}

/** What a picture of the page is of, in one line. */
function Made() {
  const { runs, tool, generated } = report();
  const names = runs.slice(0, 4).map((r) => r.name).join(", ");
  return <>{tool.name} {tool.version} · {names}{runs.length > 4 && ` and ${runs.length - 4} more`} · made {momentInWords(generated)}</>;
}

/** The whole page. */
export function App() {
  const id = page.value;
  useEffect(() => {
    const before = () => (printing.value = true);
    const after = () => (printing.value = false);
    addEventListener("keydown", onKey);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);
  useEffect(() => {
    const entry = entries().find((e) => e.id === id);
    document.title = `${entry?.title ?? "Overview"} · ${report().runs.map((r) => r.name).join(" and ")} · Twinscope`;
    if (anchor.value && id === "overview") document.getElementById(`at-${anchor.value}`)?.scrollIntoView();
    else if (!anchor.value) scrollTo(0, 0);
  }, [id, anchor.value]);
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to the page</a>
      <Rail />
      <div class="stage">
        <Strip />
        <main id="main" tabIndex={-1}>
          {against.value && <Guard what="The two stretches"><Stretches id={id} /></Guard>}
          <Guard key={id} what="This page">
            <Shown />
          </Guard>
        </main>
        <PictureEnd><Made /></PictureEnd>
      </div>
      <Help />
    </>
  );
}
