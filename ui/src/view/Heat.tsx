// A heat map: one row for each entity (a CPU), time from left to right, colour for the value. All runs share the colour scale.
import type { Block, Level } from "../bundle/block";
import { heatRamp, rampGradient, theme } from "../model/color";
import { heatColumns, levelFor, type Line } from "../model/chart";
import { valueAt } from "../model/stats";
import { clock, human } from "../model/units";
import type { Stretch } from "../state";
import { HeatFrame } from "./HeatFrame";
import { GUTTER, RIGHT } from "./Plot";

/** Height of the picture for a number of rows. */
export function heatHeight(rows: number): number {
  const row = rows <= 8 ? 16 : rows <= 32 ? 9 : rows <= 96 ? 4 : 2;
  return Math.max(24, Math.min(480, rows * row));
}

/** The colour scale, as a legend. */
export function HeatLegend({ greatest, unit }: { greatest: number; unit: string }) {
  return (
    <div class="heat-legend">
      <span>0</span>
      <span class="ramp" style={{ background: rampGradient(theme()) }} aria-hidden="true" />
      <span>{human(greatest, unit)}</span>
      <span class="ramp-none" aria-hidden="true" />
      <span>not measured</span>
    </div>
  );
}

export interface HeatProps {
  block: Block;
  run: number;
  lines: Line[];
  unit: string;
  greatest: number;
  view: Stretch;
  offset: number;
  window: Stretch | null;
  width: number;
  label: string;
}

/** Paints the cells at one pixel a column and one a row; the browser scales rows up. */
function paint(props: HeatProps, rows: (Level | null)[], columns: number): HTMLCanvasElement {
  const picture = document.createElement("canvas");
  picture.width = columns;
  picture.height = Math.max(1, rows.length);
  const g = picture.getContext("2d") as CanvasRenderingContext2D;
  const image = g.createImageData(columns, Math.max(1, rows.length));
  const words = new Uint32Array(image.data.buffer);
  const ramp = heatRamp();
  const { view, offset, greatest } = props;
  rows.forEach((level, r) => {
    if (!level) return;
    const cells = heatColumns(level, view.from + offset, view.to + offset, columns);
    for (let c = 0; c < columns; c++) {
      const x = cells[c] as number;
      if (Number.isNaN(x)) continue;
      const shade = greatest > 0 ? Math.round(Math.min(1, Math.max(0, x / greatest)) * 255) : 0;
      words[r * columns + c] = ramp[shade] as number;
    }
  });
  g.putImageData(image, 0, 0);
  return picture;
}

/** One panel. */
export function Heat(props: HeatProps) {
  const { block, run, lines, unit, view, offset, width } = props;
  const height = heatHeight(lines.length);
  const series = lines.map((l) => l.runs.get(run));
  const levelOf = (s: number | undefined, columns: number) => (s === undefined ? null : levelFor(block, s, view.from + offset, view.to + offset, columns));
  const rowHeight = height / Math.max(1, lines.length);
  // Every row, or every 2nd, 4th, 8th: numbers of CPUs are read in such steps.
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(13 / rowHeight)));
  return (
    <HeatFrame
      run={run} view={view} offset={offset} window={props.window} width={width} height={height} rows={lines.length} label={props.label}
      names={lines.flatMap((l, r) => (r % every === 0 ? [{ at: (r + 0.5) / lines.length, text: l.name }] : []))}
      picture={(columns) => paint(props, series.map((s) => levelOf(s, columns)), columns)}
      read={(row, t) => {
        const level = levelOf(series[row], Math.max(10, width - GUTTER - RIGHT));
        return `${lines[row]?.name ?? ""} · ${clock(t, 0.1)} · ${human(level ? valueAt(level, t + offset) : Number.NaN, unit)}`;
      }}
      of={[block, lines, props.greatest]}
    />
  );
}
