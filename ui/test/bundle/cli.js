// Writes a sample report: npm run sample -- pair out.html
import { readFileSync, writeFileSync } from "node:fs";
import { runnerImport } from "vite";

const [name = "", out = ""] = process.argv.slice(2);
const { module: samples } = await runnerImport(new URL("./samples.ts", import.meta.url).pathname);
const { module: encode } = await runnerImport(new URL("./encode.ts", import.meta.url).pathname);
const make = samples.SAMPLES[name];
if (!make || !out || out.startsWith("-")) {
  process.stderr.write(`usage: npm run sample -- NAME OUT.html, where NAME is one of ${Object.keys(samples.SAMPLES).join(", ")}\n`);
  process.exit(name === "--help" || name === "-h" ? 0 : 2);
}
const { head, blocks } = make();
const template = readFileSync(new URL("../../dist/index.html", import.meta.url), "utf8");
writeFileSync(out, encode.assemble(template, head, blocks));
