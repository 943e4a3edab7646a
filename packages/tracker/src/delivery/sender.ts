/**
 * Sends the queued records, oldest first, one request at a time. Sending a record twice is harmless, because the
 * service recognizes each eventUUID.
 *
 * A browser that has a userUUID sends immediately, because the page may close at any moment. A new browser's first
 * request, and requests after a failure, are sent by one tab at a time.
 */

import type { pageNames } from '@firsthand/contract/identifiers';
import { safeDocument } from '../document.ts';
import { cookieDomain } from '../identity/cookie.ts';
import { ensureUser, readUser } from '../identity/identity.ts';
import { isContactRecord } from '../records/contacts.ts';
import { createEventUUID, parseEventTime } from '../records/event-uuid.ts';
import { warn } from '../warn.ts';
import { computeRetryMilliseconds } from './backoff.ts';
import { isFinal, type ServiceResponse } from './final-response.ts';
import { dropSurplus, inFlight, listQueuedKeys } from './queue.ts';
import { copies, removeItem } from './storage.ts';

/** Checks the names below, which are literals because importing `pageNames` would cost more bytes. */
type Names = typeof pageNames;

/** The service's refusals of a token, or of its use on this site, by token. */
export const refusals: Record<string, ServiceResponse> = {};

/** Callbacks that receive the service's final response to a record, by the record's key. */
export const responseCallbacks: Record<string, (response: ServiceResponse) => void> = {};

/**
 * Returns a function that sends the queued records soon, unless a request is in flight or a retry is scheduled. While
 * `isAllowed` returns false (no consent), nothing is sent and no userUUID is created.
 *
 * `base` is the URL of the folder that requests go to, with a trailing slash, or of a file in that folder, such as the
 * script.
 */
