// Small parts of the page of a fleet: names of hosts that choose them, colours of bands, a canvas that is as sharp as the screen.
import type { Ref } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { runColor, theme } from "../../model/color";
import { type FleetView, metricParts, nameInLine } from "../../model/fleet";
import { chosen, toggle } from "./choice";

/** The colour of a band; those of no band are grey. */
export function bandColor(band: number): string {
  return band < 0 ? (theme() === "light" ? "#6b7783" : "#98a4b0") : runColor(band);
}

/** The mark of a band, for legends and names. */
export function BandMark({ band, undecided = false, stray = false }: { band: number; undecided?: boolean; stray?: boolean }) {
  const color = bandColor(band);
  const look = stray ? { background: "var(--ink)", transform: "rotate(45deg) scale(0.85)" } : undecided ? { border: `2px solid ${color}`, borderRadius: "50%" } : { background: color };
  return <span class="swatch" style={look} aria-hidden="true" />;
}

/** A host by its name: a click chooses it. */
export function HostName({ view, host }: { view: FleetView; host: number }) {
  const name = nameInLine(view.group.answer.recordings[host]?.name ?? "");
  return (
    <button type="button" class="line-name" aria-pressed={chosen.value === host} title={`Mark ${name} everywhere`} onClick={(e) => { e.stopPropagation(); toggle(host); }}>
      <BandMark band={view.band[host] ?? -1} undecided={view.standing[host] === "undecided"} stray={view.standing[host] === "stray"} />
      <span class="ellipsis">{name}</span>
    </button>
  );
}

/** A metric's name, with what it is of beside it. */
export function MetricName({ metric, help = "" }: { metric: string; help?: string }) {
  const { name, labels, per, variation } = metricParts(metric);
  const also = [labels, per].filter(Boolean).join(" · ");
  return (
    <span class="metric-name">
      <span>{variation && <span class="quiet">variation of </span>}<b>{nameInLine(name)}</b>{also && <span class="quiet"> {nameInLine(also)}</span>}</span>
      {help && <span class="quiet small metric-help" title={help}>{help}</span>}
    </span>
  );
}

/** A canvas of a size in CSS pixels, drawn again where what it follows from changes. */
export function useCanvas(width: number, height: number, draw: (g: CanvasRenderingContext2D, dpr: number) => void, of: readonly unknown[]): Ref<HTMLCanvasElement> {
  const canvas = useRef<HTMLCanvasElement>(null);
  // In the same frame as the rest of the page: a browser that takes a picture may draw no second one.
  useLayoutEffect(() => {
    const c = canvas.current;
    if (!c || width < 10 || height < 1) return;
    const dpr = devicePixelRatio || 1;
    c.width = Math.round(width * dpr);
    c.height = Math.round(height * dpr);
    const g = c.getContext("2d") as CanvasRenderingContext2D;
    g.scale(dpr, dpr);
    draw(g, dpr);
  }, [width, height, theme(), ...of]);
  return canvas;
}
