import { readRecords, type Source } from './files/read-records.ts';
import { UnreadableFileError } from './files/record.ts';
import type { Outcome } from './formats/format.ts';
import { type FormatName, findFormat, formatNames, formats } from './formats.ts';

/** An outcome for a row that begins on this line of the file. A Matomo row has several outcomes. */
export type Reading = Outcome & { readonly line: number };

/**
 * Finds a file's format by its header or its first object. If the format is unknown, rejects with an
 * UnreadableFileError whose message explains what to do.
 */
export const detectFormat = async (source: Source): Promise<FormatName> => {
  for await (const records of readRecords(source)) {
    for (const record of records) {
      if ('problem' in record) throw new UnreadableFileError(`line ${record.line}: ${record.problem}`);
      const fields = 'header' in record ? record.header : Object.keys(record.row);
      const format = findFormat(fields);
      if (format !== undefined) return format;
      // Each CSV file in a Plausible export has these columns.
      if (fields.includes('date') && fields.includes('visitors'))
        throw new UnreadableFileError(
          'the file contains daily totals, as Plausible exports them. Without visitors and their events, there is nothing to import',
        );
      const labels = formatNames.map((name) => formats[name].label).join(', ');
      throw new UnreadableFileError(
        `the file does not have a format that can be imported (${labels}). Its fields are ${fields.slice(0, 20).join(', ')}`,
      );
    }
  }
  throw new UnreadableFileError('the file is empty');
};

/**
 * Reads a file as messages, in order. The same file always gives the same readings, so an interrupted import can
 * continue after the readings that it has stored. Memory use does not depend on the file size.
 */
export async function* readMessages(source: Source, format: FormatName): AsyncGenerator<Reading> {
  const { label, fields, toMessages } = formats[format];
  for await (const records of readRecords(source)) {
    for (const record of records) {
      const { line } = record;
      if ('row' in record) for (const outcome of toMessages(record.row)) yield { line, ...outcome };
      else if ('problem' in record) yield record;
      else {
        const missing = fields.find((field) => !record.header.includes(field));
        if (missing !== undefined)
          throw new UnreadableFileError(`the header has no column \`${missing}\`, which files of ${label} have`);
      }
    }
  }
}
