// A sweep: its curve or its heat map, the law in words, and the table of its points.
import type { Experiment, Law, Point, Sweep, Value } from "../../bundle/generated";
import { inkOn } from "../../model/color";
import { amount, amountRange, amounts } from "../../model/axis";
import { factorInWords, judged, measureInWords, nameOf, rangeInWords } from "../../model/experiment";
import { gridOf, numberInWords, pointInWords, statesOf } from "../../model/sweep";
import { human } from "../../model/units";
import { Words } from "../parts";
import { rampColor } from "./colors";
import { Curve, pointInLine } from "./Curve";
import { bare, type Col, Table } from "./Table";

const share = (v: Value) => `${human(v.estimate, "ratio")} (95 % CI ${human(Math.max(0, v.low), "ratio")} to ${human(v.high, "ratio")})`;

function LawText({ e, law }: { e: Experiment; law: Law }) {
  if (law.does_not_fit) {
    return <p class="note">No law is said: the repeats show that {law.name === "linear" ? "proportional scaling" : law.name} does not hold here. The residuals show where.</p>;
  }
  const unit = judged(e).more_is_better ? judged(e).unit : "";
  return (
    <dl class="law-said">
      <div><dt>law</dt><dd>{law.name}</dd></div>
      <div><dt>λ, throughput of one</dt><dd>{amount(law.lambda.estimate, unit)} (95 % CI {amountRange([law.lambda.low, law.lambda.high], unit)})</dd></div>
      <div><dt>σ, done by one at a time</dt><dd>{share(law.sigma)}</dd></div>
      <div><dt>κ, what each pays for each other</dt><dd>{law.kappa ? `${law.kappa.estimate.toPrecision(3)} (95 % CI ${Math.max(0, law.kappa.low).toPrecision(3)} to ${law.kappa.high.toPrecision(3)})` : "cannot be told"}</dd></div>
      <div><dt>peak</dt><dd><Words text={law.peak_says} />{law.peak && ` (95 % CI ${numberInWords(law.peak.low)} to ${numberInWords(law.peak.high)})`}</dd></div>
      {law.grows && <div><dt>grows most</dt><dd>{law.grows}, of the states of threads</dd></div>}
    </dl>
  );
}

