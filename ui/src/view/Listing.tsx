// The instructions of one function, row by row, one side or two aligned, and what is known of the row that is chosen.
import { useMemo, useRef, useState } from "preact/hooks";
import type { Listed, ListedCell, ListedFunction, ListedLoop, ListedRow } from "../bundle/types";
import { runColor } from "../model/color";
import { asText, type Bracket, bracketsOf, landedIn, letterOf, loopsOf, markOf, partsOf, type Side, SIDES, signed, sourcesOf, time, WAITS } from "../model/instructions";
import { columnScale, fixed, human, inScale, type Scale } from "../model/units";
import { param, setParam } from "../state";
import { LoopLine, WaitWord } from "./Instructions";
import { CopyButton, nameOf, RunName } from "./parts";

const MARKS: Record<string, string> = { "~": "alike, but not the same instruction", "+": "only in the slow one", "−": "only in the baseline" };

/** A difference in a scale. What is too small to show is 0 there, of whichever sign. */
function signedIn(value: number, scale: Scale): string {
  const text = fixed(value / scale.factor, scale.decimals);
  return value > 0 && !/^[0.]*$/.test(text) ? `+${text}` : text;
}

/** Brackets of loops at a row. */
function Gutter({ at, more = false }: { at: Bracket[]; /** Between rows: what goes on below. */ more?: boolean }) {
  return <span class="gutter" aria-hidden="true">{at.map((b, i) => <span key={i} class={more ? (b === "within" || b === "end" ? "within" : "none") : b} />)}</span>;
}

/** Brackets that go on through rows that are folded. */
function through(brackets: Bracket[][], { from, to }: { from: number; to: number }): Bracket[] {
  const [first, last] = [brackets[from] ?? [], brackets[to - 1] ?? []];
  return first.map((b, i) => ((b === "within" || b === "begin") && (last[i] === "within" || last[i] === "end") ? "within" : "none"));
}

/** The cells of one side of a row. */
function Cells({ cell, brackets, run, value, most, scale, raw }: {
  cell: ListedCell | undefined; brackets: Bracket[]; run: number; value: number; most: number; scale: Scale; raw: boolean;
}) {
  if (!cell) {
    return (
      <>
        <td class="at lacks"><Gutter at={brackets} /></td>
        <td class="text lacks" />
        <td class="for lacks" />
        <td class="cost lacks" />
      </>
    );
  }
  return (
    <>
      <td class="at"><Gutter at={brackets} /><code class="quiet">{cell.address.toString(16)}</code></td>
      <td class={`text${cell.lines ? " known" : ""}`} title={cell.text}><code>{cell.text}</code></td>
      <td class="for">{!raw && cell.wait && <WaitWord wait={cell.wait} />}</td>
      <td class="cost">
        {value > 0 && (
          <span class="cost-bar">
            <span class="number">{inScale(value, scale)}</span>
            <span class="track"><span style={{ width: `${Math.max(1, (value / most) * 100)}%`, background: runColor(run) }} /></span>
          </span>
        )}
      </td>
    </>
  );
}

/** What is known of an instruction on one side. */
function Told({ cell, run, per, of, landed }: { cell: ListedCell | undefined; run: number; per: string; of: ListedFunction; landed: number }) {
  if (!cell) return <div><p><RunName run={run} /> <span class="quiet">has no such instruction</span></p></div>;
  const inside = loopsOf(of).filter((l) => cell.address >= l.from && cell.address <= l.to);
  return (
    <div>
      <p><RunName run={run} /> <code>{cell.address.toString(16)}</code> <code class="whole">{cell.text}</code></p>
      <p>
        {cell.ns === undefined ? <span class="quiet">No sample is of it.</span> : (
          <><b>{time(cell.ns)}</b> per {per}, {fixed(cell.samples ?? 0, 0)} samples{(cell.entering ?? 0) > 0 && `, ${fixed(cell.entering ?? 0, 0)} of them of entering it by a jump`}</>
        )}
        {cell.wait && <> · waits for <WaitWord wait={cell.wait} /> <span class="quiet">{WAITS[cell.wait]}</span></>}
      </p>
      <p class="quiet">
        {(cell.landed ?? 0) > 0 ? `${fixed(cell.landed ?? 0, 0)} samples landed on it (${human((cell.landed ?? 0) / Math.max(1, landed), "ratio")}).` : "No sample landed on it."}{" "}
        {cell.lines ? cell.lines.map((l, i) => <span key={i}>{i > 0 && " ← "}<code>{l.function}</code> {l.source || "line unknown"}</span>) : "Its line of source is not known: that is read where samples land."}
      </p>
      {inside.map((l) => <p key={l.from} class="small"><LoopLine loop={l} of={of} letter={letterOf(of, l)} /></p>)}
    </div>
  );
}

