// Where the time went: one bar for each recording, on the same scale, so that the eye sees which state grew.
import { useState } from "preact/hooks";
import type { Budget as Data } from "../bundle/types";
import { ledgerColor, lineColor } from "../model/color";
import { columnScale, human, inScale } from "../model/units";
import { go, param, report, setParam } from "../state";
import { RunName, nameOf } from "./parts";

/** Colours of the ledger's states: running in the colours of CPU time, waits by what is waited for, lost time stronger than what is none. */
export function stateColor(budget: Pick<Data, "source">, n: number, id: string): string {
  return budget.source === "ledger" ? ledgerColor(id) : lineColor(n, id);
}

/** `heading`: what stands above it. What is no lost time is left out unless asked for, in the link. */
export function Budget({ budget: whole, heading = "Where the time went", about }: { budget: Data; heading?: string; about?: string }) {
  const [over, setOver] = useState<number | null>(null);
  const hasQuiet = whole.states.some((s, i) => s.quiet && whole.values.some((v) => (v[i] ?? 0) > 0));
  const quietShown = param("budget.idle") === "1";
  const kept = whole.states.flatMap((s, i) => (s.quiet && !quietShown ? [] : [i]));
  const budget: Data = { ...whole, states: kept.flatMap((i) => whole.states[i] ?? []), values: whole.values.map((v) => kept.map((i) => v[i] ?? null)) };
  const sums = budget.values.map((v) => v.reduce<number>((a, x) => a + (x ?? 0), 0));
  const most = Math.max(...sums, 1e-12);
  const scale = columnScale(budget.unit, most, false);
  // States that were measured nowhere are named below, not drawn as zero.
  const measured = budget.states.map((_, s) => budget.values.some((v) => (v[s] ?? null) !== null));
  // A ledger has many states: those in which no time was spent are named below too.
  const nothing = budget.source === "ledger" ? budget.states.filter((_, s) => measured[s] && budget.values.every((v) => (v[s] ?? 0) === 0)) : [];
  const absent = budget.states.filter((_, s) => !measured[s]).map((s) => s.title);
  const hovered = over === null ? null : budget.states[over];
  const chosen = param("state");
  const at = budget.states.findIndex((s) => s.id === chosen);
  const picked = at < 0 ? null : at;
  const more = budget.source === "ledger" && picked !== null && report().profile ? budget.states[picked] : null;
  return (
    <section class="budget" id="at-budget">
      <div class="section-head">
        <h2>{heading}</h2>
        {about && <span class="quiet">{about}</span>}
        <span class="spacer" />
        {hasQuiet && (
          <button type="button" aria-pressed={quietShown} title="Waiting for work is no lost time; it is left out unless asked for" onClick={() => setParam("budget.idle", quietShown ? "" : "1")}>
            Show idle
          </button>
        )}
      </div>
      <p class="quiet">
        {budget.title}, {scale.symbol || budget.unit}{budget.note ? `. ${budget.note}` : ""}
      </p>
      <div class={`budget-body${budget.values.length > 3 ? " many" : ""}`}>
      <div class="bars" onPointerLeave={() => setOver(null)}>
        {budget.values.map((values, run) => {
          const said = budget.states.map((s, i) => `${s.title} ${human(values[i], budget.unit)}`).join(", ");
          return (
            <div class="bar-row" key={run}>
              <RunName run={run} />
              <div class="bar" role="img" aria-label={`${nameOf(run)}: ${said}`}>
                {budget.states.map((s, i) => {
                  const v = values[i] ?? null;
                  if (v === null || v <= 0) return null;
                  const share = (v / most) * 100;
                  return (
                    <span
                      key={s.id}
                      class={`segment${(over ?? picked) !== null && (over ?? picked) !== i ? " dim" : ""}`}
                      style={{ width: `${share}%`, background: stateColor(budget, i, s.id) }}
                      title={`${s.title}: ${human(v, budget.unit)}. ${s.help}`}
                      onPointerEnter={() => setOver(i)}
                      onClick={() => setParam("state", chosen === s.id ? "" : s.id)}
                    />
                  );
                })}
              </div>
              <span class="bar-sum">{inScale(sums[run], scale)}</span>
            </div>
          );
        })}
      </div>
      <table class="budget-table">
        <caption class="hidden">{budget.title} by state</caption>
        <thead>
          <tr>
            <td />
            {budget.values.map((_, run) => <th key={run} scope="col" class="number"><RunName run={run} /></th>)}
            {budget.values.length === 2 && <th scope="col" class="number">difference</th>}
          </tr>
        </thead>
        <tbody>
          {budget.states.map((s, i) => measured[i] && !nothing.includes(s) && (
            <tr key={s.id} class={over === i ? "hover" : ""} onPointerEnter={() => setOver(i)} onPointerLeave={() => setOver(null)}>
              <th scope="row" title={s.help}>
                <button type="button" class="line-name" aria-pressed={chosen === s.id} title={`${s.help} Click: show the differences in it.`} onClick={() => setParam("state", chosen === s.id ? "" : s.id)}>
                  <span class="swatch" style={{ background: stateColor(budget, i, s.id) }} aria-hidden="true" />
                  {s.title}
                </button>
              </th>
              {budget.values.map((v, run) => <td key={run} class="number">{inScale(v[i], scale)}</td>)}
              {budget.values.length === 2 && (
                <td class="number">{inScale((budget.values[1]?.[i] ?? Number.NaN) - (budget.values[0]?.[i] ?? Number.NaN), scale)}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      </div>
      {more && report().pages.some((p) => p.id === "profiles") && (
        <p class="small">
          <a href="#profiles" onClick={(e) => { e.preventDefault(); go("profiles"); }}>Stacks of “{more.title}”</a>
          {more.id === "lock" && report().pages.some((p) => p.id === "locks") && <> · <a href="#locks" onClick={(e) => { e.preventDefault(); go("locks"); }}>Contended locks</a></>}
        </p>
      )}
      <p class="quiet small" aria-live="polite">{hovered ? hovered.help
          : [nothing.length > 0 ? `No time in: ${nothing.map((s) => s.title).join(", ")}.` : "", absent.length > 0 ? `Not measured: ${absent.join(", ")}.` : ""].filter(Boolean).join(" ") || "\u00a0"}</p>
    </section>
  );
}
