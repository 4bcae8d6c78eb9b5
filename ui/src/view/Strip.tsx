// The time strip at the top: CPU use of each recording on one time axis. Dragging on it sets the window for everything else; with Shift, another stretch
// of that recording, which its window is held against.
import { useEffect, useRef } from "preact/hooks";
import { cssColor, runColor, theme } from "../model/color";
import { clock, human, span, timeStep } from "../model/units";
import {
  type Against, against, align, choose, chosen, cursor, extent, holdAgainst, least, markTexts, offsets, overlay, pan, proposeAgainst, report, setAlign, type Stretch, windowOf, zoom,
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
    // What is outside the window of this run, and of the stretch it is held against, steps back.
    const w = windowOf(i);
    const kept = [[px(w.from - offset), px(w.to - offset)] as const];
    const a = against.value;
    if (a?.run === i) kept.push([px(a.from), px(a.to)]);
    g.fillStyle = ground;
    g.globalAlpha = 0.62;
    let left = 0;
    for (const [from, to] of kept.toSorted((x, y) => x[0] - y[0])) {
      g.fillRect(left, top, Math.max(0, from - left), lane);
      left = Math.max(left, to);
    }
    g.fillRect(left, top, Math.max(0, width - left), lane);
    g.globalAlpha = 1;
    g.fillStyle = runColor(i);
    g.fillRect(px(w.from - offset), bottom + 1, px(w.to - offset) - px(w.from - offset), 1.5);
    if (a?.run === i) {
      // Dashed: the baseline.
      for (let x = px(a.from); x < px(a.to); x += 7) g.fillRect(x, bottom + 1, Math.min(4, px(a.to) - x), 1.5);
    }
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

/** `of`: the recording whose other stretch is dragged; null: the window. */
type Drag = { of: number | null } & ({ kind: "new"; at: number } | { kind: "move"; at: number; was: Stretch } | { kind: "edge"; fixed: number });

/** Sets the window, or the stretch of a recording that it is held against. */
function set(of: number | null, to: Stretch): void {
  if (of === null) choose(to);
  else holdAgainst({ run: of, ...to });
}

/** One end of the window, or of the stretch of recording `of` that it is held against: a slider for the keyboard, a handle for the mouse. */
function Handle({ end, width, of = null, top = 0, height }: { end: "from" | "to"; width: number; of?: number | null; top?: number; height?: number }) {
  const { from, to } = extent.value;
  const now = (of === null ? chosen.value : against.value) ?? extent.value;
  const at = now[end];
  const move = (value: number) => {
    if (end === "from") set(of, { from: Math.min(Math.max(value, from), now.to - least()), to: now.to });
    else set(of, { from: now.from, to: Math.max(Math.min(value, to), now.from + least()) });
  };
  const what = of === null ? "window" : "baseline stretch";
  return (
    <div
      class={`handle handle-${end}${of !== null || chosen.value ? " set" : ""}${of === null ? "" : " baseline"}`}
      style={{ left: `${((at - from) / (to - from)) * width}px`, ...(height ? { top: `${top}px`, height: `${height}px`, bottom: "auto" } : {}) }}
      role="slider"
      tabIndex={0}
      aria-label={`${end === "from" ? "Start" : "End"} of the ${what}`}
      aria-valuemin={Number(from.toFixed(3))}
      aria-valuemax={Number(to.toFixed(3))}
      aria-valuenow={Number(at.toFixed(3))}
      aria-valuetext={clock(at, 0.1)}
      onKeyDown={(e) => {
        const step = (to - from) / (e.shiftKey ? 10 : 100);
        if (e.key === "ArrowLeft") move(at - step);
        else if (e.key === "ArrowRight") move(at + step);
        else if (e.key === "Home") move(from);
        else if (e.key === "End") move(to);
        else return;
        e.preventDefault();
        e.stopPropagation();
      }}
    />
  );
}

/** What the two stretches are called, above them. */
function Names({ of, width, lane }: { of: Against; width: number; lane: number }) {
  const { from, to } = extent.value;
  const w = windowOf(of.run);
  const offset = offsets.value[of.run] ?? 0;
  const left = (t: number) => ((Math.max(t, from) - from) / (to - from)) * width;
  const name = (text: string, s: Stretch) => (
    <span key={text} class="stretch-name" style={{ left: `${left(s.from)}px`, top: `${of.run * lane}px`, maxWidth: `${Math.max(0, left(Math.min(s.to, to)) - left(s.from))}px` }}>{text}</span>
  );
  return <>{name("baseline", of)}{name("window", { from: w.from - offset, to: w.to - offset })}</>;
}

/** The recording whose stretches are compared when the button asks for it: the one that is explained. */
function explained(): number {
  const run = report().explanation?.run ?? 0;
  return report().runs[run] ? run : 0;
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
  const inputs = [width, chosen.value, against.value, align.value, cursor.value, theme()];
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
    const near = ((extent.value.to - extent.value.from) / Math.max(1, width)) * 7;
    const y = e.clientY - (e.currentTarget as HTMLElement).getBoundingClientRect().top;
    const run = Math.min(Math.max(0, Math.floor(y / lane)), runs.length - 1);
    /** Begins to drag what is there already. */
    const grab = (of: number | null, w: Stretch | null): boolean => {
      if (w && Math.abs(t - w.from) < near) drag.current = { of, kind: "edge", fixed: w.to };
      else if (w && Math.abs(t - w.to) < near) drag.current = { of, kind: "edge", fixed: w.from };
      else if (w && t > w.from && t < w.to && !e.shiftKey) drag.current = { of, kind: "move", at: t, was: w };
      else return false;
      return true;
    };
    const other = against.value?.run === run ? against.value : null;
    if (e.shiftKey) drag.current = { of: run, kind: "new", at: t };
    else if (!grab(run, other) && !grab(null, chosen.value)) drag.current = { of: null, kind: "new", at: t };
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
    if (d.kind === "move") set(d.of, { from: d.was.from + t - d.at, to: d.was.to + t - d.at });
    else {
      const other = d.kind === "new" ? d.at : d.fixed;
      const pixels = (Math.abs(t - other) / (extent.value.to - extent.value.from)) * width;
      if (d.kind === "edge" || pixels >= 4) {
        const [from, to] = [Math.max(Math.min(t, other), extent.value.from), Math.min(Math.max(t, other), extent.value.to)];
        if (to - from >= least()) set(d.of, { from, to });
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
            aria-label={`CPU use over time of ${runs.map((r) => r.name).join(", ")}. The handles set the window${against.value ? ", and the baseline stretch that it is held against" : ""}.`}
          />
          {width > 0 && <Handle end="from" width={width} />}
          {width > 0 && <Handle end="to" width={width} />}
          {width > 0 && against.value && (
            <>
              <Names of={against.value} width={width} lane={lane} />
              {(["from", "to"] as const).map((end) => <Handle key={end} end={end} width={width} of={against.value?.run ?? 0} top={(against.value?.run ?? 0) * lane} height={lane - 2} />)}
            </>
          )}
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
          <button
            type="button" aria-pressed={against.value !== null} title="Hold the window against another stretch of the same recording; Shift and drag sets it"
            onClick={() => (against.value ? holdAgainst(null) : proposeAgainst(explained()))}
          >
            Two stretches
          </button>
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
