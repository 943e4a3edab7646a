import type { Attributes } from './attributes.ts';
import { type ContactFields, type ContactResult, type TrackerError, toContactRecord } from './contacts.ts';
import { isEventID, toEventRecord } from './events.ts';
import { createEventUUID, timeOf } from './eventUUID.ts';
import { resetUser } from './identity.ts';
import { note, setDebug } from './note.ts';
import { enqueue, type StoredRecord } from './queue.ts';
import { createSender, type Expected } from './sender.ts';

export type TrackerOptions = {
  /** The service's REST root: where `tracker.js` lies. */
  readonly url: string;
  /** A browser token. */
  readonly token: string;
  /** Says in the console what was left out or refused, and why. */
  readonly debug?: boolean;
};

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
};

/** Starts a tracker. Needs a document; `url` must end in a slash. */
export const startTracker = (url: string, token: string, debug: boolean | undefined): Tracker => {
  // For a page that logs in a loop: so many at once, from then on one in so many milliseconds.
  const burst = 500;
  const millisecondsEach = 100;
  const expected: Expected = {};
  const send = createSender(url, token, expected);
  let recent = 0;
  let lastTime = 0;
  setDebug(debug);

  const keep = (eventUUID: string, record: StoredRecord): string => {
    send();
    return enqueue(eventUUID, token, record);
  };

  return {
    log: (eventID, attrs) => {
      try {
        const eventUUID = createEventUUID();
        const time = timeOf(eventUUID);
        recent = Math.max(recent - (time - lastTime) / millisecondsEach, 0);
        lastTime = time;
        if (!isEventID(eventID)) note('dropped, no eventID:', eventID);
        else if (recent > burst) note('dropped, too many:', eventID);
        else {
          recent++;
          keep(eventUUID, toEventRecord(eventID, eventUUID, attrs));
        }
      } catch (error) {
        note(error);
      }
    },
    createContact: (fields, callback) => {
      const result = new Promise<ContactResult>((resolve, reject) => {
        const requestUUID = createEventUUID();
        expected[keep(requestUUID, toContactRecord(fields, requestUUID))] = (verdict) => {
          if (verdict.error) reject(Object.assign(new Error(verdict.error.message), verdict.error));
          else resolve(verdict as ContactResult);
        };
      });
      // A promise that somebody listens to is no unhandled rejection in the page.
      // biome-ignore lint/complexity/useOptionalChain: lowered to ES2018, it is twice as long
      result.then(callback, (error) => callback && callback(undefined, error));
      return result;
    },
    reset: () => {
      try {
        resetUser();
      } catch (error) {
        note(error);
      }
    },
  };
};
