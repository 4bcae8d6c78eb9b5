// The frame of a chart drawn as SVG: marks in it are read by pointer and by arrow keys, each as a line of text.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { useWidth } from "../parts";

/** Something that can be read in a chart. */
export interface Mark {
  x: number;
  y: number;
  text: string;
}

/** Room for labels of the vertical axis, and to the right of the chart. */
export const GUTTER = 62;
export const RIGHT = 14;

/** The mark nearest to a place; −1 where there is none. `byX`: by the horizontal distance first. */
export function nearestMark(marks: Mark[], x: number, y: number, byX: boolean): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  marks.forEach((m, i) => {
    const d = (m.x - x) ** 2 * (byX ? 400 : 1) + (m.y - y) ** 2;
    if (d < least) [best, least] = [i, d];
  });
  return best;
}

/** A chart as wide as there is room. `draw` gives its marks and its picture; the place of the mark that is read is passed to it. */
export function Frame({ height, label, draw, byX = false, name }: {
  height: number;
  /** What it shows, with its numbers, for those who cannot see it. */
  label: string;
  draw: (width: number, read: number | null) => { marks: Mark[]; picture: ComponentChildren };
  byX?: boolean;
  name: string;
}) {
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  const [read, setRead] = useState<number | null>(null);
  const { marks, picture } = width > 0 ? draw(width, read) : { marks: [], picture: null };
  const mark = read === null ? undefined : marks[read];
  return (
    <div ref={holder} class="frame" data-chart-name={name}>
      <div
        class="heat" style={{ height: `${height}px` }} role="application" aria-roledescription="chart" tabIndex={0}
        aria-label={`${label} Arrow keys read it.`}
        onPointerMove={(e) => {
          const box = e.currentTarget.getBoundingClientRect();
          const at = nearestMark(marks, e.clientX - box.left, e.clientY - box.top, byX);
          setRead(at < 0 ? null : at);
        }}
        onPointerLeave={() => setRead(null)}
        onBlur={() => setRead(null)}
        onKeyDown={(e) => {
          const last = marks.length - 1;
          const by = e.shiftKey ? 10 : 1;
          if (last < 0) return;
          if (e.key === "ArrowRight" || e.key === "ArrowDown") setRead(read === null ? 0 : Math.min(last, read + by));
          else if (e.key === "ArrowLeft" || e.key === "ArrowUp") setRead(read === null ? last : Math.max(0, read - by));
          else if (e.key === "Home") setRead(0);
          else if (e.key === "End") setRead(last);
          else if (e.key === "Escape") setRead(null);
          else return;
          e.preventDefault();
          e.stopPropagation();
        }}
      >
        {width > 0 && <svg width={width} height={height} aria-hidden="true" class="xp-chart">{picture}</svg>}
        {mark && (
          <div
            class={`tip${mark.x > width / 2 ? " to-left" : ""}`}
            style={{ left: `${mark.x}px`, top: `${Math.max(12, Math.min(height - 12, mark.y - 18))}px`, maxWidth: `${Math.max(120, Math.max(mark.x, width - mark.x) - 14)}px` }}
            role="status"
          >{mark.text}</div>
        )}
      </div>
    </div>
  );
}

/** Horizontal grid lines with their labels. */
export function Rows({ at, labels, from, to, width }: { at: number[]; labels: string[]; from: number; to: number; width: number }) {
  return (
    <>
      {at.map((y, i) => (
        <g key={i}>
          <line class="grid" x1={from} x2={Math.min(to, width)} y1={y} y2={y} />
          <text x={from - 6} y={y} dy="0.32em" text-anchor="end">{labels[i]}</text>
        </g>
      ))}
    </>
  );
}

/** A ring round the mark that is read. */
export function Ring({ mark }: { mark: Mark | undefined }) {
  return mark ? <circle class="ring" cx={mark.x} cy={mark.y} r="7" /> : null;
}
