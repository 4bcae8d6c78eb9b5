// Flame graphs: on and off the CPU, by state, for the chosen window; each recording, or how one differs from the baseline; and the heat map
// of the samples to pick windows from.
import { useMemo, useRef } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import type { Measure, ProfileSpec } from "../bundle/types";
import { type Asked, ofRun, threadsOf, treeOf, unitOf } from "../model/profile";
import { chosen, ledgerState, param, report, setParam, windows } from "../state";
import { FlameGraph, type FlameState, flameState } from "./flame/FlameGraph";
import { FlameTop } from "./flame/FlameTop";
import type { Tree } from "./flame/tree";
import { OffsetHeats } from "./OffsetHeat";
import { Guard, nameOf, RunName, useWidth } from "./parts";

export interface Choice {
  id: string;
  title: string;
  measures: Asked["measures"];
  byState: boolean;
}

/** Of what divides the time of the ledger: that on a CPU, and that in its other states. */
function ofLedger(spec: ProfileSpec): { cpu: Measure | undefined; blocked: Measure | undefined } {
  const ledger = spec.measures.filter((m) => m.ledger);
  return { cpu: ledger.find((m) => !m.state), blocked: ledger.find((m) => m.state) };
}

/** What a reader can choose to see: on CPU, off CPU, each state, and the other measures. */
export function choices(columns: Columns, spec: ProfileSpec): Choice[] {
  const { cpu, blocked } = ofLedger(spec);
  const out: Choice[] = [];
  if (cpu) out.push({ id: cpu.id, title: cpu.title, measures: [{ measure: cpu, states: null }], byState: false });
  if (blocked) {
    const t = columns.table(blocked.table);
    const there = new Set(Array.from(new Set(t.raw(blocked.state ?? "")), (n) => t.word(n)));
    const known = spec.states.filter((s) => there.has(s.id));
    const unknown = [...there].filter((id) => id !== "" && !spec.states.some((s) => s.id === id));
    const resting = known.filter((s) => s.quiet);
    const lost = new Set([...known.filter((s) => !s.quiet).map((s) => s.id), ...unknown]);
    const but = resting.length > 0 ? `, all but ${resting.map((s) => s.title.toLowerCase()).join(", ")}` : "";
    out.push({ id: blocked.id, title: `${blocked.title}${but}`, measures: [{ measure: blocked, states: lost }], byState: true });
    if (cpu) out.push({ id: "all", title: `${cpu.title} and ${blocked.title.toLowerCase()}`, measures: [{ measure: cpu, states: null }, { measure: blocked, states: lost }], byState: true });
    for (const s of [...known, ...unknown.map((id) => ({ id, title: id }))]) {
      out.push({ id: s.id, title: `${blocked.title}: ${s.title}`, measures: [{ measure: blocked, states: new Set([s.id]) }], byState: false });
    }
  }
  for (const m of spec.measures) {
    if (m !== cpu && m !== blocked) out.push({ id: m.id, title: m.title, measures: [{ measure: m, states: null }], byState: false });
  }
  return out;
}

/** The state of the graphs, kept in the link. */
function readState(runs: number): FlameState {
  const start = flameState(runs);
  let zoom: unknown = [];
  try {
    zoom = JSON.parse(param("flame.zoom") || "[]");
  } catch {
    // A link that was cut off shows the whole graph.
  }
  const widths = param("flame.widths");
  return {
    zoom: Array.isArray(zoom) ? zoom.map(String) : [],
    search: param("flame.search"),
    reverse: param("flame.reverse") === "1",
    order: param("flame.order") === "heavy" ? "heavy" : "name",
    widths: runs > 1 && /^[01]$/.test(widths) ? Number(widths) : start.widths,
  };
}

