/** Starts the server for screenshots, with a demo page, an account without data, and the sample shop. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@firsthand/client';
import { pino } from 'pino';
import { readConfig } from '../../../src/config/config.ts';
import { fillSampleShop } from '../../../src/sample-shop/fill.ts';
import { serve } from '../../../src/serving/serve.ts';
import { openStore } from '../../../src/store/open.ts';

const operatorToken = 'operator_of-the-pictures-0123456789';

export interface SampleServer {
  readonly url: string;
  /** The server token for an account without data. */
  readonly emptyToken: string;
  /** The sample shop's server token. */
  readonly shopToken: string;
  /** The contactUUID of Ada Lovelace in the sample shop. */
  readonly ada: string;
  /** The userUUID of an anonymous browser in the sample shop. */
  readonly anonymous: string;
  close(): Promise<void>;
}

const fill = async (databaseURL: string): Promise<string> => {
  const onFatal = (error: Error): never => {
    throw error;
  };
  const store = await openStore({ databaseURL, role: 'command', create: true, onFatal });
  try {
    const { serverTokenUUID } = await fillSampleShop(store);
    return serverTokenUUID;
  } finally {
    await store.close();
  }
};

export const openSampleServer = async (): Promise<SampleServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-pictured-'));
  const databaseURL = `sqlite:${folder}/firsthand.db`;
  const shopToken = await fill(databaseURL);
  const config = readConfig({ DATABASE_URL: databaseURL, PORT: '0', OPERATOR_TOKEN: operatorToken });
  const serving = await serve(config, { demo: true, log: pino({ level: 'silent' }) });
  const { url } = serving;
  const { serverTokenUUID } = await createClient({ url, token: operatorToken }).createAccount({
    accountName: 'Teahouse',
  });
  const shop = createClient({ url, token: shopToken });
  const { contact } = await shop.searchContact({ text: 'Ada Lovelace' });
  const { event } = await shop.getEvent({ limit: 200 });
  return {
    url,
    emptyToken: serverTokenUUID,
    shopToken,
    ada: contact[0]?.contactUUID ?? '',
    anonymous: event.find(({ contactUUID }) => contactUUID === '')?.userUUID ?? '',
    async close() {
      await serving.close();
      rmSync(folder, { recursive: true });
    },
  };
};
