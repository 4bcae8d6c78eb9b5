// Chromium for the page tests: opens a report offline and watches for anything it must not do.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { chromium, type Browser, type Page } from "playwright-core";
import type { Head } from "../../src/bundle/types";
import { assemble, type Blocks } from "../bundle/encode";
import { SAMPLES, type Sample } from "../bundle/samples";

export const ROOT = resolve(import.meta.dirname, "../..");
export const SHOTS = resolve(ROOT, "test/screenshots");
const WORK = resolve(import.meta.dirname, ".work");

export const template = () => readFileSync(resolve(ROOT, "dist/index.html"), "utf8");

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: FLAGS });
}

const made = new Map<string, Sample>();

/** A sample by name, made once. */
export function sampleOf(name: string): Sample {
  let s = made.get(name);
  if (!s) {
    const make = SAMPLES[name];
    if (!make) throw new Error(`no sample ${name}`);
    s = make();
    made.set(name, s);
  }
  return s;
}

/** Writes a report and gives its path. */
export function write(name: string, head: Head | object, blocks: Blocks): string {
  mkdirSync(WORK, { recursive: true });
  const path = resolve(WORK, `${name}.html`);
  writeFileSync(path, assemble(template(), head, blocks));
  return path;
}

const written = new Map<string, string>();

/** The path of a sample's report, written once. */
export function reportOf(name: string): string {
  const known = written.get(name);
  if (known) return known;
  const { head, blocks } = sampleOf(name);
  const path = write(name, head, blocks);
  written.set(name, path);
  return path;
}

export interface Opened {
  page: Page;
  /** Everything that went wrong: console errors, page errors, requests to anywhere but the file itself. */
  trouble: string[];
  close: () => Promise<void>;
}

