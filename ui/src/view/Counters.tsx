// Counters: what hardware counters say of each recording. Top-down as one bar a recording, each metric with its change, its interval and its course, cycles
// per instruction of functions, and how much of the time was counted. Without counters, what would give them, and what tells the same otherwise.
import { useState } from "preact/hooks";
import type { CounterMetric, Counters as AllCounters, CountersOfRun } from "../bundle/types";
import { changeOf, INSTANCES, judged, perOf, slotsOf, valueInWords } from "../model/counters";
import { cssColor, lineColor, theme } from "../model/color";
import { fixed } from "../model/units";
import { go, report } from "../state";
import { FunctionCycles } from "./FunctionCycles";
import { nameOf, RunName } from "./parts";
import { Sparkline } from "./Sparkline";

/** Pages that tell something of the same without counters. */
const INSTEAD: [page: string, text: string][] = [
  ["cpu", "the speed of the CPUs"], ["instructions", "what loops and instructions wait for"], ["code", "over how much memory code is spread"], ["sharing", "cache lines that threads share"],
];

const perCent = (share: number) => `${fixed(100 * share, 1)} %`;
const COLORS: Record<string, number> = { retiring: 2, bad_speculation: 7, frontend_bound: 4, backend_bound: 0 };
const colorOf = (id: string) => lineColor(COLORS[id] ?? 9);

const DIRECTION = { better: "more is better", worse: "less is better", neutral: "" };

/** Why recordings have none, and what would give them. */
function None({ runs }: { runs: CountersOfRun[] }) {
  const reasons = new Map<string, number[]>();
  runs.forEach(({ missing }, run) => {
    if (missing) reasons.set(missing.why, [...(reasons.get(missing.why) ?? []), run]);
  });
  return (
    <>
      {[...reasons].map(([why, of]) => {
        const remedy = runs[of[0] as number]?.missing?.remedy;
        return (
          <p key={why}>
            {of.map((run, i) => <span key={run}>{i > 0 && ", "}<RunName run={run} /></span>)}: no hardware counters: {why}.
            {remedy && <span class="quiet"> What would give them: {remedy}.</span>}
          </p>
        );
      })}
    </>
  );
}

function Instead() {
  const there = INSTEAD.filter(([id]) => report().pages.some((p) => p.id === id));
  return (
    <section class="counters-instead">
      {there.length > 0 && (
        <p>
          Without counters, samples and short loops tell{" "}
          {there.map(([id, text], i) => (
            <span key={id}>{i > 0 && ", "}<a href={`#${id}`} onClick={(e) => { e.preventDefault(); go(id); }}>{text}</a></span>
          ))}. Cycles, misses and mispredictions of a whole program cannot be had without them.
        </p>
      )}
      <table class="small-table">
        <caption>Instances of EC2 with all counters; smaller ones have a few, or none</caption>
        <thead><tr><th scope="col">family</th><th scope="col">from</th></tr></thead>
        <tbody>{INSTANCES.map(([family, from]) => <tr key={family}><th scope="row">{family}</th><td>{from}</td></tr>)}</tbody>
      </table>
    </section>
  );
}

