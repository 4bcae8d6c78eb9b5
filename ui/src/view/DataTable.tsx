// A table that sorts, filters and copies as CSV. Sort order and filter are in the link.
import { type ComponentChildren, Fragment, type Ref } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { csv } from "../model/csv";
import { columnScale, finer, inScale, plain } from "../model/units";
import { param, setParam } from "../state";
import { CopyButton } from "./parts";

/** A column: text is what `text` gives, numbers are what `value` gives (NaN: not measured). */
export interface ColumnOf<R> {
  id: string;
  title: ComponentChildren;
  /** The heading in CSV. */
  plain: string;
  help: string;
  unit: string;
  /** Columns of one group share a scale, so that runs can be compared by eye. */
  group: string;
  text?: (row: R) => string;
  value?: (row: R) => number;
  cell?: (row: R) => ComponentChildren;
  /** Sort by size, whatever the sign. */
  bySize?: boolean;
  /** With decimals for the least value, too. */
  fine?: boolean;
  /** What rows are sorted by, where it is not the value: rows of equal rank stay together, in their order. */
  rank?: (row: R) => number;
}

export interface Group {
  id: string;
  title: string;
  help: string;
  span: number;
}

/**
 * How many of the columns that a table could show at first fit beside each other, and what the table's frame is told by: it begins with `most`,
 * and gives one up as long as the table is wider than its frame. Another width of the window begins anew.
 */
export function useFit(most: number, of: string): { fits: number; frame: Ref<HTMLDivElement> } {
  const frame = useRef<HTMLDivElement>(null);
  const begun = useRef(0);
  const [given, setGiven] = useState({ of, most, fits: most });
  // What is asked for has changed: nothing is known of it.
  const fits = given.of === of && given.most === most ? given.fits : most;
  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return undefined;
    const measure = () => {
      const width = box.clientWidth;
      // The width of a scroll bar more is no other window: it may come of the columns themselves.
      const wider = begun.current > 0 && width > begun.current + SCROLL_BAR;
      if (begun.current === 0 || Math.abs(width - begun.current) > SCROLL_BAR) begun.current = width;
      if (width > 0 && box.scrollWidth > width + 1) {
        if (fits > 1) setGiven({ of, most, fits: fits - 1 });
      } else if (wider && fits < most) setGiven({ of, most, fits: most });
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    return () => watch.disconnect();
  }, [of, most, fits, given, frame.current]);
  return { fits, frame };
}

/** Wider than any, px. */
const SCROLL_BAR = 24;

const PART = 100;
const collator = new Intl.Collator("en", { numeric: true });

function compare<R>(column: ColumnOf<R>, down: boolean): (a: R, b: R) => number {
  const sign = down ? -1 : 1;
  const { text } = column;
  const value = column.rank ?? column.value;
  if (text) return (a, b) => sign * collator.compare(text(a), text(b));
  if (!value) return () => 0;
  const size = (r: R) => (column.bySize ? Math.abs(value(r)) : value(r));
  return (a, b) => {
    const [x, y] = [size(a), size(b)];
    // What was not measured comes last, whichever way the rest is sorted.
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return sign * (x - y);
  };
}

