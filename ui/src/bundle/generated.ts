// The report bundle as types, what an experiment has come to, and what a fleet answers. Made by `make reference` from
// crates/report/src/bundle, crates/tune/src/result.rs and crates/fleet/src/result; do not edit.

/** The version of the contract that these types describe. */
export const FORMAT = 2;

/** The version of `FlameData`. */
export const FLAME_FORMAT = 1;

/** The version of `Experiment`. */
export const EXPERIMENT_FORMAT = 1;

/** The version of `FleetPage`. */
export const FLEET_FORMAT = 1;

/** Index of the block of a page. */
export type BlockIndex = {
  /** Time axes. */
  times: Array<TimeIndex>,
  /** Series, which charts and tables name by their place. */
  series: Array<SeriesIndex>,
};

/** A block of the file, by name. */
export type BlockRef = {
  /** The script with the identifier `block-…` holds it. */
  block: string,
};

/** A bucket of a histogram: the column that counts it, and the least and the greatest value, in base units. */
export type Bucket = [string, number, number];

/** The time of each run by state. */
export type Budget = {
  /** What is shown. */
  title: string,
  /** Unit of the values: `s/op`, `s` or `s/s`. */
  unit: Unit,
  /** What a reader must know of it. */
  note: string | null,
  /** What was measured. */
  source: BudgetSource,
  /** What a unit of work is, in the singular; absent for the CPUs. */
  per?: string,
  /** The states, in the order in which they are stacked. */
  states: Array<State>,
  /** By run and state: thread-seconds or CPU-seconds in `unit`; null where they were not measured. */
  values: Array<Array<number | null>>,
  /**
   * By state: its part of the lost time (of all time, for one run alone), below 0 where it fell; null where no time was lost, absent for
   * the CPUs.
   */
  shares?: Array<Share> | null,
  /** By run: elapsed seconds per unit of work; null where they are not known. Absent for the CPUs. */
  elapsed?: Array<number | null>,
  /** By run: units of work done, and in how many seconds. Absent for the CPUs. */
  done?: Array<[number, number] | null>,
};

/** What a budget was measured of. */
export type BudgetSource = "ledger" | "cpu";

/** A reason not to believe a comparison too readily. */
export type Caution = {
  /**
   * Its kind: `failed` (the command did), `once` (each side was recorded once), `steal`, `others` (other programs used the CPUs),
   * `recorder` (it used them), `frequency`, `ticks` (the kernel divides CPU time otherwise than the samples do), `ledger` (it was only sampled).
   */
  what: string,
  /** The run that it is about; null for all. */
  run: number | null,
  /** In a sentence. */
  text: string,
};

/** A variant and what it is held against. */
export type Change = {
  /** The variant's number. */
  variant: number,
  /** That of what it is held against. */
  against: number,
  /** How it ended. */
  verdict: ExperimentVerdict,
  /** The factor of the judged measure; null before the first look. */
  factor: number | null,
  /** Its interval, which leaves out the truth with the probability `level`; null where so few pairs have none. */
  interval: [number, number] | null,
  /** See `interval`. */
  level: number | null,
  /** By what the interval was made: `signed ranks`, `Student's t`, `wager`. */
  by: string,
  /** Blocks it was judged by. */
  blocks: number,
  /** Blocks that will probably decide it; null where it is decided, or cannot be told. */
  needs: number | null,
  /**
   * The other measures: factor and 95 % interval, in the order of `measures` without the first; null where unknown. They are
   * shown, and nothing is called by them.
   */
  others: Array<[number, [number, number]] | null>,
  /** Block by block: trial numbers and values of what it is held against and of the variant. */
  pairs: Array<Pair>,
  /** Why, by explained trials; empty where there are none. */
  why: Array<Why>,
  /** The file beside the page that has a trial of each side by side (`twinscope report --pairs`); null where none was made. */
  report: string | null,
};

/** A chart. One that is 0 at all times in all runs is collapsed to its title. */
export type Chart = {
  /** Its identifier. */
  id: string,
  /** What it shows, in a few words. */
  title: string,
  /** The metric by its name in the recording, where the title is what it counts, in words: a chart drawn because it differs. */
  kernel: string | null,
  /** What its lines are: `NAME: what it is`, parted by semicolons; of one line alone what it is. */
  help: string,
  /** How to read it. */
  read: string,
  /** How it is drawn. */
  kind: ChartKind,
  /** Unit of the values. */
  unit: Unit,
  /** A natural upper bound of the axis. */
  max: number | null,
  /** SQL that gives what it shows. */
  query: string,
  /** What a reader must know of it: what is left out. */
  note: string | null,
  /**
   * Its lines, in all runs. The order of first appearance is that of stacking and of the legend; the rows of a heat map are in natural
   * order (`cpu 2` before `cpu 10`).
   */
  series: Array<SeriesRef>,
};

/** How a chart is drawn. */
export type ChartKind = "line" | "stack" | "heat";

/** The code of one kind of a program. */
export type CodeGroup = {
  /** Name of the process. */
  comm: string,
  /** `file`, `jit` or `kernel`. */
  kind: string,
  /** Samples that lines, pages and regions are counted in: as many of each recording; null where one has too few. */
  drawn: number | null,
  /** By run; null where it did not run such code. */
  runs: Array<CodeOfRun | null>,
};

/** The block `code`. */
export type CodeMaps = {
  /** Kinds of code of programs, those with most samples first. */
  groups: Array<CodeGroup>,
  /** The question that gives these numbers of whole recordings. */
  query: string,
};

/** The code of one kind of a program in a run: of the process that has most samples in it. */
export type CodeOfRun = {
  /** The process. */
  pid: number,
  /** Samples in it. */
  samples: number,
  /** Lines of 64 bytes that a random part of `drawn` samples finds, on average; null where none are drawn. */
  lines: number | null,
  /** Pages of 4 KiB, likewise. */
  pages: number | null,
  /** Regions of 2 MiB, likewise. */
  regions: number | null,
  /** Lines there are at least, with those that no sample met. */
  lines_at_least: number,
  /** Pages there are at least. */
  pages_at_least: number,
  /** Pages that hold 90 % of the samples. */
  hot_pages: number,
  /** Share of the samples on huge pages; null where that was not told. */
  huge: number | null,
  /** Entries of the instruction TLB for pages of 4 KiB; null where they are not known. */
  itlb: number | null,
  /** Entries for pages of 2 MiB. */
  itlb_2m: number | null,
  /** Regions of 2 MiB that have samples, in the order of their addresses. */
  regions_drawn: Array<CodeRegion>,
  /** Regions that are left out, and samples in them: those with fewest. */
  left_out: [number, number],
};

/** An aligned region of 2 MiB: 512 pages. */
export type CodeRegion = {
  /** Path of the file, `[kernel]`; empty for code that a process made. */
  module: string,
  /** Its first byte: in the file, in the process, of the kernel after `_text`. */
  start: number,
  /** Pages with samples: the number of the page in it, from 0, and its samples. */
  pages: Array<[number, number]>,
};

/** How values are stored. */
export type Coding = "f32" | "u8";

/** A column of a table of series. */
export type Column = {
  /** Its identifier: the key in `text` or `data` of the rows. */
  id: string,
  /** Its heading. */
  title: string,
  /** Unit of its values; empty for texts. */
  unit: Unit,
  /** What it means. */
  help: string,
  /** Whether it holds texts. */
  text: boolean,
  /** Whether rows of several runs are matched by it; where no column says so, by all texts. Absent where that is no question. */
  key?: boolean,
};

/** A column: `rows` unsigned 32-bit numbers, byte planes shuffled. */
export type ColumnIndex = {
  /** Where they are. */
  offset: number,
  /** What one is worth, in base units: seconds, bytes, counts. */
  scale: number,
  /** Whether they number texts; 0 is no text. */
  text: boolean,
  /** Whether each is the difference from the one before, wrapping around. */
  delta: boolean,
};

/** Index of a block of columns. */
export type ColumnsIndex = {
  /** Texts, which text columns number from 1. */
  strings: Array<string>,
  /** Tables by name. One that is missing is empty. */
  tables: { [key in string]: TableIndex },
};

/** A combination of flags. */
export type Combination = {
  /** The flags that are on, joined by +, or `all off`. */
  name: string,
  /** The value of each flag: name and value. */
  set: Array<[string, string]>,
  /** The number of its variant; null where it was not run. */
  variant: number | null,
  /** The factor over all off. */
  factor: number | null,
  /** Its 95 % interval; null with fewer than two blocks, and for all off itself. */
  interval: [number, number] | null,
};

/** What the comparison of metrics says. */
export type Comparison = {
  /** In a sentence. */
  headline: string,
  /** One or two more. */
  detail: string,
};

/** Against the baseline. */
export type CounterChange = {
  /** Other − baseline. */
  difference: number,
  /** Its 95 % interval. */
  interval: [number, number],
  /** As a part of the baseline, with its interval; null where the baseline may be 0. */
  ratio: [number, number, number] | null,
  /** Whether the interval leaves out 0, and the difference is as large as matters. */
  differs: boolean,
};

/** Counters that were on at the same time. */
export type CounterGroup = {
  /** Its name. */
  group: string,
  /** Share of the time in which it had counters; null where that is not known. */
  share: number | null,
  /** What was counted. */
  events: string,
  /** What was not, and why; empty where nothing is missing. */
  absent: string,
};

/** A metric. */
export type CounterMetric = {
  /** Its name: `branch_mpki`. */
  name: string,
  /** Its unit; empty where the help says per what it is. */
  unit: Unit,
  /** What it says, and how to read it. */
  help: string,
  /** Whether more of it is better. */
  polarity: Polarity,
  /** Its difference is told as such, not as a ratio. */
  is_share: boolean,
  /** The least difference that matters. */
  floor: number,
  /** Why runs are not compared by it; null where they are. */
  not_comparable: string | null,
  /** By run; null where it was not counted. */
  values: Array<CounterValue | null>,
};

