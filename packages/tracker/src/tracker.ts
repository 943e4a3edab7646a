import type { ServiceResponse } from './delivery/final-response.ts';
import { countDropped, listQueuedKeys, type StoredRecord } from './delivery/queue.ts';
import { createSender, refusals, responseCallbacks } from './delivery/sender.ts';
import { copies, eraseStorage, openStorage, updateCopy, writeItem } from './delivery/storage.ts';
import { demand, guard } from './guard.ts';
import { hasInitialConsent } from './identity/consent.ts';
import { readCookie } from './identity/cookie.ts';
import { copyKey, ensureUser, readUser, removeUser, resetUser } from './identity/identity.ts';
import { areVisitsIgnored } from './identity/own-visits.ts';
import type { Attributes, AttributesOf, ValueOf } from './records/attributes.ts';
import { type ContactFields, type ContactResult, type TrackerError, toContactRecord } from './records/contacts.ts';
import { createEventUUID, parseEventTime } from './records/event-uuid.ts';
import { type LoggedEvent, toEventRecord } from './records/events.ts';
import { setDebug, warn } from './warn.ts';

/**
 * An event's outcome: the service has stored it (`eventUUID`), or the service or the tracker has refused it (`error`).
 */
export type LogResult = {
  readonly eventUUID?: string;
  readonly duplicate?: true;
  /** `code` is the service's, or `dropped` if the tracker refused the event. */
  readonly error?: { readonly code?: string; readonly message: string; readonly field?: string };
};

/** The tracker's methods. None of them throws into the page. */
export type Tracker = {
  /**
   * Logs an event with the current time, by eventID or name. The event is queued before `log` returns, and sent until
   * the service has it.
   *
   * The promise resolves with the outcome and never rejects. It stays pending while the event is queued, and forever if
   * another tab sends the event.
   */
  log<Attrs extends object = Attributes>(
    event: number | string,
    attrs?: Attrs & AttributesOf<Attrs>,
  ): Promise<LogResult>;
  /**
   * Identifies the visitor. The contact is queued like an event, and sent in call order until a request fails.
   *
   * The promise and the callback get the service's result. If the service refuses, the promise rejects with the error's
   * code, message and field; an unhandled rejection is not reported.
   */
  createContact<Attrs extends object = Attributes>(
    fields: ContactFields<Attrs>,
    callback?: (result: ContactResult | undefined, error?: TrackerError) => void,
  ): Promise<ContactResult>;
  /** Call on log-out: from now on this browser is a new user. Earlier events stay with the previous user. */
  reset(): void;
  /**
   * Sets the visitor's consent. `false` removes the cookie and all stored items in every tab of this site; nothing more
   * is stored or sent. `true` starts tracking again, and the cookie records the consent.
   */
  consent(isGiven: boolean): void;
  /**
   * Resolves when every record that this site has queued so far in this browser has a final response or was dropped.
   */
  flush(): Promise<void>;
  /**
   * Resolves with this browser's userUUID, the value of its cookie, so that the site's own server can use it. In a new
   * browser, waits until there is one. Without consent, resolves immediately with undefined and creates none.
   */
  getUserUUID(): Promise<string | undefined>;
  /**
   * In `/tracker.full.js` and the npm package: adds these attributes to every later event on this page, including
   * automatic events. An event's own attributes win. Null or undefined removes a default; in an event's own attributes,
   * only for that event.
   */
  set?<Attrs extends object>(attrs: Attrs & { readonly [AttrID in keyof Attrs]: ValueOf<Attrs[AttrID]> }): void;
  /** Called with each event before it is queued. It may change the event, or drop it by returning false or throwing. */
  beforeSend?: ((event: LoggedEvent) => unknown) | undefined;
  /** In `/tracker.full.js` with page views: restores `history` and stops logging page views. */
  restoreHistory?: () => void;
};

/**
 * The script tag's `data-` attributes. `debug`, `dnt` and `consent` apply with any value, so that a misspelled
 * `consent` tracks no visitor. `consent="drop"` drops events logged before consent, instead of keeping them in memory.
 */
type TagOptions = { readonly [name in 'token' | 'name' | 'debug' | 'consent' | 'dnt']?: string | undefined };