export const createSender = (
  base: string | URL,
  token: string,
  isAllowed: () => unknown,
): ((hasOwnRecords?: unknown) => void) => {
  /**
   * A page's keepalive requests are limited to 65,536 bytes in total (Fetch, "HTTP-network-or-cache fetch"): enough for
   * one in flight and one at page hide. Records in requests beyond this limit, which the browser refuses, stay in
   * storage.
   */
  const maxRequestBytes = 30_000;
  const maxKeepaliveBytes = 30_000 * 2;
  /** A request without a response is aborted after this time. Until then nothing else is sent. */
  const timeoutMilliseconds = 15_000;
  /**
   * How long records from earlier pages wait unless this page logs a record: those pages' requests may still be in
   * flight.
   */
  const waitMilliseconds = 2_000;
  const createContactName: Names['createContact'] = 'form';
  const logEventsName: Names['logEvents'] = 'update';
  // A string, because scripts that wrap fetch treat any other value as a Request. Created now, because one of the
  // page's scripts may replace `URL`.
  const contactURL = `${new URL(createContactName, base)}`;
  const eventsURL = `${new URL(logEventsName, base)}`;
  /** Whether a request is in flight or a retry is scheduled. */
  let isBusy: unknown;
  let isWaitingForLock: unknown;
  let failures = 0;
  let totalFailures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pagehideEvent: Event | undefined;

  /** Warns once about each refusal or ignored field, with the documentation page that explains it. */
  const report = ({ error, ignored }: ServiceResponse): void => {
    if (error) warn(`${error.code}: ${error.message}`, `${new URL(`docs/errors#${error.code}`, base)}`);
    if (ignored) warn(`ignored: ${ignored}`);
  };

  /**
   * Sends the next records in one request (as many events as fit, or one createContact), then the rest. When the
   * visitor leaves the page, sends all requests in parallel.
   */
  const sendNext = async (isLeaving?: unknown): Promise<void> => {
    const userUUID = isAllowed() && ensureUser();
    const keys: string[] = [];
    const records: string[] = [];
    let bytes = 0;
    const queued = userUUID && (isLeaving || !delayTimer) ? listQueuedKeys(token) : [];
    // After a failure, each request has a single record, a different one each time, because one record may be the
    // cause.
    for (const key of queued.slice((failures && !isLeaving ? totalFailures : 0) % queued.length))
      if (!inFlight[key]) {
        const record = copies[key] as string;
        const size = new Blob([record]).size;
        if (
          bytes &&
          (bytes + size > maxRequestBytes || isContactRecord(`${records}\n${record}`) || (failures && !isLeaving))
        )
          break;
        keys.push(key);
        records.push(record);
        bytes += size;
        inFlight[key] = true;
      }
    // Set in the same turn in which the queue is read, so that a later event starts a new request.
    isBusy = bytes;
    if (!bytes) return;
    let retryAfterSeconds: string | null | undefined;
    try {
      const isContact = isContactRecord(records);
      const controller = new AbortController();
      setTimeout(() => controller.abort(), timeoutMilliseconds);
      const request = fetch(isContact ? contactURL : eventsURL, {
        method: 'POST',
        // Scripts that wrap fetch add headers to this object.
        headers: {},
        // A string is sent as text/plain, which needs no preflight. A userUUID in a record wins, because it comes later
        // in the JSON.
        body: `{"tokenUUID":"${token}","userUUID":"${userUUID}",${
          isContact
            ? (records[0] as string).slice(1)
            : `"cookieDomain":"${cookieDomain}","sentTime":${parseEventTime(createEventUUID())},"event":[${records}]}`
        }`,
        keepalive: bytes < maxKeepaliveBytes,
        signal: controller.signal,
      });
      if (isLeaving) sendNow(isLeaving);
      const httpResponse = await request;
      retryAfterSeconds = httpResponse.headers.get('Retry-After');
      const responseBody = await httpResponse.json();
      report(responseBody);
      // The service refuses the token or this origin: this page sends nothing more.
      if (/token|origin/.test((responseBody.error || responseBody).code)) {
        isAllowed = () => false;
        refusals[token] = responseBody;
        for (const settle of Object.values(responseCallbacks)) settle(responseBody);
      }
      let index = 0;
      for (const key of keys) {
        // If several records were refused together, none of them has a final response.
        const response: ServiceResponse = (responseBody.event || keys[1] || [responseBody])[index++];
        report(response);
        if (isFinal(response)) {
          if (isAllowed()) removeItem(key);
          // Records from earlier pages have no callback. Reporting a final response twice has no further effect.
          (responseCallbacks[key] || report)(response);
        }
      }
    } catch (error) {
      warn(error);
    }
    isBusy = true;
    let hasUnsent: unknown;
    for (const key of keys)
      if (copies[key]) {
        // When the visitor leaves the page, Chromium reports its requests as failed, but still sends them.
        inFlight[key] = pagehideEvent;
        hasUnsent = true;
      }
    if (hasUnsent) {
      // Only one timer at a time: a page that the visitor leaves sends several requests, and the visitor may return to
      // it.
      clearTimeout(timer);
      failures++;
      totalFailures++;
      timer = setTimeout(retry, computeRetryMilliseconds(failures, retryAfterSeconds));
    } else {
      failures = 0;
      return sendNext();
    }
  };

  /** Sends first and enforces the queue's bounds afterwards, so that a record in flight is not dropped. */
  const sendNow = (isLeaving?: unknown): Promise<void> => {
    const sending = sendNext(isLeaving).catch(warn);
    dropSurplus();
    return sending;
  };

  const whenLeft = new Promise((resolve) => {
    // Safari before 14.5 fires no visibilitychange when a link is followed. `pagehide` is fired on window only.
    addEventListener('pagehide', (event) => {
      pagehideEvent = event;
      sendNow(event);
      resolve(event);
    });
  });

  const send = async (hasOwnRecords?: unknown): Promise<void> => {
    if (hasOwnRecords) delayTimer = 0;
    // Waits for a microtask, so that events logged together are sent together.
    await 0;
    if (isBusy) return dropSurplus();
    if (!failures && readUser()) return sendNow();
    if (isWaitingForLock) return;
    isWaitingForLock = true;
    try {
      // Uses no lock if the visitor has left the page before: in Firefox, a page in the back-forward cache keeps its
      // lock and can't release it (Web Locks 2.1).
      await ((pagehideEvent || navigator.locks) as LockManager).request(
        `firsthand:${token}`,
        () => isBusy || Promise.race([whenLeft, sendNow()]),
      );
    } catch {
      // Locks are missing on plain http and in old Safari, and refused in sandboxed frames. Every tab then sends, and
      // the service recognizes repeated records.
      if (!isBusy) sendNow();
    }
    isWaitingForLock = false;
  };

  let delayTimer: unknown = setTimeout(send, waitMilliseconds, true);

  const retry = (): void => {
    for (const key of Object.keys(inFlight)) inFlight[key] = false;
    isBusy = false;
    send();
  };

  addEventListener('visibilitychange', () => (safeDocument.hidden ? sendNow : send)(true));
  addEventListener('online', retry);
  return send;
};