/** What a metric was in one run. */
export type CounterValue = {
  /** Its mean over the window: the ratio of the sums. */
  mean: number,
  /** The group of counters that it is from. */
  group: string,
  /** Over the recording, in stretches of equal length; null where it was not counted. */
  spark: Array<number | null>,
  /** Against the baseline; null of the baseline, and where they cannot be compared. */
  change: CounterChange | null,
};

/** What was counted. */
export type Counters = {
  /** By run: what is known of its counters. */
  runs: Array<CountersOfRun>,
  /** Whether the CPUs of all runs are of one kind, so that all metrics can be compared. */
  alike: boolean,
  /** The metrics, in the order of the groups. */
  metrics: Array<CounterMetric>,
  /** Cycles per instruction of functions; null where there is nothing to say of them. */
  functions: FunctionsCycles | null,
};

/** What is known of the counters of a run. */
export type CountersOfRun = {
  /** The kind of its CPUs: the microarchitecture, else what they call themselves; null where neither is known. */
  kind: string | null,
  /** Why there are none, and what would give them; null where there are. */
  missing: NoCode | null,
  /** What slots for operations were used for; null where that was not counted. */
  topdown: TopDown | null,
  /** The groups of counters. */
  groups: Array<CounterGroup>,
};

/** What a session asks. */
export type DesignKind = "ab" | "ladder" | "sweep" | "factorial" | "optimise" | "search";

/** A metric that differs from the baseline in one of the other runs. */
export type Difference = {
  /** Its full name, such as `cpu.busy`. */
  metric: string,
  /** What it is of, as far as that is told apart, such as `device: vda`. */
  labels: { [key in string]: string },
  /** Unit of the values. */
  unit: Unit,
  /** What it is, in a few words. */
  title: string,
  /** The run that differs. */
  run: number,
  /** Mean of the baseline over its window. */
  baseline: number,
  /** Mean of the other run over its window. */
  other: number,
  /** Change as a fraction of the baseline; null where that is 0. */
  change: number | null,
  /** Lower end of the 95 % interval of the change; null where it has no bound. */
  low: number | null,
  /** Upper end of it. */
  high: number | null,
  /** The other's value less the baseline's, in `unit`. */
  difference: number,
  /** False discovery rate: the part of false ones to expect among all that are at least as clear. */
  q: number,
  /** What the values are per. */
  per: DifferencePer,
  /** Whether more of it is better. */
  polarity: Polarity,
  /** The page whose charts or tables show it; null where none does. */
  page: string | null,
  /** The chart that shows it. */
  chart: string | null,
  /** Medians: of the baseline, of this run. */
  median: [number | null, number | null],
  /** 99th percentiles: of the baseline, of this run. */
  p99: [number | null, number | null],
  /** SQL that gives both means. */
  query: string,
  /** Values over the window, of the baseline and of this run: at most 60 points each, null where nothing was measured. */
  spark: [Array<number | null>, Array<number | null>],
};

/** What values of a difference are per. */
export type DifferencePer = "second" | "operation";

/** A text column of a table of events. */
export type EventKey = {
  /** The column of the block. */
  id: string,
  /** Its heading. */
  title: string,
  /** What it means. */
  help: string,
  /** Whether it tells lines apart and matches them over the runs; of the others the texts that are found are listed. */
  key: boolean,
};

/** A table whose rows are added up over the window, from a block of columns. */
export type EventTable = {
  /** Its identifier. */
  id: string,
  /** What it is called. */
  title: string,
  /** What its rows are, and what is left out. */
  help: string,
  /** SQL that gives it. */
  query: string,
  /** The block. */
  block: string,
  /** The table of the block. */
  table: string,
  /** Which rows of that table are its own, where others are made of the same; absent for all. */
  only?: Only,
  /** Text columns that tell its lines apart. */
  keys: Array<EventKey>,
  /** Its values. */
  values: Array<EventValue>,
  /** What a line opens to: stacks by their share of the first value. */
  stacks: Array<StackColumn>,
};

/** A value of a table of events. */
export type EventValue = {
  /** Its identifier. */
  id: string,
  /** Its heading. */
  title: string,
  /** Its unit. */
  unit: Unit,
  /** What it means. */
  help: string,
  /** How it is computed. */
  how: How,
};

/** How a command ended. */
export type Exit = { "code": number } | { "signal": number };

/** A session. */
export type Experiment = {
  /** The version of the contract. */
  format: number,
  /** Its name. */
  name: string,
  /** What it asks. */
  design: DesignKind,
  /** When it began, Unix seconds; null before its first trial. */
  began: number | null,
  /** Where: host name, kernel, CPUs. */
  host: string,
  /** The command as the file has it, parameters in braces. */
  command: string,
  /** Whether all is done that was planned. */
  finished: boolean,
  /** What came out, in one or a few sentences. */
  verdict: string,
  /** What a trial measures; the first is judged. */
  measures: Array<MeasureHead>,
  /** The least change that matters, as a share. */
  effect: number,
  /** Whether both trials of a block run at the same time, each with a CPU for itself, and swap these at random. */
  together: boolean,
  /** The most blocks of a comparison (of a sweep and a factorial: all). */
  blocks: number,
  /** The variants by number; the first is the baseline. */
  variants: Array<Variant>,
  /** Comparisons: of `ab` each variant with the baseline; of a ladder the climbing. */
  changes: Array<Change>,
  /** Of a ladder: its steps in order; else empty. */
  rungs: Array<Rung>,
  /** Of a sweep: its points; else null. */
  sweep: Sweep | null,
  /** Of a factorial: its effects; else null. */
  factorial: Factorial | null,
  /** Of a search for the best values: what there is beside `changes`; else null. */
  optimum: Optimum | null,
  /** Of a search: the rates that were found; else null. The factors of its changes are of rates. */
  search: Search | null,
  /** All trials in the order in which they ran. */
  trials: Array<Trial>,
  /** What a reader should know before he believes it. */
  cautions: Array<string>,
  /** What to do next: words and a command. */
  next: Array<Next>,
};

/** How a comparison ended or stands. */
export type ExperimentVerdict = "better" | "worse" | "same" | "not_decided" | "open";

/** Why a run is slower than another, or what limits one. */
export type Explanation = {
  /** The run that is explained. */
  run: number,
  /** The run that it is held against; null for one run alone. */
  against: number | null,
  /** How the two compare. */
  outcome: Outcome,
  /** Which runs these are, where that has to be said: the baseline is the slower one, or there are several. */
  which: string | null,
  /** The causes that were found, largest first. */
  findings: Array<Finding>,
  /** Part of the lost time that no finding explains. */
  unexplained: number,
  /** What is worth knowing besides, without a cost that could be measured. */
  notes: Array<Note>,
  /** Causes that could not be looked for. */
  not_evaluated: Array<NotEvaluated>,
};

/** A property of the hosts. */
export type Fact = {
  /** Its full name, such as `kernel.release`. */
  fact: string,
  /** Its group. */
  category: string,
  /** Its value by run; null where it was not read. */
  values: Array<string | null>,
  /** Why it matters for performance, where that is known. */
  why: string | null,
};

/** A property of the hosts that is not the same in all runs. */
export type FactDifference = {
  /** Its full name, such as `kernel.release`. */
  fact: string,
  /** Its group: kernel, cpu, sysctl … */
  category: string,
  /** Its value in the baseline; null where it was not read. */
  baseline: string | null,
  /** Its values in the other runs, in their order. */
  others: Array<string | null>,
  /** Whether it is known to matter for performance. */
  known: boolean,
  /** Why it matters, where that is known. */
  why: string | null,
};

/** A factorial. Numbers of flags count from 0. */
export type Factorial = {
  /** The flags. */
  flags: Array<Flag>,
  /** `V` or `IV` where only a fraction of the combinations is run; null where all are. */
  resolution: string | null,
  /** What follows from that: which flags are set by which, and what cannot be told apart; empty where all are run. */
  aliased: string,
  /** Complete blocks: effects come from these alone. */
  blocks: number,
  /** What each flag and pair does, the greatest first. */
  effects: Array<FlagEffect>,
  /** The best combination as the effects predict it; null where none is told from nothing. */
  predicted: Combination | null,
  /** The best of those that were run, as measured; null before the first complete block. */
  measured: Combination | null,
};

/** A cause that was found. */
export type Finding = {
  /** Identifier of the cause. */
  cause: string,
  /** Its title. */
  title: string,
  /** Part of the lost time that it explains and no other finding does; of one run alone, of the time of its threads. */
  share: number,
  /** Lower end of the 95 % interval of the share. */
  low: number,
  /** Upper end of it. */
  high: number,
  /** What it is about: a lock, a function … */
  subject: string,
  /** What happens, in a sentence. */
  says: string,
  /** What shows it, line by line. */
  evidence: Array<string>,
  /** What to do about it, line by line. */
  advice: Array<string>,
  /** How to see it by hand, line by line. */
  check: Array<string>,
  /** What an experiment would vary, line by line. */
  experiment: Array<string>,
  /** References, line by line. */
  references: Array<string>,
  /** The question, in SQL, whose answer it is. */
  query: string,
  /** Where its time was, largest first. */
  states: Array<StateShare>,
  /** Pages of this report where more of it is seen, or `set-up`. */
  pages: Array<string>,
  /** Of the page of instructions, the function that it is about: its place in `Listings`; null where it is about none of those. */
  function: number | null,
};

/** A parameter with two values. */
export type Flag = {
  /** Its name. */
  name: string,
  /** Its first value, the usual one. */
  off: string,
  /** The other. */
  on: string,
};

/** What a flag or a pair does. */
export type FlagEffect = {
  /**
   * The flag, or the two of a pair. Several of them share a contrast: the effect is of all of them together, and whose it is
   * cannot be told.
   */
  of: Array<Array<number>>,
  /** The same in words: `gc`, `gc × thp`, `gc × thp or log × pool`. */
  name: string,
  /**
   * Of a flag: on ÷ off, as the geometric mean over all settings of the others. Of a pair: what both together do ÷ the
   * product of what each does alone. Null before the first complete block.
   */
  factor: number | null,
  /** Its 95 % interval, by Student's t of the blocks; null with fewer than two. */
  interval: [number, number] | null,
  /** The probability of a factor that is this far off where there is no effect, adjusted for the number of effects (Holm). */
  p: number | null,
  /** Whether it is told from nothing; where all flags do nothing, any is in 5 % of sessions at most. */
  told: boolean,
  /** The factor of each complete block, in their order. */
  blocks: Array<number>,
};

