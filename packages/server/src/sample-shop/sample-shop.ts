/** Fills and removes a running server's sample shop on request, and simulates visitors while someone views it. */
import type { Logger } from 'pino';
import type { SampleShop } from '../http/console/sample-shop.ts';
import { createFairQueue } from '../shared/fair-queue.ts';
import { createRandom } from '../shared/random.ts';
import { repeat } from '../shared/repeat.ts';
import type { Store } from '../store/store.ts';
import { findSampleShop, isComplete, isSampleShop, removeSampleShop } from './account.ts';
import { fillSampleShop, type Progress } from './fill.ts';
import { createBrowser, playVisit } from './month.ts';
import { sourceWeights } from './shop.ts';

const tickMs = 5_000;
/** Limited so that leaving the console open does not fill the disk. */
const visitorsMs = 30 * 60_000;
const msPerVisitor = 20_000;

/**
 * Returns a function that stores the visitors' events since its last call. It resolves to false once the visits are
 * over.
 */
export const createVisitors = (store: Store, account: number, now = Date.now) => {
  const startTime = now();
  const random = createRandom(startTime);
  let futureEvents = Array.from({ length: visitorsMs / msPerVisitor }, (_, nth) => {
    const from = random.weighted(sourceWeights.visitors);
    const start = startTime + nth * msPerVisitor;
    return playVisit(random, { browser: createBrowser(random), from, start, depth: 'product' });
  }).flat();
  return async (): Promise<boolean> => {
    const time = now();
    const tokens = await store.listTokens({ account });
    const token = tokens.find(({ kind, revokedTime }) => kind === 'browser' && revokedTime === null);
    // If there is no live token, the shop is being removed.
    if (token === undefined || time > startTime + visitorsMs) return false;
    const events = futureEvents.filter(({ eventTime }) => eventTime <= time);
    futureEvents = futureEvents.filter(({ eventTime }) => eventTime > time);
    const caller = { account, token: token.token, browser: true };
    if (events.length > 0) await store.logEvents({ ...caller, receivedTime: time, events });
    return true;
  };
};

/** `size.events` is the number of events in the shop. */
export const createSampleShop = (store: Store, log: Logger, size: { readonly events?: number } = {}): SampleShop => {
  /** Runs one fill or removal at a time. */
  const takeTurn = createFairQueue(1);
  const inTurn = <Value>(work: () => Promise<Value>) => takeTurn({ account: 0 }, work);
  let progress: Progress | undefined;
  let stopVisitors: (() => unknown) | undefined;
  const startVisitors = (account: number): number => {
    stopVisitors?.();
    const visit = createVisitors(store, account);
    const stop = repeat(async () => {
      if (!(await visit().catch(() => false))) stop();
      return tickMs;
    });
    stopVisitors = stop;
    return account;
  };
  return {
    progress: () => progress,
    isShop: (accountUUID) => isSampleShop({ accountUUID }),
    exists: async () => (await findSampleShop(store)) !== undefined,
    fill: () =>
      inTurn(async () => {
        const existing = await findSampleShop(store);
        if (existing && (await isComplete(store, existing.account))) return startVisitors(existing.account);
        // The shop is incomplete: its filling or removal was interrupted.
        await removeSampleShop(store);
        const onProgress = (current: Progress) => {
          progress = current;
        };
        try {
          const { accountUUID } = await fillSampleShop(store, { ...size, onProgress });
          return startVisitors((await store.findAccount(accountUUID)) as number);
        } finally {
          progress = undefined;
        }
      }),
    /** Resolves once the shop can no longer be read. Its rows are then deleted in steps. */
    remove: () =>
      new Promise((resolve, reject) => {
        inTurn(async () => {
          stopVisitors?.();
          await removeSampleShop(store, { onProgress: () => resolve() });
          resolve();
        }).catch((error) => {
          log.error({ error }, 'the sample shop was only partly removed: run firsthand demo-data --remove to continue');
          reject(error);
        });
      }),
  };
};
