// The blocks of a comparison: each as a line from what it is held against to the variant, and its factor in the order of blocks, so that an
// outlier or drift is seen.
import type { Experiment, Pair } from "../../bundle/generated";
import { amount, axisOf, labelled, place, ticks, trimmed } from "../../model/axis";
import { changeInLine, effectInWords, factorInWords, judged, nameOf, type Paired, pairedOf } from "../../model/experiment";
import { param, setParam } from "../../state";
import { orderColor } from "./colors";
import { Frame, GUTTER, type Mark, RIGHT, Ring, Rows } from "./Frame";
import { bare, type Col, Table } from "./Table";

const HEIGHT = 280;
const TOP = 8;
const FOOT = 24;

/** A line of a chart's foot that does not outgrow its place. */
const short = (text: string, most: number) => (text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text);

function Slopes({ e, of, pairs }: { e: Experiment; of: Paired; pairs: Pair[] }) {
  const m = judged(e);
  const axis = axisOf(pairs.flatMap((p) => [p.against, p.variant]), { log: true });
  const at = ticks(axis, 6, m.unit);
  const { labels, symbol } = labelled(at, m.unit);
  const [left, right] = [nameOf(e, of.change.against), nameOf(e, of.change.variant)];
  const said = (p: Pair) => `block ${p.block + 1} · ${left} ${amount(p.against, m.unit)}, ${right} ${amount(p.variant, m.unit)} · ${factorInWords(p.variant / p.against)}`;
  return (
    <div>
      <p class="axis-said quiet small">{m.name}{symbol && `, ${symbol}`}, logarithmic</p>
      <Frame
        name="pairs" height={HEIGHT} label={`${m.name} of each block, from ${left} to ${right}. ${pairs.slice(0, 60).map(said).join(". ")}.`}
        draw={(width, read) => {
          const inner = width - GUTTER - RIGHT;
          const [a, b] = [GUTTER + inner * 0.16, GUTTER + inner * 0.84];
          const y = (v: number) => TOP + (1 - place(axis, v)) * (HEIGHT - TOP - FOOT);
          const marks: Mark[] = pairs.map((p) => ({ x: b, y: y(p.variant), text: said(p) }));
          const letters = Math.floor(inner / 15);
          return {
            marks,
            picture: (
              <>
                <Rows at={at.map(y)} labels={labels} from={GUTTER} to={width - RIGHT} width={width} />
                <line class="post" x1={a} x2={a} y1={TOP} y2={HEIGHT - FOOT} />
                <line class="post" x1={b} x2={b} y1={TOP} y2={HEIGHT - FOOT} />
                {pairs.map((p, i) => {
                  const color = orderColor(i, pairs.length);
                  return (
                    <g key={i} class={`slope${read !== null && read !== i ? " dim" : ""}`} style={{ stroke: color, fill: color }}>
                      <line x1={a} x2={b} y1={y(p.against)} y2={y(p.variant)} />
                      <circle cx={a} cy={y(p.against)} r="3" />
                      <circle cx={b} cy={y(p.variant)} r="3" />
                    </g>
                  );
                })}
                <text x={a} y={HEIGHT - 6} text-anchor="middle">{short(left, letters)}</text>
                <text x={b} y={HEIGHT - 6} text-anchor="middle">{short(right, letters)}</text>
                <Ring mark={read === null ? undefined : marks[read]} />
              </>
            ),
          };
        }}
      />
      <p class="xp-legend small">
        <span class="quiet">first block</span>
        <span class="ramp" style={{ background: `linear-gradient(to right, ${orderColor(0, 3)}, ${orderColor(1, 3)}, ${orderColor(2, 3)})` }} aria-hidden="true" />
        <span class="quiet">last block</span>
      </p>
    </div>
  );
}

