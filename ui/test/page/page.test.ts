// The page in Chromium, on synthetic reports whose every number is known.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser, Page } from "playwright-core";
import { Block } from "../../src/bundle/block";
import type { Head, PageSpec } from "../../src/bundle/types";
import { HOSTILE } from "../bundle/samples";
import { copied, launch, lowContrast, open, opener, paint, reportOf, sampleOf, settled, shot, template, unreachable, write } from "./browser";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

const on = opener(() => browser);

/** The window in the link, waiting until it is written. */
async function windowIn(page: Page): Promise<[number, number]> {
  await page.waitForFunction(() => /[?&]w=/.test(location.hash));
  await page.waitForTimeout(250);
  const w = new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("w") ?? "";
  const [from = Number.NaN, to = Number.NaN] = w.split("_").map(Number);
  return [from, to];
}

async function dragStrip(page: Page, from: number, to: number): Promise<void> {
  const box = await page.getByTestId("strip").boundingBox();
  if (!box) throw new Error("no strip");
  const y = box.y + 10;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * ((from + to) / 2), y, { steps: 4 });
  await page.mouse.move(box.x + box.width * to, y, { steps: 4 });
  await page.mouse.up();
}

const windowTables = (spec: PageSpec | undefined) => (spec?.tables ?? []).flatMap((t) => (t.kind === "window" ? [t] : []));

const bytesOf = (name: string, page: string) => new Block(sampleOf(name).blocks[`page-${page}`] as Uint8Array);

/** The mean of a series between two times, computed here from the data, not by the page's code. */
function meanIn(block: Block, series: number, from: number, to: number): number {
  const { t, v } = block.finest(series);
  const values = [...v].filter((x, i) => (t[i] as number) >= from && (t[i] as number) <= to && !Number.isNaN(x));
  return values.reduce((a, b) => a + b, 0) / values.length;
}

