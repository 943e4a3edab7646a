/** A server in this process, and an account on it. */
import { createClient } from '@firsthand/client';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { readConfig } from '../src/config.ts';
import { type ServeOptions, serve } from '../src/serve.ts';
import { temporaryDatabase } from './command-fixture.ts';

export const operatorToken = 'operator_of-a-test-0123456789abc';
export const userUUID = 'a-browser-of-a-test';

/** Serves on a free port, with a database of its own unless `env` names one; closed at the end of the test. */
export const serveHere = async (env: Readonly<Record<string, string>> = {}, options: ServeOptions = {}) => {
  const config = readConfig({ PORT: '0', OPERATOR_TOKEN: operatorToken, ...temporaryDatabase().env, ...env });
  const serving = await serve(config, { log: pino({ level: 'silent' }), ...options });
  onTestFinished(async () => {
    await serving.close();
  });
  return serving;
};

export const createAccount = (url: string) =>
  createClient({ url, token: operatorToken }).createAccount({ accountName: 'Shop' });
