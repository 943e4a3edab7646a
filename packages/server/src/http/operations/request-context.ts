import type { InputOf } from '@firsthand/contract/operations';
import { type ClockErrorOf, createClockErrors } from '../../ingest/clock-errors.ts';
import type { RequestContext } from '../../ingest/event-time.ts';
import { Refusal } from '../../refusal.ts';
import { type Caller, toldTimeOf } from '../access/caller.ts';

/** The fields of an event or a batch that concern its sender. */
type Sender = Pick<InputOf<'logEvents'>, 'userUUID' | 'sentTime' | 'import'>;

type RequestContextOf = (sender: Sender, caller: Caller) => RequestContext;

/** Returns a function that makes the RequestContext of a request. It throws Refusal('token_kind') for `import` from a browser token. */
export const createRequestContexts =
  (clockErrorOf: ClockErrorOf = createClockErrors()): RequestContextOf =>
  ({ userUUID = '', sentTime, import: imported = false }, caller) => {
    const receivedTime = toldTimeOf(caller);
    const fromBrowser = caller.access.kind === 'browser';
    const lateMilliseconds = sentTime === undefined ? 0 : receivedTime - sentTime;
    // The User-Agent of a server says nothing about the visitor.
    const robot = fromBrowser && (caller.isRobot?.() ?? false);
    const context = (clockError: number): RequestContext => ({
      receivedTime,
      clockError,
      fromBrowser,
      imported,
      robot,
    });
    if (fromBrowser && imported) {
      const message = '`import` takes a server token; this one is a browser token';
      throw new Refusal('token_kind', { field: 'import', message });
    }
    if (!fromBrowser) return context(lateMilliseconds);
    return context(clockErrorOf(`${caller.access.token} ${userUUID}`, lateMilliseconds));
  };