describe("the template", () => {
  it("is small and self-contained", () => {
    const html = template();
    expect(Buffer.byteLength(html)).toBeLessThan(372_000);
    expect(html).not.toMatch(/(src|href)\s*=\s*["']?(https?:)?\/\//i);
    expect(html).not.toMatch(/url\(\s*["']?https?:|@import/i);
    expect(html).toMatch(/Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
  });
  it("says that it is empty", async () => {
    const path = write("empty", {}, {}).replace("empty.html", "empty.html");
    const { page, close } = await open(browser, path);
    expect(await page.locator("[role=alert]").textContent()).toContain("format null");
    await close();
  });
});

describe("every page", () => {
  for (const theme of ["light", "dark"] as const) {
    it(`draws, reads and is reachable, ${theme}`, async () => {
      await on("pair", "", async (page) => {
        const { head } = sampleOf("pair");
        for (const id of ["overview", ...head.pages.map((p) => p.id), "set-up"]) {
          await page.locator(`nav a[href="#${id}"]`).click();
          await settled(page);
          await shot(page, `${id}-${theme}`);
          const painted = await paint(page);
          expect(painted.charts, id).toBe(head.pages.find((p) => p.id === id)?.charts.length ?? 0);
          expect(painted.blank, id).toEqual([]);
          expect(await lowContrast(page), id).toEqual([]);
          expect(await unreachable(page), id).toEqual([]);
        }
      }, { theme });
    });
  }
  for (const name of ["one", "same", "three", "eight", "holes"]) {
    it(`holds for the sample “${name}”`, async () => {
      await on(name, "", async (page) => {
        for (const id of ["overview", "cpu", "processes"]) {
          await page.locator(`nav a[href="#${id}"]`).click();
          await settled(page);
          await shot(page, `${name}-${id}`);
          expect((await paint(page)).blank).toEqual([]);
          expect(await lowContrast(page)).toEqual([]);
          expect(await unreachable(page)).toEqual([]);
          // Nothing is wider than the window.
          expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
        }
      });
    });
  }
  it("says what speaks against the comparison", async () => {
    await on("pair", "", async (page) => {
      expect(await page.locator(".cautions li").allTextContents()).toEqual([expect.stringContaining("Other programs used 34 %")]);
    });
    await on("same", "", async (page) => {
      expect(await page.locator(".cautions").count()).toBe(0);
    });
  });
  it("uses a wide screen", async () => {
    await on("pair", "", async (page) => {
      await shot(page, "overview-1920");
      await page.locator('nav a[href="#cpu"]').click();
      await settled(page);
      await shot(page, "cpu-1920");
    }, { width: 1920, height: 1000 });
  });
});

describe("the window", () => {
  it("set by dragging on the strip, is what tables and statistics are about, exactly", async () => {
    await on("pair", "processes", async (page) => {
      await dragStrip(page, 0.25, 0.6);
      const [from, to] = await windowIn(page);
      expect(from).toBeGreaterThan(14);
      expect(to).toBeLessThan(37);
      const { head } = sampleOf("pair");
      const block = bytesOf("pair", "processes");
      const spec = head.pages.find((p) => p.id === "processes");
      const rows = windowTables(spec)[0]?.rows ?? [];
      await page.getByRole("button", { name: "Side by side" }).click();
      await page.getByRole("button", { name: "Copy as CSV" }).click();
      const [header = "", ...lines] = (await copied(page)).trim().split("\r\n");
      expect(header).toBe("Recording,Process,PID,Command,CPU (s/s),Resident memory (B),Switches (1/s),Read (B/s)");
      expect(lines.length).toBe(rows.length);
      for (const line of lines) {
        const [run, , pid, , cpu, rss] = line.split(",");
        const row = rows.find((r) => head.runs[r.run]?.name === run && r.text["pid"] === pid);
        expect(Number(cpu)).toBeCloseTo(meanIn(block, row?.data["cpu"] ?? -1, from, to), 7);
        expect(Number(rss) / 1e9).toBeCloseTo(meanIn(block, row?.data["rss"] ?? -1, from, to) / 1e9, 6);
      }
      // What is shown is the same, rounded to the decimals shown.
      const shown = await page.locator('[data-table="process-top"] tbody tr').first().locator("td").allTextContents();
      const first = rows.find((r) => head.runs[r.run]?.name === shown[0] && r.text["pid"] === shown[2]);
      // Both in ms/s with one decimal, as the least of them would vanish in s/s.
      expect(await page.locator('[data-table="process-top"] thead').textContent()).toContain("CPU ms/s");
      const number = (text: string | null | undefined) => Number(text?.replaceAll(",", "")) / 1000;
      expect(Math.abs(number(shown[4]) - meanIn(block, first?.data["cpu"] ?? -1, from, to))).toBeLessThanOrEqual(0.00005);
      const stat = await page.locator('[data-stat="counter/1/mean"]').textContent();
      const ref = spec?.charts[0]?.series.find((s) => s.run === 1 && s.name === "counter");
      expect(Math.abs(Number(stat) - meanIn(block, ref?.data ?? -1, from, to))).toBeLessThanOrEqual(0.005);
    });
  });

  it("adds up rows of one name where they stand side by side", async () => {
    await on("pair", "processes?w=10_30", async (page) => {
      const { head } = sampleOf("pair");
      const block = bytesOf("pair", "processes");
      const rows = (windowTables(head.pages.find((p) => p.id === "processes"))[0]?.rows ?? []).filter((r) => r.text["name"] === "postgres");
      await page.getByRole("button", { name: "Copy as CSV" }).click();
      const line = (await copied(page)).split("\r\n").find((l) => l.startsWith("postgres (3)")) ?? "";
      const [, a, b, difference] = line.split(",").map(Number);
      const sum = (run: number) => rows.filter((r) => r.run === run).reduce((x, r) => x + meanIn(block, r.data["cpu"] ?? -1, 10, 30), 0);
      expect(a).toBeCloseTo(sum(0), 6);
      expect(b).toBeCloseTo(sum(1), 6);
      expect(difference).toBeCloseTo(sum(1) - sum(0), 6);
    });
  });

  it("is each recording's own busy window until one is chosen, and follows a mark", async () => {
    await on("pair", "scheduler", async (page) => {
      const block = bytesOf("pair", "scheduler");
      const series = (run: number) => sampleOf("pair").head.pages.find((p) => p.id === "scheduler")?.charts[0]?.series.find((s) => s.run === run)?.data ?? -1;
      const stat = async (run: number) => Number(await page.locator(`[data-stat="ctxt/${run}/mean"]`).textContent()) * 1000;
      expect(Math.abs((await stat(1)) - meanIn(block, series(1), 3, 58))).toBeLessThanOrEqual(50);
      await page.getByLabel("Align at").selectOption("mark:warm-up over");
      await page.evaluate(() => (location.hash = `${location.hash.includes("?") ? `${location.hash}&` : `${location.hash}?`}w=0_10&align=mark:warm-up over`));
      await page.waitForFunction(() => document.querySelector('[data-testid="readout"]')?.textContent?.includes("Window 0.0 s"));
      // The mark is at 5 s in the first recording and at 7 s in the second.
      expect(Math.abs((await stat(0)) - meanIn(block, series(0), 5, 15))).toBeLessThanOrEqual(50);
      expect(Math.abs((await stat(1)) - meanIn(block, series(1), 7, 17))).toBeLessThanOrEqual(50);
    });
  });

  it("is set by dragging on a chart, and dropped by a double click", async () => {
    await on("pair", "cpu", async (page) => {
      const over = page.locator('[data-chart="cpu-total"] .u-over').first();
      const box = await over.boundingBox();
      if (!box) throw new Error("no chart");
      await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.75, box.y + 40, { steps: 5 });
      await page.mouse.up();
      const [from, to] = await windowIn(page);
      expect(from).toBeCloseTo(30, 0);
      expect(to).toBeCloseTo(45, 0);
      await over.dblclick();
      await page.waitForFunction(() => !location.hash.includes("w="));
      const heat = await page.locator('[data-chart="cpu-heat"] canvas').first().boundingBox();
      if (!heat) throw new Error("no heat map");
      await page.mouse.move(heat.x + 100, heat.y + 10);
      await page.mouse.down();
      await page.mouse.move(heat.x + 200, heat.y + 10, { steps: 5 });
      await page.mouse.up();
      const [a, b] = await windowIn(page);
      expect(b - a).toBeGreaterThan(5);
    });
  });

  it("moves by its middle and by its edges on the strip", async () => {
    await on("pair", "overview?w=20_40", async (page) => {
      await dragStrip(page, 0.5, 0.6);
      const [from, to] = await windowIn(page);
      expect(from).toBeCloseTo(26, 0);
      expect(to - from).toBeCloseTo(20, 5);
      await dragStrip(page, to / 60, 0.9);
      const [a, b] = await windowIn(page);
      expect(a).toBeCloseTo(from, 3);
      expect(b).toBeCloseTo(54, 0);
    });
  });
});

describe("gaps", () => {
  it("are drawn as nothing, never as zero", async () => {
    await on("holes", "scheduler", async (page) => {
      // Between 20 s and 26 s nothing was read: in those columns the chart has no colour of a recording.
      const colored = await page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('[data-chart="sched-switches"] canvas');
        const over = document.querySelector<HTMLElement>('[data-chart="sched-switches"] .u-over');
        const g = canvas?.getContext("2d");
        if (!canvas || !over || !g) throw new Error("no chart");
        const scale = canvas.width / canvas.clientWidth;
        const count = (from: number, to: number) => {
          const x = Math.round((over.offsetLeft + (from / 60) * over.clientWidth) * scale);
          const width = Math.round(((to - from) / 60) * over.clientWidth * scale);
          const d = g.getImageData(x, 0, width, Math.round((over.offsetTop + over.clientHeight) * scale)).data;
          let n = 0;
          for (let i = 0; i < d.length; i += 4) {
            const spread = Math.max(d[i] as number, d[i + 1] as number, d[i + 2] as number) - Math.min(d[i] as number, d[i + 1] as number, d[i + 2] as number);
            if ((d[i + 3] as number) > 100 && spread > 60) n++;
          }
          return n;
        };
        return { gap: count(21, 25), beside: count(30, 34) };
      });
      expect(colored.gap).toBe(0);
      expect(colored.beside).toBeGreaterThan(10);
      await page.locator('nav a[href="#processes"]').click();
      await settled(page);
      // Never read at all: a dash, not a number.
      await page.getByPlaceholder("Filter").fill("kworker");
      const cells = await page.locator('[data-table="process-top"] tbody tr').first().locator("td").allTextContents();
      expect(cells.slice(-3)).toEqual(["–", "–", "–"]);
    });
  });
  it("of a heat map are hatched, and read as not measured", async () => {
    await on("holes", "cpu", async (page) => {
      const heat = page.locator('[data-chart="cpu-heat"] canvas').first();
      await heat.scrollIntoViewIfNeeded();
      const box = await heat.boundingBox();
      if (!box) throw new Error("no heat map");
      await page.mouse.move(box.x + box.width * 0.8, box.y + 24);
      expect(await page.locator(".tip").textContent()).toMatch(/^cpu 1 · .* · not measured$/);
      await page.mouse.move(box.x + box.width * 0.8, box.y + 8);
      expect(await page.locator(".tip").textContent()).toMatch(/^cpu 0 · .* %$/);
    });
  });
});

describe("foreign names", () => {
  it("are text everywhere, and never run", async () => {
    await on("hostile", "", async (page) => {
      for (const id of ["overview", "cpu", "disks", "processes", "set-up"]) {
        await page.locator(`nav a[href="#${id}"]`).click();
        await settled(page);
        expect(await page.evaluate(() => ({ pwned: "pwned" in window, images: document.images.length, bold: [...document.querySelectorAll("b")].some((b) => b.textContent === "bold") }))).toEqual({ pwned: false, images: 0, bold: false });
        expect(await page.locator("main").textContent()).toContain(HOSTILE);
        await shot(page, `hostile-${id}`);
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), id).toBeLessThanOrEqual(0);
      }
    });
  });
  it("could not run even if they were markup: the content policy forbids it", async () => {
    const { page, close } = await open(browser, reportOf("pair"));
    await settled(page);
    const ran = await page.evaluate(async () => {
      const div = document.createElement("div");
      div.innerHTML = `<img src="data:,x" onerror="window.pwned=1">`;
      document.body.append(div);
      await new Promise((r) => setTimeout(r, 300));
      return "pwned" in window;
    });
    expect(ran).toBe(false);
    await close();
  });
});

describe("the link", () => {
  it("holds page, window, filters, alignment and overlay, both ways", async () => {
    const hash = "processes?w=12_34.5&align=busy&overlay=1&.process-top.filter=post&.process-top.sort=cpu.1%3Aup";
    await on("pair", hash, async (page) => {
      expect(await page.locator("main h1").textContent()).toBe("Processes");
      expect(await page.getByTestId("readout").textContent()).toContain("Window 12.0 s to 34.5 s");
      expect(await page.getByLabel("Align at").inputValue()).toBe("busy");
      expect(await page.getByRole("button", { name: "Overlay" }).getAttribute("aria-pressed")).toBe("true");
      expect(await page.locator('[data-table="process-top"] tbody tr').count()).toBe(1);
      expect(await page.locator("th[aria-sort=ascending]").count()).toBe(1);
      await page.waitForTimeout(300);
      expect(new URL(page.url()).hash).toBe(`#${hash}`);
      await page.getByPlaceholder("Filter").fill("ssh");
      await page.waitForFunction(() => location.hash.includes("filter=ssh"));
      await page.locator('nav a[href="#cpu"]').click();
      await page.waitForFunction(() => location.hash.startsWith("#cpu"));
      await page.goBack();
      await page.waitForFunction(() => document.querySelector("main h1")?.textContent === "Processes");
      expect(await page.getByPlaceholder("Filter").inputValue()).toBe("ssh");
    });
  });
});

describe("the keyboard", () => {
  it("reaches and does everything", async () => {
    await on("pair", "cpu", async (page) => {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the page");
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Overview");
      expect(await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)).toBe("solid");
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      await shot(page, "help");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("+");
      expect(await windowIn(page)).toEqual([15, 45]);
      await page.keyboard.press("ArrowRight");
      await page.waitForFunction(() => location.hash.includes("w=22.5"));
      await page.keyboard.press("0");
      await page.waitForFunction(() => !location.hash.includes("w="));
      await page.getByRole("slider", { name: "Start of the window" }).focus();
      await page.keyboard.press("Shift+ArrowRight");
      expect(await windowIn(page)).toEqual([6, 60]);
      expect(await page.getByRole("slider", { name: "Start of the window" }).getAttribute("aria-valuenow")).toBe("6");
      await page.keyboard.press("o");
      expect(await page.getByRole("button", { name: "Overlay" }).getAttribute("aria-pressed")).toBe("true");
      await page.keyboard.press("]");
      await page.waitForFunction(() => document.querySelector("main h1")?.textContent === "Scheduler");
      await page.keyboard.press("[");
      await page.keyboard.press("[");
      await page.waitForFunction(() => location.hash.startsWith("#overview"));
      await page.keyboard.press("/");
      await page.keyboard.type("stolen");
      expect(await page.locator(".difference").count()).toBe(1);
      await page.keyboard.press("Escape");
      await page.keyboard.press("t");
      expect(await page.evaluate(() => [document.documentElement.dataset["theme"], getComputedStyle(document.documentElement).backgroundColor])).toEqual(["dark", "rgb(18, 22, 27)"]);
    });
  });
  it("reads single cells of a heat map", async () => {
    await on("pair", "cpu", async (page) => {
      await page.locator('[data-chart="cpu-heat"] canvas').nth(1).focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowRight");
      expect(await page.getByRole("status").getAttribute("aria-label")).toMatch(/^slow: cpu 1 · \d+\.\d s · [\d.]+ %$/);
    });
  });
});

