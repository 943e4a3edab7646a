/**
 * streamEvents: sends events as they are stored, as server-sent events (HTML Standard, section "Server-sent events").
 * An error after the start is sent as a last message of type `error`, whose data is the body of an error response.
 */
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Logger } from 'pino';
import { hashToken } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { EventPage, EventQuery, Store } from '../../store/store.ts';
import { accountOf } from '../access/caller.ts';
import type { Reply } from '../operation-route.ts';
import { parseCursor, toCursor } from '../responses/cursor.ts';
import { emptyResponse, headersOf, refusalBody } from '../responses/responses.ts';
import { createErrorConverter } from '../responses/to-refusal.ts';
import { eventResponse } from './events.ts';
import { createStreamSlots, isQueued } from './stream-slots.ts';

interface StreamDependencies {
  readonly store: Store;
  readonly log: Logger;
  readonly isStopping: () => boolean;
  /** The interval between comments, which keep proxies from closing an idle connection. */
  readonly heartbeatMilliseconds?: number;
  /** Counts open streams. */
  readonly numbers?: { streams: number };
}

const pageLimit = 100;
/** The maximum time between checks for new events and for a server stop. */
const pollMilliseconds = 1_000;

/**
 * `wait` resolves once there has been a commit since its last call, or after a second. The first call resolves
 * immediately, because there might have been a commit before it.
 */
const createCommitBell = (store: Store) => {
  let rung = true;
  let wake = () => {};
  const ring = () => {
    rung = true;
    wake();
  };
  const stop = store.onCommit(ring);
  const wait = async () => {
    if (!rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMilliseconds);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    rung = false;
  };
  return { wait, ring, stop };
};

type StreamQuery = EventQuery & { readonly beyond: number };

/**
 * Returns the position in the `cursor` parameter or, if a reconnecting EventSource sends it, in the Last-Event-ID
 * header.
 */
const startOf = (c: Context, cursor: string | undefined) =>
  parseCursor('events', cursor) ?? parseCursor('events', c.req.raw.headers.get('last-event-id') || undefined);

export const createStreamReply = ({
  store,
  log,
  isStopping,
  heartbeatMilliseconds = 15_000,
  numbers = { streams: 0 },
}: StreamDependencies): Reply<'streamEvents'> => {
  const toRefusal = createErrorConverter(log);
  const takeSlot = createStreamSlots(limits.streamsPerAccount, numbers);

  /**
   * Writes the first page and then new events, until the client disconnects, the server stops or the token becomes
   * invalid.
   */
  const follow = async (stream: SSEStreamingApi, query: StreamQuery, first: EventPage, tokenHash: string) => {
    const bell = createCommitBell(store);
    stream.onAbort(bell.ring);
    let { beyond } = query;
    let page = first;
    let lastHeartbeat = performance.now();
    try {
      for (;;) {
        for (const event of page.events) {
          const data = JSON.stringify(eventResponse(event));
          await stream.writeSSE({ id: toCursor('events', event.sequence), event: 'event', data });
        }
        beyond = Math.max(beyond, page.through);
        if (page.next === null) await bell.wait();
        if (performance.now() - lastHeartbeat >= heartbeatMilliseconds) {
          lastHeartbeat = performance.now();
          await stream.write(':\n\n');
        }
        if (stream.aborted || isStopping() || !(await store.findAccess(tokenHash))) return;
        page = await store.getEvents({ ...query, beyond });
      }
    } finally {
      bell.stop();
    }
  };

  /**
   * Reads the first page before the stream starts, while a refusal can still be the response. Without a cursor, a
   * stream starts after the newest event.
   */
  const readFirstPage = async (filter: Omit<EventQuery, 'order' | 'limit'>, start: number | undefined) => {
    const { account } = filter;
    const beyond = start ?? (await store.getLastSequence({ account }));
    const query: StreamQuery = { ...filter, order: 'asc', beyond, limit: pageLimit };
    return { query, first: await store.getEvents(query) };
  };

  return async ({ c, exchange, input: { cursor, contactExternalID: externalID, ...filter }, caller }) => {
    const account = accountOf(caller);
    const start = startOf(c, cursor);
    if (isQueued(c)) throw new Refusal('too_many_requests', { retryAfterSeconds: 1 });
    // Takes a slot before the store is read, so that a refused stream costs no read.
    const releaseSlot = takeSlot(account);
    const { query, first } = await readFirstPage({ ...filter, externalID, account }, start).catch((error) => {
      releaseSlot();
      throw error;
    });
    // HEAD gets no stream, because no client would read or end it.
    if (c.req.method === 'HEAD') {
      releaseSlot();
      return emptyResponse(exchange, 200, { 'Content-Type': 'text/event-stream' });
    }
    const response = streamSSE(c, async (stream) => {
      try {
        // A message with an ID but without data sets the client's position, so a client that disconnects before the
        // first event resumes there.
        await stream.write(`id: ${toCursor('events', query.beyond)}\n\n`);
        await follow(stream, query, first, hashToken(caller.tokenUUID));
      } catch (error) {
        const refusal = toRefusal(exchange.requestID, error);
        await stream.writeSSE({ event: 'error', data: JSON.stringify(refusalBody(exchange, refusal)) });
      } finally {
        releaseSlot();
      }
    });
    // Without this header, nginx delays events until its buffer is full.
    const headers = { ...headersOf(exchange), 'X-Accel-Buffering': 'no' };
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
};
