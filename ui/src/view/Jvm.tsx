// JVMs: how many threads ran, with the pauses over it, and the heap under it, of all recordings on one axis of time; the pauses in numbers; and the
// options in which the recordings differ.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JvmFlag, JvmPause, Jvms, JvmsOfRun } from "../bundle/types";
import { cssColor, lineColor, runColor, theme } from "../model/color";
import { dips, KIND_WORDS, KINDS, kindOf, lengthOf, type Line, linesOf, percentileOf, within } from "../model/jvm";
import { clock, columnScale, fixed, human, inScale, timeStep } from "../model/units";
import { choose, chosen, offsets, report, type Stretch, view, windows } from "../state";
import { type ColumnOf, DataTable } from "./DataTable";
import { JvmCode } from "./JvmCode";
import { type NumberRow, Numbers } from "./Numbers";
import { CopyButton, Guard, nameOf, RunName, useWidth } from "./parts";
import { GUTTER, RIGHT } from "./Plot";

/** Heights: the band of pauses, the threads that run, the heap, the axis. */
const PAUSE = 16;
const RUNNING = 74;
const HEAP = 46;
const GAP = 6;
const AXIS = 20;
const HEIGHT = PAUSE + GAP + RUNNING + GAP + HEAP + AXIS;

const PERCENTILES: { q: number; title: string }[] = [{ q: 0.5, title: "p50" }, { q: 0.9, title: "p90" }, { q: 0.99, title: "p99" }, { q: 1, title: "longest" }];

const kindColor = (pause: JvmPause) => lineColor(KINDS.indexOf(kindOf(pause)));

function paint(g: CanvasRenderingContext2D, run: JvmsOfRun, v: Stretch, offset: number, most: { running: number; heap: number }, width: number, color: string): void {
  g.clearRect(0, 0, width, HEIGHT);
  const inner = width - GUTTER - RIGHT;
  const x = (t: number) => GUTTER + ((t - offset - v.from) / (v.to - v.from)) * inner;
  const inside = (from: number, to: number) => x(to) >= GUTTER && x(from) <= GUTTER + inner;
  g.save();
  g.beginPath();
  g.rect(GUTTER, 0, inner, HEIGHT - AXIS);
  g.clip();
  // Threads that run: for each pixel the mean.
  const [top, bottom] = [PAUSE + GAP, PAUSE + GAP + RUNNING];
  const perPixel = (v.to - v.from) / inner;
  g.fillStyle = color;
  g.globalAlpha = 0.8;
  for (let px = 0; px < inner && run.running.length > 0; px++) {
    const a = Math.max(0, Math.floor((v.from + offset + px * perPixel) / run.step));
    const b = Math.max(a + 1, Math.floor((v.from + offset + (px + 1) * perPixel) / run.step));
    let [sum, n] = [0, 0];
    for (let i = a; i < Math.min(b, run.running.length); i++) [sum, n] = [sum + (run.running[i] as number), n + 1];
    if (n === 0) continue;
    const height = (sum / n / most.running) * RUNNING;
    g.fillRect(GUTTER + px, bottom - height, 1, height);
  }
  // Pauses: in the band above, and through everything below, so that what they coincide with is seen.
  for (const p of run.pauses) {
    if (!inside(p.at, p.at + p.time)) continue;
    g.fillStyle = kindColor(p);
    const from = x(p.at);
    const length = Math.max(1, x(p.at + p.time) - from);
    g.globalAlpha = 0.95;
    g.fillRect(from, 0, length, PAUSE);
    if (p.together === 1) {
      g.globalAlpha = 0.28;
      g.fillRect(from, top, length, RUNNING);
    }
  }
  g.globalAlpha = 1;
  // The heap.
  g.strokeStyle = color;
  g.lineWidth = 1.2;
  g.beginPath();
  const floor = bottom + GAP + HEAP;
  run.heap.forEach(([t, bytes], i) => {
    const y = floor - (bytes / most.heap) * (HEAP - 2);
    if (i === 0) g.moveTo(x(t), y);
    else g.lineTo(x(t), y);
  });
  g.stroke();
  g.restore();
  g.strokeStyle = cssColor("--line");
  g.lineWidth = 1;
  for (const y of [bottom, floor]) {
    g.beginPath();
    g.moveTo(GUTTER, y + 0.5);
    g.lineTo(GUTTER + inner, y + 0.5);
    g.stroke();
  }
  g.fillStyle = cssColor("--quiet");
  g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  g.textAlign = "right";
  g.textBaseline = "middle";
  g.fillText("pauses", GUTTER - 6, PAUSE / 2);
  g.fillText(human(most.running, "").replace(/\.0+$/, ""), GUTTER - 6, top + 6);
  g.fillText("running", GUTTER - 6, top + RUNNING / 2);
  g.fillText("0", GUTTER - 6, bottom - 5);
  if (run.heap.length > 0) {
    g.fillText(human(most.heap, "B"), GUTTER - 6, bottom + GAP + 6);
    g.fillText("heap", GUTTER - 6, bottom + GAP + HEAP / 2 + 4);
  }
  g.textAlign = "center";
  g.textBaseline = "top";
  const step = timeStep(v.to - v.from, Math.max(2, Math.floor(inner / 70)));
  for (let t = Math.ceil(v.from / step) * step; t <= v.to + 1e-9; t += step) {
    g.fillText(clock(Math.abs(t) < 1e-9 ? 0 : t, step), GUTTER + ((t - v.from) / (v.to - v.from)) * inner, floor + 5);
  }
}