/** A flame graph with its title. */
export type FlameData = {
  /** Version of these data. */
  format: number,
  /** What is shown, in a line. */
  title: string,
  /** Sentences under the title: windows, filters, what is missing. */
  notes: Array<string>,
  /** Unit of the weights. */
  unit: Unit,
  /** Whether it opens with callers below the functions. */
  reverse: boolean,
  /** The runs; with two, the graph shows how the second differs from the first. */
  runs: Array<FlameRun>,
  /** What nodes are of. */
  frames: FlameFrames,
  /** By node, how far before it its parent lies; 0 for the root. */
  up: Array<number>,
  /** By node, its place in the frames. */
  frame: Array<number>,
  /** By run and node, the node's own weight, to seven digits. */
  self: Array<Array<number>>,
};

/** Functions, column by column. */
export type FlameFrames = {
  /** Names; code without a known function is named after its module, in brackets. */
  name: Array<string>,
  /** Paths of the files that hold the code. */
  module: Array<string>,
  /** Source files with lines; empty where they are not known. */
  source: Array<string>,
  /** Kinds: native, inlined, kernel, java … */
  kind: Array<string>,
};

/** A run of a flame graph. */
export type FlameRun = {
  /** Its name. */
  name: string,
};

/** What switches lie close to. */
export type FleetAround = {
  /** To what: `mark`, `start` of the process, `boot`, or `time`: all at the same. */
  what: string,
  /** The text of the mark; else null. */
  mark: string | null,
  /** Switches that lie there, of how many in recordings that have it. */
  switches: [number, number],
  /** How long after it they lie, from the first to the last, ns; of `time`: when, ns since 1970 UTC. */
  after: [number, number],
  /** p-value of "they lie anywhere in their recordings", adjusted for all that was looked at. */
  p: number,
};

/** A metric that was asked for bands. */
export type FleetAsked = {
  /** Its name, with its labels and what it is per. */
  metric: string,
  /** Its unit. */
  unit: string,
  /** What it says, in a sentence; empty where that is not known. */
  help: string,
  /** `more`, `less`, or empty where neither is better. */
  better: string,
  /** The share of the variance between recordings that is theirs, and not that of their short lengths, 0 to 1. */
  spread: number,
  /** By recording, its mean; null where the recording lacks the metric. */
  values: Array<number | null>,
  /** By recording, the standard error of its mean; null where that is not known. */
  errors: Array<number | null>,
  /** How many bands there are; 1: none; null where it was not asked, since recordings differ by no more than their own errors. */
  bands: number | null,
  /** Whether logarithms were looked at. */
  logs: boolean,
  /** Recordings that lie far from all others by it. */
  strays: Array<FleetStray>,
  /** Without bands: which ones would have been found in four of five such fleets. */
  shown: Array<FleetShown>,
};

/** By how much a function's share could differ at most. */
export type FleetAtMost = {
  /** By how much, 0 to 1. */
  by: number,
  /** The function that leaves most open; null where it has no name. */
  function: string | null,
};

/** A band. */
export type FleetBand = {
  /** Recordings in it. */
  count: number,
  /** Recordings that are in any band. */
  of: number,
  /** The exact 95 % interval of its share. */
  share: FleetShare,
  /** The median of its values. */
  middle: number,
  /** Its least value. */
  low: number,
  /** Its greatest value. */
  high: number,
  /** The recordings nearest to its middle, those that may lie in another band left out: at most five. */
  nearest: Array<number>,
};

/** Bands, and what is known of them. */
export type FleetBanding = {
  /** In one sentence that stands alone; names of facts and metrics stand between backticks. */
  title: string,
  /** In sentences, with numbers. */
  says: Array<string>,
  /** Which simple shares that of the smaller of two bands leaves open, in sentences. */
  share_says: Array<string>,
  /** The place among `asked` of the metric that names it. */
  by: number,
  /** The metrics that divide so, that which names it first. */
  metrics: Array<string>,
  /** The unit of the first. */
  unit: string,
  /** p-value of "one band", adjusted for all that were asked. */
  p: number,
  /** The bands: best first where the metric has a direction, else the lowest first. */
  bands: Array<FleetBand>,
  /** Between the bands, ascending by value. */
  valleys: Array<FleetValley>,
  /** By recording, its band from 0 in the order of `bands`; null where it strays or lacks the metric. */
  of: Array<number | null>,
  /** Recordings that may lie in either of two bands. */
  undecided: Array<number>,
  /** Recordings that lie far from all others by the first metric. */
  strays: Array<FleetStray>,
  /** The share of the time that would be saved at the pace of the best band, 0 to 1; null where the pace is not known. */
  lost: number | null,
  /** Facts whose values divide the recordings as the bands do. */
  facts: Array<string>,
  /** The slow and the fast band, by the pace where that is known, else the last and the first. */
  slow_and_fast: [number, number],
  /** What separates the bands: of two the first from the second, of more each from all others. */
  separated: Array<FleetSeparated>,
  /** Since when. */
  since: FleetSince,
};

/** The courses of a metric: `columns` bytes for each recording. */
export type FleetCourse = {
  /** Where they begin in the block. */
  offset: number,
  /** Stretches of equal length for each recording, from its own start. */
  columns: number,
  /** The length of all of them, s; shorter recordings end before. */
  seconds: number,
  /** The value of byte 0, and of what is less. */
  low: number,
  /** The value of byte 254, and of what is more; 255 is not measured. */
  high: number,
  /** Whether bytes between are of the logarithm. */
  log: boolean,
};

/** A cut through a metric. */
export type FleetCut = {
  /** The metric. */
  metric: string,
  /** Where. */
  at: number,
  /** Whether the band lies above. */
  above: boolean,
};

/** How something differs between a band and the others. */
export type FleetDifference = {
  /** Median of the band. */
  band: number,
  /** Median of the others. */
  others: number,
  /** The probability that a recording of the band has the greater value; ties count half. */
  superiority: number,
  /** Two-sided p-value of "no difference". */
  p: number,
  /** The share of false ones among all lines that are listed if this one is. */
  q: number,
  /** By how much a recording of the band exceeds another (Hodges and Lehmann). */
  shift: FleetShift,
};

/** What is drawn of a banding. */
export type FleetDrawn = {
  /** The course of its metric on each recording; null where none was kept. */
  course: FleetCourse | null,
  /** Values of what separates each band, in the order of `separated`. */
  strips: Array<FleetStrips>,
};

/** A fact that differs. */
export type FleetFact = {
  /** Category and name. */
  fact: string,
  /** The value that tells most. */
  value: string,
  /** Recordings of the band with that value, of how many. */
  band: [number, number],
  /** The others with that value, of how many. */
  others: [number, number],
  /** p-value of "it has nothing to do with the bands". */
  p: number,
  /** The share of false ones among all facts listed at this p-value. */
  q: number,
};

/** A fact of all recordings. */
export type FleetFacts = {
  /** Category and name. */
  fact: string,
  /** Its values. */
  values: Array<string>,
  /** By recording, which of them; null where it is not known. */
  of: Array<number | null>,
};

/** A function whose own share of a state differs. */
export type FleetFunction = {
  /** The function. */
  function: string,
  /** File name of its program or library. */
  module: string,
  /** `cpu`, or the state in which threads were blocked. */
  state: string,
  /** How its share differs, 0 to 1. */
  difference: FleetDifference,
};

/** Recordings that were asked together. */
export type FleetGroup = {
  /** The value of the fact that they share; null where none was asked for. */
  within: string | null,
  /** The recordings, by host and start. */
  recordings: Array<FleetRecording>,
  /** The metrics that were asked for bands. */
  asked: Array<FleetAsked>,
  /** The bandings, that with most lost time first; none where there are no bands. */
  bandings: Array<FleetBanding>,
  /** Where there are no bands: that there are none, and which this fleet would have shown, in sentences; else empty. */
  says: Array<string>,
  /** Recordings that lie far from all others of their band, and in what. */
  strays: Array<FleetStraying>,
};

/** A metric that differs. */
export type FleetLine = {
  /** Its name; `variation of …` where it is the standard deviation within the recordings that differs. */
  metric: string,
  /** Its unit. */
  unit: string,
  /** What the metric says, in a sentence; empty where that is not known. */
  help: string,
  /** Metrics that move together with it. */
  with: Array<string>,
  /** How it differs. */
  difference: FleetDifference,
};

/** A fleet. */
export type FleetPage = {
  /** Version of these data. */
  format: number,
  /** The version of twinscope that made them. */
  version: string,
  /** When, Unix seconds. */
  made: number,
  /** The folder of summaries, as it was named. */
  folder: string,
  /** The command that says the same as text. */
  command: string,
  /** The fact that was asked to look within; null where none was. */
  within: string | null,
  /** What was asked together, by value of that fact. */
  groups: Array<FleetPageGroup>,
};

/** Recordings that were asked together, as they are drawn. */
export type FleetPageGroup = {
  /** What they answer. */
  answer: FleetGroup,
  /** The block that `offset`s of this group count in; null where there is nothing in it. */
  block: string | null,
  /** What is drawn of each banding. */
  drawn: Array<FleetDrawn>,
  /** Facts that differ between bands, by recording. */
  facts: Array<FleetFacts>,
  /** Why the slow band of the first banding is slower; null where it was not looked for, or in vain. */
  why: FleetWhy | null,
  /** Why no cause was looked for; null where one was, or there are no bands. */
  not_explained: string | null,
};

/** A recording. */
export type FleetRecording = {
  /** Identifier in the folder. */
  id: string,
  /** Name of the host. */
  host: string,
  /** Name of the recording. */
  run: string,
  /** What it is called: its host, and its own name where the host has several; its own name alone where all are of one host. */
  name: string,
  /** The file that it was read from. */
  file: string,
  /** When it began, ns since 1970 UTC. */
  start: number,
  /** How long it is, s; null where that is not known. */
  seconds: number | null,
  /** Labels that were given. */
  labels: { [key in string]: string },
};

