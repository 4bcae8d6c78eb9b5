// A flame graph: width is weight, a callee lies below its caller. Click zooms; search, hover, keys. One run, or two with colours for how they differ.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { theme } from "../../model/color";
import { human } from "../../model/units";
import "./flame.css";
import { Layout, type Order, type Widths } from "./layout";
import { paint, ROW } from "./paint";
import { changeFills, KIND_WORDS, kindFill, STEPS } from "./palette";
import { matchedWeight, matching } from "./search";
import { KINDS, nodeAt, pathOf, reversed, type Tree } from "./tree";

/** What the reader has chosen in a graph; small enough for a link. */
export interface FlameState {
  /** Names from the root to the node that fills the width. */
  zoom: string[];
  search: string;
  reverse: boolean;
  order: Order;
  widths: Widths;
}

/** A graph as it is opened; with two runs its widths show both. */
export function flameState(runs: number): FlameState {
  return { zoom: [], search: "", reverse: false, order: "name", widths: runs > 1 ? "both" : 0 };
}

export interface FlameProps {
  tree: Tree;
  /** Names of the runs, in the order of the tree's weights; with two, colours show how the second differs from the first. */
  runs: string[];
  /** Unit of the weights: "s", "s/op", "s/s", "1/s". */
  unit: string;
  /** What is shown, for those who cannot see it. */
  label: string;
  state: FlameState;
  onState: (state: FlameState) => void;
  /** Width of the place, and greatest height, CSS pixels. */
  width: number;
  most?: number;
}

/** The share of a whole, in words. */
function share(part: number, whole: number): string {
  return whole > 0 ? human(part / whole, "ratio") : "–";
}

function change(before: number, after: number): string {
  if (before === after) return "the same";
  if (before === 0) return "new";
  if (after === 0) return "gone";
  const factor = after / before;
  if (factor >= 2) return `×${factor.toFixed(factor < 10 ? 1 : 0)}`;
  if (factor <= 0.5) return `÷${(1 / factor).toFixed(1 / factor < 10 ? 1 : 0)}`;
  return `${factor > 1 ? "+" : "−"}${Math.abs((factor - 1) * 100).toFixed(0)} %`;
}

/** The weights of a node in words: of one run, or of both with the change. */
export function weightsInWords(layout: Layout, node: number, runs: string[], unit: string): string {
  const of = (run: number) => layout.total[run]?.[node] ?? 0;
  const all = (run: number) => layout.total[run]?.[0] ?? 0;
  if (runs.length < 2) {
    const self = layout.tree.self[0]?.[node] ?? 0;
    return `${human(of(0), unit)}, ${share(of(0), all(0))}; ${human(self, unit)} in itself`;
  }
  return `${runs.map((name, run) => `${name}: ${human(of(run), unit)} (${share(of(run), all(run))})`).join(", ")}; ${change(of(0), of(1))}`;
}

