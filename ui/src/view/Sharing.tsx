// Sharing: cache lines that threads fight over, drawn byte by byte: a colour and a digit for each thread, filled where it writes, hollow where it only
// reads; of all recordings one under the other. The numbers are of the compared window: the page does not compute them anew.
import type { SharedLine, SharedLines, SharedMoved, SharedOfRun, SharedThing } from "../bundle/types";
import { inkOn, lineColor } from "../model/color";
import { byteInWords, type Cell, cellsOf, costInWords, digitOf, fieldsOf, type Found, foundOf, functionsInWords, lineInWords, movedInWords, placed, placeOf } from "../model/sharing";
import { human } from "../model/units";
import { report } from "../state";
import { RunName } from "./parts";

/** How a cell looks: never by colour alone, its mark is in it. */
function look(cell: Cell): Record<string, string> {
  if (cell.kind === "unused") return {};
  const reader = cell.reader === null ? "var(--strong-line)" : lineColor(cell.reader);
  const frame: Record<string, string> = cell.isRead ? { "box-shadow": `inset 0 0 0 2px ${reader}${cell.kind === "written" ? ", inset 0 0 0 3px var(--ground)" : ""}` } : {};
  if (cell.writer === null) return frame;
  const color = lineColor(cell.writer);
  return { ...frame, background: color, color: inkOn(color) };
}

/** What the first thread alone writes. */
const WRITTEN: Cell = { mark: "1", kind: "written", writer: 0, reader: null, several: false, isRead: false };

const several = (cell: Cell) => (cell.kind === "written" && cell.several ? " several" : "");

function Cells({ line, name }: { line: SharedLine; name: string }) {
  const fields = placed(line, name);
  const row = (at: number) => ({ "grid-column": String(at + 1) });
  return (
    <div class="scroll">
      <div class="line-cells" role="img" aria-label={`Line ${line.address.toString(16)}: ${lineInWords(line)}`}>
        {[0, 8, 16, 24, 32, 40, 48, 56].map((at) => <span key={`n${at}`} class="offset" style={{ "grid-column": `${at + 1} / span 8` }}>{at}</span>)}
        {cellsOf(line).map((cell, at) => (
          <span key={at} class={`cell ${cell.kind}${several(cell)}${at % 8 === 0 ? " word" : ""}`} style={{ ...row(at), ...look(cell) }} title={byteInWords(line, at)}>{cell.mark}</span>
        ))}
        {fields.map(({ field, label, lane, from, to }) => (
          <span
            key={`f${field.first}-${field.size}-${field.name}`} class={`field${field.first < 0 ? " before" : ""}${field.first + field.size > to ? " after" : ""}`}
            style={{ "grid-column": `${from + 1} / ${to + 1}`, "grid-row": String(lane + 3) }}
            title={`${field.name}${field.of_type ? `: ${field.of_type}` : ""}, ${field.size} bytes from ${field.first}`}
          >{label}</span>
        ))}
      </div>
    </div>
  );
}

function Threads({ line }: { line: SharedLine }) {
  return (
    <p class="small line-threads">
      {line.threads.map((t, at) => (
        <span key={t.tid}><span class="cell written" style={look({ ...WRITTEN, writer: at })}>{digitOf(at)}</span> {t.name} <span class="quiet">{t.tid}</span></span>
      ))}
    </p>
  );
}