/** A rule for who is in the band. */
export type FleetRule = {
  /** In a sentence. */
  says: string,
  /** One cut, or two. */
  cuts: Array<FleetCut>,
  /** How two go together: `and`, `or`. */
  join: string,
  /** Recordings told wrongly on the blocks that it was found on. */
  wrong: number,
  /** Recordings told wrongly on the other blocks. */
  wrong_elsewhere: number,
  /** Of how many. */
  hosts: number,
  /** How many would be wrong without any rule. */
  without: number,
};

/** What separates one band. */
export type FleetSeparated = {
  /** Which band, from 1. */
  band: number,
  /** What it is held against, in words: `band 2`, `the others`. */
  others: string,
  /** How many lines separate, or how many recordings it would take, in a sentence. */
  says: string,
  /** The first facts and metrics that separate, in a sentence; empty where none do. */
  brief: string,
  /** What does not differ, in sentences. */
  not: Array<string>,
  /** Metrics that differ, those that tell most recordings apart first. */
  lines: Array<FleetLine>,
  /** How many lines were tested. */
  tested: number,
  /** How many would be listed if bands were drawn at random, at most. */
  by_chance: number,
  /** Where too few recordings are there for anything to be listed: how many are needed; else null. */
  hosts_needed: number | null,
  /** Facts that differ, the surest first. */
  facts: Array<FleetFact>,
  /** Facts that were left out, since nearly every recording has its own value. */
  facts_unique: Array<string>,
  /** How many facts have one value on all recordings. */
  facts_same: number,
  /** Functions whose own share differs. */
  functions: Array<FleetFunction>,
  /** The rule that tells the band best; null where none is better than none. */
  rule: FleetRule | null,
  /** By how much any function's share could differ at most; null where some differ, or none were sampled. */
  functions_at_most: FleetAtMost | null,
  /** Whether the work is equal; null where that is what the bands are of, or where it is not known. */
  work: FleetWork | null,
};

/** An interval of a share, 0 to 1. */
export type FleetShare = {
  /** Lower end. */
  low: number,
  /** Upper end. */
  high: number,
};

/** A shift with its 95 % interval, in the unit of its line. */
export type FleetShift = {
  /** The estimate. */
  value: number,
  /** Lower end. */
  low: number,
  /** Upper end. */
  high: number,
};

/** Two bands of equal width that would have been found. */
export type FleetShown = {
  /** The share of the smaller, 0 to 1. */
  share: number,
  /** Their middles as a ratio; null where not all values are positive. */
  ratio: number | null,
  /** Their middles as a difference, in the unit of the metric. */
  difference: number,
};

/** Since when recordings are in their bands. */
export type FleetSince = {
  /** In sentences; without the switches. */
  says: Array<string>,
  /** Switches from one band to another within a recording, by time. */
  switches: Array<FleetSwitch>,
  /** What they lie close to, the surest first. */
  around: Array<FleetAround>,
  /** Recordings with a course that shows none. */
  steady: number,
  /** For how long those were watched in all, s. */
  watched: number,
  /** What decides the band, where that can be said: `host`, `start`, `time`; else null. */
  decides: string | null,
  /** Pairs of recordings of one host; null where no host has several. */
  starts: FleetStarts | null,
};

/** What several recordings of hosts say. */
export type FleetStarts = {
  /** Pairs of recordings of one host that are in one band, of all such pairs. */
  same: [number, number],
  /** What share of the pairs chance would put into one band. */
  by_chance: number,
  /** p-value of "each start draws its band" against "recordings of one host are alike". */
  p: number,
};

/** A recording far out of its band (docs/method.md, "strays"). */
export type FleetStray = {
  /** Which. */
  recording: number,
  /** How many robust deviations it lies above; negative: below. */
  deviations: number,
};

/** A metric that a recording strays in. */
export type FleetStrayLine = {
  /** The metric, with its labels and what it is per. */
  metric: string,
  /** Its unit. */
  unit: string,
  /** The recording's mean. */
  value: number,
  /** The median of its band. */
  middle: number,
  /** How many robust deviations it lies above; negative: below. */
  deviations: number,
};

/** A recording that strays, and the metrics that it strays in. */
export type FleetStraying = {
  /** Which. */
  recording: number,
  /** The metrics by which it lies so far out of its band while fewer than three others do: those asked first, then the farthest. */
  lines: Array<FleetStrayLine>,
  /** How many more there are. */
  more: number,
};

/** Where the values of what separates a band are: for each an f32 by recording, byte planes shuffled; NaN: the recording lacks it. */
export type FleetStrips = {
  /** Of the first of `lines`. */
  lines: Array<number>,
  /** Of the first of `functions`. */
  functions: Array<number>,
};

/** A recording that changed its band. */
export type FleetSwitch = {
  /** Which. */
  recording: number,
  /** When, ns since 1970 UTC. */
  at: number,
  /** Whether to the upper of the two bands by value. */
  up: boolean,
  /** How long the oldest process of the workload had been there, ns; null where that is not known. */
  after_start: number | null,
};

/** A valley between two bands. */
export type FleetValley = {
  /** Where, in the unit of the metric. */
  at: number,
  /** The density there over that of the lower peak. */
  depth: number,
};

/** Why the slow band is slower: some recordings of each explained as repeats. */
export type FleetWhy = {
  /** Recordings of the slow band that were explained. */
  slow: Array<number>,
  /** Recordings of the fast band that they were held against. */
  fast: Array<number>,
  /** In a sentence or two. */
  verdict: string,
  /** Causes. */
  explanation: Explanation,
};

/** Whether the work is equal. */
export type FleetWork = {
  /** By which part the band exceeds the others: 0.02 is 2 % more. */
  change: number,
  /** Lower end of its 90 % interval. */
  low: number,
  /** Upper end. */
  high: number,
  /** Whether the interval lies within the margin on both sides. */
  equal: boolean,
};

/** A point of the front. */
export type FrontPoint = {
  /** Its values, in the order of `parameters`. */
  set: Array<string>,
  /** The two measures: geometric means of its trials. */
  values: Array<number>,
  /** Its trials while searching. */
  trials: Array<number>,
  /** The variant that it is, where it is the default or was looked at again. */
  variant: number | null,
};

/** A function, without what it called. */
export type FunctionCycles = {
  /** What it is called; where it has no name, after its file. */
  name: string,
  /** The file name of the file that it is in; `[kernel]`, `[jit]` … */
  module: string,
  /** By run; null where no sample found it. */
  runs: Array<FunctionCyclesOfRun | null>,
};

/** What a function took in one run. */
export type FunctionCyclesOfRun = {
  /** Its part of the cycles of all samples, 0 to 1. */
  share: number,
  /** Samples by cycles. */
  cycle_samples: number,
  /** Samples by instructions. */
  instruction_samples: number,
  /** Cycles per instruction, with the 95 % interval; null where no sample by instructions found it. */
  cpi: [number, number, number] | null,
  /** How much more than in the baseline, as a part of that, with the 95 % interval; null of the baseline, and where either is not known. */
  change: [number, number, number] | null,
};

/** Cycles per instruction of functions, by samples of both. */
export type FunctionsCycles = {
  /** By run: why it has no samples by instructions, and what would give them; null where it has. */
  missing: Array<NoCode | null>,
  /** Those in which most cycles were spent, by the greatest share in any run. */
  functions: Array<FunctionCycles>,
  /** How many are left out, each of which has a smaller share or too few samples. */
  left_out: number,
  /** The question of `twinscope sql` that tells of all of them. */
  query: string,
};

/** Everything that the first screen shows, and what each page holds. */
export type Head = {
  /** Version of this contract. */
  format: number,
  /** What wrote the report. */
  tool: Tool,
  /** When it was written, Unix seconds. */
  generated: number,
  /** The recordings, at least one; the first is the baseline. */
  runs: Array<Run>,
  /** The answer in a sentence: of the explanation, else of the comparison. */
  verdict: Verdict,
  /** Why a recording is slower, or what limits one; null where nothing could be explained. */
  explanation: Explanation | null,
  /** Why there is no explanation. */
  not_explained: string | null,
  /** What the comparison of metrics says; the verdict says it where nothing was explained. */
  comparison: Comparison,
  /** What speaks against believing the comparison too readily. */
  cautions: Array<Caution>,
  /** Where the time went; null where nothing of it was measured. */
  budget: Budget | null,
  /** What differs, best first: one entry for each metric, labels and other run. */
  differences: Array<Difference>,
  /** How many metrics were compared: what the false discovery rate is about. */
  compared: number,
  /** Properties of the hosts that are not the same in all runs. */
  facts: Array<FactDifference>,
  /** Where all properties are: a block of JSON, see `SetUp`. */
  set_up: BlockRef,
  /** What was not measured, and why. */
  missing: Array<Missing>,
  /** Stacks, locks and the thread ledger; null where none of them was recorded. */
  profile: ProfileSpec | null,
  /** Requests that servers answered and clients made; null where none was counted. */
  requests: Requests | null,
  /** What single instructions cost; null where no recording says anything of it. */
  instructions: Instructions | null,
  /** Cache lines that threads fight over: the block of JSON, a `SharedLines`; null where no recording says anything of it. */
  sharing: BlockRef | null,
  /** Pauses, heap and options of JVMs, see [`super::Jvms`]; null where none was recorded. */
  jvm: BlockRef | null,
  /** Hardware counters, see [`super::Counters`]; null where no recording says anything of them. */
  counters: BlockRef | null,
  /** Over how much memory code is spread: the block of JSON, a `CodeMaps`; null where no recording tells. */
  code: BlockRef | null,
  /** Figures of the machines; null where none were measured. */
  machine: Machines | null,
  /** The pages, in the order of the left rail. Each has data. */
  pages: Array<PageSpec>,
};

/**
 * How a value follows from the rows of a line and run.
 *
 * `rate`: the sum of that column per second of the window. `share`: its sum over that of all lines of the run. `mean`: the sum of the first
 * column over that of the second. `max`: the greatest of the rows. `quantile`: the value below which so much (0 to 1) of a histogram lies;
 * within a bucket values are taken to be log-uniform.
 */
