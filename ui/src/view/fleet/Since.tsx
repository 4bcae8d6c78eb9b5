// Since when hosts are in their bands, and what the fleet was asked.
import { bandingOf, type FleetView, momentInWords } from "../../model/fleet";
import { fixed, human, span } from "../../model/units";
import { type Col, Table } from "../experiment/Table";
import { HostName, MetricName } from "./parts";
import type { FleetAsked, FleetSwitch } from "../../bundle/generated";
import { chosen } from "./choice";
import { Words } from "../parts";

const SWITCHES = 200;

export function Since({ view }: { view: FleetView }) {
  const banding = bandingOf(view);
  if (!banding || (banding.since.says.length === 0 && banding.since.switches.length === 0)) return null;
  const { switches, says } = banding.since;
  const columns: Col<FleetSwitch>[] = [
    { id: "host", title: view.one, cell: (s) => <HostName view={view} host={s.recording} />, csv: [{ head: view.one, of: (s) => view.group.answer.recordings[s.recording]?.name ?? "" }] },
    { id: "at", title: "when", cell: (s) => momentInWords(s.at), csv: [{ head: "when", of: (s) => momentInWords(s.at) }] },
    { id: "to", title: "to", cell: (s) => `the ${s.up ? "upper" : "lower"} band`, csv: [{ head: "to", of: (s) => (s.up ? "upper" : "lower") }] },
    {
      id: "after", title: "process began before", help: "how long the oldest process of the workload had been there", number: true,
      cell: (s) => (s.after_start === null ? <span class="quiet">–</span> : span(s.after_start / 1e9)), csv: [{ head: "process began before (s)", of: (s) => (s.after_start === null ? null : s.after_start / 1e9) }],
    },
  ];
  return (
    <section aria-labelledby="at-since">
      <h2 id="at-since">Since when</h2>
      <ul class="said-lines">{says.map((line) => <li key={line}><Words text={line} /></li>)}</ul>
      {switches.length > 0 && (
        <>
          <p class="read quiet">{switches.length === 1 ? "One change of the band" : `${switches.length} changes of the band`} within a recording, by time{switches.length > SWITCHES && `; the first ${SWITCHES}`}.</p>
          <Table name="switches" label="Changes of the band" columns={columns} rows={switches.slice(0, SWITCHES)} look={(s) => (s.recording === chosen.value ? "picked" : "")} />
        </>
      )}
    </section>
  );
}

/** What was asked, and what each says. */
export function Asked({ view }: { view: FleetView }) {
  const { asked, bandings } = view.group.answer;
  if (asked.length === 0) return null;
  const said = (a: FleetAsked) => {
    if (a.bands === null) return "not asked further: they differ by no more than their own errors";
    const alike = bandings.findIndex((b) => b.metrics.includes(a.metric));
    if (alike >= 0) return `${a.bands} bands${bandings[alike]?.metrics[0] === a.metric ? "" : `, as by ${bandings[alike]?.metrics[0]}`}`;
    const [shown] = a.shown;
    const would = shown === undefined ? "" : `; would have shown half of them with ${shown.ratio === null ? `${human(shown.difference, a.unit)} more` : `${fixed(shown.ratio, 2)}× as much`}`;
    return `${a.bands > 1 ? "bands that others explain" : "no bands"}${would}`;
  };
  const columns: Col<FleetAsked>[] = [
    { id: "metric", title: "metric", cell: (a) => <MetricName metric={a.metric} help={a.help} />, csv: [{ head: "metric", of: (a) => a.metric }] },
    {
      id: "spread", title: "not noise", help: `the part of the variance between ${view.one}s that is theirs, and not that of short recordings`, number: true,
      cell: (a) => `${fixed(100 * a.spread, 0)} %`, csv: [{ head: "spread", of: (a) => a.spread }],
    },
    { id: "says", title: "says", cell: said, csv: [{ head: "says", of: said }] },
  ];
  return (
    <section aria-labelledby="at-asked">
      <h2 id="at-asked">What was asked</h2>
      <p class="read quiet">Bands are looked for by these metrics where {view.one}s differ by more than their own errors. Other metrics: <code>--by METRIC</code>.</p>
      <Table name="asked" label="Metrics that were asked" columns={columns} rows={asked} />
    </section>
  );
}
