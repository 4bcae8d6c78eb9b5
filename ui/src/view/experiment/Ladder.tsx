// A ladder: its rungs as steps on a logarithmic axis, and as a table.
import type { Experiment } from "../../bundle/generated";
import { amount, axisOf, place, ticks, trimmed } from "../../model/axis";
import {
  changeInLine, effectInWords, factorInWords, judged, levelOf, measureInWords, nameOf, rangeInWords, type Step, stepsOf, verdictInWords,
} from "../../model/experiment";
import { Words } from "../parts";
import { FactorText, factorCsv, otherColumns, sharedLevel, VerdictText, whyInLine, WhyText } from "./Changes";
import { Frame, GUTTER, type Mark, RIGHT, Ring, Rows } from "./Frame";
import { bare, type Col, Table } from "./Table";

const HEIGHT = 300;
const TOP = 26;
const LABELS = 8;

const keptInWords = (s: Step) => (s.rung.kept === true ? "kept" : s.rung.kept === false ? "not kept" : "open");

function said(s: Step, e: Experiment): string {
  const total = s.at === null ? "" : `${s.rung.kept === false ? "would be " : ""}${factorInWords(s.at)} of ${nameOf(e, 0)} in all`;
  const change = s.change ? changeInLine(s.change) : "not measured yet";
  return [s.rung.name, `${change}${s.climbing ? ", while climbing" : ""}`, total, keptInWords(s)].filter(Boolean).join(" · ");
}

function Stairs({ e, steps }: { e: Experiment; steps: Step[] }) {
  const axis = axisOf([1, ...steps.flatMap((s) => [s.at, ...(s.interval ?? [])])].filter((v) => v === null || v > 0), { log: true });
  const at = ticks(axis, 7);
  const label = `Total factor of ${judged(e).name} after each step, on a logarithmic axis. ${steps.map((s) => said(s, e)).join(". ")}.`;
  return (
    <>
      <Frame
        name="ladder" height={HEIGHT} label={label} byX
        draw={(width, read) => {
          const slot = (width - GUTTER - RIGHT) / (steps.length + 1);
          const y = (v: number) => TOP + (1 - place(axis, v)) * (HEIGHT - TOP - LABELS);
          const left = (i: number) => GUTTER + i * slot;
          const middle = (i: number) => left(i) + slot / 2;
          const marks: Mark[] = [
            { x: middle(0), y: y(1), text: `${nameOf(e, 0)} · the baseline` },
            ...steps.map((s, i) => ({ x: middle(i + 1), y: y(s.at ?? s.from), text: said(s, e) })),
          ];
          return {
            marks,
            picture: (
              <>
                <Rows at={at.map(y)} labels={at.map((v) => `${trimmed(v)}×`)} from={GUTTER} to={width - RIGHT} width={width} />
                <line class="one" x1={GUTTER} x2={width - RIGHT} y1={y(1)} y2={y(1)} />
                <line class="stair" x1={left(0) + 4} x2={left(1)} y1={y(1)} y2={y(1)} />
                {steps.map((s, i) => {
                  const kept = s.rung.kept === true;
                  const from = left(i + 1);
                  if (s.at === null) return <line key={i} class="stair faint" x1={from} x2={from + slot} y1={y(s.from)} y2={y(s.from)} />;
                  const half = Math.min(13, slot / 3);
                  return (
                    <g key={i} class={`${kept ? "" : "faint"}${s.climbing ? " climbing" : ""}`}>
                      {s.interval && (
                        <rect
                          class="reach" x={middle(i + 1) - half} width={2 * half} y={y(s.interval[1])}
                          height={Math.max(2, y(s.interval[0]) - y(s.interval[1]))} rx="1.5"
                        />
                      )}
                      <line class="riser" x1={from} x2={from} y1={y(s.from)} y2={y(s.at)} />
                      <line class="stair" x1={from} x2={from + slot} y1={y(s.at)} y2={y(s.at)} />
                      {!kept && <line class="stair under" x1={from} x2={from + slot} y1={y(s.from)} y2={y(s.from)} />}
                      <circle class="estimate" cx={middle(i + 1)} cy={y(s.at)} r="4.5" />
                      <text class="figure" x={middle(i + 1)} y={y(Math.max(s.at, s.interval?.[1] ?? 0)) - 8} text-anchor="middle">{factorInWords(s.at)}</text>
                    </g>
                  );
                })}
                <Ring mark={read === null ? undefined : marks[read]} />
              </>
            ),
          };
        }}
      />
      <div class="stair-names small" aria-hidden="true" style={{ gridTemplateColumns: `repeat(${steps.length + 1}, minmax(0, 1fr))`, paddingLeft: `${GUTTER}px`, paddingRight: `${RIGHT}px` }}>
        <span class="quiet">{nameOf(e, 0)}</span>
        {steps.map((s, i) => <span key={i} class={s.rung.kept === true ? "" : "quiet"}>{s.rung.name}{s.rung.kept !== true && ` (${keptInWords(s)})`}</span>)}
      </div>
    </>
  );
}

