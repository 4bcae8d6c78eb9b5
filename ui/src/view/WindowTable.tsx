// A table whose values are means over the chosen window. With several recordings, rows of the same name can stand side by side.
import { useMemo, useState } from "preact/hooks";
import type { Block } from "../bundle/block";
import type { Column, Row, Table } from "../bundle/types";
import { statOf } from "../model/stats";
import { chosen, offsets, param, report, setParam, windowOf } from "../state";
import { type ColumnOf, DataTable, type Group, useFit } from "./DataTable";
import { CopyButton, nameOf, RunName } from "./parts";

/** Window means of the rows, by row and column. */
type Means = Map<Row, Map<string, number>>;

function meansOf(table: Table, block: Block): Means {
  return new Map(
    table.rows.map((row) => {
      const w = windowOf(row.run);
      return [
        row,
        new Map(
          Object.entries(row.data).map(([column, series]) => [column, statOf(block.finest(series), w.from, w.to).mean]),
        ),
      ];
    }),
  );
}

/** Units whose values add up over entities; of the others (Hz, °C) the mean is taken. */
const ADDS = new Set(["", "1/s", "B", "B/s", "s", "s/s", "%", "W", "J", "1/op", "B/op", "s/op", "J/op", "ratio"]);

/** Several rows of one name in one run, as one value. */
function together(values: number[], unit: string): number {
  const known = values.filter((v) => !Number.isNaN(v));
  if (known.length === 0) return Number.NaN;
  const sum = known.reduce((a, b) => a + b, 0);
  return ADDS.has(unit) ? sum : sum / known.length;
}

interface Pair {
  texts: string[];
  rows: Map<number, Row[]>;
}

function sideBySide(table: Table, means: Means, keys: Column[], values: Column[]) {
  const { runs } = report();
  const pairs = new Map<string, Pair>();
  for (const row of table.rows) {
    const texts = keys.map((k) => row.text[k.id] ?? "");
    const id = JSON.stringify(texts);
    const pair = pairs.get(id) ?? { texts, rows: new Map<number, Row[]>() };
    pair.rows.set(row.run, [...(pair.rows.get(row.run) ?? []), row]);
    pairs.set(id, pair);
  }
  const valueOf = (pair: Pair, column: Column, run: number) =>
    together((pair.rows.get(run) ?? []).map((r) => means.get(r)?.get(column.id) ?? Number.NaN), column.unit);
  const most = (p: Pair) => Math.max(...[...p.rows.values()].map((r) => r.length));
  // Missing in one run: it used nothing there as far as the recording tells, but that was not measured, so no difference is claimed.
  const columns: ColumnOf<Pair>[] = [
    ...keys.map((key, i): ColumnOf<Pair> => ({
      id: key.id, title: key.title, plain: key.title, help: key.help, unit: "", group: "",
      text: (p) => `${p.texts[i] ?? ""}${i === 0 && most(p) > 1 ? ` (${most(p)})` : ""}`,
    })),
    ...values.flatMap((column): ColumnOf<Pair>[] => [
      ...runs.map((_, run) => ({
        id: `${column.id}.${run}`, title: <RunName run={run} />, plain: `${column.title} ${nameOf(run)}`, help: column.help, unit: column.unit,
        group: column.id, value: (p: Pair) => valueOf(p, column, run),
      })),
      ...(runs.length === 2
        ? [{ id: `${column.id}.d`, title: <span title="difference">Δ</span>, plain: `${column.title} difference`, help: `${nameOf(1)} − ${nameOf(0)}`, unit: column.unit,
            group: column.id, bySize: true, value: (p: Pair) => valueOf(p, column, 1) - valueOf(p, column, 0) }]
        : []),
    ]),
  ];
  const span = runs.length + (runs.length === 2 ? 1 : 0);
  const groups: Group[] = [
    { id: "", title: "", help: "", span: keys.length },
    ...values.map((c) => ({ id: c.id, title: c.title, help: c.help, span })),
  ];
  return { columns, groups, rows: [...pairs.values()] };
}

