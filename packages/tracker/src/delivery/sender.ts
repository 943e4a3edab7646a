/**
 * Sends the queued records, oldest first, one request at a time. A browser that has a userUUID sends at once, because the page may
 * close at any moment. A new browser's first request, and requests after a failure, are sent by one tab at a time. A record leaves
 * the queue only when the service has responded for it. A repeat is harmless, because the service recognizes each eventUUID.
 */

import type { pageNames } from '@firsthand/contract/identifiers';
import { safeDocument } from '../document.ts';
import { cookieDomain } from '../identity/cookie.ts';
import { currentUser, knownUser } from '../identity/identity.ts';
import { isContactRecord } from '../records/contacts.ts';
import { createEventUUID, timeOf } from '../records/event-uuid.ts';
import { warn } from '../warn.ts';
import { retryMilliseconds } from './backoff.ts';
import { dropSurplus, queuedKeys, taken } from './queue.ts';
import { copies, removeStored } from './storage.ts';
import { isVerdict, type Verdict } from './verdict.ts';

/** Repeated here as text, because it is shorter than the object. */
type Names = typeof pageNames;

/** The service's refusals of a token, or of its use on this site, by token. */
export const refusals: Record<string, Verdict> = {};

/** The callbacks for the service's final verdict on a record, by its key. */
export const expected: Record<string, (verdict: Verdict) => void> = {};

/**
 * Returns a function that sends the queued records soon, unless a request is under way or a retry is due later. `base` is the URL
 * of the folder that requests go to, with a slash at its end, or of a file in it, such as the script. Unless `isAllowed` returns true
 * (consent), nothing is sent, and no userUUID is made.
 */
