// Why it is slower, or what limits it: the causes that were found, by the part of the lost time that each explains. Each opens to how to check it by
// hand, to what it was found by, and to the pages where more of it is seen.
import type { Budget, Explanation, Finding } from "../bundle/types";
import { runColor } from "../model/color";
import { findingAsMarkdown, findingInWords, shareInWords, whole, wholeOf } from "../model/explained";
import { withFiles } from "../model/files";
import { human } from "../model/units";
import { picture } from "../picture";
import { go, param, report, setParam } from "../state";
import { budgetColor } from "./Budget";
import { CopyButton, Query, Words, nameOf } from "./parts";

const W = 148;
const H = 16;

/** The part of the lost time as a bar, with its interval as a whisker; all on one scale from nothing to the whole. */
export function Share({ value, low, high }: { value: number; low?: number; high?: number }) {
  const x = (part: number) => Math.max(0, Math.min(1, part)) * (W - 2) + 1;
  return (
    <svg class="share" width={W} height={H} viewBox={`0 0 ${W} ${H}`} aria-hidden="true">
      <rect class="track" x={0} y={3} width={W} height={10} rx={2} />
      <rect x={0} y={3} width={Math.max(2, x(value))} height={10} rx={2} />
      {low !== undefined && high !== undefined && high > low && <path d={`M${x(low)} 4v8M${x(low)} 8H${x(high)}M${x(high)} 4v8`} />}
    </svg>
  );
}

/** States of which both recordings are drawn. */
const MOST_STATES = 3;

/** Findings in a picture of the first screen. */
const IN_PICTURE = 3;

/** A state besides the first is drawn from this part of the finding on. */
const WORTH = 0.1;

/** The states that the time of a finding was in, in both recordings, per unit of work. */
function States({ finding, budget, explanation }: { finding: Finding; budget: Budget; explanation: Explanation }) {
  const sides = explanation.against === null ? [explanation.run] : [explanation.against, explanation.run].toSorted((a, b) => a - b);
  const rows = finding.states
    .filter((s, i) => i === 0 || s.share >= finding.share * WORTH)
    .flatMap(({ state }) => {
      const i = budget.states.findIndex((s) => s.id === state);
      const s = budget.states[i];
      const values = sides.map((run) => budget.values[run]?.[i] ?? null);
      return s && values.some((v) => (v ?? 0) > 0) ? [{ s, i, values }] : [];
    })
    .slice(0, MOST_STATES);
  if (rows.length === 0) return <div />;
  const most = Math.max(...rows.flatMap((r) => r.values.map((v) => v ?? 0)), 1e-15);
  const said = rows.map((r) => `${r.s.title}: ${sides.map((run, k) => `${nameOf(run)} ${human(r.values[k], budget.unit)}`).join(", ")}`).join("; ");
  return (
    <figure class="finding-states" role="img" aria-label={`Time per ${budget.per ?? "unit"} in its states. ${said}`}>
      {rows.map(({ s, i, values }) => (
        <div key={s.id}>
          <span class="small"><span class="swatch" style={{ background: budgetColor(budget, i, s.id) }} /> {s.title}</span>
          {sides.map((run, k) => (
            <span key={run} class="finding-bar" title={`${nameOf(run)}: ${human(values[k], budget.unit)}`}>
              <span class="finding-track"><span class={(values[k] ?? 0) > 0 ? "" : "nothing"} style={{ width: `${((values[k] ?? 0) / most) * 100}%`, background: runColor(run) }} /></span>
              <span class="number small">{human(values[k], budget.unit)}</span>
            </span>
          ))}
        </div>
      ))}
    </figure>
  );
}

/** Lines of text that can be copied one by one. */
function Lines({ lines, code = false }: { lines: string[]; code?: boolean }) {
  return (
    <ul class="finding-lines">
      {lines.map((line, i) => (
        <li key={i}>{code ? <code>{line}</code> : <span><Words text={line} /></span>} <CopyButton text={() => line} label="Copy" title="Copy this line" /></li>
      ))}
    </ul>
  );
}

function opened(): Set<string> {
  return new Set(param("finding").split(",").filter(Boolean));
}

function toggle(rank: number): void {
  const all = opened();
  if (!all.delete(String(rank))) all.add(String(rank));
  setParam("finding", [...all].toSorted((a, b) => Number(a) - Number(b)).join(","));
}

/** What the link to a page chooses there. */
const chosenBy = (page: string, listed: number | null) => (page === "instructions" && listed !== null ? `?.instructions.function=${listed}` : "");

/** Links to the pages where more of it is seen. */
function Places({ pages, listed = null }: { pages: string[]; /** Its function on the page of instructions. */ listed?: number | null }) {
  const title = (id: string) => (id === "set-up" ? "Set-up" : (report().pages.find((p) => p.id === id)?.title ?? id));
  if (pages.length === 0) return null;
  return (
    <>
      {pages.map((id, i) => (
        <span key={id}>{i > 0 && " · "}<a href={`#${encodeURIComponent(id)}${chosenBy(id, listed)}`} onClick={(e) => { e.preventDefault(); if (chosenBy(id, listed)) setParam("instructions.function", String(listed)); go(id); }}>{title(id)}</a></span>
      ))}
    </>
  );
}

/** Whether a sentence begins with a name from the recording: that keeps its small letters. */
function startsWithName(f: Finding): boolean {
  return f.subject !== "" && (f.says.startsWith(f.subject) || f.says.startsWith("`"));
}

