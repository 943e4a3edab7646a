/**
 * Runs the stored reports of share links, one per account at a time, and shares each response among concurrent viewers.
 */

import type { ErrorCode } from '@firsthand/contract/errors';
import type { SharedOperation } from '@firsthand/contract/reports/share-link';
import { hashToken } from '../../../ingest/token.ts';
import { BoundedMap } from '../../../shared/bounded-map.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { OpenedShareLink, Store } from '../../../store/store.ts';
import { type Caller, type Handlers, withoutAccountSettings } from '../../access/caller.ts';
import type { RateLimit } from '../../access/rate-limits.ts';
import { requestAt, type SharedReport, type SharedView } from '../../operations/reports/shared-view.ts';
import { withoutAddresses } from './hidden-addresses.ts';

/** How long a response, or the refusal of a report that is too slow, is cached. */
const freshMilliseconds = 10_000;
const maxResults = 200;
/** How many reports of an account's links may be queued while one runs. */
const maxWaiting = 24;
const retryAfterSeconds = 5;
const hourMilliseconds = 3_600_000;
const maxCached = 10_000;

/**
 * Requests per address for the pages, views and reports of all links. Opening a link takes up to 14 requests: the page,
 * its view and 12 reports. So 20 people behind one address can open a link at the same time, then one more person every
 * three seconds.
 */
export const shareRate = { perSecond: 5, burst: 300 };

const unknownLink = (): Refusal => new Refusal('unknown_share_link', { message: 'this link is no longer valid' });

export const isUnknownShareLink = (error: unknown): boolean =>
  error instanceof Refusal && error.code === 'unknown_share_link';

/** A valid link and its view. */
export interface OpenLink {
  /** The hash of its secret. */
  readonly hash: string;
  readonly link: OpenedShareLink;
  readonly view: SharedView;
}

/**
 * Replaces the refusal of a report that was valid when the link was created: the reason might quote the report's
 * filter, which is private.
 */
const reportUnavailable = (): Refusal =>
  new Refusal('invalid_field', { message: 'this report can no longer be shown: ask for a new link' });

/** The refusals that viewers are allowed to see, because none quotes the filter. */
const publicCodes: readonly ErrorCode[] = ['report_too_slow', 'no_reports', 'unavailable', 'internal'];

const withoutReason = (error: unknown): unknown => {
  if (!(error instanceof Refusal)) return error;
  const { code, retryAfterSeconds } = error;
  return publicCodes.includes(code) ? new Refusal(code, { retryAfterSeconds, cause: error }) : reportUnavailable();
};

export interface Dependencies {
  readonly store: Pick<Store, 'findShareLink' | 'recordShareLinkUse'>;
  readonly handlers: Handlers<SharedOperation>;
  /** Counts wrong secrets, by address. */
  readonly unknownSecrets: Pick<RateLimit, 'take'>;
  /** Counts requests with a valid secret, by address. */
  readonly requestsOfAddress: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

const secretForm = /^share_[\w-]{32}$/;

/** Returns the caller for a link's reports, which has the link's account but not its creator's identity. */
const callerOf = ({ account, accountOrigin, accountTimezone }: OpenedShareLink, time: number): Caller => ({
  access: {
    ...withoutAccountSettings,
    ...{ token: -1, tokenID: '', kind: 'viewer', account, accountOrigin, accountTimezone },
  },
  tokenUUID: '',
  time,
  isShared: true,
});

/** Runs an account's reports one at a time. Rejects with Refusal if too many are queued. */
const createAccountQueue = () => {
  /** For each account, the last report that is queued or running, and the number of such reports. */
  const queues = new Map<number, { last: Promise<unknown>; length: number }>();
  return async <Value>(account: number, work: () => Promise<Value>): Promise<Value> => {
    const queue = queues.get(account) ?? { last: Promise.resolve(), length: 0 };
    if (queue.length > maxWaiting) throw new Refusal('no_reports', { retryAfterSeconds });
    queues.set(account, queue);
    queue.length += 1;
    const turn = queue.last.then(work);
    queue.last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      queue.length -= 1;
      if (queue.length === 0) queues.delete(account);
    }
  };
};

