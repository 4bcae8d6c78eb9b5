// The page of hardware counters in Chromium, on synthetic counts.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { HOSTILE } from "../bundle/samples";
import { launch, lowContrast, opener, shot, unreachable } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const on = opener(() => browser);
const plain = (text: string) => text.replaceAll(/\s+/g, " ").trim();

describe("the page of hardware counters", () => {
  for (const theme of ["light", "dark"] as const) {
    for (const width of [1366, 1920]) {
      it(`reads and is reachable, ${theme}, ${width} px`, async () => {
        await on("counters", "counters", async (page) => {
          await page.locator(".counters-metrics").waitFor();
          await shot(page, `counters-${theme}-${width}`);
          expect(await lowContrast(page)).toEqual([]);
          expect(await unreachable(page)).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
          const beyond = await page.locator("main .scroll").evaluateAll((all) => all.map((e) => e.scrollWidth - e.clientWidth));
          expect(Math.max(...beyond)).toBeLessThanOrEqual(1);
        }, { theme, width });
      });
    }
  }
  it("has each metric of both, the change with its interval, and whether that is worse", async () => {
    await on("counters", "counters", async (page) => {
      const rows = page.locator(".counters-metrics tbody tr");
      await rows.first().waitFor();
      const text = async (at: number) => plain(await rows.nth(at).innerText());
      expect(await text(0)).toMatch(/^ipc per cycle · more is better .* 1\.920 1\.210 −37 % −40 to −34 % worse$/);
      expect(await text(1)).toMatch(/3\.100 3\.140 \+1\.3 % −1\.7 to \+4\.3 %$/);
      expect(await text(3)).toMatch(/^frontend_bound less is better .* 12\.0 % 41\.0 % \+29\.0 points \+28\.6 to \+29\.4 worse$/);
      expect(await rows.first().locator("svg.spark path").count()).toBe(2);
    });
  });
  it("has cycles per instruction of functions, with what cannot be told", async () => {
    await on("counters", "counters", async (page) => {
      const rows = page.locator(".counters-functions tbody tr");
      await rows.first().waitFor();
      const text = async (at: number) => plain(await rows.nth(at).innerText());
      expect(await text(0)).toBe("aggregate_rows counter 56.8 % 56.0 % 1.07 1.02 to 1.12 3.33 3.09 to 3.59 3.1× 2.85–3.41× worse");
      expect(await text(1)).toMatch(/ 0\.67 0\.62 to 0\.71 0\.68 0\.64 to 0\.73 \+2\.3 % −6\.9 to \+12 %$/);
      expect(await text(2)).toMatch(/^java.* better$/);
      expect(await text(3)).toMatch(/^clear_page_erms \[kernel\] 1\.1 % 7\.8 % too few 19\.1 12\.4 to 29\.3 –$/);
      expect(await text(4)).toMatch(/ – 0\.7 % – 1\.29 0\.81 to 2\.06 –$/);
      expect(plain(await page.locator("main").innerText())).toContain("214 more functions, with few samples or a smaller share, are left out: the query tells of all.");
    });
    await on("counters-none", "counters", async (page) => {
      await page.locator(".counters-functions").waitFor();
      expect(await page.locator(".counters-functions thead .run-name").count()).toBe(2);
      expect(plain(await page.locator("main").innerText())).toContain("no samples by instructions: this machine has no PMU");
    });
    await on("counters-other", "counters", async (page) => {
      await page.locator(".counters-metrics").waitFor();
      expect(await page.locator(".counters-functions").count()).toBe(0);
    });
  });
  it("draws the slots of both, and the second level on a click", async () => {
    await on("counters", "counters", async (page) => {
      const width = async (run: number) => (await page.locator(".counters-topdown .bar").nth(run).locator(".segment").nth(2).boundingBox())?.width ?? 0;
      await page.locator(".counters-topdown").waitFor();
      expect(await width(1)).toBeGreaterThan(3 * (await width(0)));
      expect(await page.locator(".counters-slots tbody tr").count()).toBe(4);
      await page.getByRole("button", { name: "Level 2" }).click();
      expect(plain(await page.locator(".counters-slots").innerText())).toMatch(/of it for the first of them, striped 7\.0 % 35\.0 %/);
    });
  });
  it("says how much of the time was counted, and what was not", async () => {
    await on("counters", "counters", async (page) => {
      await page.locator(".counters-groups").waitFor();
      const text = plain(await page.locator("main").innerText());
      expect(text).toMatch(/fetch 50\.0 % 33\.0 % cycles instructions l1i_misses itlb_walks/);
      expect(text).toContain("not counted: code_sparsity: opens, but does not count");
    });
  });
  it("compares CPUs of different kinds by what means the same only", async () => {
    await on("counters-other", "counters", async (page) => {
      await page.locator(".counters-metrics").waitFor();
      const text = plain(await page.locator("main").innerText());
      expect(text).toContain("The CPUs are of different kinds (neoverse-v2, zen4)");
      expect(text).toMatch(/frontend_bound .* 41\.0 % not comparable: each maker counts it in another way/);
      expect(text).toMatch(/ipc .* −37 %/);
    });
  });
  it("says what would give counters where there are none", async () => {
    await on("counters-none", "counters", async (page) => {
      await page.locator(".counters-instead").waitFor();
      const text = plain(await page.locator("main").innerText());
      expect(text).toContain("no hardware counters: this machine has no PMU of its CPUs, or is shown none. What would give them: an instance m7g.16xlarge, or metal.");
      expect(text).toContain("6g, 7g, 6i 16xlarge");
      await page.getByRole("link", { name: "the speed of the CPUs" }).click();
      expect(await page.locator("h1").innerText()).toBe("CPU");
    });
  });
  it("shows hostile names as they are", async () => {
    await on("counters-hostile", "counters", async (page) => {
      await page.locator(".counters-metrics").waitFor();
      expect(await page.locator("main").innerText()).toContain(HOSTILE);
    });
  });
});
