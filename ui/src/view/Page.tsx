// A page of charts and tables. Its block is unpacked when the page is first shown.
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import { loadBlock, loadCode, loadColumns, loadCounters, loadJvms, loadListings, loadSharing } from "../bundle/load";
import type { EventsTable, Instructions as InstructionsSpec, PageSpec } from "../bundle/types";
import { anchor, go, report, setParam } from "../state";
import { ChartView } from "./ChartView";
import { Code } from "./Code";
import { Counters } from "./Counters";
import { EventTable } from "./EventTable";
import { PointsHere } from "./Findings";
import { Instructions, NoInstructions } from "./Instructions";
import { Jvm } from "./Jvm";
import { Machine } from "./Machine";
import { Guard, Trouble, useLoaded } from "./parts";
import { Profiles } from "./Profiles";
import { Requests } from "./Requests";
import { Sharing } from "./Sharing";
import { TimeBudget } from "./TimeBudget";
import { WindowTable } from "./WindowTable";

/** A part of a page that needs a block of columns, which is unpacked when it is first shown. */
export function FromColumns({ block, what, children }: { block: string; what: string; children: (columns: Columns) => ComponentChildren }) {
  const { value, error } = useLoaded(() => loadColumns(block), block);
  if (error) return <Trouble>{error} The rest of the page is not affected.</Trouble>;
  if (!value) return <p class="quiet" role="status">Unpacking…</p>;
  return <Guard what={what}>{children(value)}</Guard>;
}

function FromListings({ spec, block }: { spec: InstructionsSpec; block: string }) {
  const { value, error } = useLoaded(() => loadListings(block), block);
  if (error) return <Trouble>{error} The rest of the page is not affected.</Trouble>;
  if (!value) return <p class="quiet" role="status">Unpacking…</p>;
  return <Guard what="Instructions"><Instructions spec={spec} listings={value} /></Guard>;
}

function FromSharing({ block }: { block: string }) {
  const { value, error } = useLoaded(() => loadSharing(block), block);
  if (error) return <Trouble>{error} The rest of the page is not affected.</Trouble>;
  if (!value) return <p class="quiet" role="status">Unpacking…</p>;
  return <Guard what="Sharing"><Sharing lines={value} /></Guard>;
}

function FromJvms({ block }: { block: string }) {
  const { value, error } = useLoaded(() => loadJvms(block), block);
  if (error) return <Trouble>{error} The rest of the page is not affected.</Trouble>;
  if (!value) return <p class="quiet" role="status">Unpacking…</p>;
  return <Guard what="JVM"><Jvm jvms={value} /></Guard>;
}

function FromCounters({ block }: { block: string }) {
  const { value, error } = useLoaded(() => loadCounters(block), block);
  if (error) return <Trouble>{error} The rest of the page is not affected.</Trouble>;
  if (!value) return <p class="quiet" role="status">Unpacking…</p>;
  return <Guard what="Counters"><Counters counters={value} /></Guard>;
}

function FromCode({ block }: { block: string }) {
  const { value, error } = useLoaded(() => loadCode(block), block);
  if (error) return <Trouble>{error} The rest of the page is not affected.</Trouble>;
  if (!value) return <p class="quiet" role="status">Unpacking…</p>;
  return <Guard what="Code"><Code maps={value} /></Guard>;
}

function View({ spec }: { spec: PageSpec }) {
  const { profile, requests, instructions, sharing, jvm, counters, code, machine } = report();
  if (spec.view === "requests") {
    return requests && <FromColumns block={requests.block} what={spec.title}>{(columns) => <Requests columns={columns} spec={requests} />}</FromColumns>;
  }
  if (spec.view === "instructions") {
    if (!instructions) return null;
    return instructions.block === null ? <NoInstructions spec={instructions} /> : <FromListings spec={instructions} block={instructions.block} />;
  }
  if (spec.view === "sharing") return sharing && <FromSharing block={sharing.block} />;
  if (spec.view === "counters") return counters && <FromCounters block={counters.block} />;
  if (spec.view === "jvm") return jvm && <FromJvms block={jvm.block} />;
  if (spec.view === "code") return code && <FromCode block={code.block} />;
  if (spec.view === "machine") return machine && <Guard what="Machine"><Machine machines={machine} /></Guard>;
  if (!spec.view || !profile) return null;
  return (
    <FromColumns block={profile.block} what={spec.title}>
      {(columns) => (spec.view === "time-budget" ? <TimeBudget columns={columns} spec={profile} /> : <Profiles columns={columns} spec={profile} />)}
    </FromColumns>
  );
}

export function Page({ spec }: { spec: PageSpec }) {
  const { value: block, error } = useLoaded(() => loadBlock(spec.block), spec.block);
  const at = anchor.value;
  const events = spec.tables.filter((t) => t.kind === "events");
  // Where a page is about one thing, its table is what to read first.
  const tablesFirst = ["locks", "calls"].includes(spec.id);
  const drawn = (t: EventsTable) => (
    <FromColumns key={`${spec.id}/${t.id}`} block={t.block} what={`“${t.title}”`}>{(columns) => <EventTable table={t} columns={columns} />}</FromColumns>
  );
  useEffect(() => {
    if (block && at) document.getElementById(`at-${at}`)?.scrollIntoView({ block: "start" });
  }, [block, at]);
  return (
    <>
      <div class="page-head">
        <h1>{spec.title}</h1>
        {spec.differences > 0 && (
          <a href="#overview" onClick={(e) => { e.preventDefault(); setParam("differences.page", spec.id); go("overview", "differences"); }}>
            {spec.differences === 1 ? "1 difference" : `${spec.differences} differences`} found here
          </a>
        )}
        <PointsHere page={spec.id} />
      </div>
      {error && <Trouble>{error} The other pages are not affected.</Trouble>}
      {!block && !error && <p class="quiet" role="status">Unpacking…</p>}
      <View spec={spec} />
      {tablesFirst && events.map(drawn)}
      {block && spec.charts.map((c) => <ChartView key={`${spec.id}/${c.id}`} chart={c} block={block} />)}
      {!tablesFirst && events.map(drawn)}
      {block && spec.tables.map((t) => t.kind === "window" && (
        <Guard key={`${spec.id}/${t.id}`} what={`“${t.title}”`}>
          <WindowTable table={t} block={block} />
        </Guard>
      ))}
    </>
  );
}
