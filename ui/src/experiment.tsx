// The page of an experiment, what `twinscope report NAME.tune` writes.
import { effect } from "@preact/signals";
import { render } from "preact";
import "./style/page.css";
import "./style/experiment-page.css";
import { fromBase64, gunzip } from "./bundle/load";
import { theme } from "./model/color";
import { readExperiment } from "./model/experiment";
import { followParams, printing } from "./state";
import { ExperimentPage } from "./view/experiment/ExperimentPage";

async function start(root: HTMLElement): Promise<void> {
  const script = document.getElementById("twinscope-experiment");
  if (!script) throw new Error("This file holds no experiment: it is the empty template, or its data was cut off.");
  const text = new TextDecoder().decode(await gunzip(fromBase64(script.textContent ?? "")));
  const experiment = readExperiment(JSON.parse(text));
  document.title = experiment.name;
  followParams();
  addEventListener("beforeprint", () => (printing.value = true));
  addEventListener("afterprint", () => (printing.value = false));
  root.replaceChildren();
  render(<ExperimentPage e={experiment} />, root);
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
