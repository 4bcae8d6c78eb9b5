// What is seen at first: names of recordings that tell them apart, titles in words, and tables that fit the window.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import type { Head, Table } from "../../src/bundle/types";
import { launch, open, reportOf, sampleOf, settled, write } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const NAMES = ["m06_settlement_nightly.fast", "m06_settlement_nightly.slow"];

/** A report whose recordings have long names, and whose table of processes has twelve columns of numbers. */
function report(): string {
  const { head, blocks } = sampleOf("pair");
  const made = structuredClone(head) as Head;
  made.runs.forEach((run, i) => Object.assign(run, { name: NAMES[i], short: ["fast", "slow"][i] }));
  const chart = made.pages.find((p) => p.id === "cpu")?.charts[0];
  Object.assign(chart ?? {}, { kernel: "cpu.user" });
  const table = made.pages.flatMap((p) => p.tables).find((t) => t.id === "process-top") as Table;
  const data = table.columns.filter((c) => !c.text);
  const numbers = Array.from({ length: 12 }, (_, i) => ({ ...(data[i % data.length] as (typeof data)[number]), id: `n${i}`, title: `Number of many things ${i}` }));
  for (const row of table.rows) row.data = Object.fromEntries(numbers.map((c, i) => [c.id, row.data[(data[i % data.length] as { id: string }).id] as number]));
  table.columns = [...table.columns.filter((c) => c.text), ...numbers];
  return write("layout", made, blocks);
}

async function on(hash: string, width: number, test: (page: Page) => Promise<void>): Promise<void> {
  const { page, trouble, close } = await open(browser, report(), hash, { width });
  await settled(page);
  await test(page);
  expect(trouble).toEqual([]);
  await close();
}

/** How much wider than its frame the table of processes is, and how many of its columns of numbers are shown. */
const table = (page: Page) =>
  page.locator('[data-table="process-top"]').evaluate((e) => {
    const frame = e.querySelector(".scroll") as HTMLElement;
    return { beyond: frame.scrollWidth - frame.clientWidth, groups: e.querySelectorAll(".groups th").length - 1, said: e.querySelector(".tools")?.textContent ?? "" };
  });

describe("recordings", () => {
  it("are called by what tells them apart, whole on hover", async () => {
    await on("", 1366, async (page) => {
      const names = page.locator("main .run-text");
      expect([...new Set(await names.allTextContents())]).toEqual(["fast", "slow"]);
      expect([...new Set(await names.evaluateAll((all) => all.map((e) => e.getAttribute("title"))))]).toEqual(NAMES);
    });
  });
});

describe("charts", () => {
  it("have the name of their metric beside the title", async () => {
    await on("cpu", 1366, async (page) => {
      expect(await page.locator('[data-chart="cpu-total"] header').textContent()).toMatch(/^CPU time by statecpu\.user/);
      expect(await page.locator('[data-chart="cpu-freq"] header').textContent()).toMatch(/^Clock frequencyHz/);
    });
  });
});

describe("tables", () => {
  it("show as many columns as fit, and say how many there are", async () => {
    const shown: number[] = [];
    for (const width of [1366, 1920]) {
      await on("processes", width, async (page) => {
        const { beyond, groups, said } = await table(page);
        expect(beyond, `${width} px`).toBeLessThanOrEqual(1);
        expect(groups).toBeGreaterThan(0);
        expect(said).toContain(`${groups} of 12 columns`);
        shown.push(groups);
      });
    }
    expect(shown[1]).toBeGreaterThan(shown[0] as number);
    expect(shown[0]).toBeLessThan(12);
  });
  it("show more when the window grows, and what is asked for whatever fits", async () => {
    await on("processes", 1366, async (page) => {
      const { groups } = await table(page);
      await page.setViewportSize({ width: 1920, height: 860 });
      await page.waitForFunction((before) => document.querySelectorAll('[data-table="process-top"] .groups th').length - 1 > before, groups);
      expect((await table(page)).beyond).toBeLessThanOrEqual(1);
      await page.getByRole("button", { name: /of 12 columns/ }).click();
      const chips = page.locator('[data-table="process-top"] .chips button');
      for (let i = 0; i < 12; i += 1) if ((await chips.nth(i).getAttribute("aria-pressed")) === "false") await chips.nth(i).click();
      expect((await table(page)).groups).toBe(12);
    });
  });
});

describe("a phone", () => {
  for (const name of ["threads", "requests", "code", "counters", "sharing", "instructions", "threads-hostile"]) {
    it(`shows each page of ${name} without scrolling sideways`, async () => {
      const { page, close } = await open(browser, reportOf(name), "", { width: 390 });
      await settled(page);
      const pages = await page.locator("nav a[href^='#']").evaluateAll((all) => all.map((a) => (a.getAttribute("href") ?? "").slice(1)));
      const beyond: string[] = [];
      for (const hash of ["", ...pages]) {
        await page.evaluate((to) => void (location.hash = to), hash);
        await settled(page);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wider > 0) beyond.push(`${hash}: ${wider}`);
      }
      expect(beyond).toEqual([]);
      await close();
    });
  }
});
