// Trials in words: those that failed with what they wrote, the variants, and all trials as a table.
import type { Experiment, Trial, Variant } from "../../bundle/generated";
import { amount } from "../../model/axis";
import { ENDS, factorInWords, measureInWords, nameOf, trialInWords } from "../../model/experiment";
import { setInWords } from "../../model/optimum";
import { type ColumnOf, DataTable } from "../DataTable";
import { CopyButton } from "../parts";
import { variantColor } from "./colors";
import { bare, type Col, Table } from "./Table";

/** How many failed trials are shown at once: a variant that never works fails in each block. */
const SHOWN = 20;

function FailedTrial({ e, t }: { e: Experiment; t: Trial }) {
  return (
    <li>
      <h3><span class="bad" aria-hidden="true">✕ </span>Trial {t.number}: {nameOf(e, t.variant)} <span class="quiet">block {t.block + 1}</span></h3>
      <p>{t.reason ?? "It failed, and why is not known."}</p>
      {t.output ? (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <pre class="output" tabIndex={0} aria-label={`Output of trial ${t.number}`}>{t.output}</pre>
      ) : <p class="quiet small">It wrote nothing.</p>}
    </li>
  );
}

/** Trials that failed, and those that tell nothing; nothing where all were measured. */
export function Failed({ e }: { e: Experiment }) {
  const failed = e.trials.filter((t) => t.end === "failed");
  const gone = e.trials.filter((t) => t.end === "void" || t.end === "cut");
  if (failed.length === 0 && gone.length === 0) return null;
  const [first, rest] = [failed.slice(0, SHOWN), failed.slice(SHOWN)];
  return (
    <section aria-labelledby="at-failed" data-section="failed">
      <h2 id="at-failed">{failed.length === 0 ? "Trials that were run again" : failed.length === 1 ? "1 failed trial" : `${failed.length} failed trials`}</h2>
      {failed.length > 0 && <ul class="failed-trials">{first.map((t) => <FailedTrial key={t.number} e={e} t={t} />)}</ul>}
      {rest.length > 0 && (
        <details class="fold-table">
          <summary>{rest.length} more</summary>
          <ul class="failed-trials">{rest.map((t) => <FailedTrial key={t.number} e={e} t={t} />)}</ul>
        </details>
      )}
      {gone.length > 0 && (
        <details class="fold-table">
          <summary>{gone.length === 1 ? "1 trial tells nothing; its block was run again" : `${gone.length} trials tell nothing; their blocks were run again`}</summary>
          <ul>{gone.map((t) => <li key={t.number} class="small">{trialInWords(e, t)}</li>)}</ul>
        </details>
      )}
    </section>
  );
}

