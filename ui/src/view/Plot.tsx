// One panel of lines or stacked areas, drawn by uPlot: axes, gaps, cursor, and dragging to set the window.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { cssColor, theme } from "../model/color";
import { BINARY_INCREMENTS, DECIMAL_INCREMENTS, clock, inScale, scaleFor } from "../model/units";
import type { Points } from "../model/chart";
import { align as alignLines, stack } from "../model/chart";
import { choose, cursor, type Stretch } from "../state";

/** Left and right gutter of every panel, so that time axes of lines and heat maps are flush. */
export const GUTTER = 62;
export const RIGHT = 18;

export interface PlotLine {
  name: string;
  color: string;
  dashed: boolean;
  points: Points;
}

export interface PlotProps {
  lines: PlotLine[];
  stacked: boolean;
  unit: string;
  range: [number, number];
  view: Stretch;
  /** Stretches outside of which the panel is shaded, in display time. */
  window: Stretch | null;
  /** Marks at display times, in the colour given. */
  marks: { t: number; color: string }[];
  width: number;
  height: number;
  label: string;
}

const INCREMENTS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];

type Column = (number | null | undefined)[];

interface Prepared {
  data: uPlot.AlignedData;
  /** Lower edges of stacked areas, or of the band of a line; by data column. */
  lower: (Column | null)[];
  /** Upper edges of the band of a line. */
  upper: (Column | null)[];
}

function prepare(lines: PlotLine[], stacked: boolean): Prepared {
  if (stacked) {
    const s = stack(lines.map((l) => l.points));
    return { data: [s.x, ...s.upper] as uPlot.AlignedData, lower: [null, ...s.lower], upper: [] };
  }
  const { x, y } = alignLines(lines.map((l) => l.points));
  // The band of least and greatest is drawn where it can be told apart.
  const few = lines.length <= 3;
  const edge = (which: "min" | "max") =>
    lines.map((l) => (few && !l.points.exact && l.points.x.length === x.length ? l.points[which] : null));
  return { data: [x, ...y] as uPlot.AlignedData, lower: [null, ...edge("min")], upper: [null, ...edge("max")] };
}

/** The area between two edges, in pieces where either is not measured. */
function area(u: uPlot, xs: ArrayLike<number>, low: Column, high: Column): Path2D {
  const path = new Path2D();
  const px = (i: number) => u.valToPos(xs[i] as number, "x", true);
  const py = (v: number) => u.valToPos(v, "y", true);
  let i = 0;
  while (i < high.length) {
    if ((high[i] ?? null) === null || (low[i] ?? null) === null) {
      i++;
      continue;
    }
    let k = i;
    while (k < high.length && (high[k] ?? null) !== null && (low[k] ?? null) !== null) k++;
    // A single measured point is as wide as a thin bar, so that it can be seen.
    const pad = k - i === 1 ? 1.5 : 0;
    path.moveTo(px(i) - pad, py(high[i] as number));
    for (let j = i; j < k; j++) path.lineTo(px(j) + (j === k - 1 ? pad : 0), py(high[j] as number));
    for (let j = k - 1; j >= i; j--) path.lineTo(px(j) + (j === k - 1 ? pad : 0), py(low[j] as number));
    if (pad > 0) path.lineTo(px(i) - pad, py(low[i] as number));
    path.closePath();
    i = k;
  }
  return path;
}

/** Indices of points that have a gap on both sides: a line cannot show them. */
function lonely(ys: Column): number[] {
  const out: number[] = [];
  ys.forEach((y, i) => {
    if (y === null || y === undefined) return;
    let a = i - 1;
    while (a >= 0 && ys[a] === undefined) a--;
    let b = i + 1;
    while (b < ys.length && ys[b] === undefined) b++;
    if ((ys[a] ?? null) === null && (ys[b] ?? null) === null) out.push(i);
  });
  return out;
}