const pause = () => new Promise((resolve) => setTimeout(resolve, 99));

/** Starts a tracker and adds its methods to `tracker`. Needs a document. `url` is passed to createSender as `base`. */
export const startTracker = (tracker: Partial<Tracker>, url: string | URL, options: TagOptions): Tracker => {
  // Limits pages that log in a loop: a burst of this many events, then one per interval.
  const burst = 500;
  const intervalMilliseconds = 100;
  const token = options.token as string;
  let isAllowed: unknown = false;
  /** When the last event would have been logged at an even rate. Starts below 0, for clocks in 1970. */
  let pacedTime = -99999;
  setDebug('debug' in options);
  const send = createSender(url, token, () => isAllowed);

  const consent = (isGiven: unknown): void => {
    isGiven = isGiven && !areVisitsIgnored();
    if (!isGiven) {
      removeUser();
      eraseStorage();
    } else if (!isAllowed) {
      openStorage();
      // Runs before this page logs anything: if another subdomain has reset the user, queued records belong to the
      // previous user.
      if (readCookie()) ensureUser();
    }
    isAllowed = isGiven;
    send();
  };

  /** Queues the record that `toRecord` creates for an identifier. Resolves with the service's final response. */
  const enqueue = async (toRecord: (eventUUID: string) => StoredRecord): Promise<ServiceResponse> => {
    try {
      const eventUUID = createEventUUID();
      const time = parseEventTime(eventUUID);
      pacedTime = Math.max(pacedTime, time - burst * intervalMilliseconds);
      demand(pacedTime <= time || countDropped(), 'too many');
      demand(isAllowed || options.consent !== 'drop', 'no consent');
      const record = toRecord(eventUUID);
      demand(record.length < 2e5 || countDropped(), 'too large');
      const key = `firsthand:${eventUUID}${token}`;
      writeItem(key, record);
      pacedTime += intervalMilliseconds;
      send(true);
      return (
        refusals[token] ||
        new Promise((resolve) => {
          responseCallbacks[key] = resolve;
        })
      );
    } catch (error) {
      warn(error);
      return { error: { code: 'dropped', message: `${error}` } };
    }
  };

  addEventListener('storage', ({ key, newValue }) => {
    // Another tab has withdrawn consent, which also removes the cookie; the key is null after `localStorage.clear()`. A
    // tab without consent or without a user has nothing to erase.
    if (isAllowed && copies[copyKey] && (key || copyKey) === copyKey && !newValue && !readCookie()) consent(false);
    else updateCopy(key, newValue);
  });
  // Without consent, this erases what an earlier page has stored: the site or the visitor may have removed the cookie.
  consent(hasInitialConsent(options));

  tracker.log = ((eventID: number | string, attrs?: Attributes) =>
    enqueue((eventUUID) => {
      const event: LoggedEvent = { eventID, attrs };
      demand(!tracker.beforeSend || `${tracker.beforeSend(event)}` !== 'false', 'beforeSend');
      return toEventRecord(event, eventUUID);
    })) as Tracker['log'];
  tracker.createContact = ((fields: ContactFields, callback?: (...args: unknown[]) => void) => {
    const result = enqueue((requestUUID) => toContactRecord(fields, requestUUID)).then((response) => {
      if (response.error) throw Object.assign(Error(response.error.message), response.error);
      return response;
    });
    // A promise with a listener causes no unhandled rejection in the page.
    // biome-ignore lint/complexity/useOptionalChain: esbuild writes it longer for ES2018
    result.then(callback, (error) => callback && callback(undefined, error)).catch(warn);
    return result;
  }) as Tracker['createContact'];
  tracker.reset = guard(() => {
    if (isAllowed) resetUser();
  });
  tracker.consent = guard(consent);
  tracker.flush = async () => {
    const now = createEventUUID();
    // Polls, because another tab may send a record without notifying this tab.
    while ((listQueuedKeys(token)[0] as string) < `firsthand:${now}`) await pause();
  };
  tracker.getUserUUID = async () => {
    // Polls, because another tab may hold the lock; that tab then creates the new browser's userUUID.
    while (isAllowed && !readUser()) await pause();
    return isAllowed ? readUser() : undefined;
  };
  return tracker as Tracker;
};
