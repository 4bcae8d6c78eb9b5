// The thread ledger over the chosen window: all threads as one bar, by process and thread, and how many ran at once.
import { useMemo } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import type { Budget as Data, ProfileSpec } from "../bundle/types";
import { divisors, ledgerOf, unitOf } from "../model/profile";
import { chosen, ledgerState, param, report, setParam, windows } from "../state";
import { Budget } from "./Budget";
import { Concurrency } from "./Concurrency";
import { type ColumnOf, DataTable, type Group } from "./DataTable";
import { nameOf, RunName } from "./parts";
import { MiniBar } from "./StateBar";

const WHAT = { operation: "Time of all threads per operation", run: "Time of all threads per run of the command", second: "Time of all threads per second" } as const;

interface ThreadRow {
  process: string;
  thread: string;
  /** By run: seconds by state, divided; null where the run does not have the thread. */
  runs: (Map<string, number> | null)[];
}

/** The states of one thread in one run, as a part of the longest of all. */
function Bar({ row, run, states, most, unit }: { row: ThreadRow; run: number; states: Data["states"]; most: number; unit: string }) {
  const of = row.runs[run];
  return of ? <MiniBar states={states} values={states.map((s) => of.get(s.id) ?? 0)} most={most} unit={unit} /> : <span class="quiet">–</span>;
}

function Threads({ columns, spec, states, unit }: { columns: Columns; spec: ProfileSpec; states: Data["states"]; unit: string }) {
  const { runs } = report();
  const all = windows.value;
  const byProcess = param("ledger.by") !== "thread";
  const state = ledgerState();
  const picked = states.find((s) => s.id === state);
  const rows = useMemo(() => {
    const by = divisors(spec, all);
    const found = new Map<string, ThreadRow>();
    for (const line of ledgerOf(columns, all, true).values()) {
      const key = byProcess ? line.process : JSON.stringify([line.process, line.thread]);
      const row = found.get(key) ?? { process: line.process, thread: byProcess ? "" : line.thread, runs: runs.map(() => null) };
      line.runs.forEach((of, r) => {
        if (of.size === 0) return;
        const sums = (row.runs[r] ??= new Map<string, number>());
        for (const [id, v] of of) sums.set(id, (sums.get(id) ?? 0) + v / (by[r] as number));
      });
      found.set(key, row);
    }
    return [...found.values()];
  }, [columns, spec, all, byProcess]);
  const shown = picked ? [picked] : states;
  const sum = (row: ThreadRow, run: number) => {
    const of = row.runs[run];
    return of ? shown.reduce((a, s) => a + (of.get(s.id) ?? 0), 0) : Number.NaN;
  };
  const most = Math.max(1e-12, ...rows.flatMap((row) => runs.map((_, r) => sum(row, r) || 0)));
  const two = runs.length === 2;
  const title = picked ? picked.title : "time";
  const columnsOf: ColumnOf<ThreadRow>[] = [
    { id: "process", title: "process", plain: "process", help: "name of the process", unit: "", group: "", text: (r) => r.process || "[not known]" },
    ...(byProcess ? [] : [{ id: "thread", title: "thread", plain: "thread", help: "name of the thread; threads of one name are added up", unit: "", group: "", text: (r: ThreadRow) => r.thread || "[all]" }]),
    ...runs.map((_, run): ColumnOf<ThreadRow> => ({
      id: `bar.${run}`, title: <RunName run={run} />, plain: `${nameOf(run)} by state`, help: "its states, on one scale", unit: "", group: "bar",
      value: (r) => sum(r, run), cell: (r) => <Bar row={r} run={run} states={shown} most={most} unit={unit} />,
    })),
    ...runs.map((_, run): ColumnOf<ThreadRow> => ({
      id: `time.${run}`, title: runs.length > 1 ? <RunName run={run} /> : title, plain: `${title} ${nameOf(run)}`, help: picked?.help ?? "all states that are shown", unit, group: "time", value: (r) => sum(r, run),
    })),
    ...(two ? [{
      id: "d", title: <span title="difference">Δ</span>, plain: "difference", help: `${nameOf(1)} − ${nameOf(0)}`, unit, group: "time", bySize: true,
      value: (r: ThreadRow) => (sum(r, 1) || 0) - (sum(r, 0) || 0),
    }] : []),
  ];
  const texts = byProcess ? 1 : 2;
  const groups: Group[] = [
    { id: "", title: "", help: "", span: texts },
    { id: "bar", title: "by state", help: "", span: runs.length },
    { id: "time", title, help: "", span: runs.length + (two ? 1 : 0) },
  ];
  return (
    <article class="table" id="at-ledger-table" data-table="ledger-table">
      <header>
        <h3>By {byProcess ? "process" : "process and thread"}</h3>
        <span class="quiet">{picked ? `${picked.title} only, ` : ""}over {chosen.value ? "the window" : "the compared window"}</span>
      </header>
      <DataTable name="ledger" label="Ledger by process and thread" columns={columnsOf} {...(runs.length > 1 ? { groups } : {})} rows={rows} first={two ? "d" : "time.0"}
        tools={<button type="button" aria-pressed={!byProcess} onClick={() => setParam("ledger.by", byProcess ? "thread" : "")}>By thread</button>} />
    </article>
  );
}

export function TimeBudget({ columns, spec }: { columns: Columns; spec: ProfileSpec }) {
  const all = windows.value;
  const unit = unitOf(spec, "s");
  const hasLedger = spec.tables.includes("ledger");
  const budget = useMemo((): Data | null => {
    if (!hasLedger) return null;
    const by = divisors(spec, all);
    const line = ledgerOf(columns, all, false).get("");
    // A state that was never seen in a run that has a ledger took no time there.
    const seen = line?.runs.map((r) => r.size > 0) ?? [];
    return {
      title: WHAT[spec.per.what], unit, note: null, source: "ledger", states: spec.states,
      values: all.map((_, r) => spec.states.map((s) => (seen[r] ? (line?.runs[r]?.get(s.id) ?? 0) / (by[r] as number) : null))),
    };
  }, [columns, spec, all]);
  const idle = param("budget.idle") === "1";
  const states = spec.states.filter((s) => idle || !s.quiet);
  return (
    <>
      {budget && <Budget budget={budget} heading="All threads" about={`over ${chosen.value ? "the window" : "the compared window"}`} />}
      {spec.tables.includes("running") && <Concurrency columns={columns} spec={spec} />}
      {hasLedger && <Threads columns={columns} spec={spec} states={states} unit={unit} />}
    </>
  );
}
