// All hosts over time: a row each, by band and value; a cell has the colour of the band that the host was in then, paler near the valley.
import { useMemo, useRef, useState } from "preact/hooks";
import { loadBytes } from "../../bundle/load";
import { cssColor, heatRamp, theme } from "../../model/color";
import { bandingOf, courseBands, courseValue, figure, type FleetView, nameInLine, standingInWords } from "../../model/fleet";
import { clock, human, timeStep } from "../../model/units";
import { Trouble, useLoaded, useWidth } from "../parts";
import { chosen, toggle } from "./choice";
import { bandColor, useCanvas } from "./parts";

const GUTTER = 92;
const RIGHT = 14;
const AXIS = 22;

function heightOf(rows: number): number {
  const row = rows <= 24 ? 14 : rows <= 80 ? 6 : rows <= 160 ? 3 : 2;
  return Math.max(40, Math.min(520, rows * row));
}

type Rgb = [number, number, number];
/** Of `#rrggbb`, or `#rgb` as style sheets are shortened to. */
const rgb = (color: string): Rgb => {
  const whole = color.length === 4 ? color.replaceAll(/[0-9a-f]/gi, "$&$&") : color;
  return [1, 3, 5].map((at) => Number.parseInt(whole.slice(at, at + 2), 16)) as Rgb;
};

export function FleetHeat({ view }: { view: FleetView }) {
  const { block } = view.group;
  const course = view.group.drawn[view.banding ?? 0]?.course ?? null;
  const { value, error } = useLoaded(() => (block === null ? Promise.resolve(new Uint8Array()) : loadBytes(block)), block ?? "");
  if (view.banding === null) return null;
  return (
    <section aria-labelledby="at-heat">
      <h2 id="at-heat">Each {view.one} over time</h2>
      {course === null ? (
        <p class="none">No course over time was kept of {view.asked.metric}: summaries hold those of the pace, of CPU time and of the states of threads.</p>
      ) : (
        <>
          <p class="read quiet">
            A row for each {view.one}, those of one band together, the best on top; time since the start of its recording. A cell has the colour of the band that {view.asked.metric} lay in then,
            paler near the valley; what is grey was not measured. A row of two colours changed its band.
          </p>
          {error && <Trouble>{error} The rest of the page is not affected.</Trouble>}
          {value && <Map view={view} course={course} bytes={value} />}
        </>
      )}
    </section>
  );
}

