// The page that `twinscope flame -o x.html` writes: one flame graph, its table of functions, and nothing else.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "./style/page.css";
import "./style/flame-page.css";
import { setTheme, theme } from "./model/color";
import { open } from "./open";
import { FlameGraph, flameState, type FlameState } from "./view/flame/FlameGraph";
import { FlameTop } from "./view/flame/FlameTop";
import { fromPage, type FlamePage } from "./view/flame/page";
import { useWidth } from "./view/parts";

/** The reader's choice as the text after # in the address. */
function toHash(s: FlameState): string {
  const p = new URLSearchParams();
  if (s.zoom.length > 0) p.set("zoom", JSON.stringify(s.zoom));
  if (s.search) p.set("search", s.search);
  p.set("callers", s.reverse ? "1" : "0");
  if (s.order === "heavy") p.set("order", "heavy");
  if (typeof s.widths === "number" && s.widths > 0) p.set("widths", String(s.widths));
  return p.toString();
}

function fromHash(hash: string, runs: number, reverse: boolean): FlameState {
  const p = new URLSearchParams(hash.replace(/^#/, ""));
  let zoom: unknown = [];
  try {
    zoom = JSON.parse(p.get("zoom") ?? "[]");
  } catch {
    // A link that was cut off zooms nowhere.
  }
  const widths = Number(p.get("widths"));
  return {
    ...flameState(runs),
    zoom: Array.isArray(zoom) ? zoom.map(String) : [],
    search: p.get("search") ?? "",
    reverse: p.has("callers") ? p.get("callers") === "1" : reverse,
    order: p.get("order") === "heavy" ? "heavy" : "name",
    ...(widths > 0 && widths < runs ? { widths } : {}),
  };
}

function Flame({ page }: { page: FlamePage }) {
  const { tree, runs, unit } = page;
  const [state, setState] = useState(() => fromHash(location.hash, runs.length, page.reverse));
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const [most, setMost] = useState(() => window.innerHeight - 190);
  useEffect(() => {
    const onHash = () => setState(fromHash(location.hash, runs.length, page.reverse));
    const onResize = () => setMost(window.innerHeight - 190);
    window.addEventListener("hashchange", onHash);
    window.addEventListener("resize", onResize);
    return () => {
      window.removeEventListener("hashchange", onHash);
      window.removeEventListener("resize", onResize);
    };
  }, []);
  const onState = (s: FlameState) => {
    setState(s);
    history.replaceState(null, "", `#${toHash(s)}`);
  };
  const names = runs.map((r) => r.name);
  return (
    <main class="flame-page" tabIndex={-1}>
      <header>
        <h1>{page.title}</h1>
        <span class="spacer" />
        <button type="button" onClick={() => setTheme()}>{theme() === "dark" ? "Light" : "Dark"}</button>
      </header>
      {page.notes.map((note) => <p key={note} class="quiet small">{note}</p>)}
      <div ref={place}>
        {width > 0 && <FlameGraph tree={tree} runs={names} unit={unit} label={page.title} state={state} onState={onState} width={width} most={Math.max(200, most)} />}
      </div>
      <section>
        <h2>Functions</h2>
        <FlameTop tree={tree} runs={names} unit={unit} onPick={(name) => onState({ ...state, search: name })} />
      </section>
    </main>
  );
}

open("flame", "flame graph", (data, root) => {
  const page = fromPage(data);
  document.title = page.title;
  root.replaceChildren();
  render(<Flame page={page} />, root);
});
