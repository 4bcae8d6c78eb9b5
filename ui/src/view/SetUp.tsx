// All facts of each recording: kernel, CPU, settings. Filtered by text, or to what differs.
import { useMemo, useState } from "preact/hooks";
import { loadSetUp } from "../bundle/load";
import type { SetUp as Facts } from "../bundle/types";
import { csv } from "../model/csv";
import { param, report, setParam } from "../state";
import { CopyButton, RunName, Trouble, nameOf, useLoaded } from "./parts";

type Fact = Facts["facts"][number];

const differs = (f: Fact) => f.values.some((v) => v !== f.values[0]);

/** The same columns in every category, so that values stand under the names of the recordings. */
function Columns() {
  return (
    <colgroup>
      <col class="name" />
      {report().runs.map((_, i) => <col key={i} />)}
    </colgroup>
  );
}

function Category({ name, facts, open }: { name: string; facts: Fact[]; open: boolean }) {
  const [toggled, setToggled] = useState<boolean | null>(null);
  const shown = toggled ?? open;
  return (
    <section class="category">
      <h3>
        <button type="button" class="plain" aria-expanded={shown} onClick={() => setToggled(!shown)}>
          <span aria-hidden="true" class="fold">{shown ? "▾" : "▸"}</span> {name} <span class="quiet">{facts.length}</span>
        </button>
      </h3>
      {shown && (
        <table class="facts">
          <Columns />
          <thead class="hidden">
            <tr>
              <th scope="col">Fact</th>
              {report().runs.map((r, i) => <th key={i} scope="col" title={r.name}>{nameOf(i)}</th>)}
            </tr>
          </thead>
          <tbody>
            {facts.map((f, i) => (
              <tr key={i} class={differs(f) ? "differs" : ""}>
                <th scope="row" title={f.why ?? undefined}>{f.fact}</th>
                {report().runs.map((_, run) => <Value key={run} value={f.values[run] ?? null} />)}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** A value of a fact; what was not read says so. */
export function Value({ value }: { value: string | null }) {
  if (value === null) return <td class="quiet">not read</td>;
  return <td class="value">{value === "" ? <span class="quiet">(empty)</span> : value}</td>;
}

function All({ facts }: { facts: Fact[] }) {
  const filter = param("facts.filter");
  const only = param("facts.only") === "differing";
  const kept = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return facts.filter((f) => {
      if (only && !differs(f)) return false;
      if (words.length === 0) return true;
      const all = [f.category, f.fact, ...f.values].join("\n").toLowerCase();
      return words.every((w) => all.includes(w));
    });
  }, [facts, filter, only]);
  const narrowed = filter !== "" || only;
  const several = report().runs.length > 1;
  // First what differs, then what is known to matter; the rest by category, folded.
  const parts = useMemo(() => {
    if (narrowed) return [...Map.groupBy(kept, (f) => f.category)].map(([name, list]) => ({ name, list, open: true }));
    const first = kept.filter((f) => several && differs(f)).toSorted((a, b) => Number(!a.why) - Number(!b.why));
    const known = kept.filter((f) => f.why && !(several && differs(f)));
    const taken = new Set([...first, ...known]);
    const rest = Map.groupBy(kept.filter((f) => !taken.has(f)), (f) => f.category);
    return [
      ...(several ? [{ name: "Differs", list: first, open: true }] : []),
      { name: several ? "The same, and known to matter" : "Known to matter", list: known, open: true },
      ...[...rest].map(([name, list]) => ({ name, list, open: false })),
    ].filter((part) => part.list.length > 0);
  }, [kept, narrowed, several]);
  return (
    <>
      <div class="tools">
        <label class="field">
          <span class="hidden">Filter facts</span>
          <input type="search" placeholder="Filter" value={filter} data-filter onInput={(e) => setParam("facts.filter", e.currentTarget.value)} />
        </label>
        {report().runs.length > 1 && (
          <button type="button" aria-pressed={only} onClick={() => setParam("facts.only", only ? "" : "differing")}>
            Only differing
          </button>
        )}
        <span class="spacer" />
        <span class="quiet small" aria-live="polite">{narrowed ? `${kept.length} of ${facts.length}` : `${facts.length} facts`}</span>
        <CopyButton
          label="Copy as CSV"
          text={() => csv([["Category", "Fact", ...report().runs.map((_, i) => nameOf(i))], ...kept.map((f) => [f.category, f.fact, ...report().runs.map((_, i) => f.values[i] ?? null)])])}
        />
      </div>
      {report().runs.length > 1 && (
        <table class="facts facts-head" aria-hidden="true">
          <Columns />
          <tbody>
            <tr>
              <th />
              {report().runs.map((_, i) => <td key={i}><RunName run={i} /></td>)}
            </tr>
          </tbody>
        </table>
      )}
      {several && !narrowed && !facts.some(differs) && <p class="none">No fact differs.</p>}
      <div class="facts-all">
        {parts.map(({ name, list, open }) => (
          <Category key={`${name}/${narrowed}`} name={name} facts={list} open={open} />
        ))}
      </div>
      {kept.length === 0 && <p class="none">{only && !filter ? "Every fact is the same in all recordings." : `Nothing matches “${filter}”.`}</p>}
    </>
  );
}

/** The page. */
export function SetUp({ block }: { block: string }) {
  const { value, error } = useLoaded(() => loadSetUp(block), block);
  return (
    <>
      <div class="page-head"><h1>Set-up</h1></div>
      {error && <Trouble>{error} The other pages are not affected.</Trouble>}
      {!value && !error && <p class="quiet" role="status">Unpacking…</p>}
      {value && <All facts={value.facts} />}
    </>
  );
}