/** A pause in words. */
function said(p: JvmPause, offset: number): string {
  const kind = KIND_WORDS[kindOf(p)].title;
  const what = [p.operation, p.cause].filter(Boolean).join(", ");
  const times = p.together > 1 ? `${p.together} × ${kind}, ${human(p.time, "s")} together` : `${kind}, ${human(p.time, "s")}`;
  const stop = p.to_stop !== null && p.to_stop > 0.1 * p.time ? `, ${human(p.to_stop, "s")} to stop the threads` : "";
  const after = p.used_after !== null ? `, then ${human(p.used_after, "B")} in use` : "";
  return `${clock(p.at - offset, 0.001)}: ${times}${what ? ` (${what})` : ""}${stop}${after}`;
}

function Timeline({ data, run, most }: { data: JvmsOfRun; run: number; most: { running: number; heap: number } }) {
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const [over, setOver] = useState<JvmPause | null>(null);
  const from = useRef<number | null>(null);
  const v = view.value;
  const offset = offsets.value[run] ?? 0;
  const color = theme();
  useEffect(() => {
    const c = canvas.current;
    if (!c || width < 150) return;
    const ratio = devicePixelRatio || 1;
    c.width = Math.round(width * ratio);
    c.height = Math.round(HEIGHT * ratio);
    const g = c.getContext("2d");
    if (!g) return;
    g.scale(ratio, ratio);
    paint(g, data, v, offset, most, width, runColor(run));
  }, [data, v.from, v.to, offset, most, width, color]);
  const inner = Math.max(1, width - GUTTER - RIGHT);
  const timeAt = (e: PointerEvent & { currentTarget: HTMLElement }) => {
    const x = e.clientX - e.currentTarget.getBoundingClientRect().left - GUTTER;
    return v.from + (Math.min(inner, Math.max(0, x)) / inner) * (v.to - v.from);
  };
  const nearest = (t: number) => {
    const within3 = (3 / inner) * (v.to - v.from);
    const away = (p: JvmPause) => Math.max(0, p.at - offset - t, t - (p.at + p.time - offset));
    const best = data.pauses.reduce<JvmPause | null>((a, b) => (away(b) <= within3 && (a === null || away(b) < away(a) || (away(b) === away(a) && b.time > a.time)) ? b : a), null);
    return best;
  };
  const here = within(data, windows.value[run] ?? { from: 0, to: 0 });
  const listed = here.toSorted((a, b) => b.time - a.time);
  const step = (by: number) => {
    const order = here.toSorted((a, b) => a.at - b.at);
    const at = over ? order.indexOf(over) : -1;
    setOver(order[Math.min(order.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : order.length - 1) : at + by))] ?? null);
  };
  return (
    <figure ref={box} class="jvm-timeline">
      {report().runs.length > 1 && <figcaption><RunName run={run} /></figcaption>}
      <div
        role="application" aria-roledescription="chart" tabIndex={0}
        aria-label={`${nameOf(run)}: ${here.length === 0 ? "no pause in the window" : `${here.length} pauses in the window, the longest ${human(lengthOf(listed[0] as JvmPause), "s")}`}. Arrow keys read them one by one.`}
        onPointerMove={(e) => setOver(nearest(timeAt(e)))}
        onPointerLeave={() => setOver(null)}
        onPointerDown={(e) => { from.current = timeAt(e); e.currentTarget.setPointerCapture(e.pointerId); }}
        onPointerUp={(e) => {
          const [a, b] = [from.current ?? 0, timeAt(e)];
          from.current = null;
          if (Math.abs(b - a) / (v.to - v.from) > 0.005) choose({ from: Math.min(a, b), to: Math.max(a, b) });
        }}
        onKeyDown={(e) => {
          const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
          if (by === 0) return;
          e.preventDefault();
          e.stopPropagation();
          step(by);
        }}
      >
        <canvas ref={canvas} aria-hidden="true" style={{ width: `${width}px`, height: `${HEIGHT}px`, display: "block" }} />
      </div>
      <p class="small jvm-over" role="status">{over ? said(over, offset) : <span class="quiet">{data.left_out > 0 ? `The ${data.pauses.length} longest of ${data.pauses.length + data.left_out} pauses are drawn.` : "\u00a0"}</span>}</p>
    </figure>
  );
}

