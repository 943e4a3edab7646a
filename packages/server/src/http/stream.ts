/** streamEvents: events as they are kept, as server-sent events (HTML Standard, section "Server-sent events"). */
import { limits } from '@firsthand/contract/limits';
import type { InputOf } from '@firsthand/contract/operations';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { hashToken } from '../ingest/token.ts';
import { Refusal } from '../refusal.ts';
import type { EventQuery, Store } from '../store/store.ts';
import { emptyAnswer, headersOf } from './answers.ts';
import { accountOf } from './caller.ts';
import { parseCursor, toCursor } from './cursor.ts';
import { eventAnswer } from './events.ts';
import type { Reply } from './operation-route.ts';

export interface StreamSurroundings {
  readonly store: Store;
  readonly isStopping: () => boolean;
  /** Between two comments that keep proxies from closing a silent connection. */
  readonly heartbeatMilliseconds?: number;
}

const pageLimit = 100;
/** How soon a stopping server, or a stream that got no word of a commit, is noticed. */
const lookMilliseconds = 1_000;

/** Resolves at the next commit since the last call, after a second at most. */
const createCommitBell = (store: Store) => {
  let rung = false;
  let wake = () => {};
  const stop = store.onCommit(() => {
    rung = true;
    wake();
  });
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
  return { wait, wake: () => wake(), stop };
};

type Filter = Omit<InputOf<'streamEvents'>, 'cursor'>;

/** Where to begin when no cursor says: after the newest event there is. */
const newestSequence = async (store: Store, account: number): Promise<number> =>
  (await store.getEvents({ account, order: 'desc', limit: 1 })).through;

/** The page's own cursor, or the last `id:` that a reconnecting EventSource has seen. */
const startOf = (c: Context, cursor: string | undefined) =>
  parseCursor('events', cursor) ?? parseCursor('events', c.req.raw.headers.get('last-event-id') || undefined);

export const createStreamReply = ({
  store,
  isStopping,
  heartbeatMilliseconds = 15_000,
}: StreamSurroundings): Reply<'streamEvents'> => {
  const open = new Map<number, number>();

  const enter = (account: number) => {
    const others = open.get(account) ?? 0;
    if (others >= limits.streamsPerAccount) throw new Refusal('too_many_requests', { retryAfterSeconds: 10 });
    open.set(account, others + 1);
  };
  const leave = (account: number) => {
    const others = (open.get(account) ?? 1) - 1;
    if (others > 0) open.set(account, others);
    else open.delete(account);
  };

  const writePage = async (stream: SSEStreamingApi, query: EventQuery): Promise<{ through: number; more: boolean }> => {
    const { events, next, through } = await store.getEvents(query);
    for (const event of events) {
      await stream.writeSSE({
        id: toCursor('events', event.sequence),
        event: 'event',
        data: JSON.stringify(eventAnswer(event)),
      });
    }
    return { through, more: next !== null };
  };

  const follow = async (
    stream: SSEStreamingApi,
    { account, filter, start, tokenHash }: { account: number; filter: Filter; start: number; tokenHash: string },
  ) => {
    const bell = createCommitBell(store);
    stream.onAbort(bell.wake);
    let beyond = start;
    let heardAt = performance.now();
    try {
      while (!stream.aborted && !isStopping() && (await store.findAccess(tokenHash))) {
        const { through, more } = await writePage(stream, {
          ...filter,
          account,
          order: 'asc',
          beyond,
          limit: pageLimit,
        });
        if (through > beyond) beyond = through;
        if (more) continue;
        await bell.wait();
        if (performance.now() - heardAt >= heartbeatMilliseconds) {
          heardAt = performance.now();
          await stream.write(':\n\n');
        }
      }
    } finally {
      bell.stop();
    }
  };

  return async ({ c, exchange, input: { cursor, ...filter }, caller }) => {
    const account = accountOf(caller);
    const start = startOf(c, cursor) ?? (await newestSequence(store, account));
    // Nobody would read the stream, nor end it.
    if (c.req.method === 'HEAD') return emptyAnswer(exchange, 200, { 'Content-Type': 'text/event-stream' });
    enter(account);
    const response = streamSSE(c, async (stream) => {
      try {
        // The first bytes: a client knows that it is connected.
        await stream.write(':\n\n');
        await follow(stream, { account, filter, start, tokenHash: hashToken(caller.tokenUUID) });
      } finally {
        leave(account);
      }
    });
    // nginx would hold events back until its buffer is full.
    const headers = { ...headersOf(exchange), 'X-Accel-Buffering': 'no' };
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
};
