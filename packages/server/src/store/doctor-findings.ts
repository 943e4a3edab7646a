/** The findings of `firsthand doctor` that both drivers report. */

import { dayMilliseconds } from '../shared/time.ts';
import type { AccountSize } from './store.ts';

/** `day` is the last day on which an event was received, in days since 1970; 0 or less if no event was received. */
export const checkClock = (day: number): Finding => ({
  name: 'clock',
  ok: day <= Math.floor(Date.now() / dayMilliseconds) + 1,
  detail:
    day <= 0
      ? 'no events received yet'
      : `last event received on ${new Date(day * dayMilliseconds).toISOString().slice(0, 10)}`,
});

export const checkRefused = ({ listed, evicted }: { listed: number; evicted: number }): Finding => ({
  name: 'refused requests',
  ok: true,
  detail: `${listed} listed, ${evicted} evicted${listed > 0 ? '; run firsthand refused list to see them' : ''}`,
});

/** Whether an unlisted proxy was seen within the last day. */
export const isRecentProxy = (seenTime: number | null, now: number): seenTime is number =>
  seenTime !== null && seenTime >= now - dayMilliseconds;

/** A day-old record is stale: while a proxy is active, http/access/proxy-notice.ts records it again every hour. */
export const checkProxy = (seenTime: number | null): Finding => {
  const isRecent = isRecentProxy(seenTime, Date.now());
  const detail = !isRecent
    ? 'no unlisted proxy forwards requests'
    : `a proxy on a private address forwarded requests on ${new Date(seenTime).toISOString()} while TRUST_PROXY was not ` +
      'set: all its visitors share one rate limit';
  return { name: 'proxy', ok: !isRecent, detail };
};

/** The result of one `firsthand doctor` check. */
export interface Finding {
  readonly name: string;
  /** False if the operator has to act. */
  readonly ok: boolean;
  readonly detail: string;
}

export interface ExamineOptions {
  /** The quota of each account, in bytes. Undefined if there is no quota. */
  readonly accountBytes?: number | undefined;
  /** The folder of scheduled backups. Undefined if they are off. */
  readonly backupDir?: string | undefined;
  /** The interval of scheduled backups, in milliseconds. */
  readonly backupEvery?: number | undefined;
}

/** Accounts that use at least this fraction of the quota are reported. */
export const nearQuotaFraction = 0.8;
const maxListed = 10;

/**
 * Counts the accounts that are over or near their quota, and lists up to `maxListed` of the largest accounts in each
 * group.
 */
export const checkQuotas = (sizes: readonly AccountSize[], { accountBytes }: ExamineOptions): Finding[] => {
  if (accountBytes === undefined) return [];
  const describe = (accounts: readonly AccountSize[]) => {
    const largest = accounts.toSorted((a, b) => b.storedBytes - a.storedBytes).slice(0, maxListed);
    const names = largest.map(({ accountUUID, storedBytes }) => `${accountUUID} (${storedBytes} bytes)`);
    return `${accounts.length}${names.length > 0 ? `: ${names.join(', ')}` : ''}`;
  };
  const over = sizes.filter(({ storedBytes }) => storedBytes >= accountBytes);
  const near = sizes.filter(
    ({ storedBytes }) => storedBytes >= accountBytes * nearQuotaFraction && storedBytes < accountBytes,
  );
  return [
    {
      name: 'accounts over quota',
      ok: over.length === 0,
      detail: `${describe(over)}; ACCOUNT_BYTES is ${accountBytes}`,
    },
    { name: 'accounts near quota', ok: true, detail: `${describe(near)}; at least ${nearQuotaFraction * 100}% used` },
  ];
};