/** The panel. */
export function Plot(props: PlotProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const state = useRef({ props, prepared: prepare(props.lines, props.stacked), mine: false });
  const shape = [props.stacked, props.unit, theme(), props.lines.map((l) => l.color + l.name).join("\n")].join("|");

  useEffect(() => {
    const s = state.current;
    s.props = props;
    s.prepared = prepare(props.lines, props.stacked);
    const ink = cssColor("--quiet");
    const grid = cssColor("--line");
    const axis = { stroke: ink, font: `11px ${getComputedStyle(document.body).fontFamily}`, ticks: { show: false } };
    const u = new uPlot(
      {
        width: Math.max(50, props.width),
        height: props.height,
        padding: [6, RIGHT, 0, 0],
        legend: { show: false },
        scales: {
          x: { time: false, range: () => [s.props.view.from, s.props.view.to] },
          y: { range: () => s.props.range },
        },
        axes: [
          { ...axis, size: 24, gap: 3, space: 64, incrs: INCREMENTS, grid: { show: false },
            values: (_u, splits, _axis, _space, increment) => splits.map((t) => clock(t, increment)) },
          { ...axis, size: GUTTER, gap: 6, space: 26, incrs: props.unit.startsWith("B") ? BINARY_INCREMENTS : DECIMAL_INCREMENTS, grid: { stroke: grid, width: 1 },
            values: (_u, splits) => {
              const scale = scaleFor(s.props.unit, Math.max(...s.props.range.map(Math.abs)));
              const steps = splits.length > 1 ? Math.abs((splits[1] as number) - (splits[0] as number)) / scale.factor : 1;
              const decimals = Math.min(4, Math.max(0, Math.ceil(-Math.log10(steps) - 1e-9)));
              return splits.map((v) => {
                const text = v === 0 ? "0" : inScale(v, { ...scale, decimals });
                return scale.symbol && v !== 0 ? `${text}${scale.symbol.startsWith("/") ? "" : " "}${scale.symbol}` : text;
              });
            } },
        ],
        series: [
          {},
          ...s.props.lines.map((line, i): uPlot.Series => ({
            label: String(i),
            stroke: line.color,
            width: s.props.stacked ? 0 : 1.5,
            ...(line.dashed ? { dash: [5, 3] } : {}),
            spanGaps: false,
            points: { show: false },
            ...(s.props.stacked ? { paths: () => null } : {}),
          })),
        ],
        cursor: {
          y: false,
          points: { show: !props.stacked, size: 5 },
          drag: { x: true, y: false, setScale: false, dist: 4 },
          bind: { dblclick: () => () => (choose(null), null) },
        },
        hooks: {
          drawClear: [
            (chart) => {
              const { window: w, view } = s.props;
              if (!w) return;
              const { ctx, bbox } = chart;
              ctx.save();
              ctx.fillStyle = cssColor("--shade");
              const a = chart.valToPos(Math.max(w.from, view.from), "x", true);
              const b = chart.valToPos(Math.min(w.to, view.to), "x", true);
              if (a > bbox.left) ctx.fillRect(bbox.left, bbox.top, Math.min(a - bbox.left, bbox.width), bbox.height);
              if (b < bbox.left + bbox.width) {
                const x = Math.max(b, bbox.left);
                ctx.fillRect(x, bbox.top, bbox.left + bbox.width - x, bbox.height);
              }
              ctx.restore();
            },
          ],
          drawSeries: [
            (chart, i) => {
              const line = s.props.lines[i - 1];
              const ys = chart.data[i] as Column | undefined;
              const xs = chart.data[0];
              if (!line || !ys || xs.length === 0) return;
              const { ctx, bbox } = chart;
              const low = s.prepared.lower[i] ?? null;
              ctx.save();
              ctx.beginPath();
              ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
              ctx.clip();
              ctx.fillStyle = line.color;
              if (s.props.stacked && low) {
                ctx.globalAlpha = 0.88;
                ctx.fill(area(chart, xs, low, ys));
              } else if (!s.props.stacked) {
                const high = s.prepared.upper[i] ?? null;
                if (low && high) {
                  ctx.globalAlpha = 0.18;
                  ctx.fill(area(chart, xs, low, high));
                  ctx.globalAlpha = 1;
                }
                for (const k of lonely(ys)) {
                  ctx.beginPath();
                  ctx.arc(chart.valToPos(xs[k] as number, "x", true), chart.valToPos(ys[k] as number, "y", true), 2 * devicePixelRatio, 0, 7);
                  ctx.fill();
                }
              }
              ctx.restore();
            },
          ],
          draw: [
            (chart) => {
              const { ctx, bbox } = chart;
              ctx.save();
              ctx.setLineDash([3, 3]);
              for (const { t, color } of s.props.marks) {
                ctx.strokeStyle = color;
                const x = Math.round(chart.valToPos(t, "x", true));
                if (x < bbox.left || x > bbox.left + bbox.width) continue;
                ctx.beginPath();
                ctx.moveTo(x, bbox.top);
                ctx.lineTo(x, bbox.top + bbox.height);
                ctx.stroke();
              }
              ctx.restore();
            },
          ],
          setCursor: [
            (chart) => {
              if (s.mine) return;
              const left = chart.cursor.left ?? -1;
              cursor.value = left >= 0 ? chart.posToVal(left, "x") : null;
            },
          ],
          setSelect: [
            (chart) => {
              const { left, width } = chart.select;
              if (width < 4) return;
              choose({ from: chart.posToVal(left, "x"), to: chart.posToVal(left + width, "x") });
              chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            },
          ],
        },
      },
      s.prepared.data,
      holder.current as HTMLDivElement,
    );
    plot.current = u;
    return () => {
      u.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    const u = plot.current;
    if (!u) return;
    const s = state.current;
    s.props = props;
    s.prepared = prepare(props.lines, props.stacked);
    u.setData(s.prepared.data, true);
  }, [props.lines, props.range[0], props.range[1], props.view.from, props.view.to, props.window?.from, props.window?.to]);

  useEffect(() => {
    if (props.width > 50) plot.current?.setSize({ width: props.width, height: props.height });
  }, [props.width, props.height, shape]);

  // The cursor of the other panels follows. `mine` keeps the echo from setting it again.
  useSignalEffect(() => {
    const at = cursor.value;
    const u = plot.current;
    if (!u) return;
    const s = state.current;
    const left = at === null ? -10 : u.valToPos(at, "x");
    if (Math.abs((u.cursor.left ?? -10) - left) < 0.5) return;
    s.mine = true;
    u.setCursor({ left: left < 0 || left > u.over.clientWidth ? -10 : left, top: 0 }, true);
    s.mine = false;
  });

  return <div class="plot" ref={holder} style={{ height: `${props.height}px` }} role="img" aria-label={props.label} />;
}
