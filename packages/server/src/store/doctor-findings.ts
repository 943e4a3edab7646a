/** Findings of `firsthand doctor` that both drivers report. */

import { dayMilliseconds } from '../shared/time.ts';
import type { AccountSize } from './store.ts';

/** `day` is the newest day on which an event was received, in days since 1970; 0 or less: none was received. */
export const clockFinding = (day: number): Finding => ({
  name: 'clock',
  ok: day <= Math.floor(Date.now() / dayMilliseconds) + 1,
  detail:
    day <= 0
      ? 'no event was received yet'
      : `the newest event was received on ${new Date(day * dayMilliseconds).toISOString().slice(0, 10)}`,
});

export const refusedFinding = ({ listed, evicted }: { listed: number; evicted: number }): Finding => ({
  name: 'refused requests',
  ok: true,
  detail: `${listed} listed, ${evicted} gave way${listed > 0 ? '; firsthand refused list shows them' : ''}`,
});

/** Whether the time at which an unknown proxy was seen still counts. */
export const isRecentProxy = (seenTime: number | null, now: number): seenTime is number =>
  seenTime !== null && seenTime >= now - dayMilliseconds;

/**
 * A proxy that still forwards was seen within the last hour: see http/access/proxy-notice.ts. A time more than a day old is no
 * longer reported.
 */
export const proxyFinding = (seenTime: number | null): Finding => {
  const isRecent = isRecentProxy(seenTime, Date.now());
  const detail = !isRecent
    ? 'no unlisted proxy forwards requests'
    : `one on a private address forwarded requests on ${new Date(seenTime).toISOString()} while TRUST_PROXY was not set: ` +
      'all its visitors share one rate limit';
  return { name: 'proxy', ok: !isRecent, detail };
};

/** The result of one check of `firsthand doctor`. */
export interface Finding {
  readonly name: string;
  /** False: somebody needs to act. */
  readonly ok: boolean;
  readonly detail: string;
}

export interface ExamineOptions {
  /** The quota of every account, in bytes; undefined: no quota. */
  readonly accountBytes?: number | undefined;
  /** The folder of scheduled backups; undefined: none are made. */
  readonly backupDir?: string | undefined;
  /** In milliseconds. */
  readonly backupEvery?: number | undefined;
}

/** From this fraction of the quota on, an account is reported. */
export const nearQuota = 0.8;
const maxNamed = 10;

/** Reports the accounts that are over or near their quota: how many, and the largest `maxNamed` by name. */
export const quotaFindings = (sizes: readonly AccountSize[], { accountBytes }: ExamineOptions): Finding[] => {
  if (accountBytes === undefined) return [];
  const listed = (found: readonly AccountSize[]) => {
    const largest = found.toSorted((one, other) => other.storedBytes - one.storedBytes).slice(0, maxNamed);
    const names = largest.map(({ accountUUID, storedBytes }) => `${accountUUID} (${storedBytes} bytes)`);
    return `${found.length}${names.length > 0 ? `: ${names.join(', ')}` : ''}`;
  };
  const over = sizes.filter(({ storedBytes }) => storedBytes >= accountBytes);
  const near = sizes.filter(({ storedBytes }) => storedBytes >= accountBytes * nearQuota && storedBytes < accountBytes);
  return [
    { name: 'over their quota', ok: over.length === 0, detail: `${listed(over)}; ACCOUNT_BYTES is ${accountBytes}` },
    { name: 'near their quota', ok: true, detail: `${listed(near)}; from ${nearQuota * 100} % on` },
  ];
};
