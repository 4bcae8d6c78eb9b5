// Starts the page: reads the head, then draws. What goes wrong is said in words on the page.
import { effect } from "@preact/signals";
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style/page.css";
import "./style/picture.css";
import { readHead } from "./bundle/load";
import { theme } from "./model/color";
import { followHash, setReport } from "./state";
import { App } from "./view/App";

const root = document.getElementById("app");
if (root) {
  // Before anything is drawn: canvases take their colours from the style sheet.
  effect(() => {
    document.documentElement.dataset["theme"] = theme();
  });
  root.replaceChildren();
  try {
    setReport(readHead(document));
    followHash();
    render(<App />, root);
  } catch (e) {
    const said = document.createElement("p");
    said.className = "opening trouble";
    said.setAttribute("role", "alert");
    said.textContent = e instanceof Error ? e.message : String(e);
    root.append(said);
  }
}