/**
 * Records the hour in which a link is used, in the background and once an hour. A failed write is retried on the next
 * use.
 */
const createUseRecorder = ({ store, now }: Pick<Dependencies, 'store' | 'now'>) => {
  /** The last recorded hour of use, by shareID. */
  const recordedHours = new BoundedMap<string, number>(maxCached);
  return ({ shareID, lastUsedTime }: OpenedShareLink): void => {
    const time = Math.floor(now() / hourMilliseconds) * hourMilliseconds;
    if (Math.max(lastUsedTime ?? 0, recordedHours.get(shareID) ?? 0) >= time) return;
    recordedHours.set(shareID, time);
    store.recordShareLinkUse({ shareID, time }).catch(() => recordedHours.delete(shareID));
  };
};

export const createSharedReports = ({ store, handlers, unknownSecrets, requestsOfAddress, now }: Dependencies) => {
  /** Rejects with the same Refusal whether the link was revoked, has expired or never existed. */
  const find = async (hash: string): Promise<OpenedShareLink> => {
    const link = await store.findShareLink({ hash, time: now() });
    if (link !== undefined) return link;
    throw unknownLink();
  };

  /**
   * Returns the link with this secret; rejects like `find`. Only wrong secrets count as guesses, so that guesses don't
   * block people who have a link at the same address. Looking up a wrong secret reads one index, which costs less than
   * the request itself.
   */
  const open = async (secret: unknown, address: string): Promise<OpenLink> => {
    if (typeof secret !== 'string' || !secretForm.test(secret)) throw unknownLink();
    const hash = hashToken(secret);
    const link = await find(hash).catch((error: unknown) => {
      if (isUnknownShareLink(error)) unknownSecrets.take(address);
      throw error;
    });
    requestsOfAddress.take(address);
    return { hash, link, view: JSON.parse(link.view) };
  };

  const inTurn = createAccountQueue();

  /** The responses of reports that are queued, running, or still fresh. */
  const results = new BoundedMap<string, Promise<object>>(maxResults);
  const forgetLater = (key: string): void => {
    setTimeout(() => results.delete(key), freshMilliseconds).unref();
  };

  const runReport = async ({ link, view }: OpenLink, report: SharedReport): Promise<object> => {
    const time = now();
    const input = requestAt(report, { moving: view.moving, createdTime: link.createdTime, time });
    if (input === undefined) throw reportUnavailable();
    // The cast is safe: requestAt has validated the input with the operation's schema.
    const { through, milliseconds, ...result } = await (
      handlers[report.operation] as (
        input: unknown,
        caller: Caller,
      ) => Promise<{ through: string; milliseconds: number }>
    )(input, callerOf(link, time));
    return withoutAddresses(result);
  };

  /** Returns a report's response, shared by all concurrent requests for it. */
  const runShared = (opened: OpenLink, report: SharedReport): Promise<object> => {
    const key = `${opened.link.shareID} ${report.part}`;
    const shared = results.get(key);
    if (shared) return shared;
    const result = inTurn(opened.link.account, async () => {
      // The link might have been revoked while the report was queued.
      await find(opened.hash);
      return runReport(opened, report).catch((error: unknown) => {
        throw withoutReason(error);
      });
    });
    results.set(key, result);
    result.then(
      () => forgetLater(key),
      (error: unknown) => {
        // A slow report is not retried immediately, because each run delays the account's other reports.
        if (error instanceof Refusal && error.code === 'report_too_slow') forgetLater(key);
        else results.delete(key);
      },
    );
    return result;
  };

  return {
    open,
    noteUse: createUseRecorder({ store, now }),

    /**
     * Returns the response for the view's report at this `part`. Rejects with Refusal('invalid_field') if there is
     * none.
     */
    async report(opened: OpenLink, part: unknown): Promise<object> {
      const report = opened.view.report.find((one) => one.part === part);
      if (report === undefined)
        throw new Refusal('invalid_field', {
          field: 'part',
          message: '`part` must be a part of this view with a report',
        });
      // Checked again so that a revoked link returns neither a response nor the report's refusal.
      return runShared(opened, report).finally(() => find(opened.hash));
    },
  };
};