function Legend({ runs }: { runs: JvmsOfRun[] }) {
  const used = KINDS.filter((k) => runs.some((r) => r.pauses.some((p) => kindOf(p) === k)));
  return (
    <p class="small jvm-legend">
      {used.map((k) => (
        <span key={k} title={KIND_WORDS[k].help} class="line-name"><span class="swatch" style={{ background: lineColor(KINDS.indexOf(k)) }} aria-hidden="true" /> {KIND_WORDS[k].title}</span>
      ))}
    </p>
  );
}

/** The pauses of the window in numbers, by run. */
function PauseNumbers({ jvms }: { jvms: Jvms }) {
  const all = windows.value;
  const of = jvms.runs.map((run, r) => {
    const w = all[r] ?? { from: 0, to: 1 };
    const pauses = within(run, w);
    const time = pauses.reduce((sum, p) => sum + p.time, 0);
    const toStop = pauses.reduce((sum, p) => sum + (p.to_stop ?? 0), 0);
    return { pauses, time, toStop, length: Math.max(1e-9, w.to - w.from), count: pauses.reduce((sum, p) => sum + p.together, 0), dips: dips(run, w) };
  });
  const lengths = PERCENTILES.map((p) => ({ ...p, of: of.map((o) => percentileOf(o.pauses, p.q)) }));
  const values = lengths.flatMap((l) => l.of).filter((x) => x > 0);
  const scale = columnScale("s", Math.max(0, ...values), false, Math.min(...values));
  const rows: NumberRow[] = [
    { title: "stopped", help: "share of the time in which all Java threads stood, of all JVMs together", cells: of.map((o) => human(o.time / o.length, "ratio")) },
    { title: "time to safepoint", help: "share of the time in which threads waited for the last one to stop", cells: of.map((o) => human(o.toStop / o.length, "ratio")) },
    { title: "pauses", help: "per second", cells: of.map((o) => human(o.count / o.length, "1/s")) },
    ...lengths.map((l) => ({ title: `${l.title}${scale.symbol ? `, ${scale.symbol}` : ""}`, help: "length of a pause", cells: l.of.map((x) => inScale(Number.isNaN(x) ? null : x, scale)) })),
    { title: "threads running in pauses", help: "on average, in pauses of 5 ms and more: those of the collector", cells: of.map((o) => (o.dips ? fixed(o.dips.during, 2) : "–")) },
    { title: "at other times", help: "threads that ran, on average", cells: of.map((o) => (o.dips ? fixed(o.dips.else, 2) : "–")) },
  ];
  return <Numbers name="pauses" caption={chosen.value ? "in the window" : "in the compared window"} rows={rows} />;
}

interface Row {
  line: Line;
  run: number;
}

