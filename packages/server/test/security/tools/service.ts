/** Opens a complete service in this process: the operations, the tracker's files and the demo page. */
import { fileURLToPath } from 'node:url';
import { type Operation, operationNames, operations } from '@firsthand/contract/operations';
import { pino } from 'pino';
import { openDemo } from '../../../src/demo/demo.ts';
import { type AppOptions, createApp } from '../../../src/http/app.ts';
import type { Store } from '../../../src/store/store.ts';
import { createFakeReports } from '../../fixtures/reports/fake-reports.ts';
import { createSenders, type Fields, noRateLimits, openScene, type Scene } from '../../fixtures/scene.ts';

const tracker = fileURLToPath(new URL('../../../../tracker/dist/', import.meta.url));

export interface Service extends Scene {
  /** Every route in the application. */
  readonly paths: readonly string[];
}

export const openService = async (
  options: Partial<AppOptions> & { account?: Fields; wrap?: (store: Store) => Store } = {},
): Promise<Service> => {
  // Sets the name by which the demo finds its account.
  const { wrap, account, ...rest } = options;
  const scene = await openScene({ account: { accountName: 'Demo shop', ...account } });
  const store = wrap?.(scene.store) ?? scene.store;
  let logged = '';
  const log = pino({ level: 'trace' }, { write: (line) => (logged += line) });
  const files = { tracker };
  const reports = createFakeReports();
  const app = createApp({
    store,
    log,
    basePath: '/',
    trustProxy: [],
    rateLimits: noRateLimits,
    reports,
    files,
    ...rest,
  });
  const demo = await openDemo({ store: scene.store, log, isStopping: () => false, paths: { trackerPath: '/main.js' } });
  if (demo === undefined) throw new Error('openDemo found no demo account');
  demo.addTo(app, '/');
  const paths = [...new Set(app.routes.map(({ path }) => path))];
  return { ...scene, store, app, paths, logged: () => logged, ...createSenders(app) };
};

/** Every operation with each of its paths. */
export const operationPaths = operationNames.flatMap((name) => {
  const operation: Operation = operations[name];
  return operation.paths.map((path) => ({ name, operation, path, openToPages: operation.openToPages ?? false }));
});

/** A connection from a browser on the server's machine. */
export const localConnection = { incoming: { complete: true, socket: { remoteAddress: '127.0.0.1' } } };

/** Reads a whole body, or a stream until it is silent for a moment. */
export const readText = async (response: Response, silenceMilliseconds = 60): Promise<string> => {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) return response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), silenceMilliseconds);
    });
    const next = await Promise.race([reader.read(), silence]);
    clearTimeout(timer);
    if (next === undefined || next.done) break;
    text += decoder.decode(next.value, { stream: true });
  }
  await reader.cancel().catch(() => {});
  return text;
};
