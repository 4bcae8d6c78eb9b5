// Where the time went: one bar for each recording, on the same scale, so that the eye sees which state grew.
import { useState } from "preact/hooks";
import type { Budget as Data } from "../bundle/types";
import { lineColor, stateColor } from "../model/color";
import { partInWords } from "../model/explained";
import { columnScale, human, inScale } from "../model/units";
import { go, param, report, setParam } from "../state";
import { RunName, nameOf } from "./parts";
import { StateBar } from "./StateBar";

/** The colour of a state: the ledger's bring theirs, those of CPUs are lines of a chart. */
export function budgetColor(budget: Pick<Data, "source" | "states">, n: number, id: string): string {
  return budget.source === "ledger" ? stateColor(budget.states.find((s) => s.id === id)) : lineColor(n, id);
}

/** "3.27 k in 7.80 s". */
function doneInWords(budget: Data, run: number): string {
  const done = budget.done?.[run];
  return done ? `${human(done[0], "")} in ${human(done[1], "s")}` : "";
}

/** `heading`: what stands above it. What is no lost time is left out unless asked for, in the link. */
export function Budget({ budget: whole, heading = "Where the time went", about }: { budget: Data; heading?: string; about?: string }) {
  const [over, setOver] = useState<number | null>(null);
  const hasQuiet = whole.states.some((s, i) => s.quiet && whole.values.some((v) => (v[i] ?? 0) > 0));
  const quietShown = param("budget.idle") === "1";
  const kept = whole.states.flatMap((s, i) => (s.quiet && !quietShown ? [] : [i]));
  const budget: Data = { ...whole, states: kept.flatMap((i) => whole.states[i] ?? []), values: whole.values.map((v) => kept.map((i) => v[i] ?? null)) };
  const shares = whole.shares ? kept.map((i) => whole.shares?.[i]?.share ?? 0) : null;
  const alone = whole.values.length === 1;
  const differs = budget.values.length === 2 && !shares;
  /** What a state means, and in numbers. */
  const told = (i: number) => {
    const s = budget.states[i];
    if (!s) return "";
    const numbers = s.ledger === null ? "" : budget.values.map((v, run) => `${alone ? "" : `${nameOf(run)} `}${human(v[i], budget.unit)}`).join(", ");
    const part = partInWords(shares?.[i] ?? 0);
    return `${s.title}: ${[numbers, part && `${part} of the ${alone ? "time" : "slowdown"}`].filter(Boolean).join("; ")}. ${s.help}.`;
  };
  const sums = budget.values.map((v) => v.reduce<number>((a, x) => a + (x ?? 0), 0));
  const most = Math.max(...sums, 1e-12);
  // What is worth a line is worth digits.
  const least = Math.min(...budget.values.flat().filter((v): v is number => v !== null && v > most * 0.002), most);
  const scale = columnScale(budget.unit, most, false, whole.shares ? least : most);
  // States that were measured nowhere are named below, not drawn as zero.
  const measured = budget.states.map((_, s) => budget.values.some((v) => (v[s] ?? null) !== null));
  // A ledger has many states: those in which no time was spent are named below too.
  const small = (s: number) => Math.abs(shares?.[s] ?? 0) <= 0.02 && budget.values.every((v) => (v[s] ?? 0) <= (shares ? most * 0.002 : 0));
  const nothing = budget.source === "ledger" ? budget.states.filter((_, s) => measured[s] && small(s)) : [];
  const absent = budget.states.filter((_, s) => !measured[s]).map((s) => s.title);
  const chosen = param("state");
  // A link of the first screen can name a state that this bar knows by another name.
  const ledger = report().budget?.states.find((s) => s.id === chosen)?.ledger;
  const at = [chosen, ledger].map((id) => budget.states.findIndex((s) => s.id === id)).find((i) => i >= 0) ?? -1;
  const picked = at < 0 ? null : at;
  const here = picked === null ? undefined : budget.states[picked];
  const more = budget.source === "ledger" && report().profile && here?.ledger !== null ? here : undefined;
  return (
    <section class="budget" id="at-budget">
      <div class="section-head">
        <h2>{heading}</h2>
        {about && <span class="quiet">{about}</span>}
        <span class="spacer" />
        {hasQuiet && (
          <button type="button" aria-pressed={quietShown} title="Waiting for work is no part of the slowdown; it is left out unless asked for" onClick={() => setParam("budget.idle", quietShown ? "" : "1")}>
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
              <div class="bar-name">
                <RunName run={run} />
                {budget.elapsed && <span class="quiet small" title={doneInWords(budget, run)}>{human(budget.elapsed[run], "s")} elapsed</span>}
              </div>
              <StateBar
                states={budget.states} values={values} unit={budget.unit} most={most} label={`${nameOf(run)}: ${said}`} color={(i, id) => budgetColor(budget, i, id)}
                lit={over ?? picked} onOver={setOver} hint="Click: only what is in this state." onPick={(i) => setParam("state", picked === i ? "" : (budget.states[i]?.id ?? ""))}
              />
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
            {differs && <th scope="col" class="number">difference</th>}
            {shares && <th scope="col" class="number">{alone ? "share" : "of the slowdown"}</th>}
          </tr>
        </thead>
        <tbody>
          {budget.states.map((s, i) => measured[i] && !nothing.includes(s) && (
            <tr key={s.id} class={over === i ? "hover" : ""} onPointerEnter={() => setOver(i)} onPointerLeave={() => setOver(null)}>
              <th scope="row" title={s.help}>
                <button type="button" class="line-name" onFocus={() => setOver(i)} onBlur={() => setOver(null)} aria-pressed={picked === i} title={`${s.help}. Click: only what is in this state.`} onClick={() => setParam("state", picked === i ? "" : s.id)}>
                  <span class="swatch" style={{ background: budgetColor(budget, i, s.id) }} aria-hidden="true" />
                  {s.title}
                </button>
              </th>
              {/* Threads that were not there spent no time: only what that cost is said. */}
              {budget.values.map((v, run) => <td key={run} class="number">{s.ledger === null ? "" : inScale(v[i], scale)}</td>)}
              {differs && (
                <td class="number">{inScale((budget.values[1]?.[i] ?? Number.NaN) - (budget.values[0]?.[i] ?? Number.NaN), scale)}</td>
              )}
              {shares && <td class={`number${(shares[i] ?? 0) >= 0.1 && !alone ? " much" : ""}`}>{partInWords(shares[i] ?? 0)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
      </div>
      {more && report().pages.some((p) => p.id === "profiles") && (
        <p class="small">
          <a href="#profiles" onClick={(e) => { e.preventDefault(); setParam("state", more.ledger ?? more.id); go("profiles"); }}>Stacks of “{more.title}”</a>
          {more.id === "lock" && report().pages.some((p) => p.id === "locks") && <> · <a href="#locks" onClick={(e) => { e.preventDefault(); go("locks"); }}>Contended locks</a></>}
        </p>
      )}
      <p class="quiet small" aria-live="polite">{over !== null ? told(over)
          : [nothing.length > 0 ? `${shares ? "Hardly any" : "No"} time in: ${nothing.filter((s) => s.ledger !== null).map((s) => s.title).join(", ")}.` : "", absent.length > 0 ? `Not measured: ${absent.join(", ")}.` : ""].filter(Boolean).join(" ") || "\u00a0"}</p>
    </section>
  );
}
