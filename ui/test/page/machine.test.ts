// The page of machines in Chromium, on synthetic figures.
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

describe("the page of machines", () => {
  readsAndIsReachable(on, "machine");
  it("has what differs by most first, with its ratio, its interval and where it comes from", async () => {
    await on("machine", "machine", async (page) => {
      const rows = page.locator(".machine-figures").first().locator("tbody tr");
      expect(await rows.count()).toBe(2);
      const text = async (at: number) => (await rows.nth(at).innerText()).replaceAll(/\s+/g, " ");
      expect(await text(0)).toMatch(/^a read of the clock .*28\.0 ns.* 266 ns.* 9\.50× 8\.8–10\.3× worse set-up: clock\.source$/);
      expect(await text(1)).toMatch(/a load from DRAM .*102 ns.* 163 ns.* 1\.60× 1\.48–1\.73× worse the hardware/);
      expect(await page.locator(".machine-figures").nth(1).locator("tbody tr").count()).toBe(4);
      expect(await page.locator(".machine-figures").nth(1).innerText()).not.toMatch(/worse|better/);
    });
  });
  it("draws ranges that lie apart apart", async () => {
    await on("machine", "machine", async (page) => {
      const box = async (at: number) => page.locator(".machine-figures").first().locator("tbody tr").nth(1).locator(".range").nth(at).boundingBox();
      const [fast, slow] = [await box(0), await box(1)];
      expect((fast?.x ?? 0) + (fast?.width ?? 0)).toBeLessThan(slow?.x ?? 0);
    });
  });
  it("says what the program's time is spent on, what disturbed, and the set-up that differs", async () => {
    await on("machine", "machine", async (page) => {
      const text = (await page.locator("main").innerText()).replaceAll(/\s+/g, " ");
      expect(text).toContain("70 % of this program's time waits for such loads (sampled)");
      expect(text).toContain("it would take 1.42× as long on the other machine (1.34–1.51×)");
      expect(text).toMatch(/waiting for memory 70\.0 % a load from DRAM 1\.60×/);
      expect(text).toContain("the measurement was disturbed: other programs kept 1.0 of 2 CPUs busy meanwhile");
      expect(text).toContain("What differs in set-up");
    });
  });
  it("is silent on one machine measured twice, and has one alone", async () => {
    await on("machine-same", "machine", async (page) => {
      const text = await page.locator("main").innerText();
      expect(text).toContain("No figure differs");
      expect(text).not.toMatch(/\b(worse|better)\b/);
    });
    await on("machine-one", "machine", async (page) => {
      expect(await page.locator(".machine-figures tbody tr").count()).toBe(6);
      expect(await page.locator(".machine-ranges").count()).toBe(0);
    });
  });
  it("takes names for data", async () => {
    await on("machine-hostile", "machine", async (page) => {
      expect(await page.evaluate(() => (window as { pwned?: number }).pwned)).toBeUndefined();
      expect(await page.locator("main").innerText()).toContain(HOSTILE);
    });
  });
});