function One({ finding, rank, explanation, budget }: { finding: Finding; rank: number; explanation: Explanation; budget: Budget | null }) {
  const f = withFiles(finding, explanation, report().runs);
  const open = opened().has(String(rank));
  const part = (name: string, lines: string[], code = false) => lines.length > 0 && <div><dt>{name}</dt><dd><Lines lines={lines} code={code} /></dd></div>;
  return (
    <li class="finding" id={`at-finding-${rank}`} data-cause={f.cause}>
      <div class="finding-share">
        <p><span class="rank" aria-hidden="true">{rank}</span><b>{whole(f.share)} %</b></p>
        <Share value={f.share} low={f.low} high={f.high} />
        <p class="quiet small">{shareInWords(f)}</p>
      </div>
      <div class="finding-said">
        <h3>
          <button type="button" class="line-name" aria-expanded={open} aria-label={findingInWords(f, rank, explanation.outcome)} onClick={() => toggle(rank)}>
            <span aria-hidden="true" class="fold">{open ? "▾" : "▸"}</span>
            <span class={startsWithName(f) ? "" : "sentence"}><Words text={f.says} /></span>
          </button>
        </h3>
        <div class="finding-body">
          {f.evidence.length > 0 && <ul class="quiet evidence">{f.evidence.map((line, i) => <li key={i}><Words text={line} /></li>)}</ul>}
          {f.advice.length > 0 && <div class="try"><span class="quiet">Try</span><Lines lines={f.advice} /></div>}
        </div>
      </div>
      {budget && budget.source === "ledger" ? <States finding={f} budget={budget} explanation={explanation} /> : <div />}
      {open && (
        <dl class="finding-more">
          <div><dt>Cause</dt><dd>{f.title} <code class="quiet">{f.cause}</code></dd></div>
          {f.pages.length > 0 && <div><dt>See</dt><dd><Places pages={f.pages} listed={f.function} /></dd></div>}
          {part("Check by hand", f.check, true)}
          {part("Experiment", f.experiment)}
          {part("References", f.references)}
          <div><dt>Found by</dt><dd><Query sql={f.query} /></dd></div>
          <div><dt>For a ticket</dt><dd><CopyButton text={() => findingAsMarkdown(f, explanation.outcome)} label="Copy as Markdown" /></dd></div>
        </dl>
      )}
    </li>
  );
}

/** What was looked for and found, what is left, and what is worth knowing besides. */
export function Findings({ explanation: e, budget }: { explanation: Explanation; budget: Budget | null }) {
  const state = param("state");
  const picked = budget?.states.find((s) => s.id === state);
  const ranked = e.findings.map((finding, i) => ({ finding, rank: i + 1 }));
  const about = picked ? ranked.filter(({ finding }) => finding.states.some((s) => s.state === picked.id)) : ranked;
  const shown = picture ? about.slice(0, IN_PICTURE) : about;
  const alone = e.outcome === "alone";
  const of = wholeOf(e.outcome);
  const lost = e.outcome === "slower" || e.outcome === "more time" || e.outcome === "longer requests" || e.outcome === "undecided";
  const explained = Math.min(1, e.findings.reduce((sum, f) => sum + f.share, 0));
  return (
    <>
      {(lost || alone) && (
        <section class="findings" id="at-findings">
          <div class="section-head">
            <h2>{alone ? "What limits it" : e.outcome === "undecided" ? "What differs, which may be chance" : "Why"}</h2>
            <span class="quiet">
              {e.findings.length === 0 ? "no known cause was found" : `${e.findings.length} ${e.findings.length === 1 ? "finding" : "findings"}, ${whole(explained)} % of ${of}`}
            </span>
            <span class="spacer" />
            {picked && <button type="button" aria-pressed="true" title="Show all findings" onClick={() => setParam("state", "")}>{picked.title} ×</button>}
          </div>
          {e.findings.length === 0 && <p>None of the known causes shows in what was recorded. The states above say where the time went.</p>}
          {picked && shown.length === 0 && e.findings.length > 0 && <p class="none">No finding is about time in “{picked.title}”.</p>}
          <ol>{shown.map(({ finding, rank }) => <One key={rank} finding={finding} rank={rank} explanation={e} budget={budget} />)}</ol>
          {shown.length < about.length && <p class="quiet">The other {about.length - shown.length} are in the report.</p>}
          {lost && !picked && e.findings.length > 0 && e.unexplained >= 0.005 && (
            <div class="finding unexplained">
              <div class="finding-share">
                <p><span class="rank none" aria-hidden="true" /><b>{whole(e.unexplained)} %</b></p>
                <Share value={e.unexplained} />
              </div>
              <div class="finding-said"><p class="finding-body quiet">of {of} that no known cause explains.</p></div>
              <div />
            </div>
          )}
        </section>
      )}
      {e.notes.length > 0 && !picture && (
        <section class="notes" id="at-notes">
          <h2>Worth knowing</h2>
          <ul>
            {e.notes.map((n, i) => (
              <li key={i}>{n.text} {n.pages.length > 0 && <span class="small"><Places pages={n.pages} /></span>}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** The findings that point to a page, as a way back to them. */
export function PointsHere({ page }: { page: string }) {
  const all = (report().explanation?.findings ?? []).flatMap((finding, i) => (finding.pages.includes(page) ? [{ finding, rank: i + 1 }] : []));
  if (all.length === 0) return null;
  return (
    <ul class="points-here" aria-label="Findings that point here">
      {all.map(({ finding, rank }) => (
        <li key={rank}>
          <span class="rank" aria-hidden="true">{rank}</span>
          <a href={`#overview/finding-${rank}`} onClick={(ev) => { ev.preventDefault(); go("overview", `finding-${rank}`); }}>{whole(finding.share)} %: <Words text={finding.says} /></a>
        </li>
      ))}
    </ul>
  );
}

/** Which recording is explained, where that has to be said. */
export function Which({ explanation }: { explanation: Explanation }) {
  if (explanation.which) return <p class="which">{explanation.which}</p>;
  return null;
}