describe("charts", () => {
  it("share the cursor, and read the value under it", async () => {
    await on("pair", "scheduler", async (page) => {
      const over = page.locator('[data-chart="sched-switches"] .u-over').first();
      const box = await over.boundingBox();
      if (!box) throw new Error("no chart");
      await page.mouse.move(box.x + box.width * 0.505, box.y + 30);
      await page.waitForTimeout(100);
      const lines = await page.locator(".u-cursor-x").evaluateAll((all) => all.map((e) => ({ off: e.classList.contains("u-off"), x: new DOMMatrix(getComputedStyle(e).transform).e })));
      expect(lines.length).toBeGreaterThan(3);
      for (const l of lines) {
        expect(l.off).toBe(false);
        expect(Math.abs(l.x - box.width * 0.505)).toBeLessThan(3);
      }
      const block = bytesOf("pair", "scheduler");
      const ref = sampleOf("pair").head.pages.find((p) => p.id === "scheduler")?.charts[0]?.series.find((s) => s.run === 1);
      const shown = await page.locator('[data-chart="sched-switches"] .stats tbody tr td:last-child').textContent();
      expect(Math.abs(Number(shown) * 1000 - (block.finest(ref?.data ?? -1).v[30] as number))).toBeLessThanOrEqual(50);
    });
  });
  it("overlay the recordings, one panel a line", async () => {
    await on("pair", "scheduler", async (page) => {
      const panels = () => page.locator('[data-chart="sched-queue"] figure').count();
      expect(await page.locator('[data-chart="sched-queue"] figcaption').allTextContents()).toEqual(["fast", "slow"]);
      await page.getByRole("button", { name: "Overlay" }).click();
      await settled(page);
      expect(await panels()).toBe(2);
      expect(await page.locator('[data-chart="sched-queue"] figcaption').allTextContents()).toEqual(["running", "blocked"]);
      await shot(page, "overlay");
    });
  });
  it("fold what is zero all the time, and open it on demand", async () => {
    await on("pair", "scheduler", async (page) => {
      const chart = page.locator('[data-chart="sched-late"]');
      expect(await chart.textContent()).toContain("Zero all the time, in all recordings.");
      expect(await chart.locator("canvas").count()).toBe(0);
      await chart.getByRole("button", { name: "Show" }).click();
      await chart.locator("canvas").first().waitFor();
    });
  });
  it("give their query", async () => {
    await on("pair", "cpu", async (page) => {
      await page.locator('[data-chart="cpu-total"]').getByRole("button", { name: "Copy query" }).click();
      expect(await copied(page)).toBe("select run, t, name, value from chart('cpu-total')");
    });
  });
  it("hide and show single lines", async () => {
    await on("pair", "cpu", async (page) => {
      const idle = page.locator('[data-chart="cpu-total"]').getByRole("button", { name: "idle" });
      await idle.click();
      expect(await idle.getAttribute("aria-pressed")).toBe("false");
      await settled(page);
      expect((await paint(page)).blank).toEqual([]);
    });
  });
  it("are all drawn for print, on white, also from the dark page", async () => {
    await on("pair", "scheduler", async (page) => {
      // The dialog of the browser would wait for a person; what matters is what is there when it opens.
      const seen = page.evaluate(() => new Promise<{ drawn: boolean; theme: string | undefined; ground: string }>((done) => {
        window.print = () => {
          const charts = [...document.querySelectorAll(".chart:not(.folded)")];
          done({
            drawn: charts.length > 1 && charts.every((c) => c.querySelector("canvas")),
            theme: document.documentElement.dataset["theme"],
            ground: getComputedStyle(document.documentElement).backgroundColor,
          });
        };
      }));
      await page.keyboard.press("Control+p");
      expect(await seen).toEqual({ drawn: true, theme: "light", ground: "rgb(255, 255, 255)" });
      await page.waitForFunction(() => document.documentElement.dataset["theme"] === "dark");
      await page.emulateMedia({ media: "print" });
      expect(await page.locator("nav").isVisible()).toBe(false);
    }, { theme: "dark" });
  });
});

