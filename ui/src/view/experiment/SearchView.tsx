// A search: latency over rate with the limit, where each variant meets it, and what was found in numbers.
import type { Change, Experiment, MeasureHead, Search, SearchRate, SearchTrial } from "../../bundle/generated";
import { amount, amountRange, axisOf, labelled, place, ticks } from "../../model/axis";
import { nameOf, verdictInWords } from "../../model/experiment";
import { AxisHead, factorAxis, factorCsv, FactorText, IntervalBar, sharedLevel, whyInLine, WhyText } from "./Changes";
import { variantColor } from "./colors";
import { Frame, GUTTER, type Mark, RIGHT, Ring, Rows } from "./Frame";
import { bare, type Col, Table } from "./Table";

const PLOT = 300;
const TOP = 26;
const AXIS = 34;
const UNIT = "/s";

function trialInLine(e: Experiment, m: MeasureHead, variant: number, t: SearchTrial): string {
  const value = t.value === null ? "no number" : `${m.name} ${amount(t.value, m.unit)}`;
  return `trial ${t.trial} · ${nameOf(e, variant)} · ${amount(t.rate, UNIT)} · ${value} · ${t.broke === null ? "met all limits" : t.broke}`;
}

/** What was found of a variant, in one line. */
export function rateInLine(e: Experiment, r: SearchRate): string {
  const found = r.rate === null ? (r.says ?? "not known yet") : `${amount(r.rate, UNIT)}${r.interval ? ` (95 % CI ${amountRange(r.interval, UNIT)})` : ""}`;
  return `${nameOf(e, r.variant)}: ${found}`;
}

/** Latency over rate, both logarithmic: above its capacity a server is late by any amount. */
function Chart({ e, search }: { e: Experiment; search: Search }) {
  const m = e.measures[search.measure] ?? { name: "", unit: "", more_is_better: false, limit: null };
  const all = search.rates.flatMap((r) => r.tried.map((t) => ({ r, t })));
  const shown = all.filter(({ t }) => t.value !== null && t.value > 0);
  if (shown.length === 0) return <p class="none">No trial was measured yet.</p>;
  const x = axisOf([...all.map(({ t }) => t.rate), ...search.rates.map((r) => r.rate)], { log: true });
  const y = axisOf([...shown.map(({ t }) => t.value), search.limit], { log: true });
  const [across, up] = [ticks(x, 7, UNIT), ticks(y, 6, m.unit)];
  const [xs, ys] = [labelled(across, UNIT), labelled(up, m.unit)];
  const bottom = TOP + PLOT;
  const label = `${m.name} over rate, both logarithmic.${search.limit === null ? "" : ` The limit is ${amount(search.limit, m.unit)}.`} ${search.rates.map((r) => rateInLine(e, r)).join(". ")}.`;
  return (
    <div>
      <p class="axis-said quiet small">{m.name}{ys.symbol && `, ${ys.symbol}`}, logarithmic</p>
      <Frame
        name="search" height={bottom + AXIS} label={label}
        draw={(width, read) => {
          const px = (v: number) => GUTTER + place(x, v) * (width - GUTTER - RIGHT);
          const py = (v: number) => TOP + (1 - place(y, v)) * PLOT;
          const marks: Mark[] = all.map(({ r, t }) => ({ x: px(t.rate), y: t.value !== null && t.value > 0 ? py(t.value) : TOP, text: trialInLine(e, m, r.variant, t) }));
          return {
            marks,
            picture: (
              <>
                <Rows at={up.map(py)} labels={ys.labels} from={GUTTER} to={width - RIGHT} width={width} />
                {across.map((v, i) => <text key={v} x={px(v)} y={bottom + 16} text-anchor="middle">{xs.labels[i]}</text>)}
                <text x={width - RIGHT} y={bottom + 31} text-anchor="end">{search.parameter}{xs.symbol && `, ${xs.symbol}`}</text>
                {search.limit !== null && (
                  <g class="turn"><line x1={GUTTER} x2={width - RIGHT} y1={py(search.limit)} y2={py(search.limit)} /><text x={GUTTER + 4} y={py(search.limit) - 5}>limit {amount(search.limit, m.unit)}</text></g>
                )}
                {search.rates.map((r, i) => {
                  const color = variantColor(e, r.variant);
                  const line = r.curve.filter(([, v]) => v <= y.high && v >= y.low).map(([at, v]) => `${px(at).toFixed(1)},${py(v).toFixed(1)}`);
                  return (
                    <g key={r.variant}>
                      {r.interval && <rect x={px(r.interval[0])} width={Math.max(1.5, px(r.interval[1]) - px(r.interval[0]))} y={TOP} height={PLOT} style={{ fill: color, opacity: 0.13 }} />}
                      {r.rate !== null && <line x1={px(r.rate)} x2={px(r.rate)} y1={TOP - 6} y2={bottom} style={{ stroke: color, strokeWidth: 1.5, strokeDasharray: i % 2 ? "6 3" : "" }} />}
                      {line.length > 1 && <polyline points={line.join(" ")} style={{ stroke: color, strokeWidth: 1.5, fill: "none", opacity: 0.8 }} />}
                    </g>
                  );
                })}
                {all.map(({ r, t }, i) => {
                  const [cx, cy] = [marks[i]?.x ?? 0, marks[i]?.y ?? 0];
                  const color = variantColor(e, r.variant);
                  if (t.value === null || t.value <= 0) return <g key={i} class="failed-mark"><path d={`M${cx - 4},${cy - 4}l8,8M${cx + 4},${cy - 4}l-8,8`} /></g>;
                  const fill = t.broke === null ? color : "var(--ground)";
                  return <circle key={i} cx={cx} cy={cy} r={t.around ? 4 : 3} style={{ stroke: color, strokeWidth: 1.5, fill, opacity: t.around ? 1 : 0.65 }} />;
                })}
                <Ring mark={read === null ? undefined : marks[read]} />
              </>
            ),
          };
        }}
      />
      <p class="xp-legend small">
        {search.rates.map((r) => <span key={r.variant} class="line-name"><span class="swatch" style={{ background: variantColor(e, r.variant) }} aria-hidden="true" />{nameOf(e, r.variant)}</span>)}
        <span>● met all limits</span><span>○ did not</span>
        {all.some(({ t }) => t.value === null) && <span class="bad">✕ failed</span>}
        <span>small: on the way there; line: the rate that was found, with its interval</span>
      </p>
    </div>
  );
}

