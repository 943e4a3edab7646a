import { countDropped, queuedKeys, type StoredRecord } from './delivery/queue.ts';
import { createSender, expected, refusals } from './delivery/sender.ts';
import { copies, eraseStored, noteItem, openStored, writeStored } from './delivery/storage.ts';
import type { Verdict } from './delivery/verdict.ts';
import { demand, guard } from './guard.ts';
import { isConsentRemembered } from './identity/consent.ts';
import { readCookie } from './identity/cookie.ts';
import { copyKey, currentUser, forgetUser, knownUser, resetUser } from './identity/identity.ts';
import { areVisitsIgnored } from './identity/own-visits.ts';
import type { Attributes, AttributesOf, ValueOf } from './records/attributes.ts';
import { type ContactFields, type ContactResult, type TrackerError, toContactRecord } from './records/contacts.ts';
import { createEventUUID, timeOf } from './records/event-uuid.ts';
import { type LoggedEvent, toEventRecord } from './records/events.ts';
import { setDebug, warn } from './warn.ts';

/** What became of an event: the service has stored it (`eventUUID`), or the service or the tracker has refused it (`error`). */
export type LogResult = {
  readonly eventUUID?: string;
  readonly duplicate?: true;
  /** The code is the service's, or `dropped` for what the tracker refuses. */
  readonly error?: { readonly code?: string; readonly message: string; readonly field?: string };
};

/** The tracker's methods. None of them ever throws into the page. */
export type Tracker = {
  /**
   * Logs an event of this kind, which is an eventID or a name, with the current time. It is queued when this returns, and sent until
   * the service has it. The promise resolves with what became of it, and never rejects. It stays open while the event waits, and
   * when another tab sends it.
   */
  log<Attrs extends object = Attributes>(
    event: number | string,
    attrs?: Attrs & AttributesOf<Attrs>,
  ): Promise<LogResult>;
  /**
   * States who the visitor is. It is queued and sent like an event, in order with them until a request fails. The promise and the
   * callback get the service's result. If the service refuses, the promise rejects with the error's code, message and field, silently
   * if nobody listens.
   */
  createContact<Attrs extends object = Attributes>(
    fields: ContactFields<Attrs>,
    callback?: (result: ContactResult | undefined, error?: TrackerError) => void,
  ): Promise<ContactResult>;
  /** To be called on log-out: from now on this browser is a new user. Earlier events stay with the old one. */
  reset(): void;
  /**
   * States the visitor's consent. `false` removes the cookie and all stored items, in every tab of this site, and from now on
   * nothing is stored or sent. `true` ends that, and the cookie remembers it.
   */
  consent(isGiven: boolean): void;
  /** Resolves when every record that this site has queued so far in this browser has a response, or was dropped. */
  flush(): Promise<void>;
  /**
   * Resolves with this browser's userUUID, the value of its cookie, so that the site's own server can use it. In a new browser it waits
   * until there is one. Without consent it resolves with undefined immediately, and makes none.
   */
  getUserUUID(): Promise<string | undefined>;
  /**
   * In `/tracker.full.js` and the npm package: adds these attributes to every later event of this page, those logged automatically
   * included. An event's own attributes win. Null or undefined takes a default away, for one event if it is the event's own.
   */
  set?<Attrs extends object>(attrs: Attrs & { readonly [AttrID in keyof Attrs]: ValueOf<Attrs[AttrID]> }): void;
  /** Called with each event before it is queued. It may change the event, or drop it by returning false or throwing. */
  beforeSend?: ((event: LoggedEvent) => unknown) | undefined;
  /** In `/tracker.full.js` with page views: restores `history`, and logs no more page views. */
  restoreHistory?: () => void;
};

/**
 * The script tag's `data-` attributes. `debug`, `dnt` and `consent` count if they are present, with any value: a misspelt value of
 * `consent` must not track anybody. Its value `drop` drops events logged before consent, instead of keeping them in memory.
 */
