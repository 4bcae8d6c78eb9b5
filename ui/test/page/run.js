// Runs the page tests in Chromium:   npm run test:page                     on synthetic reports, after a build
//                                    npm run test:page -- --built          on what is in ui/dist: a build empties that folder, which
//                                                                          cargo may read at the time
//                                    npm run test:page -- --report PATH    smoke test of a real report
// CHROMIUM names another browser than /usr/bin/chromium.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "vite";
import { startVitest } from "vitest/node";

const { values } = parseArgs({
  options: { report: { type: "string" }, built: { type: "boolean" }, filter: { type: "string", short: "t" }, help: { type: "boolean", short: "h" } },
});
if (values.help) {
  process.stdout.write("usage: npm run test:page [-- --built | --report PATH] [--filter TEST]\n");
  process.exit(0);
}
const root = resolve(import.meta.dirname, "../..");
if (values.report !== undefined) {
  const path = resolve(values.report);
  if (!existsSync(path)) {
    process.stderr.write(`There is no report at ${path}.\n`);
    process.exit(2);
  }
  process.env["TWINSCOPE_REPORT"] = path;
} else if (!values.built) {
  await build({ root, logLevel: "warn" });
  // The build of the report empties the folder.
  await build({ root, mode: "flame", logLevel: "warn" });
  await build({ root, mode: "experiment", logLevel: "warn" });
  await build({ root, mode: "fleet", logLevel: "warn" });
}
const vitest = await startVitest("test", [], {
  root,
  config: false,
  include: values.report === undefined ? ["test/page/page.test.ts", "test/page/threads.test.ts", "test/page/explained.test.ts", "test/page/requests.test.ts", "test/page/instructions.test.ts", "test/page/sharing.test.ts", "test/page/code.test.ts", "test/page/machine.test.ts", "test/page/counters.test.ts", "test/page/experiment.test.ts", "test/page/fleet.test.ts", "test/page/layout.test.ts", "test/page/stretches.test.ts", "test/page/picture.test.ts"] : ["test/page/report.test.ts"],
  testTimeout: 60_000,
  hookTimeout: 60_000,
  fileParallelism: false,
  watch: false,
  reporters: ["verbose"],
  ...(values.filter ? { testNamePattern: values.filter } : {}),
});
await vitest?.close();