describe("differences", () => {
  it("filter by page and by state, and open", async () => {
    await on("pair", "", async (page) => {
      expect(await page.locator(".difference").count()).toBe(9);
      await page.locator(".chips button", { hasText: "CPU" }).click();
      expect(await page.locator(".difference").count()).toBe(3);
      await page.locator(".chips button", { hasText: "CPU" }).click();
      await page.locator(".budget-table").getByRole("button", { name: "Kernel" }).click();
      expect(await page.locator(".difference").evaluateAll((all) => all.map((e) => (e as HTMLElement).dataset["metric"]))).toEqual(["cpu.system"]);
      await page.locator(".difference button").first().click();
      await page.locator(".difference a").click();
      await settled(page);
      expect(await page.locator("main h1").textContent()).toBe("CPU");
      expect(await page.locator(".chart.aimed").getAttribute("data-chart")).toBe("cpu-total");
    });
  });
  it("put the facts known to matter first", async () => {
    await on("pair", "", async (page) => {
      const names = await page.locator("#at-facts tbody th").evaluateAll((all) => all.map((e) => e.firstChild?.textContent));
      expect(names).toEqual(["release", "governor", "thp.enabled", "mitigation.spectre_v2", "eth0.mac", "kernel.random.boot_id"]);
    });
  });
  it("are not claimed where there is nothing to compare", async () => {
    await on("one", "", async (page) => {
      expect(await page.locator(".differences, #at-facts, nav .count").count()).toBe(0);
      expect(await page.getByRole("button", { name: "Overlay" }).count()).toBe(0);
    });
    await on("same", "", async (page) => {
      expect(await page.locator(".differences").textContent()).toContain("Nothing differs by more than chance");
      expect(await page.locator("#at-facts").count()).toBe(0);
    });
  });
});

