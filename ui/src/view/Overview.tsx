// The first screen: what is wrong, how sure that is, and where to look.
import { human, span } from "../model/units";
import { report } from "../state";
import type { Run } from "../bundle/types";
import { Budget } from "./Budget";
import { Differences } from "./Differences";
import { Missing } from "./Missing";
import { RunName } from "./parts";
import { FactDifferences } from "./FactDifferences";
import { useState } from "preact/hooks";

function ended(run: Run): { text: string; bad: boolean } | null {
  if (!run.exit) return null;
  if (run.exit.signal !== undefined && run.exit.signal !== null) return { text: `killed by signal ${run.exit.signal}`, bad: true };
  const code = run.exit.code ?? 0;
  return code === 0 ? null : { text: `exit status ${code}`, bad: true };
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
  const end = ended(run);
  const times = (a: number | null | undefined, b: number | null | undefined) =>
    index > 0 && a && b ? ` · ${(a / b).toFixed(2)} × baseline` : "";
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
        recorded {span(run.duration)}, {pace(run)} · {date(run.start)}
      </p>
      <p class="quiet">
        {[run.host, run.kernel, [`${run.cpus} ${run.cpus === 1 ? "CPU" : "CPUs"}`, run.cpu_model].filter(Boolean).join(", "), human(run.memory_bytes, "B")].filter(Boolean).join(" · ")}
        {labels.map(([k, v]) => ` · ${k} = ${v}`)}
      </p>
      {end && <p class={end.bad ? "bad" : ""}>The command ended with {end.text}.</p>}
      {run.incomplete && <p class="bad">{run.incomplete}</p>}
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

export function Overview() {
  const { verdict, cautions, runs, differences, compared, facts, missing, budget } = report();
  return (
    <>
      <section class={`verdict ${verdict.level}`} aria-label="Verdict">
        <h1>{verdict.headline}</h1>
        {verdict.detail && <p>{verdict.detail}</p>}
        {cautions.length > 0 && (
          <ul class="cautions" aria-label="Cautions">
            {cautions.map((c) => <li key={c.text}>{c.text}</li>)}
          </ul>
        )}
      </section>
      <section class="recordings" aria-label="Recordings">
        {runs.map((r, i) => <Recording key={i} run={r} index={i} />)}
      </section>
      {budget && <Budget budget={budget} />}
      {runs.length > 1 && <Differences differences={differences} compared={compared} />}
      {runs.length > 1 && facts.length > 0 && <FactDifferences facts={facts} />}
      {runs.length > 1 && facts.length === 0 && report().set_up && (
        <section><h2>Set-up</h2><p class="quiet">No fact about the hosts and their settings differs.</p></section>
      )}
      <Missing missing={missing} />
    </>
  );
}