function Map({ view, course, bytes }: { view: FleetView; course: NonNullable<FleetView["group"]["drawn"][number]["course"]>; bytes: Uint8Array }) {
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  const [at, setAt] = useState<{ row: number; column: number } | null>(null);
  const banding = bandingOf(view);
  const rows = view.order.length;
  const height = heightOf(rows);
  const inner = Math.max(0, width - GUTTER - RIGHT);
  const { columns, seconds } = course;
  const cell = (host: number, column: number) => bytes[course.offset + host * columns + column] ?? 255;
  const picture = useMemo(() => {
    const made = document.createElement("canvas");
    made.width = columns;
    made.height = Math.max(1, rows);
    const g = made.getContext("2d") as CanvasRenderingContext2D;
    const image = g.createImageData(columns, made.height);
    const words = new Uint32Array(image.data.buffer);
    const { band, depth } = courseBands(course, banding, view.asked.better);
    const ground = rgb(cssColor("--ground"));
    const ramp = heatRamp();
    const word = Uint32Array.from({ length: 256 }, (_, byte) => {
      if (byte === 255) return 0;
      if ((banding?.bands.length ?? 0) < 2) return ramp[Math.round((depth[byte] as number) * 255)] as number;
      const full = rgb(bandColor(band[byte] as number));
      const share = 0.28 + 0.72 * (depth[byte] as number);
      const [r, gr, b] = full.map((c, k) => Math.round(c * share + (ground[k] as number) * (1 - share))) as Rgb;
      return ((255 << 24) | (b << 16) | (gr << 8) | r) >>> 0;
    });
    view.order.forEach((host, row) => {
      for (let c = 0; c < columns; c++) words[row * columns + c] = word[cell(host, c)] as number;
    });
    g.putImageData(image, 0, 0);
    return made;
  }, [view, bytes, theme()]);
  // Stretches of rows of one band, for their names at the side.
  const stretches = useMemo(() => {
    const found: { band: number; from: number; to: number }[] = [];
    view.order.forEach((host, row) => {
      const band = view.band[host] as number;
      const last = found.at(-1);
      if (last?.band === band) last.to = row + 1;
      else found.push({ band, from: row, to: row + 1 });
    });
    return found;
  }, [view]);
  const y = (row: number) => (row / Math.max(1, rows)) * height;
  const canvas = useCanvas(width, height + AXIS, (g) => {
    if (inner < 10) return;
    g.fillStyle = cssColor("--shade");
    g.fillRect(GUTTER, 0, inner, height);
    g.imageSmoothingEnabled = rows > height * devicePixelRatio;
    g.imageSmoothingQuality = "high";
    g.drawImage(picture, GUTTER, 0, inner, height);
    g.font = `11.5px ${getComputedStyle(document.body).fontFamily}`;
    g.textBaseline = "middle";
    g.textAlign = "right";
    let free = -20;
    for (const { band, from, to } of stretches) {
      const [top, bottom] = [y(from), y(to)];
      g.fillStyle = bandColor(band);
      g.fillRect(GUTTER - 6, top, 3, Math.max(1, bottom - top - (bottom - top > 3 ? 1 : 0)));
      g.fillStyle = cssColor("--quiet");
      const middle = Math.max(7, Math.min(height - 7, (top + bottom) / 2));
      if (middle < free + 13) continue;
      g.fillText(band < 0 ? `no band (${to - from})` : `band ${band + 1} (${to - from})`, GUTTER - 11, middle);
      free = middle;
    }
    g.fillStyle = cssColor("--quiet");
    g.textAlign = "center";
    g.textBaseline = "top";
    const step = timeStep(seconds, Math.max(2, Math.floor(inner / 70)));
    for (let t = 0; t <= seconds + 1e-9; t += step) g.fillText(clock(t, step), GUTTER + (t / seconds) * inner, height + 6);
  }, [view, picture, stretches]);
  const local = (e: PointerEvent | MouseEvent) => {
    const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
    const [px, py] = [(e.clientX - box.left - GUTTER) / Math.max(1, inner), (e.clientY - box.top) / height];
    return px < 0 || px >= 1 || py < 0 || py >= 1 ? null : { row: Math.floor(py * rows), column: Math.floor(px * columns) };
  };
  const hostAt = at ? view.order[at.row] : undefined;
  const pick = chosen.value;
  const said = () => {
    if (!at || hostAt === undefined) return "";
    const v = courseValue(course, cell(hostAt, at.column));
    const name = nameInLine(view.group.answer.recordings[hostAt]?.name ?? "");
    return [name, clock(((at.column + 0.5) / columns) * seconds, seconds / columns), Number.isNaN(v) ? "not measured" : `about ${figure(v, view.asked.unit)}`, standingInWords(view, hostAt)].filter(Boolean).join(" · ");
  };
  return (
    <div ref={holder} class="fleet-heat" data-chart-name="heat">
      <div
        class="heat" style={{ height: `${height + AXIS}px` }} role="application" aria-roledescription="heat map" tabIndex={0}
        aria-label={`${view.asked.metric} of ${rows} ${view.one}s over ${human(seconds, "s")}. Arrow keys move through them.`}
        onPointerMove={(e) => setAt(local(e))}
        onPointerLeave={() => setAt(null)}
        onClick={(e) => {
          const found = local(e);
          const host = found ? view.order[found.row] : undefined;
          if (host !== undefined) toggle(host);
        }}
      >
        <canvas ref={canvas} style={{ width: `${width}px`, height: `${height + AXIS}px` }} />
        {pick !== null && <div class="heat-row" style={{ left: `${GUTTER - 8}px`, width: `${inner + 12}px`, top: `${y(view.rank[pick] as number) - 1}px`, height: `${Math.max(3, height / Math.max(1, rows)) + 2}px` }} />}
        {at && hostAt !== undefined && (
          <div class={`tip${at.column > columns / 2 ? " to-left" : ""}`} style={{ left: `${GUTTER + ((at.column + 0.5) / columns) * inner}px`, top: `${Math.max(10, y(at.row + 0.5))}px` }} role="status">{said()}</div>
        )}
      </div>
    </div>
  );
}