export function FlameGraph(props: FlameProps) {
  const { tree, runs, unit, label, state, onState, width } = props;
  const two = runs.length > 1;
  const [chosen, choose] = useState(-1);
  const [at, point] = useState<{ x: number; y: number } | null>(null);
  const [scroll, setScroll] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);

  const shown = useMemo(() => (state.reverse ? reversed(tree) : tree), [tree, state.reverse]);
  const layout = useMemo(() => new Layout(shown, state.order, two ? state.widths : 0), [shown, state.order, state.widths, two]);
  const zoom = useMemo(() => nodeAt(shown, state.zoom), [shown, state.zoom.join("\n")]);
  const matches = useMemo(() => matching(tree.frames, state.search), [tree.frames, state.search]);
  const found = matches instanceof Uint8Array ? matches : null;
  const matched = useMemo(() => (found ? matchedWeight(layout, found, zoom) : null), [layout, found, zoom]);

  const whole = layout.rows(zoom) * ROW;
  const height = Math.min(whole, props.most ?? 560);
  const color = theme();
  useEffect(() => choose(-1), [layout]);

  useLayoutEffect(() => {
    const c = canvas.current;
    if (!c || width < 10) return;
    const ratio = globalThis.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (c.width !== w) c.width = w;
    if (c.height !== h) c.height = h;
    const g = c.getContext("2d");
    if (g) paint(g, { layout, zoom, chosen, matches: found, change: two, width, height, scroll, theme: color });
  }, [layout, zoom, chosen, found, two, width, height, scroll, color]);

  const set = (part: Partial<FlameState>) => onState({ ...state, ...part });
  const zoomTo = (node: number) => {
    set({ zoom: pathOf(shown, node) });
    point(null);
  };
  const hit = (e: MouseEvent): number => {
    const box = canvas.current?.getBoundingClientRect();
    return box ? layout.hit(zoom, width, e.clientX - box.left, Math.floor((e.clientY - box.top + scroll) / ROW)) : -1;
  };
  const reveal = (node: number) => {
    const f = frame.current;
    if (!f) return;
    const y = (layout.depth[node] ?? 0) * ROW;
    if (y < f.scrollTop) f.scrollTop = y;
    else if (y + ROW > f.scrollTop + f.clientHeight) f.scrollTop = y + ROW - f.clientHeight;
  };
  const onKey = (e: KeyboardEvent) => {
    const ways = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" } as const;
    const way = ways[e.key as keyof typeof ways];
    if (way) {
      const node = chosen < 0 ? zoom : layout.step(chosen, way);
      choose(node);
      reveal(node);
    } else if (e.key === "Enter" && chosen >= 0) zoomTo(chosen);
    else if (e.key === "Escape" || e.key === "Backspace") zoomTo(shown.parent[zoom] ?? 0);
    else if (e.key === "Home" || e.key === "0") zoomTo(0);
    else if (e.key === "/") search.current?.focus();
    else return;
    e.preventDefault();
  };

  const nodeText = (node: number) => {
    const f = shown.frame[node] as number;
    return {
      name: node === 0 ? "all" : (tree.frames.name[f] ?? ""),
      place: node === 0 ? "" : [tree.frames.module[f], tree.frames.source[f]].filter(Boolean).join("  "),
      kind: node === 0 ? "" : KIND_WORDS[KINDS[tree.frames.kind[f] ?? 0] ?? "other"],
    };
  };
  const said = chosen >= 0 ? nodeText(chosen) : null;
  const empty = layout.total.every((t) => (t[0] ?? 0) === 0);
  const kinds = useMemo(() => [...new Set(tree.frames.kind)].filter((k) => !["root", "state", "process", "thread"].includes(KINDS[k] ?? "")).sort((a, b) => a - b), [tree.frames]);

  if (empty) return <p class="none">Nothing was measured here in this stretch.</p>;
  return (
    <div class="flame">
      <div class="tools">
        <label class="field">
          <span class="hidden">Search in {label}</span>
          <input ref={search} type="search" placeholder="Search, /regex/" value={state.search} onInput={(e) => set({ search: e.currentTarget.value })} />
        </label>
        <span class="small" aria-live="polite" data-matched>
          {typeof matches === "string" ? <span class="trouble">{matches}</span>
            : matched ? `matched ${matched.map((w, run) => `${share(w, layout.total[run]?.[zoom] ?? 0)}${two ? ` of ${runs[run]}` : ""}`).join(", ")}` : ""}
        </span>
        <span class="spacer" />
        {zoom !== 0 && <button type="button" onClick={() => zoomTo(0)}>Whole graph</button>}
        <button type="button" aria-pressed={state.reverse} title="Functions that used it first, their callers below" onClick={() => set({ reverse: !state.reverse, zoom: [] })}>Callers</button>
        <button type="button" aria-pressed={state.order === "heavy"} title="The heaviest at the left, instead of by name" onClick={() => set({ order: state.order === "heavy" ? "name" : "heavy" })}>Left heavy</button>
        {two && (
          <label class="field">
            Width
            <select value={String(state.widths)} onChange={(e) => set({ widths: e.currentTarget.value === "both" ? "both" : Number(e.currentTarget.value) })}>
              <option value="both">both</option>
              {runs.map((name, run) => <option key={run} value={String(run)}>{name}</option>)}
            </select>
          </label>
        )}
      </div>
      {/* The graph is a picture that the keyboard walks through; what is chosen is said below it. */}
      <div
        class="flame-frame"
        ref={frame}
        style={{ height: `${height}px` }}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="application"
        aria-roledescription="flame graph"
        aria-label={`${label}. Arrow keys walk, Enter zooms, Escape zooms out, slash searches.`}
        onScroll={(e) => setScroll(e.currentTarget.scrollTop)}
        onKeyDown={onKey}
      >
        <div style={{ height: `${whole}px` }}>
          <canvas
            ref={canvas}
            class="flame-canvas"
            style={{ width: `${width}px`, height: `${height}px` }}
            onMouseMove={(e) => {
              choose(hit(e));
              const box = frame.current?.getBoundingClientRect();
              if (box) point({ x: e.clientX - box.left, y: e.clientY - box.top });
            }}
            onMouseLeave={() => {
              choose(-1);
              point(null);
            }}
            onClick={(e) => {
              const node = hit(e);
              if (node >= 0) zoomTo(node);
            }}
          />
        </div>
        {at && said && (
          <div class="flame-tip" style={{ left: `${Math.min(at.x + 14, Math.max(0, width - 380))}px`, top: `${scroll + Math.min(at.y + 18, Math.max(0, height - 70))}px` }}>
            <b>{said.name}</b>
            {said.place && <span class="quiet">{said.place}</span>}
            <span>{weightsInWords(layout, chosen, runs, unit)}</span>
          </div>
        )}
      </div>
      <p class="flame-said small" aria-live="polite">
        {said ? <><b>{said.name}</b> {said.kind && <span class="quiet">{said.kind}</span>} {weightsInWords(layout, chosen, runs, unit)}</>
          : <span class="quiet">{weightsInWords(layout, zoom, runs, unit)}. Click or Enter zooms, Escape goes back.</span>}
      </p>
      <div class="flame-legend small quiet">
        {two ? (
          <>
            <span>less in {runs[1]}</span>
            <span class="ramp" style={{ background: `linear-gradient(to right, ${changeFills(color).filter((_, i) => i % (STEPS / 2) === 0).join(", ")})` }} aria-hidden="true" />
            <span>more</span>
          </>
        ) : (
          kinds.map((k) => (
            <span key={k} class="run-name"><span class="swatch" style={{ background: kindFill(k, color) }} aria-hidden="true" />{KIND_WORDS[KINDS[k] ?? "other"]}</span>
          ))
        )}
      </div>
    </div>
  );
}