export const createSender = (
  base: string | URL,
  token: string,
  isAllowed: () => unknown,
): ((isOwn?: unknown) => void) => {
  /**
   * The keep-alive requests of a page may hold 65,536 bytes in total (Fetch, "HTTP-network-or-cache fetch"). This is enough for two
   * of ours with their envelopes: one under way and one when the page is left. Records that the browser refuses beyond that stay in
   * storage.
   */
  const bytesTogether = 30_000;
  const keepaliveBytes = 30_000 * 2;
  /** The time after which a request without a response is given up. Until then nothing else is sent. */
  const timeoutMilliseconds = 15_000;
  /** The time for which records of earlier pages wait, unless this page has records of its own: they may be under way. */
  const waitMilliseconds = 2_000;
  const createContactName: Names['createContact'] = 'form';
  const logEventsName: Names['logEvents'] = 'update';
  // The addresses are text, because scripts that wrap fetch take any other value for a Request. They are made now, because a
  // script of the page may replace URL.
  const contactAddress = `${new URL(createContactName, base)}`;
  const eventsAddress = `${new URL(logEventsName, base)}`;
  /** Whether a request is under way or a retry is due. */
  let isBusy: unknown;
  let isWaitingForLock: unknown;
  let failures = 0;
  let allFailures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let leaving: Event | undefined;

  /** Warns of what the service has refused or ignored, once for each message, with the page of the documentation that explains it. */
  const report = ({ error, ignored }: Verdict): void => {
    if (error) warn(`${error.code}: ${error.message}`, `${new URL(`docs/errors#${error.code}`, base)}`);
    if (ignored) warn(`ignored: ${ignored}`);
  };

  /**
   * Sends the next records in one request (as many events as fit, or one createContact), and then the next ones. A page that is
   * being left sends all requests at the same time.
   */
  const sendNext = async (isLeaving?: unknown): Promise<void> => {
    const userUUID = isAllowed() && currentUser();
    const keys: string[] = [];
    const records: string[] = [];
    let bytes = 0;
    const queued = userUUID && (isLeaving || !isWaiting) ? queuedKeys(token) : [];
    // After a failure a record is sent alone, because it may be the cause: another one each time.
    for (const key of queued.slice((failures && !isLeaving ? allFailures : 0) % queued.length))
      if (!taken[key]) {
        const record = copies[key] as string;
        const size = new Blob([record]).size;
        if (
          bytes &&
          (bytes + size > bytesTogether || isContactRecord(`${records}\n${record}`) || (failures && !isLeaving))
        )
          break;
        keys.push(key);
        records.push(record);
        bytes += size;
        taken[key] = true;
      }
    // Set in the same turn in which the queue was found empty, so that a later event starts a new request.
    isBusy = bytes;
    if (!bytes) return;
    let retryAfterSeconds: string | null | undefined;
    try {
      const isContact = isContactRecord(records);
      const controller = new AbortController();
      setTimeout(() => controller.abort(), timeoutMilliseconds);
      const request = fetch(isContact ? contactAddress : eventsAddress, {
        method: 'POST',
        // Scripts that wrap fetch add headers to these.
        headers: {},
        // A text body is text/plain, which needs no preflight. A userUUID in a record comes later in the JSON, and so counts.
        body: `{"tokenUUID":"${token}","userUUID":"${userUUID}",${
          isContact
            ? (records[0] as string).slice(1)
            : `"cookieDomain":"${cookieDomain}","sentTime":${timeOf(createEventUUID())},"event":[${records}]}`
        }`,
        keepalive: bytes < keepaliveBytes,
        signal: controller.signal,
      });
      if (isLeaving) sendNow(isLeaving);
      const response = await request;
      retryAfterSeconds = response.headers.get('Retry-After');
      const answer = await response.json();
      report(answer);
      // The token or its origin is refused: this page sends nothing more.
      if (/token|origin/.test((answer.error || answer).code)) {
        isAllowed = () => false;
        refusals[token] = answer;
        for (const settle of Object.values(expected)) settle(answer);
      }
      let index = 0;
      for (const key of keys) {
        // If several records were refused together, none of them has a verdict.
        const verdict: Verdict = (answer.event || keys[1] || [answer])[index++];
        report(verdict);
        if (isVerdict(verdict)) {
          if (isAllowed()) removeStored(key);
          // Records of earlier pages have no callback. To report a verdict again shows nothing.
          (expected[key] || report)(verdict);
        }
      }
    } catch (error) {
      warn(error);
    }
    isBusy = true;
    let isAgain: unknown;
    for (const key of keys)
      if (copies[key]) {
        // While a page is being left, Chromium fails its requests, but goes on sending them.
        taken[key] = leaving;
        isAgain = true;
      }
    if (isAgain) {
      // Only one timer at a time: a page that is left sends several requests, and may come back.
      clearTimeout(timer);
      failures++;
      allFailures++;
      timer = setTimeout(retry, retryMilliseconds(failures, retryAfterSeconds));
    } else {
      failures = 0;
      return sendNext();
    }
  };

  /** Enforces the bounds of the queue only when the request has left. */
  const sendNow = (isLeaving?: unknown): Promise<void> => {
    const sent = sendNext(isLeaving).catch(warn);
    dropSurplus();
    return sent;
  };

  const isLeft = new Promise((resolve) => {
    // Needed for older Safari, which fires no visibilitychange when a link is followed. It is fired on window only.
    addEventListener('pagehide', (event) => {
      leaving = event;
      sendNow(event);
      resolve(event);
    });
  });

  const send = async (isOwn?: unknown): Promise<void> => {
    if (isOwn) isWaiting = 0;
    // Waits for a microtask, so that events logged together are sent together.
    await 0;
    if (isBusy) return dropSurplus();
    if (!failures && knownUser()) return sendNow();
    if (isWaitingForLock) return;
    isWaitingForLock = true;
    try {
      // A page that was left and comes back uses no lock, because in Firefox pages in the back-forward cache keep a lock and
      // can't release it (Web Locks 2.1).
      await ((leaving || navigator.locks) as LockManager).request(
        `firsthand:${token}`,
        () => isBusy || Promise.race([isLeft, sendNow()]),
      );
    } catch {
      // Locks are missing on plain http and in old Safari, and refused in sandboxed frames. Then every tab sends, and the service
      // recognizes the repeats.
      if (!isBusy) sendNow();
    }
    isWaitingForLock = false;
  };

  let isWaiting: unknown = setTimeout(send, waitMilliseconds, true);

  const retry = (): void => {
    for (const key of Object.keys(taken)) taken[key] = false;
    isBusy = false;
    send();
  };

  addEventListener('visibilitychange', () => (safeDocument.hidden ? sendNow : send)(true));
  addEventListener('online', retry);
  return send;
};
