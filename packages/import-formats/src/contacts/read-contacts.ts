/** Reads a CSV file of contacts. */
import { readRecords, type Source } from '../files/read-records.ts';
import { type FileRecord, type Row, UnreadableFileError } from '../files/record.ts';
import { notUTF8 } from '../files/text.ts';
import { type ColumnMapping, type ContactTarget, mapColumns } from './columns.ts';
import { type ImportedContact, type RowProblem, toContact } from './to-contact.ts';

/** A row in a file: the line on which it begins, and its contact or the reason that it has none. */
export type ContactReading = { readonly line: number; readonly row?: Row } & (
  | { readonly contact: ImportedContact }
  | RowProblem
);

export interface ContactFile {
  readonly header: readonly string[];
  readonly columns: ColumnMapping;
}

type Chosen = ReadonlyMap<string, ContactTarget | undefined>;

const findRepeated = <T>(values: readonly T[]): T | undefined => {
  const seen = new Set<T>();
  return values.find((value) => seen.size === seen.add(value).size);
};

const toFile = (header: readonly string[], chosen: Chosen | 'preview'): ContactFile => {
  // Spreadsheets append columns without a name, so empty names may repeat.
  const repeated = findRepeated(header.filter((name) => name !== ''));
  if (repeated !== undefined)
    throw new UnreadableFileError(`the file has two columns \`${repeated}\`: rename or remove one of them`);
  if (chosen === 'preview') return { header, columns: new Map() };
  const unknown = [...chosen.keys()].find((name) => !header.includes(name));
  if (unknown !== undefined)
    throw new UnreadableFileError(`the file has no column \`${unknown}\`. Its columns are ${header.join(', ')}`);
  const columns = mapColumns(header, chosen);
  const targets = [...columns.values()];
  const target = findRepeated(targets);
  if (target !== undefined) {
    const names = [...columns].flatMap(([name, each]) => (each === target ? [`\`${name}\``] : []));
    throw new UnreadableFileError(`${names.join(' and ')} are both imported as \`${target}\`: choose one of them`);
  }
  if (!targets.includes('contactEmailaddress') && !targets.includes('contactExternalID'))
    throw new UnreadableFileError(
      `no column is recognized as the e-mail address. The columns are ${header.join(', ')}: choose one of them`,
    );
  return { header, columns };
};

/** Text in another encoding would be stored incorrectly, so the whole file is refused. */
const refuseOtherEncoding = (record: FileRecord): void => {
  if ('problem' in record && record.problem === notUTF8)
    throw new UnreadableFileError(`line ${record.line}: ${notUTF8} (in Excel: CSV UTF-8)`);
};

/**
 * Reads the file, in order. The same file and columns always give the same readings, so an interrupted import can
 * continue after the contacts that it has stored. Rejects with an UnreadableFileError. A preview contains only the
 * rows, and does not need a column with a key.
 */
export async function* readContacts(
  source: Source,
  chosen: Chosen | 'preview' = new Map(),
): AsyncGenerator<ContactReading & { readonly file: ContactFile }> {
  let file: ContactFile | undefined;
  for await (const records of readRecords(source)) {
    for (const record of records) {
      refuseOtherEncoding(record);
      if ('header' in record) {
        file = toFile(record.header, chosen);
        continue;
      }
      if (file === undefined)
        throw new UnreadableFileError('the file must be CSV, with the column names on its first line');
      const { line } = record;
      if ('problem' in record) yield { file, line, problem: record.problem };
      else yield { file, line, row: record.row, ...toContact(record.row, file.columns) };
    }
  }
  if (file === undefined) throw new UnreadableFileError('the file is empty');
}
