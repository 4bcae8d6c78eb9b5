// Samples as a heat map: time from left to right, where in the second from top to bottom. A drag from one moment to another sets the window.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import type { Measure } from "../bundle/types";
import { cssColor, heatRamp, rampGradient, theme } from "../model/color";
import { type Offsets, offsetsOf } from "../model/offsets";
import { clock, human, timeStep } from "../model/units";
import { choose, chosen, cursor, offsets, report, type Stretch, windowOf } from "../state";
import { nameOf, RunName, useWidth } from "./parts";

const LEFT = 48;
const RIGHT = 18;
const AXIS = 20;
const HEIGHT = 200;

/** Opacity of cells outside of the window, of 255. */
const PALE = 70;

function paint(g: CanvasRenderingContext2D, o: Offsets, most: number, width: number, offset: number, window: Stretch | null): void {
  const picture = document.createElement("canvas");
  picture.width = o.columns;
  picture.height = o.rows;
  const p = picture.getContext("2d");
  if (!p) return;
  const image = p.createImageData(o.columns, o.rows);
  const words = new Uint32Array(image.data.buffer);
  const ramp = heatRamp();
  for (let c = 0; c < o.columns; c++) {
    for (let r = 0; r < o.rows; r++) {
      const v = o.values[c * o.rows + r] ?? 0;
      const color = ramp[most > 0 ? Math.round(Math.min(1, v / most) * 255) : 0] as number;
      // Outside of a chosen window cells are pale.
      const t = c * o.column + (r + 0.5) * o.cell;
      const inside = !window || (t >= window.from && t < window.to);
      words[r * o.columns + c] = inside ? color : ((color & 0xffffff) | (PALE << 24)) >>> 0;
    }
  }
  p.putImageData(image, 0, 0);
  g.clearRect(0, 0, LEFT + width + RIGHT, HEIGHT + AXIS);
  g.imageSmoothingEnabled = false;
  g.drawImage(picture, LEFT, 0, width, HEIGHT);
  g.fillStyle = cssColor("--quiet");
  g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  g.textAlign = "right";
  g.textBaseline = "middle";
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const y = Math.min(HEIGHT - 6, Math.max(6, part * HEIGHT));
    g.fillText(human(part * o.column, "s").replace(".00", ""), LEFT - 6, y);
  }
  g.textBaseline = "top";
  g.textAlign = "center";
  const whole = o.columns * o.column;
  const step = Math.max(o.column, timeStep(whole, Math.max(2, Math.floor(width / 70))));
  for (let t = Math.ceil(-offset / step) * step; t <= whole - offset + 1e-9; t += step) {
    g.fillText(clock(Math.abs(t) < 1e-9 ? 0 : t, step), LEFT + ((t + offset) / whole) * width, HEIGHT + 5);
  }
}

interface Place {
  column: number;
  row: number;
}

