// Where the time went: one bar for each recording, on the same scale, so that the eye sees which state grew.
import { useState } from "preact/hooks";
import type { Budget as Data } from "../bundle/types";
import { lineColor } from "../model/color";
import { columnScale, human, inScale } from "../model/units";
import { param, setParam } from "../state";
import { RunName, Swatch, nameOf } from "./parts";

export function Budget({ budget }: { budget: Data }) {
  const [over, setOver] = useState<number | null>(null);
  const sums = budget.values.map((v) => v.reduce<number>((a, x) => a + (x ?? 0), 0));
  const most = Math.max(...sums, 1e-12);
  const scale = columnScale(budget.unit, most, false);
  // States that were measured nowhere are named below, not drawn as zero.
  const measured = budget.states.map((_, s) => budget.values.some((v) => (v[s] ?? null) !== null));
  const absent = budget.states.filter((_, s) => !measured[s]).map((s) => s.title);
  const hovered = over === null ? null : budget.states[over];
  const chosen = param("state");
  return (
    <section class="budget" id="at-budget">
      <h2>Where the time went</h2>
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
                      class={`segment${over !== null && over !== i ? " dim" : ""}`}
                      style={{ width: `${share}%`, background: lineColor(i, s.id) }}
                      title={`${s.title}: ${human(v, budget.unit)}. ${s.help}`}
                      onPointerEnter={() => setOver(i)}
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
          {budget.states.map((s, i) => measured[i] && (
            <tr key={s.id} class={over === i ? "hover" : ""} onPointerEnter={() => setOver(i)} onPointerLeave={() => setOver(null)}>
              <th scope="row" title={s.help}>
                <button type="button" class="line-name" aria-pressed={chosen === s.id} title={`${s.help} Click: show the differences in it.`} onClick={() => setParam("state", chosen === s.id ? "" : s.id)}>
                  <Swatch n={i} name={s.id} />
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
      <p class="quiet small" aria-live="polite">{hovered ? hovered.help : absent.length > 0 ? `Not measured: ${absent.join(", ")}.` : "\u00a0"}</p>
    </section>
  );
}
