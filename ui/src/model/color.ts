// Colours of recordings, of lines and of heat maps, for the light and the dark page. Chosen so that neighbours differ in
// lightness too, for readers who do not tell hues apart; recordings keep their colour everywhere, the baseline always blue.
import { signal } from "@preact/signals";
import type { State } from "../bundle/types";
import { picture } from "../picture";
import { printing } from "../state";

export type Theme = "light" | "dark";

const media = typeof matchMedia === "function" ? matchMedia("(prefers-color-scheme: dark)") : null;
const KEY = "twinscope-theme";

/** What the reader asked for; null follows the system. A picture says its own. */
const asked = signal<Theme | null>(picture ?? stored());
const system = signal<Theme>(media?.matches ? "dark" : "light");
media?.addEventListener("change", () => {
  system.value = media.matches ? "dark" : "light";
});

// Storage is refused to files in some browsers; the switch works there all the same, for as long as the page is open.
function stored(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

/** The theme in force; paper is light. */
export function theme(): Theme {
  if (printing.value) return "light";
  return asked.value ?? system.value;
}

/** Sets the theme, or switches it. */
export function setTheme(to: Theme = theme() === "dark" ? "light" : "dark"): void {
  asked.value = to;
  try {
    localStorage.setItem(KEY, to);
  } catch {
    // The choice lasts until the page is closed.
  }
}

const RUNS: Record<Theme, readonly string[]> = {
  light: ["#0b62b8", "#b35900", "#00796b", "#7a45c0", "#6f6300", "#b8327f", "#4f5b66", "#1f7f99"],
  dark: ["#6cb2ff", "#f2a24e", "#45cbb0", "#bd9cff", "#d8c746", "#f58cc6", "#aab6c2", "#7edcf2"],
};

/** The colour of a recording. */
export function runColor(run: number): string {
  const colors = RUNS[theme()];
  return colors[run % colors.length] as string;
}

const LINES: Record<Theme, readonly string[]> = {
  light: ["#3b3f9e", "#3f9fc4", "#2f8f73", "#9a8c1e", "#c08a2e", "#7d5ba6", "#1c6b4a", "#b0628f", "#5f7f2f", "#6b7a8a"],
  dark: ["#a3a8ff", "#74cdf0", "#5fd0b0", "#e0d468", "#e8b768", "#c9a6f0", "#86d39b", "#f0a3cf", "#b5d47a", "#a8b5c2"],
};

const QUIET: Record<Theme, string> = { light: "#c9cfd6", dark: "#48515c" };

/** The colour of the nth line of a chart. What is not in use (idle, free) is grey. */
export function lineColor(n: number, name = ""): string {
  if (/^(idle|free|unused|other)$/i.test(name)) return QUIET[theme()];
  const colors = LINES[theme()];
  return colors[n % colors.length] as string;
}

/** The colour of a state of the thread ledger, which comes with it. */
export function stateColor(state: State | undefined): string {
  return state?.color?.[theme() === "light" ? 0 : 1] ?? QUIET[theme()];
}

const WAITS: Record<string, readonly [string, string]> = {
  load: ["#3b3f9e", "#a3a8ff"],
  store: ["#3f9fc4", "#74cdf0"],
  atomic: ["#b0628f", "#f0a3cf"],
  long: ["#c08a2e", "#e8b768"],
  fetch: ["#2f8f73", "#5fd0b0"],
  serialising: ["#7d5ba6", "#c9a6f0"],
  spin: ["#9a8c1e", "#e0d468"],
  core: ["#6b7a8a", "#a8b5c2"],
};

/** The colour of what an instruction waits for. */
export function waitColor(wait: string): string {
  return WAITS[wait]?.[theme() === "light" ? 0 : 1] ?? QUIET[theme()];
}

/** Black or white, whichever reads better on a colour. */
export function inkOn(color: string): string {
  const part = (at: number) => {
    const c = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) > 0.179 ? "#000000" : "#ffffff";
}

/** Whether the nth line of a chart is dashed: the colours start again after the tenth. */
export function isDashed(n: number): boolean {
  return Math.floor(n / LINES.light.length) % 2 === 1;
}

type Rgb = readonly [number, number, number];

const RAMPS: Record<Theme, readonly Rgb[]> = {
  light: [
    [244, 247, 251],
    [198, 219, 239],
    [126, 178, 219],
    [62, 127, 190],
    [22, 74, 143],
    [8, 34, 84],
  ],
  dark: [
    [24, 31, 43],
    [25, 58, 102],
    [29, 98, 158],
    [56, 148, 196],
    [126, 202, 220],
    [232, 248, 236],
  ],
};

/** 256 colours of a heat map as ABGR words for ImageData, from nothing to the greatest value. */
export function heatRamp(of: Theme = theme()): Uint32Array {
  const stops = RAMPS[of];
  const out = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const k = Math.min(Math.floor(at), stops.length - 2);
    const [a, b] = [stops[k] as Rgb, stops[k + 1] as Rgb];
    const mix = (c: 0 | 1 | 2) => Math.round(a[c] + (b[c] - a[c]) * (at - k));
    out[i] = ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
  }
  return out;
}

/** The ramp as a CSS gradient, for the legend. */
export function rampGradient(of: Theme = theme()): string {
  return `linear-gradient(to right, ${RAMPS[of].map((c) => `rgb(${c.join(" ")})`).join(", ")})`;
}

/** A colour of the page's style sheet, for canvases. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
