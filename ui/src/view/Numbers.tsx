// A small table of numbers: a row each, a column a recording.
import { report } from "../state";
import { RunName } from "./parts";

/** A number of each recording. */
export interface NumberRow {
  title: string;
  /** What it is, in a sentence. */
  help: string;
  /** By recording, as it is shown; "–" where there is none. */
  cells: string[];
}

/** Rows without any number are left out. `name` marks the cells for tests. */
export function Numbers({ name, caption, rows }: { name: string; caption: string; rows: NumberRow[] }) {
  const { runs } = report();
  return (
    <div class="stats numbers">
      <table>
        <caption>{caption}</caption>
        <colgroup>
          <col class="name" />
          {runs.map((_, r) => <col key={r} />)}
        </colgroup>
        <thead>
          <tr>
            <td />
            {runs.map((_, r) => <th key={r} scope="col"><RunName run={r} /></th>)}
          </tr>
        </thead>
        <tbody>
          {rows.filter((row) => row.cells.some((text) => text !== "–")).map((row) => (
            <tr key={row.title}>
              <th scope="row" title={row.help}>{row.title}</th>
              {row.cells.map((text, r) => <td key={r} class="number" data-number={`${name}/${row.title}/${r}`}>{text}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
