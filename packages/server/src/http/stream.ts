/**
 * streamEvents: events as they are kept, as server-sent events (HTML Standard, section "Server-sent events"). What goes
 * wrong once it has begun is its last message: of the type `error`, holding what the answer would have held.
 */
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { Logger } from 'pino';
import { hashToken } from '../ingest/token.ts';
import type { EventPage, EventQuery, Store } from '../store/store.ts';
import { emptyAnswer, headersOf, refusalBody } from './answers.ts';
import { accountOf } from './caller.ts';
import type { Counting } from './counting.ts';
import { parseCursor, toCursor } from './cursor.ts';
import { eventAnswer } from './events.ts';
import { createToRefusal } from './failures.ts';
import type { Reply } from './operation-route.ts';
import { createStreamPlaces } from './stream-places.ts';

interface StreamSurroundings {
  readonly store: Store;
  readonly log: Logger;
  readonly isStopping: () => boolean;
  /** How many streams an account may have. */
  readonly places?: Counting['streamPlaces'];
  /** Between two comments that keep proxies from closing a silent connection. */
  readonly heartbeatMilliseconds?: number;
}

const pageLimit = 100;
/** How soon a stopping server, or a stream that got no word of a commit, is noticed. */
const lookMilliseconds = 1_000;

/** Resolves at the next commit since the last call, after a second at most; the first time at once: one may have been missed. */
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

/** Where to begin when no cursor says: after the newest event there is. */
const newestSequence = async (store: Store, account: number): Promise<number> =>
  (await store.getEvents({ account, order: 'desc', limit: 1 })).through;

/** The page's own cursor, or the last `id:` that a reconnecting EventSource has seen. */
const startOf = (c: Context, cursor: string | undefined) =>
  parseCursor('events', cursor) ?? parseCursor('events', c.req.raw.headers.get('last-event-id') || undefined);

export const createStreamReply = ({
  store,
  log,
  isStopping,
  places = createStreamPlaces(),
  heartbeatMilliseconds = 15_000,
}: StreamSurroundings): Reply<'streamEvents'> => {
  const toRefusal = createToRefusal(log);

  const writePage = async (stream: SSEStreamingApi, { events }: EventPage) => {
    for (const event of events) {
      await stream.writeSSE({
        id: toCursor('events', event.sequence),
        event: 'event',
        data: JSON.stringify(eventAnswer(event)),
      });
    }
  };

  /** Writes the first page, and then what is beyond it for as long as the token lives. */
  const follow = async (stream: SSEStreamingApi, query: Following, first: EventPage, tokenHash: string) => {
    const bell = createCommitBell(store);
    stream.onAbort(bell.ring);
    let { beyond } = query;
    let page = first;
    let heardAt = performance.now();
    try {
      for (;;) {
        await writePage(stream, page);
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

  return async ({ c, exchange, input: { cursor, ...filter }, caller }) => {
    const account = accountOf(caller);
    const beyond = startOf(c, cursor) ?? (await newestSequence(store, account));
    const query: Following = { ...filter, account, order: 'asc', beyond, limit: pageLimit };
    // While a refusal can still be the answer.
    const first = await store.getEvents(query);
    // Nobody would read the stream, nor end it.
    if (c.req.method === 'HEAD') return emptyAnswer(exchange, 200, { 'Content-Type': 'text/event-stream' });
    await places.enter(account);
    const response = streamSSE(c, async (stream) => {
      try {
        // The first bytes: a client knows that it is connected.
        await stream.write(':\n\n');
        await follow(stream, query, first, hashToken(caller.tokenUUID));
      } catch (error) {
        const refusal = toRefusal(exchange.requestID, error);
        await stream.writeSSE({ event: 'error', data: JSON.stringify(refusalBody(exchange, refusal)) });
      } finally {
        void places.leave(account);
      }
    });
    // nginx would hold events back until its buffer is full.
    const headers = { ...headersOf(exchange), 'X-Accel-Buffering': 'no' };
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
};