function oneByOne(columns: Column[], means: Means): ColumnOf<Row>[] {
  const runs: ColumnOf<Row>[] =
    report().runs.length > 1
      ? [{ id: "run", title: "Recording", plain: "Recording", help: "the recording the row is from", unit: "", group: "", text: (r) => nameOf(r.run), cell: (r) => <RunName run={r.run} /> }]
      : [];
  return [
    ...runs,
    ...columns.map((c): ColumnOf<Row> => ({
      id: c.id, title: c.title, plain: c.title, help: c.help, unit: c.unit, group: c.id,
      ...(c.text ? { text: (r: Row) => r.text[c.id] ?? "" } : { value: (r: Row) => means.get(r)?.get(c.id) ?? Number.NaN }),
    })),
  ];
}

/** Value columns of a table shown at first where there is room for them; of those that do not fit, a button tells. */
const FIRST = 8;

/** The choice of value columns, in the link. */
function Choose({ name, values, shown }: { name: string; values: Column[]; shown: Column[] }) {
  const [open, setOpen] = useState(false);
  const toggle = (column: Column) => {
    const next = values.filter((v) => (v === column ? !shown.includes(v) : shown.includes(v)));
    setParam(`${name}.columns`, next.map((v) => v.id).join(" "));
  };
  return (
    <>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        {shown.length} of {values.length} columns
      </button>
      {open && (
        <div class="chips" role="group" aria-label="Columns">
          {values.map((v) => (
            <button key={v.id} type="button" aria-pressed={shown.includes(v)} title={v.help} onClick={() => toggle(v)}>
              {v.title}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

/** The value columns shown: the chosen ones, else the first that hold anything but zero. */
function shownOf(name: string, values: Column[], rows: Row[], means: Means, most: number): Column[] {
  const asked = param(`${name}.columns`).split(" ").filter(Boolean);
  if (asked.length > 0) return values.filter((v) => asked.includes(v.id));
  if (values.length <= most) return values;
  const telling = values.filter((v) => rows.some((r) => Math.abs(means.get(r)?.get(v.id) ?? 0) > 0));
  return (telling.length > 0 ? telling : values).slice(0, most);
}

/** The table with its heading. */
export function WindowTable({ table, block }: { table: Table; block: Block }) {
  const name = table.id;
  const { runs } = report();
  const texts = table.columns.filter((c) => c.text);
  const marked = texts.filter((c) => c.key);
  const keys = marked.length > 0 ? marked : texts;
  const values = table.columns.filter((c) => !c.text);
  const asked = param(`${name}.rows`);
  const paired = keys.length > 0 && runs.length > 1 && (asked ? asked === "paired" : runs.length <= 3);
  const means = useMemo(() => meansOf(table, block), [table, block, chosen.value, offsets.value]);
  const columns = param(`${name}.columns`);
  const { fits, frame } = useFit(Math.min(FIRST, values.length), `${table.id}/${paired}/${columns}`);
  const shown = useMemo(() => shownOf(name, values, table.rows, means, fits), [table, means, fits, columns]);
  const pairs = useMemo(() => (paired ? sideBySide(table, means, keys, shown) : null), [means, paired, shown]);
  const single = useMemo(() => (pairs ? [] : oneByOne([...texts, ...shown], means)), [means, pairs, shown]);
  const [lead] = shown;
  const tools = (
    <>
      {keys.length > 0 && runs.length > 1 && (
        <button type="button" aria-pressed={paired} onClick={() => setParam(`${name}.rows`, paired ? "single" : "paired")}>
          Side by side
        </button>
      )}
      {(values.length > shown.length || values.length > FIRST || columns !== "") && <Choose name={name} values={values} shown={shown} />}
    </>
  );
  const first = texts[0]?.id ?? "";
  return (
    <article class="table" id={`at-${table.id}`} data-table={table.id}>
      <header>
        <h3>{table.title}</h3>
        <span class="quiet">mean over {chosen.value ? "the window" : "the compared window"}</span>
        <span class="spacer" />
        <CopyButton text={() => table.query} label="Copy query" title={table.query} />
      </header>
      <p class="read">{table.help}</p>
      {pairs ? (
        <DataTable name={name} label={table.title} columns={pairs.columns} groups={pairs.groups} rows={pairs.rows} tools={tools} frame={frame}
          first={lead ? (runs.length === 2 ? `${lead.id}.d` : `${lead.id}.0`) : first} />
      ) : (
        <DataTable name={name} label={table.title} columns={single} rows={table.rows} tools={tools} frame={frame} first={lead?.id ?? first} />
      )}
    </article>
  );
}
