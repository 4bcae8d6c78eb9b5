// The time strip at the top: CPU use of each recording on one time axis. Dragging on it sets the window for everything else.
import { useEffect, useRef } from "preact/hooks";
import { cssColor, runColor, theme } from "../model/color";
import { clock, human, span, timeStep } from "../model/units";
import {
  align, choose, chosen, cursor, extent, least, markTexts, offsets, overlay, pan, report, setAlign, type Stretch, windowOf, zoom,
} from "../state";
import { RunName, useWidth } from "./parts";

const AXIS = 18;

function laneHeight(runs: number): number {
  return runs <= 2 ? 30 : runs <= 4 ? 22 : 14;
}

function draw(canvas: HTMLCanvasElement, width: number, lane: number): void {
  const { runs } = report();
  const height = lane * runs.length + AXIS;
  const dpr = devicePixelRatio || 1;
  canvas.width = Math.round(width * dpr);
  canvas.height = Math.round(height * dpr);
  canvas.style.height = `${height}px`;
  const g = canvas.getContext("2d");
  if (!g) return;
  g.scale(dpr, dpr);
  const { from, to } = extent.value;
  const px = (t: number) => ((t - from) / (to - from)) * width;
  const ground = cssColor("--ground");
  runs.forEach((run, i) => {
    const offset = offsets.value[i] ?? 0;
    const top = i * lane;
    const bottom = top + lane - 3;
    g.fillStyle = cssColor("--shade");
    g.fillRect(px(-offset), top + 1, px(run.duration - offset) - px(-offset), lane - 4);
    // Each stretch of measured points is an area of its own; what was not measured stays empty.
    g.fillStyle = runColor(i);
    g.globalAlpha = 0.75;
    const { t, busy } = run.strip;
    let k = 0;
    while (k < t.length) {
      while (k < t.length && (busy[k] ?? null) === null) k++;
      const begin = k;
      while (k < t.length && (busy[k] ?? null) !== null) k++;
      if (k === begin) continue;
      const half = t.length > 1 ? ((t[t.length - 1] as number) - (t[0] as number)) / (t.length - 1) / 2 : 0.5;
      const x = (j: number) => px((t[j] as number) - offset);
      g.beginPath();
      g.moveTo(px((t[begin] as number) - half - offset), bottom);
      for (let j = begin; j < k; j++) {
        const y = bottom - Math.min(1, Math.max(0, busy[j] as number)) * (lane - 5);
        if (j === begin) g.lineTo(px((t[j] as number) - half - offset), y);
        g.lineTo(x(j), y);
        if (j === k - 1) g.lineTo(px((t[j] as number) + half - offset), y);
      }
      g.lineTo(px((t[k - 1] as number) + half - offset), bottom);
      g.fill();
    }
    g.globalAlpha = 1;
    g.fillStyle = cssColor("--ink");
    for (const mark of run.marks) g.fillRect(Math.round(px(mark.t - offset)), top + 1, 1, lane - 4);
    // What is outside the window of this run steps back.
    const w = windowOf(i);
    g.fillStyle = ground;
    g.globalAlpha = 0.62;
    g.fillRect(0, top, Math.max(0, px(w.from - offset)), lane);
    g.fillRect(px(w.to - offset), top, Math.max(0, width - px(w.to - offset)), lane);
    g.globalAlpha = 1;
    g.fillStyle = runColor(i);
    g.fillRect(px(w.from - offset), bottom + 1, px(w.to - offset) - px(w.from - offset), 1.5);
  });
  g.fillStyle = cssColor("--quiet");
  g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  g.textBaseline = "top";
  const step = timeStep(to - from, Math.max(2, Math.floor(width / 90)));
  for (let t = Math.ceil(from / step) * step; t <= to + 1e-9; t += step) {
    const text = clock(Math.abs(t) < 1e-9 ? 0 : t, step);
    const half = g.measureText(text).width / 2;
    const x = Math.min(Math.max(px(t), half), width - half);
    g.fillRect(Math.round(px(t)), runs.length * lane - 2, 1, 3);
    g.fillText(text, x - half, runs.length * lane + 3);
  }
  if (cursor.value !== null && cursor.value >= from && cursor.value <= to) {
    g.fillRect(Math.round(px(cursor.value)), 0, 1, runs.length * lane);
  }
}