export type How = { rate: string } | { share: string } | { mean: [string, string] } | { max: string } | { quantile: number, buckets: Array<Bucket> };

/** Where the listings are, and of which runs. */
export type Instructions = {
  /** The block of JSON, a `Listings`; null where no recording has any machine code. */
  block: string | null,
  /** The run whose instructions are listed: the slow one. */
  run: number,
  /** The one that it is held against; null for one run alone. */
  against: number | null,
  /** By run: why it has no machine code; null where it has. */
  missing: Array<NoCode | null>,
};

/** A heap of compiled code. */
export type JvmCodeHeap = {
  /** The process. */
  pid: number,
  /** Its name. */
  comm: string,
  /** `code profiled`, `code non-profiled`, `code non-nmethods`, or `code` for all. */
  heap: string,
  /** The most it may have, bytes. */
  most: number | null,
  /** Bytes in use when it was last looked at, and the most that was in use since the JVM began; null where that is not known. */
  used: number | null,
  /** See `used`. */
  peak: number | null,
  /** Compiled methods in it; null where that is not known. */
  methods: number | null,
  /** Samples in its code; null where nothing was sampled. */
  samples: number | null,
  /** Of the code that holds 90 % of the samples in code of this JVM, what lies in this heap: bytes, pages of 4 KiB and of 2 MiB. */
  hot_bytes: number | null,
  /** See `hot_bytes`. */
  hot_pages: number | null,
  /** See `hot_bytes`. */
  hot_huge_pages: number | null,
  /** Bytes of it that lie in huge pages; null where that is not known. */
  huge: number | null,
};

/** An option of a JVM. */
export type JvmFlag = {
  /** The main class, module or jar. */
  main: string,
  /** Its name, as after `-XX:`. */
  name: string,
  /** By run: what it came to; null where it has its default. */
  values: Array<string | null>,
  /** By run: who gave it that value; null where it has its default. */
  origins: Array<string | null>,
};

/** A method that was on a CPU, by how it ran. */
export type JvmMethod = {
  /** The method. */
  method: string,
  /** 0 interpreted, 1 to 3 C1, 4 C2. */
  tier: number,
  /** CPU time, seconds. */
  time: number,
  /** Bytes of its machine code; null where it is interpreted. */
  bytes: number | null,
  /** Bytes of its bytecode. */
  bytecode: number,
  /** How many different compilations of it were met. */
  compilations: number,
  /** `in use`, `not entrant` or `OSR`; null where it is interpreted. */
  state: string | null,
  /** Why it is not compiled, or not by C2; null where nothing keeps it from that. */
  why_not: string | null,
};

/** A pause, or several that could not be told apart. */
export type JvmPause = {
  /** The process. */
  pid: number,
  /** Its name. */
  comm: string,
  /** `young`, `full`, `concurrent` or `operation`. */
  kind: string,
  /** What the JVM stopped for; null where that is not known. */
  operation: string | null,
  /** Why, of collections; null where that is not known. */
  cause: string | null,
  /** When all threads had stopped. */
  at: number,
  /** How long they stood, all pauses of the row together. */
  time: number,
  /** From the request until all had stopped; null where that is not known. */
  to_stop: number | null,
  /** Heap in use after it, bytes; null where that is not known. */
  used_after: number | null,
  /** How many pauses it stands for. */
  together: number,
};

/** The block `jvm`. */
export type Jvms = {
  /** By run. */
  runs: Array<JvmsOfRun>,
  /** Options whose value is not the same in all runs, by process and name. */
  flags: Array<JvmFlag>,
  /** The query behind the pauses. */
  query: string,
};

/** The JVMs of a run. */
export type JvmsOfRun = {
  /** Threads that ran at once on average, in stretches of equal length from the start of the recording; empty where that was not recorded. */
  running: Array<number>,
  /** The length of such a stretch. */
  step: number,
  /** The heap in use of all JVMs of the run at a time: seconds, and bytes. In order; before a collection and after it where both are known. */
  heap: Array<[number, number]>,
  /** Pauses, in order; of more than can be shown the longest. */
  pauses: Array<JvmPause>,
  /** Pauses that are left out. */
  left_out: number,
  /** Heaps of compiled code, those of one JVM together; empty where that was not recorded. */
  code: Array<JvmCodeHeap>,
  /** Methods that were on a CPU, those with most of the time first. */
  methods: Array<JvmMethod>,
};

/** The law of a sweep. */
export type Law = {
  /** `linear`, `Amdahl`, `Universal Scalability Law` or `Gustafson`. */
  name: string,
  /** Whether the repeats say that it does not hold; then nothing else of it should be believed. */
  does_not_fit: boolean,
  /** Throughput of one. */
  lambda: Value,
  /** The share that is done by one at a time. */
  sigma: Value,
  /** What each pays for each other; null where it cannot be told. */
  kappa: Value | null,
  /** Where throughput is highest; null where none is known. */
  peak: Value | null,
  /** The peak in words: where it is, that there is none up to some N, or that it is not known. */
  peak_says: string,
  /** For each point with a number: N, what the law says, and measured ÷ that. */
  points: Array<[number, number, number]>,
  /** Of explained trials: the state of threads that grows most with N; null without them. */
  grows: string | null,
};

/** What kind of answer a verdict is. */
export type Level = "differs" | "same" | "single" | "unsure";

/** One resolution of a series. */
export type LevelIndex = {
  /** Its time axis. */
  time: number,
  /** How many values: the length of the time axis. */
  n: number,
  /** Where they are. */
  offset: number,
  /** How they are stored. */
  coding: Coding,
  /** With `u8`: the value of byte 254. */
  scale?: number,
  /** Where the least value of each interval is, stored alike; null where the level is exact. */
  min: number | null,
  /** Where the greatest value of each interval is; null where the level is exact. */
  max: number | null,
};

/** A function of one run, or of two side by side. */
export type Listed = {
  /** What it is on each side. */
  of: ListedSides<ListedFunction>,
  /** How much more CPU time the slow side takes per unit, ns, and the ends of its 95 % interval; null for one run alone. */
  difference: [number, number, number] | null,
  /** Its instructions, in the order of the slow side. */
  rows: Array<ListedRow>,
};

/** How often a function is called, as breakpoints counted it. */
export type ListedCalls = {
  /** CPU time that a call takes itself, ns. */
  ns: number,
  /** Lower end of its 95 % interval. */
  low: number,
  /** Upper end. */
  high: number,
  /** From one call to the next on the thread that runs it most, ns. */
  between: number,
  /** Calls come in even intervals. */
  even: boolean,
  /** Looks with breakpoints or probes. */
  looks: number,
  /** Calls took longer while they were counted: it waits for memory, and each hit leaves the caches colder. */
  at_most: boolean,
};

/** An instruction on one side. What is about samples is absent where there are none. */
export type ListedCell = {
  /** Where it is: in the file, or in the process. */
  address: number,
  /** In assembly. */
  text: string,
  /** CPU time per unit, ns, that the CPU waited for it: of it, and of entering it. */
  ns?: number,
  /** Samples that this is. */
  samples?: number,
  /** How many of those stand for entering it from elsewhere. */
  entering?: number,
  /** Samples that landed on it, without any correction. */
  landed?: number,
  /** What for: a class of `WaitShare`. */
  wait?: string,
  /** Where it comes from in source code, innermost function first; absent where no sample landed there, or nobody knows. */
  lines?: Array<SourceLine>,
};

/** A function on one side. */
export type ListedFunction = {
  /** Its name. */
  function: string,
  /** Path of its file; empty for code that a process made. */
  module: string,
  /** The process that made it. */
  pid: number | null,
  /** Whether its code begins where the function does; else what was kept of it begins near the samples. */
  whole: boolean,
  /** CPU time per unit, ns. */
  ns: number,
  /** Its part of the CPU time of all traced threads, 0 to 1. */
  share: number,
  /** Samples that landed in it. */
  samples: number,
  /** How many of those have registers. */
  with_registers: number,
  /** How many instructions after the one that waits samples land: 0 or 1; null where the calibration did not tell. */
  skid: number | null,
  /** Cycles a second; null where they were not measured. */
  frequency: number | null,
  /** What the CPU waits for, most first. */
  waits: Array<WaitShare>,
  /** Its loops, outer ones first. */
  loops: Array<ListedLoop>,
  /** Other versions of it that the process made (JIT). */
  versions: number,
  /** Samples with registers in those. */
  versions_samples: number,
  /** How often it is called; null where that was not counted, or could not be told. */
  calls: ListedCalls | null,
};

/** A loop on one side. */
export type ListedLoop = {
  /** Address of its first instruction. */
  from: number,
  /** Address of its last. */
  to: number,
  /** 1 for an outermost one. */
  depth: number,
  /** Its part of the samples of the function, 0 to 1. */
  share: number,
  /** CPU time per unit, ns. */
  ns: number,
  /** How long a round takes; null where that is not known. */
  round: Round | null,
  /** Why that is not known; empty where it is. */
  unknown: string,
  /** Instructions of a round; null where ways part, or the code does not tell. */
  instructions: number | null,
  /** They are those of the way that has most samples: there are others. */
  likely: boolean,
  /** Cycles of a round; null where the time of a round or the frequency is not known. */
  cycles: number | null,
  /** Cycles an instruction. */
  cpi: number | null,
  /** The least cycles that a round takes when its data is near; null where that cannot be told. */
  bound: number | null,
  /** What sets that bound: `chain` (of results), `width` or `unit`; empty where there is none. */
  bound_by: string,
  /** What a round spends its time on: `core`, `memory` or `between`; empty where that cannot be told. */
  verdict: string,
  /** What the CPU waits for in it, most first. */
  waits: Array<WaitShare>,
};

/** Two versions of an instruction, or one that only one side has. */
export type ListedRow = {
  /** Rows before it that are left out: no sample is near. Absent for none. */
  skipped?: number,
  /** On the slow side; absent where only the other has it. */
  slow?: ListedCell,
  /** On the other side; absent where it has none. */
  against?: ListedCell,
  /** Both do the same. */
  same: boolean,
  /** How much more the slow side takes per unit, ns, and the ends of its 95 % interval; absent where there is one side only, or no sample. */
  difference?: [number, number, number],
};

