// Percentiles of all recordings in one chart, as HdrHistogram draws them: each 9 of the percentile as wide as the one before, time on a log scale.
import { useMemo, useRef, useState } from "preact/hooks";
import type { Requests } from "../bundle/types";
import { runColor } from "../model/color";
import { curveOf, nines, percentile, totalOf } from "../model/requests";
import { columnScale, finer, fixed, human, inScale } from "../model/units";
import { changeInWords } from "../model/words";
import { report } from "../state";
import { nameOf, RunName, useWidth } from "./parts";
import { GUTTER, RIGHT } from "./Plot";

const HEIGHT = 260;
const AXIS = 24;
const TOP = 8;

/** The axis ends here. */
const MOST = 5;

const AXIS_AT: [number, string][] = [[0, "0"], [0.5, "50"], [0.9, "90"], [0.99, "99"], [0.999, "99.9"], [0.9999, "99.99"], [0.99999, "99.999 %"]];

/** Percentiles in numbers. */
export const ASKED: { id: string; q: number; title: string }[] = [
  { id: "p50", q: 0.5, title: "p50" }, { id: "p90", q: 0.9, title: "p90" }, { id: "p99", q: 0.99, title: "p99" }, { id: "p999", q: 0.999, title: "p99.9" }, { id: "p9999", q: 0.9999, title: "p99.99" },
];

/** A percentile, or NaN where fewer requests were timed than it takes: one must be above it. */
export function known(counts: Float64Array, ranges: Requests["ranges"], q: number): number {
  return totalOf(counts) * (1 - q) >= 1 - 1e-9 ? percentile(counts, ranges, q) : Number.NaN;
}

/** "p99.3": with as many decimals as tell it from its neighbours. */
function called(q: number): string {
  const decimals = Math.max(0, Math.min(4, Math.ceil(nines(q)) - 1));
  return `p${fixed(Math.floor(q * 100 * 10 ** decimals) / 10 ** decimals, decimals)}`;
}

/** Steps of an axis of times: the powers of ten, and 2 and 5 of each where there are few. */
function ticksOf(low: number, high: number): number[] {
  const all = (steps: number[]) => Array.from({ length: 14 }, (_, k) => k - 10).flatMap((k) => steps.map((s) => Number(`${s}e${k}`))).filter((v) => v >= low * 0.999 && v <= high * 1.001);
  return all([1]).length > 3 ? all([1]) : all([1, 2, 5]);
}