type Drag = { kind: "new"; at: number } | { kind: "move"; at: number; was: Stretch } | { kind: "edge"; fixed: number };

/** One end of the window: a slider for the keyboard, a handle for the mouse. */
function Handle({ end, width }: { end: "from" | "to"; width: number }) {
  const w = chosen.value;
  const { from, to } = extent.value;
  const at = w ? w[end] : end === "from" ? from : to;
  const set = (value: number) => {
    const now = chosen.value ?? extent.value;
    if (end === "from") choose({ from: Math.min(value, now.to - least()), to: now.to });
    else choose({ from: now.from, to: Math.max(value, now.from + least()) });
  };
  return (
    <div
      class={`handle handle-${end}${w ? " set" : ""}`}
      style={{ left: `${((at - from) / (to - from)) * width}px` }}
      role="slider"
      tabIndex={0}
      aria-label={end === "from" ? "Start of the window" : "End of the window"}
      aria-valuemin={Number(from.toFixed(3))}
      aria-valuemax={Number(to.toFixed(3))}
      aria-valuenow={Number(at.toFixed(3))}
      aria-valuetext={clock(at, 0.1)}
      onKeyDown={(e) => {
        const step = (to - from) / (e.shiftKey ? 10 : 100);
        if (e.key === "ArrowLeft") set(at - step);
        else if (e.key === "ArrowRight") set(at + step);
        else if (e.key === "Home") set(from);
        else if (e.key === "End") set(to);
        else return;
        e.preventDefault();
        e.stopPropagation();
      }}
    />
  );
}

function Readout() {
  const at = cursor.value;
  const { runs } = report();
  if (at === null) {
    const w = chosen.value;
    if (w) {
      return (
        <span>
          Window <b>{clock(w.from, 0.1)}</b> to <b>{clock(w.to, 0.1)}</b> ({span(w.to - w.from)})
        </span>
      );
    }
    const whys = [...new Set(runs.map((r) => r.window.why))];
    return <span title={whys.join("; ")}>{whys.length === 1 ? `Window: ${whys[0]}` : "Window: the compared stretch of each recording"}</span>;
  }
  const marks = runs.flatMap((r, i) =>
    r.marks.filter((m) => Math.abs(m.t - (offsets.value[i] ?? 0) - at) < (extent.value.to - extent.value.from) / 200).map((m) => m.text),
  );
  return (
    <span>
      <b>{clock(at, 0.1)}</b>
      {runs.slice(0, 4).map((r, i) => {
        const t = at + (offsets.value[i] ?? 0);
        const k = r.strip.t.findIndex((x) => x >= t);
        const busy = t < 0 || t > r.duration ? null : (r.strip.busy[k < 0 ? r.strip.busy.length - 1 : k] ?? null);
        return <span key={i}>{` · ${r.name} ${busy === null ? "–" : human(busy, "ratio")}`}</span>;
      })}
      {marks.length > 0 && <span> · ⚑ {[...new Set(marks)].join(", ")}</span>}
    </span>
  );
}

