// What the compiled code of JVMs is: how full its heaps were, over how much memory its hot part lies, and the methods that were on a CPU.
import type { JvmMethod, JvmsOfRun } from "../bundle/types";
import { codeOf, TIER_WORDS, tierOf, tierShares } from "../model/jvm";
import { human } from "../model/units";
import { report } from "../state";
import { type ColumnOf, DataTable } from "./DataTable";
import { type NumberRow, Numbers } from "./Numbers";
import { CopyButton, Guard, nameOf, RunName } from "./parts";

const QUERY = "select run, comm, method, tier, state, why_not, time / 1e9 as seconds, bytes, bytecode, compilations\nfrom jvm_code order by time desc";

const optional = (x: number | null, unit: string) => (x === null ? "–" : human(x, unit));

function numbers(runs: JvmsOfRun[]): NumberRow[] {
  const code = runs.map((run) => codeOf(run.code));
  const shares = runs.map((run) => tierShares(run.methods));
  return [
    { title: "code cache", help: "compiled methods and what else there is in the code cache when the recording ended", cells: code.map((c) => optional(c?.used ?? null, "B")) },
    { title: "at most", help: "the most that was in use, of what it may have; from 90 % on methods are thrown away that were not called for a while", cells: code.map((c) => optional(c?.filled ?? null, "ratio")) },
    { title: "hot code", help: "machine code of the methods that hold 90 % of the samples", cells: code.map((c) => optional(c?.hot ?? null, "B")) },
    { title: "on pages of 4 KiB", help: "pages that the hot code touches: instruction caches and TLBs hold some hundreds", cells: code.map((c) => optional(c?.pages ?? null, "")) },
    { title: "on pages of 2 MiB", help: "huge pages that it would touch", cells: code.map((c) => optional(c?.hugePages ?? null, "")) },
    { title: "in huge pages", help: "part of the code cache that lies in huge pages", cells: code.map((c) => optional(c?.huge ?? null, "B")) },
    ...(["interpreted", "c1", "c2"] as const).map((kind) => ({
      title: TIER_WORDS[kind].title, help: `${TIER_WORDS[kind].help}: share of the CPU time of the methods below`, cells: shares.map((s) => optional(s?.[kind] ?? null, "ratio")),
    })),
  ];
}

interface Row {
  method: JvmMethod;
  run: number;
  part: number;
}

function Methods({ runs }: { runs: JvmsOfRun[] }) {
  const rows: Row[] = runs.flatMap((of, run) => {
    const all = of.methods.reduce((sum, m) => sum + m.time, 0);
    return of.methods.map((method) => ({ method, run, part: all > 0 ? method.time / all : 0 }));
  });
  if (rows.length === 0) return <p class="none">No sample fell into code of a JVM.</p>;
  const columns: ColumnOf<Row>[] = [
    { id: "method", title: "method", plain: "method", help: "the method; what it has inlined counts for it", unit: "", group: "", text: (r) => r.method.method },
    ...(runs.length > 1 ? [{ id: "run", title: "recording", plain: "recording", help: "the recording that the row is about", unit: "", group: "", text: (r: Row) => nameOf(r.run), cell: (r: Row) => <RunName run={r.run} /> }] : []),
    { id: "tier", title: "ran", plain: "how it ran", help: "interpreted, compiled by C1 (tiers 1 to 3) or by C2 (tier 4); OSR: a loop that was compiled while it ran", unit: "", group: "", text: (r) => tierOf(r.method) },
    { id: "part", title: "CPU time", plain: "share of CPU time", help: "share of the CPU time of the methods listed", unit: "ratio", group: "time", value: (r) => r.part },
    { id: "bytes", title: "machine code", plain: "machine code", help: "size of its machine code", unit: "B", group: "size", value: (r) => r.method.bytes ?? Number.NaN },
    { id: "bytecode", title: "bytecode", plain: "bytecode", help: "size of its bytecode; methods of more than 8,000 bytes are not compiled", unit: "B", group: "size", value: (r) => r.method.bytecode },
    { id: "compilations", title: "compiled", plain: "compilations", help: "different compilations that were met: a method that is compiled again and again was given up each time", unit: "", group: "count", value: (r) => r.method.compilations },
    { id: "why", title: "not compiled because", plain: "not compiled because", help: "what keeps it from being compiled, or from C2; empty where nothing does", unit: "", group: "", text: (r) => r.method.why_not ?? "" },
  ];
  return <DataTable name="jvm-methods" label="Methods that were on a CPU" columns={columns} rows={rows} first="part" />;
}

export function JvmCode({ runs }: { runs: JvmsOfRun[] }) {
  if (!runs.some((run) => run.code.length > 0 || run.methods.length > 0)) return null;
  return (
    <article class="table" id="at-jvm-code">
      <header>
        <h3>Code</h3>
        {report().runs.length > 1 && <span class="quiet">of the busiest JVM of each recording</span>}
        <span class="spacer" />
        <CopyButton text={() => QUERY} label="Copy query" title={QUERY} />
      </header>
      <p class="read">
        How the methods ran that were on a CPU, and how the code cache lies.{" "}
        <span class="quiet">Interpreted code is ten to a hundred times slower than that of C2, that of C1 two to three times. A full code cache keeps methods from being compiled. Hot code that is spread over many pages misses instruction caches and TLBs.</span>
      </p>
      <Guard what="The numbers"><Numbers name="code" caption="whole recordings" rows={numbers(runs)} /></Guard>
      <Guard what="The table"><Methods runs={runs} /></Guard>
    </article>
  );
}
