// The pages of threads, stacks, locks and calls in Chromium, on synthetic reports whose every number is known.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { Columns } from "../../src/bundle/columns";
import { HOSTILE } from "../bundle/samples";
import { copied, launch, lowContrast, opener, paint, sampleOf, settled, shot, unreachable } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const on = opener(() => browser);

const PAGES = ["overview", "time-budget", "profiles", "locks", "calls", "interrupts"];

/** Numbers of a column of the synthetic block whose tick lies in a stretch of a run; ticks are whole seconds or moments. */
function sumIn(table: string, column: string, run: number, from: number, to: number, keep: (row: number, t: ReturnType<Columns["table"]>) => boolean = () => true): number {
  const columns = new Columns(sampleOf("threads").blocks["profile"] as Uint8Array);
  const t = columns.table(table);
  const ticks = columns.table("tick");
  let sum = 0;
  for (let i = 0; i < t.rows; i++) {
    const tick = t.raw("tick")[i] as number;
    const at = ticks.numbers("from")[tick] as number;
    if (ticks.raw("run")[tick] !== run || at < from || at >= to || !keep(i, t)) continue;
    sum += t.numbers(column)[i] as number;
  }
  return sum;
}

describe("the pages of threads", () => {
  for (const theme of ["light", "dark"] as const) {
    it(`draw, read and are reachable, ${theme}`, async () => {
      await on("threads", "", async (page) => {
        for (const id of PAGES) {
          await page.locator(`nav a[href="#${id}"]`).click();
          await settled(page);
          await shot(page, `threads-${id}-${theme}`);
          expect((await paint(page)).blank, id).toEqual([]);
          expect(await lowContrast(page), id).toEqual([]);
          expect(await unreachable(page), id).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), id).toBeLessThanOrEqual(0);
        }
      }, { theme });
    });
  }
  for (const name of ["threads-one", "threads-three"]) {
    it(`hold for “${name}”`, async () => {
      await on(name, "", async (page) => {
        for (const id of PAGES) {
          await page.locator(`nav a[href="#${id}"]`).click();
          await settled(page);
          await shot(page, `${name}-${id}`);
          expect(await lowContrast(page), id).toEqual([]);
          expect(await unreachable(page), id).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), id).toBeLessThanOrEqual(0);
        }
      });
    });
  }
  it("use a wide screen", async () => {
    await on("threads", "profiles", async (page) => {
      await shot(page, "threads-profiles-1920");
      await page.locator('nav a[href="#time-budget"]').click();
      await settled(page);
      await shot(page, "threads-time-budget-1920");
    }, { width: 1920, height: 1000 });
  });
  it("show names of a hostile host as text", async () => {
    await on("threads-hostile", "locks", async (page) => {
      await page.locator("[data-table=lock-table] tbody button[aria-expanded]").first().click();
      for (const id of ["locks", "profiles", "time-budget"]) {
        await page.locator(`nav a[href="#${id}"]`).click();
        await settled(page);
        expect(await page.locator("main img, main b:text-is('bold')").count()).toBe(0);
        expect(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
      }
      expect(await page.locator("main").innerText()).toContain(HOSTILE.slice(0, 9));
    });
  });
});

describe("flame graphs", () => {
  it("follow the window, the state and the process, and say so in the link", async () => {
    await on("threads", "profiles?w=41_45", async (page) => {
      // In the serial phase all CPU time is that of the main thread.
      const said = page.locator(".flame-said").first();
      const perOperation = sampleOf("threads").head.profile?.per.rate[0] ?? 1;
      const expected = sumIn("sample", "weight", 0, 41, 45) / 4 / perOperation;
      expect(await said.innerText()).toContain(`${(expected * 1e6).toFixed(2)} µs/op`);
      expect(await page.locator("[aria-label=Functions] tbody").innerText()).toContain("std::less");
      expect(await page.locator("[aria-label=Functions] tbody").innerText()).not.toContain("hash_key");
      await page.locator("[data-choice]").selectOption("lock");
      await page.waitForFunction(() => location.hash.includes("state=lock"));
      expect(await page.locator(".profiles").innerText()).toContain("Nothing of this was measured in the window");
    });
    await on("threads", "profiles?.state=lock&.process=counter", async (page) => {
      await settled(page);
      const w = sampleOf("threads").head.runs[1]?.window ?? { from: 0, to: 1 };
      const perOperation = sampleOf("threads").head.profile?.per.rate[1] ?? 1;
      const waited = sumIn("wait", "time", 1, w.from, w.to, (i, t) => t.text("state", i) === "lock") / (w.to - w.from) / perOperation;
      expect(await page.locator(".flame-said").nth(1).innerText()).toContain(`${(waited * 1e6).toFixed(1)} µs/op`);
      expect(await page.locator("[aria-label=Functions] tbody").innerText()).toContain("futex_wait");
    });
  });
  it("show the difference of two runs, the waker's stacks, and reach all by keyboard", async () => {
    await on("threads", "profiles?.state=blocked", async (page) => {
      await page.getByRole("button", { name: "Difference", exact: true }).click();
      await settled(page);
      expect(await page.locator("[aria-roledescription='flame graph']").count()).toBe(1);
      await shot(page, "threads-profiles-difference");
      await page.getByLabel("Stack of").selectOption("other");
      await settled(page);
      expect(await page.locator("[aria-label=Functions] tbody").innerText()).toContain("memcpy");
      await page.locator("[aria-roledescription='flame graph']").focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => location.hash.includes("flame.zoom"));
      await page.reload();
      await settled(page);
      expect(await page.getByRole("button", { name: "Whole graph" }).count()).toBe(1);
    });
  });
  it("are searched", async () => {
    await on("threads", "profiles", async (page) => {
      await page.locator(".flame input[type=search]").first().fill("hash_key");
      await page.waitForFunction(() => document.querySelector("[data-matched]")?.textContent?.includes("matched"));
      await shot(page, "threads-profiles-search");
      await page.waitForFunction(() => location.hash.includes("flame.search=hash_key"));
    });
  });
  it("have a heat map that sets the window", async () => {
    await on("threads", "profiles", async (page) => {
      const heat = page.locator(".offset-heat canvas").first();
      await heat.scrollIntoViewIfNeeded();
      const box = await heat.boundingBox();
      if (!box) throw new Error("no heat map");
      const x = (second: number) => box.x + 48 + ((second + 0.5) / 60) * (box.width - 66);
      await page.mouse.move(x(10), box.y + 3);
      await page.mouse.down();
      await page.mouse.move(x(12), box.y + 60, { steps: 4 });
      await page.mouse.move(x(14), box.y + 102, { steps: 4 });
      await page.mouse.up();
      await page.waitForFunction(() => /[?&]w=/.test(location.hash));
      const w = new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("w") ?? "";
      const [from = 0, to = 0] = w.split("_").map(Number);
      expect(from).toBeCloseTo(10, 1);
      expect(to).toBeCloseTo(14.52, 1);
      await shot(page, "threads-profiles-window");
      await heat.focus();
      await page.keyboard.press("Enter");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
      await page.waitForFunction((old) => !location.hash.includes(old), w);
    });
  });
});

