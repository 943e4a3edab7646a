/**
 * streamEvents: sends events as they are stored, as server-sent events (HTML Standard, section "Server-sent events"). An error
 * after the beginning is sent as the last message, of the type `error`, whose data is the body that an error response has.
 */
import { limits } from '@firsthand/contract/limits';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Logger } from 'pino';
import { hashToken } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { EventPage, EventQuery, Store } from '../../store/store.ts';
import { accountOf } from '../access/caller.ts';
import { emptyAnswer, headersOf, refusalBody } from '../answers/answers.ts';
import { parseCursor, toCursor } from '../answers/cursor.ts';
import { createToRefusal } from '../answers/to-refusal.ts';
import type { Reply } from '../operation-route.ts';
import { eventAnswer } from './events.ts';
import { createStreamPlaces, isQueued } from './stream-places.ts';

interface StreamSurroundings {
  readonly store: Store;
  readonly log: Logger;
  readonly isStopping: () => boolean;
  /** The time between two comments, which keep proxies from closing a silent connection. */
  readonly heartbeatMilliseconds?: number;
  /** Counts the open streams. */
  readonly numbers?: { streams: number };
}

const pageLimit = 100;
/** A stream looks for new events, and whether the server is stopping, at least this often. */
const lookMilliseconds = 1_000;

/**
 * `wait` resolves at the first commit since its last call, or after a second. The first call resolves at once: a commit may have
 * preceded it.
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
        const timer = setTimeout(resolve, lookMilliseconds);
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

type Following = EventQuery & { readonly beyond: number };

/** The position of the `cursor` parameter or, if a reconnecting EventSource sends it, of the Last-Event-ID header. */
const startOf = (c: Context, cursor: string | undefined) =>
  parseCursor('events', cursor) ?? parseCursor('events', c.req.raw.headers.get('last-event-id') || undefined);

export const createStreamReply = ({
  store,
  log,
  isStopping,
  heartbeatMilliseconds = 15_000,
  numbers = { streams: 0 },
}: StreamSurroundings): Reply<'streamEvents'> => {
  const toRefusal = createToRefusal(log);
  const enter = createStreamPlaces(limits.streamsPerAccount, numbers);

  /** Writes the first page and then new events, until the client leaves, the server stops or the token is no longer live. */
  const follow = async (stream: SSEStreamingApi, query: Following, first: EventPage, tokenHash: string) => {
    const bell = createCommitBell(store);
    stream.onAbort(bell.ring);
    let { beyond } = query;
    let page = first;
    let heardAt = performance.now();
    try {
      for (;;) {
        for (const event of page.events) {
          const data = JSON.stringify(eventAnswer(event));
          await stream.writeSSE({ id: toCursor('events', event.sequence), event: 'event', data });
        }
        beyond = Math.max(beyond, page.through);
        if (page.next === null) await bell.wait();
        if (performance.now() - heardAt >= heartbeatMilliseconds) {
          heardAt = performance.now();
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
   * Reads the first page: before the stream begins, while a refusal can still be the response. Without a cursor a stream begins
   * after the newest event.
   */
  const begin = async (filter: Omit<EventQuery, 'order' | 'limit'>, start: number | undefined) => {
    const { account } = filter;
    const beyond = start ?? (await store.getEvents({ account, order: 'desc', limit: 1 })).through;
    const query: Following = { ...filter, order: 'asc', beyond, limit: pageLimit };
    return { query, first: await store.getEvents(query) };
  };

  return async ({ c, exchange, input: { cursor, contactExternalID: externalID, ...filter }, caller }) => {
    const account = accountOf(caller);
    const start = startOf(c, cursor);
    if (isQueued(c)) throw new Refusal('too_many_requests', { retryAfterSeconds: 1 });
    // Entered before the store is read, so that a stream without a place costs no read.
    const leave = enter(account);
    const { query, first } = await begin({ ...filter, externalID, account }, start).catch((error) => {
      leave();
      throw error;
    });
    // A HEAD gets no stream, because no client would read or end it.
    if (c.req.method === 'HEAD') {
      leave();
      return emptyAnswer(exchange, 200, { 'Content-Type': 'text/event-stream' });
    }
    const response = streamSSE(c, async (stream) => {
      try {
        // An event without data only sets the client's position. A client that is cut before the first event resumes there.
        await stream.write(`id: ${toCursor('events', query.beyond)}\n\n`);
        await follow(stream, query, first, hashToken(caller.tokenUUID));
      } catch (error) {
        const refusal = toRefusal(exchange.requestID, error);
        await stream.writeSSE({ event: 'error', data: JSON.stringify(refusalBody(exchange, refusal)) });
      } finally {
        leave();
      }
    });
    // Without this header nginx delays events until its buffer is full.
    const headers = { ...headersOf(exchange), 'X-Accel-Buffering': 'no' };
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
};
