// A search for the best values: its trials in order with the best so far, those that were held against the default in blocks, and the front of
// two measures.
import type { Change, Experiment, FrontPoint, Optimum } from "../../bundle/generated";
import { amount, axisOf, labelled, place, ticks } from "../../model/axis";
import { effectInWords, factorInWords, judged, measureInWords, nameOf, verdictInWords } from "../../model/experiment";
import { frontInWords, searchedOf, setInWords } from "../../model/optimum";
import { AxisHead, factorAxis, factorCsv, FactorText, IntervalBar, otherColumns, sharedLevel, VerdictText, whyInLine, WhyText } from "./Changes";
import { Frame, GUTTER, type Mark, RIGHT, Ring, Rows } from "./Frame";
import { bare, type Col, Table } from "./Table";

const HEIGHT = 250;
const TOP = 10;
const FOOT = 24;

function Search({ e, optimum }: { e: Experiment; optimum: Optimum }) {
  const m = judged(e);
  const all = searchedOf(e);
  const known = all.flatMap((s) => (s.value === null ? [] : [s.value]));
  const axis = axisOf(known, { log: true });
  const at = ticks(axis, 6, m.unit);
  const { labels, symbol } = labelled(at, m.unit);
  const last = Math.max(2, optimum.search, all.length);
  const said = (s: (typeof all)[number]) =>
    [`trial ${s.t.number}`, setInWords(s.t), s.value === null ? `failed: ${s.t.reason ?? "not measured"}` : `${m.name} ${amount(s.value, m.unit)}`, s.best !== null && s.best === s.value ? "the best so far" : ""].filter(Boolean).join(" · ");
  return (
    <div>
      <p class="axis-said quiet small">{m.name}{symbol && `, ${symbol}`}, logarithmic</p>
      <Frame
        name="search" height={HEIGHT} byX label={`${m.name} of each trial of the search. ${all.slice(0, 100).map(said).join(". ")}.`}
        draw={(width, read) => {
          const x = (n: number) => GUTTER + 10 + ((n - 1) / (last - 1)) * (width - GUTTER - RIGHT - 20);
          const bottom = HEIGHT - FOOT;
          const y = (v: number) => TOP + (1 - place(axis, v)) * (bottom - TOP);
          const marks: Mark[] = all.map((s) => ({ x: x(s.n), y: s.value === null ? bottom - 6 : y(s.value), text: said(s) }));
          const steps = all.flatMap((s, i) => {
            const before = all[i - 1]?.best ?? null;
            if (s.best === null) return [];
            return [...(before === null ? [] : [`${x(s.n).toFixed(1)},${y(before).toFixed(1)}`]), `${x(s.n).toFixed(1)},${y(s.best).toFixed(1)}`];
          });
          const every = Math.max(1, Math.ceil(last / Math.max(1, Math.floor((width - GUTTER) / 48)) / 5) * 5);
          return {
            marks,
            picture: (
              <>
                <Rows at={at.map(y)} labels={labels} from={GUTTER} to={width - RIGHT} width={width} />
                <polyline class="law" points={steps.join(" ")} />
                {all.map((s, i) => {
                  const k = marks[i] as Mark;
                  if (s.value === null) return <g key={i} class="failed-mark"><path d={`M${k.x - 4},${k.y - 4}l8,8M${k.x + 4},${k.y - 4}l-8,8`} /></g>;
                  return <g key={i} class={`point${s.n === 1 ? " best" : " may-be"}`}><circle class="mark" cx={k.x} cy={k.y} r={s.n === 1 ? 5 : 3.5} /></g>;
                })}
                {Array.from({ length: last }, (_, i) => i + 1).filter((n) => n === 1 || n % every === 0).map((n) => <text key={n} x={x(n)} y={HEIGHT - 6} text-anchor="middle">{n}</text>)}
                <Ring mark={read === null ? undefined : marks[read]} />
              </>
            ),
          };
        }}
      />
      <p class="axis-title quiet small">trial of the search</p>
      <p class="xp-legend small">
        <span class="line-name"><svg class="xp-chart" width="16" height="16" aria-hidden="true"><g class="point best"><circle class="mark" cx="8" cy="8" r="5" /></g></svg>the default</span>
        <span class="line-name"><svg class="xp-chart" width="16" height="16" aria-hidden="true"><g class="point may-be"><circle class="mark" cx="8" cy="8" r="4" /></g></svg>tried</span>
        <span class="line-name"><svg class="xp-chart" width="26" height="16" aria-hidden="true"><line class="law" x1="1" x2="25" y1="8" y2="8" /></svg>the best so far, as it looked</span>
      </p>
    </div>
  );
}

