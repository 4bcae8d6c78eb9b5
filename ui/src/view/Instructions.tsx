// Instructions: which functions there are, and of the one that is chosen what each instruction cost, of one run or of two side by side, with its loops,
// the lines of source that it comes from, and what the CPU waited for. The numbers are of the compared window: the page does not compute them anew.
import { useMemo } from "preact/hooks";
import type { Instructions as Spec, Listed, ListedFunction, ListedLoop, Listings, WaitShare } from "../bundle/types";
import { waitColor } from "../model/color";
import { hottest, loopInWords, roundInWords, type Side, SIDES, signed, time, WAITS, waitsInWords } from "../model/instructions";
import { fixed, human } from "../model/units";
import { chosen, param, report, setParam } from "../state";
import { type ColumnOf, DataTable } from "./DataTable";
import { Listing } from "./Listing";
import { nameOf, RunName } from "./parts";

/** A class of wait: its colour, and its word. */
export function WaitWord({ wait }: { wait: string }) {
  return (
    <span class="wait" title={`${wait}: ${WAITS[wait] ?? ""}`}>
      <span class={`swatch${wait === "unknown" ? " unknown" : ""}`} style={wait === "unknown" ? {} : { background: waitColor(wait) }} aria-hidden="true" />
      {wait}
    </span>
  );
}

const nameOfFunction = (l: Listed) => (l.of.slow ?? l.of.against)?.function ?? "";
const moduleOf = (l: Listed) => {
  const module = (l.of.slow ?? l.of.against)?.module ?? "";
  return module === "" ? "made while it ran" : (module.split("/").at(-1) ?? module);
};
const runOf = (spec: Spec, side: Side) => (side === "slow" ? spec.run : (spec.against ?? spec.run));

/** Findings that are about a function, by rank. */
const findingsOf = (at: number) => (report().explanation?.findings ?? []).flatMap((f, i) => (f.function === at ? [i + 1] : []));

/** The function that is chosen: the first that a finding is about, or else the one that takes longer by most. */
function pickedOf(listings: Listings): number {
  const asked = Number.parseInt(param("instructions.function"), 10);
  if (listings.functions[asked]) return asked;
  const found = report().explanation?.findings.find((f) => f.function !== null)?.function;
  if (typeof found === "number") return found;
  const longer = listings.functions.map((l) => l.difference?.[0] ?? 0);
  return Math.max(0, longer.indexOf(Math.max(...longer)));
}

interface Row {
  at: number;
  listed: Listed;
}

