// The functions of a graph as a table: by their own weight or with all they call; with two runs, how they differ.
import { useMemo, useState } from "preact/hooks";
import { human } from "../../model/units";
import { top, type Top, type Tree } from "./tree";

const FIRST = 25;

/** Kinds that are no code and so no function: see `KINDS`. */
const NO_CODE = 5;

type By = "self" | "total" | "change";

function sizeOf(row: Top, by: By): number {
  if (by === "change") return Math.abs((row.self[1] ?? 0) - (row.self[0] ?? 0));
  return Math.max(...row[by]);
}

/** The table. `onPick` is called with a function's name. */
export function FlameTop({ tree, runs, unit, onPick }: { tree: Tree; runs: string[]; unit: string; onPick: (name: string) => void }) {
  const two = runs.length > 1;
  const [by, sortBy] = useState<By>(two ? "change" : "self");
  const [most, show] = useState(FIRST);
  const { frames } = tree;
  const rows = useMemo(() => top(tree).filter((r) => { const k = frames.kind[r.frame] ?? 0; return k === 0 || k >= NO_CODE; }), [tree]);
  const sorted = useMemo(() => rows.toSorted((a, b) => sizeOf(b, by) - sizeOf(a, by)), [rows, by]);
  const whole = useMemo(() => tree.self.map((s) => s.reduce((a, b) => a + b, 0)), [tree]);
  const head = (id: By, title: string, help: string) => (
    <th scope="col" class="number" colSpan={id === "change" ? 1 : runs.length} aria-sort={by === id ? "descending" : "none"}>
      <button type="button" title={help} onClick={() => sortBy(id)}>{title}<span class="arrow" aria-hidden="true">{by === id ? "▾" : ""}</span></button>
    </th>
  );
  const cell = (weight: number, run: number) => (
    <td key={run} class="number" title={whole[run] ? human(weight / (whole[run] ?? 1), "ratio") : ""}>{human(weight, unit)}</td>
  );
  return (
    <div class="data-table">
      {/* Wide tables scroll sideways; the keyboard must reach that too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div class="scroll" tabIndex={0} role="region" aria-label="Functions">
        <table aria-label="Functions">
          <thead>
            <tr>
              <th scope="col">Function</th>
              {head("self", "itself", "Weight of the function itself")}
              {head("total", "with callees", "Weight of the function and all it calls")}
              {two && head("change", "difference", "How its own weight differs")}
              <th scope="col">Module</th>
            </tr>
            {two && <tr class="groups"><th scope="col" />{[0, 1].flatMap((g) => runs.map((name) => <th key={`${g}${name}`} scope="col" class="number">{name}</th>))}<th scope="col" /><th scope="col" /></tr>}
          </thead>
          <tbody>
            {sorted.slice(0, most).map((r) => (
              <tr key={r.frame}>
                <td class="text"><button type="button" class="plain" title="Search it in the graph" onClick={() => onPick(frames.name[r.frame] ?? "")}>{frames.name[r.frame]}</button></td>
                {r.self.map(cell)}
                {r.total.map(cell)}
                {two && <td class="number">{human((r.self[1] ?? 0) - (r.self[0] ?? 0), unit)}</td>}
                <td class="text quiet" title={frames.source[r.frame]}>{frames.module[r.frame]}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > most && <button type="button" class="plain" onClick={() => show(most * 4)}>Show more of {sorted.length}</button>}
    </div>
  );
}
