// Variants against the baseline: each change as an interval on one logarithmic axis, in words and in numbers.
import type { Change, Experiment } from "../../bundle/generated";
import { type Axis, amount, axisOf, place, ticks, trimmed } from "../../model/axis";
import {
  changeInLine, effectInWords, factorInWords, judged, levelInWords, levelOf, madeOf, measureInWords, nameOf, otherMeasures, rangeInWords, shareInWords, verdictInWords,
} from "../../model/experiment";
import { Words } from "../parts";
import { variantColor } from "./colors";
import { bare, type Col, Table } from "./Table";

const WIDTH = 220;
const SIDE = 12;

/** The axis of factors for several changes: it has 1 and the band of ± effect in it. */
export function factorAxis(changes: (Change | null)[], effect: number): Axis {
  const all = changes.flatMap((c) => (c ? [c.factor, ...(c.interval ?? [])] : []));
  return axisOf([1, 1 - effect, 1 + effect, ...all].filter((v) => v === null || v > 0), { log: true });
}

/** The head of a column of intervals: its ticks. */
export function AxisHead({ axis }: { axis: Axis }) {
  const x = (v: number) => SIDE + place(axis, v) * (WIDTH - 2 * SIDE);
  const at = ticks(axis, 5);
  return (
    <svg class="xp-chart axis-head" width={WIDTH} height="20" aria-hidden="true">
      {at.map((v) => <text key={v} x={x(v)} y="14" text-anchor={x(v) < 20 ? "start" : x(v) > WIDTH - 20 ? "end" : "middle"}>{`${trimmed(v)}×`}</text>)}
    </svg>
  );
}

/** A factor as an interval, with a line at 1 and the band in which it would be the same. `look`: how it ended. */
export function Bar({ factor, interval, look, label, title, axis, effect }: {
  factor: number | null;
  interval: readonly [number, number] | null;
  look: Change["verdict"];
  label: string;
  title: string;
  axis: Axis;
  effect: number;
}) {
  const x = (v: number) => SIDE + place(axis, v) * (WIDTH - 2 * SIDE);
  return (
    <svg class={`xp-chart interval-bar ${look}`} width={WIDTH} height="26" role="img" aria-label={label}>
      <title>{title}</title>
      <rect class="band-same" x={x(1 - effect)} width={Math.max(1, x(1 + effect) - x(1 - effect))} y="0" height="26" />
      <line class="one" x1={x(1)} x2={x(1)} y1="0" y2="26" />
      {interval && <rect class="reach" x={x(interval[0])} width={Math.max(2, x(interval[1]) - x(interval[0]))} y="8" height="10" rx="1.5" />}
      {factor !== null && <circle class="estimate" cx={x(factor)} cy="13" r="4.5" />}
    </svg>
  );
}

/** A change as an interval. */
export function IntervalBar({ change, axis, effect }: { change: Change; axis: Axis; effect: number }) {
  const line = changeInLine(change);
  return (
    <Bar
      factor={change.factor} interval={change.interval} look={change.verdict} label={line}
      title={`${line}; ${madeOf(change)}. Shaded: within ${effectInWords(effect)}`} axis={axis} effect={effect}
    />
  );
}

/** A factor and its interval as text. */
export function FactorText({ change }: { change: Change | null }) {
  if (!change || change.factor === null) return <span class="quiet">–</span>;
  const range = rangeInWords(change.interval, change.factor);
  return (
    <span class="factor" title={madeOf(change)}>
      <b>{factorInWords(change.factor)}</b>
      <span class="quiet small">{range ? `${range}` : "no interval"}</span>
    </span>
  );
}

/** How a comparison ended. */
export function VerdictText({ change, effect }: { change: Change; effect: number }) {
  return <span class={change.verdict === "worse" ? "bad" : change.verdict === "better" ? "clear" : undefined}>{verdictInWords(change, effect)}</span>;
}

/** What `explain` found about a change. */
export function WhyText({ change }: { change: Change | null }) {
  if (!change || (change.why.length === 0 && change.report === null)) return <span class="quiet">–</span>;
  return (
    <>
      {change.why.length > 0 && (
        <ul class="whys">
          {change.why.map((w, i) => <li key={i}><b>{shareInWords(w.share)}</b> <span title={w.cause}><Words text={w.says} /></span></li>)}
        </ul>
      )}
      {change.report !== null && <a href={encodeURIComponent(change.report)} title="a trial of each, recorded in full">side by side</a>}
    </>
  );
}

export const whyInLine = (c: Change | null) => c?.why.map((w) => `${shareInWords(w.share)} ${w.says}`).join("; ") ?? "";

