// The page of an experiment: what came out first, then what it rests on.
import type { Experiment } from "../../bundle/generated";
import { setTheme, theme } from "../../model/color";
import { effectInWords, judged, measureInWords, momentInWords } from "../../model/experiment";
import { picture } from "../../picture";
import { CopyButton, Guard, Words } from "../parts";
import { PictureEnd } from "../PictureEnd";
import { Changes } from "./Changes";
import { FactorialView } from "./FactorialView";
import { Ladder } from "./Ladder";
import { OptimumView } from "./OptimumView";
import { Pairs } from "./Pairs";
import { SearchView } from "./SearchView";
import { SweepView } from "./SweepView";
import { TrialStrip } from "./TrialStrip";
import { Failed, TrialTable, Variants } from "./Trials";

const DESIGNS: Record<Experiment["design"], string> = { ab: "variants against a baseline", ladder: "ladder", sweep: "sweep", search: "highest rate within limits", factorial: "factorial", optimise: "search for the best values" };

function Head({ e }: { e: Experiment }) {
  return (
    <>
      <header class="xp-head">
        <h1>{e.name}</h1>
        <span class="quiet">{DESIGNS[e.design]}</span>
        <span class="spacer" />
        <button type="button" onClick={() => setTheme()}>{theme() === "dark" ? "Light" : "Dark"}</button>
      </header>
      <section class="xp-verdict" aria-label="Verdict">
        <p class="said"><Words text={e.verdict} /></p>
        {!e.finished && <p class="note">It is not finished: not all that was planned has been run.</p>}
        <dl class="xp-facts small">
          <div><dt>began</dt><dd>{e.began === null ? "not yet" : momentInWords(e.began)}</dd></div>
          <div><dt>host</dt><dd>{e.host || "not known"}</dd></div>
          <div><dt>command</dt><dd><code>{e.command}</code></dd></div>
          <div><dt>blocks</dt><dd>at most {e.blocks}{e.design === "sweep" || e.design === "factorial" ? "" : " for a comparison"}; {e.trials.length === 1 ? "1 trial" : `${e.trials.length} trials`}</dd></div>
          <div><dt>judged by</dt><dd>{measureInWords(judged(e))}; changes within {effectInWords(e.effect)} do not matter</dd></div>
        </dl>
      </section>
      {e.cautions.length > 0 && (
        <section class="xp-cautions" aria-labelledby="at-cautions">
          <h2 id="at-cautions">Before you believe it</h2>
          <ul>{e.cautions.map((c, i) => <li key={i}><Words text={c} /></li>)}</ul>
        </section>
      )}
      {e.next.length > 0 && (
        <section class="xp-next" aria-labelledby="at-next">
          <h2 id="at-next">Next</h2>
          <ol>
            {e.next.map((n, i) => (
              <li key={i}>
                <p><Words text={n.says} /></p>
                {n.command !== null && <p class="next-command"><code>{n.command}</code><CopyButton text={() => n.command ?? ""} label="Copy" title="Copy the command" /></p>}
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

/** What the result rests on: each trial. */
function Trials({ e }: { e: Experiment }) {
  return (
    <>
      <Guard what="Blocks"><Pairs e={e} /></Guard>
      {e.trials.length > 0 && <Guard what="Trials over time"><TrialStrip e={e} /></Guard>}
      <Guard what="Failed trials"><Failed e={e} /></Guard>
      <Guard what="Variants"><Variants e={e} /></Guard>
      {e.trials.length > 0 && <Guard what="Trials"><TrialTable e={e} /></Guard>}
    </>
  );
}

/** The page. */
export function ExperimentPage({ e }: { e: Experiment }) {
  return (
    <>
    <main class="experiment-page" tabIndex={-1}>
      <Head e={e} />
      {e.design === "ab" && <Guard what="Changes"><Changes e={e} /></Guard>}
      {e.design === "ladder" && <Guard what="The ladder"><Ladder e={e} /></Guard>}
      {e.design === "sweep" && e.sweep && <Guard what="The sweep"><SweepView e={e} sweep={e.sweep} /></Guard>}
      {e.design === "factorial" && e.factorial && <Guard what="The factorial"><FactorialView e={e} factorial={e.factorial} /></Guard>}
      {e.design === "optimise" && e.optimum && <Guard what="The search"><OptimumView e={e} optimum={e.optimum} /></Guard>}
      {e.search && <Guard what="The search"><SearchView e={e} search={e.search} /></Guard>}
      {!picture && <Trials e={e} />}
    </main>
    <PictureEnd />
    </>
  );
}
