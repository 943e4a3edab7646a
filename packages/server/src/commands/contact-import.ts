/** `firsthand contact import`: imports a CSV file of contacts. */
import { createWriteStream, existsSync } from 'node:fs';
import { basename } from 'node:path';
import { finished } from 'node:stream/promises';
import {
  type ContactCounts,
  type ContactTarget,
  checkContacts,
  contactTargets,
  createRefusedTable,
  importContacts,
  isContactTarget,
  type RefusedRow,
} from '@firsthand/import-formats';
import type { Command } from 'commander';
import { UsageError } from './shared/command-errors.ts';
import { hashFile } from './shared/hash-file.ts';
import { openSource, readStart } from './shared/open-source.ts';
import { printError, printJSON, printLine, toCSVLine } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

export const defineImport = (command: Command): void => {
  const collect = (text: string, all: readonly string[] = []) => [...all, text];
  addServerOptions(command)
    .argument('<file>', 'a CSV file, with column names on its first line')
    .option(
      '--map <column=field>',
      `what a column contains: ${contactTargets.join(', ')}, or nothing; repeat the option for more columns`,
      collect,
    )
    .option('--profile <contactProfileID>', 'the profile for new contacts without one')
    .option('--dry-run', 'only show what would be created, changed and refused')
    .option('--refused <file>', 'write refused rows to this CSV file, so that you can fix and import them')
    .addHelpText('after', '\nIf it was interrupted, run the same command again.')
    .action(importFile);
};

interface ImportOptions extends ServerOptions {
  readonly map?: readonly string[];
  readonly profile?: string;
  readonly dryRun?: boolean;
  readonly refused?: string;
}

const parseColumns = (maps: readonly string[] = []): Map<string, ContactTarget | undefined> =>
  new Map(
    maps.map((map) => {
      const end = map.lastIndexOf('=');
      const target = map.slice(end + 1);
      if (end < 1 || (target !== '' && !isContactTarget(target)))
        throw new UsageError(`--map must be <column>=<field> with one of these fields: ${contactTargets.join(', ')}`);
      return [map.slice(0, end), target === '' ? undefined : (target as ContactTarget)] as const;
    }),
  );

/** A resumed import appends to the file of its earlier run. */
const createRefusedFile = (path: string | undefined, isContinued: boolean) => {
  const isAppended = isContinued && path !== undefined && existsSync(path);
  const output = path === undefined ? undefined : createWriteStream(path, { flags: isAppended ? 'a' : 'w' });
  let rows = 0;
  let table: ReturnType<typeof createRefusedTable> | undefined;
  return {
    add(refused: RefusedRow, header: readonly string[]): void {
      const { line, column, reason } = refused;
      table ??= createRefusedTable(header);
      if (rows === 0 && !isAppended) output?.write(`\ufeff${toCSVLine(table.header)}`);
      output?.write(toCSVLine(table.toCells(refused)));
      rows += 1;
      if (output === undefined && rows <= maxPrinted)
        printError(`line ${line}${column === '' ? '' : `, ${column}`}: ${reason}`);
    },
    async close(): Promise<void> {
      if (output === undefined) {
        if (rows > maxPrinted) printError(`and ${rows - maxPrinted} more: use --refused to write them to a file`);
        return;
      }
      output.end();
      await finished(output);
    },
  };
};
const maxPrinted = 20;

const toText = ({ created, changed, unchanged, refused }: ContactCounts, dryRun: boolean): string =>
  `${dryRun ? 'Would create' : 'Created'} ${created}, ${dryRun ? 'change' : 'changed'} ${changed}, ${dryRun ? 'refuse' : 'refused'} ${refused}; ${unchanged} unchanged`;

const importFile = async (file: string, options: ImportOptions): Promise<void> => {
  const { map, profile: contactProfileID, dryRun = false, json } = options;
  const columns = parseColumns(map);
  const client = await connect(options);
  const start = await readStart(file);
  const open = () => openSource(file, start);
  // Checked before anything is stored, because the rest of the file might be unreadable.
  const { settings } = await checkContacts({ open, columns }, contactProfileID);
  const entry = { kind: 'contacts', importName: basename(file), fingerprint: await hashFile(file, settings) } as const;
  const begun = dryRun ? undefined : await client.createImport(entry);
  if (begun?.state === 'complete') {
    if (json) return printJSON(begun);
    return printLine(`This file was imported before, as ${begun.importID}. Nothing has changed`);
  }
  const { importID, position = 0 } = begun ?? {};
  const refused = createRefusedFile(options.refused, position > 0);
  const { unreadable, ...counts } = await importContacts({
    open,
    columns,
    position,
    send: (batch) => client.importContacts({ ...batch, ...(dryRun ? { dryRun } : { importID }), contactProfileID }),
    onRefused: (row, { header }) => refused.add(row, header),
  }).finally(refused.close);
  if (begun === undefined) return json ? printJSON(counts) : printLine(toText(counts, dryRun));
  // The totals of all runs, and of batches whose response was lost.
  const all = await client.createImport(entry);
  const totals = { imported: all.imported, repeated: all.repeated, refused: all.refused + unreadable };
  if (json) return printJSON({ importID, ...counts, totals });
  if (position > 0)
    printLine(
      `Created or changed ${totals.imported}, refused ${totals.refused}; ${totals.repeated} unchanged. This run continued the import:`,
    );
  printLine(toText(counts, dryRun));
  printLine(`The import is ${importID}`);
};
