// Pages that are made a picture (`twinscope report --image`): only the first screen, nothing to click, in the colours that were asked for, and a
// line at its end, which is there before a browser takes the picture.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { assemble } from "../bundle/encode";
import { assembleExperiment, EXPERIMENTS } from "../bundle/experiment";
import { assembleFleet, FLEETS } from "../bundle/fleet";
import { launch, lowContrast, open, reportOf, ROOT, sampleOf, SHOTS } from "./browser";

let browser: Browser;
let folder: string;
beforeAll(async () => {
  browser = await launch();
  folder = mkdtempSync(resolve(tmpdir(), "picture-"));
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const dist = (name: string) => readFileSync(resolve(ROOT, `dist/${name}.html`), "utf8");

/** Pages by name: reports, an experiment, a fleet. */
const PAGES: Record<string, () => string> = {
  pair: () => assemble(dist("index"), sampleOf("pair").head, sampleOf("pair").blocks),
  threads: () => assemble(dist("index"), sampleOf("threads").head, sampleOf("threads").blocks),
  "threads-one": () => assemble(dist("index"), sampleOf("threads-one").head, sampleOf("threads-one").blocks),
  "threads-three": () => assemble(dist("index"), sampleOf("threads-three").head, sampleOf("threads-three").blocks),
  experiment: () => assembleExperiment(dist("experiment"), (EXPERIMENTS["ladder"] as () => object)()),
  fleet: () => assembleFleet(dist("fleet"), (FLEETS["banded"] as () => { page: object; blocks: Record<string, Uint8Array> })()),
};

function written(name: string, theme: string): string {
  const path = resolve(folder, `${name}-${theme}.html`);
  writeFileSync(path, (PAGES[name] as () => string)().replace("<html ", `<html data-picture="${theme}" `));
  return path;
}

describe("a picture", () => {
  for (const name of Object.keys(PAGES)) {
    for (const theme of ["light", "dark"] as const) {
      it(`of “${name}” has the first screen, in ${theme} colours whatever the system's`, async () => {
        const { page, trouble, close } = await open(browser, written(name, theme), "", { width: 1280, height: 3000, theme: theme === "light" ? "dark" : "light" });
        const end = page.locator(".picture-end");
        await end.waitFor();
        expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe(theme);
        const box = await end.boundingBox();
        expect([box?.x, box?.width]).toEqual([0, 1280]);
        expect(box?.y).toBeGreaterThan(200);
        expect(box?.y).toBeLessThan(2990);
        expect(await end.evaluate((e) => getComputedStyle(e).backgroundColor)).toBe("rgb(254, 2, 252)");
        for (const gone of [".rail", ".strip", "select", "input"]) expect(await page.locator(`${gone}:visible`).count(), gone).toBe(0);
        expect(await page.locator(".finding[data-cause]:visible").count()).toBeLessThanOrEqual(3);
        expect(await page.getByRole("button", { name: /^(Copy|Dark|Light|Keys|Show)/ }).count()).toBe(0);
        expect(await lowContrast(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot({ path: resolve(SHOTS, `picture-${name}-${theme}.png`), clip: { x: 0, y: 0, width: 1280, height: box?.y ?? 100 } });
        expect(trouble).toEqual([]);
        await close();
      });
    }
  }
  it("is drawn when the browser's own command takes it", () => {
    for (const name of ["threads", "experiment", "fleet"]) {
      const html = execFileSync(
        process.env["CHROMIUM"] ?? "/usr/bin/chromium",
        ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${resolve(folder, "profile")}`, "--virtual-time-budget=20000", "--dump-dom", `file://${written(name, "light")}`],
        { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 },
      );
      expect(html, name).toContain('class="picture-end"');
    }
  });
  it("is of nothing else: a page that a person opens has no such end", async () => {
    const { page, close } = await open(browser, reportOf("threads"));
    await page.waitForSelector("main h1");
    expect(await page.locator(".picture-end").count()).toBe(0);
    expect(await page.locator(".rail").isVisible()).toBe(true);
    await close();
  });
});