function Front({ e, optimum }: { e: Experiment; optimum: Optimum }) {
  const [first, second] = [e.measures[0], e.measures[1]];
  if (!first || !second || optimum.front.length === 0) return null;
  const tried = searchedOf(e).flatMap((s) => {
    const other = s.t.values[1];
    return s.value !== null && typeof other === "number" && other > 0 ? [{ s, a: s.value, b: other }] : [];
  });
  const points = optimum.front.flatMap((p) => (p.values.length === 2 ? [{ p, a: p.values[0] as number, b: p.values[1] as number }] : []));
  const xs = axisOf([...tried.map((t) => t.a), ...points.map((p) => p.a)], { log: true });
  const ys = axisOf([...tried.map((t) => t.b), ...points.map((p) => p.b)], { log: true });
  const [atX, atY] = [ticks(xs, 6, first.unit), ticks(ys, 6, second.unit)];
  const [onX, onY] = [labelled(atX, first.unit), labelled(atY, second.unit)];
  const both = (a: number, b: number) => `${first.name} ${amount(a, first.unit)}, ${second.name} ${amount(b, second.unit)}`;
  const said = (p: (typeof points)[number]) => [`on the front: ${frontInWords(optimum, p.p)}`, both(p.a, p.b), p.p.variant === null ? "" : nameOf(e, p.p.variant)].filter(Boolean).join(" · ");
  const columns: Col<FrontPoint>[] = [
    { id: "set", title: "values", cell: (p) => frontInWords(optimum, p), csv: optimum.parameters.map((name, i) => ({ head: name, of: (p: FrontPoint) => p.set[i] ?? "" })) },
    ...[first, second].map((m, i): Col<FrontPoint> => ({
      id: `m${i}`, title: m.name, help: `geometric mean of its trials while searching; ${measureInWords(m)}`, number: true, cell: (p) => amount(p.values[i], m.unit),
      csv: [{ head: `${m.name}${m.unit ? ` (${m.unit})` : ""}`, of: (p) => bare(p.values[i]) }],
    })),
    { id: "trials", title: "trials", number: true, cell: (p) => p.trials.length, csv: [{ head: "trials", of: (p) => p.trials.length }] },
    { id: "which", title: "in the blocks", cell: (p) => (p.variant === null ? <span class="quiet">–</span> : nameOf(e, p.variant)), csv: [{ head: "in the blocks", of: (p) => (p.variant === null ? "" : nameOf(e, p.variant)) }] },
  ];
  return (
    <section aria-labelledby="at-front">
      <h2 id="at-front">{first.name} against {second.name}</h2>
      <p class="read quiet">
        The front: of all that was tried, what nothing else beats in both. Each is of one trial or a few, picked for being good; the blocks above say what holds. {measureInWords(first)}; {measureInWords(second)}.
      </p>
      <p class="axis-said quiet small">{second.name}{onY.symbol && `, ${onY.symbol}`}, logarithmic</p>
      <Frame
        name="front" height={HEIGHT + 40} label={`${second.name} over ${first.name}. ${points.map(said).join(". ")}.`}
        draw={(width, read) => {
          const bottom = HEIGHT + 40 - FOOT;
          const x = (v: number) => GUTTER + place(xs, v) * (width - GUTTER - RIGHT);
          const y = (v: number) => TOP + (1 - place(ys, v)) * (bottom - TOP);
          const marks: Mark[] = [
            ...points.map((p) => ({ x: x(p.a), y: y(p.b), text: said(p) })),
            ...tried.map((t) => ({ x: x(t.a), y: y(t.b), text: [`trial ${t.s.t.number}`, setInWords(t.s.t), both(t.a, t.b)].join(" · ") })),
          ];
          return {
            marks,
            picture: (
              <>
                <Rows at={atY.map(y)} labels={onY.labels} from={GUTTER} to={width - RIGHT} width={width} />
                <polyline class="joined" points={points.map((p) => `${x(p.a).toFixed(1)},${y(p.b).toFixed(1)}`).join(" ")} />
                {tried.map((t, i) => <g key={i} class="point may-be faint"><circle class="mark" cx={x(t.a)} cy={y(t.b)} r="3" /></g>)}
                {points.map((p, i) => <g key={i} class={`point${p.p.variant === null ? "" : " best"}`}><circle class="mark" cx={x(p.a)} cy={y(p.b)} r="5" /></g>)}
                {atX.map((v, i) => <text key={i} x={x(v)} y={HEIGHT + 34} text-anchor={x(v) > width - 40 ? "end" : "middle"}>{onX.labels[i]}</text>)}
                <Ring mark={read === null ? undefined : marks[read]} />
              </>
            ),
          };
        }}
      />
      <p class="axis-title quiet small">{first.name}{onX.symbol && `, ${onX.symbol}`}, logarithmic</p>
      <Table name="front" label="Front" columns={columns} rows={optimum.front} />
    </section>
  );
}

