// The data contract with the `report` crate (docs/report-bundle.md), as types. Nothing here is logic.

export type Unit = string;

export interface Run {
  name: string;
  /** What tells it from the others, where there is little room; absent in older reports. */
  short?: string;
  role: "baseline" | "other";
  host: string;
  kernel: string;
  cpus: number;
  cpu_model: string;
  memory_bytes: number;
  start: number;
  duration: number;
  interval: number;
  /** A shorter interval that held until so many seconds after the start; absent in older reports. */
  sprint?: { interval: number; until: number } | null;
  command: string[] | null;
  exit: { code?: number; signal?: number } | null;
  wall: number | null;
  work: { unit: string; total: number; per_second: number } | null;
  labels: Record<string, string>;
  window: { from: number; to: number; why: string };
  marks: { t: number; text: string }[];
  output: { stdout: string; stderr: string } | null;
  incomplete: string | null;
  strip: { t: number[]; busy: (number | null)[] };
}

export interface Verdict {
  headline: string;
  detail: string;
  level: "differs" | "same" | "single" | "unsure";
}

/** What stands against believing the comparison too readily. */
export interface Caution {
  what: string;
  /** The run that it is about; null for all. */
  run: number | null;
  text: string;
}

/** A state of threads, as the recorder declares it; of CPUs, without kind and colours. */
export interface State {
  id: string;
  title: string;
  help: string;
  metrics?: string[];
  /** No lost time, left out unless asked for. */
  quiet?: boolean;
  /** The state that pages of threads and stacks show it under; null: none. */
  ledger?: string | null;
  /** How it bears on the work; absent in older reports. */
  kind?: "on-cpu" | "stretch" | "wait" | "sleep" | "rest";
  /** What it is drawn in, on a light page and on a dark one; absent in older reports. */
  color?: [light: string, dark: string];
}

export interface Budget {
  title: string;
  unit: Unit;
  note: string | null;
  /** What was measured: the threads of a ledger, or the CPUs. */
  source?: "ledger" | "cpu";
  /** What a unit of work is, in the singular. */
  per?: string;
  states: State[];
  values: (number | null)[][];
  /** By state: its part of the lost time, or of all time for one recording alone; null where none was lost. */
  shares?: { share: number; low: number; high: number }[] | null;
  /** By run: elapsed seconds per unit of work. */
  elapsed?: (number | null)[];
  /** By run: units of work done, and in how many seconds. */
  done?: ([number, number] | null)[];
}

/** A cause that was found. */
export interface Finding {
  cause: string;
  title: string;
  /** Part of the lost time that it explains and no other finding does, with its 95 % interval. */
  share: number;
  low: number;
  high: number;
  subject: string;
  says: string;
  evidence: string[];
  advice: string[];
  check: string[];
  experiment: string[];
  references: string[];
  query: string;
  /** Where its time was, largest first. */
  states: { state: string; share: number }[];
  /** Pages of this report where more of it is seen. */
  pages: string[];
}

/** Why a recording is slower than another, or what limits one. */
export interface Explanation {
  /** The run that is explained, and the one that it is held against. */
  run: number;
  against: number | null;
  outcome: "slower" | "no slower" | "evenly slower" | "more time" | "alone";
  /** Which runs these are, where that has to be said. */
  which: string | null;
  findings: Finding[];
  unexplained: number;
  notes: { cause: string; text: string; pages: string[] }[];
  not_evaluated: { causes: string[]; needs: string }[];
}

export interface Difference {
  metric: string;
  labels: Record<string, string>;
  unit: Unit;
  title: string;
  run: number;
  baseline: number;
  other: number;
  change: number | null;
  low: number | null;
  high: number | null;
  difference: number;
  q: number;
  per: "second" | "operation";
  polarity: "better" | "worse" | "neutral";
  page: string;
  chart: string | null;
  median: (number | null)[];
  p99: (number | null)[];
  query: string;
  spark: (number | null)[][];
}

export interface FactDifference {
  fact: string;
  category: string;
  baseline: string | null;
  others: (string | null)[];
  known: boolean;
  why: string | null;
}

export interface Missing {
  run: number;
  source: string;
  item: string;
  status: "absent" | "denied" | "not applicable" | "failed" | "estimated";
  why: string;
  remedy: string | null;
  matters: boolean;
}

export interface SeriesRef {
  run: number;
  /** As the kernel or the recording calls it. */
  name: string;
  /** In words; absent in older reports. */
  title?: string;
  labels: Record<string, string>;
  data: number;
}

