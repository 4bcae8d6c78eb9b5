// Lines over time, small and without axes, on one scale. Gaps stay gaps.
import { runColor } from "../model/color";

const W = 132;
const H = 34;

/** Lines of recordings; `zero`: the scale has 0 in it. */
export function Sparkline({ lines, zero = true }: { lines: { values: (number | null)[]; run: number }[]; zero?: boolean }) {
  const all = lines.flatMap((line) => line.values).filter((x): x is number => x !== null);
  if (all.length === 0) return <span class="quiet">–</span>;
  const top = zero ? Math.max(...all, 0) : Math.max(...all);
  const low = zero ? Math.min(...all, 0) : Math.min(...all);
  const y = (v: number) => H - 2 - ((v - low) / (top - low || 1)) * (H - 4);
  const path = (values: (number | null)[]) => {
    let out = "";
    let pen = false;
    values.forEach((v, i) => {
      if (v === null) {
        pen = false;
        return;
      }
      const x = values.length > 1 ? (i / (values.length - 1)) * (W - 2) + 1 : W / 2;
      const alone = !pen && (values[i + 1] ?? null) === null;
      out += `${pen ? "L" : "M"}${x.toFixed(1)} ${y(v).toFixed(1)}${alone ? "h0.01" : ""}`;
      pen = true;
    });
    return out;
  };
  return (
    <svg class="spark" width={W} height={H} viewBox={`0 0 ${W} ${H}`} aria-hidden="true">
      {lines.map((line) => line.values.length > 0 && <path key={line.run} d={path(line.values)} stroke={runColor(line.run)} />)}
    </svg>
  );
}
