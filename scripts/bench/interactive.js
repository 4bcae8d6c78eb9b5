// Prints how soon a report can be used, in milliseconds: from the navigation to its first screen, and from the choice of its first page of
// charts to those charts in view drawn. Of the page of a fleet, which has one page only, until its strip of hosts is drawn. CHROMIUM names the browser.
//
// usage: node scripts/bench/interactive.js REPORT.html
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [report] = process.argv.slice(2);
if (report === undefined || report.startsWith("-")) {
  process.stderr.write("usage: node scripts/bench/interactive.js REPORT.html\n");
  process.exit(report === "--help" || report === "-h" ? 0 : 2);
}
const ui = resolve(import.meta.dirname, "../../ui/package.json");
const { chromium } = createRequire(ui)("playwright-core");
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1366, height: 860 } });
  page.setDefaultTimeout(120_000);
  // The two frames after the last change are when it is on the screen.
  const drawn = () =>
    page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))));
  await page.goto(`file://${resolve(report)}`, { waitUntil: "commit" });
  await page.waitForSelector("main h1");
  const first = await drawn();
  if (await page.locator(".fleet-page").count() > 0) {
    await page.waitForSelector(".host-strip canvas");
    console.log(Math.round(await drawn()));
  } else {
    const link = page.locator("nav.rail a", { hasText: "CPU" }).first();
    const from = await page.evaluate(() => performance.now());
    await link.click();
    await page.waitForFunction(() => {
      const near = [...document.querySelectorAll("main .chart")].filter((chart) => {
        const box = chart.getBoundingClientRect();
        return box.bottom > 0 && box.top < innerHeight;
      });
      return near.length > 0 && near.every((chart) => chart.querySelector("canvas, .none, .trouble"));
    });
    console.log(Math.round(first), Math.round((await drawn()) - from));
  }
} finally {
  await browser.close();
}
