// One chart of a page: panels for the recordings on the same scales (or overlaid), its statistics for the window, and what it means.
import { useMemo, useRef, useState } from "preact/hooks";
import type { Block } from "../bundle/block";
import type { Chart } from "../bundle/types";
import { levelFor, type Line, linesOf, pointsOf, rangeOf, stack } from "../model/chart";
import { cssColor, isDashed, lineColor, runColor, theme } from "../model/color";
import { type Stat, statOf, valueAt } from "../model/stats";
import { clock, columnScale, human, inScale, type Scale, unitInWords } from "../model/units";
import { anchor, chosen, cursor, offsets, overlay, report, type Stretch, view, windowOf } from "../state";
import { Heat, HeatLegend } from "./Heat";
import { Plot, type PlotLine } from "./Plot";
import { CopyButton, Guard, nameOf, RunName, Swatch, useVisible, useWidth, Words } from "./parts";

/** Panels of an overlaid chart of many lines that are shown at first: one for each line. */
const FACETS = 8;

/** The runs that the chart has anything of. */
function runsOf(chart: Chart): number[] {
  return [...new Set(chart.series.map((s) => s.run))].filter((r) => r >= 0 && r < report().runs.length).toSorted((a, b) => a - b);
}

/** Statistics of a line in a run's window; null where the run does not have the line. */
function statIn(block: Block, line: Line, run: number): Stat | null {
  const series = line.runs.get(run);
  if (series === undefined) return null;
  const w = windowOf(run);
  return statOf(block.finest(series), w.from, w.to);
}

/** The value under the pointer while there is one, else the greatest of the window. A component of its own, so that a move of the pointer draws only it. */
function MaxOrCursor({ block, line, run, max, scale }: { block: Block; line: Line; run: number; max: number | undefined; scale: Scale }) {
  const at = cursor.value;
  const series = line.runs.get(run);
  if (at === null || series === undefined) return <>{inScale(max, scale)}</>;
  const level = block.finest(series);
  return <b>{inScale(valueAt(level, at + (offsets.value[run] ?? 0)), scale)}</b>;
}

/** The unit and the stretch of a chart's statistics. */
function Caption({ scale }: { scale: Scale }) {
  return (
    <caption>
      {scale.symbol ? `${scale.symbol}, ` : ""}
      {chosen.value ? "in the window" : "in the compared window"}
    </caption>
  );
}

function MaxHead() {
  return cursor.value === null ? <>max</> : <b>{clock(cursor.value, 0.1)}</b>;
}