function Factors({ e, of, pairs }: { e: Experiment; of: Paired; pairs: Pair[] }) {
  const { factor, interval } = of.change;
  const factors = pairs.map((p) => p.variant / p.against);
  const own = axisOf([factor, ...(interval ?? []), ...factors], { log: true });
  // Where 1 is far off, showing it would press the blocks together, and what they do could not be seen.
  const near = Math.abs(Math.log(factor ?? factors[0] ?? 1)) < 2 * Math.log(own.high / own.low);
  const axis = near ? axisOf([own.low, own.high, 1, 1 - e.effect, 1 + e.effect].filter((v) => v > 0), { log: true }) : own;
  const at = ticks(axis, 6);
  const said = (p: Pair) => `block ${p.block + 1} · ${factorInWords(p.variant / p.against)}`;
  const last = Math.max(1, ...pairs.map((p) => p.block));
  return (
    <div>
      <p class="axis-said quiet small">factor of each block, logarithmic</p>
      <Frame
        name="factors" height={HEIGHT} byX label={`Factor of each block in order; all of them: ${changeInLine(of.change)}. ${pairs.slice(0, 60).map(said).join(". ")}.`}
        draw={(width, read) => {
          const x = (block: number) => GUTTER + 12 + (block / last) * (width - GUTTER - RIGHT - 24);
          const y = (v: number) => TOP + (1 - place(axis, v)) * (HEIGHT - TOP - FOOT);
          const marks: Mark[] = pairs.map((p) => ({ x: x(p.block), y: y(p.variant / p.against), text: said(p) }));
          const every = Math.max(1, Math.ceil((last + 1) / Math.max(1, Math.floor((width - GUTTER) / 40))));
          return {
            marks,
            picture: (
              <>
                {near && <rect class="band-same" x={GUTTER} width={Math.max(0, width - GUTTER - RIGHT)} y={y(1 + e.effect)} height={Math.max(1, y(1 - e.effect) - y(1 + e.effect))} />}
                <Rows at={at.map(y)} labels={at.map((v) => `${trimmed(v)}×`)} from={GUTTER} to={width - RIGHT} width={width} />
                {near && <line class="one" x1={GUTTER} x2={width - RIGHT} y1={y(1)} y2={y(1)} />}
                {interval && <rect class="reach all" x={GUTTER} width={Math.max(0, width - GUTTER - RIGHT)} y={y(interval[1])} height={Math.max(1, y(interval[0]) - y(interval[1]))} />}
                {factor !== null && <line class="level" x1={GUTTER} x2={width - RIGHT} y1={y(factor)} y2={y(factor)} />}
                {marks.map((k, i) => <circle key={i} class="dot" cx={k.x} cy={k.y} r="4" style={{ fill: orderColor(i, pairs.length) }} />)}
                {Array.from({ length: last + 1 }, (_, i) => i).filter((i) => i % every === 0).map((i) => <text key={i} x={x(i)} y={HEIGHT - 6} text-anchor="middle">{i + 1}</text>)}
                <Ring mark={read === null ? undefined : marks[read]} />
              </>
            ),
          };
        }}
      />
      <p class="axis-title quiet small">block</p>
    </div>
  );
}

/** The section; nothing where no comparison has pairs. */
export function Pairs({ e }: { e: Experiment }) {
  const all = pairedOf(e);
  const of = all.find((p) => p.id === param("pairs")) ?? all[0];
  if (!of) return null;
  const m = judged(e);
  const pairs = of.change.pairs.filter((p) => p.against > 0 && p.variant > 0).toSorted((a, b) => a.block - b.block);
  const unit = m.unit ? ` (${m.unit})` : "";
  const columns: Col<Pair>[] = [
    { id: "block", title: "block", number: true, cell: (p) => p.block + 1, csv: [{ head: "block", of: (p) => p.block + 1 }] },
    { id: "against", title: nameOf(e, of.change.against), number: true, cell: (p) => amount(p.against, m.unit), csv: [{ head: `${nameOf(e, of.change.against)}${unit}`, of: (p) => bare(p.against) }] },
    { id: "variant", title: nameOf(e, of.change.variant), number: true, cell: (p) => amount(p.variant, m.unit), csv: [{ head: `${nameOf(e, of.change.variant)}${unit}`, of: (p) => bare(p.variant) }] },
    { id: "factor", title: "factor", number: true, cell: (p) => factorInWords(p.variant / p.against), csv: [{ head: "factor", of: (p) => bare(p.variant / p.against) }] },
  ];
  return (
    <section aria-labelledby="at-pairs">
      <div class="section-head">
        <h2 id="at-pairs">Block by block</h2>
        <label class="field">
          <span class="hidden">Comparison</span>
          <select class="which" value={of.id} onChange={(ev) => setParam("pairs", ev.currentTarget.value)}>
            {all.map((p) => <option key={p.id} value={p.id}>{p.title}</option>)}
          </select>
        </label>
      </div>
      <p class="read quiet">
        A line is a block: both were measured one right after the other. Lines that slope alike are one change; one that does not is an outlier, and nothing is dropped. All blocks: {changeInLine(of.change)}, the blue band. Grey, where it is in view: within {effectInWords(e.effect)}.
      </p>
      <div class="pair-charts">
        <Slopes e={e} of={of} pairs={pairs} />
        <Factors e={e} of={of} pairs={pairs} />
      </div>
      <details class="fold-table">
        <summary>Blocks as a table</summary>
        <Table name="pairs" label="Blocks" columns={columns} rows={pairs} />
      </details>
    </section>
  );
}