type TagOptions = { readonly [name in 'token' | 'name' | 'debug' | 'consent' | 'dnt']?: string | undefined };

const pause = () => new Promise((resolve) => setTimeout(resolve, 99));

/** Starts a tracker, and gives `tracker` its methods. It needs a document. `url` is as `base` of createSender. */
export const startTracker = (tracker: Partial<Tracker>, url: string | URL, options: TagOptions): Tracker => {
  // A bound for pages that log in a loop: this many events at once, and then one each time this many milliseconds pass.
  const burst = 500;
  const millisecondsEach = 100;
  const token = options.token as string;
  let isAllowed: unknown = false;
  /** The time at which the last event would have been logged at an even rate. Early enough for a clock that says 1970. */
  let evenTime = -99999;
  setDebug('debug' in options);
  const send = createSender(url, token, () => isAllowed);

  const consent = (isGiven: unknown): void => {
    isGiven = isGiven && !areVisitsIgnored();
    if (!isGiven) {
      forgetUser();
      eraseStored();
    } else if (!isAllowed) {
      openStored();
      // Before this page logs anything: if another subdomain has reset the user, queued records belong to the user before.
      if (readCookie()) currentUser();
    }
    isAllowed = isGiven;
    send();
  };

  /** Queues the record that `toRecord` makes for an identifier. Resolves with the service's verdict on it. */
  const keep = async (toRecord: (eventUUID: string) => StoredRecord): Promise<Verdict> => {
    try {
      const eventUUID = createEventUUID();
      const time = timeOf(eventUUID);
      evenTime = Math.max(evenTime, time - burst * millisecondsEach);
      demand(evenTime <= time || countDropped(), 'too many');
      demand(isAllowed || options.consent !== 'drop', 'no consent');
      const record = toRecord(eventUUID);
      demand(record.length < 2e5 || countDropped(), 'too large');
      const key = `firsthand:${eventUUID}${token}`;
      writeStored(key, record);
      evenTime += millisecondsEach;
      send(true);
      return (
        refusals[token] ||
        new Promise((resolve) => {
          expected[key] = resolve;
        })
      );
    } catch (error) {
      warn(error);
      return { error: { code: 'dropped', message: `${error}` } };
    }
  };

  addEventListener('storage', ({ key, newValue }) => {
    // Another tab has withdrawn consent, which removes the cookie as well. The key is null after `localStorage.clear()`. A tab that
    // still asks for consent, or has no user yet, has nothing to erase.
    if (isAllowed && copies[copyKey] && (key || copyKey) === copyKey && !newValue && !readCookie()) consent(false);
    else noteItem(key, newValue);
  });
  // Without consent, the items that an earlier page left are erased: the site or the visitor may have removed the cookie.
  consent(isConsentRemembered(options));

  tracker.log = ((eventID: number | string, attrs?: Attributes) =>
    keep((eventUUID) => {
      const event: LoggedEvent = { eventID, attrs };
      demand(!tracker.beforeSend || `${tracker.beforeSend(event)}` !== 'false', 'beforeSend');
      return toEventRecord(event, eventUUID);
    })) as Tracker['log'];
  tracker.createContact = ((fields: ContactFields, callback?: (...args: unknown[]) => void) => {
    const result = keep((requestUUID) => toContactRecord(fields, requestUUID)).then((verdict) => {
      if (verdict.error) throw Object.assign(Error(verdict.error.message), verdict.error);
      return verdict;
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
    // Polls, because another tab may send a record without this one being notified.
    while ((queuedKeys(token)[0] as string) < `firsthand:${now}`) await pause();
  };
  tracker.getUserUUID = async () => {
    // Polls, because only the tab that has the lock makes a new browser's userUUID, and it may be another one.
    while (isAllowed && !knownUser()) await pause();
    return isAllowed ? knownUser() : undefined;
  };
  return tracker as Tracker;
};
