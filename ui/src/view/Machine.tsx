// Machine: figures of the machines of all recordings on one axis, with intervals and ratios; what the program's time is spent on, by what machines are
// measured by; and what differs in set-up.
import type { MachineFigure, Machines, MachineValue } from "../bundle/types";
import { runColor, theme } from "../model/color";
import { intervalOf, judged, originOf, place, reach, timesOf } from "../model/machine";
import { fixed, human } from "../model/units";
import { report } from "../state";
import { FactDifferences } from "./FactDifferences";
import { nameOf, RunName, Words } from "./parts";

/** The ranges of all recordings, one under the other, on an axis by logarithms with the baseline in the middle. */
function Ranges({ figure, to }: { figure: MachineFigure; to: number }) {
  theme();
  const middle = (figure.values[0] ?? figure.values.find((v) => v !== null))?.value;
  if (!middle) return null;
  const percent = (x: number) => `${(100 * place(x, middle, to)).toFixed(2)}%`;
  return (
    <div class="machine-ranges" aria-hidden="true">
      <span class="middle" />
      {figure.values.map((v, run) => v && (
        <span key={run} class="lane">
          <span class="range" style={{ left: percent(v.low), right: `calc(100% - ${percent(v.high)})`, background: runColor(run) }} />
          <span class="dot" style={{ left: percent(v.value), background: runColor(run) }} />
        </span>
      ))}
    </div>
  );
}

function Value({ value, unit }: { value: MachineValue | null; unit: string }) {
  if (!value) return <td class="number quiet">not measured</td>;
  return (
    <td class="number" title={`80 % of the rounds: ${human(value.low, unit)} to ${human(value.high, unit)}`}>
      {human(value.value, unit)}
      <span class="quiet small range-text"> {human(value.low, unit)}–{human(value.high, unit)}</span>
    </td>
  );
}

function Ratio({ figure, run }: { figure: MachineFigure; run: number }) {
  const r = figure.ratios[run];
  if (!r) return <td class="number quiet">–</td>;
  const word = judged(figure, run);
  return (
    <td class={`number${word === "worse" ? " worse" : ""}`}>
      {timesOf(r.value)} <span class="quiet small">{intervalOf(r)}</span>
      {word && <span class="small"> {word}</span>}
    </td>
  );
}

function Figures({ figures, to }: { figures: MachineFigure[]; to: number }) {
  const { runs } = report();
  const several = runs.length > 1;
  const told = figures.some((f) => f.origin !== null);
  return (
    <div class="scroll">
      <table class="machine-figures">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            {runs.map((_, i) => <th key={i} scope="col" class="number"><RunName run={i} baseline /></th>)}
            {several && runs.slice(1).map((_, i) => <th key={`r${i}`} scope="col" class="number">{runs.length > 2 ? `${nameOf(i + 1)} ÷ ${nameOf(0)}` : "ratio"}</th>)}
            {several && <th scope="col">ranges, ÷ baseline</th>}
            {told && <th scope="col">comes from</th>}
          </tr>
        </thead>
        <tbody>
          {figures.map((f) => (
            <tr key={f.id} class={f.differs ? "differs" : ""}>
              <th scope="row" title={f.id}>{f.title}</th>
              {runs.map((_, i) => <Value key={i} value={f.values[i] ?? null} unit={f.unit} />)}
              {several && runs.slice(1).map((_, i) => <Ratio key={`r${i}`} figure={f} run={i + 1} />)}
              {several && <td><Ranges figure={f} to={to} /></td>}
              {told && <td class="small origin">{originOf(f)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What the program's time is spent on, and how many times as long that takes on the other machine. */
function Spent({ machines }: { machines: Machines }) {
  const { explanation } = report();
  if (machines.parts.length === 0) return null;
  const titleOf = (id: string | null) => machines.figures.find((f) => f.id === id)?.title ?? "no figure tells";
  const baseline = explanation?.against ?? null;
  return (
    <section class="machine-spent">
      <h2>What this program's time is spent on</h2>
      <p class="quiet">
        Threads that do the work{baseline !== null && <> in <RunName run={baseline} /></>}, by what machines are measured by.
        {machines.forecast && <> By these figures it would take <b>{timesOf(machines.forecast.value)}</b> as long on the other machine ({intervalOf(machines.forecast)}).</>}
      </p>
      <div class="scroll">
        <table class="machine-parts">
          <thead><tr><th scope="col">Spent on</th><th scope="col" class="number">share</th><th scope="col">figure</th><th scope="col" class="number">takes as long</th><th scope="col">how known</th></tr></thead>
          <tbody>
            {machines.parts.map((p) => (
              <tr key={p.title}>
                <th scope="row">{p.title}</th>
                <td class="number">{fixed(100 * p.share, 1)} %</td>
                <td class={p.figure ? "" : "quiet"}>{titleOf(p.figure)}</td>
                <td class="number">{p.times ? <>{timesOf(p.times.value)} <span class="quiet small">{intervalOf(p.times)}</span></> : <span class="quiet">{p.figure ? "the same" : "–"}</span>}</td>
                <td>{p.evidence}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** The page. */
export function Machine({ machines }: { machines: Machines }) {
  const { facts, runs } = report();
  const to = reach(machines.figures);
  const differing = machines.figures.filter((f) => f.differs);
  const same = machines.figures.filter((f) => !f.differs);
  const missing = runs.map((_, i) => i).filter((i) => machines.figures.every((f) => !f.values[i]));
  const compared = runs.length - missing.length > 1;
  const known = facts.filter((f) => f.known);
  return (
    <>
      {machines.says.length > 0 && <ul class="machine-says">{machines.says.map((line, i) => <li key={i}><Words text={line} /></li>)}</ul>}
      {machines.disturbed.map((why, run) => why && <p key={run}><RunName run={run} />: the measurement was disturbed: {why}.</p>)}
      {missing.map((run) => <p key={run} class="quiet"><RunName run={run} />: its machine was not measured: that was not asked for (<code>record --doctor</code>), or other programs took the time.</p>)}
      {compared && differing.length === 0 && <p class="none">No figure differs: all ranges overlap, or lie within 5 %.</p>}
      {differing.length > 0 && <section><h2>What differs, by most first</h2><Figures figures={differing} to={to} /></section>}
      <Spent machines={machines} />
      {known.length > 0 && <FactDifferences facts={known} />}
      {same.length > 0 && <section><h2>{compared ? "What does not differ" : "Figures of the machine"}</h2><Figures figures={same} to={to} /></section>}
      <p class="quiet small">Measured before the command started (<code>record --doctor</code>): the median of the rounds, and the range that 80 % of them lie in.</p>
    </>
  );
}
