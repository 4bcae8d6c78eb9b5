// The keys, in a dialog.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";

/** Whether the dialog is open. */
export const helpOpen = signal(false);

/** Every key and what it does. */
export const KEYS: readonly (readonly [string, string])[] = [
  ["drag", "on the time strip or a chart: choose the window that every chart, table and number is about"],
  ["Shift drag", "on the time strip: another stretch of that recording, to hold the window against"],
  ["+  −", "zoom in and out, about the pointer"],
  ["←  →", "move the window"],
  ["0", "back to all of the time (also a double click)"],
  ["o", "draw the recordings over each other, or side by side"],
  ["[  ]", "previous and next page"],
  ["/", "to the filter of the page"],
  ["t", "light or dark"],
  ["?", "this help"],
  ["Esc", "close, leave a field, or end the comparison of two stretches"],
];

export function Help({ keys = KEYS, children }: { keys?: readonly (readonly [string, string])[]; children?: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (helpOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [helpOpen.value]);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={() => (helpOpen.value = false)}>
      <div class="section-head">
        <h2 id="help-title">Keys</h2>
        <span class="spacer" />
        <button type="button" class="plain" onClick={() => (helpOpen.value = false)}>Close</button>
      </div>
      <dl>
        {keys.map(([key, does]) => (
          <div key={key}>
            <dt><kbd>{key}</kbd></dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        {children ?? <>
        The ends of the window on the time strip, and of the stretch it is held against, take the arrow keys (with Shift: larger steps); cells of a heat map do too, and in the one of samples Enter marks the start and the end of a window.
        In a flame graph arrow keys walk, Enter zooms, Escape goes back, and slash searches.
        The address in the browser holds page, window and filters: send it with the file, and a colleague sees the same.
        </>}
      </p>
    </dialog>
  );
}
