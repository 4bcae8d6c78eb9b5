// Finds the head and the blocks in the document and unpacks them. Blocks are unpacked once, when a page first needs them.
import { Block } from "./block";
import { BlockError } from "./container";
import { Columns } from "./columns";
import { FORMAT } from "./generated";
import type { CodeMaps, Counters, Head, Jvms, Listings, SetUp, SharedLines } from "./types";

/** Reads the head. The error says plainly what is wrong with the file. */
export function readHead(doc: Document): Head {
  const script = doc.getElementById("twinscope-head");
  if (!script) throw new Error("This file holds no report: it is the empty template, or its data was cut off.");
  let head: Partial<Head>;
  try {
    head = JSON.parse(script.textContent ?? "") as Partial<Head>;
  } catch (e) {
    throw new Error(`The head of this report is damaged: ${e instanceof Error ? e.message : String(e)}`, { cause: e });
  }
  if (head === null || typeof head !== "object" || head.format !== FORMAT) {
    throw new Error(
      `This report has format ${JSON.stringify(head?.format ?? null)}; this page draws format ${FORMAT}. ` +
        "Make the report again with one version of twinscope.",
    );
  }
  if (!Array.isArray(head.runs) || head.runs.length === 0) throw new Error("This report names no recording.");
  // What a younger writer may leave out is empty, not an error.
  const full = {
    verdict: { headline: "", detail: "", level: "unsure" },
    tool: { name: "twinscope", version: "" },
    generated: 0,
    explanation: null,
    not_explained: null,
    comparison: null,
    budget: null,
    profile: null,
    requests: null,
    instructions: null,
    sharing: null,
    jvm: null,
    counters: null,
    code: null,
    machine: null,
    compared: 0,
    set_up: null,
    ...head,
    runs: head.runs.map((run) => ({ ...run, file: run.file ?? null })),
    differences: head.differences ?? [],
    facts: head.facts ?? [],
    missing: head.missing ?? [],
    cautions: head.cautions ?? [],
    pages: head.pages ?? [],
  };
  return full as Head;
}

/** Base64 to bytes. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  let binary: string;
  try {
    binary = atob(text.trim());
  } catch (e) {
    throw new BlockError("it is not base64", { cause: e });
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function joined(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Unpacks a gzip stream. */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  try {
    const { writable, readable } = new DecompressionStream("gzip");
    const writer = writable.getWriter();
    // What is wrong with the bytes is told by the reader too.
    const written = writer.write(bytes).then(() => writer.close());
    written.catch(() => undefined);
    // Read here, not by a Blob and a Response: those go through another process, and a browser that takes a picture by a clock of its own does not
    // wait for it.
    const parts: Uint8Array[] = [];
    const reader = readable.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) parts.push(next.value);
    await written;
    return joined(parts);
  } catch (e) {
    throw new BlockError("it cannot be unpacked (cut off or damaged)", { cause: e });
  }
}

async function raw(doc: Document, id: string): Promise<Uint8Array> {
  const script = doc.getElementById(`block-${id}`);
  if (!script) throw new BlockError("it is not in this file");
  return gunzip(fromBase64(script.textContent ?? ""));
}

const named = (id: string) => (e: unknown): never => {
  throw new BlockError(`Block “${id}” of this report cannot be read: ${e instanceof Error ? e.message : String(e)}.`, {
    cause: e,
  });
};

const blocks = new Map<string, Promise<Block>>();

/** The block of a page, unpacked once. */
export function loadBlock(id: string): Promise<Block> {
  let block = blocks.get(id);
  if (!block) {
    block = raw(document, id)
      .then((bytes) => new Block(bytes))
      .catch(named(id));
    blocks.set(id, block);
  }
  return block;
}

const columnBlocks = new Map<string, Promise<Columns>>();

/** A block of columns, unpacked once. */
export function loadColumns(id: string): Promise<Columns> {
  let block = columnBlocks.get(id);
  if (!block) {
    block = raw(document, id)
      .then((bytes) => new Columns(bytes))
      .catch(named(id));
    columnBlocks.set(id, block);
  }
  return block;
}

const byteBlocks = new Map<string, Promise<Uint8Array>>();

/** A block of bytes, unpacked once. */
export function loadBytes(id: string): Promise<Uint8Array> {
  let block = byteBlocks.get(id);
  if (!block) {
    block = raw(document, id).catch(named(id));
    byteBlocks.set(id, block);
  }
  return block;
}

const jsonBlocks = new Map<string, Promise<unknown>>();

/** A block of JSON, unpacked once. `holds` says what is wrong with what is in it. */
function loadJson<T>(id: string, holds: (made: Partial<T> | null) => string | null): Promise<T> {
  let block = jsonBlocks.get(id) as Promise<T> | undefined;
  if (!block) {
    block = raw(document, id)
      .then((bytes) => {
        const made = JSON.parse(new TextDecoder().decode(bytes)) as T | null;
        const wrong = holds(made);
        if (wrong !== null || made === null) throw new BlockError(wrong ?? "it is empty");
        return made;
      })
      .catch(named(id));
    jsonBlocks.set(id, block);
  }
  return block;
}

/** The block of all facts. */
export function loadSetUp(id: string): Promise<SetUp> {
  return loadJson<SetUp>(id, (made) => (Array.isArray(made?.facts) ? null : "it holds no facts"));
}

/** The block of instructions. */
export function loadListings(id: string): Promise<Listings> {
  return loadJson<Listings>(id, (made) => (Array.isArray(made?.functions) ? null : "it holds no functions"));
}

/** The block of shared lines. */
export function loadSharing(id: string): Promise<SharedLines> {
  return loadJson<SharedLines>(id, (made) => (Array.isArray(made?.runs) ? null : "it holds no recordings"));
}

/** The block of JVMs. */
export function loadJvms(id: string): Promise<Jvms> {
  return loadJson<Jvms>(id, (made) => (Array.isArray(made?.runs) ? null : "it holds no recordings"));
}

/** The block of hardware counters. */
export function loadCounters(id: string): Promise<Counters> {
  return loadJson<Counters>(id, (made) => (Array.isArray(made?.runs) && Array.isArray(made?.metrics) ? null : "it holds no metrics"));
}

/** The block of maps of code. */
export function loadCode(id: string): Promise<CodeMaps> {
  return loadJson<CodeMaps>(id, (made) => (Array.isArray(made?.groups) ? null : "it holds no code"));
}
