// A sweep of one parameter: the curve with intervals, the law and its residuals, and the ledger of each point, one under the other on one axis.
import type { Experiment, Point, Sweep } from "../../bundle/generated";
import { lineColor } from "../../model/color";
import { type Axis, amount, amountRange, axisOf, labelled, place, ticks, trimmed } from "../../model/axis";
import { factorInWords, judged, rangeInWords } from "../../model/experiment";
import { type Curve as LawCurve, curveOf, kneeOf, numberInWords, parameterAxis, type ParameterAxis, pointInWords, statesOf } from "../../model/sweep";
import { human } from "../../model/units";
import { Frame, GUTTER, type Mark, RIGHT, Ring, Rows } from "./Frame";

const PLOT = 270;
// Names of knee and peak stand above the plot, so that they hide no point.
const TOP = 36;
const AXIS = 24;
const RESIDUALS = 110;
const LEDGER = 150;

/** A point in one line. */
export function pointInLine(e: Experiment, sweep: Sweep, p: Point): string {
  const m = judged(e);
  const range = p.interval ? ` (95 % CI ${amountRange(p.interval, m.unit)})` : "";
  const best = p.is_best ? "the best" : p.of_best ? `${factorInWords(p.of_best[0])} of the best (${rangeInWords(p.of_best[1], p.of_best[0])})${p.may_be_best ? ", not to be told from it" : ""}` : "";
  return [pointInWords(sweep, p), p.mean === null ? "not measured" : `${m.name} ${amount(p.mean, m.unit)}${range}`, best].filter(Boolean).join(" · ");
}

interface Drawn {
  p: Point;
  /** Place on the parameter's axis, 0 to 1. */
  at: number;
  n: number;
}

/** Labels of the parameter, as many as there is room for. */
function Values({ drawn, x, y, of }: { drawn: Drawn[]; x: (at: number) => number; y: number; of: (d: Drawn) => string }) {
  let right = Number.NEGATIVE_INFINITY;
  return (
    <>
      {drawn.map((d, i) => {
        const text = of(d);
        const short = text.length > 18 ? `${text.slice(0, 17)}…` : text;
        const half = short.length * 3.2 + 4;
        if (x(d.at) - half < right) return null;
        right = x(d.at) + half;
        return <text key={i} x={x(d.at)} y={y} text-anchor="middle">{short}</text>;
      })}
    </>
  );
}

/** Where a number lies on the parameter's axis; NaN off it. */
function along(axis: ParameterAxis, n: number): number {
  if (!axis.axis || !(n >= axis.axis.low && n <= axis.axis.high)) return Number.NaN;
  return place(axis.axis, n);
}

