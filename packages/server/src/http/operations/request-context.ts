/** Computes the request facts that its events depend on: received time, clock error, import, bot, labels. */
import type { InputOf } from '@firsthand/contract/operations';
import { createClockErrorEstimator } from '../../ingest/clock-errors.ts';
import type { RequestContext } from '../../ingest/event-time.ts';
import { Refusal } from '../../shared/refusal.ts';
import { type Caller, receivedTimeOf } from '../access/caller.ts';
import type { Agent } from '../request/agents.ts';

/** The fields of an event or a batch that describe its sender. */
type Sender = Pick<InputOf<'logEvents'>, 'userUUID' | 'sentTime' | 'import'>;

/**
 * Returns a function that computes the RequestContext of a request. It throws Refusal('token_kind') for `import` with a
 * browser token.
 */
export const createRequestContexts = () => {
  const clockErrorOf = createClockErrorEstimator();
  return ({ userUUID = '', sentTime, import: imported = false }: Sender, caller: Caller): RequestContext => {
    const fromBrowser = caller.access.kind === 'browser';
    if (fromBrowser && imported) {
      const message = '`import` takes a server token; this one is a browser token';
      throw new Refusal('token_kind', { field: 'import', message });
    }
    const receivedTime = receivedTimeOf(caller);
    // A server's headers don't describe the visitor.
    const agent = fromBrowser ? caller.agent?.() : undefined;
    const lateMilliseconds = sentTime === undefined ? 0 : receivedTime - sentTime;
    return {
      receivedTime,
      clockError: fromBrowser ? clockErrorOf(`${caller.access.token} ${userUUID}`, lateMilliseconds) : lateMilliseconds,
      fromBrowser,
      imported,
      eventAgeDays: caller.eventAgeDays,
      robot: agent?.robot ?? false,
      labels: caller.access.enrich ? agent?.labels : undefined,
    };
  };
};

/** Returns the context with the labels of an event's own visitor. */
export const withVisitor = (
  context: RequestContext,
  visitor: Agent | undefined,
  { access }: Caller,
): RequestContext => ({
  ...context,
  robot: visitor?.robot ?? false,
  labels: access.enrich ? visitor?.labels : undefined,
});
