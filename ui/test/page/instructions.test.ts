// The page of instructions in Chromium, on synthetic reports whose every number is known.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { COLD } from "../bundle/instructions";
import { HOSTILE } from "../bundle/samples";
import { copied, launch, lowContrast, opener, shot, unreachable } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

/** Of the cold instructions, those that are near enough to a sample to be shown. */
const AROUND_IT = 5;

const on = opener(() => browser);
const listing = (page: Page) => page.locator("table.instructions");
/** A row by the beginning of an instruction. */
const row = (page: Page, text: string) => listing(page).locator("tbody tr[id]").filter({ hasText: text }).first();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe("the page of instructions", () => {
  for (const theme of ["light", "dark"] as const) {
    for (const width of [1366, 1920]) {
      it(`reads and is reachable, ${theme}, ${width} px`, async () => {
        await on("instructions", "instructions", async (page) => {
          await shot(page, `instructions-${theme}-${width}`);
          expect(await lowContrast(page)).toEqual([]);
          expect(await unreachable(page)).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
          const beyond = await page.locator("main .scroll").evaluateAll((all) => all.map((e) => e.scrollWidth - e.clientWidth));
          expect(Math.max(...beyond)).toBeLessThanOrEqual(1);
        }, { theme, width });
      });
    }
  }
  for (const name of ["instructions-one", "instructions-three"]) {
    it(`holds for “${name}”`, async () => {
      await on(name, "instructions", async (page) => {
        await shot(page, name);
        expect(await listing(page).count()).toBe(1);
        expect(await lowContrast(page)).toEqual([]);
        expect(await unreachable(page)).toEqual([]);
        expect(await page.locator("main").innerText()).toMatch(name.endsWith("three") ? /Of slow against fast; the other recordings are not listed/ : /time per operation/);
      });
    });
  }
  it("shows names of a hostile host as text", async () => {
    await on("instructions-hostile", "instructions", async (page) => {
      expect(await page.locator("main img, main b:text-is('bold')").count()).toBe(0);
      expect(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
      expect(await listing(page).innerText()).toContain(HOSTILE.slice(0, 9));
    });
  });
  it("says what would give it where there is none", async () => {
    await on("instructions-none", "instructions", async (page) => {
      const said = await page.locator("main").innerText();
      expect(said).toContain("twinscope record --stacks --instructions");
      expect(said).toContain("only root may sample registers; it takes sudo twinscope record");
      expect(await lowContrast(page)).toEqual([]);
    });
  });
});

describe("a finding", () => {
  it("leads to its function, and the page back to it", async () => {
    await on("instructions", "overview", async (page) => {
      expect(await page.locator('nav a[href="#instructions"]').innerText()).toMatch(/Instructions\s+1/);
      await page.locator(".finding h3 button").first().click();
      const link = page.locator(".finding-more a", { hasText: "Instructions" });
      expect(await link.getAttribute("href")).toBe("#instructions?.instructions.function=1");
      await link.click();
      await page.waitForFunction(() => location.hash.startsWith("#instructions") && location.hash.includes("instructions.function=1"));
      expect(await page.locator("main h2").innerText()).toBe("Map::find");
      await page.locator(".points-here a").click();
      await page.waitForFunction(() => location.hash.includes("overview/finding-1"));
    });
  });
});

describe("a listing", () => {
  it("has both sides of a row, what is waited for in a word, and the difference", async () => {
    await on("instructions", "instructions", async (page) => {
      expect((await row(page, "mov rdx, [rdx]").innerText()).replaceAll(/\s+/g, " ")).toMatch(/^1110 mov rdx, \[rdx\] load 5\.1 1214 mov rdx, \[rdx\] load 163\.4 \+158\.3 \+150\.3 … \+166\.4$/);
      // What one side lacks, and what is only alike.
      expect(await row(page, "div qword").innerText()).toContain("+");
      expect(await row(page, "div qword").locator(".lacks").count()).toBe(4);
      expect(await row(page, "and rax, rdx").innerText()).toContain("−");
      expect(await row(page, "cmp rdi, rcx").innerText()).toContain("~");
      const bars = await row(page, "mov rdx, [rdx]").locator(".track span").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().width));
      expect((bars[1] ?? 0) / (bars[0] ?? 1)).toBeGreaterThan(15);
      const text = await listing(page).innerText();
      expect(text).toContain("memory-bound");
      expect(text).toContain("time of a round unknown: its counters begin anew between samples");
      expect(text).toContain("mix.h:7 in inlined mix");
      // Brackets of both loops stand before the hot load, on both sides.
      expect(await row(page, "mov rdx, [rdx]").locator(".gutter .within").count()).toBe(4);
    });
  });
  it("folds what is cold, and unfolds it", async () => {
    await on("instructions", "instructions", async (page) => {
      const rows = () => listing(page).locator("tbody tr[id]").count();
      const hot = await rows();
      const fold = listing(page).locator(".folded");
      expect(await fold.innerText()).toContain(`⋯ ${COLD - AROUND_IT} instructions without samples, 500 left out`);
      await fold.getByRole("button").click();
      expect(await rows()).toBe(hot + COLD - AROUND_IT);
      expect(await listing(page).innerText()).toContain("500 instructions far from any sample are not in this report");
      await page.reload();
      expect(await rows()).toBe(hot);
      await button(page, "Only hot").click();
      await page.waitForFunction(() => location.hash.includes("instructions.all=1"));
      expect(await rows()).toBe(hot + COLD - AROUND_IT);
    });
  });
  it("shows where samples landed", async () => {
    await on("instructions", "instructions", async (page) => {
      await button(page, "Raw landing").click();
      await page.waitForFunction(() => location.hash.includes("instructions.raw=1"));
      const landed = (await row(page, "cmp rdi, rcx").innerText()).replaceAll(/\s+/g, " ");
      expect(landed).toContain("96.2");
      expect(await listing(page).locator(".wait").count()).toBe(0);
    });
  });
  it("is walked by keyboard, and tells of the row that is chosen", async () => {
    await on("instructions", "instructions", async (page) => {
      const told = page.locator(".inspector");
      expect(await told.innerText()).toContain("163 ns per operation, 1,634 samples");
      await listing(page).focus();
      await page.keyboard.press("ArrowDown");
      expect(await listing(page).locator("tr[aria-selected=true]").innerText()).toContain("cmp rdi, rcx");
      expect(await told.innerText()).toContain("1,631 samples landed on it");
      await page.keyboard.press("Home");
      expect(await listing(page).getAttribute("aria-activedescendant")).toBe("row-0");
      expect(await told.innerText()).toContain("No sample is of it.");
      await page.keyboard.press("h");
      expect(await told.innerText()).toContain("163 ns per operation");
      await row(page, "xor edx, edx").click();
      expect(await told.innerText()).toContain("has no such instruction");
      await page.waitForFunction(() => location.hash.includes("instructions.row=2"));
    });
  });
  it("is copied as text", async () => {
    await on("instructions", "instructions", async (page) => {
      await button(page, "Copy as text").click();
      const text = await copied(page);
      expect(text).toMatch(/^fast: Map::find in \/opt\/shop\/lib\/_map\.cpython-311-x86_64-linux-gnu\.so: 6\.20 ns per operation; 168 samples/);
      expect(text).toMatch(/\n5\.06 ns\s+load\s+163 ns\s+load\s+\+158 ns\s+\+150 ns … \+166 ns\s+1214\s+mov rdx, \[rdx\]\s+map\.cpp:19\n/);
      expect(text).toContain("+ div qword ptr [rdi+0x18]");
      expect(text).toContain(`… ${COLD - AROUND_IT} instructions without samples`);
    });
  });
});

