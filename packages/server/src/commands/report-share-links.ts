/** `firsthand report share`: the console's share links. */
import type { Command } from 'commander';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

export const defineShareLinks = (command: Command): void => {
  addServerOptions(command.command('list').description('list the links, newest first')).action(list);
  addServerOptions(
    command.command('revoke <shareID>').description('revoke a link; it stops working immediately'),
  ).action(revoke);
};

const list = async (options: ServerOptions): Promise<void> => {
  const response = await (await connect(options)).listShareLinks({});
  if (options.json) return printJSON(response);
  const rows = response.shareLink.map(({ shareID, shareName, expiresTime, lastUsedTime }) => [
    shareID,
    toMinute(expiresTime),
    lastUsedTime === undefined ? 'never' : toMinute(lastUsedTime),
    shareName,
  ]);
  printLine(toTable([['ID', 'EXPIRES', 'LAST USED', 'NAME'], ...rows]));
};

const revoke = async (shareID: string, options: ServerOptions): Promise<void> => {
  const response = await (await connect(options)).revokeShareLink({ shareID });
  if (options.json) return printJSON(response);
  printLine(`${response.shareID} was revoked`);
};
