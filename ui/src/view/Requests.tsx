// Requests: a table of services, and of the one that is chosen how long its requests took over time and as percentiles, and where slow ones
// spent their time.
import { useMemo } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import type { Requests as Spec, Service } from "../bundle/types";
import { theme } from "../model/color";
import { countsOf, sumsOf, totalOf, type What, WHATS } from "../model/requests";
import { chosen, param, report, setParam, windows } from "../state";
import { type ColumnOf, DataTable } from "./DataTable";
import { LatencyHeat } from "./LatencyHeat";
import { CopyButton, Guard, nameOf, RunName } from "./parts";
import { ASKED, known, Percentiles } from "./Percentiles";
import { SlowRequests } from "./SlowRequests";

const TITLES: Record<What, { title: string; noun: string }> = {
  service: { title: "Service time", noun: "service time" },
  queue: { title: "Queue time", noun: "time before it was read" },
  answer: { title: "Whole answer", noun: "time to the last byte" },
};

/** What is timed, in a sentence. */
function meaning(what: What, service: Service): string {
  if (what === "queue") return "From when the first byte came to when it was read.";
  if (what === "answer") return "From the first byte of the question until the last byte of the answer was sent.";
  if (service.role === "client") return "From the first byte of the question sent to the first byte of the answer: how long the other side took, the network included.";
  return "From the first byte of the question read to the first byte of the answer sent.";
}

/** Where a service is found in a run: "8080", "10.0.0.2:5432", "/run/app.sock". */
function placeIn(service: Service, run: number): string {
  const place = service.places[run];
  if (!place) return "";
  if (service.protocol === "unix") return place.peer || "unix socket";
  const port = service.protocol === "tcp" ? String(place.port) : `${place.port}/${service.protocol}`;
  return place.peer ? `${place.peer.includes(":") ? `[${place.peer}]` : place.peer}:${port}` : port;
}

/** The same for all runs. */
function placeOf(service: Service): string {
  return [...new Set(service.places.map((_, r) => placeIn(service, r)).filter(Boolean))].join(", ");
}

function nameOfService(service: Service): string {
  const place = placeOf(service);
  const where = service.protocol === "unix" ? place : `${service.places.some((p) => p?.peer) ? "" : "port "}${place}`;
  return `${service.process}, ${service.role === "client" ? "client of" : "server on"} ${where}`;
}

/** One service in one run. */
interface Row {
  at: number;
  service: Service;
  run: number;
  /** Requests per second. */
  rate: number;
  percentiles: number[];
  /** p50 and p99 of the time to the last byte. */
  lastByte: [number, number];
  queue: number;
  connections: number;
}

/** Whether a time to the last byte is another than that to the first: by a fifth and 50 µs (`ANOTHER` of `query::latency`). */
const isAnother = (first: number, last: number) => last >= first * 1.2 && last - first >= 50e-6;

const SHOWN = ASKED.filter((a) => a.q <= 0.999);

