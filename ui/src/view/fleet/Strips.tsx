// Two strips of one metric on one axis: a band above, the others beneath. Every host is a line; more of them at one place are darker.
import { useMemo, useRef, useState } from "preact/hooks";
import { cssColor } from "../../model/color";
import { place } from "../../model/axis";
import { axisOfStrip, ticksOf, type FleetView, nameInLine, figure } from "../../model/fleet";
import { useVisible } from "../parts";
import { chosen, toggle } from "./choice";
import { bandColor, useCanvas } from "./parts";

export const STRIPS_WIDTH = 400;
const LANE = 15;
const SIDE = 8;
const INNER = STRIPS_WIDTH - 2 * SIDE;
const HEIGHT = 2 * LANE + 4;

/** How many hosts of a side stand in each column of pixels. */
function counts(values: Float32Array, is: (host: number) => boolean, x: (v: number) => number): Uint32Array {
  const out = new Uint32Array(INNER + 1);
  for (let i = 0; i < values.length; i++) {
    if (!is(i) || !Number.isFinite(values[i])) continue;
    const at = Math.round(x(values[i] as number) - SIDE);
    out[at] = (out[at] as number) + 1;
  }
  return out;
}

/** The strips. `band`: the one above, from 0. */
export function Strips({ view, values, band, unit, middles, label }: { view: FleetView; values: Float32Array; band: number; unit: string; middles: readonly [number, number]; label: string }) {
  const holder = useRef<HTMLDivElement>(null);
  const visible = useVisible(holder);
  const [at, setAt] = useState(-1);
  const axis = useMemo(() => axisOfStrip(values), [values]);
  const x = (v: number) => SIDE + place(axis, v) * INNER;
  // 0: the band, 1: the others, −1: neither.
  const side = (host: number) => (view.standing[host] === "stray" || (view.band[host] as number) < 0 ? -1 : view.band[host] === band ? 0 : 1);
  const many = (view.group.answer.bandings[view.banding ?? 0]?.bands.length ?? 2) > 2;
  const canvas = useCanvas(visible ? STRIPS_WIDTH : 0, HEIGHT, (g) => {
    for (const lane of [0, 1]) {
      const top = lane * (LANE + 4);
      g.fillStyle = cssColor("--shade");
      g.fillRect(SIDE - 3, top, INNER + 6, LANE);
      g.fillStyle = bandColor(lane === 0 ? band : many ? -1 : 1 - band);
      const columns = counts(values, (i) => side(i) === lane, x);
      const most = Math.max(1, ...columns);
      columns.forEach((count, column) => {
        if (count === 0) return;
        g.globalAlpha = most <= 3 ? 0.7 : 0.3 + 0.7 * Math.sqrt(count / most);
        g.fillRect(SIDE + column - 0.75, top + 1.5, 1.75, LANE - 3);
      });
      g.globalAlpha = 1;
      g.fillStyle = cssColor("--ink");
      g.fillRect(x(middles[lane as 0 | 1]) - 1, top - 1, 2, LANE + 2);
    }
  }, [visible, view, values, band]);
  const { marks, labels, symbol } = ticksOf(axis, 4, unit);
  const nearest = (e: PointerEvent | MouseEvent) => {
    const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
    const lane = e.clientY - box.top < LANE + 2 ? 0 : 1;
    let [best, least] = [-1, 7];
    for (let i = 0; i < values.length; i++) {
      const d = Math.abs(x(values[i] as number) - (e.clientX - box.left));
      if (d < least && side(i) === lane) [best, least] = [i, d];
    }
    return best;
  };
  const pick = chosen.value;
  const marked = pick !== null && Number.isFinite(values[pick]) ? pick : null;
  return (
    <div ref={holder} class="strips" role="img" aria-label={label}>
      <div class="strips-lanes" style={{ width: `${STRIPS_WIDTH}px`, height: `${HEIGHT}px` }} onPointerMove={(e) => setAt(nearest(e))} onPointerLeave={() => setAt(-1)}
        onClick={(e) => {
          const host = nearest(e);
          if (host >= 0) toggle(host);
        }}
      >
        <canvas ref={canvas} style={{ width: `${STRIPS_WIDTH}px`, height: `${HEIGHT}px` }} />
        {marked !== null && <div class={`pin${side(marked) === -1 ? " whole" : ""}`} style={{ left: `${x(values[marked] as number)}px`, top: side(marked) === 1 ? `${LANE + 4}px` : "0" }} />}
        {at >= 0 && (
          <div class={`tip${x(values[at] as number) > STRIPS_WIDTH / 2 ? " to-left" : ""}`} style={{ left: `${x(values[at] as number)}px`, top: `${side(at) === 1 ? LANE * 1.5 + 4 : LANE / 2}px` }} role="status">
            {nameInLine(view.group.answer.recordings[at]?.name ?? "")} · {figure(values[at], unit)}
          </div>
        )}
      </div>
      <svg class="xp-chart" width={STRIPS_WIDTH} height="15" aria-hidden="true">
        {marks.map((v, i) => <text key={v} x={x(v)} y="12" text-anchor={x(v) < 24 ? "start" : x(v) > STRIPS_WIDTH - 40 ? "end" : "middle"}>{labels[i]}{i === marks.length - 1 && symbol ? ` ${symbol}` : ""}</text>)}
      </svg>
    </div>
  );
}
