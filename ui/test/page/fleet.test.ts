// The page of a fleet in Chromium, on synthetic fleets of 12 to 10,000 hosts.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { assembleFleet, FLEETS, fleetOf, type FleetSample } from "../bundle/fleet";
import { HOSTILE } from "../bundle/samples";
import { copied, launch, lowContrast, open, ROOT, shot, unreachable } from "./browser";

const WORK = resolve(import.meta.dirname, ".work");

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

function write(name: string, data: Parameters<typeof assembleFleet>[1]): string {
  mkdirSync(WORK, { recursive: true });
  const path = resolve(WORK, `fleet-${name}.html`);
  writeFileSync(path, assembleFleet(readFileSync(resolve(ROOT, "dist/fleet.html"), "utf8"), data));
  return path;
}

async function on(name: string, test: (page: Page) => Promise<void>, options: Parameters<typeof open>[3] & { hash?: string } = {}): Promise<void> {
  const { page, trouble, close } = await open(browser, write(name, (FLEETS[name] as () => FleetSample)()), options.hash ?? "", options);
  await page.waitForSelector("main h1");
  await drawn(page);
  await test(page);
  expect(trouble).toEqual([]);
  await close();
}

const drawn = (page: Page) => page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(r)))));

const words = async (page: Page, selector: string) => (await page.locator(selector).innerText()).replaceAll(/\s+/g, " ");

/** Texts of one chart that lie on each other. */
const overlaps = (page: Page) =>
  page.evaluate(() => {
    const bad: string[] = [];
    for (const svg of document.querySelectorAll("main svg")) {
      const boxes = [...svg.querySelectorAll("text")].map((t) => ({ text: t.textContent ?? "", box: t.getBoundingClientRect() }));
      boxes.forEach((a, i) => {
        for (const b of boxes.slice(i + 1)) {
          const w = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
          const h = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
          if (w > 1 && h > 5) bad.push(`“${a.text}” on “${b.text}”`);
        }
      });
    }
    return bad;
  });

/** How many colours a canvas holds. */
const colours = (page: Page, selector: string) =>
  page.evaluate((of) => {
    const canvas = document.querySelector<HTMLCanvasElement>(of);
    const data = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data;
    return data ? new Set(new Uint32Array(data.buffer)).size : 0;
  }, selector);

/** Whether the host is marked in the strip, in those of metrics, in the heat map, in the table, at the foot. */
const marks = async (page: Page) => ({
  strip: await page.locator(".host-ring").count(),
  metrics: await page.locator(".pin").count() > 0,
  heat: await page.locator(".heat-row").count(),
  table: await page.locator("[aria-labelledby=at-hosts] tr.picked").count(),
  foot: await page.locator(".chosen-bar").count(),
});

const NOWHERE = { strip: 0, metrics: false, heat: 0, table: 0, foot: 0 };
const EVERYWHERE = { strip: 1, metrics: true, heat: 1, table: 1, foot: 1 };

