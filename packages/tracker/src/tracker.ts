import type { Attributes } from './attributes.ts';
import { isConsentRemembered } from './consent.ts';
import { type ContactFields, type ContactResult, type TrackerError, toContactRecord } from './contacts.ts';
import { readCookie } from './cookie.ts';
import { type LoggedEvent, toEventRecord } from './events.ts';
import { createEventUUID, timeOf } from './eventUUID.ts';
import { demand, guard } from './guard.ts';
import { copyKey, currentUser, forgetUser, resetUser } from './identity.ts';
import { note, setDebug } from './note.ts';
import { countDropped, queuedKeys, type StoredRecord } from './queue.ts';
import { createSender, expected } from './sender.ts';
import { eraseStored, noteKey, openStored, stored, writeStored } from './storage.ts';

/** Nothing here ever throws into the page. */
export type Tracker = {
  /** Logs an event of this kind, as of now. It is kept when this returns, and sent until the service has it. */
  log(eventID: number | string, attrs?: Attributes): void;
  /**
   * Says who the visitor is. Kept and sent like an event, in order with them. The promise, and the callback, get the
   * service's answer; a refusal rejects with its code, message and field, silently when nobody listens.
   */
  createContact(
    fields: ContactFields,
    callback?: (result: ContactResult | undefined, error?: TrackerError) => void,
  ): Promise<ContactResult>;
  /** On log-out: from here on this browser is another user. What was logged before stays with the old one. */
  reset(): void;
  /**
   * The visitor's word. `false` removes the cookie and all that is stored, in every tab of this site, and from here on
   * nothing is stored or sent; `true` ends that, and is remembered by the cookie.
   */
  consent(isGiven: boolean): void;
  /** Resolves when the service has answered for all that this site has logged so far in this browser, or it was dropped. */
  flush(): Promise<void>;
  /** May change an event before it is kept, or drop it by answering false. One at which it throws is dropped. */
  beforeSend?: ((event: LoggedEvent) => unknown) | undefined;
  /** Of `/tracker.full.js` with page views: takes our hands off `history`, and logs no more of them. */
  restoreHistory?: () => void;
};

/**
 * The script tag's `data-` attributes. Of `debug` and `dnt` counts only that they are there, and so for `consent`, whatever
 * it says: a mistake in it must not track anybody. `drop` drops what is logged before consent, instead of keeping it in
 * memory.
 */
export type TagOptions = { readonly [name in 'token' | 'name' | 'debug' | 'consent' | 'dnt']?: string | undefined };

/** Starts a tracker: gives `tracker` its methods. Needs a document; `url` must end in a slash. */
export const startTracker = (tracker: Partial<Tracker>, url: string, options: TagOptions): Tracker => {
  // For a page that logs in a loop: so many at once, from then on one in so many milliseconds.
  const burst = 500;
  const millisecondsEach = 100;
  const token = options.token as string;
  let isAllowed: unknown = false;
  /** When the events so far would have been logged, had they come evenly. */
  let evenTime = 0;
  setDebug('debug' in options);
  const send = createSender(url, token, () => isAllowed);

  const consent = (isGiven: unknown): void => {
    if (!isGiven) {
      forgetUser();
      eraseStored();
    } else if (!isAllowed) {
      openStored();
      // Before this page logs anything: what waits is that of the user before, should another subdomain have reset it.
      if (readCookie()) currentUser();
    }
    isAllowed = isGiven;
    send();
  };

  const keep = (eventUUID: string, record: StoredRecord): string => {
    demand(isAllowed || options.consent !== 'drop', 'no consent');
    demand(record.length < 2e5, 'too large');
    const key = `firsthand:${eventUUID}${token}`;
    writeStored(key, record);
    queuedKeys('');
    send();
    return key;
  };

  addEventListener('storage', ({ key }) => {
    noteKey(key);
    // Another tab removed everything.
    if (key === copyKey && !stored[key]) consent(false);
  });
  // Without consent, what an earlier page has left is removed: the cookie may have been, by the site or the visitor.
  consent(isConsentRemembered(options));

  return Object.assign(tracker, {
    log: guard((eventID: number | string, attrs?: Attributes) => {
      const event: LoggedEvent = { eventID, attrs };
      const eventUUID = createEventUUID();
      const time = timeOf(eventUUID);
      evenTime = Math.max(evenTime, time - burst * millisecondsEach);
      demand(evenTime <= time || countDropped(), 'too many');
      demand(!(tracker.beforeSend && `${tracker.beforeSend(event)}` === 'false'), 'beforeSend');
      keep(eventUUID, toEventRecord(event, eventUUID));
      evenTime += millisecondsEach;
    }),
    createContact: (fields: ContactFields, callback?: Parameters<Tracker['createContact']>[1]) => {
      const result = new Promise<ContactResult>((resolve, reject) => {
        const requestUUID = createEventUUID();
        expected[keep(requestUUID, toContactRecord(fields, requestUUID))] = (verdict) => {
          if (verdict.error) reject(Object.assign(Error(), verdict.error));
          else resolve(verdict as ContactResult);
        };
      });
      // A promise that somebody listens to is no unhandled rejection in the page.
      result.then(callback, (error) => (callback as (...args: unknown[]) => void)(undefined, error)).catch(note);
      return result;
    },
    reset: guard(() => {
      if (isAllowed) resetUser();
    }),
    consent: guard(consent),
    flush: async () => {
      const now = `firsthand:${createEventUUID()}`;
      // Another tab may send it, and this one doesn't always hear of it: so it looks.
      while ((queuedKeys(token)[0] as string) < now) await new Promise((resolve) => setTimeout(resolve, 99));
    },
  }) as Tracker;
};
