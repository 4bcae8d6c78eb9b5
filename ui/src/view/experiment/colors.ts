// Colours of variants: as those of recordings where they are few; of a sweep, by their order.
import type { Experiment } from "../../bundle/generated";
import { heatRamp, runColor, theme } from "../../model/color";

/** A colour of the ramp of heat maps, 0 to 1, as `#rrggbb`. */
export function rampColor(share: number): string {
  const word = heatRamp(theme())[Math.round(Math.min(1, Math.max(0, share)) * 255)] ?? 0;
  return `#${[word & 255, (word >> 8) & 255, (word >> 16) & 255].map((c) => c.toString(16).padStart(2, "0")).join("")}`;
}

/** One of many in their order; the ends of the ramp would vanish in the page. */
export function orderColor(at: number, of: number): string {
  return rampColor(of < 2 ? 0.7 : 0.35 + (0.6 * at) / (of - 1));
}

/** The colour of a variant. */
export function variantColor(e: Experiment, variant: number): string {
  return e.design === "sweep" || e.variants.length > 8 ? orderColor(variant, e.variants.length) : runColor(variant);
}
