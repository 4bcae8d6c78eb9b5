// A heat map: one row for each entity (a CPU), time from left to right, colour for the value. All runs share the colour scale.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Block, Level } from "../bundle/block";
import { cssColor, heatRamp, rampGradient, theme } from "../model/color";
import { heatColumns, levelFor, type Line } from "../model/chart";
import { valueAt } from "../model/stats";
import { clock, human, timeStep } from "../model/units";
import { choose, cursor, least, type Stretch } from "../state";
import { GUTTER, RIGHT } from "./Plot";
import { nameOf } from "./parts";

const AXIS = 22;

/** Height of the picture for a number of rows. */
export function heatHeight(rows: number): number {
  const row = rows <= 8 ? 16 : rows <= 32 ? 9 : rows <= 96 ? 4 : 2;
  return Math.max(24, Math.min(480, rows * row));
}

/** The colour scale, as a legend. */
export function HeatLegend({ greatest, unit }: { greatest: number; unit: string }) {
  return (
    <div class="heat-legend">
      <span>0</span>
      <span class="ramp" style={{ background: rampGradient(theme()) }} aria-hidden="true" />
      <span>{human(greatest, unit)}</span>
      <span class="ramp-none" aria-hidden="true" />
      <span>not measured</span>
    </div>
  );
}

export interface HeatProps {
  block: Block;
  run: number;
  lines: Line[];
  unit: string;
  greatest: number;
  view: Stretch;
  offset: number;
  window: Stretch | null;
  width: number;
  label: string;
}

/** Paints the cells at one pixel a column and one a row; the browser scales rows up. */
function paint(props: HeatProps, rows: (Level | null)[], columns: number): HTMLCanvasElement {
  const picture = document.createElement("canvas");
  picture.width = columns;
  picture.height = Math.max(1, rows.length);
  const g = picture.getContext("2d") as CanvasRenderingContext2D;
  const image = g.createImageData(columns, Math.max(1, rows.length));
  const words = new Uint32Array(image.data.buffer);
  const ramp = heatRamp();
  const { view, offset, greatest } = props;
  rows.forEach((level, r) => {
    if (!level) return;
    const cells = heatColumns(level, view.from + offset, view.to + offset, columns);
    for (let c = 0; c < columns; c++) {
      const x = cells[c] as number;
      if (Number.isNaN(x)) continue;
      const shade = greatest > 0 ? Math.round(Math.min(1, Math.max(0, x / greatest)) * 255) : 0;
      words[r * columns + c] = ramp[shade] as number;
    }
  });
  g.putImageData(image, 0, 0);
  return picture;
}

/** Diagonal lines behind the cells: what stays visible was not measured. */
function hatch(g: CanvasRenderingContext2D, x: number, y: number, w: number, h: number): void {
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.strokeStyle = cssColor("--line");
  g.lineWidth = 1;
  g.beginPath();
  for (let d = -h; d < w; d += 6) {
    g.moveTo(x + d, y + h);
    g.lineTo(x + d + h, y);
  }
  g.stroke();
  g.restore();
}

