// How many threads ran at once: shares of the window, the number over time, and the serial phases.
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import type { ProfileSpec, Serial, Turns } from "../bundle/types";
import { cssColor, runColor, theme } from "../model/color";
import { concurrency, type Running, runningOf, serialIn } from "../model/ledger";
import { clock, human, timeStep } from "../model/units";
import { choose, chosen, go, offsets, report, type Stretch, view, windows } from "../state";
import { nameOf, RunName, useWidth } from "./parts";
import { GUTTER, RIGHT } from "./Plot";

const HEIGHT = 96;
const AXIS = 22;
const BAND = 6;

/** Numbers of threads that have a bar of their own; more are put together. */
const BARS = 16;

/** The number of threads over time: for each pixel the mean, and the greatest above it. */
function paint(g: CanvasRenderingContext2D, r: Running, phases: Serial[], v: Stretch, offset: number, most: number, width: number, color: string): void {
  g.clearRect(0, 0, width, HEIGHT + AXIS);
  const inner = width - GUTTER - RIGHT;
  const y = (x: number) => HEIGHT - (x / most) * (HEIGHT - 4);
  const perPixel = (v.to - v.from) / inner;
  const quiet = cssColor("--quiet");
  g.fillStyle = color;
  for (let px = 0; px < inner; px++) {
    const a = Math.floor((v.from + offset + px * perPixel) / r.slot);
    const b = Math.max(a + 1, Math.floor((v.from + offset + (px + 1) * perPixel) / r.slot));
    let sum = 0;
    let top = 0;
    let n = 0;
    for (let i = Math.max(0, a); i < Math.min(b, r.running.length); i++) {
      const x = r.running[i] as number;
      sum += x;
      top = Math.max(top, x);
      n += 1;
    }
    if (n === 0) continue;
    g.globalAlpha = 0.3;
    g.fillRect(GUTTER + px, y(top), 1, HEIGHT - y(top));
    g.globalAlpha = 0.85;
    g.fillRect(GUTTER + px, y(sum / n), 1, HEIGHT - y(sum / n));
  }
  g.globalAlpha = 1;
  g.fillStyle = cssColor("--ink");
  for (const p of phases) {
    const x = (t: number) => GUTTER + Math.min(1, Math.max(0, (t - offset - v.from) / (v.to - v.from))) * inner;
    g.fillRect(x(p.from), HEIGHT + 1, Math.max(1, x(p.to) - x(p.from)), BAND - 2);
  }
  g.fillStyle = quiet;
  g.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  g.textAlign = "right";
  g.textBaseline = "middle";
  g.fillText(human(most, "").replace(".00", ""), GUTTER - 6, 8);
  g.fillText("0", GUTTER - 6, HEIGHT - 4);
  g.textAlign = "center";
  g.textBaseline = "top";
  const step = timeStep(v.to - v.from, Math.max(2, Math.floor(inner / 70)));
  for (let t = Math.ceil(v.from / step) * step; t <= v.to + 1e-9; t += step) {
    g.fillText(clock(Math.abs(t) < 1e-9 ? 0 : t, step), GUTTER + ((t - v.from) / (v.to - v.from)) * inner, HEIGHT + BAND + 3);
  }
}

