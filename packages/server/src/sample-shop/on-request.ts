/** Fills and removes the sample shop of a running server, at the request of somebody who tries it out. */
import type { Logger } from 'pino';
import type { SampleShop } from '../http/console/routes.ts';
import type { Store } from '../store/store.ts';
import { findSampleShop, isSampleShop, isWhole } from './account.ts';
import { fillSampleShop, type Progress } from './fill.ts';
import { sizeOf } from './month.ts';
import { removeSampleShop } from './remove.ts';
import { startVisitors } from './visitors.ts';

/** `events` is how many events it has, about. */
export const createSampleShop = (
  store: Store,
  log: Logger,
  { events }: { readonly events?: number } = {},
): SampleShop => {
  /** One at a time; each waits for the one before, whether or not that failed. */
  let last: Promise<unknown> = Promise.resolve();
  const next = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const begun = last.then(work, work);
    last = begun.catch(() => {});
    return begun;
  };
  let progress: Progress | undefined;
  let endVisitors = () => {};
  /** Visitors come while somebody looks around. */
  const enter = (account: number): number => {
    endVisitors();
    endVisitors = startVisitors({ store, account });
    return account;
  };
  return {
    progress: () => progress,
    isShop: (accountUUID) => isSampleShop({ accountUUID }),
    exists: async () => (await findSampleShop(store)) !== undefined,
    fill: () =>
      next(async () => {
        const { account } = (await findSampleShop(store)) ?? {};
        if (account !== undefined && (await isWhole(store, account))) return enter(account);
        // Filling it, or removing it, was interrupted.
        if (account !== undefined) await removeSampleShop(store);
        const onProgress = (now: Progress) => {
          progress = now;
        };
        const size = events === undefined ? {} : { size: sizeOf(events) };
        try {
          const { accountUUID } = await fillSampleShop(store, { ...size, onProgress });
          return enter((await store.findAccount(accountUUID)) as number);
        } finally {
          progress = undefined;
        }
      }),
    /** Resolves when nobody can read the shop any more. Its rows are deleted after that, in steps. */
    remove: () =>
      new Promise((resolve, reject) => {
        next(() => {
          endVisitors();
          return removeSampleShop(store, { onProgress: () => resolve() });
        }).then(
          () => resolve(),
          (error) => {
            log.error({ error }, 'the sample shop was removed in part only: firsthand demo-data --remove goes on');
            reject(error);
          },
        );
      }),
  };
};
