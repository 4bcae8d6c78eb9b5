// All trials over time, a lane for each variant, over what of the machine's CPU time went elsewhere meanwhile.
import type { Experiment, Trial } from "../../bundle/generated";
import { ENDS, nameOf, placed, shareInWords, trialInWords } from "../../model/experiment";
import { clock, timeStep } from "../../model/units";
import { place, axisOf } from "../../model/axis";
import { variantColor } from "./colors";
import { Frame, type Mark } from "./Frame";

const NAMES = 150;
const SIDE = 10;
const SHARE = 30;
const GAP = 10;
const FOOT = 22;

/** A name that fits beside a lane. */
const short = (text: string) => (text.length > 22 ? `${text.slice(0, 21)}…` : text);

/** A share that is drawn as bars: its greatest, 5 % at least, so that noise does not look like trouble. */
function greatest(trials: Trial[], of: (t: Trial) => number | null): number {
  return Math.max(0.05, ...trials.map((t) => of(t) ?? 0));
}

/** The section. */
export function TrialStrip({ e }: { e: Experiment }) {
  const { trials } = e;
  const at = placed(trials);
  const lanes = [...new Set(trials.map((t) => t.variant))].toSorted((a, b) => a - b);
  const lane = lanes.length <= 8 ? 20 : lanes.length <= 16 ? 15 : 12;
  const top = 4;
  const shares = [
    { id: "stolen", title: "stolen", of: (t: Trial) => t.stolen },
    { id: "others", title: "others' CPU", of: (t: Trial) => t.others },
  ].map((s) => ({ ...s, most: greatest(trials, s.of), known: trials.some((t) => s.of(t) !== null) }));
  const strips = top + lanes.length * lane + GAP;
  const height = strips + shares.length * (SHARE + GAP) + FOOT;
  const count = (end: Trial["end"]) => trials.filter((t) => t.end === end).length;
  const explained = trials.filter((t) => t.explained).length;
  const told = [
    `${trials.length} trials`, ...(["failed", "void", "cut", "open"] as const).flatMap((end) => (count(end) > 0 ? [`${count(end)} ${ENDS[end].split(":")[0]}`] : [])), ...(explained > 0 ? [`${explained} recorded for explaining`] : []),
    ...shares.map((s) => (s.known ? `${s.title} at most ${shareInWords(Math.max(0, ...trials.map((t) => s.of(t) ?? 0)))}` : `${s.title} not known`)),
  ].join(", ");
  const axis = { ...axisOf([0, at.end]), low: 0, high: at.end };
  return (
    <section aria-labelledby="at-trials">
      <h2 id="at-trials">All trials</h2>
      <p class="read quiet">
        {at.timed ? "Over the time of the session." : "In the order in which they ran; times are not known, or the session was interrupted."} Below: the part of the machine's CPU time that the hypervisor gave to others, and that other programs used.
      </p>
      <Frame
        name="trials" height={height} label={`Trials by variant. ${told}.`}
        draw={(width, read) => {
          const x = (v: number) => NAMES + place(axis, v) * (width - NAMES - SIDE);
          const box = (i: number) => {
            const { from, to } = at.at[i] as { from: number; to: number };
            return { x: x(from), w: Math.max(1.5, x(to) - x(from) - 1) };
          };
          const y = (t: Trial) => top + lanes.indexOf(t.variant) * lane;
          const marks: Mark[] = trials.map((t, i) => { const b = box(i); return { x: b.x + b.w / 2, y: y(t) + lane / 2, text: trialInWords(e, t) }; });
          const step = at.timed ? timeStep(at.end, Math.max(2, Math.floor((width - NAMES) / 90))) : Math.max(1, Math.ceil(at.end / Math.max(2, Math.floor((width - NAMES) / 60))));
          const stops = Array.from({ length: Math.floor(at.end / step) + 1 }, (_, k) => k * step).filter((v) => at.timed || v < at.end);
          return {
            marks,
            picture: (
              <>
                <defs>
                  <pattern id="hatched" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch" width="1.6" height="5" /></pattern>
                </defs>
                {lanes.map((v, i) => (
                  <g key={v}>
                    <text class="lane" x="0" y={top + (i + 0.5) * lane} dy="0.32em"><title>{nameOf(e, v)}</title>{short(nameOf(e, v))}</text>
                    <line class="grid" x1={NAMES} x2={width - SIDE} y1={top + (i + 1) * lane - 0.5} y2={top + (i + 1) * lane - 0.5} />
                  </g>
                ))}
                {trials.map((t, i) => {
                  const b = box(i);
                  const color = variantColor(e, t.variant);
                  const [from, tall] = [y(t) + 2, lane - 5];
                  const middle = [b.x + b.w / 2, from + tall / 2] as const;
                  if (t.end === "void" || t.end === "cut") return <rect key={i} class="gone" x={b.x} width={b.w} y={from} height={tall} />;
                  if (t.end === "failed") {
                    const r = 4.5;
                    return (
                      <g key={i} class="failed-mark">
                        <rect x={b.x} width={b.w} y={from} height={tall} />
                        <path d={`M${middle[0] - r},${middle[1] - r}l${2 * r},${2 * r}M${middle[0] + r},${middle[1] - r}l${-2 * r},${2 * r}`} />
                      </g>
                    );
                  }
                  if (t.explained || t.end === "open") {
                    return <rect key={i} class={t.end === "open" ? "dashed" : ""} x={b.x + 0.75} width={Math.max(1, b.w - 1.5)} y={from + 0.75} height={tall - 1.5} style={{ stroke: color, strokeWidth: 1.5, fill: "none" }} />;
                  }
                  return <rect key={i} x={b.x} width={b.w} y={from} height={tall} style={{ fill: color }} />;
                })}
                {shares.map((s, k) => {
                  const base = strips + k * (SHARE + GAP) + SHARE;
                  return (
                    <g key={s.id} class="share-strip">
                      <text class="lane" x="0" y={base - SHARE / 2} dy="0.32em">{s.title}</text>
                      {s.known
                        ? <text x={NAMES - 6} y={base - SHARE + 8} text-anchor="end">{shareInWords(s.most)}</text>
                        : <text x={NAMES + 6} y={base - SHARE / 2} dy="0.32em">not known</text>}
                      <line class="grid" x1={NAMES} x2={width - SIDE} y1={base + 0.5} y2={base + 0.5} />
                      {trials.map((t, i) => {
                        const v = s.of(t);
                        if (v === null || !(v > 0)) return null;
                        const b = box(i);
                        const tall = Math.max(1, (v / s.most) * SHARE);
                        return <rect key={i} class="share" x={b.x} width={b.w} y={base - tall} height={tall} />;
                      })}
                    </g>
                  );
                })}
                {stops.map((v) => (
                  <text key={v} x={x(v)} y={height - 6} text-anchor={v === 0 ? "start" : x(v) > width - 40 ? "end" : "middle"}>{at.timed ? clock(v, step) : v + 1}</text>
                ))}
                {read !== null && marks[read] && trials[read] && <rect class="ring" x={box(read).x - 2} width={box(read).w + 4} y={y(trials[read]) - 0.5} height={lane} rx="2" />}
              </>
            ),
          };
        }}
      />
      <p class="xp-legend small">
        <span class="line-name"><span class="swatch full" aria-hidden="true" />measured</span>
        {explained > 0 && <span class="line-name"><span class="swatch hollow" aria-hidden="true" />recorded for explaining; not part of the numbers</span>}
        {count("failed") > 0 && <span class="line-name bad"><span aria-hidden="true">✕</span>failed</span>}
        {(count("void") > 0 || count("cut") > 0) && <span class="line-name"><span class="swatch hatched" aria-hidden="true" />void or cut; its block was run again</span>}
        {count("open") > 0 && <span class="line-name"><span class="swatch hollow dashed" aria-hidden="true" />not ended</span>}
      </p>
    </section>
  );
}
