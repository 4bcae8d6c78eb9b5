// What was not measured and why: folded, unless it matters. Never silent.
import { useState } from "preact/hooks";
import type { Explanation, Missing as Item } from "../bundle/types";
import { printing, report } from "../state";
import { CopyButton, RunName } from "./parts";

interface Group {
  item: Item;
  runs: number[];
}

/** The same thing in several runs is one line. */
function grouped(missing: Item[]): Group[] {
  const groups = new Map<string, Group>();
  for (const item of missing) {
    const key = JSON.stringify([item.source, item.item, item.status, item.why, item.remedy]);
    const g = groups.get(key);
    if (!g) groups.set(key, { item, runs: [item.run] });
    else if (!g.runs.includes(item.run)) g.runs.push(item.run);
  }
  return [...groups.values()].toSorted((a, b) => Number(b.item.matters) - Number(a.item.matters));
}

function Rows({ groups }: { groups: Group[] }) {
  const many = report().runs.length > 1;
  return (
    <div class="scroll">
      <table class="facts">
        <thead>
          <tr>
            <th scope="col">Source</th>
            {many && <th scope="col">Recording</th>}
            <th scope="col">Status</th>
            <th scope="col">Why</th>
            <th scope="col">What would change that</th>
          </tr>
        </thead>
        <tbody>
          {groups.map(({ item, runs }, i) => (
            <tr key={i}>
              <th scope="row">{item.source} <span class="quiet">{item.item}</span></th>
              {many && <td>{runs.length === report().runs.length ? "all" : runs.map((r) => <RunName key={r} run={r} />)}</td>}
              <td class={item.status === "failed" ? "bad" : ""}>{item.status}</td>
              <td>{item.why}</td>
              <td>{item.remedy ? <span class="remedy"><code>{item.remedy}</code> <CopyButton text={() => item.remedy ?? ""} label="Copy" /></span> : <span class="quiet">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Causes that could not be looked for, and what is missing for them. */
function NotLookedFor({ all }: { all: Explanation["not_evaluated"] }) {
  const [open, setOpen] = useState(false);
  if (all.length === 0) return null;
  const count = all.reduce((sum, n) => sum + n.causes.length, 0);
  return (
    <>
      <p>
        <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span aria-hidden="true" class="fold">{open ? "▾" : "▸"}</span>
          {count} {count === 1 ? "cause was" : "causes were"} not looked for, and why
        </button>
      </p>
      {(open || printing.value) && (
        <div class="scroll">
          <table class="facts not-evaluated">
            <thead><tr><th scope="col">Cause</th><th scope="col">What it needs</th></tr></thead>
            <tbody>{all.map((n, i) => <tr key={i}><th scope="row">{n.causes.join(", ")}</th><td>{n.needs}</td></tr>)}</tbody>
          </table>
        </div>
      )}
    </>
  );
}

export function Missing({ missing, notEvaluated }: { missing: Item[]; notEvaluated: Explanation["not_evaluated"] }) {
  const [open, setOpen] = useState(false);
  const groups = grouped(missing);
  const matters = groups.filter((g) => g.item.matters);
  const rest = groups.filter((g) => !g.item.matters);
  return (
    <section id="at-missing" class="missing">
      <h2>What was not measured</h2>
      {missing.length === 0 && <p class="quiet">Everything that was asked for was read.</p>}
      {matters.length > 0 && <><p>This matters for what is said above:</p><Rows groups={matters} /></>}
      {rest.length > 0 && (
        <>
          <p>
            <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
              <span aria-hidden="true" class="fold">{open ? "▾" : "▸"}</span>
              {rest.length} {matters.length > 0 ? "more " : ""}{rest.length === 1 ? "thing was" : "things were"} not measured, and why
            </button>
          </p>
          {(open || printing.value) && <Rows groups={rest} />}
        </>
      )}
      <NotLookedFor all={notEvaluated} />
    </section>
  );
}
