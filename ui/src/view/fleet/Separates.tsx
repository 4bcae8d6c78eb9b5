// What separates each band from the others, and what does not: facts, metrics with two strips each, functions, one rule.
import { useMemo, useState } from "preact/hooks";
import type { FleetBanding, FleetDifference, FleetSeparated, FleetStrips } from "../../bundle/generated";
import { bandingOf, ends, type FleetView, nameInLine, signed, tellsApart, valuesAt, figure } from "../../model/fleet";
import { fixed } from "../../model/units";
import { loadBytes } from "../../bundle/load";
import { Trouble, useLoaded, Words } from "../parts";
import { chosen } from "./choice";
import { BandMark, bandColor, MetricName } from "./parts";
import { Strips, STRIPS_WIDTH } from "./Strips";

const FIRST = 8;

/** A part of a whole as a bar with its numbers. */
function Part({ of: [count, all], band }: { of: readonly [number, number]; band: number }) {
  const share = all > 0 ? count / all : 0;
  return (
    <span class="part">
      <BandMark band={band} />
      <span class="part-track" aria-hidden="true"><span class="part-bar" style={{ width: `${100 * share}%`, background: bandColor(band) }} /></span>
      <span class="number">{count} of {all}</span>
    </span>
  );
}

function More({ left, open, set, what }: { left: number; open: boolean; set: (open: boolean) => void; what: string }) {
  if (left <= 0) return null;
  return <button type="button" class="plain" onClick={() => set(!open)}>{open ? `Only the first ${FIRST}` : `${left} more ${what}`}</button>;
}

function Facts({ view, of, other }: { view: FleetView; of: FleetSeparated; other: number }) {
  const [open, setOpen] = useState(false);
  const host = chosen.value;
  const valueOf = (fact: string) => {
    const known = view.group.facts.find((f) => f.fact === fact);
    const at = host === null ? null : known?.of[host];
    return at === null || at === undefined ? "not known" : (known?.values[at] ?? "not known");
  };
  if (of.facts.length === 0) return null;
  return (
    <div class="fact-rows" data-list="facts">
      {of.facts.slice(0, open ? undefined : FIRST).map((f) => (
        <div key={`${f.fact}=${f.value}`} class="fact-row">
          <p><b>{nameInLine(f.fact)}</b> <span class="quiet">is</span> <code>{nameInLine(f.value)}</code></p>
          <Part of={f.band} band={of.band - 1} />
          <Part of={f.others} band={other} />
          <span class="quiet small" title="the share of false ones among all facts listed at this p-value">q = {f.q < 0.001 ? "<0.001" : fixed(f.q, 3)}</span>
          {host !== null && <span class="small chosen-value">{nameInLine(view.group.answer.recordings[host]?.name ?? "")}: <code>{nameInLine(valueOf(f.fact))}</code></span>}
        </div>
      ))}
      <More left={of.facts.length - FIRST} open={open} set={setOpen} what="facts" />
    </div>
  );
}

/** One line: what it is, two strips, numbers. */
function Row({ view, band, name, values, unit, difference: d, others, also }: {
  view: FleetView; band: number; name: preact.ComponentChildren; values: Float32Array | null; unit: string; difference: FleetDifference; others: string; also: preact.ComponentChildren;
}) {
  const said = `Band ${band + 1} at ${figure(d.band, unit)}, ${others} at ${figure(d.others, unit)}`;
  const host = chosen.value;
  return (
    <div class="separates-row">
      <div>{name}{also}</div>
      {values ? <Strips view={view} values={values} band={band} unit={unit} middles={[d.band, d.others]} label={`${said}.`} /> : <span class="strips-none" style={{ width: `${STRIPS_WIDTH}px` }} />}
      <div class="middles">
        <span><BandMark band={band} /> <b>{figure(d.band, unit)}</b></span>
        <span><BandMark band={others === "the others" ? -1 : 1 - band} /> <b>{figure(d.others, unit)}</b></span>
        {host !== null && values && <span class="chosen-value" title={nameInLine(view.group.answer.recordings[host]?.name ?? "")}><span class="swatch pin-mark" aria-hidden="true" />{figure(values[host], unit)}</span>}
      </div>
      <div class="shift"><b>{signed(d.shift.value, unit)}</b><span class="quiet small">95 % CI {ends(d.shift.low, d.shift.high, unit)}</span></div>
      <div class="tells" title={`q = ${d.q.toPrecision(2)}`}><b>{fixed(100 * tellsApart(d), tellsApart(d) > 0.995 && tellsApart(d) < 1 ? 1 : 0)} %</b></div>
    </div>
  );
}

function Together({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <details class="fold-table small">
      <summary>{names.length === 1 ? "1 other moves with it" : `${names.length} others move with it`}</summary>
      <ul>{names.map((name) => <li key={name}>{nameInLine(name)}</li>)}</ul>
    </details>
  );
}