function Functions({ spec, listings, picked }: { spec: Spec; listings: Listings; picked: number }) {
  const { per } = listings;
  const both = spec.against !== null;
  const rows = listings.functions.map((listed, at): Row => ({ at, listed }));
  const pick = (r: Row) => {
    setParam("instructions.row", "");
    setParam("instructions.function", String(r.at));
  };
  const of = (r: Row, side: Side) => r.listed.of[side];
  const sides: Side[] = both ? [...SIDES] : ["slow"];
  const number = (id: string, title: ColumnOf<Row>["title"], plain: string, help: string, unit: string, group: string, value: (r: Row) => number, bySize = false): ColumnOf<Row> =>
    ({ id, title, plain, help, unit, group, value, bySize, fine: false });
  const times = sides.map((side) => number(
    `time-${side}`, both ? <RunName run={runOf(spec, side)} /> : <>time per {per}</>, both ? `${nameOf(runOf(spec, side))} per ${per}` : `time per ${per}`,
    `CPU time of the function per ${per}`, "s", "time", (r) => (of(r, side)?.ns ?? Number.NaN) / 1e9,
  ));
  const shares = sides.map((side) => number(
    `share-${side}`, both ? <>share <RunName run={runOf(spec, side)} /></> : "share", both ? `share ${nameOf(runOf(spec, side))}` : "share",
    "its part of the CPU time of all traced threads", "ratio", "share", (r) => of(r, side)?.share ?? Number.NaN,
  ));
  const mostly = (r: Row) => waitsInWords((r.listed.of.slow ?? r.listed.of.against)?.waits.slice(0, 2) ?? []);
  const columns: ColumnOf<Row>[] = [
    {
      id: "function", title: "function", plain: "function", help: "its name; a number: the finding that is about it", unit: "", group: "", text: (r) => nameOfFunction(r.listed),
      cell: (r) => (
        <button type="button" class="line-name pick" aria-pressed={r.at === picked} title={nameOfFunction(r.listed)} onClick={() => pick(r)}>
          <span class="radio" aria-hidden="true" /><code class="ellipsis">{nameOfFunction(r.listed)}</code>
          {findingsOf(r.at).map((rank) => <span key={rank} class="rank" title={`Finding ${rank} is about it`}><span class="hidden">finding </span>{rank}</span>)}
        </button>
      ),
    },
    { id: "module", title: "file", plain: "file", help: "the file that it is in", unit: "", group: "", text: (r) => moduleOf(r.listed) },
    ...times,
    ...(both ? [number("difference", "difference", `difference per ${per}`, `how much more CPU time per ${per} it takes in ${nameOf(spec.run)}`, "s", "time", (r) => (r.listed.difference?.[0] ?? Number.NaN) / 1e9, true)] : []),
    ...shares,
    { id: "mostly", title: "waits for", plain: "waits for", help: "what the CPU waits for most", unit: "", group: "", text: mostly },
    number("registers", "samples", "samples with registers", "samples with registers, of both recordings", "", "samples", (r) => (of(r, "slow")?.with_registers ?? 0) + (of(r, "against")?.with_registers ?? 0)),
  ];
  return (
    <article class="table" id="at-functions" data-table="functions">
      <header>
        <h3>Functions</h3>
        <span class="quiet">CPU time per {per}</span>
      </header>
      <p class="read">
        Functions that findings are about, and those with most samples.{" "}
        <span class="quiet">Choose one to see its instructions below.{listings.left_out > 0 ? ` ${listings.left_out} with fewer samples are not listed.` : ""}</span>
      </p>
      <DataTable name="functions" label="Functions" columns={columns} rows={rows} first={rows.some((r) => r.listed.difference) ? "difference" : "time-slow"} onRow={pick} look={(r) => (r.at === picked ? "picked" : "")} />
    </article>
  );
}

/** What a function waits for, as one bar, with its words. */
function Waits({ waits, label }: { waits: WaitShare[]; label: string }) {
  const shown = waits.filter((w) => w.part >= 0.005);
  if (shown.length === 0) return <p class="quiet">No sample landed in it.</p>;
  return (
    <div class="waits">
      <div class="bar still" role="img" aria-label={`${label} waits for ${waitsInWords(waits)}`}>
        {shown.map((w) => <span key={w.wait} class={`segment${w.wait === "unknown" ? " unknown" : ""}`} style={{ width: `${w.part * 100}%`, ...(w.wait === "unknown" ? {} : { background: waitColor(w.wait) }) }} title={`${w.wait} ${human(w.part, "ratio")}: ${WAITS[w.wait] ?? ""}`} />)}
      </div>
      <p class="small">{shown.map((w) => <span key={w.wait}><WaitWord wait={w.wait} /> {fixed(w.part * 100, w.part < 0.0995 ? 1 : 0)} %</span>)}</p>
    </div>
  );
}

/** What is said of a function on one side, and what is not known of it. */
function OfSide({ spec, side, of, per, missing }: { spec: Spec; side: Side; of: ListedFunction | null; per: string; missing: string }) {
  const run = runOf(spec, side);
  if (!of) return <div class="listed-side"><p><RunName run={run} /></p><p class="quiet">{missing}</p></div>;
  const notes = [
    ...(of.skid === null ? ["Where samples land was not told by the calibration at the start: no class of wait can be told."] : []),
    ...(of.frequency === null ? ["The CPU’s frequency was not measured: no cycles."] : []),
    ...(of.whole ? [] : ["Where it begins is not known: what was kept of its code begins near the samples."]),
    ...(of.calls?.at_most ? ["Its calls took longer while they were counted: it waits for memory, and each hit leaves the caches colder."] : []),
    ...(of.versions > 0 ? [`${of.versions} other ${of.versions === 1 ? "version" : "versions"} of it were made while the program ran, with ${of.versions_samples} samples; this one has most.`] : []),
  ];
  return (
    <div class="listed-side">
      <p><RunName run={run} /> <b>{time(of.ns)}</b> <span class="quiet">per {per} · {human(of.share, "ratio")} of the CPU time · {fixed(of.samples, 0)} samples, {fixed(of.with_registers, 0)} with registers</span></p>
      <p class="quiet small ellipsis" title={of.module || "made while the program ran"}>{of.module || `made by process ${of.pid ?? "?"} while it ran`}</p>
      {of.calls && <p class="small">Called every <b>{time(of.calls.between)}</b>{of.calls.even ? "" : ", in uneven intervals,"} by the thread that runs it most: {of.calls.at_most ? "at most " : ""}<b>{time(of.calls.ns)}</b> of its own a call <span class="quiet">(95 % CI {time(of.calls.low)}–{time(of.calls.high)}; {of.calls.looks} {of.calls.looks === 1 ? "look" : "looks"})</span></p>}
      <Waits waits={of.waits} label={nameOf(run)} />
      {notes.map((n) => <p key={n} class="quiet small">{n}</p>)}
    </div>
  );
}