/** The strip and its controls. */
export function Strip() {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<Drag | null>(null);
  const width = useWidth(holder);
  const { runs } = report();
  const lane = laneHeight(runs.length);
  // Read here so that the strip is drawn again when they change.
  const inputs = [width, chosen.value, align.value, cursor.value, theme()];
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, width, lane);
  }, inputs);

  const timeAt = (e: PointerEvent) => {
    const box = (holder.current as HTMLDivElement).getBoundingClientRect();
    const { from, to } = extent.value;
    return from + ((e.clientX - box.left) / box.width) * (to - from);
  };
  const onPointerDown = (e: PointerEvent) => {
    if (e.button !== 0) return;
    const t = timeAt(e);
    const w = chosen.value;
    const near = ((extent.value.to - extent.value.from) / Math.max(1, width)) * 7;
    if (w && Math.abs(t - w.from) < near) drag.current = { kind: "edge", fixed: w.to };
    else if (w && Math.abs(t - w.to) < near) drag.current = { kind: "edge", fixed: w.from };
    else if (w && t > w.from && t < w.to && !e.shiftKey) drag.current = { kind: "move", at: t, was: w };
    else drag.current = { kind: "new", at: t };
    (e.currentTarget as HTMLElement).setPointerCapture(e.pointerId);
    e.preventDefault();
  };
  const onPointerMove = (e: PointerEvent) => {
    const t = timeAt(e);
    const d = drag.current;
    if (!d) {
      cursor.value = t;
      return;
    }
    cursor.value = null;
    if (d.kind === "move") choose({ from: d.was.from + t - d.at, to: d.was.to + t - d.at });
    else {
      const other = d.kind === "new" ? d.at : d.fixed;
      const pixels = (Math.abs(t - other) / (extent.value.to - extent.value.from)) * width;
      if (d.kind === "edge" || pixels >= 4) {
        const [from, to] = [Math.max(Math.min(t, other), extent.value.from), Math.min(Math.max(t, other), extent.value.to)];
        if (to - from >= least()) choose({ from, to });
      }
    }
  };
  const end = () => {
    drag.current = null;
  };

  return (
    <section class="strip" aria-label="Time">
      <div class="strip-inner">
      <div class="strip-lanes">
        <div class="strip-names" style={{ lineHeight: `${lane}px` }}>
          {runs.map((r, i) => (
            <div key={i} style={{ height: `${lane}px` }} title={`${r.name}: CPU use, 0 to 100 %`}>
              <RunName run={i} />
            </div>
          ))}
        </div>
        <div
          class="strip-plot"
          ref={holder}
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={end}
          onPointerCancel={end}
          onPointerLeave={() => {
            if (!drag.current) cursor.value = null;
          }}
          onDblClick={() => choose(null)}
          data-testid="strip"
        >
          <canvas
            ref={canvas}
            role="img"
            aria-label={`CPU use over time of ${runs.map((r) => r.name).join(", ")}. The two handles set the window.`}
          />
          {width > 0 && <Handle end="from" width={width} />}
          {width > 0 && <Handle end="to" width={width} />}
        </div>
      </div>
      <div class="strip-controls">
        <div class="readout" data-testid="readout">
          <Readout />
        </div>
        <div class="buttons">
          {runs.length > 1 && (
            <label class="field">
              Align at{" "}
              <select value={align.value} onChange={(e) => setAlign(e.currentTarget.value)}>
                <option value="start">start</option>
                <option value="busy">busy window</option>
                {markTexts.value.map((m) => (
                  <option key={m.text} value={`mark:${m.text}`}>
                    {`mark “${m.text.length > 40 ? `${m.text.slice(0, 39)}…` : m.text}”${m.everywhere ? "" : " (not in all)"}`}
                  </option>
                ))}
              </select>
            </label>
          )}
          {runs.length > 1 && (
            <button type="button" aria-pressed={overlay.value} onClick={() => (overlay.value = !overlay.value)}>
              Overlay
            </button>
          )}
          <button type="button" aria-label="Move the window left" disabled={!chosen.value} onClick={() => pan(-0.5)}>
            ◀
          </button>
          <button type="button" aria-label="Move the window right" disabled={!chosen.value} onClick={() => pan(0.5)}>
            ▶
          </button>
          <button type="button" aria-label="Zoom in" onClick={() => zoom(2)}>
            +
          </button>
          <button type="button" aria-label="Zoom out" disabled={!chosen.value} onClick={() => zoom(0.5)}>
            −
          </button>
          <button type="button" disabled={!chosen.value} onClick={() => choose(null)}>
            Reset
          </button>
        </div>
      </div>
      </div>
    </section>
  );
}