describe("the page of a fleet", () => {
  for (const name of ["small", "banded", "three", "bandings", "none", "grouped", "starts", "lone"]) {
    for (const theme of ["light", "dark"] as const) {
      it(`reads and is reachable: ${name}, ${theme}`, async () => {
        await on(name, async (page) => {
          await shot(page, `fleet-${name}-${theme}`);
          expect(await lowContrast(page)).toEqual([]);
          expect(await unreachable(page)).toEqual([]);
          expect(await overlaps(page)).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
          const beyond = await page.locator("main .scroll").evaluateAll((all) => all.map((e) => e.scrollWidth - e.clientWidth));
          expect(Math.max(0, ...beyond)).toBeLessThanOrEqual(1);
        }, { theme, hash: name === "banded" ? "host=id7" : "" });
      });
    }
  }
  for (const name of ["small", "banded", "three", "none", "grouped", "lone"]) {
    it(`fits a phone: ${name}`, async () => {
      await on(name, async (page) => {
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        // Nothing is a letter wide.
        const narrow = await page.locator(".stray-lines th, .metric-name").evaluateAll((all) => all.filter((e) => e.getBoundingClientRect().width < 90).map((e) => e.textContent));
        expect(narrow).toEqual([]);
      }, { width: 390 });
    });
  }
  it("says the verdict first, then all hosts, why, and what separates", async () => {
    await on("banded", async (page) => {
      const said = await words(page, "main");
      const order = [
        "8 of 62 hosts do 2.8× the work per second", "91 % of the slowdown", "All hosts by work.done", "band 1: 8 of 62", "1 undecided", "1 stray", "Why band 2 is slower", "What separates band 1 from band 2", "platform.zone is a", "process.cpu_time comm=server",
        "What does not differ", "One stray", "Each host over time", "Since when", "Hosts", "What was asked", "The same as text",
      ].map((t) => said.indexOf(t));
      expect(order.every((at) => at >= 0)).toBe(true);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      const box = await page.locator("#at-separates-0").boundingBox();
      expect((await page.locator(".host-strip").boundingBox())?.y).toBeLessThan(400);
      expect(box?.y).toBeLessThan(1100);
      expect(await page.locator(".valley text").allTextContents()).toEqual(["valley at 2.05 k/s"]);
      expect(await colours(page, ".strip-canvas canvas")).toBeGreaterThan(3);
      expect(await colours(page, ".fleet-heat canvas")).toBeGreaterThan(3);
    });
  });
  it("shows what separates as rows of two strips, with shifts and what moves together", async () => {
    await on("banded", async (page) => {
      const rows = page.locator("[data-list=lines] .separates-row:not(.separates-heads)");
      expect(await rows.count()).toBe(8);
      expect(await colours(page, "[data-list=lines] .strips canvas")).toBeGreaterThan(3);
      const first = (await rows.first().innerText()).replaceAll(/\s+/g, " ");
      for (const part of ["process.cpu_time comm=server · per operation", "CPU time, user and kernel", "2 others move with it", "ms/op", "95 % CI", "98 %"]) expect(first).toContain(part);
      await page.locator("[data-list=lines] > button").click();
      expect(await rows.count()).toBe(9);
      expect(await page.locator("[data-list=functions] .separates-row:not(.separates-heads)").innerText()).toContain("std::sync::Mutex<T>::lock");
      expect(await words(page, ".not-different")).toContain("Left out, since nearly every host has its own value: platform.serial, network.address.");
    });
  });
  for (const [name, many] of [["small", 12], ["large", 10_000]] as const) {
    it(`marks a chosen host everywhere, wherever it is chosen: ${many} hosts`, async () => {
      await on(name, async (page) => {
        const foot = () => words(page, ".chosen-name");
        const strip = page.locator(".strip-canvas");
        expect(await marks(page)).toEqual(NOWHERE);
        await strip.scrollIntoViewIfNeeded();
        // Arrows move through the hosts by band and value.
        await page.keyboard.press("ArrowRight");
        await page.waitForSelector(".chosen-bar");
        await page.locator("#at-separates-0").scrollIntoViewIfNeeded();
        await page.waitForSelector(".pin");
        expect(await marks(page)).toEqual(EVERYWHERE);
        const first = await foot();
        expect(await page.locator("[aria-labelledby=at-hosts] tbody tr").first().innerText()).toContain(first);
        await page.keyboard.press("ArrowDown");
        expect(await foot()).not.toBe(first);
        await page.keyboard.press("ArrowUp");
        expect(await foot()).toBe(first);
        await page.keyboard.press("End");
        expect(await words(page, ".chosen-bar")).toContain("not measured");
        await page.keyboard.press("Escape");
        expect(await marks(page)).toEqual(NOWHERE);
        // A dot of the strip: the first band is at its right end.
        const box = await strip.boundingBox();
        const at = await page.evaluate(() => {
          const canvas = document.querySelector(".strip-canvas canvas") as HTMLCanvasElement;
          const g = canvas.getContext("2d") as CanvasRenderingContext2D;
          const row = g.getImageData(0, canvas.height - 4, canvas.width, 1).data;
          for (let x = canvas.width - 1; x >= 0; x--) if ((row[x * 4 + 3] as number) > 200) return x / devicePixelRatio;
          return -1;
        });
        await strip.click({ position: { x: at - 1, y: (box?.height ?? 0) - 29 } });
        expect(await marks(page)).toMatchObject({ strip: 1, heat: 1, table: 1, foot: 1 });
        expect(await words(page, ".chosen-facts")).toContain("band 1");
        await page.keyboard.press("Escape");
        // A row of the heat map, the table, a stray.
        await page.locator(".fleet-heat .heat").click({ position: { x: 400, y: 3 } });
        expect(await words(page, ".chosen-facts")).toContain("band 1");
        if (many < 100) expect(await foot()).toBe(first);
        const before = await foot();
        await page.locator("[aria-labelledby=at-hosts] tbody tr").nth(1).locator("td").nth(2).click();
        expect(await marks(page)).toMatchObject({ strip: 1, heat: 1, table: 1, foot: 1 });
        expect(await foot()).not.toBe(before);
        await page.locator("[data-list=strays] button").first().click();
        expect(await foot()).toBe("host-00001");
        expect(await marks(page)).toMatchObject({ strip: 1, heat: 1, table: 1, foot: 1 });
        expect(await page.evaluate(() => new Promise((r) => setTimeout(() => r(location.hash), 250)))).toBe("#host=id1");
      });
    });
  }
  it("reads hosts by the pointer", async () => {
    await on("banded", async (page) => {
      const heat = page.locator(".fleet-heat .heat");
      await heat.hover({ position: { x: 500, y: 2 } });
      expect(await words(page, ".fleet-heat .tip")).toMatch(/^host-\d+ · \d.* s · about 3\.\d+ k\/s · band 1$/);
      await page.locator(".strips-lanes").first().hover({ position: { x: 27, y: 8 } });
      await page.locator(".strip-canvas").hover({ position: { x: 20, y: 20 } });
      expect(await page.locator(".fleet-heat .tip").count()).toBe(0);
    });
  });
  it("filters, sorts, and copies the command that opens a pair", async () => {
    await on("banded", async (page) => {
      await page.keyboard.press("/");
      await page.keyboard.type("0000");
      const rows = page.locator("[aria-labelledby=at-hosts] tbody tr");
      expect(await rows.count()).toBe(10);
      await page.keyboard.press("Escape");
      await page.locator("[aria-labelledby=at-hosts] thead button", { hasText: "host" }).click();
      expect(await rows.first().innerText()).toContain("host-00000");
      await rows.first().getByText("Copy command").click();
      expect(await copied(page)).toMatch(/^twinscope report 'recordings\/host \d+\.twin' 'recordings\/host 0\.twin' -o pair\.html$/);
      await page.locator("[aria-labelledby=at-hosts]").getByText("Copy as CSV").click();
      expect((await copied(page)).split("\n")[0]).toContain("host,band,work.done (1/s)");
    });
  });
  it("keeps a chosen row in sight of a long table", async () => {
    await on("large", async (page) => {
      const rows = page.locator("[aria-labelledby=at-hosts] tbody tr");
      expect(await rows.count()).toBe(101);
      expect(await rows.last().innerText()).toContain("host-05000");
    }, { hash: "host=id5000" });
  });
  it("shows one of several bandings, and of several groups", async () => {
    await on("bandings", async (page) => {
      await page.locator(".fleet-choice button").nth(1).click();
      expect(await words(page, ".fleet-verdict .said")).toContain("A quarter of the hosts stand apart by process.run_wait");
      expect(await words(page, "main")).toContain("No course over time was kept of process.run_wait{comm=server} per operation");
      expect(await page.locator("#at-why").count()).toBe(0);
    });
    await on("grouped", async (page) => {
      expect(await page.locator(".fleet-choice button").allInnerTexts()).toEqual(["EPYC 9R14", "Neoverse-V2"]);
      await page.locator(".fleet-choice button").nth(1).click();
      expect(await words(page, ".fleet-verdict .said")).toBe("No bands among 32 recordings.");
    });
  });
  it("says what a fleet without bands would have shown", async () => {
    await on("none", async (page) => {
      expect(await words(page, ".fleet-verdict .said")).toBe("No bands among 64 recordings.");
      expect(await words(page, ".fleet-verdict")).toContain("it would have shown, with a chance of 80 %: 50 % of them with 1.21× as much");
      expect(await page.locator("#at-separates-0, #at-heat, .valley").count()).toBe(0);
      expect(await page.locator("#at-strays").count()).toBe(1);
    });
  });
  it("has help, and both themes by a key", async () => {
    await on("small", async (page) => {
      await page.keyboard.press("?");
      expect(await words(page, "dialog.help")).toContain("to the filter of the table");
      await page.keyboard.press("?");
      await page.locator("dialog.help[open]").waitFor({ state: "detached" });
      await page.keyboard.press("t");
      await page.waitForFunction(() => document.documentElement.dataset["theme"] === "dark");
    });
  });
  it("shows hostile text as text", async () => {
    for (const theme of ["light", "dark"] as const) {
      await on("hostile", async (page) => {
        await shot(page, `fleet-hostile-${theme}`);
        expect(await page.locator("main img, main b:text-is('bold'), .chosen-bar img").count()).toBe(0);
        expect(await page.evaluate(() => (window as unknown as { pwned?: number }).pwned)).toBeUndefined();
        expect(await page.locator("h1").innerText()).toBe(`fleet${HOSTILE}`);
        expect(await page.locator(".chosen-name").innerText()).toBe(`host-00004${HOSTILE}␤second line`);
        expect(await lowContrast(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        await page.locator(".chosen-bar > button").click();
        expect((await copied(page)).replaceAll(/'(?:[^']|'\\'')*'/gs, "Q")).toBe("twinscope report Q Q -o pair.html");
      }, { theme, hash: "host=id4" });
    }
  });
  it("draws 10,000 hosts at once, and moves through them without lag", async () => {
    const path = write("large", (FLEETS["large"] as () => FleetSample)());
    const { page, trouble, close } = await open(browser, path);
    await page.waitForSelector(".strip-canvas canvas");
    await drawn(page);
    const first = await page.evaluate(() => performance.now());
    expect(first).toBeLessThan(4000);
    const took = await page.evaluate(async () => {
      const times: number[] = [];
      for (let i = 0; i < 20; i++) {
        const from = performance.now();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 0)));
        times.push(performance.now() - from);
      }
      return times.toSorted((a, b) => a - b)[10] ?? 0;
    });
    // A frame or some; the bound leaves room for a machine that does other things.
    expect(took).toBeLessThan(150);
    expect(trouble).toEqual([]);
    await close();
  });
  it("says plainly what it cannot draw", async () => {
    const { page, close } = await open(browser, write("other", { page: { format: 9 }, blocks: {} }));
    await page.waitForSelector(".opening.trouble");
    expect(await page.locator(".opening.trouble").innerText()).toContain("has format 9; this page draws format 1");
    await close();
    const { page: without, close: shut } = await open(browser, write("cut", { page: fleetOf({ hosts: 24 }).page, blocks: {} }));
    await without.waitForSelector("main .trouble");
    expect(await without.locator("main .trouble").first().innerText()).toContain("Block “fleet-0” of this report cannot be read: it is not in this file");
    expect(await without.locator(".host-strip canvas").count()).toBe(1);
    await shut();
  });
  it("is not larger than it needs to be", () => {
    expect(readFileSync(resolve(ROOT, "dist/fleet.html")).length).toBeLessThan(150_000);
  });
});