/** The section of a search. */
export function SearchView({ e, search }: { e: Experiment; search: Search }) {
  const changeOf = (r: SearchRate): Change | null => e.changes.find((c) => c.variant === r.variant && c.against === 0) ?? null;
  const changes = search.rates.map(changeOf);
  const axis = factorAxis(changes, e.effect);
  const compares = changes.some((c) => c !== null);
  const baseline = nameOf(e, 0);
  const columns: Col<SearchRate>[] = [
    {
      id: "variant", title: "variant",
      cell: (r) => <span class="line-name"><span class="swatch" style={{ background: variantColor(e, r.variant) }} aria-hidden="true" />{nameOf(e, r.variant)}{compares && r.variant === 0 && <span class="quiet"> baseline</span>}</span>,
      csv: [{ head: "variant", of: (r) => nameOf(e, r.variant) }],
    },
    { id: "rate", title: "rate", help: "the highest at which all limits are met", number: true, cell: (r) => (r.rate === null ? "–" : <b title={`of ${r.around} trials around the limit`}>{amount(r.rate, UNIT)}</b>), csv: [{ head: "rate (/s)", of: (r) => bare(r.rate) }, { head: "trials around the limit", of: (r) => r.around }] },
    { id: "ci", title: "95 % CI", help: "how the machine went up and down meanwhile is in it", number: true, cell: (r) => (r.interval ? amountRange(r.interval, UNIT) : "–"), csv: [{ head: "low", of: (r) => bare(r.interval?.[0]) }, { head: "high", of: (r) => bare(r.interval?.[1]) }] },
    ...(compares ? [
      { id: "factor", title: <>factor · {sharedLevel(changes)}</>, help: `rate ÷ that of ${baseline}, by pairs: what both share falls out`, number: true, cell: (r: SearchRate) => <FactorText change={changeOf(r)} />, csv: factorCsv("rate", changeOf) },
      { id: "bar", title: <AxisHead axis={axis} />, cell: (r: SearchRate) => { const c = changeOf(r); return c ? <IntervalBar change={c} axis={axis} effect={e.effect} /> : null; }, csv: [] },
      { id: "verdict", title: "verdict", cell: (r: SearchRate) => { const c = changeOf(r); return c ? verdictInWords(c, e.effect) : ""; }, csv: [{ head: "verdict", of: (r: SearchRate) => { const c = changeOf(r); return c ? verdictInWords(c, e.effect) : ""; } }] },
    ] satisfies Col<SearchRate>[] : []),
    { id: "by", title: "limited by", help: "what was broken most often", cell: (r) => r.says ?? r.limited_by ?? <span class="quiet">–</span>, csv: [{ head: "limited by", of: (r) => r.says ?? r.limited_by ?? "" }] },
    ...(changes.some((c) => c !== null && (c.why.length > 0 || c.report !== null))
      ? [{ id: "why", title: "why", help: "what explained trials show, all at the same rate", cell: (r: SearchRate) => <WhyText change={changeOf(r)} />, csv: [{ head: "why", of: (r: SearchRate) => whyInLine(changeOf(r)) }] }]
      : []),
  ];
  return (
    <section aria-labelledby="at-search">
      <h2 id="at-search">Highest rate within the limits</h2>
      <p class="read quiet">{search.limits.join("; ")}. Each trial asks for one rate: doubled, halved, and then up and down around the limit.</p>
      <Chart e={e} search={search} />
      <Table name="rates" label="Rates" columns={columns} rows={search.rates} />
    </section>
  );
}
