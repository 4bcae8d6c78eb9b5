// The page of shared lines in Chromium, on synthetic reports whose every byte is known.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { HOSTILE } from "../bundle/samples";
import { launch, lowContrast, opener, readsAndIsReachable } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const on = opener(() => browser);

describe("the page of shared lines", () => {
  readsAndIsReachable(on, "sharing");
  it("draws 64 cells a line, with a digit for each thread, filled where it writes", async () => {
    await on("sharing", "sharing", async (page) => {
      const cells = page.locator(".line-cells").first().locator(".cell");
      expect(await cells.count()).toBe(64);
      expect((await cells.allInnerTexts()).join("|").replaceAll("|", "")).toBe(`****${"1".repeat(12)}${"2".repeat(16)}${"3".repeat(16)}4444${"*".repeat(12)}`);
      const look = (at: number) => cells.nth(at).evaluate((e) => [getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)", getComputedStyle(e).boxShadow !== "none"]);
      // Read by two; written by one; written by one and read by another; only read by one.
      expect(await Promise.all([0, 4, 20, 16].map(look))).toEqual([[false, true], [true, false], [true, true], [false, true]]);
      expect(await cells.nth(5).getAttribute("title")).toBe("byte 5 written by thread 1; stats[0].packets");
      expect(await page.locator(".line-cells .field").nth(1).innerText()).toBe("[0].packets");
    });
  });
  it("has all recordings of a name one under the other", async () => {
    await on("sharing", "sharing", async (page) => {
      const first = page.locator("article.shared").first();
      expect(await first.locator("h3").innerText()).toBe("stats");
      expect(await first.locator("section").nth(0).innerText()).toContain("No thread was found to wait for it here");
      const slow = await first.locator("section").nth(1).innerText();
      expect(slow).toMatch(/False sharing: waiting for it takes 44 % of the CPU time of packet-stats \(pid 4709; 95 % CI 42 % to 46 %\); without it 1\.8× as fast/);
      expect(await page.locator("main").innerText()).toContain("twinscope record --sharing");
    });
  });
  it("opens the accesses of a line by keyboard", async () => {
    await on("sharing", "sharing", async (page) => {
      const second = page.locator("article.shared details").nth(1);
      expect(await second.locator("table").isVisible()).toBe(false);
      await second.locator("summary").press("Enter");
      const row = second.locator("tbody tr").nth(1);
      expect((await row.innerText()).replaceAll(/\s+/g, " ")).toBe("0–3 stats[0].limit read 1 4710 account and eax, [rdi] stats.c:13 120 12");
      expect(await second.locator("tbody tr").nth(2).locator("td").first().innerText()).toBe("in 8–15");
    });
  });
  it("tells lines that the CPU says came from other cores apart, by samples", async () => {
    await on("sharing", "sharing", async (page) => {
      const last = page.locator("article.shared").last();
      expect(await last.locator("h3").innerText()).toBe("Sampled by the CPU");
      expect(await last.locator("section").count()).toBe(1);
      const said = (await last.locator("section").innerText()).replaceAll(/\s+/g, " ");
      expect(said).toContain("False sharing: 90 of 200 sampled accesses came from the cache of another core, changed there in 88; 212 cycles each, 61 % of the cycles of all accesses that were sampled of queue.");
      expect(said).toContain("1 line more is not in this report");
      const row = last.locator("tbody tr").first();
      expect((await row.innerText()).replaceAll(/\s+/g, " ")).toBe("in 8–15 read 1 101 account 0 0 120 90");
      // Elsewhere the columns of such samples are not there.
      expect(await page.locator("article.shared").first().locator("th", { hasText: "sampled" }).count()).toBe(0);
    });
  });
  it("holds for one recording", async () => {
    await on("sharing-one", "sharing", async (page) => {
      expect(await page.locator(".line-cells").count()).toBe(4);
      expect(await lowContrast(page)).toEqual([]);
    });
  });
  it("shows names of a hostile host as text", async () => {
    await on("sharing-hostile", "sharing", async (page) => {
      expect(await page.locator("main img, main b:text-is('bold')").count()).toBe(0);
      expect(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
      expect(await page.locator("main").innerText()).toContain(HOSTILE.slice(0, 9));
    });
  });
  it("says why there is none, and what would give it", async () => {
    await on("sharing-none", "sharing", async (page) => {
      const said = await page.locator("main").innerText();
      expect(said).toContain("twinscope record --sharing");
      expect(said).toContain("only root may sample registers; it takes sudo twinscope record");
      expect(await lowContrast(page)).toEqual([]);
    });
  });
});
