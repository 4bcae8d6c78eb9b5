// Recordings in the commands that the page offers: by the paths that they were read from, quoted for a shell.
import type { Explanation, Finding, Run } from "../bundle/types";
import { quoted } from "./fleet";

/** A recording as a word of a command: its path as it was given to `report`; of reports that do not know it, its name with the usual ending. */
export function fileOf(run: Pick<Run, "name" | "file">): string {
  return quoted(run.file ?? `${run.name}.twin`);
}

/** A finding whose commands name the recordings that it is about, for the words that stand for them in causes. Of two stretches of one recording they are left. */
export function withFiles(finding: Finding, { run, against }: Pick<Explanation, "run" | "against">, runs: readonly Run[]): Finding {
  const [slow, fast] = [runs[run], against === null ? undefined : runs[against]].map((of) => (of ? fileOf(of) : undefined));
  if (slow === undefined || slow === fast) return finding;
  const named = (line: string) => line.replaceAll(/\b(SLOW|FAST)\.twin\b/g, (word) => (word === "SLOW.twin" ? slow : (fast ?? word)));
  return { ...finding, advice: finding.advice.map(named), check: finding.check.map(named) };
}
