// Decodes a block of columns (docs/report-bundle.md, "Block of columns"): tables of whole numbers that the page adds up over its window.
// Every offset and length is checked before it is used, as in the blocks of pages.
import { BlockError, indexOf } from "./container";
import type { ColumnIndex, ColumnsIndex } from "./types";

/** One table of a block. Columns are unpacked when first asked for. */
export class ColumnTable {
  private readonly raws = new Map<string, Uint32Array>();
  private readonly amounts = new Map<string, Float64Array>();

  constructor(readonly name: string, readonly rows: number, private readonly index: Record<string, ColumnIndex>, private readonly data: Uint8Array, private readonly strings: string[]) {}

  has(column: string): boolean {
    return Object.hasOwn(this.index, column);
  }

  /** The whole numbers of a column; all 0 where the table has no such column. */
  raw(column: string): Uint32Array {
    const known = this.raws.get(column);
    if (known) return known;
    const out = new Uint32Array(this.rows);
    const spec = this.has(column) ? this.index[column] : undefined;
    if (spec) {
      const { offset } = spec;
      const n = this.rows;
      if (!Number.isInteger(offset) || offset < 0 || offset + n * 4 > this.data.length) {
        throw new BlockError(`column ${column} of table ${this.name} lies outside the block`);
      }
      let last = 0;
      for (let i = 0; i < n; i++) {
        const at = offset + i;
        const cell = ((this.data[at] as number) | ((this.data[at + n] as number) << 8) | ((this.data[at + 2 * n] as number) << 16) | ((this.data[at + 3 * n] as number) << 24)) >>> 0;
        last = spec.delta ? (last + cell) >>> 0 : cell;
        out[i] = last;
      }
    }
    this.raws.set(column, out);
    return out;
  }

  /** The numbers of a column in base units: seconds, counts. */
  numbers(column: string): Float64Array {
    const known = this.amounts.get(column);
    if (known) return known;
    const raw = this.raw(column);
    const scale = this.index[column]?.scale ?? 1;
    const out = Float64Array.from(raw, (v) => v * scale);
    this.amounts.set(column, out);
    return out;
  }

  /** The text of a column in a row, "" for none. */
  text(column: string, row: number): string {
    return this.word(this.raw(column)[row] ?? 0);
  }

  /** The text that a number of a text column stands for. */
  word(number: number): string {
    return number === 0 ? "" : (this.strings[number - 1] ?? "");
  }

  /** What one of a column is worth. */
  scale(column: string): number {
    return this.index[column]?.scale ?? 1;
  }
}

/** A block of columns. */
export class Columns {
  readonly strings: string[];
  private readonly tables = new Map<string, ColumnTable>();

  constructor(bytes: Uint8Array) {
    const { index, end } = indexOf(bytes, "TWC1");
    const { strings, tables } = (index ?? {}) as Partial<ColumnsIndex>;
    if (!Array.isArray(strings) || !tables || typeof tables !== "object") throw new BlockError("its index has no strings or no tables");
    this.strings = strings.map(String);
    const data = bytes.subarray(end);
    for (const [name, spec] of Object.entries(tables)) {
      if (!Number.isInteger(spec.rows) || spec.rows < 0 || spec.rows * 4 > data.length) throw new BlockError(`table ${name} has more rows than the block`);
      this.tables.set(name, new ColumnTable(name, spec.rows, spec.columns ?? {}, data, this.strings));
    }
  }

  /** A table; one without rows where the block has none of this name. */
  table(name: string): ColumnTable {
    return this.tables.get(name) ?? new ColumnTable(name, 0, {}, new Uint8Array(), this.strings);
  }
}
