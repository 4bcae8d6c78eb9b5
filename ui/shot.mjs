import { chromium } from "playwright-core";
const [, , file, hash, out, scheme, height] = process.argv;
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const p = await b.newPage({ viewport: { width: 1366, height: Number(height || 1300) }, colorScheme: scheme });
const errors = [];
p.on("pageerror", (e) => errors.push(String(e))); p.on("console", (m) => m.type() === "error" && errors.push(m.text()));
await p.goto(`file://${file}#${hash}`); await p.waitForTimeout(1500);
await p.screenshot({ path: out }); console.log(errors.join("\n"));
await b.close();
