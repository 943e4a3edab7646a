import type { InputOf } from '@firsthand/contract/operations';
import { createClockErrors } from '../ingest/clock-errors.ts';
import type { Arrival } from '../ingest/event-time.ts';
import { Refusal } from '../refusal.ts';
import { type Caller, toldTimeOf } from './caller.ts';
import type { Counting } from './counting.ts';

/** What is said of the sender of an event, or of a batch. */
type Sender = Pick<InputOf<'logEvents'>, 'userUUID' | 'sentTime' | 'import'>;

export type ArrivalOf = (sender: Sender, caller: Caller) => Arrival | Promise<Arrival>;

/** How requests came; `clockErrorOf` remembers which browsers' clocks are wrong. */
export const createArrivalOf =
  (clockErrorOf: Counting['clockErrorOf'] = createClockErrors()): ArrivalOf =>
  ({ userUUID = '', sentTime, import: imported = false }, caller) => {
    const receivedTime = toldTimeOf(caller);
    const fromBrowser = caller.access.kind === 'browser';
    const lateMilliseconds = sentTime === undefined ? 0 : receivedTime - sentTime;
    // A server's own user agent says nothing of whose event it is.
    const robot = fromBrowser && (caller.isRobot?.() ?? false);
    const arrival = (clockError: number): Arrival => ({ receivedTime, clockError, fromBrowser, imported, robot });
    if (fromBrowser && imported) {
      const message = '`import` takes a server token; this one is a browser token';
      throw new Refusal('token_kind', { field: 'import', message });
    }
    if (!fromBrowser) return arrival(lateMilliseconds);
    const clockError = clockErrorOf(`${caller.access.token} ${userUUID}`, lateMilliseconds);
    return typeof clockError === 'number' ? arrival(clockError) : clockError.then(arrival);
  };