/** The pauses by what they were for. */
function ByCause({ jvms }: { jvms: Jvms }) {
  const { runs } = report();
  const all = windows.value;
  const lines = useMemo(() => linesOf(jvms.runs.map((run, r) => within(run, all[r] ?? { from: 0, to: 0 }))), [jvms, all]);
  const rows: Row[] = lines.flatMap((line) => runs.flatMap((_, run) => (line.runs[run] ? [{ line, run }] : [])));
  if (rows.length === 0) return <p class="none">No pause in the window.</p>;
  const perSecond = (r: Row) => Math.max(1e-9, (all[r.run]?.to ?? 0) - (all[r.run]?.from ?? 0));
  const sum = (r: Row) => r.line.runs[r.run] ?? { count: 0, time: 0, longest: 0, toStop: 0 };
  const columns: ColumnOf<Row>[] = [
    { id: "kind", title: "kind", plain: "kind", help: "what kind of pause", unit: "", group: "", text: (r) => KIND_WORDS[r.line.kind].title },
    { id: "reason", title: "because of", plain: "because of", help: "of collections the cause, as -Xlog:gc calls it; of others the operation, as -Xlog:safepoint does; empty where that was not seen", unit: "", group: "", text: (r) => r.line.reason },
    ...(runs.length > 1 ? [{ id: "run", title: "recording", plain: "recording", help: "the recording that the row is about", unit: "", group: "", text: (r: Row) => nameOf(r.run), cell: (r: Row) => <RunName run={r.run} /> }] : []),
    { id: "count", title: "pauses", plain: "pauses per second", help: "pauses per second", unit: "1/s", group: "count", value: (r) => sum(r).count / perSecond(r) },
    { id: "time", title: "stopped", plain: "stopped", help: "share of the time in which all Java threads stood for it", unit: "ratio", group: "time", value: (r) => sum(r).time / perSecond(r) },
    { id: "mean", title: "mean", plain: "mean", help: "mean length", unit: "s", group: "length", value: (r) => sum(r).time / Math.max(1, sum(r).count) },
    { id: "longest", title: "longest", plain: "longest", help: "the longest", unit: "s", group: "length", value: (r) => sum(r).longest },
    { id: "to_stop", title: "to stop", plain: "time to safepoint", help: "time to safepoint: from the request until the last thread had stopped, on average", unit: "s", group: "length", value: (r) => sum(r).toStop / Math.max(1, sum(r).count) },
  ];
  return <DataTable name="pauses" label="Pauses by what they were for" columns={columns} rows={rows} first="time" />;
}

function Flags({ flags }: { flags: JvmFlag[] }) {
  const { runs } = report();
  if (flags.length === 0) return null;
  return (
    <article class="table" id="at-jvm-flags">
      <header><h3>Options that differ</h3></header>
      <p class="read">What options of the JVMs came to, and who gave them their value. <span class="quiet">Ergonomic: the JVM chose it by the CPUs and the memory that it found. –: the default of this JDK.</span></p>
      <div class="scroll">
        <table class="facts">
          <thead>
            <tr>
              <th scope="col">Option</th>
              {runs.map((_, r) => <th key={r} scope="col"><RunName run={r} /></th>)}
            </tr>
          </thead>
          <tbody>
            {flags.map((f) => (
              <tr key={`${f.main}/${f.name}`}>
                <th scope="row">{f.name}<span class="quiet small"> {f.main}</span></th>
                {runs.map((_, r) => (
                  <td key={r}>{f.values[r] ?? "–"}{f.origins[r] && <span class="quiet small"> {f.origins[r]}</span>}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </article>
  );
}

export function Jvm({ jvms }: { jvms: Jvms }) {
  const most = useMemo(() => ({
    running: Math.max(1, Math.ceil(Math.max(0, ...jvms.runs.map((r) => r.running.reduce((a, b) => Math.max(a, b), 0))) - 1e-9)),
    heap: Math.max(1, ...jvms.runs.map((r) => r.heap.reduce((a, [, b]) => Math.max(a, b), 0))),
  }), [jvms]);
  return (
    <>
      <article class="chart jvm" id="at-jvm-pauses">
        <header>
          <h3>Pauses</h3>
          <span class="quiet">and what ran meanwhile</span>
          <span class="spacer" />
          <CopyButton text={() => jvms.query} label="Copy query" title={jvms.query} />
        </header>
        <p class="read">
          Above: when all Java threads stood. In the middle: threads on a CPU. Below: the heap in use.{" "}
          <span class="quiet">Dips of the middle one that lie under pauses are theirs; others have another reason. A heap that falls to the same level each time holds what the program needs; one that hardly falls is too small.</span>
        </p>
        <Legend runs={jvms.runs} />
        <div class="jvm-body">
          <div>{jvms.runs.map((data, r) => <Guard key={r} what="The pauses"><Timeline data={data} run={r} most={most} /></Guard>)}</div>
          <PauseNumbers jvms={jvms} />
        </div>
      </article>
      <article class="table" id="at-jvm-causes">
        <header>
          <h3>Pauses by cause</h3>
          <span class="quiet">over {chosen.value ? "the window" : "the compared window"}</span>
          <span class="spacer" />
          <CopyButton text={() => jvms.query} label="Copy query" title={jvms.query} />
        </header>
        <p class="read">What the JVM stopped its threads for.</p>
        <Guard what="The table"><ByCause jvms={jvms} /></Guard>
      </article>
      <JvmCode runs={jvms.runs} />
      <Flags flags={jvms.flags} />
    </>
  );
}
