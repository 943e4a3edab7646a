/** Asks the reports of share links: each as it was stored, one of an account at a time, and for all who look at it at once. */

import type { ErrorCode } from '@firsthand/contract/errors';
import type { SharedOperation } from '@firsthand/contract/reports/share-link';
import { hashToken } from '../../../ingest/token.ts';
import { BoundedMap } from '../../../shared/bounded-map.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { OpenedShareLink, Store } from '../../../store/store.ts';
import type { AnsweringAll, Caller } from '../../access/caller.ts';
import type { RateLimit } from '../../access/rate-limits.ts';
import { requestAt, type SharedReport, type SharedView } from '../../operations/reports/shared-view.ts';
import { withoutAddresses } from './hidden-addresses.ts';

/** How long an answer, or a refusal as too slow, is shown again, in milliseconds. */
const freshMilliseconds = 10_000;
const maxAnswers = 200;
/** Reports of the links of an account that wait while one is asked. */
const maxWaiting = 24;
const retryAfterSeconds = 5;
const hourMilliseconds = 3_600_000;
const maxKnown = 10_000;

/**
 * Requests of an address, for pages, views and reports of all links together. A page takes up to 14: itself, its view and 12 reports. So
 * 20 people behind one address may open one at the same time, and then another opens one every three seconds.
 */
export const shareRate = { perSecond: 5, burst: 300 };

const unknownLink = (): Refusal => new Refusal('unknown_share_link', { message: 'this link is not valid any more' });

export const isUnknown = (error: unknown): boolean => error instanceof Refusal && error.code === 'unknown_share_link';

/** An open link, with what it shows. */
export interface OpenLink {
  /** The hash of its secret. */
  readonly hash: string;
  readonly link: OpenedShareLink;
  readonly view: SharedView;
}

/** The refusal of a report that was taken when the link was made. The reason may quote its filter, which holders of the link don't read. */
const notShown = (): Refusal =>
  new Refusal('invalid_field', { message: 'this report cannot be shown any more: ask for another link' });

/** The refusals that holders of a link may read: none quotes its filter. */
const shownCodes: readonly ErrorCode[] = ['report_too_slow', 'no_reports', 'unavailable', 'internal'];

const withoutReason = (error: unknown): unknown => {
  if (!(error instanceof Refusal)) return error;
  const { code, retryAfterSeconds } = error;
  return shownCodes.includes(code) ? new Refusal(code, { retryAfterSeconds, cause: error }) : notShown();
};

interface Surroundings {
  readonly store: Pick<Store, 'findShareLink' | 'noteShareLinkUse'>;
  readonly answering: AnsweringAll<SharedOperation>;
  /** Counts wrong secrets, by address. */
  readonly unknownSecrets: Pick<RateLimit, 'take'>;
  /** Counts requests with the secret of an open link, by address. */
  readonly requestsOfAddress: Pick<RateLimit, 'take'>;
  readonly now: () => number;
}

const secretForm = /^share_[\w-]{32}$/;

/** Asks in the name of the link: nothing but the account is known of who made it. */
const callerOf = ({ account, accountOrigin, accountTimezone }: OpenedShareLink, time: number): Caller => ({
  access: { token: -1, tokenID: '', kind: 'viewer', account, accountOrigin, accountTimezone, enrich: false },
  tokenUUID: '',
  time,
  isShared: true,
});