export function Listing({ listed, per, run, first }: { listed: Listed; per: string; run: (side: Side) => number; first: number | null }) {
  const [opened, open] = useState<ReadonlySet<number>>(new Set());
  const all = param("instructions.all") === "1";
  const raw = param("instructions.raw") === "1";
  const body = useRef<HTMLDivElement>(null);
  const sides = SIDES.filter((s) => listed.of[s]);
  const both = sides.length > 1;
  const parts = useMemo(() => partsOf(listed, all, opened), [listed, all, opened]);
  const brackets = useMemo(() => ({ slow: bracketsOf(listed, "slow"), against: bracketsOf(listed, "against") }), [listed]);
  const sources = useMemo(() => ({ slow: sourcesOf(listed, "slow"), against: sourcesOf(listed, "against") }), [listed]);
  const landed = useMemo(() => ({ slow: landedIn(listed, "slow"), against: landedIn(listed, "against") }), [listed]);
  const valueOf = (row: ListedRow, side: Side) => (raw ? (row[side]?.landed ?? 0) / Math.max(1, landed[side]) : (row[side]?.ns ?? 0) / 1e9);
  const values = listed.rows.flatMap((r) => sides.map((s) => valueOf(r, s))).filter((v) => v > 0);
  const most = Math.max(1e-15, ...values);
  const scale = columnScale(raw ? "ratio" : "s", most, false, Math.min(most, ...values));
  const asked = Number.parseInt(param("instructions.row"), 10);
  const at = listed.rows[asked] ? asked : first;
  const here = at === null ? undefined : listed.rows[at];
  const visible = parts.flatMap((p) => ("row" in p ? [p.row] : []));
  const choose = (row: number) => {
    setParam("instructions.row", String(row));
    requestAnimationFrame(() => document.getElementById(`row-${row}`)?.scrollIntoView({ block: "nearest" }));
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const k = at === null ? -1 : visible.indexOf(at);
    const to: Record<string, number | undefined> = {
      ArrowDown: visible[k + 1], ArrowUp: visible[Math.max(0, k - 1)], Home: visible[0], End: visible.at(-1), h: first ?? undefined,
    };
    if (!(e.key in to)) return;
    e.preventDefault();
    const next = to[e.key];
    if (next !== undefined) choose(next);
  };
  const names = { slow: nameOf(run("slow")), against: nameOf(run("against")) };
  const span = sides.length * 4 + (both ? 2 : 0);
  const depth = Math.max(0, ...sides.flatMap((s) => loopsOf(listed.of[s]).map((l) => l.depth)));
  const begins = (row: ListedRow, side: Side): ListedLoop[] => loopsOf(listed.of[side]).filter((l) => row[side]?.address === l.from);
  const digits = Math.max(4, ...listed.rows.flatMap((r) => sides.map((s) => r[s]?.address.toString(16).length ?? 0)));
  const width = { "--gutter": `${depth * 9}px`, "--address": `${Math.max(50, digits * 7.3)}px` } as Record<string, string>;
  return (
    <>
      <div class="tools listing-tools">
        <button type="button" aria-pressed={!all} title="Fold instructions that are far from any sample" onClick={() => setParam("instructions.all", all ? "" : "1")}>Only hot</button>
        <button type="button" aria-pressed={raw} title="Samples where they landed, not given to the instruction that was waited for" onClick={() => setParam("instructions.raw", raw ? "" : "1")}>Raw landing</button>
        <span class="quiet small">
          {raw ? "Samples where they landed: on this kind of machine mostly one instruction after the one that was waited for." : "Samples are given to the instruction that the CPU waited for: the one before that on which they landed."}
        </span>
        <span class="spacer" />
        <CopyButton text={() => asText(listed, parts, per, names, raw)} label="Copy as text" title="What is shown, as text in columns" />
      </div>
      {/* The rows take the arrow keys. */}
      <div class="scroll" ref={body} style={width}>
        <table
          class={`instructions ${both ? "two" : "one"}`} role="grid" tabIndex={0} aria-label={`Instructions of ${(listed.of.slow ?? listed.of.against)?.function ?? ""}; up and down choose a row`}
          aria-activedescendant={at === null ? undefined : `row-${at}`} onKeyDown={onKey}
        >
          <colgroup>
            {sides.flatMap((s) => [<col key={`${s}a`} class="at" />, <col key={`${s}t`} />, <col key={`${s}f`} class="for" />, <col key={`${s}c`} class="cost" />])}
            {both && <><col class="more" /><col class="ci" /></>}
          </colgroup>
          <thead>
            {both && (
              <tr>
                {sides.map((s) => <th key={s} scope="colgroup" colSpan={4} class="side"><RunName run={run(s)} /></th>)}
                <th scope="colgroup" colSpan={2} class="number side">{raw ? "" : "Difference"}</th>
              </tr>
            )}
            <tr>
              {sides.map((s) => [
                <th key={`${s}a`} scope="col" class="at">address</th>,
                <th key={`${s}t`} scope="col">instruction</th>,
                <th key={`${s}f`} scope="col">{raw ? "" : "waits for"}</th>,
                <th key={`${s}c`} scope="col" class="cost">{raw ? "% of samples" : `${scale.symbol} per ${per}`}</th>,
              ])}
              {both && <><th scope="col" class="number">{raw ? "" : scale.symbol}</th><th scope="col" class="number">{raw ? "" : "95 % CI"}</th></>}
            </tr>
          </thead>
          <tbody>
            {parts.map((part, k) => {
              if (!("row" in part)) {
                const n = part.to - part.from;
                const left = listed.rows.slice(part.from, part.to).reduce((sum, r) => sum + (r.skipped ?? 0), 0);
                return (
                  <tr key={`f${part.from}`} class="folded">
                    {sides.map((s, i) => [
                      <td key={`${s}a`} class="at"><Gutter at={through(brackets[s], part)} /></td>,
                      <td key={`${s}t`} colSpan={3}>
                        {i === 0 && <button type="button" class="plain" onClick={() => open(new Set([...opened, part.from]))}>⋯ {n} instructions without samples</button>}
                        {i === 0 && left > 0 && <span class="quiet" title="They are far from any sample, and not in this report">, {left} left out</span>}
                      </td>,
                    ])}
                    {both && <td colSpan={2} />}
                  </tr>
                );
              }
              const row = listed.rows[part.row] as ListedRow;
              const mark = markOf(row, both);
              const heads = Math.max(0, ...sides.map((s) => begins(row, s).length));
              const source = sides.some((s) => sources[s][part.row]);
              const [more, low, high] = row.difference ?? [0, 0, 0];
              const clear = row.difference !== undefined && (low > 0 || high < 0);
              return [
                row.skipped !== undefined && k > 0 && "row" in (parts[k - 1] ?? {}) && <tr key={`s${part.row}`} class="folded"><td colSpan={span} class="quiet">⋯ {row.skipped} instructions far from any sample are not in this report</td></tr>,
                ...Array.from({ length: heads }, (_, i) => (
                  <tr key={`l${part.row}/${i}`} class="loop-head">
                    {sides.map((s) => {
                      const loop = begins(row, s)[i];
                      const of = listed.of[s];
                      return [
                        <td key={`${s}a`} class="at"><Gutter at={brackets[s][part.row] ?? []} more /></td>,
                        <td key={`${s}t`} colSpan={both && s === "slow" ? 5 : 3}>{loop && of && <LoopLine loop={loop} of={of} letter={letterOf(of, loop)} />}</td>,
                      ];
                    })}
                  </tr>
                )),
                source && (
                  <tr key={`o${part.row}`} class="source">
                    {sides.map((s) => {
                      const line = sources[s][part.row];
                      return [
                        <td key={`${s}a`} class="at"><Gutter at={brackets[s][part.row] ?? []} more /></td>,
                        <td key={`${s}t`} colSpan={3}>{line && <>{line.source || "line unknown"}{line.inlined && <> in inlined <code>{line.inlined}</code></>}</>}</td>,
                      ];
                    })}
                    {both && <td colSpan={2} />}
                  </tr>
                ),
                <tr
                  key={part.row} id={`row-${part.row}`} class={`${at === part.row ? "picked" : ""}${mark === "+" || mark === "−" ? " lone" : ""}`} aria-selected={at === part.row}
                  onClick={() => setParam("instructions.row", String(part.row))}
                >
                  {sides.map((s) => (
                    <Cells key={s} cell={row[s]} brackets={brackets[s][part.row] ?? []} run={run(s)} value={valueOf(row, s)} most={most} scale={scale} raw={raw} />
                  ))}
                  {both && (
                    <>
                      <td class={`number${clear ? " clear" : " quiet"}`}>
                        {mark && <span class="mark quiet" title={MARKS[mark]}>{mark}<span class="hidden"> {MARKS[mark]}</span></span>}
                        {!raw && row.difference && signedIn(more / 1e9, scale)}
                      </td>
                      <td class="number quiet small">{!raw && row.difference && `${signedIn(low / 1e9, scale)} … ${signedIn(high / 1e9, scale)}`}</td>
                    </>
                  )}
                </tr>,
              ];
            })}
          </tbody>
        </table>
      </div>
      {both && <p class="quiet small listing-legend">~ alike, but not the same instruction · + only in {names.slow} · − only in {names.against} · a bar before an instruction: its line of source is known · bold: the interval leaves out 0</p>}
      {here && (
        <div class="inspector" aria-live="polite">
          <div class={`listed-sides${both ? " two" : ""}`}>
            {sides.map((s) => <Told key={s} cell={here[s]} run={run(s)} per={per} of={listed.of[s] as ListedFunction} landed={landed[s]} />)}
          </div>
          {here.difference && <p class="quiet">Difference {signed(here.difference[0])} per {per}, 95 % CI {signed(here.difference[1])} to {signed(here.difference[2])}.</p>}
        </div>
      )}
    </>
  );
}
