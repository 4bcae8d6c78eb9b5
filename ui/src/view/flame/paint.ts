// Draws the rows of a flame graph that are in view.
import { cssColor, type Theme } from "../../model/color";
import type { Layout } from "./layout";
import { changeFills, changeStep, fills, MATCH, shades, STEPS } from "./palette";
import type { Frames } from "./tree";

/** Height of a row, CSS pixels. */
export const ROW = 18;

/** Text is not drawn in what is narrower. */
const TEXT_FROM = 28;

export interface Picture {
  layout: Layout;
  zoom: number;
  /** Node under the pointer or chosen by key, -1 for none. */
  chosen: number;
  matches: Uint8Array | null;
  /** Colour by the difference of two runs. */
  change: boolean;
  width: number;
  height: number;
  /** How far it is scrolled down, CSS pixels. */
  scroll: number;
  theme: Theme;
}

const shadesOf = new WeakMap<Frames, Uint8Array>();
/** Widths of names in the font at hand; filled as they are drawn. */
let widths = new WeakMap<Frames, Float32Array>();
let font = "";

function cached<K extends object, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** Draws the picture. Returns how many nodes were drawn. */
export function paint(g: CanvasRenderingContext2D, p: Picture): number {
  const { layout, theme } = p;
  const { frames, frame } = layout.tree;
  const scale = globalThis.devicePixelRatio || 1;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, p.width, p.height);
  const shade = cached(shadesOf, frames, () => shades(frames));
  const palette = p.change ? changeFills(theme) : fills(theme);
  const found = palette.push(MATCH[theme].found) - 1;
  const rest = palette.push(MATCH[theme].rest) - 1;
  const root = p.change ? STEPS : 6;
  // By colour: changing the fill is what costs.
  const boxes: number[][] = palette.map(() => []);
  const texts: number[] = [];
  let drawn = 0;
  const [before, after] = [layout.total[0], layout.total[1]];
  layout.walk(p.zoom, p.width, Math.floor(p.scroll / ROW), Math.floor((p.scroll + p.height) / ROW), (node, x, w, row) => {
    const f = frame[node] as number;
    let color: number;
    if (p.matches) color = node !== 0 && p.matches[f] === 1 ? found : rest;
    else if (node === 0) color = root;
    else if (p.change) color = changeStep(before?.[node] ?? 0, after?.[node] ?? 0);
    else color = shade[f] as number;
    const y = row * ROW - p.scroll;
    boxes[color]?.push(x, y, w);
    if (w >= TEXT_FROM) texts.push(node, x, y, w);
    drawn++;
  });
  boxes.forEach((list, color) => {
    g.fillStyle = palette[color] as string;
    for (let i = 0; i < list.length; i += 3) {
      const w = list[i + 2] as number;
      // A gap between neighbours where there is room for one.
      g.fillRect(list[i] as number, list[i + 1] as number, w > 3 ? w - 1 : w, ROW - 1);
    }
  });
  write(g, p, texts);
  if (p.chosen >= 0) outline(g, p);
  return drawn;
}

function write(g: CanvasRenderingContext2D, p: Picture, texts: number[]): void {
  const { frames, frame } = p.layout.tree;
  const wanted = `12px ${getComputedStyle(document.body).fontFamily}`;
  if (wanted !== font) {
    font = wanted;
    widths = new WeakMap();
  }
  g.font = font;
  g.textBaseline = "middle";
  g.fillStyle = cssColor("--ink");
  const known = cached(widths, frames, () => new Float32Array(frames.name.length + 1));
  for (let i = 0; i < texts.length; i += 4) {
    const [node, x, y, w] = [texts[i] as number, texts[i + 1] as number, texts[i + 2] as number, texts[i + 3] as number];
    const f = node === 0 ? frames.name.length : (frame[node] as number);
    const name = node === 0 ? "all" : (frames.name[f] ?? "");
    let wide = known[f] as number;
    if (wide === 0) known[f] = wide = g.measureText(name).width + 0.01;
    const room = w - 8;
    const left = Math.max(x, 0) + 4;
    const middle = y + (ROW - 1) / 2 + 0.5;
    if (wide <= room) {
      g.fillText(name, left, middle);
      continue;
    }
    // As many letters as surely fit; the last part of a long name says more than none.
    const letters = Math.floor((room / wide) * name.length) - 1;
    if (letters >= 2) g.fillText(`${name.slice(0, letters)}…`, left, middle, room);
  }
}

function outline(g: CanvasRenderingContext2D, p: Picture): void {
  p.layout.walk(p.zoom, p.width, 0, p.layout.depth[p.chosen] ?? 0, (node, x, w, row) => {
    if (node !== p.chosen) return;
    g.strokeStyle = cssColor("--ink");
    g.lineWidth = 1.5;
    g.strokeRect(x + 0.75, row * ROW - p.scroll + 0.75, Math.max(1, w - 2.5), ROW - 2.5);
  });
}
