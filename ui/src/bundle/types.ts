// The report bundle as the page knows it: the types that the `report` crate writes it by, and names for parts of them.
// What a field means is said in generated.ts; nothing is declared twice.
import type { PageTable } from "./generated";

export type * from "./generated";

/** A table whose values are means of series over the window. */
export type Table = Extract<PageTable, { kind: "window" }>;

/** A table whose rows are added up over the window, from a block of columns. */
export type EventsTable = Extract<PageTable, { kind: "events" }>;
