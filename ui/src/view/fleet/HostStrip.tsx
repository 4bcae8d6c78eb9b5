// All hosts by the metric of the banding: a dot each, stacked where they are many, with the valleys between the bands.
import { useMemo, useRef, useState } from "preact/hooks";
import { cssColor } from "../../model/color";
import { place } from "../../model/axis";
import { axisOfValues, bandingOf, type Dots, dotsOf, figure, type FleetView, hostInWords, nearestDot, ticksOf } from "../../model/fleet";
import { useWidth } from "../parts";
import { chosen, toggle } from "./choice";
import { BandMark, bandColor, useCanvas } from "./parts";

/** Height of the dots at most, and at least. */
const HEIGHT = 168;
const LEAST = 64;
const TOP = 24;
const SIDE = 14;

/** Hosts of one band that stand on each other in one column. */
function columnsOf(view: FleetView, dots: Dots): { x: number; from: number; to: number; band: number }[] {
  const found = new Map<string, { x: number; from: number; to: number; band: number }>();
  for (let i = 0; i < dots.x.length; i++) {
    const [x, y] = [dots.x[i] as number, dots.y[i] as number];
    if (Number.isNaN(x) || view.standing[i] !== "band") continue;
    const band = view.band[i] as number;
    const [from, to] = [y - dots.height / 2, y + dots.height / 2];
    const known = found.get(`${x} ${band}`);
    if (known) [known.from, known.to] = [Math.min(known.from, from), Math.max(known.to, to)];
    else found.set(`${x} ${band}`, { x: x - dots.size / 2, from, to, band });
  }
  return [...found.values()];
}

