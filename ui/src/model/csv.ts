// Tables as CSV (RFC 4180). Text that a spreadsheet would run as a formula is made inert: names come from foreign hosts.

/** One CSV cell. */
export function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const inert = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Rows as CSV, lines ended by CRLF. */
export function csv(rows: (string | number | null)[][]): string {
  return rows.map((r) => `${r.map(cell).join(",")}\r\n`).join("");
}