/** Two parameters: the means as a heat map that is a table, so each cell is text. */
function Grid({ e, sweep }: { e: Experiment; sweep: Sweep }) {
  const { columns, rows, cells } = gridOf(sweep);
  const m = judged(e);
  const means = sweep.points.flatMap((p) => (p.mean === null ? [] : [p.mean]));
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const measured = sweep.points.filter((p) => p.mean !== null);
  const { texts, symbol } = amounts(means, m.unit);
  const color = (mean: number) => rampColor(high > low ? 0.06 + (0.9 * (mean - low)) / (high - low) : 0.5);
  return (
    <>
      <p class="axis-said quiet small">{m.name}{symbol && `, ${symbol}`}</p>
      {/* Wide maps scroll sideways; the keyboard must reach that too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div class="scroll" tabIndex={0} role="region" aria-label={`Heat map of ${m.name}`}>
        <table class="grid-map" aria-label={`${m.name} by ${sweep.parameters.join(" and ")}`} data-table="grid">
          <thead>
            <tr><td /><th scope="colgroup" colSpan={columns.length}>{sweep.parameters[0]}</th></tr>
            <tr><th scope="col">{sweep.parameters[1]}</th>{columns.map((c) => <th key={c} scope="col">{c}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((r, i) => (
              <tr key={r}>
                <th scope="row">{r}</th>
                {columns.map((c, k) => {
                  const p: Point | null = cells[i]?.[k] ?? null;
                  if (!p) return <td key={c} class="lacks" title="not one of its points" />;
                  if (p.mean === null) return <td key={c} class="lacks" title={`${pointInWords(sweep, p)}: not measured`}>–</td>;
                  const ground = color(p.mean);
                  return (
                    <td key={c} class={p.is_best ? "best" : p.may_be_best ? "may-be" : ""} style={{ background: ground, color: inkOn(ground) }} title={pointInLine(e, sweep, p)}>
                      {texts[measured.indexOf(p)]}{p.is_best ? " ◆" : p.may_be_best ? " ◇" : ""}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="xp-legend small"><span>◆ best</span>{sweep.points.some((p) => p.may_be_best && !p.is_best) && <span>◇ not to be told from it</span>}</p>
    </>
  );
}

/** The section of a sweep. */
export function SweepView({ e, sweep }: { e: Experiment; sweep: Sweep }) {
  const m = judged(e);
  const states = statesOf(sweep.points);
  const residual = new Map(sweep.law?.points.map(([n, , r]) => [n, r]) ?? []);
  const one = sweep.parameters.length === 1;
  const of = (p: Point) => (one ? (residual.get(Number(p.values[0])) ?? null) : null);
  const ranged = (r: readonly [number, number] | null) => (r ? amountRange(r, m.unit) : "–");
  const columns: Col<Point>[] = [
    { id: "point", title: "point", cell: (p) => nameOf(e, p.variant), csv: [{ head: "point", of: (p) => nameOf(e, p.variant) }] },
    ...sweep.parameters.map((name, i): Col<Point> => ({ id: `p${i}`, title: name, number: true, cell: (p) => p.values[i] ?? "", csv: [{ head: name, of: (p) => { const v = p.values[i] ?? ""; return v !== "" && Number.isFinite(Number(v)) ? Number(v) : v; } }] })),
    { id: "mean", title: m.name, help: "geometric mean", number: true, cell: (p) => (p.mean === null ? "–" : amount(p.mean, m.unit)), csv: [{ head: `${m.name}${m.unit ? ` (${m.unit})` : ""}`, of: (p) => bare(p.mean) }] },
    { id: "ci", title: "95 % CI", number: true, cell: (p) => ranged(p.interval), csv: [{ head: "low", of: (p) => bare(p.interval?.[0]) }, { head: "high", of: (p) => bare(p.interval?.[1]) }] },
    {
      id: "best", title: "of the best", help: "this point ÷ the best one, by pairs, with its 95 % interval", number: true,
      cell: (p) => (p.is_best ? <b>best</b> : p.of_best ? <span class="factor"><span>{factorInWords(p.of_best[0])}</span><span class="quiet small">{rangeInWords(p.of_best[1], p.of_best[0])}</span></span> : "–"),
      csv: [{ head: "of best", of: (p) => (p.is_best ? 1 : bare(p.of_best?.[0])) }, { head: "of best low", of: (p) => bare(p.of_best?.[1][0]) }, { head: "of best high", of: (p) => bare(p.of_best?.[1][1]) }],
    },
    { id: "may", title: "may be best", help: "whether it is not to be told from the best", cell: (p) => (p.is_best || p.may_be_best ? "yes" : "no"), csv: [{ head: "may be best", of: (p) => (p.is_best ? "best" : p.may_be_best ? "yes" : "no") }] },
    ...(residual.size > 0 ? [{ id: "law", title: "÷ law", help: "measured ÷ what the law says", number: true, cell: (p: Point) => factorInWords(of(p)), csv: [{ head: "measured / law", of: (p: Point) => bare(of(p)) }] }] : []),
    ...states.slice(0, 8).map((s): Col<Point> => {
      const time = (p: Point) => p.ledger.find(([name]) => name === s)?.[1] ?? null;
      return { id: `s-${s}`, title: s, help: `seconds of threads in this state per unit of work`, number: true, cell: (p) => (time(p) === null ? "–" : human(time(p), "s")), csv: [{ head: `${s} (s per unit of work)`, of: (p) => bare(time(p)) }] };
    }),
  ];
  const best = sweep.points.find((p) => p.is_best);
  const others = sweep.points.filter((p) => p.may_be_best && !p.is_best);
  return (
    <section aria-labelledby="at-sweep">
      <h2 id="at-sweep">{m.name} by {sweep.parameters.join(" and ")}</h2>
      <p class="read quiet">{measureInWords(m)}; geometric means with 95 % intervals. No differences are called.</p>
      {best && (
        <p class="best-said">
          Best: <b>{pointInWords(sweep, best)}</b>, {amount(best.mean, m.unit)}.{" "}
          {others.length > 0 ? `Not to be told from it: ${others.map((p) => pointInWords(sweep, p)).join("; ")}.` : sweep.points.length > 1 ? "All others are told from it." : ""}
        </p>
      )}
      {sweep.points.length === 0 ? <p class="none">No point was measured yet.</p> : one ? <Curve e={e} sweep={sweep} /> : <Grid e={e} sweep={sweep} />}
      {sweep.law && <LawText e={e} law={sweep.law} />}
      {sweep.points.length > 0 && <Table name="points" label="Points" columns={columns} rows={sweep.points} />}
    </section>
  );
}