export function HostStrip({ view }: { view: FleetView }) {
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  const [at, setAt] = useState(-1);
  const { asked, values } = view;
  const banding = bandingOf(view);
  const inner = Math.max(0, width - 2 * SIDE);
  const axis = useMemo(() => axisOfValues(values, asked.logs), [view]);
  const dots = useMemo(() => (inner > 10 ? dotsOf(view, axis, inner, HEIGHT) : null), [view, inner]);
  const x = (v: number) => SIDE + place(axis, v) * inner;
  const base = TOP + Math.min(HEIGHT, Math.max(LEAST, dots ? dots.most * dots.height + 10 : HEIGHT));
  const canvas = useCanvas(width, base + 1, (g) => {
    if (!dots) return;
    g.fillStyle = cssColor("--strong-line");
    g.fillRect(0, base, width, 1);
    const gap = dots.size >= 5 ? 1 : dots.size >= 4 ? 0.5 : 0;
    // Dots of less than two pixels are drawn by whole columns, or their edges would be pale.
    const dense = dots.height < 2;
    if (dense) columnsOf(view, dots).forEach(({ x: left, from, to, band }) => {
      g.fillStyle = bandColor(band);
      g.fillRect(SIDE + left, base - to, dots.size, to - from);
    });
    for (let i = 0; i < values.length; i++) {
      if (dense && view.standing[i] === "band") continue;
      const [cx, cy] = [SIDE + (dots.x[i] as number), base - (dots.y[i] as number)];
      if (Number.isNaN(cx)) continue;
      const standing = view.standing[i];
      g.fillStyle = standing === "stray" ? cssColor("--ink") : bandColor(view.band[i] as number);
      if (standing === "stray") {
        const r = Math.max(5, dots.size / 2);
        g.beginPath();
        g.moveTo(cx, cy - r);
        g.lineTo(cx + r, cy);
        g.lineTo(cx, cy + r);
        g.lineTo(cx - r, cy);
        g.fill();
      } else if (standing === "undecided") {
        g.strokeStyle = bandColor(view.band[i] as number);
        g.lineWidth = 1.5;
        g.beginPath();
        g.arc(cx, cy, Math.max(2.5, dots.size / 2 - 1.25), 0, 2 * Math.PI);
        g.stroke();
      } else if (dots.size >= 5 && dots.height >= 5) {
        g.beginPath();
        g.arc(cx, cy, Math.min(dots.size, dots.height) / 2 - gap / 2, 0, 2 * Math.PI);
        g.fill();
      } else {
        g.fillRect(cx - dots.size / 2, cy - dots.height / 2, dots.size - gap, dots.height > 2 ? dots.height - 0.5 : dots.height);
      }
    }
  }, [view, dots, base]);
  const { marks, labels, symbol } = ticksOf(axis, Math.max(2, Math.floor(inner / 110)), asked.unit);
  const bands = banding?.bands ?? [];
  const undecided = view.standing.filter((s) => s === "undecided").length;
  const strays = view.standing.filter((s) => s === "stray").length;
  const ring = (host: number) => dots && Number.isFinite(dots.x[host]) && (
    <div class="host-ring" style={{ left: `${SIDE + (dots.x[host] as number)}px`, top: `${base - (dots.y[host] as number)}px` }} />
  );
  const host = at >= 0 ? at : -1;
  const local = (e: PointerEvent | MouseEvent) => {
    const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
    return dots ? nearestDot(dots, e.clientX - box.left - SIDE, base - (e.clientY - box.top), 16) : -1;
  };
  return (
    <section class="host-strip" aria-labelledby="at-strip">
      <div class="section-head">
        <h2 id="at-strip">All {view.one}s by {asked.metric}</h2>
        <span class="quiet small">{asked.help && `${asked.help}; `}a dot for each {view.one}{asked.better === "more" ? ", more is better" : asked.better === "less" ? ", less is better" : ""}</span>
      </div>
      <div ref={holder} class="strip-plot" data-chart-name="hosts">
        <div
          class="strip-canvas" style={{ height: `${base + 26}px` }} role="application" aria-roledescription="chart" tabIndex={0}
          aria-label={`${values.length} ${view.one}s by ${asked.metric}. ${bands.map((b, i) => `Band ${i + 1}: ${b.count} at ${figure(b.middle, asked.unit)}`).join(". ")}. Arrow keys move through them.`}
          onPointerMove={(e) => setAt(local(e))}
          onPointerLeave={() => setAt(-1)}
          onClick={(e) => {
            const found = local(e);
            if (found >= 0) toggle(found);
          }}
        >
          <canvas ref={canvas} style={{ width: `${width}px`, height: `${base + 1}px` }} />
          {width > 0 && (
            <svg class="xp-chart strip-axis" width={width} height={base + 26} aria-hidden="true">
              {(banding?.valleys ?? []).map((v, i) => (
                <g key={i} class="valley">
                  <line x1={x(v.at)} x2={x(v.at)} y1={TOP - 4} y2={base} />
                  <text x={x(v.at)} y={TOP - 10} text-anchor={x(v.at) > width - 90 ? "end" : x(v.at) < 90 ? "start" : "middle"}>valley at {figure(v.at, asked.unit)}</text>
                </g>
              ))}
              {marks.map((v, i) => (
                <g key={v}>
                  <line class="tick" x1={x(v)} x2={x(v)} y1={base} y2={base + 5} />
                  <text x={x(v)} y={base + 18} text-anchor="middle">{labels[i]}</text>
                </g>
              ))}
            </svg>
          )}
          {chosen.value !== null && ring(chosen.value)}
          {host >= 0 && dots && (
            <div
              class={`tip${(dots.x[host] as number) > inner / 2 ? " to-left" : ""}`}
              style={{ left: `${SIDE + (dots.x[host] as number)}px`, top: `${base - (dots.y[host] as number) - 16}px`, maxWidth: `${Math.max(160, inner * 0.5)}px` }}
              role="status"
            >{hostInWords(view, host)}</div>
          )}
        </div>
        <p class="axis-title quiet small">{asked.metric}{symbol && `, ${symbol}`}{asked.logs && ", logarithmic"}</p>
      </div>
      <p class="fleet-legend small">
        {bands.map((b, i) => (
          <span key={i} class="line-name"><BandMark band={i} />band {i + 1}: {b.count} of {b.of}, {figure(b.middle, asked.unit)} <span class="quiet">({figure(b.low, asked.unit)} to {figure(b.high, asked.unit)})</span></span>
        ))}
        {undecided > 0 && <span class="line-name"><BandMark band={-1} undecided />{undecided} undecided</span>}
        {strays > 0 && <span class="line-name"><BandMark band={-1} stray />{strays === 1 ? "1 stray" : `${strays} strays`}</span>}
      </p>
    </section>
  );
}