/** The section of a ladder. */
export function Ladder({ e }: { e: Experiment }) {
  const m = judged(e);
  const steps = stepsOf(e);
  const climbing = steps.some((s) => s.climbing);
  const median = (s: Step) => levelOf(e, s.rung.variant);
  const change = (s: Step) => s.change;
  const columns: Col<Step>[] = [
    {
      id: "step", title: "step",
      cell: (s) => <><b>{s.rung.name}</b>{s.rung.why && <span class="quiet small block"><Words text={s.rung.why} /></span>}</>,
      csv: [{ head: "step", of: (s) => s.rung.name }],
    },
    {
      id: "median", title: m.name, help: "median of its trials", number: true, cell: (s) => amount(median(s), m.unit),
      csv: [{ head: `${m.name}${m.unit ? ` (${m.unit})` : ""}`, of: (s) => bare(median(s)) }],
    },
    {
      id: "change", title: <>change · {sharedLevel(steps.map(change))}</>, help: "against what was kept before it", number: true,
      cell: (s) => <><FactorText change={s.change} />{s.climbing && <span class="quiet small block">while climbing</span>}</>,
      csv: [...factorCsv<Step>("change", change), { head: "from", of: (s) => (s.change === null ? "" : s.climbing ? "climbing" : "whole ladder") }],
    },
    {
      id: "total", title: "total", help: `all that was kept up to it, against ${nameOf(e, 0)}`, number: true,
      cell: (s) => {
        if (s.rung.total) return <FactorText change={s.rung.total} />;
        if (s.rung.kept === true && s.at !== null) return <span class="factor quiet" title="product of the changes while climbing"><span>{factorInWords(s.at)}</span><span class="small">{rangeInWords(s.interval, s.at)}</span></span>;
        return <span class="quiet">–</span>;
      },
      csv: factorCsv<Step>("total", (s) => s.rung.total),
    },
    ...otherColumns<Step>(e, change),
    {
      id: "kept", title: "kept",
      cell: (s) => <>{s.rung.kept === true ? <b>kept</b> : keptInWords(s)}{s.change && <span class="quiet small block"><VerdictText change={s.change} effect={e.effect} /></span>}</>,
      csv: [{ head: "kept", of: keptInWords }, { head: "verdict", of: (s) => (s.change ? verdictInWords(s.change, e.effect) : "") }],
    },
    { id: "why", title: "why", help: "what explained trials show, with its part of the difference", cell: (s) => <WhyText change={s.change} />, csv: [{ head: "why", of: (s) => whyInLine(s.change) }] },
  ];
  return (
    <section aria-labelledby="at-ladder">
      <h2 id="at-ladder">The ladder</h2>
      <p class="read quiet">
        {measureInWords(m)}; each step against what was kept before it, in all against {nameOf(e, 0)}. Changes within {effectInWords(e.effect)} do not matter. Steps that were not kept are drawn faint.
      </p>
      {climbing && (
        <p class="note">
          {steps.every((s) => s.climbing || s.change === null) ? "The whole ladder has not been run yet: these are comparisons of the climb." : "Some steps are not in blocks of the whole ladder: theirs are comparisons of the climb."} Steps are kept for large gains, so such gains are probably too large; do not quote them.
        </p>
      )}
      {steps.length === 0 ? <p class="none">No step was tried yet.</p> : <><Stairs e={e} steps={steps} /><Table name="rungs" label="Steps" columns={columns} rows={steps} look={(s) => (s.rung.kept === true ? "" : "not-kept")} /></>}
    </section>
  );
}
