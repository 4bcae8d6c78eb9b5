// Stacked bars: time by state, on a scale that several share.
import type { State } from "../bundle/types";
import { stateColor } from "../model/color";
import { human } from "../model/units";

export function StateBar({ states, values, unit, most, label, color, lit, onOver, hint = "", onPick }: {
  states: State[];
  /** By state; null where it was not measured. */
  values: (number | null)[];
  unit: string;
  /** What a bar of the whole width is worth. */
  most: number;
  label: string;
  color: (state: number, id: string) => string;
  /** The state that stands out; null for none. */
  lit: number | null;
  onOver: (state: number) => void;
  /** What a click does, in words. */
  hint?: string;
  onPick?: (state: number) => void;
}) {
  return (
    <div class={`bar${onPick ? "" : " still"}`} role="img" aria-label={label}>
      {states.map((s, i) => {
        const v = values[i] ?? null;
        if (v === null || v <= 0) return null;
        return (
          <span
            key={s.id}
            class={`segment${lit !== null && lit !== i ? " dim" : ""}`}
            style={{ width: `${(v / most) * 100}%`, background: color(i, s.id) }}
            title={`${s.title}: ${human(v, unit)}.${hint ? ` ${hint}` : ""}`}
            onPointerEnter={() => onOver(i)}
            {...(onPick ? { onClick: () => onPick(i) } : {})}
          />
        );
      })}
    </div>
  );
}

/** A small one in a table, in the colours of the thread ledger: states in which no time was spent are not in it. */
export function MiniBar({ states, values, most, unit }: { states: State[]; values: number[]; most: number; unit: string }) {
  const parts = states.flatMap((s, i) => { const v = values[i] ?? 0; return v > 0 ? [{ s, v }] : []; });
  const said = parts.map(({ s, v }) => `${s.title} ${human(v, unit)}`).join(", ");
  return (
    <span class="mini-bar" role="img" aria-label={said} title={said}>
      {parts.map(({ s, v }) => <span key={s.id} style={{ width: `${(v / most) * 100}%`, background: stateColor(s) }} />)}
    </span>
  );
}