describe("set-up", () => {
  it("filters, and shows only what differs", async () => {
    await on("pair", "set-up", async (page) => {
      await page.getByRole("button", { name: "Only differing" }).click();
      expect(await page.locator(".category tbody tr").count()).toBe(6);
      await page.getByPlaceholder("Filter").fill("governor power");
      expect(await page.locator(".category tbody tr").allTextContents()).toEqual(["governorperformancepowersave"]);
      await page.getByRole("button", { name: "Only differing" }).click();
      await page.getByPlaceholder("Filter").fill("option_89");
      expect(await page.locator(".category tbody tr").count()).toBe(11);
    });
  });
});

describe("a damaged report", () => {
  const pair = () => sampleOf("pair");
  it("names the block that is missing or broken, and the rest works", async () => {
    const { head, blocks } = pair();
    const rest = { ...blocks };
    delete rest["page-cpu"];
    const path = write("damaged", head, { ...rest, "page-memory": "H4sIAAAAAAAA/broken", "page-disks": "%%%", "set-up": "" });
    const { page, trouble, close } = await open(browser, path, "cpu");
    const said = async (id: string) => {
      await page.locator(`nav a[href="#${id}"]`).click();
      await page.waitForSelector("main [role=alert]");
      return page.locator("main [role=alert]").first().textContent();
    };
    expect(await said("cpu")).toContain("Block “page-cpu” of this report cannot be read: it is not in this file.");
    await shot(page, "damaged");
    expect(await said("memory")).toContain("Block “page-memory”");
    expect(await said("disks")).toContain("it is not base64");
    expect(await said("set-up")).toContain("Block “set-up”");
    await page.locator('nav a[href="#scheduler"]').click();
    await settled(page);
    expect((await paint(page)).blank).toEqual([]);
    expect(trouble).toEqual([]);
    await close();
  });
  it("loses one chart to a bad series, not the page", async () => {
    const { head, blocks } = pair();
    const bad: Head = structuredClone(head);
    const series = bad.pages.find((p) => p.id === "scheduler")?.charts[0]?.series[0];
    if (series) series.data = 999;
    const { page, trouble, close } = await open(browser, write("bad-series", bad, blocks), "scheduler");
    await page.waitForSelector("main [role=alert]");
    expect(await page.locator("main [role=alert]").allTextContents()).toEqual([expect.stringContaining("“Context switches” cannot be drawn: it has no series 999")]);
    await page.locator('[data-chart="sched-queue"] canvas').first().waitFor();
    expect(trouble).toEqual([]);
    await close();
  });
  it("of another format says so", async () => {
    const { page, close } = await open(browser, write("format", { ...pair().head, format: 99 }, {}));
    expect(await page.locator("[role=alert]").textContent()).toContain("This report has format 99; this page draws format 2.");
    await close();
  });
});

