import type { Command } from 'commander';
import { UsageError } from './shared/command-errors.ts';
import { printJSON, printLine, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

export const define = (command: Command): void => {
  addServerOptions(
    command.command('show [contactUUID]').description('show a contact, by its contactUUID or e-mail address'),
  )
    .option('--external-id <contactExternalID>', 'find the contact by your own ID')
    // A contactUUID may begin with a hyphen.
    .allowUnknownOption()
    .action(show);
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
  const answer = await client.getContact(contact);
  if (options.json) return printJSON(answer);
  const { tag, contactAttr, claimed, ...fields } = answer.contact;
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
