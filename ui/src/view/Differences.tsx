// What differs between the recordings, best evidence first: the size of each change, its 95 % interval, and what it means in words.
import { useMemo, useState } from "preact/hooks";
import type { Difference } from "../bundle/types";
import { human } from "../model/units";
import { changeInWords, differenceInWords, intervalInWords, judgement, labelsInWords, once, perCent, rangeInWords } from "../model/words";
import { go, param, report, setParam } from "../state";
import { CopyButton, Query, RunName, nameOf } from "./parts";
import { Sparkline } from "./Sparkline";
import { csv } from "../model/csv";

const FIRST = 12;

/** The values of a pair [baseline, other], also where there is one value for each run. */
function pair<T>(values: readonly T[], run: number): [T | undefined, T | undefined] {
  return [values[0], values.length > 2 ? values[run] : values[1]];
}

/** Both series of the window, on one scale. Gaps stay gaps. */
function Spark({ d }: { d: Difference }) {
  const [a, b] = pair(d.spark, d.run);
  return <Sparkline lines={[{ values: a ?? [], run: 0 }, { values: b ?? [], run: d.run }]} />;
}

/** The change as a point with its interval, on a scale of doublings that all rows share. */
function Interval({ d, limit }: { d: Difference; limit: number }) {
  const w = 168;
  const mid = w / 2;
  if (d.change === null) {
    return <span class="quiet small">baseline is 0</span>;
  }
  const x = (change: number) => {
    const doublings = 1 + change <= 0 ? -limit : Math.log2(1 + change);
    return mid + (Math.max(-limit, Math.min(limit, doublings)) / limit) * (mid - 6);
  };
  const worse = judgement(d) === "worse";
  const doublings = 1 + d.change <= 0 ? Number.NEGATIVE_INFINITY : Math.log2(1 + d.change);
  const beyond = doublings > limit * 1.01 ? 1 : doublings < -limit * 1.01 ? -1 : 0;
  return (
    <svg class={`interval${worse ? " worse" : ""}`} width={w} height={22} viewBox={`0 0 ${w} 22`} aria-hidden="true">
      <line class="axis" x1={0} x2={w} y1={11} y2={11} />
      <line class="same" x1={mid} x2={mid} y1={2} y2={20} />
      {d.low !== null && d.high !== null && <rect x={x(d.low)} width={Math.max(2, x(d.high) - x(d.low))} y={7} height={8} rx={2} />}
      {beyond === 0 ? (
        <circle cx={x(d.change)} cy={11} r={3.5} />
      ) : (
        // Off the scale: an arrow at its end.
        <path class="beyond" d={beyond > 0 ? `M${w - 7} 6l7 5l-7 5z` : "M7 6l-7 5l7 5z"} />
      )}
    </svg>
  );
}

/** A small number as a power of ten: 6 × 10⁻⁸. */
function power(q: number): string {
  if (q >= 1e-4) return q.toFixed(4);
  if (q <= 0) return "0";
  const [digits = "1", exponent = "0"] = q.toExponential(0).split("e");
  const raised = [...exponent].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)] ?? "").join("");
  return digits === "1" ? `10${raised}` : `${digits} × 10${raised}`;
}

function Row({ d, limit, rank }: { d: Difference; limit: number; rank: number }) {
  const [open, setOpen] = useState(false);
  const judged = judgement(d);
  const page = report().pages.find((p) => p.id === d.page);
  const labels = labelsInWords(d.labels);
  const pairs = (name: string, values: readonly (number | null)[]) => {
    const [a, b] = pair(values, d.run);
    return (
      <tr>
        <th scope="row">{name}</th>
        <td class="number">{human(a, d.unit)}</td>
        <td class="number">{human(b, d.unit)}</td>
      </tr>
    );
  };
  const per = d.per === "operation" ? " per operation" : "";
  // Large: the factor. Below it: the same as per cent, where it says both.
  const [factor = "", rest = ""] = changeInWords(d.change).split(/ \(|\)/);
  const range = rangeInWords(d);
  return (
    <li class="difference" data-metric={d.metric}>
      <div class="difference-row">
        <div class="what">
          <button type="button" class="line-name" aria-expanded={open} aria-label={`${rank}. ${differenceInWords(d, nameOf(0), nameOf(d.run))}`} onClick={() => setOpen(!open)}>
            <span aria-hidden="true" class="fold">{open ? "▾" : "▸"}</span>
            <span class="difference-title">{d.title}{per}</span>
          </button>
          <div class="quiet small where">
            {labels && <span>{labels} · </span>}
            <span>{page?.title ?? d.page}</span>
            {report().runs.length > 2 && <span> · <RunName run={d.run} /></span>}
          </div>
        </div>
        <Spark d={d} />
        <div class="values">
          <span>{human(d.baseline, d.unit)}</span>
          <span class="to" aria-hidden="true">→</span>
          <b>{human(d.other, d.unit)}</b>
        </div>
        <Interval d={d} limit={limit} />
        <div class={`change ${judged ?? ""}`}>
          <b>{factor}</b>
          <span class="small">{[rest, judged].filter(Boolean).join(" · ")}</span>
          {range && <span class="small">95 % CI {range}</span>}
        </div>
      </div>
      {open && (
        <div class="difference-more">
          <p>
            {changeInWords(d.change)}
            {d.change !== null && Math.abs(d.change) >= 0.995 ? ` (${perCent(d.change)})` : ""}, {intervalInWords(d)}. Difference {human(d.difference, d.unit)}.
          </p>
          <p>
            q = {power(d.q)}: the share of false alarms to expect among differences as clear as this one, with {report().compared} metrics compared.
          </p>
          <table class="small-table">
            <thead>
              <tr>
                <td />
                <th scope="col" class="number"><RunName run={0} /></th>
                <th scope="col" class="number"><RunName run={d.run} /></th>
              </tr>
            </thead>
            <tbody>
              {pairs("mean", [d.baseline, d.other])}
              {pairs("median", d.median)}
              {pairs("99th percentile", d.p99)}
            </tbody>
          </table>
          <p class="quiet small">Metric <code>{d.metric}</code></p>
          {page && (
            <p>
              <a href={`#${encodeURIComponent(page.id)}${d.chart ? `/${encodeURIComponent(d.chart)}` : ""}`} onClick={(e) => { e.preventDefault(); go(page.id, d.chart); }}>
                Show {d.chart ? "the chart" : "its page"}: {page.title}
              </a>
            </p>
          )}
          {d.query && <Query sql={d.query} />}
        </div>
      )}
    </li>
  );
}

