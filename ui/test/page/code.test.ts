// The page of code in Chromium, on synthetic maps.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { HOSTILE } from "../bundle/samples";
import { launch, opener, readsAndIsReachable } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const on = opener(() => browser);

describe("the page of code", () => {
  readsAndIsReachable(on, "code");
  it("has both recordings in one table, with their ratio", async () => {
    await on("code", "code", async (page) => {
      const group = page.locator("article.code-group").first();
      const rows = (await group.locator("tbody tr").allInnerTexts()).map((row) => row.replaceAll(/\s+/g, " ").trim());
      expect(rows).toContain("pages of 4 KiB in 660 samples 34 641 18.7×");
      expect(rows).toContain("on huge pages 0 % 12 %");
      expect(rows).toContain("instruction TLB, 4 KiB 576 576");
      const text = await group.innerText();
      expect(text).toContain("The code lies on 18.7× as many pages as in the baseline.");
      expect(text).toMatch(/slow\s*: more pages than the instruction TLB holds/);
      expect(text).toContain("2 regions with 3 samples left out");
      const kernel = await page.locator("article.code-group").nth(1).innerText();
      expect(kernel).toContain("No sample in such code.");
    });
  });
  it("draws a cell a page, on one scale, and names the one that is pointed at", async () => {
    await on("code", "code", async (page) => {
      const maps = page.locator(".code-map");
      expect(await maps.first().locator("canvas").count()).toBe(1);
      expect(await maps.nth(1).locator("canvas").count()).toBe(3);
      expect(await maps.nth(1).locator("[role=img]").getAttribute("aria-label")).toMatch(/^Map of code: 776 pages with samples in 3 regions of 2 MiB/);
      const colors = (map: number) => maps.nth(map).locator("canvas").first().evaluate((canvas) => {
        const data = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, 128, 4).data ?? [];
        return [0, 1, 15].map((at) => Array.from(data.slice(at * 4, at * 4 + 3)).join());
      });
      const [fast, slow] = [await colors(0), await colors(1)];
      // Page 1 has no sample in the first; in the second each has.
      expect(fast[0]).not.toBe(fast[1]);
      expect(fast[1]).toBe(fast[2]);
      expect(slow[1]).not.toBe(fast[1]);
      await maps.first().locator("canvas").first().hover({ position: { x: 1, y: 1 } });
      expect(await maps.first().locator(".said").innerText()).toMatch(/^engine \+0x0: 1 sample, 0\.\d\d %$/);
    });
  });
  it("says where there are too few samples, with one recording", async () => {
    await on("code-one", "code", async (page) => {
      const text = await page.locator("main").innerText();
      expect(text).toContain("Too few samples in one of the recordings");
      expect(text).not.toMatch(/ratio|NaN|undefined/);
    });
  });
  it("shows names from outside as text", async () => {
    await on("code-hostile", "code", async (page) => {
      expect(await page.locator("main").innerText()).toContain(HOSTILE.slice(0, 10));
      expect(await page.locator("main img, main script").count()).toBe(0);
    });
  });
});