function LineStats({ chart, block, lines, runs, hidden, toggle }: {
  chart: Chart; block: Block; lines: Line[]; runs: number[]; hidden: ReadonlySet<string>; toggle: (key: string) => void;
}) {
  const stats = lines.map((l) => runs.map((r) => statIn(block, l, r)));
  const greatest = Math.max(0, ...stats.flat().map((s) => (s && s.n > 0 ? Math.max(Math.abs(s.max), Math.abs(s.mean)) : 0)));
  const means = stats.flat().flatMap((s) => (s && s.mean !== 0 && s.n > 0 ? [Math.abs(s.mean)] : []));
  const scale = columnScale(chart.unit, greatest, false, Math.min(greatest, ...means));
  // In side-by-side panels colour tells the lines apart; where each run has one line, it has the colour of the run.
  const single = lines.length === 1;
  return (
    <div class="stats">
      <table>
        <Caption scale={scale} />
        <colgroup>
          <col class="name" />
          {runs.flatMap((r) => [<col key={`${r}m`} class="n" />, <col key={`${r}x`} class="n" />])}
        </colgroup>
        <thead>
          {runs.length > 1 && (
            <tr>
              <td />
              {runs.map((r) => (
                <th key={r} colSpan={2} scope="colgroup">
                  <RunName run={r} />
                </th>
              ))}
            </tr>
          )}
          <tr>
            <td />
            {runs.flatMap((r) => [
              <th key={`${r}m`} scope="col">mean</th>,
              <th key={`${r}x`} scope="col"><MaxHead /></th>,
            ])}
          </tr>
        </thead>
        <tbody>
          {lines.map((line, i) => (
            <tr key={line.key} class={hidden.has(line.key) ? "off" : ""}>
              <th scope="row" title={line.kernel ? `${line.name} (${line.kernel})` : line.name}>
                {single ? (
                  <span class="line-name">{line.name}<Kernel line={line} /></span>
                ) : (
                  <button type="button" class="line-name" aria-pressed={!hidden.has(line.key)} onClick={() => toggle(line.key)}>
                    {!overlay.value && <Swatch n={i} name={chart.kind === "stack" ? line.metric : ""} />}
                    <span class="ellipsis">{line.name}<Kernel line={line} /></span>
                  </button>
                )}
              </th>
              {runs.flatMap((r, k) => {
                const s = stats[i]?.[k];
                return [
                  <td key={`${r}m`} data-stat={`${line.name}/${r}/mean`}>{inScale(s?.mean, scale)}</td>,
                  <td key={`${r}x`}>
                    <MaxOrCursor block={block} line={line} run={r} max={s?.max} scale={scale} />
                  </td>,
                ];
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HeatStats({ chart, block, lines, runs }: { chart: Chart; block: Block; lines: Line[]; runs: number[] }) {
  const rows = runs.map((r) => {
    const stats = lines.map((l) => ({ name: l.name, s: statIn(block, l, r) })).filter((x) => x.s && x.s.n > 0) as { name: string; s: Stat }[];
    const means = stats.map((x) => x.s.mean);
    const top = stats.reduce<{ name: string; s: Stat } | null>((a, b) => (!a || b.s.mean > a.s.mean ? b : a), null);
    return {
      run: r,
      mean: means.length > 0 ? means.reduce((a, b) => a + b, 0) / means.length : Number.NaN,
      max: Math.max(Number.NEGATIVE_INFINITY, ...stats.map((x) => x.s.max)),
      top,
    };
  });
  const scale = columnScale(chart.unit, Math.max(0, ...rows.map((r) => (Number.isFinite(r.max) ? r.max : 0))), false);
  const say = (x: number) => inScale(Number.isFinite(x) ? x : null, scale);
  return (
    <div class="stats">
      <table>
        <Caption scale={scale} />
        <colgroup>
          <col class="name" />
          <col class="n" />
          <col class="n" />
          <col />
        </colgroup>
        <thead>
          <tr>
            <td />
            <th scope="col">mean</th>
            <th scope="col">max</th>
            <th scope="col">highest mean</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.run}>
              <th scope="row">
                <RunName run={r.run} />
              </th>
              <td>{say(r.mean)}</td>
              <td>{say(r.max)}</td>
              <td title={r.top?.name}>{r.top ? `${r.top.name}: ${say(r.top.s.mean)}` : "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The kernel's own name beside that in words. */
function Kernel({ line }: { line: Line }) {
  // It breaks where its own words end.
  return line.kernel ? <span class="quiet small"> ({line.kernel.split("_").flatMap((word, i) => (i > 0 ? ["_", <wbr key={i} />, word] : [word]))})</span> : null;
}

interface Panel {
  key: string;
  title: { run: number } | { text: string };
  lines: PlotLine[];
  runs: number[];
}

function panelsOf(chart: Chart, block: Block, lines: Line[], runs: number[], width: number, all: boolean, colors: ReadonlyMap<string, { color: string; dashed: boolean }>): Panel[] {
  const { from, to } = view.value;
  const wanted = Math.max(60, width);
  const pointsIn = (line: Line, run: number) => {
    const series = line.runs.get(run);
    if (series === undefined) return null;
    const offset = offsets.value[run] ?? 0;
    return pointsOf(levelFor(block, series, from + offset, to + offset, wanted), from + offset, to + offset, offset);
  };
  if (overlay.value && runs.length > 1) {
    return lines.slice(0, all ? lines.length : FACETS).map((line) => ({
      key: line.key,
      title: { text: line.name },
      runs,
      lines: runs.flatMap((run) => {
        const points = pointsIn(line, run);
        return points ? [{ name: nameOf(run), color: runColor(run), dashed: false, points }] : [];
      }),
    }));
  }
  const single = lines.length === 1 && chart.kind === "line";
  return runs.map((run) => ({
    key: String(run),
    title: { run },
    runs: [run],
    lines: lines.flatMap((line) => {
      const points = line.runs.has(run) ? pointsIn(line, run) : null;
      const look = single ? undefined : colors.get(line.key);
      return points ? [{ name: line.name, color: look?.color ?? runColor(run), dashed: look?.dashed ?? false, points }] : [];
    }),
  }));
}

function rangeIn(chart: Chart, panels: Panel[], stacked: boolean): [number, number] {
  let lo = Number.POSITIVE_INFINITY;
  let hi = Number.NEGATIVE_INFINITY;
  const take = (y: number | null) => {
    if (y === null) return;
    if (y < lo) lo = y;
    if (y > hi) hi = y;
  };
  const { from, to } = view.value;
  for (const p of panels) {
    if (stacked) {
      for (const edge of stack(p.lines.map((l) => l.points)).upper) edge.forEach(take);
      continue;
    }
    // The band of greatest values is drawn only for few lines; only then it needs room.
    const few = p.lines.length <= 3;
    for (const l of p.lines) {
      l.points.x.forEach((x, i) => {
        if (x < from || x > to) return;
        take((few ? l.points.min[i] : l.points.y[i]) ?? null);
        take((few ? l.points.max[i] : l.points.y[i]) ?? null);
      });
    }
  }
  const gauge = ["B", "Hz", "°C", ""].includes(chart.unit);
  return rangeOf(lo, hi, chart.max, !stacked && gauge);
}

function windowIn(runs: number[]): Stretch | null {
  if (chosen.value) return chosen.value;
  const [only] = runs;
  if (runs.length !== 1 || only === undefined) return null;
  const w = windowOf(only);
  const offset = offsets.value[only] ?? 0;
  return { from: w.from - offset, to: w.to - offset };
}

/** Marks of the runs; in their colours where a panel shows several. */
function marksIn(runs: number[]): { t: number; color: string }[] {
  return runs.flatMap((r) => {
    const color = runs.length > 1 ? runColor(r) : cssColor("--quiet");
    return (report().runs[r]?.marks ?? []).map((m) => ({ t: m.t - (offsets.value[r] ?? 0), color }));
  });
}

/** A chart in words: what a reader who cannot see it gets. */
function inWords(chart: Chart, block: Block, lines: Line[], run: number): string {
  const said = lines.slice(0, 12).map((l) => {
    const s = statIn(block, l, run);
    return s && s.n > 0 ? `${l.name} mean ${human(s.mean, chart.unit)}, max ${human(s.max, chart.unit)}` : `${l.name} not measured`;
  });
  const rest = lines.length > 12 ? `; and ${lines.length - 12} more` : "";
  return `${chart.title}, ${nameOf(run)}: ${said.join("; ")}${rest}.`;
}

function Lines({ chart, block, lines, runs }: { chart: Chart; block: Block; lines: Line[]; runs: number[] }) {
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const shown = lines.filter((l) => !hidden.has(l.key));
  const over = overlay.value && runs.length > 1;
  const facets = over && lines.length > 1;
  const stacked = chart.kind === "stack" && !over;
  const colors = new Map(lines.map((l, i) => [l.key, { color: lineColor(i, chart.kind === "stack" ? l.metric : ""), dashed: isDashed(i) }]));
  const count = over ? Math.min(shown.length, all ? shown.length : FACETS) : runs.length;
  const columns = Math.max(1, Math.min(count, Math.floor((width + 20) / 300), over ? 3 : 4));
  const each = Math.floor((width - (columns - 1) * 20) / columns);
  const inputs = [chart, block, hidden, all, width, view.value, offsets.value, overlay.value, theme()];
  const panels = useMemo(() => (width > 0 ? panelsOf(chart, block, shown, runs, each, all, colors) : []), inputs);
  // Recordings share their scale. Overlaid lines of a chart have a panel and a scale each: there the recordings are compared, not the lines.
  const ranges = useMemo(() => {
    if (facets) return panels.map((p) => rangeIn(chart, [p], stacked));
    const shared = rangeIn(chart, panels, stacked);
    return panels.map(() => shared);
  }, [panels, stacked, facets]);
  const floating = ranges.find((r) => r[0] > 0);
  const height = runs.length > 4 || facets ? 120 : 160;
  return (
    <>
      <div>
        <div class="panels" ref={holder} style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
          {panels.map((p, i) => (
            <figure key={p.key}>
              <figcaption>{"run" in p.title ? runs.length > 1 && <RunName run={p.title.run} /> : p.title.text}</figcaption>
              {p.lines.length > 0 ? (
                <Plot
                  lines={p.lines}
                  stacked={stacked}
                  unit={chart.unit}
                  range={ranges[i] ?? [0, 1]}
                  view={view.value}
                  window={windowIn(p.runs)}
                  marks={marksIn(p.runs)}
                  width={each}
                  height={height}
                  label={p.runs.map((r) => inWords(chart, block, "text" in p.title ? shown.filter((l) => l.key === p.key) : shown, r)).join(" ")}
                />
              ) : (
                <p class="none">nothing chosen</p>
              )}
            </figure>
          ))}
        </div>
        {floating && <p class="quiet small">The axis starts at {human(floating[0], chart.unit)}, not at zero.</p>}
        {over && shown.length > FACETS && (
          <button type="button" class="plain" onClick={() => setAll(!all)}>
            {all ? "Show fewer" : `Show all ${shown.length} lines`}
          </button>
        )}
      </div>
      <LineStats
        chart={chart}
        block={block}
        lines={lines}
        runs={runs}
        hidden={hidden}
        toggle={(key) => {
          const next = new Set(hidden);
          if (!next.delete(key)) next.add(key);
          setHidden(next);
        }}
      />
    </>
  );
}

function HeatMaps({ chart, block, lines, runs }: { chart: Chart; block: Block; lines: Line[]; runs: number[] }) {
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  const columns = Math.max(1, Math.min(runs.length, Math.floor((width + 20) / 320), 3));
  const each = Math.floor((width - (columns - 1) * 20) / columns);
  const { from, to } = view.value;
  const greatest = useMemo(() => {
    if (chart.max !== null) return chart.max;
    let most = 0;
    for (const l of lines) {
      for (const [run, series] of l.runs) {
        const offset = offsets.value[run] ?? 0;
        const s = statOf(levelFor(block, series, from + offset, to + offset, 600), from + offset, to + offset);
        if (s.n > 0 && s.max > most) most = s.max;
      }
    }
    return most;
  }, [block, lines, from, to, offsets.value]);
  return (
    <>
      <div>
        <div class="panels" ref={holder} style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
          {width > 0 &&
            runs.map((run) => (
              <figure key={run}>
                <figcaption>{runs.length > 1 && <RunName run={run} />}</figcaption>
                <Heat
                  block={block}
                  run={run}
                  lines={lines}
                  unit={chart.unit}
                  greatest={greatest}
                  view={view.value}
                  offset={offsets.value[run] ?? 0}
                  window={windowIn([run])}
                  width={each}
                  label={inWords(chart, block, lines, run)}
                />
              </figure>
            ))}
        </div>
        <HeatLegend greatest={greatest} unit={chart.unit} />
      </div>
      <HeatStats chart={chart} block={block} lines={lines} runs={runs} />
    </>
  );
}

/** What a chart holds that draws nothing: only zeros, or nothing measured. Null where there is something to see. */
function nothingIn(block: Block, chart: Chart): string | null {
  let measured = false;
  try {
    for (const { data } of chart.series) {
      const { min, max } = block.finest(data);
      for (let i = 0; i < max.length; i++) {
        const hi = max[i] as number;
        if (Number.isNaN(hi)) continue;
        if (hi !== 0 || (min[i] as number) !== 0) return null;
        measured = true;
      }
    }
  } catch {
    // The chart itself says what is wrong with its data.
    return null;
  }
  if (!measured) return "Not measured at any time.";
  return report().runs.length > 1 ? "Zero all the time, in all recordings." : "Zero all the time.";
}

/** Explanations longer than this are folded. */
const LONG = 110;

/** What is shown and how to read it. */
function Explained({ chart }: { chart: Chart }) {
  const [open, setOpen] = useState(false);
  const long = chart.help.length > LONG;
  const parts = chart.help.split("; ");
  return (
    <>
      <p class="read">
        {!long && chart.help && <>{chart.help}{/[.!?]$/.test(chart.help) ? "" : "."} </>}
        <span class="quiet"><Words text={chart.read} /></span>{" "}
        {long && (
          <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Less" : "What it shows"}
          </button>
        )}
      </p>
      {long && open && <ul class="terms">{parts.map((p) => <li key={p}>{p}</li>)}</ul>}
    </>
  );
}

/** The chart with its heading and statistics. */
export function ChartView({ chart, block }: { chart: Chart; block: Block }) {
  const holder = useRef<HTMLElement>(null);
  const visible = useVisible(holder);
  const [shown, setShown] = useState(false);
  const lines = useMemo(() => linesOf(chart), [chart]);
  const runs = useMemo(() => runsOf(chart), [chart]);
  const nothing = useMemo(() => nothingIn(block, chart), [chart, block]);
  const Body = chart.kind === "heat" ? HeatMaps : Lines;
  const absent = report().runs.map((_, i) => i).filter((i) => !runs.includes(i));
  const folded = nothing !== null && !shown && anchor.value !== chart.id;
  const look = ["chart", `runs${runs.length}`, runs.length > 2 && "wide", anchor.value === chart.id && "aimed", folded && "folded"];
  return (
    <article class={look.filter(Boolean).join(" ")} id={`at-${chart.id}`} ref={holder} data-chart={chart.id}>
      <header>
        <h3>{chart.title}</h3>
        {chart.kernel && <span class="quiet small">{chart.kernel}</span>}
        <span class="quiet" title={unitInWords(chart.unit)}>{chart.unit === "" ? "count" : chart.unit === "ratio" ? "%" : chart.unit}</span>
        {nothing !== null && (
          <>
            <span class="quiet small">{nothing}</span>
            <button type="button" class="plain" aria-expanded={!folded} onClick={() => setShown(folded)}>
              {folded ? "Show" : "Hide"}<span class="hidden"> {chart.title}</span>
            </button>
          </>
        )}
        <span class="spacer" />
        <CopyButton text={() => chart.query} label="Copy query" title={chart.query} />
      </header>
      {!folded && <Explained chart={chart} />}
      {!folded && chart.note && <p class="quiet small">{chart.note}</p>}
      {absent.length > 0 && absent.length < report().runs.length && (
        <p class="quiet small">Not measured in {absent.map(nameOf).join(", ")}.</p>
      )}
      {!folded && (
        <div class={`chart-body ${chart.kind}`}>
          <Guard what={`“${chart.title}”`}>{visible && <Body chart={chart} block={block} lines={lines} runs={runs} />}</Guard>
        </div>
      )}
    </article>
  );
}
