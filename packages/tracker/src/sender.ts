/**
 * Sends what is queued, oldest first, one request at a time. A tab of a browser that the service knows sends at once: the page
 * may close in the next moment. A new browser's first request, and what follows a failure, is sent by one tab at a
 * time. A record leaves the queue when the service has answered for it, and not before; a repeat is harmless, since the service
 * knows each eventUUID.
 */
import { retryMilliseconds } from './backoff.ts';
import { type ContactResult, isContactRecord } from './contacts.ts';
import { cookieDomain } from './cookie.ts';
import { safeDocument } from './document.ts';
import { createEventUUID, timeOf } from './eventUUID.ts';
import { currentUser, knownUser } from './identity.ts';
import { note } from './note.ts';
import { queuedKeys } from './queue.ts';
import { stored } from './storage.ts';

/** What the service says of one record, or of a whole request. */
export type Verdict = Partial<ContactResult> & {
  readonly status?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly field?: string };
};

/** Who to tell the service's final verdict on a record, by its key. */
export const expected: Record<string, (verdict: Verdict) => void> = {};

/**
 * Answers the function that soon sends what is queued, unless that is under way or a retry is due later. `base` lies
 * in the service's REST root, as `tracker.js` does, or is the root with a slash at its end. Without consent, `isAllowed`,
 * nothing is sent, and nobody becomes a user.
 */
export const createSender = (base: string, token: string, isAllowed: () => unknown): (() => void) => {
  /**
   * A page's keep-alive requests may hold 65,536 bytes at once, all together (Fetch, "HTTP-network-or-cache fetch"): two of
   * ours at most, one under way and one when the page is left, with their envelopes. What the browser refuses beyond
   * that stays in storage.
   */
  const bytesTogether = 30_000;
  const keepaliveBytes = 30_000 * 2;
  /** Only then is a request given up that has no answer: until then, nothing else is sent. */
  const timeoutMilliseconds = 15_000;
  // In flight, or answered: should the storage refuse to forget a record, this page still doesn't send it again.
  const taken: Record<string, boolean> = {};
  /** A request is under way, or a retry is due. */
  let isBusy: unknown;
  let isWaitingForLock = false;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Sends the next records that can travel together, and then the next: events for which there is room, or one
   * createContact. A page that is being left sends all at the same time.
   */
  const sendNext = async (isLeaving?: unknown): Promise<void> => {
    const userUUID = isAllowed() && currentUser();
    const keys: string[] = [];
    const records: string[] = [];
    let bytes = 0;
    for (const key of userUUID ? queuedKeys(token) : [])
      if (!taken[key]) {
        const record = stored[key] as string;
        const size = new Blob([record]).size;
        // What follows a failure goes alone: it may be the cause.
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
    // In the same turn as the look that found nothing: what is logged from here on starts anew.
    isBusy = bytes;
    if (!isBusy) return;
    let again = keys;
    let retryAfterSeconds: string | null | undefined;
    try {
      const isContact = isContactRecord(records);
      const controller = new AbortController();
      setTimeout(() => controller.abort(), timeoutMilliseconds);
      // The address as text: wrappers around fetch take what isn't for a Request.
      const request = fetch(`${new URL(isContact ? 'contact/createContact' : 'event/logEvents', base)}`, {
        method: 'POST',
        // As text, it is text/plain, which needs no preflight. A user that the record itself names comes later, and wins.
        body: `{"tokenUUID":"${token}","userUUID":"${userUUID}",${
          isContact
            ? `${records}`.slice(1)
            : `"cookieDomain":"${cookieDomain}","sentTime":${timeOf(createEventUUID())},"event":[${records}]}`
        }`,
        keepalive: bytes < keepaliveBytes,
        signal: controller.signal,
      });
      if (isLeaving) sendNow(isLeaving);
      const response = await request;
      retryAfterSeconds = response.headers.get('Retry-After');
      const answer = await response.json();
      note(answer);
      if (/40[13]/.test(answer.status)) isAllowed = () => false;
      again = keys.filter((key, index) => {
        // When several were refused together, none of them has a verdict.
        const verdict = (answer.event || keys[1] || [answer])[index];
        // 408, 429, 5xx, and what no service of ours would say: it passes.
        if (!/^[24](?!08|29)/.test(verdict.status)) return true;
        if (isAllowed()) delete stored[key];
        if (expected[key]) expected[key](verdict);
        return false;
      });
    } catch (error) {
      note(error);
    }
    for (const key of again) taken[key] = false;
    isBusy = true;
    if (again[0]) {
      // One at a time: a page that is left sends several requests, and may come back.
      clearTimeout(timer);
      failures++;
      timer = setTimeout(retry, retryMilliseconds(failures, retryAfterSeconds));
    } else {
      failures = 0;
      return sendNext();
    }
  };

  const sendNow = (isLeaving?: unknown): Promise<void> => sendNext(isLeaving).catch(note);

  let leaving: Event | undefined;
  const isLeft = new Promise((resolve) => {
    // Older Safari fires no visibilitychange when a link is followed. pagehide is fired on window only.
    addEventListener('pagehide', (event) => {
      leaving = event;
      sendNow(event);
      resolve(event);
    });
  });

  const send = async (): Promise<void> => {
    // A microtask later, so that what is logged in one go travels together.
    await 0;
    if (isBusy) return;
    if (!failures && knownUser()) return sendNow();
    if (isWaitingForLock) return;
    isWaitingForLock = true;
    try {
      // A page that was left goes on without a lock, should it come back: Firefox leaves the lock to pages in the
      // back-forward cache, where they can't give it away (Web Locks 2.1).
      await ((leaving || navigator.locks) as LockManager).request(
        `firsthand:${token}`,
        () => isBusy || Promise.race([isLeft, sendNext()]),
      );
    } catch {
      // Locks are missing on plain http and in old Safari, and refused in sandboxed frames: then every tab sends, and
      // repeats are for the service to recognise.
      if (!isBusy) sendNow();
    }
    isWaitingForLock = false;
  };

  const retry = (): void => {
    isBusy = false;
    send();
  };

  addEventListener('visibilitychange', () => (safeDocument.hidden ? sendNow(true) : send()));
  addEventListener('online', retry);
  return send;
};
