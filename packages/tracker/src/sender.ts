/**
 * Sends what is queued, oldest first: one request at a time, from one tab at a time. A record leaves the queue when the
 * service has answered for it, and not before; a repeat is harmless, since the service knows each eventUUID.
 */
import { retryMilliseconds } from './backoff.ts';
import { type ContactResult, isContactRecord } from './contacts.ts';
import { cookieDomain } from './cookie.ts';
import { createEventUUID, timeOf } from './eventUUID.ts';
import { currentUser } from './identity.ts';
import { toJSONText } from './json.ts';
import { note } from './note.ts';
import { queuedKeys } from './queue.ts';
import { stored } from './storage.ts';

/** What the service says of one record, or of a whole request. */
export type Verdict = Partial<ContactResult> & {
  readonly status?: string;
  readonly error?: { readonly code: string; readonly message: string; readonly field?: string };
};

/** Who to tell the service's final verdict on a record, by its key. */
export type Expected = Record<string, (verdict: Verdict) => void>;

/**
 * Answers the function that soon sends what is queued, unless that is under way or a retry is due later. `base` is the
 * service's REST root, ending in a slash. Without consent, `isAllowed`, nothing is sent, and nobody becomes a user.
 */
export const createSender = (
  base: string,
  token: string,
  expected: Expected,
  isAllowed: () => boolean,
): (() => void) => {
  /**
   * A page's keep-alive requests may hold 65,536 bytes at once, all together (Fetch, "HTTP-network-or-cache fetch"). The
   * difference is for the envelope and for other scripts.
   */
  const keepaliveBytes = 60 * 1024;
  const patienceMilliseconds = 30_000;
  // In flight, or answered: should the storage refuse to forget a record, this page still doesn't send it again.
  const taken: Record<string, boolean> = {};
  let bytesInFlight = 0;
  let isBusy = false;
  let isStopped = false;
  let failures = 0;

  /**
   * Sends the next records that can travel together, and then the next: events for which there is room, or one
   * createContact. A page that is being left sends all at the same time.
   */
  const sendNext = async (isLeaving?: boolean): Promise<void> => {
    const userUUID = isAllowed() && currentUser();
    const keys: string[] = [];
    const records: string[] = [];
    let isContact = false;
    let bytes = 0;
    for (const key of !userUUID || isStopped ? [] : queuedKeys(token)) {
      if (taken[key]) continue;
      const record = stored[key] as string;
      const size = new Blob([record]).size;
      // What is larger than any keep-alive request goes alone. So does what
      // follows a failure: it may be the cause.
      if (
        (bytesInFlight + bytes && bytesInFlight + bytes + size > keepaliveBytes) ||
        (bytes && (isContact || isContactRecord(record) || (failures && !isLeaving)))
      )
        break;
      isContact = isContactRecord(record);
      keys.push(key);
      records.push(record);
      bytes += size;
      taken[key] = true;
    }
    // In the same turn as the look that found nothing: what is logged from here on starts anew.
    isBusy = bytes > 0;
    if (!isBusy) return;
    bytesInFlight += bytes;
    let again = keys;
    let retryAfterSeconds: number | undefined;
    try {
      const request = fetch(base + (isContact ? 'contact/createContact' : 'event/logEvents'), {
        method: 'POST',
        // As text, it is text/plain, which needs no preflight. A user that the record itself names comes later, and wins.
        body: `{"tokenUUID":${toJSONText(token)},"userUUID":"${userUUID}",${
          isContact
            ? (records[0] as string).slice(1)
            : `"cookieDomain":"${cookieDomain || ''}","sentTime":${timeOf(createEventUUID())},"event":[${records}]}`
        }`,
        keepalive: bytes < keepaliveBytes,
        // biome-ignore lint/complexity/useOptionalChain: lowered to ES2018, it is twice as long
        signal: AbortSignal.timeout && AbortSignal.timeout(patienceMilliseconds),
      });
      if (isLeaving) sendNext(isLeaving).catch(note);
      const response = await request;
      retryAfterSeconds = +(response.headers.get('Retry-After') as string);
      const answer = await response.json();
      if (answer.ignored) note('ignored:', answer.ignored);
      again = keys.filter((key, index) => {
        const verdict = answer.event ? answer.event[index] : answer;
        if (/40[13]/.test(verdict.status)) isStopped = true;
        else if (/200/.test(verdict.status) || ((answer.event || !keys[1]) && /^4(?!08|29)/.test(verdict.status)))
          delete stored[key];
        // 408, 429, 5xx, and what no service of ours would say: it passes.
        else return true;
        if (verdict.error) note('dropped:', verdict.error);
        if (expected[key]) expected[key](verdict);
        return false;
      });
    } catch {}
    bytesInFlight -= bytes;
    for (const key of again) delete taken[key];
    isBusy = true;
    if (again[0]) setTimeout(retry, retryMilliseconds(++failures, retryAfterSeconds, Math.random));
    else {
      failures = 0;
      return sendNext();
    }
  };

  const send = (): void => {
    if (isBusy) return;
    isBusy = true;
    // A microtask later, so that what is logged in one go travels together. Locks are missing on plain http and in old
    // Safari, and refused in sandboxed frames: then every tab sends, and repeats are for the service to recognise.
    Promise.resolve()
      .then(() => navigator.locks.request(`firsthand:${token}`, () => sendNext()))
      .catch(() => sendNext())
      .catch(note);
  };

  const retry = (): void => {
    isBusy = false;
    send();
  };

  const leave = (): void => {
    sendNext(true).catch(note);
  };

  document.addEventListener('visibilitychange', () => (document.hidden ? leave() : send()));
  // Older Safari fires no visibilitychange when a link is followed. pagehide is fired on window only.
  addEventListener('pagehide', leave);
  addEventListener('online', retry);
  return send;
};