function Means({ e, sweep, drawn, axis, law }: { e: Experiment; sweep: Sweep; drawn: Drawn[]; axis: ParameterAxis; law: LawCurve | null }) {
  const m = judged(e);
  const values = drawn.flatMap(({ p }) => [p.mean, ...(p.interval ?? [])]);
  const known = values.filter((v): v is number => v !== null && v > 0);
  // Rates are read from 0; what spans powers of ten is not to be read at all on such an axis.
  const log = known.length > 0 && Math.max(...known) / Math.min(...known) > 50;
  const y: Axis = axisOf([...values, ...(law?.line.map((l) => l[1]) ?? [])], { log, zero: true });
  const at = ticks(y, 6, m.unit);
  const { labels, symbol } = labelled(at, m.unit);
  const fit = sweep.law;
  const peak = fit && !fit.does_not_fit ? fit.peak : null;
  const knee = fit ? kneeOf(fit) : null;
  const bottom = TOP + PLOT;
  const label = `${m.name} over ${sweep.parameters[0] ?? "the parameter"}. ${drawn.map(({ p }) => pointInLine(e, sweep, p)).join(". ")}.${fit ? ` ${fit.peak_says}` : ""}`;
  return (
    <div>
      <p class="axis-said quiet small">{m.name}{symbol && `, ${symbol}`}{log && ", logarithmic"}</p>
      <Frame
        name="sweep" height={bottom + AXIS} label={label} byX
        draw={(width, read) => {
          const x = (share: number) => GUTTER + share * (width - GUTTER - RIGHT);
          const py = (v: number) => TOP + (1 - place(y, v)) * PLOT;
          const marks: Mark[] = drawn.map(({ p, at: share }) => ({ x: x(share), y: py(p.mean ?? y.low), text: pointInLine(e, sweep, p) }));
          const path = (line: [number, number][]) => line.flatMap(([n, v]) => { const a = along(axis, n); return Number.isNaN(a) || !Number.isFinite(v) || v > y.high || v < y.low ? [] : [`${x(a).toFixed(1)},${py(v).toFixed(1)}`]; }).join(" ");
          const upright = (n: number, text: string, side: "start" | "end", row: number) => {
            const a = along(axis, n);
            if (Number.isNaN(a)) return null;
            const near = x(a) > width - 90 ? "end" : x(a) < GUTTER + 90 ? "start" : side;
            return <g class="turn"><line x1={x(a)} x2={x(a)} y1={12 + 14 * row} y2={bottom} /><text x={x(a) + (near === "end" ? -5 : 5)} y={12 + 14 * row} text-anchor={near}>{text}</text></g>;
          };
          const reach = peak && axis.axis ? [Math.max(peak.low, axis.axis.low), Math.min(peak.high, axis.axis.high)] as const : null;
          return {
            marks,
            picture: (
              <>
                <Rows at={at.map(py)} labels={labels} from={GUTTER} to={width - RIGHT} width={width} />
                {reach && reach[1] > reach[0] && <rect class="peak-reach" x={x(along(axis, reach[0]))} width={x(along(axis, reach[1])) - x(along(axis, reach[0]))} y={TOP} height={PLOT} />}
                {law?.perfect && !fit?.does_not_fit && <polyline class="perfect" points={path(law.perfect)} />}
                {law && <polyline class={`law${fit?.does_not_fit ? " faint" : ""}`} points={path(law.line)} />}
                {knee !== null && upright(knee, `knee ${numberInWords(knee)}`, "end", 0)}
                {peak && upright(peak.estimate, `peak ${numberInWords(peak.estimate)}`, "start", 1)}
                {!law?.line.length && axis.kind !== "names" && <polyline class="joined" points={drawn.flatMap(({ p, at: share }) => (p.mean === null ? [] : [`${x(share).toFixed(1)},${py(p.mean).toFixed(1)}`])).join(" ")} />}
                {drawn.map(({ p, at: share }, i) => {
                  if (p.mean === null) return null;
                  return (
                    <g key={i} class={`point${p.is_best ? " best" : p.may_be_best ? " may-be" : ""}`}>
                      {p.interval && <path class="whisker" d={`M${x(share)},${py(p.interval[0])}V${py(p.interval[1])}M${x(share) - 4},${py(p.interval[0])}h8M${x(share) - 4},${py(p.interval[1])}h8`} />}
                      {p.is_best
                        ? <path class="mark" d={`M${x(share)},${py(p.mean) - 7}l7,7l-7,7l-7,-7z`} />
                        : <circle class="mark" cx={x(share)} cy={py(p.mean)} r="4.5" />}
                    </g>
                  );
                })}
                <Values drawn={drawn} x={x} y={bottom + 16} of={({ p }) => p.values[0] ?? ""} />
                <Ring mark={read === null ? undefined : marks[read]} />
              </>
            ),
          };
        }}
      />
    </div>
  );
}

function Residuals({ sweep, axis }: { sweep: Sweep; axis: ParameterAxis }) {
  const law = sweep.law;
  const points = law?.points.filter((p) => p[2] > 0 && Number.isFinite(p[2])) ?? [];
  if (points.length === 0) return null;
  const y = axisOf([0.98, 1.02, ...points.map((p) => p[2])], { log: true });
  const at = ticks(y, 4);
  const words = ([n, , r]: [number, number, number]) => `${sweep.parameters[0]} = ${trimmed(n)} · ${factorInWords(r)} of what the law says`;
  return (
    <div>
      <p class="axis-said quiet small">measured ÷ law</p>
      <Frame
        name="residuals" height={RESIDUALS} label={`Residuals of the law: measured ÷ what it says. ${points.map(words).join(". ")}.`} byX
        draw={(width, read) => {
          const x = (share: number) => GUTTER + share * (width - GUTTER - RIGHT);
          const py = (v: number) => 6 + (1 - place(y, v)) * (RESIDUALS - 12);
          const marks = points.flatMap((p): (Mark & { p: typeof p })[] => { const a = along(axis, p[0]); return Number.isNaN(a) ? [] : [{ x: x(a), y: py(p[2]), text: words(p), p }]; });
          return {
            marks,
            picture: (
              <>
                <Rows at={at.map(py)} labels={at.map((v) => `${trimmed(v)}×`)} from={GUTTER} to={width - RIGHT} width={width} />
                <line class="one" x1={GUTTER} x2={width - RIGHT} y1={py(1)} y2={py(1)} />
                {marks.map((k, i) => <g key={i} class="point"><line class="whisker" x1={k.x} x2={k.x} y1={py(1)} y2={k.y} /><circle class="mark" cx={k.x} cy={k.y} r="3.5" /></g>)}
                <Ring mark={read === null ? undefined : marks[read]} />
              </>
            ),
          };
        }}
      />
    </div>
  );
}