describe("functions", () => {
  it("are chosen, and what is not known of one is said with the reason", async () => {
    await on("instructions", "instructions?w=10_20", async (page) => {
      expect(await page.locator(".listing-notes").innerText()).toContain("the window that is chosen above does not change what is on this page");
      await page.locator("[data-table=functions] .pick", { hasText: "advanceToNext" }).focus();
      await page.keyboard.press("Enter");
      expect(await page.locator("main h2").innerText()).toBe("com.example.follow.AbstractLinkedChain$Follower.advanceToNext");
      const said = await page.locator("#at-listing").innerText();
      for (const part of [
        "Where samples land was not told by the calibration", "The CPU’s frequency was not measured", "Where it begins is not known", "2 other versions of it",
        "No sample landed in a function of this name.", "made by process 4711",
      ]) expect(said).toContain(part);
      expect(await lowContrast(page)).toEqual([]);
      expect(await unreachable(page)).toEqual([]);
      await page.locator("[data-table=functions] [data-filter]").fill("find");
      expect(await page.locator("[data-table=functions] tbody tr").count()).toBe(1);
      await page.locator("[data-table=functions] .pick", { hasText: "find" }).click();
      const [fast, slow] = await page.locator(".listed-side").allInnerTexts();
      expect(slow).toMatch(/Called every .* by the thread that runs it most: at most .* of its own a call .*3 looks/);
      expect(fast).toMatch(/Called every .*, in uneven intervals, by/);
    });
  });
});