function Timeline({ data, turns, phases, run, most }: { data: Running; turns: Turns | null; phases: Serial[]; run: number; most: number }) {
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const v = view.value;
  const offset = offsets.value[run] ?? 0;
  const color = theme();
  useEffect(() => {
    const c = canvas.current;
    if (!c || width < 150) return;
    const ratio = devicePixelRatio || 1;
    c.width = Math.round(width * ratio);
    c.height = Math.round((HEIGHT + AXIS) * ratio);
    const g = c.getContext("2d");
    if (!g) return;
    g.scale(ratio, ratio);
    paint(g, data, phases, v, offset, most, width, runColor(run));
  }, [data, phases, v.from, v.to, offset, most, width, color]);
  const w = windows.value[run] ?? { from: 0, to: 1 };
  const length = phases.reduce((a, p) => a + p.to - p.from, 0);
  const longest = phases.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0];
  return (
    <figure ref={box}>
      <figcaption>{report().runs.length > 1 ? <RunName run={run} /> : "threads on a CPU"}</figcaption>
      <canvas ref={canvas} role="img" aria-label={`Threads of ${nameOf(run)} that ran at once, over time.`} style={{ width: `${width}px`, height: `${HEIGHT + AXIS}px`, display: "block" }} />
      <p class="small serial">
        {phases.length === 0 ? <span class="quiet">No serial phases.</span> : (
          <>
            <b>{human(length / Math.max(1e-9, w.to - w.from), "ratio")}</b> of the window in {phases.length} serial {phases.length === 1 ? "phase" : "phases"}
            {longest && (
              <>
                , the longest {human(longest.to - longest.from, "s")}{" "}
                <button type="button" class="plain" onClick={() => {
                  choose({ from: longest.from - offset, to: longest.to - offset });
                  if (report().pages.some((p) => p.id === "profiles")) go("profiles");
                }}>
                  {report().pages.some((p) => p.id === "profiles") ? "Show its stacks" : "Go there"}
                </button>
                {longest.thread !== null && <>: {longest.thread === longest.process ? longest.thread : `${longest.thread} of ${longest.process}`}{longest.function !== null && <>, mostly in <code>{longest.function}</code></>}</>}
              </>
            )}
          </>
        )}
      </p>
      {turns?.sawtooth && (
        <p class="small sawtooth" title="The swing's share of the variation, and how likely noise shows one by chance; over the compared window. See docs/method.md.">
          Swings every <b>{human(turns.sawtooth.period, "s")}</b> by <b>{turns.sawtooth.swing.toFixed(1)}</b> threads{" "}
          <span class="quiet">({human(turns.sawtooth.share, "ratio")} of the variation, p {turns.sawtooth.p < 0.001 ? "< 0.001" : `= ${turns.sawtooth.p.toFixed(3)}`})</span>
        </p>
      )}
    </figure>
  );
}

export function Concurrency({ columns, spec }: { columns: Columns; spec: ProfileSpec }) {
  const { runs } = report();
  const all = windows.value;
  const data = useMemo(() => runs.map((r, i) => runningOf(columns, i, r.duration)), [columns]);
  const shares = useMemo(() => data.map((d, i) => concurrency(d, all[i] ?? { from: 0, to: 0 })), [data, all]);
  const phases = useMemo(() => runs.map((_, i) => serialIn(spec.turns[i]?.serial ?? [], all[i] ?? { from: 0, to: 0 })), [spec, all]);
  const greatest = Math.max(1, ...data.map((d) => d.running.reduce((a, b) => Math.max(a, b), 0)));
  const most = Math.ceil(greatest - 1e-9);
  const numbers = Math.max(2, ...shares.map((s) => s.length));
  const rows = Array.from({ length: Math.min(numbers, BARS + 1) }, (_, n) => ({
    name: n < BARS ? String(n) : `${BARS} or more`,
    of: shares.map((s) => (n < BARS ? (s[n] ?? 0) : s.slice(BARS).reduce((a, b) => a + b, 0))),
  }));
  const top = Math.max(1e-9, ...rows.flatMap((r) => r.of));
  const means = shares.map((s) => s.reduce((a, v, n) => a + v * n, 0));
  return (
    <section class="concurrency" id="at-concurrency">
      <div class="section-head">
        <h2>Threads at once</h2>
        <span class="quiet">share of {chosen.value ? "the window" : "the compared window"} in which so many threads ran</span>
      </div>
      <div class="concurrency-body">
        <table class="concurrency-table">
          <colgroup>
            <col class="name" />
            {runs.flatMap((_, r) => [<col key={`${r}b`} />, <col key={`${r}n`} class="n" />])}
          </colgroup>
          <thead>
            <tr>
              <th scope="col">threads</th>
              {runs.map((_, r) => <th key={r} scope="col" colSpan={2}><RunName run={r} /></th>)}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row" class="number">{row.name}</th>
                {row.of.flatMap((v, r) => [
                  <td key={`${r}b`} class="share-bar">{v > 0 && <span style={{ width: `${(v / top) * 100}%`, background: runColor(r) }} aria-hidden="true" />}</td>,
                  <td key={`${r}n`} class="number">{v > 0 ? human(v, "ratio") : "–"}</td>,
                ])}
              </tr>
            ))}
            <tr class="sum">
              <th scope="row">mean</th>
              {means.flatMap((m, r) => [<td key={`${r}b`} />, <td key={`${r}n`} class="number">{human(m, "")}</td>])}
            </tr>
          </tbody>
        </table>
        <div class="timelines">
          {data.map((d, r) => <Timeline key={r} data={d} turns={spec.turns[r] ?? null} phases={phases[r] ?? []} run={r} most={most} />)}
          <p class="read quiet">Below each: the serial phases, in which one thread ran for 0.3 s or longer and no other was ready to, after more did. More CPUs do not make them shorter. A swing at a regular period is the sign of a hot lock, or of something that stops all threads again and again.</p>
        </div>
      </div>
    </section>
  );
}