describe("a large report", () => {
  for (const name of ["large", "large-pair"]) {
    it(`of 192 CPUs for an hour is interactive within 2 s (${name})`, async () => {
      const path = reportOf(name);
      const { page, trouble, close } = await open(browser, "/dev/null");
      // Time of the page's own thread: other work on the machine does not count.
      const cdp = await page.context().newCDPSession(page);
      await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
      const busy = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration")?.value ?? Number.NaN;
      const start = Date.now();
      const before = await busy();
      await page.goto(`file://${path}#cpu`);
      const heat = page.locator('[data-chart="cpu-heat"] canvas').first();
      await heat.waitFor();
      const box = await heat.boundingBox();
      if (!box) throw new Error("no heat map");
      await page.mouse.move(box.x + 300, box.y + 100);
      await page.locator(".tip").waitFor();
      const ready = (await busy()) - before;
      const wall = Date.now() - start;
      await page.mouse.move(10, 300);
      const again = await busy();
      await dragStrip(page, 0.3, 0.4);
      await page.waitForFunction(() => location.hash.includes("w="));
      await settled(page);
      const dragged = (await busy()) - again;
      process.stdout.write(`${name}: first readout after ${ready.toFixed(2)} s of work (${wall} ms on this machine now), a drag of eight steps ${dragged.toFixed(2)} s\n`);
      expect(ready).toBeLessThan(2);
      expect(dragged).toBeLessThan(2);
      await shot(page, `${name}-cpu`);
      expect((await paint(page)).blank).toEqual([]);
      expect(trouble).toEqual([]);
      await close();
    });
  }
});