function Services({ columns, spec, picked }: { columns: Columns; spec: Spec; picked: number }) {
  const { runs } = report();
  const all = windows.value;
  const rows = useMemo(() => {
    const sums = sumsOf(columns, spec, all);
    const counts = countsOf(columns, spec, all, "service");
    const answers = countsOf(columns, spec, all, "answer");
    return spec.services.flatMap((service, at) => {
      return runs.flatMap((_, run): Row[] => {
        if (!service.places[run]) return [];
        const w = all[run] ?? { from: 0, to: 0 };
        const s = sums[at]?.[run] ?? { turns: 0, opened: 0, queued: 0, queueTime: 0 };
        return [{
          at, service, run, rate: s.turns / Math.max(1e-9, w.to - w.from), percentiles: SHOWN.map((a) => known(counts[at]?.[run] as Float64Array, spec.ranges, a.q)),
          lastByte: [0.5, 0.99].map((q) => known(answers[at]?.[run] as Float64Array, spec.ranges, q)) as [number, number],
          queue: s.queued > 0 ? s.queueTime / s.queued : Number.NaN, connections: s.turns > 0 ? s.opened / s.turns : Number.NaN,
        }];
      });
    });
  }, [columns, spec, all]);
  // Rows of a service stay together, whatever the table is sorted by: at the greatest of its values. Services of equal value are told apart too.
  const rankBy = (value: (r: Row) => number) => {
    const greatest = new Map<number, number>();
    for (const r of rows) {
      const v = value(r);
      if (!Number.isNaN(v)) greatest.set(r.at, Math.max(greatest.get(r.at) ?? Number.NEGATIVE_INFINITY, v));
    }
    return (r: Row) => (greatest.get(r.at) ?? Number.NaN) * (1 - r.at * 1e-9);
  };
  const number = (id: string, title: string, help: string, unit: string, value: (r: Row) => number, group = id): ColumnOf<Row> =>
    ({ id, title, plain: title, help, unit, group, value, rank: rankBy(value), fine: unit === "s" });
  // Clients wait for the last byte: its time has columns of its own where it is another, in the place of two that say less then.
  const late = rows.some((r) => [0.5, 0.99].some((q, i) => isAnother(r.percentiles[SHOWN.findIndex((a) => a.q === q)] as number, r.lastByte[i] as number)));
  const first = (r: Row) => r.run === r.service.places.findIndex((p) => p !== null);
  const pick = (r: Row) => setParam("requests.service", String(r.at));
  const listed: ColumnOf<Row>[] = [
    {
      id: "process", title: "process", plain: "process", help: "name of the process", unit: "", group: "", text: (r) => r.service.process,
      cell: (r) => (first(r)
        ? <button type="button" class="line-name pick" aria-pressed={r.at === picked} onClick={() => pick(r)}><span class="radio" aria-hidden="true" /><span class="ellipsis">{r.service.process}</span></button>
        : <span class="ditto quiet">{r.service.process}</span>),
    },
    { id: "role", title: "role", plain: "role", help: "server: it accepted the connections; client: it made them", unit: "", group: "", text: (r) => r.service.role },
    { id: "place", title: "port, peer", plain: "port, peer", help: "port of the server; of a client, the address and port of the other side", unit: "", group: "", text: (r) => placeIn(r.service, r.run) },
    ...(runs.length > 1 ? [{ id: "run", title: "recording", plain: "recording", help: "the recording that the row is about", unit: "", group: "", text: (r: Row) => nameOf(r.run), cell: (r: Row) => <RunName run={r.run} /> }] : []),
    number("rate", "requests", "requests answered, or made, per second", "1/s", (r) => r.rate),
    ...SHOWN.map((a, i) => ({ a, i })).filter(({ a }) => !late || a.q === 0.5 || a.q === 0.99).map(({ a, i }) => number(a.id, a.title, `service time that ${a.title.slice(1)} % of the requests did not exceed; – where too few were timed to tell`, "s", (r) => r.percentiles[i] as number, "percentiles")),
    ...(late ? (["p50", "p99"] as const).map((name, i) => number(`last-${name}`, `last ${name}`, `time from the first byte of the question until the last byte of the answer was sent, which ${i ? 99 : 50} % of the requests did not exceed`, "s", (r) => r.lastByte[i] as number, "last")) : []),
    number("queue", "mean queue", "mean time that a question lay in the socket before it was read", "s", (r) => r.queue),
    number("connections", "connections per request", "connections made per request; 1: none is used again", "", (r) => r.connections),
  ];
  return (
    <article class="table" id="at-services" data-table="services">
      <header>
        <h3>Services</h3>
        <span class="quiet">over {chosen.value ? "the window" : "the compared window"}</span>
        <span class="spacer" />
        <CopyButton text={() => spec.queries.services} label="Copy query" title={spec.queries.services} />
      </header>
      <p class="read">
        Ports that processes answered on, and servers that they asked. p50 to p99.9 are of the service time.{" "}
        <span class="quiet">Choose one to see its requests below.{spec.left_out > 0 ? ` The ${spec.services.length} with the most requests are listed, ${spec.left_out} are not.` : ""}</span>
      </p>
      <DataTable
        name="services" label="Services" columns={listed} rows={rows} first="rate" onRow={pick}
        look={(r) => [r.at === picked && "picked", runs.length > 1 && first(r) && "first"].filter(Boolean).join(" ")}
      />
    </article>
  );
}

