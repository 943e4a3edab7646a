/** Connects a command to a running server, with a server token. */
import type { Client } from '@firsthand/client';
import type { Command } from 'commander';
import { rootURL } from '../../serving/root-url.ts';
import { UsageError } from './command-errors.ts';
import { jsonFlag, toSettings } from './flags.ts';

/** The options that `addServerOptions` adds. */
export type ServerOptions = { readonly url?: string; readonly token?: string; readonly json?: boolean };

export const addServerOptions = (command: Command, { json } = { json: true }): Command => {
  command
    .option('--url <url>', "the server's root URL; by default built from HOST, PORT and BASE_PATH")
    .option('--token <token>', 'a server token; prefer FIRSTHAND_TOKEN, because process listings show flags');
  return json ? command.option(...jsonFlag) : command;
};

/**
 * Creates a client from the flags and environment variables. Throws UsageError without a token or with an invalid URL.
 */
export const connect = async (options: ServerOptions): Promise<Client> => {
  const token = options.token ?? process.env.FIRSTHAND_TOKEN;
  if (!token) throw new UsageError('a server token is required: set FIRSTHAND_TOKEN, or use --token');
  const url = options.url ?? rootURL(toSettings(['host', 'port', 'basePath'], {}));
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError('--url must be an HTTP URL, such as http://127.0.0.1:3000');
  const { createClient } = await import('@firsthand/client');
  return createClient({ url, token });
};