function Panel({ data, run, most, offset }: { data: Offsets; run: number; most: number; offset: number }) {
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const whole = useWidth(box);
  const width = Math.max(10, whole - LEFT - RIGHT);
  const [at, setAt] = useState<Place | null>(null);
  const [start, setStart] = useState<Place | null>(null);
  const color = theme();
  const window = chosen.value ? windowOf(run) : null;
  useEffect(() => {
    const c = canvas.current;
    if (!c || whole < 80) return;
    const ratio = devicePixelRatio || 1;
    c.width = Math.round((LEFT + width + RIGHT) * ratio);
    c.height = Math.round((HEIGHT + AXIS) * ratio);
    const g = c.getContext("2d");
    if (!g) return;
    g.scale(ratio, ratio);
    paint(g, data, most, width, offset, window);
  }, [data, most, width, whole, offset, color, window?.from, window?.to]);
  const timeOf = (p: Place) => p.column * data.column + p.row * data.cell;
  const cellOf = (p: Place) => ({
    left: LEFT + (p.column / data.columns) * width, top: (p.row / data.rows) * HEIGHT, width: Math.max(2, width / data.columns), height: Math.max(2, HEIGHT / data.rows),
  });
  const place = (e: PointerEvent): Place => {
    const b = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const clamp = (x: number, n: number) => Math.min(n - 1, Math.max(0, Math.floor(x * n)));
    return { column: clamp((e.clientX - b.left - LEFT) / width, data.columns), row: clamp((e.clientY - b.top) / HEIGHT, data.rows) };
  };
  const pick = (a: Place, b: Place) => {
    const [from, to] = [timeOf(a), timeOf(b)].toSorted((x, y) => x - y) as [number, number];
    choose({ from: from - offset, to: to + data.cell - offset });
    setStart(null);
  };
  const value = at ? (data.values[at.column * data.rows + at.row] ?? 0) : 0;
  const said = at ? `${clock(timeOf(at) - offset, 0.01)}: ${human(value, "")} ${value === 1 ? "CPU" : "CPUs"} busy` : "";
  const marked = start ? cellOf(start) : null;
  const pointed = at ? cellOf(at) : null;
  const px = (r: { left: number; top: number; width: number; height: number }) => ({ left: `${r.left}px`, top: `${r.top}px`, width: `${r.width}px`, height: `${r.height}px` });
  return (
    <figure class="offset-heat" ref={box}>
      {report().runs.length > 1 && <figcaption><RunName run={run} /></figcaption>}
      <div class="heat" style={{ height: `${HEIGHT + AXIS}px` }}>
        <canvas
          ref={canvas}
          style={{ width: `${LEFT + width + RIGHT}px`, height: `${HEIGHT + AXIS}px` }}
          role="application"
          aria-roledescription="heat map"
          tabIndex={0}
          aria-label={`Samples of ${nameOf(run)} over time and within ${human(data.column, "s")}. Arrow keys read single cells; Enter marks the start and the end of a window, Escape drops the mark.`}
          onPointerDown={(e) => {
            if (e.button !== 0) return;
            setStart(place(e));
            e.currentTarget.setPointerCapture(e.pointerId);
          }}
          onPointerMove={(e) => {
            const p = place(e);
            setAt(p);
            cursor.value = timeOf(p) - offset;
          }}
          onPointerUp={(e) => {
            const p = place(e);
            if (start && (start.column !== p.column || start.row !== p.row)) pick(start, p);
            else setStart(null);
          }}
          onPointerLeave={() => {
            setAt(null);
            cursor.value = null;
          }}
          onPointerCancel={() => setStart(null)}
          onDblClick={() => choose(null)}
          onBlur={() => {
            setAt(null);
            setStart(null);
            cursor.value = null;
          }}
          onKeyDown={(e) => {
            const now = at ?? { column: Math.floor(data.columns / 2), row: 0 };
            const by = e.shiftKey ? 5 : 1;
            const next = { ...now };
            if (e.key === "ArrowRight") next.column = Math.min(data.columns - 1, now.column + by);
            else if (e.key === "ArrowLeft") next.column = Math.max(0, now.column - by);
            else if (e.key === "ArrowDown") next.row = Math.min(data.rows - 1, now.row + by);
            else if (e.key === "ArrowUp") next.row = Math.max(0, now.row - by);
            else if (e.key === "Enter") {
              if (start) pick(start, now);
              else setStart(now);
            } else if (e.key === "Escape") setStart(null);
            else return;
            e.preventDefault();
            e.stopPropagation();
            setAt(next);
          }}
        />
        {marked && <div class="cell-mark" style={px(marked)} />}
        {pointed && <div class="cell-mark" style={px(pointed)} />}
        {at && pointed && (
          <div class={`tip${pointed.left > width / 2 ? " to-left" : ""}`} style={{ left: `${pointed.left}px`, top: `${pointed.top}px` }} role="status">{said}</div>
        )}
      </div>
    </figure>
  );
}

/** The heat maps of all runs, on one scale of colours. */
export function OffsetHeats({ columns, measure, process, thread }: { columns: Columns; measure: Measure; process: string; thread: string }) {
  const { runs } = report();
  const all = useMemo(() => offsetsOf(columns, measure, runs.map((r) => r.duration), process, thread), [columns, measure, process, thread]);
  const most = Math.max(0, ...all.map((o) => o.most));
  return (
    <section class="offset-heats" aria-label="When it ran">
      <h2>When it ran</h2>
      <p class="read quiet">
        Samples on CPU: time from left to right, and where within {human(all[0]?.column ?? 1, "s").replace(".00", "")} from top to bottom. Stripes are periods, gaps are waiting.
        Drag from one moment to another to set the window.
      </p>
      <div class="panels" style={{ gridTemplateColumns: `repeat(${Math.min(runs.length, 2)}, minmax(0, 1fr))` }}>
        {all.map((data, r) => <Panel key={r} data={data} run={r} most={most} offset={offsets.value[r] ?? 0} />)}
      </div>
      <div class="heat-legend offset-legend">
        <span>0</span>
        <span class="ramp" style={{ background: rampGradient(theme()) }} aria-hidden="true" />
        <span>{human(most, "")} CPUs busy</span>
      </div>
    </section>
  );
}