/** What there is on each side; null where it has none. */
export type ListedSides<T> = {
  /** The run that is listed. */
  slow: T | null,
  /** The one that it is held against. */
  against: T | null,
};

/** The block `instructions`: functions, instruction by instruction. */
export type Listings = {
  /** What times are per, in the singular: an operation's name, `run`, `second`. */
  per: string,
  /** Those that findings are about, and those with most samples with registers on either side. */
  functions: Array<Listed>,
  /** How many more there are, with fewer samples, that are left out. */
  left_out: number,
};

/** A figure of the machines. */
export type MachineFigure = {
  /** Its name: `memory.dram`. */
  id: string,
  /** In words. */
  title: string,
  /** Its unit. */
  unit: Unit,
  /** Whether more of it is better. */
  more: boolean,
  /** By run; null where it was not measured. */
  values: Array<MachineValue | null>,
  /** By run: how many times the baseline's; null of the baseline, and where either was not measured. */
  ratios: Array<MachineRatio | null>,
  /** Whether any run differs from the baseline: the intervals lie apart, and by more than machines waver. */
  differs: boolean,
  /** Where the difference comes from: `machine`, `set-up`, `either` or `unknown`; null where nothing differs, or it was not asked. */
  origin: string | null,
  /** The facts that it may come from. */
  facts: Array<string>,
};

/** What a part of the time is spent on. */
export type MachinePart = {
  /** In words. */
  title: string,
  /** How it was come by: `counted`, `sampled` or `estimated`. */
  evidence: string,
  /** Its part of the time of the threads that do the work. */
  share: number,
  /** The figure that it goes by, by name; null where none tells. */
  figure: string | null,
  /** How many times as long it takes on the other machine; null where both take as long, or that is not known. */
  times: MachineRatio | null,
};

/** How many times as much. */
export type MachineRatio = {
  /** Of the medians. */
  value: number,
  /** The least that both intervals allow. */
  low: number,
  /** The most. */
  high: number,
};

/** A figure of one machine. */
export type MachineValue = {
  /** The median of the rounds. */
  value: number,
  /** What one round of ten is below. */
  low: number,
  /** What one round of ten is above. */
  high: number,
};

/** What is known of the machines. */
export type Machines = {
  /** Figures, those that differ first, by most. */
  figures: Array<MachineFigure>,
  /** What `explain` says of the two machines; empty where they do not differ. */
  says: Array<string>,
  /** What the time of the explanation's baseline is spent on, by what machines are measured by; empty where that is not known. */
  parts: Array<MachinePart>,
  /** How many times as long its program would take on the other machine, by these figures. */
  forecast: MachineRatio | null,
  /** By run: what disturbed the measurement; null where nothing did, or nothing was measured. */
  disturbed: Array<string | null>,
};

/** A moment that someone named. */
export type Mark = {
  /** When, seconds. */
  t: number,
  /** Its name. */
  text: string,
};

/** What a stack can be weighed by: a column of a table of the block. */
export type Measure = {
  /** Its identifier. */
  id: string,
  /** What it is called. */
  title: string,
  /** What it means. */
  help: string,
  /** The table. */
  table: string,
  /** The column of weights. */
  weight: string,
  /** Unit of the weights. */
  unit: Unit,
  /** Whether it divides the time of the thread ledger: that on a CPU, or with `state` that in the states which the column names. */
  ledger: boolean,
  /** The text column that is a level above the stacks. */
  state: string | null,
  /** Whose stack it is, in words: "who waited". */
  who: string,
  /** A column of other stacks of the same rows. */
  other: string | null,
  /** What the other stacks are. */
  other_title: string | null,
};

/** What a trial measures. */
export type MeasureHead = {
  /** Its name. */
  name: string,
  /** Its unit, such as `s`, `B`, `operations/s`; empty for a bare number. */
  unit: string,
  /** Whether more of it is better. */
  more_is_better: boolean,
  /** A condition that it has to meet, such as `<= 1.5ms`; null without one. */
  limit: string | null,
};

/** Something that was not measured in a run. */
export type Missing = {
  /** The run. */
  run: number,
  /** The source that reads it; of what was not compared, its name. */
  source: string,
  /** What of the source: a file, a field; empty for all of it. */
  item: string,
  /** In which way it is missing. */
  status: MissingStatus,
  /** Why. */
  why: string,
  /** What would change that. */
  remedy: string | null,
  /** Whether something could not be compared or answered for want of it. */
  matters: boolean,
};

/** In which way something was not measured. */
export type MissingStatus = "absent" | "denied" | "not applicable" | "failed" | "estimated";

/** What to do next. */
export type Next = {
  /** In words. */
  says: string,
  /** The command to copy; null where there is none. */
  command: string | null,
};

/** Why a run has no machine code. */
export type NoCode = {
  /** In words, after the name of the run. */
  why: string,
  /** What would change that. */
  remedy: string | null,
};

/** Causes that could not be looked for, for one reason. */
export type NotEvaluated = {
  /** Identifiers of the causes. */
  causes: Array<string>,
  /** What is missing for them. */
  needs: string,
};

/** Something that is worth knowing and has no cost that could be measured. */
export type Note = {
  /** Identifier of the cause. */
  cause: string,
  /** In a sentence. */
  text: string,
  /** Pages of this report where more of it is seen, or `set-up`. */
  pages: Array<string>,
};

/** Rows with one of these texts. */
export type Only = {
  /** A text column. */
  column: string,
  /** The texts. */
  texts: Array<string>,
};

/**
 * A search. Its variants are the default, what was tried while searching (each trial has its own `set`), and those that were looked
 * at again, whose `changes` are what to quote.
 */
export type Optimum = {
  /** The parameters that vary. */
  parameters: Array<string>,
  /** Trials of the search so far, and at most. */
  searched: number,
  /** See `searched`. */
  search: number,
  /** Blocks in which the best are held against the default, at most. */
  blocks: number,
  /** The program that was asked what to try; null where that was the built-in one. */
  asked: string | null,
  /** The variant to take: the best of those that were looked at again, or 0 where none is better than the default. Null before. */
  take: number | null,
  /**
   * What that was over the default as it looked while searching, as a factor: too good, for it was picked for that. Null for the
   * default itself, and where its trial failed.
   */
  seen: number | null,
  /** How many measures are sought to be good: 1, or 2. */
  objectives: number,
  /** Of two measures: what was tried and no other beats in both, the best by the first one first; else empty. */
  front: Array<FrontPoint>,
};

/** How the run that is explained compares with the other. */
export type Outcome = "slower" | "no slower" | "undecided" | "evenly slower" | "more time" | "longer requests" | "alone";

/** The last lines that a command wrote. */
export type Output = {
  /** To standard output. */
  stdout: string,
  /** To standard error. */
  stderr: string,
};

/** A page. */
export type PageSpec = {
  /** Its identifier. */
  id: string,
  /** What it is called. */
  title: string,
  /** The block with the series of its charts and tables. */
  block: string,
  /** How many differences point here. */
  differences: number,
  /** What is drawn above the charts, from a block of its own. */
  view: View | null,
  /** Its charts, in order. */
  charts: Array<Chart>,
  /** Its tables, in order. */
  tables: Array<PageTable>,
};

/** A table of a page. */
export type PageTable = { "kind": "window" } & WindowTable | { "kind": "events" } & EventTable;

/** A block, as a comparison sees it. */
export type Pair = {
  /** The block, from 0. */
  block: number,
  /** The judged measure of what it is held against. */
  against: number,
  /** Of the variant. */
  variant: number,
};

/** What weights of stacks are given per. */
export type PerWhat = "operation" | "run" | "second";

/** Where requests arrived. */
export type Place = {
  /** Port of the server; 0 for a Unix socket. */
  port: number,
  /** Of a client: address of the other side; of a Unix socket: the end of its path; else empty. */
  peer: string,
};

/** A point of a sweep. */
export type Point = {
  /** The number of its variant. */
  variant: number,
  /** Its values, in the order of `parameters`. */
  values: Array<string>,
  /** Geometric mean of the judged measure; null without any. */
  mean: number | null,
  /** Its 95 % interval; null with fewer than two blocks. */
  interval: [number, number] | null,
  /** The point ÷ the best one with its interval, by pairs; null for the best. */
  of_best: [number, [number, number]] | null,
  /** Whether this is the best. */
  is_best: boolean,
  /** Whether it is not to be told from the best. */
  may_be_best: boolean,
  /** Of explained trials: seconds of threads per unit of work by state; empty where there are none. */
  ledger: Array<[string, number]>,
};

/** What more of a metric means. */
export type Polarity = "better" | "worse" | "neutral";

/** What is in the block `profile`, and how it is read. */
export type ProfileSpec = {
  /** The block. */
  block: string,
  /** What weights are given per. */
  per: WeightPer,
  /** The states of the thread ledger, as its table declares them. */
  states: Array<State>,
  /** What a stack can be weighed by, as tables declare it; what divides the time of the ledger first. */
  measures: Array<Measure>,
  /** The tables that the block holds: those of the measures, `ledger` and `running`. */
  tables: Array<string>,
  /** By run: how its threads take turns; null where that was not recorded. */
  turns: Array<Turns | null>,
  /** By run: what a reader of its stacks must know: losses, and what was counted in part. */
  notes: Array<Array<string>>,
};

/** SQL behind the parts of the page. */
export type RequestQueries = {
  /** Requests, connections and times by service. */
  services: string,
  /** How long they took: counts by range. */
  times: string,
  /** Requests that were followed. */
  followed: string,
};

/** What is in the block `requests`, and how it is read. */
export type Requests = {
  /** The block. */
  block: string,
  /** Who answered or asked, those with the most requests first; rows of the block name theirs by its place here. */
  services: Array<Service>,
  /** How many more there were, with fewer requests, that are left out. */
  left_out: number,
  /**
   * Ranges of time by which requests are counted, ascending, seconds: from and to. Those in which nothing ever was are left out; the first
   * can begin at 0. Rows of the block name theirs by its place here.
   */
  ranges: Array<[number, number]>,
  /** The states in which followed requests spent their service time, columns of the table `turn_followed`; empty where none was followed. */
  states: Array<State>,
  /** SQL that gives what is shown. */
  queries: RequestQueries,
  /** By run: what a reader must know: losses, and what was counted in part. */
  notes: Array<Array<string>>,
};

