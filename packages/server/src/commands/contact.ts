import type { Client } from '@firsthand/client';
import type { Command } from 'commander';
import { printJSON, printLine, toTable } from './shared/printing.ts';
import { addServer, connect, type ServerOptions } from './shared/server.ts';

export const define = (command: Command): void => {
  addServer(command.command('show <contactUUID>').description('show a contact, by its contactUUID or e-mail address'))
    // A contactUUID may begin with a hyphen.
    .allowUnknownOption()
    .action(show);
};

const findUUID = async (client: Client, name: string): Promise<string> => {
  if (!name.includes('@')) return name;
  const { contact } = await client.searchContact({ contactEmailaddress: name });
  const [found] = contact;
  if (!found) throw new Error('no contact has this e-mail address');
  return found.contactUUID;
};

const show = async (name: string, options: ServerOptions): Promise<void> => {
  const client = await connect(options);
  const answer = await client.getContact({ contactUUID: await findUUID(client, name) });
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
