/** Connects a command to a running server, with a server token. */
import type { Client } from '@firsthand/client';
import type { Command } from 'commander';
import { rootURL } from '../../serving/root-url.ts';
import { WrongUsage } from './command-errors.ts';
import { jsonFlag, settingsOf } from './flags.ts';

/** The options of every command with `addServer`. */
export type ServerOptions = { readonly url?: string; readonly token?: string; readonly json?: boolean };

export const addServer = (command: Command): Command =>
  command
    .option('--url <url>', "the server's root; by default made from HOST, PORT and BASE_PATH")
    .option('--token <token>', 'a server token; better in FIRSTHAND_TOKEN, because lists of processes show flags')
    .option(...jsonFlag);

/** A client of the server that the flags and variables name. Throws WrongUsage without a token or with an invalid URL. */
export const connect = async (options: ServerOptions): Promise<Client> => {
  const token = options.token ?? process.env.FIRSTHAND_TOKEN;
  if (!token) throw new WrongUsage('a server token is required: set FIRSTHAND_TOKEN, or give --token');
  const url = options.url ?? rootURL(settingsOf(['host', 'port', 'basePath'], {}));
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new WrongUsage('--url must be like http://127.0.0.1:3000');
  const { createClient } = await import('@firsthand/client');
  return createClient({ url, token });
};
