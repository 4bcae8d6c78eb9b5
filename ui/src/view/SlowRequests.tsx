// Where slow requests spent their time: the mean request of the usual ones against that of the slowest, by state, and the slowest one by one.
import { useMemo, useState } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import type { Requests } from "../bundle/types";
import { stateColor } from "../model/color";
import { type Followed, followedOf, meanOf, usualAndSlowest } from "../model/requests";
import { clock, columnScale, finer, fixed, human, inScale } from "../model/units";
import { chosen, offsets, report, windows } from "../state";
import { type ColumnOf, DataTable } from "./DataTable";
import { CopyButton, nameOf, RunName } from "./parts";
import { MiniBar, StateBar } from "./StateBar";

/** Listed one by one, of each recording. */
const LISTED = 25;

interface Group {
  run: number;
  title: string;
  count: number;
  states: number[];
  time: number;
}

/** What the slowest did more of than the usual ones, as parts of what they took longer: the greatest first. */
function longerBy(usual: Group, slowest: Group, spec: Requests): string {
  const longer = slowest.time - usual.time;
  if (!(longer > 0)) return "";
  const parts = spec.states.map((s, i) => ({ title: s.title, part: ((slowest.states[i] as number) - (usual.states[i] as number)) / longer })).filter((p) => p.part >= 0.05);
  return parts.toSorted((a, b) => b.part - a.part).slice(0, 3).map((p) => `${p.title} ${fixed(p.part * 100, 0)} %`).join(", ");
}

function Bars({ groups, spec }: { groups: Group[]; spec: Requests }) {
  const [over, setOver] = useState<number | null>(null);
  const [equal, setEqual] = useState(false);
  const all = Math.max(1e-12, ...groups.map((g) => g.time));
  const used = spec.states.flatMap((_, i) => (groups.some((g) => (g.states[i] as number) > all * 1e-5) ? [i] : []));
  const least = Math.min(all, ...groups.flatMap((g) => used.map((i) => g.states[i] as number)).filter((v) => v > all * 0.002));
  const scale = finer(columnScale("s", all, false), least);
  const runs = [...new Set(groups.map((g) => g.run))];
  const several = report().runs.length > 1;
  const here = over === null ? undefined : spec.states[over];
  return (
    <>
      <div class={`budget-body${groups.length > 4 ? " many" : ""}`}>
        <div>
          <div class="bars slow-bars" onPointerLeave={() => setOver(null)}>
            {groups.map((g) => (
              <div class="bar-row" key={`${g.run}/${g.title}`}>
                <div class="bar-name">
                  {several && <RunName run={g.run} />}
                  <span class={several ? "quiet small" : ""}>{g.title}</span>
                </div>
                <StateBar
                  states={spec.states} values={g.states} unit="s" most={equal ? Math.max(1e-12, g.time) : all} color={(i) => stateColor(spec.states[i])} lit={over} onOver={setOver}
                  label={`${nameOf(g.run)}, ${g.title}: ${used.map((i) => `${spec.states[i]?.title} ${human(g.states[i], "s")}`).join(", ")}`}
                />
                <span class="bar-sum">{human(g.time, "s")}</span>
              </div>
            ))}
          </div>
          <p class="slow-tools buttons">
            <button type="button" aria-pressed={equal} title="Each bar as wide as the others: parts of the time instead of times" onClick={() => setEqual(!equal)}>As shares</button>
          </p>
        </div>
        <table class="budget-table">
          <caption class="hidden">Mean time by state, {scale.symbol}</caption>
          <thead>
            {several && (
              <tr>
                <td />
                {runs.map((run) => <th key={run} scope="colgroup" class="number" colSpan={groups.filter((g) => g.run === run).length}><RunName run={run} /></th>)}
              </tr>
            )}
            <tr>
              <td class="quiet">{scale.symbol}</td>
              {groups.map((g) => <th key={`${g.run}/${g.title}`} scope="col" class="number">{g.title}</th>)}
            </tr>
          </thead>
          <tbody>
            {used.map((i) => (
              <tr key={i} class={over === i ? "hover" : ""} onPointerEnter={() => setOver(i)} onPointerLeave={() => setOver(null)}>
                <th scope="row" title={spec.states[i]?.help}>
                  <span class="line-name"><span class="swatch" style={{ background: stateColor(spec.states[i]) }} aria-hidden="true" />{spec.states[i]?.title}</span>
                </th>
                {groups.map((g) => <td key={`${g.run}/${g.title}`} class="number">{inScale(g.states[i], scale)}</td>)}
              </tr>
            ))}
            <tr class="sum">
              <th scope="row">service time</th>
              {groups.map((g) => <td key={`${g.run}/${g.title}`} class="number">{inScale(g.time, scale)}</td>)}
            </tr>
            <tr>
              <th scope="row" class="quiet">requests followed</th>
              {groups.map((g) => <td key={`${g.run}/${g.title}`} class="number quiet">{g.count}</td>)}
            </tr>
          </tbody>
        </table>
      </div>
      <p class="quiet small" aria-live="polite">{here ? `${here.title}: ${here.help}.` : "\u00a0"}</p>
    </>
  );
}

