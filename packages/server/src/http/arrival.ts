import type { InputOf } from '@firsthand/contract/operations';
import { createClockErrors } from '../ingest/clock-errors.ts';
import type { Arrival } from '../ingest/event-time.ts';
import { type Caller, toldTimeOf } from './caller.ts';

/** What is said of the sender of an event, or of a batch. */
type Sender = Pick<InputOf<'logEvents'>, 'userUUID' | 'sentTime'>;

export type ArrivalOf = (sender: Sender, caller: Caller) => Arrival;

/** How requests came; remembers which browsers' clocks are wrong. */
export const createArrivalOf = (): ArrivalOf => {
  const clockErrorOf = createClockErrors();
  return ({ userUUID = '', sentTime }, caller) => {
    const receivedTime = toldTimeOf(caller);
    const fromBrowser = caller.access.kind === 'browser';
    const lateMilliseconds = sentTime === undefined ? 0 : receivedTime - sentTime;
    const clockError = fromBrowser
      ? clockErrorOf(`${caller.access.token} ${userUUID}`, lateMilliseconds)
      : lateMilliseconds;
    return { receivedTime, clockError, fromBrowser };
  };
};
