// The page of requests in Chromium, on synthetic reports whose every number is known.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { BURST, RATE } from "../bundle/requests";
import { HOSTILE } from "../bundle/samples";
import { copied, launch, lowContrast, opener, sampleOf, settled, shot, unreachable } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const on = opener(() => browser);

/** Different colours of the heat maps. */
const colors = (page: Page) =>
  page.locator("#at-latency-heat canvas").evaluateAll((all) => all.map((e) => {
    const c = e as HTMLCanvasElement;
    const data = c.getContext("2d")?.getImageData(0, 0, c.width, c.height).data;
    return new Set(new Uint32Array(data?.buffer ?? new ArrayBuffer(0))).size;
  }));

const rows = (page: Page) => page.locator("[data-table=services] tbody tr").allInnerTexts();
const percentile = (page: Page, id: string) => page.locator(`[data-percentile="${id}"]`).innerText();

describe("the page of requests", () => {
  for (const theme of ["light", "dark"] as const) {
    for (const width of [1366, 1920]) {
      it(`draws, reads and is reachable, ${theme}, ${width} px`, async () => {
        await on("requests", "requests", async (page) => {
          await shot(page, `requests-${theme}-${width}`);
          expect((await colors(page)).every((n) => n > 6)).toBe(true);
          expect(await page.locator(".percentile-lines polyline").count()).toBe(2);
          expect(await lowContrast(page)).toEqual([]);
          expect(await unreachable(page)).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
          const beyond = await page.locator("main .scroll").evaluateAll((all) => all.map((e) => e.scrollWidth - e.clientWidth));
          expect(Math.max(...beyond)).toBeLessThanOrEqual(1);
        }, { theme, width });
      });
    }
  }
  for (const name of ["requests-one", "requests-three"]) {
    it(`holds for “${name}”`, async () => {
      await on(name, "requests", async (page) => {
        await shot(page, name);
        expect(await page.locator("#at-latency-heat canvas").count()).toBe(sampleOf(name).head.runs.length);
        expect(await lowContrast(page)).toEqual([]);
        expect(await unreachable(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
      });
    });
  }
  it("shows names of a hostile host as text", async () => {
    await on("requests-hostile", "requests", async (page) => {
      expect(await page.locator("main img, main b:text-is('bold')").count()).toBe(0);
      expect(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
      expect(await page.locator("main").innerText()).toContain(HOSTILE.slice(0, 9));
    });
  });
});

describe("services", () => {
  it("stay together when sorted, and are chosen by mouse and keyboard", async () => {
    await on("requests", "requests", async (page) => {
      expect((await rows(page)).map((r) => r.split(/\s+/).slice(0, 2).join(" "))).toEqual(["shop client", "shop client", "shop server", "shop server", "cached server"]);
      expect((await rows(page))[2]).toMatch(/8080\s+fast\s+800/);
      // Answers take 1.3 times as long until their last byte.
      expect(await page.locator("[data-table=services] thead").innerText()).toMatch(/last p50 ms\s+last p99 ms/);
      expect(await page.locator("h2").first().innerText()).toBe("shop, server on port 8080");
      await page.getByRole("button", { name: /^p99\s/ }).click();
      expect((await rows(page)).map((r) => r.split(/\s+/)[1])).toEqual(["server", "server", "client", "client", "server"]);
      await page.locator(".pick").nth(2).focus();
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => location.hash.includes("requests.service=2"));
      expect(await page.locator("h2").first().innerText()).toBe("cached, server on /run/cache.sock");
      expect(await page.locator("#at-latency-heat").innerText()).toContain("Not in this recording.");
      expect(await page.locator("#at-slow-requests").innerText()).toContain("No request of this service was followed");
      await page.locator("[data-table=services] tbody tr").nth(3).click();
      expect(await page.locator("h2").first().innerText()).toBe("shop, client of 10.0.0.2:5432");
      expect(await page.locator("#at-slow-requests").count()).toBe(0);
    });
  });
});

describe("how long requests took", () => {
  it("follows the window and what is timed", async () => {
    await on("requests", `requests?w=${BURST.from}_${BURST.to}`, async (page) => {
      // All requests of the other run are slow then; those of the baseline are not.
      expect(Number.parseFloat(await percentile(page, "p50/1"))).toBeGreaterThan(100);
      expect(Number.parseFloat(await percentile(page, "p50/0"))).toBeLessThan(2);
      expect(await page.locator("#at-percentiles").innerText()).toContain((RATE * (BURST.to - BURST.from)).toLocaleString("en-GB"));
      expect(await percentile(page, "p999/0")).not.toBe("–");
      await page.getByRole("button", { name: "Queue time" }).click();
      await page.waitForFunction(() => location.hash.includes("requests.what=queue"));
      expect(await page.locator("#at-percentiles h3").innerText()).toBe("Queue time by percentile");
      expect(await percentile(page, "p50/1")).toBe(await percentile(page, "p50/0"));
    });
    await on("requests", "requests?w=10_20", async (page) => {
      expect(Number.parseFloat(await percentile(page, "p50/1"))).toBeLessThan(2);
    });
  });
  it("is read by mouse and keyboard, and a drag sets the window", async () => {
    await on("requests", "requests", async (page) => {
      const map = page.locator("#at-latency-heat canvas").nth(1);
      await map.scrollIntoViewIfNeeded();
      const box = (await map.boundingBox()) as { x: number; y: number; width: number; height: number };
      await page.mouse.move(box.x + box.width * 0.4, box.y + box.height - 34);
      expect(await page.locator(".tip").innerText()).toMatch(/^\d+\.\d s · [\d.]+ [µm]s to [\d.]+ [µm]s · [\d.]+(\/s, [\d.]+ % of all)?/);
      await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.6, box.y + 40, { steps: 4 });
      await page.mouse.up();
      await page.waitForFunction(() => location.hash.includes("w="));
      const chart = page.locator("#at-percentiles [role=application]");
      await chart.focus();
      for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
      expect(await page.locator("#at-percentiles .tip").innerText()).toMatch(/^p99\.0 · fast [\d.]+ ms · slow [\d.]+ ms$/);
    });
  });
});

describe("slow requests", () => {
  it("say where their time went, and list the slowest", async () => {
    await on("requests", "requests", async (page) => {
      const part = page.locator("#at-slow-requests");
      expect(await part.locator("li").nth(1).innerText()).toMatch(/The slowest took .* ms, [\d.]+× as long as the usual .* Of the difference: Lock \d+ %, Network \d+ %/);
      expect(await part.locator(".bar").count()).toBe(4);
      expect(await part.locator(".budget-table tbody tr").first().innerText()).toMatch(/Running\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+[\d.]+/);
      const slowest = await part.locator(".data-table tbody tr").first().innerText();
      expect(slowest).toMatch(/slow\s+[\d.]+\s+30\.0\s+Lock 75 %/);
      expect(slowest).toContain("10.0.0.2:5432 ×3");
      await part.getByRole("button", { name: "As shares" }).click();
      const widths = await part.locator(".bar").evaluateAll((all) => all.map((bar) => [...bar.children].reduce((a, s) => a + s.getBoundingClientRect().width, 0) / bar.getBoundingClientRect().width));
      for (const width of widths) expect(width).toBeGreaterThan(0.97);
      await part.getByRole("button", { name: "Copy query" }).click();
      expect(await copied(page)).toBe("select * from turn_followed");
      await settled(page);
    });
  });
});
