import type { Client } from '@firsthand/client';
import type { Command } from 'commander';
import { jsonFlag } from './shared/flags.ts';
import { printJSON, printLine, toList } from './shared/printing.ts';
import { addServer, connect } from './shared/server.ts';

export const define = (command: Command): void => {
  addServer(command.command('show <contactUUID>').description('show a contact, by its contactUUID or e-mail address'))
    .option(...jsonFlag)
    // A contactUUID may begin with a hyphen.
    .allowUnknownOption()
    .action(show);
};

type Options = { readonly url?: string; readonly token?: string; readonly json?: boolean };

const findUUID = async (client: Client, name: string): Promise<string> => {
  if (!name.includes('@')) return name;
  const { contact } = await client.searchContact({ contactEmailaddress: name });
  const [found] = contact;
  if (!found) throw new Error('no contact has this e-mail address');
  return found.contactUUID;
};

const show = async (name: string, options: Options): Promise<void> => {
  const client = await connect(options);
  const answer = await client.getContact({ contactUUID: await findUUID(client, name) });
  if (options.json) return printJSON(answer);
  const { tag, contactAttr, claimed, ...fields } = answer.contact;
  const isClaimed = (field: string) => (claimed.includes(field) ? '  (claimed)' : '');
  printLine(
    toList([
      ...Object.entries(fields).map(([field, value]) => [field, `${value}${isClaimed(field)}`] as const),
      ...contactAttr.map(
        ({ attrID, attrValue }) => [attrID, `${attrValue}${isClaimed(`contactAttr.${attrID}`)}`] as const,
      ),
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