function Listed({ all, spec }: { all: Followed[]; spec: Requests }) {
  const several = report().runs.length > 1;
  const most = Math.max(1e-12, ...all.map((f) => f.time));
  const mostly = (f: Followed) => {
    const at = f.states.reduce((best, v, i) => (v > (f.states[best] as number) ? i : best), 0);
    return f.time > 0 ? `${spec.states[at]?.title} ${fixed(((f.states[at] as number) / f.time) * 100, 0)} %` : "";
  };
  // Threads that are gone before they are looked at have no name.
  const threads = (f: Followed) => {
    const more = f.handed - (f.helper ? 1 : 0);
    if (!f.thread && !f.helper && more <= 0) return "";
    return `${f.thread || "[no name]"}${f.helper ? ` → ${f.helper}` : ""}${more > 0 ? ` +${more}` : ""}`;
  };
  const text = (id: string, title: string, help: string, of: (f: Followed) => string): ColumnOf<Followed>[] =>
    all.some((f) => of(f) !== "") ? [{ id, title, plain: title, help, unit: "", group: id, text: of }] : [];
  const number = (id: string, title: string, help: string, unit: string, of: (f: Followed) => number): ColumnOf<Followed>[] =>
    all.some((f) => of(f) > 0) ? [{ id, title, plain: title, help, unit, group: id, value: of, fine: unit === "s" }] : [];
  const columns: ColumnOf<Followed>[] = [
    {
      id: "at", title: "when", plain: "when (s)", help: "when its question was read", unit: "", group: "at", value: (f) => f.at - (offsets.value[f.run] ?? 0),
      cell: (f) => <span class="when">{clock(f.at - (offsets.value[f.run] ?? 0), 0.001)}</span>,
    },
    ...(several ? [{ id: "run", title: "recording", plain: "recording", help: "the recording it is from", unit: "", group: "", text: (f: Followed) => nameOf(f.run), cell: (f: Followed) => <RunName run={f.run} /> }] : []),
    ...number("time", "service time", "from the first byte of the question read to the first of the answer sent", "s", (f) => f.time),
    ...number("queued", "queued", "how long it lay there before it was read", "s", (f) => f.queued),
    ...text("mostly", "mostly", "the state with most of its time", mostly),
    { id: "states", title: "by state", plain: "by state", help: "its states, on one scale", unit: "s", group: "states", value: (f) => f.time, cell: (f) => <MiniBar states={spec.states} values={f.states} most={most} unit="s" /> },
    ...text("thread", "threads", "the thread that answered; of those that it went through, or that held what it waited for, the one with most of its time; and how many more (+)", threads),
    ...text("backend", "back-end", "the server that it waited for most, and how many requests it made to it", (f) => (f.backend ? `${f.backend} ×${f.backendTurns}` : "")),
    ...number("backend_time", "waited for it", "how long it waited for that server", "s", (f) => (f.backend ? f.backendTime : Number.NaN)),
  ];
  return <DataTable name="slowest" label="Slowest requests that were followed" columns={columns} rows={all} first="time" />;
}

export function SlowRequests({ columns, spec, service }: { columns: Columns; spec: Requests; service: number }) {
  const { runs } = report();
  const all = windows.value;
  const found = useMemo(() => runs.map((_, r) => followedOf(columns, spec, r, service, all[r] ?? { from: 0, to: 0 })), [columns, spec, service, all]);
  const pairs = useMemo(() => found.flatMap((list, run) => {
    if (list.length === 0) return [];
    const { usual, slowest } = usualAndSlowest(list);
    const group = (title: string, some: Followed[]): Group => ({ run, title, count: some.length, ...meanOf(some, spec.states.length) });
    return [{ usual: group("usual", usual), slowest: group("slowest", slowest) }];
  }), [found, spec]);
  const listed = useMemo(() => found.flatMap((list) => list.slice(0, LISTED)), [found]);
  return (
    <article class="chart table" id="at-slow-requests">
      <header>
        <h3>Where slow requests spent their time</h3>
        <span class="quiet">over {chosen.value ? "the window" : "the compared window"}</span>
        <span class="spacer" />
        <CopyButton text={() => spec.queries.followed} label="Copy query" title={spec.queries.followed} />
      </header>
      <p class="read">
        The mean of requests that were followed from the read of their question to their answer.{" "}
        <span class="quiet">Usual: from the 40th to the 60th percentile. Slowest: the slowest 1 %, at least five. What is long in the slowest and short in the usual makes the tail.</span>
      </p>
      {pairs.length === 0 ? <p class="none">No request of this service was followed in {chosen.value ? "the window" : "the compared window"}.</p> : (
        <>
          <ul class="slow-said">
            {pairs.map(({ usual, slowest }) => {
              const parts = longerBy(usual, slowest, spec);
              return (
                <li key={usual.run} class={runs.length > 1 ? "of-run" : ""}>
                  {runs.length > 1 && <RunName run={usual.run} />}
                  <span>
                  The slowest took <b>{human(slowest.time, "s")}</b>, {usual.time > 0 ? `${fixed(slowest.time / usual.time, slowest.time / usual.time < 10 ? 1 : 0)}× as long as` : "against"} the usual {human(usual.time, "s")}.
                  {parts && <> Of the difference: {parts}.</>}
                  </span>
                </li>
              );
            })}
          </ul>
          <Bars groups={pairs.flatMap((p) => [p.usual, p.slowest])} spec={spec} />
          <h4 class="listed-head">The slowest, one by one</h4>
          <Listed all={listed} spec={spec} />
        </>
      )}
    </article>
  );
}
