// What every block begins with (docs/report-bundle.md): four letters that say its kind, the length of its index, and the index as JSON. Data follow.

/** Why a block cannot be used; the message is shown to the reader. */
export class BlockError extends Error {}

const HEADER = 8;

/** The index of a block of this kind, and where it ends. What the index holds is not checked. */
export function indexOf(bytes: Uint8Array, magic: string): { index: unknown; end: number } {
  if (String.fromCharCode(...bytes.subarray(0, 4)) !== magic) throw new BlockError(`it does not start with ${magic}`);
  if (bytes.length < HEADER) throw new BlockError("it ends inside its header");
  const end = HEADER + new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
  if (end > bytes.length) throw new BlockError("its index is longer than the block");
  try {
    return { index: JSON.parse(new TextDecoder().decode(bytes.subarray(HEADER, end))) as unknown, end };
  } catch (e) {
    throw new BlockError(`its index is not JSON (${e instanceof Error ? e.message : "unknown error"})`);
  }
}
