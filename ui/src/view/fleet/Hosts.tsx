// The table of hosts: their bands, values, facts, and the command that opens each beside the middle one of the other band.
import { useMemo } from "preact/hooks";
import { bandingOf, type FleetView, momentInWords, nameInLine, pairCommand, standingInWords, figure } from "../../model/fleet";
import { CopyButton } from "../parts";
import { type ColumnOf, DataTable } from "../DataTable";
import { chosen, choose } from "./choice";
import { HostName } from "./parts";

/** Facts that have a column. */
const FACTS = 3;

export function Hosts({ view }: { view: FleetView }) {
  const { recordings } = view.group.answer;
  const banding = bandingOf(view);
  const rows = useMemo(() => view.order.slice(), [view]);
  const columns = useMemo(() => {
    const facts = banding ? view.group.facts.slice(0, FACTS) : [];
    const all: ColumnOf<number>[] = [
      { id: "name", title: view.one, plain: view.one, help: "a click marks it everywhere", unit: "", group: "", text: (i) => recordings[i]?.name ?? "", cell: (i) => <HostName view={view} host={i} /> },
      ...(banding
        ? [{
            id: "band", title: "band", plain: "band", help: "the band that it lies in", unit: "", group: "",
            text: (i: number) => standingInWords(view, i), rank: (i: number) => view.rank[i] as number,
          }]
        : []),
      { id: "value", title: view.asked.metric, plain: view.asked.metric, help: view.asked.help || "the metric that names the bands", unit: view.asked.unit, group: "value", value: (i) => view.values[i] as number },
      { id: "error", title: "± 95 %", plain: "95 % interval, half", help: "half of the 95 % interval of its mean", unit: view.asked.unit, group: "error", value: (i) => 1.96 * (view.errors[i] as number), fine: true },
      ...facts.map((f): ColumnOf<number> => ({
        id: `fact-${f.fact}`, title: nameInLine(f.fact), plain: f.fact, help: "a fact that differs between the bands", unit: "", group: "",
        text: (i) => {
          const at = f.of[i];
          return at === null || at === undefined ? "" : (f.values[at] ?? "");
        },
      })),
      { id: "began", title: "began", plain: "began", help: "when its recording began, UTC", unit: "", group: "", text: (i) => momentInWords(recordings[i]?.start ?? Number.NaN).replace(" UTC", "") },
      {
        id: "pair", title: "side by side", plain: "command", help: "the command that opens it beside the middle one of the other band", unit: "", group: "", text: (i) => pairCommand(view, i),
        cell: (i) => {
          const command = pairCommand(view, i);
          return command === "" ? <span class="quiet">–</span> : <CopyButton text={() => command} label="Copy command" title={command} />;
        },
      },
    ];
    return all;
  }, [view]);
  const pick = chosen.value;
  return (
    <section class="table" aria-labelledby="at-hosts">
      <h2 id="at-hosts">{view.one === "host" ? "Hosts" : "Recordings"}</h2>
      {banding && (
        <p class="read quiet">
          The command opens a {view.one} beside the middle one of the other band{banding.bands.length > 2 ? " (the slow or the fast one)" : ""}:{" "}
          {banding.bands.map((b, i) => `band ${i + 1} ${nameInLine(recordings[b.nearest[0] ?? -1]?.name ?? "none")} at ${figure(view.values[b.nearest[0] ?? -1], view.asked.unit)}`).join(", ")}.
        </p>
      )}
      <DataTable
        name="hosts" label={view.one === "host" ? "Hosts" : "Recordings"} columns={columns} rows={rows} first={banding ? "band:up" : "value:down"}
        look={(i) => (i === pick ? "picked" : "")} onRow={(i) => choose(i)} keep={(i) => i === pick}
      />
    </section>
  );
}
