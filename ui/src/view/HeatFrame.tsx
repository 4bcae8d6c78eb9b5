// The frame of a heat map over time: axes, cursor, reading of single cells by mouse and keyboard, and dragging to set the window. What the cells
// are is up to who draws them.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { cssColor, theme } from "../model/color";
import { clock, timeStep } from "../model/units";
import { choose, cursor, least, type Stretch } from "../state";
import { nameOf } from "./parts";
import { GUTTER, RIGHT } from "./Plot";

const AXIS = 22;

export interface FrameProps {
  run: number;
  view: Stretch;
  offset: number;
  window: Stretch | null;
  width: number;
  height: number;
  /** How many rows of equal height, the first at the top. */
  rows: number;
  /** What stands beside the rows: where, as a share of the height from the top, and the text. */
  names: { at: number; text: string }[];
  /** The cells, at one pixel a column and one a row; the browser scales rows up. What is left transparent was not measured. */
  picture: (columns: number) => HTMLCanvasElement;
  /** A cell in words. */
  read: (row: number, t: number) => string;
  /** What the cells follow from, apart from the above. */
  of: readonly unknown[];
  label: string;
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
export function HeatFrame({ run, view, offset, window, width, height, rows, names, picture, read, of, label }: FrameProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<{ row: number; t: number } | null>(null);
  const drag = useRef<number | null>(null);
  const [band, setBand] = useState<Stretch | null>(null);
  const inner = Math.max(10, width - GUTTER - RIGHT);

  useEffect(() => {
    const c = canvas.current;
    if (!c || width < 60) return;
    const dpr = devicePixelRatio || 1;
    c.width = Math.round(width * dpr);
    c.height = Math.round((height + AXIS) * dpr);
    const g = c.getContext("2d") as CanvasRenderingContext2D;
    g.scale(dpr, dpr);
    hatch(g, GUTTER, 0, inner, height);
    g.imageSmoothingEnabled = false;
    g.drawImage(picture(Math.round(inner * dpr)), GUTTER, 0, inner, height);
    g.fillStyle = cssColor("--quiet");
    g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const name of names) g.fillText(name.text.length > 9 ? `${name.text.slice(0, 8)}…` : name.text, GUTTER - 6, Math.max(6, name.at * height));
    g.textBaseline = "top";
    g.textAlign = "center";
    const step = timeStep(view.to - view.from, Math.max(2, Math.floor(inner / 70)));
    for (let t = Math.ceil(view.from / step) * step; t <= view.to + 1e-9; t += step) {
      const x = GUTTER + ((t - view.from) / (view.to - view.from)) * inner;
      g.fillText(clock(Math.abs(t) < 1e-9 ? 0 : t, step), x, height + 6);
    }
    if (window) {
      g.fillStyle = cssColor("--quiet");
      const px = (t: number) => GUTTER + Math.min(1, Math.max(0, (t - view.from) / (view.to - view.from))) * inner;
      g.fillRect(px(window.from), height + 1, px(window.to) - px(window.from), 1.5);
    }
  }, [...of, run, rows, height, view.from, view.to, offset, width, theme(), window?.from, window?.to]);

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
      row: Math.min(rows - 1, Math.max(0, Math.floor(((e.clientY - b.top) / height) * rows))),
    };
  };

  const text = at ? read(at.row, at.t) : "";
  const tipLeft = at ? GUTTER + ((at.t - view.from) / (view.to - view.from)) * inner : 0;
  const tipTop = at ? ((at.row + 0.5) / rows) * height : 0;

  return (
    <div class="heat" style={{ height: `${height + AXIS}px` }}>
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
          else if (e.key === "ArrowDown") next.row = Math.min(rows - 1, now.row + 1);
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