describe("the ledger", () => {
  it("shows idle only when asked, filters by state, and adds up to what was recorded", async () => {
    await on("threads", "time-budget?w=10_30", async (page) => {
      const table = page.locator(".budget-table");
      expect(await table.innerText()).not.toContain("Idle");
      await page.getByRole("button", { name: "Show idle" }).click();
      expect(await table.innerText()).toContain("Idle");
      const lock = sumIn("ledger", "time", 1, 10, 30, (i, t) => t.text("state", i) === "lock") / 20 / (sampleOf("threads").head.profile?.per.rate[1] ?? 1);
      const cells = await table.locator("tr", { hasText: "Lock" }).locator("td").allTextContents();
      expect(Number(cells[1])).toBeCloseTo(lock * 1e6, 1);
      await table.getByRole("button", { name: "Lock" }).click();
      await page.waitForFunction(() => location.hash.includes(".state=lock"));
      expect(await page.locator("[data-table=ledger-table] header").innerText()).toContain("Lock only");
      await page.getByRole("button", { name: "By thread" }).click();
      expect(await page.locator("[data-table=ledger-table] tbody").innerText()).toContain("worker-2");
      await shot(page, "threads-time-budget-lock");
    });
  });
  it("finds the serial phase and leads to its stacks", async () => {
    await on("threads", "time-budget", async (page) => {
      expect(await page.locator(".serial").first().innerText()).toContain("1 serial phase, the longest 6.00 s");
      expect(await page.locator(".serial").first().innerText()).toContain("mostly in merge_results");
      expect(await page.locator(".sawtooth").first().innerText()).toContain("Swings every 240 ms by 1.5 threads (61.0 % of the variation, p < 0.001)");
      await page.getByRole("button", { name: "Show its stacks" }).first().click();
      await settled(page);
      await page.waitForFunction(() => location.hash.startsWith("#profiles?w=40_46"));
    });
  });
  it("is the budget of the first screen", async () => {
    await on("threads", "overview", async (page) => {
      await page.locator(".bar .segment[title^='Lock']").first().click();
      await page.waitForFunction(() => location.hash.includes(".state=lock"));
      await page.getByRole("link", { name: "Stacks of “Lock”" }).click();
      await settled(page);
      expect(await page.locator("[data-choice]").inputValue()).toBe("lock");
    });
  });
});

describe("tables of events", () => {
  it("are added up over the window, exactly", async () => {
    await on("threads", "locks?w=10_20", async (page) => {
      await page.getByRole("button", { name: "Copy as CSV" }).click();
      const line = (await copied(page)).split("\r\n").find((l) => l.startsWith("taken in Table::insert")) ?? "";
      const cells = line.split(",");
      const of = (run: number) => sumIn("lock", "time", run, 10, 20, (i, t) => t.text("lock", i).startsWith("taken")) / 10;
      expect(Number(cells[3])).toBeCloseTo(of(0), 5);
      expect(Number(cells[4])).toBeCloseTo(of(1), 5);
    });
  });
  it("open to stacks of waiters and holders", async () => {
    await on("threads", "locks", async (page) => {
      await page.locator("[data-table=lock-table] tbody button[aria-expanded]").first().click();
      const more = page.locator("tr.more");
      expect(await more.innerText()).toContain("__lll_lock_wait");
      expect(await more.innerText()).toContain("Table::grow");
      await shot(page, "threads-locks-open");
      expect(await lowContrast(page)).toEqual([]);
      await page.reload();
      await settled(page);
      expect(await page.locator("tr.more").count()).toBe(1);
    });
  });
});
