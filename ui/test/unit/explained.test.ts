// What a finding is called, which pages it points to, and how the first screen's states are known elsewhere.
import { beforeEach, describe, expect, it } from "vitest";
import { findingAsMarkdown, findingInWords, marks, partInWords, shareInWords, whole } from "../../src/model/explained";
import { fromHash, ledgerState, setParam, setReport, toHash } from "../../src/state";
import { SAMPLES } from "../bundle/samples";

const head = () => {
  const made = SAMPLES["threads"]?.().head;
  if (!made?.explanation) throw new Error("no sample");
  return { ...made, explanation: made.explanation };
};

beforeEach(() => {
  setReport(head());
  fromHash("");
});

describe("shares", () => {
  it("are whole per cent, and what is small is not nought", () => {
    expect([0.714, 0.004, 0, 1].map(whole)).toEqual(["71", "<1", "0", "100"]);
    expect([0.714, -0.31, 0.004, -0.004].map(partInWords)).toEqual(["71 %", "less", "", ""]);
    expect([{ low: 0.64, high: 0.78 }, { low: 0.996, high: 1 }].map(shareInWords)).toEqual(["95 % CI 64–78 %", "95 % CI 100–100 %"]);
  });
  it("are said of what they are parts of", () => {
    const [first] = head().explanation.findings;
    if (!first) throw new Error("no finding");
    expect(findingInWords(first, 1, "slower")).toBe("Finding 1: threads wait for the lock taken in Table::insert. 71 % of the slowdown, 95 % CI 64–78 %.");
    expect(findingInWords(first, 1, "alone")).toContain("71 % of the time,");
    expect(findingInWords(first, 1, "more time")).toContain("71 % of the additional time,");
  });
});

describe("a finding", () => {
  it("marks the pages that it points to", () => {
    expect([...marks(head().explanation)]).toEqual([["locks", [1]], ["processes", [2]], ["cpu", [2]]]);
    expect(marks(null).size).toBe(0);
  });
  it("is harmless as Markdown", () => {
    const [first] = head().explanation.findings;
    if (!first) throw new Error("no finding");
    const text = findingAsMarkdown({ ...first, says: "a <b> in *x* [y](z) `q`" }, "slower");
    expect(text.split("\n")[0]).toBe("**71 % of the slowdown** (95 % CI 64–78 %): a &lt;b> in \\*x\\* \\[y\\](z) \\`q\\` (lock-contention)");
    expect(text).toContain("\n- try: split it");
  });
});

describe("the chosen state", () => {
  it("is known to other pages under the ledger's name, and stays in the link", () => {
    setParam("state", "neighbours");
    expect(ledgerState()).toBe("runnable");
    expect(toHash()).toBe("overview?.state=neighbours");
    setParam("state", "lock");
    expect(ledgerState()).toBe("lock");
    setParam("state", "off");
    expect(ledgerState()).toBe("off");
  });
});
