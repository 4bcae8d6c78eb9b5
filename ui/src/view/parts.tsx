// Small parts that several views use: names of recordings, copy buttons, folded help, errors, and hooks for size and visibility.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "preact/hooks";
import { picture } from "../picture";
import { isDashed, lineColor, runColor } from "../model/color";
import { printing, report } from "../state";

/** A recording's name with its colour. */
export function RunName({ run, baseline = false }: { run: number; baseline?: boolean }) {
  const r = report().runs[run];
  return (
    <span class="run-name">
      <span class="run-dot" style={{ background: runColor(run) }} aria-hidden="true" />
      <span class="run-text" title={r?.name}>{nameOf(run)}</span>
      {baseline && report().runs.length > 1 && r?.role === "baseline" && <span class="quiet"> baseline</span>}
    </span>
  );
}

/** The colour of the nth line of a chart, for its legend. */
export function Swatch({ n, name }: { n: number; name: string }) {
  const color = lineColor(n, name);
  return <span class="swatch" style={isDashed(n) ? { boxShadow: `inset 0 0 0 2.5px ${color}` } : { background: color }} aria-hidden="true" />;
}

/** Text in which `names` stand between backticks. */
export function Words({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

/** What a recording is called beside the others: by what its name has that theirs have not. */
export function nameOf(run: number): string {
  const r = report().runs[run];
  return r?.short ?? `run ${run}`;
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Some browsers give files no clipboard; a selected text area still works there.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A button that copies a text and says so. */
export function CopyButton({ text, label, title }: { text: () => string; label: string; title?: string }) {
  const [said, say] = useState("");
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <button
      type="button"
      class="plain"
      title={title}
      onClick={() => {
        void copy(text()).then((done) => {
          say(done ? "Copied" : "Not copied: the browser refuses");
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => say(""), 2000);
        });
      }}
    >
      <span aria-live="polite">{said || label}</span>
    </button>
  );
}

/** The query behind something, with a button to copy it. */
export function Query({ sql }: { sql: string }) {
  return (
    <div class="query">
      <pre>
        {/* The query can be wider than the page and is then scrolled, also by keyboard. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <code tabIndex={0}>{sql}</code>
      </pre>
      <CopyButton text={() => sql} label="Copy query" />
    </div>
  );
}

/** Something went wrong, in words. */
export function Trouble({ children }: { children: ComponentChildren }) {
  return (
    <p class="trouble" role="alert">
      {children}
    </p>
  );
}

/** Keeps the failure of one part from taking the page with it. */
export function Guard({ what, children }: { what: string; children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary();
  if (error !== undefined && error !== null) {
    return (
      <Trouble>
        {what} cannot be drawn: {error instanceof Error ? error.message : String(error)}{" "}
        <button type="button" class="plain" onClick={reset}>
          Try again
        </button>
      </Trouble>
    );
  }
  return <>{children}</>;
}

/** True while the element is near the part of the page in view, and while the page is printed or made a picture. */
export function useVisible(ref: RefObject<HTMLElement | null>): boolean {
  const [visible, set] = useState(false);
  useEffect(() => {
    if (!ref.current) return undefined;
    const observer = new IntersectionObserver((entries) => set(entries.some((e) => e.isIntersecting)), {
      rootMargin: "300px 0px",
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return visible || printing.value || picture !== null;
}

/** The width of an element in CSS pixels, 0 until it is known. */
export function useWidth(ref: RefObject<HTMLElement | null>): number {
  const [width, set] = useState(0);
  // Before the first frame is drawn: a browser that takes a picture may draw no second one.
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const { paddingLeft, paddingRight } = getComputedStyle(element);
    set(Math.max(0, Math.floor(element.clientWidth - (Number.parseFloat(paddingLeft) || 0) - (Number.parseFloat(paddingRight) || 0))));
    const observer = new ResizeObserver((entries) => set(Math.floor(entries[0]?.contentRect.width ?? 0)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** A promise as a state: undefined while it is under way. */
export function useLoaded<T>(load: () => Promise<T>, key: string): { value?: T; error?: string } {
  const [state, set] = useState<{ key: string; value?: T; error?: string }>({ key });
  useEffect(() => {
    let current = true;
    load().then(
      (value) => current && set({ key, value }),
      (e: unknown) => current && set({ key, error: e instanceof Error ? e.message : String(e) }),
    );
    return () => {
      current = false;
    };
  }, [key]);
  return state.key === key ? state : {};
}
