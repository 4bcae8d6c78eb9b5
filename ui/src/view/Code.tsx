// Code: over how much memory the code is spread that programs ran. A map of its pages for each recording side by side, on one scale, and the numbers. They are
// of the compared window: the page does not compute them anew.
import { useEffect, useRef, useState } from "preact/hooks";
import type { CodeGroup, CodeMaps, CodeOfRun, CodeRegion } from "../bundle/types";
import { COLUMNS, fits, greatest, KINDS, mapInWords, PAGES, pageInWords, placeOf, rowsOf, saysOf, shade } from "../model/code";
import { heatRamp, rampGradient, theme } from "../model/color";
import { fixed } from "../model/units";
import { report } from "../state";
import { CopyButton, Guard, RunName } from "./parts";

/** A region: a picture of one pixel a page, which the browser scales up. */
function Region({ region, run, most, say }: { region: CodeRegion; run: CodeOfRun; most: number; say: (text: string) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const of = theme();
  useEffect(() => {
    const g = canvas.current?.getContext("2d");
    if (!g) return;
    const image = g.createImageData(COLUMNS, PAGES / COLUMNS);
    const words = new Uint32Array(image.data.buffer);
    const ramp = heatRamp(of);
    words.fill(ramp[0] as number);
    for (const [page, samples] of region.pages) {
      if (page < PAGES) words[page] = ramp[Math.round(255 * shade(samples / run.samples, most))] as number;
    }
    g.putImageData(image, 0, 0);
  }, [region, run, most, of]);
  const point = (e: PointerEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return;
    const column = Math.floor(((e.clientX - box.left) / box.width) * COLUMNS);
    const row = Math.floor(((e.clientY - box.top) / box.height) * (PAGES / COLUMNS));
    const page = row * COLUMNS + column;
    if (page >= 0 && page < PAGES) say(pageInWords(region, page, run));
  };
  return (
    <div class="code-region">
      <span class="small quiet name" title={region.module === "" ? undefined : region.module}>{placeOf(region)}</span>
      <canvas ref={canvas} width={COLUMNS} height={PAGES / COLUMNS} onPointerMove={point} onPointerLeave={() => say("")} />
    </div>
  );
}

function Map({ run, most }: { run: CodeOfRun; most: number }) {
  const [said, say] = useState("");
  const [regions, samples] = run.left_out;
  return (
    <div class="code-map">
      <div role="img" aria-label={mapInWords(run)}>
        {run.regions_drawn.map((region) => <Region key={`${region.module}/${region.start}`} region={region} run={run} most={most} say={say} />)}
      </div>
      <p class="small quiet said">{said || (regions > 0 ? `${regions === 1 ? "1 region" : `${regions} regions`} with ${samples === 1 ? "1 sample" : `${samples} samples`} left out` : "point at a page")}</p>
    </div>
  );
}

function Numbers({ group }: { group: CodeGroup }) {
  const pair = group.runs.length === 2;
  return (
    <div class="scroll">
      <table class="code-numbers">
        <thead>
          <tr>
            <td />
            {group.runs.map((_, r) => <th key={r} scope="col" class="number"><RunName run={r} baseline /></th>)}
            {pair && <th scope="col" class="number">ratio</th>}
          </tr>
        </thead>
        <tbody>
          {rowsOf(group).map((row) => (
            <tr key={row.title}>
              <th scope="row" title={row.help}>{row.title}</th>
              {row.cells.map((cell, r) => <td key={r} class="number">{cell ?? <span class="quiet">–</span>}</td>)}
              {pair && <td class="number">{row.ratio === null ? "" : `${fixed(row.ratio, row.ratio < 10 ? 2 : 1)}×`}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Reach({ group }: { group: CodeGroup }) {
  const known = group.runs.map((run) => run && fits(run));
  const beyond = known.flatMap((fit, r) => (fit === false ? [r] : []));
  if (beyond.length === 0) return null;
  return (
    <p class="small">
      {beyond.map((r, at) => <span key={r}>{at > 0 && ", "}<RunName run={r} /></span>)}: more pages than the instruction TLB holds
      {beyond.some((r) => (group.runs[r]?.huge ?? 0) > 0.5) && ", of 4 KiB; most of the code is on huge pages"}.
    </p>
  );
}

function Group({ group, at }: { group: CodeGroup; at: number }) {
  const most = greatest(group);
  const says = saysOf(group);
  return (
    <article class="table code-group" id={`at-code-${at}`}>
      <header><h3>{group.comm} <span class="quiet">{KINDS[group.kind] ?? group.kind}</span></h3></header>
      {says && <p>{says}</p>}
      <Reach group={group} />
      <Numbers group={group} />
      {group.drawn === null && <p class="small quiet">Too few samples in one of the recordings: lines and pages cannot be compared.</p>}
      <div class={`code-maps${group.runs.length > 1 ? " several" : ""}`}>
        {group.runs.map((run, r) => (
          <section key={r}>
            <h4><RunName run={r} /></h4>
            {run === null ? <p class="small quiet">No sample in such code.</p> : <Map run={run} most={most} />}
          </section>
        ))}
      </div>
    </article>
  );
}

/** The page. */
export function Code({ maps }: { maps: CodeMaps }) {
  const several = report().runs.length > 1;
  return (
    <>
      <p class="read">
        Where the code lies that was running when samples were taken. <span class="quiet">Each strip is a region of 2 MiB, each cell a page of 4 KiB; the stronger its colour, the larger its share of the samples{several && ", on one scale for all recordings"}. Code that is spread over more lines and pages than the caches and the TLB hold makes the CPU wait for instructions.</span>
      </p>
      <div class="code-legend small">
        <span>no sample</span>
        <span class="ramp" style={{ background: rampGradient(theme()) }} aria-hidden="true" />
        <span>most</span>
        <span class="spacer" />
        <CopyButton text={() => maps.query} label="Copy query" title={maps.query} />
      </div>
      {maps.groups.map((group, at) => <Guard key={`${group.comm}/${group.kind}`} what={`“${group.comm}”`}><Group group={group} at={at} /></Guard>)}
      <p class="quiet small">Sampled, in the compared window, of the process of each name that has most samples. Pages at least and the share on huge pages are explained in docs/footprint.md.</p>
    </>
  );
}
