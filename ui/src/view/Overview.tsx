// The first screen: what is wrong, how sure that is, and where to look.
import { human, span } from "../model/units";
import { chosen, report } from "../state";
import type { Caution, Run } from "../bundle/types";
import { Budget } from "./Budget";
import { Differences } from "./Differences";
import { Missing } from "./Missing";
import { RunName, Words } from "./parts";
import { FactDifferences } from "./FactDifferences";
import { Findings, Which } from "./Findings";
import { useState } from "preact/hooks";
import { picture } from "../picture";

/** How the command ended, where it did not end well or was asked to end. */
function ended(exit: Run["exit"]): string {
  if (exit === null) return "";
  if ("signal" in exit) return ` · ended by signal ${exit.signal}`;
  return exit.code === 0 ? "" : ` · exit code ${exit.code}`;
}

/** A sentence in which no line ends between a number and its unit. */
function unbroken(text: string): string {
  return text.replace(/(\d) (?=%|[mµnk]?s\b|[KMGT]?i?B\b)/g, "$1\u00a0");
}

function date(unix: number): string {
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" }).format(unix * 1000);
}

/** How often it was read: "every 200 ms for 20 s, then every 1.00 s" where a command's start was read more often. */
export function pace(run: Pick<Run, "interval" | "sprint">): string {
  const every = `every ${human(run.interval, "s")}`;
  return run.sprint ? `every ${human(run.sprint.interval, "s")} for ${human(run.sprint.until, "s")}, then ${every}` : every;
}

function Recording({ run, index }: { run: Run; index: number }) {
  const [output, setOutput] = useState(false);
  const base = report().runs[0];
  const times = (a: number | null | undefined, b: number | null | undefined) =>
    index > 0 && a && b ? ` · ${(a / b).toFixed(2)}× baseline` : "";
  const labels = Object.entries(run.labels);
  return (
    <div class="recording">
      <h2><RunName run={index} baseline /></h2>
      {run.work ? (
        <p class="figure">
          <b>{human(run.work.per_second, "")}</b> {run.work.unit} per second
          <span class="quiet">{times(run.work.per_second, base?.work?.per_second)}</span>
        </p>
      ) : run.wall !== null && (
        <p class="figure">
          <b>{human(run.wall, "s")}</b> the command ran <span class="quiet">{times(run.wall, base?.wall)}</span>
        </p>
      )}
      {run.command && <p class="command" title={run.command.join(" ")}><code>{run.command.join(" ")}</code></p>}
      <p class="quiet">
        {run.work && run.wall !== null && `ran ${human(run.wall, "s")}${times(run.wall, base?.wall)} · `}
        recorded {span(run.duration)}, {pace(run)} · {date(run.start)}{ended(run.exit)}
      </p>
      <p class="quiet">
        {[run.host, run.kernel, [`${run.cpus} ${run.cpus === 1 ? "CPU" : "CPUs"}`, run.cpu_model].filter(Boolean).join(", "), human(run.memory_bytes, "B")].filter(Boolean).join(" · ")}
        {labels.map(([k, v]) => ` · ${k} = ${v}`)}
      </p>
      {run.output && (run.output.stdout || run.output.stderr) && (
        <>
          <button type="button" class="plain" aria-expanded={output} onClick={() => setOutput(!output)}>
            {output ? "Hide" : "Show"} output
          </button>
          {output && run.output.stdout && <pre class="output">{run.output.stdout}</pre>}
          {output && run.output.stderr && <><p class="quiet small">Standard error</p><pre class="output">{run.output.stderr}</pre></>}
        </>
      )}
    </div>
  );
}

/** What is wrong with the recordings themselves: that comes before all that is said of them. */
function troubles(runs: Run[], cautions: Caution[]): string[] {
  const failed = cautions.filter((c) => c.what === "failed").map((c) => c.text);
  return [...failed, ...runs.filter((run) => run.incomplete).map((run) => `${run.name}: ${run.incomplete}.`)];
}

export function Overview() {
  const { verdict, cautions, runs, differences, compared, facts, missing, budget, explanation, not_explained, comparison } = report();
  const wrong = troubles(runs, cautions);
  const disturbed = cautions.filter((c) => c.what !== "failed");
  // With causes, what differs in set-up comes next; without, what differs in numbers is the answer.
  const setUp = runs.length < 2 ? null : facts.length > 0 ? <FactDifferences facts={facts} /> : report().set_up && (
    <section id="at-facts-none"><h2>What differs in set-up</h2><p class="quiet">No fact about the hosts and their settings differs.</p></section>
  );
  return (
    <>
      <section class={`verdict ${verdict.level}`} aria-label="Verdict">
        <h1 class={verdict.headline.length > 150 ? "long" : ""}><Words text={unbroken(verdict.headline)} /></h1>
        {verdict.detail && <p>{verdict.detail}</p>}
        {explanation && <Which explanation={explanation} />}
        {not_explained && <p class="which">Causes were not looked for: {not_explained}.</p>}
        {wrong.map((text, i) => <p key={i} class="bad which">{text}</p>)}
        {disturbed.length > 0 && (
          <ul class="cautions" aria-label="Cautions">
            {disturbed.map((c) => <li key={c.text}>{c.text}</li>)}
          </ul>
        )}
      </section>
      {budget && <Budget budget={budget} {...(chosen.value ? { about: "over the compared stretch, not the chosen window" } : {})} />}
      {explanation && <Findings explanation={explanation} budget={budget} />}
      {explanation && !picture && setUp}
      <section class="recordings" aria-label="Recordings">
        {runs.map((r, i) => <Recording key={i} run={r} index={i} />)}
      </section>
      {runs.length > 1 && !(picture && explanation) && <Differences differences={differences} compared={compared} about={explanation ? comparison?.detail : undefined} />}
      {!explanation && !picture && setUp}
      {!picture && <Missing missing={missing} notEvaluated={explanation?.not_evaluated ?? []} />}
    </>
  );
}