function writeState(s: FlameState, runs: number): void {
  setParam("flame.zoom", s.zoom.length > 0 ? JSON.stringify(s.zoom) : "");
  setParam("flame.search", s.search);
  setParam("flame.reverse", s.reverse ? "1" : "");
  setParam("flame.order", s.order === "heavy" ? "heavy" : "");
  if (runs > 1) setParam("flame.widths", s.widths === "both" ? "" : String(s.widths));
}

/** `names`: what the weights are called, where they are not those of `runs`. */
export function Graph({ tree, runs, unit, label, heading, names = runs.map(nameOf) }: { tree: Tree; runs: number[]; unit: string; label: string; heading: boolean; names?: string[] }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  return (
    <div class="flame-panel" ref={box}>
      {heading && <h3>{runs.map((r) => <RunName key={r} run={r} />)}</h3>}
      {width > 0 && (
        <Guard what="This flame graph">
          <FlameGraph tree={tree} runs={names} unit={unit} label={label} state={readState(names.length)} onState={(s) => writeState(s, names.length)} width={width} />
        </Guard>
      )}
    </div>
  );
}

/** What is chosen to be seen. */
export function choiceIn(list: Choice[], spec: ProfileSpec): Choice | undefined {
  const state = ledgerState();
  const { cpu } = ofLedger(spec);
  const asked = cpu && spec.states.some((s) => s.id === state && s.kind === "on-cpu") ? cpu.id : state;
  return list.find((c) => c.id === asked) ?? list[0];
}

const PER = { operation: "per operation", run: "per run of the command", second: "per second" } as const;