/** Opens a report. */
export async function open(browser: Browser, path: string, hash = "", options: { theme?: "light" | "dark"; width?: number; height?: number } = {}): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1366, height: options.height ?? 860 },
    colorScheme: options.theme ?? "light",
  });
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on("console", (m) => {
    // The tests read canvases back, the page does not.
    if (m.text().includes("willReadFrequently")) return;
    if (m.type() === "error" || m.type() === "warning") trouble.push(`console: ${m.text()}`);
  });
  page.on("pageerror", (e) => trouble.push(`error: ${e.message}`));
  page.on("dialog", (d) => {
    trouble.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  page.on("request", (r) => {
    if (r.isNavigationRequest() && r.url().startsWith("file:")) return;
    if (!r.url().startsWith("data:")) trouble.push(`request: ${r.url()}`);
  });
  // What is copied is kept, as the clipboard of a headless browser cannot be read.
  await page.addInitScript(() => {
    Object.defineProperty(navigator, "clipboard", {
      value: { writeText: (text: string) => Promise.resolve(((window as unknown as { copied: string }).copied = text)) },
    });
  });
  await page.goto(`file://${path}${hash ? `#${hash}` : ""}`);
  return { page, trouble, close: () => context.close() };
}

/** What opens a sample, runs a test on it, and sees that nothing went wrong meanwhile. */
export function opener(browser: () => Browser) {
  return async (name: string, hash: string, test: (page: Page) => Promise<void>, options: Parameters<typeof open>[3] = {}): Promise<void> => {
    const { page, trouble, close } = await open(browser(), reportOf(name), hash, options);
    await settled(page);
    await test(page);
    expect(trouble).toEqual([]);
    await close();
  };
}

/** Tests that a page of the sample of its name reads and is reachable, in both themes and at two widths, without scrolling sideways. */
export function readsAndIsReachable(on: ReturnType<typeof opener>, name: string): void {
  for (const theme of ["light", "dark"] as const) {
    for (const width of [1366, 1920]) {
      it(`reads and is reachable, ${theme}, ${width} px`, async () => {
        await on(name, name, async (page) => {
          await shot(page, `${name}-${theme}-${width}`);
          expect(await lowContrast(page)).toEqual([]);
          expect(await unreachable(page)).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
          const beyond = await page.locator("main .scroll").evaluateAll((all) => all.map((e) => e.scrollWidth - e.clientWidth));
          expect(Math.max(...beyond)).toBeLessThanOrEqual(1);
        }, { theme, width });
      });
    }
  }
}

/** What the page copied last. */
export const copied = (page: Page) => page.evaluate(() => (window as unknown as { copied: string }).copied);

/** Waits until every chart in view is drawn and nothing is being unpacked. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector("main h1, .opening.trouble");
  await page.waitForFunction(() => !document.querySelector("main p[role=status]"));
  await page.waitForFunction(() => {
    const near = [...document.querySelectorAll<HTMLElement>(".chart[data-chart]")].filter((c) => {
      const b = c.getBoundingClientRect();
      return b.bottom > 0 && b.top < innerHeight;
    });
    return near.every((c) => c.classList.contains("folded") || c.querySelector("canvas, .none, .trouble"));
  });
  // Drawing follows in the next frames.
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(r)))));
}

/** Makes the window as tall as the page and takes a picture. */
export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  const size = page.viewportSize();
  const height = await page.evaluate(() => document.querySelector("main")?.getBoundingClientRect().height ?? 0);
  if (size) await page.setViewportSize({ width: size.width, height: Math.min(6000, Math.max(size.height, Math.ceil(height) + 160)) });
  await settled(page);
  await page.screenshot({ path: resolve(SHOTS, `${name}.png`) });
  if (size) await page.setViewportSize(size);
}

/** How many different colours the canvases of charts in the page hold; a blank chart has one or two. */
export function paint(page: Page): Promise<{ charts: number; blank: string[] }> {
  return page.evaluate(() => {
    const charts = [...document.querySelectorAll<HTMLElement>("main .chart[data-chart]")];
    const blank: string[] = [];
    for (const chart of charts) {
      for (const canvas of chart.querySelectorAll("canvas")) {
        const data = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data;
        const colors = new Set<number>();
        if (data) for (const pixel of new Uint32Array(data.buffer)) colors.add(pixel);
        if (colors.size < 4) blank.push(chart.dataset["chart"] ?? "?");
      }
    }
    return { charts: charts.length, blank };
  });
}

/** Texts whose contrast with what is behind them is below WCAG AA (4.5, or 3 for large text). */
export function lowContrast(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Color = [number, number, number, number];
    const parse = (css: string): Color => {
      const [r = 0, g = 0, b = 0, a = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
      return [r, g, b, a];
    };
    const over = (top: Color, under: Color): Color => [0, 1, 2].map((i) => (top[i] as number) * top[3] + (under[i] as number) * (1 - top[3])).concat(1) as Color;
    const behind = (e: Element | null): Color => {
      if (!e) return [255, 255, 255, 1];
      const own = parse(getComputedStyle(e).backgroundColor);
      return own[3] === 1 ? own : over(own, behind(e.parentElement));
    };
    const luminance = (c: Color) => {
      const [r, g, b] = [0, 1, 2].map((i) => {
        const x = (c[i] as number) / 255;
        return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * (r as number) + 0.7152 * (g as number) + 0.0722 * (b as number);
    };
    const bad = new Set<string>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.textContent?.trim() ?? "";
      const e = node.parentElement;
      if (!text || !e || e.closest("script, style, noscript, .hidden, :disabled, dialog:not([open])")) continue;
      const style = getComputedStyle(e);
      if (e.getClientRects().length === 0 || style.visibility === "hidden") continue;
      const ground = behind(e);
      const ink = over(parse(style.color), ground);
      const [a, b] = [luminance(ink), luminance(ground)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const size = Number.parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) bad.add(`“${text.slice(0, 40)}” ${style.color} on ${ground.slice(0, 3).join(",")}: ${ratio.toFixed(2)}`);
    }
    return [...bad];
  });
}

/** Things a keyboard or a screen reader cannot use: controls without a name, or out of the tab order. */
export function unreachable(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const bad: string[] = [];
    for (const e of document.querySelectorAll<HTMLElement>("button, a, input, select, [role=slider], [role=application], [onclick]")) {
      if (e.getClientRects().length === 0) continue;
      const label = e.getAttribute("aria-label") ?? (e.textContent?.trim() || (e as HTMLInputElement).labels?.[0]?.textContent?.trim());
      if (!label) bad.push(`no name: ${e.outerHTML.slice(0, 80)}`);
      if (e.tabIndex < 0) bad.push(`not in the tab order: ${e.outerHTML.slice(0, 80)}`);
    }
    for (const e of document.querySelectorAll("main canvas, main svg")) {
      if (!e.closest("[aria-label], [aria-hidden=true]")) bad.push(`no text alternative: ${e.outerHTML.slice(0, 80)}`);
    }
    return bad;
  });
}