export const createSharedReports = ({ store, answering, unknownSecrets, requestsOfAddress, now }: Surroundings) => {
  /** Throws Refusal if no link with this hash is open: the same one, whether it was revoked, has ended or never was. */
  const find = async (hash: string): Promise<OpenedShareLink> => {
    const link = await store.findShareLink({ hash, time: now() });
    if (link !== undefined) return link;
    throw unknownLink();
  };

  /**
   * Finds the link with this secret. Throws Refusal as `find` does. It is looked up before anything counts, so that somebody who guesses holds up
   * nobody at the same address who has a link. The look-up of a wrong one reads one index, which costs less than its request did.
   */
  const open = async (secret: unknown, address: string): Promise<OpenLink> => {
    if (typeof secret !== 'string' || !secretForm.test(secret)) throw unknownLink();
    const hash = hashToken(secret);
    const link = await find(hash).catch((error: unknown) => {
      if (isUnknown(error)) unknownSecrets.take(address);
      throw error;
    });
    requestsOfAddress.take(address);
    return { hash, link, view: JSON.parse(link.view) };
  };

  /** The hours of uses that this process has recorded, by shareID. */
  const noted = new BoundedMap<string, number>(maxKnown);

  /** Records the hour in which a link is used: one write an hour, which nobody waits for. If it fails, the next use tries again. */
  const noteUse = ({ shareID, lastUsedTime }: OpenedShareLink): void => {
    const time = Math.floor(now() / hourMilliseconds) * hourMilliseconds;
    if (Math.max(lastUsedTime ?? 0, noted.get(shareID) ?? 0) >= time) return;
    noted.set(shareID, time);
    store.noteShareLinkUse({ shareID, time }).catch(() => noted.delete(shareID));
  };

  /** The last report of each account that is asked or waits, and how many do. */
  const queues = new Map<number, { last: Promise<unknown>; length: number }>();
  const inTurn = async <Value>(account: number, work: () => Promise<Value>): Promise<Value> => {
    const queue = queues.get(account) ?? { last: Promise.resolve(), length: 0 };
    if (queue.length > maxWaiting) throw new Refusal('no_reports', { retryAfterSeconds });
    queues.set(account, queue);
    queue.length += 1;
    const mine = queue.last.then(work);
    queue.last = mine.catch(() => {});
    try {
      return await mine;
    } finally {
      queue.length -= 1;
      if (queue.length === 0) queues.delete(account);
    }
  };

  /** The answers of reports that run, wait, or are still fresh. */
  const answers = new BoundedMap<string, Promise<object>>(maxAnswers);
  const forgetLater = (key: string): void => {
    setTimeout(() => answers.delete(key), freshMilliseconds).unref();
  };

  const answerOf = async ({ link, view }: OpenLink, report: SharedReport): Promise<object> => {
    const { createdTime } = link;
    const time = now();
    const input = requestAt(report, { moving: view.moving, createdTime, time });
    if (input === undefined) throw notShown();
    // The operation's own input: requestAt has checked it with its schema.
    const { through, milliseconds, ...shown } = await (
      answering[report.operation] as (
        input: unknown,
        caller: Caller,
      ) => Promise<{ through: string; milliseconds: number }>
    )(input, callerOf(link, time));
    return withoutAddresses(shown);
  };

  /** The answer of a report of a link, which all who ask for it at once share. */
  const sharedAnswer = (opened: OpenLink, report: SharedReport): Promise<object> => {
    const { hash, link } = opened;
    const key = `${link.shareID} ${report.part}`;
    const shared = answers.get(key);
    if (shared) return shared;
    const answer = inTurn(link.account, async () => {
      // It may have been revoked while the report waited.
      await find(hash);
      return answerOf(opened, report).catch((error: unknown) => {
        throw withoutReason(error);
      });
    });
    answers.set(key, answer);
    answer.then(
      () => forgetLater(key),
      (error: unknown) => {
        // A slow report is not asked again at once: each time it would hold up the other reports of the account.
        if (error instanceof Refusal && error.code === 'report_too_slow') forgetLater(key);
        else answers.delete(key);
      },
    );
    return answer;
  };

  return {
    open,
    noteUse,

    /** The answer of the report in a part of the view. Throws Refusal; 'invalid_field' where the view has no such part. */
    async report(opened: OpenLink, part: unknown): Promise<object> {
      const report = opened.view.report.find((one) => one.part === part);
      if (report === undefined)
        throw new Refusal('invalid_field', { field: 'part', message: '`part` must name a report of the view' });
      // Nobody reads an answer, nor a refusal of the report, after the link was revoked.
      return sharedAnswer(opened, report).finally(() => find(opened.hash));
    },
  };
};
export type SharedReports = ReturnType<typeof createSharedReports>;
