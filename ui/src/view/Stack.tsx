// One stack as text: the innermost frame first, long ones cut in the middle unless asked for.
import { useState } from "preact/hooks";
import { theme } from "../model/color";
import { kindFill } from "./flame/palette";
import { kindOf } from "./flame/tree";

const MOST = 12;

export function Stack({ frames, share }: { frames: { name: string; module: string; kind: string }[]; share: string }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? frames : frames.slice(0, MOST);
  return (
    <div class="stack-text">
      <p class="stack-share"><b>{share}</b></p>
      <ol>
        {shown.map((f, i) => (
          <li key={i}>
            <span class="swatch" style={{ background: kindFill(kindOf(f.kind), theme()) }} aria-hidden="true" />
            <code>{f.name}</code>
            {f.module && <span class="quiet small">{f.module}</span>}
          </li>
        ))}
      </ol>
      {frames.length > MOST && (
        <button type="button" class="plain small" onClick={() => setWhole(!whole)}>{whole ? "Less" : `${frames.length - MOST} more frames`}</button>
      )}
    </div>
  );
}
