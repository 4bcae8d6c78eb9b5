// Where a picture of the page ends: a line in a colour of its own, drawn once all above it is. The program cuts the picture there, and one
// without the line was taken too early.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { picture } from "../picture";

/** `children`: what the picture says of itself, in its last line. */
export function PictureEnd({ children }: { children?: ComponentChildren }) {
  const [drawn, setDrawn] = useState(false);
  // Where nothing is to be waited for, the line is there before the page is loaded: Firefox waits no longer.
  useLayoutEffect(() => {
    if (!picture) return undefined;
    let timer = 0;
    // What is being unpacked says so. By timers, not by frames: Chromium's clock for pictures waits for those only.
    const look = () => {
      if (document.querySelector("main [role=status]")) timer = window.setTimeout(look, 50);
      else setDrawn(true);
    };
    look();
    return () => clearTimeout(timer);
  }, []);
  if (!picture) return null;
  return (
    <>
      {children && <footer class="picture-foot quiet small">{children}</footer>}
      {drawn && <div class="picture-end" aria-hidden="true" />}
    </>
  );
}