function Numbers({ counts, ranges, runs }: { counts: Float64Array[]; ranges: Requests["ranges"]; runs: number[] }) {
  const rows = ASKED.map((a) => ({ ...a, of: runs.map((r) => known(counts[r] as Float64Array, ranges, a.q)) })).filter((a) => a.of.some((v) => !Number.isNaN(v)));
  const most = runs.map((r) => percentile(counts[r] as Float64Array, ranges, 1));
  const all = [...rows.flatMap((a) => a.of), ...most].filter((v) => v > 0);
  const scale = finer(columnScale("s", Math.max(0, ...all), false, Math.min(...all)), Math.min(...all));
  const two = runs.length === 2;
  const change = (of: number[]) => changeInWords((of[1] as number) / (of[0] as number) - 1);
  return (
    <div class="stats">
      <table>
        <caption>{scale.symbol}, of the requests in the window</caption>
        <colgroup>
          <col class="name" />
          {runs.map((r) => <col key={r} />)}
          {two && <col />}
        </colgroup>
        <thead>
          <tr>
            <td />
            {runs.map((r) => <th key={r} scope="col"><RunName run={r} /></th>)}
            {two && <th scope="col">change</th>}
          </tr>
        </thead>
        <tbody>
          {[...rows, { id: "max", title: "longest", of: most }].map((row) => (
            <tr key={row.id}>
              <th scope="row">{row.title}</th>
              {row.of.map((v, i) => <td key={runs[i]} data-percentile={`${row.id}/${runs[i]}`}>{inScale(v, scale)}</td>)}
              {two && <td>{row.of.every((v) => v > 0) ? change(row.of) : "–"}</td>}
            </tr>
          ))}
          <tr>
            <th scope="row">requests</th>
            {runs.map((r) => <td key={r}>{fixed(totalOf(counts[r] as Float64Array), 0)}</td>)}
            {two && <td />}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** `counts`: by run, how many requests were in each range. */
export function Percentiles({ counts, ranges, label }: { counts: Float64Array[]; ranges: Requests["ranges"]; label: string }) {
  const runs = report().runs.map((_, r) => r).filter((r) => totalOf(counts[r] as Float64Array) >= 1);
  return runs.length === 0 ? <p class="none">No request was timed in the window.</p> : <Curves counts={counts} ranges={ranges} label={label} runs={runs} />;
}

function Curves({ counts, ranges, label, runs }: { counts: Float64Array[]; ranges: Requests["ranges"]; label: string; runs: number[] }) {
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  const [at, setAt] = useState<number | null>(null);
  const curves = useMemo(() => runs.map((r) => curveOf(counts[r] as Float64Array, ranges, MOST)), [counts, ranges]);
  const points = curves.flat();
  const values = points.map((p) => p[1]).filter((v) => v > 0);
  const end = Math.max(1, ...points.map((p) => p[0]));
  const [least, greatest] = [Math.max(1e-7, Math.min(...values)), Math.max(...values)];
  // Up to the next round number, so that the ends of the axis are labelled.
  const round = (v: number, up: boolean) => {
    const power = 10 ** Math.floor(Math.log10(v));
    const steps = [1, 2, 5, 10].map((s) => s * power);
    return (up ? steps.find((s) => s >= v * 0.999) : steps.findLast((s) => s <= v * 1.001)) ?? v;
  };
  const [low, high] = [round(least, false), Math.max(round(greatest, true), round(least, false) * 2)];
  const inner = Math.max(10, width - GUTTER - RIGHT);
  const x = (n: number) => GUTTER + (n / end) * inner;
  const y = (v: number) => TOP + (HEIGHT - TOP) * (1 - Math.log(Math.max(low, v) / low) / Math.log(high / low));
  const valueAt = (run: number, n: number) => percentile(counts[run] as Float64Array, ranges, 1 - 10 ** -n);
  const q = at === null ? null : 1 - 10 ** -at;
  const reach = (run: number) => curves[runs.indexOf(run)]?.at(-1)?.[0] ?? 0;
  const said = q === null || at === null ? "" : `${called(q)} · ${runs.map((r) => `${report().runs.length > 1 ? `${nameOf(r)} ` : ""}${at <= reach(r) + 1e-9 ? human(valueAt(r, at), "s") : "–"}`).join(" · ")}`;
  const told = runs.map((r) => `${nameOf(r)}: ${ASKED.map((a) => ({ a, v: known(counts[r] as Float64Array, ranges, a.q) })).filter(({ v }) => !Number.isNaN(v)).map(({ a, v }) => `${a.title} ${human(v, "s")}`).join(", ")}`).join(". ");
  return (
    <div class="chart-body percentiles">
      <div ref={holder}>
        <div
          class="heat" style={{ height: `${HEIGHT + AXIS}px` }} role="application" aria-roledescription="chart" tabIndex={0} aria-label={`${label} ${told}. Arrow keys read percentiles.`}
          onPointerMove={(e) => {
            const box = e.currentTarget.getBoundingClientRect();
            const n = ((e.clientX - box.left - GUTTER) / inner) * end;
            setAt(n >= 0 && n <= end ? n : null);
          }}
          onPointerLeave={() => setAt(null)}
          onBlur={() => setAt(null)}
          onKeyDown={(e) => {
            const by = (e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0) * (e.shiftKey ? 0.5 : 0.1);
            if (by === 0) return;
            e.preventDefault();
            e.stopPropagation();
            setAt(Math.min(end, Math.max(0, (at ?? 0) + by)));
          }}
        >
          {width > 0 && (
            <svg width={width} height={HEIGHT + AXIS} aria-hidden="true" class="percentile-lines">
              {ticksOf(low, high).map((v) => (
                <g key={v}>
                  <line class="grid" x1={GUTTER} x2={width - RIGHT} y1={y(v)} y2={y(v)} />
                  <text x={GUTTER - 6} y={y(v)} dy="0.32em" text-anchor="end">{human(v, "s").replace(/\.0+(?= )/, "")}</text>
                </g>
              ))}
              {AXIS_AT.filter(([p]) => nines(p) <= end + 0.01).map(([p, text]) => (
                <g key={p}>
                  <line class="grid" x1={x(nines(p))} x2={x(nines(p))} y1={TOP} y2={HEIGHT} />
                  <text x={x(nines(p))} y={HEIGHT + 16} text-anchor="middle">{text}</text>
                </g>
              ))}
              {curves.map((curve, i) => {
                const [n, v] = curve.at(-1) ?? [0, 0];
                return (
                  <g key={runs[i]} style={{ stroke: runColor(runs[i] as number), fill: runColor(runs[i] as number) }}>
                    <polyline fill="none" points={curve.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ")} />
                    <circle cx={x(n)} cy={y(v)} r="2.5" />
                  </g>
                );
              })}
              {at !== null && <line class="at" x1={x(at)} x2={x(at)} y1={TOP} y2={HEIGHT} />}
              {at !== null && runs.filter((r) => at <= reach(r) + 1e-9).map((r) => <circle key={r} cx={x(at)} cy={y(valueAt(r, at))} r="3.5" style={{ fill: runColor(r) }} />)}
            </svg>
          )}
          {at !== null && <div class={`tip${x(at) > width / 2 ? " to-left" : ""}`} style={{ left: `${x(at)}px`, top: "24px" }} role="status">{said}</div>}
        </div>
        <p class="axis-title quiet small">percentile of requests, %</p>
      </div>
      <Numbers counts={counts} ranges={ranges} runs={runs} />
    </div>
  );
}
