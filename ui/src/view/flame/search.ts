// Searching in a flame graph: which frames match, and what share of the weight lies in them.
import type { Layout } from "./layout";
import type { Frames } from "./tree";

/** For each frame whether its function or module matches: plain text in any case, or a regular expression between slashes. `null` for no search, an error in words for a bad expression. */
export function matching(frames: Frames, query: string): Uint8Array | null | string {
  const text = query.trim();
  if (text === "") return null;
  let test: (s: string) => boolean;
  if (text.length > 2 && text.startsWith("/") && text.endsWith("/")) {
    try {
      const expression = new RegExp(text.slice(1, -1), "i");
      test = (s) => expression.test(s);
    } catch (e) {
      return e instanceof Error ? e.message : String(e);
    }
  } else {
    const lower = text.toLowerCase();
    test = (s) => s.toLowerCase().includes(lower);
  }
  return Uint8Array.from(frames.name, (name, i) => (test(name) || test(frames.module[i] ?? "") ? 1 : 0));
}

/** By run, the weight in and below matching nodes within a node; what lies in several matches counts once. */
export function matchedWeight(layout: Layout, matches: Uint8Array, zoom: number): number[] {
  const { frame } = layout.tree;
  const sums = layout.total.map(() => 0);
  const stack = [zoom];
  while (stack.length > 0) {
    const node = stack.pop() as number;
    if (node !== 0 && matches[frame[node] as number] === 1) {
      layout.total.forEach((total, run) => {
        sums[run] = (sums[run] ?? 0) + (total[node] as number);
      });
      continue;
    }
    for (let i = layout.first[node] as number; i < (layout.first[node + 1] as number); i++) stack.push(layout.children[i] as number);
  }
  return sums;
}
