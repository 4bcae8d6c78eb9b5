// What differs in set-up, the facts known to matter first.
import { useState } from "preact/hooks";
import type { FactDifference } from "../bundle/types";
import { go, report, setParam } from "../state";
import { Value } from "./SetUp";
import { RunName } from "./parts";

const FIRST = 10;

export function FactDifferences({ facts }: { facts: FactDifference[] }) {
  const [all, setAll] = useState(false);
  const known = facts.filter((f) => f.known);
  const rest = facts.filter((f) => !f.known);
  const sorted = [...known, ...rest];
  const shown = all ? sorted : sorted.slice(0, Math.max(FIRST, Math.min(known.length, 30)));
  return (
    <section id="at-facts" class="fact-differences">
      <div class="section-head">
        <h2>What differs in set-up</h2>
        <span class="quiet">
          {facts.length} {facts.length === 1 ? "fact" : "facts"}{known.length > 0 && `, ${known.length} known to matter`}
        </span>
        <span class="spacer" />
        {report().set_up && (
          <a href="#set-up" onClick={(e) => { e.preventDefault(); setParam("facts.only", "differing"); go("set-up"); }}>All facts</a>
        )}
      </div>
      <div class="scroll">
        <table class="facts">
          <thead>
            <tr>
              <th scope="col">Fact</th>
              {report().runs.map((_, i) => <th key={i} scope="col"><RunName run={i} /></th>)}
              <th scope="col">Why it can matter</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((f, i) => (
              <tr key={i} class={f.known ? "known" : ""}>
                <th scope="row">
                  {f.fact}
                  <span class="quiet small"> {f.category}</span>
                </th>
                <Value value={f.baseline} />
                {report().runs.slice(1).map((_, k) => <Value key={k} value={f.others[k] ?? null} />)}
                <td class="quiet">{f.why ?? ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > shown.length && (
        <button type="button" class="plain" onClick={() => setAll(true)}>Show all {sorted.length}</button>
      )}
    </section>
  );
}