function Notes({ spec }: { spec: Spec }) {
  const notes = spec.notes.flatMap((list, run) => list.map((text) => ({ run, text })));
  if (notes.length === 0) return null;
  return (
    <ul class="quiet small request-notes">
      {notes.map(({ run, text }) => <li key={`${run}/${text}`}>{report().runs.length > 1 && <RunName run={run} />}<span>{text}</span></li>)}
    </ul>
  );
}

export function Requests({ columns, spec }: { columns: Columns; spec: Spec }) {
  const all = windows.value;
  const asked = Number.parseInt(param("requests.service"), 10);
  const busiest = Math.max(0, spec.services.findIndex((s) => s.role === "server"));
  const picked = spec.services[asked] ? asked : busiest;
  const service = spec.services[picked] as Service;
  const counts = useMemo(() => Object.fromEntries(WHATS.map((w) => [w, countsOf(columns, spec, all, w)[picked] ?? []])) as Record<What, Float64Array[]>, [columns, spec, all, picked]);
  const timed = (w: What) => counts[w].some((c) => totalOf(c) > 0);
  const what = WHATS.find((w) => w === param("requests.what")) ?? "service";
  const name = nameOfService(service);
  const look = `chart runs${report().runs.length}${report().runs.length > 2 ? " wide" : ""}`;
  return (
    <>
      <Services columns={columns} spec={spec} picked={picked} />
      <Notes spec={spec} />
      <div class="section-head of-service">
        <h2>{name}</h2>
        <span class="spacer" />
        <div class="buttons" role="group" aria-label="What is timed">
          {WHATS.map((w) => (
            <button key={w} type="button" aria-pressed={w === what} disabled={!timed(w) && w !== what} title={meaning(w, service)} onClick={() => setParam("requests.what", w === "service" ? "" : w)}>
              {TITLES[w].title}
            </button>
          ))}
        </div>
      </div>
      <article class={look} id="at-latency-heat">
        <header>
          <h3>{TITLES[what].title} over time</h3>
          <span class="spacer" />
          <CopyButton text={() => spec.queries.times} label="Copy query" title={spec.queries.times} />
        </header>
        <p class="read">
          {meaning(what, service)}{" "}
          <span class="quiet">{theme() === "dark" ? "Brighter" : "Darker"}: more requests. A second stripe is a second kind of request or of delay; a column that reaches up is a moment in which all had to wait.</span>
        </p>
        <Guard what="The heat map"><LatencyHeat key={`${picked}/${what}`} columns={columns} spec={spec} service={picked} what={what} /></Guard>
      </article>
      <article class={look} id="at-percentiles">
        <header>
          <h3>{TITLES[what].title} by percentile</h3>
          <span class="quiet">over {chosen.value ? "the window" : "the compared window"}</span>
          <span class="spacer" />
          <CopyButton text={() => spec.queries.times} label="Copy query" title={spec.queries.times} />
        </header>
        <p class="read">
          How long the requests up to each percentile took.{" "}
          <span class="quiet">At 99, one request in a hundred took longer. Curves that part at the left: all requests are slower; at the right: only the tail.</span>
        </p>
        <Guard what="The percentiles"><Percentiles counts={counts[what]} ranges={spec.ranges} label={`${TITLES[what].title} of ${name}.`} /></Guard>
      </article>
      {spec.states.length > 0 && service.role === "server" && <Guard what="Slow requests"><SlowRequests columns={columns} spec={spec} service={picked} /></Guard>}
    </>
  );
}
