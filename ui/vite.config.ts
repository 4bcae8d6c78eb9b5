// How the page is built: everything in one html file, which the `report` crate fills with data.
import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

// The page may run its own script (by hash) and nothing else: no event handlers in attributes, no network, no frames.
// Names recorded on a hostile host are text in the page already; this is the second lock on the same door.
function contentPolicy(): Plugin {
  return {
    name: "twinscope:content-policy",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== "asset" || !file.fileName.endsWith(".html")) continue;
          const html = String(file.source);
          const hashes = [...html.matchAll(/<script type="module"[^>]*>([\s\S]*?)<\/script>/g)].map(
            (m) => `'sha256-${createHash("sha256").update(m[1] ?? "").digest("base64")}'`,
          );
          if (hashes.length !== 1) this.error(`expected one inline script, found ${hashes.length}`);
          for (const marker of ["<!--TWINSCOPE-POLICY-->", "<!--TWINSCOPE-DATA-->"]) {
            if (html.split(marker).length !== 2) this.error(`the template must hold ${marker} exactly once`);
          }
          const policy = `default-src 'none'; script-src ${hashes.join(" ")}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'`;
          file.source = html.replace(
            "<!--TWINSCOPE-POLICY-->",
            () => `<meta http-equiv="Content-Security-Policy" content="${policy}" />`,
          );
        }
      },
    },
  };
}

// One file each, so one build each: `vite build` makes the report; `vite build --mode flame` the page of one flame graph beside it,
// `vite build --mode experiment` that of an experiment, and `vite build --mode fleet` that of a fleet.
const PAGES: Record<string, string> = { flame: "flame.html", experiment: "experiment.html", fleet: "fleet.html" };

export default defineConfig(({ mode }) => ({
  plugins: [viteSingleFile(), contentPolicy()],
  build: {
    target: "es2022",
    modulePreload: false,
    reportCompressedSize: false,
    emptyOutDir: PAGES[mode] === undefined,
    rolldownOptions: { input: PAGES[mode] ?? "index.html" },
  },
}));
