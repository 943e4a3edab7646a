/** The sample shop of a running server: fills and removes it on request, and lets visitors come while it is looked at. */
import type { Logger } from 'pino';
import type { SampleShop } from '../http/console/routes.ts';
import { createRandom } from '../shared/random.ts';
import { repeat } from '../shared/repeat.ts';
import { createTurns } from '../shared/turns.ts';
import type { Store } from '../store/store.ts';
import { findSampleShop, isComplete, isSampleShop, removeSampleShop } from './account.ts';
import { fillSampleShop, type Progress } from './fill.ts';
import { createBrowser, playVisit } from './month.ts';
import { sourceWeights } from './shop.ts';

const tickMs = 5_000;
/** A console that stays open must not fill the disk. */
const visitorsMs = 30 * 60_000;
const msPerVisitor = 20_000;

/** Returns a function that stores what visitors did since its last call. It resolves with whether there may be more later. */
export const createVisitors = (store: Store, account: number, now = Date.now) => {
  const begin = now();
  const random = createRandom(begin);
  let coming = Array.from({ length: visitorsMs / msPerVisitor }, (_, nth) => {
    const from = random.weighted(sourceWeights.visitors);
    const start = begin + nth * msPerVisitor;
    return playVisit(random, { browser: createBrowser(random), from, start, depth: 'product' });
  }).flat();
  return async (): Promise<boolean> => {
    const time = now();
    const tokens = await store.listTokens({ account });
    const token = tokens.find(({ kind, revokedTime }) => kind === 'browser' && revokedTime === null);
    // Without a token, the shop is being removed.
    if (token === undefined || time > begin + visitorsMs) return false;
    const events = coming.filter(({ eventTime }) => eventTime <= time);
    coming = coming.filter(({ eventTime }) => eventTime > time);
    const asker = { account, token: token.token, browser: true };
    if (events.length > 0) await store.logEvents({ ...asker, receivedTime: time, events });
    return true;
  };
};

/** `size.events` is how many events it has. */
export const createSampleShop = (store: Store, log: Logger, size: { readonly events?: number } = {}): SampleShop => {
  /** Filling and removing wait for each other. */
  const takeTurn = createTurns(1);
  const inTurn = <Value>(work: () => Promise<Value>) => takeTurn({ account: 0 }, work);
  let progress: Progress | undefined;
  let stopVisitors: (() => unknown) | undefined;
  const admitVisitors = (account: number): number => {
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
        if (existing && (await isComplete(store, existing.account))) return admitVisitors(existing.account);
        // Filling it, or removing it, was interrupted.
        await removeSampleShop(store);
        const onProgress = (current: Progress) => {
          progress = current;
        };
        try {
          const { accountUUID } = await fillSampleShop(store, { ...size, onProgress });
          return admitVisitors((await store.findAccount(accountUUID)) as number);
        } finally {
          progress = undefined;
        }
      }),
    /** Resolves when nobody can read the shop any more. Its rows are deleted after that, in steps. */
    remove: () =>
      new Promise((resolve, reject) => {
        inTurn(async () => {
          stopVisitors?.();
          await removeSampleShop(store, { onProgress: () => resolve() });
          resolve();
        }).catch((error) => {
          log.error({ error }, 'the sample shop was removed in part only: firsthand demo-data --remove goes on');
          reject(error);
        });
      }),
  };
};
