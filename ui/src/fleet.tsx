// The page of a fleet, what `twinscope fleet report` writes.
import { render } from "preact";
import "./style/page.css";
import "./style/experiment-page.css";
import "./style/fleet-page.css";
import "./style/picture.css";
import { nameInLine, readFleet } from "./model/fleet";
import { open } from "./open";
import { followParams, printing } from "./state";
import { setFleet } from "./view/fleet/choice";
import { FleetPageView } from "./view/fleet/FleetPage";

open("fleet", "fleet", (data, root) => {
  const fleet = readFleet(data);
  document.title = `Fleet ${nameInLine(fleet.folder)}`;
  setFleet(fleet);
  followParams();
  addEventListener("beforeprint", () => (printing.value = true));
  addEventListener("afterprint", () => (printing.value = false));
  root.replaceChildren();
  render(<FleetPageView fleet={fleet} />, root);
});
