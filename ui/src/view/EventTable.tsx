// A table whose rows are added up over the chosen window: locks, interrupts sent, system calls, block I/O. A row opens to its stacks.
import { useMemo } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import type { EventsTable } from "../bundle/types";
import { type Line, linesOf, pathOf, stacksOf, valueOf } from "../model/profile";
import { human } from "../model/units";
import { chosen, param, report, setParam, windows } from "../state";
import { type ColumnOf, DataTable, type Group, useFit } from "./DataTable";
import { CopyButton, nameOf, RunName } from "./parts";
import { Stack } from "./Stack";

/** Value columns shown at first where there is room for them. */
const FIRST = 12;

/** Texts that a row opens to, of each kind. */
const TEXTS = 8;

/** Stacks that a row opens to, of each kind and run. */
const STACKS = 3;

function RowStacks({ table, columns, line }: { table: EventsTable; columns: Columns; line: Line }) {
  const runs = line.runs.flatMap((r, i) => (r ? [i] : []));
  const loose = table.keys.filter((k) => !k.key).flatMap((k) => { const found = [...(line.more.get(k.id) ?? [])]; return found.length > 0 ? [{ k, found }] : []; });
  return (
    <div class="row-stacks">
      {loose.length > 0 && (
        <dl class="row-more">
          {loose.map(({ k, found }) => (
            <div key={k.id}>
              <dt class="quiet">{k.title}</dt>
              <dd>{found.slice(0, TEXTS).join(", ")}{found.length > TEXTS ? ` and ${found.length - TEXTS} more` : ""}</dd>
            </div>
          ))}
        </dl>
      )}
      {table.stacks.map((s) => {
        const found = runs.map((run) => ({ run, list: stacksOf(columns, table, line, run, windows.value, s.column).filter((x) => x.stack > 0) }));
        return (
          <section key={s.column}>
            <h4>{s.title}</h4>
            {found.every((f) => f.list.length === 0) && <p class="quiet">No stack was taken.</p>}
            <div class="stack-runs">
              {found.filter((f) => f.list.length > 0).map(({ run, list }) => {
                const whole = list.reduce((a, b) => a + b.weight, 0);
                return (
                  <div key={run}>
                    {report().runs.length > 1 && <RunName run={run} />}
                    {list.slice(0, STACKS).map(({ stack, weight }) => (
                      <Stack key={stack} frames={pathOf(columns, stack)} share={whole > 0 ? human(weight / whole, "ratio") : ""} />
                    ))}
                    {list.length > STACKS && <p class="quiet small">and {list.length - STACKS} more</p>}
                  </div>
                );
              })}
            </div>
          </section>
        );
      })}
    </div>
  );
}

