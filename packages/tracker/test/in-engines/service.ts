/** The real service, in a separate process that can be killed and restarted with its data. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@firsthand/client';
import { freePort } from '../../../server/test/tools/ports.ts';
import { startServerProcess } from '../../../server/test/tools/server-process.ts';

export interface Account {
  readonly browserToken: string;
  /** A client with the account's server token. */
  readonly api: Client;
}

export interface Service {
  readonly url: string;
  createAccount(): Promise<Account>;
  /** Kills the process with SIGKILL. All data that the service has acknowledged is on disk. */
  kill(): Promise<void>;
  /** Restarts the process after `kill`, with the same data and port. */
  restart(): Promise<void>;
  /** Kills the process and deletes its data. */
  close(): Promise<void>;
}

export const openService = async (): Promise<Service> => {
  const folder = await mkdtemp(join(tmpdir(), 'firsthand-service-'));
  const databasePath = join(folder, 'firsthand.db');
  const operatorToken = 'operator_of_the_tests_in_engines';
  process.env.OPERATOR_TOKEN = operatorToken;
  let served = await startServerProcess(databasePath, await freePort());
  const { url } = served;
  const operator = createClient({ url, token: operatorToken });
  const kill = async () => {
    if (served.process.exitCode !== null || served.process.signalCode !== null) return;
    const exited = new Promise((resolve) => served.process.once('exit', resolve));
    served.process.kill('SIGKILL');
    await exited;
  };
  return {
    url,
    createAccount: async () => {
      const { browserTokenUUID, serverTokenUUID } = await operator.createAccount({ accountName: 'A shop' });
      return { browserToken: browserTokenUUID, api: createClient({ url, token: serverTokenUUID }) };
    },
    kill,
    restart: async () => {
      served = await startServerProcess(databasePath, Number(new URL(url).port));
    },
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
