import { pino } from 'pino';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { serve } from '../../src/serving/serve.ts';
import { temporaryDatabase } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

const { quotas, loading } = vi.hoisted(() => ({ quotas: [] as { stopped: boolean }[], loading: { fails: false } }));

vi.mock('../../src/http/access/quota.ts', async (original) => {
  const { startQuota } = await original<typeof import('../../src/http/access/quota.ts')>();
  return {
    startQuota: (...args: Parameters<typeof startQuota>) => {
      const quota = startQuota(...args);
      const state = { stopped: false };
      quotas.push(state);
      return {
        ...quota,
        stop: async () => {
          await quota.stop();
          state.stopped = true;
        },
      };
    },
  };
});

vi.mock('../../src/serving/application.ts', async (original) => {
  const { loadApplication } = await original<typeof import('../../src/serving/application.ts')>();
  return {
    loadApplication: async (withDemo: boolean) => {
      if (loading.fails) throw new Error('a module is missing');
      return loadApplication(withDemo);
    },
  };
});

beforeEach(() => {
  quotas.length = 0;
  loading.fails = false;
});

const log = pino({ level: 'silent' });

/** An IP address that no machine has, because it is reserved for documentation (RFC 5737). */
const unusedAddress = '203.0.113.1';

it('stops measuring the accounts when it cannot listen', async () => {
  const { env } = temporaryDatabase();
  const config = readConfig({ ...env, PORT: '0', HOST: unusedAddress, ACCOUNT_BYTES: '1000000000' });
  await expect(serve(config, { log })).rejects.toThrow(/^cannot listen/);
  expect(quotas).toEqual([{ stopped: true }]);
});

it('throws only the store’s error if the application also fails to load', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  const { env } = temporaryDatabase();
  await serveHere(env);
  loading.fails = true;
  await expect(serve(readConfig({ ...env, PORT: '0' }), { log })).rejects.toThrow(/is being served already/);
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});
