// Writes blocks and reports as docs/report-bundle.md says: the test's own reading of the contract, apart from the page's.
import { gzipSync } from "node:zlib";
import type { BlockIndex, ColumnsIndex, Head } from "../../src/bundle/types";

/** Values of one resolution; NaN or null is "not measured". */
export interface LevelSpec {
  time: number;
  values: (number | null)[];
  min?: (number | null)[];
  max?: (number | null)[];
  coding?: "f32" | "u8";
  scale?: number;
}

export interface TimeSpec {
  t: number[];
  widths?: number[];
}

const pad = (n: number) => Math.ceil(n / 8) * 8;

function f64(values: number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer);
}

function shuffled(values: (number | null)[]): Uint8Array {
  const bytes = new Uint8Array(Float32Array.from(values, (v) => v ?? Number.NaN).buffer);
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < values.length; i++) for (let p = 0; p < 4; p++) out[p * values.length + i] = bytes[i * 4 + p] as number;
  return out;
}

function bytesOf(values: (number | null)[], scale: number): Uint8Array {
  return Uint8Array.from(values, (v) => (v === null || Number.isNaN(v) ? 255 : Math.round((Math.min(v, scale) / scale) * 254)));
}

/** The bytes of a block, before gzip. */
export function encodeBlock(times: TimeSpec[], series: LevelSpec[][]): Uint8Array {
  const parts: Uint8Array[] = [];
  let offset = 0;
  const put = (bytes: Uint8Array) => {
    const at = offset;
    parts.push(bytes, new Uint8Array(pad(bytes.length) - bytes.length));
    offset += pad(bytes.length);
    return at;
  };
  const index: BlockIndex = {
    times: times.map((t) => ({ n: t.t.length, offset: put(f64(t.t)), widths: t.widths ? put(f64(t.widths)) : null })),
    series: series.map((levels) => ({
      levels: levels.map((l) => {
        const coding = l.coding ?? "f32";
        const code = (v: (number | null)[]) => put(coding === "u8" ? bytesOf(v, l.scale ?? 1) : shuffled(v));
        return {
          time: l.time,
          n: l.values.length,
          offset: code(l.values),
          coding,
          ...(coding === "u8" ? { scale: l.scale ?? 1 } : {}),
          min: l.min ? code(l.min) : null,
          max: l.max ? code(l.max) : null,
        };
      }),
    })),
  };
  const json = new TextEncoder().encode(JSON.stringify(index));
  const start = pad(8 + json.length);
  const out = new Uint8Array(start + offset);
  out.set(new TextEncoder().encode("TWB1"));
  new DataView(out.buffer).setUint32(4, json.length, true);
  out.set(json, 8);
  let at = start;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

/** A column of whole numbers or texts of a block of columns. */
export interface ColumnSpec {
  values: (number | string)[];
  scale?: number;
  delta?: boolean;
}

/** The bytes of a block of columns, before gzip: tables of columns by name. */
export function encodeColumns(tables: Record<string, Record<string, ColumnSpec>>): Uint8Array {
  const strings: string[] = [];
  const numbers = new Map<string, number>([["", 0]]);
  const number = (text: string) => {
    let n = numbers.get(text);
    if (n === undefined) {
      n = strings.push(text);
      numbers.set(text, n);
    }
    return n;
  };
  const parts: Uint8Array[] = [];
  let offset = 0;
  const index: ColumnsIndex["tables"] = Object.fromEntries(
    Object.entries(tables).map(([name, columns]) => {
      const rows = Object.values(columns)[0]?.values.length ?? 0;
      const specs = Object.fromEntries(
        Object.entries(columns).map(([column, spec]) => {
          const text = spec.values.some((v) => typeof v === "string");
          const cells = spec.values.map((v) => (typeof v === "string" ? number(v) : v));
          const stored = Uint32Array.from(cells, (v, i) => (spec.delta ? v - (i > 0 ? (cells[i - 1] as number) : 0) : v));
          const little = new Uint8Array(stored.buffer);
          const planes = new Uint8Array(rows * 4);
          for (let p = 0; p < 4; p++) for (let i = 0; i < rows; i++) planes[p * rows + i] = little[i * 4 + p] as number;
          const at = offset;
          parts.push(planes);
          offset += planes.length;
          return [column, { offset: at, scale: spec.scale ?? 1, text, delta: spec.delta ?? false }];
        }),
      );
      return [name, { rows, columns: specs }];
    }),
  );
  const json = new TextEncoder().encode(JSON.stringify({ strings, tables: index }));
  const out = new Uint8Array(8 + json.length + offset);
  out.set(new TextEncoder().encode("TWC1"));
  new DataView(out.buffer).setUint32(4, json.length, true);
  out.set(json, 8);
  let at = 8 + json.length;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

/** Blocks by id: bytes, JSON, or the text of the script as it is (for damaged ones). */
export type Blocks = Record<string, Uint8Array | object | string>;

/** The html file: the template with head and blocks at its marker. */
export function assemble(template: string, head: Head | object, blocks: Blocks): string {
  const json = JSON.stringify(head).replaceAll("<", "\\u003c");
  const scripts = [`<script type="application/json" id="twinscope-head">${json}</script>`];
  for (const [id, block] of Object.entries(blocks)) {
    const text =
      typeof block === "string"
        ? block
        : gzipSync(block instanceof Uint8Array ? block : Buffer.from(JSON.stringify(block)), { level: 6 }).toString("base64");
    scripts.push(`<script type="text/plain" id="block-${id}">${text}</script>`);
  }
  const parts = template.split("<!--TWINSCOPE-DATA-->");
  if (parts.length !== 2) throw new Error("the template has no single marker <!--TWINSCOPE-DATA-->");
  return parts.join(scripts.join("\n"));
}