/** The sections of a search. */
export function OptimumView({ e, optimum }: { e: Experiment; optimum: Optimum }) {
  const m = judged(e);
  const axis = factorAxis(e.changes, e.effect);
  const value = (c: Change, name: string) => e.variants[c.variant]?.set.find(([n]) => n === name)?.[1] ?? "";
  const usual = (name: string) => e.variants[0]?.set.find(([n]) => n === name)?.[1] ?? "";
  const differs = (c: Change) => optimum.parameters.filter((name) => value(c, name) !== usual(name)).map((name) => `${name}=${value(c, name)}`).join(" ");
  const median = (c: Change) => e.variants[c.variant]?.medians[0] ?? null;
  const self = (c: Change) => c;
  const columns: Col<Change>[] = [
    {
      id: "variant", title: "values", help: "what differs from the default",
      cell: (c) => <span>{c.variant === optimum.take ? <b>{nameOf(e, c.variant)}: take these</b> : nameOf(e, c.variant)}<span class="quiet small block">{differs(c)}</span></span>,
      csv: [
        { head: "values", of: (c) => nameOf(e, c.variant) }, { head: "take", of: (c) => (c.variant === optimum.take ? "yes" : "no") },
        ...optimum.parameters.map((name) => ({ head: name, of: (c: Change) => value(c, name) })),
      ],
    },
    { id: "median", title: m.name, help: "median of its trials in the blocks", number: true, cell: (c) => amount(median(c), m.unit), csv: [{ head: `${m.name}${m.unit ? ` (${m.unit})` : ""}`, of: (c) => bare(median(c)) }] },
    { id: "factor", title: <>factor · {sharedLevel(e.changes)}</>, help: `${m.name} ÷ that of the default, by pairs`, number: true, cell: (c) => <FactorText change={c} />, csv: factorCsv(m.name, self) },
    { id: "bar", title: <AxisHead axis={axis} />, cell: (c) => <IntervalBar change={c} axis={axis} effect={e.effect} />, csv: [] },
    { id: "verdict", title: "verdict", cell: (c) => <VerdictText change={c} effect={e.effect} />, csv: [{ head: "verdict", of: (c) => verdictInWords(c, e.effect) }] },
    ...otherColumns(e, self),
    ...(e.changes.some((c) => c.why.length > 0 || c.report !== null) ? [{ id: "why", title: "why", cell: (c: Change) => <WhyText change={c} />, csv: [{ head: "why", of: whyInLine }] }] : []),
  ];
  return (
    <>
      <section aria-labelledby="at-best">
        <h2 id="at-best">The best against the default</h2>
        <p class="read quiet">
          {measureInWords(m)}. Blocks after the search, in which nothing was chosen: these are the numbers to quote. Shaded: within {effectInWords(e.effect)}, which does not matter.
          {optimum.seen !== null && ` While searching, the one to take looked like ${factorInWords(optimum.seen)} of the default: it was picked for that.`}
        </p>
        {e.changes.length === 0 ? <p class="none">The search goes on: {optimum.searched} of {optimum.search} trials.</p> : <Table name="best" label="The best" columns={columns} rows={e.changes} />}
      </section>
      <section aria-labelledby="at-search">
        <h2 id="at-search">The search</h2>
        <p class="read quiet">
          {optimum.searched} of {optimum.search} trials, each of values of its own, chosen by {optimum.asked === null ? "a Tree-structured Parzen Estimator from those before it" : <code>{optimum.asked}</code>}. Single trials: what looks best here is too good on average.
        </p>
        <Search e={e} optimum={optimum} />
      </section>
      <Front e={e} optimum={optimum} />
    </>
  );
}