/** One panel. */
export function Heat(props: HeatProps) {
  const { block, run, lines, unit, view, offset, width, label } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<{ row: number; t: number } | null>(null);
  const drag = useRef<number | null>(null);
  const [band, setBand] = useState<Stretch | null>(null);
  const inner = Math.max(10, width - GUTTER - RIGHT);
  const height = heatHeight(lines.length);
  const series = lines.map((l) => l.runs.get(run));

  useEffect(() => {
    const c = canvas.current;
    if (!c || width < 60) return;
    const dpr = devicePixelRatio || 1;
    c.width = Math.round(width * dpr);
    c.height = Math.round((height + AXIS) * dpr);
    const g = c.getContext("2d") as CanvasRenderingContext2D;
    g.scale(dpr, dpr);
    const columns = Math.round(inner * dpr);
    const levels = series.map((s) => (s === undefined ? null : levelFor(block, s, view.from + offset, view.to + offset, columns)));
    hatch(g, GUTTER, 0, inner, height);
    g.imageSmoothingEnabled = false;
    g.drawImage(paint(props, levels, columns), GUTTER, 0, inner, height);
    g.fillStyle = cssColor("--quiet");
    g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    g.textAlign = "right";
    g.textBaseline = "middle";
    const rowHeight = height / Math.max(1, lines.length);
    // Every row, or every 2nd, 4th, 8th: numbers of CPUs are read in such steps.
    const every = 2 ** Math.max(0, Math.ceil(Math.log2(13 / rowHeight)));
    for (let r = 0; r < lines.length; r += every) {
      const name = lines[r]?.name ?? "";
      g.fillText(name.length > 9 ? `${name.slice(0, 8)}…` : name, GUTTER - 6, Math.max(6, (r + 0.5) * rowHeight));
    }
    g.textBaseline = "top";
    g.textAlign = "center";
    const step = timeStep(view.to - view.from, Math.max(2, Math.floor(inner / 70)));
    for (let t = Math.ceil(view.from / step) * step; t <= view.to + 1e-9; t += step) {
      const x = GUTTER + ((t - view.from) / (view.to - view.from)) * inner;
      g.fillText(clock(Math.abs(t) < 1e-9 ? 0 : t, step), x, height + 6);
    }
    if (props.window) {
      g.fillStyle = cssColor("--quiet");
      const px = (t: number) => GUTTER + Math.min(1, Math.max(0, (t - view.from) / (view.to - view.from))) * inner;
      g.fillRect(px(props.window.from), height + 1, px(props.window.to) - px(props.window.from), 1.5);
    }
  }, [block, run, lines, props.greatest, view.from, view.to, offset, width, theme(), props.window?.from, props.window?.to]);

  useSignalEffect(() => {
    const t = cursor.value;
    if (!line.current) return;
    const share = t === null ? -1 : (t - view.from) / (view.to - view.from);
    line.current.style.display = share < 0 || share > 1 ? "none" : "block";
    line.current.style.left = `${GUTTER + share * inner}px`;
  });

  const place = (e: PointerEvent) => {
    const b = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const share = (e.clientX - b.left - GUTTER) / inner;
    return {
      inside: share >= 0 && share <= 1 && e.clientY - b.top <= height,
      t: view.from + Math.min(1, Math.max(0, share)) * (view.to - view.from),
      row: Math.min(lines.length - 1, Math.max(0, Math.floor(((e.clientY - b.top) / height) * lines.length))),
    };
  };

  const read = (row: number, t: number) => {
    const s = series[row];
    if (s === undefined) return Number.NaN;
    const level = levelFor(block, s, view.from + offset, view.to + offset, inner);
    return valueAt(level, t + offset);
  };
  const text = at && `${lines[at.row]?.name ?? ""} · ${clock(at.t, 0.1)} · ${human(read(at.row, at.t), unit)}`;
  const tipLeft = at ? GUTTER + ((at.t - view.from) / (view.to - view.from)) * inner : 0;
  const tipTop = at ? ((at.row + 0.5) / lines.length) * height : 0;

  return (
    <div class="heat" ref={box} style={{ height: `${height + AXIS}px` }}>
      <canvas
        ref={canvas}
        style={{ width: `${width}px`, height: `${height + AXIS}px` }}
        role="application"
        aria-roledescription="heat map"
        tabIndex={0}
        aria-label={`${label} Arrow keys read single cells.`}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          drag.current = place(e).t;
          e.currentTarget.setPointerCapture(e.pointerId);
        }}
        onPointerMove={(e) => {
          const p = place(e);
          if (drag.current !== null) {
            setBand({ from: Math.min(drag.current, p.t), to: Math.max(drag.current, p.t) });
            return;
          }
          setAt(p.inside ? { row: p.row, t: p.t } : null);
          cursor.value = p.inside ? p.t : null;
        }}
        onPointerUp={() => {
          if (band && band.to - band.from > least()) choose(band);
          drag.current = null;
          setBand(null);
        }}
        onPointerCancel={() => {
          drag.current = null;
          setBand(null);
        }}
        onPointerLeave={() => {
          setAt(null);
          cursor.value = null;
        }}
        onDblClick={() => choose(null)}
        onBlur={() => {
          setAt(null);
          cursor.value = null;
        }}
        onKeyDown={(e) => {
          const step = ((view.to - view.from) / 60) * (e.shiftKey ? 5 : 1);
          const now = at ?? { row: 0, t: (view.from + view.to) / 2 };
          const next = { ...now };
          if (e.key === "ArrowRight") next.t = Math.min(view.to, now.t + step);
          else if (e.key === "ArrowLeft") next.t = Math.max(view.from, now.t - step);
          else if (e.key === "ArrowDown") next.row = Math.min(lines.length - 1, now.row + 1);
          else if (e.key === "ArrowUp") next.row = Math.max(0, now.row - 1);
          else return;
          e.preventDefault();
          e.stopPropagation();
          setAt(next);
          cursor.value = next.t;
        }}
      />
      <div class="cursor-line" ref={line} style={{ height: `${height}px` }} />
      {band && (
        <div
          class="band"
          style={{
            left: `${GUTTER + ((band.from - view.from) / (view.to - view.from)) * inner}px`,
            width: `${((band.to - band.from) / (view.to - view.from)) * inner}px`,
            height: `${height}px`,
          }}
        />
      )}
      {at && (
        <div
          class={`tip${tipLeft > width / 2 ? " to-left" : ""}`}
          style={{ left: `${tipLeft}px`, top: `${tipTop}px` }}
          role="status"
          aria-label={`${nameOf(run)}: ${text}`}
        >
          {text}
        </div>
      )}
    </div>
  );
}
