// How a page with all its data in one script begins: reads the script, draws, and says what is wrong where it cannot.
import { effect } from "@preact/signals";
import { fromBase64, gunzip } from "./bundle/load";
import { theme } from "./model/color";

/** Opens the page whose script is called `twinscope-` and `kind`; `what` it holds, as an error names it. */
export function open(kind: string, what: string, draw: (data: unknown, root: HTMLElement) => void): void {
  const root = document.getElementById("app");
  if (!root) return;
  // Before anything is drawn: some colours are taken from the style sheet.
  effect(() => {
    document.documentElement.dataset["theme"] = theme();
  });
  const start = async (): Promise<void> => {
    const script = document.getElementById(`twinscope-${kind}`);
    if (!script) throw new Error(`This file holds no ${what}: it is the empty template, or its data was cut off.`);
    const data: unknown = JSON.parse(new TextDecoder().decode(await gunzip(fromBase64(script.textContent ?? ""))));
    draw(data, root);
  };
  start().catch((e: unknown) => {
    const said = document.createElement("p");
    said.className = "opening trouble";
    said.setAttribute("role", "alert");
    said.textContent = e instanceof Error ? e.message : String(e);
    root.replaceChildren(said);
  });
}