function Heads({ band, others, what }: { band: number; others: string; what: string }) {
  return (
    <div class="separates-row separates-heads quiet small">
      <span>{what}</span>
      <span>band {band + 1} above, {others} beneath; the bar is the median</span>
      <span>medians</span>
      <span title="by how much a host of the band exceeds one of the others (Hodges and Lehmann)">shift</span>
      <span title="the probability that a host of the one has a greater (or smaller) value than one of the other; from 90 % on it separates them">apart</span>
    </div>
  );
}

function Lines({ view, of, strips, bytes }: { view: FleetView; of: FleetSeparated; strips: FleetStrips | undefined; bytes: Uint8Array | undefined }) {
  const [open, setOpen] = useState(false);
  const [more, setMore] = useState(false);
  const n = view.values.length;
  const read = (offsets: number[] | undefined) => (bytes && offsets ? offsets.map((offset) => valuesAt(bytes, offset, n)) : []);
  const lines = useMemo(() => read(strips?.lines), [bytes, strips]);
  const functions = useMemo(() => read(strips?.functions), [bytes, strips]);
  const band = of.band - 1;
  return (
    <>
      {of.lines.length > 0 && (
        <div class="separates" data-list="lines">
          <Heads band={band} others={of.others} what="metric" />
          {of.lines.slice(0, open ? undefined : FIRST).map((l, i) => (
            <Row key={l.metric} view={view} band={band} others={of.others} name={<MetricName metric={l.metric} help={l.help} />} values={lines[i] ?? null} unit={l.unit} difference={l.difference} also={<Together names={l.with} />} />
          ))}
          <More left={of.lines.length - FIRST} open={open} set={setOpen} what="metrics" />
        </div>
      )}
      {of.functions.length > 0 && (
        <div class="separates" data-list="functions">
          <Heads band={band} others={of.others} what="function, by its own share of a state of the threads" />
          {of.functions.slice(0, more ? undefined : FIRST).map((f, i) => (
            <Row
              key={`${f.state} ${f.function} ${f.module}`} view={view} band={band} others={of.others} values={functions[i] ?? null} unit="ratio" difference={f.difference} also={null}
              name={<span class="metric-name"><code>{nameInLine(f.function)}</code><span class="quiet small">{nameInLine(f.module)} · {f.state === "cpu" ? "on a CPU" : f.state}</span></span>}
            />
          ))}
          <More left={of.functions.length - FIRST} open={more} set={setMore} what="functions" />
        </div>
      )}
    </>
  );
}

function One({ view, banding, at, bytes }: { view: FleetView; banding: FleetBanding; at: number; bytes: Uint8Array | undefined }) {
  const of = banding.separated[at] as FleetSeparated;
  const strips = view.group.drawn[view.banding ?? 0]?.strips[at];
  const unique = of.facts_unique;
  return (
    <section class="separated" aria-labelledby={`at-separates-${at}`}>
      <h2 id={`at-separates-${at}`}>What separates band {of.band} from {of.others}</h2>
      <p class="read quiet">{of.says.replace(/^[^:]*: /, "").replace(/^./, (c) => c.toUpperCase())}</p>
      <Facts view={view} of={of} other={of.others === "the others" ? -1 : 2 - of.band} />
      <Lines view={view} of={of} strips={strips} bytes={bytes} />
      {of.rule && <p class="note">{nameInLine(of.rule.says)}</p>}
      <div class="not-different">
        <h3>What does not differ</h3>
        <ul>
          {of.not.map((line) => <li key={line}><Words text={line} /></li>)}
          {of.facts_same > 0 && <li>{of.facts_same === 1 ? "1 fact has" : `${of.facts_same} facts have`} one value everywhere.</li>}
          {of.facts.length === 0 && <li>No fact that was recorded differs between them by more than chance.</li>}
          {unique.length > 0 && (
            <li>Left out, since nearly every {view.one} has its own value: {unique.slice(0, 6).map(nameInLine).join(", ")}{unique.length > 6 && `, and ${unique.length - 6} more`}.</li>
          )}
        </ul>
      </div>
    </section>
  );
}

/** The sections, one for each band that is held against others. */
export function Separates({ view }: { view: FleetView }) {
  const banding = bandingOf(view);
  const { block } = view.group;
  const { value, error } = useLoaded(() => (block === null ? Promise.resolve(new Uint8Array()) : loadBytes(block)), block ?? "");
  if (!banding) return null;
  return (
    <>
      {error && <Trouble>{error} The rest of the page is not affected.</Trouble>}
      {banding.separated.map((of, at) => <One key={`${view.banding}/${of.band}`} view={view} banding={banding} at={at} bytes={value} />)}
    </>
  );
}
