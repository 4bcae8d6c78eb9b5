// What a change means, in words: "2.9×", "0.17× (−83 %)", "+18 %", "gone". Kept apart so that every place says it the same way.
import { fixed, human } from "./units";
import type { Difference } from "../bundle/types";

/** A change as a factor where that is easier to grasp (twice or more; half or less, with the per cent that engineers know it by), else as per cent. */
export function changeInWords(change: number | null): string {
  if (change === null || !Number.isFinite(change)) return "new";
  const factor = 1 + change;
  if (factor <= 0) return "gone";
  if (factor >= 1.995) return `${short(factor)}×`;
  if (factor <= 0.5) return factor >= 0.01 ? `${fixed(factor, 2)}× (${perCent(change)})` : "<0.01×";
  return perCent(change);
}

/** "+18 %", with a decimal below ten per cent. */
export function perCent(change: number): string {
  const p = change * 100;
  const text = fixed(Math.abs(p), Math.abs(p) < 9.95 ? 1 : 0);
  return `${p < 0 ? "−" : "+"}${text} %`;
}

function short(factor: number): string {
  return fixed(factor, factor >= 99.5 ? 0 : 1);
}

/** Whether a change is said as a factor. */
const asFactor = (change: number) => 1 + change >= 1.995 || 1 + change <= 0.5;

/** The bounds of the 95 % interval of a difference, as factors where the change is said as one: "2.70–3.10×", "+12 to +18 %". */
export function rangeInWords(d: Pick<Difference, "change" | "low" | "high">): string {
  if (d.change === null || d.low === null || d.high === null) return "";
  if (!asFactor(d.change)) return `${perCent(d.low).replace(/ %$/, "")} to ${perCent(d.high)}`;
  const factor = (c: number) => fixed(Math.max(0, 1 + c), 1 + c < 10 ? 2 : 1);
  return `${factor(d.low)}–${factor(d.high)}×`;
}

/** The 95 % interval of a difference in words. */
export function intervalInWords(d: Pick<Difference, "change" | "low" | "high">): string {
  if (d.change === null) return "no share can be given: the baseline is 0";
  const range = rangeInWords(d);
  return range ? `95 % CI ${range}` : "without an interval";
}

/** Whether the change is for better or worse; null where more means neither. */
export function judgement(d: Pick<Difference, "difference" | "polarity">): "better" | "worse" | null {
  if (d.polarity === "neutral" || d.difference === 0) return null;
  const more = d.difference > 0;
  return (d.polarity === "better") === more ? "better" : "worse";
}

/** Labels as text: `cpu 0`, `device nvme0n1`. */
export function labelsInWords(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([k, v]) => `${k} ${v}`)
    .join(", ");
}

/** One sentence about a difference, for screen readers. */
export function differenceInWords(d: Difference, baseline: string, other: string): string {
  const what = [d.title, labelsInWords(d.labels)].filter(Boolean).join(", ");
  const judged = judgement(d);
  return `${what}: ${baseline} ${human(d.baseline, d.unit)}, ${other} ${human(d.other, d.unit)}; ${changeInWords(d.change)}${judged ? `, ${judged}` : ""}; ${intervalInWords(d)}.`;
}

/** Each metric of an entity once: per second or per operation, whichever comes first. */
export function once(differences: Difference[]): Difference[] {
  const seen = new Set<string>();
  return differences.filter((d) => {
    const key = JSON.stringify([d.metric, d.labels, d.run]);
    return !seen.has(key) && seen.add(key);
  });
}
