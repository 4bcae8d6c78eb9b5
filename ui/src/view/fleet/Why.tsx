// Why the slow band is slower: what `twinscope fleet explain` finds in some recordings of both.
import type { FleetWhy } from "../../bundle/generated";
import { bandingOf, type FleetView } from "../../model/fleet";
import { fixed } from "../../model/units";
import { Share } from "../Findings";
import { CopyButton, Words } from "../parts";
import { BandMark, HostName } from "./parts";

const per = (share: number) => `${fixed(100 * share, Math.abs(share) < 0.0995 && share !== 0 ? 1 : 0)} %`;

function Side({ view, of, band, what }: { view: FleetView; of: number[]; band: number; what: string }) {
  return <span class="why-side"><BandMark band={band} /><span class="quiet">{what}:</span>{of.map((i) => <HostName key={i} view={view} host={i} />)}</span>;
}

function Found({ view, why }: { view: FleetView; why: FleetWhy }) {
  const [slow, fast] = bandingOf(view)?.slow_and_fast ?? [1, 0];
  const { findings, unexplained, notes } = why.explanation;
  return (
    <>
      <p class="read quiet">Some recordings of each band, those nearest to its middle, explained as repeats.</p>
      <p class="why-sides small"><Side view={view} of={why.slow} band={slow} what="slow" /><Side view={view} of={why.fast} band={fast} what="fast" /></p>
      {findings.length === 0 && <p>None of the known causes shows in what was recorded.</p>}
      <ol class="fleet-findings">
        {findings.map((f, i) => (
          <li key={i} class="finding fleet-finding" data-cause={f.cause}>
            <div class="finding-share">
              <p><b>{per(f.share)}</b></p>
              <Share value={f.share} low={f.low} high={f.high} />
              <p class="quiet small">of the slowdown; 95 % CI {fixed(100 * f.low, 0)}–{fixed(100 * f.high, 0)} %</p>
            </div>
            <div class="finding-said">
              <h3 title={f.title}><span class="sentence"><Words text={f.says} /></span></h3>
              {f.evidence.length > 0 && <ul class="quiet evidence">{f.evidence.map((line) => <li key={line}><Words text={line} /></li>)}</ul>}
              {f.advice.length > 0 && <div class="try"><span class="quiet">Try</span><div class="finding-lines">{f.advice.map((line) => <p key={line}><Words text={line} /></p>)}</div></div>}
              {f.check.map((line) => <p key={line} class="next-command small"><code>{line}</code><CopyButton text={() => line} label="Copy" title="Copy the command" /></p>)}
            </div>
          </li>
        ))}
      </ol>
      {findings.length > 0 && unexplained >= 0.005 && <p class="quiet">{per(unexplained)} of the slowdown no known cause explains.</p>}
      {notes.length > 0 && <ul class="said-lines">{notes.map((n) => <li key={n.text}><Words text={n.text} /></li>)}</ul>}
    </>
  );
}

export function Why({ view }: { view: FleetView }) {
  const { why, not_explained } = view.group;
  // The cause is that of the first banding.
  if (view.banding !== 0 || (why === null && not_explained === null)) return null;
  const slow = (bandingOf(view)?.slow_and_fast[0] ?? 0) + 1;
  return (
    <section aria-labelledby="at-why">
      <h2 id="at-why">Why band {slow} is slower</h2>
      {why ? <Found view={view} why={why} /> : <p class="none">No cause was looked for: {not_explained}</p>}
    </section>
  );
}
