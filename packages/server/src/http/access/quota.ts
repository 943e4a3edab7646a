/** Checks every few seconds which accounts store `ACCOUNT_BYTES` or more. */
import type { Logger } from 'pino';
import { repeat } from '../../shared/repeat.ts';
import { nearQuotaFraction } from '../../store/doctor-findings.ts';
import type { AccountSize, Store } from '../../store/store.ts';

const hourMilliseconds = 3_600_000;
/** The minimum pause, as a multiple of a measurement's duration: measuring is slow with millions of contacts. */
const pauseFactor = 20;

export interface Quota {
  readonly accountBytes: number;
  /** Whether the account had reached its quota at the last measurement. */
  isOver(account: number): boolean;
}

interface QuotaOptions {
  readonly accountBytes: number;
  readonly log: Logger;
  readonly everyMilliseconds?: number;
  /** Monotonic, in milliseconds. */
  readonly clock?: () => number;
}

/** Warns at most once an hour about each account that is near or over its quota, in the log and by its webhooks. */
const createWarnings = (
  store: Pick<Store, 'noticeQuota'>,
  { accountBytes, log, clock }: Required<Omit<QuotaOptions, 'everyMilliseconds'>>,
) => {
  const warnedAt = new Map<string, number>();
  const warn = async (level: string, { account, accountUUID, storedBytes }: AccountSize, message: string) => {
    const key = `${level} ${accountUUID}`;
    const now = clock();
    if (now - (warnedAt.get(key) ?? Number.NEGATIVE_INFINITY) < hourMilliseconds) return;
    warnedAt.set(key, now);
    log.warn({ accountUUID, storedBytes, accountBytes }, message);
    const percent = level === 'over' ? 100 : nearQuotaFraction * 100;
    await store.noticeQuota({ account, percent, storedBytes, accountBytes, time: Date.now() }).catch((err) => {
      log.error({ err, accountUUID }, 'the message of webhooks about a quota could not be stored');
    });
  };
  return async (size: AccountSize): Promise<void> => {
    if (size.storedBytes >= accountBytes)
      await warn('over', size, 'the account is over ACCOUNT_BYTES: new data is refused');
    else if (size.storedBytes >= accountBytes * nearQuotaFraction)
      await warn('near', size, 'the account is near ACCOUNT_BYTES');
  };
};

/**
 * Measures all accounts immediately, then every five seconds, or less often if measuring is slow. `stop` waits for the
 * current measurement.
 */
export const startQuota = (
  store: Pick<Store, 'measureAccounts' | 'noticeQuota'>,
  { accountBytes, log, everyMilliseconds = 5_000, clock = () => performance.now() }: QuotaOptions,
): Quota & { stop(): Promise<void> } => {
  const warn = createWarnings(store, { accountBytes, log, clock });
  let over = new Set<number>();
  let failing = false;

  const measure = async () => {
    const sizes = await store.measureAccounts();
    over = new Set(sizes.filter(({ storedBytes }) => storedBytes >= accountBytes).map(({ account }) => account));
    await Promise.all(sizes.map(warn));
    failing = false;
  };

  const stop = repeat(async () => {
    const started = performance.now();
    await measure().catch((err) => {
      if (!failing) log.error({ err }, 'the accounts could not be measured; the last measurement still applies');
      failing = true;
    });
    return Math.max(everyMilliseconds, pauseFactor * (performance.now() - started));
  });
  return { accountBytes, isOver: (account) => over.has(account), stop };
};
