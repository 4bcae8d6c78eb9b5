// A factorial: what each flag and pair does, by size on one logarithmic axis, and the best combinations.
import type { Combination, Experiment, Factorial, FlagEffect } from "../../bundle/generated";
import { axisOf } from "../../model/axis";
import { effectInWords, factorInWords, judged, measureInWords, rangeInWords } from "../../model/experiment";
import { AxisHead, Bar } from "./Changes";
import { bare, type Col, Table } from "./Table";

/** "1.42× (95 % CI 1.39 to 1.45)". */
function seen(factor: number | null, interval: readonly [number, number] | null): string {
  const range = rangeInWords(interval, factor);
  return `${factorInWords(factor)}${range ? ` (95 % CI ${range})` : ""}`;
}

/** An effect in one line. */
export function effectInLine(x: FlagEffect): string {
  return [x.name, seen(x.factor, x.interval), x.told ? "told from nothing" : "not told from nothing"].join(" · ");
}

/** A probability: "0.032", "< 0.0001". */
export function probabilityInWords(p: number | null): string {
  return p === null ? "–" : p < 0.0001 ? "< 0.0001" : p.toFixed(p < 0.1 ? 4 : 2);
}

function valuesOf(f: Factorial, x: FlagEffect): string {
  const flag = x.of.length === 1 && x.of[0]?.length === 1 ? f.flags[x.of[0][0] as number] : undefined;
  return flag ? `${flag.off} → ${flag.on}` : "beyond what each does";
}

function Best({ title, of, note }: { title: string; of: Combination; note: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <b>{of.name}</b>{of.interval && <>: {seen(of.factor, of.interval)} of all off</>}. {note}
        <span class="quiet small block">{of.set.map(([name, value]) => `${name}=${value}`).join(" ")}</span>
      </dd>
    </div>
  );
}

/** The section of a factorial. */
export function FactorialView({ e, factorial }: { e: Experiment; factorial: Factorial }) {
  const m = judged(e);
  const { effects, predicted, measured } = factorial;
  const ends = effects.flatMap((x) => [x.factor, ...(x.interval ?? [])]);
  const axis = axisOf([1, 1 - e.effect, 1 + e.effect, ...ends].filter((v) => v === null || v > 0), { log: true });
  const columns: Col<FlagEffect>[] = [
    {
      id: "of", title: "effect of", cell: (x) => <span>{x.name}<span class="quiet small block">{valuesOf(factorial, x)}</span></span>,
      csv: [{ head: "effect of", of: (x) => x.name }, { head: "from, to", of: (x) => valuesOf(factorial, x) }],
    },
    {
      id: "factor", title: <>factor · 95 % CI</>, help: "of a flag: on ÷ off, over all settings of the others; of a pair: what both together do ÷ the product of what each does alone", number: true,
      cell: (x) => <span class="factor"><b>{factorInWords(x.factor)}</b><span class="quiet small">{rangeInWords(x.interval, x.factor) || "no interval"}</span></span>,
      csv: [{ head: "factor", of: (x) => bare(x.factor) }, { head: "low", of: (x) => bare(x.interval?.[0]) }, { head: "high", of: (x) => bare(x.interval?.[1]) }],
    },
    {
      id: "bar", title: <AxisHead axis={axis} />, csv: [],
      cell: (x) => {
        const better = x.factor !== null && x.factor > 1 === m.more_is_better;
        const line = effectInLine(x);
        return <Bar factor={x.factor} interval={x.interval} look={!x.told ? "not_decided" : better ? "better" : "worse"} label={line} title={`${line}; ${x.blocks.length} blocks, by Student's t. Shaded: within ${effectInWords(e.effect)}`} axis={axis} effect={e.effect} />;
      },
    },
    {
      id: "told", title: "told from nothing", help: "by a probability that is adjusted for the number of effects (Holm): where nothing does anything, one is told in 5 % of sessions at most",
      cell: (x) => <span class="verdict-cell"><b>{x.told ? "yes" : "no"}</b><span class="quiet small block">p {probabilityInWords(x.p)}</span></span>,
      csv: [{ head: "told from nothing", of: (x) => (x.told ? "yes" : "no") }, { head: "p (Holm)", of: (x) => bare(x.p) }],
    },
  ];
  return (
    <section aria-labelledby="at-effects">
      <h2 id="at-effects">Effects by size</h2>
      <p class="read quiet">
        {measureInWords(m)}. Of a flag: on ÷ off, as the mean over all settings of the others. Of a pair: what both together do beyond the product of what each does alone. By {factorial.blocks === 1 ? "1 complete block" : `${factorial.blocks} complete blocks`}. {factorial.aliased}
      </p>
      {factorial.blocks === 0 ? <p class="none">No block is complete yet.</p> : <Table name="effects" label="Effects" columns={columns} rows={effects} />}
      {(predicted ?? measured) && (
        <dl class="law-said">
          {predicted && <Best title="best by the effects" of={predicted} note={predicted.variant === null ? "It was not run itself." : "It adds up the effects that are told from nothing."} />}
          {measured && <Best title="best as measured" of={measured} note={`The best of ${e.variants.length} means, and so too good on average.`} />}
        </dl>
      )}
    </section>
  );
}
