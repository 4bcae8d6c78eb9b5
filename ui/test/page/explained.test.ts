// The first screen with an explanation, in Chromium, on synthetic reports whose every number is known.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import type { Head } from "../../src/bundle/types";
import { HOSTILE } from "../bundle/samples";
import { copied, launch, lowContrast, open, opener, sampleOf, settled, shot, unreachable, write } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const on = opener(() => browser);

/** Opens the sample with another head. */
async function withHead(change: (head: Head) => void, name: string, test: (page: Awaited<ReturnType<typeof open>>["page"]) => Promise<void>): Promise<void> {
  const { head, blocks } = sampleOf("threads");
  const other = structuredClone(head);
  change(other);
  const { page, trouble, close } = await open(browser, write(name, other, blocks));
  await settled(page);
  await test(page);
  expect(trouble).toEqual([]);
  await close();
}

describe("the first screen", () => {
  for (const theme of ["light", "dark"] as const) {
    it(`reads and is reachable with everything opened, ${theme}`, async () => {
      await on("threads", "overview?.finding=1%2C2", async (page) => {
        await page.getByRole("button", { name: /causes were not looked for/ }).click();
        await shot(page, `explained-${theme}`);
        expect(await lowContrast(page)).toEqual([]);
        expect(await unreachable(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        expect(await page.locator(".not-evaluated tbody tr").count()).toBe(2);
      }, { theme });
    });
  }
  for (const width of [1366, 1000]) {
    it(`says the verdict, the time and the first finding without scrolling, ${width} px`, async () => {
      await on("threads", "", async (page) => {
        expect(await page.locator("main h1").textContent()).toContain("71\u00a0% of the slowdown");
        const top = await page.locator(".finding").first().evaluate((e) => e.getBoundingClientRect().top);
        if (width === 1366) expect(top).toBeLessThan(860);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        await shot(page, `explained-${width}`);
      }, { width });
    });
  }
  it("has one bar for each recording, with the same states and numbers as the explanation", async () => {
    await on("threads", "", async (page) => {
      expect(await page.locator(".bar").count()).toBe(2);
      expect(await page.locator(".bar-name").allInnerTexts()).toEqual([expect.stringContaining("4.90 µs elapsed"), expect.stringContaining("9.31 µs elapsed")]);
      const row = (name: string) => page.locator(".budget-table tbody tr", { has: page.getByRole("button", { name, exact: true }) }).locator("td").allTextContents();
      expect(await row("Lock")).toEqual(["0.9", "6.9", "71 %"]);
      // No time of its own, but a part of the slowdown.
      expect(await row("Fewer threads")).toEqual(["", "", "6 %"]);
      // By keyboard the numbers are said as well.
      await page.locator(".budget-table").getByRole("button", { name: "Fewer threads" }).focus();
      expect(await page.locator(".budget [aria-live]").textContent()).toContain("Fewer threads: 6 % of the slowdown.");
      await page.locator(".segment[title^='Lock']").first().hover();
      expect(await page.locator(".budget [aria-live]").textContent()).toContain("Lock: fast 900 ns/op, slow 6.90 µs/op; 71 % of the slowdown.");
    });
  });
  it("filters what is below by a state, in the link too, and leads to its stacks under the ledger's name", async () => {
    await on("threads", "", async (page) => {
      expect(await page.locator(".finding[data-cause]").count()).toBe(2);
      await page.locator(".segment[title^='CPU taken by others']").last().click();
      await page.waitForFunction(() => location.hash.includes(".state=neighbours"));
      expect(await page.locator(".finding[data-cause]").evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset["cause"]))).toEqual(["noisy-neighbour"]);
      await page.locator(".budget-table").getByRole("button", { name: "Disk" }).click();
      expect(await page.locator(".findings").innerText()).toContain("No finding is about time in “Disk”.");
      await page.locator(".findings").getByRole("button", { name: "Disk ×" }).click();
      expect(await page.locator(".finding[data-cause]").count()).toBe(2);
      await page.locator(".budget-table").getByRole("button", { name: "CPU taken by others" }).click();
      await page.getByRole("link", { name: "Stacks of “CPU taken by others”" }).click();
      await page.waitForFunction(() => location.hash.includes(".state=runnable"));
    });
  });
  it("opens a finding to its query, checks and pages, by keyboard, and keeps it in the link", async () => {
    await on("threads", "", async (page) => {
      await page.locator(".finding h3 button").first().focus();
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => location.hash.includes(".finding=1"));
      const first = page.locator(".finding").first();
      await first.getByRole("button", { name: "Copy query" }).click();
      expect(await copied(page)).toBe("select cell, 1.0 as part from budget where state = 'lock-contention'");
      await first.getByRole("button", { name: "Copy as Markdown" }).click();
      expect(await copied(page)).toContain("**71 % of the slowdown**");
      await first.locator(".try button").first().click();
      expect(await copied(page)).toBe("hold it for less time");
      expect(await first.innerText()).toContain("twinscope flame '/var/lib/runs of slow/slow.twin' --state contended");
      await page.reload();
      await settled(page);
      expect(await page.locator(".finding-more").count()).toBe(1);
      await page.locator(".finding-more").getByRole("link", { name: "Locks" }).click();
      await settled(page);
      expect(await page.locator(".points-here").innerText()).toContain("71 %: threads wait for the lock");
      await page.locator(".points-here a").click();
      await page.waitForFunction(() => location.hash.startsWith("#overview/finding-1"));
      expect(await page.locator(".finding").first().evaluate((e) => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.top < innerHeight; })).toBe(true);
    });
  });
  it("begins sentences with a capital letter, and names as they are", async () => {
    const first = (page: Awaited<ReturnType<typeof open>>["page"]) => page.locator(".finding h3 button span:last-child").first().evaluate((e) => getComputedStyle(e, "::first-letter").textTransform);
    await on("threads", "", async (page) => {
      expect(await first(page)).toBe("uppercase");
    });
    await withHead((head) => {
      const one = head.explanation?.findings[0];
      if (one) Object.assign(one, { subject: "work", says: "work takes 164 µs of CPU time per unit of work" });
    }, "explained-name", async (page) => {
      expect(await first(page)).toBe("none");
    });
  });
  it("says that it is not about a chosen window", async () => {
    await on("threads", "", async (page) => {
      expect(await page.locator(".budget .section-head").innerText()).not.toContain("window");
    });
    await on("threads", "overview?w=10_20", async (page) => {
      expect(await page.locator(".budget .section-head").innerText()).toContain("not the chosen window");
    });
  });
  it("marks the rail where a finding points", async () => {
    await on("threads", "", async (page) => {
      expect(await page.locator('nav a[href="#locks"]').getAttribute("aria-label")).toBe("Locks, finding 1");
      expect(await page.locator('nav a[href="#cpu"] .rank').allTextContents()).toEqual(["2"]);
      expect(await page.locator('nav a[href="#memory"] .rank').count()).toBe(0);
    });
  });
  it("says of one recording what limits it", async () => {
    await on("threads-one", "", async (page) => {
      expect(await page.locator(".findings h2").textContent()).toBe("What limits it");
      expect(await page.locator(".unexplained").count()).toBe(0);
      expect(await page.locator(".budget-table thead").innerText()).toContain("share");
    });
  });
  it("says which of several is explained", async () => {
    await on("threads-three", "", async (page) => {
      expect(await page.locator(".which").textContent()).toContain("the first that is slower than fast");
      expect(await page.locator(".bar").count()).toBe(3);
    });
  });
  it("has no findings where nothing is slower, and says so", async () => {
    await withHead((head) => {
      if (head.explanation) head.explanation = { ...head.explanation, outcome: "no slower", findings: [], notes: [], not_evaluated: [], unexplained: 0 };
      if (head.budget) head.budget.shares = null;
      head.verdict.headline = "slow is not slower than fast. There is nothing to explain.";
    }, "explained-none", async (page) => {
      expect(await page.locator(".findings, .finding, nav .rank").count()).toBe(0);
      expect(await page.locator(".budget-table thead").innerText()).toContain("difference");
      await shot(page, "explained-none");
    });
  });
  it("says that no known cause was found", async () => {
    await withHead((head) => {
      if (head.explanation) head.explanation = { ...head.explanation, findings: [], unexplained: 1 };
    }, "explained-unknown", async (page) => {
      expect(await page.locator(".findings").innerText()).toContain("no known cause was found");
    });
  });
  it("says why nothing was explained, and shows the comparison", async () => {
    await withHead((head) => {
      head.explanation = null;
      head.not_explained = "slow: it holds no ledger of the workload's threads";
    }, "explained-not", async (page) => {
      expect(await page.locator(".verdict").innerText()).toContain("Causes were not looked for: slow: it holds no ledger of the workload's threads.");
      expect(await page.locator(".findings").count()).toBe(0);
    });
  });
  it("shows names of a hostile host as text", async () => {
    await on("threads-hostile", "overview?.finding=1", async (page) => {
      await page.getByRole("button", { name: /causes were not looked for/ }).click();
      expect(await page.evaluate(() => ({ pwned: "pwned" in window, images: document.images.length, bold: [...document.querySelectorAll("b")].some((b) => b.textContent === "bold") }))).toEqual({ pwned: false, images: 0, bold: false });
      for (const part of [".verdict", ".finding h3", ".evidence", ".try", ".notes", ".not-evaluated"]) {
        expect(await page.locator(part).first().textContent(), part).toContain(HOSTILE);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });
  });
});
