// Hosts that lie far from all others, and in what; and those that may lie in either of two bands.
import { bandingOf, type FleetView, figure } from "../../model/fleet";
import { fixed } from "../../model/units";
import { HostName, MetricName } from "./parts";

const UNDECIDED = 40;

/** Where all others are alike, how many is only how finely they were measured. */
function deviations(many: number): string {
  return many > 1000 ? "over 1,000" : fixed(many, many < 9.95 ? 1 : 0);
}

export function Strays({ view }: { view: FleetView }) {
  const strays = view.group.answer.strays;
  const undecided = bandingOf(view)?.undecided ?? [];
  if (strays.length === 0 && undecided.length === 0) return null;
  return (
    <>
      {strays.length > 0 && (
        <section aria-labelledby="at-strays">
          <h2 id="at-strays">{strays.length === 1 ? "One stray" : `${strays.length} strays`}</h2>
          <p class="read quiet">Single {view.one}s beyond six robust deviations of their band (of few hosts more), with at most one other; and the metrics they stray in, those asked first. One bad host is commoner than bands.</p>
          <ol class="strays" data-list="strays">
            {strays.map((s) => (
              <li key={s.recording} class="stray">
                <HostName view={view} host={s.recording} />
                <table class="stray-lines small" aria-label="Metrics that it strays in">
                  <tbody>
                    {s.lines.map((l) => (
                      <tr key={l.metric}>
                        <th scope="row"><MetricName metric={l.metric} /></th>
                        <td class="number"><b>{figure(l.value, l.unit)}</b></td>
                        <td class="quiet">against {figure(l.middle, l.unit)}</td>
                        <td class="quiet">{deviations(Math.abs(l.deviations))} deviations {l.deviations > 0 ? "above" : "below"}</td>
                      </tr>
                    ))}
                    {s.more > 0 && <tr><td colSpan={4} class="quiet">and {s.more} more {s.more === 1 ? "metric" : "metrics"}</td></tr>}
                  </tbody>
                </table>
              </li>
            ))}
          </ol>
        </section>
      )}
      {undecided.length > 0 && (
        <section aria-labelledby="at-undecided">
          <h2 id="at-undecided">{undecided.length} undecided</h2>
          <p class="read quiet">Their own 95 % intervals hold the valley, or the two halves of their recordings lie on both sides of it.</p>
          <p class="undecided">{undecided.slice(0, UNDECIDED).map((i) => <HostName key={i} view={view} host={i} />)}{undecided.length > UNDECIDED && <span class="quiet">and {undecided.length - UNDECIDED} more</span>}</p>
        </section>
      )}
    </>
  );
}