export interface Chart {
  id: string;
  title: string;
  /** The metric by its name in the recording, where the title is in words; absent in older reports. */
  kernel?: string | null;
  help: string;
  read: string;
  kind: "line" | "stack" | "heat";
  unit: Unit;
  max: number | null;
  query: string;
  note: string | null;
  series: SeriesRef[];
}

export interface Column {
  id: string;
  title: string;
  unit: Unit;
  help: string;
  text: boolean;
  /** Part of what rows of several runs are matched by; where no column says so, all text columns are. */
  key?: boolean;
}

export interface Row {
  run: number;
  text: Record<string, string>;
  data: Record<string, number>;
}

export interface Table {
  id: string;
  title: string;
  help: string;
  kind: "window";
  query: string;
  columns: Column[];
  rows: Row[];
}

/** How a value of an events table follows from the rows of the window. */
export type How =
  | { rate: string }
  | { share: string }
  | { mean: [string, string] }
  | { max: string }
  | { quantile: number; buckets: [column: string, from: number, to: number][] };

/** A table whose rows are added up over the window, from a block of columns. */
export interface EventsTable {
  id: string;
  title: string;
  help: string;
  kind: "events";
  query: string;
  block: string;
  table: string;
  /** Rows of the block's table that are its own: those with one of these texts. */
  only?: { column: string; texts: string[] };
  keys: { id: string; title: string; help: string; key: boolean }[];
  values: { id: string; title: string; unit: Unit; help: string; how: How }[];
  /** What a row opens to: stacks by their share of the first value. */
  stacks: { column: string; title: string }[];
}

/** What a stack can be weighed by: a column of a table of the block `profile`. */
export interface Measure {
  id: string;
  title: string;
  help: string;
  table: string;
  weight: string;
  unit: Unit;
  /** Whether it divides the time of the ledger: that on a CPU, or with `state` that in its states. */
  ledger: boolean;
  /** The text column that is a level above the stacks. */
  state: string | null;
  /** Whose stack it is, in words. */
  who: string;
  other: string | null;
  other_title: string | null;
}

/** A stretch in which one thread ran and no other could, after more did; in seconds of its run. */
export interface Serial {
  from: number;
  to: number;
  /** Whose samples most of it were, and the code; null without samples. */
  process: string | null;
  thread: string | null;
  function: string | null;
}

/** How the threads of a run take turns. */
export interface Turns {
  /** Over the whole recording, in order. */
  serial: Serial[];
  /** A regular swing of the number of running threads, over the compared window: its period in seconds, and threads from trough to crest. */
  sawtooth: { period: number; swing: number; share: number; p: number } | null;
}

export interface ProfileSpec {
  block: string;
  /** What weights are divided by, and how many of those there were in a second of each run. */
  per: { what: "operation" | "run" | "second"; rate: number[] };
  states: State[];
  measures: Measure[];
  tables: string[];
  /** By run; null where it was not recorded. */
  turns: (Turns | null)[];
  notes: string[][];
}

export interface PageSpec {
  id: string;
  title: string;
  block: string;
  differences: number;
  /** What is drawn above the charts from the block `profile`. */
  view?: "time-budget" | "profiles" | null;
  charts: Chart[];
  tables: (Table | EventsTable)[];
}

export interface Head {
  format: number;
  tool: { name: string; version: string };
  generated: number;
  runs: Run[];
  verdict: Verdict;
  /** Null where nothing could be explained; `not_explained` says why. */
  explanation?: Explanation | null;
  not_explained?: string | null;
  /** What the comparison of metrics says. */
  comparison?: { headline: string; detail: string } | null;
  cautions: Caution[];
  budget: Budget | null;
  differences: Difference[];
  compared: number;
  facts: FactDifference[];
  set_up: { block: string } | null;
  missing: Missing[];
  profile?: ProfileSpec | null;
  pages: PageSpec[];
}

export interface LevelIndex {
  time: number;
  n: number;
  offset: number;
  coding: "f32" | "u8";
  scale?: number | null;
  min: number | null;
  max: number | null;
}

export interface BlockIndex {
  times: { n: number; offset: number; widths?: number | null }[];
  series: { levels: LevelIndex[] }[];
}

export interface SetUp {
  /** `why`: why the fact matters, where that is known. */
  facts: { fact: string; category: string; values: (string | null)[]; why?: string | null }[];
}
