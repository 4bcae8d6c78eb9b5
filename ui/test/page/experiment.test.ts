// The page of an experiment in Chromium, on synthetic experiments.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { assembleExperiment, EXPERIMENTS } from "../bundle/experiment";
import { HOSTILE } from "../bundle/samples";
import { copied, launch, lowContrast, open, ROOT, shot, unreachable } from "./browser";

const WORK = resolve(import.meta.dirname, ".work");

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

function write(name: string, data: object): string {
  mkdirSync(WORK, { recursive: true });
  const path = resolve(WORK, `experiment-${name}.html`);
  writeFileSync(path, assembleExperiment(readFileSync(resolve(ROOT, "dist/experiment.html"), "utf8"), data));
  return path;
}

async function on(name: string, test: (page: Page) => Promise<void>, options: Parameters<typeof open>[3] & { hash?: string } = {}): Promise<void> {
  const { page, trouble, close } = await open(browser, write(name, (EXPERIMENTS[name] as () => object)()), options.hash ?? "", options);
  await page.waitForSelector("main h1");
  await page.waitForFunction(() => [...document.querySelectorAll(".frame")].every((f) => f.querySelector("svg")));
  await test(page);
  expect(trouble).toEqual([]);
  await close();
}

/** Texts of one chart that lie on each other. */
const overlaps = (page: Page) =>
  page.evaluate(() => {
    const bad: string[] = [];
    for (const svg of document.querySelectorAll("main .frame svg")) {
      const boxes = [...svg.querySelectorAll("text")].map((t) => ({ text: t.textContent ?? "", box: t.getBoundingClientRect() }));
      boxes.forEach((a, i) => {
        for (const b of boxes.slice(i + 1)) {
          const w = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
          const h = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
          if (w > 1 && h > 5) bad.push(`${svg.closest("[data-chart-name]")?.getAttribute("data-chart-name")}: “${a.text}” on “${b.text}”`);
        }
      });
    }
    return bad;
  });

const words = async (page: Page, selector: string) => (await page.locator(selector).innerText()).replaceAll(/\s+/g, " ");

