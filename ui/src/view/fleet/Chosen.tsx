// What is known of the chosen host, at the foot of the window.
import { errorInWords, type FleetView, nameInLine, pairCommand, partnerOf, standingInWords, figure } from "../../model/fleet";
import { CopyButton } from "../parts";
import { chosen, choose, step } from "./choice";
import { BandMark } from "./parts";

const FACTS = 3;

export function Chosen({ view }: { view: FleetView }) {
  const host = chosen.value;
  if (host === null) return null;
  const recording = view.group.answer.recordings[host];
  if (!recording) return null;
  const command = pairCommand(view, host);
  const partner = view.group.answer.recordings[partnerOf(view, host)];
  const facts = view.group.facts.slice(0, FACTS).flatMap((f) => {
    const at = f.of[host];
    return at === null || at === undefined ? [] : [`${nameInLine(f.fact)} ${nameInLine(f.values[at] ?? "")}`];
  });
  const said = [standingInWords(view, host), ...facts].filter(Boolean).join(" · ");
  return (
    <aside class="chosen-bar" aria-label="Chosen" aria-live="polite">
      <span class="chosen-name"><BandMark band={view.band[host] ?? -1} undecided={view.standing[host] === "undecided"} stray={view.standing[host] === "stray"} /><b>{nameInLine(recording.name)}</b></span>
      <span class="chosen-figure"><b>{Number.isNaN(view.values[host]) ? "not measured" : figure(view.values[host], view.asked.unit)}</b> <span class="quiet small">{errorInWords(view, host)}</span></span>
      <span class="quiet small ellipsis chosen-facts" title={said}>{said}</span>
      <span class="spacer" />
      {command !== "" && <CopyButton text={() => command} label={`Copy command: beside ${nameInLine(partner?.name ?? "")}`} title={command} />}
      <span class="chosen-steps">
        <button type="button" aria-label={`Previous ${view.one}`} title="←" onClick={() => step(-1)}>←</button>
        <button type="button" aria-label={`Next ${view.one}`} title="→" onClick={() => step(1)}>→</button>
        <button type="button" aria-label="Choose none" title="Esc" onClick={() => choose(null)}>×</button>
      </span>
    </aside>
  );
}
