// A small table in its own order, which copies as CSV; a column that draws something is numbers there.
import type { ComponentChildren } from "preact";
import { csv } from "../../model/csv";
import { plain } from "../../model/units";
import { CopyButton } from "../parts";

/** A number for CSV; null where it is not known. */
export const bare = (value: number | null | undefined): number | null => (value === null || value === undefined || !Number.isFinite(value) ? null : Number(plain(value)));

export interface Col<R> {
  id: string;
  title: ComponentChildren;
  help?: string;
  number?: boolean;
  cell: (row: R) => ComponentChildren;
  /** What it is in CSV: one or several columns. */
  csv: { head: string; of: (row: R) => string | number | null }[];
}

/** The table. `name` is said as `data-table`. */
export function Table<R>({ name, label, columns, rows, look }: { name: string; label: string; columns: Col<R>[]; rows: R[]; look?: (row: R) => string }) {
  const text = () => csv([columns.flatMap((c) => c.csv.map((x) => x.head)), ...rows.map((r) => columns.flatMap((c) => c.csv.map((x) => x.of(r))))]);
  return (
    <div class="xp-table" data-table={name}>
      {/* Wide tables scroll sideways; the keyboard must reach that too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table aria-label={label}>
          <thead>
            <tr>{columns.map((c) => <th key={c.id} scope="col" class={c.number ? "number" : ""} title={c.help}>{c.title}</th>)}</tr>
          </thead>
          <tbody>
            {rows.map((r, i) => (
              <tr key={i} class={look?.(r) ?? ""}>
                {columns.map((c, k) => (k === 0 ? <th key={c.id} scope="row">{c.cell(r)}</th> : <td key={c.id} class={c.number ? "number" : ""}>{c.cell(r)}</td>))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="xp-tools"><CopyButton text={text} label="Copy as CSV" /></p>
    </div>
  );
}
