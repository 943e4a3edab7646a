import type { InputOf } from '@firsthand/contract/operations';
import { type ClockErrorOf, createClockErrors } from '../../ingest/clock-errors.ts';
import type { Arrival } from '../../ingest/event-time.ts';
import { Refusal } from '../../refusal.ts';
import { type Caller, toldTimeOf } from '../access/caller.ts';

/** The fields of an event or a batch that concern its sender. */
type Sender = Pick<InputOf<'logEvents'>, 'userUUID' | 'sentTime' | 'import'>;

type ArrivalOf = (sender: Sender, caller: Caller) => Arrival;

/** Returns a function that makes the Arrival of a request. It throws Refusal('token_kind') for `import` from a browser token. */
export const createArrivalOf =
  (clockErrorOf: ClockErrorOf = createClockErrors()): ArrivalOf =>
  ({ userUUID = '', sentTime, import: imported = false }, caller) => {
    const receivedTime = toldTimeOf(caller);
    const fromBrowser = caller.access.kind === 'browser';
    const lateMilliseconds = sentTime === undefined ? 0 : receivedTime - sentTime;
    // The User-Agent of a server says nothing about the visitor.
    const robot = fromBrowser && (caller.isRobot?.() ?? false);
    const arrival = (clockError: number): Arrival => ({ receivedTime, clockError, fromBrowser, imported, robot });
    if (fromBrowser && imported) {
      const message = '`import` takes a server token; this one is a browser token';
      throw new Refusal('token_kind', { field: 'import', message });
    }
    if (!fromBrowser) return arrival(lateMilliseconds);
    return arrival(clockErrorOf(`${caller.access.token} ${userUUID}`, lateMilliseconds));
  };
