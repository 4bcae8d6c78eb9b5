// Decodes the block of a page (docs/report-bundle.md, "Block of a page"): times and series at several resolutions.
// Every offset and length is checked before it is used, so that a damaged block gives an error and never a wrong chart.
import { BlockError, indexOf } from "./container";
import type { BlockIndex, LevelIndex } from "./types";

/** One resolution of a series. NaN stands for "not measured". */
export interface Level {
  /** Seconds since the start of the recording, ascending: the middle of each interval. */
  t: Float64Array;
  /** The mean of each interval, in the unit of the chart. */
  v: Float32Array;
  /** The least value in each interval; the same array as `v` where the level is exact. */
  min: Float32Array;
  /** The greatest value in each interval; the same array as `v` where the level is exact. */
  max: Float32Array;
  /** Length of each interval in seconds, or null where all are equally long. */
  widths: Float64Array | null;
}

/** The decoded block of one page. Series are unpacked when first asked for. */
export class Block {
  private readonly index: BlockIndex;
  private readonly data: Uint8Array;
  private readonly times = new Map<number, Float64Array>();
  private readonly levels = new Map<string, Level>();

  constructor(bytes: Uint8Array) {
    const { index, end } = indexOf(bytes, "TWB1");
    const { times, series } = (index ?? {}) as Partial<BlockIndex>;
    if (!Array.isArray(times) || !Array.isArray(series)) throw new BlockError("its index has no times or no series");
    this.index = { times, series };
    const start = Math.ceil(end / 8) * 8;
    // A copy, so that the data section is aligned for Float64Array.
    this.data = bytes.slice(Math.min(start, bytes.length));
  }

  /** How many series the block holds. */
  get count(): number {
    return this.index.series.length;
  }

  /** How many resolutions a series has, coarse to fine. */
  depth(series: number): number {
    return this.entry(series).length;
  }

  /** Number of points of a resolution, without unpacking it. */
  points(series: number, level: number): number {
    return this.spec(series, level).n;
  }

  /** First and last time of a resolution, or null where it is empty. */
  span(series: number, level: number): [number, number] | null {
    const t = this.time(this.spec(series, level).time);
    const first = t[0];
    const last = t[t.length - 1];
    return first === undefined || last === undefined ? null : [first, last];
  }

  /** Unpacks one resolution of a series. */
  level(series: number, level: number): Level {
    const key = `${series}.${level}`;
    const known = this.levels.get(key);
    if (known) return known;
    const spec = this.spec(series, level);
    const t = this.time(spec.time);
    if (t.length !== spec.n) throw new BlockError(`series ${series} has ${spec.n} values for ${t.length} times`);
    const v = this.values(series, spec, spec.offset);
    const min = spec.min === null || spec.min === undefined ? v : this.values(series, spec, spec.min);
    const max = spec.max === null || spec.max === undefined ? v : this.values(series, spec, spec.max);
    const widths = this.widths(spec.time);
    const made = { t, v, min, max, widths };
    this.levels.set(key, made);
    return made;
  }

  /** The finest resolution of a series: the one statistics are computed from. */
  finest(series: number): Level {
    return this.level(series, this.depth(series) - 1);
  }

  private entry(series: number): LevelIndex[] {
    const levels = this.index.series[series]?.levels;
    if (!Array.isArray(levels) || levels.length === 0) throw new BlockError(`it has no series ${series}`);
    return levels;
  }

  private spec(series: number, level: number): LevelIndex {
    const spec = this.entry(series)[level];
    if (!spec) throw new BlockError(`series ${series} has no level ${level}`);
    return spec;
  }

  private time(index: number): Float64Array {
    const known = this.times.get(index);
    if (known) return known;
    const spec = this.index.times[index];
    if (!spec) throw new BlockError(`it has no time axis ${index}`);
    const t = this.floats(`time axis ${index}`, spec.offset, spec.n);
    for (let i = 1; i < t.length; i++) {
      if (!((t[i] as number) >= (t[i - 1] as number))) throw new BlockError(`time axis ${index} is not ascending`);
    }
    this.times.set(index, t);
    return t;
  }

  private widths(index: number): Float64Array | null {
    const spec = this.index.times[index];
    if (!spec || spec.widths === null || spec.widths === undefined) return null;
    return this.floats(`widths of time axis ${index}`, spec.widths, spec.n);
  }

  private floats(what: string, offset: number, n: number): Float64Array {
    this.check(what, offset, n, 8);
    return new Float64Array(this.data.buffer, this.data.byteOffset + offset, n);
  }

  private check(what: string, offset: number, n: number, size: number): void {
    const whole = Number.isInteger(offset) && Number.isInteger(n) && offset >= 0 && n >= 0 && offset % 8 === 0;
    if (!whole || offset + n * size > this.data.length) throw new BlockError(`${what} lies outside the block`);
  }

  private values(series: number, spec: LevelIndex, offset: number): Float32Array {
    const what = `series ${series}`;
    const { n } = spec;
    const out = new Float32Array(n);
    if (spec.coding === "u8") {
      this.check(what, offset, n, 1);
      const scale = spec.scale ?? 1;
      for (let i = 0; i < n; i++) {
        const byte = this.data[offset + i] as number;
        out[i] = byte === 255 ? Number.NaN : (byte / 254) * scale;
      }
    } else if (spec.coding === "f32") {
      this.check(what, offset, n, 4);
      const bytes = new Uint8Array(out.buffer);
      for (let plane = 0; plane < 4; plane++) {
        const from = offset + plane * n;
        for (let i = 0; i < n; i++) bytes[i * 4 + plane] = this.data[from + i] as number;
      }
    } else {
      throw new BlockError(`${what} has the unknown coding ${JSON.stringify(spec.coding)}`);
    }
    return out;
  }
}