/** What slots were used for: one bar a recording; a click shows the second level. */
function TopDown({ runs }: { runs: CountersOfRun[] }) {
  theme();
  const [open, setOpen] = useState(false);
  const of = runs.flatMap((r, run) => (r.topdown ? [{ run, parts: slotsOf(r.topdown) }] : []));
  const [first] = of;
  if (!first) return null;
  const deeper = of.some(({ parts }) => parts.some((p) => p.within));
  return (
    <section class="counters-topdown">
      <div class="section-head">
        <h2>What slots for operations were used for</h2>
        {deeper && <button type="button" class="plain" aria-pressed={open} onClick={() => setOpen(!open)}>Level 2</button>}
      </div>
      <p class="quiet">A CPU can start several operations in a cycle. Each such slot is used for work, or lost: the largest part but work says where to look.</p>
      {of.map(({ run, parts }) => (
        <div class="bar-row" key={run}>
          <span class="bar-name"><RunName run={run} baseline /></span>
          <div class="bar still" role="img" aria-label={`${nameOf(run)}: ${parts.map((p) => `${p.title} ${perCent(p.value)}`).join(", ")}`}>
            {parts.map((p) => {
              const inner = open && p.within && p.value > 0 ? Math.min(1, p.within.value / p.value) : null;
              const said = `${p.title}: ${perCent(p.value)}${p.within ? `, of all slots ${perCent(p.within.value)} ${p.within.title}` : ""}`;
              const stripes = `repeating-linear-gradient(135deg, transparent 0 4px, ${cssColor("--ground")} 4px 5px)`;
              return (
                <span key={p.id} class="segment" title={said} style={{ width: `${100 * p.value}%`, background: colorOf(p.id) }}>
                  {inner !== null && <span class="inner" style={{ width: `${100 * inner}%`, background: stripes }} />}
                </span>
              );
            })}
          </div>
        </div>
      ))}
      <div class="scroll">
        <table class="counters-slots">
          <thead><tr><th scope="col">Slots</th>{of.map(({ run }) => <th key={run} scope="col" class="number">{nameOf(run)}</th>)}</tr></thead>
          <tbody>
            {first.parts.flatMap((p, i) => [
              <tr key={p.id}>
                <th scope="row"><span class="swatch" style={{ background: colorOf(p.id) }} aria-hidden="true" /> {p.title} <span class="quiet small">{p.id}</span></th>
                {of.map(({ run, parts }) => <td key={run} class="number">{perCent(parts[i]?.value ?? 0)}</td>)}
              </tr>,
              open && of.some(({ parts }) => parts[i]?.within) && (
                <tr key={`${p.id}-2`} class="quiet">
                  <th scope="row" class="deeper">of it {p.within?.title}, striped</th>
                  {of.map(({ run, parts }) => <td key={run} class="number">{parts[i]?.within ? perCent(parts[i]?.within?.value ?? 0) : "not counted"}</td>)}
                </tr>
              ),
            ])}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Change({ m, run }: { m: CounterMetric; run: number }) {
  const value = m.values[run];
  if (!value || !m.values[0]) return <td class="number quiet">–</td>;
  if (m.not_comparable) return <td class="quiet small not-comparable">{m.not_comparable}</td>;
  if (!value.change) return <td class="number quiet" title="there are too few intervals to tell">too few</td>;
  const [change, interval] = changeOf(value.change, m);
  const word = judged(value.change, m);
  return (
    <td class={`number${word === "worse" ? " worse" : ""}`}>
      <span class={value.change.differs ? "" : "quiet"}>{change}</span> <span class="quiet small">{interval}</span>
      {word && <span class="small"> {word}</span>}
    </td>
  );
}

function Metrics({ metrics }: { metrics: CounterMetric[] }) {
  const { runs } = report();
  const several = runs.length > 1;
  return (
    <div class="scroll">
      <table class="counters-metrics">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            {runs.map((_, i) => <th key={i} scope="col" class="number"><RunName run={i} baseline /></th>)}
            {several && runs.slice(1).map((_, i) => <th key={`c${i}`} scope="col" class="number">{runs.length > 2 ? `${nameOf(i + 1)}: change` : "change"} <span class="small">95 % CI</span></th>)}
            <th scope="col">over time</th>
          </tr>
        </thead>
        <tbody>
          {metrics.map((m) => (
            <tr key={m.name}>
              <th scope="row" title={m.help}>
                {m.name} <span class="quiet small">{[perOf(m), DIRECTION[m.polarity]].filter((text) => text !== "").join(" · ")}</span>
                <span class="quiet small help">{m.help.replace(/ \(per [^)]+\)/, "")}</span>
              </th>
              {runs.map((_, i) => {
                const value = m.values[i];
                return value ? <td key={i} class="number" title={`of the group ${value.group}`}>{valueInWords(value.mean, m)}</td> : <td key={i} class="number quiet">not counted</td>;
              })}
              {several && runs.slice(1).map((_, i) => <Change key={`c${i}`} m={m} run={i + 1} />)}
              <td><Sparkline lines={m.values.flatMap((v, run) => (v ? [{ values: v.spark, run }] : []))} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How much of the time each group had counters, and what it lacks. */
function Measured({ runs }: { runs: CountersOfRun[] }) {
  const groups = [...new Set(runs.flatMap((r) => r.groups.map((g) => g.group)))];
  if (groups.length === 0) return null;
  const part = (share: number | null) => (share === null ? "not said" : perCent(share));
  const absent = runs.flatMap((r, run) => r.groups.filter((g) => g.absent !== "").map((g) => ({ run, ...g })));
  return (
    <section>
      <h2>Share of the time that was counted</h2>
      <p class="quiet">Where there are fewer counters than events, groups take turns, and counts are scaled up: below 100 %, ratios of a group are an estimate.</p>
      <div class="scroll">
        <table class="counters-groups">
          <thead><tr><th scope="col">Group</th>{runs.map((_, i) => <th key={i} scope="col" class="number"><RunName run={i} baseline /></th>)}<th scope="col">events</th></tr></thead>
          <tbody>
            {groups.map((group) => {
              const of = runs.map((r) => r.groups.find((g) => g.group === group));
              return (
                <tr key={group}>
                  <th scope="row">{group}</th>
                  {of.map((g, i) => <td key={i} class={`number${g ? "" : " quiet"}`}>{g ? part(g.share) : "–"}</td>)}
                  <td class="small quiet events">{of.find((g) => g)?.events}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {absent.map((g) => <p key={`${g.run} ${g.group}`} class="small"><RunName run={g.run} />, {g.group}: <span class="quiet">not counted: {g.absent}</span></p>)}
    </section>
  );
}

/** The page. */
export function Counters({ counters }: { counters: AllCounters }) {
  const none = counters.runs.some((r) => r.missing);
  const kinds = counters.runs.map((r) => r.kind ?? "a CPU that it does not name");
  return (
    <>
      <None runs={counters.runs} />
      {!counters.alike && (
        <p class="counters-kinds">
          The CPUs are of different kinds ({[...new Set(kinds)].join(", ")}): each maker counts slots, stalls and misses of caches in its own way, so that only instructions, branches and page walks are
          compared. And code for another machine has other instructions: only time tells which is faster.
        </p>
      )}
      {none && <Instead />}
      <TopDown runs={counters.runs} />
      {counters.metrics.length > 0 && (
        <section>
          <h2>Metrics</h2>
          <p class="quiet small">Of the whole machine, over the compared window. No value is good or bad by itself: what matters is how it differs, and whether time was lost to it.</p>
          <Metrics metrics={counters.metrics} />
        </section>
      )}
      <FunctionCycles of={counters.functions} />
      <Measured runs={counters.runs} />
    </>
  );
}