/** The columns of the measures that are shown and not judged. */
export function otherColumns<R>(e: Experiment, of: (row: R) => Change | null): Col<R>[] {
  return otherMeasures(e).map((m, i): Col<R> => ({
    id: `other-${i}`,
    title: m.name,
    help: `${measureInWords(m)}: shown with its 95 % interval, and nothing is called by it`,
    number: true,
    cell: (r) => {
      const other = of(r)?.others[i] ?? null;
      if (!other) return <span class="quiet">–</span>;
      return <span class="factor"><span>{factorInWords(other[0])}</span><span class="quiet small">{rangeInWords(other[1], other[0])}</span></span>;
    },
    csv: [
      { head: `${m.name} factor`, of: (r) => bare(of(r)?.others[i]?.[0]) },
      { head: `${m.name} low`, of: (r) => bare(of(r)?.others[i]?.[1][0]) },
      { head: `${m.name} high`, of: (r) => bare(of(r)?.others[i]?.[1][1]) },
    ],
  }));
}

/** The columns of a factor in CSV. */
export function factorCsv<R>(name: string, of: (row: R) => Change | null): Col<R>["csv"] {
  return [
    { head: `${name} factor`, of: (r) => bare(of(r)?.factor) },
    { head: `${name} low`, of: (r) => bare(of(r)?.interval?.[0]) },
    { head: `${name} high`, of: (r) => bare(of(r)?.interval?.[1]) },
    { head: `${name} level`, of: (r) => bare(of(r)?.level) },
    { head: `${name} blocks`, of: (r) => of(r)?.blocks ?? null },
  ];
}

/** A level that all changes share, for the head of the column. */
export function sharedLevel(changes: (Change | null)[]): string {
  const levels = [...new Set(changes.flatMap((c) => (c?.interval ? [levelInWords(c.level)] : [])))];
  return levels.length === 1 ? (levels[0] as string) : "interval";
}

/** The section of `ab`. */
export function Changes({ e }: { e: Experiment }) {
  const m = judged(e);
  const axis = factorAxis(e.changes, e.effect);
  const baseline = nameOf(e, 0);
  const median = (variant: number) => levelOf(e, variant);
  const self = (c: Change) => c;
  const columns: Col<Change>[] = [
    {
      id: "variant", title: "variant",
      cell: (c) => <span class="line-name"><span class="swatch" style={{ background: variantColor(e, c.variant) }} aria-hidden="true" />{nameOf(e, c.variant)}{c.against !== 0 && <span class="quiet"> against {nameOf(e, c.against)}</span>}</span>,
      csv: [{ head: "variant", of: (c) => nameOf(e, c.variant) }, { head: "against", of: (c) => nameOf(e, c.against) }],
    },
    {
      id: "median", title: m.name, help: "median of its trials", number: true, cell: (c) => amount(median(c.variant), m.unit),
      csv: [{ head: `${m.name}${m.unit ? ` (${m.unit})` : ""}`, of: (c) => bare(median(c.variant)) }],
    },
    {
      id: "factor", title: <>factor · {sharedLevel(e.changes)}</>, help: `${m.name} ÷ that of ${baseline}, by pairs`, number: true,
      cell: (c) => <FactorText change={c} />, csv: factorCsv(m.name, self),
    },
    { id: "bar", title: <AxisHead axis={axis} />, cell: (c) => <IntervalBar change={c} axis={axis} effect={e.effect} />, csv: [] },
    {
      id: "verdict", title: "verdict", cell: (c) => <span class="verdict-cell"><VerdictText change={c} effect={e.effect} /><span class="quiet small block">{madeOf(c)}</span></span>,
      csv: [{ head: "verdict", of: (c) => verdictInWords(c, e.effect) }],
    },
    ...otherColumns(e, self),
    ...(e.changes.some((c) => c.why.length > 0 || c.report !== null)
      ? [{ id: "why", title: "why", help: "what explained trials show, with its part of the difference", cell: (c: Change) => <WhyText change={c} />, csv: [{ head: "why", of: whyInLine }] }]
      : []),
  ];
  return (
    <section aria-labelledby="at-changes">
      <h2 id="at-changes">Against {baseline}</h2>
      <p class="read quiet">
        {measureInWords(m)}. {baseline}: {amount(median(0), m.unit)} (median). Shaded: within {effectInWords(e.effect)}, which does not matter. The factor is of pairs in the same block, not of the medians.
      </p>
      {e.changes.length === 0 ? <p class="none">Nothing was compared yet.</p> : <Table name="changes" label="Changes" columns={columns} rows={e.changes} />}
    </section>
  );
}