/** A loop, in one line: the time of a round first. */
export function LoopLine({ loop, of, letter }: { loop: ListedLoop; of: ListedFunction; letter: string }) {
  const { round, facts, verdict } = loopInWords(loop, of);
  return (
    <span class="loop-line" title={roundInWords(loop)}>
      <b class="letter">{letter}</b> {loop.round ? <b>{round}</b> : <span class="quiet">{round}</span>}{verdict && <> · <b>{verdict}</b></>} · {fixed(loop.share * 100, 0)} % of the samples · {facts.join(" · ")}
    </span>
  );
}

/** Says that there is nothing, why, and what would give it. */
export function NoInstructions({ spec }: { spec: Spec }) {
  const which = [spec.against, spec.run].filter((r): r is number => r !== null);
  return (
    <div class="none">
      <p>No machine code was recorded: <code>twinscope record --stacks --instructions -- COMMAND</code>, as root, gives it.</p>
      <ul>
        {which.map((run) => {
          const said = spec.missing[run];
          return said && <li key={run}>{report().runs.length > 1 && <><RunName run={run} />: </>}{said.why}{said.remedy && <>; it takes <code>{said.remedy}</code></>}.</li>;
        })}
      </ul>
    </div>
  );
}

export function Instructions({ spec, listings }: { spec: Spec; listings: Listings }) {
  const { runs } = report();
  const picked = pickedOf(listings);
  const listed = listings.functions[picked];
  const first = useMemo(() => (listed ? hottest(listed.rows) : null), [listed]);
  const both = spec.against !== null;
  const windowOf = (run: number) => {
    const w = runs[run]?.window;
    return w ? `${fixed(w.from, 1)} to ${fixed(w.to, 1)} s` : "";
  };
  const sides: Side[] = both ? [...SIDES] : ["slow"];
  const others = runs.filter((_, i) => i !== spec.run && i !== spec.against).length;
  const why = (side: Side) => {
    const said = spec.missing[runOf(spec, side)];
    return said ? `${said.why}${said.remedy ? `; it takes ${said.remedy}` : ""}.` : "No sample landed in a function of this name.";
  };
  return (
    <>
      <ul class="quiet small request-notes listing-notes">
        <li>
          Of the compared window ({sides.map((side) => `${both ? `${nameOf(runOf(spec, side))} ` : ""}${windowOf(runOf(spec, side))}`).join(", ")})
          {chosen.value ? ": the window that is chosen above does not change what is on this page." : "."}
        </li>
        {others > 0 && <li>Of {nameOf(spec.run)}{spec.against === null ? "" : ` against ${nameOf(spec.against)}`}; the other recordings are not listed.</li>}
      </ul>
      {!listed ? <p class="none">No function has enough samples: a longer recording, or more bursts (<code>--instructions=2</code>), give more.</p> : (
        <>
          <Functions spec={spec} listings={listings} picked={picked} />
          <article class="table listing" id="at-listing">
            <header class="section-head">
              <h2><code>{nameOfFunction(listed)}</code></h2>
              {listed.difference && <span class="quiet">{signed(listed.difference[0])} per {listings.per}, 95 % CI {signed(listed.difference[1])} to {signed(listed.difference[2])}</span>}
            </header>
            <div class={`listed-sides${both ? " two" : ""}`}>
              {sides.map((side) => <OfSide key={side} spec={spec} side={side} of={listed.of[side]} per={listings.per} missing={why(side)} />)}
            </div>
            <Listing key={picked} listed={listed} per={listings.per} run={(side) => runOf(spec, side)} first={first} />
          </article>
        </>
      )}
    </>
  );
}

