// The page of an experiment, what `twinscope report NAME.tune` writes.
import { render } from "preact";
import "./style/page.css";
import "./style/experiment-page.css";
import "./style/picture.css";
import { readExperiment } from "./model/experiment";
import { open } from "./open";
import { followParams, printing } from "./state";
import { ExperimentPage } from "./view/experiment/ExperimentPage";

open("experiment", "experiment", (data, root) => {
  const experiment = readExperiment(data);
  document.title = experiment.name;
  followParams();
  addEventListener("beforeprint", () => (printing.value = true));
  addEventListener("afterprint", () => (printing.value = false));
  root.replaceChildren();
  render(<ExperimentPage e={experiment} />, root);
});