/** The table with its heading. */
export function EventTable({ table, columns }: { table: EventsTable; columns: Columns }) {
  const name = table.id;
  const { runs } = report();
  const all = windows.value;
  const asked = param(`${name}.rows`);
  const paired = runs.length > 1 && (asked ? asked === "paired" : runs.length <= 3);
  const { lines, totals } = useMemo(() => linesOf(columns, table, all, paired), [columns, table, all, paired]);
  const keys = table.keys.filter((k) => k.key);
  // What is not matched stands in the row where there is room for it, else in what the row opens to.
  const loose = table.keys.filter((k) => !k.key);
  const others = paired && table.stacks.length > 0 ? [] : loose;
  const askedColumns = param(`${name}.columns`).split(" ").filter(Boolean);
  // A value that no line has is left out.
  const telling = table.values.filter((v) => lines.some((l) => runs.some((_, r) => Math.abs(valueOf(l, v.how, r, all, totals)) > 0)));
  const { fits, frame } = useFit(Math.min(FIRST, telling.length), `${table.id}/${paired}/${askedColumns.join(" ")}`);
  const values = askedColumns.length > 0 ? telling.filter((v) => askedColumns.includes(v.id)) : telling.slice(0, fits);
  const textOf = (l: Line, id: string) => {
    const found = [...(l.more.get(id) ?? [])];
    return found.length > 2 ? `${found.length} of them` : found.join(", ");
  };
  const built = useMemo(() => {
    const texts: ColumnOf<Line>[] = [
      ...keys.map((k, i): ColumnOf<Line> => ({ id: k.id, title: k.title, plain: k.title, help: k.help, unit: "", group: "", text: (l) => l.keys[i] ?? "" })),
      ...others.map((k): ColumnOf<Line> => ({ id: k.id, title: k.title, plain: k.title, help: k.help, unit: "", group: "", text: (l) => textOf(l, k.id) })),
    ];
    const only = (l: Line) => l.runs.findIndex((r) => r !== null);
    if (!paired) {
      const run: ColumnOf<Line>[] = runs.length > 1
        ? [{ id: "run", title: "recording", plain: "recording", help: "the recording the row is from", unit: "", group: "", text: (l) => nameOf(only(l)), cell: (l) => <RunName run={only(l)} /> }]
        : [];
      const numbers = values.map((v): ColumnOf<Line> => ({ id: v.id, title: v.title, plain: v.title, help: v.help, unit: v.unit, group: v.id, value: (l) => valueOf(l, v.how, only(l), all, totals) }));
      return { columns: [...texts, ...run, ...numbers], groups: null };
    }
    const two = runs.length === 2;
    const numbers = values.flatMap((v): ColumnOf<Line>[] => [
      ...runs.map((_, r) => ({ id: `${v.id}.${r}`, title: <RunName run={r} />, plain: `${v.title} ${nameOf(r)}`, help: v.help, unit: v.unit, group: v.id, value: (l: Line) => valueOf(l, v.how, r, all, totals) })),
      ...(two ? [{
        id: `${v.id}.d`, title: <span title="difference">Δ</span>, plain: `${v.title} difference`, help: `${nameOf(1)} − ${nameOf(0)}`, unit: v.unit, group: v.id, bySize: true,
        value: (l: Line) => {
          // A rate of what did not happen is 0, as the table is one of events: unlike a level that was not read.
          const zero = "rate" in v.how || "share" in v.how;
          const [a, b] = [0, 1].map((r) => { const x = valueOf(l, v.how, r, all, totals); return zero && Number.isNaN(x) ? 0 : x; });
          return (b as number) - (a as number);
        },
      }] : []),
    ]);
    const span = runs.length + (two ? 1 : 0);
    const groups: Group[] = [{ id: "", title: "", help: "", span: texts.length }, ...values.map((v) => ({ id: v.id, title: v.title, help: v.help, span }))];
    return { columns: [...texts, ...numbers], groups };
  }, [lines, paired, values.map((v) => v.id).join(" ")]);
  // Time is what costs; without it the first value leads.
  const lead = (values.find((v) => v.id === "time") ?? values[0])?.id ?? keys[0]?.id ?? "";
  const tools = (
    <>
      {runs.length > 1 && (
        <button type="button" aria-pressed={paired} onClick={() => setParam(`${name}.rows`, paired ? "single" : "paired")}>
          Side by side
        </button>
      )}
      {telling.length > 2 && (
        <div class="chips" role="group" aria-label="Columns">
          {telling.map((v) => {
            const shown = values.includes(v);
            return (
              <button key={v.id} type="button" aria-pressed={shown} title={v.help}
                onClick={() => setParam(`${name}.columns`, telling.filter((x) => (x === v ? !shown : values.includes(x))).map((x) => x.id).join(" "))}>
                {v.title}
              </button>
            );
          })}
        </div>
      )}
    </>
  );
  return (
    <article class="table" id={`at-${table.id}`} data-table={table.id}>
      <header>
        <h3>{table.title}</h3>
        <span class="quiet">over {chosen.value ? "the window" : "the compared window"}</span>
        <span class="spacer" />
        <CopyButton text={() => table.query} label="Copy query" title={table.query} />
      </header>
      <p class="read">{table.help}</p>
      {lines.length === 0 ? <p class="none">Nothing of this happened in {chosen.value ? "the window" : "the compared window"}.</p> : (
        <DataTable name={name} label={table.title} columns={built.columns} {...(built.groups ? { groups: built.groups } : {})} rows={lines} tools={tools} frame={frame}
          first={paired ? `${lead}.${runs.length === 2 ? "d" : "0"}` : lead}
          {...(table.stacks.length > 0 ? { more: (l: Line) => <RowStacks table={table} columns={columns} line={l} />, id: (l: Line) => [...l.keys, ...(paired ? [] : [String(l.runs.findIndex((r) => r))])].join(" · ") } : {})} />
      )}
    </article>
  );
}