/** The table. `name` is its name in the link. */
export function DataTable<R>({ name, label, columns, groups, rows, first, tools, more, id, frame, look, onRow, keep }: {
  name: string; label: string; columns: ColumnOf<R>[]; groups?: Group[]; rows: R[]; first: string; tools?: ComponentChildren;
  /** What a row opens to; which row is open is in the link, by its `id`. */
  more?: (row: R) => ComponentChildren; id?: (row: R) => string;
  /** What scrolls sideways where the table is wider. */
  frame?: Ref<HTMLDivElement>;
  /** The class of a row, and what a click on it does; the same must be reached by keyboard from a cell. */
  look?: (row: R) => string; onRow?: (row: R) => void;
  /** A row that is shown beneath the first part, too, if it is farther down. */
  keep?: (row: R) => boolean;
}) {
  const [part, setPart] = useState(PART);
  const open = param(`${name}.open`);
  const filter = param(`${name}.filter`);
  const [by = "", way] = (param(`${name}.sort`) || first).split(/:(?=up$|down$)/);
  const column = columns.find((c) => c.id === by) ?? columns[0];
  const down = way ? way === "down" : !column?.text;
  const sorted = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = columns.flatMap((c) => c.text ?? []);
    const kept = words.length === 0 ? rows : rows.filter((r) => {
      const all = texts.map((t) => t(r)).join("\n").toLowerCase();
      return words.every((w) => all.includes(w));
    });
    return column ? kept.toSorted(compare(column, down)) : kept;
  }, [rows, columns, filter, by, down]);
  const scales = useMemo(() => {
    const greatest = new Map<string, { unit: string; most: number; least: number; whole: boolean; fine: boolean }>();
    for (const c of columns) {
      if (!c.value) continue;
      const g = greatest.get(c.group) ?? { unit: c.unit, most: 0, least: Number.POSITIVE_INFINITY, whole: true, fine: c.fine ?? false };
      for (const r of rows) {
        const x = c.value(r);
        if (Number.isNaN(x)) continue;
        g.most = Math.max(g.most, Math.abs(x));
        if (x !== 0 && !c.bySize) g.least = Math.min(g.least, Math.abs(x));
        g.whole &&= Number.isInteger(x);
      }
      greatest.set(c.group, g);
    }
    return new Map([...greatest].map(([k, g]) => {
      const scale = columnScale(g.unit, g.most, g.whole, Math.min(g.most, g.least));
      return [k, g.fine ? finer(scale, g.least) : scale];
    }));
  }, [rows, columns]);
  const beneath = keep ? sorted.slice(part).find(keep) : undefined;
  const scaleOf = (c: ColumnOf<R>) => scales.get(c.group) ?? { factor: 1, symbol: "", decimals: 1 };
  const table = () =>
    csv([
      columns.map((c) => (c.unit ? `${c.plain} (${c.unit})` : c.plain)),
      ...sorted.map((r) => columns.map((c) => (c.text ? c.text(r) : Number(plain(c.value?.(r) ?? Number.NaN) || Number.NaN)))),
    ]);
  return (
    <div class="data-table">
      <div class="tools">
        <label class="field">
          <span class="hidden">Filter {label}</span>
          <input
            type="search"
            placeholder="Filter"
            value={filter}
            data-filter
            onInput={(e) => setParam(`${name}.filter`, e.currentTarget.value)}
          />
        </label>
        {tools}
        <span class="spacer" />
        <span class="quiet small" aria-live="polite">
          {filter ? `${sorted.length} of ${rows.length}` : rows.length === 1 ? "1 row" : `${rows.length} rows`}
        </span>
        <CopyButton text={table} label="Copy as CSV" />
      </div>
      {/* Wide tables scroll sideways; the keyboard must reach that too. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div class="scroll" ref={frame ?? null} tabIndex={0} role="region" aria-label={label}>
        <table aria-label={label}>
          <thead>
            {groups && (
              <tr class="groups">
                {groups.map((g) => (
                  <th key={g.id} colSpan={g.span} scope="colgroup" title={g.help}>
                    {g.title}
                    {scales.get(g.id)?.symbol && <span class="unit"> {scales.get(g.id)?.symbol}</span>}
                  </th>
                ))}
              </tr>
            )}
            <tr>
              {columns.map((c) => (
                <th
                  key={c.id}
                  scope="col"
                  class={c.text || c.cell ? "" : "number"}
                  aria-sort={c === column ? (down ? "descending" : "ascending") : "none"}
                >
                  <button
                    type="button"
                    title={c.help}
                    onClick={() => setParam(`${name}.sort`, `${c.id}:${c === column ? (down ? "up" : "down") : c.text ? "up" : "down"}`)}
                  >
                    {c.title}
                    {!groups && !c.text && scaleOf(c).symbol && <span class="unit"> {scaleOf(c).symbol}</span>}
                    <span class="arrow" aria-hidden="true">{c === column ? (down ? "▾" : "▴") : ""}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...sorted.slice(0, part), ...(beneath === undefined ? [] : [beneath])].map((r, i) => {
              const isOpen = id !== undefined && open !== "" && id(r) === open;
              return (
                <Fragment key={i}>
                  <tr class={isOpen ? "open" : (look?.(r) ?? "")} {...(onRow ? { onClick: () => onRow(r) } : {})}>
                    {columns.map((c, k) => {
                      if (k === 0 && more && id && c.text) {
                        return (
                          <td key={c.id} class="text" title={c.text(r)}>
                            <button type="button" class="line-name" aria-expanded={isOpen} onClick={() => setParam(`${name}.open`, isOpen ? "" : id(r))}>
                              <span aria-hidden="true" class="fold">{isOpen ? "▾" : "▸"}</span>
                              <span class="ellipsis">{c.text(r)}</span>
                            </button>
                          </td>
                        );
                      }
                      if (c.cell) return <td key={c.id}>{c.cell(r)}</td>;
                      if (c.text) return <td key={c.id} class="text" title={c.text(r)}>{c.text(r)}</td>;
                      return <td key={c.id} class="number">{inScale(c.value?.(r), scaleOf(c))}</td>;
                    })}
                  </tr>
                  {isOpen && more && <tr class="more"><td colSpan={columns.length}>{more(r)}</td></tr>}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
      {sorted.length === 0 && <p class="none">Nothing matches “{filter}”.</p>}
      {sorted.length > part && (
        <button type="button" class="plain" onClick={() => setPart(part * 4)}>
          Show {Math.min(part * 3, sorted.length - part)} more of {sorted.length}
        </button>
      )}
    </div>
  );
}