/** `about`: the comparison in a sentence or two, where the verdict does not say it. */
export function Differences({ differences, compared, about }: { differences: Difference[]; compared: number; about?: string | undefined }) {
  const [all, setAll] = useState(false);
  const filter = param("differences.filter");
  const onPage = param("differences.page");
  const run = param("differences.run");
  const state = param("state");
  const { pages, runs, budget } = report();
  const stateOf = budget?.states.find((s) => s.id === state);
  const kept = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return differences.filter((d) => {
      if (onPage && d.page !== onPage) return false;
      if (run && String(d.run) !== run) return false;
      if (stateOf && !stateOf.metrics.includes(d.metric)) return false;
      const text = `${d.title} ${d.metric} ${labelsInWords(d.labels)}`.toLowerCase();
      return words.every((w) => text.includes(w));
    });
  }, [differences, filter, onPage, run, stateOf]);
  const limit = useMemo(() => {
    const sizes = differences.flatMap((d) => [d.change, d.low, d.high]).flatMap((c) => (c === null || 1 + c <= 0 ? [] : [Math.abs(Math.log2(1 + c))]));
    return Math.min(5, Math.max(1, Math.ceil(Math.max(0, ...sizes))));
  }, [differences]);
  const counts = new Map<string, number>();
  for (const d of differences) if (d.page !== null) counts.set(d.page, (counts.get(d.page) ?? 0) + 1);
  const shown = all ? kept : once(kept).slice(0, FIRST);
  const edge = 2 ** limit;
  return (
    <section class="differences" id="at-differences">
      <div class="section-head">
        <h2>What differs</h2>
        <span class="quiet">
          {differences.length === 0 ? "" : `${differences.length} of `}
          {compared} metrics compared
        </span>
        <span class="spacer" />
        {differences.length > 0 && (
          <CopyButton
            label="Copy as CSV"
            text={() => csv([
              ["Metric", "Labels", "Title", "Unit", "Baseline", "Other", "Recording", "Change", "Low", "High", "Difference", "q"],
              ...kept.map((d) => [d.metric, labelsInWords(d.labels), d.title, d.unit, d.baseline, d.other, nameOf(d.run), d.change, d.low, d.high, d.difference, d.q]),
            ])}
          />
        )}
      </div>
      {differences.length === 0 ? (
        <p>
          Nothing differs by more than chance{compared > 0 ? `: ${compared} metrics were compared, none of them changed beyond what two equal runs show` : ""}.
        </p>
      ) : (
        <>
          {about && <p class="quiet about">{about}</p>}
          <div class="tools">
            <label class="field">
              <span class="hidden">Filter differences</span>
              <input type="search" placeholder="Filter" value={filter} data-filter onInput={(e) => setParam("differences.filter", e.currentTarget.value)} />
            </label>
            <div class="chips" role="group" aria-label="By page">
              {pages.filter((p) => counts.has(p.id)).map((p) => (
                <button key={p.id} type="button" aria-pressed={onPage === p.id} onClick={() => setParam("differences.page", onPage === p.id ? "" : p.id)}>
                  {p.title} <span class="quiet">{counts.get(p.id)}</span>
                </button>
              ))}
            </div>
            {runs.length > 2 && (
              <label class="field">
                Against{" "}
                <select value={run} onChange={(e) => setParam("differences.run", e.currentTarget.value)}>
                  <option value="">all</option>
                  {runs.map((_, i) => i > 0 && <option key={i} value={String(i)}>{nameOf(i)}</option>)}
                </select>
              </label>
            )}
            {stateOf && (
              <button type="button" aria-pressed="true" onClick={() => setParam("state", "")}>
                {stateOf.title} ×
              </button>
            )}
          </div>
          <div class="difference-row difference-heads quiet small" aria-hidden="true">
            <span />
            <span>over the window</span>
            <span class="values">mean</span>
            <span class="scale"><span>1/{edge}×</span><span>1×</span><span>{edge}×</span></span>
            <span class="change">change</span>
          </div>
          <ol>{shown.map((d, i) => <Row key={`${d.metric}/${labelsInWords(d.labels)}/${d.run}/${d.per}`} d={d} limit={limit} rank={i + 1} />)}</ol>
          {kept.length === 0 && <p class="none">No difference matches the filters.</p>}
          {kept.length > FIRST && (
            <button type="button" class="plain" onClick={() => setAll(!all)}>
              {all ? "Show fewer" : `Show all ${kept.length}`}
            </button>
          )}
        </>
      )}
    </section>
  );
}
