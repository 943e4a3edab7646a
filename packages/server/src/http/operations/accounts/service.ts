/** getService: describes the service to an account's owner. */

import { version } from '../../../shared/version.ts';
import { isRecentProxy } from '../../../store/doctor-findings.ts';
import type { Store } from '../../../store/store.ts';
import type { Handlers } from '../../access/caller.ts';
import type { RefusedPages } from '../../access/refused-pages.ts';
import { isoTime } from '../../responses/iso-time.ts';

/** The parts of the server's configuration that owners can see. */
export interface ServiceFacts {
  /** 0 if events are kept forever. */
  readonly retentionDays: number;
  /** The interval between scheduled backups; undefined if none are scheduled. */
  readonly backupEveryMs: number | undefined;
  /** Returns the time of the newest scheduled backup, in milliseconds since 1970; undefined if there is none. */
  readonly newestBackup: () => number | undefined;
}

export const noFacts: ServiceFacts = { retentionDays: 0, backupEveryMs: undefined, newestBackup: () => undefined };

export const createService = (
  store: Pick<Store, 'findUnknownProxy'>,
  {
    facts: { retentionDays, backupEveryMs, newestBackup },
    refusedPages,
  }: { readonly facts: ServiceFacts; readonly refusedPages: RefusedPages },
): Handlers<'getService'> => ({
  getService: async (_, { time, access: { account } }) => {
    const backupTime = newestBackup();
    const refused = account === null ? undefined : refusedPages.origins.latestOf(account);
    const leaked = account === null ? undefined : refusedPages.leakedTokens.latestOf(account);
    return {
      version,
      retentionDays,
      backupSeconds: Math.round((backupEveryMs ?? 0) / 1_000),
      ...(backupTime !== undefined && { backupTime: isoTime(backupTime) }),
      ...(refused && { refusedOrigin: { origin: refused.origin, refusedTime: isoTime(refused.time) } }),
      ...(leaked && {
        leakedToken: { origin: leaked.origin, tokenID: leaked.tokenID, refusedTime: isoTime(leaked.time) },
      }),
      unknownProxy: isRecentProxy(await store.findUnknownProxy(), time),
    };
  },
});
