// Cycles per instruction by function, of all recordings side by side: the functions in which most cycles were spent, each with its share, its cycles per
// instruction and the change against the baseline, all with their intervals. It is a part of the page Counters.
import type { FunctionCyclesOfRun, FunctionsCycles } from "../bundle/types";
import { cpiInWords, differsIn } from "../model/counters";
import { fixed } from "../model/units";
import { changeInWords, rangeInWords } from "../model/words";
import { report } from "../state";
import { CopyButton, nameOf, RunName } from "./parts";

const samplesOf = (of: FunctionCyclesOfRun) => `${fixed(of.cycle_samples, 0)} samples by cycles, ${fixed(of.instruction_samples, 0)} by instructions`;

function Share({ of }: { of: FunctionCyclesOfRun | null }) {
  if (!of) return <td class="number quiet">–</td>;
  return <td class="number" title={samplesOf(of)}>{fixed(100 * of.share, 1)} %</td>;
}

function Cpi({ of }: { of: FunctionCyclesOfRun | null }) {
  if (!of) return <td class="number quiet">–</td>;
  if (!of.cpi) return <td class="number quiet" title={samplesOf(of)}>too few</td>;
  const [cpi, interval] = cpiInWords(of.cpi);
  return <td class="number" title={samplesOf(of)}>{cpi} <span class="quiet small">{interval}</span></td>;
}

function Change({ of }: { of: FunctionCyclesOfRun | null }) {
  if (!of?.change) return <td class="number quiet">–</td>;
  const [change, low, high] = of.change;
  const word = differsIn(of.change);
  return (
    <td class={`number${word === "worse" ? " worse" : ""}`}>
      <span class={word ? "" : "quiet"}>{changeInWords(change)}</span> <span class="quiet small">{rangeInWords({ change, low, high })}</span>
      {word && <span class="small"> {word}</span>}
    </td>
  );
}

function Table({ of }: { of: FunctionsCycles }) {
  const { runs } = report();
  const several = runs.length > 1;
  const told = runs.map((_, i) => i).filter((i) => !of.missing[i]);
  const changes = several && told.includes(0) ? told.filter((i) => i > 0) : [];
  return (
    <div class="scroll">
      <table class="counters-functions">
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>Function</th>
            <th scope="colgroup" colSpan={told.length} class="number">share of cycles</th>
            <th scope="colgroup" colSpan={told.length} class="number">cycles per instruction <span class="small">95 % CI</span></th>
            {changes.map((i) => <th key={i} scope="col" rowSpan={2} class="number">{changes.length > 1 ? `${nameOf(i)}: change` : "change"} <span class="small">95 % CI</span></th>)}
          </tr>
          <tr>
            {told.map((i) => <th key={`s${i}`} scope="col" class="number"><RunName run={i} /></th>)}
            {told.map((i) => <th key={`c${i}`} scope="col" class="number"><RunName run={i} /></th>)}
          </tr>
        </thead>
        <tbody>
          {of.functions.map((f) => (
            <tr key={`${f.name} ${f.module}`}>
              <th scope="row"><code>{f.name}</code> <span class="quiet small">{f.module}</span></th>
              {told.map((i) => <Share key={`s${i}`} of={f.runs[i] ?? null} />)}
              {told.map((i) => <Cpi key={`c${i}`} of={f.runs[i] ?? null} />)}
              {changes.map((i) => <Change key={`d${i}`} of={f.runs[i] ?? null} />)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The list; where no recording has samples by instructions, why. */
export function FunctionCycles({ of }: { of: FunctionsCycles | null }) {
  if (!of) return null;
  return (
    <section>
      <div class="section-head">
        <h2>Cycles per instruction by function</h2>
        {of.functions.length > 0 && <CopyButton text={() => of.query} label="Copy query" title={of.query} />}
      </div>
      {of.functions.length > 0 && (
        <p class="quiet small">
          Of the function itself, without what it called, by samples of cycles and of instructions. More cycles for an instruction: it waits, for data, for instructions, or after a wrong prediction. A larger share of the cycles with as many for each instruction: it does more. Of twenty functions that are alike, one leaves 0 out of its interval by chance.
        </p>
      )}
      {of.missing.map((why, run) => why && (
        <p key={run} class="small"><RunName run={run} />: <span class="quiet">no samples by instructions: {why.why}.{why.remedy && ` What would give them: ${why.remedy}.`}</span></p>
      ))}
      {of.functions.length > 0 && <Table of={of} />}
      {of.left_out > 0 && <p class="quiet small">{of.left_out === 1 ? "One more function, with few samples or a smaller share, is left out" : `${fixed(of.left_out, 0)} more functions, with few samples or a smaller share, are left out`}: the query tells of all.</p>}
    </section>
  );
}