describe("the page of an experiment", () => {
  for (const name of ["ab", "ladder", "climbing", "sweep", "unfit", "grid", "search", "searching", "factorial", "optimise", "front", "empty"]) {
    for (const theme of ["light", "dark"] as const) {
      it(`reads and is reachable: ${name}, ${theme}`, async () => {
        await on(name, async (page) => {
          await shot(page, `experiment-${name}-${theme}`);
          expect(await lowContrast(page)).toEqual([]);
          expect(await unreachable(page)).toEqual([]);
          expect(await overlaps(page)).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
          const beyond = await page.locator("main .scroll").evaluateAll((all) => all.map((e) => e.scrollWidth - e.clientWidth));
          expect(Math.max(...beyond)).toBeLessThanOrEqual(1);
        }, { theme });
      });
    }
  }
  for (const name of ["ab", "ladder", "sweep", "grid"]) {
    it(`fits a phone: ${name}`, async () => {
      await on(name, async (page) => {
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        const narrow = await page.locator(".command-cell code").evaluateAll((all) => all.filter((e) => e.getBoundingClientRect().width < 200).length);
        expect(narrow).toBe(0);
      }, { width: 390 });
    });
  }
  it("says the verdict first, and what to do next as a command to copy", async () => {
    await on("ab", async (page) => {
      const said = await words(page, "main");
      const order = ["explorer locks", "atomic does 1.94× the work of mutex", "Before you believe it", "Next", "Against mutex", "Block by block", "All trials", "1 failed trial", "Variants", "Trials in numbers"].map((t) => said.indexOf(t));
      expect(order.every((at) => at >= 0)).toBe(true);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      await page.locator(".xp-next button").first().press("Enter");
      expect(await copied(page)).toBe("twinscope tune explorer.toml --set lock=striped-4096");
    });
  });
  it("shows changes with their intervals, verdicts and why", async () => {
    await on("ab", async (page) => {
      const rows = page.locator("[data-table=changes] tbody tr");
      expect(await rows.count()).toBe(4);
      const first = (await rows.first().innerText()).replaceAll(/\s+/g, " ");
      for (const part of ["atomic", "27,160 operations/s", "1.94×", "1.86 to 2.02", "better", "11 blocks, by signed ranks", "64 % waiting for the lock taken in Counter.next"]) expect(first).toContain(part);
      expect(await rows.nth(1).innerText()).toContain("the same (within ±3 %)");
      expect(await rows.nth(3).innerText()).toContain("about 44 blocks would probably decide it");
      expect(await rows.nth(0).locator(".interval-bar").getAttribute("aria-label")).toBe("1.94× (98.4 % CI 1.86 to 2.02)");
      await page.locator("[data-table=changes] button").press("Enter");
      const csv = (await copied(page)).split("\r\n");
      expect(csv[0]).toBe("variant,against,throughput (operations/s),throughput factor,throughput low,throughput high,throughput level,throughput blocks,verdict,cpu factor,cpu low,cpu high,rss factor,rss low,rss high,why");
      expect(csv[1]).toMatch(/^atomic,mutex,27160,1\.94,1\.8624,2\.0176,0\.0164,11,better,1\.021,/);
    });
  });
  it("is read by arrow keys", async () => {
    await on("ab", async (page) => {
      const chart = page.locator("[data-chart-name=trials] [role=application]");
      await chart.focus();
      for (let i = 0; i < 14; i++) await page.keyboard.press("ArrowRight");
      expect(await chart.locator("[role=status]").innerText()).toMatch(/^trial 14 · mutex · block 3 · failed/);
      await page.keyboard.press("End");
      expect(await chart.locator("[role=status]").innerText()).toMatch(/^trial 55 .*recorded for explaining/);
      await page.keyboard.press("Escape");
      expect(await chart.locator("[role=status]").count()).toBe(0);
      await page.locator("[data-chart-name=pairs] [role=application]").press("Home");
      expect(await page.locator("[data-chart-name=pairs] [role=status]").innerText()).toMatch(/^block 1 · mutex .* operations\/s, atomic .* · 1\.9/);
    });
  });
  it("marks trials by how they ended, and shows what failed ones wrote", async () => {
    await on("ab", async (page) => {
      const strip = page.locator("[data-chart-name=trials] svg");
      expect(await strip.locator(".failed-mark").count()).toBe(1);
      expect(await strip.locator(".gone").count()).toBe(2);
      expect(await strip.locator("rect[style*='fill: none']").count()).toBe(5);
      expect(await words(page, ".failed-trials")).toBe("✕ Trial 14: mutex block 3 a wrong answer: states: 1048575, not 1048576 explored 1048575 states lock: lost update in shard 3 exit 1");
      await page.locator("[data-section=failed] summary").press("Enter");
      expect(await words(page, "[data-section=failed] details")).toContain("the load generator was late");
    });
  });
  it("keeps the chosen comparison and the order of trials in the address", async () => {
    await on("ab", async (page) => {
      await page.locator("select.which").selectOption({ label: "fair against mutex" });
      await page.locator("section:has(#at-all) th button", { hasText: "throughput" }).click();
      await page.waitForFunction(() => location.hash.includes("sort"));
      expect(await page.evaluate(() => decodeURIComponent(location.hash))).toBe("#pairs=change-3&trials.sort=m0:down");
    });
    await on("ab", async (page) => {
      expect(await page.locator("select.which").inputValue()).toBe("change-3");
      expect(await words(page, "section:has(#at-pairs) .read")).toContain("0.86×");
    }, { hash: "pairs=change-3" });
  });
  it("draws a ladder as steps, those that were not kept faint", async () => {
    await on("ladder", async (page) => {
      const svg = page.locator("[data-chart-name=ladder] svg");
      expect(await svg.locator("g.faint").count()).toBe(1);
      expect(await svg.locator(".figure").allTextContents()).toEqual(["1.36×", "1.47×", "2.85×", "7.47×", "7.40×", "9.11×"]);
      expect(await page.locator(".note").count()).toBe(0);
      const rows = page.locator("[data-table=rungs] tbody tr");
      expect((await rows.nth(2).innerText()).replaceAll(/\s+/g, " ")).toMatch(/atomic counter explain says .* 1\.94× 1\.88 to 2\.00 2\.85× 2\.71 to 2\.99 .* kept better 61 % waiting for the lock/);
      expect((await rows.nth(4).innerText()).replaceAll(/\s+/g, " ")).toContain("not kept");
    });
  });
  it("says so where a ladder has only been climbed", async () => {
    await on("climbing", async (page) => {
      expect(await words(page, "section:has(#at-ladder) .note")).toContain("The whole ladder has not been run yet");
      expect(await page.locator("[data-chart-name=ladder] g.climbing").count()).toBe(6);
      expect(await page.locator("[data-table=rungs] tbody tr").first().innerText()).toContain("while climbing");
      expect(await words(page, ".xp-verdict")).toContain("It is not finished");
    });
  });
  it("draws a sweep with its law, knee and peak, residuals and ledgers on one axis", async () => {
    await on("sweep", async (page) => {
      const svg = page.locator("[data-chart-name=sweep] svg");
      expect(await svg.locator(".point").count()).toBe(7);
      expect(await svg.locator(".point.best").count()).toBe(1);
      expect(await svg.locator(".turn text").allTextContents()).toEqual([expect.stringMatching(/^knee 1\d/), "peak 30"]);
      const bars = page.locator("[data-chart-name=ledger] svg g rect");
      expect(await bars.count()).toBe(28);
      const centre = (name: string, of: string) => page.locator(`[data-chart-name=${name}] svg ${of}`).first().evaluate((e) => { const b = e.getBoundingClientRect(); return b.left + b.width / 2; });
      expect(Math.abs((await centre("sweep", ".point .mark")) - (await centre("ledger", "g rect")))).toBeLessThan(1);
      expect(Math.abs((await centre("sweep", ".point .mark")) - (await centre("residuals", ".point .mark")))).toBeLessThan(1);
      expect(await words(page, ".law-said")).toMatch(/law Universal Scalability Law .*3\.1.*% .*grows most lock/);
    });
  });
  it("draws a search: latency over rate, the limit, and where each variant meets it", async () => {
    await on("search", async (page) => {
      const svg = page.locator("[data-chart-name=search] svg");
      expect(await svg.locator("circle").count()).toBe(27);
      expect(await svg.locator(".failed-mark").count()).toBe(1);
      expect(await svg.locator("polyline").count()).toBe(2);
      expect(await svg.locator(".turn text").allTextContents()).toEqual(["limit 1.50 ms"]);
      const rows = page.locator("[data-table=rates] tbody tr");
      expect(await rows.count()).toBe(3);
      expect(await rows.nth(1).innerText()).toMatch(/heap=256m.*7,120\/s.*1\.71×.*better/s);
      expect(await rows.nth(2).innerText()).toContain("does not meet the limits even at");
    });
  });
  it("does not believe a law that does not hold", async () => {
    await on("unfit", async (page) => {
      expect(await page.locator(".turn, .perfect, .peak-reach, .law-said").count()).toBe(0);
      expect(await words(page, "section:has(#at-sweep) .note")).toContain("Universal Scalability Law does not hold here");
    });
  });
  it("has two parameters as a heat map of text", async () => {
    await on("grid", async (page) => {
      const cells = page.locator("[data-table=grid] tbody td");
      expect(await cells.count()).toBe(12);
      expect(await cells.nth(0).innerText()).toBe("–");
      expect(await page.locator("[data-table=grid] td.best").innerText()).toBe("90,972 ◆");
    });
  });
  it("shows hostile text as text", async () => {
    await on("hostile", async (page) => {
      expect(await page.locator("main img, main b:text-is('bold')").count()).toBe(0);
      expect(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
      expect(await page.locator("h1").innerText()).toBe(`name${HOSTILE}`);
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    });
  });
  it("says plainly what it cannot draw", async () => {
    const { page, close } = await open(browser, write("other", { format: 9 }));
    await page.waitForSelector(".opening.trouble");
    expect(await page.locator(".opening.trouble").innerText()).toContain("has format 9; this page draws format 1");
    await close();
  });
});
