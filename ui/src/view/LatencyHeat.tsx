// How long requests took, over time: a heat map for each recording on the same scales, time from left to right, how long from bottom to top, and the
// number of requests as colour.
import { useMemo, useRef } from "preact/hooks";
import type { Columns } from "../bundle/columns";
import type { Requests } from "../bundle/types";
import { heatRamp, rampGradient, theme } from "../model/color";
import { bandPlace, type Bands, bandsOf, bandStart, columnAt, countsOf, type HeatColumn, heatOf, ratesOf, totalOf, type What } from "../model/requests";
import { clock, human } from "../model/units";
import { chosen, offsets, report, type Stretch, view, windowOf, windows } from "../state";
import { HeatFrame } from "./HeatFrame";
import { nameOf, RunName, useWidth } from "./parts";

const HEIGHT = 216;

/** The colour of the fewest requests, of 255: it must be told from none. */
const FAINTEST = 56;

/** Moments of 1, 2 and 5 in each power of ten, in seconds; the powers alone where there are many. */
function labels(bands: Bands): { at: number; text: string }[] {
  const [low, high] = [bandStart(bands, 0), bandStart(bands, bands.count)];
  const powers = Math.log10(high / low);
  const steps = powers > 3 ? [1] : powers > 1.5 ? [1, 3] : [1, 2, 5];
  const all = Array.from({ length: 12 }, (_, k) => k - 9).flatMap((k) => steps.map((s) => s * 10 ** k));
  return all.filter((s) => s >= low && s <= high).map((s) => ({ at: 1 - bandPlace(bands, s) / bands.count, text: human(s, "s").replace(/\.0+(?= )/, "") }));
}

function paint(heat: HeatColumn[], bands: Bands, rates: { least: number; most: number }, shown: Stretch, duration: number, columns: number): HTMLCanvasElement {
  const picture = document.createElement("canvas");
  picture.width = columns;
  picture.height = bands.count;
  const g = picture.getContext("2d") as CanvasRenderingContext2D;
  const image = g.createImageData(columns, bands.count);
  const words = new Uint32Array(image.data.buffer);
  const ramp = heatRamp();
  const each = (shown.to - shown.from) / columns;
  // Within the recording there was nothing where nothing was counted.
  for (let c = 0; c < columns; c++) {
    const t = shown.from + (c + 0.5) * each;
    if (t >= 0 && t <= duration) for (let r = 0; r < bands.count; r++) words[r * columns + c] = ramp[0] as number;
  }
  // Several columns of a recording can fall into one of the picture, and the other way round: requests per second of each.
  const sums = new Float64Array(columns * bands.count);
  const covered = new Float64Array(columns);
  for (const { from, to, counts } of heat) {
    const a = Math.max(0, Math.floor((from - shown.from) / each));
    const b = Math.min(columns, Math.ceil((to - shown.from) / each));
    for (let c = a; c < b; c++) {
      const begin = shown.from + c * each;
      const part = (Math.min(to, begin + each) - Math.max(from, begin)) / each;
      if (part <= 0) continue;
      covered[c] = (covered[c] as number) + part;
      for (let r = 0; r < bands.count; r++) {
        const n = counts[r] as number;
        if (n > 0) sums[r * columns + c] = (sums[r * columns + c] as number) + (n / Math.max(1e-6, to - from)) * part;
      }
    }
  }
  const span = Math.log(Math.max(1.001, rates.most / rates.least));
  for (let c = 0; c < columns; c++) {
    for (let r = 0; r < bands.count; r++) {
      const rate = (sums[r * columns + c] as number) / Math.max(1e-9, covered[c] as number);
      if (rate <= 0) continue;
      const share = Math.min(1, Math.max(0, Math.log(rate / rates.least) / span));
      words[(bands.count - 1 - r) * columns + c] = ramp[Math.round(FAINTEST + share * (255 - FAINTEST))] as number;
    }
  }
  g.putImageData(image, 0, 0);
  return picture;
}

/** The heat maps of a service in all runs. */
export function LatencyHeat({ columns, spec, service, what }: { columns: Columns; spec: Requests; service: number; what: What }) {
  const holder = useRef<HTMLDivElement>(null);
  const width = useWidth(holder);
  const { runs } = report();
  // The scales are those of the whole recordings: they stay while the window moves.
  const bands = useMemo(() => {
    const whole = runs.map((r) => ({ from: 0, to: r.duration + 1 }));
    return bandsOf(countsOf(columns, spec, whole, what)[service] ?? [], spec.ranges, HEIGHT);
  }, [columns, spec, service, what]);
  const heats = useMemo(() => (bands ? runs.map((_, r) => heatOf(columns, spec, r, service, what, bands)) : []), [columns, spec, service, what, bands]);
  const rates = useMemo(() => ratesOf(heats), [heats]);
  const fit = Math.max(1, Math.min(runs.length, Math.floor((width + 20) / 320), 3));
  const each = Math.floor((width - (fit - 1) * 20) / fit);
  if (!bands) return <p class="none">None was timed.</p>;
  const names = labels(bands);
  const height = Math.max(60, Math.min(HEIGHT, bands.count * 12));
  const read = (run: number, row: number, t: number) => {
    const band = bands.count - 1 - row;
    const range = `${human(bandStart(bands, band), "s")} to ${human(bandStart(bands, band + 1), "s")}`;
    const column = columnAt(heats[run] ?? [], t + (offsets.value[run] ?? 0));
    const n = column?.counts[band] ?? 0;
    if (!column || n === 0) return `${clock(t, 0.1)} · ${range} · none`;
    return `${clock(t, 0.1)} · ${range} · ${human(n / (column.to - column.from), "1/s")}, ${human(n / column.total, "ratio")} of all`;
  };
  return (
    <>
      <div class="panels" ref={holder} style={{ gridTemplateColumns: `repeat(${fit}, minmax(0, 1fr))` }}>
        {width > 0 && runs.map((recording, run) => {
          const w = windows.value[run] ?? { from: 0, to: 0 };
          const inWindow = (heats[run] ?? []).filter((c) => c.from < w.to && c.to > w.from);
          const offset = offsets.value[run] ?? 0;
          const shown = { from: view.value.from + offset, to: view.value.to + offset };
          const own = windowOf(run);
          return (
            <figure key={run}>
              <figcaption>{runs.length > 1 && <RunName run={run} baseline />}</figcaption>
              {spec.services[service]?.places[run] ? (
                <HeatFrame
                  run={run} view={view.value} offset={offset} window={chosen.value ?? { from: own.from - offset, to: own.to - offset }} width={each} height={height}
                  rows={bands.count} names={names} of={[heats, bands]}
                  picture={(n) => paint(heats[run] ?? [], bands, rates, shown, recording.duration, n)}
                  read={(row, t) => read(run, row, t)}
                  label={`How long requests of ${nameOf(run)} took, over time: ${human(totalOf(Float64Array.from(inWindow, (c) => c.total)), "")} in the window, from ${human(bandStart(bands, 0), "s")} to ${human(bandStart(bands, bands.count), "s")}.`}
                />
              ) : <p class="none">Not in this recording.</p>}
            </figure>
          );
        })}
      </div>
      {rates.most > 0 && (
        <div class="heat-legend">
          <span>{human(rates.least, "1/s")}</span>
          <span class="ramp" style={{ background: rampGradient(theme()) }} aria-hidden="true" />
          <span>{human(rates.most, "1/s")} requests in a cell, on a log scale</span>
        </div>
      )}
    </>
  );
}