function Ledger({ sweep, drawn }: { sweep: Sweep; drawn: Drawn[] }) {
  const states = statesOf(drawn.map((d) => d.p));
  if (states.length === 0) return null;
  const sum = (p: Point) => p.ledger.reduce((a, [, s]) => a + s, 0);
  const y = axisOf([0, ...drawn.map((d) => sum(d.p))], { zero: true });
  const at = ticks(y, 4, "s");
  const { labels, symbol } = labelled(at, "s");
  const words = (p: Point) => `${pointInWords(sweep, p)} · ${p.ledger.length === 0 ? "no explained trial" : p.ledger.toSorted((a, b) => b[1] - a[1]).map(([s, v]) => `${s} ${human(v, "s")}`).join(", ")}`;
  return (
    <div>
      <p class="axis-said quiet small">time of threads per unit of work, {symbol}</p>
      <Frame
        name="ledger" height={LEDGER} label={`Time of threads per unit of work, by state. ${drawn.map((d) => words(d.p)).join(". ")}.`} byX
        draw={(width, read) => {
          const x = (share: number) => GUTTER + share * (width - GUTTER - RIGHT);
          const h = (v: number) => place(y, v) * (LEDGER - 12);
          const gaps = drawn.slice(1).map((d, i) => x(d.at) - x((drawn[i] as Drawn).at));
          const bar = Math.max(3, Math.min(46, ...gaps.map((g) => g * 0.7)));
          const marks: Mark[] = drawn.map((d) => ({ x: x(d.at), y: LEDGER - 6 - h(sum(d.p)), text: words(d.p) }));
          return {
            marks,
            picture: (
              <>
                <Rows at={at.map((v) => LEDGER - 6 - h(v))} labels={labels} from={GUTTER} to={width - RIGHT} width={width} />
                {drawn.map((d, i) => {
                  let top = LEDGER - 6;
                  return (
                    <g key={i}>
                      {states.map((s, k) => {
                        const v = d.p.ledger.find(([name]) => name === s)?.[1] ?? 0;
                        if (!(v > 0)) return null;
                        top -= h(v);
                        return <rect key={s} x={x(d.at) - bar / 2} width={bar} y={top} height={Math.max(0.5, h(v) - 0.5)} style={{ fill: lineColor(k, s) }} />;
                      })}
                    </g>
                  );
                })}
                {read !== null && marks[read] && <rect class="ring" x={marks[read].x - bar / 2 - 2} width={bar + 4} y={marks[read].y - 2} height={LEDGER - marks[read].y - 2} />}
              </>
            ),
          };
        }}
      />
      <p class="xp-legend small">
        {states.map((s, k) => <span key={s} class="line-name"><span class="swatch" style={{ background: lineColor(k, s) }} aria-hidden="true" />{s}</span>)}
      </p>
    </div>
  );
}

/** The charts of a sweep of one parameter. */
export function Curve({ e, sweep }: { e: Experiment; sweep: Sweep }) {
  const axis = parameterAxis(sweep.points.map((p) => p.values[0] ?? ""));
  const drawn: Drawn[] = sweep.points
    .map((p) => ({ p, at: axis.at[axis.values.indexOf(p.values[0] ?? "")] ?? 0, n: Number(p.values[0]) }))
    .toSorted((a, b) => a.at - b.at);
  const means = new Map(drawn.flatMap(({ p, n }) => (p.mean !== null && p.mean > 0 ? [[n, p.mean] as const] : [])));
  const law = sweep.law ? curveOf(sweep.law, judged(e), means) : null;
  return (
    <div class="curves">
      <Means e={e} sweep={sweep} drawn={drawn} axis={axis} law={law} />
      <p class="axis-title quiet small">{sweep.parameters[0]}{axis.kind === "log" && ", logarithmic"}</p>
      <p class="xp-legend small">
        <span class="line-name"><svg class="xp-chart" width="16" height="16" aria-hidden="true"><g class="point best"><path class="mark" d="M8,1l7,7l-7,7l-7,-7z" /></g></svg>best</span>
        {sweep.points.some((p) => p.may_be_best && !p.is_best) && <span class="line-name"><svg class="xp-chart" width="16" height="16" aria-hidden="true"><g class="point may-be"><circle class="mark" cx="8" cy="8" r="5" /></g></svg>not to be told from it</span>}
        {law && law.line.length > 0 && <span class="line-name"><svg class="xp-chart" width="26" height="16" aria-hidden="true"><line class={`law${sweep.law?.does_not_fit ? " faint" : ""}`} x1="1" x2="25" y1="8" y2="8" /></svg>the law{sweep.law?.does_not_fit && ", which does not hold"}</span>}
        {law?.perfect && !sweep.law?.does_not_fit && <span class="line-name"><svg class="xp-chart" width="26" height="16" aria-hidden="true"><line class="perfect" x1="1" x2="25" y1="8" y2="8" /></svg>perfect scaling</span>}
        <span class="quiet">bars: 95 % CI</span>
      </p>
      <Residuals sweep={sweep} axis={axis} />
      <Ledger sweep={sweep} drawn={drawn} />
    </div>
  );
}
