// Two stretches of one recording side by side: the command that explains one against the other, and how the page that is shown differs between them.
import { useMemo, useState } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import { loadBlock } from "../bundle/load";
import type { PageSpec, ProfileSpec } from "../bundle/types";
import { stateColor } from "../model/color";
import { ledgerOf, treeOf } from "../model/profile";
import { changeInWords, type InBoth, meansOf, overlap, stretchCommand } from "../model/stretches";
import { clock, columnScale, human, inScale, span } from "../model/units";
import { chosen, holdAgainst, param, report, type Side, stretches, windows } from "../state";
import { type ColumnOf, DataTable, type Group } from "./DataTable";
import { FromColumns } from "./Page";
import { CopyButton, Trouble, useLoaded } from "./parts";
import { choiceIn, choices, Graph } from "./Profiles";
import { StateBar } from "./StateBar";

type Both = readonly [Side, Side];

const NAMES = ["baseline", "window"] as const;

/** The states of all threads in both, per second. */
function States({ columns, spec, both }: { columns: Columns; spec: ProfileSpec; both: Both }) {
  const [over, setOver] = useState<number | null>(null);
  const sums = useMemo(
    () => both.map(({ run, window }) => ledgerOf(columns, report().runs.map((_, r) => (r === run ? window : { from: 0, to: 0 })), false).get("")?.runs[run]),
    [columns, both],
  );
  const idle = param("budget.idle") === "1";
  const values = both.map(({ window }, i) => spec.states.map((s) => (sums[i]?.get(s.id) ?? 0) / Math.max(1e-9, window.to - window.from)));
  const kept = spec.states.map((s, i) => ({ s, i })).filter(({ s, i }) => (idle || !s.quiet) && values.some((v) => (v[i] ?? 0) > 0));
  if (kept.length === 0) return <p class="none">No thread was traced in these stretches.</p>;
  const states = kept.map(({ s }) => s);
  const shown = values.map((v) => kept.map(({ i }) => v[i] ?? 0));
  const totals = shown.map((v) => v.reduce((a, b) => a + b, 0));
  const most = Math.max(...totals, 1e-12);
  const scale = columnScale("s/s", most, false);
  return (
    <div class="budget-body">
      <div class="bars" onPointerLeave={() => setOver(null)}>
        {shown.map((v, i) => (
          <div class="bar-row" key={NAMES[i]}>
            <div class="bar-name">{NAMES[i]}</div>
            <StateBar states={states} values={v} unit="s/s" most={most} label={`${NAMES[i]}: ${states.map((s, k) => `${s.title} ${human(v[k], "s/s")}`).join(", ")}`}
              color={(k) => stateColor(states[k])} lit={over} onOver={setOver} />
            <span class="bar-sum">{inScale(totals[i], scale)}</span>
          </div>
        ))}
      </div>
      <table class="budget-table">
        <caption class="hidden">Time of all threads per second by state, in both stretches</caption>
        <thead>
          <tr><td>{scale.symbol || "s/s"}</td>{NAMES.map((n) => <th key={n} scope="col" class="number">{n}</th>)}<th scope="col" class="number">difference</th></tr>
        </thead>
        <tbody>
          {states.map((s, k) => (
            <tr key={s.id} class={over === k ? "hover" : ""} onPointerEnter={() => setOver(k)} onPointerLeave={() => setOver(null)}>
              <th scope="row" title={s.help}><span class="line-name"><span class="swatch" style={{ background: stateColor(s) }} aria-hidden="true" /> {s.title}</span></th>
              {shown.map((v, i) => <td key={NAMES[i]} class="number">{inScale(v[k], scale)}</td>)}
              <td class="number">{inScale((shown[1]?.[k] ?? 0) - (shown[0]?.[k] ?? 0), scale)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What is chosen on the page of profiles, as a flame graph of how the window differs. */
function Difference({ columns, spec, both }: { columns: Columns; spec: ProfileSpec; both: Both }) {
  const [base, window] = both;
  const list = useMemo(() => choices(columns, spec), [columns, spec]);
  const choice = choiceIn(list, spec);
  const [process, thread] = [param("process"), param("thread")];
  const all = windows.value;
  const tree = useMemo(() => {
    if (!choice) return null;
    // Stretches of different work have no common rate of it: both are per second.
    const perSecond: ProfileSpec = { ...spec, per: { what: "second", rate: all.map(() => 1) } };
    const made = treeOf(columns, perSecond, all, { measures: choice.measures, process, thread, group: choice.byState ? ["state"] : [], other: false }, base);
    return { ...made, self: [made.self[all.length], made.self[window.run]].map((self) => self ?? new Float64Array(made.parent.length)) };
  }, [columns, spec, all, choice, process, thread, both]);
  if (!choice || !tree?.self.some((self) => self.some((x) => x > 0))) return <p class="none">Nothing of this was measured in these stretches.</p>;
  const unit = choice.measures[0]?.measure.unit ?? "s";
  return (
    <>
      <p class="quiet">{choice.title}, per second; colours show what takes more time in the window than in the baseline, and less.</p>
      <Graph tree={tree} runs={[base.run, window.run]} names={[...NAMES]} unit={`${unit || "1"}/s`} heading={false} label={`${choice.title}, the window against the baseline stretch`} />
    </>
  );
}

/** The means of what the charts of a page show. */
function Means({ spec, both }: { spec: PageSpec; both: Both }) {
  const { value: block, error } = useLoaded(() => loadBlock(spec.block), spec.block);
  const rows = useMemo(() => (block ? meansOf(spec, block, both) : []), [spec, block, both]);
  if (error) return <Trouble>{error}</Trouble>;
  if (!block) return <p class="quiet" role="status">Unpacking…</p>;
  if (rows.length === 0) return <p class="none">Nothing on this page was measured in both stretches.</p>;
  const text = (id: string, title: string, of: (row: InBoth) => string): ColumnOf<InBoth> => ({ id, title, plain: title, help: "", unit: "", group: id, text: of });
  const mean = (id: "base" | "window", title: string): ColumnOf<InBoth> => ({
    id, title, plain: title, help: `mean in the ${title}`, unit: "", group: id, value: (row) => row[id], cell: (row) => human(row[id], row.unit),
  });
  const columns: ColumnOf<InBoth>[] = [
    text("chart", "chart", (row) => row.chart),
    text("line", "line", (row) => row.name),
    mean("base", "baseline"),
    mean("window", "window"),
    { id: "change", title: "change", plain: "change", help: "of the window over the baseline", unit: "", group: "change", value: (row) => row.window / row.base, rank: (row) => row.weight, cell: (row) => changeInWords(row.base, row.window, row.unit) },
  ];
  // Each row has a unit of its own, so that the heading names none.
  const groups: Group[] = [{ id: "what", title: "", help: "", span: 2 }, { id: "means", title: "mean", help: "", span: 2 }, { id: "differs", title: "", help: "", span: 1 }];
  return (
    <>
      <p class="quiet">Means of what this page shows; first what changed most beside the other lines of its chart. Whether that is more than chance, the command says.</p>
      <DataTable name="stretches" label="Means in both stretches" columns={columns} groups={groups} rows={rows} first="change" />
    </>
  );
}

function Differs({ id, both }: { id: string; both: Both }) {
  const { profile, pages } = report();
  const spec = pages.find((p) => p.id === id);
  const ledger = profile?.tables.includes("ledger");
  if (profile && ledger && (id === "overview" || spec?.view === "time-budget")) {
    return <FromColumns block={profile.block} what="Where the time went">{(columns) => <States columns={columns} spec={profile} both={both} />}</FromColumns>;
  }
  if (profile && spec?.view === "profiles") {
    return <FromColumns block={profile.block} what="The difference">{(columns) => <Difference columns={columns} spec={profile} both={both} />}</FromColumns>;
  }
  if (spec && spec.charts.length > 0) return <Means key={id} spec={spec} both={both} />;
  return <p class="quiet">Pages with charts show here how the two differ.</p>;
}

/** `id`: the page that is shown. */
export function Stretches({ id }: { id: string }) {
  const both = stretches.value;
  if (!both) return null;
  const [base, window] = both;
  const recording = report().runs[base.run];
  if (!recording) return null;
  const { name } = recording;
  const said = ({ window: w }: Side) => `${clock(w.from, 0.1)} to ${clock(w.to, 0.1)} (${span(w.to - w.from)})`;
  const command = stretchCommand(recording, both);
  return (
    <section class="stretches" id="at-stretches" aria-labelledby="stretches-title">
      <div class="section-head">
        <h2 id="stretches-title">Two stretches of {name}</h2>
        <span class="spacer" />
        <button type="button" onClick={() => holdAgainst(null)}>Stop comparing</button>
      </div>
      <p>Baseline <b>{said(base)}</b>, window <b>{said(window)}</b>, since the start of the recording.</p>
      {overlap(base.window, window.window) ? (
        <p class="trouble">The two have a part in common. {chosen.value ? "Move one of them" : "Drag on the strip to choose the window"}: only stretches apart can be compared.</p>
      ) : window.window.to <= window.window.from ? (
        <p class="trouble">The window is outside of what {name} recorded.</p>
      ) : (
        <>
          <p class="next-command"><span class="quiet">Why they differ:</span> <code>{command}</code><CopyButton text={() => command} label="Copy" title="Copy the command" /></p>
          <Differs id={id} both={both} />
        </>
      )}
    </section>
  );
}
