// Smoke test of a given report: every page opens without a word on the console, draws something, and nothing is fetched.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import type { Head } from "../../src/bundle/types";
import { launch, lowContrast, open, paint, settled, shot, unreachable } from "./browser";

const path = process.env["TWINSCOPE_REPORT"] ?? "";
let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

describe(path, () => {
  for (const theme of ["light", "dark"] as const) {
    it(`draws every page, ${theme}`, async () => {
      const { page, trouble, close } = await open(browser, path, "", { theme });
      const start = Date.now();
      await settled(page);
      const opened = Date.now() - start;
      expect(await page.locator(".opening.trouble").allTextContents()).toEqual([]);
      const head = JSON.parse((await page.locator("#twinscope-head").textContent()) ?? "") as Head;
      const pages = ["overview", ...head.pages.map((p) => p.id), ...(head.set_up ? ["set-up"] : [])];
      const times = [`overview ${opened} ms`];
      for (const id of pages) {
        const began = Date.now();
        await page.locator(`nav a[href="#${encodeURIComponent(id)}"]`).click();
        await settled(page);
        times.push(`${id} ${Date.now() - began} ms`);
        await shot(page, `report-${id}-${theme}`);
        expect(await page.locator("main .trouble[role=alert]").allTextContents(), id).toEqual([]);
        expect((await page.locator("main").innerText()).length, id).toBeGreaterThan(40);
        if (id === "overview") {
          const explained = ["slower", "more time", "alone"].includes(head.explanation?.outcome ?? "");
          expect(await page.locator("[data-cause]").count()).toBe(explained ? head.explanation?.findings.length : 0);
          expect(await page.locator("main .bar").count()).toBe(head.budget?.values.length ?? 0);
        }
        const spec = head.pages.find((p) => p.id === id);
        if (spec) {
          // Charts out of view are not drawn; each is looked at in turn.
          for (const chart of spec.charts) {
            await page.locator(`[data-chart="${chart.id}"]`).scrollIntoViewIfNeeded();
            await settled(page);
          }
          const painted = await paint(page);
          expect(painted.charts, id).toBe(spec.charts.length);
          expect(painted.blank, id).toEqual([]);
          for (const table of spec.tables) expect(await page.locator(`[data-table="${table.id}"] tbody tr`).count(), table.id).toBeGreaterThan(0);
        }
        expect(await lowContrast(page), id).toEqual([]);
        expect(await unreachable(page), id).toEqual([]);
      }
      process.stdout.write(`${theme}: ${times.join(", ")}\n`);
      expect(trouble).toEqual([]);
      await close();
    }, 300_000);
  }
});