export function Profiles({ columns, spec }: { columns: Columns; spec: ProfileSpec }) {
  const { runs } = report();
  const all = windows.value;
  const list = useMemo(() => choices(columns, spec), [columns, spec]);
  const { cpu } = ofLedger(spec);
  const choice = choiceIn(list, spec);
  const process = param("process");
  const thread = param("thread");
  const group = param("flame.group");
  const canOther = choice?.measures.length === 1 && choice.measures[0]?.measure.other;
  const other = Boolean(canOther) && param("flame.stack") === "other";
  const tree = useMemo(() => {
    if (!choice) return null;
    const above: Asked["group"] = [
      ...(choice.byState ? ["state" as const] : []),
      ...(group === "process" || group === "thread" ? ["process" as const] : []),
      ...(group === "thread" ? ["thread" as const] : []),
    ];
    return treeOf(columns, spec, all, { measures: choice.measures, process, thread, group: above, other });
  }, [columns, spec, all, choice, process, thread, group, other]);
  const single = useMemo(() => (tree ? runs.map((_, r) => ofRun(tree, r)) : []), [tree]);
  const against = Math.min(Math.max(1, Number(param("flame.against")) || 1), runs.length - 1);
  const difference = runs.length > 1 && param("flame.view") === "difference";
  // What the table of functions is about: two runs, or the first of one or many.
  const two = runs.length === 2 || difference;
  const pair = useMemo(() => (tree && two ? { ...tree, self: [0, against].map((r) => tree.self[r] ?? new Float64Array(tree.parent.length)) } : null), [tree, two, against]);
  const names = useMemo(() => threadsOf(columns, spec.measures), [columns, spec]);
  if (!choice || !tree) return <p class="none">No stacks were recorded.</p>;
  const unit = unitOf(spec, choice.measures[0]?.measure.unit ?? "s");
  const withData = runs.flatMap((_, r) => (tree.self[r]?.some((x) => x > 0) ? [r] : []));
  const processes = [...new Set(names.map((n) => n.process))].filter(Boolean);
  const threads = [...new Set(names.filter((n) => process === "" || n.process === process).map((n) => n.thread))].filter(Boolean);
  const notes = spec.notes.flatMap((n, r) => n.map((text) => (runs.length > 1 ? `${nameOf(r)}: ${text}` : text)));
  const pick = (name: string) => setParam("flame.search", param("flame.search") === name ? "" : name);
  const table: { tree: Tree; runs: string[] } = pair ? { tree: pair, runs: [nameOf(0), nameOf(against)] } : { tree: single[0] ?? tree, runs: [nameOf(0)] };
  return (
    <section class="profiles" aria-label="Flame graphs">
      <div class="tools">
        <label class="field">
          Show{" "}
          <select value={choice.id} data-choice onChange={(e) => setParam("state", e.currentTarget.value === list[0]?.id ? "" : e.currentTarget.value)}>
            {list.map((c) => <option key={c.id} value={c.id}>{c.title}</option>)}
          </select>
        </label>
        {canOther && (
          <label class="field">
            Stack of{" "}
            <select value={other ? "other" : "own"} onChange={(e) => setParam("flame.stack", e.currentTarget.value === "other" ? "other" : "")}>
              <option value="own">{choice.measures[0]?.measure.who}</option>
              <option value="other">{choice.measures[0]?.measure.other_title}</option>
            </select>
          </label>
        )}
        {processes.length > 1 && (
          <label class="field">
            Process{" "}
            <select value={process} onChange={(e) => { setParam("process", e.currentTarget.value); setParam("thread", ""); }}>
              <option value="">all</option>
              {processes.map((p) => <option key={p} value={p}>{p}</option>)}
            </select>
          </label>
        )}
        {threads.length > 1 && (
          <label class="field">
            Thread{" "}
            <select value={thread} onChange={(e) => setParam("thread", e.currentTarget.value)}>
              <option value="">all</option>
              {threads.map((t) => <option key={t} value={t}>{t}</option>)}
            </select>
          </label>
        )}
        <label class="field">
          Split by{" "}
          <select value={group} onChange={(e) => setParam("flame.group", e.currentTarget.value)}>
            <option value="">nothing</option>
            <option value="process">process</option>
            <option value="thread">process, thread</option>
          </select>
        </label>
        {runs.length > 1 && (
          <button type="button" aria-pressed={difference} onClick={() => setParam("flame.view", difference ? "" : "difference")}>Difference</button>
        )}
        {difference && runs.length > 2 && (
          <label class="field">
            of{" "}
            <select value={String(against)} onChange={(e) => setParam("flame.against", e.currentTarget.value)}>
              {runs.slice(1).map((_, i) => <option key={i} value={String(i + 1)}>{nameOf(i + 1)}</option>)}
            </select>
          </label>
        )}
      </div>
      <p class="read quiet">
        {choice.measures.map((m) => m.measure.help).join("; ")}; {PER[spec.per.what]}, over {chosen.value ? "the window" : "the compared window"}.
        {" "}A callee lies below its caller; the order from left to right is not time.
      </p>
      {withData.length === 0 ? (
        <p class="none">Nothing of this was measured in {chosen.value ? "the window" : "the compared window"}{process || thread ? " for what is chosen" : ""}.</p>
      ) : difference && pair ? (
        <Graph tree={pair} runs={[0, against]} unit={unit} heading={false} label={`${choice.title}, ${nameOf(against)} against ${nameOf(0)}`} />
      ) : (
        <div class={`flame-panels${withData.length > 1 ? " many" : ""}`}>
          {runs.map((_, r) => withData.includes(r) ? (
            <Graph key={r} tree={single[r] ?? tree} runs={[r]} unit={unit} heading={runs.length > 1} label={`${choice.title}, ${nameOf(r)}`} />
          ) : (
            <div key={r} class="flame-panel"><h3><RunName run={r} /></h3><p class="none">Nothing of this was measured here.</p></div>
          ))}
        </div>
      )}
      {cpu && <OffsetHeats columns={columns} measure={cpu} process={process} thread={thread} />}
      {withData.length > 0 && (
        <section aria-label="Functions">
          <h2>Functions</h2>
          <FlameTop tree={table.tree} runs={table.runs} unit={unit} onPick={pick} />
        </section>
      )}
      {notes.length > 0 && <ul class="small quiet">{notes.map((n) => <li key={n}>{n}</li>)}</ul>}
    </section>
  );
}
