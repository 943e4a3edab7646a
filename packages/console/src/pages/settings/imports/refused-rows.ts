/**
 * The refused rows as a file: JSON lines, regardless of the imported file's format, so that they can be fixed and
 * imported.
 */
import { readRecords } from '@firsthand/import-formats';
import type { Refusal } from './event-import.ts';

const maxLength = 100_000_000;

/** Reads the refused rows from the imported file again, so that an import doesn't have to hold them in memory. */
export const readRefusedRows = async (file: File, refusals: readonly Refusal[]): Promise<Blob> => {
  const reasons = new Map(refusals.map(({ line, reason }) => [line, reason]));
  const last = Math.max(...reasons.keys());
  // Rows that could be read come first: an import detects the format from the file's first line.
  const [rows, others]: [string[], string[]] = [[], []];
  let length = 0;
  read: for await (const records of readRecords(file.stream())) {
    for (const record of records) {
      const reason = reasons.get(record.line);
      if (record.line > last || length > maxLength) break read;
      if (reason === undefined || 'header' in record) continue;
      const { line } = record;
      const row = 'row' in record ? record.row : undefined;
      const text = `${JSON.stringify({ line, reason, ...row })}\n`;
      (row ? rows : others).push(text);
      length += text.length;
    }
  }
  return new Blob([...rows, ...others], { type: 'application/x-ndjson' });
};