/** What a recording is in the comparison. */
export type Role = "baseline" | "other";

/** The time of a round, as far as samples tell it. */
export type Round = {
  /** The median over pairs of samples, ns of CPU time. */
  ns: number,
  /** Lower end of its 95 % interval. */
  low: number,
  /** Upper end. */
  high: number,
  /** Pairs of samples. */
  pairs: number,
  /** The register that counts rounds. */
  register: string,
  /** By how much it changes a round. */
  step: number,
};

/** A row of a table of series: one thing in one run. */
export type Row = {
  /** The run. */
  run: number,
  /** Texts by column. */
  text: { [key in string]: string },
  /** Places in the series of the page's block, by column; a column that was not measured has none. */
  data: { [key in string]: number },
};

/** A recording. */
export type Run = {
  /** Its name. */
  name: string,
  /** What tells it from the others, where there is little room: labels, or what its name has that theirs have not. */
  short: string,
  /** The path of its file as it was given, from where the report was made; null where it is no text. */
  file: string | null,
  /** The first is the baseline. */
  role: Role,
  /** Host name. */
  host: string,
  /** Kernel release. */
  kernel: string,
  /** CPUs online at the start. */
  cpus: number,
  /** What the CPUs call themselves; null where that was not read. */
  cpu_model: string | null,
  /** Memory of the host, bytes. */
  memory_bytes: number,
  /** When the recording began, Unix seconds. */
  start: number,
  /** How long it is, seconds. */
  duration: number,
  /** Interval between reads, seconds. */
  interval: number,
  /** A shorter interval at the start. */
  sprint: Sprint | null,
  /** The command that was recorded, with its arguments; values that look like secrets are masked. */
  command: Array<string> | null,
  /** How the command ended. */
  exit: Exit | null,
  /** How long the command ran, seconds. */
  wall: number | null,
  /** The work that the workload counted. */
  work: Work | null,
  /** Labels that the user gave. */
  labels: { [key in string]: string },
  /** The window that is compared. */
  window: Window,
  /** Moments that someone named, in time. */
  marks: Array<Mark>,
  /** The last lines that the command wrote. */
  output: Output | null,
  /** What is missing of the recording, where it was cut off or is damaged. */
  incomplete: string | null,
  /** CPU use, for the time strip. */
  strip: Strip,
};

/** A step of a ladder. */
export type Rung = {
  /** Its name. */
  name: string,
  /** The number of its variant. */
  variant: number,
  /** Why it is tried, as the file has it; null where it does not say. */
  why: string | null,
  /** Whether it was kept; null while that is open. */
  kept: boolean | null,
  /** Against what was kept before it, from the blocks of the whole ladder: these are the numbers to quote. Null before. */
  change: Change | null,
  /** All that was kept up to it against the baseline, from the same blocks; null where it was not kept, and before. */
  total: Change | null,
};

/** A regular swing of the number of running threads. */
export type Sawtooth = {
  /** Seconds from one crest to the next. */
  period: number,
  /** Threads from trough to crest. */
  swing: number,
  /** Part of the variance that the period and its harmonics make up. */
  share: number,
  /** How likely chance shows such a swing. */
  p: number,
};

/** A search. */
export type Search = {
  /** The parameter that was searched. */
  parameter: string,
  /** What has to hold, in words. */
  limits: Array<string>,
  /** The measure whose curve over the rate is shown, by its place in `measures`. */
  measure: number,
  /** Its limit; null where it has no upper one. */
  limit: number | null,
  /** What was found, by variant. */
  rates: Array<SearchRate>,
};

/** The highest rate of a variant that meets the limits. */
export type SearchRate = {
  /** The number of its variant. */
  variant: number,
  /** The rate; null where it is not known. */
  rate: number | null,
  /** Its 95 % interval, in which is how the machine went up and down; null with too few trials. */
  interval: [number, number] | null,
  /** How many trials it is made of. */
  around: number,
  /** Where no rate was found: that even the highest, or not even the lowest, met the limits. Null where one was. */
  says: string | null,
  /** What was broken most often, in words; null where nothing was. */
  limited_by: string | null,
  /** The curve of the measure over the rate; empty where there is none. */
  curve: Array<[number, number]>,
  /** The measured trials in their order. */
  tried: Array<SearchTrial>,
};

/** A trial of a search. */
export type SearchTrial = {
  /** Its number. */
  trial: number,
  /** The rate that was asked for. */
  rate: number,
  /** What `measure` was; null where it failed. */
  value: number | null,
  /** What was broken, in words; null where all limits were met. */
  broke: string | null,
  /** Whether the estimate is made of it, among others. */
  around: boolean,
};

/** A serial phase: a stretch in which one thread ran and no other could, after more did. */
export type Serial = {
  /** Where it begins, seconds. */
  from: number,
  /** Where it ends, seconds. */
  to: number,
  /** The process that had most of its samples; null without samples. */
  process: string | null,
  /** The thread that had most of them. */
  thread: string | null,
  /** The function of the program that ran in most of them. */
  function: string | null,
};

/** A series at several resolutions. */
export type SeriesIndex = {
  /** From coarse to fine; statistics are computed from the finest. */
  levels: Array<LevelIndex>,
};

/** A line of a chart in one run. Lines of several runs are matched by `name` and `labels`. */
export type SeriesRef = {
  /** The run. */
  run: number,
  /** The metric, as the kernel or the recording calls it. */
  name: string,
  /** The metric in words. Where titles or names do not tell lines apart, the labels that differ are shown with them. */
  title: string,
  /** What it is of. */
  labels: { [key in string]: string },
  /** Place in the series of the page's block. */
  data: number,
};

/** One port that a process answered on, or one other side that it asked. */
export type Service = {
  /** Name of the process. */
  process: string,
  /** `server` where it accepted the connections, `client` where it made them. */
  role: string,
  /** `tcp`, `udp` or `unix`. */
  protocol: string,
  /** By run: where; null where it did neither. A process with only one in each run is matched by its name, whatever the port. */
  places: Array<Place | null>,
};

/** The block `set-up`: all properties of all runs. */
export type SetUp = {
  /** By category and name. */
  facts: Array<Fact>,
};

/** A part of a whole, with its 95 % interval; 1 is all of it. */
export type Share = {
  /** The part. */
  share: number,
  /** Lower end of the interval. */
  low: number,
  /** Upper end of it. */
  high: number,
};

/** An instruction of a thread that uses the line. */
export type SharedAccess = {
  /** The thread, by its place. */
  thread: number,
  /** First byte in the line. */
  first: number,
  /** How many; 0 where it is somewhere in the word. */
  size: number,
  /** `read`, `write`, `read, write` or `atomic`. */
  does: string,
  /** The function; empty where nobody tells. */
  function: string,
  /** The instruction; its address where it was not read. */
  text: string,
  /** `file:line`; empty where nobody tells. */
  source: string,
  /** Samples that waited for it. */
  waited: number,
  /** Hits of a watchpoint. */
  hits: number,
  /** Accesses that the CPU sampled itself. */
  sampled: number,
  /** Of these, those whose data came from the cache of another core. */
  from_core: number,
};

/** Bytes that the same threads use. */
export type SharedCells = {
  /** The first. */
  first: number,
  /** How many. */
  size: number,
  /** Threads that write them, by place. */
  writers: Array<number>,
  /** Threads that only read them, by place. */
  readers: Array<number>,
};

/** A field or an element. */
export type SharedField = {
  /** First byte in the line; negative where it begins before. */
  first: number,
  /** Bytes. */
  size: number,
  /** Its path. */
  name: string,
  /** Its type. */
  of_type: string,
};

/** A function that waits. */
export type SharedFunction = {
  /** Empty where nobody tells. */
  name: string,
  /** Of the waiting for the thing. */
  part: number,
};

/** A line of 64 bytes. */
export type SharedLine = {
  /** Its first byte in the process. */
  address: number,
  /** Watchpoints have seen several threads at it. */
  watched: boolean,
  /** Where the variable is declared; empty where nobody tells. */
  source: string,
  /** What lies in it, in order. */
  fields: Array<SharedField>,
  /** Threads that use it; `cells` and `accesses` name them by their place here. */
  threads: Array<SharedThread>,
  /** Stretches of bytes that the same threads use in the same way, in order; bytes that are not in one are not used. */
  cells: Array<SharedCells>,
  /** Those that are waited for most first. */
  accesses: Array<SharedAccess>,
  /** Accesses that are left out. */
  left_out: number,
};

/** The block `sharing`. */
export type SharedLines = {
  /** By run. */
  runs: Array<SharedOfRun>,
};

/** A line of which the CPU has sampled accesses whose data came from the cache of another core. */
export type SharedMoved = {
  /** `false` or `true`, as in `SharedThing`; null where not enough threads were sampled to tell. */
  kind: string | null,
  /** What lies there; the line where nobody tells. */
  name: string,
  /** The kind of memory; empty where nobody tells. */
  memory: string,
  /** The process. */
  pid: number,
  /** Its name. */
  comm: string,
  /** Accesses that were sampled. */
  sampled: number,
  /** Of these, those whose data came from the cache of another core. */
  from_core: number,
  /** Of those, where that core had changed them (HITM). */
  modified: number,
  /** Cycles of one of those from another core; null where the CPU did not tell. */
  cycles: number | null,
  /** Part of the cycles of all accesses that were sampled of the process; null where the CPU did not tell. */
  part: number | null,
  /** What to do; null where it is not told what kind of sharing it is. */
  advice: string | null,
  /** The line. */
  line: SharedLine,
};