function Accesses({ line, open }: { line: SharedLine; open: boolean }) {
  const sampled = line.accesses.some((a) => a.sampled > 0);
  return (
    <details open={open}>
      <summary>{line.accesses.length === 1 ? "1 access" : `${line.accesses.length} accesses`}{line.left_out > 0 && `, and ${line.left_out} more that are not listed`}</summary>
      <div class="scroll">
        <table class="accesses">
          <thead>
            <tr>
              <th>bytes</th><th>field</th><th>does</th><th>thread</th><th>function</th><th>instruction</th><th>source</th>
              <th class="number" title="Samples that waited for it">waited</th><th class="number" title="Hits of watchpoints, which are disarmed after a few">hits</th>
              {sampled && <th class="number" title="Accesses that the CPU sampled itself">sampled</th>}
              {sampled && <th class="number" title="Of those sampled, those whose data came from the cache of another core">from other cores</th>}
            </tr>
          </thead>
          <tbody>
            {line.accesses.map((a, at) => (
              <tr key={at}>
                <td>{placeOf(a)}</td>
                <td class="name" title={fieldsOf(line, a)}>{fieldsOf(line, a)}</td>
                <td>{a.does}</td>
                <td class="name" title={`${line.threads[a.thread]?.name ?? ""} ${line.threads[a.thread]?.tid ?? ""}`}><b>{digitOf(a.thread)}</b> {line.threads[a.thread]?.tid}</td>
                <td class="name" title={a.function}>{a.function || <span class="quiet">unknown</span>}</td>
                <td class="name" title={a.text}><code>{a.text}</code></td>
                <td class="name" title={a.source}>{a.source}</td>
                <td class="number">{a.waited}</td>
                <td class="number">{a.hits}</td>
                {sampled && <td class="number">{a.sampled}</td>}
                {sampled && <td class="number">{a.from_core}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Thing({ thing, first }: { thing: SharedThing; first: boolean }) {
  const { part, interval, speedup, speedups } = costInWords(thing);
  return (
    <>
      <p class="read">
        <b>{thing.kind === "false" ? "False sharing" : "True sharing"}</b>: waiting for it takes <b>{part}</b> of the CPU time of {thing.comm}{" "}
        <span class="quiet">(pid {thing.pid}; 95 % CI {interval})</span>; without it <b>{speedup}</b> as fast <span class="quiet">({speedups}), estimated</span>.
        {thing.functions.length > 0 && <> Waits in {functionsInWords(thing)}.</>}
      </p>
      {thing.lines.map((line, at) => (
        <div key={line.address} class="shared-line">
          <h4>
            Line <code>{`0x${line.address.toString(16)}`}</code>
            <span class="quiet small">{line.watched ? "seen by watchpoints" : "by samples"}{line.source && `, declared at ${line.source}`}</span>
          </h4>
          <Cells line={line} name={thing.name} />
          <Threads line={line} />
          <Accesses line={line} open={first && at === 0} />
        </div>
      ))}
      {thing.left_out > 0 && <p class="quiet">{thing.left_out === 1 ? "1 line more is" : `${thing.left_out} lines more are`} not in this report.</p>}
      <p class="read"><b>To do</b>: {thing.advice.replace(/\.$/, "")}.</p>
    </>
  );
}

function Of({ found, first }: { found: Found; first: boolean }) {
  const runs = report().runs;
  const memory = found.of.flat().find((t) => t.memory !== "")?.memory ?? "";
  return (
    <article class="table shared">
      <header>
        <h3 class="ellipsis" title={found.name}>{found.name}</h3>
        <span class="quiet">{[memory, `of ${found.comm}`].filter(Boolean).join(", ")}</span>
      </header>
      {found.of.map((things, run) => (
        <section key={run} aria-label={runs[run]?.name ?? ""}>
          {runs.length > 1 && <p class="side"><RunName run={run} baseline /></p>}
          {things.map((thing) => <Thing key={thing.pid} thing={thing} first={first} />)}
          {things.length === 0 && <p class="quiet">No thread was found to wait for it here.</p>}
        </section>
      ))}
    </article>
  );
}

/** A line that the CPU says came from other cores. */
function Moved({ moved, first }: { moved: SharedMoved; first: boolean }) {
  return (
    <div class="shared-line">
      <h4>
        {moved.name}
        <span class="quiet small">{[moved.memory, `of ${moved.comm}`, `line 0x${moved.line.address.toString(16)}`, moved.line.source && `declared at ${moved.line.source}`].filter(Boolean).join(", ")}</span>
      </h4>
      <p class="read">{movedInWords(moved)}</p>
      <Cells line={moved.line} name={moved.name} />
      <Threads line={moved.line} />
      <Accesses line={moved.line} open={first} />
      {moved.advice !== null && <p class="read"><b>To do</b>: {moved.advice.replace(/\.$/, "")}.</p>}
    </div>
  );
}

/** Lines that the CPUs of the recordings say came from other cores. */
function AllMoved({ lines }: { lines: SharedLines }) {
  const { runs } = report();
  return (
    <article class="table shared">
      <header>
        <h3>Sampled by the CPU</h3>
        <span class="quiet">lines whose data came from the caches of other cores, by PEBS, IBS or SPE</span>
      </header>
      <p class="read">These samples count accesses: they say where data came from and how many cycles that took, not what part of the CPU time goes to waiting.</p>
      {lines.runs.map((of, run) => of.sampled !== null && (
        <section key={run} aria-label={runs[run]?.name ?? ""}>
          {runs.length > 1 && <p class="side"><RunName run={run} baseline /></p>}
          {of.moved.map((moved, at) => <Moved key={`${moved.pid} ${moved.line.address}`} moved={moved} first={at === 0} />)}
          {of.moved.length === 0 && <p class="quiet">Of {of.sampled} sampled accesses no line came from another core's cache five times or more.</p>}
          {of.moved_left_out > 0 && <p class="quiet">{of.moved_left_out === 1 ? "1 line more is" : `${of.moved_left_out} lines more are`} not in this report.</p>}
        </section>
      ))}
    </article>
  );
}

/** What is said of a run besides its findings. */
function aside(of: SharedOfRun): string {
  if (of.missing) return `${of.missing.why}${of.missing.remedy ? `; it takes ${of.missing.remedy}` : ""}`;
  const machine = [
    of.transfer === null ? "" : `a line takes ${human(of.transfer / 1e9, "s")} from one CPU to another there`,
    of.atomic === null ? "" : `an atomic addition alone ${human(of.atomic / 1e9, "s")}`,
  ];
  const sampled = of.sampled === null ? "" : `${of.sampled} accesses that the CPU sampled itself`;
  if (!of.looked) return [sampled, "samples with registers were not looked through"].filter(Boolean).join("; ");
  return [
    of.things.length === 0 ? "no cache line that threads wait for, beyond what their accesses take anyway" : of.things.length === 1 ? "1 finding" : `${of.things.length} findings`,
    of.left_out > 0 ? `${of.left_out} more not in this report` : "",
    of.hits === null ? "sampled only" : `${of.hits} hits of watchpoints`, sampled, ...machine,
  ].filter(Boolean).join("; ");
}

export function Sharing({ lines }: { lines: SharedLines }) {
  const { runs } = report();
  const found = foundOf(lines);
  return (
    <>
      <p class="read">
        Threads on several CPUs that write to one line of 64 bytes wait for it each time. If they use different bytes of it, that is false sharing: a line
        for each ends it. In the drawings a cell is a byte, with a digit and a colour for each thread:{" "}
        <span class="key"><span class="cell written" style={look(WRITTEN)}>1</span> written,</span>{" "}
        <span class="key"><span class="cell read" style={look({ ...WRITTEN, kind: "read", writer: null, reader: 0, isRead: true })}>1</span> only read,</span>{" "}
        <span class="key"><span class="cell written" style={look({ ...WRITTEN, reader: 1, isRead: true })}>1</span> written, and read by others,</span>{" "}
        <span class="key"><span class="cell written several">*</span> written by several,</span>{" "}
        <span class="key"><span class="cell read" style={look({ ...WRITTEN, kind: "read", writer: null, several: true, isRead: true })}>*</span> only read, by several.</span>
      </p>
      <ul class="small sharing-runs">
        {lines.runs.map((of, run) => <li key={run}>{runs.length > 1 && <><RunName run={run} />: </>}{aside(of)}.</li>)}
      </ul>
      {lines.runs.some((of) => of.hits === null && (of.looked || of.missing)) && (
        <p class="none">More is seen with watchpoints on the words of such lines: <code>twinscope record --sharing -- COMMAND</code>, as root.</p>
      )}
      {found.map((f, at) => <Of key={`${f.comm} ${f.name}`} found={f} first={at === 0} />)}
      {lines.runs.some((of) => of.sampled !== null) && <AllMoved lines={lines} />}
    </>
  );
}
