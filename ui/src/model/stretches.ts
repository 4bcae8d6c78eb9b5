// Two stretches of one recording: the command that explains one against the other, and how means differ. Arithmetic only.
import type { Block } from "../bundle/block";
import type { PageSpec, Run } from "../bundle/types";
import type { Side } from "../state";
import { linesOf } from "./chart";
import { fileOf } from "./files";
import type { Span } from "./profile";
import { statOf } from "./stats";
import { human } from "./units";

/** Whether the two have a part in common: such stretches are not compared. */
export function overlap(a: Span, b: Span): boolean {
  return rounded(a.from) < rounded(b.to) && rounded(b.from) < rounded(a.to);
}

const rounded = (t: number) => Number(t.toFixed(3));

/** A stretch as options of the program take it. */
export function windowOption({ from, to }: Span): string {
  return `${rounded(from)}s..${rounded(to)}s`;
}

/** The command that explains the window of a recording against another stretch of it. */
export function stretchCommand(recording: Pick<Run, "name" | "file">, [base, window]: readonly [Side, Side]): string {
  return `twinscope explain ${fileOf(recording)} --window ${windowOption(window.window)} --against-window ${windowOption(base.window)}`;
}

/** A line of a chart in both stretches. */
export interface InBoth {
  chart: string;
  name: string;
  unit: string;
  base: number;
  window: number;
  /** How far apart they are, as a part of the greatest mean on the chart: what is next to nothing beside others comes last. */
  weight: number;
}

/** The means of all lines of a page's charts in both stretches; lines that were not measured in both, or are nothing in both, are left out. */
export function meansOf(spec: PageSpec, block: Block, [base, window]: readonly [Side, Side]): InBoth[] {
  return spec.charts.flatMap((chart) => {
    const found = linesOf(chart).flatMap((line) => {
      const series = line.runs.get(base.run);
      if (series === undefined) return [];
      const level = block.finest(series);
      const [a, b] = [base, window].map((side) => statOf(level, side.window.from, side.window.to)) as [ReturnType<typeof statOf>, ReturnType<typeof statOf>];
      if (a.n === 0 || b.n === 0 || (a.mean === 0 && b.mean === 0)) return [];
      return [{ chart: chart.title, name: line.name, unit: chart.unit, base: a.mean, window: b.mean }];
    });
    const greatest = Math.max(0, ...found.flatMap((row) => [Math.abs(row.base), Math.abs(row.window)]));
    return found.map((row) => ({ ...row, weight: Math.abs(row.window - row.base) / greatest }));
  });
}

/** The change in words: a ratio, and a difference where there is none. */
export function changeInWords(base: number, window: number, unit: string): string {
  if (base > 0 && window >= 0) {
    const ratio = window / base;
    return `${ratio >= 99.5 ? ratio.toFixed(0) : ratio.toFixed(2)}×`;
  }
  return `${window > base ? "+" : "−"}${human(Math.abs(window - base), unit)}`;
}
