import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { type Command, Option } from 'commander';
import { defineImport } from './contact-import.ts';
import { UsageError } from './shared/command-errors.ts';
import { printJSON, printLine, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

export const define = (command: Command): void => {
  addServerOptions(
    command.command('show [contactUUID]').description('show a contact, by contactUUID or e-mail address'),
  )
    .option('--external-id <contactExternalID>', 'find the contact by your own ID')
    // A contactUUID can begin with a hyphen.
    .allowUnknownOption()
    .action(show);
  addServerOptions(
    command.command('export').description('write all contacts to standard output, with first and last touch'),
    { json: false },
  )
    .addOption(new Option('--format <format>', 'the format').choices(['csv', 'ndjson'] as const).default('csv'))
    .option('--segment <name>', "only contacts with an event that matches this segment's filter")
    .action(exportContacts);
  defineImport(command.command('import').description('import a CSV file of contacts'));
};

type ExportOptions = ServerOptions & { readonly format: 'csv' | 'ndjson'; readonly segment?: string };

const exportContacts = async ({ format, segment, ...options }: ExportOptions): Promise<void> => {
  const client = await connect(options);
  const stream = await client[format]('searchContact', { segment, include: ['touch'] });
  await pipeline(Readable.fromWeb(stream as WebStream), process.stdout, { end: false });
};

type ShowOptions = ServerOptions & { readonly externalId?: string };

const toContactKey = (name: string | undefined, { externalId: contactExternalID }: ShowOptions) => {
  if ((name === undefined) === (contactExternalID === undefined)) {
    throw new UsageError('either a contactUUID or e-mail address, or --external-id, is required');
  }
  return name?.includes('@') ? { contactEmailaddress: name } : { contactUUID: name, contactExternalID };
};

const show = async (name: string | undefined, options: ShowOptions): Promise<void> => {
  const contact = toContactKey(name, options);
  const client = await connect(options);
  const response = await client.getContact(contact);
  if (options.json) return printJSON(response);
  const { tag, contactAttr, claimed, ...fields } = response.contact;
  const isClaimed = (field: string) => (claimed.includes(field) ? '  (claimed)' : '');
  printLine(
    toTable([
      ...Object.entries(fields).map(([field, value]) => [field, `${value}${isClaimed(field)}`]),
      ...contactAttr.map(({ attrID, attrValue }) => [attrID, `${attrValue}${isClaimed(`contactAttr.${attrID}`)}`]),
      [
        'tags',
        tag
          .filter(({ opt }) => opt)
          .map(({ tagID, tagName }) => (tagID === tagName ? tagID : `${tagID} ${tagName}`))
          .join(', '),
      ],
    ]),
  );
};
