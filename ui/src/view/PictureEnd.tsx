// Where a picture of the page ends: a line in a colour of its own, drawn once all above it is. The program cuts the picture there, and one
// without the line was taken too early.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { picture } from "../picture";

/** `children`: what the picture says of itself, in its last line. */
export function PictureEnd({ children }: { children?: ComponentChildren }) {
  const [drawn, setDrawn] = useState(false);
  useEffect(() => {
    if (!picture) return undefined;
    let frame = 0;
    let timer = 0;
    // What is being unpacked says so; canvases are drawn in the frames after it.
    const look = () => {
      if (document.querySelector("main [role=status]")) timer = window.setTimeout(look, 50);
      else frame = requestAnimationFrame(() => (frame = requestAnimationFrame(() => (frame = requestAnimationFrame(() => setDrawn(true))))));
    };
    look();
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    };
  }, []);
  if (!picture) return null;
  return (
    <>
      {children && <footer class="picture-foot quiet small">{children}</footer>}
      {drawn && <div class="picture-end" aria-hidden="true" />}
    </>
  );
}