/** What was found in a run. */
export type SharedOfRun = {
  /** Why it was not looked for such lines; null where it was. */
  missing: NoCode | null,
  /** Findings, those that take most CPU time first. */
  things: Array<SharedThing>,
  /** Findings that are left out. */
  left_out: number,
  /** What a line takes from one CPU to another on that machine, ns. */
  transfer: number | null,
  /** What an atomic addition takes alone, ns. */
  atomic: number | null,
  /** Hits of watchpoints; null where no words were watched. */
  hits: number | null,
  /** Whether samples with registers were looked through: only then `things` having none says anything. */
  looked: boolean,
  /** Accesses that the CPU sampled itself (PEBS, IBS, SPE); null where it did not. */
  sampled: number | null,
  /** Lines that it says came from the caches of other cores, those that did most often first. */
  moved: Array<SharedMoved>,
  /** Of these, lines that are left out. */
  moved_left_out: number,
};

/** Lines of one variable, object or class of a process that threads wait for. */
export type SharedThing = {
  /** `false`: threads use different bytes; `true`: they use the same. */
  kind: string,
  /** What it is called. */
  name: string,
  /** The kind of memory; empty where nobody tells. */
  memory: string,
  /** The process. */
  pid: number,
  /** Its name. */
  comm: string,
  /** Part of the CPU time of the process that goes to waiting for it, and its 95 % interval. */
  part: [number, number, number],
  /** How many times as fast the process's code were without, and the interval; estimated. */
  speedup: [number, number, number],
  /** Functions that wait, with their part of the waiting, most first. */
  functions: Array<SharedFunction>,
  /** What to do. */
  advice: string,
  /** The lines, those that are waited for most first. */
  lines: Array<SharedLine>,
  /** Lines that are left out. */
  left_out: number,
};

/** A thread. */
export type SharedThread = {
  /** Its number. */
  tid: number,
  /** Its name. */
  name: string,
};

/** A place in source code. */
export type SourceLine = {
  /** The function, of those that were put into another. */
  function: string,
  /** `file:line`; empty where that is not known. */
  source: string,
};

/** A shorter interval between reads at the start of a recording. */
export type Sprint = {
  /** The interval, seconds. */
  interval: number,
  /** Until when it held, seconds. */
  until: number,
};

/** A column of stacks. */
export type StackColumn = {
  /** The column of the block. */
  column: string,
  /** What its stacks are. */
  title: string,
};

/** A state that time is spent in: of threads, as the recorder declares it; or of the CPUs. */
export type State = {
  /** Its identifier. */
  id: string,
  /** What it is called. */
  title: string,
  /** What it means. */
  help: string,
  /** Full names of its metrics: choosing the state shows their differences. */
  metrics: Array<string>,
  /** True for no lost time (idle), which is left out unless asked for. Absent for the CPUs. */
  quiet?: boolean,
  /**
   * The state of the thread ledger that it is, or is a part of: what pages of threads and stacks show it under; null for none. Absent in
   * the ledger's own list, and for the CPUs.
   */
  ledger?: string | null,
  /** How time in it bears on the work. Absent for the CPUs, and where the recording does not say. */
  kind?: StateKind,
  /** What it is drawn in, on a light page and on a dark one: `#rrggbb`. Absent likewise. */
  color?: [string, string],
};

/** How time in a state bears on the work. */
export type StateKind = "on-cpu" | "stretch" | "wait" | "sleep" | "rest";

/** A state, and the part of the lost time that was in it. */
export type StateShare = {
  /** Identifier of a state of the budget. */
  state: string,
  /** The part. */
  share: number,
};

/** CPU use over time: at most 600 points; none where it was not recorded. */
export type Strip = {
  /** The middle of each interval, seconds. */
  t: Array<number>,
  /** Part of all CPU time that was used, 0 to 1; null where it was not measured. */
  busy: Array<number | null>,
};

/** A sweep. */
export type Sweep = {
  /** The parameters that vary, one or two. */
  parameters: Array<string>,
  /** The points. */
  points: Array<Point>,
  /** The scaling law, for one parameter of numbers that are at least 1, with a measure of which more is better, or a time. */
  law: Law | null,
};

/** A table of a block of columns. */
export type TableIndex = {
  /** How many rows. */
  rows: number,
  /** Columns by name. One that is missing is all 0. */
  columns: { [key in string]: ColumnIndex },
};

/** A time axis: the middle of the interval that each value stands for, seconds, ascending. */
export type TimeIndex = {
  /** How many times. */
  n: number,
  /** Where they are: `n` f64. */
  offset: number,
  /** Where the lengths of the intervals are, `n` f64, seconds; null where each reaches half-way to its neighbours. */
  widths: number | null,
};

/** The program that wrote a report. */
export type Tool = {
  /** Its name. */
  name: string,
  /** Its version. */
  version: string,
};

/** Slots for operations, of which each is used or lost to something: parts of all, 0 to 1. */
export type TopDown = {
  /** Work that was kept. */
  retiring: number,
  /** Wrong predictions. */
  bad_speculation: number,
  /** Waiting for instructions. */
  frontend_bound: number,
  /** Waiting for data, and for free units. */
  backend_bound: number,
  /** Of waiting for instructions, that for the first of them; null where it was not counted. */
  fetch_latency: number | null,
  /** Of waiting for data and units, that for loads and stores; null where it was not counted. */
  memory_bound: number | null,
};

/** A trial. */
export type Trial = {
  /** Its number, from 1. */
  number: number,
  /** The stage, from 0: of a ladder one for each step, and the whole ladder. */
  stage: number,
  /** The block within its stage, from 0. */
  block: number,
  /** Its variant. */
  variant: number,
  /** Values of parameters that were chosen for this trial, beside those of its variant: name and value. */
  set: Array<[string, string]>,
  /** Recorded for explaining; not part of the numbers. */
  explained: boolean,
  /** How it ended. */
  end: TrialEnd,
  /** Why it failed or tells nothing; null where it was measured. */
  reason: string | null,
  /** When it began, seconds since the session began; null where it was not kept. */
  at: number | null,
  /** How long it took from its preparation to its cleanup, seconds. */
  seconds: number | null,
  /** The measures; null for one that could not be taken. */
  values: Array<number | null>,
  /** Part of the machine's CPU time that the hypervisor gave to others meanwhile, 0 to 1. */
  stolen: number | null,
  /** Part that other programs used, 0 to 1. */
  others: number | null,
  /** The CPU that it had for itself while the other trial of its block ran on another; null where it ran alone. */
  cpu: number | null,
  /** CPU time of its command ÷ its wall-clock time: how many CPUs it used on average; null where that is not known. */
  cpus_used: number | null,
  /** The last lines that its command wrote, where it failed. */
  output: string | null,
};

/** How a trial ended. */
export type TrialEnd = "measured" | "failed" | "void" | "cut" | "open";

/** How the threads of a run take turns. */
export type Turns = {
  /** The serial phases of the whole recording, in time. */
  serial: Array<Serial>,
  /** A regular swing of the number of running threads in the compared window. */
  sawtooth: Sawtooth | null,
};

/**
 * A unit of values: `""` (a plain number), `1/s`, `B`, `B/s`, `s`, `s/s` (CPU-seconds per second, or time share per second), `Hz`, `%` (0
 * to 100), `ratio` (0 to 1, drawn as per cent), `°C`, `W`, `J`, `1/op`, `B/op`, `s/op`, `J/op`. The page formats them (MiB/s, µs, k/s).
 */
export type Unit = string;

/** A number with its interval. */
export type Value = {
  /** The estimate. */
  estimate: number,
  /** The lower end of its 95 % interval. */
  low: number,
  /** The upper end. */
  high: number,
};

/** A variant. */
export type Variant = {
  /** Its name. */
  name: string,
  /** What its parameters are: name and value. */
  set: Array<[string, string]>,
  /** Its command as it is run. */
  command: string,
  /** Trials that count, and how many of them failed. */
  trials: number,
  /** See `trials`. */
  failed: number,
  /** Of each measure: median of its trials; null without any. */
  medians: Array<number | null>,
  /** Time of trials recorded for explaining ÷ time of measured ones: what recording costs; null without both. */
  recording_costs: number | null,
};

/** The answer in words. */
export type Verdict = {
  /** In a sentence or two. */
  headline: string,
  /** One or two more, or nothing. */
  detail: string,
  /** What kind of answer it is. */
  level: Level,
};

/**
 * What a page draws above its charts, from a block of its own: `profile`, `requests`, `instructions`, `sharing`,
 * `jvm`, `counters`, or `code`.
 */
export type View = "time-budget" | "profiles" | "requests" | "instructions" | "sharing" | "jvm" | "counters" | "code" | "machine";

/** A part of the samples that waits for one class of things. */
export type WaitShare = {
  /** The class: `load`, `store`, `atomic`, `long`, `fetch`, `serialising`, `spin`, `core` or `unknown`. */
  wait: string,
  /** The part, 0 to 1. */
  part: number,
};

/** What weights are divided by: the seconds of the window times the run's rate. */
export type WeightPer = {
  /** What they are given per. */
  what: PerWhat,
  /** By run: how many of these there were in a second. */
  rate: Array<number>,
};

/** A finding of `explain` about a change. */
export type Why = {
  /** Which cause. */
  cause: string,
  /** What the slower side has, in words. */
  says: string,
  /** Its part of the difference, 0 to 1. */
  share: number,
};

/** The stretch of a recording that is compared. */
export type Window = {
  /** Where it begins, seconds. */
  from: number,
  /** Where it ends, seconds. */
  to: number,
  /** Why this stretch, in words. */
  why: string,
};

/**
 * A table of things, whose values are means of series over the window.
 *
 * Side by side, rows of several runs with equal keys share a line, with the values of several rows of a run added up (of `Hz` and `°C`: their
 * mean). Of a thing that did not exist for part of the window, what it used then counts as 0, what it held as not measured.
 */
export type WindowTable = {
  /** Its identifier. */
  id: string,
  /** What it is called. */
  title: string,
  /** What its rows are, and what is left out. */
  help: string,
  /** SQL that gives it. */
  query: string,
  /** Its columns. */
  columns: Array<Column>,
  /** Its rows, those that use most first. */
  rows: Array<Row>,
};

/** Work that the workload counted. */
export type Work = {
  /** What was counted, in the plural. */
  unit: string,
  /** How much was done in all. */
  total: number,
  /** Throughput in the window; null where that is not known. */
  per_second: number | null,
};