/** What was run. */
export function Variants({ e }: { e: Experiment }) {
  const rows = e.variants.map((v, i) => ({ v, i }));
  type Row = { v: Variant; i: number };
  const set = (v: Variant) => v.set.map(([name, value]) => `${name} = ${value}`).join(", ");
  const columns: Col<Row>[] = [
    {
      id: "name", title: "variant",
      cell: ({ v, i }) => <span class="line-name"><span class="swatch" style={{ background: variantColor(e, i) }} aria-hidden="true" />{v.name}{i === 0 && e.design !== "sweep" && e.design !== "factorial" && <span class="quiet"> baseline</span>}</span>,
      csv: [{ head: "variant", of: ({ v }) => v.name }],
    },
    ...(e.variants.some((v) => v.set.length > 0) ? [{ id: "set", title: "parameters", cell: ({ v }: Row) => set(v) || <span class="quiet">–</span>, csv: [{ head: "parameters", of: ({ v }: Row) => set(v) }] }] : []),
    { id: "command", title: "command", cell: ({ v }) => <span class="command-cell"><code>{v.command}</code> <CopyButton text={() => v.command} label="Copy" title={`Copy the command of ${v.name}`} /></span>, csv: [{ head: "command", of: ({ v }) => v.command }] },
    { id: "trials", title: "trials", help: "those that count", number: true, cell: ({ v }) => v.trials, csv: [{ head: "trials", of: ({ v }) => v.trials }] },
    { id: "failed", title: "failed", number: true, cell: ({ v }) => (v.failed > 0 ? <span class="bad">{v.failed}</span> : 0), csv: [{ head: "failed", of: ({ v }) => v.failed }] },
    ...e.measures.map((m, k): Col<Row> => ({
      id: `m${k}`, title: m.name, help: `median; ${measureInWords(m)}`, number: true,
      cell: ({ v }) => { const x = v.medians[k] ?? null; return x === null ? "–" : amount(x, m.unit); },
      csv: [{ head: `${m.name}${m.unit ? ` (${m.unit})` : ""}`, of: ({ v }) => bare(v.medians[k]) }],
    })),
    ...(e.variants.some((v) => v.recording_costs !== null)
      ? [{ id: "cost", title: "recorded", help: "time of trials recorded for explaining ÷ time of measured ones: what that recording costs", number: true, cell: ({ v }: Row) => factorInWords(v.recording_costs), csv: [{ head: "recorded / measured time", of: ({ v }: Row) => bare(v.recording_costs) }] }]
      : []),
  ];
  return (
    <section aria-labelledby="at-variants">
      <h2 id="at-variants">{e.design === "sweep" ? "Points as they were run" : e.design === "factorial" ? "Runs" : "Variants"}</h2>
      <Table name="variants" label="Variants" columns={columns} rows={rows} />
    </section>
  );
}

/** Every trial with its numbers. */
export function TrialTable({ e }: { e: Experiment }) {
  const nan = (v: number | null | undefined) => v ?? Number.NaN;
  const columns: ColumnOf<Trial>[] = [
    { id: "number", title: "trial", plain: "trial", help: "in the order in which they ran", unit: "", group: "number", value: (t) => t.number },
    ...(e.design === "ladder" ? [{ id: "stage", title: "stage", plain: "stage", help: "one for each step, and the whole ladder", unit: "", group: "stage", value: (t: Trial) => t.stage + 1 }] : []),
    { id: "block", title: "block", plain: "block", help: "block within its stage", unit: "", group: "block", value: (t) => t.block + 1 },
    { id: "variant", title: "variant", plain: "variant", help: "what was run", unit: "", group: "variant", text: (t) => [nameOf(e, t.variant), ...(t.set.length > 0 ? [setInWords(t)] : [])].join(": ") },
    { id: "end", title: "ended", plain: "ended", help: "how it ended", unit: "", group: "end", text: (t) => `${ENDS[t.end].split(":")[0]}${t.explained ? ", explained" : ""}${t.reason ? `: ${t.reason}` : ""}` },
    ...e.measures.map((m, k): ColumnOf<Trial> => ({ id: `m${k}`, title: m.name, plain: m.name, help: measureInWords(m), unit: m.unit, group: `m${k}`, fine: true, value: (t) => nan(t.values[k]) })),
    { id: "at", title: "began at", plain: "began at", help: "seconds since the session began", unit: "s", group: "at", value: (t) => nan(t.at) },
    { id: "seconds", title: "took", plain: "took", help: "from its preparation to its cleanup", unit: "s", group: "seconds", value: (t) => nan(t.seconds) },
    { id: "stolen", title: "stolen", plain: "stolen", help: "part of the machine's CPU time that the hypervisor gave to others", unit: "ratio", group: "stolen", value: (t) => nan(t.stolen) },
    { id: "others", title: "others' CPU", plain: "others' CPU", help: "part of the machine's CPU time that other programs used", unit: "ratio", group: "others", value: (t) => nan(t.others) },
    ...(e.together ? [{ id: "cpu", title: "CPU", plain: "CPU", help: "the CPU that it had for itself while the other trial of its block ran on another", unit: "", group: "cpu", value: (t: Trial) => nan(t.cpu) }] : []),
  ];
  return (
    <section class="table" aria-labelledby="at-all">
      <h2 id="at-all">Trials in numbers</h2>
      <DataTable name="trials" label="Trials" columns={columns} rows={e.trials} first="number:up" />
    </section>
  );
}
