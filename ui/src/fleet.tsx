// The page of a fleet, what `twinscope fleet report` writes.
import { effect } from "@preact/signals";
import { render } from "preact";
import "./style/page.css";
import "./style/experiment-page.css";
import "./style/fleet-page.css";
import { fromBase64, gunzip } from "./bundle/load";
import { theme } from "./model/color";
import { nameInLine, readFleet } from "./model/fleet";
import { followParams, printing } from "./state";
import { setFleet } from "./view/fleet/choice";
import { FleetPageView } from "./view/fleet/FleetPage";

async function start(root: HTMLElement): Promise<void> {
  const script = document.getElementById("twinscope-fleet");
  if (!script) throw new Error("This file holds no fleet: it is the empty template, or its data was cut off.");
  const text = new TextDecoder().decode(await gunzip(fromBase64(script.textContent ?? "")));
  const fleet = readFleet(JSON.parse(text));
  document.title = `Fleet ${nameInLine(fleet.folder)}`;
  setFleet(fleet);
  followParams();
  addEventListener("beforeprint", () => (printing.value = true));
  addEventListener("afterprint", () => (printing.value = false));
  root.replaceChildren();
  render(<FleetPageView fleet={fleet} />, root);
}

const root = document.getElementById("app");
if (root) {
  // Before anything is drawn: some colours are taken from the style sheet.
  effect(() => {
    document.documentElement.dataset["theme"] = theme();
  });
  start(root).catch((e: unknown) => {
    const said = document.createElement("p");
    said.className = "opening trouble";
    said.setAttribute("role", "alert");
    said.textContent = e instanceof Error ? e.message : String(e);
    root.replaceChildren(said);
  });
}
