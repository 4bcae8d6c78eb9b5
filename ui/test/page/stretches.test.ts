// Two stretches of one recording, chosen on the strip by mouse and by keyboard, in Chromium.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { copied, launch, lowContrast, opener, settled, shot, unreachable } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const on = opener(() => browser);

/** Drags over a part of the strip, at the lane of a recording. */
async function drag(page: Page, from: number, to: number, lane = 0): Promise<void> {
  const box = await page.getByTestId("strip").boundingBox();
  if (!box) throw new Error("no strip");
  const y = box.y + 12 + lane * 30;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 6 });
  await page.mouse.up();
}

/** A parameter of the link as numbers, once it is written. */
async function inLink(page: Page, name: string): Promise<number[]> {
  await page.waitForTimeout(300);
  const q = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
  return (q.get(name) ?? "").split("_").filter(Boolean).map(Number);
}

const section = (page: Page) => page.locator("#at-stretches");

describe("two stretches", () => {
  it("are dragged, seen, copied as a command, and ended by Escape", async () => {
    await on("threads-one", "", async (page) => {
      await drag(page, 0.6, 0.8);
      await page.keyboard.down("Shift");
      await drag(page, 0.1, 0.3);
      await page.keyboard.up("Shift");
      const w = await inLink(page, "w");
      const [run, from, to] = await inLink(page, "against");
      expect(w.map(Math.round)).toEqual([36, 48]);
      expect([run, Math.round(from as number), Math.round(to as number)]).toEqual([0, 6, 18]);
      expect(await page.locator(".stretch-name").allTextContents()).toEqual(["baseline", "window"]);
      await section(page).getByRole("button", { name: "Copy" }).click();
      expect(await copied(page)).toBe(`twinscope explain only.twin --window ${w[0]}s..${w[1]}s --against-window ${from}s..${to}s`);
      // Moved by its middle and by its edge, as the window is.
      await drag(page, 0.2, 0.25);
      const moved = await inLink(page, "against");
      expect(moved[1]).toBeCloseTo((from as number) + 3, 0);
      expect((moved[2] as number) - (moved[1] as number)).toBeCloseTo((to as number) - (from as number), 3);
      expect(await inLink(page, "w")).toEqual(w);
      await drag(page, (moved[2] as number) / 60, 0.5);
      expect((await inLink(page, "against"))[2]).toBeCloseTo(30, 0);
      await page.keyboard.press("Escape");
      await section(page).waitFor({ state: "detached" });
      expect(await inLink(page, "against")).toEqual([]);
      expect(await inLink(page, "w")).toEqual(w);
    });
  });
  it("are set by keyboard alone", async () => {
    await on("threads-one", "time-budget", async (page) => {
      await page.getByRole("button", { name: "Two stretches" }).focus();
      await page.keyboard.press("Enter");
      const before = await inLink(page, "against");
      const start = page.getByRole("slider", { name: "Start of the baseline stretch" });
      await start.focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Shift+ArrowRight");
      const after = await inLink(page, "against");
      expect((after[1] as number) - (before[1] as number)).toBeCloseTo(60 / 100 + 6, 3);
      expect(after[2]).toBe(before[2]);
      await page.getByRole("slider", { name: "End of the baseline stretch" }).press("Home");
      const least = await inLink(page, "against");
      expect(least[2] as number).toBeGreaterThan(least[1] as number);
      await page.keyboard.press("Escape");
      await section(page).waitFor({ state: "detached" });
    });
  });
  it("are of the recording whose lane they are on", async () => {
    await on("threads", "cpu?w=30_45", async (page) => {
      await page.keyboard.down("Shift");
      await drag(page, 0.1, 0.3, 1);
      await page.keyboard.up("Shift");
      expect((await inLink(page, "against"))[0]).toBe(1);
      expect(await section(page).locator("h2").textContent()).toBe("Two stretches of slow");
      expect(await section(page).locator("code").textContent()).toMatch(/^twinscope explain '\/var\/lib\/runs of slow\/slow\.twin' --window 30s\.\.45s --against-window /);
    });
  });
  it("say so where they have a part in common", async () => {
    await on("threads-one", "cpu?w=30_45&against=0_20_31", async (page) => {
      expect(await section(page).locator(".trouble").textContent()).toContain("a part in common");
      expect(await section(page).locator("code").count()).toBe(0);
    });
  });
  for (const name of ["threads-one", "threads"]) {
    for (const theme of ["light", "dark"] as const) {
      it(`show what differs on each page of “${name}”, ${theme}`, async () => {
        await on(name, "overview?w=30_45&against=0_5_20", async (page) => {
          for (const id of ["overview", "time-budget", "profiles", "cpu", "set-up"]) {
            await page.locator(`nav a[href="#${id}"]`).click();
            await settled(page);
            await shot(page, `stretches-${name}-${id}-${theme}`);
            const shown = section(page);
            if (id === "overview" || id === "time-budget") expect(await shown.locator(".bar").count(), id).toBe(2);
            if (id === "profiles") expect(await shown.locator("canvas").count(), id).toBe(1);
            if (id === "cpu") expect(await shown.locator("tbody tr").count(), id).toBeGreaterThan(2);
            expect(await lowContrast(page), id).toEqual([]);
            expect(await unreachable(page), id).toEqual([]);
            expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), id).toBeLessThanOrEqual(0);
          }
        }, { theme });
      });
    }
  }
});
