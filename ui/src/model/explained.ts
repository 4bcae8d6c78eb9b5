// An explanation in words: shares and their intervals, and which findings point to a page.
import type { Explanation, Finding } from "../bundle/types";
import { fixed } from "./units";

/** A part as whole per cent, without the sign: what is there and small is never nought. */
export function whole(part: number): string {
  const p = part * 100;
  return p > 0 && p < 0.5 ? "<1" : fixed(p, 0);
}

/** A part of the lost time: "71 %"; "less" for what fell, which is no part of what was lost; "" for nothing to speak of. */
export function partInWords(part: number): string {
  if (Math.abs(part) < 0.005) return "";
  return part < 0 ? "less" : `${fixed(part * 100, 0)} %`;
}

/** The 95 % interval of a share: "95 % CI 64–78 %"; with signs where it reaches below nothing: "95 % CI −2 to 5 %". */
export function shareInWords(f: Pick<Finding, "low" | "high">): string {
  const [low, high] = [fixed(f.low * 100, 0), fixed(f.high * 100, 0)];
  return `95 % CI ${low}${f.low < 0 ? " to " : "–"}${high} %`;
}

/** What shares are parts of. */
export function wholeOf(outcome: Explanation["outcome"]): string {
  if (outcome === "alone") return "the time";
  if (outcome === "undecided") return "the difference";
  return outcome === "more time" ? "the additional time" : "the slowdown";
}

/** One sentence about a finding, for screen readers. */
export function findingInWords(f: Finding, rank: number, outcome: Explanation["outcome"]): string {
  return `Finding ${rank}: ${f.says}. ${whole(f.share)} % of ${wholeOf(outcome)}, ${shareInWords(f)}.`;
}

/** The findings that point to each page, by their rank from 1. */
export function marks(explanation: Explanation | null | undefined): Map<string, number[]> {
  const all = new Map<string, number[]>();
  explanation?.findings.forEach((f, i) => {
    for (const page of f.pages) all.set(page, [...(all.get(page) ?? []), i + 1]);
  });
  return all;
}

/** A finding as Markdown, for a ticket. Characters that mean something there are made harmless. */
export function findingAsMarkdown(f: Finding, outcome: Explanation["outcome"]): string {
  const plain = (text: string) => text.replaceAll(/[\\`*_|[\]#<]/g, (c) => (c === "<" ? "&lt;" : `\\${c}`));
  return [
    `**${whole(f.share)} % of ${wholeOf(outcome)}** (${shareInWords(f)}): ${plain(f.says)} (${f.cause})`,
    ...f.evidence.map((line) => `- ${plain(line)}`),
    ...f.advice.map((line) => `- try: ${plain(line)}`),
    ...f.check.map((line) => `- check: ${plain(line)}`),
  ].join("\n");
}
